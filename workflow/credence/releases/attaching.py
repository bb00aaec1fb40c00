"""A trove beside the set that it joins: what becomes of every protein of it.

Rules are asked in the order of :data:`credence.releases.attaching.OUTCOMES`, all
of them of the trove alone: what the set holds is read and never changed. A
protein that is not added leaves no trace in the set, so the same trove attached
again adds nothing and says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Booleans, Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.across import relatives_by_label
from credence.relatives.attach import Attached, attach
from credence.relatives.graph import Finder, draw_graph
from credence.relatives.pack import CALIBRATION, NO_GROUP, SET_ASIDE
from credence.relatives.pairs import Pairs, Thresholds, alike, joined, no_pairs

ONLY_GROUP = "1"  # where no old protein has a group


def pack_beside(
    old_group: Strings, old_class: Integers, new_cluster: Strings, new_class: Integers
) -> Strings:
    """Return a group for each new protein: whole clusters, classes spread evenly.

    Clusters come largest first, then by name; each goes where its classes are
    least represented so far, by the rule of :func:`credence.calibrators.crossfit.fill`.

    >>> names = np.array(["1", "1", "2"], dtype=object)
    >>> new = np.array(["x", "x", "y"], dtype=object)
    >>> pack_beside(names, np.array([0, 0, 0]), new, np.array([0, 0, 0])).tolist()
    ['2', '2', '1']
    """
    groups, held = np.unique(old_group.astype(str), return_inverse=True)
    if len(groups) == 0:
        groups = np.array([ONLY_GROUP])
    names, codes = np.unique(new_cluster.astype(str), return_inverse=True)
    n_classes = 1 + max([0, *old_class.tolist(), *new_class.tolist()])
    filled = np.zeros((len(groups), n_classes))
    np.add.at(filled, (held, old_class), 1.0)
    brought = np.zeros((len(names), n_classes))
    np.add.at(brought, (codes, new_class), 1.0)
    weight = 1.0 / np.maximum(filled.sum(axis=0) + brought.sum(axis=0), 1.0)
    home = np.zeros(len(names), dtype=np.int64)
    for cluster in np.lexsort((np.arange(len(names)), -brought.sum(axis=1))).tolist():
        crowding = filled @ (brought[cluster] * weight)
        home[cluster] = int(np.lexsort((filled.sum(axis=1), crowding))[0])
        filled[home[cluster]] += brought[cluster]
    found = np.empty(len(codes), dtype=object)
    found[:] = groups[home[codes]].tolist()
    return found


UNSCORED = "unscored"
UNLABELLED = "unlabelled"
ID_TAKEN = "id_taken"
EXACT_REPEAT = "exact_repeat"
LABEL_CONFLICT = "label_conflict"
REPEAT_WITHIN = "repeat_within"
CONFLICT_WITHIN = "conflict_within"
TRAINING_RELATIVE = "training_relative"
TEST_RELATIVE = "test_relative"
BRIDGES_GROUPS = "bridges_groups"
ADDED = "added"

# In the order in which they are asked: the first that holds is the outcome.
OUTCOMES: dict[str, str] = {
    UNSCORED: "the tool gave no scores",
    UNLABELLED: "it has no true class",
    ID_TAKEN: "another protein has this id",
    EXACT_REPEAT: "the set has this sequence already, with the same label",
    LABEL_CONFLICT: "the set has this sequence with another label, which stays",
    REPEAT_WITHIN: "the trove has this sequence twice; the first by id stands for it",
    CONFLICT_WITHIN: "the trove has this sequence with two labels; none is taken",
    TRAINING_RELATIVE: "the classifier may have learnt from a relative",
    TEST_RELATIVE: "a relative is in the test group, which stays as it is",
    BRIDGES_GROUPS: "it connects groups that must stay apart",
    ADDED: "it calibrates from now on",
}


@dataclass(frozen=True, eq=False)
class KnownSet(Proteins):
    """The set so far: proteins that stay as they are; residues '' where they are not known."""

    class_: Integers  # True classes
    cluster: Strings  # As in the table of groups
    group: Strings
    role: Strings


@dataclass(frozen=True, eq=False)
class NewSet(Proteins):
    """The scored proteins of a trove; residues '' where they are not known."""

    class_: Integers  # True classes; `credence.predictions.UNKNOWN_CLASS` where there is none


@dataclass(frozen=True, eq=False)
class Attachment:
    """What became of each protein of a trove, in its order."""

    outcome: Strings  # One of `OUTCOMES`
    cluster: Strings  # Of those that are added; '' for the others
    group: Strings
    relative: Strings  # The protein that decided it; '' where there is none
    relative_class: Integers  # The true class of that one; `UNKNOWN_CLASS` where it is not known
    identity: Floats  # Likeness to that one; NaN where not known
    coverage: Floats
    reason: Strings  # The outcome in words

    @property
    def is_added(self) -> Booleans:
        """Whether each protein joins the set."""
        return np.asarray(self.outcome == ADDED, dtype=np.bool_)

    def counts(self) -> dict[str, int]:
        """Return the number of proteins of each outcome, zeros too."""
        found = self.outcome.tolist()
        return {name: found.count(name) for name in OUTCOMES}


class Search(Protocol):
    """What finds the relatives of new proteins; likeness is 0 where not known."""

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return for each new protein one relative under each label."""
        ...

    def among_new(self, new: Proteins) -> Pairs:
        """Return enough pairs to connect all new proteins that belong together."""
        ...


