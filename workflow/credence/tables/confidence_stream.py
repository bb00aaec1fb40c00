"""Confidences of millions of proteins, read piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

from credence.tables.contract import CONFIDENCE_NAMES, read_confidences
from credence.tables.source import open_parquet

BLOCK_BYTES = 8 << 20
TEXTS = ("id", "predicted_class", "method", "note")


# What stops quick reading; the table is then read slowly, to tell where it is wrong.
NOT_QUICKLY = (pa.ArrowException, OSError)


def stream_confidences(path: Path) -> Iterator[pa.Table]:
    """Yield pieces of a table of confidences, its columns in the contract's order.

    Raises one of `NOT_QUICKLY` where it is not as `credence annotate` writes it.

    Parameters
    ----------
    path : Path
        TSV (plain, gz, zst) or Parquet.
    """
    for piece in _parquet(path) if path.suffix == ".parquet" else _tsv(path):
        lower, value, upper = (piece[name] for name in ("lower", "confidence", "upper"))
        orders = (
            pc.less_equal(0.0, lower),
            pc.less_equal(lower, value),
            pc.less_equal(value, upper),
            pc.less_equal(upper, 1.0),
        )
        # Where something is not known there is nothing to compare.
        if not all(
            pc.all(pc.fill_null(pc.or_(o, pc.is_nan(value)), True)).as_py() for o in orders
        ):
            raise pa.ArrowInvalid("a confidence lies outside its interval")
        yield piece


def read_slowly(path: Path) -> pa.Table:
    """Return a whole table of confidences, or refuse it with all its problems.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    columns = vars(read_confidences(path)).values()
    return pa.table(
        [pa.array(values, from_pandas=False) for values in columns], names=list(CONFIDENCE_NAMES)
    )


def _tsv(path: Path) -> Iterator[pa.Table]:
    kinds = {name: pa.string() if name in TEXTS else pa.float64() for name in CONFIDENCE_NAMES}
    with pa.input_stream(str(path), compression="detect") as source:
        reader = csv.open_csv(
            source,
            read_options=csv.ReadOptions(block_size=BLOCK_BYTES),
            parse_options=csv.ParseOptions(delimiter="\t"),
            convert_options=csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(CONFIDENCE_NAMES),
                null_values=[""],
                strings_can_be_null=False,
            ),
        )
        for batch in reader:
            yield pa.Table.from_batches([batch])


def _parquet(path: Path) -> Iterator[pa.Table]:
    with open_parquet(path) as file:
        for batch in file.iter_batches(columns=list(CONFIDENCE_NAMES)):
            yield pa.Table.from_batches([batch])
