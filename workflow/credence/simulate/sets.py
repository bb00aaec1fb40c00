"""Sets of simulated proteins, and what is planted in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats, Integers, Labelled, Strings, from_scores, label
from credence.simulate.law import CLASS_NAMES, RESOLUTION, SCALE
from credence.simulate.scores import rounded

# PhANNs' own spellings in the row names of its labelled tables.
LABELS = (
    *("major_capsid", "minor_capsid", "baseplate", "major_tail", "minor_tail", "portal"),
    *("tail_fiber", "shaft", "collar", "HTJ", "other"),
)


@dataclass(frozen=True, eq=False)
class SimulatedSet:
    """Labelled proteins with scores and sequences, in the order of their table.

    Parameters
    ----------
    labelled : Labelled
        Rounded scores with the networks' own; true classes as labelled; the
        cluster is the true family.
    sequences : array of str
        A sequence per protein.
    unrounded_scores : array, shape (n_samples, n_classes)
        The sums of ten softmaxes before they were rounded.
    """

    labelled: Labelled
    sequences: Strings
    unrounded_scores: Floats

    @property
    def ids(self) -> Strings:
        """Names of the proteins."""
        return self.labelled.predictions.ids


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Proteins that the simulated classifier saw in training.

    Parameters
    ----------
    ids, sequences, family : array of str
        Names, sequences and true families.
    true_class : array of int
        Index into the class names.
    """

    ids: Strings
    sequences: Strings
    true_class: Integers
    family: Strings


@dataclass(frozen=True)
class Planted:
    """One thing planted in the world for a stage of the pipeline to find.

    Parameters
    ----------
    id : str
        The protein.
    kind : str
        One of `KINDS`.
    sources : tuple of str
        The proteins that it repeats or descends from.
    """

    id: str
    kind: str
    sources: tuple[str, ...]


KINDS: Mapping[str, str] = {
    "relative_in_training": "a calibration protein with a close relative in the training set",
    "family_in_training": "a calibration protein whose family has a relative in the training set",
    "exact_repeat": "the same sequence and label as a calibration protein",
    "label_conflict": "the sequence of a calibration protein with another label",
    "repeat_within": "the same sequence as a protein of the same trove",
    "relative_of_training": "a close relative of a training protein",
    "joins_family": "a close relative of a calibration protein: welcome, joins its cluster",
    "bridge": "two calibration proteins of different families in one chain",
}


def assemble(
    ids: Strings,
    true_class: Integers,
    family: Strings,
    scores: Floats,
    networks: Floats | None,
    sequences: Strings,
) -> SimulatedSet:
    """Return a set of these arrays, its scores rounded as a table shows them.

    Parameters
    ----------
    ids, family, sequences : array of str
        Names, true families and sequences.
    true_class : array of int
        Classes as labelled.
    scores : array, shape (n_samples, n_classes)
        Unrounded sums.
    networks : array, shape (n_samples, n_networks, n_classes), optional
        The networks' own.
    """
    predictions = from_scores(
        ids, CLASS_NAMES, rounded(scores), SCALE, RESOLUTION, network_scores=networks
    )
    return SimulatedSet(label(predictions, true_class, cluster=family), sequences, scores)


def labelled_ids(true_class: Integers, counts: Integers) -> Strings:
    """Return names that carry the label, as PhANNs' labelled tables have them.

    Parameters
    ----------
    true_class : array of int
        Classes as labelled.
    counts : array of int, shape (n_classes,)
        How many names of each class there are; raised, so that no name comes
        twice in a world.
    """
    ids = np.empty(len(true_class), dtype=object)
    for row, class_ in enumerate(true_class):
        counts[class_] += 1
        ids[row] = f"{LABELS[class_]}_{counts[class_]}"
    return ids


def one_per_family(family: Strings, n_wanted: int, rng: np.random.Generator) -> Integers:
    """Return the first rows of families drawn at random, in the order of the rows.

    Parameters
    ----------
    family : array of str
        Family of each row.
    n_wanted : int
        Number of families; fewer where there are fewer.
    rng : numpy.random.Generator
        Source of randomness.
    """
    _, first = np.unique(family, return_index=True)
    chosen = rng.permutation(first)[:n_wanted]
    return np.sort(chosen).astype(np.int64)
