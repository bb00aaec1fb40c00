"""Relatives in two clusters, seed by seed, and the proteins that searches find hard.

Truth is parasail's (`pip install parasail`), another aligner than the product's: every
pair of two clusters is scored; those that chance does not explain are aligned, and gaps
at either end of an alignment, which its traceback may leave there, are no part of it.
`--families` looks at pairs of one family alone, which is quick and misses what is alike by
chance and what was fused. Each case prints a line as it is done:

    python -m benchmarks.splits_seeds 3000:1 3000:2 low:800 giants crowds
    python -m benchmarks.splits_seeds --families 20000:1 100000:1
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import time
from collections.abc import Iterator

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import parasail
from benchmarks.splits_world import SplitWorld, make_crowds, make_low_complexity, make_split_world
from scipy import sparse
from scipy.sparse import csgraph

from credence.proteins import Proteins
from credence.relatives.alignment import GAP_EXTEND, GAP_OPEN
from credence.relatives.graph import GraphEngine
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pairs import COVERAGE, IDENTITY, Thresholds, score_needed
from credence.relatives.strict import SplitOptions, split
from credence.simulate.sequences import codes, mutated, written

GAPS_AT_ENDS = re.compile(r"^(?:\d+[ID])+|(?:\d+[ID])+$")
GIANT, KEPT_OF_GIANTS = 35_000, (0.95, 0.9, 0.7)
OTHER_GIANT, N_ORDINARY = 34_000, 240


def giants() -> SplitWorld:
    """Return four titins, a giant that is no relative of theirs, and ordinary proteins."""
    rng = np.random.default_rng(3)
    world = make_split_world(N_ORDINARY)
    one, other = (
        "".join(rng.choice(list("ARNDCQEGHILKMFPSTWYV"), size)) for size in (GIANT, OTHER_GIANT)
    )
    texts = [one, *(written(mutated(codes(one), kept, rng)) for kept in KEPT_OF_GIANTS), other]
    ids = [f"giant{row}" for row in range(len(texts))]
    return SplitWorld(
        proteins=Proteins(
            ids=np.append(world.proteins.ids, ids),
            sequences=np.append(world.proteins.sequences, texts),
        ),
        class_=np.append(world.class_, np.zeros(len(texts), dtype=np.int64)),
        family=np.append(world.family, ["titin"] * (len(texts) - 1) + [""]),
    )


def world_of(case: str) -> SplitWorld:
    """Return the proteins of a case: `3000:1` is so many with that seed."""
    kind, _, number = case.partition(":")
    if kind == "giants":
        return giants()
    if kind == "crowds":
        return make_crowds()
    return (
        make_low_complexity(int(number))
        if kind == "low"
        else make_split_world(int(kind), int(number))
    )


def pairs_apart(
    cluster: np.ndarray, family: np.ndarray | None
) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each row with the later ones in other clusters, of its family where these count."""
    for row in range(len(cluster) - 1):
        later = np.arange(row + 1, len(cluster))
        is_apart = cluster[later] != cluster[row]
        if family is not None:
            is_apart &= (family[later] == family[row]) & (family[row] != "")
        yield row, later[is_apart]


