"""Do thresholds and lists keep what they state? Hundreds of simulated worlds.

Each world is a calibration set of some families, a confidence fitted to it and
cross-fitted by five folds of families, and fresh query sets; its truth comes from a
large independent population of other families. Families have heavy tails, relatives
are alike in score and in being right, large families may be easier or harder, and the
classifier's own score is miscalibrated. A query set that is harder or easier has other
scores, right as often at each score and class. Peers are judged by the same truth:
MAPIE's control of precision (left out where it is not installed), Learn Then Test on
proteins, conformal selection (Jin and Candes 2023), the error rate that is
observed, and the mean of 1 - confidence.

    PYTHONPATH=. python verification/lists.py --jobs 2 --page docs/verification-lists.md

Under other class proportions the intervals of each class are judged in the demo's world,
mixes drawn anew, all alike likely, the class proportions estimated as `credence shift` does:

    PYTHONPATH=. python verification/lists.py --mixes 40 --page docs/verification-lists.md

Lists of calls in the real table, ten random halves, of the other half 80, 90 and 98 % background:

    PYTHONPATH=. python verification/lists.py --real-calls --page docs/verification-lists.md

or by another method, of ten other halves and of small calibration sets:

    PYTHONPATH=. python verification/lists.py --real-calls --methods auto --first 10 \\
        --known 600 --query 1500

The real table is read where it is (../shared/data), and left out where it is not.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from benchmarks.data import real_table
from benchmarks.same import random_halves
from in_memory import draw_labelled
from scipy import stats
from scipy.special import expit, logit

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibration, Calibrator, FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import CalibrationSample, calibration_sample
from credence.composition.estimate import estimate_composition
from credence.confidence import Confidence
from credence.lists.decision import ListRules, background_of, scarce_classes
from credence.lists.errors import FAMILIES_OF_BIN, ListErrors, errors_of
from credence.lists.guarantee import coins_of, grid_of, guaranteed
from credence.lists.held_out import (
    CONFIDENCE_STEPS,
    HeldOut,
    corrected_held_out,
    held_out_of,
    step_of,
)
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions, label
from credence.simulate.law import WorldSettings, score_law
from credence.stages.lists import step_counts
from credence.stages.settings import Settings
from credence.stages.shift import _summed
from credence.tables.samples import Samples
from report import write_section

try:
    from mapie.risk_control import BinaryClassificationController
except ImportError:
    BinaryClassificationController = None

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
PER_CLASS_WORLDS = 200  # so many have a range for each class as well: it takes as long as the rest
N_HALVES = 10  # of the real table
N_MIX_DRAWS = 100  # of an estimated mix
BACKGROUND_SHARES = {"80 % background": 0.8, "90 % background": 0.9, "98 % background": 0.98}
DIRICHLET = "Dirichlet 1"
CALL_ERRORS = (0.05, 0.1, 0.2)
N_CALLS_KNOWN, N_CALLS_USE = 2_000, 3_000
N_REAL_KNOWN = 6_000
LARGE_CLASS = 20  # listed predictions: of smaller ones the share wrong is chance


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

    by_family: Floats  # Mean over families of their error rate, row 0 of all classes
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
    """Return the error rate at each class and score of a population."""
    proteins = draw(kind_of(kind), POPULATION, np.random.default_rng([SEED, kind, 2]), shift)
    place = proteins.predicted * CELLS + proteins.cell
    n = np.bincount(place, minlength=len(WRONG) * CELLS)
    wrong = np.bincount(place, weights=proteins.is_wrong, minlength=len(WRONG) * CELLS)
    return wrong / np.maximum(n, 1)


def predictions_of(predicted: Integers, score: Floats) -> Predictions:
    ids = np.arange(len(score)).astype(str).astype(object)
    return Predictions(
        ids=ids,
        class_names=NAMES,
        scale=1.0,
        resolution=RESOLUTION,
        predicted_class=predicted,
        top_score=score,
        is_distribution=False,
    )


def labelled_of(proteins: Proteins) -> Labelled:
    predictions = predictions_of(proteins.predicted, proteins.score)
    true = (proteins.predicted + proteins.is_wrong) % len(WRONG)
    cluster = np.array([f"f{number}" for number in proteins.family], dtype=object)
    return label(predictions, true, cluster=cluster)


@dataclass(frozen=True, eq=False)
class OneLine:
    """A line in the logit of the score for all classes, each with an offset that is shrunk."""

    coefficient: Floats | None = None

    def columns(self, predictions: Predictions) -> Floats:
        share = np.clip(predictions.top_score, RESOLUTION / 2.0, 1.0 - RESOLUTION / 2.0)
        classes = np.eye(len(WRONG))[predictions.predicted_class]
        return np.column_stack([np.ones(len(share)), logit(share), classes])

    def fit(self, labelled: Labelled) -> OneLine:
        columns, right = self.columns(labelled.predictions), labelled.is_correct
        penalty = np.array([0.01, 0.01] + [1.0] * len(WRONG))
        found = np.zeros(columns.shape[1])
        for _ in range(25):  # of Newton's steps
            p = expit(columns @ found)
            curvature = (columns.T * (p * (1.0 - p))) @ columns + np.diag(penalty)
            found = found + np.linalg.solve(curvature, columns.T @ (right - p) - penalty * found)
        return OneLine(coefficient=found)

    def confidence(self, predictions: Predictions) -> Confidence:
        value = expit(self.columns(predictions) @ self.coefficient)
        return Confidence(
            value=value,
            lower=value,
            upper=value,
            support=np.ones(len(value)),
            note=np.zeros(len(value), np.int64),
        )


CONFIDENCES: dict[str, Calibrator] = {
    "one line": OneLine(),
    "beta": parse_method("beta", "verification").build(FitOptions(n_draws=0)),
}


def above(step: Integers, weight: Floats | None = None) -> Floats:
    """Return the sum over each step and those above it."""
    return np.cumsum(np.bincount(step, weight, minlength=len(CONFIDENCE_STEPS))[::-1])[::-1]


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
    if BinaryClassificationController is not None:
        control = BinaryClassificationController(
            lambda score: np.column_stack([1.0 - score, score]),
            "precision",
            target_level=1.0 - rate,
            confidence_level=1.0 - DELTA,
        )
        control.calibrate(sample.score, (~sample.is_wrong).astype(np.int64))
        best = control.best_predict_param
        found["MAPIE"] = np.nan if best is None else float(best)
    return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """A world's sample with its confidences."""

    errors: ListErrors
    step: Integers  # Of the query set's confidences
    confidence: Floats
    # Of the list that ends at each step: its expected error rate, given the classes and
    # scores in it, and the share of the query set that it holds.
    error: Floats
    listed: Floats


