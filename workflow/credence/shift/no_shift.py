"""A test of no shift: whether classes are predicted as often as in calibration.

Families differ in size by orders of magnitude, and a class of few families may
hold no large one by chance: it is then seldom predicted, and its own spread says
that this is certain. A bootstrap rejects far too often. So chance is drawn under
the hypothesis: in every draw each family of the calibration set, with the size
that it has, and each protein of the use-set get a class anew, drawn from the
shares of both sets together.

Notes
-----
The statistic is Σ (μ_i − ν_i)²/π_i, μ and ν the shares of predicted class i in
the use-set and in calibration, π those of both. What it assumes: that a family's
size says nothing of its class, and that proteins of the use-set, or its genomes
where they are named, are not related. Relatives within the use-set that nothing
names make it reject too often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.classwise import kish
from credence.calibrators.draws import uniform
from credence.predictions import Floats
from credence.shift.sides import CalibrationSide, UseSide
from credence.shift.use_draws import gamma_weights

N_DRAWS = 400  # of what chance gives; they cost next to nothing
LEVEL = 0.05  # of the test that decides whether a composition is applied


@dataclass(frozen=True, eq=False)
class NoShift:
    """How far the predicted classes are from calibration's, and chance alone.

    Parameters
    ----------
    distance : float
        Σ (μ_i − ν_i)²/π_i.
    chance : array of float, shape (n_draws,)
        The same where nothing but chance is at work.
    """

    distance: float
    chance: Floats

    @property
    def p_value(self) -> float:
        """Probability of such a distance by chance."""
        return float((1 + (self.chance >= self.distance).sum()) / (1 + len(self.chance)))

    @property
    def reality(self) -> float:
        """Part of the distance that chance does not give in 19 of 20 sets.

        0 where the test does not reject at `LEVEL`, near 1 for a large shift.
        """
        if self.distance <= 0.0:
            return 0.0
        limit = float(np.quantile(self.chance, 1.0 - LEVEL))
        return max(0.0, 1.0 - limit / self.distance)


def compare_predicted(side: CalibrationSide, use: UseSide, n_draws: int = N_DRAWS) -> NoShift:
    """Return the distance between both sets' predicted classes, and chance's.

    Parameters
    ----------
    side, use
        Both sets.
    n_draws : int
        Number of draws.
    """
    labelled = side.labelled
    size = np.bincount(side.unit, weights=labelled.weight)
    size = size / size.sum()
    own = np.bincount(
        labelled.predictions.predicted_class,
        weights=labelled.weight,
        minlength=len(use.class_key),
    )
    own = own / own.sum()
    seen = use.counts.sum(axis=1) / use.n_rows
    n_own, n_seen = kish(size), use.n_units
    pool = (n_own * own + n_seen * seen) / (n_own + n_seen)
    order = np.argsort(use.class_key)
    order = order[pool[order] > 0]
    share = pool[order]
    steps = np.cumsum(share)[:-1]
    chance = np.empty(n_draws)
    for draw in range(n_draws):
        class_ = np.searchsorted(steps, uniform(side.unit_key, draw, "no shift"), side="right")
        drawn = np.bincount(class_, weights=size, minlength=len(order))
        off = _use_noise(use, draw, pool, seen)[order] + share - drawn
        chance[draw] = float((off**2 / share).sum())
    return NoShift(float(((seen - own)[order] ** 2 / share).sum()), chance)


def _use_noise(use: UseSide, draw: int, pool: Floats, seen: Floats) -> Floats:
    """Return how far a draw of the use-set is from where it is drawn from.

    A genome, with the size that it has, gets the mix of another one.
    """
    genomes = use.drawn_genomes
    if genomes is None:
        drawn = gamma_weights(pool * use.n_rows, use.class_key, draw, "no shift")
        return np.asarray(drawn / drawn.sum() - pool)
    size = np.asarray(genomes.counts.sum(axis=0), dtype=np.float64)
    level = uniform(genomes.key, draw, "no shift")
    other = np.searchsorted(np.cumsum(size / size.sum())[:-1], level, side="right")
    given = np.bincount(other, weights=size, minlength=len(size)) / size
    drawn = (genomes.counts @ given).reshape(use.counts.shape).sum(axis=1)
    return np.asarray(drawn / drawn.sum() - seen)
