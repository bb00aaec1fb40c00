"""The best local alignment of two very long proteins, in linear memory.

A traceback of two titins would take ten gigabytes. Here each cell carries the
start of its best path and the number of its matches and columns, so that one
row after the other can be forgotten.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from Bio.Align import substitution_matrices

from credence.predictions import Integers

OPEN, EXTEND = 11, 1
LETTERS = "ARNDCQEGHILKMFPSTWYVBZX*"
IMPOSSIBLE = -(1 << 40)


@cache
def _scores() -> Integers:
    return np.asarray(substitution_matrices.load("BLOSUM62").select(LETTERS), dtype=np.int64)


def _codes(text: str) -> Integers:
    return np.array([LETTERS.index(letter) for letter in text], dtype=np.int64)


def alignment_of_long(first: str, second: str) -> tuple[float, float, float]:
    """Return identity, coverage of the shorter and coverage of the longer one.

    Parameters
    ----------
    first, second : str
        Canonical sequences.

    Examples
    --------
    >>> alignment_of_long("MKWVTFISLL", "WVTFI")
    (1.0, 1.0, 0.5)
    """
    longer, shorter = (first, second) if len(first) >= len(second) else (second, first)
    rows, columns = _codes(longer), _codes(shorter)
    width = len(columns) + 1
    place = np.arange(width)
    # What a path carries: start in either protein, matches, columns.
    nothing = np.stack([np.zeros(width, np.int64), place, np.zeros(width, np.int64)])
    nothing = np.concatenate([nothing, np.zeros((1, width), np.int64)])
    best, path = np.zeros(width, np.int64), nothing.copy()
    down, down_path = np.full(width, IMPOSSIBLE), nothing.copy()
    top, top_path, top_end = 0, nothing[:, 0].copy(), (0, 0)
    matrix, unknown = _scores(), LETTERS.index("X")
    for number, residue in enumerate(rows, start=1):
        is_opened = best - OPEN >= down - EXTEND
        down = np.where(is_opened, best - OPEN, down - EXTEND)
        down_path = np.where(is_opened, path, down_path)
        down_path[3] += 1
        diagonal = np.full(width, IMPOSSIBLE)
        diagonal[1:] = best[:-1] + matrix[residue, columns]
        taken = nothing.copy()
        taken[:, 1:] = path[:, :-1]
        taken[2, 1:] += (columns == residue) & (residue != unknown)
        taken[3, 1:] += 1
        fresh = nothing.copy()
        fresh[0] = number
        value, carried = np.zeros(width, np.int64), fresh
        for other, other_path in ((diagonal, taken), (down, down_path)):
            is_better = other > value
            value = np.where(is_better, other, value)
            carried = np.where(is_better, other_path, carried)
        # A gap along the row: the best start to the left, by a running maximum.
        lifted = value + EXTEND * place
        peak = np.maximum.accumulate(lifted)
        holder = np.maximum.accumulate(np.where(lifted == peak, place, 0))
        along = np.full(width, IMPOSSIBLE)
        along[1:] = peak[:-1] - OPEN + EXTEND - EXTEND * place[1:]
        along_path = nothing.copy()
        along_path[:, 1:] = carried[:, holder[:-1]]
        along_path[3, 1:] += place[1:] - holder[:-1]
        is_better = along > value
        best = np.where(is_better, along, value)
        path = np.where(is_better, along_path, carried)
        peak_here = int(best.argmax())
        if best[peak_here] > top:
            top, top_path, top_end = int(best[peak_here]), path[:, peak_here], (number, peak_here)
    if top == 0:
        return 0.0, 0.0, 0.0
    identity = float(top_path[2] / top_path[3])
    covered = (top_end[1] - int(top_path[1])) / len(shorter)
    return identity, covered, (top_end[0] - int(top_path[0])) / len(longer)
