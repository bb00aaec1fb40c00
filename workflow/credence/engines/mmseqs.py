"""MMseqs2: linear-time clustering of near copies, then its prefilter over the rest.

What the prefilter proposes is aligned here (:mod:`credence.sequences.candidates`).
Short proteins hold few words, and words are what is searched by; so the shorter
they are the more sensitively they are searched, and fewer of them stand behind a
near copy. What found few relatives is searched once more, each protein by itself.

References
----------
Steinegger & Söding 2017, doi 10.1038/nbt.3988.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from credence.engines.building import builder_of
from credence.engines.hits import candidates_of, diagonal_needed, largest_evalue, write_texts
from credence.engines.mmseqs_program import Mmseqs
from credence.engines.running import scratch_folder
from credence.predictions import Integers, Strings
from credence.sequences.candidates import Candidates
from credence.sequences.graph import GraphEngine
from credence.sequences.protocol import Engine
from credence.sequences.relatives import Pairs, Thresholds, joined
from credence.sequences.smith_waterman import Library, measured

NEAR_COVERAGE = 0.9
OVERHANG = 40  # residues beside an alignment, enough for a relative of their own
MOST_HITS = 300
SEARCH_IDENTITY = 0.3  # of hits read; the threshold is applied here, to what was aligned


@dataclass(frozen=True)
class Reach:
    """How sequences of some length are searched.

    Parameters
    ----------
    residues : int
        They have at least so many.
    sensitivity : float
        MMseqs2's, 1 to 7.5: how unlike a word may be that is looked up.
    """

    residues: int
    sensitivity: float


@dataclass(frozen=True)
class Nearness:
    """Which sequences of some length stand for others in the search.

    Parameters
    ----------
    residues : int
        They have at least so many.
    identity : float
        From here on one stands for another.
    """

    residues: int
    identity: float


Tier = TypeVar("Tier", Reach, Nearness)

# From long to short: short proteins hold few words that are alike (decision 0508).
REACHES = (Reach(400, 4.5), Reach(180, 5.0), Reach(120, 5.7), Reach(80, 6.5), Reach(1, 7.0))
# Where few relatives were found: all members, among all sequences (decision 0509).
REACHES_AGAIN = (Reach(150, 4.5), Reach(1, 6.2))
# Of short ones a copy may have relatives that the other has not (decision 0505).
NEARNESSES = (Nearness(120, 0.7), Nearness(1, 0.9))
SENSITIVITY = 5.7  # where new proteins are searched among old ones


@dataclass(frozen=True)
class MmseqsFinder:
    """Settings of the two-stage search.

    Parameters
    ----------
    threads : int
        Threads of the program; they change nothing but the time.
    timeout : float, optional
        Seconds after which it is ended.
    """

    threads: int = 1
    timeout: float | None = None

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.sequences.graph.Finder`).

        Parameters
        ----------
        texts : array of str
            Distinct sequences from long to short.
        thresholds : Thresholds
            From where on two are joined.
        """
        with scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            library = Library(texts, self.threads)
            lengths, everyone = library.lengths, np.arange(len(texts))
            near = joined(
                [
                    _near(program, texts, nearness, rows)
                    for nearness, rows in _by_length(NEARNESSES, lengths, everyone)
                ]
            )
            rest = np.setdiff1d(everyone, np.setdiff1d(near.second, _with_more(library, near)))
            found = candidates_of(_searched(program, library, rest), lengths)

            def again(rows: Integers) -> tuple[Integers, Integers]:
                return candidates_of(_searched_again(program, library, rows), lengths)[:2]

            return Candidates(library, thresholds).connect(near, *found, again)

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds.

        Parameters
        ----------
        queries, targets : array of str
            Canonical sequences.
        thresholds : Thresholds
            From where on a pair counts.
        """
        if len(queries) > len(targets):  # the time goes with the number of queries
            turned = self.between(targets, queries, thresholds)
            return replace(turned, first=turned.second, second=turned.first)
        with scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            write_texts(folder / "queries.fasta", queries, np.arange(len(queries)))
            write_texts(folder / "targets.fasta", targets, np.arange(len(targets)))
            names = ("queries.fasta", "targets.fasta")
            # Each target counts here, so that none may be crowded out.
            evalue = largest_evalue(targets, thresholds)
            most_hits = max(MOST_HITS, len(targets))
            found = program.search(names, SENSITIVITY, SEARCH_IDENTITY, evalue, most_hits)
        return found.take(found.at(thresholds))


def _near(program: Mmseqs, texts: Strings, nearness: Nearness, rows: Integers) -> Pairs:
    """Return near copies, each with the sequence that stands for it."""
    name = f"from{nearness.residues}"
    ends = program.linclust(name, texts, rows, nearness.identity, NEAR_COVERAGE)
    identity = np.full(len(ends), nearness.identity)
    coverage = np.full(len(ends), NEAR_COVERAGE)
    return Pairs(ends[:, 0], ends[:, 1], identity, coverage, coverage.copy())


def _with_more(library: Library, near: Pairs) -> Integers:
    """Return the near copies with a stretch that what stands for them lacks.

    The stretch may have relatives of its own, so they are searched themselves.
    """
    lengths = library.lengths[near.second]
    long = np.flatnonzero((1.0 - NEAR_COVERAGE) * lengths >= OVERHANG)
    pairs = measured(library, near.first[long], near.second[long])
    # Rows come from long to short.
    is_shorter = pairs.first < pairs.second
    covered = np.where(is_shorter, pairs.coverage, pairs.coverage_longer)
    return pairs.second[(1.0 - covered) * lengths[long] >= OVERHANG]


def _searched(program: Mmseqs, library: Library, rest: Integers) -> Iterator[Path]:
    """Yield tables of candidates among some rows."""
    for reach, rows in _by_length(REACHES, library.lengths, rest):
        name = f"r{reach.residues}"
        query = program.database(f"{name}-query", library.texts, rows)
        # Shorter targets search by themselves, and more sensitively.
        longer = rest[rest <= rows.max()]
        target = program.database(f"{name}-target", library.texts, longer)
        least = int(diagonal_needed(np.array(reach.residues)))
        yield program.prefilter(query, target, reach.sensitivity, least, MOST_HITS)


def _searched_again(program: Mmseqs, library: Library, rows: Integers) -> Iterator[Path]:
    """Yield tables of candidates of some rows and of all sequences."""
    least = int(diagonal_needed(np.array(1)))
    target = program.database("everyone", library.texts, np.arange(len(library.texts)))
    for reach, part in _by_length(REACHES_AGAIN, library.lengths, rows):
        query = program.database(f"again{reach.residues}-query", library.texts, part)
        yield program.prefilter(query, target, reach.sensitivity, least, MOST_HITS)


def _by_length(
    tiers: Sequence[Tier], lengths: Integers, rows: Integers
) -> Iterator[tuple[Tier, Integers]]:
    """Yield the rows that are treated alike, where there are any; tiers from long to short."""
    longest = np.iinfo(np.int64).max
    for tier in tiers:
        part = rows[(lengths[rows] >= tier.residues) & (lengths[rows] < longest)]
        longest = tier.residues
        if len(part):
            yield tier, part


build = builder_of(MmseqsFinder)

ENGINE = Engine(
    name="mmseqs",
    summary="MMseqs2 in two stages, then connected components; the default.",
    settings=GraphEngine,
    build=build,
)
