"""The demo world: proteins, scores and troves, with all that is true of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from credence.predictions import Floats, Integers, Labelled, Strings
from credence.simulate.law import CLASS_NAMES, N_CLASSES, USE_PREVALENCE, WorldSettings, score_law
from credence.simulate.scores import as_labelled, draw_scores
from credence.simulate.sequences import (
    Families,
    draw_families,
    evolve,
    relative,
    without_duplicates,
)

NOTICE = (
    "Simulated data: these proteins, scores and labels were made by a computer program "
    "and say nothing about any real protein."
)
TROVE_CLASS = "HTJ"
PARTS = ("calibration", "use", "training", "relatives", "trove", "mixed")
NEW_PER_DEFECT = 3  # sound new proteins in the second trove, for each protein of one defect
LONGEST_BRIDGED = 600  # residues; two of them stay within the longest protein
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

    @property
    def true_class(self) -> Integers:
        """Their classes as labelled."""
        return self.labelled.true_class

    @property
    def family(self) -> Strings:
        """Their true families."""
        return self.labelled.cluster

    @property
    def networks(self) -> Floats:
        """The networks' own scores."""
        networks = self.labelled.predictions.network_scores
        assert networks is not None
        return networks


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
    labelled = as_labelled(ids, true_class, family, scores, networks)
    return SimulatedSet(labelled, sequences, scores)


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


@dataclass(frozen=True, eq=False)
class World:
    """A simulated world and its truth."""

    settings: WorldSettings  # What made it
    # Labelled proteins never seen in training; proteins of another composition, whose true classes
    # a table must not show.
    calibration: SimulatedSet
    use: SimulatedSet
    training: SimulatedTraining  # What the classifier saw
    trove: SimulatedSet  # New clean HTJ proteins; new proteins of all classes with defects
    mixed_trove: SimulatedSet
    planted: tuple[Planted, ...]  # All that was planted, of every set


def make_world(settings: WorldSettings) -> World:
    """Return the world of these settings, the same one every time."""
    streams = np.random.default_rng(settings.seed).spawn(len(PARTS))
    rng = dict(zip(PARTS, streams, strict=True))
    counts = np.zeros(N_CLASSES, dtype=np.int64)
    prevalence = score_law().prevalence
    only_htj = np.eye(N_CLASSES)[CLASS_NAMES.index(TROVE_CLASS)]

    def draw(part: str, n_members: int, shares: Floats) -> SimulatedSet:
        families = draw_families(settings, n_members, shares, rng[part])
        if part == "trove":
            families = without_duplicates(families)
        scores, networks = draw_scores(families, rng[part], keep_networks=True)
        assert networks is not None
        sequences = evolve(families, rng[part])
        prefix = "simulated" if part == "calibration" else f"simulated_{part}"
        names, rows = families.names(f"{prefix}_family"), np.arange(n_members)
        if part == "use":
            # The order of a use-set must not give the classes away.
            ids, rows = numbered("simulated_use", n_members), rng[part].permutation(n_members)
        else:
            ids = labelled_ids(families.member_class, counts)
        true_class = families.member_class[rows]
        return assemble(
            ids, true_class, names[rows], scores[rows], networks[rows], sequences[rows]
        )

    calibration = draw("calibration", settings.n_calibration, prevalence)
    use = draw("use", settings.n_use, np.array(USE_PREVALENCE))
    training, planted = _training(settings, prevalence, calibration, rng)
    trove = draw("trove", settings.n_trove, only_htj)
    rows = _mixed_trove(settings, calibration, training, planted, rng["mixed"])
    classes = np.array([row.class_ for row in rows], dtype=np.int64)
    mixed = assemble(
        labelled_ids(classes, counts),
        classes,
        np.array([row.family for row in rows], dtype=object),
        np.array([row.scores for row in rows]).reshape(-1, N_CLASSES),
        np.array([row.networks for row in rows]) if rows else None,
        np.array([row.sequence for row in rows], dtype=object),
    )
    defects = tuple(
        Planted(id_, row.kind, tuple(mixed.ids[at] for at in row.repeats) or row.sources)
        for id_, row in zip(mixed.ids, rows, strict=True)
        if row.kind
    )
    return World(settings, calibration, use, training, trove, mixed, planted + defects)


def numbered(prefix: str, n_wanted: int) -> Strings:
    """Return names that differ by a number, from 1 on."""
    return np.array([f"{prefix}_{i + 1:06d}" for i in range(n_wanted)], dtype=object)


