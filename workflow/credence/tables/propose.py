"""Which formats a table could be of, with the reason; the choice is the user's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credence.problems import InputError, ProblemList, refuse
from credence.tables.formats import FORMATS, Format, NameLookup, TableSpec, format_of
from credence.tables.guess import scale_of
from credence.tables.scan import ColumnLayout, TableRows, lay_out, read_rows
from credence.tables.source import PARQUET_ENDINGS, TableSource, open_table
from credence.tables.text import blocks_of, lines_of, plain_suffix

ROWS_LOOKED_AT = 100
LEAST_SHARE = 0.5  # of cells that are numbers, of classes or labels that are known
ARRAY_ENDING = ".npz"


@dataclass(frozen=True)
class Proposal:
    """A format that a table could be of."""

    format: str  # Its name
    reason: str  # What in the table speaks for it


def propose_formats(path: Path, formats: Sequence[Format] = FORMATS) -> list[Proposal]:
    """Return the formats that a table could be of, the likeliest first."""
    if plain_suffix(path) not in (*PARQUET_ENDINGS, ARRAY_ENDING):
        next(lines_of(path), None)
    else:
        next(blocks_of(path), None)
    found = []
    for format_ in formats:
        if format_.configurable or format_.arrays != (path.suffix == ARRAY_ENDING):
            continue
        rows, layout, _ = _first_rows(path, format_)
        reason = None if rows is None else _argument(rows, layout, format_)
        if reason is not None:
            found.append(Proposal(format_.name, reason))
    names = {proposal.format for proposal in found}
    # A name that carries a label makes it the table of a labelled set.
    hidden = {
        plain.name
        for plain in formats
        for labelled in formats
        if labelled.name in names
        and labelled.label_of_id is not None
        and plain.label_of_id is None
        and plain.columns == labelled.columns
    }
    return [proposal for proposal in found if proposal.format not in hidden]


def the_format(path: Path, name_it: str) -> Proposal | None:
    """Return the one format that fits a table, None where none does; refuse where several do."""
    proposals = propose_formats(path)
    if len(proposals) > 1:
        names = [proposal.format for proposal in proposals]
        what = f"several formats fit this table: {', '.join(names)}."
        raise refuse(str(path), what, f"Name one: {name_it.format(names[0])}.")
    return next(iter(proposals), None)


def scale_of_rows(path: Path, name: str) -> dict[str, Any]:
    """Return the scale of a table in a format that states none, and whether rows sum to it."""
    rows, layout, table = _first_rows(path, format_of(TableSpec(name), str(path)))
    if layout.network is not None:  # of an ensemble it follows from their number
        return {"scale": None}
    return (
        {} if rows is None or table is None else scale_of(rows.numbers[~rows.is_unscored], table)
    )


def _first_rows(
    path: Path, format_: Format
) -> tuple[TableRows | None, ColumnLayout, TableSource | None]:
    """Return the first rows of a table, read as a format; None where they are not of it."""
    problems, layout = ProblemList(str(path)), ColumnLayout(())
    try:
        table = open_table(path, format_)
        layout = lay_out(table.header, table.header_line, format_, None, problems)
        chunk = next(iter(table.chunks(ROWS_LOOKED_AT, problems)), None)
        if problems.problems or chunk is None:
            return None, layout, table
        return read_rows(chunk, 1, layout, format_, format_.scale or 1.0), layout, table
    except InputError:
        return None, layout, None


def _argument(rows: TableRows, layout: ColumnLayout, format_: Format) -> str | None:
    """Return what in the first rows speaks for a format; None where they do not."""
    numbers = rows.numbers[~rows.is_unscored]
    if numbers.size and np.isfinite(numbers).mean() < LEAST_SHARE:
        return None
    columns = format_.columns
    if format_.names:  # of a file without a header the cells have to speak
        verdicts = rows.predicted or []
        n_like = sum(text.startswith(format_.verdict_like) for text in verdicts)
        is_far = (numbers < 1 / 2 if format_.is_distance else numbers > 1).any()  # farther than 1
        if n_like < LEAST_SHARE * rows.n_rows or format_.is_distance != is_far:
            return None
        what = "distances" if format_.is_distance else "numbers up to 1"
        return f"no header, and {what} after {format_.verdict_like!r}"
    named = (columns.id, columns.true_class, columns.predicted_class, columns.score)
    words = [f"a column {name!r}" for name in named if name and name in layout.header]
    if columns.id == "":
        words.append("an empty first name in the header")
    if columns.class_suffix:
        words.append(f"{len(layout.classes)} columns that end in {columns.class_suffix!r}")
    if format_.known_classes:
        known = NameLookup(format_.known_classes, format_.spell)
        n_known = sum(known[name] >= 0 for name in layout.class_names)
        if n_known < LEAST_SHARE * len(layout.class_names):
            return None
        words.append(f"{n_known} of its {len(format_.known_classes)} classes")
    if format_.label_of_id is not None and rows.truth is not None:
        lookup = NameLookup(layout.class_names, format_.spell)
        n_labels = sum(lookup[text] >= 0 for text in rows.truth)
        if n_labels < LEAST_SHARE * rows.n_rows:
            return None
        words.append(f"names that carry a class, such as {rows.ids[0]!r}")
    return ", ".join(words) if words else None