def listed_rows(
    world: Row, fitted: Fitted, use: Proteins, rate: Floats, conformal: Floats
) -> Iterator[Row]:
    """Yield the lists of a query set, ours and those of peers."""
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


def class_rows(world: Row, fitted: Fitted, use: Proteins, held_out: HeldOut) -> Iterator[Row]:
    """Yield whether the range of the number right in each class holds it."""
    for class_ in range(len(WRONG)):
        rows = use.predicted == class_
        n_query = np.bincount(fitted.step[rows], minlength=len(CONFIDENCE_STEPS))
        errors = errors_of(held_out.of_classes(class_), n_query, 1.0 - DELTA)
        if errors.above.n_families[0] >= FAMILIES_OF_BIN and rows.any():
            ours = replace(
                fitted, errors=errors, step=fitted.step[rows], confidence=fitted.confidence[rows]
            )
            row = world | {"rule": "whole class", "error": WRONG[class_], "found": True}
            yield row | range_row(ours, 0, use.take(rows))


def selected(p_value: Floats, error: float) -> Booleans:
    """Return what Benjamini and Hochberg's procedure selects."""
    ordered = np.sort(p_value)
    passed = np.flatnonzero(ordered <= error * np.arange(1, len(ordered) + 1) / len(ordered))
    return p_value <= ordered[passed[-1]] if len(passed) else np.zeros(len(p_value), dtype=bool)


