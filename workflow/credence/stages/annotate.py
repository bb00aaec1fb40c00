"""The stage `annotate`: a confidence for every prediction of a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd

from credence.calibrators.protocol import Need
from credence.composition.sameness import SketchCounts
from credence.confidence import NOTE_TEXTS, Confidence, Note, counted, sentences_of, unknown
from credence.evaluation.bands import BAND_NAMES, band_of
from credence.evaluation.use_sets import NovelSet
from credence.events.model import Mix
from credence.findings import Sameness
from credence.novelty.trust import Neighbours
from credence.predictions import UNKNOWN_CLASS, Floats, Integers, Predictions, Strings
from credence.problems import refuse
from credence.progress import Progress, echo
from credence.sentences import warning_of
from credence.stages import reading
from credence.stages.lists import finish_table, list_paths
from credence.stages.novelty import bands_of, look_at
from credence.stages.settings import Settings
from credence.stages.tools import combine_use_set, read_answers, tables_of
from credence.tables import contract, stage_files
from credence.tables.digests import sha256_of
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables
from credence.tables.samples import Samples
from credence.tables.writing import TableWriter, beside, write_record

NO_NAMES = (
    "its sketch does not say which class comes second given the first, so columns under wrong "
    "names are not noticed. Check the header; what credence fit makes of few classes says it."
)
NO_SPELLINGS = "it does not know ids in their normal form, so only those spelled alike are found"
NO_SKETCH = (
    "it keeps no sketch of the scores that it saw, so nothing says whether a table is of the same "
    "classifier. What credence fit makes of labelled tables keeps one."
)
MOST_NAMED = 3  # tables, in a sentence


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """What tables are annotated with, as the command names it."""

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
    name: str
    spreadsheet_safe: bool
    six_decimals: bool
    tool: Sequence[str] = ()  # Tables of further tools, as name=table
    answers: str | None = None  # What each tool answered, where the table is of several
    threads: int = 1
    parts: bool = False  # Whether columns are asked for of what neighbours show
    shown: Sequence[str] = ()  # What a user calls the tables, where that is not their paths

    @property
    def files(self) -> dict[str, str | None]:
        """Every file but the tables, by its option."""
        names = (
            "calibration", "shift", "events", "novelty", "proteins", "vectors",
            "answers",
        )  # fmt: skip
        return {f"--{name}": getattr(self, name) for name in names}

    @cached_property
    def file(self) -> stage_files.CalibrationFile:
        """The calibration."""
        return stage_files.read_calibration(Path(self.calibration))

    @cached_property
    def stated(self) -> TableSpec:
        """How the tables are read: as it was stated, or as the calibration's."""
        return reading.stated_spec(self.tables, self.format_, self.spec_json, file=self.file)

    @property
    def how(self) -> dict[str, str]:
        """What else decides on the bytes that are written."""
        safe = str(self.spreadsheet_safe)
        own = {"--parts": str(self.parts), "--match": self.match}
        return own | {"--spreadsheet-safe": safe, "--spec": repr(self.stated)}

    @cached_property
    def annotation(self) -> Annotation:
        """What the proteins are given."""
        file = self.file
        shift = None
        if self.shift is not None:
            shift = stage_files.read_shift(self.shift, file, self.calibration)
        if self.novelty is None and self.vectors is not None:
            remedy = "Give what credence novelty wrote."
            raise refuse("--novelty", "nothing says what is known.", remedy)
        is_by_sequence = self.novelty is not None and self.vectors is None
        proteins = () if self.proteins is None else (self.proteins,)
        sequences = {} if is_by_sequence else reading.read_sequences(proteins, self.match)
        newcomers = None if self.novelty is None else Newcomers(self, self.novelty, file)
        if newcomers is not None and is_by_sequence:
            sequences = newcomers.features.sequences
        if self.parts:
            if newcomers is None:
                what = "nothing says where calibration proteins lie."
                raise refuse("--parts", what, "Give --novelty, and --proteins or --vectors.")
            newcomers.look_around(str(self.novelty))
        events = _events(self.events, self.novelty)
        answers = None if self.answers is None else read_answers(self.answers)
        known_to = (file, shift, newcomers, events, sequences)
        has_genomes = self.stated.genome is not None
        return Annotation(*known_to, answers=answers, has_genomes=has_genomes)

    @cached_property
    def spec(self) -> TableSpec:
        """How the tables are read."""
        return reading.as_calibrated(self.stated, self.file.class_names, self.file.scale)

    def columns(
        self, annotation: Annotation, pieces: Iterable[tuple[str, Samples]]
    ) -> Iterator[tuple[dict[str, Any], int]]:
        """Yield the rows of proteins, and how many of them are without scores."""
        file = annotation.file
        silent, answers = np.empty(0, dtype=object), annotation.answers
        if answers is not None:
            silent = answers.index[answers[contract.AGREE] == ""].to_numpy(dtype=object)
        for where, samples in pieces:
            if len(silent):  # behind the first piece
                lines = samples.lines[-1] + 1 + np.arange(len(silent))
                samples = replace(samples, unscored_ids=silent, unscored_lines=lines)
                silent = silent[:0]
            if annotation.newcomers is not None:
                places = annotation.newcomers.places_of(samples.predictions.ids)
                samples = replace(samples, predictions=replace(samples.predictions, places=places))
            stage_files.require_match(file, samples.predictions, where)
            for made, path in ((annotation.shift, self.shift), (annotation.events, self.events)):
                if made is not None:
                    stage_files.require_same(
                        made, file.method_spec, samples.predictions, str(path)
                    )
            yield annotation.columns(samples, self.calibration), len(samples.unscored_ids)


