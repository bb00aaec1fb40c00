"""PhaVIP: `accession`, `pred`, `score`; a score for the best class only."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="phavip",
    summary="PhaVIP CSV: accession, pred, score (the best class only)",
    columns=Columns(id="accession", predicted_class="pred", score="score"),
    vector=False,
    sum_to_scale=False,
)
