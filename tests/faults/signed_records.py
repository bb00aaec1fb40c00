"""Compositions, events and novelty on disk: what reads them, and what uses them afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import AdjustedCalibration
from credence.composition.both_samples import N_SCORE_BINS
from credence.events.event import Event
from credence.events.features import EventEvidence, Seen, table_of
from credence.events.forecasters import FORECASTERS, Examples
from credence.events.learning import fit_one
from credence.events.model import EventModel, FittedEvent, Mix, mixture_of
from credence.findings import EventsFinding, ShiftClass, ShiftFinding
from credence.novelty.reference import build
from credence.novelty.space import fit_composition
from credence.predictions import Labelled
from credence.tables.stage_files import (
    EVENTS,
    NOVELTY,
    SHIFT,
    EventsFile,
    NoveltyFile,
    ShiftFile,
    require_same,
)

FEATURES = ("top_score", "event_score", "predicted_class")
SEQUENCES = np.array(
    ["MKVLATGGHMKVLAT", "MSTNPKPQRKTKRNT", "MACDEFGHIKLMNPQ", "MWWYFFHHKRDEGPS"], dtype=object
)


def signed_records(
    folder: Path, known: Labelled
) -> Iterator[tuple[str, Callable[[Path, Labelled], None]]]:
    """Write one file of each kind, and yield its name and what reads and uses it."""
    shape = (known.predictions.n_classes, N_SCORE_BINS)
    calibration = parse_method("kernel", "fuzz").build(FitOptions(n_draws=5)).fit(known)
    adjusted = AdjustedCalibration(calibration, 10.0, np.full(shape, 0.1), np.full(shape, 0.2))
    head = ("kernel", known.predictions.class_names, 10.0)
    SHIFT.write(folder / "shift.json", ShiftFile(*head, _shift_finding(known), adjusted))
    yield "shift.json", _use_shift
    EVENTS.write(folder / "events.json", EventsFile(*head, EVENTS_FOUND, _events(known)))
    yield "events.json", _use_events
    ids = known.predictions.ids[: len(SEQUENCES)]
    space = fit_composition(SEQUENCES, 2)
    reference = build(
        space, ids, ids, space.of_sequences(SEQUENCES), ids, np.ones(len(ids), bool), None, 0.99
    )
    NOVELTY.write(
        folder / "novelty.json", NoveltyFile(inputs={"p.fasta": "0" * 64}, reference=reference)
    )
    yield "novelty.json", _use_novelty


def _shift_finding(known: Labelled) -> ShiftFinding:
    classes = tuple(
        ShiftClass(name, *[0.3] * 6, 9, *[0.3] * (len(fields(ShiftClass)) - 8))
        for name in known.predictions.class_names
    )
    texts, numbers = ("use", "em_matched", "kernel"), (0.95, 9, 9, *[0.5] * 9)
    return ShiftFinding(*texts, *numbers, classes=classes, sentences=(), curves=())


EVENTS_FOUND = EventsFinding("knn", (), 5, 0.95, False, "", (), (), 0, 0.5, 0.5)


def _events(known: Labelled) -> EventModel:
    predictions = known.predictions
    held = np.argsort(np.argsort(-np.asarray(predictions.scores), axis=1), axis=1) < 2
    frequency = np.full(predictions.n_classes, 1 / predictions.n_classes)
    table = table_of(Seen(EventEvidence(predictions), held, frequency), FEATURES)
    came_true = held[np.arange(len(held)), known.true_class].astype(float)
    cluster = np.arange(known.n_samples, dtype=np.int64)
    examples = Examples(table.values, came_true, known.weight, cluster, 0)
    fitted = tuple(
        FittedEvent(
            Event(entry.name, n_best=2), entry.name, fit_one(entry, examples, entry.default, 0.0)
        )
        for entry in FORECASTERS
    )
    return EventModel(
        predictions.class_names, FEATURES, frequency, (), "", False, fitted, mixture_of(known)
    )


def _use_shift(path: Path, known: Labelled) -> None:
    file = SHIFT.read(path)
    require_same(file, "kernel", known.predictions, str(path))
    found = file.adjusted.confidence(known.predictions)
    assert found.value.shape == (known.n_samples,)


def _use_events(path: Path, known: Labelled) -> None:
    file = EVENTS.read(path)
    require_same(file, "kernel", known.predictions, str(path))
    weight = np.arange(1.0, known.predictions.n_classes + 1.0)
    mix = Mix(weight, np.full(known.n_samples, 0.5))
    for stated in file.model.probabilities(file.model.evidence(known.predictions), None, mix):
        assert ((stated >= 0) & (stated <= 1)).all(), "a chance that is no probability"


def _use_novelty(path: Path, known: Labelled) -> None:
    reference = NOVELTY.read(path).reference
    reference.look(reference.space.of_sequences(SEQUENCES))
