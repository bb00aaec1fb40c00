"""Two methods in a row: the second calibrates what the first one says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class, out_of_fold
from credence.calibrators.protocol import Calibration, Calibrator, components_asked
from credence.calibrators.vector_features import DECIMALS
from credence.confidence import Confidence
from credence.predictions import Floats, Labelled, Predictions

NAME = "composition"
# First-stage value of a protein whose class the other folds never predict. Its
# class is one cluster then, all of it gets this value, and it tells nothing.
NOTHING_KNOWN = 0.5


@dataclass(frozen=True, eq=False)
class ComposedCalibration:
    """A first calibration whose confidence is the second one's score."""

    method: str = field(default=NAME, init=False)  # Tells the registry what reads its record
    text: str  # The specification
    first: Calibration  # The stages
    second: Calibration

    @property
    def n_components(self) -> int:
        """Number of components of a protein's place that the first stage asks for."""
        return components_asked(self.first)

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the second stage's confidence at the first one's."""
        before = self.first.confidence(predictions)
        after = self.second.confidence(as_scores(predictions, before.value))
        return replace(after, note=before.note | after.note)


@dataclass(frozen=True)
class ComposedCalibrator:
    """A composition, cross-fitted by cluster.

    The second stage learns from first-stage values of proteins whose clusters
    the first stage did not see; the first stage is then fitted on all.

    Notes
    -----
    The interval is the second stage's: it is that of the share of right
    predictions given what the first stage says, whatever that is worth. The
    error of the first stage is not carried; it makes the score a poorer one,
    not the share given the score a wrong one.
    """

    text: str  # The specification
    first: Calibrator  # Gives the second stage its score; fits no intervals
    second: Calibrator  # Of a method that needs no score vector
    n_folds: int = DEFAULT_FOLDS  # Folds of whole clusters

    def fit(self, labelled: Labelled) -> ComposedCalibration:
        """Return both stages."""
        fold = folds_by_class(labelled, self.n_folds)
        unseen = out_of_fold(labelled, self.first, fold).value
        scored = replace(labelled, predictions=as_scores(labelled.predictions, unseen))
        return ComposedCalibration(self.text, self.first.fit(labelled), self.second.fit(scored))


def as_scores(predictions: Predictions, value: Floats) -> Predictions:
    """Return the predictions with a confidence in the place of the top score."""
    known: Floats = np.where(np.isnan(value), NOTHING_KNOWN, value)
    return replace(
        predictions,
        # Rounded, so that rounding error cannot carry a value over a bin's edge.
        top_score=np.round(known, DECIMALS),
        scores=None,
        network_scores=None,
        scale=1.0,
        resolution=0.0,
        is_distribution=False,
    )
