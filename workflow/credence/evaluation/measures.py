"""Every metric of one method over one sample, with its draws and noise floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.calibrators.draws import cluster_weights, uniform
from credence.calibrators.intervals import JEFFREYS, guard_draws
from credence.evaluation.scatter import (
    BothRelatives,
    Scatter,
    both_relatives,
    both_scatters,
    by_weights_alone,
)
from credence.evaluation.sums import (
    BlockSums,
    Placed,
    centred,
    drawn_sums,
    outcome_sums,
    place,
    place_losses,
    total_sums,
    unit_matrices,
)
from credence.metrics.judged import Family, Judged, divide, sum_by
from credence.metrics.protocol import Metric
from credence.metrics.registry import METRICS
from credence.predictions import Floats, Integers

DRAWS_AT_ONCE = 250  # bounds memory
LOSSES = tuple(metric for metric in METRICS if metric.losses is not None)
IN_CELLS = tuple(metric for metric in METRICS if metric.losses is None)
PART_OF = "brier"  # what metrics in cells are parts of, unless they are errors of calibration


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn, the same for every method, so that methods are paired.

    Parameters
    ----------
    unit : array of int, shape (n_samples,)
        What is drawn together: a code per cluster, or per protein.
    key : array of uint64, shape (n_units,)
        A key for each unit.
    n_draws : int
        Number of draws; 0: none.
    """

    unit: Integers
    key: np.ndarray[tuple[int], np.dtype[np.uint64]]
    n_draws: int

    def parts(self) -> list[Floats]:
        """Return weights of the units, shape (n_units, part of the draws) each."""
        return [
            np.stack(
                [
                    cluster_weights(self.key, draw)
                    for draw in range(start, min(start + DRAWS_AT_ONCE, self.n_draws))
                ],
                axis=1,
            )
            for start in range(0, self.n_draws, DRAWS_AT_ONCE)
        ]


@dataclass(frozen=True, eq=False)
class Measures:
    """All metrics of one method over one sample.

    Parameters
    ----------
    value : mapping of str to array of float, shape (n_classes + 1,)
        By metric: of each predicted class, then over all; NaN where not defined.
    drawn : mapping of str to array of float, shape (n_classes + 1, n_draws)
        The same under each draw.
    noise : mapping of str to array of float, shape (n_classes + 1, n_draws)
        By calibration error, and of sharpness: how far each draw lies from the sample.
    scatter : mapping of str to Scatter
        By metric: how its draws are to be read, by class and over all.
    losses : mapping of str to array of float, shape (n_samples,)
        By metric that is a mean: what it is the mean of.
    centre : mapping of str to array of float, shape (n_classes + 1,)
        By share: its value with half a pseudo-cluster right and half a one wrong.
    relatives : tuple of Relatives
        Of the proteins measured, by class and over all.
    """

    value: Mapping[str, Floats]
    drawn: Mapping[str, Floats]
    noise: Mapping[str, Floats]
    scatter: Mapping[str, Scatter]
    losses: Mapping[str, Floats]
    centre: Mapping[str, Floats]
    relatives: BothRelatives


def finish_all(
    metric: Metric, sums: BlockSums, n_effective: Floats, *, is_centred: bool = False
) -> Floats:
    """Return a metric of every class and over all, shape (n_classes + 1, n_draws).

    Parameters
    ----------
    metric : Metric
        With a family.
    sums : BlockSums
        Of that family.
    n_effective : array of float, shape (n_classes + 1,)
        Kish's number of proteins of each class, then of all.
    is_centred : bool
        Whether the sums are centred, so that noise is asked for.
    """
    finish = metric.noise if is_centred and metric.noise is not None else metric.finish
    _, n_draws, _ = sums.everything.shape
    n_classes = len(n_effective) - 1
    answer = np.full((n_classes + 1, n_draws), np.nan)
    has_classes = sums.classes.shape[1] > 0
    if finish is not None and has_classes:
        answer[:-1] = finish(sums.classes, n_effective[:-1, None])
    if metric.over_classes is not None:
        answer[-1] = metric.over_classes(sums.classes, n_effective[:-1, None])
    elif finish is not None:
        answer[-1] = finish(sums.everything, np.array(n_effective[-1]))
    return answer


def effective_numbers(judged: Judged, block: Integers, n_classes: int) -> Floats:
    """Return Kish's number of proteins of each predicted class, then of all.

    Parameters
    ----------
    judged : Judged
        All proteins.
    block : array of int
        Predicted class of each.
    n_classes : int
        How many there are.
    """
    total = sum_by(block, judged.weight, n_classes)
    squares = sum_by(block, judged.weight**2, n_classes)
    return np.append(divide(total**2, squares, 0.0), judged.n_effective)


