"""Whether a trove agrees with the calibration before it is added.

The old calibration, which the trove did not fit, is judged on it as methods are; a second time
corrected for the trove's class frequencies, since other ones fail the tests though every score
means what it meant. Proteins of a true class are compared with the old ones of that class.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.intervals import ends_of_draws
from credence.calibrators.protocol import Calibration, Calibrator
from credence.composition.adjusted import shifted
from credence.draws import cluster_weights, encode_clusters, uniform
from credence.evaluation.calibration_tests import calibration_tests
from credence.findings import LEAST_TESTED, Drift, DriftClass, DriftTest, DriftTruth
from credence.metrics.metric import negative_log_likelihood
from credence.metrics.walk import KOLMOGOROV_SMIRNOV, SPIEGELHALTER, holm
from credence.predictions import Booleans, Floats, Integers, Labelled, is_among

N_EXCHANGES = 999
AT_ONCE = 100  # exchanges of families held in memory together, at most
BLOCK = 4_000_000  # numbers held at once


@dataclass(frozen=True, kw_only=True, eq=False)
class OldSet:
    """What is known of the release before the trove."""

    labelled: Labelled  # What it was fitted on
    calibration: Calibration  # Fitted to all of it
    held_out: Floats  # Confidences of its proteins by fits without their families
    calibrator: Calibrator  # The method, to correct it for other frequencies


def drift_of(
    old: OldSet, trove: Labelled, level: float, n_draws: int, n_signs: int = N_EXCHANGES
) -> Drift | None:
    """Return whether a trove, but for relatives of old proteins, agrees; None for no trove."""
    if trove.n_samples == 0:
        return None
    is_related = is_among(trove.cluster, old.labelled.cluster)
    fresh = trove.take(~is_related)
    if fresh.n_samples == 0:
        return Drift(n=0, n_clusters=0, n_joined=int(is_related.sum()), classes=(), truths=())
    raw = old.calibration.confidence(fresh.predictions).value
    tests = _tests(fresh, raw, False, n_signs)
    is_corrected = False  # whether they are judged at the trove's class frequencies, too
    if len(np.unique(fresh.true_class)) > 1:
        moved = shifted(old.labelled, class_weights(fresh, old.labelled))
        if is_corrected := moved.n_samples > 0:
            corrected = old.calibrator.fit(moved).confidence(fresh.predictions).value
            tests += _tests(fresh, corrected, True, n_signs)
    each_class = (None, *np.unique(fresh.predictions.predicted_class).tolist())
    classes = tuple(_class(old, fresh, raw, code, tests, level, n_draws) for code in each_class)
    return Drift(
        n=fresh.n_samples,
        n_clusters=len(np.unique(fresh.cluster)),
        n_joined=int(is_related.sum()),
        classes=classes,
        truths=_truths(old.labelled, fresh, n_signs),
        is_corrected=is_corrected,
    )


def class_weights(before: Labelled, after: Labelled) -> Floats:
    """Return w[true class] that gives the newer set the older's class frequencies; NaN: absent."""
    older, newer = (
        np.bincount(part.true_class, weights=part.weight, minlength=part.predictions.n_classes)
        for part in (before, after)
    )
    older, newer = older / older.sum(), newer / newer.sum()
    held = newer > 0
    return np.where(held, older / np.where(held, newer, 1.0), math.nan)


def _tests(
    fresh: Labelled, confidence: Floats, is_corrected: bool, n_signs: int
) -> list[tuple[str | None, DriftTest]]:
    tests = []
    for entry in calibration_tests("", fresh, confidence, n_signs):
        if entry.test in (KOLMOGOROV_SMIRNOV, SPIEGELHALTER) and not math.isnan(entry.statistic):
            # Over all there is one test; over classes Holm's rule counts them.
            is_alone = entry.class_name is None
            test = DriftTest(
                test=entry.test,
                is_corrected=is_corrected,
                p_value=entry.p_value,
                p_adjusted=entry.p_value if is_alone else entry.p_adjusted,
                power=entry.power,
            )
            tests.append((entry.class_name, test))
    return tests


def _class(
    old: OldSet,
    fresh: Labelled,
    confidence: Floats,
    class_: int | None,
    tests: Sequence[tuple[str | None, DriftTest]],
    level: float,
    n_draws: int,
) -> DriftClass:
    is_new, is_old = (
        (class_ is None) | (part.predictions.predicted_class == class_)
        for part in (fresh, old.labelled)
    )
    n_unknown = int((is_new & np.isnan(confidence)).sum())
    is_new, is_old = is_new & ~np.isnan(confidence), is_old & ~np.isnan(old.held_out)
    new, known = fresh.take(is_new), old.labelled.take(is_old)
    loss_new = negative_log_likelihood(confidence[is_new], new.is_correct)
    loss_old = negative_log_likelihood(old.held_out[is_old], known.is_correct)
    lower = upper = math.nan
    if n_draws and min(known.n_samples, new.n_samples):
        drawn = drawn_means(new, loss_new, n_draws) - drawn_means(known, loss_old, n_draws)
        lower, upper = middle_of_draws(drawn, level)
    name = None if class_ is None else fresh.predictions.class_names[class_]
    return DriftClass(
        class_name=name,
        n=new.n_samples,
        n_clusters=len(np.unique(new.cluster)),
        n_correct=int(new.is_correct.sum()),
        n_unknown=n_unknown,
        expected=float(confidence[is_new].sum()),
        nll_old=_mean(loss_old, known.weight),
        nll_trove=_mean(loss_new, new.weight),
        lower=lower,
        upper=upper,
        tests=tuple(test for class_name, test in tests if class_name == name),
    )


