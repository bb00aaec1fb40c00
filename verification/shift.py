"""Is the class proportions of a query set right, and are corrected confidences better?

For each world a calibration set is drawn, and a query set of other class proportions:
Dirichlet draws from near the calibration population's own to anywhere. Every
second world also has a query set without shift, every fifth one of proteins of
another kind, and one of families. It is asked how many intervals hold the true
shares, how the corrected and the uncorrected confidences of the query set's
proteins, whose truth is known, compare in NLL, and how often the tests reject.

    python verification/shift.py --worlds 1000 --out verification/out --jobs 2

The run can be stopped and taken up again: each world is one file. With --page
the numbers are written as docs/verification-shift.md, with its plots.

With --intervals the intervals of corrected confidences are judged in so many worlds of eight
kinds: how often they hold P(right | predicted class, score), and how wide they are (decision
0042):

    python verification/shift.py --intervals 80
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")
from in_memory import draw_labelled
from matplotlib import pyplot as plt
from world_truth import truth

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.diagnostics import LARGE_GAP, SMALL_P, diagnose
from credence.composition.estimate import TEST_LEVEL as TEST_LEVEL
from credence.composition.estimate import compare_predicted, estimate_composition
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.draws import keys_of
from credence.predictions import Floats, Labelled, from_scores, label
from credence.simulate.law import CLASS_NAMES, QUERY_PREVALENCE, WorldSettings

SEED = 20261122
EVERY_STILL = 2  # one world in so many also has a query set without shift
EVERY_OTHER = 5  # one in so many has proteins that are out of distribution, and families
LARGE = 0.2  # total variation
CLIP = 1e-15  # keeps a confidence of 0 or 1 finite
NOMINAL = 0.95
ALLOWED = 0.002  # loss of NLL without shift
STEPS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.6, 1.0)  # of total variation, for tables
BLUNT = 0.7  # power that scores out of distribution are raised to, and divided by their sum
# What shares are drawn from: total of a Dirichlet around the population's own
# composition, and around even shares (one for each class: uniformly from all).
AROUND = (300.0, 50.0, 10.0)
EVEN = (3.0, 1.0)
# Of --intervals
INTERVALS_SEED, INTERVALS_KNOWN, INTERVALS_USE = 77, 1_500, 600
SHIFT_KINDS = (
    *("demo", "far", "anything", "90 % background", "Minor capsid grew by 10 %"),
    *("Collar grew by 15 %", "none", "near calibration"),
)


@dataclass(frozen=True)
class Study:
    """What is drawn and estimated."""

    n_calibration: int
    n_query: int
    estimator: str
    method: str
    n_draws: int


def drawn_share(world: int, rng: np.random.Generator) -> Floats:
    """Return a composition; the worlds take turns in how far it may be."""
    population = truth().prevalence
    turn = world % (len(AROUND) + len(EVEN))
    if turn < len(AROUND):
        return rng.dirichlet(AROUND[turn] * population)
    return rng.dirichlet(np.full(len(population), EVEN[turn - len(AROUND)]))


def run_world(study: Study, world: int, out: Path) -> Path:
    """Estimate one world's compositions and write what came of them."""
    path = out / f"world_{world:04d}.tsv"
    if path.exists():
        return path
    settings = WorldSettings(n_calibration=study.n_calibration, class_proportions="sampled")
    single = WorldSettings(
        n_calibration=study.n_query, class_proportions="sampled", family_size="single"
    )
    families = WorldSettings(n_calibration=study.n_query, class_proportions="sampled")
    rng = np.random.default_rng([SEED, world])
    calibration = draw_labelled(settings, rng)
    sample = calibration_sample(calibration, True)
    plain = parse_method(study.method, "--method").build(FitOptions(n_draws=0)).fit(calibration)
    share = drawn_share(world, rng)
    rows = measure(study, plain, sample, draw_labelled(single, rng, share), "shift", share)
    if world % EVERY_STILL == 0:
        still = draw_labelled(single, rng)
        rows += measure(study, plain, sample, still, "none", truth().prevalence)
    if world % EVERY_OTHER == 0:
        other = blunted(draw_labelled(single, rng, share))
        rows += measure(study, plain, sample, other, "another kind", share)
        use = draw_labelled(families, rng)
        for kind, key in (("families", None), ("named families", keys_of(use.cluster))):
            seen = use_sample(use.predictions, None, genome=key)
            p_value = compare_predicted(sample, seen).p_value
            rows.append({**dict.fromkeys(rows[0], np.nan), "kind": kind, "p_no_shift": p_value})
            rows[-1]["class"] = CLASS_NAMES[0]
    partial = path.with_suffix(".part")
    with partial.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, fieldnames=list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)
    return path


