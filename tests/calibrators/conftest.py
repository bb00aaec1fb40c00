"""Small drawn worlds for the tests of calibrators."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from classes_in_order import with_classes_in_order
from credence.calibrators.protocol import ClassSample
from credence.draws import encode_clusters
from credence.predictions import Floats, Labelled, Predictions, from_scores, label
from small_forests import small_forests

CLASS_NAMES = ("Portal", "Collar", "HTJ", "Other")
SCALE = 10.0


@pytest.fixture(autouse=True, scope="module")
def few_trees() -> Iterator[None]:
    """Grow few trees: laws and contracts do not depend on their number."""
    with small_forests():
        yield


def draw_world(seed: int, n_samples: int = 400, n_clusters: int = 120) -> Labelled:
    """Return labelled predictions of a classifier that is too sure of itself."""
    rng = np.random.default_rng(seed)
    n_classes = len(CLASS_NAMES)
    true_class = rng.choice(n_classes, n_samples, p=[0.3, 0.2, 0.2, 0.3])
    logits = rng.normal(size=(n_samples, n_classes)) * 1.5
    logits[np.arange(n_samples), true_class] += 2.0
    scores = np.exp(logits * 1.5)
    scores *= SCALE / scores.sum(axis=1, keepdims=True)
    # Two decimals, as PhANNs prints them; the last digits keep rows free of ties.
    scores = np.round(scores, 2) + np.arange(n_classes) * 1e-4
    ids = np.array([f"protein_{row}" for row in range(n_samples)], dtype=object)
    cluster = np.array([f"family_{code}" for code in rng.integers(n_clusters, size=n_samples)])
    weight = rng.choice([0.5, 1.0, 2.0], n_samples)
    predictions = from_scores(ids, CLASS_NAMES, scores, SCALE, 0.01)
    # Places near the centre of the true class, relatives close to each other.
    family = rng.normal(size=(n_clusters, 3))[[int(name[7:]) for name in cluster]]
    places = np.eye(4)[true_class, :3] * 2.0 + family + rng.normal(size=(n_samples, 3)) * 0.2
    predictions = replace(predictions, places=places)
    return label(predictions, true_class.astype(np.int64), weight, cluster.astype(object))


def scaled(predictions: Predictions, factor: float) -> Predictions:
    """Return the same predictions in another unit of score."""
    assert predictions.scores is not None
    return replace(
        from_scores(
            predictions.ids,
            predictions.class_names,
            predictions.scores * factor,
            predictions.scale * factor,
            predictions.resolution * factor,
        ),
        places=predictions.places,
    )


def rounded(labelled: Labelled) -> Labelled:
    """Return the same proteins with scores of one decimal, full of ties."""
    predictions = labelled.predictions
    assert predictions.scores is not None
    coarse = from_scores(
        predictions.ids,
        predictions.class_names,
        np.round(predictions.scores, 1),
        predictions.scale,
        0.1,
    )
    coarse = replace(coarse, places=predictions.places)
    return label(coarse, labelled.true_class, labelled.weight, labelled.cluster)


@pytest.fixture(scope="session")
def worlds() -> SimpleNamespace:
    """Return the functions above, which test modules cannot import."""
    return SimpleNamespace(
        draw=draw_world,
        rounded=rounded,
        scaled=scaled,
        with_classes_in_order=with_classes_in_order,
    )


def load_phanns(folder: Path) -> Labelled:
    """Return PhANNs' own table of its first submission, every protein its own cluster."""
    with gzip.open(folder / "phanns_scores_2020.csv.gz", "rt") as handle:
        header, *rows = csv.reader(handle)
    names = tuple(header[1:])
    codes = {name.lower().replace(" ", "_"): code for code, name in enumerate(names)}
    codes["shaft"] = codes["tail_shaft"]
    true_class = np.array([codes[row[0].rsplit("_", 1)[0].lower()] for row in rows])
    ids = np.array([row[0] for row in rows], dtype=object)
    scores = np.array([[float(cell) for cell in row[1:]] for row in rows])
    return label(from_scores(ids, names, scores, SCALE, 0.01), true_class)


@pytest.fixture(scope="session")
def phanns(real_data: Path) -> Labelled:
    """Return PhANNs' labelled table, or skip where it is absent."""
    return load_phanns(real_data)


def make_sample(
    right: list[float] | Floats,
    wrong: list[float] | Floats,
    weight: Floats | None = None,
    cluster: list[str] | None = None,
    resolution: float = 0.0,
) -> ClassSample:
    """Return the positives of one class from the scores of right and wrong ones."""
    score = np.concatenate([right, wrong])
    is_correct = np.arange(len(score)) < len(right)
    names = cluster or [f"protein_{row}" for row in range(len(score))]
    codes, keys = encode_clusters(np.array(names, dtype=object))
    weight = np.ones(len(score)) if weight is None else weight
    order = np.argsort(score, kind="stable")
    return ClassSample(
        score=score[order],
        is_correct=is_correct[order],
        weight=weight[order],
        cluster=codes[order],
        cluster_key=keys,
        scale=SCALE,
        resolution=resolution,
    )


@pytest.fixture(scope="session")
def sample_of() -> Callable[..., ClassSample]:
    """Return `make_sample`, which test modules cannot import."""
    return make_sample
