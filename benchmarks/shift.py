"""Query sets of ten million rows, and compositions side by side with those of peers."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
from benchmarks.data import halves, real_table
from benchmarks.run import HERE, peak_gigabytes, table
from benchmarks.speed import paper_sized
from verification.in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import log_scores
from credence.composition.adjusted import correction_for, moved_odds
from credence.composition.both_samples import both_parts, calibration_sample, use_sample
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import compression_error, estimate_composition, estimator_input
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.composition.probabilities import fit_bias_corrected
from credence.composition.summary import Corrected, summarise_shift
from credence.predictions import Floats, Labelled, Predictions, from_scores, label
from credence.simulate.law import WorldSettings

SIZES = (1_000_000, 10_000_000)
CHUNK = 250_000  # rows
SEED = 11
N_SHIFTS = 20  # Dirichlet-drawn compositions of a data set, size and strength
N_CORRECTED = 5  # of which confidences are corrected
SHIFT_SIZES, STRENGTHS = (500, 5_000), (0.1, 1.0)
CORRECTED_BY = ("kernel", "tswa", "matrix")
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


def one_query_set(n_rows: int) -> None:
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
        use = summed if use is None else both_parts(use, summed)
        reading += time.process_time() - start
    start = time.process_time()
    estimator = ESTIMATORS_BY_NAME["em_matched"]
    composition = estimate_composition(sample, use, estimator, options)
    corrected = Corrected(
        sample=sample, use=use, composition=composition, diagnostics=diagnose(sample, use,
        composition, options), plain=plain,
        correction=correction_for(sample, composition, options.level), by_score=True,
    )  # fmt: skip
    error = compression_error(sample, first, use, estimator)
    summarise_shift("large", estimator.name, stage.text, corrected, options, error)
    rest = time.process_time() - start + prepared
    cells = len(use.cells.row)
    print(f"{reading:.1f} {rest:.1f} {peak_gigabytes():.2f} {cells} {error:.1e}")


def large_queries() -> str:
    """Return seconds and memory of query sets of one and ten million rows."""
    rows = []
    for n_rows in SIZES:
        code = f"from benchmarks.shift import one_query_set; one_query_set({n_rows})"
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


def peers_estimates(own: Labelled, p_own: Floats, use: Predictions, p_use: Floats) -> dict:
    """Return compositions by QuaPy and, where it is installed, by abstention."""
    import quapy.functional as functional
    from quapy.method.aggregative import ACC, EMQ, PACC

    classes = np.arange(own.predictions.n_classes)
    prevalence = np.bincount(own.true_class, minlength=len(classes)) / own.n_samples
    seen = np.bincount(use.predicted_class, minlength=len(classes)) / use.n_samples
    asked = {
        "QuaPy `ACC`": (
            ACC.getPteCondEstim(classes, own.true_class, own.predictions.predicted_class),
            seen,
        ),
        "QuaPy `PACC`": (PACC.getPteCondEstim(classes, own.true_class, p_own), p_use.mean(axis=0)),
    }
    found = {
        name: functional.normalize_prevalence(
            ACC.solve_adjustment(rates, counts, method="inversion", solver="minimize"),
            method="clip",
        )
        for name, (rates, counts) in asked.items()
    }
    EMQ.MAX_ITER, kept = 100_000, EMQ.MAX_ITER
    found["QuaPy `EMQ`, to the end"] = EMQ.EM(prevalence, p_use, epsilon=EM_STEP)[0]
    EMQ.MAX_ITER = kept
    try:
        from abstention.label_shift import EMImbalanceAdapter, RLLSImbalanceAdapter
    except ImportError:
        return found
    truth = np.eye(len(classes))[own.true_class]
    # Classes as predicted, since a probability's own class may be another one.
    hard_own, hard_use = (
        np.eye(len(classes))[one.predicted_class] for one in (own.predictions, use)
    )
    adapters = {
        "abstention `EM`": (EMImbalanceAdapter(), p_own, p_use),
        "abstention `RLLS`": (RLLSImbalanceAdapter(), hard_own, hard_use),
    }
    for name, (adapter, valid, asked_of) in adapters.items():
        weight = adapter(
            valid_labels=truth, tofit_initial_posterior_probs=asked_of, valid_posterior_probs=valid
        ).multipliers
        share = np.maximum(np.nan_to_num(weight), 0.0) * prevalence
        found[name] = share / share.sum()
    return found


def drawn_rows(labelled: Labelled, share: Floats, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows drawn, with replacement, so that the classes have these shares."""
    rows = [
        rng.choice(np.flatnonzero(labelled.true_class == class_), count)
        for class_, count in enumerate(rng.multinomial(n, share))
        if count > 0
    ]
    return np.concatenate(rows)


def tables_in_halves() -> dict[str, tuple[Labelled, Labelled]]:
    """Return the tables, each with the half that calibrates and the other."""
    demo = draw_labelled(WorldSettings(n_calibration=N_DEMO), np.random.default_rng(SEED))
    found = {"Demo world, halves by families": halves(demo)}
    real = real_table()
    if real is not None:
        alone = label(real.predictions, real.true_class)
        in_first = np.random.default_rng(SEED).random(real.n_samples) < 0.5
        found["PhANNs' first table, random halves"] = (alone.take(in_first), alone.take(~in_first))
        found["PhANNs' first table, halves by blocks"] = halves(real)
        found["the other way round"] = halves(real)[::-1]
    return found


