"""Confidences of proteins whose whole cluster the fit did not see."""

from __future__ import annotations

import numpy as np

from credence.calibrators.features import predicted_rank
from credence.calibrators.protocol import Calibrator
from credence.confidence import Confidence, Note, unknown
from credence.predictions import Integers, Labelled
from credence.splits.folds import fold_of

DEFAULT_FOLDS = 5


def folds_by_class(labelled: Labelled, n_folds: int) -> Integers:
    """Return a fold of whole clusters per row, predicted classes spread evenly.

    Parameters
    ----------
    labelled : Labelled
        Predictions whose truth is known.
    n_folds : int
        Number of folds, at least 2.
    """
    return fold_of(labelled.cluster, predicted_rank(labelled.predictions), n_folds)


def out_of_fold(labelled: Labelled, calibrator: Calibrator, fold: Integers) -> Confidence:
    """Return each row's confidence from a fit on the other folds alone.

    A class that the other folds never predict gives NaN and its reason.

    Parameters
    ----------
    labelled : Labelled
        Predictions whose truth is known.
    calibrator : Calibrator
        What to fit on all folds but one, each in turn.
    fold : array of int, shape (n_samples,)
        Fold of each row; whole clusters.
    """
    answer = unknown(labelled.n_samples, Note.UNSEEN_CLASS)
    for held_out in np.unique(fold):
        is_held_out = np.equal(fold, held_out)
        if is_held_out.all():  # one cluster in all: nothing to learn from
            continue
        calibration = calibrator.fit(labelled.take(~is_held_out))
        part = calibration.confidence(labelled.predictions.take(is_held_out))
        answer.value[is_held_out] = part.value
        answer.lower[is_held_out] = part.lower
        answer.upper[is_held_out] = part.upper
        answer.support[is_held_out] = part.support
        answer.note[is_held_out] = part.note
    return answer
