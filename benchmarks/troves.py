"""A trove of 3,000 added to 46,801: what recalibrating costs, in processor seconds.

A full run fits every method with intervals to all proteins and judges it
held-out, as `credence run` does. Beside it: fitting every method anew without
intervals, and fitting the additive ones anew.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from benchmarks.run import table
from benchmarks.speed import N_PAPER
from verification.in_memory import draw_labelled

from credence.calibrators.all_methods import METHODS, SINGLE_METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.evaluate import evaluate
from credence.evaluation.judging import EvaluationOptions
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings

N_TROVE = 3_000
REPEATS = 7
QUICK = FitOptions(n_draws=0)


def grown() -> tuple[Labelled, Labelled, Labelled]:
    """Return a set of the paper's size, a trove of other families, and both."""
    world = draw_labelled(WorldSettings(n_calibration=N_PAPER + N_TROVE), np.random.default_rng(7))
    # Whole families go into the trove, in the order of their names, till it is full.
    names, codes, sizes = np.unique(
        world.cluster.astype(str), return_inverse=True, return_counts=True
    )
    order = np.random.default_rng(8).permutation(len(names))
    taken = order[np.cumsum(sizes[order]) <= N_TROVE]
    is_new = np.isin(codes, taken)
    return world.take(~is_new), world.take(is_new), world


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Return the least processor time of some work."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def troves() -> str:
    """Return what a recalibration costs beside a full run."""
    old, trove, everything = grown()
    additive = [method.name for method in METHODS if method.additive]

    def refit(names: list[str], options: FitOptions) -> Callable[[], object]:
        built = [parse_method(name, "benchmarks").build(options) for name in names]
        return lambda: [one.fit(everything) for one in built]

    single = [method.name for method in SINGLE_METHODS]
    quick = {name: parse_method(name, "benchmarks").build(QUICK) for name in single}
    intervals = seconds(refit(single, FitOptions()))
    judged = seconds(lambda: evaluate(everything, quick, EvaluationOptions()))
    full = intervals + judged
    works = {
        f"{len(additive)} additive methods fitted anew": seconds(refit(additive, QUICK), REPEATS),
        f"all {len(single)} methods fitted anew, no intervals": seconds(refit(single, QUICK)),
        "all methods with `auto` besides, no intervals": seconds(refit([*single, "auto"], QUICK)),
        "full run: all methods fitted with intervals": intervals,
        "full run: all methods judged held-out": judged,
        "full run": full,
    }
    rows = [[what, f"{spent:.3f}", f"{spent / full:.2%}"] for what, spent in works.items()]
    note = (
        f"{trove.n_samples:,} proteins of {len(set(trove.cluster)):,} new families on "
        f"{old.n_samples:,}; processor seconds.\n\n"
    )
    return note + table(["what", "seconds", "of a full run"], rows)
