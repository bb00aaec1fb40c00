"""Class-only confidence: the share of right predictions, whatever the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import ConstantCurve, curve_method
from credence.calibrators.intervals import share_interval
from credence.calibrators.masses import masses_of
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Need
from credence.confidence import Note


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
        return ConstantCurve(masses_of(sample).share, int(Note.NONE))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the interval of the share, from a bootstrap over clusters."""
        return Band(np.zeros(1), *share_interval(sample, options))


METHOD = curve_method(
    "class_only",
    "The share of right predictions of the class, whatever the score (Conf1).",
    "Salamon et al. 2023, Eq. 1, doi 10.3390/make5030043",
    ClassOnly,
    {Curve: ConstantCurve},
    needs=Need.CLASS,
    laws=frozenset({Law.REPEAT_IS_WEIGHT, Law.TROVE}),
    additive=True,
)
