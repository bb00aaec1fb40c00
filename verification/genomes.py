"""Is the probability that every call of a genome is right what it states?

    PYTHONPATH=. python verification/genomes.py --page docs/verification-genomes.md

Each world calibrates on some families and makes genomes of proteins of others. A genome has
calls of 1 to 12 families; in two kinds of worlds a third of these have one to three relatives
there. What is stated of all genomes of many worlds is compared with what is true of them, in
five ranges of the probability, and how many calls are wrong.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from in_memory import draw_labelled

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.lists.genomes import genomes_of
from credence.lists.held_out import held_out_of, step_of
from credence.predictions import Floats, Labelled, Strings
from credence.simulate.law import WorldSettings
from report import write_section

SIZES = (500, 3_000)  # calibration proteins
METHODS = ("beta",)
N_USE, N_GENOMES, LEVEL = 8_000, 500, 0.95
EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
RANGES = [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]
NAMES = (
    *("calls", "calibration proteins", "method", *RANGES),
    *("furthest", "wrong, stated", "wrong, true", "in the 95 % interval"),
)
TITLE = "Every call of a genome right"
TEXT = (
    "Genomes by the probability that all their calls are right: its mean → the share of which it "
    "is true (genomes). Beside it the mean number of wrong calls, and the share of genomes whose "
    "number lies in its interval. `python verification/genomes.py`"
)
KINDS = ("alone", "beside relatives, known", "beside relatives, not known")


def draw_genomes(
    use: Labelled, rng: np.random.Generator, has_relatives: bool
) -> tuple[Floats, Strings]:
    """Return the rows of the calls of genomes, and the genome of each."""
    order = np.argsort(use.cluster.astype(str), kind="stable")
    starts = np.flatnonzero(np.r_[True, use.cluster[order][1:] != use.cluster[order][:-1]])
    ends = np.append(starts[1:], len(order))
    rows, names = [], []
    for genome in range(N_GENOMES):
        own: list[int] = []
        for family in rng.choice(len(starts), size=int(rng.integers(1, 13)), replace=False):
            n_each = int(rng.integers(2, 5)) if has_relatives and rng.random() < 1 / 3 else 1
            members = order[starts[family] : ends[family]]
            own += rng.permutation(members)[:n_each].tolist()
        rows += own
        names += [f"genome {genome:04}"] * len(own)
    return np.array(rows), np.array(names, dtype=object)


def world(size: int, method: str, kind: str, seed: int) -> list[tuple[float, ...]]:
    """Return of each genome what is stated, and what is true."""
    rng = np.random.default_rng([seed, size, KINDS.index(kind)])
    settings = WorldSettings(n_calibration=size)
    known = draw_labelled(settings, rng)
    use = draw_labelled(replace(settings, n_calibration=N_USE), rng)
    calibrator = parse_method(method, "method").build(FitOptions(n_draws=0))
    held = out_of_fold(known, calibrator, folds_by_class(known, 5)).value
    rows, genome = draw_genomes(use, rng, kind != KINDS[0])
    value = calibrator.fit(known).confidence(use.predictions).value[rows]
    ids = np.array([f"call {row}" for row in range(len(rows))], dtype=object)
    family = ids if kind == KINDS[2] else use.cluster[rows]
    is_known = ~np.isnan(value)
    found = genomes_of(
        held_out_of(known, held),
        ids[is_known],
        step_of(value[is_known]),
        genome[is_known],
        family[is_known],
        LEVEL,
    )
    wrong = ~use.is_correct[rows][is_known]
    _, code = np.unique(genome[is_known].astype(str), return_inverse=True)
    n_wrong = np.bincount(code, weights=wrong)
    inside = (n_wrong >= found["wrong_lower"]) & (n_wrong <= found["wrong_upper"])
    return list(
        zip(
            found["all_right"], n_wrong == 0, found["expected_wrong"], n_wrong, inside, strict=True
        )
    )


def main() -> None:
    """Write a table of each kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--page", type=Path)
    asked = parser.parse_args()
    rows: list[dict[str, object]] = []
    for kind in KINDS:
        for size in SIZES:
            for method in METHODS:
                worlds = [world(size, method, kind, seed) for seed in range(asked.worlds)]
                every = np.array([one for part in worlds for one in part], dtype=np.float64)
                chance, right, expected, wrong, inside = every.T
                place = np.clip(np.digitize(chance, EDGES) - 1, 0, len(RANGES) - 1)
                cells, gaps = [], []
                for at in range(len(RANGES)):
                    own = place == at
                    stated, true = chance[own].mean(), right[own].mean()
                    gaps.append(abs(stated - true))
                    cells.append(f"{stated:.3f} → {true:.3f} ({own.sum()})")
                numbers = (
                    f"{max(gaps):.3f}",
                    f"{expected.mean():.2f}",
                    f"{wrong.mean():.2f}",
                    f"{inside.mean():.3f}",
                )
                rows.append(dict(zip(NAMES, (kind, size, method, *cells, *numbers), strict=True)))
                print(*rows[-1].values(), sep=" | ", flush=True)
    if asked.page is not None:
        write_section(asked.page, TITLE, TEXT, rows)


if __name__ == "__main__":
    main()
