"""Every metric of one method over one sample, with its draws and noise floors."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from credence.calibrators.intervals import JEFFREYS, LEAST_FREEDOM, guard_draws
from credence.draws import uniforms, weight_blocks
from credence.metrics.all_metrics import METRICS
from credence.metrics.binned import WIDTH
from credence.metrics.metric import Family, Judged, Metric, divide, loss_cells, sum_by
from credence.predictions import Floats, Integers

# Of a variance, or of a mean's square: what rounding leaves where clusters or losses are equal.
NO_SPREAD = 1e-18


@dataclass(frozen=True, kw_only=True, eq=False)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Scatter:
    """How draws of clusters are to be read, block by block."""

    stretch: Floats  # How much further off a mean can be than its draws show; 1 or more
    freedom: Floats  # Degrees of freedom of Student's t, by which quantiles are widened


def relatives_of(block: Integers, n_blocks: int, unit: Integers, weight: Floats) -> RelativePairs:
    """Return which proteins of each block belong together."""
    n_units = int(unit.max()) + 1 if len(unit) > 0 else 1
    pairs, code = np.unique(block * n_units + unit, return_inverse=True)
    mass, squares = (sum_by(code, values, len(pairs)) for values in (weight, weight**2))
    n_members = np.bincount(code, minlength=len(pairs))
    return RelativePairs(
        code=code,
        block=pairs // n_units,
        n_blocks=n_blocks,
        weight=weight,
        mass=mass,
        squares=squares,
        n_members=n_members,
    )


def scatter_of(relatives: RelativePairs, losses: Floats) -> Scatter:
    """Return how much wider each block's mean scatters than draws show (decision 0010)."""
    n_codes = len(relatives.block)

    def by_block(values: Floats) -> Floats:
        return sum_by(relatives.block, values, relatives.n_blocks)

    total = relatives.total
    mean = divide(by_block(sum_by(relatives.code, relatives.weight * losses, n_codes)), total, 0.0)
    residual = losses - mean[relatives.block[relatives.code]]
    pull = relatives.weight * residual
    summed = sum_by(relatives.code, pull, n_codes)
    own_squares = sum_by(relatives.code, pull**2, n_codes)
    shown = by_block(summed**2)
    left = 1.0 - relatives.mass / total[relatives.block]
    jackknife = by_block(divide(summed**2, left**2, 0.0))

    variance = divide(by_block(sum_by(relatives.code, pull * residual, n_codes)), total, 0.0)
    has_relatives = relatives.n_members > 1
    pairs = np.where(has_relatives, relatives.mass**2 - relatives.squares, 0.0)
    products = divide(relatives.mass * (summed**2 - own_squares), pairs, 0.0)
    alike = divide(by_block(products), by_block(np.where(has_relatives, relatives.mass, 0.0)), 0.0)
    shared = np.clip(alike, 0.0, variance)
    number = relatives.n_effective
    few = divide(number, number - 1.0, 1.0)
    forecast = few * (variance * by_block(relatives.squares) + shared * by_block(pairs))

    greatest = np.maximum(np.maximum(jackknife, forecast), shown)
    known = (shown > NO_SPREAD * greatest) & (variance > NO_SPREAD * mean**2)
    bearing = np.where(known, divide(shown**2, by_block(summed**4), 1.0), 1.0)
    stretch = np.sqrt(np.where(known, divide(greatest, shown, 1.0), 1.0))
    return Scatter(
        stretch=stretch, freedom=np.sqrt(np.maximum(number - 1.0, LEAST_FREEDOM) * bearing)
    )


def twice(values: Floats | Integers) -> NDArray[Any]:
    """Return the values by predicted class, and again over all."""
    return np.tile(values, 2)


def both_relatives(
    block: Integers, n_classes: int, unit: Integers, weight: Floats
) -> RelativePairs:
    """Return which proteins belong together by predicted class, and over all."""
    blocks = np.concatenate([block, np.full_like(block, n_classes)])
    return relatives_of(blocks, n_classes + 1, twice(unit), twice(weight))


OUTCOME = 2  # the channel of cells that holds what turned out


@dataclass(frozen=True, kw_only=True, eq=False)
class BinPlaces:
    """Entries of a family of cells, classes side by side."""

    row: Integers  # The protein
    position: Integers  # The block times `n_cells`, plus the cell
    # Predicted classes; and all, where cells depend on which proteins are judged together.
    n_blocks: int
    n_cells: int
    values: Floats  # What is summed
    # Whether the last block is all proteins; else their sums are those of the classes added up.
    has_all: bool


