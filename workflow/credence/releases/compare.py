"""Two releases beside each other: counts, curves, metrics, and every protein's confidence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from credence.calibrators.crossfit import fold_of
from credence.calibrators.protocol import Calibration, Calibrator, ClassSample, FitOptions
from credence.confidence import Confidence
from credence.evaluation.curves import N_GRID, at_scores, depends_on_score_alone
from credence.evaluation.describing import parameters_of
from credence.evaluation.held_out import cross_fit
from credence.findings import (
    Change,
    ClassChange,
    Drift,
    MetricChange,
    Moved,
    ParameterChange,
    ReleaseState,
    ReleaseStep,
)
from credence.metrics.pointwise import BRIER, NLL
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.records import to_record
from credence.releases.drift import OldSet, drawn_means, drift_of, interval
from credence.releases.reweighting import ThreeSets, change_of, draws_at, share_change, three_sets


@dataclass(frozen=True, eq=False)
class ReleaseData:
    """One of the two releases."""

    state: ReleaseState  # What is known of it
    calibration: Calibration  # Of the method that is compared, with intervals
    counts: Mapping[str, Mapping[str, int]]  # Class name → counts of the calibration's record
    # What it was fitted on; None where a calibration alone is at hand.
    labelled: Labelled | None = None
    test: Labelled | None = None  # Proteins that judge every release and fit none


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two releases have in common, and how they are compared."""

    method: str  # Its specification
    calibrator: Calibrator  # The method, to be fitted without intervals
    class_names: tuple[str, ...]  # Of both
    scale: float  # Likewise
    resolution: float
    options: FitOptions = field(default_factory=FitOptions)  # Level and draws of the intervals
    n_signs: int = 999  # Draws for the p-values of the drift watch


STILL = 0.005  # a confidence that moves by less than half a point stays
FINE = 0.03  # a change smaller than this is given in tenths of a point
CHOSEN = ("bandwidth", "cutoff")
NOTABLE = 1.1  # times: a smaller change of bandwidth or cutoff is left out


def with_sentence(entry: ClassChange, scale: float) -> ClassChange:
    """Return a class with its sentence."""
    return replace(entry, sentence=_sentence(entry, scale))


def _sentence(entry: ClassChange, scale: float) -> str:
    name = entry.class_name
    n_before, n_after = entry.n_predicted
    if n_before == 0 and n_after == 0:
        return f"{name} was never predicted."
    if n_before == 0:
        return (
            f"{name} was never predicted before; now {entry.n_correct[1]:,} of {n_after:,} "
            "predictions are right."
        )
    if not entry.is_touched:
        return f"{name}: nothing was added, nothing changed."
    if entry.change is None:
        return (
            f"{name}: {n_before:,} predictions before, {n_after:,} now; right were "
            f"{entry.n_correct[0]:,}, now {entry.n_correct[1]:,}."
        )
    at = f"{name}, mean of its predictions"
    if not math.isnan(entry.score):
        decimals = max(0, 2 - math.floor(math.log10(scale)))
        at = f"{name} at score {entry.score:.{decimals}f}"
    change = entry.change
    if abs(change.total) < STILL:
        return f"{at}: confidence stayed at {_share(change.after)}{_hidden(change)}."
    decimals = _decimals(change)
    verb = "rose" if change.total > 0 else "fell"
    return (
        f"{at}: confidence {verb} from {change.before:.{decimals}f} to "
        f"{change.after:.{decimals}f}. {_parts(change, decimals)}{_chosen_anew(entry)}"
    )


def _chosen_anew(entry: ClassChange) -> str:
    """Return that the curve is smoothed otherwise now, where it is."""
    for parameter in entry.parameters:
        first, second = parameter.before, parameter.after
        is_known = parameter.name in CHOSEN and min(first, second) > 0
        if is_known and max(first, second) > NOTABLE * min(first, second):
            return (
                f" The {parameter.name} went from {first:.3g} to {second:.3g}; what that does "
                "counts as evidence."
            )
    return ""


def _decimals(change: Change) -> int:
    """Return 2, or 3 where two do not show the change or an end is near 0 or 1."""
    bounds = (change.before, change.after)
    is_fine = abs(change.total) < FINE or max(bounds) > 0.985 or min(bounds) < 0.015
    return 3 if is_fine else 2


