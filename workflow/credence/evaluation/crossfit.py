"""Held-out confidences: every protein judged by a fit without its cluster."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from credence.calibrators.protocol import Calibrator
from credence.predictions import Floats, Integers, Labelled


def cross_fit(
    labelled: Labelled, calibrators: Mapping[str, Calibrator], fold: Integers
) -> dict[str, Floats]:
    """Return each method's held-out confidences, NaN where it can give none.

    A confidence is NaN where the protein's predicted class occurs in no other
    fold, and where there is no other fold.

    Parameters
    ----------
    labelled : Labelled
        The calibration set.
    calibrators : mapping of str to Calibrator
        Methods by name; fitted without intervals, which are not used here.
    fold : array of int, shape (n_samples,)
        From :func:`credence.splits.folds.fold_of`: whole clusters.
    """
    held_out = {name: np.full(labelled.n_samples, np.nan) for name in calibrators}
    for number in np.unique(fold):
        judged = fold == number
        if judged.all():
            continue
        learnt_from = labelled.take(~judged)
        predictions = labelled.predictions.take(judged)
        for name, calibrator in calibrators.items():
            calibration = calibrator.fit(learnt_from)
            held_out[name][judged] = calibration.confidence(predictions).value
    return held_out