def place(family: Family, judged: Judged, block: Integers, n_blocks: int) -> BinPlaces | None:
    """Return a family's entries, each class in a block of its own."""
    cells = family.cells(judged)
    if cells is None:
        return None
    if family.is_fixed and not (judged.equal_counts and family is WIDTH):
        position = block[cells.row] * cells.n_cells + cells.cell
        return BinPlaces(
            row=cells.row,
            position=position,
            n_blocks=n_blocks,
            n_cells=cells.n_cells,
            values=cells.values,
            has_all=False,
        )
    parts = []
    for number in range(n_blocks):
        rows = np.flatnonzero(block == number)
        cells_of_block = family.cells(judged.take(rows)) if len(rows) > 0 else None
        if cells_of_block is not None:
            parts.append((rows[cells_of_block.row], number, cells_of_block))
    parts.append((cells.row, n_blocks, cells))
    row = np.concatenate([rows for rows, _, _ in parts])
    position = np.concatenate(
        [number * cells.n_cells + cells_of_block.cell for _, number, cells_of_block in parts]
    )
    values = np.concatenate([cells_of_block.values for _, _, cells_of_block in parts], axis=1)
    return BinPlaces(
        row=row,
        position=position,
        n_blocks=n_blocks + 1,
        n_cells=cells.n_cells,
        values=values,
        has_all=True,
    )


def unit_matrices(
    placed: BinPlaces, weight: Floats, unit: Integers, n_units: int
) -> list[sparse.csr_array]:
    """Return a matrix per channel that turns weights of units into sums."""
    shape = (placed.n_blocks * placed.n_cells, n_units)
    at, entries = (placed.position, unit[placed.row]), weight[placed.row] * placed.values
    return [sparse.coo_array((entry, at), shape=shape).tocsr() for entry in entries]


def total_sums(placed: BinPlaces, weight: Floats) -> Floats:
    """Return the sums with the proteins' own weights: one draw, nothing drawn."""
    size = placed.n_blocks * placed.n_cells
    sums = [sum_by(placed.position, weight[placed.row] * values, size) for values in placed.values]
    return class_sums(placed, np.stack(sums)[:, :, None])


def drawn_sums(placed: BinPlaces, matrices: Sequence[sparse.csr_array], drawn: Floats) -> Floats:
    """Return the sums under drawn weights of the units."""
    return class_sums(placed, np.stack([matrix @ drawn for matrix in matrices]))


def centred(drawn: Floats, sample: Floats) -> Floats:
    """Return drawn sums less the sample's means: errors of these are the draw's distance."""
    expected = drawn[0] * divide(sample[1 : OUTCOME + 1], sample[0], 0.0)
    return np.concatenate([drawn[:1], drawn[1 : OUTCOME + 1] - expected])


def class_sums(placed: BinPlaces, sums: Floats) -> Floats:
    """Return sums by class, then over all, shape (n_channels, n_blocks, n_draws, n_cells)."""
    n_channels, _, n_draws = sums.shape
    shaped = sums.reshape(n_channels, placed.n_blocks, placed.n_cells, n_draws)
    shaped = np.ascontiguousarray(np.moveaxis(shaped, 3, 2))
    if placed.has_all:
        return shaped
    return np.concatenate([shaped, shaped.sum(axis=1, keepdims=True)], axis=1)


DRAWS_AT_ONCE, OF_CLASSES = 250, 30  # bounds memory: fewer draws where there are more classes


