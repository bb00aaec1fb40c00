"""Both sets that are compared: the labelled one, and the query set summed up piece by piece.

In a draw a row of the query set gets an exponential weight, n like rows their sum, a Gamma(n)
weight; a genome gives its weight to all its rows. Draws are keyed by what is in a row, or by the
genome's name, and places stand in the order of their keys, so that order is nothing. Of a large
query set some rows stand for the others (decision 0020).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class, left_out
from credence.calibrators.matrix import clusters_by_class
from credence.calibrators.score_logs import log_scores
from credence.composition.probabilities import TINIEST, BiasCorrected, fit_mapped
from credence.draws import (
    effective_clusters,
    encode_clusters,
    id_keys,
    keys_of,
    kish,
    mixed,
    uniform,
)
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import PackedFloats, PackedIntegers, Stored

Keys = NDArray[np.uint64]

MOST_ROWS_KEPT = 80_000  # of which every one is kept
MOST_STRATA = 20_000  # places on the grid, beyond that
FINEST_GRID = 128  # steps of the grid for a square root from 0 to 1
FEWEST_KEPT = 8.0  # rows kept of a place, on average
KEPT_OF_ROOT = 0.5  # and at least so many times the root of the number of rows there


@dataclass(frozen=True, kw_only=True, eq=False)
class GenomeCounts:
    """How many rows of each genome are in each of some places."""

    key: Keys  # A key per genome, ascending
    counts: sparse.csr_array  # Rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    """Rows of probabilities, gathered at places of like rows."""

    n_steps: int  # Steps of the grid; 0 where every row is kept
    class_key: Keys  # A key per class
    key: Keys  # Made of the place, or of the row; ascending
    place: NDArray[np.uint8]  # Place on the grid; zeros where every row is kept
    n_rows: Integers  # Number of rows there
    row: Floats  # Rows that are kept
    at: Integers  # Place of each
    level: Floats  # A number in (0, 1), made of the row's name
    genomes: GenomeCounts | None = None  # Whose rows there are at the places, where that is known

    def shared(self, weight: Floats) -> Floats:
        """Return the weights of places, shared out among the rows kept there."""
        return np.asarray((weight / np.bincount(self.at, minlength=len(self.key)))[self.at])


def cells_of(
    probability: Floats,
    name: Keys,
    most_rows: int = MOST_ROWS_KEPT,
    *,
    class_key: Keys | None = None,
    origin: Floats | None = None,
    genome: Keys | None = None,
) -> Cells:
    """Return the rows as cells."""
    n_rows, n_classes = probability.shape
    keys = np.arange(n_classes, dtype=np.uint64) if class_key is None else class_key
    bits = np.ascontiguousarray((probability if origin is None else origin) + 0.0).view(np.uint64)
    rows = np.arange(n_rows, dtype=np.int64)
    key, place = keys_of_rows(bits, keys), np.zeros(probability.shape, dtype=np.uint8)
    n_each, level = np.ones(n_rows, dtype=np.int64), uniform(name, 0, "kept rows")
    genomes = None if genome is None else genomes_at(rows, n_rows, genome)
    every = Cells(
        n_steps=0,
        class_key=keys,
        key=key,
        place=place,
        n_rows=n_each,
        row=probability,
        at=rows,
        level=level,
        genomes=genomes,
    )
    return _within(_gathered(every), most_rows)


def merged(first: Cells, second: Cells, most_rows: int = MOST_ROWS_KEPT) -> Cells:
    """Return the cells of both sets of rows."""
    steps = [cells.n_steps for cells in (first, second)]
    if max(steps) > 0:
        coarsest = min(number for number in steps if number > 0)
        first, second = (_coarsened(cells, coarsest) for cells in (first, second))
    names = ("key", "place", "n_rows", "row", "at", "level")
    second = replace(second, at=second.at + len(first.key))
    pairs = {name: [getattr(first, name), getattr(second, name)] for name in names}
    joined: dict[str, Any] = {name: np.concatenate(pair) for name, pair in pairs.items()}
    every = replace(first, **joined, genomes=of_both(first.genomes, second.genomes, sparse.vstack))
    return _within(_gathered(every), most_rows)


def _within(cells: Cells, most_rows: int) -> Cells:
    if cells.n_steps == 0:
        if len(cells.row) <= most_rows:
            return cells
        cells = _coarsened(cells, FINEST_GRID)
    most_places = min(MOST_STRATA, most_rows)
    while len(cells.key) > most_places and cells.n_steps > 1:
        cells = _coarsened(cells, cells.n_steps // 2)
    return _thinned(cells)


def _coarsened(cells: Cells, n_steps: int) -> Cells:
    if cells.n_steps == n_steps:
        return cells
    if cells.n_steps == 0:  # at a place all rows are the same
        _, first = np.unique(cells.at, return_index=True)
        place = np.minimum(np.sqrt(cells.row[first]) * n_steps, n_steps - 1).astype(np.uint8)
    else:
        place = cells.place // np.uint8(cells.n_steps // n_steps)
    key = keys_of_rows(place, cells.class_key)
    return _gathered(replace(cells, n_steps=n_steps, key=key, place=place))


def _gathered(cells: Cells) -> Cells:
    key, first, code = np.unique(cells.key, return_index=True, return_inverse=True)
    n_places = len(first)
    n_rows = np.bincount(code, weights=cells.n_rows, minlength=n_places).astype(np.int64)
    genomes = cells.genomes
    if genomes is not None:
        shape = (n_places, len(code))
        gather = sparse.csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=shape)
        genomes = GenomeCounts(key=genomes.key, counts=sparse.csr_array(gather @ genomes.counts))
    at = code[cells.at].astype(np.int64)
    order = np.lexsort((cells.level, at))
    return replace(
        cells,
        key=key,
        place=cells.place[first],
        n_rows=n_rows,
        row=cells.row[order],
        at=at[order],
        level=cells.level[order],
        genomes=genomes,
    )


def _thinned(cells: Cells) -> Cells:
    """Return the cells with a part of the rows of each place: fewer of a place that has more."""
    n_rows = cells.n_rows.astype(np.float64)
    part = np.maximum(FEWEST_KEPT, KEPT_OF_ROOT * np.sqrt(n_rows)) / n_rows
    is_first = np.append(True, np.diff(cells.at) > 0)
    kept = is_first | (cells.level < part[cells.at])
    return replace(cells, row=cells.row[kept], at=cells.at[kept], level=cells.level[kept])


def keys_of_rows(values: NDArray[np.uint64] | NDArray[np.uint8], class_key: Keys) -> Keys:
    """Return a number per row: the same for like rows, else all but never."""
    key = np.zeros(len(values), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for column, class_key_ in zip(values.T, class_key, strict=True):
            key += mixed(mixed(column.astype(np.uint64) + np.uint64(1)) ^ class_key_)
    return key


def genomes_at(place: Integers, n_places: int, genome: Keys) -> GenomeCounts:
    """Return how many rows of each genome are at each place."""
    key, code = np.unique(genome.astype(np.uint64), return_inverse=True)
    ones = np.ones(len(place))
    return GenomeCounts(
        key=key, counts=sparse.csr_array((ones, (place, code)), shape=(n_places, len(key)))
    )


def of_both(
    first: GenomeCounts | None, second: GenomeCounts | None, join: Callable[[list[Any]], Any]
) -> GenomeCounts | None:
    """Return the counts of both: added (sum) or one below the other (vstack); None without."""
    if first is None or second is None:
        return None
    key = np.union1d(first.key, second.key)
    parts = []
    for half in (first, second):
        counts, at = half.counts.tocoo(), np.searchsorted(key, half.key)
        entries = (counts.data, (counts.coords[0], at[counts.coords[1]]))
        parts.append(sparse.csr_array(entries, shape=(counts.shape[0], len(key))))
    return GenomeCounts(key=key, counts=sparse.csr_array(join(parts)))


def at_level(probability: Floats, name: Keys, n_steps: int) -> Cells:
    """Return the rows gathered on a grid of so many steps."""
    every = cells_of(probability, name, len(probability))
    return every if n_steps == 0 else _thinned(_coarsened(every, n_steps))


FEWEST_GENOMES = 2
HALF_ROW = 0.5  # of every class, added to the query set in each draw (Jeffreys)
N_DENSITY_BINS = 100  # of equal width over the scale: for densities and their test


MOST_STORED = 4_000_000  # scores of calibration rows; of more whole families are left out
N_PRIOR = 10.0  # families by which shares among the wrong are drawn to those of more proteins
WINDOW = 0.05  # of the scale: standard deviation of the window over scores
Bytes = Stored(packed="uint8")
Packed = Stored(packed="float32", is_left_out=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationSample:
    """What a calibration file keeps of its proteins, so that it can be corrected for a mix."""

    class_names: tuple[str, ...]
    scale: float  # Of the scores, and their resolution
    resolution: float
    has_scores: bool  # Whether there are top scores
    predicted_class: PackedIntegers
    true_class: PackedIntegers
    weight: PackedFloats
    unit: PackedIntegers  # Code of each protein's cluster
    unit_key: Annotated[NDArray[np.uint64], Stored(packed="uint64")]  # A key per cluster
    score_bin: Annotated[NDArray[np.int64], Bytes]  # Bin of the top score; 0 where there is none
    fold: Annotated[NDArray[np.int64], Bytes]  # In which each protein's cluster was left out
    # Confidences by fits without the cluster of each protein; NaN where they never saw the class.
    held_out: PackedFloats
    # Whether the true classes of wrong predictions are assumed, from counts.
    is_assumed: Annotated[bool, Stored(is_left_out=True)] = False
    # None where there are no score vectors.
    model: Annotated[BiasCorrected | None, Stored(is_left_out=True)] = None
    # Of each fold the model that saw the others alone, where there is more than one fold.
    models_without: tuple[BiasCorrected, ...] = ()
    scores: Annotated[NDArray[np.float64] | None, Packed] = None

    def refuse_damage(self) -> None:
        """Refuse columns that do not belong together."""
        n_rows, n_classes = len(self.predicted_class), len(self.class_names)
        limits = (
            (self.predicted_class, n_classes), (self.true_class, n_classes),
            (self.unit, len(self.unit_key)), (self.score_bin, N_DENSITY_BINS),
            (self.fold, n_rows), (self.weight, np.inf),
        )  # fmt: skip
        columns = [column for column, _ in limits]
        if {len(column) for column in (*columns, self.held_out)} != {n_rows}:
            raise ValueError("its columns differ in length")
        if not all(((column >= 0) & (column < limit)).all() for column, limit in limits):
            raise ValueError("it has a value out of range")
        if self.model is None:
            return
        if self.scores is None or self.scores.shape != (n_rows, n_classes):
            raise ValueError("its scores are not those of its proteins")
        if len(self.models_without) != len(list(left_out(self.fold))):
            raise ValueError("its models are not those of its folds")

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def without_vectors(self) -> Self:
        """The same as if only the top scores were known."""
        return replace(self, model=None, models_without=(), scores=None)

    @cached_property
    def probability(self) -> Floats | None:
        """The model's probabilities; None where there are no score vectors."""
        return None if self.model is None else self._by_model(self.model, slice(None))

    @cached_property
    def held_out_probability(self) -> Floats | None:
        """Those of models that did not see the cluster of each protein."""
        if self.probability is None:
            return None
        unseen = self.probability.copy()
        for is_out, model in zip(left_out(self.fold), self.models_without, strict=True):
            unseen[is_out] = self._by_model(model, is_out)
        return unseen

    def _by_model(self, model: BiasCorrected, rows: Any) -> Floats:
        assert self.scores is not None
        return model.of_scores(self.scores[rows], self.resolution)

    @cached_property
    def logs(self) -> Floats:
        """Log scores as the model's temperature sees them, up to a number for each row."""
        assert self.model is not None and self.probability is not None
        is_known = np.isfinite(self.model.bias)
        logs = np.zeros_like(self.probability)
        known = np.log(np.maximum(self.probability[:, is_known], TINIEST))
        logs[:, is_known] = (known - self.model.bias[is_known]) / self.model.slope
        return logs

    @property
    def outcome(self) -> Integers:
        """Predicted and true class of each row as one number."""
        return np.asarray(self.predicted_class * self.n_classes + self.true_class)

    @cached_property
    def score_place(self) -> Integers:
        """Predicted class, true class and bin of the top score of each row as one number."""
        return np.asarray(self.outcome * N_DENSITY_BINS + self.score_bin)

    @cached_property
    def n_clusters(self) -> float:
        """Kish's number of the clusters' weights."""
        return effective_clusters(self.unit, self.weight)

    @cached_property
    def class_number(self) -> Floats:
        """The same of the clusters that each true class rests on."""
        return clusters_by_class(self.true_class, self.unit, self.weight, self.n_classes, 0.0)

    def masses(self, place: Integers, n_places: int, drawn: Floats) -> Floats:
        """Return the weight at places in each draw, as shares of the draw's all."""
        shape = (n_places, len(self.unit_key))
        held = sparse.csr_array((self.weight, (place, self.unit)), shape=shape)
        mass = np.asarray(held @ drawn)
        return np.asarray(mass / mass.sum(axis=0))

    def score_masses(self, drawn: Floats | None = None) -> Floats:
        """Return the weight by predicted class, true class and score bin, in one draw or none."""
        n_classes = self.n_classes
        weights = np.ones(len(self.unit_key)) if drawn is None else drawn
        masses = self.masses(self.score_place, n_classes**2 * N_DENSITY_BINS, weights[:, None])
        return masses[:, 0].reshape(n_classes, n_classes, N_DENSITY_BINS)

    def at_scores(self, class_: int, score: Floats) -> Predictions:
        """Return predictions of a class at top scores, and of nothing else."""
        return Predictions(
            ids=np.arange(len(score)).astype(str).astype(object),
            class_names=self.class_names,
            scale=self.scale,
            resolution=self.resolution,
            predicted_class=np.full(len(score), class_, dtype=np.int64),
            top_score=score,
            is_distribution=False,
        )

    @cached_property
    def true_among_wrong(self) -> Floats:
        """P(true class j | wrong, predicted class i, score), by i, j and score bin."""
        return shares_among_wrong(self.score_masses() * self.n_clusters)

    def among_wrong(self, predictions: Predictions) -> Floats:
        """Return P(true class | wrong) of each prediction: of its score, and of its vector."""
        score = predictions.top_score
        place = np.zeros(predictions.n_samples)
        if score is not None:
            place = np.clip(score / self.scale * N_DENSITY_BINS - 0.5, 0.0, N_DENSITY_BINS - 1.0)
        below = np.minimum(place.astype(np.int64), N_DENSITY_BINS - 2)
        part = (place - below)[:, None]
        class_ = predictions.predicted_class
        table = self.true_among_wrong
        shares = (1.0 - part) * table[class_, :, below] + part * table[class_, :, below + 1]
        if self.model is None or not predictions.has_vectors:
            return np.asarray(shares)
        return _of_both_kinds(shares, self.model.probabilities(predictions), class_)

    @cached_property
    def held_out_among_wrong(self) -> Floats:
        """The same of the sample's own rows, each from the other folds."""
        shares = np.empty((len(self.fold), self.n_classes))
        for number in np.unique(self.fold):
            is_out = self.fold == number
            weights, is_seen = np.ones(len(self.unit_key)), ~is_out
            if is_out.all():
                is_seen = is_out  # one fold leaves no other
            else:
                weights[self.unit[is_out]] = 0.0
            n_clusters = effective_clusters(self.unit[is_seen], self.weight[is_seen])
            table = shares_among_wrong(self.score_masses(weights) * n_clusters)
            shares[is_out] = table[self.predicted_class[is_out], :, self.score_bin[is_out]]
        if self.held_out_probability is None:
            return shares
        return _of_both_kinds(shares, self.held_out_probability, self.predicted_class)


