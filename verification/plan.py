"""Does a plan of what to verify next narrow more than chance does? Simulated worlds.

Each world is a calibration set, a confidence fitted to it, and a query set of new
families, once with the classes as often as in calibration and once with a mix drawn
anew (all alike likely). Some of the query set are verified, one a family: by the plan,
at random, or those with confidences nearest one half.
They join the calibration set as a trove does, each a family, and the confidence is
fitted again. The truth is the chance of being right given class and score.

    PYTHONPATH=. python verification/plan.py --page docs/verification-plan.md
"""

from __future__ import annotations

import argparse
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy.special import logit, xlogy
from scipy.stats import norm

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibrator, FitOptions
from credence.confidence import Confidence
from credence.lists.held_out import held_out_of
from credence.lists.plan import STRATUM_EDGES, Plan, plan_of, stratum_of
from credence.predictions import Floats, Integers
from lists import (
    CELLS,
    CONFIDENCES,
    N_KINDS,
    RESOLUTION,
    SEED,
    USE_FAMILIES,
    WRONG,
    Proteins,
    Row,
    cells_truth,
    draw,
    kind_of,
    labelled_of,
    predictions_of,
)
from report import write_section

NUMBER = 50  # verified
DRAWS = 40
CLIP = 1e-4  # A confidence of 0 or 1 would cost without bound
CHOICES = ("by the plan", "at random", "nearest one half")
METHODS: dict[str, tuple[Calibrator, Calibrator]] = {
    name: (
        parse_method(name, "verification").build(FitOptions(n_draws=n_draws)),
        parse_method(name, "verification").build(FitOptions(n_draws=0)),
    )
    for name, n_draws in {"beta": DRAWS, "kernel": DRAWS, "class_only": 0}.items()
} | {"one line": (CONFIDENCES["one line"], CONFIDENCES["one line"])}


@cache
def truth_of_cells(number: int) -> Floats:
    """Return the chance of being wrong by class and score.

    Scores at the top and the bottom stand for many; there a population is asked.
    """
    kind = kind_of(number)
    class_, cell = np.divmod(np.arange(len(WRONG) * CELLS), CELLS)
    start = -np.sqrt(1.0 + kind.slope**2) * norm.ppf(WRONG)[class_]
    score = np.clip(cell * RESOLUTION, RESOLUTION / 2.0, 1.0 - RESOLUTION / 2.0)
    ease = (logit(score) - kind.offset) / kind.gain - 0.5 * start
    is_inside = (cell > 0) & (cell < CELLS - 1)
    return np.where(is_inside, norm.cdf(-start - ease), cells_truth(number, 0.0))


def chosen(
    choice: str, plan: Plan, use: Proteins, confidence: Floats, rng: np.random.Generator
) -> Integers:
    """Return the rows to verify, one a family."""
    order = rng.permutation(len(confidence))
    if choice == "by the plan":
        place = use.predicted * len(STRATUM_EDGES) + stratum_of(confidence)
        left, families, rows = plan.n_verify.ravel().copy(), set(), []
        for row in order[np.argsort(place[order], kind="stable")]:
            if left[place[row]] > 0 and use.family[row] not in families:
                families.add(use.family[row])
                left[place[row]] -= 1
                rows.append(row)
        return np.array(rows, dtype=np.int64)
    if choice == "nearest one half":
        order = order[np.argsort(np.abs(confidence[order] - 0.5), kind="stable")]
    _, first = np.unique(use.family[order], return_index=True)
    return order[np.sort(first)[:NUMBER]]


def joined(sample: Proteins, new: Proteins) -> Proteins:
    """Return both; the new ones are each a family of their own."""
    own = replace(new, family=1 + sample.family.max() + np.arange(len(new.cell)))
    parts = zip(vars(sample).values(), vars(own).values(), strict=True)
    return Proteins(*(np.concatenate(both) for both in parts))


def stated(plan: Plan, more: Integers | int = 0) -> float:
    """Return the mean width over all strata."""
    n_query = plan.n_query.sum(axis=1)
    return float(n_query @ plan.width(more) / n_query.sum())


def judged(found: Confidence, use: Proteins, rate: Floats) -> Row:
    """Return how far confidences are from the truth, and how wide their intervals are."""
    value = np.clip(np.where(np.isnan(found.value), 0.5, found.value), CLIP, 1.0 - CLIP)
    right = 1.0 - rate
    loss = xlogy(right, right / value) + xlogy(rate, rate / (1.0 - value))
    width = np.nan_to_num(found.upper - found.lower, nan=1.0)
    row: Row = {"excess NLL": loss.mean(), "width": width.mean()}
    for class_ in range(len(WRONG)):
        ours = use.predicted == class_
        row[f"off {class_}"] = (value - right)[ours].mean() if ours.any() else np.nan
    return row


