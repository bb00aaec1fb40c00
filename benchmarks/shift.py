"""Use-sets of ten million rows, and compositions side by side with QuaPy's."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from benchmarks.data import halves, real_table
from benchmarks.run import HERE, peak_gigabytes, table
from benchmarks.speed import paper_sized

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import adjust
from credence.composition.both_samples import calibration_sample, together, use_sample
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import compression_error, estimate_composition, evidence_of
from credence.composition.estimators import BY_NAME
from credence.composition.summary import Corrected, summarise_shift
from credence.predictions import Floats, Labelled, Predictions, from_scores
from credence.simulate import WorldSettings, draw_labelled

SIZES = (1_000_000, 10_000_000)
CHUNK = 250_000  # rows
SEED = 11
N_SHIFTS = 60  # Dirichlet-drawn compositions of a data set
N_USE = 3_000
N_DEMO = 9_360  # proteins, of which one half calibrates
EM_STEP = 1e-7  # change of QuaPy's EM at which it ends; its default is 1e-4


def chunks(n_rows: int) -> Iterator[Predictions]:
    """Yield rows of a set of another composition, jittered within the resolution."""
    share = np.random.default_rng(SEED).dirichlet(np.ones(11))
    base = draw_labelled(WorldSettings(n_calibration=200_000), np.random.default_rng(SEED), share)
    known = base.predictions
    for start in range(0, n_rows, CHUNK):
        rng = np.random.default_rng([SEED, start])
        scores = known.scores[rng.integers(0, base.n_samples, min(CHUNK, n_rows - start))]
        scores += rng.uniform(0.0, known.resolution, scores.shape)
        scores *= known.scale / scores.sum(axis=1, keepdims=True)
        ids = np.arange(start, start + len(scores)).astype(object)
        yield from_scores(ids, known.class_names, scores, known.scale, known.resolution)


def one_use_set(n_rows: int) -> None:
    """Print seconds of reading in and of the rest, memory, cells and compression error."""
    labelled = paper_sized()
    options = FitOptions()
    stage = parse_method("kernel", "benchmarks")
    plain = stage.build(options).fit(labelled)
    reading, use, first = 0.0, None, None
    start = time.process_time()
    sample = calibration_sample(labelled, True)
    prepared = time.process_time() - start
    for part in chunks(n_rows):
        start = time.process_time()
        first = part if first is None else first
        summed = use_sample(part, sample.model)
        use = summed if use is None else together(use, summed)
        reading += time.process_time() - start
    start = time.process_time()
    estimator = BY_NAME["em_matched"]
    composition = estimate_composition(sample, use, estimator, options)
    corrected = Corrected(
        sample, use, composition, diagnose(sample, use, composition, options), plain,
        adjust(sample, stage.build(options), composition, options), True,
    )  # fmt: skip
    error = compression_error(sample, first, use, estimator)
    summarise_shift("large", estimator.name, stage.text, corrected, options, error)
    rest = time.process_time() - start + prepared
    cells = len(use.cells.row)
    print(f"{reading:.1f} {rest:.1f} {peak_gigabytes():.2f} {cells} {error:.1e}")


def large_use_sets() -> str:
    """Return seconds and memory of use-sets of one and ten million rows."""
    rows = []
    for n_rows in SIZES:
        code = f"from benchmarks.shift import one_use_set; one_use_set({n_rows})"
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=HERE.parent, capture_output=True, text=True
        )
        last = done.stderr.splitlines()[-1:]
        stated = done.stdout.split() if done.returncode == 0 else [f"failed: {last}", *[""] * 4]
        rows.append(["from arrays", f"{n_rows:,}", *stated])
    header = ["", "rows", "summing up s", "the rest s", "peak GiB", "cells", "compression error"]
    return (
        "46,801 calibration proteins; estimator `em_matched`, method `kernel`, 200 draws. The "
        "rest: composition, diagnostics, calibration, summary. The compression error is the "
        "greatest change of a share by the gathering of rows in cells, on the first part of the "
        "set.\n\n" + table(header, rows)
    )


def quapy_estimates(
    prevalence: Floats, own: Labelled, own_soft: Floats, use: Predictions, use_soft: Floats
) -> dict[str, Floats]:
    """Return QuaPy's compositions from the same predictions and probabilities."""
    import quapy.functional as functional
    from quapy.method.aggregative import ACC, EMQ, PACC

    classes = np.arange(own.predictions.n_classes)
    hard = ACC.getPteCondEstim(classes, own.true_class, own.predictions.predicted_class)
    seen = np.bincount(use.predicted_class, minlength=len(classes)) / use.n_samples
    soft = PACC.getPteCondEstim(classes, own.true_class, own_soft)
    asked = {"ACC": (hard, seen), "PACC": (soft, use_soft.mean(axis=0))}
    found = {
        name: functional.normalize_prevalence(
            ACC.solve_adjustment(rates, counts, method="inversion", solver="minimize"),
            method="clip",
        )
        for name, (rates, counts) in asked.items()
    }
    found["EMQ"] = EMQ.EM(prevalence, use_soft)[0]
    EMQ.MAX_ITER, kept = 100_000, EMQ.MAX_ITER
    found["EMQ, run to the end"] = EMQ.EM(prevalence, use_soft, epsilon=EM_STEP)[0]
    EMQ.MAX_ITER = kept
    return found


