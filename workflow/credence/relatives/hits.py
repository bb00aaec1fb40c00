"""What engines are given and what they answer: numbered FASTA, tables of hits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from credence.predictions import Floats, Integers, Strings
from credence.relatives.pairs import Pairs, Thresholds, no_pairs

MOST_EVALUE = 0.001  # at least: what search engines take by themselves
PERCENT = 100.0
LINES_AT_ONCE = 2_000_000
# Relatives share a stretch without gaps that grows with their length, chance does not.
DIAGONAL_OF_NONE, DIAGONAL_PER_RESIDUE = 18.0, 0.15
LEAST_DIAGONAL, MOST_DIAGONAL = 30, 45


def write_texts(path: Path, texts: Strings, rows: Integers) -> None:
    """Write sequences under their numbers: no header can then do harm."""
    with path.open("w", encoding="ascii") as handle:
        handle.writelines(f">{row}\n{texts[row]}\n" for row in rows.tolist())


def largest_evalue(targets: Strings, thresholds: Thresholds) -> float:
    """Return the E-value up to which a search may hold relatives.

    Notes
    -----
    An E-value counts alignments with random targets of all residues together, the
    thresholds those with the one target: n residues of N make it N/n times as great,
    most for the shortest target.

    >>> targets = np.array(["M" * 900, "M" * 100], dtype=object)
    >>> largest_evalue(targets, Thresholds(most_expected=0.01))
    0.1
    """
    lengths = [len(text) for text in targets]
    return max(MOST_EVALUE, thresholds.most_searched * sum(lengths) / min(lengths))


def read_hits(path: Path, percent: bool = False) -> Pairs:
    """Return hits of a table: query, target, identity, both stretches, both lengths.

    Of several hits of one pair the one that covers most counts. They come
    sorted by query and target, whatever the order in which threads wrote them.
    """
    if not path.is_file() or path.stat().st_size == 0:
        return no_pairs()
    values = pd.read_csv(path, sep="\t", header=None).to_numpy(dtype=np.float64)
    first, second = values[:, 0].astype(np.int64), values[:, 1].astype(np.int64)
    identity = values[:, 2] / (PERCENT if percent else 1.0)
    of_query = (np.abs(values[:, 4] - values[:, 3]) + 1.0) / values[:, 7]
    of_target = (np.abs(values[:, 6] - values[:, 5]) + 1.0) / values[:, 8]
    is_shorter = values[:, 7] <= values[:, 8]
    coverage = np.where(is_shorter, of_query, of_target)
    longer = np.where(is_shorter, of_target, of_query)
    order = np.lexsort((-identity, -coverage, second, first))
    pairs = Pairs(first, second, identity, coverage, longer).take(order)
    is_first = np.ones(pairs.n_pairs, dtype=np.bool_)
    is_first[1:] = (np.diff(pairs.first) != 0) | (np.diff(pairs.second) != 0)
    return pairs.take(is_first)


def candidates_of(paths: Iterable[Path], lengths: Integers) -> tuple[Integers, Integers, Integers]:
    """Return pairs and the score of their best diagonal, from tables of candidates.

    Each pair comes once, the lower row first; they are sorted.

    Notes
    -----
    Pairs with less than :func:`diagonal_needed` are left out: they are alike by chance.
    """
    parts = [(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))]
    for path in paths:
        if path.is_file() and path.stat().st_size:
            table = pd.read_csv(
                path,
                sep="\t",
                header=None,
                usecols=[0, 1, 2],
                dtype=np.int32,
                chunksize=LINES_AT_ONCE,
            )
            parts += [_worth_aligning(part.to_numpy(dtype=np.int64), lengths) for part in table]
    keys, diagonals = _best(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    first, second = np.divmod(keys, len(lengths))
    return first, second, diagonals


def diagonal_needed(shorter: Integers) -> Floats:
    """Return the least score on one diagonal that is worth an alignment (decision 0508).

    >>> diagonal_needed(np.array([60, 120, 160, 900])).tolist()
    [30.0, 36.0, 42.0, 45.0]
    """
    needed = DIAGONAL_OF_NONE + DIAGONAL_PER_RESIDUE * shorter
    return np.asarray(np.clip(needed, LEAST_DIAGONAL, MOST_DIAGONAL))


def _worth_aligning(rows: Integers, lengths: Integers) -> tuple[Integers, Integers]:
    low, high, diagonals = rows[:, :2].min(axis=1), rows[:, :2].max(axis=1), rows[:, 2]
    enough = diagonals >= diagonal_needed(np.minimum(lengths[low], lengths[high]))
    enough &= low != high
    return _best((low * len(lengths) + high)[enough], diagonals[enough])


def _best(keys: Integers, diagonals: Integers) -> tuple[Integers, Integers]:
    """Return each key once, sorted, with its greatest score."""
    order = np.lexsort((-diagonals, keys))
    keys, diagonals = keys[order], diagonals[order]
    is_first = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    return keys[is_first], diagonals[is_first]
