"""Score tables as checked samples, whole or chunk by chunk.

Reading turns a file into arrays or raises every problem it found. A stream
reads the file twice, once to check all of it and once to give its chunks, so
that no chunk comes out of a table that is refused further down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Floats, Predictions
from credence.tables.assembling import Samples, assemble
from credence.tables.known_ids import KnownIds
from credence.tables.metadata import Metadata, write_metadata
from credence.tables.network_stream import stream_networks
from credence.tables.row_range import RowRange
from credence.tables.scan import Scan
from credence.tables.spec import TableSpec
from credence.tables.writing import write_table

__all__ = [
    "Samples",
    "TableSpec",
    "read_samples",
    "stream_samples",
    "write_samples",
]

CHUNK_ROWS = 100_000


def read_samples(path: Path, spec: TableSpec) -> Samples:
    """Return the samples of a table, or raise all its problems.

    Parameters
    ----------
    path : Path
        CSV, TSV (plain, .gz, .zst), Parquet or npz, by its ending.
    spec : TableSpec
        Its format and what the user states about it.
    """
    scan = Scan(Path(path), spec)
    parts = list(scan.checked(CHUNK_ROWS))
    return assemble(scan, parts)


def stream_samples(
    path: Path,
    spec: TableSpec,
    chunk_rows: int = CHUNK_ROWS,
    counted: Callable[[int], object] = lambda n_rows: None,
    known: KnownIds | None = None,
    rows: RowRange | None = None,
) -> Iterator[Samples]:
    """Yield the samples of a table chunk by chunk, after checking all of it.

    The chunks together are what :func:`read_samples` gives: class names,
    resolution and the presence of labels are those of the whole table. Beside a
    chunk, 8 bytes a row are kept while checking (24 where decimals leave the sum
    of a row in doubt); of a table of networks, 8 bytes a protein. Where the rows
    of a protein do not stand together, a table of networks is read whole.

    Parameters
    ----------
    path, spec
        As for :func:`read_samples`.
    chunk_rows : int
        At most so many proteins to a chunk.
    counted : callable, optional
        Is told the number of proteins, also without scores, once all are checked.
    known : KnownIds, optional
        Of the other tables of the set: none of their ids may stand here.
    rows : RowRange, optional
        The rows that are wanted, of a table that was checked whole before; of a
        table of networks, the proteins.
    """
    scan = Scan(Path(path), spec, rows)
    if rows is not None and rows.start == rows.stop:
        counted(0)
    elif scan.has_networks:
        yield from stream_networks(scan, chunk_rows, counted, known, rows)
    else:
        counted(sum(len(part.ids) for part in scan.checked(chunk_rows, known)))
        for part in scan.again(chunk_rows):
            yield assemble(scan, [part])


def write_samples(path: Path, samples: Samples) -> None:
    """Write the contract table `samples`; the format `credence` reads it back.

    A Parquet file keeps scale, resolution and pooling in its metadata; of a TSV
    the scale has to be stated when it is read, and the resolution is that of
    the decimals in it, zeros at the end not being written. Networks are written in long
    form. Where a stored verdict breaks a tie otherwise than the first class, a
    column `predicted_class` follows the truth.

    Parameters
    ----------
    path : Path
        Ends in .parquet, .tsv, .tsv.gz or .tsv.zst.
    samples : Samples
        What was read.
    """
    predictions = samples.predictions
    names = np.array([*predictions.class_names, ""], dtype=object)
    truth = np.full(predictions.n_samples, UNKNOWN_CLASS)
    columns: dict[str, Any] = {
        "id": predictions.ids,
        "true_class": names[truth if samples.true_class is None else samples.true_class],
    }
    pooling = None
    resolution: float | None = predictions.resolution
    if predictions.network_scores is not None:
        n_networks = predictions.network_scores.shape[1]
        pooling = "sum" if predictions.scale == n_networks else "log_sum"
        resolution = resolution if pooling == "sum" else None
        columns = {name: np.repeat(values, n_networks) for name, values in columns.items()}
        members = np.array([str(member + 1) for member in range(n_networks)], dtype=object)
        columns |= _by_class(
            predictions, predictions.network_scores.reshape(-1, predictions.n_classes)
        )
        columns["network"] = np.tile(members, predictions.n_samples)
    elif predictions.scores is not None:
        if (predictions.scores.argmax(axis=1) != predictions.predicted_class).any():
            columns["predicted_class"] = names[predictions.predicted_class]
        columns |= _by_class(predictions, predictions.scores)
    else:
        columns["predicted_class"] = names[predictions.predicted_class]
        if predictions.top_score is not None:
            columns["score"] = predictions.top_score
    metadata = Metadata(predictions.scale, resolution, predictions.is_distribution, pooling)
    write_table(path, columns, metadata=write_metadata(metadata))


def _by_class(predictions: Predictions, scores: Floats) -> dict[str, Floats]:
    return {name: scores[:, place] for place, name in enumerate(predictions.class_names)}
