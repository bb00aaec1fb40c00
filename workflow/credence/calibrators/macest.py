"""MACEst among the methods: neighbours in the space of proteins and of their scores."""

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import vector_method
from credence.calibrators.protocol import FitOptions, Need
from credence.calibrators.score_logs import name_order, predicted_rank, sorted_log_scores
from credence.confidence import Note
from credence.novelty import macest
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.settings import setting


@dataclass(frozen=True, kw_only=True, eq=False)
class MacestModel:
    """MACEst on proteins and their scores, classes sorted by name."""

    fitted: macest.FittedMacest | None  # None where no protein had a place to be learnt from
    place_scale: float  # What places and log scores are multiplied by
    score_scale: float

    @property
    def n_components(self) -> int:
        """Number of components of a place; 0 where none was learnt from."""
        if self.fitted is None:
            return 0
        return int(self.fitted.graph.points.shape[1]) - int(self.fitted.graph.n_classes)

    def points(self, predictions: Predictions) -> Floats:
        """Return place and log scores of each protein side by side."""
        logs = sorted_log_scores(predictions)
        return np.hstack([predictions.required_places * self.place_scale, logs * self.score_scale])

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return the value, and ends that are NaN: there is no interval."""
        nothing = np.full(predictions.n_samples, np.nan)
        if self.fitted is None:
            return nothing, nothing, nothing
        chosen = predicted_rank(predictions)
        return self.fitted.confidence(self.points(predictions), chosen), nothing, nothing

    def notes(self, predictions: Predictions) -> Integers:
        """Return a note where a protein has no place, or its neighbours say otherwise."""
        note = np.zeros(predictions.n_samples, dtype=np.int64)
        has_place = np.isfinite(predictions.required_places).all(axis=1)
        note[~has_place] = int(Note.NO_PLACE)
        if self.fitted is not None:
            chosen = predicted_rank(predictions)
            note[self.fitted.disagrees(self.points(predictions), chosen)] |= int(Note.DISAGREES)
        return note

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return the probability of every class, in the table's order."""
        answer = np.full((predictions.n_samples, predictions.n_classes), np.nan)
        if self.fitted is not None:
            inside = self.fitted.probabilities(self.points(predictions))
            answer[:, name_order(predictions.class_names)] = inside
        return answer


@dataclass(frozen=True, kw_only=True)
class Macest(macest.MacestSettings):
    """Settings of MACEst as a calibration method.

    A point is a protein's place in the space of proteins beside the logs of its scores, each part
    scaled to a total variance of 1, the scores then multiplied by `scores`. Far from all known
    proteins the confidence tends to 1 over the number of classes. No intervals: decision 0008.
    """

    scores: float = setting(1.0, "Weight of the scores beside the place.", low=0.0, high=100.0)

    def fit_model(self, labelled: Labelled, options: FitOptions) -> MacestModel:
        """Return MACEst learnt from the proteins that have a place."""
        has_place = np.asarray(np.isfinite(labelled.predictions.required_places).all(axis=1))
        if not has_place.any():
            return MacestModel(fitted=None, place_scale=1.0, score_scale=self.scores)
        known = labelled.take(has_place)
        predictions = known.predictions
        rank = np.argsort(name_order(predictions.class_names))
        place_scale = _to_unit(predictions.required_places)
        score_scale = self.scores * _to_unit(sorted_log_scores(predictions))
        points = MacestModel(fitted=None, place_scale=place_scale, score_scale=score_scale).points(
            predictions
        )
        classes = (rank[known.true_class], predicted_rank(predictions), predictions.n_classes)
        fitted = macest.fit(points, *classes, known.cluster, self, known.weight)
        return MacestModel(fitted=fitted, place_scale=place_scale, score_scale=score_scale)


def _to_unit(values: Floats) -> float:
    """Return what makes the total variance 1, to nine digits, as sums depend on their order."""
    total = float(values.var(axis=0).sum())
    return float(f"{total**-0.5:.9g}") if total > 0 else 1.0


MACEST_METHOD = vector_method(
    "macest",
    "MACEst: errors and distances of the nearest proteins of each class.",
    "Green, Rowe & Polleri 2021, arXiv 2109.01531",
    Macest,
    MacestModel,
    needs=Need.PLACE,
    gives_interval=False,
    gives_vector=True,
)
