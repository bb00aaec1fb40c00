"""Any table with the best class and its score; the user names the columns and the scale."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="top-score",
    summary="any table with the best class and its score; columns and scale are named by you",
    columns=Columns(id="id", predicted_class="predicted_class", score="score"),
    scale=None,
    vector=False,
    sum_to_scale=False,
    configurable=True,
)
