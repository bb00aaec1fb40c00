"""Rows of one protein in a table of networks: whether they stand together, and cut so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings
from credence.tables.networks import in_order
from credence.tables.scan import Part


class NetworkRows:
    """What a first reading tells of a table with a row per protein and network.

    Of each protein 8 bytes are kept, a hash of its id.
    """

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}  # of networks
        self._hashes: list[NDArray[np.int64]] = []
        self._is_repeated = False
        self._fewest: int | None = None  # rows of one protein
        self.has_other_truths = False
        # Of the protein that was read last: more of its rows may follow.
        self._last: str | None = None
        self._last_networks: set[int] = set()
        self._last_truth = 0

    @property
    def networks(self) -> tuple[str, ...]:
        """Names of all networks, in order."""
        return in_order(self._code_of)

    @property
    def lacks_networks(self) -> bool:
        """Whether some protein has no row of some network, where no row stands twice."""
        n_last = len(self._last_networks)
        fewest = n_last if self._fewest is None else min(self._fewest, n_last)
        return fewest < len(self._code_of)

    def hashes(self) -> NDArray[np.int64]:
        """Return a hash of the id of each protein, in the order of the table."""
        return np.concatenate([np.empty(0, dtype=np.int64), *self._hashes])

    def stand_together(self) -> bool:
        """Return whether the rows of each protein follow each other, none of them twice.

        Two ids of one hash count as one whose rows stand apart.
        """
        hashes = np.sort(self.hashes())
        return not self._is_repeated and not (hashes[1:] == hashes[:-1]).any()

    def see(self, part: Part) -> None:
        """Take some rows into account, in the order of the table.

        Parameters
        ----------
        part : Part
            One row or more.
        """
        assert part.network is not None
        is_first = begins_protein(part.ids, self._last)
        self._hashes.append(np.fromiter(map(hash, part.ids[is_first]), np.int64))
        code_of = self._code_of
        network = np.array([code_of.setdefault(name, len(code_of)) for name in part.network])
        # Proteins of this part; 0 is the last one of the part before, which may go on.
        protein = np.cumsum(is_first, dtype=np.int64)
        self._see_networks(protein, network)
        if part.truth is not None:
            known = np.concatenate([[self._last_truth], part.truth[is_first]])
            self.has_other_truths |= bool((part.truth != known[protein]).any())
            self._last_truth = int(known[-1])
        self._last = part.ids[-1]

    def _see_networks(self, protein: Integers, network: Integers) -> None:
        going_on = set(network[protein == 0].tolist())
        pairs = np.unique(protein * len(self._code_of) + network)
        self._is_repeated |= len(pairs) < len(network) or bool(going_on & self._last_networks)
        n_rows = np.bincount(protein)
        n_rows[0] += len(self._last_networks)
        whole = n_rows[0 if self._last is not None else 1 : -1]
        if len(whole):
            fewest = int(whole.min())
            self._fewest = fewest if self._fewest is None else min(self._fewest, fewest)
        if len(n_rows) == 1:
            self._last_networks |= going_on
        else:
            self._last_networks = set(network[protein == protein[-1]].tolist())


def begins_protein(ids: Strings, before: str | None) -> Booleans:
    """Return which rows are of another protein than the row before them.

    Parameters
    ----------
    ids : array of str
        Protein of each row; one or more.
    before : str, optional
        That of the row before the first one.

    Examples
    --------
    >>> begins_protein(np.array(["a", "b", "b"], dtype=object), "a").tolist()
    [False, True, False]
    """
    is_first = np.ones(len(ids), dtype=np.bool_)
    is_first[0] = ids[0] != before
    is_first[1:] = ids[1:] != ids[:-1]
    return is_first


def whole_proteins(
    parts: Iterable[Part], n_proteins: int, start: int = 0, stop: int | None = None
) -> Iterator[list[Part]]:
    """Yield the rows of so many proteins at a time, of which each is whole.

    Parameters
    ----------
    parts : iterable of Part
        Of a table in which the rows of each protein stand together.
    n_proteins : int
        At a time; those that remain at the end may be fewer.
    start, stop : int
        First protein that is wanted, counted from 0, and the one after the last.
    """
    held: list[Part] = []
    held_piece = 0
    last, number = None, -1  # of the protein that was read last
    for part in parts:
        numbers = number + np.cumsum(begins_protein(part.ids, last), dtype=np.int64)
        last, number = part.ids[-1], int(numbers[-1])
        end = number + 1 if stop is None else min(stop, number + 1)
        begin = max(int(numbers[0]), start)
        while begin < end:
            piece = (begin - start) // n_proteins
            if held and piece > held_piece:
                yield held
                held = []
            held_piece, after = piece, min(start + (piece + 1) * n_proteins, end)
            rows = np.searchsorted(numbers, [begin, after])
            held.append(part.rows(int(rows[0]), int(rows[1])))
            begin = after
        if stop is not None and number >= stop:
            break
    if held:
        yield held
