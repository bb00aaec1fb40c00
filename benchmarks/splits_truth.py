"""Every pair of relatives, by Smith–Waterman of all pairs: what recipes are judged by.

It depends on the proteins alone, so one run judges every recipe. It is long
(a second per ten billion cells or so), so it is kept in parts and taken up where
it was left; from 100,000 proteins on, a sample is compared with all others:

    python -m benchmarks.splits_truth 2000 20000 100000 --processes 2
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pyopal
from benchmarks.splits_world import SplitWorld, make_split_world

from credence.proteins import Proteins
from credence.relatives.alignment import GAP_EXTEND, GAP_OPEN, MATRIX, Library
from credence.relatives.audit import in_hash_order
from credence.relatives.pairs import (
    KAPPA,
    LAMBDA,
    MOST_EXPECTED,
    Distinct,
    Pairs,
    distinct,
    joined,
)

OUT = Path(__file__).resolve().parent / "out" / "splits"
# Kept down to here, so that other definitions of relatives can be looked at.
MOST_EXPECTED_KEPT = 1e-3
LEAST_IDENTITY, LEAST_COVERAGE = 0.25, 0.5
CELLS_PER_PART = 4e11  # a minute or so of one core
N_SAMPLED = 3_000
SAMPLED_FROM = 100_000  # from this size on the truth is sampled


@dataclass(frozen=True, eq=False)
class Truth:
    """Pairs that align, with rows of the proteins, and how probable their score is by chance."""

    pairs: Pairs
    expected: np.ndarray

    def relatives(self, identity: float, coverage: float, both_sides: bool = False) -> Pairs:
        """Return the pairs that are relatives by the definition of the product."""
        covered = self.pairs.coverage_longer if both_sides else self.pairs.coverage
        kept = (self.pairs.identity >= identity) & (covered >= coverage)
        return self.pairs.take(kept & (self.expected <= MOST_EXPECTED))


def folder_of(proteins: Proteins) -> Path:
    """Return where the parts of the truth of these proteins are kept."""
    text = "\n".join(proteins.sequences.tolist()).encode()
    return OUT / f"truth-{proteins.n_proteins}-{hashlib.sha256(text).hexdigest()[:12]}"


def sampled(world: SplitWorld) -> np.ndarray | None:
    """Return the rows that are compared with all others, or None where all are."""
    n_proteins = world.proteins.n_proteins
    if n_proteins < SAMPLED_FROM:
        return None
    everyone = np.ones(n_proteins, dtype=np.bool_)
    return np.sort(in_hash_order(world.proteins.ids, everyone)[:N_SAMPLED])


def all_relatives(proteins: Proteins, rows: np.ndarray | None = None, processes: int = 1) -> Truth:
    """Return every pair, or every pair with one of some proteins; finished parts are read."""
    found = distinct(proteins.sequences)
    if len(found.texts) != proteins.n_proteins:
        raise ValueError("the simulated proteins are to be distinct")
    place = np.empty(proteins.n_proteins, dtype=np.int64)
    place[found.code] = np.arange(proteins.n_proteins)
    queries = np.arange(len(found.texts)) if rows is None else np.sort(found.code[rows])
    folder = folder_of(proteins)
    if rows is not None:
        folder = folder / f"sample-{hashlib.sha256(queries.tobytes()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    tasks = [
        (folder / f"part-{number:04d}.npz", part)
        for number, part in enumerate(_parts(queries, found.lengths, rows is None))
    ]
    _keep_missing(tasks, found, rows is None, processes)
    parts, expected = [], []
    for path, _ in tasks:
        with np.load(path, allow_pickle=False) as kept:
            values = kept["first"], kept["second"], kept["shares"], kept["expected"]
        parts.append(Pairs.of_columns([*values[:2], *np.ascontiguousarray(values[2].T)]))
        expected.append(values[3])
    return Truth(joined(parts).renamed(place), np.concatenate(expected))


def _keep_missing(
    tasks: list[tuple[Path, np.ndarray]], found: Distinct, is_triangle: bool, processes: int
) -> None:
    missing = [task for task in tasks if not task[0].is_file()]
    if not missing:
        return
    given = found.texts, found.lengths, is_triangle
    with multiprocessing.Pool(processes, _Part.begin, given) as pool:
        for name in pool.imap_unordered(_Part.keep, missing):
            print(f"{name} of {len(tasks)}", flush=True)


def _parts(queries: np.ndarray, lengths: np.ndarray, is_triangle: bool) -> Iterator[np.ndarray]:
    total = float(lengths.sum())
    left = total - np.cumsum(lengths) if is_triangle else np.full(len(lengths), total)
    cells = np.cumsum(lengths[queries].astype(float) * left[queries])
    yield from np.split(queries, np.flatnonzero(np.diff(cells // CELLS_PER_PART)) + 1)


class _Part:
    """What a process compares its parts with."""

    library: Library
    aligner: pyopal.Aligner
    database: pyopal.Database
    lengths: np.ndarray
    is_triangle: bool

    @classmethod
    def begin(cls, texts: np.ndarray, lengths: np.ndarray, is_triangle: bool) -> None:
        cls.library = Library(texts=texts)
        cls.aligner = pyopal.Aligner(MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
        cls.database = pyopal.Database(texts.tolist(), cls.aligner.alphabet)
        cls.lengths, cls.is_triangle = lengths, is_triangle

    @classmethod
    def keep(cls, task: tuple[Path, np.ndarray]) -> str:
        """Compare the proteins of a part with all (after it), and keep the pairs."""
        path, part = task
        expected: dict[tuple[int, int], float] = {}
        for row in part.tolist():
            start = row + 1 if cls.is_triangle else 0
            for other, chance in cls._likely(row, start):
                expected[min(row, other), max(row, other)] = chance
        pairs = cls.library.align(expected)
        kept = pairs.take((pairs.identity >= LEAST_IDENTITY) & (pairs.coverage >= LEAST_COVERAGE))
        chance = [expected[pair] for pair in zip(kept.first, kept.second, strict=True)]
        shares = np.column_stack([kept.identity, kept.coverage, kept.coverage_longer])
        half = path.with_suffix(".half.npz")
        np.savez_compressed(
            half, first=kept.first, second=kept.second, shares=shares, expected=np.array(chance)
        )
        half.replace(path)
        return path.name

    @classmethod
    def _likely(cls, row: int, start: int) -> Iterator[tuple[int, float]]:
        """Yield who scores, from a start on, as few would by chance, and how few."""
        lengths = cls.lengths
        if start >= len(lengths):
            return
        results = cls.aligner.align(
            cls.library.texts[row], cls.database, mode="score", overflow="simple", start=start
        )
        score = np.fromiter((one.score for one in results), dtype=np.float64, count=len(results))
        chance = KAPPA * lengths[row] * lengths[start:] * np.exp(-LAMBDA * score)
        for at in np.flatnonzero(chance <= MOST_EXPECTED_KEPT).tolist():
            if start + at != row:
                yield start + at, float(chance[at])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    for size in given.sizes:
        world = make_split_world(size)
        found = all_relatives(world.proteins, sampled(world), given.processes).relatives(0.4, 0.8)
        print(f"{size:,} proteins: {found.n_pairs:,} pairs of relatives", flush=True)


if __name__ == "__main__":
    main()
