"""Relatives without an outside program: shared words, then exact alignment.

Slower than a search engine, and the only way where no binary runs. Up to
`MOST_CELLS` alignment cells every pair is aligned, and none can be missed.
Beyond that only pairs that share `LEAST_SHARED` words of a reduced alphabet
are: relatives below about half identity are lost then unless others connect
them, and the audit says how many.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credence.predictions import Booleans, Integers, Strings
from credence.relatives.alignment import Library
from credence.relatives.kmers import links, words_of
from credence.relatives.pairs import Pairs, Thresholds

MOST_CELLS = 2e11  # a minute or so on one core
LEAST_CONTAINMENT = 0.01


@dataclass(frozen=True)
class ExactFinder:
    """Shared words and exact alignment."""

    threads: int = 1  # Alignments at a time
    most_cells: float = MOST_CELLS  # Up to how many alignment cells every pair is aligned

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.relatives.graph.Finder`)."""
        found = self._aligned(texts, thresholds, None)
        return found.take(found.at(thresholds))

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds."""
        texts = np.array(sorted({*queries, *targets}, key=_order), dtype=object)
        row_of = {text: row for row, text in enumerate(texts)}
        both_parts = [
            np.array([text in part for text in texts]) for part in (set(queries), set(targets))
        ]
        found = self._aligned(texts, thresholds, (both_parts[0], both_parts[1]))
        found = found.take(found.at(thresholds))
        query = {row_of[text]: at for at, text in enumerate(queries)}
        target = {row_of[text]: at for at, text in enumerate(targets)}
        rows, bounds = [], []
        pairs = zip(found.first.tolist(), found.second.tolist(), strict=True)
        for place, (first, second) in enumerate(pairs):
            for one, other in ((first, second), (second, first)):
                if one in query and other in target:
                    rows.append(place)
                    bounds.append((query[one], target[other]))
        chosen = found.take(np.array(rows, dtype=np.int64))
        both: Integers = np.array(bounds, dtype=np.int64).reshape(-1, 2)
        return replace(chosen, first=both[:, 0], second=both[:, 1])

    def _aligned(
        self, texts: Strings, thresholds: Thresholds, both_parts: tuple[Booleans, Booleans] | None
    ) -> Pairs:
        """Return aligned pairs: of the one part with the other, or of all."""
        library = Library(texts, self.threads)
        n_residues = float(sum(map(len, texts)))
        asked, n_asked = None, n_residues / 2.0
        if both_parts is not None:
            fewer = both_parts[0] if both_parts[0].sum() <= both_parts[1].sum() else both_parts[1]
            asked = np.flatnonzero(fewer)
            n_asked = float(sum(len(texts[row]) for row in asked))
        if n_residues * n_asked <= self.most_cells:
            return library.relatives(
                asked, most_expected=thresholds.most_expected, coverage=thresholds.coverage
            )
        first, second = links(words_of(texts), LEAST_CONTAINMENT)
        if both_parts is not None:
            query, target = both_parts
            across = (query[first] & target[second]) | (query[second] & target[first])
            first, second = first[across], second[across]
        low, high = np.minimum(first, second), np.maximum(first, second)
        return library.align(zip(low.tolist(), high.tolist(), strict=True))


def _order(text: str) -> tuple[int, str]:
    return -len(text), text
