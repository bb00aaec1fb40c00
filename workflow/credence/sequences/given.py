"""Clusters that the user gives: from mmseqs2, CD-HIT, or knowledge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.predictions import Strings
from credence.sequences.components import representatives
from credence.sequences.proteins import Proteins
from credence.sequences.protocol import Clustering, Engine


@dataclass(frozen=True, eq=False)
class GivenEngine:
    """Clusters as a table states them.

    Parameters
    ----------
    ids : array of str
        Names of proteins, unique; every protein to be clustered is among them.
    names : array of str
        Cluster of each.
    """

    ids: Strings
    names: Strings

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return the clusters given; the longest protein stands for each.

        Likeness is not known. The cluster is called as the table calls it.

        Parameters
        ----------
        proteins : Proteins
            All of them in the table.
        """
        cluster_of = dict(zip(self.ids, self.names, strict=True))
        names = np.empty(proteins.n_proteins, dtype=object)
        names[:] = [cluster_of[id_] for id_ in proteins.ids]
        _, codes = np.unique(names.astype(str), return_inverse=True)
        chosen = representatives(codes.astype(np.int64), proteins.ids, proteins.lengths)
        unknown = np.full(proteins.n_proteins, np.nan)
        return Clustering(names, proteins.ids[chosen], unknown, unknown.copy())


ENGINE = Engine(
    name="table",
    summary="Clusters as a table of your own states them.",
    settings=GivenEngine,
    build=GivenEngine,
    needs_table=True,
)
