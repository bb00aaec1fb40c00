"""What finds relatives: the protocol of clustering engines, and their answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from credence.predictions import Floats, Strings
from credence.proteins import Proteins


@dataclass(frozen=True, eq=False)
class Clustering:
    """Which cluster of relatives each protein is in, in the order of the proteins."""

    cluster: Strings  # Name of the cluster: the id of its representative, unless it was given
    representative: Strings  # The protein that stands for the cluster
    # Share of equal residues between the protein and its representative, in [0, 1]; NaN where the
    # engine cannot tell. An engine says whether it measures or estimates it.
    identity: Floats
    # Share of the shorter of the two that is alike at all, in [0, 1]; NaN likewise.
    coverage: Floats


class ClusteringEngine(Protocol):
    """Settings of an engine: a frozen dataclass."""

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters; they depend on the proteins, not on their order."""
        ...


@dataclass(frozen=True)
class Engine:
    """One entry of the registry."""

    name: str  # What users write
    summary: str  # One line for the documentation
    settings: type[Any]  # A frozen dataclass
    # ``build(identity=…, coverage=…)``, the thresholds above which two proteins are relatives,
    # gives the engine; with `needs_table` ``build(ids, names)``.
    build: Callable[..., ClusteringEngine]
    needs_table: bool = False  # Whether it takes the clusters from a table