def _parts(change: Change, decimals: int) -> str:
    """Return what a change is made of; the points are those of the rounded numbers."""
    total = round(change.after, decimals) - round(change.before, decimals)
    composition = round(change.composition, decimals)
    evidence = total - composition

    def points(value: float) -> str:
        return _points(abs(value), decimals)

    on_evidence = _range(
        change.evidence_lower, change.evidence_upper, change.evidence < 0, decimals
    )
    on_composition = _range(
        change.composition_lower, change.composition_upper, change.composition < 0, decimals
    )
    end = "."
    if change.evidence_lower <= 0.0 <= change.evidence_upper:
        end = ". What is new evidence may be chance: its interval holds 0."
    if abs(composition) < STILL <= abs(evidence):
        return f"All {points(total)} are new evidence{on_evidence}{end}"
    if abs(evidence) < STILL <= abs(composition):
        return (
            f"All {points(total)} are re-weighting: the classes are mixed in other shares, and "
            f"at the old shares it would be {change.fixed:.{decimals}f}."
        )
    if evidence * composition >= 0:
        return (
            f"Of the {points(total)}, {_number(abs(composition), decimals)}{on_composition} are "
            f"re-weighting and {_number(abs(evidence), decimals)}{on_evidence} new evidence{end}"
        )
    first, second = _verb(evidence), _verb(composition)
    return (
        f"New evidence {first} it by {points(evidence)}{on_evidence}, re-weighting {second} it "
        f"by {points(composition)}{on_composition}{end}"
    )


def _verb(value: float) -> str:
    return "raised" if value > 0 else "lowered"


def _hidden(change: Change) -> str:
    """Return that two parts cancel, where they do."""
    if min(abs(change.evidence), abs(change.composition)) < STILL:
        return ""
    return (
        f": new evidence {_verb(change.evidence)} it by {_points(abs(change.evidence), 3)}, "
        f"re-weighting {_verb(change.composition)} it by {_points(abs(change.composition), 3)}"
    )


def _range(lower: float, upper: float, is_down: bool, decimals: int) -> str:
    """Return an interval in points, signed as its part is."""
    if math.isnan(lower):
        return ""
    if is_down:
        lower, upper = -upper, -lower
    bounds = (_number(end, decimals).replace("-", "−") for end in (lower, upper))
    return f" ({' to '.join(bounds)})"


def _points(value: float, decimals: int) -> str:
    number = _number(value, decimals)
    return f"{number} point" if number == "1" else f"{number} points"


def _number(value: float, decimals: int) -> str:
    text = f"{100 * value:.{decimals - 2}f}"
    return "0" if float(text) == 0 else text


def _share(value: float) -> str:
    return f"{value:.3f}" if value > 0.985 or value < 0.0095 else f"{value:.2f}"


def step_sentences(step: ReleaseStep) -> tuple[str, ...]:
    """Return what a reader has to know of a step."""
    touched = [entry for entry in step.classes if entry.is_touched]
    n_added = step.newer.n_calibration - step.older.n_calibration
    parts = []
    if n_added:
        parts.append(
            f"{step.newer.name} {'adds' if n_added > 0 else 'takes away'} {abs(n_added):,} "
            f"proteins to calibrate with: {step.older.n_calibration:,} before, "
            f"{step.newer.n_calibration:,} now."
        )
    elif not touched:
        parts.append(f"{step.newer.name} changes nothing: no protein was added.")
    if step.n_lightened:
        parts.append(
            f"{step.n_lightened:,} old proteins weigh less than before: each family counts one, "
            "and relatives joined theirs."
        )
    if step.n_compared:
        parts.append(
            f"Of {step.n_compared:,} proteins, {step.n_moved:,} have a confidence that moved by "
            "half a point or more."
        )
    moved = [entry for entry in touched if entry.change is not None]
    if moved:
        biggest = max(moved, key=lambda entry: abs(entry.change.total) if entry.change else 0.0)
        if biggest.change is not None and abs(biggest.change.total) >= STILL:
            parts.append(f"Most changed: {biggest.sentence}")
    return tuple(parts)


N_BINS = 50  # of the scores' histograms
ROUNDING = 1e-12  # confidences nearer than this are the same
NONE = float("nan")


