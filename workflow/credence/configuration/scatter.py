"""What is divided into jobs: use-sets by rows, the judging of methods by method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from credence.configuration.commands import DEMO_FILES
from credence.configuration.needs import megabytes
from credence.configuration.novelty import needs_places
from credence.configuration.settings import Configuration, TableSet

# A part of a gigabyte takes one core one to five minutes, and starting a job on
# a cluster half a minute (docs/operations.md).
PART_MB = 1000.0
# Of a smaller calibration set, ten fits of the slowest method take no longer
# than it takes to start a job: 1 MB are 15,000 proteins of eleven classes.
JUDGED_ALONE_MB = 1.0
SLOW = ("auto", "logistic", "matrix", "trees")  # seconds a fit at 46,801 proteins: 0.4 to 5
# One alone is nearly all of the work, in whichever job: 1.06 times as fast (docs/operations.md).
FEWEST_ALONE = 2


@dataclass(frozen=True)
class Share:
    """What one job annotates.

    Parameters
    ----------
    tables : tuple of str
        Tables of the use-set.
    part : str, optional
        Which of their rows: ``2/8``; all unless given.
    """

    tables: tuple[str, ...]
    part: str | None = None


def shares(entry: TableSet, n_jobs: int | None) -> tuple[Share, ...]:
    """Return what each job annotates of a use-set, in the order of its rows.

    A table is divided by rows, several tables are dealt whole. Nothing depends
    on the machine: the same set is divided alike wherever the workflow is read.

    Parameters
    ----------
    entry : TableSet
        The use-set.
    n_jobs : int, optional
        How many jobs; by the size of the tables unless given.
    """
    sizes = [_size(path) for path in entry.scores]
    if n_jobs is None:
        n_jobs = 1 if _has_networks(entry) else max(1, round(sum(sizes) / PART_MB))
    if n_jobs == 1:
        return (Share(entry.scores),)
    if len(entry.scores) == 1:
        return tuple(Share(entry.scores, f"{number}/{n_jobs}") for number in range(1, n_jobs + 1))
    return tuple(Share(tables) for tables in _dealt(entry.scores, sizes, n_jobs))


def judged_alone(settings: Configuration) -> tuple[str, ...]:
    """Return the methods that are cross-fitted in jobs of their own.

    Parameters
    ----------
    settings : Configuration
        Of the run.
    """
    choice = settings.values["scatter"]["evaluate"]
    # What asks where proteins lie is judged with the rest, which is told where.
    methods = tuple(method for method in settings.methods if not needs_places(method))
    if choice == "every":
        return methods
    sets = [settings.calibration_set.scores, *(trove.scores for trove in settings.troves)]
    size = sum(_size(path) for paths in sets for path in paths)
    if choice == "none" or size < JUDGED_ALONE_MB:
        return ()
    slow = tuple(method for method in methods if any(name in method for name in SLOW))
    return slow if len(slow) >= FEWEST_ALONE else ()


def _size(path: str) -> float:
    """Return the megabytes of a table; nothing of one that is not there or is simulated."""
    return megabytes([path]) if path not in DEMO_FILES and Path(path).is_file() else 0.0


def _has_networks(entry: TableSet) -> bool:
    """Return whether rows of a protein may stand anywhere, so that each job reads all."""
    from credence.tables.formats.registry import BY_NAME

    named = BY_NAME.get(str(entry.spec["format"]))
    return bool(entry.spec["columns"].get("network")) or (named is not None and named.arrays)


def _dealt(tables: Sequence[str], sizes: Sequence[float], n_jobs: int) -> list[tuple[str, ...]]:
    """Return runs of tables of about one size, in their order, none of them empty."""
    least = 1e-9  # what is not there counts as a table nevertheless
    total = sum(sizes) + least * len(sizes)
    found: dict[int, list[str]] = {}
    before = 0.0
    for path, size in zip(tables, sizes, strict=True):
        middle = before + (size + least) / 2.0
        found.setdefault(int(n_jobs * middle / total), []).append(path)
        before += size + least
    return [tuple(found[number]) for number in sorted(found)]
