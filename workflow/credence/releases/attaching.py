"""A trove beside the set that it joins: what becomes of every protein of it.

Rules are asked in the order of `OUTCOMES`, all of them of the trove alone: what the set holds is
never changed, and the same trove attached again adds nothing and says the same.

An exact repeat of an old protein joins its cluster. Of the others, those that relatives connect
with each other form a component; one that touches a single frozen group joins it, one that touches
none is packed freely, and of one that touches several the fewest proteins that bridge them are set
aside.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from credence.findings import EXACT_REPEAT
from credence.predictions import UNKNOWN_CLASS, Booleans, Floats, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.across import relatives_by_label
from credence.relatives.graph import Finder, components, draw_graph
from credence.relatives.pack import CALIBRATION, NO_GROUP, SET_ASIDE
from credence.relatives.pairs import Pairs, Thresholds, alike, joined, no_pairs


@dataclass(frozen=True, kw_only=True, eq=False)
class Attached:
    """Where each new protein belongs."""

    cluster: Strings  # An old cluster, or the first id of the new component
    # A frozen group; '' where the component touches none, and where the protein is set aside.
    group: Strings
    reason: Strings  # Why it is set aside; '' for the others


def attach(
    old_ids: Strings,
    old_cluster: Strings,
    old_group: Strings,
    new_ids: Strings,
    to_old: Pairs,
    among_new: Pairs,
) -> Attached:
    """Return cluster and group of new proteins; the old ones are only read."""
    order = np.argsort(new_ids.astype(str), kind="stable")
    place = np.argsort(order)
    to_old = to_old.take(old_group[to_old.second] != NO_GROUP)
    new, old = place[to_old.first], to_old.second
    touched = [set[str]() for _ in order]
    for row, name in zip(new.tolist(), old_group[old].tolist(), strict=True):
        touched[row].add(str(name))
    relatives = _Relatives(
        first=place[among_new.first], second=place[among_new.second], touched=touched
    )
    stays = ~relatives.bridges()
    component, groups = relatives.parts(stays)
    nearest_first = np.lexsort((old, old_ids[old].astype(str), -to_old.identity, new))
    rows, at = np.unique(new[nearest_first], return_index=True)
    closest = dict(zip(rows.tolist(), old_cluster[old[nearest_first][at]].tolist(), strict=True))
    # Those that touch no old protein follow the first one of their component that does.
    lead: dict[int, str] = {}
    for row in filter(stays.__getitem__, closest):
        lead.setdefault(int(component[row]), closest[row])
    names = new_ids[order]
    cluster = names[np.unique(component, return_index=True)[1][component]]
    group = np.full(len(order), NO_GROUP, dtype=object)
    reason = np.full(len(order), "", dtype=object)
    for row, part in enumerate(component.tolist()):
        if stays[row]:
            group[row] = next(iter(groups[part]), NO_GROUP)
            cluster[row] = closest.get(row, lead.get(part, cluster[row]))
        else:
            bridged = relatives.reached(row, stays, component, groups)
            by_number = sorted(bridged, key=lambda name: (len(name), name))
            reason[row] = f"bridges groups {', '.join(by_number)}"
    return Attached(cluster=cluster[place], group=group[place], reason=reason[place])


@dataclass(frozen=True, kw_only=True, eq=False)
class _Relatives:
    """New proteins by the rank of their ids, the pairs among them, and what each touches."""

    first: Integers
    second: Integers
    touched: list[set[str]]  # Frozen groups of the old relatives of each

    def parts(self, stays: Booleans) -> tuple[Integers, dict[int, set[str]]]:
        """Return the component of each of those that stay, and the groups that it touches."""
        inside = stays[self.first] & stays[self.second]
        component = components(len(stays), self.first[inside], self.second[inside])
        groups: dict[int, set[str]] = {}
        for row in np.flatnonzero(stays).tolist():
            groups.setdefault(int(component[row]), set()).update(self.touched[row])
        return component, groups

    def reached(
        self, row: int, stays: Booleans, component: Integers, groups: dict[int, set[str]]
    ) -> set[str]:
        """Return the groups that one which does not stay would connect."""
        beside = np.concatenate([self.second[self.first == row], self.first[self.second == row]])
        near = set(component[beside[stays[beside]]].tolist())
        return self.touched[row].union(*(groups[part] for part in near))

    def bridges(self) -> Booleans:
        """Return which leave, so that every component has one frozen group at most."""
        gone = np.array([len(groups) > 1 for groups in self.touched], dtype=np.bool_)
        while True:
            component, groups_of = self.parts(~gone)
            torn = sorted(part for part, groups in groups_of.items() if len(groups) > 1)
            if not torn:
                return self._still_bridging(gone)
            left = ~gone
            for part in torn:
                rows = np.flatnonzero(left & (component == part))
                two_groups = combinations(sorted(groups_of[part]), 2)
                cuts = (self._smallest_cut(rows, source, target) for source, target in two_groups)
                gone[min(cuts, key=lambda cut: (len(cut), cut))] = True

    def _still_bridging(self, gone: Booleans) -> Booleans:
        """Return those of the rows cut that even now connect two frozen groups.

        One cut may make another needless: rows stay, in order, that touch one group at most.
        """
        gone = gone.copy()
        for row in np.flatnonzero(gone).tolist():
            touches_one = len(self.touched[row]) <= 1
            if touches_one and len(self.reached(row, ~gone, *self.parts(~gone))) <= 1:
                gone[row] = False
        return gone

    def _smallest_cut(self, rows: Integers, source: str, target: str) -> list[int]:
        """Return the fewest of some rows without which two groups are apart.

        A maximum flow where each row is two nodes with an arc of 1: the cut goes through rows.
        """
        n_rows, many = len(rows), len(rows) + 1
        place = np.full(len(self.touched), -1)
        place[rows] = np.arange(n_rows)
        ones, others = place[self.first], place[self.second]
        inside = (ones >= 0) & (others >= 0)
        arcs = {(2 * at, 2 * at + 1): 1 for at in range(n_rows)}
        for first, second in zip(ones[inside].tolist(), others[inside].tolist(), strict=True):
            arcs[2 * first + 1, 2 * second] = arcs[2 * second + 1, 2 * first] = many
        start, end = 2 * n_rows, 2 * n_rows + 1
        for at, row in enumerate(rows.tolist()):
            if source in self.touched[row]:
                arcs[start, 2 * at] = many
            if target in self.touched[row]:
                arcs[2 * at + 1, end] = many
        bounds = np.array(list(arcs), dtype=np.int32).T
        capacity = np.array(list(arcs.values()), dtype=np.int32)
        graph = sparse.csr_matrix((capacity, (bounds[0], bounds[1])), shape=(2 * n_rows + 2,) * 2)
        rest = graph - csgraph.maximum_flow(graph, start, end).flow
        rest.data[rest.data < 0] = 0
        rest.eliminate_zeros()
        reached = np.zeros(2 * n_rows + 2, dtype=np.bool_)
        reached[csgraph.breadth_first_order(rest, start, return_predecessors=False)] = True
        is_cut = reached[:start:2] & ~reached[1:start:2]
        return [int(row) for row in rows[is_cut]]


ONLY_GROUP = "1"  # where no old protein has a group


def pack_beside(
    old_group: Strings, old_class: Integers, new_cluster: Strings, new_class: Integers
) -> Strings:
    """Return a group for each new protein: clusters, largest first, where its classes are few."""
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
    group = np.empty(len(codes), dtype=object)
    group[:] = groups[home[codes]].tolist()
    return group


UNSCORED = "unscored"
UNLABELLED = "unlabelled"
ID_TAKEN = "id_taken"
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


@dataclass(frozen=True, kw_only=True, eq=False)
class NewSet(Proteins):
    """The scored proteins of a trove; residues '' where they are not known."""

    class_: Integers  # True classes; `credence.predictions.UNKNOWN_CLASS` where there is none


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSet(NewSet):
    """The set so far: proteins that stay as they are."""

    cluster: Strings  # As in the table of groups
    group: Strings
    role: Strings


@dataclass(frozen=True, kw_only=True, eq=False)
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
        outcomes = self.outcome.tolist()
        return {name: outcomes.count(name) for name in OUTCOMES}


class TroveSearch:
    """What finds the relatives of new proteins; this one knows of none."""

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return for each new protein one relative under each label; likeness 0: not known."""
        return no_pairs()

    def among_new(self, new: Proteins) -> Pairs:
        """Return enough pairs to connect all new proteins that belong together."""
        return no_pairs()