def run_world(
    n_families: int, number: int, method: str = "one line"
) -> tuple[list[Row], list[Row]]:
    """Return the thresholds and the lists of a world."""
    warnings.simplefilter("ignore")
    kind = number % N_KINDS
    rng = np.random.default_rng([SEED, 3, n_families, number])
    sample = draw(kind_of(kind), n_families, rng)
    world: Row = {"families calibrated": n_families, "world": number}
    thresholds = list(threshold_rows(world, kind, sample, rng.random(len(sample.cell))))
    labelled = labelled_of(sample)
    calibrator = CONFIDENCES[method]
    calibration = calibrator.fit(labelled)
    fold = folds_by_class(labelled, 5)
    held_out = held_out_of(labelled, out_of_fold(labelled, calibrator, fold).value)
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
        errors = errors_of(
            held_out, np.bincount(step, minlength=len(CONFIDENCE_STEPS)), 1.0 - DELTA
        )
        fitted = Fitted(errors, step, value[place], error, listed / max(len(step), 1))
        own = np.sort(-sample.score[sample.is_wrong])
        p_value = (np.searchsorted(own, -use.score, "right") + 1) / (len(sample.cell) + 1)
        lists += listed_rows(world | {"query set": name}, fitted, use, rate, p_value)
        if shift == 0.0 and number < PER_CLASS_WORLDS:
            lists += class_rows(world | {"query set": name}, fitted, use, held_out)
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
    lists = table[~table["rule"].isin(["fixed", "whole class"])].copy()
    lists["is above"] = lists["found"] & (lists["true error"] > lists["error"])
    lists["is judged"] = (
        lists["found"] & (lists["error"] * lists["families"] >= 5) & (lists["allowed"] > 0)
    )
    lists["judged error"] = lists["true error"].where(lists["is judged"])
    groups = lists.groupby(["rule", "query set", "error", "families calibrated"], sort=False)
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
    lists = table[
        table["rule"].isin(["fixed", "estimated", "whole class"]) & table["holds"].notna()
    ]
    groups = lists.groupby(["rule", "query set", "error", "families calibrated"], sort=False)
    return groups.agg(
        lists=("world", "size"),
        holds=("holds", "mean"),
        below=("below", "mean"),
        blind=("holds, relatives unknown", "mean"),
        width=("width", "mean"),
        off=("right less expected", "mean"),
        sum_off=("right less sum", "mean"),
    ).reset_index()


def mix_rows(number: int, method: str = "kernel") -> list[Row]:
    """Return the ranges of the number right in each class, under other class proportions."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SEED, 6, number])
    labelled = draw_labelled(WorldSettings(n_calibration=2_000, class_proportions="sampled"), rng)
    share = rng.dirichlet(np.ones(labelled.predictions.n_classes))
    settings = WorldSettings(n_calibration=USE_FAMILIES, class_proportions="sampled")
    use = draw_labelled(settings, rng, share)
    given = Samples(predictions=use.predictions, true_class=None, lines=np.arange(use.n_samples))
    calibrator = parse_method(method, "verification").build(FitOptions(n_draws=0))
    unseen = out_of_fold(labelled, calibrator, folds_by_class(labelled, 5)).value
    known = calibration_sample(labelled, True, unseen)
    estimator, sample, summed, _ = _summed(known, iter([("use", given)]), None, "auto", "use")
    options = FitOptions(n_draws=N_MIX_DRAWS)
    composition = estimate_composition(sample, summed, estimator, options)
    held_out = corrected_held_out(known, composition)
    plain = calibrator.fit(labelled).confidence(use.predictions)
    correction = correction_for(sample, composition, options.level)
    step = step_of(correction.corrected(plain, use.predictions, known).value)
    rows: list[Row] = []
    for class_, name in enumerate(use.predictions.class_names):
        listed = (use.predictions.predicted_class == class_) & (step >= 0)
        own = held_out.of_classes(class_)
        if not listed.any() or not len(own.step):
            continue
        errors = errors_of(
            own, np.bincount(step[listed], minlength=len(CONFIDENCE_STEPS)), 1.0 - DELTA
        )
        right, n = int(use.is_correct[listed].sum()), int(listed.sum())
        row: Row = {"world": number, "class": name, "families": errors.above.n_families[0]}
        for title, one in {"": errors, "before": replace(errors, right_family=1.0)}.items():
            found = one.right(0, 0.95)
            row["holds" + title] = found.lower - 0.5 <= right <= found.upper + 0.5
            row["width" + title] = (found.upper - found.lower) / n
        rows.append(row)
    return rows


def calls_of(held_out: HeldOut, class_names: tuple[str, ...]) -> ListRules:
    """Return the rules of lists as the package sets them, for these held-out proteins."""
    asked = Settings().lists
    return ListRules(
        held_out=held_out,
        class_names=class_names,
        is_scarce=scarce_classes(held_out, len(class_names)),
        is_background=background_of(class_names, asked.background),
        is_background_found=True,
        certainty=asked.certainty,
        least_confidence=asked.least_confidence,
        family_share=asked.family_share,
    )


def call_rows(kind: str, number: int, method: str) -> list[Row]:
    """Return how wrong lists of calls are, in a sample of which so much is background."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([SEED, 7, number])
    labelled = draw_labelled(
        WorldSettings(n_calibration=N_CALLS_KNOWN, class_proportions="sampled"), rng
    )
    names = labelled.predictions.class_names
    share = rng.dirichlet(np.ones(len(names)))
    if kind in BACKGROUND_SHARES:
        is_background = background_of(names, None)
        share = np.array(score_law().prevalence)
        parts = (BACKGROUND_SHARES[kind], 1.0 - BACKGROUND_SHARES[kind])
        for rows_of, part in zip((is_background, ~is_background), parts, strict=True):
            share[rows_of] *= part / share[rows_of].sum()
    sampled = WorldSettings(n_calibration=N_CALLS_USE, class_proportions="sampled")
    use = draw_labelled(sampled, rng, share)
    return listed_calls(fitted_calls(labelled, method), use, {"sample": kind, "world": number})


