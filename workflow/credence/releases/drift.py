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
from credence.findings import Drift, DriftClass, DriftTest, DriftTruth
from credence.metrics.metric import negative_log_likelihood
from credence.metrics.walk import DISTANCE, SPIEGELHALTER, holm
from credence.predictions import Booleans, Floats, Integers, Labelled, is_among

NAMED = 3  # true classes that are named; more are counted
FEW = 10  # families: fewer cannot tell anything at 5 %
LEVEL = 0.05
NONE = float("nan")


def class_sentence(found: DriftClass) -> str:
    """Return what the tests of one class say."""
    name = "All predictions" if found.class_name is None else found.class_name
    families = "1 family" if found.n_clusters == 1 else f"{found.n_clusters:,} families"
    families = f" in {families}" if found.n_clusters < found.n else ""
    counted = f"{name}: {found.n:,} of the trove{families}"
    if found.n_clusters < FEW:
        return f"{counted}: too few to tell."
    right = f"{found.n_correct:,} right where {found.expected:,.1f} were expected"
    return f"{counted}, {right}{_verdict(found)}"


def _verdict(found: DriftClass) -> str:
    plain = [entry for entry in found.tests if not entry.is_corrected]
    own = [entry for entry in found.tests if entry.is_corrected]
    raw, corrected = (_least([entry.p_adjusted for entry in part]) for part in (plain, own))
    if math.isnan(raw):
        return "; every old confidence is 0 or 1: no test."
    alone = _least([entry.p_value for entry in plain])
    known = _power(plain)
    if alone <= LEVEL < raw:
        return (
            f": the old confidences may not hold: p {_p(alone)} by itself, {_p(raw)} as one of "
            f"several classes ({known})."
        )
    if raw > LEVEL:
        return f": a difference that chance may explain (p {_p(raw)}, {known})."
    fails = f": the old confidences do not hold (p {_p(raw)}, {known})"
    shown = f"(p {_p(corrected)}, {_power(own)})"
    at_its_own = f"once corrected for the trove's class frequencies {shown}"
    if math.isnan(corrected):
        return f"{fails}; whether that is only its other class frequencies cannot be seen here."
    if corrected > LEVEL:
        return f"{fails}, and may do so {at_its_own}."
    return (
        f"{fails}, nor {at_its_own}: its proteins differ from the old ones, or these were too "
        "few to learn from."
    )


def _power(tests: list[DriftTest]) -> str:
    """Return the chance of the better test to see confidences five percentage points off."""
    power = max((entry.power for entry in tests), default=NONE)
    return "power not known" if math.isnan(power) else f"power {power:.2f}"


def _least(p_values: list[float]) -> float:
    """Return the least p-value of the tests, twice: there are two of them."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else NONE


def _p(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def sentences(found: Drift, is_corrected: bool) -> tuple[str, ...]:
    """Return what there is to say of a trove as a whole."""
    parts = []
    if found.n_joined:
        left_out = "of the trove have relatives in the old set and are left out here."
        parts.append(f"{found.n_joined:,} {left_out}")
    if not is_corrected:
        parts.append(
            "All of the trove are of one true class: its predictions are all right or all wrong, "
            "class by class, and that is its composition, not a fault of the old confidences."
        )
    different = [entry.class_name for entry in found.truths if entry.p_adjusted <= LEVEL]
    enough = [entry for entry in found.truths if not math.isnan(entry.p_adjusted)]
    if different:
        parts.append(
            f"Proteins of {', '.join(different)} score otherwise than the old ones did: look at "
            "them before you rely on the trove."
        )
    elif enough:
        names = [entry.class_name for entry in enough]
        words = ", ".join(names) if len(names) <= NAMED else f"each of {len(names)} classes"
        parts.append(f"Proteins of {words} score as the old ones did, as far as can be seen.")
    else:
        parts.append(
            f"No true class has {FEW} families both in the trove and before: whether proteins "
            "score as they did cannot be known."
        )
    return tuple(parts)


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
        stated = ("All of the trove are relatives of the old set: it cannot judge the old set.",)
        return Drift(
            n=0,
            n_clusters=0,
            n_joined=int(is_related.sum()),
            classes=(),
            truths=(),
            sentences=stated,
        )
    raw = old.calibration.confidence(fresh.predictions).value
    tests = _tests(fresh, raw, False, n_signs)
    is_corrected = False  # whether they are judged at the trove's class frequencies, too
    if len(np.unique(fresh.true_class)) > 1:
        moved = shifted(old.labelled, class_weights(fresh, old.labelled))
        if is_corrected := moved.n_samples > 0:
            corrected = old.calibrator.fit(moved).confidence(fresh.predictions).value
            tests += _tests(fresh, corrected, True, n_signs)
    each_class = (None, *np.unique(fresh.predictions.predicted_class).tolist())
    classes = tuple(_class(old, fresh, raw, of, tests, level, n_draws) for of in each_class)
    truths = _truths(old.labelled, fresh, n_signs)
    n_clusters = len(np.unique(fresh.cluster))
    found = Drift(
        n=fresh.n_samples,
        n_clusters=n_clusters,
        n_joined=int(is_related.sum()),
        classes=classes,
        truths=truths,
        sentences=(),
    )
    return replace(found, sentences=sentences(found, is_corrected))


def class_weights(before: Labelled, after: Labelled) -> Floats:
    """Return w[true class] that gives the newer set the older's class frequencies; NaN: absent."""
    older, newer = (
        np.bincount(part.true_class, weights=part.weight, minlength=part.predictions.n_classes)
        for part in (before, after)
    )
    older, newer = older / older.sum(), newer / newer.sum()
    held = newer > 0
    return np.where(held, older / np.where(held, newer, 1.0), NONE)


