"""How much a number flatters that is measured where the fit was made ([S23] Appendix A)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.calibrators.protocol import Calibrator
from credence.draws import cluster_weights, encode_clusters, uniform
from credence.metrics.all_metrics import BY_NAME
from credence.metrics.metric import Judged
from credence.predictions import Booleans, Floats, Labelled

MEASURED = ("nll", "brier", "ece")
QUANTILES = (0.05, 0.5, 0.95)

Values = dict[tuple[str, str | None, str], tuple[float, float]]


@dataclass(frozen=True)
class TwoSets:
    """One method and class, measured on the fitted half and on the other."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    metric: str  # Name in the registry
    in_sample: float  # Medians over the draws
    held_out: float
    flattery: float  # Median, 5 % and 95 % quantile of held-out minus in-sample, draw by draw
    lower: float
    upper: float
    n_draws: int  # Draws in which both halves could be measured


def first_half(labelled: Labelled, draw: int) -> Booleans:
    """Return which proteins are in the first half: whole clusters, each class halved by name."""
    codes, keys = encode_clusters(labelled.cluster)
    n_classes = labelled.predictions.n_classes
    place = codes * n_classes + labelled.predictions.predicted_class
    counts = np.bincount(place, minlength=len(keys) * n_classes).reshape(len(keys), n_classes)
    order = np.lexsort((uniform(keys, draw, "two sets"), counts.argmax(axis=1)))
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[order] = (np.arange(len(keys)) + draw) % 2 == 0
    return is_first[codes]


def measure_halves(labelled: Labelled, calibrators: Mapping[str, Calibrator], draw: int) -> Values:
    """Return each metric on the half that was fitted and on the other."""
    inside = first_half(labelled, draw)
    return _measure_both((labelled.take(inside), labelled.take(~inside)), calibrators)


def measure_sets(
    sets: tuple[Labelled, Labelled], calibrators: Mapping[str, Calibrator], draw: int
) -> Values:
    """Return the same of two sets as they are (draw 0), or with their clusters drawn again."""
    drawn = []
    for labelled in sets:
        codes, keys = encode_clusters(labelled.cluster)
        weight = cluster_weights(keys, draw)[codes] if draw else 1.0
        drawn.append(labelled.reweighted(labelled.weight * weight))
    return _measure_both((drawn[0], drawn[1]), calibrators)


def _measure_both(
    halves: tuple[Labelled, Labelled], calibrators: Mapping[str, Calibrator]
) -> Values:
    found: Values = {}
    for name, calibrator in calibrators.items():
        calibration = calibrator.fit(halves[0])
        confidences = [calibration.confidence(half.predictions).value for half in halves]
        for number, class_name in enumerate((None, *halves[0].predictions.class_names)):
            for metric in MEASURED:
                pairs = zip(halves, confidences, strict=True)
                first, second = (_measure(*pair, number - 1, metric) for pair in pairs)
                found[name, class_name, metric] = first, second
    return found


def summarise_draws(draws: Sequence[Values]) -> tuple[TwoSets, ...]:
    """Return medians over the draws, leaving out draws that could not be measured."""
    found = []
    for key in draws[0]:
        pairs = np.array([draw[key] for draw in draws])
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        if len(pairs) == 0:
            continue
        low, middle, high = np.quantile(pairs[:, 1] - pairs[:, 0], QUANTILES).tolist()
        first, other = np.median(pairs, axis=0).tolist()
        found.append(TwoSets(*key, first, other, middle, low, high, len(pairs)))
    return tuple(found)


def _measure(half: Labelled, confidence: Floats, class_: int, metric: str) -> float:
    rows = ~np.isnan(confidence)
    if class_ >= 0:
        rows &= half.predictions.predicted_class == class_
    judged = Judged(confidence[rows], half.is_correct[rows], half.weight[rows])
    return BY_NAME[metric].compute(judged)
