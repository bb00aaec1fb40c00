"""All formats of score tables. One line each; the order is the order of proposals.

Command line, configuration check, tests and documentation all read this list.
"""

from __future__ import annotations

from pathlib import Path

from credence.problems import Problem, nearest
from credence.tables.formats import (
    credence,
    deeplocpro,
    deepvp,
    networks_npz,
    phanns,
    phanns3,
    phanns3_labelled,
    phanns_labelled,
    phavip,
    phold,
    phynteny,
    signalp6,
    top_score,
    wide,
)
from credence.tables.formats.format import Format
from credence.tables.formats.propose import Proposal, propose

FORMATS: tuple[Format, ...] = (
    phanns_labelled.FORMAT,
    phanns.FORMAT,
    phanns3.FORMAT,
    phanns3_labelled.FORMAT,
    deeplocpro.FORMAT,
    signalp6.FORMAT,
    deepvp.FORMAT,
    phold.FORMAT,
    phavip.FORMAT,
    phynteny.FORMAT,
    networks_npz.FORMAT,
    credence.FORMAT,
    wide.FORMAT,
    top_score.FORMAT,
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


def propose_formats(path: Path) -> list[Proposal]:
    """Return the formats that a table could be of, the likeliest first, with reasons.

    Parameters
    ----------
    path : Path
        A score table.
    """
    return propose(Path(path), FORMATS)
