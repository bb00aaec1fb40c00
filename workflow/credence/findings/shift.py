"""The composition of a use-set, and what it does to confidences."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ShiftClass:
    """One class in a use-set of another composition.

    Parameters
    ----------
    class_name : str
        The class.
    calibration_share, share, lower, upper : float
        Its share in calibration; in the use-set, with the interval's ends.
    weight : float
        Ratio of the shares; NaN for a class that calibration does not hold.
    n_predicted : int
        Proteins of the use-set predicted to be of it.
    expected_predicted : float
        As many as the composition makes one expect.
    effective_before, effective_after : float
        Effective number of calibration proteins predicted, before and after.
    score_median : float
        Median score of the calibration proteins predicted; NaN without any.
    confidence_before, confidence_after : float
        Confidence there, uncorrected and corrected.
    score_before, score_after : float
        Least score of 90 % confidence; NaN where none reaches it, or where the
        score alone does not give the confidence.
    right, right_lower, right_upper : float
        Expected number of right predictions among those of the class.
    elsewhere, elsewhere_lower, elsewhere_upper : float
        Expected number of proteins of the class predicted to be of another.
    """

    class_name: str
    calibration_share: float
    share: float
    lower: float
    upper: float
    weight: float
    n_predicted: int
    expected_predicted: float
    effective_before: float
    effective_after: float
    score_median: float
    confidence_before: float
    confidence_after: float
    score_before: float
    score_after: float
    right: float
    right_lower: float
    right_upper: float
    elsewhere: float
    elsewhere_lower: float
    elsewhere_upper: float


@dataclass(frozen=True)
class ShiftFinding:
    """The composition of one use-set.

    Parameters
    ----------
    name : str
        Name of the use-set.
    estimator, method : str
        What estimated it, and the method that was corrected.
    level : float
        Coverage of the intervals.
    n_use, n_cells : int
        Proteins, and the cells of like ones that they were gathered in; 0
        where the estimator needs none.
    compression_error : float
        Greatest change of a share that the gathering makes, on a part of the set.
    condition : float
        Condition number of P(predicted | true); NaN where it is singular.
    p_no_shift, gap, p_label_shift : float
        See :class:`credence.shift.diagnostics.Diagnostics`.
    right, right_lower, right_upper : float
        Expected number of right predictions, of all classes.
    classes : tuple of ShiftClass
        One per class.
    sentences : tuple of str
        What a reader has to know.
    """

    name: str
    estimator: str
    method: str
    level: float
    n_use: int
    n_cells: int
    compression_error: float
    condition: float
    p_no_shift: float
    gap: float
    p_label_shift: float
    right: float
    right_lower: float
    right_upper: float
    classes: tuple[ShiftClass, ...]
    sentences: tuple[str, ...] = ()
