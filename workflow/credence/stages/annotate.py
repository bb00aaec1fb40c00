"""The stage `annotate`: a confidence for every prediction of a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd

from credence.calibrators.protocol import Need
from credence.composition.sameness import SketchCounts, without_learnt
from credence.confidence import NOTE_TEXTS, Note, counted, sentences_of, unknown
from credence.findings import Sameness
from credence.lists.decision import scarce_classes, scarcity_notes
from credence.predictions import Booleans, Predictions
from credence.problems import refuse
from credence.progress import Progress, echo
from credence.sentences import (
    FAMILIES_UNKNOWN,
    headline_of,
    sentences_of_mix,
    sentences_of_relatives,
    warning_of,
)
from credence.stages import reading
from credence.stages.additions import (
    Addition,
    CalibrationMembers,
    Chunk,
    EventColumns,
    GenomeColumn,
    Pieces,
    SetColumns,
    ToolColumns,
    UncorrectedColumns,
    of_other_tables,
)
from credence.stages.lists import finish_table, list_paths
from credence.stages.novelty import NeighbourColumns, NoveltyColumns
from credence.stages.settings import Settings
from credence.stages.shift import Pieces as NamedPieces
from credence.stages.shift import find_shift, in_one_line, require_correctable, why_uncorrectable
from credence.stages.tools import CombinedTools, combine_query_set, read_answers, tables_of
from credence.tables import contract, stage_files
from credence.tables.digests import sha256_of
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables
from credence.tables.samples import Counted, Samples
from credence.tables.writing import TableWriter, beside, write_record
from credence.tools.combining import Tool

NO_CORRECTION = "none"  # In the place of a file: confidences are not corrected
NO_NAMES = (
    "it does not keep how often each class comes second after each other one, so columns under "
    "wrong names are not noticed here. Compare the header of your table with that of the "
    "calibrated one."
)
NO_SKETCH = (
    "it keeps no summary of its calibration scores, so a table of another version of the tool is "
    "not noticed here. Calibrations that credence fit makes of labelled tables keep one."
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Annotation:
    """What proteins are given: confidences, and what else there is to say of them."""

    file: stage_files.CalibrationFile
    calibration: str = "calibration"  # What a user calls it
    shift: stage_files.ShiftFile | None = None  # What confidences are corrected with
    shift_path: str = "shift"
    additions: Sequence[Addition] = ()  # In the order of their columns
    is_of_other_mix: bool = False  # Whether `shift` was estimated of other tables
    sameness: Sameness | None = None  # Whether scores are like those in calibration, if known
    noted: Counter[str] = field(default_factory=Counter)  # Of all rows so far: see `counted`

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that there are, in order."""
        added = (name for addition in self.additions for name in addition.names)
        return (*contract.CONFIDENCE_NAMES, *added)

    @cached_property
    def is_scarce(self) -> Booleans:
        """Which classes calibration knows too few families of."""
        return scarce_classes(self.file.held_out, len(self.file.class_names))

    @property
    def is_changed(self) -> bool:
        """Whether the scores of the set are unlike those in calibration."""
        return self.sameness is not None and self.sameness.is_changed

    def of_set(self, pieces: Pieces) -> Annotation:
        """Return the same for a set, of which all is looked at before the first row is written."""
        additions = [addition.of_set(pieces) for addition in self.additions]
        sameness = self._sameness(pieces)
        for novelty in additions:
            if isinstance(novelty, NoveltyColumns) and novelty.file.knows_training:
                sameness = self._apart(pieces, sameness, novelty)
                novelty.seen.sameness = sameness
        return replace(self, sameness=sameness, additions=additions)

    def _sameness(self, pieces: Pieces) -> Sameness | None:
        shifted = None if self.shift is None else self.shift.finding.sameness
        if shifted is not None and not self.is_of_other_mix:
            return shifted
        return self._compared(pieces())

    def _compared(self, pieces: Iterable[Predictions]) -> Sameness | None:
        if self.file.sketch is None:
            return None
        sketch = SketchCounts(self.file.sketch, self.file.class_names)
        for piece in pieces:
            if piece.class_names != self.file.class_names or piece.scale != self.file.scale:
                return None  # to be refused where it is annotated
            sketch.add(piece)
        return sketch.found()

    def _apart(
        self, pieces: Pieces, sameness: Sameness | None, novelty: NoveltyColumns
    ) -> Sameness | None:
        """Return the same without homologues of training proteins, whose scores are surer."""
        is_learnt = [novelty.is_learnt(piece.ids) for piece in pieces()]
        n_learnt = int(sum(part.sum() for part in is_learnt))
        if sameness is None or n_learnt == 0:
            return None if sameness is None else replace(sameness, n_learnt=0)
        rest = zip(pieces(), is_learnt, strict=True)
        compared = self._compared(piece.take(~learnt) for piece, learnt in rest)
        return without_learnt(sameness, compared, n_learnt)

    def rows(self, pieces: Iterable[tuple[str, Samples]]) -> Iterator[dict[str, Any]]:
        """Yield the rows of each piece of some tables, in the table's order."""
        for table, samples in pieces:
            for addition in self.additions:
                samples = addition.completed(samples)
            stage_files.require_match(self.file, samples.predictions, table)
            yield self._rows(samples)

    def _rows(self, samples: Samples) -> dict[str, Any]:
        predictions, method = samples.predictions, self.file.method_spec
        confidence = plain = unknown(0, Note.NONE)
        if self.shift is not None:
            stage_files.require_same(self.shift, method, predictions, self.shift_path)
        if predictions.n_samples:
            confidence = plain = stage_files.confidence_of(
                self.file, predictions, self.calibration
            )
            if self.shift is not None:
                confidence = self.shift.corrected(self.file, plain, predictions)
        chunk = Chunk(samples=samples, method=method, confidence=confidence, plain=plain)
        note = confidence.note | (int(Note.CHANGED) if self.is_changed else 0)
        note = note | scarcity_notes(confidence, predictions.predicted_class, self.is_scarce)
        texts: dict[tuple[int, Note], str] = {}
        for addition in self.additions:
            added = addition.added(chunk)
            note = note | added.note
            texts |= added.texts
            chunk.columns.update(added.columns)
        told = [flag for addition in self.additions for flag in addition.told]
        self.noted.update(counted(note, told))
        confidence = replace(confidence, note=note)
        columns = contract.confidence_columns(predictions, confidence, method)
        if samples.labels is not None:  # of which some may be of no known class
            columns["predicted_class"] = samples.labels
        for (row, flag), text in texts.items():
            columns["note"][row] = columns["note"][row].replace(NOTE_TEXTS[flag], text)
        columns |= {name: chunk.columns[name] for name in self.names[len(columns) :]}
        return contract.with_unscored(columns, samples, method)