@dataclass(frozen=True)
class SequenceSearch:
    """Relatives as METHODS section 4 defines them."""

    finder: Finder  # What finds alike sequences
    thresholds: Thresholds  # Of relatives
    threads: int = 1  # Alignments at a time

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label (see :class:`Search`)."""
        return relatives_by_label(new, old, label, self.finder, self.thresholds, self.threads)

    def among_new(self, new: Proteins) -> Pairs:
        """Return the graph that clusters are made of (see :class:`Search`)."""
        graph = draw_graph(new, self.finder, self.thresholds)
        code = graph.distinct.code
        _, row = np.unique(code, return_index=True)
        first = row[code]
        copies = np.flatnonzero(first != np.arange(len(code)))
        same = alike(first[copies].astype(np.int64), copies)
        return joined([graph.pairs.renamed(row.astype(np.int64)), same])


@dataclass(frozen=True, eq=False)
class TableSearch:
    """Relatives are those whom a table gives one cluster."""

    old: Mapping[str, str]  # Id → cluster: of the set and of training, and of the trove
    new: Mapping[str, str]

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label, the first by id (see :class:`Search`)."""
        homes: dict[str, dict[str, int]] = {}
        for row in np.argsort(old.ids.astype(str), kind="stable").tolist():
            cluster = self.old[old.ids[row]]
            homes.setdefault(cluster, {}).setdefault(str(label[row]), row)
        return _unknown_likeness(
            [
                (row, other)
                for row, id_ in enumerate(new.ids)
                for _, other in sorted(homes.get(self.new[id_], {}).items())
            ]
        )

    def among_new(self, new: Proteins) -> Pairs:
        """Return each protein with the first of its cluster (see :class:`Search`)."""
        first: dict[str, int] = {}
        links = []
        for row, id_ in enumerate(new.ids):
            head = first.setdefault(self.new[id_], row)
            if head != row:
                links.append((head, row))
        return _unknown_likeness(links)