def _mean(loss: Floats, weight: Floats) -> float:
    return float((loss * weight).sum() / weight.sum()) if len(loss) else math.nan


def middle_of_draws(draws: Floats, level: float) -> tuple[float, float]:
    """Return the interval that holds a share of the draws, as many below it as above."""
    low, high = ends_of_draws(draws, level)
    return float(low), float(high)


def drawn_means(part: Labelled, loss: Floats, n_draws: int) -> Floats:
    """Return the weighted mean of a loss in every draw of families."""
    codes, keys = encode_clusters(part.cluster)
    mass = np.bincount(codes, weights=part.weight)
    lost = np.bincount(codes, weights=part.weight * loss)
    means = np.empty(n_draws)
    for draw in range(n_draws):
        drawn = cluster_weights(keys, draw)
        means[draw] = (drawn @ lost) / (drawn @ mass)
    return means


def _truths(old: Labelled, fresh: Labelled, n_exchanges: int) -> tuple[DriftTruth, ...]:
    truths = []
    for class_, name in enumerate(fresh.predictions.class_names):
        first, second = (part.take(part.true_class == class_) for part in (old, fresh))
        if min(first.n_samples, second.n_samples) == 0:
            continue
        distance, p_value = exchange_test(first, second, n_exchanges)
        truths.append(
            DriftTruth(
                class_name=name,
                n_old=first.n_samples,
                n_trove=second.n_samples,
                n_clusters_old=len(np.unique(first.cluster)),
                n_clusters_trove=len(np.unique(second.cluster)),
                right_old=float(first.is_correct.mean()),
                right_trove=float(second.is_correct.mean()),
                distance=distance,
                p_value=p_value,
                p_adjusted=math.nan,
            )
        )
    p_values = [
        entry.p_value
        if min(entry.n_clusters_old, entry.n_clusters_trove) >= LEAST_TESTED
        else math.nan
        for entry in truths
    ]
    pairs = zip(truths, holm(np.array(p_values)).tolist(), strict=True)
    return tuple(replace(entry, p_adjusted=value) for entry, value in pairs)


def exchange_test(first: Labelled, second: Labelled, n_exchanges: int) -> tuple[float, float]:
    """Return Kolmogorov and Smirnov's distance of signed scores; p by exchanges of families."""
    value = np.concatenate([signed_scores(part) for part in (first, second)])
    codes, keys = encode_clusters(np.concatenate([first.cluster, second.cluster]))
    is_second = np.zeros(len(keys), dtype=np.bool_)
    is_second[codes[first.n_samples :]] = True
    order = np.argsort(value, kind="stable")
    sorted_value, codes = value[order], codes[order]
    is_end = np.append(sorted_value[1:] > sorted_value[:-1], True)
    size = np.bincount(codes, minlength=len(keys))
    observed = float(_distances(codes, is_end, size, is_second[:, None])[0])
    if n_exchanges == 0:
        return observed, math.nan
    n_second = int(is_second.sum())
    n_beyond = 0
    at_once = min(AT_ONCE, max(1, BLOCK // len(value)))
    for start in range(0, n_exchanges, at_once):
        draws = range(start, min(start + at_once, n_exchanges))
        lots = np.stack([uniform(keys, draw, "exchange of families") for draw in draws], axis=1)
        rank = lots.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
        distance = _distances(codes, is_end, size, rank < n_second)
        n_beyond += int((distance >= observed * (1.0 - 1e-12)).sum())
    return observed, (1 + n_beyond) / (n_exchanges + 1)


def signed_scores(labelled: Labelled) -> Floats:
    """Return top scores, negative where the prediction is wrong; ±1 without scores."""
    score = labelled.predictions.top_score
    size = np.ones(labelled.n_samples) if score is None else score
    return np.where(labelled.is_correct, size, -size)


def _distances(codes: Integers, is_end: Booleans, size: Integers, is_second: Booleans) -> Floats:
    n_second = (size[:, None] * is_second).sum(axis=0)
    n_first = size.sum() - n_second
    possible = (n_first > 0) & (n_second > 0)
    step = np.where(is_second[codes], 1.0 / np.maximum(n_second, 1), -1.0 / np.maximum(n_first, 1))
    return np.where(possible, np.abs(np.cumsum(step, axis=0))[is_end].max(axis=0), 0.0)
