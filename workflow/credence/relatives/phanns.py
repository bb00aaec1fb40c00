"""PhANNs' own recipe, for reproduction: greedy clusters per class, dealt in turn.

Each class is clustered by itself with CD-HIT at 40 % and its clusters go to the
groups in turn, so that a relative under another label is never seen, and the
clusters' sizes unbalance the groups. Its leakage is what the audit prints.

References
----------
Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Integers, Strings
from credence.proteins import Proteins
from credence.relatives.cdhit import CdHitEngine
from credence.relatives.pairs import distinct

IDENTITY = 0.4


def phanns_groups(
    proteins: Proteins, class_: NDArray[Any], n_groups: int, threads: int = 1
) -> tuple[Strings, Integers]:
    """Return the cluster of each protein and its group, 0 … n_groups − 1."""
    cluster = np.empty(proteins.n_proteins, dtype=object)
    group = np.zeros(proteins.n_proteins, dtype=np.int64)
    engine = CdHitEngine(IDENTITY, None, threads)
    for name in np.unique(class_):
        rows = np.flatnonzero(class_ == name)
        found = distinct(proteins.sequences[rows])
        component = engine.components(found.texts)[found.code]
        order = np.unique(component)
        group[rows] = np.searchsorted(order, component) % n_groups
        cluster[rows] = [f"{name}:{number}" for number in component]
    return cluster, group
