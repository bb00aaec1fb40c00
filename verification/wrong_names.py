"""How often columns under wrong names are noticed, on PhANNs' first table.

    PYTHONPATH=. python verification/wrong_names.py --times 40 --page docs/verification-names.md

Each time the table is halved by whole blocks of its rows, 9,000 rows of one half calibrate, and
query sets of 300, 600 and 3,000 rows are drawn from the other: unchanged, in other proportions,
filtered, of scores to a power, and with headers shuffled, rotated or exchanged.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.data import real_table
from benchmarks.same import of_mix, power, random_halves
from verification.report import write_section

from credence.composition.sameness import Sketch, SketchCounts, sketch_of
from credence.findings import Sameness
from credence.predictions import Floats, Labelled, Predictions, from_scores

SEED = 52
SIZES = (300, 600, 3_000)
N_CALIBRATION = 9_000
MOST_FREQUENT = 5
HIGH, VERY_HIGH, LOW = 8.0, 9.5, 7.0  # of top scores, on the scale of 10
TITLE = "Columns under wrong names"


def query_sets(rest: Labelled, n: int, rng: np.random.Generator) -> Iterator[tuple[str, Floats]]:
    """Yield query sets of a half by what was done to them."""
    predictions = rest.predictions
    every, n_classes = np.asarray(predictions.scores), predictions.n_classes
    plain = every[rng.choice(len(every), n, replace=False)]
    often = np.argsort(-np.bincount(plain.argmax(axis=1), minlength=n_classes), kind="stable")
    some, top = rng.choice(often[:MOST_FREQUENT]), every.max(axis=1)

    def filtered(is_kept: Floats) -> Floats:
        return every[rng.permutation(np.flatnonzero(is_kept))[:n]]

    yield "unchanged", plain
    yield (
        "other class proportions (Dirichlet of ones)",
        every[of_mix(rest, rng.dirichlet(np.ones(n_classes)), n, rng)],
    )
    yield (
        "predictions of one of the five most frequent classes",
        filtered(predictions.predicted_class == some),
    )
    yield "proteins of one of these classes", filtered(rest.true_class == some)
    yield f"top scores above {HIGH:g}", filtered(top > HIGH)
    yield f"top scores above {VERY_HIGH:g}", filtered(top > VERY_HIGH)
    yield f"top scores below {LOW:g}", filtered(top < LOW)
    yield "softened: power ½", power(plain, 0.5, predictions.scale)
    yield "sharpened: power 2", power(plain, 2.0, predictions.scale)
    yield "header shuffled", plain[:, rng.permutation(n_classes)]
    yield "header rotated", np.roll(plain, rng.integers(1, n_classes), axis=1)
    column = np.arange(n_classes)
    pair = rng.choice(often[:MOST_FREQUENT], 2, replace=False)
    column[pair] = pair[::-1]
    yield "two of the five most frequent columns exchanged", plain[:, column]


def looked(sketch: Sketch, like: Predictions, scores: Floats) -> Sameness | None:
    """Return what is found of some scores."""
    ids = np.arange(len(scores)).astype(str).astype(object)
    use = from_scores(ids, like.class_names, scores, like.scale, like.resolution)
    look = SketchCounts(sketch, like.class_names)
    look.add(use)
    return look.found()


def study(labelled: Labelled, n_times: int) -> list[dict[str, object]]:
    """Return for each kind of query set how often it is warned of, and two columns are named."""
    warned: dict[tuple[str, int], list[bool]] = defaultdict(list)
    named: dict[tuple[str, int], list[bool]] = defaultdict(list)
    for time in range(n_times):
        rng = np.random.default_rng([SEED, time])
        half, rest = random_halves(labelled, rng)
        known = half.take(np.sort(rng.choice(half.n_samples, N_CALIBRATION, replace=False)))
        sketch = sketch_of(known)
        assert sketch is not None
        for n in SIZES:
            for kind, scores in query_sets(rest, n, rng):
                found = looked(sketch, known.predictions, scores)
                warned[kind, n].append(found is not None and found.is_changed)
                named[kind, n].append(found is not None and bool(found.exchanged))
    kinds = dict.fromkeys(kind for kind, _ in warned)
    return [
        {
            "query set": kind,
            **{f"{n:,} rows": float(np.mean(warned[kind, n])) for n in SIZES},
            **{f"two named, {n:,}": float(np.mean(named[kind, n])) for n in SIZES},
        }
        for kind in kinds
    ]


def main() -> None:
    """Write the table into the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--page", type=Path, required=True)
    given = parser.parse_args()
    labelled = real_table()
    if labelled is None:
        raise SystemExit("The real table is absent: nothing was tried.")
    text = (
        f"Share of {given.times} times in which a query set is said not to be of the calibrated "
        "classifier, at one false alarm in twenty for all tests together; beside it how often "
        "two columns are named that fit better exchanged. Each time PhANNs' first table is halved "
        f"by whole blocks of its rows, {N_CALIBRATION:,} rows of one half calibrate and the query "
        "sets are of the other. The first seven kinds are false alarms. The limits of the tests "
        "were chosen on this table, so the rates flatter it.\n\n"
        f"    PYTHONPATH=. python verification/wrong_names.py --times {given.times} "
        f"--page {given.page}"
    )
    write_section(given.page, TITLE, text, study(labelled, given.times))


if __name__ == "__main__":
    main()
