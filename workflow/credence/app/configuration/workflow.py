"""What the Snakefile asks of a configuration: words of the commands it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence.app.configuration.problems import DEMO_FILES, needs_places
from credence.app.configuration.settings import (
    Configuration,
    TableSet,
    from_mapping,
    load,
    workflow_folder,
)
from credence.problems import InputError, refuse

CONFIGURATION_FILE = "config.yaml"


def for_workflow(
    files: Sequence[Path], overrides: Mapping[str, Any], given: Mapping[str, Any]
) -> Configuration:
    """Return the configuration of a workflow, however Snakemake was given it."""
    from snakemake.exceptions import WorkflowError

    try:
        if len(files) > 1:
            raise refuse(
                str(files[1]), "this is a second configuration.", "Give one --configfile."
            )
        if not files and dict(given) != dict(overrides):
            return from_mapping(given, "configuration of the module")
        path = Path(files[0]) if files else Path(CONFIGURATION_FILE)
        return load(_short(path), overrides)
    except InputError as error:
        raise WorkflowError(error.text()) from None


def _short(path: Path) -> Path:
    """Return the path as seen from here, where it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def demo_text() -> str:
    """Return the configuration of the demo, as it stands at the top of a checkout."""
    folder = workflow_folder()
    inside = folder / CONFIGURATION_FILE
    return (inside if inside.exists() else folder.parent / CONFIGURATION_FILE).read_text("utf-8")


def environment_file() -> Path:
    """Return the conda environment that the package is pinned in."""
    folder = workflow_folder()
    inside = folder / "envs" / "credence.yaml"
    return inside if inside.exists() else folder.parent / "envs" / "credence.yaml"


def option(name: str, value: Any) -> list[str]:
    """Return an option of a command with its value; nothing where it has none.

    >>> option("--clusters", "c.tsv"), option("--clusters", None)
    (['--clusters', 'c.tsv'], [])
    """
    return [] if value is None else [name, str(value)]


def options(name: str, values: Iterable[Any]) -> list[str]:
    """Return an option once for each value; a tuple gives several words.

    >>> options("--method", ["kernel", "histogram"])
    ['--method', 'kernel', '--method', 'histogram']
    """
    words = []
    for value in values:
        parts = value if isinstance(value, tuple) else (value,)
        words += [name, *(str(part) for part in parts)]
    return words


MB = 1e6
PACKED = {".gz": 6, ".zst": 6}  # bytes of a table for one of its packed file
# Megabytes of two Snakemakes that stand above a command on a node: measured, 210 each.
ABOVE = 450
MORE = 2  # times as much at each further attempt
# Threads of what works on sequences, by their megabytes: below, threads.
THREADS = ((100.0, 2), (1000.0, 8))
MOST_THREADS = 16

Need = Callable[[Any, Iterable[str], int], int]


def megabytes(paths: Iterable[str]) -> float:
    """Return the size of files together, as they will be unpacked."""
    files = [Path(str(path)) for path in paths]
    return sum(file.stat().st_size * PACKED.get(file.suffix, 1) for file in files) / MB


def memory(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `mem_mb` of a rule is: a function of its input and of the attempt.

    While input is missing the function raises FileNotFoundError, which is how
    Snakemake learns that the need cannot be known yet; it asks again. What
    Snakemake itself takes on a node comes on top.
    """
    return _growing(least + ABOVE, for_each_mb)


def minutes(least: float, for_each_mb: float = 0.0) -> Need:
    """Return what `runtime` of a rule is, in minutes, as :func:`memory` does."""
    return _growing(least, for_each_mb)


def _growing(least: float, for_each_mb: float) -> Need:
    def need(wildcards: Any, input: Iterable[str], attempt: int) -> int:
        more: int = MORE ** (attempt - 1)
        return round((least + for_each_mb * megabytes(input)) * more)

    return need


def several(wildcards: Any, input: Iterable[str]) -> int:
    """Return the threads of a rule that works on sequences; missing files count nothing."""
    size = megabytes(path for path in input if Path(path).exists())
    return next((threads for below, threads in THREADS if size < below), MOST_THREADS)


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
class RowShare:
    """What one job annotates."""

    tables: tuple[str, ...]  # Tables of the use-set
    part: str | None = None  # Which of their rows: ``2/8``; all unless given


def shares(entry: TableSet, n_jobs: int | None) -> tuple[RowShare, ...]:
    """Return what each job annotates of a use-set, in the order of its rows.

    A table is divided by rows, several tables are kept whole. Nothing depends
    on the machine: the same set is divided alike wherever the workflow is read.
    """
    sizes = [_size(path) for path in entry.scores]
    if n_jobs is None:
        n_jobs = 1 if _has_networks(entry) else max(1, round(sum(sizes) / PART_MB))
    if n_jobs == 1:
        return (RowShare(entry.scores),)
    if len(entry.scores) == 1:
        return tuple(
            RowShare(entry.scores, f"{number}/{n_jobs}") for number in range(1, n_jobs + 1)
        )
    return tuple(RowShare(tables) for tables in _in_turns(entry.scores, sizes, n_jobs))


def judged_alone(settings: Configuration) -> tuple[str, ...]:
    """Return the methods that are cross-fitted in jobs of their own."""
    choice = settings.values["scatter"]["evaluate"]
    # What asks where proteins lie is judged with the rest, which is given places.
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
    from credence.tables.formats import BY_NAME

    named = BY_NAME.get(str(entry.spec["format"]))
    return bool(entry.spec["columns"].get("network")) or (named is not None and named.arrays)


def _in_turns(tables: Sequence[str], sizes: Sequence[float], n_jobs: int) -> list[tuple[str, ...]]:
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
