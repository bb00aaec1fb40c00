"""Sets of simulated proteins, and what is planted in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats, Integers, Labelled, Strings, from_scores, label
from credence.simulate.law import (
    CLASS_NAMES,
    N_CLASSES,
    RESOLUTION,
    SCALE,
    WorldSettings,
    score_law,
)
from credence.simulate.scores import draw_scores, rounded
from credence.simulate.sequences import (
    Families,
    draw_families,
    evolve,
    relative,
    without_duplicates,
)

# PhANNs' own spellings in the row names of its labelled tables.
LABELS = (
    *("major_capsid", "minor_capsid", "baseplate", "major_tail", "minor_tail", "portal"),
    *("tail_fiber", "shaft", "collar", "HTJ", "other"),
)


@dataclass(frozen=True, eq=False)
class SimulatedSet:
    """Labelled proteins with scores and sequences, in the order of their table."""

    # Rounded scores with the networks' own; true classes as labelled; the cluster is the true
    # family.
    labelled: Labelled
    sequences: Strings  # A sequence per protein
    unrounded_scores: Floats  # The sums of ten softmaxes before they were rounded

    @property
    def ids(self) -> Strings:
        """Names of the proteins."""
        return self.labelled.predictions.ids


@dataclass(frozen=True, eq=False)
class SimulatedTraining:
    """Proteins that the simulated classifier saw in training."""

    ids: Strings  # Names, sequences and true families
    sequences: Strings
    true_class: Integers  # Index into the class names
    family: Strings


@dataclass(frozen=True)
class Planted:
    """One thing planted in the world for a stage of the pipeline to find."""

    id: str  # The protein
    kind: str  # One of `KINDS`
    sources: tuple[str, ...]  # The proteins that it repeats or descends from


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
    """Return a set of these arrays, its scores rounded as a table shows them."""
    predictions = from_scores(
        ids, CLASS_NAMES, rounded(scores), SCALE, RESOLUTION, network_scores=networks
    )
    return SimulatedSet(label(predictions, true_class, cluster=family), sequences, scores)


def labelled_ids(true_class: Integers, counts: Integers) -> Strings:
    """Return names that carry the label, as PhANNs' labelled tables have them."""
    ids = np.empty(len(true_class), dtype=object)
    for row, class_ in enumerate(true_class):
        counts[class_] += 1
        ids[row] = f"{LABELS[class_]}_{counts[class_]}"
    return ids


def one_per_family(family: Strings, n_wanted: int, rng: np.random.Generator) -> Integers:
    """Return the first rows of families drawn at random, in the order of the rows."""
    _, first = np.unique(family, return_index=True)
    chosen = rng.permutation(first)[:n_wanted]
    return np.sort(chosen).astype(np.int64)


NEW_PER_DEFECT = 3  # sound new proteins in the second trove, for each protein of one defect
LONGEST_BRIDGED = 600  # residues; two of them stay within the longest protein


def mixed_trove(
    settings: WorldSettings,
    calibration: SimulatedSet,
    training: SimulatedTraining,
    planted: tuple[Planted, ...],
    rng: np.random.Generator,
    counts: Integers,
) -> tuple[SimulatedSet, tuple[Planted, ...]]:
    """Return the second trove and what was planted in it."""
    draft = _Draft(settings, calibration, training, planted, rng)
    draft.add_new()
    draft.add_repeats()
    draft.add_relatives()
    draft.add_bridges()
    return draft.finished(counts)