def annotation_of(
    file: stage_files.CalibrationFile,
    *,
    calibration: str = "calibration",
    shift: stage_files.ShiftFile | None = None,
    shift_path: str = "shift",
    other_mix: str = "",
    sequences: Mapping[str, str] = MappingProxyType({}),
    novelty: Sequence[Addition] = (),
    events: EventColumns | None = None,
    answers: pd.DataFrame | None = None,
    has_genomes: bool = False,
) -> Annotation:
    """Return what proteins are given by a calibration and by what else is at hand.

    Parameters
    ----------
    file, calibration
        The calibration, and what a user calls it.
    shift, shift_path, other_mix
        What confidences are corrected with, its name, and what to know where it was estimated
        of other tables.
    sequences
        Of the proteins, by their ids.
    novelty, events, answers
        Columns of novelty and of class groups, and the answers of each of several tools.
    has_genomes
        Whether the score tables name the genome of each protein.
    """
    share = None if shift is None else shift.applied_proportion
    every = (
        CalibrationMembers(file, calibration, sequences),
        None if file.sets is None else SetColumns(file.sets, share),
        *novelty,
        None if shift is None else UncorrectedColumns(shift_path, other_mix),
        events,
        None if answers is None else ToolColumns(answers),
        GenomeColumn() if has_genomes else None,
    )
    return Annotation(
        file=file,
        calibration=calibration,
        shift=shift,
        shift_path=shift_path,
        is_of_other_mix=bool(other_mix),
        additions=[addition for addition in every if addition is not None],
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnotateInputs:
    """What tables are annotated with, as the command names it; opened when it is asked for."""

    tables: Sequence[str]
    calibration: str
    format_: str | None
    spec_json: str
    shift: str | None
    events: str | None
    novelty: str | None
    proteins: str | None
    vectors: str | None
    match: str
    name: str  # Of the set
    tool: Sequence[str] = ()  # Tables of further tools, as name=table
    answers: str | None = None  # What each tool answered, where the table is of several
    threads: int = 1
    parts: bool = False  # Whether columns are asked for of what neighbours show
    # How class proportions are estimated where no shift is given; None: they are not.
    estimate: Settings | None = None

    @property
    def files(self) -> dict[str, str | None]:
        """Every file but the tables, by its option."""
        names = (
            "calibration", "shift", "events", "novelty", "proteins", "vectors",
            "answers",
        )  # fmt: skip
        files = {f"--{name}": getattr(self, name) for name in names}
        return files | {"--shift": None if self.shift == NO_CORRECTION else self.shift}

    @cached_property
    def file(self) -> stage_files.CalibrationFile:
        """The calibration."""
        return stage_files.read_calibration(Path(self.calibration))

    @cached_property
    def stated_spec(self) -> TableSpec:
        """How the tables are read: as it was stated, or as the calibration's."""
        return reading.stated_spec(self.tables, self.format_, self.spec_json, file=self.file)

    @cached_property
    def spec(self) -> TableSpec:
        """The same, with the calibration's classes and scale."""
        return reading.as_calibrated(self.stated_spec, self.file.class_names, self.file.scale)

    @property
    def is_to_be_combined(self) -> bool:
        """Whether the tables are of several tools, which are not combined yet."""
        return self.answers is None and (self.file.tools is not None or bool(self.tool))

    @cached_property
    def further_tools(self) -> list[tuple[Tool, tuple[str, ...]]]:
        """The tables of further tools, each with what is known of it."""
        if not self.is_to_be_combined:
            return []
        return tables_of(self.file, self.tool, self.calibration)

    @cached_property
    def combined(self) -> CombinedTools | None:
        """What several tools say together."""
        if not self.is_to_be_combined:
            return None
        return combine_query_set(
            self.tables, self.format_, self.spec_json, self.further_tools, self.file
        )

    @property
    def shown(self) -> list[str]:
        """The tables that say what the classifier predicted."""
        return [*self.tables] or [path for _, paths in self.further_tools for path in paths]

    def pieces(self, expect: Counted = lambda _: None) -> Iterator[tuple[str, Samples]]:
        """Yield the proteins piece by piece, each with the name of its table."""
        if self.combined is None:
            yield from stream_tables(self.tables, self.spec, expect)
        else:
            expect(self.combined.samples.n_samples)
            yield self.shown[0], self.combined.samples

    def predictions(self) -> Iterator[Predictions]:
        """Yield what the classifier predicted, piece by piece."""
        return (samples.predictions for _, samples in self.pieces())

    @cached_property
    def novelty_columns(self) -> NoveltyColumns | None:
        """What is known of how far proteins are from others."""
        if self.novelty is None:
            return None
        file = stage_files.NOVELTY_FILES.read(Path(self.novelty))
        proteins = (self.proteins,) if self.proteins and self.vectors is None else ()
        return NoveltyColumns(
            self.novelty,
            file,
            reading.Features(proteins, self.vectors, self.match),
            self.file,
            calibration_path=self.calibration,
            set_name=self.name,
            threads=self.threads,
        )

    @cached_property
    def estimated(self) -> stage_files.ShiftFile | None:
        """The class proportions of the tables, where they are to be estimated and can be."""
        if self.estimate is None or self.shift is not None:
            return None
        shift = self.estimate.shift
        if shift.class_proportions is not None:  # what was stated is not passed over in silence
            require_correctable(self.file, self.calibration, shift)
        if why_uncorrectable(self.file, shift):
            return None
        pieces = (part for part in self.pieces() if part[1].n_samples)
        first = next(pieces, None)
        if first is None:
            return None
        parts = self._alike(chain([first], pieces))
        estimated = find_shift(self.file, parts, self.estimate, self.name, self.shown[0])
        return replace(estimated, tables=tuple(Path(table).name for table in self.tables))

    def _alike(self, pieces: NamedPieces) -> NamedPieces:
        """Yield pieces; refuse one of other classes, another scale or without what is needed."""
        for table, samples in pieces:
            stage_files.require_match(self.file, samples.predictions, table)
            yield table, samples

    @cached_property
    def annotation(self) -> Annotation:
        """What the proteins are given."""
        file, shift, other_mix = self.file, self.estimated, ""
        if self.shift not in (None, NO_CORRECTION):
            shift = stage_files.read_shift(str(self.shift), file, self.calibration)
            if self.combined is None:  # else the shift is of a table of another name
                other_mix = of_other_tables(shift, self.tables)
        if self.novelty is None and self.vectors is not None:
            remedy = "Give the file from credence novelty."
            raise refuse("--novelty", "vectors are given, and no known ones to compare.", remedy)
        sequences: Mapping[str, str] = {}
        if self.proteins is not None and (self.novelty is None or self.vectors is not None):
            sequences = reading.read_sequences((self.proteins,), self.match)
        novelty: list[Addition] = []
        if self.novelty_columns is not None:
            novelty = [self.novelty_columns]
            sequences = sequences or self.novelty_columns.features.sequences
        if self.parts:
            if self.novelty is None or self.novelty_columns is None:
                lacking = "its columns need the distances to calibration proteins."
                raise refuse("--parts", lacking, "Give --novelty, and --proteins or --vectors.")
            known = self.novelty_columns.file
            novelty.append(NeighbourColumns(self.novelty, known, file.class_names))
        if self.combined is not None:
            answers, has_genomes = self.combined.answers, self.combined.samples.genome is not None
        else:
            answers = None if self.answers is None else read_answers(self.answers)
            has_genomes = self.stated_spec.genome is not None
        events = None
        if self.events is not None:
            read = _read_events(self.events, self.novelty)
            events = EventColumns(read, self.events, shift)
        return annotation_of(
            file,
            calibration=self.calibration,
            shift=shift,
            shift_path=str(self.shift or self.calibration),
            other_mix=other_mix,
            sequences=sequences,
            novelty=novelty,
            events=events,
            answers=answers,
            has_genomes=has_genomes,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class AnnotateOptions:
    """What is written of annotated tables, and how."""

    out: str
    also: str | None = None  # The same table in a second file
    novelty_record: str | None = None
    lists: str | None = None  # Folder of the lists of proteins that can be used
    lists_record: str | None = None
    settings: Settings = field(default_factory=Settings)
    spreadsheet_safe: bool = False
    six_decimals: bool = False

    @property
    def tables(self) -> list[Path]:
        """The files that get the table."""
        return [Path(path) for path in (self.out, self.also) if path is not None]

    @property
    def files(self) -> list[str | None]:
        """Every file that is written."""
        lists = list_paths(self.lists, self.settings)
        return [self.out, self.also, self.novelty_record, self.lists_record, *lists]


def annotate_tables(inputs: AnnotateInputs, options: AnnotateOptions) -> None:
    """Write the confidence of every prediction of tables, which are read piece by piece."""
    reading.require_other(options.files, [*inputs.tables, *inputs.files.values()])
    beside_it = stage_files.shift_beside(Path(options.out))
    reading.require_other([str(beside_it)], [*inputs.tables, *inputs.files.values()])
    annotation = inputs.annotation.of_set(inputs.predictions)
    n_unknown = n_unscored = 0
    with ExitStack() as stack:
        # Q-values wait for the last row.
        first, *_ = [stack.enter_context(beside(path)) for path in options.tables]
        with (
            Progress("annotate", "proteins") as progress,
            TableWriter(first, annotation.names) as writer,
        ):
            for columns in annotation.rows(inputs.pieces(progress.expect)):
                n_unknown += int(np.isnan(columns["confidence"]).sum())
                n_unscored += int((columns["note"] == contract.UNSCORED_NOTE).sum())
                writer.write(columns)
                progress.add(len(columns["id"]))
            n_samples = progress.done
        finish_table(
            first, options.tables, annotation.file, annotation.shift, options.settings,
            inputs.name, options.lists, options.lists_record,
            spreadsheet_safe=options.spreadsheet_safe, in_six_decimals=options.six_decimals,
        )  # fmt: skip
    if inputs.estimated is not None:
        stage_files.SHIFT_FILES.write(beside_it, inputs.estimated)
    novelty = inputs.novelty_columns
    seen = None if novelty is None else novelty.seen.finding()
    write_record(options.novelty_record, seen or {})
    message = f", {n_unscored} of them without scores" if n_unscored else ""
    count = f"{n_samples} protein{'s' * (n_samples != 1)}"
    echo(f"Wrote {options.out}: {count}, {n_unknown} without a confidence{message}.")
    _echo_proportions(inputs, options.out)
    if seen is not None and seen.relatives is not None and seen.relatives.n_known:
        for sentence in (headline_of(seen.relatives), *sentences_of_relatives(seen.relatives)):
            echo(f"{options.out}: {sentence}.")
    sketch = annotation.file.sketch
    if annotation.sameness is not None and annotation.sameness.is_changed:
        echo(f"{', '.join(inputs.shown)}: {warning_of(annotation.sameness)}.")
    elif sketch is None and annotation.file.needs is not Need.CLASS:
        echo(f"{inputs.calibration}: {NO_SKETCH}")
    elif sketch is not None and sketch.lacks_names:
        echo(f"{inputs.calibration}: {NO_NAMES}")
    echo_remarks(annotation, n_samples, options.out)


def _echo_proportions(inputs: AnnotateInputs, out: str) -> None:
    """Print what is known of the tables' class proportions, or why nothing is."""
    if inputs.estimate is None or inputs.shift is not None:
        return
    if reason := why_uncorrectable(inputs.file, inputs.estimate.shift):
        echo(
            f"{inputs.calibration}: {reason}, so confidences are not corrected for the class "
            "proportions of this table."
        )
    elif inputs.estimated is not None:
        finding = inputs.estimated.finding
        echo(f"{out}: {in_one_line(finding)}.")
        for sentence in sentences_of_mix(finding):
            echo(f"{out}: {sentence}")


def echo_remarks(annotation: Annotation, n_samples: int, out: str) -> None:
    """Print what a reader has to know of the table and the calibration, each with its file."""
    remarks = [(out, sentence) for sentence in sentences_of(annotation.noted, n_samples)]
    remarks += [remark for addition in annotation.additions for remark in addition.remarks]
    if annotation.file.counts.get("relatives") == reading.RELATIVES_UNKNOWN:
        remarks.append((annotation.calibration, FAMILIES_UNKNOWN))
    for path, sentence in remarks:
        echo(f"{path}: {sentence}.")


def _read_events(path: str, novelty: str | None) -> stage_files.EventsFile:
    """Return events; refuse distances of another space than theirs."""
    file = stage_files.EVENTS_FILES.read(Path(path))
    if file.novelty and novelty is None:
        reason = "its events need the distance to the nearest calibration protein."
        remedy = "Give --novelty and --proteins, or learn them without --novelty."
        raise refuse(path, reason, remedy)
    if file.novelty and novelty is not None and sha256_of(Path(novelty)) != file.novelty:
        reason = f"the events of {path} were learnt with another novelty file."
        raise refuse(novelty, reason, "Learn them again with this one.")
    return file