def _tests(
    fresh: Labelled, confidence: Floats, is_corrected: bool, n_signs: int
) -> list[tuple[str | None, DriftTest]]:
    found = []
    for entry in calibration_tests("", fresh, confidence, n_signs):
        if entry.test in (DISTANCE, SPIEGELHALTER) and not math.isnan(entry.statistic):
            # Over all there is one test; over classes Holm's rule counts them.
            p = (entry.p_value, entry.p_value if entry.class_name is None else entry.p_adjusted)
            test = DriftTest(entry.test, is_corrected, *p, entry.power)
            found.append((entry.class_name, test))
    return found


def _class(
    old: OldSet,
    fresh: Labelled,
    confidence: Floats,
    class_: int | None,
    tests: Sequence[tuple[str | None, DriftTest]],
    level: float,
    n_draws: int,
) -> DriftClass:
    both = (fresh.predictions, old.labelled.predictions)
    here, there = ((class_ is None) | (of.predicted_class == class_) for of in both)
    n_unknown = int((here & np.isnan(confidence)).sum())
    here, there = here & ~np.isnan(confidence), there & ~np.isnan(old.held_out)
    new, known = fresh.take(here), old.labelled.take(there)
    loss_new = negative_log_likelihood(confidence[here], new.is_correct)
    loss_old = negative_log_likelihood(old.held_out[there], known.is_correct)
    lower = upper = NONE
    if n_draws and min(known.n_samples, new.n_samples):
        drawn = drawn_means(new, loss_new, n_draws) - drawn_means(known, loss_old, n_draws)
        lower, upper = middle_of_draws(drawn, level)
    name = None if class_ is None else fresh.predictions.class_names[class_]
    n_correct = int(new.is_correct.sum())
    counts = (new.n_samples, len(np.unique(new.cluster)), n_correct, n_unknown)
    means = (_mean(loss_old, known.weight), _mean(loss_new, new.weight))
    of_class = tuple(entry for of, entry in tests if of == name)
    expected = float(confidence[here].sum())
    found = DriftClass(name, *counts, expected, *means, lower, upper, of_class)
    return replace(found, sentence=class_sentence(found))


def _mean(loss: Floats, weight: Floats) -> float:
    return float((loss * weight).sum() / weight.sum()) if len(loss) else NONE


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
    found = []
    for class_, name in enumerate(fresh.predictions.class_names):
        first, second = (part.take(part.true_class == class_) for part in (old, fresh))
        if min(first.n_samples, second.n_samples) == 0:
            continue
        sizes = (first.n_samples, second.n_samples)
        n_clusters = (len(np.unique(first.cluster)), len(np.unique(second.cluster)))
        right = (float(first.is_correct.mean()), float(second.is_correct.mean()))
        test = exchange_test(first, second, n_exchanges)
        found.append(DriftTruth(name, *sizes, *n_clusters, *right, *test, NONE))
    p_values = [
        NONE if min(entry.n_clusters_old, entry.n_clusters_trove) < FEW else entry.p_value
        for entry in found
    ]
    pairs = zip(found, holm(np.array(p_values)).tolist(), strict=True)
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
    own = float(_distances(codes, is_end, size, is_second[:, None])[0])
    if n_exchanges == 0:
        return own, NONE
    n_second = int(is_second.sum())
    n_beyond = 0
    at_once = min(AT_ONCE, max(1, BLOCK // len(value)))
    for start in range(0, n_exchanges, at_once):
        draws = range(start, min(start + at_once, n_exchanges))
        lots = np.stack([uniform(keys, draw, "exchange of families") for draw in draws], axis=1)
        rank = lots.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable")
        distance = _distances(codes, is_end, size, rank < n_second)
        n_beyond += int((distance >= own * (1.0 - 1e-12)).sum())
    return own, (1 + n_beyond) / (n_exchanges + 1)


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
