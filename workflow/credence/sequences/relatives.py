"""When two proteins are relatives, and pairs of them.

Notes
-----
Two proteins are relatives when their best local alignment (BLOSUM62, a gap of
n residues costs 11 + (n − 1)) has an identity, matches over alignment columns,
and a coverage, aligned stretch over length, at the thresholds or above, and
when it is better than chance: at most `MOST_EXPECTED` alignments as good are
expected between two random proteins of their lengths. Without that third
condition a peptide would be a relative of half of all proteins. It does not
depend on how many proteins there are, so relatives stay relatives.

A protein below `SHORTEST_ALIGNED` residues cannot beat chance; it is a relative
of those that contain it whole, and of nothing else. Identical sequences are
always relatives.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike

from credence.predictions import Booleans, Floats, Integers, Strings

IDENTITY, COVERAGE = 0.40, 0.80
# By how much the graph is drawn looser than relatives are defined.
IDENTITY_MARGIN, COVERAGE_MARGIN = 0.05, 0.10
SHORTEST_ALIGNED = 30
MOST_EXPECTED = 1e-6
# Karlin-Altschul parameters of BLOSUM62 with gaps of 11 and 1, as BLAST has them
# (Altschul & Gish 1996, doi 10.1016/S0076-6879(96)66029-7).
LAMBDA, KAPPA = 0.267, 0.041


@dataclass(frozen=True)
class Thresholds:
    """From where on two proteins are relatives.

    Parameters
    ----------
    identity : float
        Least share of identical columns of the alignment.
    coverage : float
        Least share of the shorter protein that is aligned.
    both_sides : bool
        Whether the longer one has to be covered as much.
    """

    identity: float = IDENTITY
    coverage: float = COVERAGE
    both_sides: bool = False

    def looser(self) -> Thresholds:
        """Return the thresholds of the graph, below those of relatives."""
        return replace(
            self,
            identity=max(self.identity - IDENTITY_MARGIN, 0.0),
            coverage=max(self.coverage - COVERAGE_MARGIN, 0.0),
        )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of proteins that align.

    Parameters
    ----------
    first, second : array of int
        Rows of the two.
    identity : array of float
        Share of identical columns.
    coverage, coverage_longer : array of float
        Share of the shorter and of the longer one that is aligned.
    """

    first: Integers
    second: Integers
    identity: Floats
    coverage: Floats
    coverage_longer: Floats

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return len(self.first)

    def take(self, rows: Integers | Booleans) -> Pairs:
        """Return some of the pairs.

        Parameters
        ----------
        rows : array of int or bool
            Which.
        """
        return Pairs(*(getattr(self, entry.name)[rows] for entry in fields(self)))

    def at(self, thresholds: Thresholds) -> Booleans:
        """Return which pairs reach the thresholds.

        Parameters
        ----------
        thresholds : Thresholds
            From where on.
        """
        reaches = (self.identity >= thresholds.identity) & (self.coverage >= thresholds.coverage)
        if thresholds.both_sides:
            reaches = reaches & (self.coverage_longer >= thresholds.coverage)
        return reaches

    def renamed(self, rows: Integers) -> Pairs:
        """Return the pairs with other rows: `rows[i]` for row i.

        Parameters
        ----------
        rows : array of int
            The new row of each.
        """
        return replace(self, first=rows[self.first], second=rows[self.second])


def no_pairs() -> Pairs:
    """Return no pairs."""
    rows, shares = np.empty(0, dtype=np.int64), np.empty(0)
    return Pairs(rows, rows.copy(), shares, shares.copy(), shares.copy())


def joined(parts: list[Pairs]) -> Pairs:
    """Return the pairs of several lists as one.

    Parameters
    ----------
    parts : list of Pairs
        In the order wanted.
    """
    kept = [no_pairs(), *parts]
    return Pairs(
        *(np.concatenate([getattr(part, entry.name) for part in kept]) for entry in fields(Pairs))
    )


def score_needed(length: int, lengths: ArrayLike) -> Floats:
    """Return the least score that chance does not explain.

    Parameters
    ----------
    length : int
        Residues of one protein.
    lengths : array of int
        Residues of others.

    Examples
    --------
    >>> score_needed(300, [300, 1200]).round(1).tolist()
    [82.5, 87.7]
    """
    n_places = float(length) * np.asarray(lengths, dtype=np.float64)
    return np.asarray(np.log(KAPPA * n_places / MOST_EXPECTED) / LAMBDA)


def contained(texts: Strings, queries: Integers | None = None) -> Pairs:
    """Return short proteins with those that contain them whole.

    Parameters
    ----------
    texts : array of str
        Distinct sequences.
    queries : array of int, optional
        Only pairs with one of these rows; default: all.
    """
    short = [row for row, text in enumerate(texts) if len(text) < SHORTEST_ALIGNED]
    if not short:
        return no_pairs()
    wanted = None if queries is None else set(queries.tolist())
    starts = np.cumsum([0, *(len(text) + 1 for text in texts)])
    joined_text = "*".join(texts) + "*"
    pairs = set()
    for row in short:
        place = joined_text.find(texts[row])
        while place >= 0:
            home = int(np.searchsorted(starts, place, side="right")) - 1
            if home != row and (wanted is None or row in wanted or home in wanted):
                pairs.add((home, row))
            place = joined_text.find(texts[row], int(starts[home + 1]))
    if not pairs:
        return no_pairs()
    rows = np.array(sorted(pairs), dtype=np.int64)
    whole = np.ones(len(rows))
    lengths = np.array([[len(texts[home]), len(texts[row])] for home, row in rows.tolist()])
    return Pairs(rows[:, 0], rows[:, 1], whole, whole.copy(), lengths[:, 1] / lengths[:, 0])
