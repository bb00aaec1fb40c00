"""What a table of confidences says beside them: each addition brings columns, notes, or both."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from credence.confidence import NOTE_TEXTS, OF_PROTEINS, Confidence, Note
from credence.events.model import Mix
from credence.predictions import Floats, Integers, Predictions
from credence.sets.conformal import PredictionSets
from credence.stages import reading
from credence.tables import contract, stage_files
from credence.tables.samples import Samples

Remark = tuple[str, str]  # A file, and a sentence on it that a reader of the table has to know
Pieces = Callable[[], Iterable[Predictions]]  # A whole set, piece by piece, as often as is asked

MOST_TABLES_NAMED = 3  # in a sentence


@dataclass(frozen=True, kw_only=True, eq=False)
class Chunk:
    """Some proteins of a table, with their confidences."""

    samples: Samples
    method: str  # Which gave the confidences
    confidence: Confidence  # As it is published
    plain: Confidence  # Not corrected for other proportions of the classes
    columns: dict[str, Any] = field(default_factory=dict)  # Of the additions before

    @property
    def predictions(self) -> Predictions:
        """What the classifier predicted for them."""
        return self.samples.predictions


@dataclass(frozen=True, kw_only=True, eq=False)
class Added:
    """What there is to say of the proteins of a chunk beside their confidence."""

    columns: Mapping[str, Any] = field(default_factory=dict)  # By name
    note: Integers | int = 0  # Flags, see :class:`credence.confidence.Note`
    # What stands in the place of the text of a note, by row.
    texts: Mapping[tuple[int, Note], str] = field(default_factory=dict)


class Addition:
    """Something that a table of confidences says beside them; a kind says what of this it has."""

    names: tuple[str, ...] = ()  # Its columns, in order
    told: tuple[Note, ...] = ()  # Notes of which it is said how many proteins carry them
    remarks: tuple[Remark, ...] = ()

    def of_set(self, pieces: Pieces) -> Addition:
        """Return the same for the proteins of a set, where it has to see all of them first."""
        return self

    def completed(self, samples: Samples) -> Samples:
        """Return rows with what their confidences need to know."""
        return samples

    def added(self, chunk: Chunk) -> Added:
        """Return what is added to some rows."""
        raise NotImplementedError


class CalibrationMembers(Addition):
    """Notes on proteins whose confidence is less than it seems: seen in calibration, or tied."""

    told = OF_PROTEINS

    def __init__(
        self, file: stage_files.CalibrationFile, calibration: str, sequences: Mapping[str, str]
    ) -> None:
        self.known, self.sequences = file.known, sequences
        lacking = None
        if file.known is None:
            lacking = "proteins"
        elif sequences and not len(file.known.sequences):
            lacking = "sequences"
        remarks = []
        if lacking is not None:
            remarks = [
                f"it does not keep the {lacking} of its calibration set, so those of them that "
                "are in this table are not noticed"
            ]
        self.remarks = tuple((calibration, sentence) for sentence in remarks)

    def added(self, chunk: Chunk) -> Added:
        """Return the notes, with both ids where a calibration protein has another spelling."""
        ids = chunk.predictions.ids
        note = np.where(chunk.predictions.is_tied, int(Note.TIED), 0)
        if self.known is None or not len(ids):
            return Added(note=note)
        # A protein with several calls is looked up once.
        _, first = np.unique(chunk.predictions.protein, return_index=True)
        note |= self.known.notes(ids[first], self.sequences)[chunk.predictions.protein]
        texts = {}
        for row in np.flatnonzero(note & int(Note.LIKE_ID)).tolist():
            there = self.known.spelling_there(ids[row])
            spellings = f"{ids[row]!r} here, {there!r} there".replace(";", ",")
            texts[row, Note.LIKE_ID] = f"{NOTE_TEXTS[Note.LIKE_ID]} ({spellings})"
        return Added(note=note, texts=texts)


class SetColumns(Addition):
    """Which classes a protein may be in."""

    def __init__(self, sets: PredictionSets, query_proportion: Floats | None) -> None:
        self.sets, self.query_proportion = sets, query_proportion
        self.names = contract.set_names(sets, query_proportion is not None)

    def added(self, chunk: Chunk) -> Added:
        """Return the sets and their sizes."""
        return Added(
            columns=contract.set_columns(self.sets, chunk.predictions, self.query_proportion)
        )


class UncorrectedColumns(Addition):
    """What confidences are without the correction for other proportions of the classes."""

    names = contract.UNCORRECTED_NAMES

    def __init__(self, path: str, other_mix: str = "") -> None:
        self.remarks = ((path, other_mix),) if other_mix else ()

    def added(self, chunk: Chunk) -> Added:
        """Return the confidences and their intervals."""
        values = (chunk.plain.value, chunk.plain.lower, chunk.plain.upper)
        return Added(columns=dict(zip(self.names, values, strict=True)))


def of_other_tables(shift: stage_files.ShiftFile, tables: Iterable[str]) -> str:
    """Return what to know where tables are not among those whose mix was estimated; else ''."""
    names = [Path(table).name for table in tables]
    others = [name for name in names if name not in shift.tables]
    if not others or not shift.tables:
        return ""
    here, there = _some(others), f"{_some(shift.tables)} ({shift.finding.n_query:,} proteins)"
    return (
        f"its class proportions are those of {there}, not of {here}; confidences are corrected "
        "for these"
    )


def _some(names: Iterable[str]) -> str:
    first, further = [*names][:MOST_TABLES_NAMED], [*names][MOST_TABLES_NAMED:]
    return ", ".join(first) + (f" and {len(further)} more" if further else "")


class EventColumns(Addition):
    """How probable it is that a protein is in some of the classes."""

    def __init__(
        self, file: stage_files.EventsFile, path: str, shift: stage_files.ShiftFile | None
    ) -> None:
        self.file, self.path, self.shift = file, path, shift
        self.names = contract.event_names(file.model, shift is not None)

    def added(self, chunk: Chunk) -> Added:
        """Return the probabilities, with a correction also those without it."""
        stage_files.require_same(self.file, chunk.method, chunk.predictions, self.path)
        mix = distance = None
        if self.shift is not None:
            weight = self.shift.applied_weight
            mix = Mix(weight=weight, confidence=chunk.confidence.value)
        if self.file.novelty:  # else they were learnt without distances
            distance = chunk.columns.get("calibration_distance")
        known = (self.file.model, chunk.predictions, chunk.plain.value, distance, mix)
        return Added(columns=contract.event_columns(*known))


class ToolColumns(Addition):
    """What each of several tools answered."""

    def __init__(self, answers: pd.DataFrame) -> None:
        self.answers = answers
        self.names = tuple(answers.columns)
        self._silent = answers.index[answers[contract.AGREE] == ""].to_numpy(dtype=object)

    def completed(self, samples: Samples) -> Samples:
        """Return rows with the proteins that no tool gave scores, which stand behind the first."""
        if not len(self._silent):
            return samples
        silent, self._silent = self._silent, self._silent[:0]
        lines = samples.lines[-1] + 1 + np.arange(len(silent))
        return replace(samples, unscored_ids=silent, unscored_lines=lines)

    def added(self, chunk: Chunk) -> Added:
        """Return the answers."""
        known = self.answers.index.to_numpy(dtype=object)
        rows = reading.rows_by_id(chunk.predictions.ids, "TABLE", known, "--answers")
        return Added(columns={name: self.answers[name].to_numpy()[rows] for name in self.names})


class GenomeColumn(Addition):
    """The genome of each protein."""

    names = (contract.GENOME,)

    def added(self, chunk: Chunk) -> Added:
        """Return what the score table names."""
        return Added(columns={contract.GENOME: chunk.samples.genome})
