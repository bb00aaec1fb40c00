"""Files that one stage writes and another reads: what writes them, reads them and uses them."""

from __future__ import annotations

import io
import json
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import ProportionCorrection
from credence.composition.both_samples import N_DENSITY_BINS, calibration_sample
from credence.events.event import Event
from credence.events.features import EventEvidence, OneEvent, table_of
from credence.events.forecasters import FORECASTERS, Examples
from credence.events.learning import fit_one
from credence.events.model import EventModel, FittedEvent, Mix, mixture_of
from credence.findings import (
    EventsFinding,
    Findings,
    NoveltyFinding,
    ReleaseStep,
    ShiftClass,
    ShiftFinding,
    SplitFinding,
    UseLists,
)
from credence.novelty.reference import build
from credence.novelty.space import fit_composition
from credence.predictions import Labelled
from credence.releases.files import AttachSummary, Release
from credence.stages.check import Summary
from credence.tables.stage_files import (
    EVENTS_FILES,
    HELD_OUT_FILES,
    NOVELTY_FILES,
    SHIFT_FILES,
    EventsFile,
    HeldOutFile,
    NoveltyFile,
    ShiftFile,
    labelled_digest,
    read_held_out_file,
    require_same,
)
from faults.mutations import VALUES, mutated_bytes, mutated_record, pick

FEATURES = ("top_score", "event_score", "predicted_class")
SEQUENCES = np.array(
    ["MKVLATGGHMKVLAT", "MSTNPKPQRKTKRNT", "MACDEFGHIKLMNPQ", "MWWYFFHHKRDEGPS"], dtype=object
)


def signed_records(
    folder: Path, known: Labelled
) -> Iterator[tuple[str, Callable[[Path, Labelled], None]]]:
    """Write one file of each kind, and yield its name and what reads and uses it."""
    shape = (known.predictions.n_classes, N_DENSITY_BINS)
    correction = ProportionCorrection(
        weight=np.full(shape[0], 1.5), scale=10.0, down=np.full(shape, 0.1), up=np.full(shape, 0.2)
    )
    SHIFT_FILES.write(
        folder / "shift.json",
        ShiftFile(
            method_spec="kernel",
            class_names=known.predictions.class_names,
            scale=10.0,
            finding=_shift_finding(known),
            correction=correction,
            calibration="0" * 64,
        ),
    )
    yield "shift.json", _use_shift
    EVENTS_FILES.write(
        folder / "events.json",
        EventsFile(
            method_spec="kernel",
            class_names=known.predictions.class_names,
            scale=10.0,
            finding=EVENTS_FOUND,
            model=_events(known),
        ),
    )
    yield "events.json", _use_events
    ids = known.predictions.ids[: len(SEQUENCES)]
    space = fit_composition(SEQUENCES, 2)
    reference = build(space, ids, ids, space.of_sequences(SEQUENCES), ids, None, 0.99)
    NOVELTY_FILES.write(
        folder / "novelty.json", NoveltyFile(inputs={"p.fasta": "0" * 64}, reference=reference)
    )
    yield "novelty.json", _use_novelty


def _shift_finding(known: Labelled) -> ShiftFinding:
    numbers = {field.name for field in fields(ShiftClass)} - {"class_name", "n_predicted"}
    classes = tuple(
        ShiftClass(class_name=name, n_predicted=9, **dict.fromkeys(numbers, 0.3))
        for name in known.predictions.class_names
    )
    return ShiftFinding(
        name="use",
        estimator="em_matched",
        method="kernel",
        level=0.95,
        n_query=9,
        n_cells=9,
        compression_error=0.5,
        condition=0.5,
        part_applied=0.5,
        p_no_shift=0.5,
        gap=0.5,
        p_label_shift=0.5,
        classes=classes,
        curves=(),
    )


EVENTS_FOUND = EventsFinding(
    forecaster="knn",
    compared=(),
    n_folds=5,
    level=0.95,
    agrees=False,
    method="",
    features=(),
    events=(),
    n_moved=0,
    nll_before=0.5,
    nll_after=0.5,
)


def _events(known: Labelled) -> EventModel:
    predictions = known.predictions
    held = np.argsort(np.argsort(-np.asarray(predictions.scores), axis=1), axis=1) < 2
    frequency = np.full(predictions.n_classes, 1 / predictions.n_classes)
    table = table_of(
        OneEvent(evidence=EventEvidence(predictions=predictions), held=held, frequency=frequency),
        FEATURES,
    )
    came_true = held[np.arange(len(held)), known.true_class].astype(float)
    cluster = np.arange(known.n_samples, dtype=np.int64)
    examples = Examples(
        features=table.values, outcome=came_true, weight=known.weight, cluster=cluster
    )
    fitted = tuple(
        FittedEvent(
            event=Event(name=entry.name, n_best=2),
            forecaster=entry.name,
            forecast=fit_one(entry, examples, entry.default, 0.0),
        )
        for entry in FORECASTERS
    )
    return EventModel(
        class_names=predictions.class_names,
        features=FEATURES,
        frequency=frequency,
        types=(),
        agrees=False,
        events=fitted,
        mixture=mixture_of(known),
    )