def _of_both_kinds(shares: Floats, probability: Floats, class_: Integers) -> Floats:
    """Return the mean of shares among the wrong and of what probabilities say of these."""
    others = np.maximum(probability, TINIEST)
    others[np.arange(len(class_)), class_] = 0.0
    return np.asarray((shares + others / others.sum(axis=1, keepdims=True)) / 2.0)


def shares_among_wrong(mass: Floats) -> Floats:
    """Return the shares of true classes among the wrong, from masses by classes and score.

    Where a class has few wrong ones at a score it has the shares of all its wrong ones, and where
    it has few at all those of all classes.
    """
    n_classes = len(mass)
    wrong = mass * (1.0 - np.eye(n_classes))[:, :, None]
    everywhere = np.repeat(wrong.sum(axis=(0, 2))[None], n_classes, axis=0) + TINIEST
    np.fill_diagonal(everywhere, 0.0)
    if n_classes == 1:
        return np.ones_like(mass)
    everywhere = everywhere / everywhere.sum(axis=1, keepdims=True)
    of_class = wrong.sum(axis=2) + N_PRIOR * everywhere
    of_class = of_class / of_class.sum(axis=1, keepdims=True)
    at_score = smoothed_masses(wrong) + N_PRIOR * of_class[:, :, None]
    return np.asarray(at_score / at_score.sum(axis=1, keepdims=True))


