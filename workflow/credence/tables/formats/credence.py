"""The contract table `samples`, as :func:`credence.tables.samples.write_samples` writes it."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="credence",
    summary="credence's own table: id, true_class, a column per class (, network), TSV or Parquet",
    columns=Columns(
        id="id",
        true_class="true_class",
        predicted_class="predicted_class",
        score="score",
        network="network",
        optional=frozenset({"true_class", "predicted_class", "score", "network"}),
    ),
    delimiter="\t",
    scale=None,
)