@dataclass(frozen=True, kw_only=True)
class SequenceSearch(TroveSearch):
    """Relatives as decision 0013 defines them."""

    finder: Finder  # What finds alike sequences
    thresholds: Thresholds  # Of relatives
    threads: int = 1  # Alignments at a time

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label."""
        return relatives_by_label(new, old, label, self.finder, self.thresholds, self.threads)

    def among_new(self, new: Proteins) -> Pairs:
        """Return the graph that clusters are made of."""
        graph, pairs = draw_graph(new, self.finder, self.thresholds)
        code = graph.code
        _, row = np.unique(code, return_index=True)
        first = row[code]
        copies = np.flatnonzero(first != np.arange(len(code)))
        same = alike(first[copies].astype(np.int64), copies)
        return joined([pairs.renamed(row.astype(np.int64)), same])


@dataclass(frozen=True, kw_only=True, eq=False)
class TableSearch(TroveSearch):
    """Relatives are those whom a table gives one cluster."""

    old: Mapping[str, str]  # Id → cluster: of the set and of training, and of the trove
    new: Mapping[str, str]

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label, the first by id."""
        homes: dict[str, dict[str, int]] = {}
        for row in np.argsort(old.ids.astype(str), kind="stable").tolist():
            homes.setdefault(self.old[old.ids[row]], {}).setdefault(str(label[row]), row)
        return _unknown_likeness(
            [
                (row, other)
                for row, id_ in enumerate(new.ids)
                for _, other in sorted(homes.get(self.new[id_], {}).items())
            ]
        )

    def among_new(self, new: Proteins) -> Pairs:
        """Return each protein with the first of its cluster."""
        first: dict[str, int] = {}
        heads = [first.setdefault(self.new[id_], row) for row, id_ in enumerate(new.ids)]
        return _unknown_likeness([(head, row) for row, head in enumerate(heads) if head != row])