def smoothed_masses(mass: Floats) -> Floats:
    """Return masses by classes and score, smoothed by a Gaussian window over the scores."""
    bins = np.arange(N_DENSITY_BINS)
    square = ((bins[:, None] - bins) / (WINDOW * N_DENSITY_BINS)) ** 2
    return np.asarray(mass @ np.exp(-square / 2.0))


def calibration_sample(
    labelled: Labelled, with_vectors: bool, held_out: Floats | None = None
) -> CalibrationSample:
    """Return what is kept of labelled proteins, with the probabilities that estimators need."""
    predictions = labelled.predictions
    most_rows = MOST_STORED // predictions.n_classes
    stated = np.full(labelled.n_samples, np.nan) if held_out is None else held_out
    if with_vectors and labelled.n_samples > most_rows:
        unit, unit_key = encode_clusters(labelled.cluster)
        size = np.cumsum(np.bincount(unit, minlength=len(unit_key)))
        rows = np.flatnonzero(size[unit] <= most_rows)
        labelled, stated = labelled.take(rows), stated[rows]
        predictions = labelled.predictions
    fold = folds_by_class(labelled, DEFAULT_FOLDS)
    unit, unit_key = encode_clusters(labelled.cluster)
    plain = CalibrationSample(
        class_names=predictions.class_names,
        scale=float(predictions.scale),
        resolution=float(predictions.resolution),
        has_scores=predictions.top_score is not None,
        predicted_class=predictions.predicted_class,
        true_class=labelled.true_class,
        weight=as_stored(labelled.weight),
        unit=unit,
        unit_key=unit_key,
        score_bin=score_bins(predictions),
        fold=fold,
        held_out=as_stored(stated),
    )
    if not with_vectors:
        return plain
    model = _model_of(labelled)
    return replace(
        plain,
        model=model,
        models_without=tuple(
            _model_of(labelled.take(~is_out), model.matrix) for is_out in left_out(fold)
        ),
        scores=as_stored(predictions.required_scores),
    )


