"""All engines by name: what finds relatives, by a program or here."""

from collections.abc import Callable

from credence.relatives.cdhit_diamond import CdHitEngine, DiamondFinder
from credence.relatives.graph import ClusteringEngine, Finder, GraphEngine
from credence.relatives.kmers import ExactFinder, KmerEngine
from credence.relatives.mmseqs import MmseqsFinder
from credence.relatives.pairs import Thresholds

# Name → what finds pairs, made of threads and of the seconds that a program may take.
# Clusters are the connected components of these pairs.
FINDERS: dict[str, Callable[[int, float | None], Finder]] = {
    "mmseqs": MmseqsFinder,
    "diamond": DiamondFinder,
    "exact": lambda threads, timeout: ExactFinder(threads),
}
# What clusters without pairs.
OTHERS: dict[str, Callable[[Thresholds, int, float | None], ClusteringEngine]] = {
    "cdhit": lambda at, threads, timeout: CdHitEngine(at.identity, at.coverage, threads, timeout),
    "kmer": lambda at, threads, timeout: KmerEngine(at.identity, at.coverage),
}


def build_engine(
    name: str, thresholds: Thresholds | None = None, threads: int = 1, timeout: float | None = None
) -> ClusteringEngine:
    """Return the engine of a name; CD-HIT covers the shorter protein, whatever is asked."""
    thresholds = Thresholds() if thresholds is None else thresholds
    if name in FINDERS:
        return GraphEngine(FINDERS[name](threads, timeout), thresholds, threads)
    return OTHERS[name](thresholds, threads, timeout)
