"""What the Snakefile asks of a configuration: words of the commands it calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from credence.configuration.settings import Configuration, from_mapping, load, workflow_folder
from credence.problems import InputError, refuse

CONFIGURATION_FILE = "config.yaml"
DEMO_FOLDER = "demo"
# What the command `simulate` writes into it; a test keeps the two lists equal.
DEMO_FILES = tuple(
    f"{DEMO_FOLDER}/{name}"
    for name in (
        "README.txt",
        "calibration.csv",
        "proteins.fasta",
        "calibration_networks.npz",
        "training.fasta",
        "use.csv",
        "use.fasta",
        "trove_htj.csv",
        "trove_htj.fasta",
        "trove_mixed.csv",
        "trove_mixed.fasta",
        "truth/families.tsv",
        "truth/planted.tsv",
    )
)


def for_workflow(
    files: Sequence[Path], overrides: Mapping[str, Any], given: Mapping[str, Any]
) -> Configuration:
    """Return the configuration of a workflow, however Snakemake was told of it.

    Parameters
    ----------
    files : sequence of Path
        Files of ``--configfile``; without any, config.yaml is read.
    overrides : mapping
        Settings of ``--config``.
    given : mapping
        Snakemake's own `config`: what another workflow hands to this module.

    Raises
    ------
    snakemake.exceptions.WorkflowError
        With everything that is wrong in it: Snakemake shows it without a traceback.
    """
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

    Examples
    --------
    >>> option("--clusters", "c.tsv"), option("--clusters", None)
    (['--clusters', 'c.tsv'], [])
    """
    return [] if value is None else [name, str(value)]


def options(name: str, values: Iterable[Any]) -> list[str]:
    """Return an option once for each value; a tuple gives several words.

    Examples
    --------
    >>> options("--method", ["kernel", "histogram"])
    ['--method', 'kernel', '--method', 'histogram']
    """
    words = []
    for value in values:
        parts = value if isinstance(value, tuple) else (value,)
        words += [name, *(str(part) for part in parts)]
    return words


def flag(name: str, is_on: bool) -> list[str]:
    """Return a flag of a command where it is on.

    Examples
    --------
    >>> flag("--test-group", True), flag("--test-group", False)
    (['--test-group'], [])
    """
    return [name] if is_on else []
