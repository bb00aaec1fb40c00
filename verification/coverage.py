"""Do the intervals cover? Every method's, over hundreds of simulated worlds.

For each world a calibration set is drawn, every method that gives intervals is
fitted, and at the scores of each class's positives it is asked whether the
interval holds (1) what the method itself would say had it seen the whole
population, its large-sample limit, and (2) the true probability of being right.
Shares over the positives are averaged over worlds, for classes with at least
40 clusters in that world.

    python verification/coverage.py --worlds 400 --out verification/out --jobs 2

The run can be stopped and taken up again: each world is one file.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from in_memory import draw_labelled
from matplotlib import pyplot as plt
from world_truth import truth

from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import Specification, parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.predictions import Floats, Labelled, Predictions, label
from credence.simulate.law import CLASS_NAMES, WorldSettings

SEED = 20261121
LEAST_CLUSTERS = 40
LIMIT_ROWS = 200_000  # of the sample that stands for the population, for vector methods
POPULATION = 1e6  # weight of the whole population, so that no prior is felt
# MACEst asks where proteins lie, and these worlds have no sequences.
INTERVALS = [method.name for method in METHODS if method.needs is not Need.PLACE]
FIELDS = ("method", "class", "n_clusters", "limit", "truth", "below", "above", "width", "seconds")


@dataclass(frozen=True)
class Study:
    """What is drawn and fitted.

    Parameters
    ----------
    n_calibration : int
        Proteins per world.
    largest_family : int
        Greatest family size.
    methods : tuple of str
        Specifications.
    options : FitOptions
        Level and draws of the intervals.
    """

    n_calibration: int
    largest_family: int
    methods: tuple[str, ...]
    options: FitOptions

    def world(self) -> WorldSettings:
        return WorldSettings(
            n_calibration=self.n_calibration,
            largest_family=self.largest_family,
            class_proportions="sampled",
        )


def stage_of(text: str) -> Specification:
    return parse_method(text, "--methods")


def needs_vector(text: str) -> bool:
    return stage_of(text).needs is Need.VECTOR


def of_top_score(labelled: Labelled) -> Labelled:
    """Return the same proteins without the vectors.

    The truth at hand is the probability of being right given class and top
    score; a method that saw the vector would aim at another one. So `auto` is
    judged by the mean of its members that see no more than that.
    """
    return replace(
        labelled, predictions=replace(labelled.predictions, scores=None, network_scores=None)
    )


@cache
def population() -> Labelled:
    """Return the whole population as weighted rows of class and top score."""
    found = truth()
    mass = np.einsum("j,jks->jks", found.prevalence, found.mass)
    classes = np.arange(mass.shape[0])
    right = mass[classes, classes]
    wrong = mass.sum(axis=0) - right
    scores = np.linspace(0.0, 10.0, mass.shape[2])
    other = (classes + 1) % len(classes)
    grid_class, grid_score = np.meshgrid(classes, scores, indexing="ij")
    weight = np.concatenate([right.ravel(), wrong.ravel()]) * POPULATION
    predicted = np.concatenate([grid_class.ravel()] * 2)
    held = weight > 0
    ids = np.array([f"mass_{row}" for row in range(int(held.sum()))], dtype=object)
    predictions = Predictions(
        ids=ids,
        class_names=CLASS_NAMES,
        scale=10.0,
        resolution=0.01,
        predicted_class=predicted[held],
        top_score=np.concatenate([grid_score.ravel()] * 2)[held],
    )
    true_class = np.concatenate([grid_class.ravel(), other[grid_class.ravel()]])
    return label(predictions, true_class[held], weight[held])


@cache
def big_sample(study: Study) -> Labelled:
    """Return a sample that stands for the population where vectors are needed."""
    settings = WorldSettings(
        n_calibration=LIMIT_ROWS, family_size="single", class_proportions="sampled"
    )
    return draw_labelled(settings, np.random.default_rng([SEED, 0]))


@cache
def limit_of(study: Study, text: str):  # type: ignore[no-untyped-def]
    stage = stage_of(text)
    sample = big_sample(study) if needs_vector(text) else population()
    return stage.build(FitOptions(n_draws=0)).fit(sample)


def run_world(study: Study, world: int, out: Path) -> Path:
    """Fit every method on one world and write what its intervals hold."""
    path = out / f"world_{world:04d}.tsv"
    if path.exists():
        return path
    labelled = draw_labelled(study.world(), np.random.default_rng([SEED, 1, world]))
    predictions = labelled.predictions
    predicted = predictions.predicted_class
    assert predictions.top_score is not None
    true_value = truth().probability_correct(predicted, predictions.top_score)
    rows = []
    for text in study.methods:
        seen = labelled if needs_vector(text) else of_top_score(labelled)
        began = time.perf_counter()
        calibration = stage_of(text).build(study.options).fit(seen)
        confidence = calibration.confidence(seen.predictions)
        seconds = time.perf_counter() - began
        aims_at_truth = not needs_vector(text)
        limit = np.full(len(predicted), np.nan)
        # `auto` weighs its members by held-out clusters, and a population has none to hold out.
        if not text.startswith("auto"):
            limit = limit_of(study, text).confidence(seen.predictions).value
        for class_, name in enumerate(CLASS_NAMES):
            own = predicted == class_
            lower, upper = confidence.lower[own], confidence.upper[own]
            if not np.isfinite(lower).any():  # never predicted, or a method without intervals
                continue
            rows.append(
                (
                    text,
                    name,
                    len(set(labelled.cluster[own])),
                    held(lower, upper, limit[own]) if np.isfinite(limit).any() else np.nan,
                    *truth_held(lower, upper, true_value[own], aims_at_truth),
                    float((upper - lower).mean()),
                    seconds,
                )
            )
    partial = path.with_suffix(".part")
    with partial.open("w", newline="") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(FIELDS)
        writer.writerows(rows)
    partial.replace(path)
    return path


def held(lower: Floats, upper: Floats, value: Floats) -> float:
    return float(((lower <= value) & (value <= upper)).mean())


def truth_held(
    lower: Floats, upper: Floats, value: Floats, aims_at_truth: bool
) -> tuple[float, float, float]:
    """Return the shares of intervals that hold the truth, lie above and below it."""
    if not aims_at_truth:
        return np.nan, np.nan, np.nan
    return held(lower, upper, value), float((value < lower).mean()), float((value > upper).mean())


def summarise(paths: list[Path], out: Path, level: float) -> list[dict[str, object]]:
    """Return coverage per method and class, and write it with a plot."""
    found: dict[tuple[str, str], list[list[float]]] = {}
    for path in paths:
        of_world: dict[str, list[list[float]]] = {}
        with path.open() as handle:
            for row in csv.DictReader(handle, delimiter="\t"):
                if int(row["n_clusters"]) < LEAST_CLUSTERS:
                    continue
                values = [float(row[name]) for name in FIELDS[3:]]
                of_world.setdefault(row["method"], []).append(values)
                found.setdefault((row["method"], row["class"]), []).append(values)
        for method, rows in of_world.items():
            # Classes of one world share clusters and parameters: a world counts once.
            mean = np.array(rows).mean(axis=0).tolist()
            found.setdefault((method, "all classes"), []).append(mean)
    table: list[dict[str, object]] = []
    for (method, name), rows in found.items():
        values = np.array(rows)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(rows)) if len(rows) > 1 else values[0]
        table.append(
            {
                "method": method,
                "class": name,
                "n": len(rows),
                "limit": round(values[:, 0].mean(), 4),
                "limit_se": round(error[0], 4),
                "truth": round(values[:, 1].mean(), 4),
                "truth_se": round(error[1], 4),
                "truth_below": round(values[:, 2].mean(), 4),
                "truth_above": round(values[:, 3].mean(), 4),
                "width": round(values[:, 4].mean(), 4),
                "seconds": round(values[:, 5].mean(), 3),
            }
        )
    with (out / "coverage.tsv").open("w", newline="") as handle:
        writer = csv.DictWriter(handle, fieldnames=list(table[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(table)
    plot(table, out / "coverage.svg", level)
    return table


def plot(table: list[dict[str, object]], path: Path, level: float) -> None:
    methods = list(dict.fromkeys(str(row["method"]) for row in table))
    figure, axes = plt.subplots(1, 2, figsize=(11, 0.35 * len(methods) + 2), sharey=True)
    for axis, target in zip(axes, ("limit", "truth"), strict=True):
        axis.axvspan(level - 0.03, level + 0.03, color="0.9")
        axis.axvline(level, color="0.5", linewidth=0.8)
        for row in table:
            place = methods.index(str(row["method"]))
            is_all = row["class"] == "all classes"
            axis.plot(
                float(str(row[target])),
                place,
                marker="D" if is_all else "o",
                color="C3" if is_all else "C0",
                alpha=1.0 if is_all else 0.4,
                linestyle="none",
            )
        axis.set_title(f"share of intervals that hold the {target}")
        axis.set_yticks(range(len(methods)), methods)
    figure.text(
        0.01, 0.01, "red: all classes; blue: each class; grey: nominal ± 3 percentage points"
    )
    figure.tight_layout()
    figure.savefig(path)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--out", type=Path, default=Path("verification/out"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--proteins", type=int, default=4_680)
    parser.add_argument("--largest-family", type=int, default=300)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--methods", nargs="+", default=INTERVALS)
    given = parser.parse_args()
    options = FitOptions(n_draws=given.draws)
    study = Study(given.proteins, given.largest_family, tuple(given.methods), options)
    out = given.out / f"coverage_{given.proteins}_{given.largest_family}"
    out.mkdir(parents=True, exist_ok=True)
    worlds = range(given.worlds)
    with ProcessPoolExecutor(given.jobs) as pool:
        paths = list(pool.map(run_world, [study] * len(worlds), worlds, [out] * len(worlds)))
    for row in summarise(paths, out, options.level):
        print("\t".join(str(value) for value in row.values()))


if __name__ == "__main__":
    main()
