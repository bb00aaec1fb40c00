"""Is the probability that every call of a genome is right what it states?

    PYTHONPATH=. python verification/genomes.py --page docs/verification-genomes.md

Each world calibrates on some families and makes genomes of proteins of others. A genome has
calls of 1 to 12 families; in two kinds of worlds a third of these have one to three relatives
there. What is stated of all genomes of many worlds is compared with what is true of them, in
five ranges of the probability, and how many calls are wrong.

    PYTHONPATH=. python verification/genomes.py --learnt --worlds 6 --page PAGE

The same outcomes learnt as events (Kuleshov & Liang 2015), as credence genomes --labels does.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from in_memory import draw_labelled

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.events.event_judging import EventOptions
from credence.events.genome_outcomes import GenomeOutcome, genome_features, learn_outcome
from credence.lists.genomes import ODDS, genomes_of
from credence.lists.held_out import HeldOut, held_out_of, step_of
from credence.predictions import Booleans, Floats, Integers, Labelled, Strings
from credence.simulate.law import WorldSettings
from report import write_section

SIZES = (500, 3_000)  # calibration proteins
KNOWN_GENOMES = (250, 500)  # whose true classes are known
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Calls:
    """The calls of genomes of a world, and the proteins that calibrate it."""

    held_out: HeldOut
    ids: Strings
    confidence: Floats
    predicted: Integers
    genome: Strings
    family: Strings
    wrong: Booleans

    def take(self, rows: Booleans) -> Calls:
        """Return some of the calls."""
        columns = {name: column[rows] for name, column in vars(self).items() if name != "held_out"}
        return replace(self, **columns)

    def stated(self) -> dict[str, Any]:
        """Return what is stated of each genome."""
        step = step_of(self.confidence)
        return genomes_of(self.held_out, self.ids, step, self.genome, self.family, LEVEL)


def calls_of(size: int, method: str, kind: str, seed: int) -> Calls:
    """Return the calls of a world that have a confidence."""
    rng = np.random.default_rng([seed, size, KINDS.index(kind)])
    settings = WorldSettings(n_calibration=size)
    known = draw_labelled(settings, rng)
    use = draw_labelled(replace(settings, n_calibration=N_USE), rng)
    calibrator = parse_method(method, "method").build(FitOptions(n_draws=0))
    held = out_of_fold(known, calibrator, folds_by_class(known, 5)).value
    rows, genome = draw_genomes(use, rng, kind != KINDS[0])
    value = calibrator.fit(known).confidence(use.predictions).value[rows]
    ids = np.array([f"call {row}" for row in range(len(rows))], dtype=object)
    every = Calls(
        held_out=held_out_of(known, held),
        ids=ids,
        confidence=value,
        predicted=use.predictions.predicted_class[rows],
        genome=genome,
        family=ids if kind == KINDS[2] else use.cluster[rows],
        wrong=~use.is_correct[rows],
    )
    return every.take(~np.isnan(value))


EVENTS = ("every call right", "all structural calls right")
LEARNT_TITLE = "Outcomes of a genome learnt as events"
LEARNT_TEXT = (
    "Mean loss (NLL) and debiased calibration error on genomes left out, of 250 and 500 genomes "
    "with known true classes. Learnt from the log odds of what is worked out, the log number of "
    "calls, the log odds of the least confidence, and how many calls repeat a class "
    "(admissibility: a phage has most structural proteins once). Structural: but for the most "
    "frequent class, the background. "
    "`python verification/genomes.py --learnt`"
)


def learnt(size: int, n_genomes: int, seed: int) -> list[dict[str, object]]:
    """Return of both events the losses of what is worked out and of what is learnt."""
    calls = calls_of(size, METHODS[0], KINDS[1], seed)
    calls = calls.take(calls.genome < f"genome {n_genomes:04}")
    background = int(np.bincount(calls.predicted).argmax())
    rows: list[dict[str, object]] = []
    for name in EVENTS:
        kept = calls.take(calls.predicted != background) if name == EVENTS[1] else calls
        stated = kept.stated()["all_right"]
        names, code = np.unique(kept.genome.astype(str), return_inverse=True)
        # Of the background a genome may have any number.
        own = len(calls.predicted) + np.arange(len(code))
        kind = np.where(kept.predicted == background, own, kept.predicted)
        found = learn_outcome(
            GenomeOutcome(
                genome=names.astype(object),
                stated=stated,
                features=genome_features(stated, code, ODDS[step_of(kept.confidence)], kind),
                came_true=(np.bincount(code, weights=kept.wrong) == 0).astype(np.float64),
            ),
            EventOptions(n_draws=0),
        )
        value = {(row.method, row.metric): row.value for row in found.metrics}
        rows += [
            {
                "event": name,
                "how": how,
                "NLL": value[how, "nll"],
                "error": value[how, "ece_debiased"],
            }
            for how in dict.fromkeys(row.method for row in found.metrics)
        ]
    return rows


def world(size: int, method: str, kind: str, seed: int) -> list[tuple[float, ...]]:
    """Return of each genome what is stated, and what is true."""
    calls = calls_of(size, method, kind, seed)
    stated = calls.stated()
    _, code = np.unique(calls.genome.astype(str), return_inverse=True)
    n_wrong = np.bincount(code, weights=calls.wrong)
    inside = (n_wrong >= stated["wrong_lower"]) & (n_wrong <= stated["wrong_upper"])
    return list(
        zip(
            *(stated["all_right"], n_wrong == 0, stated["expected_wrong"], n_wrong, inside),
            strict=True,
        )
    )


def write_learnt(worlds: int, page: Path | None) -> None:
    """Write the mean over worlds of the losses of what is worked out and what is learnt."""
    table: list[dict[str, object]] = []
    for size, n_genomes in product(SIZES, KNOWN_GENOMES):
        every = pd.concat([pd.DataFrame(learnt(size, n_genomes, seed)) for seed in range(worlds)])
        for (event, how), rows in every.groupby(["event", "how"], sort=False):
            spread = rows["NLL"].std(ddof=1) / np.sqrt(worlds)
            table.append(
                {
                    "event": event,
                    "calibration proteins": size,
                    "known genomes": n_genomes,
                    "how": how,
                    "NLL": f"{rows['NLL'].mean():.3f} ± {spread:.3f}",
                    "error": float(rows["error"].mean()),
                }
            )
            print(*table[-1].values(), sep=" | ", flush=True)
    if page is not None:
        write_section(page, LEARNT_TITLE, LEARNT_TEXT, table)


def main() -> None:
    """Write a table of each kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=30)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--learnt", action="store_true")
    asked = parser.parse_args()
    if asked.learnt:
        write_learnt(asked.worlds, asked.page)
        return
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
