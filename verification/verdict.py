"""How often are confidences off under each verdict? Simulated worlds whose truth is known.

Each world is a calibration set of families with heavy tails, a method, and a query set that
is like calibration, in other class proportions, scored by another version of the classifier, or
harder at the same scores (which no check can see). The verdict is that of the page. The
truth is a second set of 20,000 proteins drawn as the query set was: by how much the mean
confidence of each predicted class differs from its precision.

    PYTHONPATH=. python verification/verdict.py --worlds 400 --page docs/verification-verdict.md
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from in_memory import draw_labelled, summarise_query_set
from world_truth import truth

from credence.calibrators.method_spec import parse_method
from credence.evaluation.evaluate import EvaluationOptions, evaluate
from credence.evaluation.verdict import CLASS_ALONE, verdict_of
from credence.findings import Findings, Provenance, SplitClass, SplitFinding, VerdictSettings
from credence.predictions import Floats, Labelled, from_scores, label
from credence.simulate.law import WorldSettings
from credence.stages.fit import fit_chosen, fit_options
from credence.stages.reading import CalibrationSet
from credence.stages.settings import Settings
from credence.stages.shift import find_shift
from credence.tables.samples import Samples
from report import write_section

SEED = 20261123
SIZES = (1_000, 3_000, 9_000)
METHODS = ("beta", "kernel", "uncalibrated")
KINDS = ("like calibration", "in other class proportions", "another version", "harder, unseen")
N_TRUE, N_DRAWS, N_FOLDS = 20_000, 60, 5
TRIED = (0.5, 0.6, 0.8)  # cut-offs of the part for which things have to hold; beside the usual
OFF = 0.05
CLEAN = SplitFinding(
    identity=0.4, coverage=0.8, both_sides=True, strict="report", is_audited=True,
    is_exhaustive=True, n_sampled=1_000, n_population=1_000, n_crossing_sampled=0, bound=0.0,
    n_joined=0, largest_share=0.01, size_low=1.0, size_high=1.0,
    classes=(SplitClass(class_name="all", n=1, n_clusters=1, deviation=0.0, lower_bound=0.0,
    n_examined=1_000, n_crossing=0),), groups=(), edges=(0.0, 1.0), clusters="aligned",
)  # fmt: skip


def drawn(kind: str, n: int, share: Floats, rng: np.random.Generator, power: float) -> Labelled:
    """Return proteins of a query set's kind."""
    found = draw_labelled(WorldSettings(n_calibration=n, family_size="single"), rng, share)
    if kind == "another version":
        own = found.predictions
        scores = own.scores**power
        scores = np.round(10.0 * scores / scores.sum(axis=1, keepdims=True), 2)
        return label(from_scores(own.ids, own.class_names, scores, 10.0, 0.01), found.true_class)
    if kind == "harder, unseen":
        other = rng.integers(0, len(share), n)
        return label(found.predictions, np.where(rng.random(n) < 0.2, other, found.true_class))
    return found


