"""Do the intervals of metrics cover the truth, and does a row bootstrap?

For each simulated world a calibration set is drawn and judged under fixed
confidences, whose metrics over the whole population are known exactly:
`raw` (score over scale), `true` (the probability of being right itself), and
their difference. Each metric's interval is asked whether it holds the known
value, once drawing whole clusters, once drawing rows as if there were no relatives;
over all proteins, and for the metrics compared between methods in every class too.

    python verification/metric_intervals.py --worlds 300 --out verification/out

The run can be stopped and taken up again: each world is one file.
"""

from __future__ import annotations

import argparse
import csv
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl
import numpy as np

from report import write_section

mpl.use("Agg")
from in_memory import draw_labelled
from matplotlib import pyplot as plt
from world_truth import truth

from credence.draws import encode_clusters
from credence.evaluation.judging import difference_interval, difference_scatter, metric_range
from credence.evaluation.measures import (
    IN_CELLS,
    LOSS_METRICS,
    OF_LOSSES,
    PairedDraws,
    chances,
    finish_all,
    floors,
    measure,
    place,
    placements,
    total_sums,
)
from credence.evaluation.ratios import MIN_CLUSTERS as LEAST
from credence.metrics.all_metrics import METRICS
from credence.metrics.binned import SCORE
from credence.metrics.metric import Judged
from credence.metrics.smooth import AREA
from credence.predictions import Booleans, Floats, Integers, Labelled, Strings
from credence.simulate.law import CLASS_NAMES, WorldSettings

SEED = 20261121
STREAM = 4  # the rule was chosen on worlds of another one
LEVEL = 0.95
UPPER = 1.0 - (1.0 - LEVEL) / 2.0
N_CLASSES = len(CLASS_NAMES)
MAPS = ("raw", "true")
DIFFERENCE = "raw − true"
# The area is over the bins of the score that hold proteins, so its truth is taken there.
# The kernel error depends on its bandwidth, and so on the number of proteins, even in the
# population; METRICS without a vector are all that top scores give.
MEASURED = tuple(metric for metric in METRICS if not metric.needs_vector)
PAIRED = ("nll", "brier", "ece")
BY_CLASS = ("nll", "brier", "accuracy", "ece", "ece_smooth")
EVERYONE = "all"
FIELDS = ("resample", "class", "confidences", "metric", "lower", "value", "upper", "truth")


@dataclass(frozen=True)
class Study:
    n_calibration: int
    largest_family: int
    n_draws: int

    def world(self) -> WorldSettings:
        return WorldSettings(
            n_calibration=self.n_calibration,
            largest_family=self.largest_family,
            class_proportions="sampled",
        )


def confidence_of(name: str, class_: Integers, score: Floats) -> Floats:
    return score / 10.0 if name == "raw" else truth().probability_correct(class_, score)


@cache
def population() -> tuple[Integers, Floats, Floats, Booleans]:
    """Return predicted class, score, mass and whether right, of all there can be."""
    found = truth()
    mass = np.einsum("j,jks->jks", found.prevalence, found.mass)
    classes = np.arange(N_CLASSES)
    right = mass[classes, classes]
    wrong = mass.sum(axis=0) - right
    grid_class, grid_score = np.meshgrid(
        classes, np.linspace(0.0, 10.0, mass.shape[2]), indexing="ij"
    )
    weight = np.concatenate([right.ravel(), wrong.ravel()])
    held = weight > 0
    return (
        np.concatenate([grid_class.ravel()] * 2)[held],
        np.concatenate([grid_score.ravel()] * 2)[held],
        weight[held],
        np.repeat([True, False], right.size)[held],
    )


@cache
def targets(n_calibration: int) -> dict[tuple[str, str], Floats]:
    """Return each metric over the population, by class and over all, by confidences and metric."""
    class_, score, weight, is_correct = population()
    answer = {}
    shares = np.append(np.bincount(class_, weights=weight, minlength=N_CLASSES), 1.0)
    for name in MAPS:
        judged = Judged(
            confidence=confidence_of(name, class_, score),
            is_correct=is_correct,
            weight=weight,
            score=score / 10.0,
        )
        losses = place(OF_LOSSES, judged, class_, N_CLASSES)
        assert losses is not None
        both = total_sums(losses, judged.weight)[:, :, 0, 0]
        for number, metric in enumerate(LOSS_METRICS, start=1):
            answer[name, metric.name] = both[number] / both[0]
        placed = placements(judged, class_, N_CLASSES)
        for metric in IN_CELLS:
            if metric.needs_vector or metric.family is None:
                continue
            sums = total_sums(placed[metric.family.name], judged.weight)
            size = n_calibration * shares if metric.name == "ece_kernel" else shares * 1e15
            answer[name, metric.name] = finish_all(metric, sums, size)[:, 0]
    return answer


