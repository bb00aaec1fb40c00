"""Do thresholds and lists keep what they state? Hundreds of simulated worlds.

Each world is a calibration set of some families, a confidence fitted to it (beta
calibration, cross-fitted by five folds of families) and fresh use-sets; its truth
comes from a large independent population of other families. Families have heavy
tails, relatives are alike in score and in being right, and large families may be
easier or harder. Peers are judged by the same truth: Learn Then Test on proteins
(what MAPIE's risk control does; MAPIE itself where it is installed), conformal
selection (Jin and Candes 2023, as in nonconform) and the mean of 1 - confidence.

    python verification/lists.py --worlds 400 --jobs 2 --page docs/verification-lists.md

PhANNs' first table, where it is there (../shared/data), is halved by its rows' blocks.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import expit

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.lists.errors import ListErrors, errors_of
from credence.lists.guarantee import coins_of, grid_of, guaranteed
from credence.lists.held_out import STEPS, held_out_of, step_of
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions, label

SEED = 20261123
FAMILIES = (30, 100, 400, 2_000)
WRONG = np.array([0.05, 0.1, 0.2, 0.35, 0.5, 0.65])  # of each class's predictions
NAMES = tuple(f"class {number}" for number in range(len(WRONG)))
TAIL, LARGEST = 1.2, 100  # of the Pareto of family sizes
N_KINDS = 8
POPULATION = 200_000  # families
USE_FAMILIES = 1_000
RESOLUTION = 0.001
CELLS = 1_001  # scores that a table of such a resolution can show
PRECISIONS = (0.5, 0.8, 0.9, 0.95, 0.99)
ERRORS = (0.05, 0.1, 0.2, 0.3)
DELTA = 0.05
SHIFTS = {"like calibration": 0.0, "harder": -0.7, "easier": 0.7}
REAL = Path("../shared/data/phanns_scores_2020.csv.gz")


@dataclass(frozen=True)
class Kind:
    """What the worlds of one kind share."""

    slope: float  # How much the score shows of being right
    alike_score: float  # Shares of the variance that relatives share
    alike_right: float
    size_ease: float  # How much easier a family is that is e times as large
    share: Floats  # Of each class
    gain: float  # Of the classifier's own score on the log-odds: it is miscalibrated
    offset: float


def kind_of(number: int) -> Kind:
    """Return one of the kinds."""
    rng = np.random.default_rng([SEED, number])
    return Kind(
        rng.uniform(1.2, 2.5),
        rng.uniform(0.3, 0.8),
        rng.uniform(0.2, 0.8),
        rng.uniform(-0.25, 0.25),
        rng.dirichlet([9.0, 8.0, 7.0, 4.0, 3.0, 2.0]),
        rng.uniform(0.7, 1.8),
        rng.uniform(-0.5, 1.0),
    )


@dataclass(frozen=True, eq=False)
class Proteins:
    """Predictions of a world."""

    predicted: Integers
    cell: Integers  # Of the score
    is_wrong: Booleans
    family: Integers

    def take(self, rows: Booleans) -> Proteins:
        return Proteins(*(part[rows] for part in vars(self).values()))

    @property
    def score(self) -> Floats:
        return self.cell * RESOLUTION


def draw(kind: Kind, n_families: int, rng: np.random.Generator, shift: float = 0.0) -> Proteins:
    """Return the proteins of new families."""
    size = np.minimum(np.floor(rng.random(n_families) ** (-1.0 / TAIL)), LARGEST).astype(np.int64)
    family = np.repeat(np.arange(n_families), size)
    n = len(family)
    class_ = rng.choice(len(WRONG), n_families, p=kind.share)[family]
    predicted = np.where(rng.random(n) < 0.9, class_, rng.choice(len(WRONG), n, p=kind.share))

    def alike(share: float) -> Floats:
        common = rng.normal(size=n_families)[family]
        return np.sqrt(share) * common + np.sqrt(1.0 - share) * rng.normal(size=n)

    ease = alike(kind.alike_score) + kind.size_ease * np.log(size[family]) + shift
    start = -np.sqrt(1.0 + kind.slope**2) * stats.norm.ppf(WRONG)
    is_wrong = start[predicted] + kind.slope * ease + alike(kind.alike_right) < 0
    score = expit(kind.offset + kind.gain * (kind.slope * ease + 0.5 * start[predicted]))
    return Proteins(predicted, np.rint(score / RESOLUTION).astype(np.int64), is_wrong, family)


@dataclass(frozen=True, eq=False)
class Truth:
    """What a large population shows, by threshold from the top down."""

    by_family: Floats  # Mean over families of their share of wrong ones, row 0 of all classes
    n_families: Floats
    kept: Floats  # Share of the predictions


GRID = grid_of(1.0, RESOLUTION, 1.0)


def truth_of(proteins: Proteins) -> Truth:
    """Return the error per family at each threshold, over all and by class."""
    rows: list[tuple[Floats, Floats, Floats]] = []
    for class_ in (None, *range(len(WRONG))):
        ours = (
            np.full(len(proteins.cell), True) if class_ is None else proteins.predicted == class_
        )
        down = np.flatnonzero(ours)[np.argsort(-proteins.cell[ours], kind="stable")]
        groups = pd.Series(proteins.is_wrong[down].astype(float)).groupby(proteins.family[down])
        share = groups.cumsum() / (groups.cumcount() + 1)
        change = (share - share.groupby(proteins.family[down]).shift().fillna(0.0)).to_numpy()
        is_first = (groups.cumcount() == 0).to_numpy()
        place = np.searchsorted(-proteins.score[down], -(GRID - 1e-9), "right")
        n = np.concatenate([[0.0], np.cumsum(is_first)])[place]
        total = np.concatenate([[0.0], np.cumsum(change)])[place]
        rows.append((total / np.maximum(n, 1.0), n, place / len(down)))
    return Truth(*(np.stack(part) for part in zip(*rows, strict=True)))


@cache
def thresholds_truth(kind: int) -> Truth:
    return truth_of(draw(kind_of(kind), POPULATION, np.random.default_rng([SEED, kind, 1])))


@cache
def cells_truth(kind: int, shift: float) -> Floats:
    """Return the share of wrong ones at each class and score of a population."""
    proteins = draw(kind_of(kind), POPULATION, np.random.default_rng([SEED, kind, 2]), shift)
    place = proteins.predicted * CELLS + proteins.cell
    n = np.bincount(place, minlength=len(WRONG) * CELLS)
    wrong = np.bincount(place, weights=proteins.is_wrong, minlength=len(WRONG) * CELLS)
    return wrong / np.maximum(n, 1)


def predictions_of(predicted: Integers, score: Floats) -> Predictions:
    ids = np.arange(len(score)).astype(str).astype(object)
    return Predictions(ids, NAMES, 1.0, RESOLUTION, predicted, score, is_distribution=False)


def labelled_of(proteins: Proteins) -> Labelled:
    predictions = predictions_of(proteins.predicted, proteins.score)
    true = (proteins.predicted + proteins.is_wrong) % len(WRONG)
    cluster = np.array([f"f{number}" for number in proteins.family], dtype=object)
    return label(predictions, true, cluster=cluster)


BETA = parse_method("beta", "verification").build(FitOptions(n_draws=0))


def above(step: Integers, weight: Floats | None = None) -> Floats:
    """Return the sum over each step and those above it."""
    return np.cumsum(np.bincount(step, weight, minlength=len(STEPS))[::-1])[::-1]


Row = dict[str, object]


def threshold_rows(world: Row, kind: int, sample: Proteins, order: Floats) -> Iterator[Row]:
    """Yield the thresholds of a world, ours and those of peers."""
    truth = thresholds_truth(kind)
    for place in range(len(WRONG) + 1):
        rows = np.flatnonzero(
            np.full(len(sample.cell), True) if place == 0 else sample.predicted == place - 1
        )
        coins = coins_of(
            GRID, sample.score[rows], sample.is_wrong[rows], sample.family[rows], order[rows]
        )
        for precision in PRECISIONS:
            rate = 1.0 - precision
            is_allowed = (truth.by_family[place] <= rate) & (truth.n_families[place] >= 100)
            found = {"ours": guaranteed(coins, rate, 1.0 - DELTA).threshold}
            if place == 0:
                found |= peers(sample, rate)
            for name, threshold in found.items():
                at = -1 if np.isnan(threshold) else int(np.argmin(np.abs(GRID - threshold)))
                yield world | {
                    "class": place,
                    "precision": precision,
                    "rule": name,
                    "found": at >= 0,
                    "exceeds": at >= 0 and truth.by_family[place, at] > rate,
                    "kept": truth.kept[place, at] if at >= 0 else 0.0,
                    "allowed": truth.kept[place][is_allowed].max(initial=0.0),
                }


def peers(sample: Proteins, rate: float) -> dict[str, float]:
    """Return the thresholds of rules that count proteins, not families."""
    grid = np.linspace(0.0, 1.0, 101)[:100]
    n = np.array([(sample.score >= one).sum() for one in grid])
    wrong = np.array([sample.is_wrong[sample.score >= one].sum() for one in grid])
    p_value = np.where(n > 0, stats.binom.cdf(wrong, np.maximum(n, 1), rate), 1.0)
    passed = np.flatnonzero(p_value <= DELTA / len(grid))
    found = {"Learn Then Test on proteins": float(grid[passed[0]]) if len(passed) else np.nan}
    estimate = np.flatnonzero((n > 0) & (wrong <= rate * n))
    found["observed share"] = float(grid[estimate[0]]) if len(estimate) else np.nan
    return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """A world's sample with its confidences."""

    errors: ListErrors
    step: Integers  # Of the use-set's confidences
    confidence: Floats
    # Of the list that ends at each step: its expected share of wrong ones, given the classes and
    # scores in it, and the share of the use-set that it holds.
    error: Floats
    listed: Floats