def drawn_rows(labelled: Labelled, share: Floats, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn, with replacement, so that the classes have these shares."""
    counts = rng.multinomial(N_USE, share)
    rows = [
        rng.choice(np.flatnonzero(labelled.true_class == class_), count)
        for class_, count in enumerate(counts)
        if count > 0
    ]
    return np.concatenate(rows)


def quantifiers() -> str:
    """Return errors of compositions under drawn shifts, beside QuaPy's."""
    try:
        import quapy
    except ImportError:
        return "Not run: QuaPy is not installed.\n"
    demo = draw_labelled(WorldSettings(n_calibration=N_DEMO), np.random.default_rng(SEED))
    text = []
    for title, labelled in {"Demo world": demo, "PhANNs' first table": real_table()}.items():
        if labelled is not None:
            text.append(f"**{title}**\n\n{_one_set(labelled)}")
    return (
        f"QuaPy {quapy.__version__}. One half of each set calibrates; from the other half "
        f"{N_SHIFTS} use-sets of {N_USE:,} rows are drawn, their compositions uniformly from all "
        "(Dirichlet of ones). Both libraries get the same predictions and the same probabilities "
        "(bias-corrected temperature scaling). Errors of a share: mean absolute, root mean square "
        "and the greatest.\n\n" + "\n".join(text)
    )


def _one_set(labelled: Labelled) -> str:
    own, rest = halves(labelled)
    sample = calibration_sample(own, True)
    rng = np.random.default_rng(SEED)
    prevalence = np.bincount(own.true_class, minlength=own.predictions.n_classes) / own.n_samples
    held = np.bincount(rest.true_class, minlength=len(prevalence)) > 0
    ours = [name for name, entry in BY_NAME.items() if entry.estimate is not None]
    errors: dict[str, list[Floats]] = {}
    apart: dict[str, float] = {}
    for _ in range(N_SHIFTS):
        share = np.zeros(len(held))
        share[held] = rng.dirichlet(np.ones(held.sum()))
        rows = drawn_rows(rest, share, rng)
        use = rest.predictions.take(rows)
        truth = np.bincount(rest.true_class[rows], minlength=len(held)) / len(rows)
        evidence = evidence_of(sample, use_sample(use, sample.model))
        is_known = evidence.prevalence > 0
        found: dict[str, Floats] = {"calibration set's own": prevalence}
        for name in ours:
            estimate: Callable = BY_NAME[name].estimate
            found[f"credence `{name}`"] = np.zeros(len(held))
            found[f"credence `{name}`"][is_known] = estimate(evidence.among(is_known)).share
        theirs = quapy_estimates(
            prevalence, own, sample.probability, use, sample.model.probabilities(use)
        )
        found |= {f"QuaPy `{name}`": value for name, value in theirs.items()}
        for name, value in found.items():
            errors.setdefault(name, []).append(value - truth)
        for one, other in LIKE.items():
            gap = np.abs(found[f"credence `{one}`"] - found[f"QuaPy `{other}`"]).max()
            apart[one] = max(apart.get(one, 0.0), float(gap))
    stacked = np.array(list(errors.values()))
    lines = [
        [name, f"{np.abs(stacked[at]).mean():.4f}", f"{np.sqrt((stacked[at] ** 2).mean()):.4f}",
         f"{np.abs(stacked[at]).max():.3f}"]
        for at, name in enumerate(errors)
    ]  # fmt: skip
    note = "; ".join(
        f"`{one}` and QuaPy's `{other}` {apart[one]:.1e}" for one, other in LIKE.items()
    )
    header = ["method", "mean absolute error", "root mean square error", "greatest"]
    return table(header, lines) + f"\nGreatest difference of a share between {note}.\n"


LIKE = {"bbse_hard": "ACC", "bbse_soft": "PACC", "em": "EMQ, run to the end"}
