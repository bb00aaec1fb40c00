"""Both sides of the comparison: the labelled set, and the use-set chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from credence.calibrators.classwise import kish
from credence.calibrators.draws import encode_clusters
from credence.calibrators.temperature_rows import log_scores
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.shift.cells import MOST_CELLS, Cells, cells_of, merged
from credence.shift.probabilities import BiasCorrected, fit_bias_corrected

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
        The rows' probabilities; None without vectors.
    """

    n_rows: int
    counts: Floats
    total_probability: Floats
    cells: Cells | None


def use_side(
    predictions: Predictions, model: BiasCorrected | None, most_cells: int = MOST_CELLS
) -> UseSide:
    """Return some rows of a use-set, summed up.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    model : BiasCorrected, optional
        Gives probabilities of all classes.
    most_cells : int
        See :mod:`credence.shift.cells`.
    """
    n_classes = predictions.n_classes
    place = predictions.predicted_class * N_SCORE_BINS + score_bins(predictions)
    counts = np.bincount(place, minlength=n_classes * N_SCORE_BINS).astype(np.float64)
    counts = counts.reshape(n_classes, N_SCORE_BINS)
    if model is None:
        return UseSide(predictions.n_samples, counts, np.zeros(n_classes), None)
    probability = model.probabilities(predictions)
    cells = cells_of(probability, most_cells)
    return UseSide(predictions.n_samples, counts, probability.sum(axis=0), cells)


def together(first: UseSide, second: UseSide, most_cells: int = MOST_CELLS) -> UseSide:
    """Return both parts of a use-set as one.

    Parameters
    ----------
    first, second : UseSide
        Parts of one set.
    most_cells : int
        See :mod:`credence.shift.cells`.
    """
    cells = None
    if first.cells is not None and second.cells is not None:
        cells = merged(first.cells, second.cells, most_cells)
    return replace(
        first,
        n_rows=first.n_rows + second.n_rows,
        counts=first.counts + second.counts,
        total_probability=first.total_probability + second.total_probability,
        cells=cells,
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
