"""Time and memory of novelty: proteins featurised, indexed and scored; MACEst on noise.

python -m benchmarks.novelty            46,801 proteins, and the demo world
python -m benchmarks.novelty --proteins 5000
"""

from __future__ import annotations

import argparse
import resource
import time
from dataclasses import replace

import numpy as np
from scipy import stats

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.protocol import FitOptions
from credence.novelty import macest, space
from credence.novelty.macest import MacestSettings
from credence.novelty.reference import build
from credence.novelty.trust import dense, trust_among
from credence.predictions import Floats, Labelled, Strings, label
from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world

N_PAPER = 46_801  # test set of the calibration paper
COMPONENTS = 32
N_NOISE = 1_000
N_NOISE_WORLD = 4_680  # calibration proteins of the demo
QUICK = FitOptions(n_draws=0)


def peak_gigabytes() -> float:
    """Return the greatest memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def clocks() -> tuple[float, float]:
    """Return the time on the wall, and that of the processor."""
    return time.perf_counter(), time.process_time()


def world_of(n: int) -> tuple[Labelled, Strings]:
    """Return labelled predictions and sequences of a simulated world."""
    settings = WorldSettings(
        n_calibration=n, n_use=1, n_training=0, n_trove=1, n_defects=0, n_training_relatives=0
    )
    calibration = make_world(settings).calibration
    return calibration.labelled, calibration.sequences


def random_proteins(sequences: Strings, n: int, seed: int) -> Strings:
    """Return random residues in the natural composition, as long as real proteins."""
    rng = np.random.default_rng(seed)
    residues = np.array(list("".join(sequences)))
    lengths = rng.choice([len(sequence) for sequence in sequences], n)
    return np.array(["".join(rng.choice(residues, size)) for size in lengths], dtype=object)


def chain(labelled: Labelled, sequences: Strings) -> str:
    """Return the seconds of every step at the paper's size."""
    steps: list[tuple[str, float, float]] = []
    began = clocks()

    def step(name: str) -> None:
        nonlocal began
        now = clocks()
        steps.append((name, now[0] - began[0], now[1] - began[1]))
        began = now

    made = space.fit_composition(sequences, COMPONENTS)
    step("axes learnt")
    points = made.of_sequences(sequences)
    step("proteins placed")
    names = np.array(labelled.predictions.class_names, dtype=object)[labelled.true_class]
    known = build(made, labelled.predictions.ids, names, points, labelled.cluster, None, 0.99)
    step("distances to other families")
    known.look(points)
    step("novelty of as many")
    arguments = (points, labelled.true_class, labelled.predictions.predicted_class)
    fitted = macest.fit(
        *arguments, len(labelled.predictions.class_names), labelled.cluster, MacestSettings()
    )
    step("MACEst fitted")
    fitted.probabilities(points)
    step("MACEst asked of as many")
    kept = dense(points, labelled.true_class)
    among = points[kept], labelled.true_class[kept]
    trust_among(*among, points, labelled.predictions.predicted_class)
    step("trust score fitted and asked")
    steps.append(("all", sum(row[1] for row in steps), sum(row[2] for row in steps)))
    return "\n".join(
        [
            f"{len(points):,} proteins; peak memory {peak_gigabytes():.2f} GiB. Processor seconds "
            "are those of all cores; they are the measure where other work shares the machine.\n",
            "| step | seconds | processor seconds |",
            "|---|---|---|",
            *(f"| {name} | {wall:.1f} | {processor:.1f} |" for name, wall, processor in steps),
        ]
    )


def noise(labelled: Labelled, sequences: Strings) -> str:
    """Return how MACEst and score-based methods do in sample, held out and on noise."""
    made = space.fit_composition(sequences, COMPONENTS)
    predictions = labelled.predictions
    placed = replace(predictions, places=made.of_sequences(sequences))
    known = label(placed, labelled.true_class, labelled.weight, labelled.cluster)
    sample = np.random.default_rng(2).integers(known.n_samples, size=N_NOISE)
    asked = placed.take(sample)
    nonsense = made.of_sequences(random_proteins(sequences, N_NOISE, 3))
    asked = replace(asked, places=nonsense)
    fold = folds_by_class(known, 5)
    rows_of, on_noise = {}, {}
    for text, name, settings in (
        ("class_only", "class_only", {}),
        ("kernel", "kernel", {}),
        ("tswa", "tswa", {}),
        ("macest", "macest", {}),
        ("macest(scores=0.0)", "macest", {"scores": 0.0}),
    ):
        method = BY_NAME[name]
        calibrator = method.build(method.settings(**settings), QUICK)
        held = out_of_fold(known, calibrator, fold).value
        fitted = calibrator.fit(known)
        inside = fitted.confidence(placed).value
        on_noise[text] = fitted.confidence(asked).value
        rows_of[text] = (nll(inside, known), nll(held, known), inside.mean(), np.nanmean(held))
    lines = [
        f"| `{text}` | {row[0]:.3f} | {row[1]:.3f} | {row[2]:.2f} | {row[3]:.2f} | "
        f"{on_noise[text].mean():.2f} | "
        f"{stats.ks_2samp(on_noise[text], on_noise['kernel']).statistic:.2f} |"
        for text, row in rows_of.items()
    ]
    return "\n".join(
        [
            f"{known.n_samples:,} proteins, {N_NOISE:,} of random residues with the scores of "
            "proteins of the set.\n",
            "| method | NLL in sample | NLL held out | mean in sample | held out | on noise | "
            "KS to kernel on noise |",
            "|---|---|---|---|---|---|---|",
            *lines,
        ]
    )


def nll(confidence: Floats, labelled: Labelled) -> float:
    """Return the mean negative log-likelihood of the outcomes."""
    p = np.clip(confidence, 1e-15, 1 - 1e-15)
    return float(-np.nanmean(np.where(labelled.is_correct, np.log(p), np.log1p(-p))))


def novelty(n: int = N_PAPER) -> str:
    """Return both parts of the section: the paper's size, and noise.

    Parameters
    ----------
    n : int
        Proteins of the first part.
    """
    return "\n\n".join([chain(*world_of(n)), "**Noise.** " + noise(*world_of(N_NOISE_WORLD))])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--proteins", type=int, default=N_PAPER)
    print(novelty(parser.parse_args().proteins))


if __name__ == "__main__":
    main()