@dataclass(frozen=True, eq=False)
class FittedCalls:
    """A calibration as a file keeps it."""

    known: CalibrationSample
    calibration: Calibration


def fitted_calls(labelled: Labelled, method: str) -> FittedCalls:
    """Return a method fitted to labelled proteins, with its held-out confidences."""
    calibrator = parse_method(method, "verification").build(FitOptions(n_draws=0))
    unseen = out_of_fold(labelled, calibrator, folds_by_class(labelled, 5)).value
    known = calibration_sample(labelled, True, unseen)
    return FittedCalls(known=known, calibration=calibrator.fit(labelled))


def listed_calls(fitted: FittedCalls, use: Labelled, named: Row) -> list[Row]:
    """Return how wrong lists of calls of a query set are."""
    given = Samples(predictions=use.predictions, true_class=None, lines=np.arange(use.n_samples))
    known, names = fitted.known, use.predictions.class_names
    estimator, sample, summed, _ = _summed(known, iter([("use", given)]), None, "auto", "use")
    options = FitOptions(n_draws=N_MIX_DRAWS)
    composition = estimate_composition(sample, summed, estimator, options)
    held_out = corrected_held_out(known, composition)
    rules = calls_of(held_out, names)
    plain = fitted.calibration.confidence(use.predictions)
    correction = correction_for(sample, composition, options.level)
    step = step_of(correction.corrected(plain, use.predictions, known).value)
    code = use.predictions.predicted_class
    # Scarce classes are of insufficient data.
    every = step_counts(code, step, len(names))
    grouped = rules.calls_and_background(np.where(rules.is_scarce[:, None], 0, every))
    n_query = every.sum(axis=0)
    pooled = errors_of(held_out, n_query, rules.certainty)
    is_call = ~rules.is_background[code] & ~rules.is_scarce[code]
    rows: list[Row] = []
    for error in CALL_ERRORS:
        for is_certain in (False, True):
            end = pooled.end_of(error, is_certain=is_certain)
            together = grouped.errors[0].end_of(error, is_certain=is_certain)
            ends = grouped.ends(0, error, is_certain=is_certain)
            nowhere = len(CONFIDENCE_STEPS)
            lists = {
                "calls": is_call & (step >= ends[code]),
                "calls, classes not looked at": is_call
                & (step >= (nowhere if together is None else together)),
                "pooled": step >= (nowhere if end is None else end),
            }
            for name, listed in lists.items():
                of_calls = listed & is_call
                wrong = ~use.is_correct
                row: Row = named | {"error": error, "list": name}
                row |= {"is_certain": is_certain, "n": int(of_calls.sum())}
                row["wrong"] = float(wrong[of_calls].mean()) if of_calls.any() else np.nan
                sizes = np.bincount(code[of_calls], minlength=len(names))
                n_wrong = np.bincount(code[of_calls & wrong], minlength=len(names))
                judged = sizes > LARGE_CLASS
                row["classes"] = int(judged.sum())
                row["twice"] = int((n_wrong[judged] > 2.0 * error * sizes[judged]).sum())
                rows.append(row)
    return rows


