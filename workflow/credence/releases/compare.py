"""Two releases beside each other: counts, curves, metrics, and every protein's confidence.

The newer one is fitted a second time at the older's class frequencies: what still differs is
evidence, the rest composition (decision 0025). Intervals draw whole families; a family of both
releases has one weight in both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from credence import findings
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.auto import for_curves
from credence.calibrators.classwise import ClasswiseCalibrator, class_samples, scarce_fallback
from credence.calibrators.coherent import CoherentCalibrator
from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class
from credence.calibrators.intervals import expanded_quantiles, guarded, share_draws
from credence.calibrators.masses import class_masses
from credence.calibrators.protocol import Calibration, Calibrator, ClassSample, FitOptions
from credence.composition.adjusted import shifted
from credence.confidence import Confidence
from credence.draws import cluster_weights
from credence.evaluation.curves import N_CURVE_GRID
from credence.evaluation.evaluate import cross_fit
from credence.findings import Change, ClassChange, MetricChange, ReleaseStep
from credence.metrics.metric import BRIER, NLL
from credence.predictions import Floats, Integers, Labelled, Predictions, Strings, is_among
from credence.releases.drift import OldSet, class_weights, drawn_means, drift_of, middle_of_draws

NOT_KNOWN = float("nan")


@dataclass(frozen=True, kw_only=True, eq=False)
class ReleaseData:
    """One of the two releases."""

    state: findings.ReleaseState  # What is known of it
    calibration: Calibration  # Of the method that is compared, with intervals
    counts: Mapping[str, Mapping[str, int]]  # Class name → counts of the calibration's record
    # What it was fitted on; None where a calibration alone is at hand.
    labelled: Labelled | None = None
    test: Labelled | None = None  # Proteins that judge every release and fit none
    # Confidences of `labelled` by fits without their families; None: they are found here.
    held_out: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Comparison:
    """What two releases have in common, and how they are compared."""

    method: str  # Its specification
    calibrator: Calibrator  # The method, to be fitted without intervals
    class_names: tuple[str, ...]  # Of both
    scale: float  # Likewise
    resolution: float
    options: FitOptions = field(default_factory=FitOptions)  # Level and draws of the intervals
    n_signs: int = 999  # Draws for the p-values of the drift watch


def draws_at(
    calibrator: Calibrator, sample: ClassSample | None, score: float, options: FitOptions
) -> tuple[Floats, float] | None:
    """Return draws of the confidence at a score and the families near; None if too slow to do."""
    if isinstance(calibrator, CoherentCalibrator):  # a score is asked of one class by itself
        calibrator = calibrator.inner
    if sample is None or not isinstance(calibrator, ClasswiseCalibrator) or not options.n_draws:
        return None
    settings, masses = calibrator.settings, class_masses(sample)
    n_near = float(np.interp(score, masses.support.score, masses.support.n))
    if scarce_fallback(masses, options) is not None:
        return share_draws(sample, options.n_draws), masses.effective_number
    draw_values = getattr(settings, "draw_values", None)
    if draw_values is not None:  # refits all draws at once
        values = draw_values(sample, score, options.n_draws)
    elif BY_NAME[calibrator.method].additive:
        values = np.empty(options.n_draws)
        at = np.array([score])
        for draw in range(options.n_draws):
            drawn = cluster_weights(sample.cluster_key, draw)[sample.cluster]
            curve = settings.fit_curve(replace(sample, weight=sample.weight * drawn))
            values[draw] = curve.value(at)[0]
    else:
        return None
    return guarded(values[None], np.array([n_near]))[0], n_near


def change_of(
    points: Sequence[float], draws: Sequence[tuple[Floats, float] | None], options: FitOptions
) -> Change:
    """Return a change with its parts and their intervals."""
    before, fixed, after = points

    def bounds(first: int, second: int) -> tuple[float, float]:
        earlier, later = draws[first], draws[second]
        if earlier is None or later is None:
            return NOT_KNOWN, NOT_KNOWN
        n_near = np.array([min(earlier[1], later[1])])
        low, high = expanded_quantiles((later[0] - earlier[0])[None], n_near, options)
        difference = points[second] - points[first]
        return max(min(float(low[0]), difference), -1.0), min(max(float(high[0]), difference), 1.0)

    total, evidence, composition = bounds(0, 2), bounds(0, 1), bounds(1, 2)
    return Change(
        before=before,
        fixed=fixed,
        after=after,
        total_lower=total[0],
        total_upper=total[1],
        evidence_lower=evidence[0],
        evidence_upper=evidence[1],
        composition_lower=composition[0],
        composition_upper=composition[1],
    )


def share_change(samples: tuple[ClassSample | None, ...], options: FitOptions) -> Change | None:
    """Return what moved the precision of a class; None where that is not known."""
    known_samples = [sample for sample in samples if sample is not None]
    if len(known_samples) < len(samples):
        return None
    points = [sample.share_correct for sample in known_samples]
    draws = [
        (share_draws(sample, options.n_draws), class_masses(sample).effective_number)
        if options.n_draws
        else None
        for sample in known_samples
    ]
    return change_of(points, draws, options)


SAME_WITHIN = 1e-12  # confidences nearer than this are the same


def class_changes(
    older: ReleaseData, newer: ReleaseData, how: Comparison, at_older: Labelled | None
) -> tuple[ClassChange, ...]:
    """Return what changed for each predicted class."""
    samples: list[tuple[ClassSample | None, ...]] = [(None, None, None)] * len(how.class_names)
    fixed: Calibration | None = None
    before, after = older.labelled, newer.labelled
    if at_older is not None and before is not None and after is not None:
        parts = (class_samples(part) for part in (before, at_older, after))
        samples = list(zip(*parts, strict=True))
        if at_older.n_samples:
            fixed = for_curves(how.calibrator).fit(at_older)
    three = (older.calibration, fixed, newer.calibration)
    is_curve = older.calibration.gives_curve and newer.calibration.gives_curve
    changes = []
    for class_ in range(len(how.class_names)):
        entry = _described(class_, older, newer, how, is_curve)
        if at_older is not None and entry.is_touched:
            share = share_change(samples[class_], how.options)
            score, change = _explained(
                class_, is_curve, samples[class_], three, newer.labelled, how
            )
            entry = replace(entry, share=share, score=score, change=change)
        changes.append(entry)
    return tuple(changes)


def _described(
    class_: int, older: ReleaseData, newer: ReleaseData, how: Comparison, is_curve: bool
) -> ClassChange:
    """Return a class with its counts and parameters in both releases, and whether it moved."""
    name, pair = how.class_names[class_], (older, newer)
    chosen = [release.calibration.parameters(how.class_names).get(name, {}) for release in pair]
    counts: dict[str, Any] = {
        key: tuple(int(release.counts.get(name, {}).get(count, 0)) for release in pair)
        for key, count in (("n_predicted", "n"), ("n_correct",) * 2, ("n_clusters",) * 2)
    }
    asked = _asked(how, class_, np.linspace(0.0, how.scale, N_CURVE_GRID if is_curve else 0))
    if not is_curve and newer.labelled is not None:
        predictions = newer.labelled.predictions
        asked = predictions.take(predictions.predicted_class == class_)
    first, second = (release.calibration.confidence(asked) for release in pair)
    return ClassChange(
        class_name=name,
        n_true=tuple(
            None if known is None else int((known.true_class == class_).sum())
            for known in (older.labelled, newer.labelled)
        ),
        parameters=tuple(
            findings.ParameterChange(
                name=key, before=chosen[0].get(key, NOT_KNOWN), after=chosen[1].get(key, NOT_KNOWN)
            )
            for key in dict.fromkeys([*chosen[0], *chosen[1]])
        ),
        score=NOT_KNOWN,
        change=None,
        share=None,
        is_moved=not np.allclose(first.value, second.value, 0.0, SAME_WITHIN, equal_nan=True),
        **counts,
    )


def _asked(how: Comparison, class_: int, scores: Floats) -> Predictions:
    nobody = np.zeros(0, dtype=np.int64)
    blank = Predictions(
        ids=nobody.astype(object),
        class_names=how.class_names,
        scale=how.scale,
        resolution=how.resolution,
        predicted_class=nobody,
    )
    return blank.at_scores(class_, scores)


def _explained(
    class_: int,
    is_curve: bool,
    samples: tuple[ClassSample | None, ...],
    three: tuple[Calibration | None, ...],
    labelled: Labelled | None,
    how: Comparison,
) -> tuple[float, Change | None]:
    """Return at which score a class is compared, and what moved its confidence there."""
    if samples[0] is None or samples[2] is None or three[1] is None:
        return NOT_KNOWN, None
    calibrations = [entry for entry in three if entry is not None]
    if is_curve:
        score = float(np.median(samples[0].score))
        asked, weight = _asked(how, class_, np.array([score])), np.ones(1)
        draws = [draws_at(how.calibrator, sample, score, how.options) for sample in samples]
    else:
        assert labelled is not None
        positives = labelled.take(labelled.predictions.predicted_class == class_)
        score, asked, weight = NOT_KNOWN, positives.predictions, positives.weight
        draws = [None] * len(three)
    points = [float(np.average(entry.confidence(asked).value, weights=weight))
              for entry in calibrations]  # fmt: skip
    if any(np.isnan(point) for point in points):
        return NOT_KNOWN, None
    return score, change_of(points, draws, how.options)


def compare(
    older: ReleaseData, newer: ReleaseData, how: Comparison, asked: Predictions | None = None
) -> tuple[ReleaseStep, dict[str, Any] | None]:
    """Return what changed from one release to another, and a table of every protein."""
    proteins = _proteins(older, newer, asked)
    before, after = older.labelled, newer.labelled
    at_older: Labelled | None = None
    compared: dict[str, Any] = {}
    if before is not None and after is not None:
        at_older = shifted(after, class_weights(before, after))
        held_out = older.held_out
        if held_out is None:
            held_out = cross_fit(before, {"": how.calibrator}, _fold(before))[0][""]
        known = OldSet(
            labelled=before,
            calibration=older.calibration,
            held_out=held_out,
            calibrator=how.calibrator,
        )
        trove = after.take(~is_among(after.predictions.ids, before.predictions.ids))
        now = dict(zip(after.predictions.ids, after.weight.tolist(), strict=True))
        weights = zip(before.predictions.ids, before.weight.tolist(), strict=True)
        compared = {
            "metrics": _metrics(older, newer, how, held_out),
            "n_lightened": sum(now.get(name, weight) < weight for name, weight in weights),
            "drift": drift_of(known, trove, how.options.level, how.options.n_draws, how.n_signs),
        }
    if proteins is not None:
        change = np.abs(proteins["change"])
        compared["n_compared"] = int((~np.isnan(change)).sum())
        compared["n_moved"] = int((change >= findings.LEAST_MOVE).sum())
    step = ReleaseStep(
        older=older.state,
        newer=newer.state,
        method=how.method,
        scale=float(how.scale),
        level=how.options.level,
        classes=class_changes(older, newer, how, at_older),
        **compared,
    )
    return step, proteins


def _proteins(
    older: ReleaseData, newer: ReleaseData, asked: Predictions | None
) -> dict[str, Any] | None:
    """Return the columns of all proteins: the greatest change first, ties by id."""
    old: Strings | None = None
    if asked is None:
        if newer.labelled is None:
            return None
        asked = newer.labelled.predictions
        old = None if older.labelled is None else older.labelled.predictions.ids
    is_new = ~is_among(asked.ids, asked.ids if old is None else old)
    before, after = (release.calibration.confidence(asked) for release in (older, newer))
    change, score = after.value - before.value, asked.top_score
    columns = {
        "id": asked.ids,
        "predicted_class": np.array(asked.class_names, dtype=object)[asked.predicted_class],
        "score": np.full(asked.n_samples, NOT_KNOWN) if score is None else score,
        **_with_ends("before", before),
        **_with_ends("after", after),
        "change": change,
        "is_new": np.where(is_new, "yes", "no").astype(object),
    }
    order = np.lexsort((asked.ids.astype(str), -np.nan_to_num(np.abs(change), nan=-1.0)))
    return {name: column[order] for name, column in columns.items()}


def _with_ends(name: str, confidence: Confidence) -> dict[str, Floats]:
    return {
        name: confidence.value,
        f"{name}_lower": confidence.lower,
        f"{name}_upper": confidence.upper,
    }


def _fold(labelled: Labelled) -> Integers:
    return folds_by_class(labelled, DEFAULT_FOLDS)


def _metrics(
    older: ReleaseData, newer: ReleaseData, how: Comparison, held_out: Floats
) -> tuple[MetricChange, ...]:
    """Return held-out metrics of both releases on the proteins that both can judge."""
    before, after = older.labelled, newer.labelled
    assert before is not None
    assert after is not None
    # Families keep their fold, so that the same ones are left out together in both.
    kept = dict(zip(before.cluster, _fold(before).tolist(), strict=True))
    folds = zip(after.cluster, _fold(after).tolist(), strict=True)
    fold = np.array([kept.get(cluster, number) for cluster, number in folds], dtype=np.int64)
    now = cross_fit(after, {"": how.calibrator}, fold)[0][""]
    later = dict(zip(after.predictions.ids, now, strict=True))
    in_newer = np.array([later.get(name, NOT_KNOWN) for name in before.predictions.ids])
    changes = _metric_changes("old", before, held_out, in_newer, how)
    if newer.test is not None and newer.test.n_samples:
        first, second = (
            release.calibration.confidence(newer.test.predictions).value
            for release in (older, newer)
        )
        changes += _metric_changes("test", newer.test, first, second, how)
    return tuple(changes)


def _metric_changes(
    sample: str, judged: Labelled, first: Floats, second: Floats, how: Comparison
) -> list[MetricChange]:
    known = ~np.isnan(first) & ~np.isnan(second)
    judged, first, second = judged.take(known), first[known], second[known]
    predicted = judged.predictions.predicted_class
    n_draws, level = how.options.n_draws, how.options.level
    changes = []
    for class_ in (None, *np.unique(predicted).tolist()) if len(first) else ():
        rows = np.flatnonzero(predicted == class_) if class_ is not None else np.arange(len(first))
        part = judged.take(rows)
        weight = part.weight / part.weight.sum()
        for metric in (NLL, BRIER):
            assert metric.losses is not None
            before, after = (
                metric.losses(stated[rows], part.is_correct) for stated in (first, second)
            )
            lower = upper = NOT_KNOWN
            if n_draws and len(np.unique(part.cluster)) > 1:
                lower, upper = middle_of_draws(drawn_means(part, after - before, n_draws), level)
            changes.append(
                MetricChange(
                    class_name=None if class_ is None else how.class_names[class_],
                    metric=metric.name,
                    sample=sample,
                    before=float(weight @ before),
                    after=float(weight @ after),
                    lower=lower,
                    upper=upper,
                    n=len(rows),
                )
            )
    return changes
