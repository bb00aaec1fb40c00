"""Made-up answers of several tools for proteins of known class."""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.predictions import Labelled, from_scores, label
from credence.tools.combining import Answers

CLASSES = ("Portal", "Tail", "Collar", "Other")
SHARES = (0.1, 0.3, 0.2, 0.4)


def truths(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ids, true classes and clusters of proteins; clusters have about three of a class."""
    rng = np.random.default_rng(seed)
    of_cluster = rng.choice(len(SHARES), n // 3 + 1, p=SHARES)
    cluster = rng.integers(0, n // 3 + 1, n)
    names = np.array([f"family {one}" for one in cluster], dtype=object)
    ids = np.array([f"p{row}" for row in range(n)], dtype=object)
    return ids, of_cluster[cluster], names


def answers_of(ids: np.ndarray, true: np.ndarray, strength: float, seed: int) -> Answers:
    """Return answers of a tool, the surer the stronger it is; of strength 0 they are noise."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(len(ids), len(CLASSES)))
    logits[np.arange(len(ids)), true] += strength
    scores = special.softmax(1.5 * logits, axis=1)
    return Answers(
        predictions=from_scores(ids, CLASSES, scores, 1.0, 0.0), row=np.arange(len(ids))
    )


def world(n: int = 600, strengths: dict[str, float] | None = None, seed: int = 0):
    """Return labelled proteins of the first tool, and what all tools answered."""
    ids, true, cluster = truths(n, seed)
    strengths = strengths or {"first": 2.0, "second": 1.5}
    answers = {
        name: answers_of(ids, true, strength, 100 * seed + number)
        for number, (name, strength) in enumerate(strengths.items(), start=1)
    }
    labelled = label(next(iter(answers.values())).predictions, true, cluster=cluster)
    return labelled, answers


def same_classes(answers: dict[str, Answers]) -> dict[str, dict[str, str]]:
    """Return mappings of classes onto themselves."""
    return {
        name: {own: own for own in one.predictions.class_names} for name, one in answers.items()
    }


def taken(labelled: Labelled, answers: dict[str, Answers], rows: np.ndarray):
    """Return some of the proteins."""
    return labelled.take(rows), {name: one.take(rows) for name, one in answers.items()}
