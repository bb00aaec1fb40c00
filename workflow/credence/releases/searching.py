"""Who is related to whom: by sequence, by a table of clusters, or not known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from credence.predictions import Integers, Strings
from credence.sequences.across import relatives_by_label
from credence.sequences.graph import Finder, draw_graph
from credence.sequences.proteins import Proteins
from credence.sequences.relatives import Pairs, Thresholds, joined, no_pairs


class Search(Protocol):
    """What finds the relatives of new proteins; likeness is 0 where not known."""

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return for each new protein one relative under each label.

        Parameters
        ----------
        new, old : Proteins
            The two sets.
        label : array of str
            Of each old protein.
        """
        ...

    def among_new(self, new: Proteins) -> Pairs:
        """Return enough pairs to connect all new proteins that belong together.

        Parameters
        ----------
        new : Proteins
            The new ones.
        """
        ...


@dataclass(frozen=True)
class SequenceSearch:
    """Relatives as METHODS section 4 defines them.

    Parameters
    ----------
    finder : Finder
        What finds alike sequences.
    thresholds : Thresholds
        Of relatives.
    threads : int
        Alignments at a time.
    """

    finder: Finder
    thresholds: Thresholds
    threads: int = 1

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label (see :class:`Search`).

        Parameters
        ----------
        new, old : Proteins
            The two sets.
        label : array of str
            Of each old protein.
        """
        return relatives_by_label(new, old, label, self.finder, self.thresholds, self.threads)

    def among_new(self, new: Proteins) -> Pairs:
        """Return the graph that clusters are made of (see :class:`Search`).

        Parameters
        ----------
        new : Proteins
            The new ones.
        """
        graph = draw_graph(new, self.finder, self.thresholds)
        code = graph.distinct.code
        _, row = np.unique(code, return_index=True)
        first = row[code]
        copies = np.flatnonzero(first != np.arange(len(code)))
        ones = np.ones(len(copies))
        same = Pairs(first[copies].astype(np.int64), copies, ones, ones, ones)
        return joined([_at_rows(graph.pairs, row.astype(np.int64)), same])


def _at_rows(pairs: Pairs, row: Integers) -> Pairs:
    return Pairs(
        row[pairs.first],
        row[pairs.second],
        pairs.identity,
        pairs.coverage,
        pairs.coverage_longer,
    )


@dataclass(frozen=True, eq=False)
class TableSearch:
    """Relatives are those whom a table gives one cluster.

    Parameters
    ----------
    old, new : mapping of str to str
        Id → cluster: of the set and of training, and of the trove.
    """

    old: Mapping[str, str]
    new: Mapping[str, str]

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return one relative under each label, the first by id (see :class:`Search`).

        Parameters
        ----------
        new, old : Proteins
            The two sets.
        label : array of str
            Of each old protein.
        """
        homes: dict[str, dict[str, int]] = {}
        for row in np.argsort(old.ids.astype(str), kind="stable").tolist():
            cluster = self.old[old.ids[row]]
            homes.setdefault(cluster, {}).setdefault(str(label[row]), row)
        return _unknown_likeness(
            [
                (row, other)
                for row, id_ in enumerate(new.ids)
                for _, other in sorted(homes.get(self.new[id_], {}).items())
            ]
        )

    def among_new(self, new: Proteins) -> Pairs:
        """Return each protein with the first of its cluster (see :class:`Search`).

        Parameters
        ----------
        new : Proteins
            The new ones.
        """
        first: dict[str, int] = {}
        links = []
        for row, id_ in enumerate(new.ids):
            head = first.setdefault(self.new[id_], row)
            if head != row:
                links.append((head, row))
        return _unknown_likeness(links)


@dataclass(frozen=True)
class NoSearch:
    """Relatives are not known."""

    def among_old(self, new: Proteins, old: Proteins, label: Strings) -> Pairs:
        """Return no pairs.

        Parameters
        ----------
        new, old : Proteins
            The two sets.
        label : array of str
            Of each old protein.
        """
        return no_pairs()

    def among_new(self, new: Proteins) -> Pairs:
        """Return no pairs.

        Parameters
        ----------
        new : Proteins
            The new ones.
        """
        return no_pairs()


def _unknown_likeness(links: list[tuple[int, int]]) -> Pairs:
    ends = np.array(links, dtype=np.int64).reshape(-1, 2)
    zeros = np.zeros(len(ends))
    return Pairs(ends[:, 0], ends[:, 1], zeros, zeros, zeros)