def real_call_rows(
    method: str, halves: Iterable[int], n_known: int, n_query: int
) -> Iterator[Row]:
    """Yield how wrong lists of calls are in the real table: a random half calibrates.

    Rows are taken as independent; of the other half some are drawn, as many background as wanted.
    """
    labelled = real_table()
    if labelled is None:
        return
    labelled = label(labelled.predictions, labelled.true_class)
    for number in halves:
        rng = np.random.default_rng([SEED, 9, number])
        known, others = np.array_split(rng.permutation(labelled.n_samples), 2)
        fitted = fitted_calls(labelled.take(known[:n_known]), method)
        is_background = background_of(labelled.predictions.class_names, None)[labelled.true_class]
        parts = others[is_background[others]], others[~is_background[others]]
        for kind, share in BACKGROUND_SHARES.items():
            sizes = round(share * n_query), n_query - round(share * n_query)
            rows = np.concatenate(
                [rng.choice(part, size, False) for part, size in zip(parts, sizes, strict=True)]
            )
            yield from listed_calls(fitted, labelled.take(rows), {"sample": kind, "world": number})


def of_calls(rows: list[Row]) -> list[Row]:
    """Return how wrong lists of calls are, by sample, list and error asked for."""
    table = pd.DataFrame(rows)
    table["exceeds"] = (table["wrong"] > table["error"]).where(table["n"] > 0, False)
    table["n_wrong"] = table["wrong"].fillna(0.0) * table["n"]
    answer: list[Row] = []
    for (kind, name, error), part in table.groupby(["sample", "list", "error"], sort=False):
        estimated, certain = part[~part["is_certain"]], part[part["is_certain"]]
        made = estimated[estimated["n"] > 0]
        answer.append(
            {
                "sample": kind,
                "list": name,
                "asked": error,
                "worlds with a list": f"{len(made)} of {len(estimated)}",
                "calls listed, median": float(estimated["n"].median()),
                "wrong among calls, mean": float(made["wrong"].mean()),
                "wrong of all calls listed": float(
                    estimated["n_wrong"].sum() / max(estimated["n"].sum(), 1)
                ),
                "worlds with a class above twice": float((estimated["twice"] > 0).mean()),
                "classes above twice": float(
                    estimated["twice"].sum() / max(estimated["classes"].sum(), 1)
                ),
                "certain list held": float(1.0 - certain["exceeds"].mean()),
                "certain list made": float((certain["n"] > 0).mean()),
            }
        )
    return answer


def of_mixes(rows: list[Row]) -> list[Row]:
    """Return how many ranges of classes hold the truth, and how wide they are."""
    table = pd.DataFrame(rows)
    names = ["up to 10", "up to 20", "up to 50", "more"]
    by = pd.cut(table["families"], [0.0, 10.0, 20.0, 50.0, np.inf], labels=names)
    answer: list[Row] = []
    for name, part in [("all", table), *table.groupby(by, observed=True)]:
        row: Row = {"calibration families": name, "ranges": len(part)}
        for title, words in {"": "", "before": ", right families of mean weight"}.items():
            row["holds" + words] = float(part["holds" + title].mean())
            row["mean width" + words] = float(part["width" + title].mean())
        answer.append(row)
    error = table.groupby("world")["holds"].mean()
    answer[0]["calibration families"] = f"all (± {error.std() / np.sqrt(len(error)):.3f})"
    return answer


def real_rows() -> list[Row]:
    """Return the lists of halves of the real table, made by the other half."""
    labelled = real_table()
    if labelled is None:
        return []
    calibrator, rows = CONFIDENCES["beta"], []
    for number in range(N_HALVES):
        ours, others = random_halves(labelled, np.random.default_rng([SEED, 4, number]))
        held = out_of_fold(ours, calibrator, folds_by_class(ours, 5)).value
        value = calibrator.fit(ours).confidence(others.predictions).value
        step = step_of(value[~np.isnan(value)])
        is_wrong = ~others.is_correct[~np.isnan(value)]
        n_query = np.bincount(step, minlength=len(CONFIDENCE_STEPS))
        errors = errors_of(held_out_of(ours, held), n_query, 1.0 - DELTA)
        for error in (0.05, 0.1, 0.2):
            for name, is_certain in (("estimated", False), ("certain", True)):
                end = errors.end_of(error, is_certain=is_certain)
                row: Row = {"list": name, "error": error, "found": end is not None}
                rows.append(row)
                if end is None:
                    continue
                right, observed = errors.right(end, 0.95), is_wrong[step >= end]
                row["wrong"] = observed.mean()
                row["kept"] = (step >= end).mean()
                row["holds"] = right.lower <= (~observed).sum() <= right.upper
    return rows


