"""Which labels are doubtful: what scores and relatives show of them.

Nothing here changes a label. The evidence for a class c against the label y of a protein
has two parts. Scores: the log-odds of c minus those of y, held out, their mean over the
protein and its m - 1 relatives with the same label, times m / (1 + 0.7 (m - 1)). Labels:
log(0.8 r + 0.2), where r = (relatives labelled c + 1) / (relatives labelled y + 1).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from credence.calibrators import crossfit
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.matrix import MOST_CLASSES, Matrix, MatrixModel
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import log_scores
from credence.composition.probabilities import BiasCorrected, fit_bias_corrected
from credence.draws import encode_clusters
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.progress import each

# Share of the proteins whose scores are taken to show nothing of their class: it bounds what the
# scores of one can show.
SHOW_NOTHING = 0.02
ALIKE = 0.7  # what relatives share of the error of their scores: many count as 1 / 0.7 proteins
# Chance that all of its relatives say nothing of a label, being none or mislabelled with it:
# it bounds what they can show for the label.
SAY_NOTHING = 0.2
PLANTED = 0.02  # share of the labels that are made wrong, to see who is found
LEAST_PLANTED, MOST_TABLES = 200, 10  # wrong labels planted in all, in so many tables at most
PLANTING_SEED = 20261123
DOUBT_OF_LIMITS = 0.05  # how often a Poisson number is beyond its limit


def class_chances(labelled: Labelled) -> Floats:
    """Return P(class | scores) of each protein and class, by fits without its cluster.

    Without score vectors the other classes share the rest as they do among wrong predictions.
    """
    predictions = labelled.predictions
    fold = crossfit.folds_by_class(labelled, crossfit.DEFAULT_FOLDS)
    chance = np.empty((labelled.n_samples, predictions.n_classes))
    if predictions.has_vectors:
        for is_out in crossfit.left_out(fold):
            model = _model_of_classes(labelled.take(~is_out))
            chance[is_out] = model.probabilities(predictions.take(is_out))
        return chance
    method = BY_NAME["class_only" if predictions.top_score is None else "kernel"]
    calibrator = method.build(method.settings(), FitOptions(n_draws=0))
    confidence = crossfit.out_of_fold(labelled, calibrator, fold).value
    confidence_ = np.nan_to_num(confidence, nan=crossfit.NOTHING_KNOWN)
    predicted = predictions.predicted_class
    for is_out in crossfit.left_out(fold):
        share = confusion_counts(labelled.take(~is_out))[:, predicted[is_out]].T
        chance[is_out] = (
            (1.0 - confidence_[is_out, None]) * share / share.sum(axis=1, keepdims=True)
        )
    chance[np.arange(len(confidence_)), predicted] = confidence_
    return chance


def _model_of_classes(seen: Labelled) -> MatrixModel | BiasCorrected:
    """Return what gives every class a probability: a matrix, or of many classes their biases."""
    predictions = seen.predictions
    if predictions.scores is None or predictions.n_classes <= MOST_CLASSES:
        return Matrix().fit_model(seen, FitOptions(n_draws=0))
    logs = log_scores(predictions.scores, predictions.resolution)
    return fit_bias_corrected(logs, seen.true_class, seen.weight, predictions.n_classes)


def confusion_counts(labelled: Labelled) -> Floats:
    """Return how often each class, in rows, is predicted as each other one, plus one."""
    n_classes = labelled.predictions.n_classes
    counts = np.ones((n_classes, n_classes))
    np.add.at(counts, (labelled.true_class, labelled.predictions.predicted_class), 1.0)
    np.fill_diagonal(counts, 0.0)
    return counts


@dataclass(frozen=True, kw_only=True, eq=False)
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
    bounded = (1.0 - SHOW_NOTHING) * chance + SHOW_NOTHING / n_classes
    shown = np.log(bounded / (1.0 - bounded))
    shown -= shown[row, label][:, None]
    alike = family * n_classes + label  # relatives with one label
    counts = np.bincount(alike, minlength=len(key) * n_classes)
    total = np.column_stack([np.bincount(alike, weights=column) for column in shown.T])[alike]
    n_same = counts[alike] - 1
    relatives = counts.reshape(len(key), n_classes)[family]
    evidence = total / (1.0 + ALIKE * n_same)[:, None]
    ratio = (relatives + 1.0) / (n_same + 1.0)[:, None]
    evidence += np.log((1.0 - SAY_NOTHING) * ratio + SAY_NOTHING)
    evidence[row, label] = -np.inf
    suggested = evidence.argmax(axis=1)
    by_relatives = total[row, suggested] - shown[row, suggested]
    return Doubts(
        doubt=evidence[row, suggested],
        suggested=suggested.astype(np.int64),
        p_label=chance[row, label],
        p_suggested=chance[row, suggested],
        by_relatives=by_relatives,
        n_same=n_same,
        n_other=relatives.sum(axis=1) - n_same - 1,
        n_suggested=relatives[row, suggested],
    )


def with_wrong_labels(
    labelled: Labelled, share: float, rng: np.random.Generator, in_families: float = 0.5
) -> tuple[Labelled, Booleans]:
    """Return the same proteins, some mislabelled as classes are mispredicted, and which these are.

    `in_families` of them are families of two and more that have one wrong label.
    """
    label = labelled.true_class.copy()
    confusion = confusion_counts(labelled)
    confusion[:, np.bincount(label, minlength=len(confusion)) == 0] = 0.0  # labels of the table
    confusion /= confusion.sum(axis=1, keepdims=True)
    family, key = encode_clusters(labelled.cluster)
    n_wanted = max(1, round(share * len(label)))
    n_left = round(in_families * n_wanted)
    size = np.bincount(family)
    order = np.argsort(family, kind="stable")
    end = np.cumsum(size)
    is_wrong = np.zeros(len(label), dtype=np.bool_)
    for code in rng.permutation(len(key)):
        if 2 <= size[code] <= n_left:
            members = order[end[code] - size[code] : end[code]]
            usual = np.bincount(label[members]).argmax()
            label[members] = rng.choice(len(confusion), p=confusion[usual])
            is_wrong[members] = True
            n_left -= size[code]
    for row in rng.permutation(np.flatnonzero(~is_wrong))[: n_wanted - int(is_wrong.sum())]:
        label[row] = rng.choice(len(confusion), p=confusion[label[row]])
        is_wrong[row] = True
    return replace(labelled, true_class=label), is_wrong & (label != labelled.true_class)


@dataclass(frozen=True, kw_only=True, eq=False)
class PlantedErrors:
    """What doubts are worth, by wrong labels that were planted."""

    share: float  # Of the labels that are wrong, at least
    doubt: Floats  # Ascending; and from there on:
    listed: Floats  # Share of the wrong labels that are listed
    false: Floats  # Share of the list that is right labels, with caution; falling

    def at(self, doubt: Floats) -> tuple[Floats, Floats]:
        """Return the share listed, and that of right labels, in the list down to each doubt."""
        place = np.searchsorted(self.doubt, doubt, side="right") - 1
        known = np.maximum(place, 0)
        listed = np.where(place < 0, 1.0, self.listed[known])
        return listed, np.where(place < 0, 1.0, self.false[known])


def plant(labelled: Labelled, doubts: Doubts) -> PlantedErrors:
    """Return what a list of doubtful labels is worth, by planting wrong ones.

    Of a share r of wrong labels, r n S are listed where S of the planted are; so r is at
    most N / (n S), where N are listed. The least of this over all doubts, with limits
    for chance, is where wrong labels stand out most; r is taken to be its lower limit
    there, in which relatives with one label count once. Of N, 1 - r n S / N are then
    right labels. It is more where scores contradict right labels as strongly as wrong ones.
    """
    n = labelled.n_samples
    n_tables = int(np.clip(np.ceil(LEAST_PLANTED / max(PLANTED * n, 1.0)), 1, MOST_TABLES))
    wrong = []
    for number in each(range(n_tables), n_tables):
        rng = np.random.default_rng([PLANTING_SEED, number])
        planted, is_wrong = with_wrong_labels(labelled, PLANTED, rng)
        wrong.append(doubts_of(planted, class_chances(planted)).doubt[is_wrong])
    at = np.sort(np.concatenate(wrong))
    listed = 1.0 - np.arange(len(at)) / len(at)
    n_listed = n - np.searchsorted(np.sort(doubts.doubt), at)
    alike = np.unique(np.column_stack([encode_clusters(labelled.cluster)[0], labelled.true_class]),
                      axis=0, return_inverse=True)[1].ravel()  # fmt: skip
    best = np.full(alike.max() + 1, -np.inf)
    np.maximum.at(best, alike, doubts.doubt)
    n_alike = len(best) - np.searchsorted(np.sort(best), at)
    size = n_listed / np.maximum(n_alike, 1)
    most = np.maximum(size, 1.0) * special.gammaincinv(n_alike + 1.0, 1.0 - DOUBT_OF_LIMITS)
    place = int((most / listed).argmin())
    least = size[place] * special.gammaincinv(max(float(n_alike[place]), 1.0), DOUBT_OF_LIMITS)
    share = float(least) / (n * float(listed[place]))
    n_wrong = np.minimum(share * n * listed, n_listed)
    false = 1.0 - n_wrong / np.maximum(n_listed, 1)
    return PlantedErrors(share=share, doubt=at, listed=listed, false=np.minimum.accumulate(false))
