"""What finds relatives: the protocol of clustering engines, and their answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from credence.predictions import Floats, Strings
from credence.sequences.proteins import Proteins


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which cluster of relatives each protein is in, in the order of the proteins.

    Parameters
    ----------
    cluster : array of str
        Name of the cluster: the id of its representative, unless it was given.
    representative : array of str
        The protein that stands for the cluster.
    identity : array of float
        Share of equal residues between the protein and its representative, in
        [0, 1]; NaN where the engine cannot tell. An engine says whether it
        measures or estimates it.
    coverage : array of float
        Share of the shorter of the two that is alike at all, in [0, 1]; NaN
        likewise.
    """

    cluster: Strings
    representative: Strings
    identity: Floats
    coverage: Floats


class ClusteringEngine(Protocol):
    """Settings of an engine: a frozen dataclass."""

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters; they depend on the proteins, not on their order."""
        ...


@dataclass(frozen=True)
class Engine:
    """One entry of the registry.

    Parameters
    ----------
    name : str
        What users write.
    summary : str
        One line for the documentation.
    settings : type
        A frozen dataclass.
    build : callable
        ``build(identity=…, coverage=…)``, the thresholds above which two
        proteins are relatives, gives the engine; with `needs_table`
        ``build(ids, names)``.
    needs_table : bool
        Whether it takes the clusters from a table.
    """

    name: str
    summary: str
    settings: type[Any]
    build: Callable[..., ClusteringEngine]
    needs_table: bool = False
