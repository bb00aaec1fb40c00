"""Which labels are doubtful: what scores and relatives say of them.

Nothing here changes a label. The evidence against the label y of a protein, and for a
class c, is a log-odds of two parts. Scores: log P(c) - log P(y), held out, summed over
the protein and its relatives with the same label, of which m count as 2m / (m + 1).
Labels: log((relatives labelled c + 1) / (relatives labelled y + 1)).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.crossfit import NOTHING_KNOWN, folds_by_class, out_of_fold
from credence.calibrators.matrix import Matrix
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters
from credence.predictions import Booleans, Floats, Integers, Labelled

N_FOLDS = 5
# Share of the proteins whose scores are taken to show nothing of their class. It bounds what one
# protein can say: a chance of 1e-6 is no better known than one of 1e-2.
SHOW_NOTHING = 0.1
SEED = 20261123
LEAST_PLANTED, MOST_TABLES = 200, 10  # wrong labels planted in all, in so many tables at most
# Poisson: with 95 % certainty no more than these are to be expected where none is found.
NONE_FOUND = 3.0


def class_chances(labelled: Labelled) -> Floats:
    """Return P(class | scores) of each protein and class, by fits without its cluster.

    Where every class has a score, by matrix scaling. Else the predicted class has its
    confidence, and the other classes share the rest as they do among wrong predictions.
    """
    predictions = labelled.predictions
    fold = folds_by_class(labelled, N_FOLDS)
    chance = np.empty((labelled.n_samples, predictions.n_classes))
    if predictions.scores is not None and predictions.is_distribution:
        every = np.ones(predictions.n_classes, dtype=np.bool_)
        for number in np.unique(fold):
            is_out = fold == number
            model = Matrix().fit_model(labelled.take(~is_out), every, FitOptions(n_draws=0))
            chance[is_out] = model.probabilities(predictions.take(is_out))
        return chance
    method = BY_NAME["class_only" if predictions.top_score is None else "kernel"]
    calibrator = method.build(method.settings(), FitOptions(n_draws=0))
    confidence = out_of_fold(labelled, calibrator, fold).value
    own = np.nan_to_num(confidence, nan=NOTHING_KNOWN)
    predicted = predictions.predicted_class
    for number in np.unique(fold):
        is_out = fold == number
        share = confusion_of(labelled.take(~is_out))[:, predicted[is_out]].T
        chance[is_out] = (1.0 - own[is_out, None]) * share / share.sum(axis=1, keepdims=True)
    chance[np.arange(len(own)), predicted] = own
    return chance


def confusion_of(labelled: Labelled) -> Floats:
    """Return how often each class, in rows, is predicted as each other one, plus one."""
    n_classes = labelled.predictions.n_classes
    found = np.ones((n_classes, n_classes))
    np.add.at(found, (labelled.true_class, labelled.predictions.predicted_class), 1.0)
    np.fill_diagonal(found, 0.0)
    return found


@dataclass(frozen=True, eq=False)
class Doubts:
    """What speaks against the label of each protein."""

    doubt: Floats  # Log-odds of the suggested class against the label
    suggested: Integers  # The class for which most speaks, apart from the label
    p_label: Floats  # By the protein's own scores, held out
    p_suggested: Floats
    by_relatives: Floats  # How much likelier their scores make it; relatives with the same label
    n_same: Integers  # Relatives with the same label, with another, with the suggested class
    n_other: Integers
    n_suggested: Integers


def doubts_of(labelled: Labelled, chance: Floats) -> Doubts:
    """Return the doubt of each label, where P(class | scores) is known of each protein."""
    label, (n, n_classes) = labelled.true_class, chance.shape
    row = np.arange(n)
    family, key = encode_clusters(labelled.cluster)
    shown = np.log((1.0 - SHOW_NOTHING) * chance + SHOW_NOTHING / n_classes)
    shown -= shown[row, label][:, None]
    alike = family * n_classes + label  # relatives with one label
    counts = np.bincount(alike, minlength=len(key) * n_classes)
    total = np.column_stack([np.bincount(alike, weights=one) for one in shown.T])[alike]
    n_same = counts[alike] - 1
    relatives = counts.reshape(len(key), n_classes)[family]
    evidence = total * (2.0 / (n_same + 2.0))[:, None] + np.log(
        (relatives + 1.0) / (n_same + 1.0)[:, None]
    )
    evidence[row, label] = -np.inf
    suggested = evidence.argmax(axis=1)
    return Doubts(
        evidence[row, suggested],
        suggested.astype(np.int64),
        chance[row, label],
        chance[row, suggested],
        total[row, suggested] - shown[row, suggested],
        n_same,
        relatives.sum(axis=1) - n_same - 1,
        relatives[row, suggested],
    )


def with_wrong_labels(
    labelled: Labelled, share: float, rng: np.random.Generator, in_families: float = 0.5
) -> tuple[Labelled, Booleans]:
    """Return the same proteins, some with a wrong label, and which these are.

    A class is mislabelled as it is mispredicted. `in_families` of them are families of
    two and more that have one wrong label, where there are such.
    """
    label = labelled.true_class.copy()
    confusion = confusion_of(labelled)
    confusion[:, np.bincount(label, minlength=len(confusion)) == 0] = 0.0  # labels of the table
    confusion /= confusion.sum(axis=1, keepdims=True)
    family, key = encode_clusters(labelled.cluster)
    n_wanted = max(1, round(share * len(label)))
    n_left = round(in_families * n_wanted)
    size = np.bincount(family)
    order = np.argsort(family, kind="stable")
    end = np.cumsum(size)
    is_wrong = np.zeros(len(label), dtype=np.bool_)
    for one in rng.permutation(len(key)):
        if 2 <= size[one] <= n_left:
            members = order[end[one] - size[one] : end[one]]
            usual = np.bincount(label[members]).argmax()
            label[members] = rng.choice(len(confusion), p=confusion[usual])
            is_wrong[members] = True
            n_left -= size[one]
    for one in rng.permutation(np.flatnonzero(~is_wrong))[: n_wanted - int(is_wrong.sum())]:
        label[one] = rng.choice(len(confusion), p=confusion[label[one]])
        is_wrong[one] = True
    return replace(labelled, true_class=label), is_wrong & (label != labelled.true_class)


@dataclass(frozen=True, eq=False)
class PlantedErrors:
    """What doubts are worth, by wrong labels that were planted."""

    share: float  # Of the labels taken to be wrong: as asked, or the most that the table allows
    doubt: Floats  # Ascending; and from there on:
    found: Floats  # Share of the wrong labels that are listed
    false: Floats  # Share of the list that is right labels; of no longer list it is less

    def at(self, doubt: Floats) -> tuple[Floats, Floats]:
        """Return the share found, and that of right labels, in the list down to each doubt."""
        place = np.searchsorted(self.doubt, doubt, side="right") - 1
        known = np.maximum(place, 0)
        return (
            np.where(place < 0, 1.0, self.found[known]),
            np.where(place < 0, self.false[0], self.false[known]),
        )


def plant(labelled: Labelled, doubts: Doubts, share: float) -> PlantedErrors:
    """Return what a list of doubtful labels is worth where `share` of them are wrong.

    What the table lists itself counts as right, though some of it may be wrong already:
    so errors are overstated where `share` is met. No table says how many of its labels
    are wrong; but where so many would make a longer list than its own, the share is
    lowered until they do not.
    """
    n = labelled.n_samples
    n_tables = int(np.clip(np.ceil(LEAST_PLANTED / max(share * n, 1.0)), 1, MOST_TABLES))
    wrong, right = [], []
    for number in range(n_tables):
        planted, is_wrong = with_wrong_labels(
            labelled, share, np.random.default_rng([SEED, number])
        )
        doubt = doubts_of(planted, class_chances(planted)).doubt
        wrong.append(doubt[is_wrong])
        right.append(doubt[~is_wrong])
    its_wrong, its_right = np.sort(np.concatenate(wrong)), np.sort(np.concatenate(right))
    found = 1.0 - np.arange(len(its_wrong)) / len(its_wrong)
    listed = n - np.searchsorted(np.sort(doubts.doubt), its_wrong)
    most = float(((listed + NONE_FOUND) / (n * found)).min())
    taken = min(share, most)
    n_right = (len(its_right) - np.searchsorted(its_right, its_wrong)) / n_tables
    n_false = np.maximum(n_right, listed)
    false = n_false / (n_false + taken * n * found)
    return PlantedErrors(taken, its_wrong, found, np.minimum.accumulate(false))
