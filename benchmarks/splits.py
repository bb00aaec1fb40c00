"""Splits side by side: seconds, memory, balance, what is kept and what crosses.

Every recipe splits the same simulated proteins (`benchmarks.splits_world`) into
twelve groups, in a process of its own; what crosses is counted by Smith–Waterman
of all pairs (`benchmarks.splits_truth`). What is done is kept in
`benchmarks/out/splits`, so that an interrupted run is taken up where it was left:

    python -m benchmarks.splits 2000 20000           # what is missing, and the tables
    python -m benchmarks.splits 20000 --fresh        # time all recipes again
    python -m benchmarks.splits 100000               # credence alone, 3,000 sampled

Seed by seed, with low complexity and giants, by another aligner: `benchmarks.splits_seeds`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from benchmarks.splits_recipes import RECIPES, AbsentError
from benchmarks.splits_truth import OUT, all_relatives, sampled
from benchmarks.splits_world import SplitWorld, make_split_world

from credence.relatives.audit import most_crossing
from credence.relatives.pack import deviations, lower_bounds, pack, size_ratios
from credence.relatives.pairs import COVERAGE, IDENTITY, Pairs
from credence.relatives.strict import SplitOptions, split

N_GROUPS, THREADS = 12, 2
LOAD_OF_OURS = THREADS + 0.5  # what the recipe before leaves behind; more is other work
SECONDS_AT_MOST = 1_500  # by the clock; then it is ended
HEADER = [
    *("recipe", "wall s", "× ours", "processor s", "× ours", "audit s", "GiB"),
    *("kept", "crossing", "both sides", "class deviation", "its bound", "sizes"),
]
BUSY = (
    " Other work ran beside them: wall seconds say little, and processor seconds are more than "
    "on a machine at rest."
)
PAGE_INTRO = (
    "Twelve groups, {threads} threads. Crossing: proteins with a relative (identity ≥ "
    "{identity:g} over ≥ {coverage:g} of the shorter, Smith–Waterman of all pairs) in another "
    "group; both sides: with the longer one covered as much. Class deviation: the part of a "
    "class that would have to move to be spread evenly, mean over classes; its bound: what "
    "the recipe's own clusters force. Sizes: of the smallest and the largest group, over the "
    "mean. Audit: processor seconds of splitting and auditing within the default budget, after "
    "the clusters. GiB: of the largest process. Processor seconds count both cores, and change "
    "little "
    "when the machine is busy; wall seconds do. What takes "
    "longer than {most} s is ended. Simulated proteins: "
    "`benchmarks/splits_world.py`. `python -m benchmarks.splits` keeps what is done and takes "
    "up the rest.\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[2_000, 20_000])
    parser.add_argument("--recipe", help="run this one here and keep what it gives")
    parser.add_argument("--only", nargs="+", help="run these recipes")
    parser.add_argument("--fresh", action="store_true", help="measure what is kept again")
    given = parser.parse_args()
    if given.recipe:
        measure(given.sizes[0], given.recipe)
        return
    for size in given.sizes:
        run_all(size, given.fresh, given.only)
    print(page(tuple(given.sizes)))


def measure(size: int, recipe: str) -> None:
    """Run one recipe in this process and keep its groups and what it took."""
    world = make_split_world(size)
    load = os.getloadavg()[0]
    began, busy = time.perf_counter(), _busy()
    group, cluster, absent = np.empty(0, dtype=np.int64), None, ""
    try:
        group, cluster = RECIPES[recipe][1](world, N_GROUPS, THREADS)
    except AbsentError as problem:
        absent = str(problem)
    taken = time.perf_counter() - began, _busy() - busy
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    memory = max(resource.getrusage(one).ru_maxrss for one in who) * 1024 / 1024**3
    record = {"wall": taken[0], "processor": taken[1], "memory": memory, "load": load}
    if recipe == "ours" and cluster is not None:
        busy = _busy()
        split(world.proteins, cluster, world.class_, SplitOptions(threads=THREADS))
        record["audit"] = _busy() - busy
    folder = OUT / str(size)
    folder.mkdir(parents=True, exist_ok=True)
    codes = group if cluster is None else np.unique(cluster.astype(str), return_inverse=True)[1]
    np.savez_compressed(folder / f"{recipe}.npz", group=group, cluster=codes)
    (folder / f"{recipe}.json").write_text(json.dumps(record | {"absent": absent}) + "\n")


def _busy() -> float:
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(resource.getrusage(one).ru_utime + resource.getrusage(one).ru_stime for one in who)


def run_all(size: int, fresh: bool = False, only: list[str] | None = None) -> None:
    """Run every recipe that is not kept yet, one after the other, then what judges them."""
    for recipe, (title, _, largest) in RECIPES.items():
        if size > largest or (only and recipe not in only):
            continue
        kept = OUT / str(size) / f"{recipe}.json"
        if kept.is_file() and not fresh:
            continue
        print(f"{size:,} proteins: {title}", file=sys.stderr, flush=True)
        _run_at_most(size, recipe)
    judge(make_split_world(size))


def _run_at_most(size: int, recipe: str) -> None:
    """Run a recipe in a process of its own, and end it when it takes too long."""
    words = [sys.executable, "-m", "benchmarks.splits", str(size), "--recipe", recipe]
    load, root = os.getloadavg()[0], Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as scratch:
        own = os.environ | {"TMPDIR": scratch}
        process = subprocess.Popen(words, cwd=root, env=own, start_new_session=True)
        try:
            status = process.wait(SECONDS_AT_MOST)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            record = {"ended": SECONDS_AT_MOST, "load": load, "absent": ""}
            path = OUT / str(size) / f"{recipe}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(record) + "\n")
            return
    if status != 0:
        raise RuntimeError(f"{recipe} failed at {size}")


def judge(world: SplitWorld) -> tuple[Pairs, Pairs, np.ndarray]:
    """Return relatives, those with both sides covered, and who was compared with all others."""
    rows = sampled(world)
    truth = all_relatives(world.proteins, rows)
    examined = np.arange(world.proteins.n_proteins) if rows is None else rows
    both = truth.relatives(IDENTITY, COVERAGE, both_sides=True)
    return truth.relatives(IDENTITY, COVERAGE), both, examined


def crossing(pairs: Pairs, group: np.ndarray, examined: np.ndarray) -> int:
    """Return how many of those examined have a relative in another group."""
    one, other = group[pairs.first], group[pairs.second]
    crosses = (one != other) & (one >= 0) & (other >= 0)
    bounds = np.union1d(pairs.first[crosses], pairs.second[crosses])
    return len(np.intersect1d(bounds, examined))


def page(sizes: tuple[int, ...] = (2_000, 20_000, 100_000)) -> str:
    """Return the tables of the sizes that have been run."""
    from benchmarks.run import table

    text = [_intro()]
    for size in sizes:
        if not (OUT / str(size) / "ours.json").is_file():
            continue
        world = make_split_world(size)
        rows, loads, bound = _rows(world)
        alone = 100.0 * float((world.family == "").mean())
        text.append(
            f"**{size:,} proteins** ({alone:.0f} % alone in their family; load of the machine "
            f"before each recipe {min(loads):.1f} to {max(loads):.1f}).{bound}"
            f"{BUSY if max(loads) > LOAD_OF_OURS else ''}\n"
        )
        text += [table(HEADER, rows), _balance(world)]
    return "\n".join(text)


def _intro() -> str:
    return PAGE_INTRO.format(
        threads=THREADS, identity=IDENTITY, coverage=COVERAGE, most=SECONDS_AT_MOST
    )


def _rows(world: SplitWorld) -> tuple[list[list[Any]], list[float], str]:
    size = world.proteins.n_proteins
    relatives, both, examined = judge(world)
    rows, loads, bound = [], [], ""
    ours = json.loads((OUT / str(size) / "ours.json").read_text())
    for recipe, (title, _, largest) in RECIPES.items():
        kept = OUT / str(size) / f"{recipe}.json"
        if not kept.is_file():
            why = f"not run beyond {largest:,}" if size > largest else "not measured"
            rows.append([title, why, *[""] * (len(HEADER) - 2)])
            continue
        record = json.loads(kept.read_text())
        if record["absent"]:
            rows.append([title, f"not run: {record['absent']}", *[""] * (len(HEADER) - 2)])
            continue
        if recipe != "random":  # it takes no time that other work could lengthen
            loads.append(record["load"])
        if "ended" in record:
            times = f"> {record['ended'] / ours['wall']:.0f}"
            rows.append([title, f"ended at {record['ended']}", times, *[""] * (len(HEADER) - 3)])
            continue
        with np.load(kept.with_suffix(".npz"), allow_pickle=False) as arrays:
            group, cluster = arrays["group"], arrays["cluster"]
        counts = [crossing(pairs, group, examined) for pairs in (relatives, both)]
        if recipe == "ours" and len(examined) < size:
            share = most_crossing(counts[0], len(examined), size) / size
            bound = f" {len(examined):,} sampled; at 95 % at most {100 * share:.2f} % cross."
        rows.append(
            [
                title,
                f"{record['wall']:.1f}",
                f"{record['wall'] / ours['wall']:.1f}",
                f"{record['processor']:.1f}",
                f"{record['processor'] / ours['processor']:.1f}",
                f"{record['audit']:.1f}" if "audit" in record else "",
                f"{record['memory']:.2f}",
                f"{100 * (group >= 0).mean():.1f} %",
                *(f"{100 * count / len(examined):.2f} %" if count else "0" for count in counts),
                *_evenness(world, group, cluster),
            ]
        )
    return rows, loads, bound


def _evenness(world: SplitWorld, group: np.ndarray, cluster: np.ndarray) -> list[str]:
    is_kept = group >= 0
    _, codes = np.unique(world.class_[is_kept], return_inverse=True)
    deviation = deviations(group[is_kept], codes, N_GROUPS).mean()
    forced = lower_bounds(cluster[is_kept], codes, N_GROUPS).mean()
    ratios = size_ratios(group[is_kept], N_GROUPS)
    has_clusters = not (cluster == group).all()
    return [
        f"{deviation:.4f}",
        f"{forced:.4f}" if has_clusters else "–",
        f"{ratios.min():.2f}–{ratios.max():.2f}",
    ]


def _balance(world: SplitWorld) -> str:
    """Return how evenly others deal the same clusters."""
    from benchmarks.run import table

    size = world.proteins.n_proteins
    with np.load(OUT / str(size) / "ours.npz", allow_pickle=False) as arrays:
        cluster = arrays["cluster"]
    rows = []
    for title, assign in DEALERS.items():
        began = time.process_time()
        group = assign(world, cluster)
        seconds = time.process_time() - began
        rows.append([title, f"{seconds:.2f}", *_evenness(world, group, cluster)])
    header = ["the same clusters divided by", "processor s", *HEADER[-3:]]
    return table(header, rows)


def _class_of_cluster(world: SplitWorld, cluster: np.ndarray) -> np.ndarray:
    counts = np.zeros((int(cluster.max()) + 1, int(world.class_.max()) + 1))
    np.add.at(counts, (cluster, world.class_), 1)
    return counts.argmax(axis=1)


def deal_ours(world: SplitWorld, cluster: np.ndarray) -> np.ndarray:
    """Return the product's groups."""
    names = np.array([f"c{code:06d}" for code in cluster], dtype=object)
    packing = pack(world.proteins.ids, names, world.class_, N_GROUPS)
    return packing.group.astype(np.int64) - 1


