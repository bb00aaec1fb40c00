"""What each estimator finds in a small query set, and what follows from it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import compression_error, estimate_composition
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.composition.sameness import SketchCounts, sketch_of
from credence.composition.summary import Corrected, summarise_shift
from credence.draws import keys_of
from credence.predictions import Labelled, from_scores, label
from known_numbers import Known

OPTIONS = FitOptions(n_draws=12)
NAMES = ("Portal", "Collar", "HTJ", "Other")
ESTIMATING = [name for name, entry in ESTIMATORS_BY_NAME.items() if entry.estimate is not None]


@cache
def world(seed: int, n: int, share: tuple[float, ...]) -> Labelled:
    """Return proteins in families of about three, the last class scarce."""
    rng = np.random.default_rng(seed)
    true = rng.choice(4, n, p=share)
    family = rng.integers(0, n // 3, n)
    logits = 0.7 * rng.normal(size=(n // 3, 4))[family] + rng.normal(size=(n, 4))
    logits[np.arange(n), true] += 1.8
    scores = np.exp(1.4 * logits)
    scores = np.round(10.0 * scores / scores.sum(axis=1, keepdims=True), 2)
    ids = np.array([f"p{seed}_{row}" for row in range(n)], dtype=object)
    cluster = np.array([f"f{one}" for one in family], dtype=object)
    predictions = from_scores(ids, NAMES, scores, 10.0, 0.01, is_distribution=True)
    return label(predictions, true, rng.choice([0.5, 1.0, 2.0], n), cluster)


def sets() -> tuple[Labelled, Labelled]:
    return world(1, 400, (0.4, 0.3, 0.25, 0.05)), world(2, 160, (0.1, 0.3, 0.3, 0.3))


CASES = [(name, 1000, False) for name in ESTIMATING]
CASES += [("bbse_hard", 1000, True), ("em", 60, False), ("em_matched", 60, True)]


@pytest.mark.parametrize(("name", "most_rows", "with_genomes"), CASES)
def test_compositions_are_what_they_were(
    name: str, most_rows: int, with_genomes: bool, known: Known
) -> None:
    labelled, use = sets()
    sample = calibration_sample(labelled, True)
    genome = keys_of([f"g{row // 9}" for row in range(use.n_samples)]) if with_genomes else None
    seen = use_sample(use.predictions, sample.model, most_rows, genome)
    composition = estimate_composition(sample, seen, ESTIMATORS_BY_NAME[name], OPTIONS)
    method = parse_method("histogram", "test").build(OPTIONS)
    corrected = Corrected(
        sample=sample,
        use=seen,
        composition=composition,
        diagnostics=diagnose(sample, seen, composition, OPTIONS),
        plain=method.fit(labelled),
        correction=correction_for(sample, composition, OPTIONS.level),
        by_score=True,
    )
    error = compression_error(
        sample, use.predictions.take(np.arange(80)), seen, ESTIMATORS_BY_NAME[name]
    )
    found = summarise_shift("use", name, "histogram", corrected, OPTIONS, error)
    eight = use.predictions.take(np.arange(8))
    ends = corrected.correction.corrected(corrected.plain.confidence(eight), eight, sample)
    entry = {"finding": found, "lower": ends.lower, "upper": ends.upper}
    known.compare(f"{name} {most_rows} {with_genomes}", entry)


def test_a_sketch_and_a_look_are_what_they_were(known: Known) -> None:
    labelled, use = sets()
    sketch = sketch_of(labelled)
    assert sketch is not None
    look = SketchCounts(sketch, NAMES)
    look.add(use.predictions)
    parts = [[one.edges, one.place, one.count, one.design] for one in sketch.features]
    known.compare("sketch", [parts, look.found()])