def relatives_apart(
    world: SplitWorld, cluster: np.ndarray, by_family: bool
) -> tuple[list[str], int]:
    """Return a line on each pair of relatives in two clusters, and how few proteins explain them.

    Without so many proteins no pair would be left, and without fewer some (the fractional cover).
    """
    texts, lengths = world.proteins.sequences, world.proteins.lengths
    found, rows = [], list[tuple[int, int]]()
    for row, others in pairs_apart(cluster, world.family if by_family else None):
        if not len(others):
            continue
        profile = parasail.profile_create_sat(texts[row], parasail.blosum62)
        needed = score_needed(int(lengths[row]), lengths[others])
        for other, least in zip(others.tolist(), needed.tolist(), strict=True):
            target = texts[other]
            score = parasail.sw_striped_profile_sat(profile, target, GAP_OPEN, GAP_EXTEND).score
            if score >= least:
                identity, coverage = likeness(texts[row], target)
                if identity >= IDENTITY and coverage >= COVERAGE:
                    sizes = f"{lengths[row]} and {lengths[other]} residues"
                    found.append(f"  {sizes}, identity {identity:.3f}, coverage {coverage:.3f}")
                    rows.append((row, other))
    first, second = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    both = np.concatenate([first, second]), np.concatenate([second, first])
    double = sparse.csr_array((np.ones(len(both[0])), both), (len(texts), len(texts)))
    matched = csgraph.maximum_bipartite_matching(double)
    return found, -(-int((matched >= 0).sum()) // 2)


def likeness(one: str, other: str) -> tuple[float, float]:
    """Return identity and coverage of the shorter one."""
    aligned = parasail.sw_trace_striped_sat(one, other, GAP_OPEN, GAP_EXTEND, parasail.blosum62)
    cigar = aligned.cigar.decode.decode()
    steps = re.findall(r"(\d+)([=XID])", GAPS_AT_ENDS.sub("", cigar))
    size = {kind: sum(int(n) for n, step in steps if step == kind) for kind in "=XID"}
    of_one, of_other = (size["="] + size["X"] + size[gap] for gap in "ID")
    of_shorter = of_one if len(one) < len(other) else of_other
    return size["="] / max(sum(size.values()), 1), of_shorter / min(len(one), len(other))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--families", action="store_true", help="pairs of one family alone")
    parser.add_argument(
        "--search", action="store_true", help="search sets that are scored in full"
    )
    parser.add_argument(
        "--audit", action="store_true", help="split and audit too, within the budget and in full"
    )
    given = parser.parse_args()
    finder = MmseqsFinder(most_cells=0.0) if given.search else MmseqsFinder()
    for case in given.cases:
        world = world_of(case)
        began, busy = time.perf_counter(), processor_seconds()
        cluster = (
            GraphEngine(finder=finder, thresholds=Thresholds()).cluster(world.proteins).cluster
        )
        taken = time.perf_counter() - began, processor_seconds() - busy
        lost, n_proteins = relatives_apart(world, cluster, given.families)
        print(
            f"{case}: {taken[0]:.1f} s, {taken[1]:.1f} processor s, "
            f"{len(set(cluster))} clusters, {len(lost)} pairs of relatives apart, "
            f"{n_proteins} proteins at least",
            *lost,
            sep="\n",
            flush=True,
        )
        for cells in (SplitOptions.cells, None) if given.audit else ():
            print(audited(world, cluster, cells), flush=True)


def audited(world: SplitWorld, cluster: np.ndarray, cells: float | None) -> str:
    """Return what the split and its audit take and find."""
    busy = processor_seconds()
    found = split(world.proteins, cluster, world.class_, SplitOptions(cells=cells))
    taken, group = processor_seconds() - busy, found.packing.group
    sizes = np.unique(group[group != ""].astype(str), return_counts=True)[1]
    ratios = SplitOptions.n_groups * sizes / sizes.sum()
    # As the page counts it: nobody is unseen where everyone was examined.
    n_unseen = min(found.n_unseen, int(sizes.sum()) - found.audit.is_examined.sum())
    return (
        f"  audit of {'all' if cells is None else f'{cells:g} cells'}: {taken:.1f} processor s, "
        f"{found.audit.is_examined.sum()} examined, {found.audit.is_crossing.sum()} crossing, "
        f"at most {n_unseen} unseen, {(group == '').sum()} dropped, groups of "
        f"{ratios.min() if len(sizes) == SplitOptions.n_groups else 0:.2f} to {ratios.max():.2f}"
    )


def processor_seconds() -> float:
    """Return what this process and those that it started have taken."""
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(sum(resource.getrusage(one)[:2]) for one in who)


if __name__ == "__main__":
    main()
