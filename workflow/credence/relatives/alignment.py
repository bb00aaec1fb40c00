"""Exact local alignments, several at a time: no prefilter, so no pair is lost.

Scores are computed for every pair; the alignment itself only where chance does not
explain the score (:mod:`credence.relatives.pairs`). Where chance is not asked, the ends
of the best alignments are computed for every pair: one that ends at residue e of a
protein of L residues, counted from 1, covers at most e/L of it, wherever it starts, so
only those that reach the coverage of the shorter one so far are aligned.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from hashlib import sha256
from itertools import groupby
from typing import Any

import numpy as np
import pyopal
from Bio.Align import PairwiseAligner, substitution_matrices
from numpy.typing import NDArray

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.progress import Progress
from credence.relatives.pairs import Pairs, Thresholds, contained, joined, score_needed
from credence.relatives.pieces import AUDIT, Pieces

MATRIX = "BLOSUM62"
GAP_OPEN, GAP_EXTEND = 11, 1  # a gap of n residues costs 11 + (n − 1)
LETTERS_OF_MATRIX = "ARNDCQEGHILKMFPSTWYVBZX*"
MOST_LONG_KEPT = 1_000  # pairs of long ones, asked for again by each step


@cache
def blosum() -> Integers:
    """Return the scores of two letters."""
    return np.asarray(substitution_matrices.load(MATRIX).select(LETTERS_OF_MATRIX), dtype=np.int32)


@lru_cache(MOST_LONG_KEPT)
def alignment_of_long(first: str, second: str) -> tuple[float, float, float]:
    """Return identity, coverage of the shorter and coverage of the longer one.

    Biopython keeps two bytes per cell: two proteins of 35,000 residues take 2.4 GB, half a minute.
    """
    aligner = PairwiseAligner(
        mode="local",
        substitution_matrix=substitution_matrices.load(MATRIX),
        open_gap_score=-GAP_OPEN,
        extend_gap_score=-GAP_EXTEND,
    )
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    alignment = next(iter(aligner.align(longer, shorter)), None)
    if alignment is None:
        return 0.0, 0.0, 0.0
    counts = alignment.counts()
    (start, start_of_shorter), (end, end_of_shorter) = alignment.coordinates[:, [0, -1]].T
    # What is unknown in both is identical to nothing.
    unknown = sum(letters == ("X", "X") for letters in zip(*alignment, strict=True))
    n_columns = counts.identities + counts.mismatches + counts.gaps
    identity = (counts.identities - unknown) / n_columns
    covered = (end_of_shorter - start_of_shorter) / len(shorter)
    return float(identity), float(covered), float((end - start) / len(longer))


# Opal keeps three numbers per cell of a traceback; beyond this Biopython aligns, which keeps two
# bytes.
MOST_CELLS_AT_ONCE = 25_000_000
CELLS_OF_ALIGNMENT = 12  # a cell of a traceback takes as long as so many of a score
LETTERS_OF_KEY = 16
QUERIES_AT_ONCE = 64  # queries that are scored before it is looked whether their alignments fit
ANY_LIKENESS = Thresholds(identity=0.0, coverage=0.0)


# Returns, of rows to be aligned with others, those that have to be, for as many rows as cells
# allow, and the cells that are left.
Undecided = Callable[[Sequence[int], Sequence[Integers], float], tuple[list[Integers], float]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Library:
    """Sequences ready to be aligned."""

    # Distinct sequences from long to short (:func:`credence.relatives.pairs.distinct`).
    texts: Strings
    threads: int = 1  # Alignments at a time; they change nothing but the time
    _aligner: Any = field(init=False, repr=False)
    _database: Any = field(init=False, repr=False)
    lengths: Integers = field(init=False, repr=False)  # Residues of each

    def __post_init__(self) -> None:
        """Encode the sequences once."""
        aligner = pyopal.Aligner(MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
        set_ = object.__setattr__
        set_(self, "_aligner", aligner)
        set_(self, "_database", pyopal.Database(self.texts.tolist(), aligner.alphabet))
        lengths = np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))
        set_(self, "lengths", lengths)

    def relatives(
        self,
        queries: Integers | None = None,
        home: NDArray[Any] | None = None,
        thresholds: Thresholds = ANY_LIKENESS,
    ) -> Pairs:
        """Return every pair that chance does not explain, aligned, at the thresholds.

        Where each has a `home`, those of two homes; one of −1 is left out.
        """
        return self.relatives_within(math.inf, queries, home, thresholds)[0]

    def relatives_within(
        self,
        cells: float,
        queries: Integers | None = None,
        home: NDArray[Any] | None = None,
        thresholds: Thresholds = ANY_LIKENESS,
        undecided: Undecided | None = None,
        pieces: Pieces | None = None,
    ) -> tuple[Pairs, Integers]:
        """Return the pairs of as many queries as some cells allow, and who these are.

        Queries are taken in their order, each with all that was not a query before it,
        but for those that `undecided` leaves out. `pieces` are kept where cells are not counted.
        """
        n_texts = len(self.texts)
        home = np.arange(n_texts) if home is None else home
        rows = np.arange(n_texts) if queries is None else queries
        rows = rows[home[rows] >= 0]
        asked = _Queries(
            library=self, rows=rows, home=home, thresholds=thresholds, undecided=undecided
        )
        near = asked.near_all(pieces) if cells == math.inf else asked.near_within(cells)
        aligned = self.align(
            (min(row, other), max(row, other))
            for row, others in zip(rows.tolist(), near, strict=False)
            for other in others.tolist()
        )
        done = rows[: len(near)]
        whole = contained(self.texts, None if queries is None else done, thresholds.most_expected)
        first_home, second_home = home[whole.first], home[whole.second]
        is_apart = (first_home != second_home) & (first_home >= 0) & (second_home >= 0)
        whole = whole.take(is_apart)
        is_whole = np.isin(
            aligned.first * n_texts + aligned.second, whole.first * n_texts + whole.second
        )
        pairs = joined([aligned.take(~is_whole), whole])
        return pairs.take(pairs.at(thresholds)), done

    def map(self, function: Any, rows: Sequence[Any]) -> Iterable[Any]:
        """Return what a function gives for each of some rows, several at a time."""
        if self.threads == 1 or len(rows) == 1:
            return map(function, rows)
        with ThreadPoolExecutor(self.threads) as pool:
            return list(pool.map(function, rows))

    def _against(self, row: int, others: Integers, mode: str) -> Any:
        part = self._database.extract(others.tolist())
        return self._aligner.align(self.texts[row], part, mode=mode, overflow="simple")

    def worth(self, thresholds: Thresholds, job: tuple[int, Integers]) -> Integers:
        """Return the rows of a job that may be relatives of its first, by scores or by ends."""
        row, others = job
        if thresholds.most_expected is None:
            return self._reaching(row, others, thresholds.coverage)
        return self._chances(row, others, thresholds.most_expected)[0]

    def beyond_chance(self, most_expected: float) -> tuple[Integers, Integers, Floats]:
        """Return every pair that chance does not explain, the lower row first, and its score."""
        rows = np.arange(len(self.texts))

        def compare(row: int) -> tuple[Integers, Floats]:
            return self._chances(row, rows[row + 1 :], most_expected)

        parts = list(self.map(compare, rows.tolist()))
        first = np.repeat(rows, [len(partners) for partners, _ in parts])
        second, score = (np.concatenate(column) for column in zip(*parts, strict=True))
        return first, second, score

    def _chances(
        self, row: int, others: Integers, most_expected: float
    ) -> tuple[Integers, Floats]:
        """Return those of some rows whose score with `row` chance does not explain, and scores."""
        if not len(others):
            return others, np.empty(0)
        results = self._against(row, others, "score")
        scores = np.fromiter((result.score for result in results), np.float64, len(others))
        needed = score_needed(int(self.lengths[row]), self.lengths[others], most_expected)
        return others[scores >= needed], scores[scores >= needed]

    def _reaching(self, row: int, others: Integers, coverage: float) -> Integers:
        """Return those of some rows whose alignment with `row` may cover so much.

        Where `row` is the target nothing is passed over: as query others are equally good.
        """
        before, after = others[others < row], others[others > row]
        if not len(after):
            return before
        results = self._against(row, after, "end")
        end, length = np.zeros((2, len(results))), int(self.lengths[row])
        for at, result in enumerate(results):
            if result.score > 0:
                end[:, at] = result.query_end + 1, result.target_end + 1
        lengths = self.lengths[after]
        # As `_shares` counts it: of two equally long ones the target is the shorter.
        share = np.where(lengths <= length, end[1] / lengths, end[0] / length)
        reaching = after[(share >= coverage) & (share > 0.0)]
        return np.asarray(np.concatenate([before, reaching]))

    def align(self, pairs: Iterable[tuple[int, int]]) -> Pairs:
        """Return the best local alignment of each pair."""
        wanted = sorted(set(pairs))
        groups = [
            (first, [second for _, second in part])
            for first, part in groupby(wanted, key=lambda pair: pair[0])
        ]
        measured = []
        with Progress("alignments", "proteins", len(groups)) as progress:
            for part in self.map(self._align, groups):
                measured += part
                progress.add()
        first, second = np.array(wanted, dtype=np.int64).reshape(-1, 2).T
        shares = np.array(measured, dtype=np.float64).reshape(-1, 3)
        identity, coverage, coverage_longer = np.ascontiguousarray(shares.T)
        return Pairs(
            first=first,
            second=second,
            identity=identity,
            coverage=coverage,
            coverage_longer=coverage_longer,
        )

    def beats_chance(
        self, first: Integers, second: Integers, most_expected: float | None
    ) -> Booleans:
        """Return whether the score of each pair is one that chance does not explain."""
        if most_expected is None:
            return np.ones(len(first), dtype=np.bool_)
        needed = score_needed(1, self.lengths[first] * self.lengths[second], most_expected)
        return np.asarray(self.scores(first, second) >= needed)

    def scores(self, first: Integers, second: Integers) -> Floats:
        """Return the score of the best local alignment of each pair."""
        if not len(first):
            return np.empty(0)
        # Up to some 32 targets of a query take as long as one: who is in more pairs is the query.
        n_pairs = np.bincount(np.concatenate([first, second]), minlength=len(self.texts))
        is_turned = n_pairs[second] > n_pairs[first]
        query, target = np.where(is_turned, (second, first), (first, second))
        order = np.argsort(query, kind="stable")
        query, target = query[order], target[order]
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        scores = np.empty(len(first))

        def score(job: tuple[int, Integers]) -> Floats:
            # Of a part of the database: ``overflow="buckets"`` keeps the memory of each call.
            results = self._against(*job, "score")
            return np.fromiter((result.score for result in results), np.float64, len(job[1]))

        jobs = list(zip(query[starts].tolist(), np.split(target, starts[1:]), strict=True))
        scores[order] = np.concatenate(list(self.map(score, jobs)))
        return scores

    def _align(self, group: tuple[int, list[int]]) -> list[tuple[float, float, float]]:
        first, others = group
        text = self.texts[first]
        small = [row for row in others if len(text) * len(self.texts[row]) <= MOST_CELLS_AT_ONCE]
        measured = {}
        if small:
            database = pyopal.Database([self.texts[row] for row in small], self._aligner.alphabet)
            results = self._aligner.align(text, database, mode="full", overflow="simple")
            for row, result in zip(small, results, strict=True):
                measured[row] = _shares(text, self.texts[row], result)
        return [measured.get(row) or alignment_of_long(text, self.texts[row]) for row in others]


def _shares(query: str, target: str, result: Any) -> tuple[float, float, float]:
    """Return identity and the coverages of the shorter and the longer one."""
    if not result.alignment:
        return 0.0, 0.0, 0.0
    matches = result.alignment.count("M")
    if "X" in query and "X" in target:
        matches -= _unknown_matches(query, target, result)
    in_query = (result.query_end - result.query_start + 1) / len(query)
    in_target = (result.target_end - result.target_start + 1) / len(target)
    shorter, longer = (in_target, in_query) if len(target) <= len(query) else (in_query, in_target)
    return matches / len(result.alignment), shorter, longer


def _unknown_matches(query: str, target: str, result: Any) -> int:
    """Return the number of columns that hold X twice."""
    at_query, at_target, count = result.query_start, result.target_start, 0
    for step in result.alignment:
        count += step == "M" and query[at_query] == "X" == target[at_target]
        # Opal's D is a residue that the target lacks, its I one that the query lacks.
        at_query += step != "I"
        at_target += step != "D"
    return count


def measured(library: Library, row: Integers, other: Integers) -> Pairs:
    """Return pairs of rows with their likeness, in the order given."""
    is_same: Booleans = row == other
    low, high = np.minimum(row, other), np.maximum(row, other)
    pairs = library.align(zip(low[~is_same].tolist(), high[~is_same].tolist(), strict=True))
    width = len(library.texts)
    places = np.searchsorted(pairs.first * width + pairs.second, (low * width + high)[~is_same])
    identity, coverage, coverage_longer = np.ones((3, len(row)))
    identity[~is_same] = pairs.identity[places]
    coverage[~is_same] = pairs.coverage[places]
    coverage_longer[~is_same] = pairs.coverage_longer[places]
    return Pairs(
        first=row,
        second=other,
        identity=identity,
        coverage=coverage,
        coverage_longer=coverage_longer,
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Queries:
    """Rows of a library to be compared, in their order, with what is apart from them."""

    library: Library
    rows: Integers
    home: NDArray[Any]  # Of each row of the library; what has the same is not compared
    thresholds: Thresholds
    undecided: Undecided | None

    @cached_property
    def place(self) -> Integers:
        """The place of each row of the library among the queries."""
        place = np.full(len(self.home), len(self.home))
        place[self.rows] = np.arange(len(self.rows))
        return place

    def others(self, row: int) -> Integers:
        """Return what a query is compared with: all apart from it but for queries before it."""
        home, place = self.home, self.place
        return np.flatnonzero((home != home[row]) & (home >= 0) & (place > place[row]))

    def near_all(self, pieces: Pieces | None) -> list[Integers]:
        """Return for every query those that may be its relatives; piece by piece, if asked."""
        key = sha256(self.home.tobytes() + self.rows.tobytes()).hexdigest()[:LETTERS_OF_KEY]
        makers = {
            f"{AUDIT}-{key}-{start}": partial(
                self._near, self.rows[start : start + QUERIES_AT_ONCE]
            )
            for start in range(0, len(self.rows), QUERIES_AT_ONCE)
        }
        near: list[Integers] = []
        with Progress("exact alignment", "proteins", len(self.rows)) as progress:
            for read in [*makers.values()] if pieces is None else pieces.divided(AUDIT, makers):
                near += read()
                progress.add(len(near) - progress.done)
        return near

    def _near(self, part: Integers) -> tuple[Integers, ...]:
        queries = part.tolist()
        others = [self.others(row) for row in queries]
        if self.undecided is not None:
            others, _ = self.undecided(queries, others, math.inf)
        return self._worth(queries, others)

    def _worth(self, queries: Sequence[int], others: Sequence[Integers]) -> tuple[Integers, ...]:
        jobs = list(zip(queries, others, strict=True))
        return tuple(self.library.map(partial(self.library.worth, self.thresholds), jobs))

    def near_within(self, cells: float) -> list[Integers]:
        """Return the same for as many queries as some cells allow."""
        lengths, near, allowed = self.library.lengths, list[Integers](), cells
        with Progress("exact alignment", "%", 100) as progress:
            while len(near) < len(self.rows) and cells >= 0.0:
                part = self.rows[len(near) : len(near) + QUERIES_AT_ONCE].tolist()
                others = [self.others(row) for row in part]
                # Half of the cells, so that the alignments that scores ask for have some.
                if self.undecided is not None:
                    others, left = self.undecided(part, others, 0.5 * cells)
                    cells -= 0.5 * cells - left
                sizes = [int(lengths[some].sum()) for some in others]
                price = np.cumsum(lengths[part[: len(sizes)]] * np.array(sizes, np.float64))
                n_scored = int(np.searchsorted(price, 0.5 * cells, side="right"))
                if n_scored == 0:
                    break
                cells -= float(price[n_scored - 1])
                neighbours_of = self._worth(part[:n_scored], others[:n_scored])
                for row, neighbours in zip(part[:n_scored], neighbours_of, strict=True):
                    cells -= CELLS_OF_ALIGNMENT * float(lengths[row] * lengths[neighbours].sum())
                    if cells < 0.0:
                        break
                    near.append(neighbours)
                done = max(1.0 - max(cells, 0.0) / allowed, len(near) / len(self.rows))
                progress.add(int(100 * done) - progress.done)
        return near
