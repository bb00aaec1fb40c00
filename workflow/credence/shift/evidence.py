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
    assert side.logs is not None
    slope, bias = np.array([side.model.slope]), side.model.bias[:, None]
    if n_draws is not None:
        slope, bias = parameter_draws(
            side.model, side.logs, labelled.true_class, labelled.weight, side.unit, weights
        )
    kept = side.model.uneven(use.cells.row)
    mass = use.cells.shared(use.cells.n_rows / use.n_rows)
    # What keeping a part of the rows has changed in the mean is known, and taken back.
    gathered = use.total_probability / use.n_rows - mass @ kept
    for draw in range(weights.shape[1]):
        row_mass = labelled.weight * weights[side.unit, draw]
        plain = Evidence(
            confusion[:, draw].reshape(n_classes, n_classes),
            predicted / use.n_rows,
            n_calibration,
            use.n_units,
            probability=kept,
            mass=mass,
            calibration_probability=side.probability,
            calibration_true=labelled.true_class,
            calibration_mass=row_mass / row_mass.sum(),
        )
        if n_draws is not None:
            plain = _moved(side, use, plain, (float(slope[draw]), bias[:, draw]), draw)
        yield _with_means(plain, gathered)


def _moved(
    side: CalibrationSide,
    use: UseSide,
    plain: Evidence,
    parameters: tuple[float, Floats],
    draw: int,
) -> Evidence:
    """Return the evidence with refitted probabilities and a drawn use-set."""
    assert side.model is not None and side.probability is not None
    assert plain.probability is not None
    probability = side.model.moved(plain.probability, *parameters)
    # Half a row that is surely of each class: a share of 0 has a width.
    own = np.where(np.isfinite(side.model.bias), 1.0, 0.0)
    mass = np.concatenate([cell_weights(use, draw), own * half_weights(use, draw)])
    drawn = predicted_draw(use, draw)
    return replace(
        plain,
        predicted_share=drawn / drawn.sum(),
        probability=np.concatenate([probability, np.eye(len(own))]),
        mass=mass / mass.sum(),
        calibration_probability=side.model.moved(side.probability, *parameters),
    )


def _with_means(found: Evidence, gathered: Floats) -> Evidence:
    """Return the evidence with mean probabilities of both sets."""
    assert found.calibration_probability is not None and found.calibration_true is not None
    assert found.calibration_mass is not None
    assert found.mass is not None and found.probability is not None
    soft = np.empty_like(found.confusion)
    for class_ in range(len(soft)):
        rows = found.calibration_true == class_
        soft[:, class_] = found.calibration_mass[rows] @ found.calibration_probability[rows]
    return replace(
        found,
        soft_confusion=soft,
        mean_probability=found.mass @ found.probability + gathered,
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
