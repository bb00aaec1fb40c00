"""Class-only confidence: the share of right predictions, whatever the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from credence.calibrators.binning import masses_of
from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.intervals import share_interval
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Method, Need
from credence.predictions import Floats, Integers
from credence.records import Stored


@dataclass(frozen=True)
class ConstantCurve:
    """A confidence that does not depend on the score."""

    share: float  # The confidence
    code: Annotated[int, Stored("note")] = 0  # A note that holds everywhere

    def value(self, score: Floats) -> Floats:
        """Return the share for every score."""
        return np.full(len(score), self.share)

    def note(self, score: Floats) -> Integers:
        """Return the curve's one note for every score."""
        return np.full(len(score), self.code, dtype=np.int64)


@dataclass(frozen=True)
class ClassOnly:
    """Settings of the class-only confidence: there are none.

    Notes
    -----
    Conf1(k) = Σw TP_k / Σw positives, Eq. (1) of [1]_: the diagonal of the
    reverse confusion matrix.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    def fit_curve(self, sample: ClassSample) -> ConstantCurve:
        """Return the weighted share of right predictions."""
        return ConstantCurve(masses_of(sample).share)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of the share, from a bootstrap over clusters."""
        lower, upper = share_interval(sample, options)
        return Band(np.array([0.0]), np.array([lower]), np.array([upper]))


METHOD = Method(
    name="class_only",
    summary="The share of right predictions of the class, whatever the score (Conf1).",
    reference="Salamon et al. 2023, Eq. 1, doi 10.3390/make5030043",
    settings=ClassOnly,
    needs=Need.CLASS,
    build=build_classwise("class_only"),
    read=reader_of(ConstantCurve),
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)
