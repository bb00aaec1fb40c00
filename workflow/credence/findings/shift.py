"""The composition of a use-set, and what it does to confidences."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import Numbers


@dataclass(frozen=True)
class ShiftClass:
    """One class in a use-set of another composition.

    Parameters
    ----------
    class_name : str
        The class.
    calibration_share, share, lower, upper : float
        Its share in calibration; in the use-set, with the interval's ends.
    applied : float
        The share that confidences are corrected for: between those two.
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
        Least score from which on confidence is never below 90 %; NaN where there
        is none, or where the score alone does not give the confidence.
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
    applied: float
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
class ShiftCurve:
    """Confidence of one class over the score, uncorrected and corrected.

    Parameters
    ----------
    class_name : str
        The predicted class.
    score : tuple of float
        Where both were evaluated, ascending.
    before, before_lower, before_upper : tuple of float
        As calibrated, with the interval's ends; NaN where there is none.
    after, after_lower, after_upper : tuple of float
        Corrected for the composition.
    """

    class_name: str
    score: Numbers
    before: Numbers
    before_lower: Numbers
    before_upper: Numbers
    after: Numbers
    after_lower: Numbers
    after_upper: Numbers


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
        Proteins, and those of them that stand for all; 0 where the estimator
        needs none.
    compression_error : float
        Greatest change of a share that this makes, on a part of the set.
    condition : float
        Condition number of P(predicted | true); NaN where it is singular.
    part_applied : float
        Part of the estimated shift that is corrected for: what chance does not
        explain. 1 for a stated composition.
    p_no_shift, gap, p_label_shift : float
        See :class:`credence.shift.diagnostics.Diagnostics`.
    right, right_lower, right_upper : float
        Expected number of right predictions, of all classes.
    classes : tuple of ShiftClass
        One per class.
    sentences : tuple of str
        What a reader has to know before believing it.
    remarks : tuple of str
        How much of an estimated composition is corrected for.
    curves : tuple of ShiftCurve
        One per class that was predicted in calibration, where class and score
        give the confidence.
    """

    name: str
    estimator: str
    method: str
    level: float
    n_use: int
    n_cells: int
    compression_error: float
    condition: float
    part_applied: float
    p_no_shift: float
    gap: float
    p_label_shift: float
    right: float
    right_lower: float
    right_upper: float
    classes: tuple[ShiftClass, ...]
    sentences: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    curves: tuple[ShiftCurve, ...] = ()


@dataclass(frozen=True)
class WhatIfPart:
    """The calibration proteins predicted to be of one class and truly of one.

    Parameters
    ----------
    predicted, true : int
        The two classes, as places in the class names.
    mass, mass_squared : float
        Sum of their weights, and of the weights' squares.
    family_squared : float
        Sum of the squares of their families' weights.
    density : tuple of float
        How many of them lie near each score of the grid.
    """

    predicted: int
    true: int
    mass: float
    mass_squared: float
    family_squared: float
    density: Numbers


@dataclass(frozen=True)
class WhatIf:
    """What every class's curve would be at any composition.

    Notes
    -----
    With w = share/calibration share of the true class, the confidence of
    predicted class k is (w_k f_kk + a c_k)/(Σ_j w_j f_kj + a), f the densities, a
    the prior weight and c_k the share right of the re-weighted class; c_k where
    there is no density. Where the effective number of re-weighted proteins is
    below `min_positives`, or all or none of them are right, it is
    (w_k m_kk + ½)/(Σ_j w_j m_kj + 1), m the masses.

    Parameters
    ----------
    method : str
        Whose curves these are.
    is_exact : bool
        Whether the method is a ratio of sums, so that re-weighting is all that
        fitting it anew would do; else its curve is moved by Bayes' rule.
    calibration_share : tuple of float
        Share of each class in calibration.
    score : tuple of float
        The grid, ascending.
    prior_weight, min_positives : float
        See the notes.
    parts : tuple of WhatIfPart
        Pairs of classes that occur.
    """

    method: str
    is_exact: bool
    calibration_share: Numbers
    score: Numbers
    prior_weight: float
    min_positives: float
    parts: tuple[WhatIfPart, ...]
