"""Whole clusters packed into groups, and what each protein is used for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings
from credence.splits.filling import fill
from credence.splits.folds import clusters_per_stratum
from credence.splits.search import improved

TRAINING = "training"
OF_ONE_PROTEIN = re.compile(r" (?:['\"]|of group|\().*")
CALIBRATION = "calibration"
TEST = "test"
SET_ASIDE = "set_aside"
NO_GROUP = ""


@dataclass(frozen=True, eq=False)
class Packing:
    """What each protein is used for, in the order of the proteins.

    Parameters
    ----------
    group : array of str
        '1', '2', … or 'test'; 'training' for training proteins, and '' for those
        set aside, which are in none.
    role : array of str
        training, calibration, test or set_aside (METHODS section 4).
    reason : array of str
        Why a protein was set aside; '' for the others.
    scarce : dict
        Class → number of its clusters, where there are fewer than groups, so
        that some group has none of it.
    """

    group: Strings
    role: Strings
    reason: Strings
    scarce: dict[Any, int]


def pack(
    ids: Strings,
    cluster: Strings,
    class_: NDArray[Any],
    n_groups: int,
    *,
    is_training: Booleans | None = None,
    test_group: bool = False,
    reasons: Strings | None = None,
    by_cluster: bool = False,
) -> Packing:
    """Return the group and the role of each protein.

    Groups hold whole clusters, with every class's share near its share overall,
    counted in proteins. They depend on ids, clusters and classes, not on the
    order of rows. A protein that shares its cluster with a training protein is
    set aside, and the reason names that relative; where `reasons` say who is
    set aside, that counts instead.

    Parameters
    ----------
    ids, cluster : array of str, shape (n_proteins,)
        Names, unique, and the cluster of each.
    class_ : array, shape (n_proteins,)
        What is to be spread evenly: the true class; ignored for training proteins.
    n_groups : int
        Number of groups, the test group included.
    is_training : array of bool, optional
        Whether the classifier learnt from the protein.
    test_group : bool
        Whether the last group only judges; otherwise all calibrate.
    reasons : array of str, optional
        Why each protein is set aside, '' for those that are not.
    by_cluster : bool
        Whether each cluster counts 1, instead of each protein.

    Examples
    --------
    >>> names = np.array(["a", "b", "c", "d"], dtype=object)
    >>> cluster = np.array(["a", "a", "c", "d"], dtype=object)
    >>> packing = pack(names, cluster, np.array([0, 0, 0, 1]), 2)
    >>> packing.group.tolist()
    ['1', '1', '2', '2']
    >>> learnt = np.array([True, False, False, False])
    >>> pack(names, cluster, np.array([0, 0, 0, 1]), 2, is_training=learnt).reason[1]
    "relative of training protein 'a'"
    """
    learnt = np.zeros(len(ids), dtype=np.bool_) if is_training is None else is_training
    if reasons is None:
        role, reason = _roles(ids, cluster, learnt)
    else:
        reason = np.where(learnt, "", reasons)
        role = np.where(reason == "", CALIBRATION, SET_ASIDE).astype(object)
        role[learnt] = TRAINING
    group = np.where(learnt, TRAINING, NO_GROUP).astype(object)
    rows = np.flatnonzero(role == CALIBRATION)
    names = [str(number + 1) for number in range(n_groups)]
    if test_group:
        names[-1] = TEST
    bins = _bins(cluster[rows], class_[rows], n_groups, by_cluster)
    group[rows] = np.array(names, dtype=object)[bins]
    role[group == TEST] = TEST
    n_clusters = clusters_per_stratum(cluster[rows], class_[rows])
    scarce = {value: count for value, count in n_clusters.items() if count < n_groups}
    return Packing(group, role, reason, scarce)


def kind_of(reason: str) -> str:
    """Return a reason without what is one protein's own: names, group, identity.

    Parameters
    ----------
    reason : str
        Why a protein is set aside.

    Examples
    --------
    >>> kind_of("relative of training protein 'x' (identity 0.72)")
    'relative of training protein'
    >>> kind_of("relative of protein 'x' of group 3 (identity 0.41)")
    'relative of protein'
    """
    return OF_ONE_PROTEIN.sub("", reason)


def related_to_training(ids: Strings, cluster: Strings, learnt: Booleans) -> Strings:
    """Return why each protein is set aside that shares its cluster with training.

    Parameters
    ----------
    ids, cluster : array of str
        Names, and the cluster of each.
    learnt : array of bool
        Whether the classifier learnt from the protein.
    """
    return _roles(ids, cluster, learnt)[1]


def _roles(ids: Strings, cluster: Strings, learnt: Booleans) -> tuple[Strings, Strings]:
    """Return role and reason: training, set aside for a relative there, or calibration."""
    role = np.full(len(ids), CALIBRATION, dtype=object)
    reason = np.full(len(ids), "", dtype=object)
    role[learnt] = TRAINING
    relative = _training_relatives(ids, cluster, learnt)
    for row in np.flatnonzero(~learnt):
        if cluster[row] in relative:
            role[row] = SET_ASIDE
            reason[row] = f"relative of training protein {relative[cluster[row]]!r}"
    return role, reason


def _training_relatives(ids: Strings, cluster: Strings, learnt: Booleans) -> dict[str, str]:
    """Return cluster → the first of its training proteins by id."""
    relative: dict[str, str] = {}
    for row in np.flatnonzero(learnt):
        name = cluster[row]
        relative[name] = min(relative.get(name, ids[row]), ids[row])
    return relative


def _bins(cluster: Strings, class_: NDArray[Any], n_groups: int, by_cluster: bool) -> Integers:
    names, codes = np.unique(cluster.astype(str), return_inverse=True)
    _, strata = np.unique(class_, return_inverse=True)
    by_name = np.arange(len(names))
    if len(names) == 0:
        return np.empty(0, dtype=np.int64)
    start = fill(codes.astype(np.int64), strata.astype(np.int64), n_groups, by_name)
    held = np.zeros((len(names), int(strata.max()) + 1))
    np.add.at(held, (codes, strata), 1.0)
    if by_cluster:
        held /= held.sum(axis=1, keepdims=True)
    return improved(start, held, n_groups, by_name)[codes]
