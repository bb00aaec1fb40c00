"""Calibration error of whole probability vectors: SCE, ACE, TACE.

They are defined where a method gives a probability for every class, over all
proteins; no other method is given one. Each is a mean over *classes* of how a
class's probability errs on all proteins, most of which are predicted another. Among
the proteins predicted one class only that class's own probability says something
of the prediction, and its calibration error there is ECE: so these three are not
given per predicted class.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from credence.metrics.binned import N_BINS, equal_count, equal_width
from credence.metrics.metric import BinSums, Family, Judged, Metric, divide
from credence.predictions import Booleans, Floats, Integers

THRESHOLD = 1e-3  # METHODS section 3
NIXON = "Nixon et al. 2019, arXiv 1904.01685"


def vector_bins(judged: Judged, *, by_count: bool, least: float) -> tuple[Booleans, Integers]:
    """Return which entries count, and the cell of each: class times bins, plus bin."""
    assert judged.probabilities is not None
    probabilities = judged.probabilities
    counted = probabilities > least
    cell = np.zeros(probabilities.shape, dtype=np.int64)
    for class_ in range(probabilities.shape[1]):
        rows = counted[:, class_]
        values = probabilities[rows, class_]
        if len(values) == 0:
            continue
        weight = judged.weight[rows]
        bins = equal_count(values, weight, N_BINS) if by_count else equal_width(values, N_BINS)
        cell[rows, class_] = class_ * N_BINS + bins
    return counted, cell


def _vector_cells(judged: Judged, *, by_count: bool, least: float) -> BinSums | None:
    if judged.probabilities is None:
        return None
    assert judged.true_class is not None
    counted, cell = vector_bins(judged, by_count=by_count, least=least)
    row, class_ = np.nonzero(counted)
    values = np.stack(
        [
            np.ones(len(row)),
            judged.probabilities[row, class_],
            (judged.true_class[row] == class_).astype(np.float64),
        ]
    )
    n_cells = judged.probabilities.shape[1] * N_BINS
    return BinSums(row.astype(np.int64), cell[row, class_], n_cells, values)


def mean_gap_of_classes(sums: Floats, n_effective: Floats) -> Floats:
    """Return the mean over classes of Σ_b |Σ w(p − t)| / Σ w, as ECE is for one."""
    shape = (*sums.shape[:-1], -1, N_BINS)
    weight, probability, outcome = sums.reshape(shape)
    gaps = divide(np.abs(probability - outcome).sum(axis=-1), weight.sum(axis=-1))
    known = ~np.isnan(gaps)
    number = known.sum(axis=-1).astype(np.float64)
    return divide(np.where(known, gaps, 0.0).sum(axis=-1), number)


def _family(name: str, *, by_count: bool, least: float) -> Family:
    return Family(name, partial(_vector_cells, by_count=by_count, least=least), is_fixed=False)


SCE = Metric(
    name="sce",
    title="static calibration error",
    summary="The mean over classes of the calibration error of each class's probability, over "
    f"all proteins, in {N_BINS} bins of equal width. Only for methods that give a probability "
    "for every class, and only over all: of the proteins predicted one class, the error of that "
    "class's probability is the ECE.",
    reference=NIXON,
    family=_family("sce", by_count=False, least=-1.0),
    finish=mean_gap_of_classes,
    is_error=True,
    needs_vector=True,
)
ACE = Metric(
    name="ace",
    title="adaptive calibration error",
    summary="As the static calibration error, in bins of equal counts within each class.",
    reference=NIXON,
    family=_family("ace", by_count=True, least=-1.0),
    finish=mean_gap_of_classes,
    is_error=True,
    needs_vector=True,
)
TACE = Metric(
    name="tace",
    title="thresholded adaptive calibration error",
    summary=f"As the adaptive calibration error, over probabilities above {THRESHOLD:g} alone.",
    reference=NIXON,
    family=_family("tace", by_count=True, least=THRESHOLD),
    finish=mean_gap_of_classes,
    is_error=True,
    needs_vector=True,
)