def grown(class_: int, part: float) -> Floats:
    """Return the population's proportions with so large a part more of one class."""
    share = truth().prevalence * (1.0 - part)
    share[class_] += part
    return share


def share_of_kind(kind: str, rng: np.random.Generator) -> Floats:
    """Return the class proportions of a query set of that kind."""
    population = truth().prevalence
    if kind == "demo":
        return np.array(QUERY_PREVALENCE) / np.sum(QUERY_PREVALENCE)
    if kind == "anything":
        return rng.dirichlet(np.ones(len(population)))
    if kind == "90 % background":
        share = np.append(population[:-1], 0.0) * (0.1 / population[:-1].sum())
        share[-1] = 0.9
        return share
    if kind == "Minor capsid grew by 10 %":
        return grown(CLASS_NAMES.index("Minor capsid"), 0.1)
    if kind == "Collar grew by 15 %":
        return grown(CLASS_NAMES.index("Collar"), 0.15)
    totals = {"near calibration": 50.0, "far": 10.0}
    return rng.dirichlet(totals[kind] * population) if kind in totals else population


def interval_rows(number: int, method: str) -> pd.DataFrame:
    """Return whether corrected confidences of a world hold the truth, a row for each protein."""
    kind = SHIFT_KINDS[number % len(SHIFT_KINDS)]
    rng = np.random.default_rng([INTERVALS_SEED, number])
    settings = WorldSettings(n_calibration=INTERVALS_KNOWN, class_proportions="sampled")
    known = draw_labelled(settings, rng)
    share = share_of_kind(kind, rng)
    single = WorldSettings(
        n_calibration=INTERVALS_USE, class_proportions="sampled", family_size="single"
    )
    use = draw_labelled(single, rng, share)
    predictions = use.predictions
    sample = calibration_sample(known, True)
    options = FitOptions(n_draws=100)
    plain = parse_method(method, "--method").build(options).fit(known).confidence(predictions)
    summed = use_sample(predictions, sample.model)
    estimator = ESTIMATORS_BY_NAME["em_matched"]
    composition = estimate_composition(sample, summed, estimator, options)
    by_score = sample.without_vectors  # the truth that is known is that of class and score
    correction = correction_for(by_score, composition, options.level)
    corrected = correction.corrected(plain, predictions, by_score)
    class_ = predictions.predicted_class
    right = truth().probability_correct(class_, predictions.top_score, share)
    families = np.unique(np.stack([sample.predicted_class, sample.unit]), axis=1)[0]
    table = pd.DataFrame(
        {
            "kind": kind,
            "class": np.array(CLASS_NAMES)[class_],
            "families": np.bincount(families, minlength=len(CLASS_NAMES))[class_],
            "held": (corrected.lower <= right) & (right <= corrected.upper),
            "width": corrected.upper - corrected.lower,
            "width, not corrected": plain.upper - plain.lower,
        }
    )
    return table[~np.isnan(right) & ~np.isnan(corrected.value)]


def judge_intervals(n_worlds: int, method: str) -> None:
    """Print how often corrected confidences hold the truth, and how wide they are."""
    table = pd.concat([interval_rows(number, method) for number in range(n_worlds)])
    limits = [0.0, 10.0, 20.0, 50.0, np.inf]
    names = ["up to 10", "up to 20", "up to 50", "more"]
    table["families predicted"] = pd.cut(table["families"], limits, labels=names)
    for column in ("families predicted", "class", "kind"):
        groups = table.groupby(column, observed=True)
        widths = groups[["width", "width, not corrected"]].median()
        print(widths.assign(held=groups["held"].mean(), n=groups.size()).round(3).to_string())


def blunted(use: Labelled) -> Labelled:
    """Return the same proteins with scores out of distribution: nearer to even."""
    predictions = use.predictions
    scores = predictions.scores**BLUNT
    scores = np.round(10.0 * scores / scores.sum(axis=1, keepdims=True), 2)
    moved = from_scores(predictions.ids, predictions.class_names, scores, 10.0, 0.01)
    return label(moved, use.true_class)


def measure(study, plain, sample, use, kind, share):  # type: ignore[no-untyped-def]
    began = time.process_time()
    options = FitOptions(n_draws=study.n_draws)
    summed = use_sample(use.predictions, sample.model)
    found = estimate_composition(sample, summed, ESTIMATORS_BY_NAME[study.estimator], options)
    seen = diagnose(sample, summed, found, options)
    seconds = time.process_time() - began
    before = plain.confidence(use.predictions).value
    correction, asked = correction_for(sample, found, options.level), use.predictions
    after = correction.corrected(plain.confidence(asked), asked, sample).value
    known = ~np.isnan(before) & ~np.isnan(after)
    return [
        {
            "kind": kind,
            "distance": float(np.abs(share - truth().prevalence).sum() / 2.0),
            "class": name,
            "true": share[class_],
            "share": found.share[class_],
            "lower": found.lower[class_],
            "upper": found.upper[class_],
            "applied": found.applied_proportion[class_],
            "part_applied": found.part_applied,
            "n_clusters": found.class_number[class_],
            "nll_before": nll(before[known], use.is_correct[known]),
            "nll_after": nll(after[known], use.is_correct[known]),
            "p_no_shift": seen.p_no_shift,
            "gap": seen.gap,
            "p_label_shift": seen.p_label_shift,
            "seconds": seconds,
        }
        for class_, name in enumerate(CLASS_NAMES)
    ]