def listed_rows(
    world: Row, fitted: Fitted, use: Proteins, rate: Floats, conformal: Floats
) -> Iterator[Row]:
    """Yield the lists of a use-set, ours and those of peers."""
    mean = above(fitted.step, 1.0 - fitted.confidence) / np.maximum(above(fitted.step), 1.0)
    naive = np.where(above(fitted.step) > 0, mean, np.nan)
    rules: dict[str, Callable[[float], int | None]] = {
        "estimated": fitted.errors.end_of,
        "certain": lambda error: fitted.errors.end_of(error, is_certain=True),
        "mean of 1 - confidence": lambda error: first(naive <= error),
    }
    for error in ERRORS:
        best = first((fitted.error <= error) & (fitted.listed > 0))
        for name, rule in rules.items():
            end = rule(error)
            row = world | {"rule": name, "error": error, "found": end is not None}
            row["allowed"] = 0.0 if best is None else fitted.listed[best]
            if end is not None:
                row["true error"] = fitted.error[end]
                row["kept"] = fitted.listed[end]
                row["families"] = fitted.errors.above.n_families[end]
                row |= range_row(fitted, end, use)
            yield row
        chosen = selected(conformal, error)
        yield world | {
            "rule": "conformal selection",
            "error": error,
            "found": chosen.any(),
            "allowed": 0.0 if best is None else fitted.listed[best],
            "true error": rate[chosen].mean() if chosen.any() else np.nan,
            "kept": chosen.mean(),
            "families": np.inf,
        }
    for confidence in (0.5, 0.8, 0.9, 0.95):
        end = int(step_of(np.array([confidence]))[0])
        if fitted.errors.above.n_families[end] > 0 and fitted.errors.n_listed[end] > 0:
            yield (
                world
                | {"rule": "fixed", "error": confidence, "found": True}
                | range_row(fitted, end, use)
            )


