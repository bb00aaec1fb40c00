"""Seconds and memory of judging fifteen methods on a table of PhANNs' size.

Ten folds of whole clusters, 1,000 draws, all metrics, floors and tests, on
46,801 rows of PhANNs' first table; clusters are runs of neighbouring rows.

    python -m benchmarks.evaluate --family 5
"""

from __future__ import annotations

import argparse
import os
import resource
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from benchmarks.data import real_table

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.evaluate import evaluate
from credence.evaluation.judging import EvaluationOptions
from credence.predictions import Labelled

N_ROWS = 46_801  # the test set of the calibration paper
METHODS = (
    *("uncalibrated", "class_only", "sts", "csts", "tswa", "cstswa", "platt", "beta"),
    *("spline", "isotonic", "venn_abers", "histogram", "cumulative_optimal", "kernel", "logistic"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--family", type=int, default=5, help="rows per cluster")
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--methods", nargs="+", default=list(METHODS))
    given = parser.parse_args()
    table = real_table()
    if table is None:
        print("PhANNs' table is not there: nothing measured.")
        return
    table = table.take(np.arange(N_ROWS))
    cluster = np.array([f"f{row // given.family}" for row in range(N_ROWS)], dtype=object)
    labelled = Labelled(
        predictions=table.predictions,
        true_class=table.true_class,
        weight=table.weight,
        cluster=cluster,
    )
    quick = FitOptions(n_draws=0)
    calibrators = {name: parse_method(name, "--methods").build(quick) for name in given.methods}
    began, busy = time.perf_counter(), time.process_time()
    found = evaluate(labelled, calibrators, EvaluationOptions(n_folds=10, n_draws=given.draws))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"{len(calibrators)} methods, {len(found.results.metrics):,} metrics, "
        f"{len(found.results.floors):,} floors, {len(found.results.tests):,} tests: "
        f"{time.perf_counter() - began:.0f} s ({time.process_time() - busy:.0f} s of one core), "
        f"{memory:.2f} GB"
    )


if __name__ == "__main__":
    main()