def of_halves(rows: list[Row]) -> pd.DataFrame:
    """Return what was observed over the halves."""
    return (
        pd.DataFrame(rows)
        .groupby(["list", "error"], sort=False)
        .agg(
            found=("found", "mean"),
            wrong=("wrong", "mean"),
            least=("wrong", "min"),
            most=("wrong", "max"),
            kept=("kept", "mean"),
            holds=("holds", "mean"),
        )
        .reset_index()
    )


def wide(table: pd.DataFrame, index: list[str], cell: Callable[[Row], str]) -> list[Row]:
    """Return a row for each of the index, with a cell for each number of families."""
    rows: dict[tuple[object, ...], Row] = {}
    for one in table.to_dict("records"):
        named = {name: one[name] for name in index}
        row = rows.setdefault(tuple(named.values()), named)
        row[f"{one['families calibrated']:,} families"] = cell(one)
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    return [{name: row.get(name, "") for name in names} for row in rows.values()]


def percent(share: float) -> str:
    return "none" if np.isnan(share) else f"{100 * share:.1f} %"


def threshold_cell(one: Row) -> str:
    worst = one["exceeds, worst class"]
    in_brackets = "" if pd.isna(worst) else f" ({percent(worst)})"
    return f"{percent(one['exceeds'])}{in_brackets}, kept {one['of_best']:.2f}"


def list_cell(one: Row) -> str:
    ratio = "-" if one["judged"] < 10 else f"{one['mean_error'] / one['error']:.2f}"
    kept = np.nan_to_num(one["kept"])
    return f"{ratio} ({percent(one['above'])}), kept {kept:.2f} of {one['allowed']:.2f}"


def range_cell(one: Row) -> str:
    return f"{percent(one['holds'])}, width {one['width']:.3f}"


def sections(
    thresholds: pd.DataFrame, lists: pd.DataFrame
) -> Iterator[tuple[str, str, list[Row]]]:
    """Yield the title, the text and the table of each section of the page."""
    text = (
        "Shares of worlds; of thresholds and lists the worst of all precisions or errors asked "
        "for, of ranges the mean over lists."
    )
    yield "In short", text, summary(thresholds, lists)
    text = (
        "How often the threshold's true error per family is above 1 - precision, over all "
        "classes; in brackets, for ours, the worst class of six; then the share of predictions "
        "kept of what the truth allows. Certainty 95 %."
    )
    table = of_thresholds(thresholds).sort_values("precision", kind="stable")
    yield "Guaranteed thresholds", text, wide(table, ["precision", "rule"], threshold_cell)
    text = (
        "Mean true error of the list over the error asked for, where error times families above "
        "it is at least 5 and the truth has such a list (- where that is so in fewer than ten "
        "worlds); in brackets, in what share of worlds it is above; then the mean share of the "
        "query set listed, of what the truth allows."
    )
    table = of_lists(lists).sort_values(["query set", "error"], kind="stable")
    yield "Lists", text, wide(table, ["query set", "error", "rule"], list_cell)
    text = (
        "Share of ranges of 95 % that hold the number right of a fresh query set of "
        f"{USE_FAMILIES:,} families, and their mean width over the length of the list. "
        "`estimated`: lists of that error; `fixed`: all from that confidence on; `whole class`: "
        "all predictions of the class with that error rate, where calibration has ten "
        "families of it."
    )
    yield (
        "How many are right",
        text,
        wide(of_ranges(lists), ["query set", "rule", "error"], range_cell),
    )


