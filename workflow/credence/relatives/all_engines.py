"""All engines by name: what finds relatives, by a program or here."""

from collections.abc import Callable

from credence.relatives.graph import Finder, GraphEngine
from credence.relatives.kmers import ExactFinder, WordFinder
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pairs import Thresholds

# Name → what finds pairs, made of threads and of the seconds that a program may take.
# Clusters are the connected components of these pairs.
FINDERS: dict[str, Callable[[int, float | None], Finder]] = {
    "mmseqs": lambda threads, timeout: MmseqsFinder(threads=threads, timeout=timeout),
    "exact": lambda threads, timeout: ExactFinder(threads=threads),
    "kmer": lambda threads, timeout: WordFinder(threads=threads),
}


def build_engine(
    name: str, thresholds: Thresholds | None = None, threads: int = 1, timeout: float | None = None
) -> GraphEngine:
    """Return the engine of a name."""
    return GraphEngine(
        finder=FINDERS[name](threads, timeout),
        thresholds=thresholds or Thresholds(),
        threads=threads,
    )
