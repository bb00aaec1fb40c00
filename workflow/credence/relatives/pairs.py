"""When two proteins are relatives, and pairs of them.

Notes
-----
Two proteins are relatives when their best local alignment (BLOSUM62, a gap of
n residues costs 11 + (n − 1)) has an identity, matches over alignment columns,
and a coverage, aligned stretch over length, at the thresholds or above, and
when it is better than chance: at most `Thresholds.most_expected` alignments as
good are expected between two random proteins of their lengths. Without that
third condition a peptide would be a relative of half of all proteins. It does
not depend on how many proteins there are, so relatives stay relatives. With
`most_expected` None the first two conditions are all.

Identical sequences are always relatives. A protein below `SHORTEST_WHOLE`
residues, whose every match together may score less than chance needs, is also a
relative of those that contain it whole, unless that is chance itself: 20⁻ʳ per
place for r residues, so from six or seven residues on.

Identity and coverage alone put no floor under a score (matches of 4 and mismatches of −4
score 4 at any length), so where chance is not asked the ends of alignments are bounded
instead (:meth:`credence.relatives.alignment.Library.relatives`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credence.predictions import Booleans, Floats, Integers, Strings

IDENTITY, COVERAGE = 0.40, 0.80
# By how much the graph is drawn looser than relatives are defined.
IDENTITY_MARGIN, COVERAGE_MARGIN = 0.05, 0.10
MOST_EXPECTED = 1e-6
MOST_SEARCHED = 1e-3  # where that is not asked
# Of an alignment with a share i of identical columns each column scores at least 5 i − 1.1,
# also where all residues are those that score 4 with themselves (decision 0014).
SCORE_OF_IDENTITY, SCORE_OF_NONE = 5.0, -1.1
# From here on matches, which score 4 at least, beat chance: 120 against 92 for the
# longest protein there is.
SHORTEST_WHOLE = 30
N_RESIDUES = 20
# Karlin-Altschul parameters of BLOSUM62 with gaps of 11 and 1, as BLAST has them
# (Altschul & Gish 1996, doi 10.1016/S0076-6879(96)66029-7).
LAMBDA, KAPPA = 0.267, 0.041


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """From where on two proteins are relatives."""

    identity: float = IDENTITY  # Least share of identical columns of the alignment
    coverage: float = COVERAGE  # Least share of the shorter protein that is aligned
    both_sides: bool = False  # Whether the longer one has to be covered as much
    # Alignments as good between two random proteins of their lengths, at most; None: alignments
    # that chance explains count as well.
    most_expected: float | None = MOST_EXPECTED

    @property
    def most_searched(self) -> float:
        """Alignments as good by chance up to which a pair is looked at by search engines.

        Also where `most_expected` is None: what is alike by chance would take most of the time.
        """
        return MOST_SEARCHED if self.most_expected is None else self.most_expected

    def looser(self) -> "Thresholds":
        """Return the thresholds of the graph, below those of relatives."""
        return replace(
            self,
            identity=max(self.identity - IDENTITY_MARGIN, 0.0),
            coverage=max(self.coverage - COVERAGE_MARGIN, 0.0),
        )

    def tighter(self) -> "Thresholds":
        """Return the thresholds of relatives where these are those of the graph."""
        return replace(
            self,
            identity=self.identity + IDENTITY_MARGIN,
            coverage=self.coverage + COVERAGE_MARGIN,
        )

    def least_score(self, shorter: ArrayLike) -> Floats:
        """Return the score below which no pair at the thresholds was ever met."""
        per_column = max(SCORE_OF_IDENTITY * self.identity + SCORE_OF_NONE, 0.0)
        return per_column * self.coverage * np.asarray(shorter, dtype=np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """A table of which each field is a column."""

    @property
    def columns(self) -> tuple[NDArray[Any], ...]:
        """The columns, in the order of the fields."""
        return tuple(vars(self).values())

    @classmethod
    def of_columns(cls, columns: Iterable[NDArray[Any]]) -> Self:
        """Return the table of columns that come in that order."""
        names = (entry.name for entry in fields(cls))
        return cls(**dict(zip(names, columns, strict=True)))

    @classmethod
    def stacked(cls, tables: Sequence[Self]) -> Self:
        """Return the rows of several tables, at least one, as one."""
        columns = zip(*(table.columns for table in tables), strict=True)
        return cls.of_columns(map(np.concatenate, columns))

    def take(self, rows: Integers | Booleans) -> Self:
        """Return some of the rows."""
        return self.of_columns(column[rows] for column in self.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs(Columns):
    """Pairs of proteins that align."""

    first: Integers  # Rows of the two
    second: Integers
    identity: Floats  # Share of identical columns
    coverage: Floats  # Share of the shorter and of the longer one that is aligned
    coverage_longer: Floats

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.first)

    def at(self, thresholds: Thresholds) -> Booleans:
        """Return which pairs reach the thresholds."""
        reaches = (self.identity >= thresholds.identity) & (self.coverage >= thresholds.coverage)
        if thresholds.both_sides:
            reaches = reaches & (self.coverage_longer >= thresholds.coverage)
        return reaches

    def renamed(self, rows: Integers, others: Integers | None = None) -> "Pairs":
        """Return the pairs with other rows: `rows[i]` for row i, `others[i]` of the second."""
        others = rows if others is None else others
        return replace(self, first=rows[self.first], second=others[self.second])

    def turned(self) -> "Pairs":
        """Return the pairs with first and second exchanged."""
        return replace(self, first=self.second, second=self.first)


def no_pairs() -> Pairs:
    """Return no pairs."""
    return alike(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def alike(first: Integers, second: Integers, share: float = 1.0) -> Pairs:
    """Return pairs of one likeness: 1 of identical sequences, 0 where it is not known."""
    shares = np.full(len(first), share)
    return Pairs(
        first=first,
        second=second,
        identity=shares,
        coverage=shares.copy(),
        coverage_longer=shares.copy(),
    )


def joined(parts: list[Pairs]) -> Pairs:
    """Return the pairs of several lists as one."""
    return Pairs.stacked([no_pairs(), *parts])


def members(home: Integers, n_homes: int) -> tuple[Integers, Integers]:
    """Return the rows home by home, and where those of each home start, and the last one ends."""
    order = np.argsort(home, kind="stable").astype(np.int64)
    return order, np.searchsorted(home[order], np.arange(n_homes + 1)).astype(np.int64)


def ranges(start: Integers, stop: Integers) -> tuple[Integers, Integers]:
    """Return all places of several ranges, each with the number of its range."""
    count = stop - start
    number = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(number)) - np.repeat(np.cumsum(count) - count, count)
    return number, start[number] + within


def each_once(keys: Integers) -> Integers:
    """Return distinct numbers in order; `np.unique` of numpy 2.4 hashes, 80 times as slow."""
    keys = np.sort(keys)
    return np.asarray(keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]])


def n_equal_before(keys: Integers) -> Integers:
    """Return how many equal keys stand before each."""
    _, codes, counts = np.unique(keys, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = ranges(np.zeros(len(counts), dtype=np.int64), counts)[1]
    return place


def score_needed(length: int, lengths: ArrayLike, most_expected: float = MOST_EXPECTED) -> Floats:
    """Return the least score that chance does not explain."""
    n_places = float(length) * np.asarray(lengths, dtype=np.float64)
    return np.asarray(np.log(KAPPA * n_places / most_expected) / LAMBDA)


def contained(
    texts: Strings, queries: Integers | None = None, most_expected: float | None = MOST_EXPECTED
) -> Pairs:
    """Return short proteins with those that contain them whole."""
    short = [at for at, text in enumerate(texts) if len(text) < SHORTEST_WHOLE and "X" not in text]
    if not short:
        return no_pairs()
    wanted = None if queries is None else set(queries.tolist())
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    joined_text = "*".join(texts) + "*"
    pairs = set()
    for row in short:
        text = texts[row]
        rarity = float(N_RESIDUES) ** -len(text)
        place = joined_text.find(text)
        while place >= 0:
            home = int(np.searchsorted(starts, place, side="right")) - 1
            n_places = len(texts[home]) - len(text) + 1
            is_rare = most_expected is None or rarity * n_places <= most_expected
            is_asked = wanted is None or row in wanted or home in wanted
            if home != row and is_rare and is_asked:
                pairs.add((home, row))
            place = joined_text.find(text, int(starts[home + 1]))
    home_of, row_of = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T.copy()
    lengths = np.diff(starts) - 1
    return replace(alike(home_of, row_of), coverage_longer=lengths[row_of] / lengths[home_of])


STANDS_FOR = str.maketrans("BZJUO", "DELCK")
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"


@dataclass(frozen=True, kw_only=True, eq=False)
class Distinct:
    """Each sequence once."""

    texts: Strings  # The sequences, from long to short, then by content
    code: Integers  # For each protein the row of its sequence in `texts`

    @property
    def lengths(self) -> Integers:
        """Number of residues of each text."""
        return np.fromiter(map(len, self.texts), dtype=np.int64, count=len(self.texts))


def canonical(sequence: str) -> str:
    """Return a sequence in the twenty letters that alignments know, and X."""
    text = sequence.translate(STANDS_FOR)
    others = set(text).difference(AMINO_ACIDS)
    return text.translate({ord(letter): "X" for letter in others}) if others else text


def canonical_texts(sequences: Iterable[str]) -> Strings:
    """Return several sequences so."""
    return np.array([*map(canonical, sequences)], dtype=object)


def distinct(sequences: Strings) -> Distinct:
    """Return each sequence once, in an order that only content decides."""
    plain = canonical_texts(sequences)
    order = sorted(set(plain), key=lambda text: (-len(text), text))
    row_of = {text: row for row, text in enumerate(order)}
    return Distinct(
        texts=np.array(order, dtype=object),
        code=np.array([row_of[text] for text in plain], dtype=np.int64),
    )
