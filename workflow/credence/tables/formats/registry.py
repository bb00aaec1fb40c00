"""All formats of score tables. One line each; the order is the order of proposals.

Command line, configuration check, tests and documentation all read this list.
"""

from __future__ import annotations

from credence.problems import Problem, nearest
from credence.tables.formats import credence, phanns, phanns_labelled
from credence.tables.formats.format import Format

FORMATS: tuple[Format, ...] = (
    phanns_labelled.FORMAT,
    phanns.FORMAT,
    credence.FORMAT,
)

BY_NAME: dict[str, Format] = {entry.name: entry for entry in FORMATS}


def unknown_format(name: str, where: str) -> Problem:
    """Return the problem of a format that does not exist, with the nearest one.

    Parameters
    ----------
    name : str
        What the user wrote.
    where : str
        The file whose format it should be.
    """
    return Problem(where, f"{name!r} is no format.", nearest(name, list(BY_NAME)))
