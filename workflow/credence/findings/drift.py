"""Whether a trove agrees with the calibration before it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class DriftTest:
    """One test of the old calibration on the trove.

    Parameters
    ----------
    test : str
        ``kolmogorov_smirnov`` or ``spiegelhalter``.
    is_corrected : bool
        Whether the old calibration was first corrected for the trove's own
        class frequencies.
    statistic, p_value, p_adjusted, power : float
        As in :class:`credence.findings.CalibrationTest`.
    """

    test: str
    is_corrected: bool
    statistic: float
    p_value: float
    p_adjusted: float
    power: float


@dataclass(frozen=True)
class DriftClass:
    """The trove's proteins predicted to be in one class, under the old calibration.

    Parameters
    ----------
    class_name : str, optional
        The class; None: all.
    n, n_clusters, n_correct : int
        Proteins, their families, right predictions.
    n_unknown : int
        Proteins left out: the old calibration gives them no confidence.
    expected : float
        Right predictions that the old confidences make one expect.
    nll_old, nll_trove : float
        Held-out mean on the old set, mean on the trove.
    lower, upper : float
        Ends of the interval of the difference, over families.
    tests : tuple of DriftTest
        Those that can be made.
    sentence : str
        What they say.
    """

    class_name: str | None
    n: int
    n_clusters: int
    n_correct: int
    n_unknown: int
    expected: float
    nll_old: float
    nll_trove: float
    lower: float
    upper: float
    tests: tuple[DriftTest, ...]
    sentence: str = ""


@dataclass(frozen=True)
class DriftTruth:
    """Whether proteins truly in one class score in the trove as they did before.

    Parameters
    ----------
    class_name : str
        The true class.
    n_old, n_trove, n_clusters_old, n_clusters_trove : int
        Proteins and families.
    right_old, right_trove : float
        Shares predicted to be in it.
    distance : float
        Greatest distance of the distributions of the top score, that of wrong
        predictions taken as negative.
    p_value, p_adjusted : float
        By exchanging whole families between the two.
    """

    class_name: str
    n_old: int
    n_trove: int
    n_clusters_old: int
    n_clusters_trove: int
    right_old: float
    right_trove: float
    distance: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class Drift:
    """Whether a trove agrees with the calibration before it.

    Parameters
    ----------
    n, n_clusters : int
        Proteins of the trove that were looked at, and their families.
    n_joined : int
        Those left out: the old set has relatives of them.
    classes : tuple of DriftClass
        All first, then per predicted class.
    truths : tuple of DriftTruth
        Per true class that both hold.
    sentences : tuple of str
        What a reader has to know.
    """

    n: int
    n_clusters: int
    n_joined: int
    classes: tuple[DriftClass, ...]
    truths: tuple[DriftTruth, ...]
    sentences: tuple[str, ...]
