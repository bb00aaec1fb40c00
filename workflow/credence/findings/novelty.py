"""How far the proteins of a use-set are from those that are known."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import Counts, Numbers


@dataclass(frozen=True)
class NovelProtein:
    """One protein that is unlike those of the calibration set.

    Parameters
    ----------
    id, predicted_class : str
        The protein, and what the classifier says.
    confidence : float
        The published one; NaN where there is none.
    novelty : float
        See :class:`credence.novelty.reference.Look`.
    distance : float
        To the nearest calibration protein.
    nearest, nearest_class : str
        That protein and its true class.
    training_distance : float
        To the nearest training protein; NaN where those are not known.
    """

    id: str
    predicted_class: str
    confidence: float
    novelty: float
    distance: float
    nearest: str
    nearest_class: str
    training_distance: float


@dataclass(frozen=True)
class Points:
    """Places along the first two axes.

    Parameters
    ----------
    x, y : tuple of float
        One entry per protein.
    n : int
        Of how many proteins these are a sample.
    """

    x: Numbers
    y: Numbers
    n: int


@dataclass(frozen=True)
class NoveltyFinding:
    """The proteins of one use-set beside those that are known.

    Parameters
    ----------
    name : str
        The use-set.
    features : str
        ``composition`` or ``vectors``.
    n_components : int
        Axes of the space.
    explained : tuple of float
        Share of the variance along the first two axes.
    flag : float
        Novelty above which a protein is flagged.
    n, n_placed, n_flagged, n_repeats : int
        Proteins; those with a place; those flagged; those at distance 0 of a
        calibration protein.
    n_calibration : int
        Calibration proteins with a place.
    n_training : int
        Training proteins with a place; 0 where those are not known.
    confidence_flagged, confidence_others : float
        Mean confidence of the flagged and of the others; NaN without any.
    edges : tuple of float
        Bins of the distance.
    calibration_counts, use_counts : tuple of int
        Calibration proteins by distance to other families, and proteins of the
        use-set by distance to the calibration set.
    flag_distance : float
        Distance beyond which a protein is flagged; NaN where nothing is known.
    calibration, others, flagged : Points
        The map.
    rows : tuple of NovelProtein
        The farthest of the flagged ones.
    """

    name: str
    features: str
    n_components: int
    explained: Numbers
    flag: float
    n: int
    n_placed: int
    n_flagged: int
    n_repeats: int
    n_calibration: int
    n_training: int
    confidence_flagged: float
    confidence_others: float
    edges: Numbers
    calibration_counts: Counts
    use_counts: Counts
    flag_distance: float
    calibration: Points
    others: Points
    flagged: Points
    rows: tuple[NovelProtein, ...]
