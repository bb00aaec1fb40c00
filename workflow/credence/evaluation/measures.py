"""Every metric of one method over one sample, with its draws and noise floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.calibrators.intervals import JEFFREYS, LEAST_FREEDOM, guard_draws
from credence.draws import cluster_weights, uniform
from credence.metrics.all_metrics import METRICS
from credence.metrics.metric import BinSums, Family, Judged, Metric, divide, loss_cells, sum_by
from credence.predictions import Floats, Integers

# Of a variance, or of a mean's square: what rounding leaves where clusters or losses are equal.
NOTHING = 1e-18


@dataclass(frozen=True, eq=False)
class RelativePairs:
    """Which proteins of a block belong together, and what they weigh."""

    code: Integers  # A code for each pair of block and cluster
    block: Integers  # Block of each code
    n_blocks: int  # How many there are
    weight: Floats  # Of the proteins
    mass: Floats  # Σ w and Σ w² of each code
    squares: Floats
    n_members: Integers  # Proteins of each code

    @property
    def total(self) -> Floats:
        """Σ w of each block."""
        return sum_by(self.block, self.mass, self.n_blocks)

    @property
    def n_effective(self) -> Floats:
        """Kish's number of clusters of each block, (Σ W)² / Σ W²; 0 of an empty one."""
        return divide(self.total**2, sum_by(self.block, self.mass**2, self.n_blocks), 0.0)


@dataclass(frozen=True, eq=False)
class Scatter:
    """How draws of clusters are to be read, block by block."""

    stretch: Floats  # How much further off a mean can be than its draws show; 1 or more
    freedom: Floats  # Degrees of freedom of Student's t, by which quantiles are widened