def quantifiers() -> str:
    """Return errors of compositions under drawn shifts, beside QuaPy's and abstention's."""
    try:
        import quapy
    except ImportError:
        return "Not run: QuaPy is not installed.\n"
    text = [f"**{name}**\n\n{_one_set(*pair)}" for name, pair in tables_in_halves().items()]
    return (
        f"QuaPy {quapy.__version__}; abstention 0.1.3.1 where it is installed. One half of each "
        f"set calibrates; from the other half {N_SHIFTS} query sets a column are drawn, of 500 or "
        "5,000 proteins, their compositions by Dirichlet draws of 0.1 or 1 a class. Peers get "
        "bias-corrected temperature scaling. Mean absolute error of a share × 1000, in "
        "brackets the greatest of a set. NLL of the predicted classes after correction, the "
        f"first {N_CORRECTED} sets of each column: EM on bias-corrected probabilities, and "
        "methods corrected for the composition of `em_matched`.\n\n" + "\n".join(text)
    )


def _one_set(own: Labelled, rest: Labelled) -> str:
    sample = calibration_sample(own, True)
    n_classes = own.predictions.n_classes
    logs = log_scores(own.predictions.scores, own.predictions.resolution)
    plain = fit_bias_corrected(logs, own.true_class, own.weight, n_classes)
    p_own = plain.probabilities(own.predictions)
    in_own, in_rest = (np.bincount(one.true_class, minlength=n_classes) for one in (own, rest))
    held = (in_own > 0) & (in_rest > 0)
    prevalence = in_own / own.n_samples
    errors: dict[str, dict[tuple, list[float]]] = {}
    losses: dict[str, dict[tuple, list[float]]] = {}
    for n_query in SHIFT_SIZES:
        for strength in STRENGTHS:
            rng = np.random.default_rng([SEED, n_query, int(10 * strength)])
            column = (n_query, strength)
            for draw in range(N_SHIFTS):
                share = np.zeros(n_classes)
                share[held] = rng.dirichlet(np.full(held.sum(), strength))
                rows = drawn_rows(rest, share, n_query, rng)
                use, true = rest.predictions.take(rows), rest.true_class[rows]
                evidence = estimator_input(sample, use_sample(use, sample.model))
                found = {"calibration set's own": prevalence}
                for name, entry in ESTIMATORS_BY_NAME.items():
                    if entry.estimate is not None:
                        found[f"credence `{name}`"] = np.zeros(n_classes)
                        found[f"credence `{name}`"][in_own > 0] = entry.estimate(
                            evidence.among(in_own > 0)
                        ).share
                p_use = plain.probabilities(use)
                found |= peers_estimates(own, p_own, use, p_use)
                drawn = np.bincount(true, minlength=n_classes) / n_query
                for name, value in found.items():
                    error = 1000 * float(np.abs(value - drawn).mean())
                    errors.setdefault(name, {}).setdefault(column, []).append(error)
                if draw < N_CORRECTED:
                    by_em = found["QuaPy `EMQ`, to the end"]
                    for name, value in corrected_losses(
                        own, sample, use, true, p_use, by_em
                    ).items():
                        losses.setdefault(name, {}).setdefault(column, []).append(value)
    header = ["", *(f"{n:,} × {strength:g}" for n, strength in errors["credence `em`"])]
    lines = [
        [name, *(f"{np.mean(one):.1f} ({max(one):.0f})" for one in of.values())]
        for name, of in errors.items()
    ]
    after = [
        [name, *(f"{np.mean(one):.4f}" for one in of.values())] for name, of in losses.items()
    ]
    return table(header, lines) + "\n" + table(["NLL after correction", *header[1:]], after)


def corrected_losses(labelled, sample, use, true, p_use, by_em):  # type: ignore[no-untyped-def]
    """Return the NLL of corrected confidences of the predicted classes."""
    options = FitOptions(n_draws=0)
    summed = use_sample(use, sample.model)
    ours = estimate_composition(sample, summed, ESTIMATORS_BY_NAME["em_matched"], options)
    rows, right = np.arange(len(true)), use.predicted_class == true
    prior = np.bincount(sample.true_class, minlength=use.n_classes) / len(sample.unit)
    tilted = p_use * np.divide(by_em, prior, out=np.zeros_like(prior), where=prior > 0)
    tilted /= tilted.sum(axis=1, keepdims=True)
    found = {"EM, bias-corrected": tilted[rows, use.predicted_class]}
    weight = np.nan_to_num(ours.fit_weight, nan=1.0)
    wrong = sample.among_wrong(use) @ weight
    for name in CORRECTED_BY:
        plain = parse_method(name, "benchmarks").build(options).fit(labelled).confidence(use).value
        found[f"`{name}`"] = moved_odds(plain, weight[use.predicted_class], wrong)
    every = np.all([~np.isnan(value) for value in found.values()], axis=0)
    return {
        name: float(-np.log(np.clip(np.where(right, p, 1 - p), 1e-4, 1))[every].mean())
        for name, p in found.items()
    }
