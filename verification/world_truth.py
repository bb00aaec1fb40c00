"""The truth of the simulated world: P(right | predicted class, top score).

The law of the scores does not depend on a world's seed, so its truth is known
once for all worlds, as masses P(predicted class, rounded top score | true class);
any composition of classes follows from them. The networks' deviates are drawn,
the margin is integrated over. The standard error of P(right | class, score) is
below 0.002 where the population has mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import gammainc

from credence.predictions import Floats, Integers
from credence.simulate import law as constants
from credence.simulate.law import N_CLASSES, N_NETWORKS, SCALE, ScoreLaw, score_law
from credence.simulate.scores import (
    SPREAD_NETWORK_SINGLE,
    draw_noise,
    family_logits,
    margin_law,
    softmax_in_place,
)

N_SCORES = 1001  # 0.00, 0.01, …, 10.00
ROWS_PER_CLASS = 16_000  # draws of the noise for each favoured class
RIVAL_WINS = 0.05  # about how often
LEAST_ROWS = 200  # for each favoured class and rival
ROWS_PER_BLOCK = 500
# Margins at which scores are computed: dense where the rival may still win.
NODES = constants.LEAST_MARGIN + np.r_[0:3:0.25, 3:7:0.5, 7:13:1.0, 13:28:3.0]
PARTS_PER_NODE = 8  # between two nodes scores are interpolated
LEAST_GAP = 1e-9  # of a score below the scale, before its logit is taken
SMOOTHING = 0.12  # standard deviation, on the axis of `_stretched`
END_GAP = 0.05  # in score units: how finely the ends of the scale are resolved
SMOOTHING_REACH = 5.0  # standard deviations beyond which a kernel is nil
LEAST_SPREAD = 1e-6  # variance of distances, in squares of SMOOTHING, that a line needs
TRUTH_SEED = 20250811  # of the simulation that finds the truth; no world's seed


@dataclass(frozen=True, eq=False)
class Truth:
    """Masses of predicted class and top score for each true class."""

    prevalence: Floats  # Shares of the true classes in the calibration population
    # P(predicted class, rounded top score | true class); axes are true class, predicted class,
    # score in steps of 0.01 from 0.
    mass: Floats
    # Kernel-weighted sums of the masses times distance to the power 0, 1 and 2, for the local
    # lines.
    moments: Floats

    def probability_correct(
        self, class_: int | Integers, score: float | Floats, prevalence: Floats | None = None
    ) -> Floats:
        """Return P(right | predicted class, top score) in the world's population."""
        curves = self.curves(prevalence)
        place = np.clip(np.asarray(score, dtype=float), 0.0, SCALE) * (N_SCORES - 1) / SCALE
        low = np.minimum(place.astype(np.int64), N_SCORES - 2)
        part = place - low
        return np.asarray(
            curves[class_, low] * (1.0 - part) + curves[class_, low + 1] * part, dtype=np.float64
        )

    def curves(self, prevalence: Floats | None = None) -> Floats:
        """Return P(right | predicted class, score) at 0.00, 0.01, …, 10.00."""
        shares = self.prevalence if prevalence is None else prevalence
        total = np.einsum("j,pjks->pks", shares, self.moments)
        classes = np.arange(N_CLASSES)
        right = shares[:, None] * self.moments[:2, classes, classes]
        # A line through the precision near each score, by weighted least squares.
        spread = total[0] * total[2] - total[1] ** 2
        is_line = spread > LEAST_SPREAD * total[0] ** 2
        line = total[2] * right[0] - total[1] * right[1]
        flat = np.divide(right[0], total[0], out=np.full_like(line, np.nan), where=total[0] > 0)
        values = np.divide(line, spread, out=flat, where=is_line)
        curves: Floats = np.full_like(values, np.nan)
        mass = self.score_mass(shares)
        for class_ in classes:
            seen = np.flatnonzero(mass[class_] > 0)
            if len(seen) > 0:
                held = np.clip(np.arange(N_SCORES), seen[0], seen[-1])
                curves[class_] = np.clip(values[class_, held], 0.0, 1.0)
        return curves

    def score_mass(self, prevalence: Floats | None = None) -> Floats:
        """Return P(predicted class, rounded top score), shape (n_classes, n_scores)."""
        shares = self.prevalence if prevalence is None else prevalence
        return np.asarray(np.einsum("j,jks->ks", shares, self.mass), dtype=np.float64)

    def share_correct(self, prevalence: Floats | None = None) -> Floats:
        """Return P(right | predicted class), the limit of the class-only confidence."""
        shares = self.prevalence if prevalence is None else prevalence
        joint = shares[:, None] * self.mass.sum(axis=2)
        return np.asarray(np.diag(joint) / joint.sum(axis=0), dtype=np.float64)


@cache
def truth() -> Truth:
    """Return the truth of all worlds; the first call takes a second or two."""
    law = score_law()
    given_right = np.zeros((N_CLASSES, N_CLASSES, N_CLASSES * N_SCORES))
    given_wrong = np.zeros_like(given_right)
    seeds = np.random.SeedSequence(TRUTH_SEED).spawn(N_CLASSES * N_CLASSES)
    for pair, seed in enumerate(seeds):
        favoured, rival = divmod(pair, N_CLASSES)
        if favoured != rival:
            n_rows = _rows_of(law, favoured, rival)
            right, wrong = _masses(law, favoured, rival, n_rows, np.random.default_rng(seed))
            given_right[favoured, rival], given_wrong[favoured, rival] = right, wrong
    both = law.favour[:, :, None] * law.rival
    mass = np.einsum("jfr,frx->jx", both, given_wrong)
    own = np.arange(N_CLASSES)
    mass += np.einsum("fr,frx->fx", both[own, own], given_right - given_wrong)
    mass = mass.reshape(N_CLASSES, N_CLASSES, N_SCORES)
    return Truth(law.prevalence, mass, _local_moments(mass))