def as_stored(values: Floats) -> Floats:
    """Return values as a file gives them back, so that both give the same numbers."""
    return values.astype(np.float32).astype(np.float64)


def _model_of(labelled: Labelled, near: Floats | None = None) -> BiasCorrected:
    predictions = labelled.predictions
    unit, _ = encode_clusters(labelled.cluster)
    weight, n_classes = labelled.weight, predictions.n_classes
    return fit_mapped(
        log_scores(predictions.required_scores, predictions.resolution),
        labelled.true_class,
        weight,
        clusters_by_class(labelled.true_class, unit, weight, n_classes, 0.0),
        effective_clusters(unit, weight),
        near,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class UseSample:
    """The query set, summed up: constant memory however many its rows are."""

    n_rows: int  # Proteins
    counts: Floats  # Proteins by predicted class and top score
    total_probability: Floats  # Sum of the rows' probabilities; zeros without vectors
    # The rows' probabilities if all classes were as frequent; None without vectors.
    cells: Cells | None
    class_key: Keys  # A key per class, of its name
    # `counts`, flattened, by genome; None where every row counts by itself.
    genomes: GenomeCounts | None = None

    @property
    def n_units(self) -> float:
        """Effective number of what is drawn in a bootstrap: rows, or genomes."""
        genomes = self.drawn_genomes
        if genomes is None:
            return float(self.n_rows)
        return kish(np.asarray(genomes.counts.sum(axis=0), dtype=np.float64))

    @property
    def drawn_genomes(self) -> GenomeCounts | None:
        """The genomes, if there are two or more: of one nothing can be drawn but rows."""
        if self.genomes is None or len(self.genomes.key) < FEWEST_GENOMES:
            return None
        return self.genomes


def use_sample(
    predictions: Predictions,
    model: BiasCorrected | None,
    most_rows: int = MOST_ROWS_KEPT,
    genome: Keys | None = None,
) -> UseSample:
    """Return some rows of a query set, summed up."""
    n_classes = predictions.n_classes
    place = predictions.predicted_class * N_DENSITY_BINS + score_bins(predictions)
    n_places = n_classes * N_DENSITY_BINS
    counts = np.bincount(place, minlength=n_places).astype(np.float64)
    counts = counts.reshape(n_classes, N_DENSITY_BINS)
    class_key = keys_of(predictions.class_names)
    genomes = None if genome is None else genomes_at(place, n_places, genome)
    if model is None:
        none = np.zeros(n_classes)
        return UseSample(
            n_rows=predictions.n_samples,
            counts=counts,
            total_probability=none,
            cells=None,
            class_key=class_key,
            genomes=genomes,
        )
    probability = model.probabilities(predictions)
    rows = (model.even(probability), id_keys(predictions), most_rows)
    cells = cells_of(*rows, class_key=class_key, origin=predictions.scores, genome=genome)
    total = probability.sum(axis=0)
    return UseSample(
        n_rows=predictions.n_samples,
        counts=counts,
        total_probability=total,
        cells=cells,
        class_key=class_key,
        genomes=genomes,
    )


def both_parts(first: UseSample, second: UseSample, most_rows: int = MOST_ROWS_KEPT) -> UseSample:
    """Return both parts of a query set as one."""
    cells = None
    if first.cells is not None and second.cells is not None:
        cells = merged(first.cells, second.cells, most_rows)
    return replace(
        first,
        n_rows=first.n_rows + second.n_rows,
        counts=first.counts + second.counts,
        total_probability=first.total_probability + second.total_probability,
        cells=cells,
        genomes=of_both(first.genomes, second.genomes, sum),
    )


def score_bins(predictions: Predictions) -> Integers:
    """Return the bin of each top score; all in the first where there are none."""
    score = predictions.top_score
    if score is None:
        return np.zeros(predictions.n_samples, dtype=np.int64)
    place = np.floor(score / predictions.scale * N_DENSITY_BINS).astype(np.int64)
    return np.clip(place, 0, N_DENSITY_BINS - 1)


def gamma_weights(shape: Floats, key: Keys, draw: int, stream: str) -> Floats:
    """Return Gamma(shape) weights, the sums of so many exponential ones; 0 for 0."""
    level, drawn = uniform(key, draw, stream), np.zeros(len(shape))
    is_unit, rest = shape == 1.0, (shape > 0) & (shape != 1.0)
    drawn[is_unit] = -np.log(level[is_unit])
    drawn[rest] = special.gammaincinv(shape[rest], level[rest])
    return drawn


def genome_weights(genomes: GenomeCounts, draw: int) -> Floats:
    """Return the weight of each place: its rows have the weights of their genomes."""
    return np.asarray(genomes.counts @ -np.log(uniform(genomes.key, draw, "use genomes")))


def cell_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of each row that is kept, in one draw."""
    assert use.cells is not None
    if use.drawn_genomes is not None and use.cells.genomes is not None:
        return use.cells.shared(genome_weights(use.cells.genomes, draw))
    n_rows = use.cells.n_rows.astype(np.float64)
    return use.cells.shared(gamma_weights(n_rows, use.cells.key, draw, "use rows"))


def half_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of half a row of each class in one draw."""
    return gamma_weights(np.full(len(use.class_key), HALF_ROW), use.class_key, draw, "half")


def predicted_draw(use: UseSample, draw: int) -> Floats:
    """Return the weight of each predicted class in one draw, half a row added."""
    genomes = use.drawn_genomes
    if genomes is None:
        drawn = gamma_weights(use.counts.sum(axis=1), use.class_key, draw, "predicted")
    else:
        drawn = genome_weights(genomes, draw).reshape(use.counts.shape).sum(axis=1)
    return np.asarray(drawn + half_weights(use, draw))


def score_draw(use: UseSample, draw: int) -> Floats:
    """Return the query set's distribution of predicted class and score in one draw."""
    genomes = use.drawn_genomes
    if genomes is None:
        bins = np.tile(np.arange(N_DENSITY_BINS, dtype=np.uint64), len(use.class_key))
        class_key = np.repeat(use.class_key, N_DENSITY_BINS)
        key = keys_of_rows(bins[:, None], np.zeros(1, dtype=np.uint64)) ^ class_key
        drawn = gamma_weights(use.counts.ravel(), key, draw, "use scores")
    else:
        drawn = genome_weights(genomes, draw)
    return np.asarray((drawn / drawn.sum()).reshape(use.counts.shape))
