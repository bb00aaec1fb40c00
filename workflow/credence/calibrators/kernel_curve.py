"""The curve that a kernel fit stores: cubics between knots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.binning import Masses
from credence.calibrators.protocol import Record
from credence.confidence import Note
from credence.predictions import Floats, Integers


@dataclass(frozen=True, eq=False)
class KernelCurve:
    """A smooth curve on knots, cubic between them, held at its ends.

    Parameters
    ----------
    score : array of float
        Knots, ascending, from the least to the greatest of the positives' scores.
    share : array of float
        Confidence at the knots.
    slope : array of float
        Its derivative there.
    bandwidth : float
        In score units; NaN where none was found.
    """

    score: Floats
    share: Floats
    slope: Floats
    bandwidth: float

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        return hermite(self.score, self.share, self.slope, score)

    def note(self, score: Floats) -> Integers:
        """Return whether each score is outside the range seen, as a note."""
        if not np.isfinite(self.bandwidth):
            return np.full(len(score), int(Note.NO_BANDWIDTH), dtype=np.int64)
        note = np.where(score < self.score[0], int(Note.BELOW_RANGE), int(Note.NONE))
        return np.where(score > self.score[-1], int(Note.ABOVE_RANGE), note).astype(np.int64)

    def to_record(self) -> Record:
        """Return the curve as JSON data."""
        return {
            "bandwidth": self.bandwidth if np.isfinite(self.bandwidth) else None,
            "score": self.score.tolist(),
            "share": self.share.tolist(),
            "slope": self.slope.tolist(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> KernelCurve:
        """Return the curve of a record."""
        bandwidth = record["bandwidth"]
        return cls(
            np.array(record["score"], dtype=float),
            np.array(record["share"], dtype=float),
            np.array(record["slope"], dtype=float),
            np.nan if bandwidth is None else float(bandwidth),
        )


def hermite(knots: Floats, value: Floats, slope: Floats, point: Floats) -> Floats:
    """Return the cubic Hermite interpolation, held outside, within [0, 1].

    Parameters
    ----------
    knots, value, slope : array of float
        At least one knot, ascending.
    point : array of float
        Where to evaluate.
    """
    if len(knots) == 1:
        return np.full(len(point), value[0])
    point = np.clip(point, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, point, side="right") - 1, 0, len(knots) - 2)
    step = knots[left + 1] - knots[left]
    x = (point - knots[left]) / step
    rise = value[left + 1] - value[left]
    bend = step * slope[left] - rise
    counter_bend = rise - step * slope[left + 1]
    cubic = value[left] + x * rise + x * (1.0 - x) * (bend * (1.0 - x) + counter_bend * x)
    return np.clip(cubic, 0.0, 1.0)


def constant_curve(masses: Masses) -> KernelCurve:
    """Return the class's share as a curve that no bandwidth made."""
    return KernelCurve(masses.score[:1], np.array([masses.share]), np.zeros(1), np.nan)
