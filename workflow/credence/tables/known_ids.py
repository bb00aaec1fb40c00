"""Ids of the tables of one set, which no two of them may have both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from credence.tables.problem_list import MOST_PROBLEMS_KEPT, ProblemList

BLOCK_ROWS = 1_000_000  # looked up at once

Ids = Callable[[], Iterator[tuple[int, str]]]


class KnownIds:
    """Ids of the tables seen so far: of each 8 bytes, a hash, whatever its length.

    Two hashes that are the same may be of two ids, so that tables are read again
    where there are such, and the ids themselves compared.
    """

    def __init__(self) -> None:
        self._tables: list[tuple[str, NDArray[np.int64], Ids]] = []

    def add(self, where: str, hashes: NDArray[np.int64], ids: Ids) -> None:
        """Take the ids of one more table, or raise those that an earlier one has.

        Parameters
        ----------
        where : str
            The table, as the user named it.
        hashes : array of int
            Of the id of each row, in the table's order.
        ids : callable
            Reads the table again: line and id of each row.
        """
        problems = ProblemList(where)
        for earlier, known, known_ids in self._tables:
            rows = _rows_among(hashes, known)
            if not rows.size:
                continue
            own = dict(_ids_at(ids, rows))
            wanted = set(own.values())
            shared = {name for _, name in known_ids() if name in wanted}
            for line, name in own.items():
                if name in shared:
                    problems.add(
                        f"the id {name!r} is in {earlier} already.",
                        "Give each protein its own id, or remove one of the rows.",
                        line,
                    )
        problems.raise_any()
        self._tables.append((where, np.sort(hashes), ids))


def _rows_among(hashes: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the first rows whose hash is among those known, which are in order."""
    found = [np.empty(0, dtype=np.intp)]
    n_found = 0
    for start in range(0, len(hashes) if len(known) else 0, BLOCK_ROWS):
        block = hashes[start : start + BLOCK_ROWS]
        place = np.minimum(np.searchsorted(known, block), len(known) - 1)
        found.append(np.flatnonzero(known[place] == block) + start)
        n_found += len(found[-1])
        if n_found >= MOST_PROBLEMS_KEPT:
            break
    return np.concatenate(found)[:MOST_PROBLEMS_KEPT]


def _ids_at(ids: Ids, rows: NDArray[np.intp]) -> Iterator[tuple[int, str]]:
    """Yield line and id of some rows, which are in order."""
    wanted = set(rows.tolist())
    for row, line_and_id in enumerate(islice(ids(), int(rows[-1]) + 1)):
        if row in wanted:
            yield line_and_id
