"""Whether rows stand under wrong ids: scores that know nothing of the labels, or of each other.

Rows in another order keep every number of a table. Where labels are known, predictions then
agree with them no more than by chance; where an ensemble's networks are, the one whose rows
were moved agrees with the others far less than they do among themselves.
"""

from dataclasses import dataclass, replace

import numpy as np

from credence.findings import ShiftedRows
from credence.predictions import UNKNOWN_CLASS, Integers, Predictions

FEWEST = 20  # proteins from which on an answer is possible
# Agreement beyond chance (Cohen's kappa) that is as good as none, and how many of its standard
# errors chance alone explains.
NEAR_NONE, N_ERRORS = 0.05, 2.0
FEWEST_NETWORKS = 3
LEAST_AMONG_OTHERS = 0.2  # agreement beyond chance; networks that agree less show no order
FAR_LESS = 0.5  # of the others' agreement


@dataclass(frozen=True, kw_only=True)
class RowCounts:
    """What is counted of a set to see whether its rows are in order; sums of parts add up."""

    # Proteins by label and predicted class, those without a label left out
    confusion: tuple[tuple[int, ...], ...]
    # Proteins by network and class that it predicts, and of which two networks predict the same
    predicted: tuple[tuple[int, ...], ...] = ()
    same: tuple[tuple[int, ...], ...] = ()

    def plus(self, other: "RowCounts", place: tuple[int, ...] = ()) -> "RowCounts":
        """Return the counts of two parts of one set, whose classes have that place in the second.

        Of networks both parts have the scores of all classes.
        """
        moved = self.confusion
        if place and place != tuple(range(len(place))):
            confusion = np.zeros((len(other.confusion),) * 2, dtype=np.int64)
            confusion[np.ix_(place, place)] = self.confusion
            moved = _nested(confusion)
        return RowCounts(
            confusion=_summed(moved, other.confusion),
            predicted=_summed(self.predicted, other.predicted),
            same=_summed(self.same, other.same),
        )


def _summed(
    first: tuple[tuple[int, ...], ...], second: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    counts, more_counts = (np.array(part, dtype=np.int64, ndmin=2) for part in (first, second))
    size = np.maximum(counts.shape, more_counts.shape)
    whole = np.zeros(size, dtype=np.int64)
    for part in (counts, more_counts):
        whole[: part.shape[0], : part.shape[1]] += part
    return _nested(whole)


def _nested(counts: Integers) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in counts.tolist()) if counts.size else ()


def row_counts(predictions: Predictions, true_class: Integers | None) -> RowCounts:
    """Return what is counted of some proteins."""
    n_classes = predictions.n_classes
    confusion = np.zeros((n_classes, n_classes), dtype=np.int64)
    if true_class is not None:
        is_known = true_class > UNKNOWN_CLASS
        pairs = (true_class[is_known], predictions.predicted_class[is_known])
        np.add.at(confusion, pairs, 1)
    if predictions.network_scores is None:
        return RowCounts(confusion=_nested(confusion))
    best = predictions.network_scores.argmax(axis=2)
    each = best[..., None] == np.arange(n_classes)
    same = np.einsum("ijk,ilk->jl", each, each, dtype=np.int64)
    return RowCounts(
        confusion=_nested(confusion), predicted=_nested(each.sum(axis=0)), same=_nested(same)
    )


def shifted_rows(counts: RowCounts) -> ShiftedRows | None:
    """Return what is wrong with the order of rows; None where nothing is known to be."""
    labels, network = _against_labels(counts), _odd_network(counts)
    if labels is None or network is None:
        return labels or network
    return replace(
        network,
        accuracy=labels.accuracy,
        largest=labels.largest,
        agreement=labels.agreement,
        is_like_chance=True,
    )


def _against_labels(counts: RowCounts) -> ShiftedRows | None:
    confusion = np.array(counts.confusion, dtype=np.float64, ndmin=2)
    n = confusion.sum()
    if n < FEWEST:
        return None
    n_true, n_predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    accuracy, largest = float(np.trace(confusion) / n), float(n_true.max() / n)
    chance = float(n_true @ n_predicted / n**2)
    if chance == 1.0 or accuracy > largest:
        return None
    agreement = (accuracy - chance) / (1.0 - chance)
    error = np.sqrt(chance / (n * (1.0 - chance)))
    if agreement > max(NEAR_NONE, N_ERRORS * error):
        return None
    return ShiftedRows(
        n=int(n), accuracy=accuracy, largest=largest, agreement=agreement, is_like_chance=True
    )


def _odd_network(counts: RowCounts) -> ShiftedRows | None:
    same = np.array(counts.same, dtype=np.float64, ndmin=2)
    n_networks, n = len(same), float(same.max(initial=0.0))
    if n_networks < FEWEST_NETWORKS or n < FEWEST:
        return None
    share = np.array(counts.predicted, dtype=np.float64) / n
    chance = share @ share.T
    beyond = (same / n - chance) / np.maximum(1.0 - chance, 1.0 / n)
    np.fill_diagonal(beyond, 0.0)
    with_others = beyond.sum(axis=1) / (n_networks - 1)
    n_pairs = (n_networks - 1) * (n_networks - 2)
    among_others = (beyond.sum() - 2.0 * beyond.sum(axis=1)) / n_pairs
    odd = int(with_others.argmin())
    least, usual = float(with_others[odd]), float(among_others[odd])
    if usual < LEAST_AMONG_OTHERS or least > FAR_LESS * usual:
        return None
    return ShiftedRows(
        n=int(n),
        accuracy=np.nan,
        largest=np.nan,
        agreement=np.nan,
        network=odd + 1,
        n_networks=n_networks,
        with_others=least,
        among_others=usual,
    )
