"""PhANNs3: `header`, a column per class in alphabetical order, `prediction`, `confidence`."""

from __future__ import annotations

from credence.tables.formats import phanns
from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="phanns3",
    summary="PhANNs3 CSV: header, a column per class, prediction, confidence",
    columns=Columns(id="header", predicted_class="prediction", ignored=("confidence",)),
    scale=1.0,
    spell=phanns.spell,
)
