"""Homology-aware splits, audited for leakage: cut, pack, audit, and join or set aside.

Joining costs no protein as long as the joined cluster fits in a group, so setting
aside begins where it does not. The audit aligns proteins of different clusters once;
what joining moves is judged again, and joining parts none that were together, so the
bound that the sample gave holds until the end. Joined by an audit of everyone, no two
clusters hold relatives, whatever their groups, so that folds part none either.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse
from scipy.sparse import csgraph

from credence.findings import LargeCluster
from credence.predictions import Booleans, Integers, Strings
from credence.proteins import Proteins
from credence.relatives.audit import (
    SHARE_COUNTED,
    SHARE_LIKELY,
    Audit,
    Compared,
    compare,
    in_hash_order,
    judged,
    likely_to_cross,
    most_crossing,
    with_chance_counted,
)
from credence.relatives.cut import MOST_FILLED, cut_oversized, left_uncut
from credence.relatives.graph import components
from credence.relatives.pack import (
    CALIBRATION,
    NO_GROUP,
    TEST,
    Packing,
    pack,
    packed,
    related_to_training,
)
from credence.relatives.pairs import Pairs, Thresholds, no_pairs
from credence.relatives.pieces import Pieces

MOST_EXACT = 400  # proteins in one tangle; beyond that a greedy cover is taken


def fewest(first: Integers, second: Integers, n_rows: int, stays: Booleans) -> Integers:
    """Return the fewest rows that touch every pair: a minimum vertex cover."""
    forced, is_left = _forced(first, second, stays)
    first, second = first[is_left], second[is_left]
    gone = [forced]
    if len(first):
        component = components(n_rows, first, second)[first]
        for name in np.unique(component):
            here = component == name
            gone.append(_cover(first[here], second[here]))
    return np.sort(np.concatenate(gone))


def least(first: Integers, second: Integers, n_rows: int, stays: Booleans) -> int:
    """Return a number of rows below which some pair remains: a bound on :func:`fewest`.

    Half of the greatest matching of the graph's two-sided double, rounded up: a cover of halves.
    """
    forced, is_left = _forced(first, second, stays)
    left, right = first[is_left], second[is_left]
    nodes = np.concatenate([left, right]), np.concatenate([right, left])
    double = sparse.csr_array((np.ones(len(nodes[0]), np.int8), nodes), shape=(n_rows, n_rows))
    mate = csgraph.maximum_bipartite_matching(double, perm_type="column")
    return len(forced) + (int((mate >= 0).sum()) + 1) // 2


def _forced(first: Integers, second: Integers, stays: Booleans) -> tuple[Integers, Booleans]:
    """Return the rows that must go since others stay, and which pairs these do not touch."""
    forced = np.unique(np.concatenate([second[stays[first]], first[stays[second]]]))
    return forced, ~(np.isin(first, forced) | np.isin(second, forced))


def _cover(first: Integers, second: Integers) -> Integers:
    rows, nodes = np.unique(np.stack([first, second]), return_inverse=True)
    nodes = nodes.reshape(2, -1)
    if len(rows) > MOST_EXACT:
        return rows[_greedy(nodes, len(rows))]
    n_pairs = nodes.shape[1]
    incidence = sparse.csr_array(
        (np.ones(2 * n_pairs), (np.tile(np.arange(n_pairs), 2), nodes.ravel())),
        shape=(n_pairs, len(rows)),
    )
    # Less than one in all, so that it settles ties and nothing else.
    cost = 1.0 + np.arange(len(rows)) / (2.0 * len(rows) ** 2)
    solution = optimize.milp(
        cost,
        constraints=optimize.LinearConstraint(incidence, 1.0, np.inf),
        integrality=np.ones(len(rows)),
        bounds=optimize.Bounds(0.0, 1.0),
    )
    return rows[solution.x > 0.5] if solution.success else rows[_greedy(nodes, len(rows))]


def _greedy(nodes: Integers, n_rows: int) -> Booleans:
    """Return a cover: always the row in most of the pairs that are left."""
    gone = np.zeros(n_rows, dtype=np.bool_)
    left = np.ones(nodes.shape[1], dtype=np.bool_)
    while left.any():
        degree = np.bincount(nodes[:, left].ravel(), minlength=n_rows)
        top = int(degree.argmax())
        gone[top] = True
        left &= (nodes != top).all(axis=0)
    return gone


Strictness = Literal["report", "join", "set_aside"]
Cutting = Literal["auto", "never"]
MOST_ROUNDS = 20


@dataclass(frozen=True, kw_only=True)
class SplitOptions:
    """How proteins are split."""

    n_groups: int = 12  # Number of groups, the test group included
    test_group: bool = False  # Whether the last group only judges
    by_cluster: bool = False  # Whether clusters are counted instead of proteins
    thresholds: Thresholds = field(default_factory=Thresholds)  # Of relatives, for the audit
    # What is done about relatives in two groups. With "set_aside" clusters are joined as long as
    # they fit in a group, and the fewest proteins that are relatives across the others set aside.
    strict: Strictness = "join"
    # Alignment cells of the audit, at most; None: everyone is examined. A cell of an alignment
    # with its traceback counts as twelve.
    cells: float | None = 3e11
    threads: int = 1  # Alignments at a time
    pieces: Pieces | None = None  # Where alignments are kept if everyone is examined
    # Whether clusters larger than a group are cut where few proteins hold them together. Where
    # clusters are counted instead of proteins none is too large.
    cut: Cutting = "auto"
    most_apart: float = 0.02  # Share of the proteins that cutting may set aside, at most


@dataclass(frozen=True, kw_only=True, eq=False)
class Split:
    """A split and what its audit found."""

    packing: Packing  # Group, role and reason of each protein
    cluster: Strings  # The clusters that were kept together: those given, joined where needed
    audit: Audit  # Of the split as it stands
    n_unseen: int = 0  # Of the proteins not examined at most so many cross, at 95 %
    n_joined: int = 0  # Clusters that were joined with another
    n_cut: int = 0  # Clusters larger than a group that were cut
    # Clusters larger than a group that were not, or not far enough.
    whole: tuple[LargeCluster, ...] = ()
    n_apart: int = 0  # Proteins set aside because of relatives in two groups that the audit found
    n_least: int = 0  # How many of these groups would have to be set aside at least


def split(
    proteins: Proteins,
    cluster: Strings,
    class_: NDArray[Any],
    settings: SplitOptions,
    is_training: Booleans | None = None,
    reasons: Strings | None = None,
    is_audited: bool = True,
) -> Split:
    """Return a split of whole clusters, audited, or one that nobody looked into."""
    if not is_audited:
        settings = replace(settings, cut="never")
    state = _State(proteins, cluster, class_, settings, is_training, reasons)
    if not is_audited:
        state.cut_and_pack()
        nobody = np.zeros(proteins.n_proteins, dtype=np.bool_)
        nothing = Audit(
            is_examined=nobody,
            is_crossing=nobody.copy(),
            nearest=np.full(proteins.n_proteins, np.nan),
            pairs=no_pairs(),
        )
        return Split(packing=state.packing, cluster=cluster, audit=nothing, whole=state.whole)
    for _ in range(MOST_ROUNDS):
        audit = state.round()
        pairs = state.offending(audit)
        if pairs.n_pairs == 0 or settings.strict == "report":
            break
        state.repair(pairs)
    audit = with_chance_counted(
        audit,
        proteins,
        state.packing.group,
        settings.thresholds,
        settings.threads,
        SHARE_COUNTED * state.watch.cells,
    )
    return Split(
        packing=state.packing,
        cluster=state.cluster,
        audit=audit,
        n_unseen=state.watch.n_unseen,
        n_joined=state.n_joined,
        n_cut=state.n_cut,
        whole=state.whole,
        n_apart=state.n_gone,
        n_least=state.n_least,
    )


class _Watch:
    """What was compared within the budget, and the bound that it gives."""

    def __init__(self, proteins: Proteins, settings: SplitOptions) -> None:
        self.proteins, self.thresholds = proteins, settings.thresholds
        self.threads, self.pieces, cells = settings.threads, settings.pieces, settings.cells
        self.cells = math.inf if cells is None else cells
        self.left = self.cells * (1.0 - SHARE_COUNTED)
        self.n_unseen = proteins.n_proteins
        nobody = np.zeros(proteins.n_proteins, dtype=np.bool_)
        self.compared = Compared(is_examined=nobody, pairs=no_pairs())
        self.is_searched, self.is_sampled = cells is None, False

    def look_for_likely(self, homes: Strings) -> None:
        """Compare the pairs that are likeliest to cross, once; not where everyone is examined."""
        if not self.is_searched:
            most = SHARE_LIKELY * self.cells
            pairs, spent = likely_to_cross(
                self.proteins, homes, self.thresholds, self.threads, most
            )
            self.compared, self.left = self.compared.with_pairs(pairs), self.left - spent
        self.is_searched = True

    def sample(self, homes: Strings, is_asked: Booleans) -> None:
        """Compare as many proteins as the budget allows with all of other homes."""
        rows = in_hash_order(self.proteins.ids, is_asked)
        compared = compare(
            self.proteins, homes, self.thresholds, rows, self.threads, self.left, self.pieces
        )
        self.is_sampled = True
        examined = compared.is_examined
        n_found = int((judged(compared, homes, self.thresholds).is_crossing & examined).sum())
        n_most = most_crossing(n_found, int(examined.sum()), len(rows))
        self.compared, self.n_unseen = compared.with_pairs(self.compared.pairs), n_most - n_found


class _State:
    """Clusters and reasons as they stand between rounds, and what was compared."""

    packing: Packing

    def __init__(
        self,
        proteins: Proteins,
        cluster: Strings,
        class_: NDArray[Any],
        settings: SplitOptions,
        is_training: Booleans | None,
        reasons: Strings | None,
    ) -> None:
        learnt = np.zeros(proteins.n_proteins, np.bool_) if is_training is None else is_training
        why = related_to_training(proteins.ids, cluster, learnt) if reasons is None else reasons
        self.proteins, self.class_, self.learnt, self.settings = proteins, class_, learnt, settings
        self.cluster, self.why = cluster, np.where(learnt, "", why).astype(object)
        self.n_joined, self.n_cut, self.whole = 0, 0, tuple[LargeCluster, ...]()
        self.n_gone, self.n_least = 0, 0
        self.n_apart = int(settings.most_apart * self.is_used.sum())
        self.watch = _Watch(proteins, settings)
        self.is_frozen = False

    @property
    def is_used(self) -> Booleans:
        """Which proteins neither train nor are set aside."""
        return np.asarray(~self.learnt & (self.why == ""), dtype=np.bool_)

    def round(self) -> Audit:
        """Return the audit of the groups of what clusters there are now."""
        settings, watch = self.settings, self.watch
        if self.is_frozen:
            self.packing = self.packing.without(self.why)
        else:
            self.cut_and_pack()
        group, role = self.packing.group, self.packing.role
        homes = group if settings.strict == "report" else self._homes()
        watch.look_for_likely(homes)
        audit = judged(watch.compared, group, settings.thresholds)
        is_clean = settings.strict == "report" or not self.offending(audit).n_pairs
        if is_clean and not watch.is_sampled:
            watch.sample(homes, (role == TEST) | (role == CALIBRATION))
            audit = judged(watch.compared, group, settings.thresholds)
        return audit

    def _homes(self) -> Strings:
        """Return the cluster of each protein in a group, apart from names of groups."""
        group = self.packing.group
        is_apart = (group == NO_GROUP) | self.learnt
        return np.asarray(np.where(is_apart, group, "+" + self.cluster), dtype=object)

    def offending(self, audit: Audit) -> Pairs:
        """Return relatives in two groups; where clusters are joined, those in two clusters."""
        if self.settings.strict != "join":
            return audit.pairs
        return judged(self.watch.compared, self._homes(), self.settings.thresholds).pairs

    def repair(self, pairs: Pairs) -> None:
        """Join clusters, or set proteins aside, for pairs that cross."""
        strict = self.settings.strict
        if strict == "set_aside" and not self.is_frozen:
            joinable = self._joinable(pairs)
            if joinable.n_pairs:
                pairs, strict = joinable, "join"
        self._set_aside(pairs, strict)
        if strict == "join":
            before = len(set(self.cluster[~self.learnt]))
            self._join(pairs)
            self.n_joined += before - len(set(self.cluster[~self.learnt]))
        else:
            # Packed anew, others would cross; these groups need nothing more.
            self.is_frozen = True
            nodes = np.concatenate([pairs.first, pairs.second])
            with_learnt = np.tile(self.learnt[pairs.first] | self.learnt[pairs.second], 2)
            n_forced = len(np.unique(nodes[with_learnt & ~self.learnt[nodes]]))
            is_gone = (self.why != "") & (self.packing.group != NO_GROUP)
            needed = least(pairs.first, pairs.second, len(self.why), self.learnt)
            self.n_gone += int(is_gone.sum()) - n_forced
            self.n_least += needed - n_forced

    def _joinable(self, pairs: Pairs) -> Pairs:
        """Return pairs whose clusters can be one within a group, the most connected first."""
        settings, learnt = self.settings, self.learnt
        names, codes = np.unique(self.cluster.astype(str), return_inverse=True)
        used = self.is_used
        size = np.bincount(codes[used], minlength=len(names))
        even = float(used.sum()) / settings.n_groups
        most = float("inf") if settings.by_cluster else MOST_FILLED * even
        ours = np.flatnonzero(~(learnt[pairs.first] | learnt[pairs.second]))
        nodes = np.sort(np.stack([codes[pairs.first[ours]], codes[pairs.second[ours]]]), axis=0)
        links, link_of, counts = np.unique(nodes, axis=1, return_inverse=True, return_counts=True)
        home = np.arange(len(names))
        is_joined = np.zeros(links.shape[1], dtype=np.bool_)
        for at in np.argsort(-counts, kind="stable").tolist():
            first, second = (int(home[end]) for end in links[:, at])
            if first != second and size[first] + size[second] > most:
                continue
            is_joined[at] = True
            if first != second:
                size[first] += size[second]
                home[home == second] = first
        return pairs.take(ours[is_joined[link_of.ravel()]])

    def _set_aside(self, pairs: Pairs, strict: Strictness) -> None:
        """Write why proteins are set aside for what the audit found."""
        ids, learnt = self.proteins.ids, self.learnt
        if strict != "set_aside":
            pairs = pairs.take(learnt[pairs.first] | learnt[pairs.second])
        by_id = np.argsort(ids.astype(str), kind="stable")
        place = np.argsort(by_id)
        gone = by_id[fewest(place[pairs.first], place[pairs.second], len(ids), learnt[by_id])]
        is_gone = np.isin(np.arange(len(ids)), gone)
        for at in np.argsort(-pairs.identity, kind="stable").tolist():
            first, second = int(pairs.first[at]), int(pairs.second[at])
            for row, partner in ((first, second), (second, first)):
                if is_gone[row] and not self.why[row]:
                    kind = "training protein" if learnt[partner] else "protein"
                    where = "" if learnt[partner] else f" of group {self.packing.group[partner]}"
                    self.why[row] = (
                        f"relative of {kind} {str(ids[partner])!r}{where}"
                        f" (identity {pairs.identity[at]:.2f})"
                    )

    def _join(self, pairs: Pairs) -> None:
        """Make clusters that a pair connects one, named after the first."""
        names, codes = np.unique(self.cluster.astype(str), return_inverse=True)
        ours = pairs.take(~(self.learnt[pairs.first] | self.learnt[pairs.second]))
        component = components(len(names), codes[ours.first], codes[ours.second])
        _, first = np.unique(component, return_index=True)
        self.cluster = names[first[component]].astype(object)[codes]

    def cut_and_pack(self) -> None:
        """Cut clusters larger than a group, if that is asked for, and fill the groups."""
        settings, used = self.settings, self.is_used
        even = float(used.sum()) / settings.n_groups
        if settings.cut == "never" and not settings.by_cluster:
            self.whole = left_uncut(self.cluster, used, even)
        elif not settings.by_cluster:
            limits = even, self.n_apart, settings.thresholds, settings.threads
            cut = cut_oversized(self.proteins, self.cluster, used, *limits, self.whole)
            self.n_apart -= int((cut.reason != "").sum())
            self.n_cut += cut.n_cut
            self.cluster, self.whole = cut.cluster, cut.whole
            self.why = np.where(used, cut.reason, self.why).astype(object)
            if cut.n_cut and settings.cells is None:
                self.watch = _Watch(self.proteins, settings)
        self.packing = pack(
            self.proteins.ids,
            self.cluster,
            self.class_,
            settings.n_groups,
            is_training=self.learnt,
            test_group=settings.test_group,
            reasons=self.why,
            by_cluster=settings.by_cluster,
        )


Recipe = Callable[[Proteins, NDArray[Any], int, int], tuple[Strings, Integers]]


def split_by_recipe(
    proteins: Proteins,
    assign: Recipe,
    class_: NDArray[Any],
    settings: SplitOptions,
    is_training: Booleans,
    reasons: Strings | None = None,
) -> Split:
    """Return the split that a recipe makes and what its audit finds; it sets nothing aside."""
    reason = np.full(proteins.n_proteins, "", dtype=object) if reasons is None else reasons
    rows = np.flatnonzero(~is_training & (reason == ""))
    every = proteins.ids.copy()
    every[rows], group = assign(
        proteins.take(rows), class_[rows], settings.n_groups, settings.threads
    )
    packing = packed(is_training, reason, group, settings.n_groups, settings.test_group)
    watch = _Watch(proteins, settings)
    watch.look_for_likely(packing.group)
    watch.sample(packing.group, (packing.role == TEST) | (packing.role == CALIBRATION))
    audit = judged(watch.compared, packing.group, settings.thresholds)
    return Split(packing=packing, cluster=every, audit=audit, n_unseen=watch.n_unseen)