def _use_shift(path: Path, known: Labelled) -> None:
    file = SHIFT_FILES.read(path)
    require_same(file, "kernel", known.predictions, str(path))
    calibration = parse_method("kernel", "fuzz").build(FitOptions(n_draws=5)).fit(known)
    plain, sample = calibration.confidence(known.predictions), calibration_sample(known, False)
    found = file.correction.corrected(plain, known.predictions, sample)
    assert found.value.shape == (known.n_samples,)


def _use_events(path: Path, known: Labelled) -> None:
    file = EVENTS_FILES.read(path)
    require_same(file, "kernel", known.predictions, str(path))
    weight = np.arange(1.0, known.predictions.n_classes + 1.0)
    mix = Mix(weight=weight, confidence=np.full(known.n_samples, 0.5))
    for stated in file.model.probabilities(file.model.evidence(known.predictions), None, mix):
        assert ((stated >= 0) & (stated <= 1)).all(), "a chance that is no probability"


def _use_novelty(path: Path, known: Labelled) -> None:
    reference = NOVELTY_FILES.read(path).reference
    reference.look(reference.space.of_sequences(SEQUENCES))


RECORDS = {
    "findings.json": Findings,
    "check.json": Summary,
    "split.json": SplitFinding,
    "novel.json": NoveltyFinding,
    "lists.json": UseLists,
    "changes.json": ReleaseStep,
    "attach.json": AttachSummary,
    "release.json": Release,
}
EXAMPLES: dict[Any, Any] = {str: "a", int: 3, float: 0.5, bool: True, types.NoneType: None}


def example_of(kind: Any, place: int = 0) -> Any:
    """Return a value of a type, all its fields filled in; lists have two entries."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return example_of(parts[0])
    if origin is Literal:
        return parts[0]
    if origin is tuple:
        inner = parts[:1] * 2 if parts[-1] is ... else parts
        return tuple(example_of(part, place) for place, part in enumerate(inner))
    if origin in (dict, Mapping):
        return {name: example_of(parts[1]) for name in ("a", "b")}
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{e.name: example_of(hints[e.name]) for e in fields(kind) if e.init})
    return f"{EXAMPLES[kind]}{place or ''}" if kind is str else EXAMPLES[kind]


HELD_OUT_FACTS = {"folds": 10.0}


def held_out(folder: Path, known: Labelled) -> bytes:
    """Return a file of what a method says of held-out proteins."""
    values = np.linspace(0.0, 1.0, known.n_samples)
    path = folder / "held.json"
    HELD_OUT_FILES.write(
        path,
        HeldOutFile(
            method="kernel", set=labelled_digest(known), facts=HELD_OUT_FACTS, confidence=values
        ),
    )
    return path.read_bytes()


def use_held_out(path: Path, known: Labelled) -> None:
    """Read such a file; what is accepted has to be what was written."""
    values = read_held_out_file(path, known, HELD_OUT_FACTS).confidence
    assert (values == np.linspace(0.0, 1.0, known.n_samples)).all(), "another number is accepted"


def mutated_parquet(rng: np.random.Generator, content: bytes) -> bytes:
    """Return a Parquet file with its columns or its metadata changed, or its bytes."""
    if rng.random() < 0.5:
        return mutated_bytes(rng, content)
    table = pq.read_table(io.BytesIO(content))
    names, at = table.column_names, int(rng.integers(table.num_columns))
    way = int(rng.integers(6))
    if way == 0:
        table = table.remove_column(at)
    elif way == 1:
        value = pick(rng, (None, "x", True, 1e308, -1, b"x", [1.0], float("nan"), 10**15))
        table = table.set_column(at, names[at], pa.array([value] * len(table)))
    elif way == 2:
        table = table.append_column(names[at], table.column(int(rng.integers(len(names)))))
    elif way == 3:
        table = table.take(pa.array(rng.integers(len(table), size=len(table))))
    elif way == 4:
        table = table.slice(0, int(rng.integers(len(table))))
    found = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    if way == 5 and "credence" in found:
        found["credence"] = mutated_text(rng, json.loads(found["credence"]))
        table = table.replace_schema_metadata(found)
    stored = io.BytesIO()
    pq.write_table(table, stored)
    return stored.getvalue()


def mutated_text(rng: np.random.Generator, record: Any) -> str:
    """Return JSON data with something done to its values or to its text."""
    if rng.random() < 0.7:
        return json.dumps(mutated_record(rng, record))
    if rng.random() < 0.3:
        signs = ("[" * 100_000, '{"a":' * 500, "1e999", '"\\ud800"', "9" * 5000, "NaN", "null")
        return str(pick(rng, signs))
    return mutated_bytes(rng, json.dumps(record).encode()).decode("utf-8", "replace")


def vectors_npz(rng: np.random.Generator) -> bytes:
    """Return arrays of vectors, of which one may be nonsense."""
    arrays: dict[str, Any] = {"id": np.array(list("abc")), "vectors": np.eye(3)}
    if rng.random() < 0.7:
        odd = pick(
            rng, (*VALUES[:12], "x", np.eye(2), np.array(["a"]), b"x", 1j, np.zeros((0, 3)))
        )
        arrays[pick(rng, ("id", "ids", "vectors"))] = np.array(odd)
    stored = io.BytesIO()
    np.savez(stored, **arrays)
    return mutated_bytes(rng, stored.getvalue()) if rng.random() < 0.5 else stored.getvalue()
