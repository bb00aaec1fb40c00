"""What a vector method sees of a prediction, as numbers that no rescaling moves.

Classes are taken in the order of their names and numbers are rounded to nine
decimals, so that neither the order of a table's columns nor the last bits of a
division by the scale reach a fit: a tree's threshold could turn on them.
"""

from __future__ import annotations

import numpy as np

from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions

DECIMALS = 9  # far below any score's resolution, far above rounding error
# Half the relative step of single precision, in which classifiers compute: the
# floor of scores whose resolution is not known.
UNKNOWN_RESOLUTION_FLOOR = 2.0**-24


def name_order(class_names: tuple[str, ...]) -> Integers:
    """Return the positions of the classes, sorted by name.

    >>> name_order(("Portal", "Collar", "HTJ")).tolist()
    [1, 2, 0]
    """
    return np.array(sorted(range(len(class_names)), key=class_names.__getitem__), dtype=np.int64)


def predicted_rank(predictions: Predictions) -> Integers:
    """Return the position of each predicted class among the sorted names."""
    return np.argsort(name_order(predictions.class_names))[predictions.predicted_class]


def log_scores(predictions: Predictions) -> Floats:
    """Return log y, classes sorted by name, floored at half the resolution.

    Notes
    -----
    y is the row divided by its sum, floored at resolution / (2 · row sum)
    (METHODS section 2); where the resolution is not known, at 2⁻²⁴.
    """
    assert predictions.scores is not None
    scores = predictions.scores[:, name_order(predictions.class_names)]
    total = scores.sum(axis=1, keepdims=True)
    floor = predictions.resolution / 2.0 / total
    if predictions.resolution == 0:
        floor = np.full_like(total, UNKNOWN_RESOLUTION_FLOOR)
    logs: Floats = np.log(np.maximum(scores / total, floor))
    return np.round(logs, DECIMALS)


def tree_features(predictions: Predictions, *, uses_networks: bool) -> Floats:
    """Return what a tree may split on, one column each.

    The logs of all scores, the predicted class's log score, its margin over the
    best of the others, the row's entropy, and for ensembles the spread of the
    networks' scores of the predicted class and the share of networks that vote
    for it (NaN where a table gives no networks).
    """
    logs = log_scores(predictions)
    rows = np.arange(len(logs))
    chosen = predicted_rank(predictions)
    top = logs[rows, chosen]
    others = logs.copy()
    others[rows, chosen] = -np.inf
    margin = top - others.max(axis=1)
    share = np.exp(logs)
    entropy = -(share * logs).sum(axis=1)
    columns = [logs, top[:, None], margin[:, None], entropy[:, None]]
    if uses_networks:
        columns.append(_ensemble_columns(predictions))
    return np.round(np.hstack(columns), DECIMALS)


def canonical_order(features: Floats, labelled: Labelled) -> Integers:
    """Return an order of the rows that does not depend on that of the table.

    Rows equal in features, truth, weight and cluster are interchangeable.
    """
    _, cluster = np.unique(labelled.cluster.astype(str), return_inverse=True)
    keys = (cluster, labelled.weight, labelled.is_correct, *features.T)
    return np.lexsort(keys).astype(np.int64)


def rows_of(labelled: Labelled, class_: int) -> Labelled:
    """Return the proteins predicted to be in one class."""
    is_here: Booleans = np.equal(labelled.predictions.predicted_class, class_)
    return labelled.take(is_here)


def _ensemble_columns(predictions: Predictions) -> Floats:
    networks = predictions.network_scores
    if networks is None:
        return np.full((predictions.n_samples, 2), np.nan)
    rows = np.arange(predictions.n_samples)
    chosen = networks[rows, :, predictions.predicted_class]
    votes = networks.argmax(axis=2) == predictions.predicted_class[:, None]
    return np.column_stack([chosen.std(axis=1), votes.mean(axis=1)])