def in_families(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """Return the metrics in cells of the families named, or of all.

    Parameters
    ----------
    names : sequence of str, optional
        Of families; None: all.
    """
    if names is None:
        return IN_CELLS
    return tuple(one for one in IN_CELLS if one.family and one.family.name in names)


def placements(
    judged: Judged, block: Integers, n_classes: int, metrics: Sequence[Metric] = IN_CELLS
) -> dict[str, Placed]:
    """Return where proteins count, by family, for what can be measured.

    Parameters
    ----------
    judged : Judged
        All proteins.
    block : array of int
        Predicted class of each.
    n_classes : int
        How many there are.
    metrics : sequence of Metric
        What is measured.
    """
    families: dict[str, tuple[Family, int]] = {}
    for metric in metrics:
        if metric.family is not None:
            families[metric.family.name] = (metric.family, 0 if metric.needs_vector else n_classes)
    found = {}
    for name, (family, n_blocks) in families.items():
        placed = place(family, judged, block, n_blocks)
        if placed is not None:
            found[name] = placed
    return found


def measure(
    judged: Judged,
    block: Integers,
    n_classes: int,
    placed: Mapping[str, Placed],
    drawing: Drawing,
    parts: Sequence[Floats],
) -> Measures:
    """Return every metric and its draws.

    Parameters
    ----------
    judged : Judged
        All proteins that have a confidence.
    block : array of int
        Predicted class of each.
    n_classes : int
        How many there are.
    placed : mapping of str to Placed
        From :func:`placements`.
    drawing : Drawing
        What is drawn; `unit` is of the proteins judged.
    parts : sequence of array of float
        From :meth:`Drawing.parts`.
    """
    n_effective = effective_numbers(judged, block, n_classes)
    relatives = both_relatives(block, n_classes, drawing.unit, judged.weight)
    means = _measure_losses(judged, block, n_classes, relatives, drawing, parts)
    value, drawn, scatter = dict(means.value), dict(means.drawn), dict(means.scatter)
    of_gaps, of_parts = (
        by_weights_alone(relatives, of.stretch)
        for of in (
            both_scatters(relatives, judged.is_correct - judged.confidence),
            scatter[PART_OF],
        )
    )
    noise: dict[str, Floats] = {}
    for name, own in placed.items():
        metrics = [metric for metric in IN_CELLS if metric.family and metric.family.name == name]
        sums = total_sums(own, judged.weight)
        for metric in metrics:
            value[metric.name] = finish_all(metric, sums, n_effective)[:, 0]
            scatter[metric.name] = of_gaps if metric.is_error else of_parts
        matrices = unit_matrices(own, judged.weight, drawing.unit, len(drawing.key))
        for part in parts:
            under = drawn_sums(own, matrices, part)
            beyond = centred(under, sums)
            for metric in metrics:
                _append(drawn, metric.name, finish_all(metric, under, n_effective))
                if metric.is_error or metric.noise is not None:
                    apart = finish_all(metric, beyond, n_effective, is_centred=True)
                    _append(noise, metric.name, apart)
    return Measures(value, drawn, noise, scatter, means.losses, means.centre, relatives)


def _measure_losses(
    judged: Judged,
    block: Integers,
    n_classes: int,
    relatives: BothRelatives,
    drawing: Drawing,
    parts: Sequence[Floats],
) -> Measures:
    """Return metrics that are means of losses."""
    placed = place_losses(LOSSES, judged, block, n_classes)
    unit = np.concatenate([divide(of.total, of.n_effective, 0.0) for of in relatives])
    guard = np.zeros((2, 0)) if drawing.n_draws == 0 else np.stack(guard_draws(drawing.n_draws))
    sums = total_sums(placed, judged.weight)
    own = _mean_losses(sums, unit, np.zeros((2, 1)))
    middle = _mean_losses(sums, unit, np.full((2, 1), JEFFREYS))
    drawn: dict[str, Floats] = {}
    matrices = unit_matrices(placed, judged.weight, drawing.unit, len(drawing.key))
    start = 0
    for part in parts:
        stop = start + part.shape[1]
        means = _mean_losses(drawn_sums(placed, matrices, part), unit, guard[:, start:stop])
        for name, values in means.items():
            _append(drawn, name, values)
        start = stop
    losses = {
        metric.name: channel for metric, channel in zip(LOSSES, placed.values[1:], strict=True)
    }
    return Measures(
        value={name: values[:, 0] for name, values in own.items()},
        drawn=drawn,
        noise={},
        scatter={name: both_scatters(relatives, values) for name, values in losses.items()},
        losses=losses,
        centre={metric.name: middle[metric.name][:, 0] for metric in LOSSES if metric.is_share},
        relatives=relatives,
    )


def _append(store: dict[str, Floats], name: str, values: Floats) -> None:
    store[name] = np.concatenate([store[name], values], axis=1) if name in store else values


def _mean_losses(sums: BlockSums, unit: Floats, guard: Floats) -> dict[str, Floats]:
    """Return the mean of each loss, by class and over all; shares with a guard."""
    both = np.concatenate([sums.classes, sums.everything[:, None]], axis=1)[..., 0]
    found = {}
    for number, metric in enumerate(LOSSES, start=1):
        numerator, denominator = both[number], both[0]
        if metric.is_share:
            numerator = numerator + unit[:, None] * guard[0]
            denominator = denominator + unit[:, None] * (guard[0] + guard[1])
        found[metric.name] = divide(numerator, denominator)
    return found


def floors(
    judged: Judged,
    block: Integers,
    n_classes: int,
    placed: Mapping[str, Placed],
    chance: Floats,
) -> dict[str, Floats]:
    """Return what calibrated confidences would score, shape (n_classes + 1, n_draws).

    Outcomes are drawn with the confidences taken for true.

    Parameters
    ----------
    judged, block, n_classes, placed
        As for :func:`measure`.
    chance : array of float, shape (n_samples, n_draws)
        Numbers in (0, 1); a prediction is right where its own is below its
        confidence. Relatives that share their numbers are right or wrong together.
    """
    n_effective = effective_numbers(judged, block, n_classes)
    found: dict[str, Floats] = {}
    outcome = (chance < judged.confidence[:, None]).astype(np.float64)
    true_class = None if judged.probabilities is None else _drawn_classes(judged, chance)
    for name, own in placed.items():
        metrics = [
            metric
            for metric in IN_CELLS
            if metric.is_error and metric.family is not None and metric.family.name == name
        ]
        if not metrics:
            continue
        sums = total_sums(own, judged.weight)
        if metrics[0].needs_vector:
            assert true_class is not None
            simulated = _vector_sums(own, judged, sums, true_class)
        else:
            simulated = outcome_sums(own, judged.weight, sums, outcome)
        for metric in metrics:
            found[metric.name] = finish_all(metric, simulated, n_effective)
    return found


def _drawn_classes(judged: Judged, chance: Floats) -> Integers:
    """Return true classes drawn from the vectors, shape (n_draws, n_samples)."""
    assert judged.probabilities is not None
    cumulative = np.cumsum(judged.probabilities, axis=1)
    last = cumulative.shape[1] - 1
    drawn = np.zeros((chance.shape[1], judged.n_samples), dtype=np.int64)
    for draw in range(len(drawn)):
        place = chance[:, draw] * cumulative[:, -1]
        for class_ in range(last):  # beyond which of the vector's steps the number lies
            drawn[draw] += place >= cumulative[:, class_]
    return drawn


def _vector_sums(
    placed: Placed, judged: Judged, own: BlockSums, true_class: Integers
) -> BlockSums:
    """Return the sums had the true classes been those drawn."""
    assert judged.probabilities is not None
    # Position of each protein's own class among all entries, −1 where it does not count.
    n_samples, n_classes = judged.probabilities.shape
    n_bins = placed.n_cells // n_classes
    where = np.full((n_samples, n_classes), -1, dtype=np.int64)
    where[placed.row, placed.position // n_bins] = placed.position
    everyone = np.arange(n_samples)
    outcome = np.zeros((len(true_class), placed.n_cells))
    for draw, classes in enumerate(true_class):
        position = where[everyone, classes]
        counted = position >= 0
        outcome[draw] = sum_by(position[counted], judged.weight[counted], placed.n_cells)
    shape = (2, *outcome.shape)
    everything = np.concatenate([np.broadcast_to(own.everything[:2], shape), outcome[None]])
    return BlockSums(own.classes, everything)


def chances(key: np.ndarray[tuple[int], np.dtype[np.uint64]], n_draws: int) -> Floats:
    """Return numbers in (0, 1) for the noise floor, shape (n_keys, n_draws).

    Parameters
    ----------
    key : array of uint64
        Of proteins, or of their clusters.
    n_draws : int
        How many of each.
    """
    return np.stack([uniform(key, draw, "noise floor") for draw in range(n_draws)], axis=1)