def relatives_of(block: Integers, n_blocks: int, unit: Integers, weight: Floats) -> RelativePairs:
    """Return which proteins of each block belong together."""
    n_units = int(unit.max()) + 1 if len(unit) > 0 else 1
    pairs, code = np.unique(block * n_units + unit, return_inverse=True)
    code = code.astype(np.int64)
    return RelativePairs(
        code=code,
        block=(pairs // n_units).astype(np.int64),
        n_blocks=n_blocks,
        weight=weight,
        mass=sum_by(code, weight, len(pairs)),
        squares=sum_by(code, weight**2, len(pairs)),
        n_members=np.bincount(code, minlength=len(pairs)).astype(np.int64),
    )


def scatter_of(relatives: RelativePairs, losses: Floats) -> Scatter:
    """Return how much wider each block's mean scatters than draws of clusters show.

    Notes
    -----
    With r the losses less their block's mean, D = Σ w r of a cluster and W its
    weight, draws of clusters scatter as Σ D² does. Two other estimates of the same
    variance are made, and the stretch is the root of the greatest over Σ D²:

    - leaving out each cluster, Σ D² / (1 − W/ΣW)² [1]_;
    - the design effect, σ² Σ w² + c (Σ W² − Σ w²), σ² the mean square of r and c
      the mean product of a protein's r with those of its relatives, between 0 and σ²
      [2]_; times m/(m − 1), m Kish's number of clusters.

    The degrees of freedom are the geometric mean of m − 1, which asks what clusters
    weigh, and of (Σ D²)² / Σ D⁴, which asks what the scatter came from.

    References
    ----------
    .. [1] MacKinnon, Nielsen & Webb 2023, doi 10.1002/jae.2969.
    .. [2] Kish 1965, Survey Sampling, section 5.4; Scott & Holt 1982,
       Journal of the American Statistical Association 77:848–854.
    """
    of, n_codes = relatives, len(relatives.block)

    def by_block(values: Floats) -> Floats:
        return sum_by(of.block, values, of.n_blocks)

    total = of.total
    mean = divide(by_block(sum_by(of.code, of.weight * losses, n_codes)), total, 0.0)
    residual = losses - mean[of.block[of.code]]
    pull = of.weight * residual
    summed = sum_by(of.code, pull, n_codes)
    own_squares = sum_by(of.code, pull**2, n_codes)
    shown = by_block(summed**2)
    left = 1.0 - of.mass / total[of.block]
    jackknife = by_block(divide(summed**2, left**2, 0.0))

    variance = divide(by_block(sum_by(of.code, pull * residual, n_codes)), total, 0.0)
    has_relatives = of.n_members > 1
    pairs = np.where(has_relatives, of.mass**2 - of.squares, 0.0)
    products = divide(of.mass * (summed**2 - own_squares), pairs, 0.0)
    alike = divide(by_block(products), by_block(np.where(has_relatives, of.mass, 0.0)), 0.0)
    shared = np.clip(alike, 0.0, variance)
    number = of.n_effective
    few = divide(number, number - 1.0, 1.0)
    forecast = few * (variance * by_block(of.squares) + shared * by_block(pairs))

    greatest = np.maximum(np.maximum(jackknife, forecast), shown)
    known = (shown > NOTHING * greatest) & (variance > NOTHING * mean**2)
    bearing = np.where(known, divide(shown**2, by_block(summed**4), 1.0), 1.0)
    return Scatter(
        stretch=np.sqrt(np.where(known, divide(greatest, shown, 1.0), 1.0)),
        freedom=np.sqrt(np.maximum(number - 1.0, LEAST_FREEDOM) * bearing),
    )


BothRelatives = tuple[RelativePairs, RelativePairs]  # by predicted class, and over all


def both_relatives(
    block: Integers, n_classes: int, unit: Integers, weight: Floats
) -> BothRelatives:
    """Return which proteins belong together by predicted class, and over all."""
    return (
        relatives_of(block, n_classes, unit, weight),
        relatives_of(np.zeros_like(block), 1, unit, weight),
    )


def both_scatters(relatives: BothRelatives, losses: Floats) -> Scatter:
    """Return :func:`scatter_of` of each predicted class, then of all."""
    found = [scatter_of(of, losses) for of in relatives]
    return Scatter(
        np.concatenate([one.stretch for one in found]),
        np.concatenate([one.freedom for one in found]),
    )


def by_weights_alone(relatives: BothRelatives, stretch: Floats) -> Scatter:
    """Return a scatter whose freedom is Kish's number of clusters less one."""
    number = np.concatenate([of.n_effective for of in relatives])
    return Scatter(stretch, np.maximum(number - 1.0, LEAST_FREEDOM))


OUTCOME = 2  # the channel of cells that holds what turned out


@dataclass(frozen=True, eq=False)
class BinPlaces:
    """Entries of a family of cells, classes side by side."""

    row: Integers  # The protein
    position: Integers  # The block times `n_cells`, plus the cell
    # Blocks are the predicted classes; where cells depend on which proteins are judged together,
    # the last block is all of them.
    n_blocks: int
    n_cells: int
    values: Floats  # What is summed
    # Whether the last block is all proteins; else their sums are those of the classes added up.
    has_all: bool


@dataclass(frozen=True, eq=False)
class BlockSums:
    """Sums of every predicted class and of all."""

    classes: Floats  # Per predicted class; no classes where the family is over all alone
    everything: Floats  # Over all


def place(family: Family, judged: Judged, block: Integers, n_blocks: int) -> BinPlaces | None:
    """Return a family's entries, each class in a block of its own."""
    if family.is_fixed:
        cells = family.cells(judged)
        return None if cells is None else _placed(cells, block, n_blocks)
    parts: list[tuple[Integers, BinSums]] = []
    for number in range(n_blocks):
        rows = np.flatnonzero(block == number).astype(np.int64)
        cells = family.cells(judged.take(rows)) if len(rows) > 0 else None
        if cells is not None:
            parts.append((rows[cells.row], _shifted(cells, number)))
    everything = family.cells(judged)
    if everything is None:
        return None
    parts.append((everything.row, _shifted(everything, n_blocks)))
    return BinPlaces(
        np.concatenate([row for row, _ in parts]),
        np.concatenate([cells.cell for _, cells in parts]),
        n_blocks + 1,
        everything.n_cells,
        np.concatenate([cells.values for _, cells in parts], axis=1),
        has_all=True,
    )


def _placed(cells: BinSums, block: Integers, n_blocks: int) -> BinPlaces:
    position = block[cells.row] * cells.n_cells + cells.cell
    return BinPlaces(cells.row, position, n_blocks, cells.n_cells, cells.values, has_all=False)


def _shifted(cells: BinSums, number: int) -> BinSums:
    cell = cells.cell + number * cells.n_cells
    return BinSums(cells.row, cell, cells.n_cells, cells.values)


def unit_matrices(
    placed: BinPlaces, weight: Floats, unit: Integers, n_units: int
) -> list[sparse.csr_array]:
    """Return a matrix per channel that turns weights of units into sums."""
    shape = (placed.n_blocks * placed.n_cells, n_units)
    found = []
    for channel in placed.values:
        entry = weight[placed.row] * channel
        matrix = sparse.coo_array((entry, (placed.position, unit[placed.row])), shape=shape)
        found.append(matrix.tocsr())
    return found


def total_sums(placed: BinPlaces, weight: Floats) -> BlockSums:
    """Return the sums with the proteins' own weights: one draw, nothing drawn."""
    size = placed.n_blocks * placed.n_cells
    sums = [
        sum_by(placed.position, weight[placed.row] * channel, size) for channel in placed.values
    ]
    return blocks_of(placed, np.stack(sums)[:, :, None])


def drawn_sums(
    placed: BinPlaces, matrices: Sequence[sparse.csr_array], drawn: Floats
) -> BlockSums:
    """Return the sums under drawn weights of the units."""
    return blocks_of(placed, np.stack([matrix @ drawn for matrix in matrices]))


def centred(drawn: BlockSums, own: BlockSums) -> BlockSums:
    """Return drawn sums less what the sample's means of the cells would give.

    A calibration error of these sums is the distance of the draw from the
    sample, as it is of the sample from the truth.
    """
    return BlockSums(
        _centred(drawn.classes, own.classes), _centred(drawn.everything, own.everything)
    )


def _centred(drawn: Floats, own: Floats) -> Floats:
    expected = drawn[0] * divide(own[1 : OUTCOME + 1], own[0], 0.0)
    return np.concatenate([drawn[:1], drawn[1 : OUTCOME + 1] - expected])


def outcome_sums(placed: BinPlaces, weight: Floats, own: BlockSums, outcome: Floats) -> BlockSums:
    """Return the sums had other predictions been right."""
    shape = (placed.n_blocks * placed.n_cells, len(weight))
    matrix = sparse.coo_array((weight[placed.row], (placed.position, placed.row)), shape=shape)
    simulated = blocks_of(placed, (matrix.tocsr() @ outcome)[None])
    return BlockSums(
        _with_outcome(own.classes, simulated.classes),
        _with_outcome(own.everything, simulated.everything),
    )


def _with_outcome(own: Floats, simulated: Floats) -> Floats:
    """Return weight and confidence as they are, with the outcomes simulated."""
    shape = (OUTCOME, *simulated.shape[1:])
    return np.concatenate([np.broadcast_to(own[:OUTCOME], shape), simulated])


def blocks_of(placed: BinPlaces, sums: Floats) -> BlockSums:
    """Return sums by class and over all."""
    n_channels, _, n_draws = sums.shape
    shaped = sums.reshape(n_channels, placed.n_blocks, placed.n_cells, n_draws)
    shaped = np.ascontiguousarray(np.moveaxis(shaped, 3, 2))
    if placed.has_all:
        return BlockSums(shaped[:, :-1], shaped[:, -1])
    return BlockSums(shaped, shaped.sum(axis=1))


DRAWS_AT_ONCE = 250  # bounds memory
LOSSES = tuple(metric for metric in METRICS if metric.losses is not None)
IN_CELLS = tuple(metric for metric in METRICS if metric.losses is None)
PART_OF = "brier"  # what metrics in cells are parts of, unless they are errors of calibration


@dataclass(frozen=True, eq=False)
class Drawing:
    """What is drawn, the same for every method, so that methods are paired."""

    unit: Integers  # What is drawn together: a code per cluster, or per protein
    key: np.ndarray[tuple[int], np.dtype[np.uint64]]  # A key for each unit
    n_draws: int  # Number of draws; 0: none

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
    """All metrics of one method over one sample."""

    # By metric: of each predicted class, then over all; NaN where not defined.
    value: Mapping[str, Floats]
    drawn: Mapping[str, Floats]  # The same under each draw
    # By calibration error, and of sharpness: how far each draw lies from the sample.
    noise: Mapping[str, Floats]
    # By metric: how its draws are to be read, by class and over all.
    scatter: Mapping[str, Scatter]
    losses: Mapping[str, Floats]  # By metric that is a mean: what it is the mean of
    # By share: its value with half a pseudo-cluster right and half a one wrong.
    centre: Mapping[str, Floats]
    relatives: BothRelatives  # Of the proteins measured, by class and over all


def finish_all(
    metric: Metric, sums: BlockSums, n_effective: Floats, *, is_centred: bool = False
) -> Floats:
    """Return a metric of every class and over all, shape (n_classes + 1, n_draws)."""
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
    """Return Kish's number of proteins of each predicted class, then of all."""
    total = sum_by(block, judged.weight, n_classes)
    squares = sum_by(block, judged.weight**2, n_classes)
    return np.append(divide(total**2, squares, 0.0), judged.n_effective)


def in_families(names: Sequence[str] | None) -> tuple[Metric, ...]:
    """Return the metrics in cells of the families named, or of all."""
    if names is None:
        return IN_CELLS
    return tuple(one for one in IN_CELLS if one.family and one.family.name in names)


def placements(
    judged: Judged, block: Integers, n_classes: int, metrics: Sequence[Metric] = IN_CELLS
) -> dict[str, BinPlaces]:
    """Return where proteins count, by family, for what can be measured."""
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
    placed: Mapping[str, BinPlaces],
    drawing: Drawing,
    parts: Sequence[Floats],
) -> Measures:
    """Return every metric and its draws."""
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
    placed = _placed(loss_cells(LOSSES, judged), block, n_classes)
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
    placed: Mapping[str, BinPlaces],
    chance: Floats,
) -> dict[str, Floats]:
    """Return what calibrated confidences would score, shape (n_classes + 1, n_draws).

    Outcomes are drawn with the confidences taken for true.
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
    placed: BinPlaces, judged: Judged, own: BlockSums, true_class: Integers
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
    """Return numbers in (0, 1) for the noise floor, shape (n_keys, n_draws)."""
    return np.stack([uniform(key, draw, "noise floor") for draw in range(n_draws)], axis=1)
