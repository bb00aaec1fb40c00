"""The bandwidth that predicts each cluster best from all others.

For comparison: on the scores at hand it follows noise more than the rules that
count sign changes do (Fig. 13 of Salamon et al. 2023, doi 10.3390/make5030043).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.bandwidth import GREATEST, SMALLEST
from credence.calibrators.binning import Nodes
from credence.calibrators.kernel_sums import local_sums
from credence.calibrators.mass_draws import HALF, places_of
from credence.calibrators.protocol import ClassSample
from credence.predictions import Floats, Integers

STEP = 1.1  # ratio of the bandwidths tried first
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
REFINEMENTS = 14  # narrows the last step of 10 % to 0.02 %
CANCELLED = 1e-8  # of a cluster's own part: a smaller rest is summed anew
TIE = 1e-12  # relative: losses this near are equal but for rounding


@dataclass(frozen=True, eq=False)
class OwnParts:
    """Every cluster's weight at each score, and the pairs of scores within it.

    Parameters
    ----------
    score : array of float
        Distinct scores (or places), ascending.
    cluster, at : array of int
        Cluster and score of each entry.
    right, wrong : array of float
        Weight of each entry.
    first, second : array of int
        All ordered pairs of entries of one cluster.
    """

    score: Floats
    cluster: Integers
    at: Integers
    right: Floats
    wrong: Floats
    first: Integers
    second: Integers

    def loss(self, bandwidth: float) -> float:
        """Return the NLL of each cluster given the curve of all others.

        Parameters
        ----------
        bandwidth : float
            Of the kernel, without prior or reflection.
        """
        n_places = len(self.score)
        kernel = np.exp(-HALF * ((self.score[:, None] - self.score) / bandwidth) ** 2)
        gap = self.score[self.at[self.first]] - self.score[self.at[self.second]]
        near = np.exp(-HALF * (gap / bandwidth) ** 2)
        logs = []
        for mass in (self.right, self.wrong):
            total = kernel @ np.bincount(self.at, weights=mass, minlength=n_places)
            own = np.bincount(self.first, weights=near * mass[self.second])
            rest = total[self.at] - own
            is_sure = rest > CANCELLED * total[self.at]
            log_rest = np.log(np.where(is_sure, rest, 1.0))
            for entry in np.flatnonzero(~is_sure):
                log_rest[entry] = self._log_rest(int(entry), mass, bandwidth)
            logs.append(log_rest)
        log_right, log_wrong = logs
        with np.errstate(invalid="ignore"):
            log_all = np.logaddexp(log_right, log_wrong)
        loss = 0.0
        for mass, log_rest in ((self.right, log_right), (self.wrong, log_wrong)):
            held = mass > 0
            loss += float((mass[held] * (log_all[held] - log_rest[held])).sum())
        return loss

    def _log_rest(self, entry: int, mass: Floats, bandwidth: float) -> float:
        others = (self.cluster != self.cluster[entry]) & (mass > 0)
        if not others.any():
            return -np.inf
        order = np.argsort(self.at[others], kind="stable")
        nodes = Nodes(self.score[self.at[others]][order], mass[others][order])
        point = self.score[self.at[entry]][None]
        return float(local_sums(point, nodes, bandwidth).log_mass[0])


def own_parts(sample: ClassSample) -> OwnParts:
    """Return the weight of every cluster at each score.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class.
    """
    places = places_of(sample)
    code = sample.cluster * len(places.score) + places.of_row
    entries, entry = np.unique(code, return_inverse=True)
    cluster, at = np.divmod(entries, len(places.score))
    right = np.bincount(entry, weights=sample.weight_correct).astype(np.float64)
    wrong = np.bincount(entry, weights=sample.weight - sample.weight_correct)
    start = np.searchsorted(cluster, cluster, side="left")
    size = np.searchsorted(cluster, cluster, side="right") - start
    first = np.repeat(np.arange(len(cluster)), size)
    within = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
    second = np.repeat(start, size) + within
    return OwnParts(places.score, cluster, at, right, wrong.astype(np.float64), first, second)


def leave_one_out_bandwidth(sample: ClassSample) -> float | None:
    """Return the bandwidth of least leave-one-cluster-out NLL; None if none is finite.

    All bandwidths in steps of 10 % over the range of the other rules are tried,
    then the neighbourhood of the best is narrowed by golden sections: the loss
    can have several minima, so no descent is trusted with the whole range.

    Parameters
    ----------
    sample : ClassSample
        The positives of a class, right and wrong ones.
    """
    parts = own_parts(sample)
    least = max(sample.resolution, SMALLEST * sample.scale)
    n_steps = int(np.floor(np.log(GREATEST * sample.scale / least) / np.log(STEP)))
    tried = least * STEP ** np.arange(n_steps + 1)
    losses = np.array([parts.loss(float(bandwidth)) for bandwidth in tried])
    if not np.isfinite(losses).any():
        return None
    best = float(tried[np.argmax(losses <= losses.min() * (1.0 + TIE))])
    low, high = np.log(best / STEP), np.log(best * STEP)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    loss_left, loss_right = parts.loss(np.exp(left)), parts.loss(np.exp(right))
    for _ in range(REFINEMENTS):
        if loss_left <= loss_right:
            high, right, loss_right = right, left, loss_left
            left = high - GOLDEN * (high - low)
            loss_left = parts.loss(np.exp(left))
        else:
            low, left, loss_left = left, right, loss_right
            right = low + GOLDEN * (high - low)
            loss_right = parts.loss(np.exp(right))
    found = max(float(np.exp(HALF * (low + high))), least)
    return found if parts.loss(found) <= parts.loss(best) else best