class _Draft:
    """The second trove while it is put together, one kind of protein after another."""

    def __init__(
        self,
        settings: WorldSettings,
        calibration: SimulatedSet,
        training: SimulatedTraining,
        planted: tuple[Planted, ...],
        rng: np.random.Generator,
    ) -> None:
        self.settings, self.calibration, self.training = settings, calibration, training
        self.rng = rng
        tied_to_training = {entry.id for entry in planted}
        free = np.array([name not in tied_to_training for name in calibration.ids], dtype=bool)
        rows = np.flatnonzero(free)
        family = calibration.labelled.cluster[rows]
        self.free = rng.permutation(rows[one_per_family(family, len(rows), rng)])
        self.taken = 0
        self.sequences: list[str] = []
        self.classes: list[int] = []
        self.families: list[str] = []
        self.scores: list[Floats] = []
        self.networks: list[Floats] = []
        self.notes: list[tuple[int, str, tuple[str, ...]]] = []

    def next_sources(self, n_wanted: int) -> Integers:
        """Return rows of calibration proteins that nothing was made of yet."""
        rows = self.free[self.taken : self.taken + n_wanted]
        self.taken += len(rows)
        return rows

    def add(self, sequence: str, class_: int, family: str, scores: tuple[Floats, Floats]) -> int:
        """Add a protein and return its row."""
        self.sequences.append(sequence)
        self.classes.append(int(class_))
        self.families.append(family)
        self.scores.append(scores[0])
        self.networks.append(scores[1])
        return len(self.sequences) - 1

    def copied_scores(self, row: int) -> tuple[Floats, Floats]:
        """Return the scores of a calibration protein: the same sequence, the same scores."""
        networks = self.calibration.labelled.predictions.network_scores
        assert networks is not None
        return self.calibration.unrounded_scores[row], networks[row]

    def new_scores(self, class_: int) -> tuple[Floats, Floats]:
        """Return scores drawn from the law for a protein of this class."""
        lone = Families(np.array([class_]), np.array([1]), np.array([False]))
        scores, networks = draw_scores(lone, self.rng, keep_networks=True)
        assert networks is not None
        return scores[0], networks[0]

    def add_new(self) -> None:
        """Add new families of all classes, without any defect."""
        n_new = NEW_PER_DEFECT * self.settings.n_defects
        drawn = draw_families(self.settings, n_new, score_law().prevalence, self.rng)
        families = without_duplicates(drawn)
        scores, networks = draw_scores(families, self.rng, keep_networks=True)
        assert networks is not None
        names = families.names("simulated_mixed_family")
        sequences = evolve(families, self.rng)
        for row, class_ in enumerate(families.member_class):
            self.add(sequences[row], class_, names[row], (scores[row], networks[row]))

    def add_repeats(self) -> None:
        """Add exact repeats, label conflicts, and repeats of the trove's own proteins."""
        labelled, ids = self.calibration.labelled, self.calibration.ids
        for kind in ("exact_repeat", "label_conflict"):
            for row in self.next_sources(self.settings.n_defects):
                shift = 0 if kind == "exact_repeat" else int(self.rng.integers(1, N_CLASSES))
                class_ = (int(labelled.true_class[row]) + shift) % N_CLASSES
                sequence = self.calibration.sequences[row]
                here = self.add(sequence, class_, labelled.cluster[row], self.copied_scores(row))
                self.notes.append((here, kind, (ids[row],)))
        originals = self.rng.permutation(NEW_PER_DEFECT * self.settings.n_defects)
        for row in originals[: self.settings.n_defects]:
            scores = self.scores[row], self.networks[row]
            here = self.add(self.sequences[row], self.classes[row], self.families[row], scores)
            self.notes.append((here, "repeat_within", (str(row),)))

    def add_relatives(self) -> None:
        """Add relatives of training proteins and of calibration proteins."""
        known = set(self.calibration.labelled.cluster)
        strangers = np.array([family not in known for family in self.training.family], dtype=bool)
        rows = np.flatnonzero(strangers)
        chosen = one_per_family(self.training.family[rows], self.settings.n_defects, self.rng)
        for row in rows[chosen]:
            class_ = int(self.training.true_class[row])
            sequence = relative(self.training.sequences[row], self.rng)
            here = self.add(sequence, class_, self.training.family[row], self.new_scores(class_))
            self.notes.append((here, "relative_of_training", (self.training.ids[row],)))
        labelled = self.calibration.labelled
        for row in self.next_sources(self.settings.n_defects):
            class_ = int(labelled.true_class[row])
            sequence = relative(self.calibration.sequences[row], self.rng)
            here = self.add(sequence, class_, labelled.cluster[row], self.new_scores(class_))
            self.notes.append((here, "joins_family", (self.calibration.ids[row],)))

    def add_bridges(self) -> None:
        """Add chains of two calibration proteins of different families."""
        labelled, sequences = self.calibration.labelled, self.calibration.sequences
        short = [row for row in self.free[self.taken :] if len(sequences[row]) <= LONGEST_BRIDGED]
        pairs = list(zip(short[0::2], short[1::2], strict=False))[: self.settings.n_defects]
        for first, second in pairs:
            class_ = int(labelled.true_class[first])
            here = self.add(
                sequences[first] + sequences[second],
                class_,
                f"{labelled.cluster[first]}+{labelled.cluster[second]}",
                self.new_scores(class_),
            )
            both = self.calibration.ids[first], self.calibration.ids[second]
            self.notes.append((here, "bridge", both))

    def finished(self, counts: Integers) -> tuple[SimulatedSet, tuple[Planted, ...]]:
        """Return the trove and what was planted in it, by name."""
        classes = np.array(self.classes, dtype=np.int64)
        ids = labelled_ids(classes, counts)
        trove = assemble(
            ids,
            classes,
            np.array(self.families, dtype=object),
            np.array(self.scores).reshape(-1, N_CLASSES),
            np.array(self.networks) if self.networks else None,
            np.array(self.sequences, dtype=object),
        )
        planted = tuple(
            Planted(
                ids[row], kind, (ids[int(sources[0])],) if kind == "repeat_within" else sources
            )
            for row, kind, sources in self.notes
        )
        return trove, planted
