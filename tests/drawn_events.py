"""Small drawn worlds for the tests of events."""

from __future__ import annotations

import numpy as np

from credence.events.forecasters import Examples
from credence.predictions import Labelled, from_scores, label

CLASS_NAMES = ("Portal", "Collar", "HTJ", "Other", "Tail fiber")
TAIL = ("Tail fiber", "HTJ")


def drawn(seed: int = 1, n_samples: int = 300, n_clusters: int = 90) -> Labelled:
    """Return labelled predictions of five networks that are too sure of themselves."""
    rng = np.random.default_rng(seed)
    n_classes = len(CLASS_NAMES)
    true_class = rng.choice(n_classes, n_samples)
    logits = rng.normal(size=(n_samples, 5, n_classes)) * 1.2
    logits += rng.normal(size=(n_samples, 1, n_classes))
    logits[np.arange(n_samples), :, true_class] += 1.5
    networks = np.exp(logits * 1.5)
    networks /= networks.sum(axis=2, keepdims=True)
    ids = np.array([f"protein_{row:03d}" for row in range(n_samples)], dtype=object)
    cluster = np.array([f"family_{code}" for code in rng.integers(n_clusters, size=n_samples)])
    predictions = from_scores(
        ids, CLASS_NAMES, networks.sum(axis=1), 5.0, 0.01, network_scores=networks
    )
    weight = rng.choice([0.5, 1.0, 2.0], n_samples)
    return label(predictions, true_class.astype(np.int64), weight, cluster.astype(object))


def examples(seed: int = 0, n_samples: int = 240) -> Examples:
    """Return a lesson of a score that tells, one that does not, and one that never varies."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=n_samples)
    other = np.round(rng.normal(size=n_samples), 1)  # with ties
    other[::17] = np.nan
    came_true = rng.random(n_samples) < 1 / (1 + np.exp(-2 * score))
    features = np.column_stack([score, other, np.ones(n_samples)])
    cluster = np.sort(rng.integers(0, 60, n_samples))
    weight = rng.choice([0.5, 1.0, 2.0], n_samples)
    return Examples(
        features=features, outcome=came_true.astype(float), weight=weight, cluster=cluster
    )