def class_changes(
    older: ReleaseData, newer: ReleaseData, how: Comparison, sets: ThreeSets | None
) -> tuple[ClassChange, ...]:
    """Return what changed for each predicted class."""
    samples: list[tuple[ClassSample | None, ...]] = [(None, None, None)] * len(how.class_names)
    fixed: Calibration | None = None
    if sets is not None:
        samples = sets.samples()
        if sets.fixed.n_samples:
            fixed = how.calibrator.fit(sets.fixed)
    found = []
    for class_ in range(len(how.class_names)):
        entry = _described(class_, older, newer, how, fixed, samples[class_])
        entry = replace(entry, is_moved=_is_moved(class_, entry, older, newer))
        if sets is not None and entry.is_touched:
            entry = _explained(class_, entry, samples[class_], older, newer, how, fixed)
        found.append(with_sentence(entry, float(how.scale)))
    return tuple(found)


def _described(
    class_: int,
    older: ReleaseData,
    newer: ReleaseData,
    how: Comparison,
    fixed: Calibration | None,
    samples: tuple[ClassSample | None, ...],
) -> ClassChange:
    """Return a class with its counts, parameters, histograms and curves in both releases."""
    name, both = how.class_names[class_], (older, newer)
    chosen = [
        {
            entry.name: entry.value
            for entry in parameters_of({"": release.calibration}, how.class_names)
            if entry.class_name == name
        }
        for release in both
    ]
    grid: Floats = np.zeros(0)
    if all(depends_on_score_alone(to_record(one.calibration), name) for one in both):
        grid = np.linspace(0.0, how.scale, N_GRID)
    asked = at_scores(_blank(how), class_, grid)
    first, second = (release.calibration.confidence(asked) for release in both)
    flat = fixed.confidence(asked).value if fixed is not None and len(grid) else np.zeros(0)
    counted = [
        [int(release.counts.get(name, {}).get(key, 0)) for release in both]
        for key in ("n", "n_correct", "n_clusters")
    ]
    given = [sample for sample in samples if sample is not None]
    edges = np.linspace(0.0, given[-1].scale, N_BINS + 1) if given else np.zeros(0)
    return ClassChange(
        class_name=name,
        n_true=tuple(
            0 if release.labelled is None else int((release.labelled.true_class == class_).sum())
            for release in both
        ),
        n_predicted=tuple(counted[0]),
        n_correct=tuple(counted[1]),
        n_clusters=tuple(counted[2]),
        parameters=tuple(
            ParameterChange(key, chosen[0].get(key, NONE), chosen[1].get(key, NONE))
            for key in dict.fromkeys([*chosen[0], *chosen[1]])
        ),
        score=NONE,
        change=None,
        share=None,
        edges=_tuple(edges),
        right_before=_histogram(samples[0], True, edges),
        wrong_before=_histogram(samples[0], False, edges),
        right_after=_histogram(samples[2], True, edges),
        wrong_after=_histogram(samples[2], False, edges),
        grid=_tuple(grid),
        before=_tuple(first.value),
        before_lower=_tuple(first.lower),
        before_upper=_tuple(first.upper),
        after=_tuple(second.value),
        after_lower=_tuple(second.lower),
        after_upper=_tuple(second.upper),
        fixed=_tuple(flat),
    )


def _is_moved(class_: int, entry: ClassChange, older: ReleaseData, newer: ReleaseData) -> bool:
    """Return whether the two calibrations say different things of a class."""
    first, second = np.array(entry.before), np.array(entry.after)
    if not entry.grid:
        if newer.labelled is None:
            return False
        predictions = newer.labelled.predictions
        asked = predictions.take(predictions.predicted_class == class_)
        first, second = (one.calibration.confidence(asked).value for one in (older, newer))
    return not np.allclose(first, second, rtol=0.0, atol=ROUNDING, equal_nan=True)


def _blank(how: Comparison) -> Predictions:
    nobody = np.zeros(0, dtype=np.int64)
    return Predictions(
        nobody.astype(object), how.class_names, how.scale, how.resolution, nobody,
        nobody.astype(np.float64),
    )  # fmt: skip


def _tuple(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())


def _histogram(sample: ClassSample | None, is_right: bool, edges: Floats) -> tuple[int, ...]:
    if sample is None:
        return (0,) * max(len(edges) - 1, 0)
    score = sample.score[sample.is_correct == is_right]
    return tuple(np.histogram(np.clip(score, 0.0, edges[-1]), edges)[0].tolist())


