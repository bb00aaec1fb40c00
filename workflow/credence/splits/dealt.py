"""Groups that another recipe dealt, audited as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings
from credence.sequences.proteins import Proteins
from credence.splits.audit import LEVEL, audit, sample_rows
from credence.splits.folds import clusters_per_stratum
from credence.splits.pack import CALIBRATION, NO_GROUP, SET_ASIDE, TEST, TRAINING, Packing
from credence.splits.strict import Split, SplitSettings

Dealer = Callable[[Proteins, NDArray[Any], int, int], tuple[Strings, Integers]]


def split_dealt(
    proteins: Proteins,
    deal: Dealer,
    class_: NDArray[Any],
    settings: SplitSettings,
    is_training: Booleans,
    reasons: Strings | None = None,
) -> Split:
    """Return the split that a recipe makes, and what its audit finds.

    Nothing is joined or set aside for what crosses.

    Parameters
    ----------
    proteins : Proteins
        Calibration and training proteins.
    deal : callable
        Of proteins, classes, number of groups and of threads: the cluster of each
        protein, and its group from 0. It sees those that calibrate, and no others.
    class_ : array
        True class of each; ignored for training proteins.
    settings : SplitSettings
        Number of groups, test group, and what the audit looks at.
    is_training : array of bool
        Whether the classifier learnt from the protein.
    reasons : array of str, optional
        Why each protein is set aside from the start, '' for the others.
    """
    reason = np.full(proteins.n_proteins, "", dtype=object) if reasons is None else reasons
    role = np.where(reason == "", CALIBRATION, SET_ASIDE).astype(object)
    role[is_training] = TRAINING
    rows = np.flatnonzero(role == CALIBRATION)
    cluster, dealt = deal(proteins.take(rows), class_[rows], settings.n_groups, settings.threads)
    names = [str(number + 1) for number in range(settings.n_groups)]
    names[-1] = TEST if settings.test_group else names[-1]
    group = np.full(proteins.n_proteins, NO_GROUP, dtype=object)
    group[rows] = np.array(names, dtype=object)[dealt]
    group[is_training] = TRAINING
    role[group == TEST] = TEST
    every = proteins.ids.copy()
    every[rows] = cluster
    scarce = {
        kind: count
        for kind, count in clusters_per_stratum(cluster, class_[rows]).items()
        if count < settings.n_groups
    }
    packing = Packing(group, role, np.where(is_training, "", reason), scarce)
    examined = rows
    if settings.n_sampled is not None:
        others = sample_rows(proteins.ids, role == CALIBRATION, settings.n_sampled)
        examined = np.union1d(others, np.flatnonzero(role == TEST))
    found = audit(proteins, group, settings.thresholds, examined, settings.threads)
    return Split(packing, every, found, 1, LEVEL)
