"""A trove beside the set that it joins: what becomes of every protein of it.

Rules are asked in the order of :data:`credence.releases.outcomes.OUTCOMES`, all
of them of the trove alone: what the set holds is read and never changed. A
protein that is not added leaves no trace in the set, so the same trove attached
again adds nothing and says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Booleans, Integers, Strings
from credence.releases import outcomes
from credence.releases.outcomes import Attachment, KnownSet, NewSet, TrainingSet
from credence.releases.packing import pack_beside
from credence.releases.searching import Search
from credence.sequences.proteins import Proteins
from credence.sequences.relatives import Pairs
from credence.splits.attach import Attached, attach
from credence.splits.pack import CALIBRATION, NO_GROUP, SET_ASIDE

NEW_MARK = "+"  # behind the name of a new cluster that an old one bears


def attach_trove(
    known: KnownSet,
    training: TrainingSet,
    new: NewSet,
    search: Search,
    class_names: tuple[str, ...],
) -> Attachment:
    """Return what becomes of each protein of a trove, whatever their order.

    Parameters
    ----------
    known : KnownSet
        The set so far, without training proteins.
    training : TrainingSet
        What the classifier learnt from.
    new : NewSet
        The trove.
    search : Search
        What finds relatives.
    class_names : tuple of str
        For the reasons.
    """
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
        self,
        known: KnownSet,
        training: TrainingSet,
        new: NewSet,
        class_names: tuple[str, ...],
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
                self.say(row, outcomes.UNLABELLED, "it has no true class")

    def judge_ids(self) -> None:
        """Set aside ids that stand for another sequence already."""
        known = {id_: row for row, id_ in enumerate(self.known.ids)}
        learnt = dict(zip(self.training.ids, self.training.sequences, strict=True))
        for row in self.open_rows().tolist():
            id_ = self.new.ids[row]
            old = known.get(id_)
            if old is not None and self.known_key[old] != self.key[row]:
                self.say(row, outcomes.ID_TAKEN, "the set has this id for another sequence")
                self.point_at_known(row, old, 0.0, 0.0)
            elif old is None and id_ in learnt and learnt[id_] != self.key[row]:
                self.say(row, outcomes.ID_TAKEN, "training has this id for another sequence")
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
                self.say(row, outcomes.EXACT_REPEAT, f"same sequence as {name}")
            else:
                was, says = self.names[self.known.class_[old]], self.names[self.new.class_[row]]
                reason = f"same sequence as {name}, which is {was!r} and stays so, not {says!r}"
                self.say(row, outcomes.LABEL_CONFLICT, reason)

    def judge_repeats_within(self) -> None:
        """Keep one of the trove's own repeats, or none where their labels differ."""
        rows_of: dict[str, list[int]] = {}
        for row in self.open_rows().tolist():
            rows_of.setdefault(self.key[row], []).append(row)
        for rows in rows_of.values():
            classes = {int(self.new.class_[row]) for row in rows}
            if len(classes) == 1:
                for row in rows[1:]:
                    self._twin(row, rows[0], outcomes.REPEAT_WITHIN, "")
                continue
            for row in rows:
                other = next(at for at in rows if self.new.class_[at] != self.new.class_[row])
                label = self.names[self.new.class_[other]]
                self._twin(row, other, outcomes.CONFLICT_WITHIN, f", which is {label!r} there")

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
                outcomes.TRAINING_RELATIVE,
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
            if self.outcome[row] != outcomes.TEST_RELATIVE or group[old] in closed:
                self.point_at_known(row, old, identity, float(found.coverage[at]))
            if group[old] in closed:
                name, where = str(known.ids[old]), f"the {closed[group[old]]} group"
                reason = f"relative of protein {name!r} of {where}{_likeness(identity)}"
                self.say(row, outcomes.TEST_RELATIVE, reason)
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
            self.say(row, outcomes.BRIDGES_GROUPS, str(reason))
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
            self.say(row, outcomes.ADDED, f"{verb} cluster {str(name)!r}")

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
