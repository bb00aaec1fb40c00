"""Is the composition of a use-set right, and are corrected confidences better?

For each world a calibration set is drawn, and a use-set of a composition drawn
uniformly from all (Dirichlet of ones); every fourth world also has a use-set of
the calibration population's composition. It is asked how many intervals hold
the true shares, and how the corrected and the uncorrected confidences of the
use-set's proteins, whose truth is known, compare in NLL.

    python verification/shift.py --worlds 1000 --out verification/out --jobs 2

The run can be stopped and taken up again: each world is one file. With --page
the numbers are written as docs/verification-shift.md, with its plots.
"""

from __future__ import annotations

import argparse
import csv
import os
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib as mpl
import numpy as np

mpl.use("Agg")
from matplotlib import pyplot as plt

from credence.calibrators.protocol import Calibrator, FitOptions
from credence.calibrators.spec import parse_method
from credence.predictions import Floats, Labelled
from credence.shift.adjusted import shifted
from credence.shift.composition import estimate_composition
from credence.shift.diagnostics import diagnose
from credence.shift.registry import BY_NAME
from credence.shift.sides import calibration_side, use_side
from credence.simulate import CLASS_NAMES, WorldSettings, draw_labelled, truth

SEED = 20261122
EVERY = 4  # one world in so many also has a use-set without shift
LARGE = 0.2  # total variation
CLIP = 1e-15  # METHODS section 3
ALLOWED = 0.002  # loss of NLL without shift


@dataclass(frozen=True)
class Study:
    """What is drawn and estimated."""

    n_calibration: int
    n_use: int
    estimator: str
    method: str
    n_draws: int
    family_use: str


