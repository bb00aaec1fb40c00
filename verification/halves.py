"""Do intervals cover on a real table? Halves of PhANNs' first table by blocks of relatives.

A method is fitted on rows drawn from one half and answers for the other. In each predicted class
the other half is divided into five parts by confidence; the gap between the precision and the
mean confidence of each part is divided by what its noise (blocks as units) and the width of its
intervals allow. The root mean square of these ratios is 1 where intervals are honest, below 1
where they are too wide, above 1 where they are too narrow.

    python verification/halves.py --methods auto "auto(sees=score)" --rows 1500 4680 --seeds 2
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from benchmarks.data import halves, real_table

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Confidence
from credence.draws import encode_clusters
from credence.predictions import Floats, Labelled

Z = 1.96  # half-widths of an interval of 95 % in standard errors
LEAST_ROWS = 200  # predictions of a class in the other half
PARTS = 5


def some_rows(labelled: Labelled, n_rows: int, seed: int) -> Labelled:
    """Return whole blocks drawn at random, at most `n_rows` rows of them."""
    code, key = encode_clusters(labelled.cluster)
    order = np.random.default_rng([seed, n_rows]).permutation(len(key))
    is_chosen = np.cumsum(np.bincount(code)[order]) <= n_rows
    return labelled.take(np.isin(code, order[is_chosen]))


def ratios(test: Labelled, confidence: Confidence) -> tuple[Floats, float]:
    """Return the gaps over what noise and interval allow, and the mean width."""
    p, half_width = confidence.value, (confidence.upper - confidence.lower) / 2.0 / Z
    code, _ = encode_clusters(test.cluster)
    residual = test.is_correct - p
    found, widths = [], []
    for class_ in range(test.predictions.n_classes):
        rows = np.flatnonzero((test.predictions.predicted_class == class_) & np.isfinite(p))
        if len(rows) < LEAST_ROWS:
            continue
        for part in np.array_split(rows[np.argsort(p[rows], kind="stable")], PARTS):
            noise = np.sqrt((np.bincount(code[part], weights=residual[part]) ** 2).sum())
            noise = max(noise, 0.5) / len(part)
            found.append(residual[part].mean() / np.hypot(noise, half_width[part].mean()))
            widths.append(2.0 * Z * half_width[part].mean())
    return np.array(found), float(np.mean(widths))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="+", default=["auto", "auto(sees=score)"])
    parser.add_argument("--rows", nargs="+", type=int, default=[1_500, 4_680])
    parser.add_argument("--seeds", type=int, default=2)
    given = parser.parse_args()
    table = real_table()
    if table is None:
        raise SystemExit("PhANNs' first table is not at hand (benchmarks/data.py says where).")
    first, second = halves(table)
    print("method", "rows", "seed", "half", "ratio", "within_1.96", "width", sep="\t")
    for text in given.methods:
        method = parse_method(text, "--methods").build(FitOptions(n_draws=200))
        for n_rows in given.rows:
            for seed in range(given.seeds):
                for half, (fit, test) in enumerate(((first, second), (second, first)), 1):
                    fitted = method.fit(some_rows(fit, n_rows, seed))
                    ratio, width = ratios(test, fitted.confidence(test.predictions))
                    root, within = np.sqrt((ratio**2).mean()), (np.abs(ratio) < Z).mean()
                    numbers = f"{root:.2f}\t{within:.3f}\t{width:.3f}"
                    print(text, n_rows, seed, half, numbers, sep="\t", flush=True)


if __name__ == "__main__":
    main()