@dataclass(frozen=True)
class NoSearch:
    """Relatives are not known."""

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return no pairs."""
        return no_pairs()

    def among_new(self, new: Proteins) -> Pairs:
        """Return no pairs."""
        return no_pairs()


def _unknown_likeness(links: list[tuple[int, int]]) -> Pairs:
    bounds = np.array(links, dtype=np.int64).reshape(-1, 2)
    return alike(bounds[:, 0], bounds[:, 1], 0.0)


NEW_MARK = "+"  # behind the name of a new cluster that an old one bears


def attach_trove(
    known: KnownSet, training: Proteins, new: NewSet, search: Search, class_names: tuple[str, ...]
) -> Attachment:
    """Return what becomes of each protein of a trove, whatever their order."""
    draft = _Draft(known, training, new, class_names)
    draft.judge_labels()
    draft.judge_ids()
    draft.judge_repeats()
    draft.judge_repeats_within()
    draft.judge_training(search)
    draft.place(search)
    return draft.finished()


class _Draft:
    """The verdicts while they are found, one rule after another."""

    def __init__(
        self, known: KnownSet, training: Proteins, new: NewSet, class_names: tuple[str, ...]
    ) -> None:
        self.known, self.training, self.new, self.names = known, training, new, class_names
        # Without sequences a protein is its id.
        self.key, self.known_key = (
            (new.sequences, known.sequences)
            if any(new.sequences) or any(known.sequences)
            else (new.ids, known.ids)
        )
        n = new.n_proteins
        blank = np.full(n, "", dtype=object)
        self.outcome, self.cluster, self.group = blank, blank.copy(), blank.copy()
        self.relative, self.reason = blank.copy(), blank.copy()
        self.relative_class = np.full(n, UNKNOWN_CLASS, dtype=np.int64)
        self.identity, self.coverage = np.full(n, np.nan), np.full(n, np.nan)
        # By id, so that the order of the trove is nothing.
        self.order = np.argsort(new.ids.astype(str), kind="stable")

    def open_rows(self) -> Integers:
        """Return the rows without an outcome, by id."""
        return np.array([row for row in self.order if not self.outcome[row]], dtype=np.int64)

    def say(self, row: int, outcome: str, reason: str) -> None:
        """Give a protein its outcome."""
        self.outcome[row], self.reason[row] = outcome, reason

    def point_at_known(self, row: int, old: int, identity: float, coverage: float) -> None:
        """Name an old protein as what decided it."""
        self.point_at(row, str(self.known.ids[old]), identity, coverage)
        self.relative_class[row] = self.known.class_[old]

    def point_at(self, row: int, relative: str, identity: float, coverage: float) -> None:
        """Name the protein that decided it; likeness of 0 is not known."""
        self.relative[row] = relative
        if identity > 0.0:
            self.identity[row], self.coverage[row] = identity, coverage

    def judge_labels(self) -> None:
        """Set aside what has no true class."""
        for row in self.open_rows().tolist():
            if self.new.class_[row] == UNKNOWN_CLASS:
                self.say(row, UNLABELLED, "it has no true class")

    def judge_ids(self) -> None:
        """Set aside ids that stand for another sequence already."""
        known = {id_: row for row, id_ in enumerate(self.known.ids)}
        learnt = dict(zip(self.training.ids, self.training.sequences, strict=True))
        for row in self.open_rows().tolist():
            id_ = self.new.ids[row]
            old = known.get(id_)
            if old is not None and self.known_key[old] != self.key[row]:
                self.say(row, ID_TAKEN, "the set has this id for another sequence")
                self.point_at_known(row, old, 0.0, 0.0)
            elif old is None and id_ in learnt and learnt[id_] != self.key[row]:
                self.say(row, ID_TAKEN, "training has this id for another sequence")
                self.point_at(row, str(id_), 0.0, 0.0)

    def judge_repeats(self) -> None:
        """Drop what the set has already; tell where the labels differ."""
        rows_of: dict[str, list[int]] = {}
        for old in np.argsort(self.known.ids.astype(str), kind="stable").tolist():
            rows_of.setdefault(self.known_key[old], []).append(old)
        for row in self.open_rows().tolist():
            same = rows_of.get(self.key[row], [])
            if not same:
                continue
            alike = [old for old in same if self.known.class_[old] == self.new.class_[row]]
            old = (alike or same)[0]
            self.point_at_known(row, old, 1.0, 1.0)
            name = repr(str(self.known.ids[old]))
            if alike:
                self.say(row, EXACT_REPEAT, f"same sequence as {name}")
            else:
                was, says = self.names[self.known.class_[old]], self.names[self.new.class_[row]]
                reason = f"same sequence as {name}, which is {was!r} and stays so, not {says!r}"
                self.say(row, LABEL_CONFLICT, reason)

    def judge_repeats_within(self) -> None:
        """Keep one of the trove's own repeats, or none where their labels differ."""
        rows_of: dict[str, list[int]] = {}
        for row in self.open_rows().tolist():
            rows_of.setdefault(self.key[row], []).append(row)
        for rows in rows_of.values():
            classes = {int(self.new.class_[row]) for row in rows}
            if len(classes) == 1:
                for row in rows[1:]:
                    self._twin(row, rows[0], REPEAT_WITHIN, "")
                continue
            for row in rows:
                other = next(at for at in rows if self.new.class_[at] != self.new.class_[row])
                label = self.names[self.new.class_[other]]
                self._twin(row, other, CONFLICT_WITHIN, f", which is {label!r} there")

    def _twin(self, row: int, other: int, outcome: str, more: str) -> None:
        name = str(self.new.ids[other])
        self.say(row, outcome, f"same sequence as {name!r} of the same trove{more}")
        self.point_at(row, name, 1.0, 1.0)
        self.relative_class[row] = self.new.class_[other]

    def _proteins(self, rows: Integers) -> Proteins:
        return Proteins(self.new.ids[rows], self.new.sequences[rows])

    def judge_training(self, search: Search) -> None:
        """Set aside relatives of what the classifier learnt from."""
        rows, training = self.open_rows(), self.training
        label = np.full(len(training.ids), "training", dtype=object)
        found = search.among_old(
            self._proteins(rows), Proteins(training.ids, training.sequences), label
        )
        for at in range(found.n_pairs):
            row, name = int(rows[found.first[at]]), str(training.ids[found.second[at]])
            identity = float(found.identity[at])
            self.say(
                row,
                TRAINING_RELATIVE,
                f"relative of training protein {name!r}{_likeness(identity)}",
            )
            self.point_at(row, name, identity, float(found.coverage[at]))

    def place(self, search: Search) -> None:
        """Give the others cluster and group, or set them aside for what they connect."""
        known, group = self.known, _groups_in_effect(self.known)
        counts = np.flatnonzero(group != NO_GROUP)
        rows = self.open_rows()
        found = search.among_old(
            self._proteins(rows),
            Proteins(known.ids[counts], known.sequences[counts]),
            group[counts],
        )
        found = replace(found, first=rows[found.first], second=counts[found.second])
        # The closest comes last, so that it is the one that is named.
        found = found.take(np.argsort(found.identity, kind="stable"))
        closed = _closed_groups(known)
        for at in range(found.n_pairs):
            row, old = int(found.first[at]), int(found.second[at])
            identity = float(found.identity[at])
            if self.outcome[row] != TEST_RELATIVE or group[old] in closed:
                self.point_at_known(row, old, identity, float(found.coverage[at]))
            if group[old] in closed:
                name, where = str(known.ids[old]), f"the {closed[group[old]]} group"
                reason = f"relative of protein {name!r} of {where}{_likeness(identity)}"
                self.say(row, TEST_RELATIVE, reason)
        rows = self.open_rows()
        self._settle(rows, self._attached(rows, found, group, search), group, closed)

    def _attached(self, rows: Integers, found: Pairs, group: Strings, search: Search) -> Attached:
        """Return what connects the rows left with groups, and with each other."""
        place = np.full(self.new.n_proteins, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        to_old = found.take(place[found.first] >= 0)
        return attach(
            self.known.ids,
            self.known.cluster,
            group,
            self.new.ids[rows],
            replace(to_old, first=place[to_old.first]),
            search.among_new(self._proteins(rows)),
        )

    def _settle(
        self, rows: Integers, placed: Attached, group: Strings, closed: Mapping[str, str]
    ) -> None:
        stays = placed.reason == ""
        for row, reason in zip(rows[~stays].tolist(), placed.reason[~stays], strict=True):
            self.say(row, BRIDGES_GROUPS, str(reason))
        added = rows[stays]
        is_free = placed.group[stays] == NO_GROUP
        cluster = _renamed(placed.cluster[stays], is_free, set(self.known.cluster))
        open_ = np.isin(self.known.group.astype(str), list(closed), invert=True)
        is_base = open_ & (self.known.group != NO_GROUP)
        homes = pack_beside(
            self.known.group[is_base],
            self.known.class_[is_base],
            cluster[is_free],
            self.new.class_[added[is_free]],
        )
        joined_group = placed.group[stays]
        joined_group[is_free] = homes
        self.cluster[added], self.group[added] = cluster, joined_group
        for row, name, founds in zip(added.tolist(), cluster, is_free.tolist(), strict=True):
            verb = "founds" if founds else "joins"
            self.say(row, ADDED, f"{verb} cluster {str(name)!r}")

    def finished(self) -> Attachment:
        """Return the verdicts."""
        return Attachment(
            self.outcome,
            self.cluster,
            self.group,
            self.relative,
            self.relative_class,
            self.identity,
            self.coverage,
            self.reason,
        )


def _likeness(identity: float) -> str:
    return f" (identity {identity:.2f})" if identity > 0.0 else ""


def _groups_in_effect(known: KnownSet) -> Strings:
    """Return the group of each old protein; one set aside counts as of its cluster's.

    Where nothing of its cluster is in a group, it is in none, and touching it is
    nothing.
    """
    group = known.group.copy()
    is_aside = known.role == SET_ASIDE
    group[is_aside] = NO_GROUP
    home = dict(zip(known.cluster[~is_aside], known.group[~is_aside], strict=True))
    group[is_aside] = [home.get(name, NO_GROUP) for name in known.cluster[is_aside]]
    return group


def _closed_groups(known: KnownSet) -> dict[str, str]:
    """Return the groups that nothing may enter, with their role."""
    pairs = zip(known.group.tolist(), known.role.tolist(), strict=True)
    return {group: role for group, role in pairs if role not in (CALIBRATION, SET_ASIDE)}


def _renamed(names: Strings, is_free: Booleans, taken: set[str]) -> Strings:
    """Return names of clusters; a new one never bears the name of an old one."""
    renamed = names.copy()
    for row in np.flatnonzero(is_free).tolist():
        while renamed[row] in taken:
            renamed[row] += NEW_MARK
    return renamed