def run_world(n_families: int, number: int, method: str) -> list[Row]:
    """Return what is known before and after the verifications, in both mixes."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SEED, 5, n_families, number])
    kind = kind_of(number % N_KINDS)
    sample = draw(kind, n_families, rng)
    labelled = labelled_of(sample)
    calibrator, quick = METHODS[method]
    calibration = calibrator.fit(labelled)
    fold = folds_by_class(labelled, 5)
    held_out = held_out_of(labelled, out_of_fold(labelled, quick, fold).value)
    rows: list[Row] = []
    mixes = {"like calibration": kind.share, "another": rng.dirichlet(np.ones(len(WRONG)))}
    for mix, share in mixes.items():
        use = draw(replace(kind, share=share), USE_FAMILIES, rng)
        predictions = predictions_of(use.predicted, use.score)
        rate = truth_of_cells(number % N_KINDS)[use.predicted * CELLS + use.cell]
        before = calibration.confidence(predictions)
        stratum = stratum_of(before.value)
        place = (use.predicted * len(STRATUM_EDGES) + stratum)[stratum >= 0]
        n_query = np.bincount(place, minlength=len(WRONG) * len(STRATUM_EDGES)).reshape(
            len(WRONG), -1
        )
        plan = plan_of(held_out, n_query, NUMBER)
        row: Row = {"method": method, "families": n_families, "world": number, "mix": mix}
        known = {"stated width": stated(plan)}
        rows.append(row | {"choice": "before"} | known | judged(before, use, rate))
        for choice in CHOICES:
            new = chosen(choice, plan, use, before.value, rng)
            more = np.bincount(
                use.predicted[new] * len(STRATUM_EDGES) + np.maximum(stratum[new], 0),
                minlength=n_query.size,
            )
            after = calibrator.fit(labelled_of(joined(sample, use.take(new))))
            known = {"stated width": stated(plan, more.reshape(n_query.shape)), "n": len(new)}
            found = judged(after.confidence(predictions), use, rate)
            rows.append(row | {"choice": choice} | known | found)
    return rows


MEASURES = ("excess NLL", "width", "stated width")


def falls(table: pd.DataFrame) -> list[Row]:
    """Return by how much each measure falls, over its fall with random ones (± standard error)."""
    rows: list[Row] = []
    for (method, families, mix), part in table.groupby(["method", "families", "mix"], sort=False):
        of = {name: part[part["choice"] == name].set_index("world") for name in part["choice"]}
        for choice in CHOICES:
            row: Row = {"method": method, "families": families, "mix": mix, "verified": choice}
            for name in MEASURES:
                before = of["before"][name]
                fall, chance = before - of[choice][name], before - of["at random"][name]
                if chance.mean() == 0.0:  # no intervals
                    row[name] = "-"
                    continue
                ratio = fall.mean() / chance.mean()
                error = (fall - ratio * chance).std() / np.sqrt(len(fall)) / abs(chance.mean())
                means = f"{before.mean():.3f} to {of[choice][name].mean():.3f}"
                row[name] = f"{means}: {ratio:.2f} ± {error:.2f}"
            rows.append(row)
    return rows


def offsets(table: pd.DataFrame) -> list[Row]:
    """Return mean confidence less truth over worlds, percentage points, by error rate."""
    known = table[table["choice"].isin(["before", "by the plan", "at random"])]
    known = known[known["mix"] == "like calibration"]
    columns = {f"off {class_}": f"{100 * share:.0f} %" for class_, share in enumerate(WRONG)}
    found = known.groupby(["method", "families", "choice"], sort=False)[list(columns)].mean()
    answer = (100.0 * found).rename(columns=columns).reset_index()
    return [
        {name: f"{value:+.1f}" if name.endswith("%") else value for name, value in row.items()}
        for row in answer.to_dict("records")
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    parser.add_argument("--out", type=Path, help="a table of all worlds, written as they come")
    parser.add_argument("--families", type=int, nargs="+", default=[100, 400])
    methods = ["one line", "beta", "class_only"]
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=methods)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_rows", 500, "display.max_columns", 30)
    for kind in range(N_KINDS):  # before the work is divided, so that all have them
        truth_of_cells(kind)
    asked = [
        (n_families, number, method)
        for method in given.methods
        for n_families in given.families
        for number in range(given.first, given.first + given.worlds)
    ]
    with ProcessPoolExecutor(given.jobs) as pool:
        rows: list[Row] = []
        for of_world in pool.map(run_world, *zip(*asked, strict=True), chunksize=5):
            rows += of_world
            if given.out is not None:
                pd.DataFrame(rows).to_csv(given.out, sep="\t", index=False)
    table = pd.DataFrame(rows)
    text = (
        f"Of {NUMBER} verified: the mean before to the mean after, then how much it fell over how "
        "much it fell with random ones. `width`: of the published intervals of 95 % over the "
        f"query set ({DRAWS} draws; one line and class_only go without); `stated width`: what the "
        "command states, of the precision in a stratum."
    )
    shown: dict[str, tuple[str, list[Row]]] = {
        f"What {NUMBER} verified proteins narrow: {given.worlds} worlds": (text, falls(table))
    }
    text = (
        "Mean of confidence less truth over the query set and over worlds, in percentage points, "
        "by the share of the class that is wrong; the query set's mix is calibration's."
    )
    shown[f"Do verified proteins bias confidences? {given.worlds} worlds"] = text, offsets(table)
    for title, (words, lines) in shown.items():
        print(title, words, pd.DataFrame(lines).to_string(), sep="\n")
        if given.page is not None:
            write_section(given.page, title, words, lines)


if __name__ == "__main__":
    main()
