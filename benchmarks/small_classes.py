"""What shrinking the kernel curve changes in small classes.

For worlds of three sizes: held-out error of the kernel method with the paper's
formula (`prior_weight=0`), with the default, and of the class-only share. The
truth is known in the simulated world, so the error is the distance to it.
"""

from __future__ import annotations

import numpy as np
from benchmarks.run import table
from verification.in_memory import draw_labelled
from verification.world_truth import truth

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings

SIZES = (46_801, 4_680, 1_200)
N_WORLDS = 20
N_FRESH = 20_000
SPECS = ("class_only", "kernel(prior_weight=0)", "kernel")
FEW = 100  # predictions: below, a class counts as small
EXTREME = 1e-3  # a confidence closer than this to 0 or 1 is called extreme


def true_confidence(labelled: Labelled) -> np.ndarray:
    """Return P(right) of the world at each prediction's class and score."""
    predictions = labelled.predictions
    value = np.empty(labelled.n_samples)
    for class_ in range(predictions.n_classes):
        rows = predictions.predicted_class == class_
        value[rows] = truth().probability_correct(class_, predictions.top_score[rows])
    return value


def divergence(confidence: np.ndarray, truth_: np.ndarray) -> np.ndarray:
    """Return the excess NLL over the truth's, in expectation over the outcome."""
    kept = np.clip(confidence, 1e-15, 1 - 1e-15)
    real = np.clip(truth_, 1e-15, 1 - 1e-15)
    return real * np.log(real / kept) + (1 - real) * np.log((1 - real) / (1 - kept))


def small_classes() -> str:
    """Return a table: size × method, over all rows and over small classes."""
    rows = []
    for size in SIZES:
        sums = {spec: np.zeros(6) for spec in SPECS}
        for world in range(N_WORLDS):
            rng = np.random.default_rng([size, world])
            fitted = draw_labelled(WorldSettings(n_calibration=size), rng)
            fresh = draw_labelled(WorldSettings(n_calibration=N_FRESH), rng)
            real = true_confidence(fresh)
            counts = np.bincount(fitted.predictions.predicted_class, minlength=11)
            is_small = counts[fresh.predictions.predicted_class] < FEW
            for spec in SPECS:
                calibrator = parse_method(spec, "benchmarks").build(FitOptions(n_draws=0))
                value = calibrator.fit(fitted).confidence(fresh.predictions).value
                known = ~np.isnan(value)
                excess = divergence(value[known], real[known])
                few = is_small[known]
                wild = np.minimum(value[known], 1 - value[known]) < EXTREME
                sums[spec] += [
                    excess.sum(), known.sum(), excess[few].sum(), few.sum(),
                    np.abs(value - real)[known][few].sum(), wild[few].sum(),
                ]  # fmt: skip
        for spec, sum_ in sums.items():
            n_few = max(sum_[3], 1.0)
            small = ["–"] * 3 if sum_[3] == 0 else [
                f"{sum_[2] / n_few:.4f}", f"{sum_[4] / n_few:.3f}", f"{sum_[5] / n_few:.1%}"
            ]  # fmt: skip
            rows.append([f"{size:,}", f"`{spec}`", f"{sum_[0] / sum_[1]:.4f}", *small])
    header = [
        "calibration rows",
        "method",
        "excess NLL, all",
        f"excess NLL, classes under {FEW}",
        "mean distance to the truth there",
        "within 0.001 of 0 or 1 there",
    ]
    return (
        f"{N_WORLDS} simulated worlds a size, judged on {N_FRESH:,} new proteins against the "
        "world's true probability; the excess is over the truth's own NLL.\n\n"
        + table(header, rows)
    )
