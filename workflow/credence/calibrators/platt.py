"""Platt scaling per class: a logistic curve in the score or in its logit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.logit_curve import LogitCurve, fit_logit, logit_band, logit_reader
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, Method, Need
from credence.calibrators.score_logs import log_parts, share_bounds
from credence.predictions import Floats
from credence.settings import setting


@dataclass(frozen=True)
class Line:
    """Columns 1 and the score, or 1 and its logit."""

    scale: float  # What a row of scores sums to
    is_logit: bool  # Whether the logit is taken
    low: float  # Least and greatest share of the scale whose logit is taken
    high: float

    def columns(self, score: Floats) -> Floats:
        """Return the columns at each score."""
        if not self.is_logit:
            return np.stack([np.ones(len(score)), score / self.scale], axis=1)
        log_share, log_rest = log_parts(score, self.scale, self.low, self.high)
        return np.stack([np.ones(len(score)), log_share - log_rest], axis=1)


@dataclass(frozen=True)
class Platt:
    """Settings of Platt scaling.

    Notes
    -----
    log p/(1 - p) = c + d x, x = S/M or its logit, floored at half the table's
    step. *Departs from the paper:* Jeffreys' prior on (c, d) in place of Platt's
    smoothed targets; see docs/decisions/0210-parametric-curves.md.

    References
    ----------
    .. [1] Platt 1999, Probabilistic outputs for support vector machines
    .. [2] Firth 1993, doi 10.1093/biomet/80.1.27
    """

    on: str = setting(
        "score", "What the log-odds are linear in: the score, or its logit.", ("score", "logit")
    )

    def fit_curve(self, sample: ClassSample) -> LogitCurve:
        """Return the logistic curve of one class."""
        low, high = share_bounds(sample.resolution, sample.scale)
        return fit_logit(sample, Line(sample.scale, self.on == "logit", low, high))

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the cluster-robust interval around the curve."""
        assert isinstance(curve, LogitCurve)
        return logit_band(sample, curve, options)


METHOD = Method(
    name="platt",
    summary="A logistic curve in the score, or in its logit, per class.",
    reference="Platt 1999; Firth 1993, doi 10.1093/biomet/80.1.27",
    settings=Platt,
    needs=Need.TOP_SCORE,
    build=build_classwise("platt"),
    read=reader_of(logit_reader(Line)),
    laws=frozenset({Law.REPEAT_IS_WEIGHT}),
)