def _unknown_likeness(links: list[tuple[int, int]]) -> Pairs:
    bounds = np.array(links, dtype=np.int64).reshape(-1, 2)
    return alike(bounds[:, 0], bounds[:, 1], 0.0)


NEW_MARK = "+"  # behind the name of a new cluster that an old one bears


def attach_trove(
    known: KnownSet, training: Proteins, new: NewSet, search: TroveSearch, names: tuple[str, ...]
) -> Attachment:
    """Return what becomes of each protein of a trove, whatever their order."""
    draft = _Draft(known, training, new, names)
    for row in np.flatnonzero(new.class_ == UNKNOWN_CLASS).tolist():
        draft.judge(row, UNLABELLED, "it has no true class")
    draft.judge_ids()
    draft.judge_repeats()
    draft.judge_repeats_within()
    draft.judge_training(search)
    draft.place(search)
    return draft.attachment


class _Draft:
    """The verdicts while they are found, one rule after another."""

    def __init__(
        self, known: KnownSet, training: Proteins, new: NewSet, class_names: tuple[str, ...]
    ) -> None:
        self.known, self.new, self.names = known, new, class_names
        no_class = np.full(training.n_proteins, UNKNOWN_CLASS, dtype=np.int64)
        self.training = NewSet(ids=training.ids, sequences=training.sequences, class_=no_class)
        # Without sequences a protein is its id.
        has_any = any(new.sequences) or any(known.sequences)
        self.key = new.sequences if has_any else new.ids
        self.known_key = known.sequences if has_any else known.ids
        n = new.n_proteins
        outcome, cluster, group, relative, reason = (
            np.full(n, "", dtype=object) for _ in range(5)
        )
        self.attachment = Attachment(
            outcome=outcome,
            cluster=cluster,
            group=group,
            relative=relative,
            relative_class=np.full(n, UNKNOWN_CLASS, dtype=np.int64),
            identity=np.full(n, np.nan),
            coverage=np.full(n, np.nan),
            reason=reason,
        )
        # By id, so that the order of the trove is nothing.
        self.order = np.argsort(new.ids.astype(str), kind="stable")

    def open_rows(self) -> Integers:
        return np.asarray(self.order[self.attachment.outcome[self.order] == ""], dtype=np.int64)

    def judge(self, row: int, outcome: str, reason: str) -> None:
        self.attachment.outcome[row], self.attachment.reason[row] = outcome, reason

    def point_at(
        self, row: int, proteins: NewSet, other: int, identity: float = 0.0, coverage: float = 0.0
    ) -> str:
        """Name the protein that decided it, and return its name; likeness of 0 is not known."""
        self.attachment.relative[row] = str(proteins.ids[other])
        self.attachment.relative_class[row] = proteins.class_[other]
        if identity > 0.0:
            self.attachment.identity[row], self.attachment.coverage[row] = identity, coverage
        return repr(str(proteins.ids[other]))

    def judge_ids(self) -> None:
        """Set aside ids that stand for another sequence already."""
        old_rows = {id_: row for row, id_ in enumerate(self.known.ids)}
        learnt_rows = {id_: row for row, id_ in enumerate(self.training.ids)}
        for row in self.open_rows().tolist():
            old, learnt = (rows.get(self.new.ids[row]) for rows in (old_rows, learnt_rows))
            if old is not None:
                if self.known_key[old] != self.key[row]:
                    self.judge(row, ID_TAKEN, "the set has this id for another sequence")
                    self.point_at(row, self.known, old)
            elif learnt is not None and self.training.sequences[learnt] != self.key[row]:
                self.judge(row, ID_TAKEN, "training has this id for another sequence")
                self.point_at(row, self.training, learnt)

    def judge_repeats(self) -> None:
        """Drop what the set has already; tell where the labels differ."""
        known = self.known
        rows_of = _rows_by(self.known_key, np.argsort(known.ids.astype(str), kind="stable"))
        for row in self.open_rows().tolist():
            same = rows_of.get(self.key[row], [])
            if not same:
                continue
            with_label = [old for old in same if known.class_[old] == self.new.class_[row]]
            old = (with_label or same)[0]
            name = self.point_at(row, known, old, 1.0, 1.0)
            if with_label:
                self.judge(row, EXACT_REPEAT, f"same sequence as {name}")
            else:
                was, says = self.names[known.class_[old]], self.names[self.new.class_[row]]
                reason = f"same sequence as {name}, which is {was!r} and stays so, not {says!r}"
                self.judge(row, LABEL_CONFLICT, reason)

    def judge_repeats_within(self) -> None:
        """Keep one of the trove's own repeats, or none where their labels differ."""
        class_ = self.new.class_
        for rows in _rows_by(self.key, self.open_rows()).values():
            is_conflict = len(set(class_[rows])) > 1
            for row in rows if is_conflict else rows[1:]:
                other, outcome, more = rows[0], REPEAT_WITHIN, ""
                if is_conflict:
                    other = next(at for at in rows if class_[at] != class_[row])
                    outcome = CONFLICT_WITHIN
                    more = f", which is {self.names[class_[other]]!r} there"
                name = self.point_at(row, self.new, other, 1.0, 1.0)
                self.judge(row, outcome, f"same sequence as {name} of the same trove{more}")

    def judge_training(self, search: TroveSearch) -> None:
        """Set aside relatives of what the classifier learnt from."""
        rows, training = self.open_rows(), self.training
        label = np.full(training.n_proteins, "training", dtype=object)
        pairs = search.among_old(self.new.take(rows), training, label)
        for at in range(pairs.n_pairs):
            row, likeness = int(rows[pairs.first[at]]), float(pairs.identity[at])
            other, coverage = int(pairs.second[at]), float(pairs.coverage[at])
            name = self.point_at(row, training, other, likeness, coverage)
            reason = f"relative of training protein {name}{_likeness(likeness)}"
            self.judge(row, TRAINING_RELATIVE, reason)

    def place(self, search: TroveSearch) -> None:
        """Give the others cluster and group, or set them aside for what they connect."""
        known, group = self.known, self.known.group.copy()
        # Those set aside count for the group of their cluster, if it has one.
        is_aside = known.role == SET_ASIDE
        home = dict(zip(known.cluster[~is_aside], known.group[~is_aside], strict=True))
        group[is_aside] = [home.get(name, NO_GROUP) for name in known.cluster[is_aside]]
        counts = np.flatnonzero(group != NO_GROUP)
        rows = self.open_rows()
        pairs = search.among_old(self.new.take(rows), known.take(counts), group[counts])
        pairs = pairs.renamed(rows, counts)
        # The closest comes last, so that it is the one that is named.
        pairs = pairs.take(np.argsort(pairs.identity, kind="stable"))
        roles = zip(known.group.tolist(), known.role.tolist(), strict=True)  # of closed groups
        closed = {name: role for name, role in roles if role not in (CALIBRATION, SET_ASIDE)}
        for at in range(pairs.n_pairs):
            row, old = int(pairs.first[at]), int(pairs.second[at])
            likeness, role = float(pairs.identity[at]), closed.get(group[old])
            if role is None and self.attachment.outcome[row] == TEST_RELATIVE:
                continue
            name = self.point_at(row, known, old, likeness, float(pairs.coverage[at]))
            if role is not None:
                reason = f"relative of protein {name} of the {role} group{_likeness(likeness)}"
                self.judge(row, TEST_RELATIVE, reason)
        rows = self.open_rows()
        place = np.full(self.new.n_proteins, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        to_old = pairs.take(place[pairs.first] >= 0)
        to_old = replace(to_old, first=place[to_old.first])
        new = self.new.take(rows)
        placed = attach(known.ids, known.cluster, group, new.ids, to_old, search.among_new(new))
        self._settle(rows, placed, closed)

    def _settle(self, rows: Integers, placed: Attached, closed: Mapping[str, str]) -> None:
        """Give rows the clusters and groups found for them; clusters without a group get one."""
        known, stays = self.known, placed.reason == ""
        for row, reason in zip(rows[~stays].tolist(), placed.reason[~stays], strict=True):
            self.judge(row, BRIDGES_GROUPS, str(reason))
        added, group = rows[stays], placed.group[stays]
        is_free = group == NO_GROUP
        cluster, taken = placed.cluster[stays], set(known.cluster)
        for at in np.flatnonzero(is_free).tolist():
            while cluster[at] in taken:  # a new one never bears the name of an old one
                cluster[at] += NEW_MARK
        is_open = np.isin(known.group.astype(str), [*closed, NO_GROUP], invert=True)
        classes = self.new.class_[added[is_free]]
        old = (known.group[is_open], known.class_[is_open])
        group[is_free] = pack_beside(*old, cluster[is_free], classes)
        self.attachment.cluster[added], self.attachment.group[added] = cluster, group
        for row, name, founds in zip(added.tolist(), cluster, is_free.tolist(), strict=True):
            verb = "founds" if founds else "joins"
            self.judge(row, ADDED, f"{verb} cluster {str(name)!r}")


def _rows_by(key: Strings, rows: Integers) -> dict[str, list[int]]:
    """Return the rows of each key, in the order given."""
    rows_of_key: dict[str, list[int]] = {}
    for row in rows.tolist():
        rows_of_key.setdefault(key[row], []).append(row)
    return rows_of_key


def _likeness(identity: float) -> str:
    return f" (identity {identity:.2f})" if identity > 0.0 else ""
