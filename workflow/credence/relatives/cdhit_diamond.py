"""Programs that users may have: CD-HIT, for comparison with what was done before, and DIAMOND.

In CD-HIT a protein joins the first representative that it resembles, so relatives often
end up in different clusters: the audit says how many.

References
----------
Fu et al. 2012, doi 10.1093/bioinformatics/bts565.
Buchfink, Reuter & Drost 2021, doi 10.1038/s41592-021-01101-x.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Integers, Strings
from credence.problems import InputError, Problem, refuse
from credence.proteins import Proteins
from credence.relatives.graph import Clustering, Graph
from credence.relatives.pairs import Pairs, Thresholds, distinct, no_pairs
from credence.relatives.programs import (
    largest_evalue,
    read_hits,
    run_program,
    scratch_folder,
    write_texts,
)

MEMBER = re.compile(r"\d+\s+(\d+)(?:aa|nt), >(\S.*)\.\.\. (\*|at .*)$")
CLSTR_REMEDY = "Give the .clstr file as cd-hit wrote it."


def parse_clstr(
    lines: Iterable[str], where: str, whole_header: bool = False
) -> tuple[Strings, Strings]:
    """Return ids and the representative of each."""
    problems: list[Problem] = []
    ids: list[str] = []
    cluster: list[int] = []
    stands: dict[int, str] = {}
    starts: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.rstrip("\r\n")
        if text.startswith(">Cluster"):
            starts.append(number)
        elif text.strip():
            member = MEMBER.match(text)
            if member is None or not starts:
                problems.append(Problem(where, f"{text!r} is no member.", CLSTR_REMEDY, number))
                continue
            id_ = member.group(2) if whole_header else member.group(2).split(maxsplit=1)[0]
            ids.append(id_)
            cluster.append(len(starts) - 1)
            if member.group(3) == "*":
                stands[len(starts) - 1] = id_
    problems += [
        Problem(where, "the cluster has no representative (*).", CLSTR_REMEDY, line)
        for at, line in enumerate(starts)
        if at not in stands
    ]
    for repeated in sorted(id_ for id_, count in Counter(ids).items() if count > 1):
        problems.append(
            Problem(where, f"{repeated!r} is in it twice.", "Match by full header, or rename it.")
        )
    if not ids and not problems:
        problems.append(Problem(where, "it holds no cluster.", CLSTR_REMEDY))
    if problems:
        raise InputError(problems)
    home = [stands[at] for at in cluster]
    return np.array(ids, dtype=object), np.array(home, dtype=object)


CDHIT_REMEDY = "Install it: conda install -c bioconda cd-hit (Debian: sudo apt install cd-hit)."
# Word length that each identity needs, from CD-HIT's manual.
WORDS = ((0.7, 5), (0.6, 4), (0.5, 3), (0.4, 2))
SHORTEST = 10  # CD-HIT throws away sequences of up to this length


@dataclass(frozen=True)
class CdHitEngine:
    """Settings of ``cd-hit``."""

    identity: float = 0.4  # At least 0.4, the lowest that CD-HIT takes
    # Least share of the shorter one aligned (-aS); None: not asked for.
    coverage: float | None = 0.8
    threads: int = 1  # Threads of the program
    timeout: float | None = None  # Seconds after which it is ended

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return CD-HIT's clusters, named after their longest proteins."""
        found = distinct(proteins.sequences)
        component = self.components(found.texts)
        return Graph(proteins, found, no_pairs()).clustering(component, self.threads)

    def components(self, texts: Strings) -> Integers:
        """Return the cluster of each distinct sequence."""
        program = shutil.which("cd-hit")
        if program is None:
            raise refuse("cd-hit", "CD-HIT is not installed.", CDHIT_REMEDY)
        word = next((size for least, size in WORDS if self.identity >= least), None)
        if word is None:
            what = f"CD-HIT cannot go below identity 0.4, and {self.identity:g} is asked for."
            raise refuse("cd-hit", what, "Choose --engine mmseqs, or --identity 0.4.")
        component = np.arange(len(texts))
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        rows = np.flatnonzero(lengths > SHORTEST)
        if len(rows) == 0:
            return component
        with scratch_folder() as folder:
            write_texts(folder / "all.fasta", texts, rows)
            words = [program, "-i", "all.fasta", "-o", "out", "-c", f"{self.identity:g}"]
            words += ["-n", str(word), "-d", "0", "-M", "0", "-T", str(self.threads)]
            if self.coverage is not None:
                words += ["-aS", f"{self.coverage:g}"]
            run_program(words, folder, self.timeout, CDHIT_REMEDY)
            with (folder / "out.clstr").open(encoding="ascii") as lines:
                ids, home = parse_clstr(lines, "out.clstr")
        component[ids.astype(np.int64)] = home.astype(np.int64)
        return component


