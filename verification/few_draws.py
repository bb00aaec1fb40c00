"""Do intervals of few draws hold what they state? Confidences, metrics and class proportions.

In each simulated world intervals are made from several numbers of draws, as the package
makes them and by plain quantiles of the draws, and it is asked whether they hold the truth
that is known of the world: the share of a class that is right, the probability of being
right at the score of each protein (`kernel`), accuracy and mean log loss of the true
probabilities, and the classes' shares in a query set.

    python verification/few_draws.py --worlds 40 --proteins 1200 --page docs/verification.md
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from in_memory import draw_labelled
from world_truth import truth

from credence.calibrators import intervals
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.estimate import estimate_composition
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.evaluation.judging import HELD_OUT_SAMPLE, EvaluationOptions, Stated, judge
from credence.metrics.metric import negative_log_likelihood
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings
from report import write_section

SEED = 20261127
LEAST_CLUSTERS = 40  # of a class that is asked about
CASES = ((2, 0.95), (10, 0.95), (20, 0.95), (50, 0.95), (200, 0.95), (50, 0.999), (200, 0.999))
QUANTITIES = ("precision of a class", "confidence", "accuracy", "log loss", "class proportions")
TITLE = "Do intervals of few draws cover?"
Held = dict[tuple[int, float, bool, str], float]


def covered(world: int, n_proteins: int) -> Held:
    """Return the share of the intervals that hold the truth, by case and quantity."""
    law = truth()
    settings = WorldSettings(n_calibration=n_proteins, class_proportions="sampled")
    rng = np.random.default_rng([SEED, world])
    labelled = draw_labelled(settings, rng)
    use = draw_labelled(replace(settings, family_size="single"), rng)
    best = replace(labelled.predictions, scores=None, network_scores=None)
    labelled = replace(labelled, predictions=best)
    found: Held = {}
    for n_draws, level in CASES:
        for is_plain in (False, True):
            intervals.BEYOND = 0.0 if is_plain else BEYOND
            options = FitOptions(level=level, n_draws=n_draws)
            for name, held in held_by(labelled, use, options, law):
                found[n_draws, level, is_plain, name] = held
    intervals.BEYOND = BEYOND
    return found


BEYOND = intervals.BEYOND


def held_by(  # type: ignore[no-untyped-def]
    labelled: Labelled, use: Labelled, options: FitOptions, law
) -> Iterator[tuple[str, float]]:
    """Yield how often the intervals of each quantity hold the truth."""
    predictions = labelled.predictions
    predicted, score = predictions.predicted_class, predictions.top_score
    assert score is not None
    mass = np.einsum("j,jk->jk", law.prevalence, law.mass.sum(axis=2))
    share = np.diag(mass) / mass.sum(axis=0)
    probability = law.probability_correct(predicted, score)
    large = [
        class_
        for class_ in range(len(share))
        if len(set(labelled.cluster[predicted == class_])) >= LEAST_CLUSTERS
    ]
    for name, method, value in (
        (QUANTITIES[0], "class_only", share[predicted]),
        (QUANTITIES[1], "kernel", probability),
    ):
        stated = parse_method(method, "study").build(options).fit(labelled).confidence(predictions)
        is_held = (stated.lower <= value) & (value <= stated.upper)
        yield name, float(np.mean([is_held[predicted == class_].mean() for class_ in large]))
    known = {("truth", HELD_OUT_SAMPLE): Stated(confidence=probability)}
    judging = EvaluationOptions(level=options.level, n_draws=options.n_draws, n_floor=0)
    rows = judge(labelled, known, "truth", judging).metrics
    for name, metric, value in (
        (QUANTITIES[2], "accuracy", float(np.trace(mass))),
        (QUANTITIES[3], "nll", mean_log_loss(law)),
    ):
        (row,) = [one for one in rows if one.class_name is None and one.metric == metric]
        yield name, float(row.lower <= value <= row.upper)
    sample = calibration_sample(labelled, False)
    seen = use_sample(use.predictions, None)
    mix = estimate_composition(sample, seen, ESTIMATORS_BY_NAME["bbse_hard"], options)
    yield (
        QUANTITIES[4],
        float(((mix.lower <= law.prevalence) & (law.prevalence <= mix.upper)).mean()),
    )


def mean_log_loss(law) -> float:  # type: ignore[no-untyped-def]
    """Return the mean log loss of the true probabilities in the population."""
    mass = np.einsum("j,jks->ks", law.prevalence, law.mass)
    classes, scores = np.indices(mass.shape)
    p = law.probability_correct(classes.ravel(), scores.ravel() / 100.0)
    losses = p * negative_log_likelihood(p, np.ones(len(p), dtype=bool))
    losses += (1.0 - p) * negative_log_likelihood(p, np.zeros(len(p), dtype=bool))
    return float(mass.ravel() @ losses / mass.sum())


def table_of(worlds: Sequence[Held]) -> list[dict[str, object]]:
    """Return a row for each number of draws and level: by Student's t, by plain quantiles."""
    means: defaultdict[tuple[int, float, bool, str], float] = defaultdict(float)
    for held in worlds:
        for key, value in held.items():
            means[key] += value / len(worlds)
    rows: list[dict[str, object]] = []
    for n_draws, level in CASES:
        row: dict[str, object] = {"draws": n_draws, "level": f"{100 * level:g} %"}
        for name in QUANTITIES:
            as_made, plain = (means[n_draws, level, is_plain, name] for is_plain in (False, True))
            row[name] = f"{as_made:.3f} ({plain:.3f})"
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--proteins", type=int, default=1_500)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        worlds = list(pool.map(covered, range(given.worlds), [given.proteins] * given.worlds))
    table = table_of(worlds)
    text = (
        f"Share of intervals that hold the truth, over {given.worlds} simulated worlds of "
        f"{given.proteins:,} proteins in families, as they are made and, in brackets, by plain "
        "quantiles of the draws (`verification/few_draws.py`, decision 0040). *Precision of a "
        "class* is `class_only`, *confidence* is `kernel` at the score of each protein, in "
        f"classes of at least {LEAST_CLUSTERS} families; *accuracy* and *log loss* are those of "
        "the true probabilities, over all classes; *class proportions* are those of a query set "
        "of as many unrelated proteins, by `bbse_hard`. 200 draws carry the quantiles "
        "of 95 %, so there the two are one."
    )
    for row in table:
        print("\t".join(str(value) for value in row.values()))
    if given.page is not None:
        write_section(given.page, TITLE, text, table)


if __name__ == "__main__":
    main()
