"""Names and paths that a command, Snakemake or another system takes for something else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from credence.configuration.reading import Document, SettingPath
from credence.problems import Problem
from credence.tables.reserved import device_of

RELEASES = "releases"  # the folder beside those of the use-sets


def folder_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the names that become folders.

    A trove's name is not among them: its folder is ``01-name``.

    Parameters
    ----------
    document : Document
        What the user wrote.
    """
    yield from _device_problems(document, ("run",), document.data.get("run"))
    use_sets = document.data.get("use_sets")
    taken: dict[str, str] = {}  # two names that differ in case only may be one folder
    for position, entry in enumerate(use_sets if isinstance(use_sets, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            continue
        path: SettingPath = ("use_sets", position, "name")
        yield from _device_problems(document, path, name)
        if name.lower() in taken:
            is_same = taken[name.lower()] == name
            capitals = "" if is_same else "; capitals make no difference"
            yield document.problem(
                path, f"{name!r} names an earlier use-set{capitals}.", "Give each its own name."
            )
        taken.setdefault(name.lower(), name)
        if name.lower() == RELEASES:
            yield document.problem(
                path, f"{name!r} is the folder of the releases.", "Give the use-set another name."
            )


def _device_problems(document: Document, path: SettingPath, name: Any) -> Iterator[Problem]:
    if isinstance(name, str) and device_of(name) is not None:
        yield document.problem(
            path, f"{name!r} is the name of a device on Windows.", "Choose another name."
        )


def path_problem(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a path as it is written, and the remedy; None if nothing.

    Parameters
    ----------
    text : str
        A path of the configuration.

    Examples
    --------
    >>> path_problem("-x.csv")
    ("'-x.csv' begins with a dash, as an option does.", "Write './-x.csv'.")
    >>> path_problem("scores.csv") is None
    True
    """
    if text.startswith("-"):
        return f"{text!r} begins with a dash, as an option does.", f"Write './{text}'."
    if "{" in text or "}" in text:
        return (
            f"{text!r} has a brace, and Snakemake takes what braces hold for a wildcard.",
            "Rename it without { and }.",
        )
    return None
