"""Seconds and memory: the kernel's bandwidth, every method, large tables."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.data import ROOT, real_table, repeated
from benchmarks.run import HERE, peak_gigabytes, table
from verification.in_memory import draw_labelled

from credence.calibrators.all_methods import METHODS
from credence.calibrators.classwise import class_samples
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings

N_PAPER = 46_801  # size of the calibration paper's test set
N_ANNOTATED = 1_000_000
LARGE = (100_000, 1_000_000, 10_000_000)
LARGE_SPECS = ("kernel", "cumulative", "tswa")
ORACLE = ROOT / "tests" / "calibrators" / "test_bandwidth.py"
REPEATS = 20  # of the fast search; the direct sums run once
POINT_ESTIMATES = FitOptions(n_draws=0)


def paper_sized(n_calibration: int = N_PAPER) -> Labelled:
    """Return a simulated set of the size of the paper's."""
    return draw_labelled(WorldSettings(n_calibration=n_calibration), np.random.default_rng(7))


def fit_seconds(spec: str, labelled: Labelled, repeats: int = 1) -> float:
    """Return the least time of a fit."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        parse_method(spec, "benchmarks").build(POINT_ESTIMATES).fit(labelled)
        times.append(time.perf_counter() - start)
    return min(times)


def bandwidth() -> str:
    """Return the fast bandwidth search beside the tests' direct-sum oracle."""
    from credence.calibrators.kernel import MON, steady_bandwidth
    from credence.calibrators.masses import masses_of

    slow_bandwidth = runpy.run_path(str(ORACLE))["slow_bandwidth"]
    text = (
        "Processor seconds, both sides in one run. The direct scan is the oracle of the tests, "
        "`slow_bandwidth` in `tests/calibrators/test_bandwidth.py`: from the table's resolution "
        "(0.01) upward in steps of 0.005, at every bandwidth b the kernel sums over all samples "
        "on a grid of steps b/8, as fine as the fast search's. The two grids differ, so the "
        f"bandwidths may by one step. Fast: the median of {REPEATS} runs.\n\n"
    )
    tables = {"Demo world": paper_sized(), "PhANNs' first table": real_table()}
    for title, labelled in tables.items():
        if labelled is None:
            continue
        rows, slow_total, fast_total = [], 0.0, 0.0
        for name, sample in zip(
            labelled.predictions.class_names, class_samples(labelled), strict=True
        ):
            times = []
            for _ in range(REPEATS):
                start = time.process_time()
                masses = masses_of(sample)
                fast = steady_bandwidth(masses, sample.scale, sample.resolution, MON["mon2"])
                times.append(time.process_time() - start)
            is_right = sample.is_correct
            start = time.process_time()
            slow = slow_bandwidth(
                sample.score[is_right], sample.score[~is_right], MON["mon2"],
                sample.scale, sample.resolution,
            )  # fmt: skip
            slow_time, fast_time = time.process_time() - start, float(np.median(times))
            slow_total, fast_total = slow_total + slow_time, fast_total + fast_time
            rows.append([name, len(sample.score), f"{fast:.3f}", f"{slow:.3f}",
                         f"{fast_time:.4f}", f"{slow_time:.2f}", f"{slow_time / fast_time:.0f}"]
                        )  # fmt: skip
        rows.append(["all", labelled.n_samples, "", "", f"{fast_total:.4f}", f"{slow_total:.2f}",
                     f"{slow_total / fast_total:.0f}"])  # fmt: skip
        header = ["class", "n", "b_mon2", "direct b_mon2", "seconds", "direct seconds", "ratio"]
        text += f"**{title}**\n\n{table(header, rows)}\n"
    return text