def nll(confidence: Floats, is_correct: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    likely = np.where(is_correct, confidence, 1.0 - confidence)
    return float(-np.log(np.maximum(likely, CLIP)).mean())


def read(paths: list[Path]) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    rows: list[dict[str, str]] = []
    for number, path in enumerate(paths):
        with path.open() as handle:
            rows += [
                {**row, "world": str(number)} for row in csv.DictReader(handle, delimiter="\t")
            ]
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        columns[name] = np.array(values if name in ("kind", "class") else list(map(float, values)))
    return columns


def summarise(study: Study, paths: list[Path]) -> list[str]:
    """Return the lines of the page."""
    found = read(paths)
    held = (found["lower"] <= found["true"]) & (found["true"] <= found["upper"])
    first = found["class"] == CLASS_NAMES[0]
    gain = found["nll_before"] - found["nll_after"]
    shift, none, other, families, named = (
        found["kind"] == kind
        for kind in ("shift", "none", "another kind", "families", "named families")
    )
    large = first & shift & (found["distance"] > LARGE)
    still = first & none
    rejects = found["p_no_shift"] <= TEST_LEVEL
    alarm = found["p_label_shift"] <= TEST_LEVEL
    stated = (found["p_label_shift"] < SMALL_P) & (found["gap"] > LARGE_GAP)
    lines = [
        "# Label shift on worlds whose truth is known",
        "",
        "Written by `python verification/shift.py --page docs`. "
        f"{int((first & shift).sum())} shifts of the demo world (Dirichlet draws in five "
        f"strengths, fixed seeds) and {int(still.sum())} query sets without shift; "
        f"{study.n_calibration:,} calibration proteins in families and {study.n_query:,} in "
        f"the query set, estimator `{study.estimator}`, method `{study.method}`, "
        f"{study.n_draws} draws, nominal 95 %. Simulated; it says nothing about nature.",
        "",
        "| question | wanted | found |",
        "|---|---|---|",
        f"| intervals that hold the true share, under shift | 92–98 % | {part(held[shift])} |",
        f"| the same, without shift | 92–98 % | {part(held[none])} |",
        "| corrected NLL below uncorrected, total variation above 0.2 | ≥ 99 % | "
        f"{part(gain[large] > 0)} of {int(large.sum())} |",
        f"| corrected NLL at most {ALLOWED} above, without shift | ≥ 99 % | "
        f"{part(gain[still] >= -ALLOWED)} of {int(still.sum())} |",
        f"| test of no shift rejects at 5 %, without shift | 5 % | {part(rejects[still])} |",
        f"| the same, total variation above 0.2 | much | {part(rejects[large])} |",
        f"| test that label shift explains the scores rejects at 5 %, where it does | 5 % | "
        f"{part(alarm[first & (shift | none)])} |",
        f"| the same, scores out of distribution | much | {part(alarm[first & other])} |",
        "| the page says that proteins are out of distribution, where they are not | seldom | "
        f"{part(stated[first & (shift | none)])} |",
        f"| the same, where they are | much | {part(stated[first & other])} |",
        "| test of no shift rejects at 5 %, query set of families that nothing names | – | "
        f"{part(rejects[families])} |",
        "| the same, families named as a query set's genomes are | at most 5 % | "
        f"{part(rejects[named])} |",
        "",
        f"NLL falls by {gain[large].mean():.4f} on average under shifts above 0.2 (least gain "
        f"{gain[large].min():.4f}) and changes by {-gain[still].mean():+.5f} without shift "
        f"(greatest loss {-gain[still].min():.4f}). Root mean square error of a share: "
        f"{root(found, shift):.4f} under shift, {root(found, none):.4f} without. "
        f"{found['seconds'][first & shift].mean():.2f} s of processor a query set. Scores of "
        f"another kind are the same raised to the power {BLUNT} and divided by their sum.",
        "",
        "## By strength of the shift",
        "",
        "| total variation | query sets | held | corrected better | mean gain of NLL | "
        "least gain | part applied | no shift rejected |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for low, high in pairwise(STEPS):
        rows = shift & (found["distance"] > low) & (found["distance"] <= high)
        one = rows & first
        if one.any():
            cells = (
                f"{low:g}–{high:g}", f"{int(one.sum())}", part(held[rows]), part(gain[one] > 0),
                f"{gain[one].mean():.4f}", f"{gain[one].min():.4f}",
                f"{found['part_applied'][one].mean():.2f}", part(rejects[one]),
            )  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "![Coverage by class and by strength, and gain by strength](verification-shift.svg)",
        "",
    ]
    return lines


def root(found: dict[str, np.ndarray], rows: np.ndarray) -> float:  # type: ignore[type-arg]
    return float(np.sqrt(((found["share"] - found["true"])[rows] ** 2).mean()))


def part(values: np.ndarray) -> str:  # type: ignore[type-arg]
    return f"{100 * values.mean():.1f} %"


def plot(paths: list[Path], to: Path) -> None:
    mpl.rcParams["svg.hashsalt"] = "credence"
    found = read(paths)
    held = (found["lower"] <= found["true"]) & (found["true"] <= found["upper"])
    shift, none = found["kind"] == "shift", found["kind"] == "none"
    figure, axes = plt.subplots(1, 3, figsize=(14, 4.2))
    at = np.arange(len(CLASS_NAMES))
    for rows, colour, name, off in ((shift, "C0", "shift", 0.12), (none, "C1", "no shift", -0.12)):
        shares = [held[rows & (found["class"] == one)].mean() for one in CLASS_NAMES]
        n_each = rows.sum() / len(CLASS_NAMES)
        error = 1.96 * np.sqrt(NOMINAL * (1 - NOMINAL) / n_each)
        axes[0].errorbar(shares, at + off, xerr=error, fmt="o", color=colour, label=name)
    axes[0].axvspan(0.92, 0.98, color="0.92", zorder=0)
    axes[0].set_yticks(at, CLASS_NAMES)
    axes[0].set_xlabel("share of intervals that hold the truth")
    axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    middles, shares, errors = [], [], []
    for low, high in pairwise(STEPS):
        rows = shift & (found["distance"] > low) & (found["distance"] <= high)
        if rows.any():
            middles.append((low + high) / 2)
            shares.append(held[rows].mean())
            errors.append(1.96 * np.sqrt(NOMINAL * (1 - NOMINAL) / rows.sum()))
    axes[1].axhspan(0.92, 0.98, color="0.92", zorder=0)
    axes[1].errorbar(middles, shares, yerr=errors, fmt="o")
    axes[1].set_ylim(0.85, 1.0)
    axes[1].set_xlim(0.0, 1.0)
    axes[1].set_xlabel("total variation of the shift")
    axes[1].set_ylabel("share of intervals that hold the truth")
    first = found["class"] == CLASS_NAMES[0]
    gain = found["nll_before"] - found["nll_after"]
    for rows, colour, name in ((shift, "C0", "shift"), (none, "C1", "no shift")):
        one = first & rows
        axes[2].plot(found["distance"][one], gain[one], ".", ms=4, color=colour, label=name)
    axes[2].axhline(0.0, color="0.5", linewidth=0.8)
    axes[2].axvline(LARGE, color="0.5", linewidth=0.8, linestyle=":")
    axes[2].set_yscale("symlog", linthresh=ALLOWED)
    axes[2].set_xlabel("total variation of the shift")
    axes[2].set_ylabel(f"NLL won by correcting (linear to ±{ALLOWED})")
    axes[2].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    figure.tight_layout()
    figure.savefig(to, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=Path("verification/out"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--proteins", type=int, default=4_680)
    parser.add_argument("--use", type=int, default=3_000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--estimator", default="em_matched")
    parser.add_argument("--method", default="kernel")
    parser.add_argument("--finished", action="store_true", help="use what is there, run nothing")
    parser.add_argument("--page", type=Path, help="where to write the page, e.g. docs")
    parser.add_argument("--intervals", type=int, help="only so many worlds of eight kinds")
    given = parser.parse_args()
    if given.intervals is not None:
        judge_intervals(given.intervals, given.method)
        return
    study = Study(given.proteins, given.use, given.estimator, given.method, given.draws)
    out = given.out / f"shift_{given.estimator}_{given.proteins}_{given.use}"
    out.mkdir(parents=True, exist_ok=True)
    if given.finished:
        paths = sorted(out.glob("world_*.tsv"))
    else:
        worlds = range(given.worlds)
        with ProcessPoolExecutor(given.jobs) as pool:
            paths = list(pool.map(run_world, [study] * len(worlds), worlds, [out] * len(worlds)))
    lines = summarise(study, paths)
    if given.page is not None:
        (given.page / "verification-shift.md").write_text("\n".join(lines), encoding="utf-8")
        plot(paths, given.page / "verification-shift.svg")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
