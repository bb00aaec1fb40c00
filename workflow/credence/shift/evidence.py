"""What both sets say, as sums; and what it would be in each draw of a bootstrap.

Calibration clusters get exponential weights (Bayesian bootstrap), the use-set's
rows or genomes those of :mod:`credence.shift.use_draws`. In every draw the
probabilities are refitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from credence.calibrators.classwise import kish
from credence.predictions import Floats
from credence.shift.probabilities import parameter_draws
from credence.shift.protocol import Evidence
from credence.shift.sides import CalibrationSide, UseSide, effective_rows
from credence.shift.use_draws import cell_weights, half_weights, predicted_draw


def evidence_of(side: CalibrationSide, use: UseSide) -> Evidence:
    """Return what both sets say, each row once.

    Parameters
    ----------
    side, use
        Both sets.
    """
    one = np.ones((len(side.unit_key), 1))
    found = next(drawn_evidence(side, use, one, None))
    return replace(found, class_number=clusters_by_class(side))


def drawn_evidence(
    side: CalibrationSide, use: UseSide, weights: Floats, n_draws: int | None
) -> Iterator[Evidence]:
    """Yield the evidence of each draw; without `n_draws`, that of the sets.

    Parameters
    ----------
    side, use
        Both sets.
    weights : array of float, shape (n_units, n_draws)
        Weights of the calibration clusters.
    n_draws : int, optional
        Their number; None for the sets as they are.
    """
    labelled = side.labelled
    n_classes = labelled.predictions.n_classes
    confusion = side.masses(side.outcome, n_classes**2, weights)
    n_calibration = effective_rows(side)
    predicted = use.counts.sum(axis=1)
    if side.model is None or use.cells is None:
        for draw in range(weights.shape[1]):
            share = predicted / use.n_rows
            if n_draws is not None:
                drawn = predicted_draw(use, draw)
                share = drawn / drawn.sum()
            yield Evidence(
                confusion[:, draw].reshape(n_classes, n_classes),
                share,
                n_calibration,
                use.n_units,
            )
        return
    assert side.logs is not None and side.probability is not None
    slope, bias = np.array([side.model.slope]), side.model.bias[:, None]
    if n_draws is not None:
        slope, bias = parameter_draws(
            side.model, side.logs, labelled.true_class, labelled.weight, side.unit, weights
        )
    mean, n_rows = use.cells.mean, use.cells.n_rows.astype(np.float64)
    own = np.where(np.isfinite(side.model.bias), 1.0, 0.0)
    for draw in range(weights.shape[1]):
        mass, probability, hard = n_rows / use.n_rows, mean, predicted / use.n_rows
        calibrated = side.probability
        row_mass = labelled.weight * weights[side.unit, draw]
        if n_draws is not None:
            probability = side.model.moved(mean, slope[draw], bias[:, draw])
            calibrated = side.model.moved(side.probability, slope[draw], bias[:, draw])
            # Half a row that is surely of each class: a share of 0 has a width.
            mass = np.concatenate([cell_weights(use, draw), own * half_weights(use, draw)])
            mass /= mass.sum()
            probability = np.concatenate([probability, np.eye(n_classes)])
            drawn = predicted_draw(use, draw)
            hard = drawn / drawn.sum()
        row_mass = row_mass / row_mass.sum()
        soft = np.empty((n_classes, n_classes))
        for class_ in range(n_classes):
            rows = labelled.true_class == class_
            soft[:, class_] = row_mass[rows] @ calibrated[rows]
        yield Evidence(
            confusion[:, draw].reshape(n_classes, n_classes),
            hard,
            n_calibration,
            use.n_units,
            soft,
            mass @ probability,
            probability,
            mass,
            calibrated,
            labelled.true_class,
            row_mass,
        )


def clusters_by_class(side: CalibrationSide) -> Floats:
    """Return Kish's number of the clusters that each true class rests on.

    Parameters
    ----------
    side : CalibrationSide
        The labelled set.
    """
    labelled = side.labelled
    found = np.zeros(labelled.predictions.n_classes)
    for class_ in range(len(found)):
        rows = labelled.true_class == class_
        found[class_] = kish(
            np.bincount(side.unit[rows], weights=labelled.weight[rows]).astype(np.float64)
        )
    return found
