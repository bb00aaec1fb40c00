"""Pairs that a prefilter proposes, decided by exact alignment, as few as connect.

Candidates are scored exactly here, piece by piece (decision 0015), and the best of each
component are aligned, in the order of their scores, while they lead to another component.
Near copies stand behind one representative meanwhile, and a member may have a relative that
its representative has not. So all members of components that stayed small are searched for
again, and some of those that became so large that they fill each other's lists; what is small
still is compared with what those alike to it are alike to; and all members of two components
that are alike beyond chance are compared (decision 0014).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.predictions import Booleans, Floats, Integers
from credence.relatives.alignment import Library
from credence.relatives.graph import components
from credence.relatives.pairs import (
    Columns,
    Pairs,
    Thresholds,
    each_once,
    joined,
    members,
    n_equal_before,
    no_pairs,
    ranges,
    score_needed,
)

# Of each component so many are aligned in each round before the second search.
FEW = (1, 2, 4)
WITHOUT_END = tuple(1 << place for place in range(48))
SMALL_COMPONENT = 12  # members of a component that are searched for again
# A component of more may fill a member's list of candidates: one member in so many is searched for
# again, with a list that holds all of it.
CROWD, ONE_IN = 150, 20
# Promise per residue of the shorter one from which on candidates are aligned unscored.
PROMISING, ROUNDS_OF_PROMISE = 0.6, 6
# A promise is another program's score; by so much it is above what chance explains.
MARGIN_OVER_CHANCE = 1.25
# Reads the candidates of a piece: rows of the lower and the higher one, sorted, each pair once,
# and what another program promises of their score.
Piece = Callable[[], tuple[Integers, Integers, Integers | Floats]]
# Searches for the first rows, and for the second with so many more candidates of each.
Search = Callable[[Integers, Integers, int], Sequence[Piece]]
# Of each such member so many are looked at by way of others, those with most of these first.
MOST_BEYOND, MEMBERS_AT_ONCE = 100, 1_000
# Alignments in turn without an edge after which no more are made, and the part of the
# best pairs of components that are aligned before it is known what they join.
NONE_AMONG, PART_AT_ONCE = 2_000, 8
MOST_AT_ONCE = 1_000_000  # pairs of members compared at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class Alike(Columns):
    """Pairs that chance does not explain."""

    first: Integers  # Rows of the two
    second: Integers
    score: Floats  # Of their best local alignment


def together(parts: Iterable[Alike]) -> Alike:
    """Return several lists as one."""
    rows = np.empty(0, dtype=np.int64)
    nothing = Alike(first=rows, second=rows.copy(), score=np.empty(0))
    return Alike.stacked([nothing, *parts])


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """Sequences, and pairs of them that may be relatives."""

    library: Library  # The sequences
    thresholds: Thresholds  # From where on two are joined

    def connect(self, near: Pairs, pieces: Sequence[Piece], again: Search) -> Pairs:
        """Return pairs that connect all relatives that can be met."""
        return self.completed(*self.begun(near, pieces), pieces, again)

    def begun(self, near: Pairs, pieces: Sequence[Piece]) -> tuple[Pairs, Alike]:
        """Return near copies and what the first search connects, and who is alike."""
        edges = [near]
        for piece in pieces:
            edges.append(self._promising(edges, *piece()))
        alike = together(self._alike(*self._apart(edges, *piece()[:2])) for piece in pieces)
        return joined([*edges, self._joining(edges, alike, FEW)]), alike

    def completed(
        self, begun: Pairs, alike: Alike, pieces: Sequence[Piece], again: Search
    ) -> Pairs:
        """Return pairs that connect all relatives, with those that a second search connects."""
        edges = [begun]
        component = self._component(edges)
        size = np.bincount(component)[component]
        is_small = size <= SMALL_COMPONENT
        crowded = np.flatnonzero((size > CROWD) & (n_equal_before(component) % ONE_IN == 0))
        if is_small.any() or len(crowded):
            searches = again(np.flatnonzero(is_small), crowded, int(size.max()))
            every = together([alike, *self._more(edges, is_small, pieces, searches)])
            edges.append(self._best_first(edges, every))
            beyond = self._beyond(edges, every)
            edges.append(self._best_first(edges, beyond))
            alike = together([every, beyond])
        return joined([*edges, self._families(edges, alike)])

    def _beyond(self, edges: list[Pairs], alike: Alike) -> Alike:
        """Return those alike, of members of small components and whom their like are alike to.

        A short protein may share no word with a relative, but with others of its family.
        """
        n_texts, component = len(self.library.texts), self._component(edges)
        first = np.concatenate([*(part.first for part in edges), alike.first])
        second = np.concatenate([*(part.second for part in edges), alike.second])
        nodes = np.concatenate([first, second]), np.concatenate([second, first])
        links = sparse.csr_array((np.ones(len(nodes[0]), np.int32), nodes), (n_texts, n_texts))
        small = np.flatnonzero(np.bincount(component)[component] <= SMALL_COMPONENT)
        keys = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(small), MEMBERS_AT_ONCE):
            rows = small[start : start + MEMBERS_AT_ONCE]
            paths = (links[rows] @ links).tocoo()
            start_row, end_row = rows[paths.row], paths.col.astype(np.int64)
            order = np.lexsort((end_row, -paths.data, start_row))
            start_row, end_row = start_row[order], end_row[order]
            is_apart = component[start_row] != component[end_row]
            start_row, end_row = start_row[is_apart], end_row[is_apart]
            kept = n_equal_before(start_row) < MOST_BEYOND
            low, high = np.minimum(start_row, end_row)[kept], np.maximum(start_row, end_row)[kept]
            keys.append(low * n_texts + high)
        known = first * n_texts + second
        new = np.setdiff1d(each_once(np.concatenate(keys)), known, assume_unique=True)
        return self._alike(*np.divmod(new, n_texts))

    def connect_every(self) -> Pairs:
        """Return pairs that connect all relatives, each pair of sequences scored."""
        first, second, score = self.library.beyond_chance(self.thresholds.most_searched)
        alike = Alike(first=first, second=second, score=score)
        return self._joining([no_pairs()], alike, WITHOUT_END)

    def _more(
        self,
        edges: list[Pairs],
        is_small: Booleans,
        pieces: Sequence[Piece],
        searches: Sequence[Piece],
    ) -> Iterator[Alike]:
        """Yield those alike among candidates that were none before."""
        width, known = len(self.library.texts), [np.empty(0, dtype=np.int64)]
        for piece in pieces:
            first, second, _ = piece()
            kept = is_small[first] | is_small[second]
            known.append(first[kept] * width + second[kept])
        met = each_once(np.concatenate(known))
        for piece in searches:
            first, second = self._apart(edges, *piece()[:2])
            new = np.setdiff1d(first * width + second, met, assume_unique=True)
            met = each_once(np.concatenate([met, new]))
            yield self._alike(*np.divmod(new, width))

    def _shorter(self, first: Integers, second: Integers) -> Integers:
        return np.minimum(self.library.lengths[first], self.library.lengths[second])

    def _apart(
        self, edges: list[Pairs], first: Integers, second: Integers
    ) -> tuple[Integers, Integers]:
        component = self._component(edges)
        is_apart = component[first] != component[second]
        return first[is_apart], second[is_apart]

    def _promising(
        self, edges: list[Pairs], first: Integers, second: Integers, promise: Integers | Floats
    ) -> Pairs:
        """Return edges among the best of each component, aligned without being scored."""
        shorter = self._shorter(first, second)
        needed = MARGIN_OVER_CHANCE * self._needed(first, second)
        kept = promise >= np.maximum(PROMISING * shorter, needed)
        first, second, worth = first[kept], second[kept], (promise / shorter)[kept]
        return self._while_apart(edges, first, second, worth, [1] * ROUNDS_OF_PROMISE)

    def _while_apart(
        self,
        edges: list[Pairs],
        first: Integers,
        second: Integers,
        worth: Floats,
        rounds: Iterable[int],
    ) -> Pairs:
        """Return edges among pairs, aligned in rounds, but for those that others connect.

        `rounds` says how many of each component are aligned in each of them, those of
        most worth first; the place in the list decides between equals.
        """
        order = np.lexsort((second, first, -worth))
        first, second = first[order], second[order]
        kept = [no_pairs()]
        for share in rounds:
            component = self._component([*edges, *kept])
            bounds = np.stack([component[first], component[second]], axis=1)
            is_apart = bounds[:, 0] != bounds[:, 1]
            first, second, bounds = first[is_apart], second[is_apart], bounds[is_apart]
            if not len(first):
                break
            place = n_equal_before(bounds.ravel()).reshape(bounds.shape)
            is_next = (place < share).any(axis=1)
            pairs = zip(first[is_next].tolist(), second[is_next].tolist(), strict=True)
            aligned = self.library.align(pairs)
            kept.append(aligned.take(aligned.at(self.thresholds)))
            first, second = first[~is_next], second[~is_next]
        return joined(kept)

    def _beats(
        self, first: Integers, second: Integers, score: Floats, thresholds: Thresholds
    ) -> Booleans:
        """Return whether chance does not explain a score, and thresholds may be reached."""
        least = thresholds.least_score(self._shorter(first, second))
        return np.asarray(score >= np.maximum(self._needed(first, second), least))

    def _needed(self, first: Integers, second: Integers) -> Floats:
        lengths = self.library.lengths[first] * self.library.lengths[second]
        return score_needed(1, lengths, self.thresholds.most_searched)

    def _alike(self, first: Integers, second: Integers) -> Alike:
        """Return those of pairs that may be edges, not by chance, scored."""
        score = self.library.scores(first, second)
        beats = self._beats(first, second, score, self.thresholds)
        return Alike(first=first, second=second, score=score).take(beats)

    def _joining(self, edges: list[Pairs], alike: Alike, rounds: Iterable[int]) -> Pairs:
        """Return edges among those alike, but for what others connect or what cannot be."""
        may = self._beats(alike.first, alike.second, alike.score, self.thresholds.tighter())
        first, second = alike.first[may], alike.second[may]
        worth = alike.score[may] / self._shorter(first, second)
        return self._while_apart(edges, first, second, worth, rounds)

    def _best_first(self, edges: list[Pairs], alike: Alike) -> Pairs:
        """Return edges among those alike, the best of each component first, until none is.

        Where of 2,000 none was an edge, fewer than 0.15 % of others like them are (at 95 %), and
        those that are left are less alike.
        """
        left, kept, n_none = self._in_order(alike), [no_pairs()], 0
        while len(left.first) and n_none < NONE_AMONG:
            component = self._component([*edges, *kept])
            left = left.take(component[left.first] != component[left.second])
            bounds = np.stack([component[left.first], component[left.second]], axis=1)
            is_best = (n_equal_before(bounds.ravel()).reshape(-1, 2) == 0).any(axis=1)
            n_next = max(NONE_AMONG, int(is_best.sum()) // PART_AT_ONCE)
            is_next = is_best & (np.cumsum(is_best) <= n_next)
            chosen = left.take(is_next)
            pairs = zip(chosen.first.tolist(), chosen.second.tolist(), strict=True)
            aligned = self.library.align(pairs)
            kept.append(aligned.take(aligned.at(self.thresholds)))
            left = left.take(~is_next)
            n_none = 0 if kept[-1].n_pairs else n_none + aligned.n_pairs
        return joined(kept)

    def _in_order(self, alike: Alike) -> Alike:
        """Return those that may be relatives, each pair once, the most alike first."""
        keys = self._keys(alike.first, alike.second)
        every = alike.take(np.unique(keys, return_index=True)[1])
        every = every.take(
            self._beats(every.first, every.second, every.score, self.thresholds.tighter())
        )
        worth = every.score / self._shorter(every.first, every.second)
        return every.take(np.lexsort((every.second, every.first, -worth)))

    def _component(self, edges: list[Pairs]) -> Integers:
        first = np.concatenate([part.first for part in edges])
        second = np.concatenate([part.second for part in edges])
        return components(len(self.library.texts), first, second)

    def _families(self, edges: list[Pairs], alike: Alike) -> Pairs:
        """Return edges between components that are alike, and still apart, by their best pairs.

        Of two relatives that no search proposed others of their families were met as a rule.
        """
        component = self._component(edges)
        links = alike.take(component[alike.first] != component[alike.second])
        return self._best_first(edges, together([links, *self._climbed(component, links)]))

    def _climbed(self, component: Integers, links: Alike) -> Iterator[Alike]:
        """Yield those alike that are met from the best known pair of two components upwards.

        Of that pair each is compared with all members of the other's component, then whatever
        takes its place in a better pair, until none is better.
        """
        order, starts = members(component, int(component.max(initial=-1)) + 1)
        best, sizes = self._best(component, links), np.diff(starts)[component]
        n_pairs = np.cumsum(sizes[best.first] + sizes[best.second])
        bounds = np.flatnonzero(np.diff(n_pairs // MOST_AT_ONCE)) + 1
        width, known = np.int64(len(component)), each_once(self._keys(links.first, links.second))
        for part in np.split(np.arange(len(best.first)), bounds):
            top = best.take(part)
            near = np.concatenate([top.first, top.second])
            other = np.concatenate([top.second, top.first])
            while len(near):
                home = component[other]
                number, place = ranges(starts[home], starts[home + 1])
                asked = each_once(self._keys(near[number], order[place]))
                new = np.setdiff1d(asked, known, assume_unique=True)
                known = each_once(np.concatenate([known, new]))
                met = self._alike(*np.divmod(new, width))
                yield met
                before, top = top, self._best(component, together([top, met]))
                # Of a better pair one is new: the other has been compared with all.
                first, second = top.first != before.first, top.second != before.second
                near = np.concatenate([top.first[first], top.second[second]])
                other = np.concatenate([top.second[first], top.first[second]])

    def _keys(self, near: Integers, other: Integers) -> Integers:
        """Return a number for each pair, whichever comes first."""
        width = np.int64(len(self.library.texts))
        return np.asarray(np.minimum(near, other) * width + np.maximum(near, other))

    def _best(self, component: Integers, alike: Alike) -> Alike:
        """Return the best pair of each two components, that in the lower one first."""
        is_turned = component[alike.first] > component[alike.second]
        first = np.where(is_turned, alike.second, alike.first)
        second = np.where(is_turned, alike.first, alike.second)
        worth = alike.score / self._shorter(first, second)
        order = np.lexsort((second, first, -worth, component[second], component[first]))
        bounds = np.stack([component[first], component[second]])[:, order]
        is_best = np.append(True, (np.diff(bounds) != 0).any(axis=0))[: len(order)]
        return Alike(first=first, second=second, score=alike.score).take(order[is_best])
