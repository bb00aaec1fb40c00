"""Do the tests of calibration reject as often as they say, with relatives?

Perfectly calibrated confidences, proteins in families of five whose members are
alike (same confidence, same outcome) or single: each test is made on many sets,
and the share of p-values of at most 5 % is counted, by random signs over
clusters and by the asymptotic law of independent proteins. The last column is the
share that finds confidences that are five percentage points too high throughout.

    python verification/test_levels.py --sets 1000 --document docs/verification-metrics.md
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from credence.evaluation.calibration_tests import NOTABLE_SHIFT, TAILS, calibration_tests
from credence.predictions import Predictions, label
from report import write_section

SEED = 20261121
LEVEL = 0.05
BY_CLUSTERS, AS_IF = "rejects, by clusters", "rejects, as if independent"
N_SIGNS = 199  # enough for a level of 5 %: 199 + 1 is divided by 20


def p_values(
    n_families: int, size: int, shift: float, rng: np.random.Generator
) -> dict[str, tuple[float, float, float]]:
    """Return by test: p by clusters, p as if independent, and the power foretold."""
    stated = np.round(rng.beta(3.0, 1.2, n_families), 2)
    right = rng.random(n_families) < np.clip(stated - shift, 0.0, 1.0)
    cluster = np.repeat(np.array([f"f{k}" for k in range(n_families)], dtype=object), size)
    n = n_families * size
    predictions = Predictions(
        ids=cluster,
        class_names=("A", "B"),
        scale=1.0,
        resolution=0.0,
        predicted_class=np.zeros(n, dtype=np.int64),
    )
    true_class = np.repeat(np.where(right, 0, 1), size)
    labelled = label(predictions, true_class, cluster=cluster)
    found = calibration_tests("m", labelled, np.repeat(stated, size), N_SIGNS)
    return {
        entry.test: (entry.p_value, entry.p_independent, entry.power)
        for entry in found
        if entry.class_name is not None
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--document", type=Path, help="also write the table into this page")
    given = parser.parse_args()
    table = []
    for n_families in (40, 100, 200):
        for size in (1, 5):
            null = {test: [] for test in TAILS}
            moved = {test: [] for test in TAILS}
            for number in range(given.sets):
                key = [SEED, n_families, size, number]
                for test, found in p_values(
                    n_families, size, 0.0, np.random.default_rng(key)
                ).items():
                    null[test].append(found)
                for test, found in p_values(
                    n_families, size, NOTABLE_SHIFT, np.random.default_rng([*key, 1])
                ).items():
                    moved[test].append(found)
            for test in TAILS:
                by_cluster, independent, power = np.array(null[test]).T
                line = {
                    "test": test,
                    "families": n_families,
                    "of": size,
                    BY_CLUSTERS: float((by_cluster <= LEVEL).mean()),
                    AS_IF: float((independent <= LEVEL).mean()),
                    "power foretold": float(power.mean()),
                    "power found": float((np.array(moved[test])[:, 0] <= LEVEL).mean()),
                }
                table.append(line)
                print(
                    "\t".join(
                        f"{v:.3f}" if isinstance(v, float) else str(v) for v in line.values()
                    )
                )
    if given.document is not None:
        error = float(np.sqrt(LEVEL * (1 - LEVEL) / given.sets))
        furthest = max(abs(float(str(row[BY_CLUSTERS])) - LEVEL) for row in table) / error
        related = [float(str(row[AS_IF])) for row in table if row["of"] != 1]
        text = (
            f"    python verification/test_levels.py --sets {given.sets} "
            f"--document {given.document}\n\n"
            f"{given.sets:,} sets each of perfectly calibrated confidences; members of a family "
            f"share confidence and outcome. Nominal level 5 %; its standard error here is "
            f"{100 * error:.1f} percentage points. By clusters the furthest level is "
            f"{furthest:.1f} standard errors from it. As if independent, families of five are "
            f"rejected {100 * min(related):.0f} to {100 * max(related):.0f} % of the time. "
            "Power is against confidences five percentage points too high throughout: what a "
            "test foretells from its signed walks, and the share of such sets that it rejected."
        )
        write_section(given.document, "Tests of calibration", text, table)


if __name__ == "__main__":
    main()