@cache
def scores_of_the_population(name: str) -> Floats:
    """Return the population's sums in bins of the score, for the area."""
    class_, score, weight, is_correct = population()
    judged = Judged(
        confidence=confidence_of(name, class_, score),
        is_correct=is_correct,
        weight=weight,
        score=score / 10.0,
    )
    placed = placements(judged, class_, N_CLASSES, (AREA,))
    return total_sums(placed[SCORE.name], judged.weight)


def area_where_there_are_proteins(name: str, judged: Judged, class_: Integers) -> Floats:
    """Return the area of the population over the bins of the score that the sample fills."""
    placed = placements(judged, class_, N_CLASSES, (AREA,))
    filled = total_sums(placed[SCORE.name], judged.weight)[0, :-1] > 0
    everything = scores_of_the_population(name).copy()
    everything[:, :-1] *= filled
    return finish_all(AREA, everything, np.ones(N_CLASSES + 1))[:, 0]


def run_world(study: Study, world: int, out: Path) -> Path:
    path = out / f"world_{world:04d}.tsv"
    if path.exists():
        return path
    labelled = draw_labelled(study.world(), np.random.default_rng([SEED, STREAM, world]))
    rows = [
        (resample, *row)
        for resample, names in (("cluster", labelled.cluster), ("row", labelled.predictions.ids))
        for row in intervals_of(study, labelled, names)
    ]
    partial = path.with_suffix(".part")
    with partial.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter="\t")
        writer.writerow(FIELDS)
        writer.writerows(rows)
    partial.replace(path)
    return path


