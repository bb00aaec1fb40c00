"""Thresholds of every class: estimated, and with a guarantee for new families."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from credence.draws import encode_clusters, id_keys
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import AllThresholds, ErrorCurve, Threshold
from credence.lists.errors import ListErrors, errors_of
from credence.lists.guarantee import Guarantee, coins_of, grid_of, guaranteed
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut
from credence.predictions import Booleans, Floats, Integers, Labelled, Strings

ON_SCORE, ON_CONFIDENCE = "score", "confidence"
GUARANTEED = ("sure", "sure_kept", "sure_kept_true", "sure_families", "n_more")
MOST_CURVE_POINTS = 100  # of a curve that is shown


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is asked of thresholds."""

    precision: tuple[float, ...]  # Shares right
    certainty: float  # Of the guarantee
    level: float  # Of the intervals
    n_draws: int  # For them
    is_guaranteed: bool = True  # Whether guarantees are wanted beside the estimates


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """Labelled predictions, and by what they are let through."""

    on: str  # `score` or `confidence`
    value: Floats
    grid: Floats  # Thresholds that are tried, from the top down
    predicted: Integers
    true: Integers
    weight: Floats
    cluster: Strings  # Names, or their keys as names
    family: Integers
    order: Integers  # By which one protein speaks for its family

    @property
    def is_right(self) -> Booleans:
        """Whether each prediction is right."""
        return np.asarray(self.predicted == self.true)

    def take(self, rows: NDArray[np.intp]) -> Self:
        """Return some of the predictions."""
        names = ("value", "predicted", "true", "weight", "cluster", "family", "order")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})


def by_score(labelled: Labelled) -> Ranked:
    """Return labelled predictions, let through by the classifier's own score."""
    predictions = labelled.predictions
    score = predictions.required_top_score
    grid = grid_of(predictions.scale, predictions.resolution, float(score.max(initial=0.0)))
    order = np.empty(labelled.n_samples, dtype=np.int64)
    order[np.argsort(id_keys(predictions), kind="stable")] = np.arange(labelled.n_samples)
    family, _ = encode_clusters(labelled.cluster)
    return Ranked(
        on=ON_SCORE,
        value=score,
        grid=grid,
        predicted=predictions.predicted_class,
        true=labelled.true_class,
        weight=labelled.weight,
        cluster=labelled.cluster,
        family=family,
        order=order,
    )


def thresholds_of(
    ranked: Sequence[Ranked],
    class_names: Sequence[str],
    wanted: Wanted,
    n_missed: Integers | None = None,
) -> tuple[Threshold, ...]:
    """Return the thresholds of all classes together, and of each class, predicted or not.

    Where proteins have several labels, `n_missed` true ones of each label were not called.
    """
    thresholds: list[Threshold] = []
    for ranking in ranked:
        every = float(ranking.weight.sum())
        if n_missed is not None:
            every = float(ranking.weight[ranking.is_right].sum() + n_missed.sum())
        thresholds += _of_class(ranking, None, every, wanted)
        for class_, name in enumerate(class_names):
            members = float(ranking.weight[ranking.true == class_].sum())
            members += 0.0 if n_missed is None else float(n_missed[class_])
            of_class = ranking.take(np.flatnonzero(ranking.predicted == class_))
            thresholds += _of_class(of_class, name, members, wanted)
    return tuple(thresholds)


def _of_class(ranked: Ranked, name: str | None, members: float, wanted: Wanted) -> list[Threshold]:
    coins = coins_of(ranked.grid, ranked.value, ~ranked.is_right, ranked.family, ranked.order)
    error = error_above(ranked)
    # Of each share wanted the lowest threshold that has it as estimated.
    met = [np.flatnonzero(error <= 1.0 - precision) for precision in wanted.precision]
    ends = [float(ranked.grid[places[-1]]) if len(places) else np.nan for places in met]
    is_right = ranked.is_right.astype(np.float64)
    ratios = [mean_of(is_right, ranked.weight, ranked.value >= end, is_share=True) for end in ends]
    right = estimate(ranked.cluster, ratios, wanted.level, wanted.n_draws)
    thresholds = []
    for row, precision in enumerate(wanted.precision):
        sure = Guarantee(threshold=np.nan, n_families=0, n_more=0)
        if wanted.is_guaranteed:
            sure = guaranteed(coins, 1.0 - precision, wanted.certainty)
        kept, kept_true = _kept(ranked, ends[row], members)
        sure_kept, sure_kept_true = _kept(ranked, sure.threshold, members)
        threshold = Threshold(
            class_name=name,
            on=ranked.on,
            precision=precision,
            n=len(ranked.value),
            threshold=ends[row],
            kept=kept,
            kept_true=kept_true,
            n_families=int(coins.n_families[met[row][-1]]) if len(met[row]) else 0,
            right=float(right.value[row]),
            right_lower=float(right.lower[row]),
            right_upper=float(right.upper[row]),
            sure=sure.threshold,
            sure_kept=sure_kept,
            sure_kept_true=sure_kept_true,
            sure_families=sure.n_families,
            n_more=sure.n_more,
        )
        thresholds.append(threshold)
    return thresholds


