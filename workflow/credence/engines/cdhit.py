"""CD-HIT: greedy clusters, for comparison with what was done before.

A protein joins the first representative that it resembles, so relatives often
end up in different clusters: the audit says how many.

References
----------
Fu et al. 2012, doi 10.1093/bioinformatics/bts565.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass

import numpy as np

from credence.engines.clstr import parse_clstr
from credence.engines.hits import write_texts
from credence.engines.running import run_program, scratch_folder
from credence.predictions import Integers, Strings
from credence.problems import refuse
from credence.sequences.canonical import distinct
from credence.sequences.graph import Graph
from credence.sequences.proteins import Proteins
from credence.sequences.protocol import Clustering, Engine
from credence.sequences.relatives import no_pairs

REMEDY = "Install it: conda install -c bioconda cd-hit (Debian: sudo apt install cd-hit)."
# Word length that each identity needs, from CD-HIT's manual.
WORDS = ((0.7, 5), (0.6, 4), (0.5, 3), (0.4, 2))
SHORTEST = 10  # CD-HIT throws away sequences of up to this length


@dataclass(frozen=True)
class CdHitEngine:
    """Settings of ``cd-hit``.

    Parameters
    ----------
    identity : float
        At least 0.4, the lowest that CD-HIT takes.
    coverage : float, optional
        Least share of the shorter one aligned (-aS); None: not asked for.
    threads : int
        Threads of the program.
    timeout : float, optional
        Seconds after which it is ended.
    """

    identity: float = 0.4
    coverage: float | None = 0.8
    threads: int = 1
    timeout: float | None = None

    def cluster(self, proteins: Proteins) -> Clustering:
        """Return CD-HIT's clusters, named after their longest proteins.

        Parameters
        ----------
        proteins : Proteins
            In any order.
        """
        found = distinct(proteins.sequences)
        component = self.components(found.texts)
        return Graph(proteins, found, no_pairs()).clustering(component, self.threads)

    def components(self, texts: Strings) -> Integers:
        """Return the cluster of each distinct sequence.

        Parameters
        ----------
        texts : array of str
            Distinct sequences from long to short.
        """
        program = shutil.which("cd-hit")
        if program is None:
            raise refuse("cd-hit", "CD-HIT is not installed.", REMEDY)
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
            run_program(words, folder, self.timeout, REMEDY)
            with (folder / "out.clstr").open(encoding="ascii") as lines:
                ids, home = parse_clstr(lines, "out.clstr")
        component[ids.astype(np.int64)] = home.astype(np.int64)
        return component


def build(
    identity: float = 0.4,
    coverage: float = 0.8,
    both_sides: bool = False,
    threads: int = 1,
    timeout: float | None = None,
) -> CdHitEngine:
    """Return the engine; it covers the shorter protein, whatever `both_sides` says.

    Parameters
    ----------
    identity, coverage
        Thresholds.
    both_sides : bool
        Not known to this engine.
    threads : int
        Threads of the program.
    timeout : float, optional
        Seconds after which it is ended.
    """
    return CdHitEngine(identity, coverage, threads, timeout)


ENGINE = Engine(
    name="cdhit",
    summary="CD-HIT's greedy clusters; relatives may be in different ones.",
    settings=CdHitEngine,
    build=build,
)
