"""From how many rows on is a correction for estimated class proportions of use?

For each world a calibration set in families is drawn, and tables of so many rows: of its own
class proportions, and of others. Compared is the mean NLL of the rows before and after.

    python verification/few_rows.py --worlds 40
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import moved_odds
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.estimate import estimate_composition
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.predictions import Floats
from credence.simulate.law import WorldSettings, score_law

SEED = 20261128
SIZES = (3, 5, 10, 15, 20, 30, 50, 100)
BACKGROUND = 0.9  # share of the class that is most frequent, where proportions differ
CLIP = 1e-15


def nll(value: Floats, is_correct: np.ndarray) -> float:
    likely = np.where(is_correct, value, 1.0 - value)
    return float(-np.log(np.maximum(likely, CLIP)).mean())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--worlds", type=int, default=40)
    rows = []
    for world in range(parser.parse_args().worlds):
        rng = np.random.default_rng([SEED, world])
        known = draw_labelled(WorldSettings(n_calibration=1500, class_proportions="sampled"), rng)
        plain = parse_method("kernel", "--method").build(FitOptions(n_draws=0)).fit(known)
        sample = calibration_sample(known, True)
        usual = score_law().prevalence
        heavy = usual * (1.0 - BACKGROUND) / (1.0 - usual.max())
        heavy[usual.argmax()] = BACKGROUND
        anything = rng.dirichlet(3.0 * usual)
        for kind, share in (("same", usual), ("background", heavy), ("any", anything)):
            for n in SIZES:
                settings = WorldSettings(
                    n_calibration=n, class_proportions="sampled", family_size="single"
                )
                use = draw_labelled(settings, rng, share)
                asked = use.predictions
                found = estimate_composition(
                    sample,
                    use_sample(asked, sample.model),
                    ESTIMATORS_BY_NAME["em_matched"],
                    FitOptions(n_draws=0),
                )
                weight = np.nan_to_num(found.fit_weight, nan=1.0)
                before = plain.confidence(asked).value
                wrong = sample.among_wrong(asked) @ weight
                after = moved_odds(before, weight[asked.predicted_class], wrong)
                is_known = ~np.isnan(before)
                gain = nll(before[is_known], use.is_correct[is_known])
                gain -= nll(after[is_known], use.is_correct[is_known])
                rows.append({"kind": kind, "n": n, "gain": gain, "applied": found.part_applied})
    table = pd.DataFrame(rows)
    table["lost"] = table["gain"] < -0.01
    print(table.groupby(["kind", "n"]).agg(["mean"]).round(4).to_string())


if __name__ == "__main__":
    main()