def _rows_of(law: ScoreLaw, favoured: int, rival: int) -> int:
    # The greatest part that this pair has in: what is predicted the favoured class,
    # rightly or wrongly, and what is predicted the rival because it won after all.
    joint = law.prevalence[:, None] * law.favour
    pair = joint[:, favoured] * law.rival[:, favoured, rival]
    right, total = pair[favoured], pair.sum()
    wrong = joint[:, favoured].sum() - joint[favoured, favoured]
    share = max(
        float(right / joint[favoured, favoured]),
        float((total - right) / wrong),
        float(RIVAL_WINS * total / (joint[:, rival].sum() - joint[rival, rival])),
    )
    return max(LEAST_ROWS, int(ROWS_PER_CLASS * min(share, 1.0)))


def _masses(
    law: ScoreLaw, favoured: int, rival: int, n_rows: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    # P(predicted class, rounded score), flattened, if the favoured class is right and
    # if it is wrong. Only the deviates are drawn; margins are integrated over, since
    # the logit of the top score is nearly linear in the margin between two nodes.
    steps = np.linspace(0.0, 1.0, PARTS_PER_NODE, endpoint=False)
    edges = np.append((NODES[:-1, None] + np.diff(NODES)[:, None] * steps).ravel(), NODES[-1])
    part = [np.diff(_margin_distribution(is_right, favoured, edges)) for is_right in (True, False)]
    masses = np.zeros((2, N_CLASSES * N_SCORES))
    for start in range(0, n_rows, ROWS_PER_BLOCK):
        n_block = min(ROWS_PER_BLOCK, n_rows - start)
        predicted, logit = _at_nodes(law, favoured, rival, n_block, rng)
        middle = steps + 0.5 / PARTS_PER_NODE
        between = logit[:-1, None] + np.diff(logit, axis=0)[:, None] * middle[:, None]
        place = np.rint((N_SCORES - 1) / (1.0 + np.exp(-between))).astype(np.int64)
        nearer = np.where((middle < 0.5)[:, None], predicted[:-1, None], predicted[1:, None])
        cells = (nearer * N_SCORES + place).ravel()
        for mass, share in zip(masses, part, strict=True):
            mass += np.bincount(cells, np.repeat(share / n_rows, n_block), mass.size)
    return masses[0], masses[1]


def _margin_distribution(is_right: bool, favoured: int, margin: Floats) -> Floats:
    true_class = favoured if is_right else (favoured + 1) % N_CLASSES
    shape, scale = margin_law(np.array([true_class]), np.array([favoured]))
    below = np.asarray(gammainc(shape, (margin - constants.LEAST_MARGIN) / scale))
    below[-1] = 1.0  # beyond the last node every score is 10.00
    return below


def _at_nodes(
    law: ScoreLaw, favoured: int, rival: int, n_rows: int, rng: np.random.Generator
) -> tuple[Integers, Floats]:
    # Predicted class and logit of the top score of each row at each node. At margin
    # zero the exponentials are E; margin a multiplies all but the favoured one's by
    # exp(-sharpness a), network by network.
    rest = draw_noise(rng, constants.SPREAD_REST, N_CLASSES, n_rows)
    none = np.zeros(n_rows)
    classes = np.full(n_rows, favoured), np.full(n_rows, rival)
    values = draw_noise(rng, SPREAD_NETWORK_SINGLE, N_CLASSES, N_NETWORKS, n_rows)
    member = draw_noise(rng, constants.SPREAD_MEMBER, N_CLASSES, n_rows)
    values += (family_logits(*classes, none, rest) + member)[:, None, :]
    exponential = softmax_in_place(law, values).astype(np.float64)
    leader = exponential[favoured].copy()
    exponential[favoured] = 0.0
    others = exponential.sum(axis=0)
    predicted = np.empty((len(NODES), n_rows), dtype=np.int64)
    logit = np.empty((len(NODES), n_rows))
    for node, margin in enumerate(NODES):
        damping = np.exp(-law.sharpness * margin)[:, None]
        total = leader + damping * others
        score = np.einsum("knr,nr->kr", exponential, damping / total)
        score[favoured] = (leader / total).sum(axis=0)
        predicted[node] = score.argmax(axis=0)
        best = score.max(axis=0)
        logit[node] = np.log(best / np.maximum(SCALE - best, LEAST_GAP))
    return predicted, logit


def _stretched(score: Floats) -> Floats:
    # Scores crowd at the top of the scale, and curves are steep there.
    return np.asarray(np.log((score + END_GAP) / (SCALE + END_GAP - score)), dtype=np.float64)


def _local_moments(mass: Floats) -> Floats:
    axis = _stretched(np.linspace(0.0, SCALE, N_SCORES))
    distance = (axis[:, None] - axis[None, :]) / SMOOTHING
    kernel = np.where(np.abs(distance) < SMOOTHING_REACH, np.exp(-0.5 * distance**2), 0.0)
    return np.stack([mass @ (kernel * distance**power) for power in range(3)])
