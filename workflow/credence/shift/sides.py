"""Both sides of the comparison: the labelled set, and the use-set chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from credence.calibrators.classwise import kish
from credence.calibrators.draws import encode_clusters, keys_of
from credence.calibrators.temperature_rows import log_scores
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.shift.cells import (
    MOST_ROWS,
    Cells,
    Genomes,
    Keys,
    added,
    cells_of,
    genomes_at,
    merged,
)
from credence.shift.probabilities import BiasCorrected, fit_bias_corrected

FEWEST_GENOMES = 2
N_SCORE_BINS = 100  # of equal width over the scale: for densities and their test


@dataclass(frozen=True, eq=False)
class CalibrationSide:
    """The labelled set, and the probabilities learnt from it.

    Parameters
    ----------
    labelled : Labelled
        What calibrates.
    unit : array of int, shape (n_samples,)
        Code of each protein's cluster.
    unit_key : array of uint64
        A key per cluster.
    model : BiasCorrected, optional
        None where there are no score vectors.
    logs, probability : array of float, shape (n_samples, n_classes), optional
        Log scores, and their probabilities.
    """

    labelled: Labelled
    unit: Integers
    unit_key: np.ndarray[tuple[int], np.dtype[np.uint64]]
    model: BiasCorrected | None
    logs: Floats | None
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
        """Return the weight at places in each draw, as shares of the draw's all.

        Parameters
        ----------
        place : array of int, shape (n_samples,)
            Place of each row.
        n_places : int
            Number of places.
        drawn : array of float, shape (n_units, n_draws)
            Weights of the clusters.
        """
        shape = (n_places, len(self.unit_key))
        held = sparse.csr_array((self.labelled.weight, (place, self.unit)), shape=shape)
        mass = np.asarray(held @ drawn)
        return np.asarray(mass / mass.sum(axis=0))


def calibration_side(labelled: Labelled, with_vectors: bool) -> CalibrationSide:
    """Return the labelled set with the probabilities that estimators need.

    Parameters
    ----------
    labelled : Labelled
        What calibrates.
    with_vectors : bool
        Whether both sets have score vectors.
    """
    unit, unit_key = encode_clusters(labelled.cluster)
    if not with_vectors:
        return CalibrationSide(labelled, unit, unit_key, None, None, None)
    predictions = labelled.predictions
    assert predictions.scores is not None
    logs = log_scores(predictions.scores, predictions.resolution)
    model = fit_bias_corrected(logs, labelled.true_class, labelled.weight, predictions.n_classes)
    return CalibrationSide(labelled, unit, unit_key, model, logs, model.probabilities(predictions))


@dataclass(frozen=True, eq=False)
class UseSide:
    """The use-set, summed up: constant memory however many its rows are.

    Parameters
    ----------
    n_rows : int
        Proteins.
    counts : array of float, shape (n_classes, n_score_bins)
        Proteins by predicted class and top score.
    total_probability : array of float, shape (n_classes,)
        Sum of the rows' probabilities; zeros without vectors.
    cells : Cells, optional
        The rows' probabilities if all classes were as frequent; None without
        vectors.
    class_key : array of uint64, shape (n_classes,)
        A key per class, of its name.
    genomes : Genomes, optional
        `counts`, flattened, by genome; None where every row counts by itself.
    """

    n_rows: int
    counts: Floats
    total_probability: Floats
    cells: Cells | None
    class_key: Keys
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


def use_side(
    predictions: Predictions,
    model: BiasCorrected | None,
    most_rows: int = MOST_ROWS,
    genome: Keys | None = None,
) -> UseSide:
    """Return some rows of a use-set, summed up.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    model : BiasCorrected, optional
        Gives probabilities of all classes.
    most_rows : int
        See :mod:`credence.shift.cells`.
    genome : array of uint64, shape (n_samples,), optional
        A key of each row's genome, the same in every part of the set, as
        :func:`credence.calibrators.draws.keys_of` makes it of a name. Rows of
        one genome are then drawn together; without it each row counts as
        independent of the others.
    """
    n_classes = predictions.n_classes
    place = predictions.predicted_class * N_SCORE_BINS + score_bins(predictions)
    n_places = n_classes * N_SCORE_BINS
    counts = np.bincount(place, minlength=n_places).astype(np.float64)
    counts = counts.reshape(n_classes, N_SCORE_BINS)
    class_key = keys_of(predictions.class_names)
    genomes = None if genome is None else genomes_at(place, n_places, genome)
    if model is None:
        none = np.zeros(n_classes)
        return UseSide(predictions.n_samples, counts, none, None, class_key, genomes)
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
    return UseSide(predictions.n_samples, counts, total, cells, class_key, genomes)


def together(first: UseSide, second: UseSide, most_rows: int = MOST_ROWS) -> UseSide:
    """Return both parts of a use-set as one.

    Parameters
    ----------
    first, second : UseSide
        Parts of one set.
    most_rows : int
        See :mod:`credence.shift.cells`.
    """
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
    """Return the bin of each top score; all in the first where there are none.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    """
    score = predictions.top_score
    if score is None:
        return np.zeros(predictions.n_samples, dtype=np.int64)
    place = np.floor(score / predictions.scale * N_SCORE_BINS).astype(np.int64)
    return np.clip(place, 0, N_SCORE_BINS - 1)


def effective_rows(side: CalibrationSide) -> float:
    """Return Kish's number of the clusters' weights.

    Parameters
    ----------
    side : CalibrationSide
        The labelled set.
    """
    return kish(np.bincount(side.unit, weights=side.labelled.weight).astype(np.float64))
