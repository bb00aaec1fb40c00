"""The file of the events of a run: what was found, and the forecasts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence.events.model import EventModel
from credence.predictions import Predictions
from credence.problems import InputError, Problem, refuse
from credence.tables.json_text import nulls_to_nan, plain
from credence.tables.writing import write_json

SCHEMA = "credence/events/1"
AGAIN = "Learn the events again: credence events."


@dataclass(frozen=True, eq=False)
class EventsFile:
    """Forecasts of events, and how good they are.

    Parameters
    ----------
    method_spec : str
        Method of the confidence that they agree with; empty: none.
    class_names : tuple of str
        Classes in order.
    scale : float
        Of the scores.
    finding : mapping
        Record of a :class:`credence.findings.events.EventsFinding`.
    model : EventModel
        The forecasts.
    novelty : str
        SHA-256 of the novelty file whose distances they look at; empty: of none.
    """

    method_spec: str
    class_names: tuple[str, ...]
    scale: float
    finding: Mapping[str, Any]
    model: EventModel
    novelty: str = ""


def write_events(path: Path, file: EventsFile) -> None:
    """Write a file of events.

    Parameters
    ----------
    path : Path
        Where it is to be.
    file : EventsFile
        What it holds.
    """
    body = plain(
        {
            "method_spec": file.method_spec,
            "class_names": list(file.class_names),
            "scale": file.scale,
            "finding": dict(file.finding),
            "model": file.model.to_record(),
            "novelty": file.novelty,
        }
    )
    write_json(path, {"schema": SCHEMA, "sha256": _digest(body), **body})


def read_events(path: Path) -> EventsFile:
    """Return a file of events, checked.

    Parameters
    ----------
    path : Path
        From :func:`write_events`.
    """
    where = str(path)
    try:
        record = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise refuse(where, "there is no such file.", AGAIN) from None
    except UnicodeDecodeError as error:
        raise refuse(where, "this is not text in UTF-8.", AGAIN) from error
    except json.JSONDecodeError as error:
        raise refuse(where, f"this is not JSON: {error.msg}.", AGAIN, error.lineno) from error
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise refuse(where, f"its schema is not {SCHEMA!r}.", AGAIN)
    body = {key: value for key, value in record.items() if key not in ("schema", "sha256")}
    if record.get("sha256") != _digest(body):
        raise refuse(where, "its content was changed after it was written.", AGAIN)
    return EventsFile(
        body["method_spec"],
        tuple(body["class_names"]),
        float(body["scale"]),
        body["finding"],
        EventModel.from_record(nulls_to_nan(body["model"])),
        body.get("novelty", ""),
    )


def require_same_events(
    file: EventsFile, method_spec: str, predictions: Predictions, where: str
) -> None:
    """Refuse events that were not learnt beside this calibration.

    Parameters
    ----------
    file : EventsFile
        The events.
    method_spec : str
        Method of the calibration.
    predictions : Predictions
        What is to get probabilities.
    where : str
        The file of events, as the user named it.
    """
    problems = []
    if file.method_spec and file.method_spec != method_spec:
        what = f"its events agree with {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.append(Problem(where, what, "Learn them again with this calibration."))
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.append(Problem(where, "its classes or its scale are not the table's.", AGAIN))
    if problems:
        raise InputError(problems)


def _digest(body: Mapping[str, Any]) -> str:
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