def annotate_tables(out: str, **options: Any) -> None:
    """Write the confidence of every prediction of tables, those of several tools combined."""
    with TemporaryDirectory() as folder:
        _annotate(out, **_combined(options, Path(folder)))


def _combined(options: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return options with one table in the place of those of several tools."""
    tool, answers = options.get("tool", ()), options.get("answers")
    file = stage_files.read_calibration(Path(options["calibration"]))
    if answers is not None or (file.tools is None and not tool):
        return options
    further = tables_of(file, tool, options["calibration"])
    names = folder / "combined.parquet", folder / "answers.parquet"
    tables = options["tables"]
    chosen = tables, options["format_"], options["spec_json"]
    combine_use_set(*chosen, further, file, names[0], str(names[1]))
    stated = reading.json_settings(options["spec_json"], "--spec")
    has_genomes = bool(tables) and stated.get("genome") is not None
    spec = {contract.GENOME: contract.GENOME} if has_genomes else {}
    own = {"tables": [str(names[0])], "format_": "credence", "spec_json": json.dumps(spec)}
    shown = tables or [path for _, paths in further for path in paths]
    return options | own | {"answers": str(names[1]), "shown": shown}


def _annotate(
    out: str,
    novelty_record: str | None,
    also: str | None,
    settings: Settings,
    lists: str | None,
    lists_record: str | None,
    **options: Any,
) -> None:
    """Write the confidences of tables, which are read piece by piece."""
    given = Request(**options, parts=settings.novelty.parts)
    tables, name, safe = given.tables, given.name, given.spreadsheet_safe
    reading.require_other(
        (out, also, novelty_record, lists_record, *list_paths(lists, settings)),
        [*tables, *given.files.values()],
    )
    annotation = given.annotation
    pieces = (samples.predictions for _, samples in stream_tables(tables, given.spec))
    is_other = annotation.shift is not None and bool(of_another_mix(annotation.shift, given))
    sameness = sameness_of(annotation.file, None if is_other else annotation.shift, pieces)
    annotation = replace(annotation, is_changed=sameness is not None and sameness.is_changed)
    if annotation.newcomers is not None:
        every = [samples.predictions.ids for _, samples in stream_tables(tables, given.spec)]
        ids = np.concatenate([np.empty(0, dtype=object), *every])
        annotation.newcomers.prepare(ids, given.threads)
    n_unknown = n_unscored = 0
    outs = [Path(path) for path in (out, also) if path is not None]
    with ExitStack() as whole:
        # Q-values wait for the last row.
        first, *_ = [whole.enter_context(beside(path)) for path in outs]
        with (
            Progress("annotate", "proteins") as progress,
            TableWriter(first, annotation.names) as writer,
        ):
            found = stream_tables(tables, given.spec, progress.expect)
            for columns, n_own in given.columns(annotation, found):
                n_unknown += int(np.isnan(columns["confidence"]).sum())
                n_unscored += n_own
                writer.write(columns)
                progress.add(len(columns["id"]))
            n_samples = progress.done
        finish_table(
            first, outs, annotation.file, annotation.shift, settings, name, lists,
            lists_record, spreadsheet_safe=safe, in_six_decimals=given.six_decimals,
        )  # fmt: skip
    newcomers = annotation.newcomers
    write_record(novelty_record, {} if newcomers is None else newcomers.set.finding())
    message = f", {n_unscored} of them without scores" if n_unscored else ""
    count = f"{n_samples} protein{'s' * (n_samples != 1)}"
    echo(f"Wrote {out}: {count}, {n_unknown} without a confidence{message}.")
    if sameness is not None and sameness.is_changed:
        shown = ", ".join(given.shown or tables)
        echo(f"{shown}: {warning_of(sameness)}.")
    elif annotation.file.sketch is None and annotation.file.needs is not Need.CLASS:
        echo(f"{given.calibration}: {NO_SKETCH}")
    elif annotation.file.sketch is not None and annotation.file.sketch.lacks_names:
        echo(f"{given.calibration}: {NO_NAMES}")
    echo_sentences(annotation, n_samples, out, given)


def echo_sentences(annotation: Annotation, n_samples: int, out: str, given: Request) -> None:
    """Print what a reader has to know of the table and the calibration, each with its file."""
    file = annotation.file
    found = [(out, sentence) for sentence in sentences_of(annotation.noted, n_samples)]
    if file.known is None or (given.proteins is not None and not len(file.known.sequences)):
        of = "proteins" if file.known is None else "sequences"
        what = f"it does not say on which {of} it was fitted, so that none is looked for"
        found.append((given.calibration, what))
    if file.known is not None and file.known.normal is None:
        found.append((given.calibration, NO_SPELLINGS))
    if annotation.newcomers is not None and file.known is not None and len(file.known.ids):
        reference = annotation.newcomers.reference
        if not file.known.notes(reference.ids[reference.calibration_rows], {}).any():
            what = f"none of its proteins is one on which {given.calibration} was fitted"
            found.append((str(given.novelty), what))
    if annotation.shift is not None and not annotation.shift.calibration:
        what = "it does not say with which calibration it was made (credence shift --calibration)"
        found.append((str(given.shift), what))
    if annotation.shift is not None and (what := of_another_mix(annotation.shift, given)):
        found.append((str(given.shift), what))
    if file.counts.get("relatives") == reading.RELATIVES_UNKNOWN:
        found.append((given.calibration, reading.RELATIVES_UNKNOWN))
    for where, sentence in found:
        echo(f"{where}: {sentence}.")


def of_another_mix(shift: stage_files.ShiftFile, given: Request) -> str:
    """Return what to know where tables are not among those whose mix was estimated; else ''."""
    names = [Path(table).name for table in given.tables]
    others = [name for name in names if name not in shift.tables]
    # Tables of several tools have another name once they are combined.
    if not others or not shift.tables or given.shown:
        return ""
    of = f"{_some(shift.tables)} ({shift.finding.n_use:,} proteins), not of {_some(others)}"
    return f"it is of the mix of {of}; confidences are corrected for that mix"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def sameness_of(
    file: stage_files.CalibrationFile,
    shift: stage_files.ShiftFile | None,
    pieces: Iterable[Predictions],
) -> Sameness | None:
    """Return whether a whole set is of the classifier that was calibrated.

    Looked at before the first row is written, so that the parts of a table are noted alike.
    """
    if shift is not None and shift.finding.sameness is not None:
        return shift.finding.sameness
    if file.sketch is None:
        return None
    look = SketchCounts(file.sketch, file.class_names)
    for piece in pieces:
        if piece.class_names != file.class_names or piece.scale != file.scale:
            return None  # to be refused where it is annotated
        look.add(piece)
    return look.found()


@dataclass(frozen=True, eq=False)
class Annotation:
    """What proteins are given: confidences, and what else there is to say of them."""

    file: stage_files.CalibrationFile
    shift: stage_files.ShiftFile | None = None  # Of their composition
    newcomers: Newcomers | None = None  # How far they are from those known
    events: stage_files.EventsFile | None = None  # Events whose probabilities are asked for
    sequences: Mapping[str, str] = field(default_factory=dict)  # Of those proteins, by their ids
    noted: Counter[str] = field(default_factory=Counter)  # Of all rows so far: see `counted`
    is_changed: bool = False  # Whether the set's scores are unlike calibration's
    answers: pd.DataFrame | None = None  # Of each of several tools, by protein
    has_genomes: bool = False  # Whether a column names the genome of each protein

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that there are, in order."""
        is_shifted = self.shift is not None
        return (
            *contract.CONFIDENCE_NAMES,
            *contract.set_names(self.file.sets, is_shifted),
            *(contract.NOVELTY_NAMES if self.newcomers else ()),
            *(contract.PARTS_NAMES if self.newcomers and self.newcomers.neighbours else ()),
            *(contract.UNCORRECTED_NAMES if is_shifted else ()),
            *contract.event_names(None if self.events is None else self.events.model, is_shifted),
            *(() if self.answers is None else self.answers.columns),
            *((contract.GENOME,) if self.has_genomes else ()),
        )

    def _with_spellings(self, notes: Strings, ids: Strings, flags: Integers) -> Strings:
        """Return notes that name both ids where a calibration protein has another spelling."""
        known, text = self.file.known, NOTE_TEXTS[Note.LIKE_ID]
        for row in np.flatnonzero(flags & int(Note.LIKE_ID)):
            there = "" if known is None else known.spelling_there(ids[row])
            both = f"{ids[row]!r} here, {there!r} there".replace(";", ",")
            notes[row] = notes[row].replace(text, f"{text} ({both})")
        return notes

    def columns(self, samples: Samples, where: str) -> dict[str, Any]:
        """Return the rows of some proteins, in the table's order; also those without scores."""
        predictions, method = samples.predictions, self.file.method_spec
        confidence = plain = unknown(0, Note.NONE)
        if predictions.n_samples:
            confidence = plain = stage_files.confidence_of(self.file, predictions, where)
            if self.shift is not None:
                confidence = self.shift.adjusted.confidence(predictions)
            note = np.where(predictions.is_tied, int(Note.TIED), 0)
            if self.file.known is not None:
                note |= self.file.known.notes(predictions.ids, self.sequences)
            self.noted.update(counted(note))
            confidence = replace(confidence, note=confidence.note | note)
        if self.is_changed:
            confidence = replace(confidence, note=confidence.note | int(Note.CHANGED))
        novel: dict[str, Any] = {}
        if self.newcomers is not None:
            note, novel = self.newcomers.noted(predictions, confidence)
            confidence = replace(confidence, note=confidence.note | note)
            told = (Note.NOVEL, Note.NO_PLACE, Note.BAND_OFF)
            self.noted.update(counted(confidence.note, told))
        columns = contract.confidence_columns(predictions, confidence, method)
        columns["note"] = self._with_spellings(columns["note"], predictions.ids, confidence.note)
        share = mix = None
        if self.shift is not None:
            columns |= zip(
                contract.UNCORRECTED_NAMES, (plain.value, plain.lower, plain.upper), strict=True
            )
            share = self.shift.applied_share
            mix = Mix(weight=self.shift.applied_weight, confidence=confidence.value)
        columns |= contract.set_columns(self.file.sets, predictions, share) | novel
        model = distance = None
        if self.events is not None:
            model = self.events.model
            if self.events.novelty:  # else learnt without distances
                distance = columns.get("calibration_distance")
        columns |= contract.event_columns(model, predictions, plain.value, distance, mix)
        if self.answers is not None:
            known = self.answers.index.to_numpy(dtype=object)
            rows = reading.rows_by_id(predictions.ids, "TABLE", known, "--answers")
            columns |= {name: self.answers[name].to_numpy()[rows] for name in self.answers}
        columns[contract.GENOME] = samples.genome
        columns = {name: columns[name] for name in self.names}
        return contract.with_unscored(columns, samples, method)


class Newcomers:
    """Proteins of a use-set beside those of a novelty file."""

    def __init__(
        self, given: Request, novelty: str, calibration: stage_files.CalibrationFile
    ) -> None:
        self.file = stage_files.NOVELTY_FILES.read(Path(novelty))
        self.reference = self.file.reference
        proteins = (given.proteins,) if given.proteins and given.vectors is None else ()
        self.features = reading.Features(proteins, given.vectors, given.match)
        self.features.require_space(self.reference.space, novelty)
        bands = bands_of(self.file, calibration.held_out, calibration.class_names)
        is_band_off = [band.is_off for band in bands] or [False] * len(BAND_NAMES)
        self.is_band_off = np.array(is_band_off, dtype=np.bool_)
        self.set = NovelSet(name=given.name, reference=self.reference, held=self.file.held_out_far)
        self.neighbours: Neighbours | None = None
        self.class_names = calibration.class_names

    def look_around(self, where: str) -> None:
        """Give each protein what its neighbours show, too."""
        rows, is_wrong = self.reference.calibration_rows, self.file.is_wrong
        if is_wrong is None or not len(rows):
            what = "it does not say of which calibration proteins the class was right."
            raise refuse(where, what, "Make it again: credence novelty.")
        code_of = {name: code for code, name in enumerate(self.class_names)}
        true = [code_of.get(name, UNKNOWN_CLASS) for name in self.reference.class_name[rows]]
        is_named = np.array(true) != UNKNOWN_CLASS
        points, codes = self.reference.points[rows], np.array(true, dtype=np.int64)
        known = (points[is_named], codes[is_named], is_wrong[is_named])
        self.neighbours = Neighbours(*known, len(self.class_names))

    def prepare(self, ids: Strings, threads: int = 1) -> None:
        """Look at all proteins of the set at once."""
        self.row_of = {id_: row for row, id_ in enumerate(ids)}
        texts = [self.features.sequences.get(id_, "") for id_ in ids]
        self.places = self.features.places(self.reference.space, ids, threads)
        self.every = look_at(self.file, self.places, np.array(texts, dtype=object), threads)

    def _rows(self, ids: Strings) -> Integers:
        return np.array([self.row_of[id_] for id_ in ids], dtype=np.int64)

    def places_of(self, ids: Strings) -> Floats:
        """Return where proteins that were prepared lie."""
        return np.asarray(self.places[self._rows(ids)])

    def noted(
        self, predictions: Predictions, confidence: Confidence
    ) -> tuple[Integers, dict[str, Any]]:
        """Return what notes say of novelty, and further columns."""
        places = predictions.places
        assert places is not None
        look = self.every.take(self._rows(predictions.ids))
        is_off = np.isfinite(look.distance) & self.is_band_off[band_of(look.identity)]
        note = np.zeros(predictions.n_samples, dtype=np.int64)
        note[~np.isfinite(places).all(axis=1)] |= int(Note.NO_PLACE)
        note[look.is_flagged] |= int(Note.NOVEL)
        note[is_off] |= int(Note.BAND_OFF)
        note[look.is_repeat] |= int(Note.REPEAT)
        nearest = np.full(predictions.n_samples, "", dtype=object)
        known = look.nearest >= 0
        nearest[known] = self.reference.ids[look.nearest[known]]
        names = np.array(predictions.class_names, dtype=object)[predictions.predicted_class]
        self.set.add(predictions.ids, look, names, confidence.value, is_off)
        values = (
            *(look.p, look.distance, nearest, look.training_distance),
            *(look.closest, look.identity, look.coverage),
        )
        columns = dict(zip(contract.NOVELTY_NAMES, values, strict=True))
        if self.neighbours is not None:
            parts = self.neighbours.parts(places, predictions.predicted_class)
            columns |= zip(contract.PARTS_NAMES, parts, strict=True)
        return note, columns


def _events(events: str | None, novelty: str | None) -> stage_files.EventsFile | None:
    """Return events; refuse distances of another space than theirs."""
    if events is None:
        return None
    file = stage_files.EVENTS_FILES.read(Path(events))
    if file.novelty and novelty is None:
        what = "its events look at the distance to the nearest calibration protein."
        remedy = "Give --novelty and --proteins, or learn them without --novelty."
        raise refuse(events, what, remedy)
    if file.novelty and novelty is not None and sha256_of(Path(novelty)) != file.novelty:
        what = f"the events of {events} were learnt with another novelty file."
        raise refuse(novelty, what, "Learn them again with this one.")
    return file
