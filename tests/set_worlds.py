"""Small sets of proteins in families of unlike sizes, for tests of prediction sets."""

from __future__ import annotations

import numpy as np

from credence.predictions import Labelled, from_scores, label

NAMES = ("Portal", "Collar", "HTJ")


def world(seed: int, n: int = 90, n_families: int = 40, resolution: float = 0.01) -> Labelled:
    """Return proteins of families of unlike sizes, some of two classes, with ties."""
    rng = np.random.default_rng(seed)
    family = np.sort(rng.integers(0, n_families, n) ** 2 // n_families)
    true = np.where(rng.random(n) < 0.9, family % 3, rng.integers(0, 3, n))
    logits = rng.normal(0.0, 1.0, (n_families, 3))[family] + rng.normal(0.0, 0.5, (n, 3))
    logits[np.arange(n), true] += 1.5
    scores = np.exp(logits)
    scores = np.round(10 * scores / scores.sum(axis=1, keepdims=True), 1 if seed % 2 else 6)
    ids = np.array([f"p{number}" for number in range(n)], dtype=object)
    cluster = np.array([f"c{number}" for number in family], dtype=object)
    predictions = from_scores(ids, NAMES, scores, 10.0, resolution)
    return label(predictions, true.astype(np.int64), cluster=cluster)
