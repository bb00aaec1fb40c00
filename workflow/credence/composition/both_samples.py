"""Both sets that are compared: the labelled one, and the use-set summed up piece by piece.

In a draw a row of the use-set gets an exponential weight, n like rows their sum, a
Gamma(n) weight; a genome gives its exponential weight to all its rows. What is drawn
is keyed by what is in a row, or by the genome's name, so that order is nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse, special

from credence.calibrators.classwise import kish
from credence.calibrators.score_logs import log_scores
from credence.composition.cells import (
    MOST_ROWS,
    Cells,
    Genomes,
    Keys,
    added,
    cells_of,
    genomes_at,
    keys_of_rows,
    merged,
)
from credence.composition.probabilities import BiasCorrected, fit_bias_corrected
from credence.draws import encode_clusters, keys_of, uniform
from credence.predictions import Floats, Integers, Labelled, Predictions

FEWEST_GENOMES = 2
HALF_ROW = 0.5  # of every class, added to the use-set in each draw (Jeffreys)
N_SCORE_BINS = 100  # of equal width over the scale: for densities and their test


@dataclass(frozen=True, eq=False)
class CalibrationSample:
    """The labelled set, and the probabilities learnt from it."""

    labelled: Labelled  # What calibrates
    unit: Integers  # Code of each protein's cluster
    unit_key: np.ndarray[tuple[int], np.dtype[np.uint64]]  # A key per cluster
    model: BiasCorrected | None  # None where there are no score vectors
    logs: Floats | None  # Log scores, and their probabilities
    probability: Floats | None

    @property
    def outcome(self) -> Integers:
        """Predicted and true class of each row as one number."""
        n_classes = self.labelled.predictions.n_classes
        predicted = self.labelled.predictions.predicted_class
        return np.asarray(predicted * n_classes + self.labelled.true_class)

    @cached_property
    def score_place(self) -> Integers:
        """Predicted class, true class and bin of the top score of each row as one number."""
        return np.asarray(self.outcome * N_SCORE_BINS + score_bins(self.labelled.predictions))

    def masses(self, place: Integers, n_places: int, drawn: Floats) -> Floats:
        """Return the weight at places in each draw, as shares of the draw's all."""
        shape = (n_places, len(self.unit_key))
        held = sparse.csr_array((self.labelled.weight, (place, self.unit)), shape=shape)
        mass = np.asarray(held @ drawn)
        return np.asarray(mass / mass.sum(axis=0))

    def score_masses(self, drawn: Floats | None = None) -> Floats:
        """Return the weight by predicted class, true class and score bin, in one draw or none."""
        n_classes = self.labelled.predictions.n_classes
        one = np.ones(len(self.unit_key)) if drawn is None else drawn
        found = self.masses(self.score_place, n_classes**2 * N_SCORE_BINS, one[:, None])
        return found[:, 0].reshape(n_classes, n_classes, N_SCORE_BINS)


def calibration_sample(labelled: Labelled, with_vectors: bool) -> CalibrationSample:
    """Return the labelled set with the probabilities that estimators need."""
    unit, unit_key = encode_clusters(labelled.cluster)
    if not with_vectors:
        return CalibrationSample(labelled, unit, unit_key, None, None, None)
    predictions = labelled.predictions
    assert predictions.scores is not None
    logs = log_scores(predictions.scores, predictions.resolution)
    model = fit_bias_corrected(logs, labelled.true_class, labelled.weight, predictions.n_classes)
    return CalibrationSample(
        labelled, unit, unit_key, model, logs, model.probabilities(predictions)
    )


@dataclass(frozen=True, eq=False)
class UseSample:
    """The use-set, summed up: constant memory however many its rows are."""

    n_rows: int  # Proteins
    counts: Floats  # Proteins by predicted class and top score
    total_probability: Floats  # Sum of the rows' probabilities; zeros without vectors
    # The rows' probabilities if all classes were as frequent; None without vectors.
    cells: Cells | None
    class_key: Keys  # A key per class, of its name
    # `counts`, flattened, by genome; None where every row counts by itself.
    genomes: Genomes | None = None

    @property
    def n_units(self) -> float:
        """Effective number of what is drawn in a bootstrap: rows, or genomes."""
        genomes = self.drawn_genomes
        if genomes is None:
            return float(self.n_rows)
        return kish(np.asarray(genomes.counts.sum(axis=0), dtype=np.float64))

    @property
    def drawn_genomes(self) -> Genomes | None:
        """The genomes, if there are two or more: of one nothing can be drawn but rows."""
        if self.genomes is None or len(self.genomes.key) < FEWEST_GENOMES:
            return None
        return self.genomes


