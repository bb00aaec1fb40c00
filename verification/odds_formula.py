"""Is the odds formula as good as a refit, where classes are mixed otherwise than in calibration?

A method is fitted once; for samples of other class proportions, which are known here, its
confidences are corrected in three ways: by a refit with weights w[true class], by the formula
with the shares of the true classes among the wrong by predicted class and score, and by the
formula as it is used, with the mean of these and of those that the score vector says. Two more
know only counts: of right and wrong predictions and of the members of each class; and without
the members, each class having as many as are predicted. Compared is the NLL on proteins of the
other proportions (decision 0042). Of counts also: in how many of all pairs of class and
proportions what is assumed moves the odds by no more than the interval was widened for it.

    python verification/odds_formula.py --draws 6 --methods kernel,auto
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from few_rows import nll
from in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import moved_odds, reach_of_assumed, shifted
from credence.composition.both_samples import CalibrationSample, calibration_sample
from credence.composition.from_counts import assumed_true_classes
from credence.predictions import Floats, Labelled, from_scores, label
from credence.simulate.law import WorldSettings

SEED = 20261127
REAL = Path("../shared/data/phanns_scores_2020.csv.gz")
STRENGTHS = (50.0, 10.0, 3.0)  # totals of the Dirichlet around calibration's own shares
BACKGROUND = (0.8, 0.9, 0.98)  # shares of the most frequent class
N_USE = 3000
LEVEL = 0.95  # of intervals
FEWEST_WRONG = 100  # predictions of a class, of which it is known where they belong
LEAST_WEIGHT = 1e-4  # of a class in a refit, which leaves out those of weight 0


def real_table() -> Labelled | None:
    """Return PhANNs' table of its first submission; None where it is absent."""
    if not REAL.exists():
        return None
    table = pd.read_csv(REAL, index_col=0)
    names = tuple(table.columns)
    place = {name.lower(): number for number, name in enumerate(names)}
    place["shaft"] = place["tail shaft"]
    stems = table.index.str.replace(r"_\d+$", "", regex=True).str.replace("_", " ").str.lower()
    known = np.array([place[stem] for stem in stems])
    ids = table.index.to_numpy(dtype=object)
    return label(from_scores(ids, names, table.to_numpy(), 10.0, 0.01), known)


def other_proportions(share: Floats, n_draws: int) -> Iterator[tuple[str, Floats]]:
    """Yield class proportions, from near the calibration set's own to all but one class."""
    for draw in range(n_draws):
        turn = draw % (len(STRENGTHS) + len(BACKGROUND))
        if turn < len(STRENGTHS):
            rng = np.random.default_rng([SEED, draw])
            total = STRENGTHS[turn]
            yield f"dirichlet {total:g}", rng.dirichlet(total * np.maximum(share, 1e-3))
            continue
        background = BACKGROUND[turn - len(STRENGTHS)]
        wanted = share * (1.0 - background) / (1.0 - share.max())
        wanted[share.argmax()] = background
        yield f"background {background:g}", wanted


def study(name: str, known: Labelled, pool: Labelled, method: str, n_draws: int) -> pd.DataFrame:
    """Return the NLL of each way, one row for each sample."""
    calibrator = parse_method(method, "--method").build(FitOptions(n_draws=0))
    plain = calibrator.fit(known)
    with_vectors = calibration_sample(known, True)
    by_score = with_vectors.without_vectors
    n_classes = pool.predictions.n_classes
    from_counts, as_predicted = (
        calibration_sample(replace(known, true_class=assumed_true_classes(known, members)), False)
        for members in (
            np.bincount(classes, minlength=n_classes)
            for classes in (known.true_class, known.predictions.predicted_class)
        )
    )
    share = np.bincount(known.true_class, minlength=n_classes) / known.n_samples
    there = np.bincount(pool.true_class, minlength=n_classes) / pool.n_samples
    rows = []
    for number, (kind, wanted) in enumerate(other_proportions(share, n_draws)):
        chance = np.divide(wanted, there, out=np.zeros(n_classes), where=there > 0)
        each = chance[pool.true_class]
        rng = np.random.default_rng([SEED, 1, number])
        use = pool.take(rng.choice(pool.n_samples, N_USE, p=each / each.sum()))
        reached = chance * there / (chance * there).sum()
        weight = np.divide(reached, share, out=np.zeros(n_classes), where=share > 0)
        weight = np.maximum(weight, LEAST_WEIGHT)
        asked = use.predictions
        stated = {"before": plain.confidence(asked).value}
        stated["refit"] = calibrator.fit(shifted(known, weight)).confidence(asked).value
        for word, sample in (("by score", by_score), ("by both", with_vectors)):
            wrong = sample.among_wrong(asked) @ weight
            stated[word] = moved_odds(stated["before"], weight[asked.predicted_class], wrong)
        asked_class = asked.predicted_class
        wrong = from_counts.among_wrong(asked) @ weight
        stated["counts"] = moved_odds(stated["before"], weight[asked_class], wrong)
        predicted = np.bincount(known.predictions.predicted_class, minlength=n_classes)
        ratio = reached / (np.maximum(predicted, 1.0) / known.n_samples)
        wrong = as_predicted.among_wrong(asked) @ ratio
        stated["no members"] = moved_odds(stated["before"], ratio[asked_class], wrong)
        within = within_reach(pool, from_counts, weight)
        losses = {word: nll(value, use.is_correct) for word, value in stated.items()}
        rows.append({"set": name, "method": method, "kind": kind, **losses, "in reach": within})
    return pd.DataFrame(rows)


def within_reach(pool: Labelled, from_counts: CalibrationSample, weight: Floats) -> float:
    """Return the share of classes whose wrong predictions move the odds no more than assumed."""
    n_classes = pool.predictions.n_classes
    wrong = np.zeros((n_classes, n_classes))
    np.add.at(wrong, (pool.predictions.predicted_class, pool.true_class), 1.0)
    np.fill_diagonal(wrong, 0.0)
    many = wrong.sum(axis=1) >= FEWEST_WRONG
    table = from_counts.true_among_wrong
    reach = reach_of_assumed(table, weight, LEVEL).mean(axis=1)
    truth = (wrong[many] / wrong[many].sum(axis=1, keepdims=True)) @ weight
    error = np.log(truth / (table.mean(axis=2) @ weight)[many])
    return float((np.abs(error) <= reach[many]).mean())


def main() -> None:
    """Print the mean NLL of each way by set and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=6)
    parser.add_argument("--calibration", type=int, default=2000)
    parser.add_argument("--methods", default="kernel,logistic,auto")
    asked = parser.parse_args()
    tables = []
    for method in asked.methods.split(","):
        rng = np.random.default_rng(SEED)
        settings = WorldSettings(n_calibration=asked.calibration, class_proportions="sampled")
        single = WorldSettings(
            n_calibration=20_000, class_proportions="sampled", family_size="single"
        )
        world, pool = draw_labelled(settings, rng), draw_labelled(single, rng)
        tables.append(study("world", world, pool, method, asked.draws))
        real = real_table()
        if real is not None:
            order = rng.permutation(real.n_samples)
            parts = np.split(order, [asked.calibration])
            known, pool = (real.take(rows) for rows in parts)
            tables.append(study("phanns", known, pool, method, asked.draws))
    every = pd.concat(tables)
    print(every.groupby(["set", "method"]).mean(numeric_only=True).round(4).to_string())
    print(every.groupby(["set", "kind"]).mean(numeric_only=True).round(4).to_string())


if __name__ == "__main__":
    main()