def first(is_there: Booleans) -> int | None:
    return int(np.flatnonzero(is_there)[0]) if is_there.any() else None


def range_row(fitted: Fitted, end: int, use: Proteins) -> Row:
    """Return whether the range of the number right holds it."""
    listed = fitted.step >= end
    right = int((listed & ~use.is_wrong).sum())
    size = np.bincount(use.family[listed])
    relatives = float((size * (size - 1)).sum() / max(size.sum(), 1))
    ours = fitted.errors.right(end, 0.95, relatives)
    blind = fitted.errors.right(end, 0.95)
    sum_ = fitted.confidence[listed].sum()
    return {
        "holds": ours.lower - 0.5 <= right <= ours.upper + 0.5,
        "below": right < ours.lower - 0.5,
        "holds, relatives unknown": blind.lower - 0.5 <= right <= blind.upper + 0.5,
        "width": (ours.upper - ours.lower) / max(listed.sum(), 1),
        "right less expected": (right - ours.expected) / max(listed.sum(), 1),
        "right less sum": (right - sum_) / max(listed.sum(), 1),
        "families listed": float((size > 0).sum()),
    }


def selected(p_value: Floats, error: float) -> Booleans:
    """Return what Benjamini and Hochberg's procedure selects."""
    ordered = np.sort(p_value)
    passed = np.flatnonzero(ordered <= error * np.arange(1, len(ordered) + 1) / len(ordered))
    return p_value <= ordered[passed[-1]] if len(passed) else np.zeros(len(p_value), dtype=bool)


