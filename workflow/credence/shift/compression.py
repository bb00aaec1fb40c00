"""What gathering rows in cells does to a composition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credence.calibrators.draws import keys_of
from credence.predictions import Predictions
from credence.shift.cells import at_level
from credence.shift.evidence import evidence_of
from credence.shift.protocol import Estimator
from credence.shift.sides import CalibrationSide, UseSide, use_side


def compression_error(
    side: CalibrationSide, part: Predictions, use: UseSide, estimator: Estimator
) -> float:
    """Return the greatest change of a share, on a part of the use-set.

    The part's composition is estimated from its rows as they are, and from them
    gathered as the whole set's were. 0 where nothing was gathered.

    Parameters
    ----------
    side : CalibrationSide
        The labelled set.
    part : Predictions
        Some rows of the use-set.
    use : UseSide
        All of it, gathered.
    estimator : Estimator
        What estimates.
    """
    if estimator.estimate is None or side.model is None or use.cells is None:
        return 0.0
    if use.cells.n_steps == 0:
        return 0.0
    rows = side.model.even(side.model.probabilities(part))
    name = keys_of(part.ids)
    every = use_side(part, side.model, most_rows=part.n_samples)
    shares = []
    for n_steps in (0, use.cells.n_steps):
        gathered = replace(every, cells=at_level(rows, name, n_steps))
        evidence = evidence_of(side, gathered)
        shares.append(estimator.estimate(evidence.among(evidence.prevalence > 0)).share)
    return float(np.abs(shares[0] - shares[1]).max())