def methods() -> str:
    """Return the seconds of every method at the paper's size."""
    labelled = paper_sized()
    rows, total = [], 0.0
    for method in METHODS:
        if method.needs is Need.PLACE:  # there are no proteins to be placed
            continue
        seconds = fit_seconds(method.name, labelled)
        total += seconds if method.name != "auto" else 0.0
        rows.append([f"`{method.name}`", f"{seconds:.3f}"])
    rows.append(["all but `auto`, which fits the others many times", f"{total:.2f}"])
    note = f"{N_PAPER:,} rows × 11 classes; peak memory {peak_gigabytes():.2f} GiB.\n\n"
    return note + table(["method", "seconds"], rows)


def one_large(spec: str, n_samples: int) -> None:
    """Print seconds and peak memory of one fit, in a process of its own."""
    labelled = repeated(paper_sized(), n_samples)
    before = peak_gigabytes()
    seconds = fit_seconds(spec, labelled)
    print(f"{seconds:.2f} {before:.2f} {peak_gigabytes():.2f}")


def large() -> str:
    """Return seconds and memory at growing sizes, and time per row."""
    rows = []
    for spec in LARGE_SPECS:
        for n_samples in LARGE:
            code = f"from benchmarks.speed import one_large; one_large({spec!r}, {n_samples})"
            done = subprocess.run(
                [sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True
            )
            if done.returncode:
                rows.append([f"`{spec}`", f"{n_samples:,}", "failed", "", ""])
                continue
            seconds, before, peak = done.stdout.split()
            per_row = f"{1e6 * float(seconds) / n_samples:.2f}"
            rows.append([f"`{spec}`", f"{n_samples:,}", seconds, per_row, f"{before} → {peak}"])
    header = ["method", "rows", "fit s", "µs a row", "GiB: table in memory → peak"]
    return table(header, rows)


def measured(command: list[str], folder: Path) -> tuple[float, str]:
    """Return the seconds and the peak memory of a command, or how it failed."""
    start = time.perf_counter()
    with (folder / "said.txt").open("wb") as stated:
        process = subprocess.Popen(command, cwd=folder, stdout=stated, stderr=stated)
        _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        return seconds, f"failed: {(folder / 'said.txt').read_text().splitlines()[-1:]}"
    return seconds, f"{usage.ru_maxrss / 1024**2:.2f}"


def annotate(folder: Path) -> str:
    """Return seconds and memory of `credence check` and `credence annotate`."""
    labelled = draw_labelled(WorldSettings(n_calibration=N_PAPER), np.random.default_rng(7))
    names = list(labelled.predictions.class_names)
    scores = labelled.predictions.scores
    small = pd.DataFrame(scores, columns=names)
    small.insert(0, "id", [f"p{row}" for row in range(len(small))])
    truth = np.array(names, dtype=object)[labelled.true_class]
    small.insert(1, "true_class", truth)
    small.to_csv(folder / "calibration.tsv", sep="\t", index=False)
    rows = np.random.default_rng(1).integers(0, N_PAPER, N_ANNOTATED)
    big = pd.DataFrame(scores[rows], columns=names)
    big.insert(0, "id", [f"q{row}" for row in range(N_ANNOTATED)])
    big.insert(1, "true_class", "")
    big.to_parquet(folder / "use.parquet", index=False)
    credence = [sys.executable, "-m", "credence"]
    commands = {
        "fit": ["fit", "calibration.tsv", "--format", "credence", "--scale", "10", "--method",
                "kernel", "--out", "c.json"],
        "check": ["check", "use.parquet", "--format", "credence", "--spec", '{"scale": 10}'],
        "annotate": ["annotate", "use.parquet", "--format", "credence", "--calibration",
                     "c.json", "--out", "conf.tsv"],
        "annotate to Parquet": ["annotate", "use.parquet", "--format", "credence",
                                "--calibration", "c.json", "--out", "conf.parquet"],
    }  # fmt: skip
    lines = []
    for name, arguments in commands.items():
        seconds, peak = measured([*credence, *arguments], folder)
        lines.append([f"`credence {name}`", f"{seconds:.1f}", peak])
    note = f"{N_ANNOTATED:,} × 11 Parquet rows (`fit`: {N_PAPER:,} rows with intervals).\n\n"
    return note + table(["command", "seconds", "peak GiB"], lines)