def use_sample(
    predictions: Predictions,
    model: BiasCorrected | None,
    most_rows: int = MOST_ROWS,
    genome: Keys | None = None,
) -> UseSample:
    """Return some rows of a use-set, summed up."""
    n_classes = predictions.n_classes
    place = predictions.predicted_class * N_SCORE_BINS + score_bins(predictions)
    n_places = n_classes * N_SCORE_BINS
    counts = np.bincount(place, minlength=n_places).astype(np.float64)
    counts = counts.reshape(n_classes, N_SCORE_BINS)
    class_key = keys_of(predictions.class_names)
    genomes = None if genome is None else genomes_at(place, n_places, genome)
    if model is None:
        none = np.zeros(n_classes)
        return UseSample(predictions.n_samples, counts, none, None, class_key, genomes)
    probability = model.probabilities(predictions)
    cells = cells_of(
        model.even(probability),
        keys_of(predictions.ids),
        most_rows,
        class_key=class_key,
        origin=predictions.scores,
        genome=genome,
    )
    total = probability.sum(axis=0)
    return UseSample(predictions.n_samples, counts, total, cells, class_key, genomes)


def together(first: UseSample, second: UseSample, most_rows: int = MOST_ROWS) -> UseSample:
    """Return both parts of a use-set as one."""
    cells = None
    if first.cells is not None and second.cells is not None:
        cells = merged(first.cells, second.cells, most_rows)
    return replace(
        first,
        n_rows=first.n_rows + second.n_rows,
        counts=first.counts + second.counts,
        total_probability=first.total_probability + second.total_probability,
        cells=cells,
        genomes=added(first.genomes, second.genomes),
    )


def score_bins(predictions: Predictions) -> Integers:
    """Return the bin of each top score; all in the first where there are none."""
    score = predictions.top_score
    if score is None:
        return np.zeros(predictions.n_samples, dtype=np.int64)
    place = np.floor(score / predictions.scale * N_SCORE_BINS).astype(np.int64)
    return np.clip(place, 0, N_SCORE_BINS - 1)


def effective_rows(sample: CalibrationSample) -> float:
    """Return Kish's number of the clusters' weights."""
    return kish(np.bincount(sample.unit, weights=sample.labelled.weight).astype(np.float64))


def gamma_weights(shape: Floats, key: Keys, draw: int, stream: str) -> Floats:
    """Return Gamma(shape) weights, the sums of so many exponential ones; 0 for 0."""
    level = uniform(key, draw, stream)
    drawn = np.zeros(len(shape))
    is_held = shape > 0
    one = is_held & (shape == 1.0)
    drawn[one] = -np.log(level[one])
    rest = is_held & (shape != 1.0)
    drawn[rest] = special.gammaincinv(shape[rest], level[rest])
    return drawn


def genome_weights(genomes: Genomes, draw: int) -> Floats:
    """Return the weight of each place: its rows have the weights of their genomes."""
    level = uniform(genomes.key, draw, "use genomes")
    return np.asarray(genomes.counts @ -np.log(level))


def cell_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of each row that is kept, in one draw."""
    assert use.cells is not None
    if use.drawn_genomes is not None and use.cells.genomes is not None:
        return use.cells.shared(genome_weights(use.cells.genomes, draw))
    n_rows = use.cells.n_rows.astype(np.float64)
    return use.cells.shared(gamma_weights(n_rows, use.cells.key, draw, "use rows"))


def half_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of half a row of each class in one draw."""
    half = np.full(len(use.class_key), HALF_ROW)
    return gamma_weights(half, use.class_key, draw, "half")


def predicted_draw(use: UseSample, draw: int) -> Floats:
    """Return the weight of each predicted class in one draw, half a row added."""
    genomes = use.drawn_genomes
    if genomes is None:
        counts = use.counts.sum(axis=1)
        drawn = gamma_weights(counts, use.class_key, draw, "predicted")
    else:
        drawn = genome_weights(genomes, draw).reshape(use.counts.shape).sum(axis=1)
    return np.asarray(drawn + half_weights(use, draw))


def score_draw(use: UseSample, draw: int) -> Floats:
    """Return the use-set's distribution of predicted class and score in one draw."""
    genomes = use.drawn_genomes
    if genomes is None:
        bins = np.tile(np.arange(N_SCORE_BINS, dtype=np.uint64), len(use.class_key))
        own = np.repeat(use.class_key, N_SCORE_BINS)
        key = keys_of_rows(bins[:, None], np.zeros(1, dtype=np.uint64)) ^ own
        drawn = gamma_weights(use.counts.ravel(), key, draw, "use scores")
    else:
        drawn = genome_weights(genomes, draw)
    return np.asarray((drawn / drawn.sum()).reshape(use.counts.shape))
