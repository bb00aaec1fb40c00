"""Two releases side by side: counts, curves, metrics, and every protein's confidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.protocol import Calibrator, FitOptions
from credence.confidence import Confidence
from credence.evaluation.crossfit import cross_fit
from credence.findings.drift import Drift
from credence.findings.releases import MetricChange, Moved, Step
from credence.metrics.brier import METRIC as BRIER
from credence.metrics.nll import METRIC as NLL
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.releases.class_changes import class_changes
from credence.releases.drift import OldSet, drawn_means, drift_of
from credence.releases.reweighting import ThreeSets, three_sets
from credence.releases.sentences import step_sentences
from credence.releases.sides import Comparison, Side
from credence.splits.folds import fold_of

N_FOLDS = 10
MOST_MOVED = 20  # proteins named on the page
HALF_A_POINT = 0.005
NONE = float("nan")


@dataclass(frozen=True, eq=False)
class ProteinChanges:
    """Every protein's confidence before and after, those that moved most first.

    Parameters
    ----------
    predictions : Predictions
        The proteins.
    before, after : Confidence
        Under the older and the newer calibration.
    is_new : array of bool
        Whether each came with the newer release.
    """

    predictions: Predictions
    before: Confidence
    after: Confidence
    is_new: Booleans

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
    older: Side, newer: Side, how: Comparison, asked: Predictions | None = None
) -> tuple[Step, ProteinChanges | None]:
    """Return what changed from one release to another, and for every protein.

    Parameters
    ----------
    older, newer : Side
        The two releases.
    how : Comparison
        What they have in common.
    asked : Predictions, optional
        The proteins whose confidences are compared; the newer release's
        calibration set unless given.
    """
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
    step = Step(
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


def _proteins(older: Side, newer: Side, asked: Predictions | None) -> ProteinChanges | None:
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
    before, after = (side.calibration.confidence(asked) for side in (older, newer))
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


def _with_proteins(step: Step, proteins: ProteinChanges) -> Step:
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
    older: Side, newer: Side, how: Comparison, held_out: Floats
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
            side.calibration.confidence(newer.test.predictions).value for side in (older, newer)
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
    tail = (1.0 - options.level) / 2.0
    low, high = np.quantile(drawn_means(part, difference, options.n_draws), [tail, 1.0 - tail])
    return float(low), float(high)
