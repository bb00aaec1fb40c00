"""New proteins beside old ones that never move.

An exact repeat of an old protein joins its cluster. Of the others, those that
relatives connect with each other form a component; one that touches a single
frozen group joins it, one that touches none is packed freely, and of one that
touches several the fewest proteins that bridge them are set aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from credence.predictions import Booleans, Integers, Strings
from credence.relatives.graph import components
from credence.relatives.pack import NO_GROUP
from credence.relatives.pairs import Pairs


@dataclass(frozen=True, eq=False)
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
    relatives = _Relatives(place[among_new.first], place[among_new.second], touched)
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
    return Attached(cluster[place], group[place], reason[place])


@dataclass(frozen=True, eq=False)
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
                cuts = (self._smallest_cut(rows, one, other) for one, other in two_groups)
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
        for one, other in zip(ones[inside].tolist(), others[inside].tolist(), strict=True):
            arcs[2 * one + 1, 2 * other] = arcs[2 * other + 1, 2 * one] = many
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