def intervals_of(study: Study, labelled: Labelled, names: Strings) -> list[tuple[object, ...]]:
    """Return class, confidences, metric, lower end, value, upper end and truth of each."""
    class_, score = labelled.predictions.predicted_class, labelled.predictions.top_score
    assert score is not None
    known = targets(study.n_calibration)
    unit, key = encode_clusters(names)
    drawing = PairedDraws(unit=unit, key=key, n_draws=study.n_draws)
    parts = drawing.parts()
    chance = chances(key, study.n_draws // 2)[unit]
    n_units = [len(np.unique(unit[class_ == number])) for number in range(N_CLASSES)]
    blocks = [(-1, EVERYONE)] + [
        (number, CLASS_NAMES[number]) for number in range(N_CLASSES) if n_units[number] >= LEAST
    ]
    measured, floor, rows = {}, {}, []
    none = np.zeros(N_CLASSES + 1)
    for name in MAPS:
        judged = Judged(
            confidence=confidence_of(name, class_, score),
            is_correct=labelled.is_correct,
            weight=labelled.weight,
            score=score / 10.0,
        )
        placed = placements(judged, class_, N_CLASSES)
        own = measure(judged, class_, N_CLASSES, placed, drawing, parts)
        measured[name] = own
        simulated = floors(judged, class_, N_CLASSES, placed, chance)
        floor[name] = {
            metric: np.quantile(values, UPPER, axis=1) for metric, values in simulated.items()
        }
        truths = known | {(name, AREA.name): area_where_there_are_proteins(name, judged, class_)}
        for metric in MEASURED:
            for number, block in blocks:
                if block != EVERYONE and metric.name not in BY_CLASS:
                    continue
                noise = float(floor[name].get(metric.name, none)[number])
                low, high = metric_range(metric, own, number, LEVEL, noise)
                value, target = own.value[metric.name][number], truths[name, metric.name][number]
                rows.append((block, name, metric.name, low, float(value), high, float(target)))
    raw, true = (measured[name] for name in MAPS)
    for metric in MEASURED:
        if metric.name not in PAIRED:
            continue
        by = difference_scatter(metric, raw, true)
        for number, block in blocks:
            chances_of = tuple(float(floor[n].get(metric.name, none)[number]) for n in MAPS)
            low, high = difference_interval(metric, raw, true, number, LEVEL, by, chances_of)
            value = raw.value[metric.name][number] - true.value[metric.name][number]
            target = known["raw", metric.name][number] - known["true", metric.name][number]
            rows.append((block, DIFFERENCE, metric.name, low, float(value), high, float(target)))
    return rows


def summarise(paths: list[Path]) -> list[dict[str, object]]:
    """Return coverage, by confidences and metric, over all and over the classes together."""
    found: dict[tuple[str, str, str], dict[str, list[tuple[str, tuple[float, ...]]]]] = {}
    for path in paths:
        with path.open(encoding="utf-8") as handle:
            for row in csv.DictReader(handle, delimiter="\t"):
                entry = (row["class"], tuple(float(row[name]) for name in FIELDS[4:]))
                block = EVERYONE if row["class"] == EVERYONE else "each class"
                key = (block, row["confidences"], row["metric"])
                found.setdefault(key, {}).setdefault(row["resample"], []).append(entry)
    table = []
    for (block, confidences, metric), by in sorted(found.items(), key=lambda item: item[0][0]):
        line: dict[str, object] = {"of": block, "confidences": confidences, "metric": metric}
        for resample in ("cluster", "row"):
            low, value, high, target = np.array([entry for _, entry in by[resample]]).T
            known = ~np.isnan(low)
            held = (low <= target) & (target <= high)
            of = np.array([name for name, _ in by[resample]])
            line["intervals"] = int(known.sum())
            line["truth"] = float(target[known].mean())
            line["mean value"] = float(value[known].mean())
            line[f"{resample} covers"] = float(held[known].mean())
            if resample == "cluster":
                line["worst class"] = min(
                    float(held[known & (of == name)].mean()) for name in np.unique(of)
                )
                line["too high"] = float((target < low)[known].mean())
                line["too low"] = float((target > high)[known].mean())
            line[f"{resample} width"] = float(np.median((high - low)[known]))
        table.append(line)
    return table


def plot(table: list[dict[str, object]], path: Path) -> None:
    labels = [f"{row['metric']}, {row['confidences']}, {row['of']}" for row in table]
    figure, axis = plt.subplots(figsize=(8, 0.24 * len(table) + 1.2))
    axis.axvspan(LEVEL - 0.03, LEVEL + 0.03, color="0.9")
    axis.axvline(LEVEL, color="0.5", linewidth=0.8)
    for resample, marker, colour in (("cluster", "o", "C0"), ("row", "x", "C3")):
        values = [float(str(row[f"{resample} covers"])) for row in table]
        axis.plot(values, range(len(table)), marker, color=colour, label=f"draws of {resample}s")
    axis.set_yticks(range(len(table)), labels, fontsize=7)
    axis.invert_yaxis()
    axis.set_xlim(-0.02, 1.02)
    axis.set_xlabel(
        "share of 95 % intervals that hold the known value; grey: 95 % ± 3 percentage points"
    )
    axis.legend(loc="lower left")
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("verification/out"))
    parser.add_argument("--proteins", type=int, default=4_680)
    parser.add_argument("--largest-family", type=int, default=300)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--document", type=Path, help="also write the table into this page")
    given = parser.parse_args()
    study = Study(given.proteins, given.largest_family, given.draws)
    out = given.out / f"metric_intervals_{given.proteins}_{given.largest_family}_{given.draws}"
    out.mkdir(parents=True, exist_ok=True)
    mpl.rcParams["svg.hashsalt"] = "credence"
    table = summarise([run_world(study, world, out) for world in range(given.worlds)])
    plot(table, out / "metric_intervals.svg")
    for row in table:
        print("\t".join(f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values()))
    if given.document is not None:
        figure = given.document.with_suffix(".svg")
        plot(table, figure)
        text = (
            f"![Coverage by clusters and by rows]({figure.name})\n\n"
            f"    python verification/metric_intervals.py --worlds {given.worlds} "
            f"--draws {given.draws} --document {given.document}\n\n"
            f"{given.worlds} worlds of {given.proteins:,} proteins in families of up to "
            f"{given.largest_family}, {given.draws} draws, 95 % intervals. Confidences: `raw` is "
            "score over scale, `true` the probability of being right. *Too high*: the interval "
            "lies above the truth. Widths are medians. The standard error of a coverage of 95 % "
            f"is {100 * np.sqrt(LEVEL * (1 - LEVEL) / given.worlds):.1f} percentage points "
            "over all; classes of one world share families.\n\n"
            f"{verdict(table)}\n\n"
            "Truths are of the population. That of the area is over the bins of the score that "
            "the sample fills, and that of the kernel error has the bandwidth of as many "
            "proteins. The lower end of a calibration error is 0 whenever chance can explain the "
            "value. Such an interval can miss on one side only, so that those of errors hold the "
            "truth more often than 95 %; with fewer proteins chance can explain more."
        )
        write_section(given.document, "Intervals of metrics", text, table)


def verdict(table: list[dict[str, object]]) -> str:
    """Return in a sentence the range of the coverages of each kind of metric."""
    errors = {metric.name for metric in MEASURED if metric.is_error}
    kinds = {
        "losses, shares and parts of the Brier score": lambda row: row["metric"] not in errors,
        "calibration errors of `raw`, and differences": lambda row: (
            row["metric"] in errors and row["confidences"] != "true"
        ),
        "calibration errors of `true`": lambda row: (
            row["metric"] in errors and row["confidences"] == "true"
        ),
    }
    parts = []
    for block in (EVERYONE, "each class"):
        for kind, chosen in kinds.items():
            rows = [row for row in table if row["of"] == block and chosen(row)]
            ranges = []
            for resample in ("cluster", "row"):
                values = [100 * float(str(row[f"{resample} covers"])) for row in rows]
                ranges.append(f"{min(values):.0f} to {max(values):.0f} %")
            of = "over all" if block == EVERYONE else "in classes"
            parts.append(f"- {kind}, {of}: {ranges[0]} by clusters, {ranges[1]} by rows.")
    return "\n".join(["Coverage, from the least to the greatest of the rows below:", "", *parts])


if __name__ == "__main__":
    main()
