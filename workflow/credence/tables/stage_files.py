"""Records of credence's own as JSON files, with a checksum of what they hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence import __version__
from credence.calibrators.all_methods import read_calibration as calibration_of
from credence.composition.adjusted import AdjustedCalibration, read_adjusted
from credence.composition.estimate import ratio_of
from credence.events.model import EventModel, Mix
from credence.novelty import reference as references
from credence.novelty.reference import Reference
from credence.predictions import Floats, Labelled, Predictions
from credence.problems import InputError, Problem, raise_any, refuse
from credence.records import read_json, to_record
from credence.tables.calibration_file import defect_of, made_up, nulls_to_nan
from credence.tables.writing import write_json, write_table

HEAD = ("schema", "sha256")
Read = TypeVar("Read")


def write_signed(path: Path, schema: str, body: Mapping[str, Any]) -> None:
    """Write a record with its schema and the digest of the rest."""
    written = to_record(body)
    write_json(path, {"schema": schema, "sha256": digest_of(written), **written})


def read_signed(
    path: Path, schema: str, again: str, parse: Callable[[Mapping[str, Any]], Read]
) -> Read:
    """Return what a record says, or refuse it by name."""
    where = str(path)
    record = read_json(Path(path), again)
    found = record.get("schema")
    name, _, version = str(found).rpartition("/")
    if found != schema:
        if name == schema.rpartition("/")[0] and version.isdecimal():
            what = f"{found!r} is not {schema!r}, the only one that credence {__version__} reads."
            raise refuse(where, what, again, column="schema")
        raise refuse(where, f"its schema is not {schema!r}.", again)
    body = {key: value for key, value in record.items() if key not in HEAD}
    if record.get("sha256") != digest_of(body):
        raise refuse(where, "its content was changed after it was written.", again)
    try:
        return parse(body)
    except InputError:
        raise
    except Exception as error:  # whatever a record of the wrong shape leads to
        message = f"it is damaged ({type(error).__name__}: {error})."
        raise refuse(where, message, again) from error


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever the order of its keys."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


EVENTS_SCHEMA = "credence/events/2"
EVENTS_AGAIN = "Learn the events again: credence events."


@dataclass(frozen=True, eq=False)
class EventsFile:
    """Forecasts of events, and how good they are."""

    method_spec: str  # Method of the confidence that they agree with; empty: none
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: Mapping[str, Any]  # Record of a :class:`credence.findings.events.EventsFinding`
    model: EventModel  # The forecasts
    novelty: str = ""  # SHA-256 of the novelty file whose distances they look at; empty: of none


def write_events(path: Path, file: EventsFile) -> None:
    """Write a file of events."""
    body = {
        "method_spec": file.method_spec,
        "class_names": list(file.class_names),
        "scale": file.scale,
        "finding": dict(file.finding),
        "model": file.model.to_record(),
        "novelty": file.novelty,
    }
    write_signed(path, EVENTS_SCHEMA, body)


def read_events(path: Path) -> EventsFile:
    """Return a file of events, checked."""
    return read_signed(path, EVENTS_SCHEMA, EVENTS_AGAIN, _parsed_events)


def _parsed_events(body: Mapping[str, Any]) -> EventsFile:
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
        stated = np.concatenate(file.model.probabilities(evidence, same, mix))
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("it gives chances that are no probabilities")


def require_same_events(
    file: EventsFile, method_spec: str, predictions: Predictions, where: str
) -> None:
    """Refuse events that were not learnt beside this calibration."""
    problems = []
    if file.method_spec and file.method_spec != method_spec:
        what = f"its events agree with {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.append(Problem(where, what, "Learn them again with this calibration."))
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.append(
            Problem(where, "its classes or its scale are not the table's.", EVENTS_AGAIN)
        )
    raise_any(problems)


SHIFT_SCHEMA = "credence/shift/2"
SHIFT_AGAIN = "Estimate the composition again: credence shift."


@dataclass(frozen=True, eq=False)
class ShiftFile:
    """The composition of a use-set, and confidences corrected for it."""

    method_spec: str  # The method that was corrected
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: Mapping[str, Any]  # Record of a :class:`credence.findings.shift.ShiftFinding`
    adjusted: AdjustedCalibration  # The corrected calibration

    @property
    def applied_share(self) -> Floats:
        """Shares of the classes that confidences are corrected for."""
        return np.array([entry["applied"] or 0.0 for entry in self.finding["classes"]])

    @property
    def applied_weight(self) -> Floats:
        """How many times as frequent each class is; 0 of one that calibration lacks."""
        known = np.array([entry["calibration_share"] or 0.0 for entry in self.finding["classes"]])
        return np.nan_to_num(ratio_of(self.applied_share, known))


def write_shift(path: Path, file: ShiftFile) -> None:
    """Write a shift file."""
    body = {
        "method_spec": file.method_spec,
        "class_names": list(file.class_names),
        "scale": file.scale,
        "finding": dict(file.finding),
        "adjusted": file.adjusted.to_record(),
    }
    write_signed(path, SHIFT_SCHEMA, body)


def read_shift(path: Path) -> ShiftFile:
    """Return a shift file, checked."""
    return read_signed(path, SHIFT_SCHEMA, SHIFT_AGAIN, _parsed_shift)


def _parsed_shift(body: Mapping[str, Any]) -> ShiftFile:
    record = nulls_to_nan(body["adjusted"])
    file = ShiftFile(
        body["method_spec"],
        tuple(body["class_names"]),
        float(body["scale"]),
        body["finding"],
        read_adjusted(record, calibration_of(record["calibration"])),
    )
    defect = defect_of(file.adjusted, file.class_names, file.scale, 0.0)
    if defect is not None:
        raise ValueError(defect)
    if len(file.applied_weight) != len(file.class_names):
        raise ValueError("it has shares of other classes")
    return file


def require_same(file: ShiftFile, method_spec: str, predictions: Predictions, where: str) -> None:
    """Refuse a shift file that is not of this calibration."""
    problems = []
    if file.method_spec != method_spec:
        what = f"it corrects {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.append(Problem(where, what, f"Estimate again with --method {method_spec!r}."))
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.append(
            Problem(where, "its classes or its scale are not the table's.", SHIFT_AGAIN)
        )
    raise_any(problems)


NOVELTY_SCHEMA = "credence/novelty/1"
NOVELTY_AGAIN = "Make it again: credence novelty."


@dataclass(frozen=True, eq=False)
class NoveltyFile:
    """What is known, and where it comes from."""

    reference: Reference  # The proteins in their space
    inputs: Mapping[str, str]  # Name of each input file and its SHA-256


def write_novelty(path: Path, file: NoveltyFile) -> None:
    """Write a novelty file."""
    body = {
        "credence_version": __version__,
        "inputs": dict(file.inputs),
        "reference": file.reference.to_record(),
    }
    write_signed(path, NOVELTY_SCHEMA, body)


def read_novelty(path: Path) -> NoveltyFile:
    """Return a novelty file, checked."""
    return read_signed(path, NOVELTY_SCHEMA, NOVELTY_AGAIN, _parsed_novelty)


def _parsed_novelty(body: Mapping[str, Any]) -> NoveltyFile:
    reference = references.read(body["reference"])
    _require_shapes(reference)
    return NoveltyFile(reference, dict(body["inputs"]))


def _require_shapes(reference: Reference) -> None:
    space, n_proteins = reference.space, len(reference.ids)
    wanted = {
        "scale": (space.scale, (space.n_features,)),
        "axes": (space.axes, (space.n_features, space.n_components)),
        "origin": (space.origin, (space.n_components,)),
        "class_name": (reference.class_name, (n_proteins,)),
        "points": (reference.points, (n_proteins, space.n_components)),
        "is_calibration": (reference.is_calibration, (n_proteins,)),
        "own_distance": (reference.own_distance, (n_proteins,)),
    }
    if reference.training is not None:
        wanted["training"] = (reference.training, (len(reference.training), space.n_components))
    for name, (values, shape) in wanted.items():
        if values.shape != shape:
            raise ValueError(f"{name} has the shape {values.shape}, not {shape}")


HELD_OUT_SCHEMA = "credence/held-out/1"
KEY = "credence"
ENDING = ".parquet"
CONFIDENCE = "held_out"
VECTOR = "probability_"  # and the number of the class
REMEDY = "Cross-fit the method again: credence crossfit."


def check_held_out_ending(path: Path) -> None:
    """Refuse a name that does not end as such a file does."""
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
    """Write what a method says of proteins held out."""
    columns: dict[str, Any] = {"id": labelled.predictions.ids, CONFIDENCE: confidence}
    if probabilities is not None:
        columns |= {f"{VECTOR}{place}": row for place, row in enumerate(probabilities.T)}
    record = {
        "schema": HELD_OUT_SCHEMA,
        "method": method,
        "set": labelled_digest(labelled),
    } | facts
    write_table(path, columns, metadata={KEY: json.dumps(record, ensure_ascii=False)})


def read_held_out_file(
    path: Path, labelled: Labelled, facts: dict[str, float]
) -> tuple[str, Floats, Floats | None]:
    """Return the method of a file, its confidences and its vectors, if it has any."""
    table, record = _read(path)
    if record.get("schema") != HELD_OUT_SCHEMA:
        raise refuse(
            str(path), f"its schema is {record.get('schema')!r}, not {HELD_OUT_SCHEMA!r}.", REMEDY
        )
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
    """Return a digest of all that a fit to these proteins depends on."""
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