def summary(thresholds: pd.DataFrame, lists: pd.DataFrame) -> list[Row]:
    """Return what issue 22 asks for, one row each, by number of families."""
    by_threshold, by_list, by_range = of_thresholds(thresholds), of_lists(lists), of_ranges(lists)
    by_list["ratio"] = (by_list["mean_error"] / by_list["error"]).where(by_list["judged"] >= 10)
    ours = by_threshold[by_threshold["rule"] == "ours"]
    like = by_range["query set"] == "like calibration"
    asked: list[tuple[str, pd.DataFrame, str, str]] = [
        ("threshold above its rate, worst precision", ours, "exceeds", "max"),
        ("the same, worst precision and class", ours, "exceeds, worst class", "max"),
        ("kept of the best, 80 %", ours[ours["precision"] == 0.8], "of_best", "max"),
        ("kept of the best, 90 %", ours[ours["precision"] == 0.9], "of_best", "max"),
    ]
    for rule in ("MAPIE", "Learn Then Test on proteins", "observed share"):
        theirs = by_threshold[by_threshold["rule"] == rule]
        asked.append((f"{rule}: above, worst precision", theirs, "exceeds", "max"))
    certain = by_list[by_list["rule"] == "certain"]
    asked.append(("certain list above its error, worst", certain, "above", "max"))
    for rule in ("estimated", "mean of 1 - confidence", "conformal selection"):
        for use in SHIFTS:
            rows = by_list[(by_list["rule"] == rule) & (by_list["query set"] == use)]
            asked.append((f"{rule}, {use}: error over asked, worst", rows, "ratio", "max"))
    for rule in ("estimated", "fixed", "whole class"):
        rows = by_range[like & (by_range["rule"] == rule)]
        asked.append((f"range holds the number right, {rule}", rows, "holds", "mean"))
    for use in ("harder", "easier"):
        rows = by_range[(by_range["query set"] == use) & (by_range["rule"] == "estimated")]
        asked.append((f"the same, estimated, {use}", rows, "holds", "mean"))
    answer: list[Row] = []
    for name, rows, column, how in asked:
        found = rows.groupby("families calibrated")[column].agg(how)
        cells = {f"{n:,} families": float(value) for n, value in found.items()}
        answer.append({"": name} | cells)
    return [row for row in answer if len(row) > 1]


MIXES = (
    "Share of ranges of 95 % that hold the number right of a class, its relatives in the query "
    "set unknown, and their mean width over its predictions; by how many families of calibration "
    "are predicted to be of it. Beside it the same if a right family that calibration has not "
    "seen counted as a mean one, though its class is more frequent in the query set."
)


def judge_mixes(n_worlds: int, page: Path | None) -> None:
    """Print and write how often ranges of classes hold under other mixes."""
    rows: list[Row] = []
    for number in range(n_worlds):
        rows += mix_rows(number)
        print(pd.DataFrame(of_mixes(rows)).to_string(), flush=True)
    if page is not None:
        title = f"Classes under other class proportions: {n_worlds} worlds"
        write_section(page, title, MIXES, of_mixes(rows))


CALLS = (
    "Lists of calls (`calls`: the rule of the package; background is *Other*) and, beside them, "
    "one list over all classes without a least confidence (`pooled`), judged among the "
    "calls alone, in samples with so much background or proportions from Dirichlet 1; "
    f"{N_CALLS_KNOWN:,} calibration families, {N_CALLS_USE:,} query families, proportions "
    "estimated and corrected for. `wrong among calls, mean`: over worlds with a list; `worlds "
    f"with a class above twice`: where a class with more than {LARGE_CLASS} listed is wrong more "
    "than twice as often as asked; `certain list held`: worlds where a list by the upper 95 % "
    "bound has no more wrong ones than asked."
)


REAL_CALLS = (
    "PhANNs' first table, ten random halves: {:,} rows of one calibrate, of the other {:,} are "
    "drawn with so much background; rows are taken as independent. Lists and columns "
    "as above; aimed at: wrong among calls at 5 and 10 % asked at most 1.1 times as asked."
)


def judge_real_calls(given: argparse.Namespace) -> None:
    """Print and write how wrong lists of calls are in the real table."""
    page, halves = given.page, range(given.first, given.first + N_HALVES)
    for method in given.methods:
        rows = list(real_call_rows(method, halves, given.known, given.query))
        print(pd.DataFrame(of_calls(rows)).to_string(), flush=True)
        if page is not None and rows:
            title = f"Lists of calls of a real table, confidence by {method}"
            text = REAL_CALLS.format(given.known, given.query)
            write_section(page, title, text, of_calls(rows))


