"""Both sides of the comparison: the labelled set, and the use-set chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

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
    merged,
)
from credence.composition.probabilities import BiasCorrected, fit_bias_corrected
from credence.draws import encode_clusters, keys_of
from credence.predictions import Floats, Integers, Labelled, Predictions

FEWEST_GENOMES = 2
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
    def score_bin(self) -> Integers:
        """Bin of each top score."""
        return score_bins(self.labelled.predictions)

    @property
    def outcome(self) -> Integers:
        """Predicted and true class of each row as one number."""
        n_classes = self.labelled.predictions.n_classes
        predicted = self.labelled.predictions.predicted_class
        return np.asarray(predicted * n_classes + self.labelled.true_class)

    def masses(self, place: Integers, n_places: int, drawn: Floats) -> Floats:
        """Return the weight at places in each draw, as shares of the draw's all."""
        shape = (n_places, len(self.unit_key))
        held = sparse.csr_array((self.labelled.weight, (place, self.unit)), shape=shape)
        mass = np.asarray(held @ drawn)
        return np.asarray(mass / mass.sum(axis=0))


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


def effective_rows(side: CalibrationSample) -> float:
    """Return Kish's number of the clusters' weights."""
    return kish(np.bincount(side.unit, weights=side.labelled.weight).astype(np.float64))
