"""Records of credence's own as JSON files, with a checksum of what they hold."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence import __version__
from credence.calibrators.all_methods import read_calibration as calibration_of
from credence.calibrators.protocol import Calibration
from credence.composition.adjusted import AdjustedCalibration
from credence.composition.estimate import ratio_of
from credence.events.model import FORECASTS, EventModel, Mix
from credence.findings import EventsFinding, ShiftFinding
from credence.novelty.reference import Reference
from credence.predictions import Floats, Labelled, Predictions
from credence.problems import InputError, Problem, raise_any, refuse
from credence.records import from_record, read_json, to_record
from credence.tables.calibration_file import defect_of, made_up
from credence.tables.writing import write_json, write_table

HEAD = ("schema", "sha256")
File = TypeVar("File")


@dataclass(frozen=True, eq=False)
class Signed(Generic[File]):
    """A kind of files that carry the digest of what they hold."""

    schema: str
    kind: type[File]  # What a file holds
    again: str  # The remedy where one is refused
    check: Callable[[File], None]  # Raises a ValueError where it cannot be used
    kinds: Mapping[Any, Any] = field(default_factory=dict)  # See :func:`from_record`

    def write(self, path: Path, file: File) -> None:
        """Write a file with its schema and the digest of the rest."""
        body = to_record(file)
        write_json(path, {"schema": self.schema, "sha256": digest_of(body), **body})

    def read(self, path: Path) -> File:
        """Return what a file holds, or refuse it by name."""
        where, again = str(path), self.again
        record = read_json(Path(path), again)
        found = record.get("schema")
        name, _, version = str(found).rpartition("/")
        if found != self.schema:
            if name == self.schema.rpartition("/")[0] and version.isdecimal():
                only = f"the only one that credence {__version__} reads."
                what = f"{found!r} is not {self.schema!r}, {only}"
                raise refuse(where, what, again, column="schema")
            raise refuse(where, f"its schema is not {self.schema!r}.", again)
        body = {key: value for key, value in record.items() if key not in HEAD}
        if record.get("sha256") != digest_of(body):
            raise refuse(where, "its content was changed after it was written.", again)
        file = from_record(self.kind, body, where, again, self.kinds)
        try:
            self.check(file)
        except Exception as error:  # whatever values that do not belong together lead to
            message = f"it is damaged ({type(error).__name__}: {error})."
            raise refuse(where, message, again) from error
        return file


def digest_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever the order of its keys."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, eq=False)
class EventsFile:
    """Forecasts of events, and how good they are."""

    method_spec: str  # Method of the confidence that they agree with; empty: none
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: EventsFinding  # How good they are
    model: EventModel  # The forecasts
    novelty: str = ""  # SHA-256 of the novelty file whose distances they look at; empty: of none


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


EVENTS = Signed(
    "credence/events/2", EventsFile, "Learn the events again: credence events.", _try, FORECASTS
)


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
            Problem(where, "its classes or its scale are not the table's.", EVENTS.again)
        )
    raise_any(problems)


@dataclass(frozen=True, eq=False)
class ShiftFile:
    """The composition of a use-set, and confidences corrected for it."""

    method_spec: str  # The method that was corrected
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: ShiftFinding  # What the page shows of it
    adjusted: AdjustedCalibration  # The corrected calibration

    @property
    def applied_share(self) -> Floats:
        """Shares of the classes that confidences are corrected for."""
        return np.nan_to_num([entry.applied for entry in self.finding.classes])

    @property
    def applied_weight(self) -> Floats:
        """How many times as frequent each class is; 0 of one that calibration lacks."""
        known = np.nan_to_num([entry.calibration_share for entry in self.finding.classes])
        return np.nan_to_num(ratio_of(self.applied_share, known))


def _check_shift(file: ShiftFile) -> None:
    defect = defect_of(file.adjusted, file.class_names, file.scale, 0.0)
    if defect is not None:
        raise ValueError(defect)
    if len(file.applied_weight) != len(file.class_names):
        raise ValueError("it has shares of other classes")


SHIFT = Signed(
    "credence/shift/2",
    ShiftFile,
    "Estimate the composition again: credence shift.",
    _check_shift,
    {Calibration: calibration_of},
)


def require_same(file: ShiftFile, method_spec: str, predictions: Predictions, where: str) -> None:
    """Refuse a shift file that is not of this calibration."""
    problems = []
    if file.method_spec != method_spec:
        what = f"it corrects {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.append(Problem(where, what, f"Estimate again with --method {method_spec!r}."))
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.append(
            Problem(where, "its classes or its scale are not the table's.", SHIFT.again)
        )
    raise_any(problems)


@dataclass(frozen=True, eq=False, kw_only=True)
class NoveltyFile:
    """What is known, and where it comes from."""

    credence_version: str = __version__  # Version that made it
    inputs: Mapping[str, str]  # Name of each input file and its SHA-256
    reference: Reference  # The proteins in their space


def _require_shapes(file: NoveltyFile) -> None:
    reference = file.reference
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


NOVELTY = Signed(
    "credence/novelty/1", NoveltyFile, "Make it again: credence novelty.", _require_shapes
)


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
