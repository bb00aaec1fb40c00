"""The file of the events of a run: what was found, and the forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.events.model import EventModel, Mix
from credence.predictions import Predictions
from credence.problems import InputError, Problem
from credence.tables.json_text import nulls_to_nan
from credence.tables.probing import made_up
from credence.tables.signed import read_signed, write_signed

SCHEMA = "credence/events/2"
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
    body = {
        "method_spec": file.method_spec,
        "class_names": list(file.class_names),
        "scale": file.scale,
        "finding": dict(file.finding),
        "model": file.model.to_record(),
        "novelty": file.novelty,
    }
    write_signed(path, SCHEMA, body)


def read_events(path: Path) -> EventsFile:
    """Return a file of events, checked.

    Parameters
    ----------
    path : Path
        From :func:`write_events`.
    """
    return read_signed(path, SCHEMA, AGAIN, _parsed)


def _parsed(body: Mapping[str, Any]) -> EventsFile:
    file = EventsFile(
        body["method_spec"],
        tuple(body["class_names"]),
        float(body["scale"]),
        body["finding"],
        EventModel.from_record(nulls_to_nan(body["model"])),
        body.get("novelty", ""),
    )
    _try(file)
    return file


def _try(file: EventsFile) -> None:
    """Let the forecasts answer for made-up predictions, before anything rests on them."""
    predictions = made_up(file.class_names, file.scale, 0.0)
    scores = np.asarray(predictions.scores)
    predictions = replace(predictions, network_scores=scores[:, None, :])
    evidence = replace(
        file.model.evidence(predictions),
        columns={name: np.ones(len(scores)) for name in file.model.features},
        neighbours=np.zeros((len(scores), 2), dtype=np.int64),
    )
    with np.errstate(all="ignore"):
        same = np.full(len(scores), 0.5)
        mix = Mix(np.linspace(0.5, 2.0, len(file.class_names)), same)
        said = np.concatenate(file.model.probabilities(evidence, same, mix))
    if not ((said >= 0) & (said <= 1)).all():
        raise ValueError("it gives chances that are no probabilities")


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
