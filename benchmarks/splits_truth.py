"""Every pair of relatives, by Smith–Waterman of all pairs: what recipes are judged by.

It depends on the proteins alone, so one run judges every recipe. It is long
(a second per ten billion cells or so), so it is kept in parts and taken up where
it was left:

    python -m benchmarks.splits_truth 20000
"""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pyopal
from benchmarks.splits_world import SplitWorld, make_split_world

from credence.sequences.canonical import distinct
from credence.sequences.proteins import Proteins
from credence.sequences.relatives import KAPPA, LAMBDA, MOST_EXPECTED, Pairs, joined
from credence.sequences.smith_waterman import GAP_EXTEND, GAP_OPEN, MATRIX, Library

OUT = Path(__file__).resolve().parent / "out" / "splits"
# Kept down to here, so that other definitions of relatives can be looked at.
MOST_EXPECTED_KEPT = 1e-3
LEAST_IDENTITY, LEAST_COVERAGE = 0.25, 0.5
CELLS_PER_PART = 4e11  # a minute or so of one core


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


def all_relatives(proteins: Proteins, rows: np.ndarray | None = None) -> Truth:
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
    library = Library(found.texts)
    aligner = pyopal.Aligner(MATRIX, gap_open=GAP_OPEN, gap_extend=GAP_EXTEND)
    database = pyopal.Database(found.texts.tolist(), aligner.alphabet)
    parts, expected = [], []
    for number, part in enumerate(_parts(queries, found.lengths, rows is None)):
        path = folder / f"part-{number:04d}.npz"
        if not path.is_file():
            _keep(path, part, rows is None, library, aligner, database, found.lengths)
            print(f"{path.name}: up to row {part[-1]} of {len(found.texts)}", flush=True)
        with np.load(path, allow_pickle=False) as kept:
            values = kept["first"], kept["second"], kept["shares"], kept["expected"]
        parts.append(Pairs(values[0], values[1], *np.ascontiguousarray(values[2].T)))
        expected.append(values[3])
    return Truth(joined(parts).renamed(place), np.concatenate(expected))


def _parts(queries: np.ndarray, lengths: np.ndarray, is_triangle: bool) -> Iterator[np.ndarray]:
    total = float(lengths.sum())
    left = total - np.cumsum(lengths) if is_triangle else np.full(len(lengths), total)
    cells = np.cumsum(lengths[queries].astype(float) * left[queries])
    yield from np.split(queries, np.flatnonzero(np.diff(cells // CELLS_PER_PART)) + 1)


def _keep(
    path: Path,
    part: np.ndarray,
    is_triangle: bool,
    library: Library,
    aligner: pyopal.Aligner,
    database: pyopal.Database,
    lengths: np.ndarray,
) -> None:
    expected: dict[tuple[int, int], float] = {}
    for row in part.tolist():
        start = row + 1 if is_triangle else 0
        if start >= len(lengths):
            continue
        results = aligner.align(
            library.texts[row], database, mode="score", overflow="simple", start=start
        )
        score = np.fromiter((one.score for one in results), dtype=np.float64, count=len(results))
        chance = KAPPA * lengths[row] * lengths[start:] * np.exp(-LAMBDA * score)
        for at in np.flatnonzero(chance <= MOST_EXPECTED_KEPT).tolist():
            other = start + at
            if other != row:
                expected[min(row, other), max(row, other)] = float(chance[at])
    pairs = library.align(expected)
    kept = pairs.take((pairs.identity >= LEAST_IDENTITY) & (pairs.coverage >= LEAST_COVERAGE))
    chance = [expected[pair] for pair in zip(kept.first, kept.second, strict=True)]
    shares = np.column_stack([kept.identity, kept.coverage, kept.coverage_longer])
    half = path.with_suffix(".half.npz")
    np.savez_compressed(
        half, first=kept.first, second=kept.second, shares=shares, expected=np.array(chance)
    )
    half.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("n_proteins", type=int, nargs="?", default=20_000)
    world: SplitWorld = make_split_world(parser.parse_args().n_proteins)
    truth = all_relatives(world.proteins)
    found = truth.relatives(0.4, 0.8)
    share = len(np.unique(np.concatenate([found.first, found.second]))) / world.proteins.n_proteins
    print(f"{found.n_pairs} pairs of relatives; {100 * share:.1f} % of proteins have one")


if __name__ == "__main__":
    main()
