"""The two data sets of the benchmarks, and how they are halved."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np

from credence.draws import encode_clusters
from credence.predictions import Labelled, from_scores, label

ROOT = Path(__file__).resolve().parents[1]
REAL_TABLE = ROOT.parent / "shared" / "data" / "phanns_scores_2020.csv.gz"
BLOCK = 100  # consecutive rows of a class that stay together: neighbours are relatives
NETWORKS = REAL_TABLE.parent / "phanns_ten_networks.npz"
NETWORK_BLOCK = 20  # the same in the ten networks' table
ROW_NAMES = {"shaft": "tail shaft"}  # the one spelling that is not the column's own


def real_table(path: Path = REAL_TABLE) -> Labelled | None:
    """Return PhANNs' first table with blocks as clusters; None where it is absent."""
    if not path.is_file():
        return None
    with gzip.open(path, "rt", newline="") as handle:
        header, *rows = list(csv.reader(handle))
    classes = tuple(header[1:])
    code_of = {name.lower(): code for code, name in enumerate(classes)}
    names = [row[0] for row in rows]
    kinds = [name.rpartition("_")[0].lower().replace("_", " ") for name in names]
    true_class = np.array([code_of[ROW_NAMES.get(kind, kind)] for kind in kinds])
    scores = np.array([[float(cell) for cell in row[1:]] for row in rows])
    cluster = np.empty(len(rows), dtype=object)
    for code in range(len(classes)):
        members = np.flatnonzero(true_class == code)
        cluster[members] = [f"block {code}.{at // BLOCK}" for at in range(len(members))]
    predictions = from_scores(np.array(names, dtype=object), classes, scores, 10.0, 0.01)
    return label(predictions, true_class, cluster=cluster)


def ten_networks(path: Path = NETWORKS) -> Labelled | None:
    """Return the ten networks' table with blocks as clusters; None where it is absent."""
    if not path.is_file():
        return None
    arrays = np.load(path, allow_pickle=False)
    classes = tuple(map(str, arrays["class_names"]))
    true_class = np.array([classes.index(str(name)) for name in arrays["true_class"]])
    cluster = np.empty(len(true_class), dtype=object)
    for code in range(len(classes)):
        members = np.flatnonzero(true_class == code)
        cluster[members] = [f"block {code}.{at // NETWORK_BLOCK}" for at in range(len(members))]
    ids = np.array([f"{row}_{name}" for row, name in enumerate(arrays["id"])], dtype=object)
    networks = arrays["softmax"].astype(float)
    predictions = from_scores(
        ids, classes, networks.sum(axis=1), 10.0, 1e-4, network_scores=networks
    )
    return label(predictions, true_class, cluster=cluster)


def halves(labelled: Labelled) -> tuple[Labelled, Labelled]:
    """Return two halves of whole clusters; each class's clusters take turns.

    The turn follows the clusters' keys, so it does not depend on the rows'
    order. A class of one cluster is in the first half only.
    """
    codes, keys = encode_clusters(labelled.cluster)
    class_of = np.zeros(len(keys), dtype=np.int64)
    class_of[codes] = labelled.true_class
    in_first = np.zeros(len(keys), dtype=bool)
    for class_ in range(labelled.predictions.n_classes):
        in_first[np.flatnonzero(class_of == class_)[::2]] = True
    return labelled.take(in_first[codes]), labelled.take(~in_first[codes])


def repeated(labelled: Labelled, n_samples: int) -> Labelled:
    """Return `n_samples` rows drawn again and again, each with a name of its own.

    Scores are jittered within the resolution, so that they are as distinct as
    those of a table of that size.
    """
    rng = np.random.default_rng(1)
    rows = rng.integers(0, labelled.n_samples, n_samples)
    base = labelled.predictions
    scores = base.scores[rows]
    scores += rng.uniform(0.0, base.resolution, scores.shape)
    scores *= base.scale / scores.sum(axis=1, keepdims=True)
    ids = np.arange(n_samples).astype(object)
    predictions = from_scores(ids, base.class_names, scores, base.scale, 0.0)
    return label(predictions, labelled.true_class[rows])