def run_world(n_families: int, number: int) -> tuple[list[Row], list[Row]]:
    """Return the thresholds and the lists of a world."""
    warnings.simplefilter("ignore")
    kind = number % N_KINDS
    rng = np.random.default_rng([SEED, 3, n_families, number])
    sample = draw(kind_of(kind), n_families, rng)
    world: Row = {"families calibrated": n_families, "world": number}
    thresholds = list(threshold_rows(world, kind, sample, rng.random(len(sample.cell))))
    labelled = labelled_of(sample)
    calibration = BETA.fit(labelled)
    held_out = held_out_of(
        labelled, out_of_fold(labelled, BETA, folds_by_class(labelled, 5)).value
    )
    cell_class, cell = np.divmod(np.arange(len(WRONG) * CELLS), CELLS)
    value = calibration.confidence(predictions_of(cell_class, cell * RESOLUTION)).value
    value = np.where(np.isnan(value), -1.0, value)  # classes never seen are in no list
    lists: list[Row] = []
    for name, shift in SHIFTS.items():
        use = draw(kind_of(kind), USE_FAMILIES, rng, shift)
        use = use.take(value[use.predicted * CELLS + use.cell] >= 0)
        place = use.predicted * CELLS + use.cell
        step = step_of(value[place])
        listed = above(step)
        rate = cells_truth(kind, shift)[place]
        wrong = above(step, rate)
        error = np.where(listed > 0, wrong / np.maximum(listed, 1.0), np.nan)
        errors = errors_of(held_out, np.bincount(step, minlength=len(STEPS)), 1.0 - DELTA)
        fitted = Fitted(errors, step, value[place], error, listed / max(len(step), 1))
        own = np.sort(-sample.score[sample.is_wrong])
        p_value = (np.searchsorted(own, -use.score, "right") + 1) / (len(sample.cell) + 1)
        lists += listed_rows(world | {"use-set": name}, fitted, use, rate, p_value)
    return thresholds, lists


def of_thresholds(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often thresholds exceed their rate, and what they keep."""
    overall = table[table["class"] == 0].copy()
    overall["of the best"] = overall["kept"] / overall["allowed"].where(overall["allowed"] > 0)
    groups = overall.groupby(["rule", "precision", "families calibrated"], sort=False)
    answer = groups.agg(
        worlds=("world", "size"),
        found=("found", "mean"),
        exceeds=("exceeds", "mean"),
        kept=("kept", "mean"),
        allowed=("allowed", "mean"),
        of_best=("of the best", "mean"),
    ).reset_index()
    ours = table[(table["class"] > 0) & (table["rule"] == "ours")]
    by_class = ours.groupby(["rule", "precision", "families calibrated", "class"])[
        "exceeds"
    ].mean()
    most = by_class.groupby(level=[0, 1, 2]).max().rename("exceeds, worst class")
    return answer.merge(most.reset_index(), how="left")


def of_lists(table: pd.DataFrame) -> pd.DataFrame:
    """Return the true errors of the lists, and how often they are above what was asked for."""
    lists = table[(table["rule"] != "fixed")].copy()
    lists["is above"] = lists["found"] & (lists["true error"] > lists["error"])
    lists["is judged"] = (
        lists["found"] & (lists["error"] * lists["families"] >= 5) & (lists["allowed"] > 0)
    )
    lists["judged error"] = lists["true error"].where(lists["is judged"])
    groups = lists.groupby(["rule", "use-set", "error", "families calibrated"], sort=False)
    return groups.agg(
        found=("found", "mean"),
        above=("is above", "mean"),
        judged=("is judged", "sum"),
        mean_error=("judged error", "mean"),
        kept=("kept", "mean"),
        allowed=("allowed", "mean"),
    ).reset_index()


def of_ranges(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often the ranges hold the number of right ones."""
    lists = table[table["rule"].isin(["fixed", "estimated"]) & table["holds"].notna()]
    groups = lists.groupby(["rule", "use-set", "error", "families calibrated"], sort=False)
    return groups.agg(
        lists=("world", "size"),
        holds=("holds", "mean"),
        below=("below", "mean"),
        blind=("holds, relatives unknown", "mean"),
        width=("width", "mean"),
        off=("right less expected", "mean"),
        sum_off=("right less sum", "mean"),
    ).reset_index()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--families", type=int, nargs="+", default=list(FAMILIES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_rows", 500, "display.max_columns", 30)
    thresholds: list[Row] = []
    lists: list[Row] = []
    for kind in range(N_KINDS):  # before the processes divide, so that each has them
        thresholds_truth(kind)
        for shift in SHIFTS.values():
            cells_truth(kind, shift)
    sizes = np.repeat(given.families, given.worlds).tolist()
    numbers = list(range(given.worlds)) * len(given.families)
    with ProcessPoolExecutor(given.jobs) as pool:
        for of_world in pool.map(run_world, sizes, numbers, chunksize=10):
            thresholds += of_world[0]
            lists += of_world[1]
    tables = {
        "Thresholds": of_thresholds(pd.DataFrame(thresholds)),
        "Lists": of_lists(pd.DataFrame(lists)),
        "Numbers of right ones": of_ranges(pd.DataFrame(lists)),
    }
    for title, table in tables.items():
        print(title, table.round(3).to_string(), sep="\n")


if __name__ == "__main__":
    main()
