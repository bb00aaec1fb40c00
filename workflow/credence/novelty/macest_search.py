"""What MACEst learns: how many neighbours, how errors weigh, how sharp it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.sandwich import effective_clusters
from credence.predictions import Booleans, Floats, Integers, Strings

N_BINS = 15  # of equal count, in which confidence and outcome are compared
# What the mean error term is to the mean distance term.
BALANCES = (0.0, 0.03, 0.1, 0.3, 1.0)
# σ/mean σ of the nearest class is rarely below a half, so sharpness 256 is certainty.
SHARPNESSES = tuple(2.0**step for step in range(-1, 9))
FINER = tuple(2.0 ** (step / 4.0) for step in range(-3, 4))  # of the best, tried once more
CLIP = 1e-15  # probabilities in a logarithm, as in the metrics


@dataclass(frozen=True, eq=False)
class Evidence:
    """The neighbours of some points, class by class, nearest first.

    Parameters
    ----------
    distance : array of float, shape (n_queries, n_seen, n_neighbours)
        Positive.
    is_wrong : array of bool, shape (n_queries, n_seen, n_neighbours)
        Whether the classifier was wrong about the neighbour.
    """

    distance: Floats
    is_wrong: Booleans

    def terms(self, n_neighbours: int) -> tuple[Floats, Floats]:
        """Return ε and 𝒦 of each query and class.

        Parameters
        ----------
        n_neighbours : int
            How many of the neighbours count.

        Examples
        --------
        One class, two neighbours at 1 and 2, the second one wrong: ε = 1/2 and
        𝒦 = (1/1 + 2/2) / (1/1 + 1/2) = 4/3.

        >>> found = Evidence(np.array([[[1.0, 2.0]]]), np.array([[[False, True]]]))
        >>> error, spread = found.terms(2)
        >>> error.item(), round(spread.item(), 6)
        (0.5, 1.333333)
        """
        distance = self.distance[..., :n_neighbours]
        inverse_rank = 1.0 / np.arange(1, n_neighbours + 1)
        error = (self.is_wrong[..., :n_neighbours] / distance).sum(axis=-1)
        return error, (distance * inverse_rank).sum(axis=-1) / inverse_rank.sum()


@dataclass(frozen=True)
class Tuning:
    """What is learnt.

    Parameters
    ----------
    neighbours : int
        k, the same for every class.
    alpha : float
        Weight of the errors ε.
    beta : float
        Weight of the distances 𝒦; positive, so that far away they alone count.
    sharpness : float
        τ, positive.
    """

    neighbours: int
    alpha: float = 0.0
    beta: float = 1.0
    sharpness: float = 1.0

    def logits(self, evidence: Evidence) -> Floats:
        """Return −τ σ/mean σ of each query and class that is looked at.

        Parameters
        ----------
        evidence : Evidence
            With at least `neighbours` neighbours.
        """
        error, spread = evidence.terms(self.neighbours)
        return -self.sharpness * relative(self.alpha * error + self.beta * spread)

    def to_record(self) -> dict[str, Any]:
        """Return what was learnt as JSON data."""
        return dict(vars(self))

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Tuning:
        """Return what a record holds."""
        return cls(**record)


@dataclass(frozen=True, eq=False)
class Judged:
    """The predictions that tunings are judged by.

    Parameters
    ----------
    position : array of int, shape (n_samples,)
        Place of the predicted class among those that are looked at.
    is_correct : array of bool, shape (n_samples,)
        Whether each prediction is right.
    weight : array of float, shape (n_samples,)
        Positive weights.
    cluster : array of str, shape (n_samples,)
        Name of each one's cluster.
    """

    position: Integers
    is_correct: Booleans
    weight: Floats
    cluster: Strings


@dataclass(frozen=True)
class Trial:
    """A tuning and how it did.

    Parameters
    ----------
    tuning : Tuning
        What was tried.
    error : float
        Squared calibration error of the predicted class.
    loss : float
        Mean negative log-likelihood of the outcomes.
    chance : float
        What the squared error of a calibrated forecast would be.
    """

    tuning: Tuning
    error: float
    loss: float
    chance: float


def relative(sigma: Floats) -> Floats:
    """Return σ over its mean over the classes.

    Parameters
    ----------
    sigma : array of float, shape (n_queries, n_classes)
        Positive.
    """
    return np.asarray(sigma / sigma.mean(axis=1, keepdims=True))


def search(evidence: Evidence, judged: Judged, tried: Sequence[int], n_unseen: int) -> Trial:
    """Return the best of a fixed grid of tunings, then of a finer one around it.

    Parameters
    ----------
    evidence : Evidence
        Neighbours of the predictions judged; none of them shares their cluster.
    judged : Judged
        Those predictions, at least one.
    tried : sequence of int
        Numbers of neighbours.
    n_unseen : int
        Classes that are not looked at; each takes the mean σ.

    Notes
    -----
    The error is Σ_b (w_b/w) (mean confidence − share right)² over bins of equal
    count. A grid's least error is partly luck: a calibrated forecast has
    Σ_b (w_b/w) p(1−p)/n_b on average, n_b counting clusters. Tunings within that
    of the least cannot be told apart by it, and the likeliest of them is taken.
    """
    n_effective = effective_clusters(
        np.unique(judged.cluster.astype(str), return_inverse=True)[1], judged.weight
    )
    trials = list(_grid(evidence, judged, tried, n_unseen, n_effective))
    coarse = best(trials).tuning
    error, spread = evidence.terms(coarse.neighbours)
    around = (
        Tuning(coarse.neighbours, coarse.alpha * first, 1.0, coarse.sharpness * second)
        for first, second in itertools.product(FINER if coarse.alpha > 0 else (1.0,), FINER)
    )
    trials += [_trial(tuning, error, spread, judged, n_unseen, n_effective) for tuning in around]
    return best(trials)


def best(trials: Sequence[Trial]) -> Trial:
    """Return the likeliest of those whose error is the least but for chance.

    Parameters
    ----------
    trials : sequence of Trial
        At least one; of two that do equally well the earlier is taken.
    """
    least = min(trials, key=lambda trial: trial.error)
    close = [trial for trial in trials if trial.error <= least.error + least.chance]
    return min(close, key=lambda trial: trial.loss)


def calibration_error(
    confidence: Floats, is_correct: Booleans, weight: Floats, n_bins: int = N_BINS
) -> float:
    """Return the squared difference of confidence and outcome over bins of equal count.

    Parameters
    ----------
    confidence : array of float
        Of the predicted class.
    is_correct : array of bool
        Whether each prediction is right.
    weight : array of float
        Positive weights.
    n_bins : int
        Number of bins; fewer rows have a bin each.

    Examples
    --------
    Two bins: (0.2, 0.4) with one of two right, (0.8, 1.0) with both right:
    (0.3 − 0.5)²/2 + (0.9 − 1)²/2 = 0.025.

    >>> outcomes = np.array([True, False, True, True])
    >>> error = calibration_error(np.array([0.2, 0.4, 0.8, 1.0]), outcomes, np.ones(4), 2)
    >>> round(error, 6)
    0.025
    """
    order = np.argsort(confidence, kind="stable")
    starts = np.unique(np.arange(n_bins) * len(order) // n_bins)
    mass = np.add.reduceat(weight[order], starts)
    gap = np.add.reduceat((weight * (confidence - is_correct))[order], starts)
    return float((gap**2 / mass).sum() / mass.sum())


def _grid(
    evidence: Evidence,
    judged: Judged,
    tried: Sequence[int],
    n_unseen: int,
    n_effective: float,
) -> Iterator[Trial]:
    for n_neighbours in tried:
        error, spread = evidence.terms(n_neighbours)
        mean_error = error.mean()
        balances = BALANCES if mean_error > 0 else BALANCES[:1]
        for balance, sharpness in itertools.product(balances, SHARPNESSES):
            alpha = balance * float(spread.mean() / mean_error) if balance > 0 else 0.0
            tuning = Tuning(n_neighbours, alpha, 1.0, sharpness)
            yield _trial(tuning, error, spread, judged, n_unseen, n_effective)


def _trial(
    tuning: Tuning,
    error: Floats,
    spread: Floats,
    judged: Judged,
    n_unseen: int,
    n_effective: float,
) -> Trial:
    sigma = relative(tuning.alpha * error + tuning.beta * spread)
    # Taken from the least σ, nothing overflows.
    least = sigma.min(axis=1)
    mass = np.exp(-tuning.sharpness * (sigma - least[:, None]))
    total = mass.sum(axis=1) + n_unseen * np.exp(-tuning.sharpness * (1.0 - least))
    p = mass[np.arange(len(mass)), judged.position] / total
    clipped = np.clip(p, CLIP, 1.0 - CLIP)
    loss = -np.where(judged.is_correct, np.log(clipped), np.log1p(-clipped))
    weight = judged.weight / judged.weight.sum()
    n_bins = min(N_BINS, len(p))
    chance = n_bins * float(weight @ (p * (1.0 - p))) / n_effective
    found = calibration_error(p, judged.is_correct, judged.weight)
    return Trial(tuning, found, float(weight @ loss), chance)
