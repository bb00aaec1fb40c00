"""Which rows one of several workers annotates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from credence.problems import refuse
from credence.tables.row_range import RowRange, rows_of_part

PART = re.compile(r"(?P<number>[0-9]{1,9})/(?P<n_parts>[0-9]{1,9})")


def row_range(part: str, tables: Sequence[str], summary: str | None) -> RowRange:
    """Return the rows of one part of a table that was checked.

    Parameters
    ----------
    part : str
        ``2/8``: the second of eight.
    tables : sequence of str
        The one table.
    summary : str, optional
        What credence check wrote of it, with the number of its rows.
    """
    from credence.cli.summaries import read_summary

    found = PART.fullmatch(part)
    if found is None or not 1 <= int(found["number"]) <= int(found["n_parts"]):
        raise refuse("--part", f"{part!r} names no part.", "Write 2/8 for the second of eight.")
    if len(tables) != 1:
        raise refuse("--part", f"there are {len(tables)} tables.", "Annotate one at a time.")
    if summary is None:
        raise refuse(
            "--part",
            f"the rows of {tables[0]} were not counted.",
            f"Check it first: credence check {tables[0]} --out check.json, then give --check.",
        )
    checked = read_summary(Path(summary))
    # Of networks, a row of what is annotated is a protein.
    n_rows = checked.n_samples + (0 if checked.n_networks else checked.n_unscored)
    start, stop = rows_of_part(n_rows, int(found["number"]), int(found["n_parts"]))
    return RowRange(start, stop, checked.resolution)
