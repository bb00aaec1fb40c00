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
from credence.simulate.law import N_CLASSES, N_NETWORKS, SCALE, ScoreLaw, score_law
from credence.simulate.scores import (
    SPREAD_NETWORK_SINGLE,
    FamilyScores,
    Singles,
    draw_noise,
    family_logits,
    margin_law,
    rounded,
    softmax_in_place,
)

N_SCORES = 1001  # 0.00, 0.01, …, 10.00
ROWS_PER_CLASS = 1_200_000  # half for right, half for wrong predictions of a class
ROWS_PER_BLOCK = 1_000
REUSES = 10  # of a block of normal deviates
SMOOTHING = 0.12  # standard deviation, on the axis of `_stretched`
END_GAP = 0.05  # in score units: how finely the ends of the scale are resolved
SMOOTHING_REACH = 5.0  # standard deviations beyond which a kernel is nil
LEAST_SPREAD = 1e-6  # variance of distances, in squares of SMOOTHING, that a line needs
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
    moments : array, shape (3, n_classes, n_classes, n_scores)
        Kernel-weighted sums of the masses times distance to the power 0, 1 and
        2, for the local lines.
    """

    prevalence: Floats
    mass: Floats
    moments: Floats

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
        total = np.einsum("j,pjks->pks", shares, self.moments)
        classes = np.arange(N_CLASSES)
        right = shares[:, None] * self.moments[:2, classes, classes]
        # A line through the shares right near each score, by weighted least squares.
        spread = total[0] * total[2] - total[1] ** 2
        is_line = spread > LEAST_SPREAD * total[0] ** 2
        line = total[2] * right[0] - total[1] * right[1]
        flat = np.divide(right[0], total[0], out=np.full_like(line, np.nan), where=total[0] > 0)
        values = np.divide(line, spread, out=flat, where=is_line)
        curves = np.full_like(values, np.nan)
        mass = self.score_mass(shares)
        for class_ in classes:
            seen = np.flatnonzero(mass[class_] > 0)
            if len(seen) > 0:
                held = np.clip(np.arange(N_SCORES), seen[0], seen[-1])
                curves[class_] = np.clip(values[class_, held], 0.0, 1.0)
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
        n_rounds = _rounds_of(law, true_class, favoured)
        _add_cell(law, (true_class, favoured), n_rounds, np.random.default_rng(seed), mass)
    return Truth(law.prevalence, mass, _local_moments(mass))


def _rounds_of(law: ScoreLaw, true_class: int, favoured: int) -> int:
    if true_class == favoured:
        n_rows = ROWS_PER_CLASS // 2
    else:
        share = law.prevalence * law.favour[:, favoured]
        share[favoured] = 0.0
        n_rows = int(ROWS_PER_CLASS // 2 * share[true_class] / share.sum())
    return max(1, n_rows // (ROWS_PER_BLOCK * REUSES))


@cache
def _margins(is_right: bool, favoured: int) -> Floats:
    # Middles of equal slices of the law of the margins: most of the score's
    # variation is then laid out evenly instead of drawn.
    true_class = favoured if is_right else (favoured + 1) % N_CLASSES
    shape, scale = margin_law(np.array([true_class]), np.array([favoured]))
    n_slices = REUSES * ROWS_PER_BLOCK
    middles = (np.arange(n_slices) + 0.5) / n_slices
    return np.asarray(constants.LEAST_MARGIN + gammaincinv(shape, middles) * scale)


def _add_cell(
    law: ScoreLaw, cell: tuple[int, int], n_rounds: int, rng: np.random.Generator, mass: Floats
) -> None:
    true_class, favoured = cell
    margins = _margins(true_class == favoured, favoured)
    rival_shares = law.rival[true_class, favoured]
    favoured_rows = np.full(ROWS_PER_BLOCK, favoured)
    places = []
    for _ in range(n_rounds):
        noise = _Noise(rng)
        for margin in rng.permutation(margins).reshape(REUSES, ROWS_PER_BLOCK):
            rival = rng.choice(N_CLASSES, ROWS_PER_BLOCK, p=rival_shares)
            values = noise.values(FamilyScores(favoured_rows, rival, margin))
            scores = rounded(softmax_in_place(law, values).sum(axis=1).astype(np.float64))
            place = np.rint(scores.max(axis=0) * (N_SCORES - 1) / SCALE).astype(np.int64)
            places.append(scores.argmax(axis=0) * N_SCORES + np.minimum(place, N_SCORES - 1))
    counts = np.bincount(np.concatenate(places), minlength=N_CLASSES * N_SCORES)
    weight = law.favour[true_class, favoured] / counts.sum()
    mass[true_class] += weight * counts.reshape(N_CLASSES, N_SCORES)


class _Noise:
    # Deviates cost more than softmaxes. Each block of them is used several times,
    # its parts turned against each other by random amounts, so that no two
    # proteins get the same noise.
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        rest = draw_noise(rng, constants.SPREAD_REST, N_CLASSES, ROWS_PER_BLOCK)
        self.rest = np.concatenate([rest, rest], axis=1)
        self.member = draw_noise(rng, constants.SPREAD_MEMBER, N_CLASSES, ROWS_PER_BLOCK)
        shape = N_CLASSES, N_NETWORKS, ROWS_PER_BLOCK
        network = draw_noise(rng, SPREAD_NETWORK_SINGLE, *shape)
        self.network = np.concatenate([network, network], axis=2)

    def values(self, shared: FamilyScores) -> Singles:
        turns = self.rng.integers(ROWS_PER_BLOCK, size=N_NETWORKS + 1)
        turn = turns[-1]
        common = family_logits(shared, self.rest[:, turn : turn + ROWS_PER_BLOCK]) + self.member
        values = np.empty((N_CLASSES, N_NETWORKS, ROWS_PER_BLOCK), dtype=np.float32)
        for network, turn in enumerate(turns[:-1]):
            turned = self.network[:, network, turn : turn + ROWS_PER_BLOCK]
            np.add(turned, common, out=values[:, network])
        return values


def _stretched(score: Floats) -> Floats:
    # Scores crowd at the top of the scale, and curves are steep there.
    return np.asarray(np.log((score + END_GAP) / (SCALE + END_GAP - score)), dtype=np.float64)


def _local_moments(mass: Floats) -> Floats:
    axis = _stretched(np.linspace(0.0, SCALE, N_SCORES))
    distance = (axis[:, None] - axis[None, :]) / SMOOTHING
    kernel = np.where(np.abs(distance) < SMOOTHING_REACH, np.exp(-0.5 * distance**2), 0.0)
    return np.stack([mass @ (kernel * distance**power) for power in range(3)])
