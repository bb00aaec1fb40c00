"""New proteins beside old ones that never move.

An exact repeat of an old protein joins its cluster. Of the others, those that
relatives connect with each other form a component; one that touches a single
frozen group joins it, one that touches none is packed freely, and of one that
touches several the fewest proteins that bridge them are set aside.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    counts = old_group[to_old.second] != NO_GROUP
    to_old = to_old.take(counts)
    touched = [set[str]() for _ in order]
    for new, old in zip(place[to_old.first], to_old.second, strict=True):
        touched[new].add(str(old_group[old]))
    first, second = place[among_new.first], place[among_new.second]
    gone = _bridges(first, second, touched)
    stays = ~np.isin(np.arange(len(order)), gone)
    inside = stays[first] & stays[second]
    component = components(len(order), first[inside], second[inside])
    names = new_ids[order]
    group, cluster = _homes(names, component, stays, touched)
    closest = _closest(to_old, place, old_ids)
    reason = np.full(len(order), "", dtype=object)
    groups_of = _groups_of(component, stays, touched)
    for row in range(len(order)):
        if not stays[row]:
            beside = np.concatenate([second[first == row], first[second == row]])
            reason[row] = _reason(row, touched, beside, component, stays, groups_of)
        elif row in closest:
            cluster[row] = old_cluster[closest[row]]
    _follow(cluster, component, closest, stays, old_cluster)
    return Attached(cluster[place], group[place], reason[place])


def _homes(
    names: Strings, component: Integers, stays: Booleans, touched: Sequence[set[str]]
) -> tuple[Strings, Strings]:
    group = np.full(len(names), NO_GROUP, dtype=object)
    cluster = names.copy()
    home: dict[int, str] = {}
    head: dict[int, str] = {}
    for row in np.flatnonzero(stays).tolist():
        head.setdefault(int(component[row]), str(names[row]))
        for name in touched[row]:
            home[int(component[row])] = name
    for row in np.flatnonzero(stays).tolist():
        group[row] = home.get(int(component[row]), NO_GROUP)
        cluster[row] = head[int(component[row])]
    return group, cluster


def _closest(to_old: Pairs, place: Integers, old_ids: Strings) -> dict[int, int]:
    """Return new row → the closest old row; ties go by id."""
    best: dict[int, tuple[float, str, int]] = {}
    for new, old, identity in zip(
        place[to_old.first], to_old.second, to_old.identity, strict=True
    ):
        rank = (-float(identity), str(old_ids[old]), int(old))
        best[int(new)] = min(best.get(int(new), rank), rank)
    return {new: rank[2] for new, rank in best.items()}


def _follow(
    cluster: Strings,
    component: Integers,
    closest: dict[int, int],
    stays: Booleans,
    old_cluster: Strings,
) -> None:
    """Give new proteins that touch no old one the cluster of those that connect them."""
    lead: dict[int, str] = {}
    for row in sorted(closest):
        if stays[row]:
            lead.setdefault(int(component[row]), str(old_cluster[closest[row]]))
    for row in np.flatnonzero(stays).tolist():
        if row not in closest and int(component[row]) in lead:
            cluster[row] = lead[int(component[row])]


def _bridges(first: Integers, second: Integers, touched: Sequence[set[str]]) -> Integers:
    """Return rows whose removal leaves every component with one frozen group at most."""
    gone = {row for row, groups in enumerate(touched) if len(groups) > 1}
    while True:
        left = np.array([row not in gone for row in range(len(touched))], dtype=np.bool_)
        inside = left[first] & left[second]
        one, other = first[inside], second[inside]
        component = components(len(touched), one, other)
        groups_of: dict[int, set[str]] = {}
        for row in np.flatnonzero(left).tolist():
            groups_of.setdefault(int(component[row]), set()).update(touched[row])
        torn = sorted(name for name, groups in groups_of.items() if len(groups) > 1)
        if not torn:
            gone = _still_bridging(gone, first, second, touched)
            return np.array(sorted(gone), dtype=np.int64)
        for name in torn:
            rows = np.flatnonzero(left & (component == name))
            here = component[one] == name
            gone |= _cut(rows, one[here], other[here], touched, groups_of[name])


def _still_bridging(
    gone: set[int], first: Integers, second: Integers, touched: Sequence[set[str]]
) -> set[int]:
    """Return those of the rows cut that even now connect two frozen groups.

    One cut may make another needless. Rows are tried in order, and each stays
    only if it touches one group at most, so that all that are left out touch
    two: attached again later, they are left out again.
    """
    beside: dict[int, set[int]] = {row: set() for row in gone}
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        for here, there in ((one, other), (other, one)):
            if here in beside:
                beside[here].add(there)
    left = set(gone)
    for row in sorted(row for row in gone if len(touched[row]) <= 1):
        kept = np.array([at not in left for at in range(len(touched))], dtype=np.bool_)
        inside = kept[first] & kept[second]
        component = components(len(touched), first[inside], second[inside])
        near = {int(component[at]) for at in beside[row] if kept[at]}
        groups = set(touched[row]).union(
            *(touched[at] for at in np.flatnonzero(kept).tolist() if int(component[at]) in near)
        )
        if len(groups) <= 1:
            left.remove(row)
    return left


def _cut(
    rows: Integers,
    first: Integers,
    second: Integers,
    touched: Sequence[set[str]],
    groups: set[str],
) -> set[int]:
    """Return the smallest of the cuts that part two of the groups of a component."""
    cuts = [
        _smallest_cut(rows, first, second, touched, one, other)
        for one, other in combinations(sorted(groups), 2)
    ]
    return min(cuts, key=lambda cut: (len(cut), sorted(cut)))


def _smallest_cut(
    rows: Integers,
    first: Integers,
    second: Integers,
    touched: Sequence[set[str]],
    source: str,
    target: str,
) -> set[int]:
    """Return the fewest rows without which two groups are apart: a maximum flow.

    Each row is two nodes with an arc of capacity 1 between them, so that the
    least cut goes through rows, not through pairs.
    """
    n_rows, many = len(rows), len(rows) + 1
    place = {int(row): at for at, row in enumerate(rows)}
    arcs = {(2 * at, 2 * at + 1): 1 for at in range(n_rows)}
    for one, other in zip(first.tolist(), second.tolist(), strict=True):
        arcs[2 * place[one] + 1, 2 * place[other]] = many
        arcs[2 * place[other] + 1, 2 * place[one]] = many
    start, end = 2 * n_rows, 2 * n_rows + 1
    for row, at in place.items():
        if source in touched[row]:
            arcs[start, 2 * at] = many
        if target in touched[row]:
            arcs[2 * at + 1, end] = many
    bounds = np.array(list(arcs), dtype=np.int32).T
    capacity = np.array(list(arcs.values()), dtype=np.int32)
    graph = sparse.csr_matrix((capacity, (bounds[0], bounds[1])), shape=(2 * n_rows + 2,) * 2)
    flow = csgraph.maximum_flow(graph, start, end).flow
    rest = graph - flow
    rest.data[rest.data < 0] = 0
    rest.eliminate_zeros()
    reached = set(csgraph.breadth_first_order(rest, start, return_predecessors=False).tolist())
    return {
        int(row) for row, at in place.items() if 2 * at in reached and 2 * at + 1 not in reached
    }


def _groups_of(
    component: Integers, stays: Booleans, touched: Sequence[set[str]]
) -> dict[int, set[str]]:
    """Return the frozen groups that each component of those that stay touches."""
    groups: dict[int, set[str]] = {}
    for row in np.flatnonzero(stays).tolist():
        groups.setdefault(int(component[row]), set()).update(touched[row])
    return groups


def _reason(
    row: int,
    touched: Sequence[set[str]],
    beside: Integers,
    component: Integers,
    stays: Booleans,
    groups_of: dict[int, set[str]],
) -> str:
    groups = set(touched[row])
    for other in beside[stays[beside]].tolist():
        groups |= groups_of[int(component[other])]
    by_number = sorted(groups, key=lambda name: (len(name), name))
    return f"bridges groups {', '.join(by_number)}"
