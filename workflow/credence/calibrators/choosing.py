"""How `auto` chooses between methods for one class, and what it writes down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.protocol import Method, Need
from credence.confidence import Confidence
from credence.predictions import Booleans, Floats, Labelled, Strings

# Whose interval stands in for a choice's own, by whether the choice sees the vector:
# the most flexible quick method that looks at the same. A simple method that won
# because data are few claims an interval of its own form, which is too narrow.
SCORE_REFERENCE, VECTOR_REFERENCE = "kernel", "logistic"
SURE = 1e-15  # METHODS section 3: probabilities are clipped here in the NLL


@dataclass(frozen=True)
class Trial:
    """How one candidate did on clusters it had not seen.

    Parameters
    ----------
    method : str
        Name of the candidate.
    held_out_nll : float
        Mean negative log-likelihood, weighted.
    difference : float
        The same less the best candidate's, protein by protein.
    standard_error : float
        Of the difference, relatives taken together.
    """

    method: str
    held_out_nll: float
    difference: float
    standard_error: float


@dataclass(frozen=True)
class Choice:
    """What was chosen for one class, and against what.

    Parameters
    ----------
    class_name : str
        The predicted class.
    chosen : tuple of str
        The method, or all that are blended; empty for a class never predicted.
    rivals : tuple of str
        Candidates within one standard error of the best: the data cannot tell
        them apart.
    interval : tuple of str
        Methods whose intervals together, stretched to the value, are the
        interval.
    n, n_clusters : int
        Proteins and clusters that judged.
    trials : tuple of Trial
        All candidates, from simple to complex.
    """

    class_name: str
    chosen: tuple[str, ...]
    rivals: tuple[str, ...]
    interval: tuple[str, ...]
    n: int
    n_clusters: int
    trials: tuple[Trial, ...]

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Choice:
        """Return the choice of a record."""
        return cls(
            record["class_name"],
            tuple(record["chosen"]),
            tuple(record["rivals"]),
            tuple(record["interval"]),
            int(record["n"]),
            int(record["n_clusters"]),
            tuple(Trial(**trial) for trial in record["trials"]),
        )


def loss(confidence: Confidence, labelled: Labelled) -> Floats:
    """Return the negative log-likelihood of each outcome; NaN without a value.

    Parameters
    ----------
    confidence : Confidence
        Of the same proteins.
    labelled : Labelled
        With their outcomes.
    """
    p = np.clip(confidence.value, SURE, 1.0 - SURE)
    return -np.where(labelled.is_correct, np.log(p), np.log1p(-p))


def choose(
    class_name: str, losses: Mapping[str, Floats], labelled: Labelled, class_: int, mode: str
) -> Choice:
    """Return the method of one class.

    Parameters
    ----------
    class_name : str
        Its name.
    losses : mapping of str to array of float
        Held-out loss of every protein by candidate, from simple to complex.
    labelled : Labelled
        The proteins.
    class_ : int
        Index of the class.
    mode : str
        ``choose`` or ``blend``.
    """
    is_here: Booleans = np.equal(labelled.predictions.predicted_class, class_)
    if not is_here.any():
        return Choice(class_name, (), (), (), 0, 0, ())
    for values in losses.values():
        is_here = is_here & ~np.isnan(values)
    weight, cluster = labelled.weight[is_here], labelled.cluster[is_here]
    n_clusters = len(np.unique(cluster.astype(str)))
    if n_clusters < 2:  # nothing to judge by
        simplest = next(iter(losses))
        n = int(is_here.sum())
        return Choice(class_name, (simplest,), (simplest,), (), n, n_clusters, ())
    means = {
        name: float(np.average(values[is_here], weights=weight)) for name, values in losses.items()
    }
    best = min(means, key=means.__getitem__)
    trials = []
    for name, values in losses.items():
        difference, error = paired(values[is_here] - losses[best][is_here], weight, cluster)
        trials.append(Trial(name, means[name], difference, error))
    rivals = tuple(trial.method for trial in trials if trial.difference <= trial.standard_error)
    chosen = rivals if mode == "blend" else rivals[:1]
    return Choice(class_name, chosen, rivals, (), int(is_here.sum()), n_clusters, tuple(trials))


def paired(difference: Floats, weight: Floats, cluster: Strings) -> tuple[float, float]:
    """Return the weighted mean difference and its cluster-robust standard error.

    Parameters
    ----------
    difference : array of float
        Loss of one candidate less that of the other, per protein.
    weight : array of float
        Positive weights.
    cluster : array of str
        Name of each protein's cluster; two clusters at least.

    Examples
    --------
    Three proteins, two of them relatives: the mean is 1, the clusters' sums of
    what is left are 1 + 1 and −2, and √((2² + 2²) · 2/(2 − 1)) / 3 = 4/3.

    >>> cluster = np.array(["a", "a", "b"], dtype=object)
    >>> mean, error = paired(np.array([2.0, 2.0, -1.0]), np.ones(3), cluster)
    >>> mean, round(error, 6)
    (1.0, 1.333333)
    """
    mean = float(np.average(difference, weights=weight))
    _, codes = np.unique(cluster.astype(str), return_inverse=True)
    # Summed in sorted order, so that the order of rows cannot turn a near tie.
    order = np.lexsort((weight, difference, codes))
    parts = np.bincount(codes[order], weights=(weight * (difference - mean))[order])
    n_clusters = len(parts)
    spread = float((parts**2).sum()) * n_clusters / (n_clusters - 1)
    return mean, float(np.sqrt(spread) / weight.sum())


def interval_of(
    chosen: tuple[str, ...], rivals: tuple[str, ...], usable: Sequence[Method]
) -> tuple[str, ...]:
    """Return the methods whose intervals make up that of a choice.

    Parameters
    ----------
    chosen, rivals : tuple of str
        What was chosen, and what the data cannot tell from the best.
    usable : sequence of Method
        All candidates.
    """
    sees_vector = {method.name for method in usable if method.needs is Need.VECTOR}
    names = [method.name for method in usable]
    if sees_vector.isdisjoint(chosen):
        if SCORE_REFERENCE in names:
            return (SCORE_REFERENCE,)
        return tuple(name for name in rivals if name not in sees_vector)
    kept = sees_vector.intersection({*chosen, *rivals, VECTOR_REFERENCE}) | set(chosen)
    return tuple(name for name in names if name in kept)