def error_above(ranked: Ranked) -> Floats:
    """Return the estimated share wrong at each threshold, one wrong family added; NaN: nothing."""
    down = np.argsort(-ranked.value, kind="stable")
    weight = ranked.weight[down]
    is_first = ~pd.Series(ranked.family[down]).duplicated().to_numpy()
    wrong = np.where(ranked.is_right[down], 0.0, weight)
    n_rows = np.searchsorted(-ranked.value[down], -ranked.grid, "right")
    total, squares, of_wrong, families = (
        np.concatenate([[0.0], np.cumsum(part)])[n_rows]
        for part in (weight, weight**2, wrong, is_first)
    )
    with np.errstate(invalid="ignore"):
        # As lists count families: fewer where weights differ.
        share, added = of_wrong / total, n_rows * squares / (families * total**2)
        return np.asarray((share + added) / (1.0 + added))


def _kept(ranked: Ranked, end: float, members: float) -> tuple[float, float]:
    """Return which share of the predictions and of the members a threshold keeps."""
    is_kept = ranked.value >= end
    total, right = ranked.weight.sum(), ranked.weight[is_kept & ranked.is_right].sum()
    if np.isnan(end):
        return np.nan, np.nan
    kept = float(ranked.weight[is_kept].sum() / total)
    return kept, float(right / members) if members > 0 else np.nan


def find_thresholds(
    labelled: Labelled, held_out: HeldOut | None, wanted: Wanted, n_missed: Integers | None = None
) -> AllThresholds:
    """Return the thresholds on scores and, where they are known, on held-out confidences."""
    names = labelled.predictions.class_names
    ranked = [] if labelled.predictions.top_score is None else [by_score(labelled)]
    curves: list[ErrorCurve] = []
    if held_out is not None and len(held_out.step):
        ranked.append(by_confidence(held_out))
        curves.append(curve_of(None, own_errors(held_out, wanted.certainty)))
        for class_, name in enumerate(names):
            of_class = held_out.of_classes(class_)
            if len(of_class.step):
                curves.append(curve_of(name, own_errors(of_class, wanted.certainty)))
    rows = thresholds_of(ranked, names, wanted, n_missed)
    return AllThresholds(
        certainty=wanted.certainty, level=wanted.level, rows=rows, curves=tuple(curves)
    )


def corrected_thresholds(
    moved: Labelled, held_out: HeldOut | None, wanted: Wanted, calibrated: Sequence[Threshold]
) -> tuple[Threshold, ...]:
    """Return estimates for other class proportions, beside the guarantees of calibration's.

    `moved` and `held_out` have the weights of these proportions. No guarantee is offered on
    confidences, which are other ones where they are corrected.
    """
    ranked = [] if moved.predictions.top_score is None else [by_score(moved)]
    if held_out is not None and len(held_out.step):
        ranked.append(by_confidence(held_out))
    guarantees = {
        (row.class_name, row.precision): {name: getattr(row, name) for name in GUARANTEED}
        for row in calibrated
        if row.on == ON_SCORE
    }
    rows = thresholds_of(
        ranked, moved.predictions.class_names, replace(wanted, is_guaranteed=False)
    )
    return tuple(
        replace(row, **guarantees.get((row.class_name, row.precision), {}))
        if row.on == ON_SCORE
        else row
        for row in rows
    )


def by_confidence(held_out: HeldOut) -> Ranked:
    """Return calibration proteins, let through by the confidence that they have held out."""
    return Ranked(
        on=ON_CONFIDENCE,
        value=CONFIDENCE_STEPS[held_out.step],
        grid=CONFIDENCE_STEPS[::-1],
        predicted=held_out.predicted,
        true=held_out.true,
        weight=held_out.weight,
        cluster=held_out.key[held_out.cluster].astype(str).astype(object),
        family=held_out.cluster,
        order=np.arange(len(held_out.step)),
    )


def own_errors(held_out: HeldOut, certainty: float) -> ListErrors:
    """Return the errors of lists of calibration proteins themselves."""
    counts = np.bincount(held_out.step, minlength=len(CONFIDENCE_STEPS))
    return errors_of(held_out, counts.astype(np.int64), certainty)


def curve_of(name: str | None, errors: ListErrors) -> ErrorCurve:
    """Return what is kept and how much of it is wrong, at the steps that hold proteins."""
    steps = np.flatnonzero((errors.n_query > 0) & ~np.isnan(errors.error))
    if len(steps) > MOST_CURVE_POINTS:
        steps = steps[
            np.unique(np.linspace(0, len(steps) - 1, MOST_CURVE_POINTS).astype(np.int64))
        ]
    total = max(int(errors.n_listed[0]), 1)
    return ErrorCurve(
        class_name=name,
        confidence=tuple(CONFIDENCE_STEPS[steps].tolist()),
        kept=tuple((errors.n_listed / total)[steps].tolist()),
        error=tuple(errors.error[steps].tolist()),
        bound=tuple(errors.bound[steps].tolist()),
    )
