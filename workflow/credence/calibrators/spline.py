"""Spline calibration per class: log-odds on a natural cubic spline of the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.logit_curve import (
    LogitCurve,
    fit_logit,
    logit_band,
    logit_reader,
    merged,
    weighted_quantiles,
)
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Method, Need
from credence.predictions import Floats
from credence.settings import setting

OUTER_SHARE = 0.05  # of the weight lies outside the first and last knot (Harrell 2015, p. 28)


@dataclass(frozen=True)
class NaturalSpline:
    """Columns of a natural cubic spline, linear outside its knots."""

    scale: float  # What a row of scores sums to
    # Shares of the scale, ascending; with fewer than three the spline is a straight line.
    knots: tuple[float, ...]

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score: 1, s, and truncated cubes."""
        share = score / self.scale
        columns = [np.ones(len(share)), share]
        if len(self.knots) > 2:
            last = self._cube(share, -1)
            last_but_one = self._cube(share, -2) - last
            width = self.knots[-1] - self.knots[-2]
            for place, knot in enumerate(self.knots[:-2]):
                first = (self._cube(share, place) - last) / (self.knots[-1] - knot)
                columns.append(first - last_but_one / width)
        return np.stack(columns, axis=1)

    def _cube(self, share: Floats, place: int) -> Floats:
        return np.maximum(share - self.knots[place], 0.0) ** 3


@dataclass(frozen=True)
class Spline:
    """Settings of spline calibration.

    Notes
    -----
    A natural cubic spline with few knots at fixed quantiles of the positives'
    scores (the quantiles of [2]_): as many coefficients as knots, none of them
    tuned, so that its interval holds what it says. *Departs from the paper:*
    [1]_ takes many knots and a ridge chosen by cross-validation; see
    docs/decisions/0210-parametric-curves.md. The curve may fall.

    References
    ----------
    .. [1] Lucena 2018, Spline-based probability calibration, arXiv 1809.07751
    .. [2] Harrell 2015, Regression Modeling Strategies, doi 10.1007/978-3-319-19425-7
    """

    n_knots: int = setting(5, "Number of knots, and of coefficients.", low=3, high=10)

    def fit_curve(self, sample: ClassSample) -> LogitCurve:
        """Return the spline of one class."""
        score, weight, _ = merged(sample)
        levels = np.linspace(OUTER_SHARE, 1.0 - OUTER_SHARE, self.n_knots)
        knots = np.unique(weighted_quantiles(score, weight, levels)) / sample.scale
        return fit_logit(sample, NaturalSpline(sample.scale, tuple(knots.tolist())))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the cluster-robust interval around the curve."""
        assert isinstance(curve, LogitCurve)
        return logit_band(sample, curve, options)


METHOD = Method(
    name="spline",
    summary="Log-odds on a natural cubic spline of the score, per class.",
    reference="Lucena 2018, arXiv 1809.07751; Harrell 2015",
    settings=Spline,
    needs=Need.TOP_SCORE,
    build=build_classwise("spline"),
    read=reader_of(logit_reader(NaturalSpline)),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)
