"""The truth of the simulated world: P(right | predicted class, top score).

The law of the scores does not depend on a world's seed, so its truth is known
once for all worlds: from a large simulation, the margins stratified, as masses
P(predicted class, rounded top score | true class). Any composition of classes
then follows exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gammaincinv

from credence.predictions import Floats, Integers
from credence.simulate import law as constants
from credence.simulate.law import N_CLASSES, SCALE, ScoreLaw, score_law
from credence.simulate.scores import FamilyScores, margin_law, network_softmax, rounded

N_SCORES = 1001  # 0.00, 0.01, …, 10.00
ROWS_PER_CLASS = 120_000  # half for right, half for wrong predictions of a class
LEAST_ROWS = 2_000  # of any true × favoured class, for compositions far from usual
ROWS_PER_BLOCK = 2_000
SMOOTHING = 0.08  # standard deviation, on the axis of `_stretched`
END_GAP = 0.05  # in score units: how finely the ends of the scale are resolved
SMOOTHING_REACH = 5.0  # standard deviations beyond which a kernel is nil
TRUTH_SEED = 20250811  # of the simulation that finds the truth; no world's seed


@dataclass(frozen=True, eq=False)
class Truth:
    """Masses of predicted class and top score for each true class.

    Parameters
    ----------
    prevalence : array, shape (n_classes,)
        Shares of the true classes in the calibration population.
    mass : array, shape (n_classes, n_classes, n_scores)
        P(predicted class, rounded top score | true class); axes are true
        class, predicted class, score in steps of 0.01 from 0.
    smooth : array, same shape
        The masses smoothed over the score, for ratios only.
    """

    prevalence: Floats
    mass: Floats
    smooth: Floats

    def probability_correct(
        self, class_: int | Integers, score: float | Floats, prevalence: Floats | None = None
    ) -> Floats:
        """Return P(right | predicted class, top score) in the world's population.

        Parameters
        ----------
        class_ : int or array of int
            Index of the predicted class.
        score : float or array of float
            Top score, on the scale of 10. Outside the scores that occur the
            value at the nearest one that does is given.
        prevalence : array, shape (n_classes,), optional
            Shares of the true classes in a population that differs in nothing
            else; the calibration population's unless given.
        """
        curves = self.curves(prevalence)
        place = np.clip(np.asarray(score, dtype=float), 0.0, SCALE) * (N_SCORES - 1) / SCALE
        low = np.minimum(place.astype(np.int64), N_SCORES - 2)
        part = place - low
        return np.asarray(
            curves[class_, low] * (1.0 - part) + curves[class_, low + 1] * part, dtype=np.float64
        )

    def curves(self, prevalence: Floats | None = None) -> Floats:
        """Return P(right | predicted class, score) at 0.00, 0.01, …, 10.00.

        Parameters
        ----------
        prevalence : array, shape (n_classes,), optional
            As in :meth:`probability_correct`.
        """
        shares = self.prevalence if prevalence is None else prevalence
        total = np.einsum("j,jks->ks", shares, self.smooth)
        classes = np.arange(N_CLASSES)
        right = shares[:, None] * self.smooth[classes, classes]
        curves = np.full((N_CLASSES, N_SCORES), np.nan)
        for class_ in classes:
            seen = np.flatnonzero(np.einsum("j,js->s", shares, self.mass[:, class_]) > 0)
            if len(seen) == 0:
                continue
            held = np.clip(np.arange(N_SCORES), seen[0], seen[-1])
            curves[class_] = (right[class_, held]) / total[class_, held]
        return curves

    def score_mass(self, prevalence: Floats | None = None) -> Floats:
        """Return P(predicted class, rounded top score), shape (n_classes, n_scores).

        Parameters
        ----------
        prevalence : array, shape (n_classes,), optional
            As in :meth:`probability_correct`.
        """
        shares = self.prevalence if prevalence is None else prevalence
        return np.asarray(np.einsum("j,jks->ks", shares, self.mass), dtype=np.float64)

    def share_correct(self, prevalence: Floats | None = None) -> Floats:
        """Return P(right | predicted class), the limit of the class-only confidence.

        Parameters
        ----------
        prevalence : array, shape (n_classes,), optional
            As in :meth:`probability_correct`.
        """
        shares = self.prevalence if prevalence is None else prevalence
        joint = shares[:, None] * self.mass.sum(axis=2)
        return np.asarray(np.diag(joint) / joint.sum(axis=0), dtype=np.float64)


@cache
def truth() -> Truth:
    """Return the truth of all worlds; the first call takes some seconds."""
    law = score_law()
    mass = np.zeros((N_CLASSES, N_CLASSES, N_SCORES))
    seeds = np.random.SeedSequence(TRUTH_SEED).spawn(N_CLASSES * N_CLASSES)
    for cell, seed in enumerate(seeds):
        true_class, favoured = divmod(cell, N_CLASSES)
        n_rows = _rows_of(law, true_class, favoured)
        _add_cell(law, true_class, favoured, n_rows, np.random.default_rng(seed), mass)
    return Truth(law.prevalence, mass, _smoothed(mass))


def _rows_of(law: ScoreLaw, true_class: int, favoured: int) -> int:
    if true_class == favoured:
        return ROWS_PER_CLASS // 2
    share = law.prevalence * law.favour[:, favoured]
    share[favoured] = 0.0
    return max(LEAST_ROWS, int(ROWS_PER_CLASS // 2 * share[true_class] / share.sum()))


def _add_cell(
    law: ScoreLaw,
    true_class: int,
    favoured: int,
    n_rows: int,
    rng: np.random.Generator,
    mass: Floats,
) -> None:
    # Margins at random points of equal slices of their law: most of the score's
    # variation is then laid out evenly instead of drawn.
    both = np.full(n_rows, true_class), np.full(n_rows, favoured)
    shape, scale = margin_law(*both)
    level = rng.permutation((np.arange(n_rows) + rng.random(n_rows)) / n_rows)
    margin = constants.LEAST_MARGIN + gammaincinv(shape, level) * scale
    rival = rng.choice(N_CLASSES, n_rows, p=law.rival[true_class, favoured])
    weight = law.favour[true_class, favoured] / n_rows
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        rows = slice(start, min(start + ROWS_PER_BLOCK, n_rows))
        shared = FamilyScores(both[1][rows], rival[rows], margin[rows])
        softmax = network_softmax(law, shared, np.ones(rows.stop - start, dtype=np.int64), rng)
        scores = rounded(softmax.sum(axis=1, dtype=np.float64))
        predicted = scores.argmax(axis=1)
        place = np.rint(scores.max(axis=1) * (N_SCORES - 1) / SCALE).astype(np.int64)
        np.add.at(mass[true_class], (predicted, np.minimum(place, N_SCORES - 1)), weight)


def _stretched(score: Floats) -> Floats:
    # Scores crowd at the top of the scale, and curves are steep there.
    return np.asarray(np.log((score + END_GAP) / (SCALE + END_GAP - score)), dtype=np.float64)


def _smoothed(mass: Floats) -> Floats:
    axis = _stretched(np.linspace(0.0, SCALE, N_SCORES))
    distance = (axis[:, None] - axis[None, :]) / SMOOTHING
    kernel = np.where(np.abs(distance) < SMOOTHING_REACH, np.exp(-0.5 * distance**2), 0.0)
    return np.asarray(mass @ kernel, dtype=np.float64)
