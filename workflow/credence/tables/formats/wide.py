"""Any table with a column per class; the user names the columns and the scale."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="wide",
    summary="any table with a column per class; columns and scale are named by you",
    columns=Columns(id="id"),
    scale=None,
    configurable=True,
)
