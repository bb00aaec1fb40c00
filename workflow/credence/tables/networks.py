"""Pooling an ensemble: from a row per protein and network to one row per protein."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.tables.problem_list import ProblemList


@dataclass(frozen=True, eq=False)
class Pooled:
    """Proteins with the scores of all networks.

    Parameters
    ----------
    ids : array of str
        In the order in which they first appear.
    lines : array of int
        Line of each protein's first row.
    truth : array of int, optional
        Codes of classes.
    network_scores : array of float, shape (n_proteins, n_networks, n_classes)
        Networks in the order of their names.
    """

    ids: Strings
    lines: Integers
    truth: Integers | None
    network_scores: Floats


def gather(
    ids: Strings,
    network: Strings,
    lines: Integers,
    truth: Integers | None,
    scores: Floats,
    problems: ProblemList,
) -> Pooled:
    """Return the proteins of a long table; what is missing goes to `problems`.

    Parameters
    ----------
    ids, network : array of str
        Protein and network of each row; no pair stands twice.
    lines : array of int
        Line of each row.
    truth : array of int, optional
        Code of the true class in each row.
    scores : array of float, shape (n_rows, n_classes)
        What the network says.
    problems : ProblemList
        Takes what is wrong.
    """
    names = sorted(set(network.tolist()), key=lambda name: (len(name), name))
    place = {name: index for index, name in enumerate(names)}
    row_of: dict[str, int] = {}
    protein = np.array([row_of.setdefault(name, len(row_of)) for name in ids.tolist()])
    member = np.array([place[name] for name in network.tolist()])
    cube = np.full((len(row_of), len(names), scores.shape[1]), np.nan)
    cube[protein, member] = scores
    first = np.full(len(row_of), len(ids), dtype=np.int64)
    np.minimum.at(first, protein, np.arange(len(ids)))
    unique = np.array(list(row_of), dtype=object)
    for row, column in np.argwhere(np.isnan(cube[:, :, 0])):
        problems.add(
            f"protein {unique[row]!r} has no row of network {names[column]!r}.",
            "Give the scores of every network for every protein.",
            int(lines[first[row]]),
        )
    if truth is not None:
        for row in np.flatnonzero(truth != truth[first[protein]]):
            problems.add(
                f"protein {ids[row]!r} has another true class than in line "
                f"{lines[first[protein[row]]]}.",
                "Give each protein one true class.",
                int(lines[row]),
            )
    return Pooled(unique, lines[first], None if truth is None else truth[first], cube)


def pool(network_scores: Floats, pooling: str, resolution: float) -> tuple[Floats, float]:
    """Return the pooled scores and the scale to which their rows sum.

    Parameters
    ----------
    network_scores : array of float, shape (n_proteins, n_networks, n_classes)
        Softmaxes.
    pooling : str
        `sum`: their sum, on the scale of the number of networks; `log_sum`: the
        softmax of their summed logs, on the scale 1.
    resolution : float
        Step of the networks' scores; a score of 0 counts as half of it in the
        logs, or as the least float where it is not known.

    Examples
    --------
    >>> pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "sum", 0.1)
    (array([[1.4, 0.6]]), 2.0)
    >>> pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "log_sum", 0.1)
    (array([[0.9, 0.1]]), 1.0)
    """
    if pooling == "sum":
        return network_scores.sum(axis=1), float(network_scores.shape[1])
    floor = resolution / 2 if resolution > 0 else float(np.finfo(np.float32).tiny)
    logs = np.log(np.maximum(network_scores, floor)).sum(axis=1)
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), 1.0
