"""Engines of programs that search: the same clusters of whatever pairs they find."""

from __future__ import annotations

from collections.abc import Callable

from credence.sequences.graph import Finder, GraphEngine
from credence.sequences.relatives import Thresholds


def builder_of(
    finder: Callable[[int, float | None], Finder],
) -> Callable[..., GraphEngine]:
    """Return the function that makes an engine of settings.

    Parameters
    ----------
    finder : callable
        Gives what searches, of the threads of the program and the seconds after
        which it is ended.
    """

    def build(
        identity: float = 0.4,
        coverage: float = 0.8,
        both_sides: bool = False,
        threads: int = 1,
        timeout: float | None = None,
    ) -> GraphEngine:
        thresholds = Thresholds(identity, coverage, both_sides)
        return GraphEngine(finder(threads, timeout), thresholds, threads)

    return build
