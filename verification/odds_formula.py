"""Is the odds formula as good as a refit, where classes are mixed otherwise than in calibration?

A method is fitted once; for samples of other class proportions, which are known here, its
confidences are corrected in three ways: by a refit with weights w[true class], by the formula
with the shares of the true classes among the wrong by predicted class and score, and by the
formula with these shares from the probabilities of the whole score vector. Compared is the
NLL on proteins of the other mix.

    python verification/odds_formula.py --draws 12
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from in_memory import draw_labelled
from scipy import special

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import shifted, smoothed_masses
from credence.composition.both_samples import calibration_sample, score_bins
from credence.predictions import Floats, Labelled, Predictions, from_scores, label
from credence.simulate.law import WorldSettings

SEED = 20261127
REAL = Path("../shared/data/phanns_scores_2020.csv.gz")
CLIP = 1e-15
STRENGTHS = (50.0, 10.0, 3.0)  # totals of the Dirichlet around calibration's own shares
BACKGROUND = (0.8, 0.9, 0.98)  # shares of the most frequent class


def real_table() -> Labelled | None:
    if not REAL.exists():
        return None
    table = pd.read_csv(REAL, index_col=0)
    stems = table.index.str.replace(r"_\d+$", "", regex=True).str.replace("_", " ").str.lower()
    names = tuple(table.columns)
    place = {name.lower(): number for number, name in enumerate(names)} | {
        "shaft": names.index("Tail shaft")
    }
    known = np.array([place.get(stem, -1) for stem in stems])
    rows = np.flatnonzero(known >= 0)
    ids = table.index.to_numpy(dtype=object)[rows]
    predictions = from_scores(ids, names, table.to_numpy()[rows], 10.0, 0.01)
    return label(predictions, known[rows])


def pi_of_score(sample, predictions: Predictions, prior: float) -> Floats:
    """Return P(true class j | wrong, predicted class, score), a row for each prediction."""
    labelled = sample.labelled
    n_classes = labelled.predictions.n_classes
    raw = sample.score_masses() * labelled.n_samples
    mass = smoothed_masses(raw)
    own = np.arange(n_classes)
    raw[own, own] = 0.0
    mass[own, own] = 0.0
    pooled = raw.sum(axis=(0, 2))[None, :].repeat(n_classes, axis=0)
    pooled[own, own] = 0.0
    pooled = pooled / np.maximum(pooled.sum(axis=1, keepdims=True), 1e-300)
    by_class = raw.sum(axis=2) + prior * pooled
    by_class /= by_class.sum(axis=1, keepdims=True)
    table = mass + prior * by_class[:, :, None]
    table /= table.sum(axis=1, keepdims=True)
    return table[predictions.predicted_class, :, score_bins(predictions)]


def pi_of_vector(model, predictions: Predictions) -> Floats:
    p = model.probabilities(predictions)
    p[np.arange(len(p)), predictions.predicted_class] = 0.0
    p = np.maximum(p, 1e-12)
    p[np.arange(len(p)), predictions.predicted_class] = 0.0
    return p / p.sum(axis=1, keepdims=True)


def corrected(value: Floats, predictions: Predictions, pi: Floats, weight: Floats) -> Floats:
    k = predictions.predicted_class
    with np.errstate(divide="ignore"):
        return special.expit(special.logit(value) + np.log(weight[k]) - np.log(pi @ weight))


def nll(value: Floats, right: np.ndarray) -> float:
    return float(-np.log(np.clip(np.where(right, value, 1 - value), CLIP, None)).mean())


def study(
    name: str, calibration: Labelled, pool: Labelled, method: str, n_draws: int
) -> pd.DataFrame:
    calibrator = parse_method(method, "--method").build(FitOptions(n_draws=0))
    began = time.process_time()
    plain = calibrator.fit(calibration)
    seconds = time.process_time() - began
    sample = calibration_sample(calibration, True)
    n_classes = pool.predictions.n_classes
    share = np.bincount(calibration.true_class, weights=calibration.weight, minlength=n_classes)
    share = share / share.sum()
    rows = []
    for draw in range(n_draws):
        rng = np.random.default_rng([SEED, draw])
        turn = draw % (len(STRENGTHS) + len(BACKGROUND))
        if turn < len(STRENGTHS):
            wanted = rng.dirichlet(STRENGTHS[turn] * np.maximum(share, 1e-3))
            kind = f"dirichlet {STRENGTHS[turn]:g}"
        else:
            background = BACKGROUND[turn - len(STRENGTHS)]
            top = int(share.argmax())
            wanted = share * (1 - background) / (1 - share[top])
            wanted[top] = background
            kind = f"background {background:g}"
        have = np.bincount(pool.true_class, minlength=n_classes) / pool.n_samples
        chance = np.divide(wanted, have, out=np.zeros(n_classes), where=have > 0)
        wanted = chance * have / (chance * have).sum()
        each = chance[pool.true_class]
        taken = rng.choice(pool.n_samples, 3000, p=each / each.sum())
        use = pool.take(taken)
        weight = np.divide(wanted, share, out=np.zeros(n_classes), where=share > 0)
        weight = np.maximum(weight, 1e-4)
        predictions = use.predictions
        before = plain.confidence(predictions).value
        refit = calibrator.fit(shifted(calibration, weight)).confidence(predictions).value
        of_score = {
            f"score{prior:g}": pi_of_score(sample, predictions, prior)
            for prior in (1.0, 5.0, 20.0)
        }
        of_vector = pi_of_vector(sample.model, predictions)
        pis = {**of_score, "vector": of_vector, "both": np.sqrt(of_vector * of_score["score5"])}
        pis["both"] /= pis["both"].sum(axis=1, keepdims=True)
        pis["mean"] = (of_vector + of_score["score5"]) / 2
        row = {
            "set": name,
            "method": method,
            "kind": kind,
            "before": nll(before, use.is_correct),
            "refit": nll(refit, use.is_correct),
        }
        for word, pi in pis.items():
            row[word] = nll(corrected(before, predictions, pi, weight), use.is_correct)
        rows.append(row)
        print(
            name,
            method,
            f"{seconds:.1f}s",
            {k: (round(v, 4) if isinstance(v, float) else v) for k, v in row.items()},
            flush=True,
        )
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--calibration", type=int, default=3000)
    parser.add_argument("--methods", default="kernel,hierarchical,auto")
    asked = parser.parse_args()
    tables = []
    for method in asked.methods.split(","):
        rng = np.random.default_rng(SEED)
        settings = WorldSettings(n_calibration=asked.calibration, composition="sampled")
        single = WorldSettings(n_calibration=20000, composition="sampled", family_size="single")
        tables.append(
            study(
                "world",
                draw_labelled(settings, rng),
                draw_labelled(single, rng),
                method,
                asked.draws,
            )
        )
        real = real_table()
        if real is not None:
            order = rng.permutation(real.n_samples)
            tables.append(
                study(
                    "phanns",
                    real.take(order[: asked.calibration]),
                    real.take(order[asked.calibration :]),
                    method,
                    asked.draws,
                )
            )
    every = pd.concat(tables)
    print(every.groupby(["set", "method"]).mean(numeric_only=True).round(4).to_string())


if __name__ == "__main__":
    main()