def _training(
    settings: WorldSettings,
    prevalence: Floats,
    calibration: SimulatedSet,
    rng: Mapping[str, np.random.Generator],
) -> tuple[SimulatedTraining, tuple[Planted, ...]]:
    families = draw_families(settings, settings.n_training, prevalence, rng["training"])
    sequences = evolve(families, rng["training"])
    family = calibration.family
    sources = one_per_family(family, settings.n_training_relatives, rng["relatives"])
    relatives = [relative(calibration.sequences[row], rng["relatives"]) for row in sources]
    training = SimulatedTraining(
        numbered("simulated_training", settings.n_training + len(sources)),
        np.concatenate([sequences, np.array(relatives, dtype=object)]),
        np.concatenate([families.member_class, calibration.true_class[sources]]),
        np.concatenate([families.names("simulated_training_family"), family[sources]]),
    )
    planted = []
    for row, training_id in zip(sources, training.ids[settings.n_training :], strict=True):
        for member in np.flatnonzero(family == family[row]):
            is_same = calibration.sequences[member] == calibration.sequences[row]
            kind = "relative_in_training" if is_same else "family_in_training"
            planted.append(Planted(calibration.ids[member], kind, (training_id,)))
    return training, tuple(planted)


class _Row(NamedTuple):
    """A protein of the second trove, and what it was planted for."""

    sequence: str
    class_: int
    family: str
    scores: Floats
    networks: Floats
    kind: str = ""  # One of `KINDS`; '' for a sound one
    sources: tuple[str, ...] = ()
    repeats: tuple[int, ...] = ()  # Rows of the trove that are its source


def _mixed_trove(
    settings: WorldSettings,
    calibration: SimulatedSet,
    training: SimulatedTraining,
    planted: tuple[Planted, ...],
    rng: np.random.Generator,
) -> list[_Row]:
    """Return the second trove: new families of all classes, then one defect after another."""
    n, ids, family = settings.n_defects, calibration.ids, calibration.family
    classes, sequences = calibration.true_class.tolist(), calibration.sequences
    tied_to_training = {entry.id for entry in planted}
    free = np.array(
        [row for row, id_ in enumerate(ids) if id_ not in tied_to_training], dtype=np.int64
    )
    free = rng.permutation(free[one_per_family(family[free], len(free), rng)])
    repeated, relabelled, joining, bridged = np.split(free, [n, 2 * n, 3 * n])

    def new_scores(class_: int) -> tuple[Floats, Floats]:
        lone = Families(np.array([class_]), np.array([1]), np.array([False]))
        scores, networks = draw_scores(lone, rng, keep_networks=True)
        assert networks is not None
        return scores[0], networks[0]

    new = without_duplicates(
        draw_families(settings, NEW_PER_DEFECT * n, score_law().prevalence, rng)
    )
    scores, networks = draw_scores(new, rng, keep_networks=True)
    assert networks is not None
    names = new.names("simulated_mixed_family")
    columns = evolve(new, rng), new.member_class.tolist(), names, scores, networks
    rows = [_Row(*row) for row in zip(*columns, strict=True)]
    for kind, copied in (("exact_repeat", repeated), ("label_conflict", relabelled)):
        for row in copied:
            shift = 0 if kind == "exact_repeat" else int(rng.integers(1, N_CLASSES))
            class_ = (classes[row] + shift) % N_CLASSES
            same = calibration.unrounded_scores[row], calibration.networks[row]
            rows.append(_Row(sequences[row], class_, family[row], *same, kind, (ids[row],)))
    originals = rng.permutation(NEW_PER_DEFECT * n)[:n].tolist()
    rows += [rows[row]._replace(kind="repeat_within", repeats=(row,)) for row in originals]
    strangers = np.flatnonzero(~np.isin(training.family.astype(str), family.astype(str)))
    strangers = strangers[one_per_family(training.family[strangers], n, rng)]
    for kind, known, chosen in (
        ("relative_of_training", training, strangers),
        ("joins_family", calibration, joining),
    ):
        for row in chosen:
            class_, sequence = int(known.true_class[row]), relative(known.sequences[row], rng)
            drawn, source = new_scores(class_), (known.ids[row],)
            rows.append(_Row(sequence, class_, known.family[row], *drawn, kind, source))
    short = [row for row in bridged if len(sequences[row]) <= LONGEST_BRIDGED]
    for first, second in list(zip(short[0::2], short[1::2], strict=False))[:n]:
        sequence, both = sequences[first] + sequences[second], f"{family[first]}+{family[second]}"
        sources = ids[first], ids[second]
        drawn = new_scores(classes[first])
        rows.append(_Row(sequence, classes[first], both, *drawn, "bridge", sources))
    return rows