def _explained(
    class_: int,
    entry: ClassChange,
    samples: tuple[ClassSample | None, ...],
    older: ReleaseData,
    newer: ReleaseData,
    how: Comparison,
    fixed: Calibration | None,
) -> ClassChange:
    """Return a class with what moved its confidence and its share right."""
    share = share_change(samples, how.options)
    first, _, last = samples
    if first is None or last is None or fixed is None:
        return replace(entry, share=share)
    three = (older.calibration, fixed, newer.calibration)
    change: Change
    if entry.grid:
        score = float(np.median(first.score))
        asked = at_scores(_blank(how), class_, np.array([score]))
        points = [float(one.confidence(asked).value[0]) for one in three]
        change = change_of(points, draws_at(how.calibrator, samples, score, how.options),
                           how.options)  # fmt: skip
    else:
        assert newer.labelled is not None
        score = NONE
        positives = newer.labelled.take(newer.labelled.predictions.predicted_class == class_)
        points = [
            float(np.average(one.confidence(positives.predictions).value,
                             weights=positives.weight))
            for one in three
        ]  # fmt: skip
        change = change_of(points, [None] * len(three), how.options)
    if any(np.isnan(point) for point in points):
        return replace(entry, share=share)
    return replace(entry, share=share, score=score, change=change)


N_FOLDS = 10
MOST_MOVED = 20  # proteins named on the page
HALF_A_POINT = 0.005


@dataclass(frozen=True, eq=False)
class ProteinChanges:
    """Every protein's confidence before and after, those that moved most first."""

    predictions: Predictions  # The proteins
    before: Confidence  # Under the older and the newer calibration
    after: Confidence
    is_new: Booleans  # Whether each came with the newer release

    def columns(self) -> dict[str, object]:
        """Return the columns of the table."""
        names = np.array(self.predictions.class_names, dtype=object)
        score = self.predictions.top_score
        return {
            "id": self.predictions.ids,
            "predicted_class": names[self.predictions.predicted_class],
            "score": np.full(len(self.is_new), NONE) if score is None else score,
            "before": self.before.value,
            "before_lower": self.before.lower,
            "before_upper": self.before.upper,
            "after": self.after.value,
            "after_lower": self.after.lower,
            "after_upper": self.after.upper,
            "change": self.after.value - self.before.value,
            "is_new": np.where(self.is_new, "yes", "no").astype(object),
        }


def compare(
    older: ReleaseData, newer: ReleaseData, how: Comparison, asked: Predictions | None = None
) -> tuple[ReleaseStep, ProteinChanges | None]:
    """Return what changed from one release to another, and for every protein."""
    proteins = _proteins(older, newer, asked)
    before, after = older.labelled, newer.labelled
    metrics: tuple[MetricChange, ...] = ()
    drift: Drift | None = None
    sets: ThreeSets | None = None
    if before is not None and after is not None:
        sets = three_sets(before, after)
        held_out = _held_out(before, how.calibrator, _fold(before))
        metrics = _metrics(older, newer, how, held_out)
        known = OldSet(before, older.calibration, held_out, how.calibrator)
        trove = after.take(~np.isin(after.predictions.ids, before.predictions.ids))
        drift = drift_of(known, trove, how.options.level, how.options.n_draws, how.n_signs)
    n_lightened = 0 if sets is None else _n_lightened(sets)
    step = ReleaseStep(
        older=older.state,
        newer=newer.state,
        method=how.method,
        scale=float(how.scale),
        level=how.options.level,
        classes=class_changes(older, newer, how, sets),
        metrics=metrics,
        n_lightened=n_lightened,
        drift=drift,
    )
    if proteins is not None:
        step = _with_proteins(step, proteins)
    return replace(step, sentences=step_sentences(step)), proteins


def _proteins(
    older: ReleaseData, newer: ReleaseData, asked: Predictions | None
) -> ProteinChanges | None:
    """Return the changes of all proteins, the greatest first, ties by id."""
    is_new = None
    if asked is None:
        if newer.labelled is None:
            return None
        asked = newer.labelled.predictions
        if older.labelled is not None:
            is_new = ~np.isin(asked.ids, older.labelled.predictions.ids)
    if is_new is None:
        is_new = np.zeros(asked.n_samples, dtype=np.bool_)
    before, after = (one.calibration.confidence(asked) for one in (older, newer))
    size = np.nan_to_num(np.abs(after.value - before.value), nan=-1.0)
    order = np.lexsort((asked.ids.astype(str), -size))
    return ProteinChanges(
        asked.take(order), _taken(before, order), _taken(after, order), is_new[order]
    )