PHANNS_IDENTITY = 0.4


def phanns_groups(
    proteins: Proteins, class_: NDArray[Any], n_groups: int, threads: int = 1
) -> tuple[Strings, Integers]:
    """Return the cluster of each protein and its group, 0 … n_groups − 1: PhANNs' recipe.

    Each class is clustered by itself, and its clusters go to the groups in turn: a relative under
    another label is never seen (Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845).
    """
    cluster = np.empty(proteins.n_proteins, dtype=object)
    group = np.zeros(proteins.n_proteins, dtype=np.int64)
    engine = CdHitEngine(PHANNS_IDENTITY, None, threads)
    for name in np.unique(class_):
        rows = np.flatnonzero(class_ == name)
        found = distinct(proteins.sequences[rows])
        component = engine.components(found.texts)[found.code]
        order = np.unique(component)
        group[rows] = np.searchsorted(order, component) % n_groups
        cluster[rows] = [f"{name}:{number}" for number in component]
    return cluster, group


OLDEST = 2
DIAMOND_REMEDY = (
    "Install it: conda install -c bioconda 'diamond>=2.1' "
    "(Debian: sudo apt install diamond-aligner), or choose --engine mmseqs."
)
MOST_HITS = "300"
SEARCH_IDENTITY = 30.0
COLUMNS = ("qseqid", "sseqid", "pident", "qstart", "qend", "sstart", "send", "qlen", "slen")


@dataclass(frozen=True)
class DiamondFinder:
    """Settings of the search."""

    threads: int = 1  # Threads of the program; they change nothing but the time
    timeout: float | None = None  # Seconds after which it is ended

    def among(self, texts: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs at the thresholds (see :class:`credence.relatives.graph.Finder`)."""
        found = self.between(texts, texts, thresholds)
        return found.take(found.first < found.second)

    def between(self, queries: Strings, targets: Strings, thresholds: Thresholds) -> Pairs:
        """Return pairs of a query and a target at the thresholds."""
        program = shutil.which("diamond")
        if program is None:
            raise refuse("diamond", "DIAMOND is not installed.", DIAMOND_REMEDY)
        evalue = largest_evalue(targets, thresholds)
        with scratch_folder() as folder:
            stated = run_program([program, "version"], folder, self.timeout, DIAMOND_REMEDY)
            release = re.search(r"version (\d+)\.", stated)
            if release is not None and int(release.group(1)) < OLDEST:
                raise refuse("diamond", f"{stated.strip()} is too old.", DIAMOND_REMEDY)
            write_texts(folder / "queries.fasta", queries, np.arange(len(queries)))
            write_texts(folder / "targets.fasta", targets, np.arange(len(targets)))
            words = ["makedb", "--in", "targets.fasta", "--db", "targets"]
            options = ["--threads", str(self.threads), "--quiet"]
            run_program([program, *words, *options], folder, self.timeout, DIAMOND_REMEDY)
            words = ["blastp", "--query", "queries.fasta", "--db", "targets.dmnd"]
            words += ["--out", "hits.tsv", "--very-sensitive", "--evalue", f"{evalue:g}"]
            words += ["--max-target-seqs", MOST_HITS, "--id", f"{SEARCH_IDENTITY:g}"]
            words += ["--outfmt", "6", *COLUMNS]
            run_program([program, *words, *options], folder, self.timeout, DIAMOND_REMEDY)
            found = read_hits(folder / "hits.tsv", percent=True)
        return found.take(found.at(thresholds))
