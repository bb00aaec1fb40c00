"""What the MACEst paper measures, on digits: noise, the trust score, Brier score and ECE.

Green, Rowe & Polleri 2021 (arXiv 2109.01531). Ten under-trained networks that tell digits, as in
`verification/ensembles.py`; methods are fitted on test set 1 and measured on test set 2, and on
images of the same pixels in random order, which no class has. A place is an image's first
principal components. ± is two standard deviations of bootstrap resamples of images.

    PYTHONPATH=. python verification/macest.py --images t10k-images.gz --labels t10k-labels.gz \\
        --page docs/paper.md
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy import stats
from verification.ensembles import SEED, TEN, pooled, read_idx, train
from verification.report import write_section

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.metrics.all_metrics import METRICS_BY_NAME
from credence.metrics.metric import Judged
from credence.novelty.trust import dense, trust_among
from credence.predictions import Floats, Labelled

N_TRAIN, N_FIRST, N_SECOND, N_NOISE = 5000, 2500, 2500, 1000
STEPS = 27  # of training: about 88 % right
N_COMPONENTS = 20
N_RESAMPLES = 200
DIGITS = 9
METHODS = {
    "MACEst": "macest",
    "MACEst, places alone": "macest(scores=0)",
    "kernel": "kernel",
    "isotonic": "isotonic",
    "STS": "sts",
    "TSwA": "tswa",
    "uncalibrated": "uncalibrated",
}
Row = dict[str, object]


@dataclass(frozen=True, kw_only=True)
class Sets:
    """Digits that calibrate, digits that judge, noise; and the trust scores of these two."""

    first: Labelled
    second: Labelled
    noise: Labelled  # No class of it is true
    trust: Floats  # Of the second set
    trust_noise: Floats


def drawn_sets(images: np.ndarray, digits: np.ndarray) -> Sets:
    """Train ten networks, and return what they say of two sets and of noise."""
    rng = np.random.default_rng([SEED, 2])
    n = N_TRAIN + N_FIRST + N_SECOND
    noise = rng.permuted(images[rng.choice(n, N_NOISE, replace=False)], axis=1)
    every = np.concatenate([images[:n], noise])
    logs = np.array([train(number, every, digits, N_TRAIN, STEPS) for number in range(TEN)])
    centre = images[:N_TRAIN].mean(axis=0)
    axes = np.linalg.eigh(np.cov(images[:N_TRAIN], rowvar=False))[1][:, -N_COMPONENTS:]
    place = (every - centre).astype(np.float64) @ axes
    labelled = pooled(logs, np.concatenate([digits[N_TRAIN:n], np.zeros(N_NOISE, np.int64)]))
    labelled = replace(labelled, predictions=replace(labelled.predictions, places=place[N_TRAIN:]))
    row = np.arange(len(place) - N_TRAIN)
    kept = dense(place[:N_TRAIN], digits[:N_TRAIN].astype(np.int64))
    trust = trust_among(
        place[kept], digits[kept].astype(np.int64), place[N_TRAIN:],
        labelled.predictions.predicted_class,
    )  # fmt: skip
    is_second, is_noise = (row >= N_FIRST) & (row < N_FIRST + N_SECOND), row >= n - N_TRAIN
    return Sets(
        first=labelled.take(row < N_FIRST),
        second=labelled.take(is_second),
        noise=labelled.take(is_noise),
        trust=trust[is_second],
        trust_noise=trust[is_noise],
    )


def with_error(statistic: Callable[[np.ndarray], float], n: int) -> str:
    """Return a statistic of all rows ± two standard deviations over bootstrap resamples."""
    rng = np.random.default_rng([SEED, 3])
    drawn = [statistic(rng.integers(0, n, n)) for _ in range(N_RESAMPLES)]
    return f"{statistic(np.arange(n)):.3f} ± {2 * np.std(drawn):.3f}"


def metric_of(name: str, labelled: Labelled, confidence: Floats) -> str:
    """Return a metric with its error."""

    def at(rows: np.ndarray) -> float:
        judged = Judged(
            confidence=confidence[rows],
            is_correct=labelled.is_correct[rows],
            weight=labelled.weight[rows],
        )
        return METRICS_BY_NAME[name].compute(judged)

    return with_error(at, len(confidence))


def rank_correlation(confidence: Floats, trust: Floats) -> str:
    """Return Spearman's correlation of a confidence with the trust score, with its error."""
    confidence = confidence.round(DIGITS)  # far from all digits they differ by rounding alone
    if np.ptp(confidence) == 0.0:
        return "none, all alike"

    def at(rows: np.ndarray) -> float:
        if np.ptp(confidence[rows]) == 0.0:
            return 0.0
        return float(stats.spearmanr(confidence[rows], trust[rows]).statistic)

    return with_error(at, len(confidence))


def rows_of(sets: Sets, methods: dict[str, str]) -> list[Row]:
    """Return a row for each method; KS is the distance to the first one's confidence of noise."""
    rows: list[Row] = []
    confidences: list[Floats] = []
    for name, text in methods.items():
        fit = parse_method(text, "method").build(FitOptions(n_draws=0)).fit(sets.first)
        second, noise = (
            fit.confidence(labelled.predictions).value for labelled in (sets.second, sets.noise)
        )
        confidences.append(noise)
        rows.append(
            {
                "method": name,
                "Brier": metric_of("brier", sets.second, second),
                "ECE": metric_of("ece", sets.second, second),
                "mean confidence, digits": float(second.mean()),
                "mean confidence, noise": float(noise.mean()),
                "correlation with trust, digits": rank_correlation(second, sets.trust),
                "correlation with trust, noise": rank_correlation(noise, sets.trust_noise),
                "KS to MACEst, noise": float(stats.ks_2samp(noise, confidences[0]).statistic),
            }
        )
    return rows


def main() -> None:
    """Work the table out and write it into the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--labels", type=Path, required=True)
    parser.add_argument("--page", type=Path, required=True)
    given = parser.parse_args()
    images = read_idx(given.images).astype(np.float32) / 255
    sets = drawn_sets(images, read_idx(given.labels))
    right = float(sets.second.is_correct.mean())
    table = rows_of(sets, METHODS)
    write_section(
        given.page,
        "MACEst on digits and on noise",
        f"Ten networks, {100 * right:.1f} % right on {N_SECOND:,} digits; {N_NOISE:,} images of "
        "noise. ± two standard deviations over resampled images.",
        table,
    )


if __name__ == "__main__":
    main()
