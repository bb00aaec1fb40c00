"""True classes of wrong predictions that were counted, not named.

Counts say how many predictions of each class are wrong and, with the number of members of each
class, how many members each class misses; which of these are which they do not say. Assumed is
that the missed members are spread over the wrong predictions of all other classes as evenly as
both numbers allow (no two classes are taken for each other more than others), at every score.
"""

import numpy as np

from credence.predictions import Floats, Integers, Labelled

MOST_SCALINGS = 1000  # of scaling rows and columns; far more than any table needs
LEAST_CHANGE = 1e-10  # of all predictions, that a round moves


def assumed_true_classes(labelled: Labelled, members: Integers) -> Integers:
    """Return the true class of each prediction, of wrong ones as it is assumed."""
    predicted, is_right = labelled.predictions.predicted_class, labelled.is_correct
    n_classes, score = len(members), labelled.predictions.required_top_score
    n_right, n_wrong = (
        np.bincount(predicted[rows], minlength=n_classes) for rows in (is_right, ~is_right)
    )
    table = even_table(n_wrong, members - n_right)
    true_class, carried = predicted.copy(), np.zeros(n_classes)
    for class_ in range(n_classes):
        rows = np.flatnonzero(~is_right & (predicted == class_))
        wanted = table[class_] + carried
        count = whole_shares(np.delete(wanted, class_), len(rows))
        count = np.insert(count, class_, 0)
        carried = wanted - count  # so that rounding leaves each class its members
        place = np.concatenate([(np.arange(n) + 0.5) / n for n in count])
        among = np.repeat(np.arange(n_classes), count)[np.argsort(place, kind="stable")]
        true_class[rows[np.argsort(score[rows], kind="stable")]] = among
    return true_class


def even_table(n_wrong: Integers, n_missed: Integers) -> Floats:
    """Return wrong predictions by predicted and true class, whose sums are these two.

    Of all such tables it is that of independent rows and columns, but for its diagonal of zeros.
    """
    table = np.outer(n_wrong, n_missed) * (1.0 - np.eye(len(n_wrong)))
    for _ in range(MOST_SCALINGS):
        before = table
        for axis, wanted in ((0, n_missed[None, :]), (1, n_wrong[:, None])):
            total = table.sum(axis=axis, keepdims=True)
            table = table * np.divide(wanted, total, out=np.zeros(total.shape), where=total > 0)
        if np.abs(table - before).sum() <= LEAST_CHANGE * n_wrong.sum():
            break
    return table


def whole_shares(wanted: Floats, total: int) -> Integers:
    """Return whole numbers near those wanted, none negative, of that sum."""
    count = np.maximum(np.floor(wanted), 0.0).astype(np.int64)
    while (rest := total - int(count.sum())) != 0:
        gap = wanted - count if rest > 0 else np.where(count > 0, count - wanted, -np.inf)
        count[gap.argmax()] += np.sign(rest)
    return count