def world(sizes: tuple[int, ...], n_query: int, number: int) -> dict[str, object]:
    """Return the verdict on one world, and how far its confidences are off."""
    rng = np.random.default_rng([SEED, number])
    method = METHODS[2] if number % 10 == 9 else METHODS[number % 2]
    kind = KINDS[number % 16 // 4] if number % 8 else KINDS[0]
    size = int(rng.choice(sizes))
    share = truth().prevalence
    power = float(rng.choice([0.5, 0.7, 1.5]))
    if kind == "in other class proportions":
        share = rng.dirichlet(np.full(len(share), 3.0))
    calibration = draw_labelled(WorldSettings(n_calibration=size), rng)
    settings = Settings().with_values(
        {"calibration": {"method": method, "draws": N_DRAWS}, "shift": {"draws": N_DRAWS}}
    )
    options = fit_options(settings.calibration)
    built = {name: parse_method(name, "method").build(options) for name in (method, CLASS_ALONE)}
    fitted = {name: one.fit(calibration) for name, one in built.items()}
    results = evaluate(
        calibration,
        built,
        EvaluationOptions(n_folds=N_FOLDS, level=0.95, n_draws=N_DRAWS, resample="cluster"),
        fitted,
        method,
    ).results
    use = drawn(kind, n_query, share, rng, power).predictions
    parts = [("use", Samples(predictions=use, true_class=None, lines=np.arange(use.n_samples)))]
    chosen = CalibrationSet(labelled=calibration, set_aside={})
    file = fit_chosen(chosen, settings, "world").file
    shift = find_shift(file, parts, settings, "use", "use")
    plain = file.calibration.confidence(use)
    published = shift.corrected(file, plain, use)
    inside = (plain.lower <= published.value) & (published.value <= plain.upper)
    summary = summarise_query_set("use", method, use, published)
    classes = tuple(
        replace(one, n_in_range=int(inside[use.predicted_class == code].sum()))
        for code, one in enumerate(summary.classes)
    )
    findings = Findings(
        provenance=Provenance(run="world", title="World", credence_version="0"), methods=(),
        chosen=method, results=results,
        queries=(replace(summary, classes=classes),), shifts=(shift.finding,), split=CLEAN,
    )  # fmt: skip
    verdict = verdict_of(findings)
    tried = {
        f"verdict at {held:g}": verdict_of(
            replace(findings, limits=VerdictSettings(held=held))
        ).state
        for held in TRIED
    }
    real = drawn(kind, N_TRUE, share, rng, power)
    plain = file.calibration.confidence(real.predictions)
    value = shift.corrected(file, plain, real.predictions).value
    off = total = distance = 0.0
    for code in range(len(share)):
        own = (real.predictions.predicted_class == code) & ~np.isnan(value)
        if own.any():
            gap = abs(float(np.mean(value[own] - real.is_correct[own])))
            total += own.sum()
            distance += own.sum() * gap
            off += own.sum() * (gap > OFF)
    checks = {check.name: check.state for check in verdict.checks}
    return {
        "kind": kind, "method": method, "size": size, "verdict": verdict.state,
        "distance": distance / total, "off": off / total, **tried, **checks,
    }  # fmt: skip


def row(name: str, part: pd.DataFrame) -> dict[str, object]:
    """Return how far the confidences of some worlds are off."""
    return {
        "worlds": name,
        "number": len(part),
        "mean distance over 0.05": float((part.distance > OFF).mean()),
        "mean distance": float(part.distance.mean()),
        "predictions in classes over 0.05 off": float(part.off.mean()),
    }


def table_of(found: pd.DataFrame) -> list[dict[str, object]]:
    """Return a row for each verdict, then for each kind of query set and verdict."""
    whole = [row(state, part) for state, part in found.groupby("verdict")]
    kinds = found.groupby(["kind", "verdict"])
    return whole + [row(f"{kind}: {state}", part) for (kind, state), part in kinds]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--use", type=int, default=2_000, help="proteins of a query set")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    one = partial(world, tuple(options.sizes), options.use)
    with ProcessPoolExecutor(options.jobs) as pool:
        found = pd.DataFrame(list(pool.map(one, range(options.worlds))))
    if options.table:
        found.to_csv(options.table, sep="\t", index=False)
    table = [row(f"verdict {state}", part) for state, part in found.groupby("verdict")] + [
        row(f"{kind}, verdict {state}", part)
        for (kind, state), part in found.groupby(["kind", "verdict"])
    ]
    print(pd.DataFrame(table).to_string(index=False))
    names = ["gap", "class_alone", "same_classifier", "evidence", "mix"]
    for name in names:
        print(found.groupby(["kind", name]).distance.agg(["size", "mean"]).round(3).to_string())
    if options.page:
        text = (
            f"{options.worlds} worlds; distances are between the mean confidence of a predicted "
            "class and its precision, averaged over predictions."
        )
        write_section(options.page, "Verdicts beside the truth", text, table)


if __name__ == "__main__":
    main()
