"""PhANNs3's table of its own test set: `true_class`, the classes, `prediction`; no ids."""

from __future__ import annotations

from credence.tables.formats import phanns
from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="phanns3-labelled",
    summary="PhANNs3 CSV with truth: true_class, a column per class, prediction; ids row_1, …",
    columns=Columns(true_class="true_class", predicted_class="prediction"),
    scale=1.0,
    spell=phanns.spell,
)