def _taken(confidence: Confidence, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> Confidence:
    return Confidence(
        confidence.value[rows], confidence.lower[rows], confidence.upper[rows],
        confidence.support[rows], confidence.note[rows],
    )  # fmt: skip


def _with_proteins(step: ReleaseStep, proteins: ProteinChanges) -> ReleaseStep:
    """Return a step that names the proteins that moved most."""
    difference = np.abs(proteins.after.value - proteins.before.value)
    known = ~np.isnan(difference)
    names, score = proteins.predictions.class_names, proteins.predictions.top_score
    n_shown = min(MOST_MOVED, int((known & (difference >= HALF_A_POINT)).sum()))
    moved = tuple(
        Moved(
            id=str(proteins.predictions.ids[row]),
            predicted_class=names[proteins.predictions.predicted_class[row]],
            score=NONE if score is None else float(score[row]),
            before=float(proteins.before.value[row]),
            after=float(proteins.after.value[row]),
            is_new=bool(proteins.is_new[row]),
        )
        for row in range(n_shown)
    )
    n_moved = int((difference[known] >= HALF_A_POINT).sum())
    return replace(step, n_compared=int(known.sum()), n_moved=n_moved, moved=moved)


def _n_lightened(sets: ThreeSets) -> int:
    """Return how many old proteins weigh less in the newer release."""
    now = dict(zip(sets.after.predictions.ids, sets.after.weight.tolist(), strict=True))
    old = zip(sets.before.predictions.ids, sets.before.weight.tolist(), strict=True)
    return sum(now.get(name, weight) < weight for name, weight in old)


def _fold(labelled: Labelled) -> Integers:
    return fold_of(labelled.cluster, labelled.predictions.predicted_class, N_FOLDS)


def _held_out(labelled: Labelled, calibrator: Calibrator, fold: Integers) -> Floats:
    return cross_fit(labelled, {"": calibrator}, fold)[0][""]


def _metrics(
    older: ReleaseData, newer: ReleaseData, how: Comparison, held_out: Floats
) -> tuple[MetricChange, ...]:
    """Return held-out metrics of both releases on the proteins that both can judge."""
    before, after = older.labelled, newer.labelled
    assert before is not None and after is not None
    # Families keep their fold, so that the same ones are left out together in both.
    kept = dict(zip(before.cluster, _fold(before).tolist(), strict=True))
    fold = np.array(
        [
            kept.get(cluster, own)
            for cluster, own in zip(after.cluster, _fold(after).tolist(), strict=True)
        ],
        dtype=np.int64,
    )
    judged = _held_out(after, how.calibrator, fold)
    later = dict(zip(after.predictions.ids, judged, strict=True))
    in_newer = np.array([later.get(name, NONE) for name in before.predictions.ids])
    found = _metric_changes("old", before, held_out, in_newer, how)
    if newer.test is not None and newer.test.n_samples:
        first, second = (
            one.calibration.confidence(newer.test.predictions).value for one in (older, newer)
        )
        found += _metric_changes("test", newer.test, first, second, how)
    return tuple(found)


def _metric_changes(
    sample: str, judged: Labelled, first: Floats, second: Floats, how: Comparison
) -> list[MetricChange]:
    known = ~np.isnan(first) & ~np.isnan(second)
    judged, first, second = judged.take(known), first[known], second[known]
    predicted = judged.predictions.predicted_class
    found = []
    for class_ in (None, *np.unique(predicted).tolist()):
        rows = np.flatnonzero(predicted == class_) if class_ is not None else np.arange(len(first))
        if len(rows) == 0:
            continue
        part = judged.take(rows)
        for metric in (NLL, BRIER):
            assert metric.losses is not None
            one, other = (metric.losses(of[rows], part.is_correct) for of in (first, second))
            weight = part.weight / part.weight.sum()
            lower, upper = _paired(part, other - one, how.options)
            found.append(
                MetricChange(
                    None if class_ is None else how.class_names[class_],
                    metric.name,
                    sample,
                    float(weight @ one),
                    float(weight @ other),
                    lower,
                    upper,
                    len(rows),
                )
            )
    return found


def _paired(part: Labelled, difference: Floats, options: FitOptions) -> tuple[float, float]:
    """Return the interval of a weighted mean, families drawn."""
    if options.n_draws == 0 or len(np.unique(part.cluster)) < 2:
        return NONE, NONE
    return interval(drawn_means(part, difference, options.n_draws), options.level)
