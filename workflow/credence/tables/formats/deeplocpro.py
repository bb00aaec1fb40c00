"""DeepLocPro: a CSV with an unnamed index, `ACC`, `Localization` and six classes."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="deeplocpro",
    summary="DeepLocPro CSV: unnamed index, ACC, Localization, six classes",
    columns=Columns(id="ACC", predicted_class="Localization", ignored=("",)),
)
