"""What one method says of proteins held out: computed apart, judged with the others."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence.predictions import Floats, Labelled
from credence.problems import InputError, refuse
from credence.tables.writing import write_table

SCHEMA = "credence/held-out/1"
KEY = "credence"
ENDING = ".parquet"
CONFIDENCE = "held_out"
VECTOR = "probability_"  # and the number of the class
REMEDY = "Cross-fit the method again: credence crossfit."


def check_held_out_ending(path: Path) -> None:
    """Refuse a name that does not end as such a file does.

    Parameters
    ----------
    path : Path
        Where it is to be written.
    """
    if path.suffix != ENDING:
        raise refuse(
            str(path), "this is written as Parquet.", f"Give a name that ends in {ENDING}."
        )


def write_held_out_file(
    path: Path,
    method: str,
    confidence: Floats,
    probabilities: Floats | None,
    labelled: Labelled,
    facts: dict[str, float],
) -> None:
    """Write what a method says of proteins held out.

    Parameters
    ----------
    path : Path
        Ends in .parquet.
    method : str
        Its specification.
    confidence : array of float, shape (n_samples,)
        NaN where it says nothing.
    probabilities : array of float, shape (n_samples, n_classes), optional
        Where the method gives a vector.
    labelled : Labelled
        The proteins.
    facts : dict of str to float
        Settings that the numbers depend on.
    """
    columns: dict[str, Any] = {"id": labelled.predictions.ids, CONFIDENCE: confidence}
    if probabilities is not None:
        columns |= {f"{VECTOR}{place}": row for place, row in enumerate(probabilities.T)}
    record = {"schema": SCHEMA, "method": method, "set": labelled_digest(labelled)} | facts
    write_table(path, columns, metadata={KEY: json.dumps(record, ensure_ascii=False)})


def read_held_out_file(
    path: Path, labelled: Labelled, facts: dict[str, float]
) -> tuple[str, Floats, Floats | None]:
    """Return the method of a file, its confidences and its vectors, if it has any.

    Parameters
    ----------
    path : Path
        From :func:`write_held_out_file`.
    labelled : Labelled
        What is judged: the file has to be of the same.
    facts : dict of str to float
        Settings that the numbers depend on; those of the file have to be equal.
    """
    table, record = _read(path)
    if record.get("schema") != SCHEMA:
        raise refuse(str(path), f"its schema is {record.get('schema')!r}, not {SCHEMA!r}.", REMEDY)
    if record.get("set") != labelled_digest(labelled):
        raise refuse(
            str(path),
            "it is of other proteins, classes, weights or clusters than those judged here.",
            REMEDY,
        )
    for name, value in facts.items():
        own = record.get(name)
        if own != value:
            raise refuse(str(path), f"{name} is {own} in it, and {value} here.", REMEDY)
    n_classes = labelled.predictions.n_classes
    expected = ["id", CONFIDENCE, *(f"{VECTOR}{place}" for place in range(n_classes))]
    names = table.column_names
    if names not in (expected, expected[:2]) or table.num_rows != labelled.n_samples:
        raise _damaged(path)
    columns = [table.column(name).to_numpy() for name in names[1:]]
    vectors = np.column_stack(columns[1:]) if len(columns) > 1 else None
    return str(record.get("method")), columns[0], vectors


def labelled_digest(labelled: Labelled) -> str:
    """Return a digest of all that a fit to these proteins depends on.

    Parameters
    ----------
    labelled : Labelled
        In the order in which they are judged.
    """
    predictions = labelled.predictions
    total = hashlib.sha256()
    texts = [predictions.ids.tolist(), labelled.cluster.tolist(), list(predictions.class_names)]
    facts = [texts, float(predictions.scale), float(predictions.resolution)]
    total.update(json.dumps(facts, ensure_ascii=False).encode())
    for array in (
        predictions.predicted_class,
        labelled.true_class,
        labelled.weight,
        predictions.top_score,
        predictions.scores,
    ):
        total.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()


def _read(path: Path) -> tuple[Any, dict[str, Any]]:
    try:
        table = pq.read_table(path)
        metadata = table.schema.metadata or {}
        record = json.loads(metadata.get(KEY.encode(), b"{}"))
    except FileNotFoundError:
        raise refuse(str(path), "the file does not exist.", "Correct the path.") from None
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _damaged(path) from error
    return table, record if isinstance(record, dict) else {}


def _damaged(path: Path) -> InputError:
    return refuse(str(path), "the file is damaged, or nothing that crossfit wrote.", REMEDY)
