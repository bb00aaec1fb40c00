"""Pooling an ensemble: from a row per protein and network to one row per protein."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.problems import ProblemList


def in_order(network: Iterable[str]) -> tuple[str, ...]:
    """Return the names of networks, each once, by their numbers: 1, 2, 10.

    >>> in_order(["10", "2", "1", "2"])
    ('1', '2', '10')
    """
    return tuple(sorted(set(network), key=lambda name: (len(name), name)))


def gather(
    ids: Strings, network: Strings, names: Sequence[str], scores: Sequence[Floats]
) -> tuple[Integers, Floats]:
    """Return the first row of each protein, as they appear, and the scores of all networks."""
    protein, first = _proteins(ids)
    place = {name: index for index, name in enumerate(names)}
    member = np.array([place[name] for name in network.tolist()], dtype=np.int64)
    cube = np.full((len(first), len(names), scores[0].shape[1]), np.nan)
    start = 0
    for piece in scores:
        rows = slice(start, start + len(piece))
        cube[protein[rows], member[rows]] = piece
        start += len(piece)
    return first, cube


def report_missing(
    ids: Strings, network: Strings, names: Sequence[str], lines: Integers, problems: ProblemList
) -> None:
    """Report each network of which a protein has no row."""
    protein, first = _proteins(ids)
    is_short = np.bincount(protein, minlength=len(first)) < len(names)
    given: dict[int, set[str]] = {code: set() for code in np.flatnonzero(is_short).tolist()}
    for row in np.flatnonzero(is_short[protein]).tolist():
        given[int(protein[row])].add(network[row])
    for code, known in given.items():
        for name in names:
            if name not in known:
                problems.add(
                    f"protein {ids[first[code]]!r} has no row of network {name!r}.",
                    "Give the scores of every network for every protein.",
                    int(lines[first[code]]),
                )


def report_truths(
    ids: Strings, truth: Integers | None, lines: Integers, problems: ProblemList
) -> None:
    """Report rows with another true class than the first row of their protein."""
    if truth is None:
        return
    protein, first = _proteins(ids)
    for row in np.flatnonzero(truth != truth[first][protein]):
        problems.add(
            f"protein {ids[row]!r} has another true class than in line "
            f"{lines[first[protein[row]]]}.",
            "Give each protein one true class.",
            int(lines[row]),
        )


def _proteins(ids: Strings) -> tuple[Integers, Integers]:
    """Return the protein of each row, numbered as they first appear, and its first row."""
    code_of: dict[str, int] = {}
    protein = np.array([code_of.setdefault(name, len(code_of)) for name in ids], dtype=np.int64)
    return protein, np.unique(protein, return_index=True)[1]


def pool(network_scores: Floats, pooling: str, resolution: float) -> tuple[Floats, float]:
    """Return the pooled scores and the scale to which their rows sum.

    >>> pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "sum", 0.1)
    (array([[1.4, 0.6]]), 2.0)
    >>> pool(np.array([[[0.5, 0.5], [0.9, 0.1]]]), "log_sum", 0.1)
    (array([[0.9, 0.1]]), 1.0)
    """
    scale = pooled_scale(pooling, network_scores.shape[1])
    if pooling == "sum":
        return network_scores.sum(axis=1), scale
    floor = resolution / 2 if resolution > 0 else float(np.finfo(np.float32).tiny)
    logs = np.maximum(network_scores, floor)
    logs = np.log(logs, out=logs).sum(axis=1)  # in place: there are many
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True), scale


def pooled_scale(pooling: str, n_networks: int) -> float:
    """Return what a row of pooled scores sums to."""
    return float(n_networks) if pooling == "sum" else 1.0
