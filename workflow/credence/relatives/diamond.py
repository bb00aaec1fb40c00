"""DIAMOND: a fast search for relatives.

References
----------
Buchfink, Reuter & Drost 2021, doi 10.1038/s41592-021-01101-x.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass

import numpy as np

from credence.predictions import Strings
from credence.problems import refuse
from credence.relatives.pairs import Pairs, Thresholds
from credence.relatives.programs import (
    largest_evalue,
    read_hits,
    run_program,
    scratch_folder,
    write_texts,
)

OLDEST = 2
REMEDY = (
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
            raise refuse("diamond", "DIAMOND is not installed.", REMEDY)
        evalue = largest_evalue(targets, thresholds)
        with scratch_folder() as folder:
            stated = run_program([program, "version"], folder, self.timeout, REMEDY)
            release = re.search(r"version (\d+)\.", stated)
            if release is not None and int(release.group(1)) < OLDEST:
                raise refuse("diamond", f"{stated.strip()} is too old.", REMEDY)
            write_texts(folder / "queries.fasta", queries, np.arange(len(queries)))
            write_texts(folder / "targets.fasta", targets, np.arange(len(targets)))
            words = ["makedb", "--in", "targets.fasta", "--db", "targets"]
            options = ["--threads", str(self.threads), "--quiet"]
            run_program([program, *words, *options], folder, self.timeout, REMEDY)
            words = ["blastp", "--query", "queries.fasta", "--db", "targets.dmnd"]
            words += ["--out", "hits.tsv", "--very-sensitive", "--evalue", f"{evalue:g}"]
            words += ["--max-target-seqs", MOST_HITS, "--id", f"{SEARCH_IDENTITY:g}"]
            words += ["--outfmt", "6", *COLUMNS]
            run_program([program, *words, *options], folder, self.timeout, REMEDY)
            found = read_hits(folder / "hits.tsv", percent=True)
        return found.take(found.at(thresholds))
