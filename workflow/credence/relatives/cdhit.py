"""CD-HIT's clusters: those of its files, and PhANNs' groups, for comparison with what was done.

In CD-HIT a protein joins the first representative that it resembles, so relatives often
end up in different clusters: the audit says how many.

References
----------
Fu et al. 2012, doi 10.1093/bioinformatics/bts565.
Cantu et al. 2020, doi 10.1371/journal.pcbi.1007845.
"""

import re
import shutil
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Integers, Strings
from credence.problems import InputError, Problem, refuse
from credence.proteins import Proteins
from credence.relatives.pairs import distinct
from credence.relatives.programs import run_program, scratch_folder, write_texts

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
                problems.append(
                    Problem(
                        where=where,
                        what=f"{text!r} is no member.",
                        remedy=CLSTR_REMEDY,
                        line=number,
                    )
                )
                continue
            id_ = member.group(2) if whole_header else member.group(2).split(maxsplit=1)[0]
            ids.append(id_)
            cluster.append(len(starts) - 1)
            if member.group(3) == "*":
                stands[len(starts) - 1] = id_
    problems += [
        Problem(
            where=where,
            what="the cluster has no representative (*).",
            remedy=CLSTR_REMEDY,
            line=line,
        )
        for at, line in enumerate(starts)
        if at not in stands
    ]
    for repeated in sorted(id_ for id_, count in Counter(ids).items() if count > 1):
        problems.append(
            Problem(
                where=where,
                what=f"{repeated!r} is in it twice.",
                remedy="Match by full header, or rename it.",
            )
        )
    if not ids and not problems:
        problems.append(Problem(where=where, what="it holds no cluster.", remedy=CLSTR_REMEDY))
    if problems:
        raise InputError(problems)
    home = [stands[at] for at in cluster]
    return np.array(ids, dtype=object), np.array(home, dtype=object)


INSTALL_CDHIT = "Install it: conda install -c bioconda cd-hit (Debian: sudo apt install cd-hit)."
# PhANNs' identity, and the word length that CD-HIT's manual has for it.
OPTIONS_OF_PHANNS = ("-c", "0.4", "-n", "2")
SHORTEST = 10  # CD-HIT throws away sequences of up to this length


def cdhit_clusters(texts: Strings, threads: int = 1) -> Integers:
    """Return CD-HIT's cluster of each distinct sequence, as the row of its representative."""
    program = shutil.which("cd-hit")
    if program is None:
        raise refuse("cd-hit", "CD-HIT is not installed.", INSTALL_CDHIT)
    cluster = np.arange(len(texts))
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    rows = np.flatnonzero(lengths > SHORTEST)
    if len(rows) == 0:
        return cluster
    with scratch_folder() as folder:
        write_texts(folder / "all.fasta", texts, rows)
        words = [program, "-i", "all.fasta", "-o", "out", *OPTIONS_OF_PHANNS]
        words += ["-d", "0", "-M", "0", "-T", str(threads)]
        run_program(words, folder, None, INSTALL_CDHIT)
        with (folder / "out.clstr").open(encoding="ascii") as lines:
            ids, home = parse_clstr(lines, "out.clstr")
    cluster[ids.astype(np.int64)] = home.astype(np.int64)
    return cluster


def phanns_groups(
    proteins: Proteins, class_: NDArray[Any], n_groups: int, threads: int = 1
) -> tuple[Strings, Integers]:
    """Return the cluster of each protein and its group, 0 … n_groups − 1: PhANNs' recipe.

    Each class is clustered by itself, and its clusters go to the groups in turn: a relative under
    another label is never seen.
    """
    cluster = np.empty(proteins.n_proteins, dtype=object)
    group = np.zeros(proteins.n_proteins, dtype=np.int64)
    for name in np.unique(class_):
        rows = np.flatnonzero(class_ == name)
        sequences = distinct(proteins.sequences[rows])
        numbers = cdhit_clusters(sequences.texts, threads)[sequences.code]
        order = np.unique(numbers)
        group[rows] = np.searchsorted(order, numbers) % n_groups
        cluster[rows] = [f"{name}:{number}" for number in numbers]
    return cluster, group