def judge_calls(n_worlds: int, methods: list[str], jobs: int, page: Path | None) -> None:
    """Print and write how wrong lists of calls are in samples of much background."""
    kinds = [*BACKGROUND_SHARES, DIRICHLET]
    for method in methods:
        rows: list[Row] = []
        worlds = [(kind, number) for number in range(n_worlds) for kind in kinds]
        with ProcessPoolExecutor(jobs) as pool:
            works = [pool.submit(call_rows, kind, number, method) for kind, number in worlds]
            for done, work in enumerate(works, start=1):
                rows += work.result()
                if done % (5 * len(kinds)) == 0:
                    print(done, pd.DataFrame(of_calls(rows)).to_string(), flush=True)
        if page is not None:
            title = f"Lists of calls: {n_worlds} worlds of each kind, confidence by {method}"
            table = pd.DataFrame(of_calls(rows))
            table["sample"] = pd.Categorical(table["sample"], kinds)
            by = table.sort_values(["sample", "list", "asked"], kind="stable")
            write_section(page, title, CALLS, by.to_dict("records"))


def judge_part(given: argparse.Namespace) -> bool:
    """Judge what is asked for by itself, and return whether anything is."""
    if given.real_calls:
        judge_real_calls(given)
    elif given.calls is not None:
        judge_calls(given.calls, given.methods, given.jobs, given.page)
    elif given.mixes is not None:
        judge_mixes(given.mixes, given.page)
    else:
        return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--families", type=int, nargs="+", default=list(FAMILIES))
    parser.add_argument("--confidence", choices=list(CONFIDENCES), default="one line")
    parser.add_argument("--mixes", type=int, help="only so many worlds of other mixes")
    parser.add_argument("--calls", type=int, help="only so many worlds of much background")
    parser.add_argument("--real-calls", action="store_true", help="only those of the real table")
    parser.add_argument("--first", type=int, default=0, help="number of the first half")
    parser.add_argument("--known", type=int, default=N_REAL_KNOWN, help="rows that calibrate")
    parser.add_argument("--query", type=int, default=N_CALLS_USE, help="rows that are listed")
    parser.add_argument("--methods", nargs="+", default=["kernel"], help="of --calls")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    pd.set_option("display.width", 250, "display.max_rows", 500, "display.max_columns", 30)
    if judge_part(given):
        return
    thresholds: list[Row] = []
    lists: list[Row] = []
    for kind in range(N_KINDS):  # before the work is divided, so that all have them
        thresholds_truth(kind)
        for shift in SHIFTS.values():
            cells_truth(kind, shift)
    sizes = np.repeat(given.families, given.worlds).tolist()
    numbers = list(range(given.worlds)) * len(given.families)
    methods = [given.confidence] * len(sizes)
    with ProcessPoolExecutor(given.jobs) as pool:
        for of_world in pool.map(run_world, sizes, numbers, methods, chunksize=10):
            thresholds += of_world[0]
            lists += of_world[1]
    # Thresholds on the classifier's own score and the real table are the same whatever gives the
    # confidences of the worlds.
    is_first = given.confidence == next(iter(CONFIDENCES))
    for title, text, rows in sections(pd.DataFrame(thresholds), pd.DataFrame(lists)):
        named = f"{title}: {given.worlds} worlds, confidence by {given.confidence}"
        print(named, text, pd.DataFrame(rows).to_string(), sep="\n")
        is_short = title == "In short" or (is_first and title == "Guaranteed thresholds")
        if given.page is not None and is_short:
            write_section(given.page, named, text, rows)
    real = real_rows() if is_first else []
    if real:
        found = of_halves(real)
        print(found.round(4).to_string())
        if given.page is not None:
            text = (
                f"PhANNs' first table halved {N_HALVES} times by blocks of 100 rows (relatives "
                "lie together): one half calibrates (beta), lists are made of the other. `found`: "
                "in how many there is such a list; `wrong`: the share observed, with the least "
                "and the most of the halvings; `holds`: how often the range of 95 % holds the "
                "number right."
            )
            write_section(given.page, "Halves of a real table", text, found.to_dict("records"))


if __name__ == "__main__":
    main()
