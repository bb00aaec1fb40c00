"""Beta calibration per class: log-odds linear in log s and log(1 - s)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.logit_curve import (
    LogitCurve,
    firth,
    log_likelihood,
    logit_band,
    logit_reader,
    merged,
)
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Method, Need
from credence.calibrators.score_logs import log_parts, share_bounds
from credence.predictions import Floats

SUBSETS = ([0, 1, 2], [0, 1], [0, 2], [0])  # columns of c, a and b that are free


@dataclass(frozen=True)
class BetaColumns:
    """Columns 1, log s and -log(1 - s), s the score's share of the scale."""

    scale: float  # What a row of scores sums to
    low: float  # Least and greatest share whose logarithm is taken
    high: float

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score."""
        log_share, log_rest = log_parts(score, self.scale, self.low, self.high)
        return np.stack([np.ones(len(score)), log_share, -log_rest], axis=1)


@dataclass(frozen=True)
class Beta:
    """Settings of beta calibration: there are none.

    Notes
    -----
    log p/(1 - p) = c + a log s - b log(1 - s), a, b ≥ 0 [1]_, so the curve never
    falls. Where the free fit has a negative one of them, the likeliest fit with
    one or both at 0 is taken. With Jeffreys' prior, as for Platt's curve; see
    docs/decisions/0210-parametric-curves.md.

    References
    ----------
    .. [1] Kull, Silva Filho & Flach 2017, doi 10.1214/17-EJS1338SI
    """

    def fit_curve(self, sample: ClassSample) -> LogitCurve:
        """Return the beta curve of one class."""
        low, high = share_bounds(sample.resolution, sample.scale)
        basis = BetaColumns(sample.scale, low, high)
        score, weight, weight_correct = merged(sample)
        columns = basis.columns(score)
        found: list[tuple[float, Floats]] = []
        for subset in SUBSETS:
            coefficients = np.zeros(columns.shape[1])
            coefficients[subset] = firth(columns[:, subset], weight, weight_correct)
            if (coefficients[1:] < 0).any():
                continue
            fit = log_likelihood(columns @ coefficients, weight, weight_correct)
            found.append((fit, coefficients))
            if len(subset) == columns.shape[1]:
                break  # nothing binds
        best = max(found, key=lambda one: one[0])
        return LogitCurve(basis, best[1], float(score[0]), float(score[-1]))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the cluster-robust interval around the curve."""
        assert isinstance(curve, LogitCurve)
        return logit_band(sample, curve, options)


METHOD = Method(
    name="beta",
    summary="Log-odds linear in the logs of the score and of what is left, never falling.",
    reference="Kull, Silva Filho & Flach 2017, doi 10.1214/17-EJS1338SI",
    settings=Beta,
    needs=Need.TOP_SCORE,
    build=build_classwise("beta"),
    read=reader_of(logit_reader(BetaColumns)),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)
