"""How well the probabilities of events can be forecast, and from what."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.evaluated import Difference, MetricValue, Reliability


@dataclass(frozen=True)
class FeatureFinding:
    """A feature, or why there is none.

    Parameters
    ----------
    name, group, summary : str
        From the registry.
    missing : str
        What it would need; empty where it was used.
    """

    name: str
    group: str
    summary: str
    missing: str = ""


@dataclass(frozen=True)
class TunedFinding:
    """What tuning chose for one forecaster.

    Parameters
    ----------
    forecaster, setting : str
        Its name, and in words what was tuned; empty: nothing.
    value : float
        What was chosen on the whole set.
    """

    forecaster: str
    setting: str
    value: float


@dataclass(frozen=True)
class Ablation:
    """What a group of features is worth.

    Parameters
    ----------
    group : str
        The group left out.
    features : tuple of str
        Names of the features that went with it.
    nll, brier : Difference
        Without the group minus with all: above 0 the group helps.
    """

    group: str
    features: tuple[str, ...]
    nll: Difference
    brier: Difference


@dataclass(frozen=True)
class LearningPoint:
    """How good forecasts are that learn from part of the calibration set.

    Parameters
    ----------
    share : float
        Part of the clusters outside each fold that was learnt from.
    n_learnt : int
        Proteins learnt from, on average over the folds.
    metrics : tuple of MetricValue
        Held-out NLL, Brier score, calibration and sharpness.
    """

    share: float
    n_learnt: int
    metrics: tuple[MetricValue, ...]


@dataclass(frozen=True)
class EventFinding:
    """One event.

    Parameters
    ----------
    name, words : str
        What it is called, and what it says.
    n, n_clusters, n_true : int
        Calibration proteins, their clusters, and those for which it came true.
    share : float
        Weighted share of the latter.
    note : str
        Why its probability is no forecast; empty where it is one.
    metrics : tuple of MetricValue
        Held-out, by forecaster; ``published`` is what tables carry.
    differences : tuple of Difference
        Held-out, each forecaster minus ``published``.
    reliability : tuple of Reliability
        Of what is published, held-out.
    tuned : tuple of TunedFinding
        By forecaster.
    ablations : tuple of Ablation
        Of the forecaster that is published.
    learning : tuple of LearningPoint
        Of the same, from few proteins to all.
    """

    name: str
    words: str
    n: int
    n_clusters: int
    n_true: int
    share: float
    note: str = ""
    metrics: tuple[MetricValue, ...] = ()
    differences: tuple[Difference, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    tuned: tuple[TunedFinding, ...] = ()
    ablations: tuple[Ablation, ...] = ()
    learning: tuple[LearningPoint, ...] = ()


@dataclass(frozen=True)
class Pooled:
    """What looking at all events at once would hide.

    Parameters
    ----------
    pooled : float
        Calibration part of the Brier score, all events in the same bins.
    apart : float
        The mean of the same, each event in bins of its own.
    n : int
        Proteins times events.
    """

    pooled: float
    apart: float
    n: int


@dataclass(frozen=True)
class EventsFinding:
    """All that was found of the events that were asked for.

    Parameters
    ----------
    forecaster : str
        Whose probabilities are published.
    compared : tuple of str
        All that were judged, in the order shown.
    n_folds : int
        Folds of whole clusters.
    level : float
        Coverage of the intervals.
    agrees : bool
        Whether the probability of the predicted class is the published
        confidence.
    method : str
        The method of that confidence; empty: none was given.
    features : tuple of FeatureFinding
        Of the registry.
    events : tuple of EventFinding
        In the order asked for.
    n_moved : int
        Held-out forecasts that contradicted another one by more than a thousandth,
        so that they were moved.
    nll_before, nll_after : float
        Mean over events of the held-out NLL, before and after that.
    pooled : Pooled, optional
        With two events or more.
    """

    forecaster: str
    compared: tuple[str, ...]
    n_folds: int
    level: float
    agrees: bool
    method: str
    features: tuple[FeatureFinding, ...]
    events: tuple[EventFinding, ...]
    n_moved: int
    nll_before: float
    nll_after: float
    pooled: Pooled | None = None