def run_world(study: Study, world: int, out: Path) -> Path:
    """Estimate one world's compositions and write what came of them."""
    path = out / f"world_{world:04d}.tsv"
    if path.exists():
        return path
    settings = WorldSettings(n_calibration=study.n_calibration, composition="sampled")
    use_settings = WorldSettings(
        n_calibration=study.n_use, composition="sampled", family_size=study.family_use
    )
    rng = np.random.default_rng([SEED, world])
    calibration = draw_labelled(settings, rng)
    side = calibration_side(calibration, True)
    calibrator = parse_method(study.method, "--method").build(FitOptions(n_draws=0))
    population = truth().prevalence
    kinds = [("shift", rng.dirichlet(np.ones(len(population))))]
    if world % EVERY == 0:
        kinds.append(("none", population))
    rows = []
    for kind, share in kinds:
        use = draw_labelled(use_settings, rng, share)
        rows += measure(study, calibrator, calibration, side, use, kind, share)
    partial = path.with_suffix(".part")
    with partial.open("w", newline="") as handle:
        writer = csv.DictWriter(handle, fieldnames=list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    partial.replace(path)
    return path


def measure(  # type: ignore[no-untyped-def]
    study: Study, calibrator: Calibrator, calibration: Labelled, side, use: Labelled, kind, share
):
    began = time.process_time()
    options = FitOptions(n_draws=study.n_draws)
    summed = use_side(use.predictions, side.model)
    found = estimate_composition(side, summed, BY_NAME[study.estimator], options)
    seen = diagnose(side, summed, found, options)
    seconds = time.process_time() - began
    plain = calibrator.fit(calibration).confidence(use.predictions).value
    moved = shifted(calibration, found.fit_weight)
    corrected = calibrator.fit(moved).confidence(use.predictions).value
    known = ~np.isnan(plain) & ~np.isnan(corrected)
    before = nll(plain[known], use.is_correct[known])
    after = nll(corrected[known], use.is_correct[known])
    distance = float(np.abs(share - truth().prevalence).sum() / 2.0)
    return [
        {
            "kind": kind,
            "distance": distance,
            "class": name,
            "true": share[class_],
            "share": found.share[class_],
            "lower": found.lower[class_],
            "upper": found.upper[class_],
            "known": int(found.is_known[class_]),
            "nll_before": before,
            "nll_after": after,
            "p_no_shift": seen.p_no_shift,
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
    shift, none = found["kind"] == "shift", found["kind"] == "none"
    large = first & shift & (found["distance"] > LARGE)
    still = first & none
    lines = [
        "# Label shift on worlds whose truth is known",
        "",
        "Written by `python verification/shift.py --page docs`. "
        f"{int((first & shift).sum())} shifts of the demo world, drawn uniformly, and "
        f"{int(still.sum())} use-sets without shift; "
        f"{study.n_calibration:,} calibration proteins in families and {study.n_use:,} in the "
        f"use-set (families: {study.family_use}), estimator `{study.estimator}`, method "
        f"`{study.method}`, {study.n_draws} draws, nominal 95 %. Simulated; it says nothing about "
        "nature.",
        "",
        "| question | wanted | found |",
        "|---|---|---|",
        f"| intervals that hold the true share, under shift | 92–98 % | {part(held[shift])} |",
        f"| the same, without shift | 92–98 % | {part(held[none])} |",
        "| corrected NLL below uncorrected, total variation above 0.2 | ≥ 99 % | "
        f"{part(gain[large] > 0)} of {int(large.sum())} |",
        f"| corrected NLL at most {ALLOWED} above, without shift | ≥ 99 % | "
        f"{part(gain[still] >= -ALLOWED)} of {int(still.sum())} |",
        "| test of no shift rejects at 5 %, without shift | 5 % | "
        f"{part(found['p_no_shift'][still] <= 0.05)} |",
        "| test that label shift explains the scores rejects at 5 % | 5 % | "
        f"{part(found['p_label_shift'][first] <= 0.05)} |",
        "",
        f"NLL falls by {gain[large].mean():.4f} on average under shifts above 0.2 (least gain "
        f"{gain[large].min():.4f}) and changes by {-gain[still].mean():+.5f} without shift "
        f"(greatest loss {-gain[still].min():.4f}). Root mean square error of a share: "
        f"{root(found, shift):.4f} under shift, {root(found, none):.4f} without. "
        f"{found['seconds'][first].mean():.2f} s of processor a use-set.",
        "",
        "| class | held under shift | mean width | root mean square error | mean error |",
        "|---|---|---|---|---|",
    ]
    for name in CLASS_NAMES:
        rows = shift & (found["class"] == name)
        width = (found["upper"] - found["lower"])[rows].mean()
        error = (found["share"] - found["true"])[rows].mean()
        cells = (part(held[rows]), f"{width:.3f}", f"{root(found, rows):.4f}", f"{error:+.4f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "![Coverage by class, and gain by size of the shift](verification-shift.svg)",
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
    figure, axes = plt.subplots(1, 2, figsize=(11, 4))
    shares = [
        held[(found["class"] == name) & (found["kind"] == "shift")].mean() for name in CLASS_NAMES
    ]
    axes[0].axvspan(0.92, 0.98, color="0.9")
    axes[0].plot(shares, range(len(CLASS_NAMES)), "o")
    axes[0].set_yticks(range(len(CLASS_NAMES)), CLASS_NAMES)
    axes[0].set_xlabel("share of intervals that hold the truth")
    first = found["class"] == CLASS_NAMES[0]
    gain = found["nll_before"] - found["nll_after"]
    for kind, colour in (("shift", "C0"), ("none", "C1")):
        rows = first & (found["kind"] == kind)
        axes[1].plot(found["distance"][rows], gain[rows], ".", color=colour, label=kind)
    axes[1].axhline(0.0, color="0.5", linewidth=0.8)
    axes[1].set_xlabel("total variation of the shift")
    axes[1].set_ylabel("NLL won by correcting")
    axes[1].legend()
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
    parser.add_argument("--families", choices=("single", "heavy_tailed"), default="single")
    parser.add_argument("--finished", action="store_true", help="use what is there, run nothing")
    parser.add_argument("--page", type=Path, help="where to write the page, e.g. docs")
    given = parser.parse_args()
    study = Study(
        given.proteins, given.use, given.estimator, given.method, given.draws, given.families
    )
    out = given.out / f"shift_{given.estimator}_{given.proteins}_{given.use}_{given.families}"
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