def draws_at_once(n_classes: int) -> int:
    """Return how many draws are looked at together."""
    return max(DRAWS_AT_ONCE * OF_CLASSES // max(n_classes, OF_CLASSES), 1)


LOSS_METRICS = tuple(metric for metric in METRICS if metric.losses is not None)
IN_CELLS = tuple(metric for metric in METRICS if metric.losses is None)
OF_LOSSES = Family(name="losses", cells=partial(loss_cells, LOSS_METRICS))
PART_OF = "brier"  # what metrics in cells are parts of, unless they are errors of calibration


@dataclass(frozen=True, kw_only=True, eq=False)
class PairedDraws:
    """What is drawn, the same for every method, so that methods are paired."""

    unit: Integers  # What is drawn together: a code per cluster, or per protein
    key: np.ndarray[tuple[int], np.dtype[np.uint64]]  # A key for each unit
    n_draws: int  # Number of draws; 0: none

    def parts(self, n_classes: int = 0) -> list[Floats]:
        """Return weights of the units, shape (n_units, part of the draws) each."""
        at_once = draws_at_once(n_classes)
        return [weight for _, weight in weight_blocks(self.key, self.n_draws, at_once)]


@dataclass(frozen=True, kw_only=True, eq=False)
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
    relatives: RelativePairs  # Of the proteins measured, by class and over all


def finish_all(
    metric: Metric, sums: Floats, n_effective: Floats, *, is_centred: bool = False
) -> Floats:
    """Return a metric of every class and over all, shape (n_classes + 1, n_draws)."""
    finish = metric.noise if is_centred and metric.noise is not None else metric.finish
    classes, everything = sums[:, :-1], sums[:, -1]
    answer = np.full((len(n_effective), sums.shape[2]), np.nan)
    if finish is not None and classes.shape[1] > 0:
        answer[:-1] = finish(classes, n_effective[:-1, None])
    if metric.over_classes is not None:
        answer[-1] = metric.over_classes(classes, n_effective[:-1, None])
    elif finish is not None:
        answer[-1] = finish(everything, np.array(n_effective[-1]))
    return answer


def effective_numbers(judged: Judged, block: Integers, n_classes: int) -> Floats:
    """Return Kish's number of proteins of each predicted class, then of all."""
    total = sum_by(block, judged.weight, n_classes)
    squares = sum_by(block, judged.weight**2, n_classes)
    return np.append(divide(total**2, squares, 0.0), judged.n_effective)


def in_families(names: Collection[str] | None) -> tuple[Metric, ...]:
    """Return the metrics in cells of the families named, or of all."""
    return tuple(
        metric
        for metric in IN_CELLS
        if names is None or (metric.family and metric.family.name in names)
    )


def placements(
    judged: Judged, block: Integers, n_classes: int, metrics: Sequence[Metric] = IN_CELLS
) -> dict[str, BinPlaces]:
    """Return where proteins count, by family, for what can be measured."""
    families = {
        metric.family.name: (metric.family, 0 if metric.needs_vector else n_classes)
        for metric in metrics
        if metric.family is not None
    }
    places = {name: place(family, judged, block, n) for name, (family, n) in families.items()}
    return {name: placed for name, placed in places.items() if placed is not None}


Placed = Mapping[str, BinPlaces]  # by family


def measure(
    judged: Judged,
    block: Integers,
    n_classes: int,
    placed: Placed,
    drawing: PairedDraws,
    parts: Sequence[Floats],
) -> Measures:
    """Return every metric and its draws."""
    n_effective = effective_numbers(judged, block, n_classes)
    relatives = both_relatives(block, n_classes, drawing.unit, judged.weight)
    means = _measure_losses(judged, block, n_classes, relatives, drawing, parts)
    value, scatter = {**means.value}, {**means.scatter}
    # Metrics in cells have the stretch of a mean, and the freedom that weights alone give.
    freedom = np.maximum(relatives.n_effective - 1.0, LEAST_FREEDOM)
    gaps = scatter_of(relatives, twice(judged.is_correct - judged.confidence))
    of_gaps, of_parts = (
        Scatter(stretch=scatter_.stretch, freedom=freedom) for scatter_ in (gaps, scatter[PART_OF])
    )
    drawn: dict[str, list[Floats]] = defaultdict(list)
    noise: dict[str, list[Floats]] = defaultdict(list)
    for name, places in placed.items():
        metrics = in_families([name])
        sums = total_sums(places, judged.weight)
        for metric in metrics:
            value[metric.name] = finish_all(metric, sums, n_effective)[:, 0]
            scatter[metric.name] = of_gaps if metric.is_error else of_parts
        matrices = unit_matrices(places, judged.weight, drawing.unit, len(drawing.key))
        for part in parts:
            under = drawn_sums(places, matrices, part)
            beyond = centred(under, sums)
            for metric in metrics:
                drawn[metric.name].append(finish_all(metric, under, n_effective))
                if metric.is_error or metric.noise is not None:
                    apart = finish_all(metric, beyond, n_effective, is_centred=True)
                    noise[metric.name].append(apart)
    every = {**means.drawn, **_joined(drawn)}
    return replace(means, value=value, drawn=every, noise=_joined(noise), scatter=scatter)


def _measure_losses(
    judged: Judged,
    block: Integers,
    n_classes: int,
    relatives: RelativePairs,
    drawing: PairedDraws,
    parts: Sequence[Floats],
) -> Measures:
    placed = place(OF_LOSSES, judged, block, n_classes)
    assert placed is not None
    unit = divide(relatives.total, relatives.n_effective, 0.0)
    guard = np.zeros((2, 0)) if drawing.n_draws == 0 else np.stack(guard_draws(drawing.n_draws))
    sums = total_sums(placed, judged.weight)
    undrawn = _mean_losses(sums, unit, np.zeros((2, 1)))
    middle = _mean_losses(sums, unit, np.full((2, 1), JEFFREYS))
    drawn: dict[str, list[Floats]] = defaultdict(list)
    matrices = unit_matrices(placed, judged.weight, drawing.unit, len(drawing.key))
    start = 0
    for part in parts:
        stop = start + part.shape[1]
        means = _mean_losses(drawn_sums(placed, matrices, part), unit, guard[:, start:stop])
        for name, values in means.items():
            drawn[name].append(values)
        start = stop
    losses = {
        metric.name: undrawn
        for metric, undrawn in zip(LOSS_METRICS, placed.values[1:], strict=True)
    }
    return Measures(
        value={name: values[:, 0] for name, values in undrawn.items()},
        drawn=_joined(drawn),
        noise={},
        scatter={name: scatter_of(relatives, twice(values)) for name, values in losses.items()},
        losses=losses,
        centre={
            metric.name: middle[metric.name][:, 0] for metric in LOSS_METRICS if metric.is_share
        },
        relatives=relatives,
    )


def _joined(parts: Mapping[str, Sequence[Floats]]) -> dict[str, Floats]:
    return {name: np.concatenate(values, axis=1) for name, values in parts.items()}


def _mean_losses(sums: Floats, unit: Floats, guard: Floats) -> dict[str, Floats]:
    """Return the mean of each loss, by class and over all; shares with a guard."""
    means = {}
    for number, metric in enumerate(LOSS_METRICS, start=1):
        numerator, denominator = sums[number, ..., 0], sums[0, ..., 0]
        if metric.is_share:
            numerator = numerator + unit[:, None] * guard[0]
            denominator = denominator + unit[:, None] * (guard[0] + guard[1])
        means[metric.name] = divide(numerator, denominator)
    return means


def floors(
    judged: Judged, block: Integers, n_classes: int, placed: Placed, chance: Floats
) -> dict[str, Floats]:
    """Return what calibrated confidences would score by chance, (n_classes + 1, n_draws)."""
    drawn: dict[str, list[Floats]] = defaultdict(list)
    at_once = draws_at_once(n_classes)
    for start in range(0, chance.shape[1], at_once):
        part = _some_floors(judged, block, n_classes, placed, chance[:, start : start + at_once])
        for name, values in part.items():
            drawn[name].append(values)
    return _joined(drawn)


def _some_floors(
    judged: Judged, block: Integers, n_classes: int, placed: Placed, chance: Floats
) -> dict[str, Floats]:
    n_effective = effective_numbers(judged, block, n_classes)
    drawn: dict[str, Floats] = {}
    outcome = (chance < judged.confidence[:, None]).astype(np.float64)
    true_class = None if judged.probabilities is None else _drawn_classes(judged, chance)
    for name, places in placed.items():
        metrics = [metric for metric in in_families([name]) if metric.is_error]
        if not metrics:
            continue
        if metrics[0].needs_vector:
            assert true_class is not None and judged.probabilities is not None
            class_ = places.position // (places.n_cells // judged.probabilities.shape[1])
            of_class = np.zeros((len(true_class), places.n_cells))
            for draw, classes in enumerate(true_class):
                is_true = classes[places.row] == class_
                weight = judged.weight[places.row[is_true]]
                of_class[draw] = sum_by(places.position[is_true], weight, places.n_cells)
            simulated = of_class[None, None]
        else:
            entries = (judged.weight[places.row], (places.position, places.row))
            shape = (places.n_blocks * places.n_cells, judged.n_samples)
            summed = sparse.coo_array(entries, shape=shape).tocsr() @ outcome
            simulated = class_sums(places, summed[None])
        # Weight and confidence as they are, with the outcomes simulated.
        kept = total_sums(places, judged.weight)[:OUTCOME]
        kept = np.broadcast_to(kept, (OUTCOME, *simulated.shape[1:]))
        sums = np.concatenate([kept, simulated])
        for metric in metrics:
            drawn[metric.name] = finish_all(metric, sums, n_effective)
    return drawn


def _drawn_classes(judged: Judged, chance: Floats) -> Integers:
    """Return true classes drawn from the vectors, shape (n_draws, n_samples)."""
    assert judged.probabilities is not None
    cumulative = np.cumsum(judged.probabilities, axis=1)
    level = chance.T[:, :, None] * cumulative[:, -1:]
    # Beyond how many of the vector's steps each number lies.
    return np.stack([(levels >= cumulative[:, :-1]).sum(axis=1) for levels in level])


def chances(key: np.ndarray[tuple[int], np.dtype[np.uint64]], n_draws: int) -> Floats:
    """Return numbers in (0, 1) for the noise floor, shape (n_keys, n_draws)."""
    return uniforms(key, range(n_draws), "noise floor")