def deal_in_turn(world: SplitWorld, cluster: np.ndarray) -> np.ndarray:
    """Return groups of clusters given to groups in turn, class by class, as PhANNs does."""
    kind = _class_of_cluster(world, cluster)
    group = np.empty(len(kind), dtype=np.int64)
    for class_ in np.unique(kind):
        members = np.flatnonzero(kind == class_)
        group[members] = np.arange(len(members)) % N_GROUPS
    return group[cluster]


def deal_smallest_first(world: SplitWorld, cluster: np.ndarray) -> np.ndarray:
    """Return groups of clusters that go to the smallest group, as PhANNs3 does."""
    sizes = np.bincount(cluster)
    filled = np.zeros(N_GROUPS, dtype=np.int64)
    group = np.empty(len(sizes), dtype=np.int64)
    for code in np.argsort(-sizes, kind="stable").tolist():
        group[code] = int(filled.argmin())
        filled[group[code]] += sizes[code]
    return group[cluster]


def deal_sklearn(world: SplitWorld, cluster: np.ndarray) -> np.ndarray:
    """Return the test folds of scikit-learn's StratifiedGroupKFold."""
    import warnings

    from sklearn.model_selection import StratifiedGroupKFold

    group = np.empty(len(cluster), dtype=np.int64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a class has fewer members than folds
        folds = StratifiedGroupKFold(N_GROUPS).split(cluster, world.class_, cluster)
        for number, (_, test) in enumerate(folds):
            group[test] = number
    return group


DEALERS = {
    "credence": deal_ours,
    "turns, class by class (PhANNs)": deal_in_turn,
    "the smallest group first (PhANNs3)": deal_smallest_first,
    "StratifiedGroupKFold": deal_sklearn,
}

if __name__ == "__main__":
    main()
