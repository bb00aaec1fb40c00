"""The stage `report`: the page of a run, and what lies beside it."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credence import findings
from credence.confidence import NOTE_TEXTS, OF_PROTEINS, Note, sentences_of
from credence.evaluation.judging import TEST_SAMPLE
from credence.evaluation.queries import UseColumns, query_set_counts, query_set_of
from credence.findings import ACCEPT, CHECK, DECISIONS
from credence.problems import Problem, ProblemList, raise_any, refuse
from credence.progress import echo
from credence.records import from_record, json_text, parse_json, read_record, refuse_pipe, signed
from credence.report.html import render
from credence.report.page_data import (
    bibliography,
    citation,
    publication,
    readme,
    render_index,
    report_record,
)
from credence.report.sections.publish import OF_QUERIES, PUBLICATION
from credence.report.wording import slug
from credence.sentences import warning_of, warnings_of_mix
from credence.settings import settings_from
from credence.stages.check import read_summary
from credence.stages.crate import CRATE_METADATA, MULTIQC, WORKFLOW, metadata, multiqc
from credence.stages.lists import CONFIDENCE_ROUNDING, NOT_CORRECTED
from credence.stages.reading import json_settings, require_other
from credence.stages.settings import workflow_folder
from credence.tables import contract, writing
from credence.tables.digests import sha256_of
from credence.tables.formats import NameLookup, named, taken_as_one
from credence.tables.labels import read_labels
from credence.tables.stage_files import EVENTS_FILES, SHIFT_FILES, Signed

Made = TypeVar("Made")
MOST_PROTEINS = 20_000  # of a query set, on the page: of a larger one the accepted alone
RECORD = "report.json"
# Field of the findings → option, what its files hold, and the remedy where one is refused.
OF_SETS: dict[str, tuple[str, type[Any], str]] = {
    "novelties": (
        "novelty",
        findings.NoveltyFinding,
        "Annotate again: credence annotate --novelty-record.",
    ),
    "lists": ("lists", findings.UseLists, "Annotate again: credence annotate --lists-record."),
    "genomes": ("genomes", findings.Genomes, "Make it again: credence genomes --record."),
}


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What a page is made of and what is written, as the command names it; each is a file."""

    found_in: str  # The findings
    out: str  # The page
    queries: Sequence[tuple[str, str, str]] = ()  # Name, confidences, summary of the check
    shift: Sequence[str] = ()  # One for each set whose confidences are corrected
    changes: Sequence[str] = ()  # From release to release, in order
    events: str | None = None
    labels: str | None = None
    novelty: Sequence[str] = ()  # Of these three one for each set
    lists: Sequence[str] = ()
    genomes: Sequence[str] = ()
    read: Sequence[tuple[str, str]] = ()  # Roles and files: what else the run read
    truth: Sequence[tuple[str, str]] = ()  # Names of query sets and tables of true classes
    run_json: str = "{}"  # What to say of the run: :class:`RunFacts`
    complete: str | None = None  # Where the findings go that the page shows
    split: str | None = None
    metrics: str | None = None  # Copied beside the page, as the calibration
    calibration: str | None = None
    archive: str | None = None
    further: Sequence[str] = ()  # Files for the archive
    index: str | None = None  # A page over all runs beside this one

    @property
    def inputs(self) -> list[str | None]:
        """Every file that is read and not copied."""
        tables = [path for _, *paths in self.queries for path in paths]
        pairs = {path for _, path in (*self.read, *self.truth)}
        of_sets = (*self.shift, *self.changes, *self.novelty, *self.lists, *self.genomes)
        alone = (self.split, self.events, self.labels)
        return [*self.further, self.found_in, *tables, *of_sets, *alone, *pairs]


def report_findings(given: ReportOptions) -> findings.Findings:
    """Write the page of findings and its data beside it; return all that it shows."""
    outs = (given.out, given.archive, given.index, given.complete)
    require_other(outs, given.inputs)
    for path in filter(None, (given.metrics, given.calibration)):
        refuse_pipe(Path(path))
    shown = _gathered(given)
    page = Path(given.out)
    writing.write_record(given.complete, shown)
    writing.write_json(page.parent / RECORD, report_record(shown))
    writing.write_json(page.parent / MULTIQC, multiqc(shown))
    writing.write_text(page.parent / PUBLICATION, publication(shown))
    beside = _copied(given, page.parent)
    writing.write_text(page, render(shown))
    if given.archive is not None:
        confidences = (path for _, path, _ in given.queries)
        put = (*confidences, *given.further, *filter(None, (given.events,)))
        _publish_archive(Path(given.archive), shown, page, beside, put)
    if given.index is not None:
        _publish_index(Path(given.index))
    echo(f"Wrote {page}")
    return shown


def _gathered(options: ReportOptions) -> findings.Findings:
    """Return all that a page shows: the findings, and what other files add to them."""
    shown = read_record(
        findings.Findings, Path(options.found_in), "Evaluate again: credence evaluate."
    )
    if shown.results.sample == TEST_SAMPLE:
        fault = "it judges a finished calibration on a test set, of which no page is made."
        remedy = "Evaluate the table that the calibration was fitted on: credence evaluate."
        raise refuse(options.found_in, fault, remedy)
    stated = json_settings(options.run_json, "--settings")
    shown = _with_run(shown, stated)
    summaries = []
    for name, confidences, _ in options.queries:
        query_set = summarise_file(name, Path(confidences), shown.results, shown.chosen)
        truth = dict(options.truth).get(name)
        rows = protein_rows(Path(confidences), query_set)
        summaries.append(replace(with_truth(query_set, Path(confidences), truth), proteins=rows))
    inputs = [
        replace(entry, role=f"{OF_QUERIES}{name}: {entry.role}")
        for name, _, check in options.queries
        for entry in read_summary(Path(check)).inputs
    ]
    inputs += [
        findings.InputFile(role=role, name=path, sha256=sha256_of(Path(path)))
        for role, path in options.read
    ]
    for name, (option, kind, again) in OF_SETS.items():
        more = [read_record(kind, Path(path), again) for path in getattr(options, option)]
        changed: Any = {name: (*getattr(shown, name), *more)}
        shown = replace(shown, **changed)
    shifts = [
        _without_learnt(_finding(SHIFT_FILES, path, shown), shown.novelties)
        for path in options.shift
    ]
    require_corrected_alike(options.queries, shifts)
    notices = _changed(summaries, shifts)
    notices += [
        findings.Notice(kind=f"class proportions of {shift.name}", text=sentence, is_warning=True)
        for shift in shifts
        for sentence in warnings_of_mix(shift)
    ]
    notices += [notice for query_set in summaries for notice in query_set_notices(query_set)]
    return replace(
        shown,
        queries=(*shown.queries, *summaries),
        shifts=(*shown.shifts, *shifts),
        notices=(*shown.notices, *notices),
        split=_read_or(
            shown.split, findings.SplitFinding, options.split, "Split again: credence split."
        ),
        releases=_releases(options.changes) if options.changes else shown.releases,
        labels=_read_or(
            shown.labels, findings.DoubtfulLabels, options.labels, "Look again: credence labels."
        ),
        events=shown.events
        if options.events is None
        else _finding(EVENTS_FILES, options.events, shown),
        limits=settings_from(findings.VerdictSettings, stated.get("verdict", {})),
        files=_beside(options),
        provenance=replace(shown.provenance, inputs=(*shown.provenance.inputs, *inputs)),
    )


def _without_learnt(
    shift: findings.ShiftFinding, novelties: Sequence[findings.NoveltyFinding]
) -> findings.ShiftFinding:
    """Return a shift whose scores are compared without homologues of training proteins."""
    for novelty in novelties:
        relatives = novelty.relatives if novelty.name == shift.name else None
        if relatives is not None and relatives.sameness is not None:
            return replace(shift, sameness=relatives.sameness)
    return shift


def _beside(options: ReportOptions) -> tuple[str, ...]:
    """Return the addresses of the run's files that lie below the page's folder."""
    home = Path(options.out).parent.resolve()
    written = [home / RECORD, home / PUBLICATION]
    if options.metrics is not None:
        written.append(home / "metrics.tsv")
    if options.calibration is not None:
        written.append(home / "calibration.json")
    tables = (path for _, path, _ in options.queries)
    paths = filter(None, (*tables, *options.further, options.archive))
    files = {*written, *(Path(path).resolve() for path in paths)}
    return tuple(
        sorted(path.relative_to(home).as_posix() for path in files if path.is_relative_to(home))
    )


def _copied(options: ReportOptions, folder: Path) -> list[str]:
    """Put the metrics and the calibration beside the page; return the names of their files."""
    names: list[str] = []
    if options.metrics is not None:
        names += ["metrics.tsv", "metrics.parquet"]
        text, packed = (folder / name for name in names)
        if Path(options.metrics).resolve() != text.resolve():
            metrics = contract.read_metrics(Path(options.metrics))
            contract.write_contract(text, metrics, spreadsheet_safe=True, in_six_decimals=True)
            contract.write_contract(packed, metrics)
    if options.calibration is not None:
        names.append("calibration.json")
        copy = folder / "calibration.json"
        if Path(options.calibration).resolve() != copy.resolve():
            with writing.open_output(copy) as handle:
                handle.write(Path(options.calibration).read_bytes())
    return names


def _read_or(known: Made | None, kind: type[Made], path: str | None, again: str) -> Made | None:
    """Return what a file holds; without one what is known."""
    return known if path is None else read_record(kind, Path(path), again)


def require_corrected_alike(
    queries: Sequence[tuple[str, str, str]], shifts: Sequence[findings.ShiftFinding]
) -> None:
    """Refuse confidences that are corrected where no composition is shown, and the contrary."""
    shown = {shift.name for shift in shifts}
    problems = []
    for name, path, _ in queries:
        is_own = contract.is_corrected(Path(path))
        if is_own and name not in shown:
            reason = (
                f"its confidences are corrected for class proportions; no --shift is of {name!r}."
            )
            remedy = f"Give --shift: the file of --record of credence shift --name {name}."
            problems.append(Problem(where=path, what=reason, remedy=remedy))
        elif name in shown and not is_own:
            problems.append(Problem(where=path, what=NOT_CORRECTED[0], remedy=NOT_CORRECTED[1]))
    raise_any(problems)


def query_set_notices(query_set: findings.QuerySet) -> list[findings.Notice]:
    """Return how many proteins carry each note that no method and no score shows."""
    texts = {NOTE_TEXTS[flag] for flag in OF_PROTEINS}
    numbers = {entry.name: int(entry.value) for entry in query_set.notes if entry.name in texts}
    return [
        findings.Notice(kind="query set", text=f"{query_set.name}: {sentence}.", is_warning=True)
        for sentence in sentences_of(numbers, query_set.n)
    ]


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """What the option --settings may say of a run; None and no settings: as the findings say."""

    run: str | None = None
    title: str | None = None
    simulated: bool | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, float] = field(default_factory=dict)  # Cut-offs of its checks
    looked: findings.Look | None = None
    documentation: str | None = None  # Its address


def _changed(
    queries: Sequence[findings.QuerySet], shifts: Sequence[findings.ShiftFinding]
) -> list[findings.Notice]:
    """Return a warning for each query set whose scores are unlike calibration's."""
    texts = {
        shift.name: warning_of(shift.sameness)
        for shift in shifts
        if shift.sameness is not None and shift.sameness.is_changed
    }
    text = NOTE_TEXTS[Note.CHANGED]
    for query_set in queries:
        if any(note.name == text for note in query_set.notes):
            texts.setdefault(query_set.name, text)
    return [
        findings.Notice(kind=findings.OTHER_CLASSIFIER, text=f"{name}: {text}.", is_warning=True)
        for name, text in texts.items()
    ]


def _with_run(shown: findings.Findings, settings: Mapping[str, Any]) -> findings.Findings:
    """Return findings that say what the run is called and how it was set."""
    facts = from_record(
        RunFacts, settings, "--settings", 'Write it like {"run": "lab", "title": "Lab"}.'
    )
    stated = shown.provenance
    provenance = replace(
        stated,
        run=settings.get("run", stated.run),
        title=settings.get("title", stated.title) or "Calibrated confidence",
        is_simulated=settings.get("simulated", stated.is_simulated),
        looked=facts.looked or stated.looked,
        documentation=facts.documentation or stated.documentation,
    )
    if "settings" in settings:
        rows = tuple(
            findings.Setting(name=name, value=value)
            for name, value in settings["settings"].items()
        )
        provenance = replace(provenance, settings=rows)
    return replace(shown, provenance=provenance)


def _finding(file: Signed[Any], path: str, shown: findings.Findings) -> Any:
    """Return what a file found of query sets or events; refuse one of other classes."""
    made = file.read(Path(path))
    if tuple(made.class_names) != shown.results.class_names:
        raise refuse(path, "its classes are not those of the findings.", file.again)
    return made.finding


def _releases(paths: Sequence[str]) -> findings.ReleasesFinding:
    """Return the chain of releases; refuse steps that do not follow each other."""
    steps: list[findings.ReleaseStep] = []
    for path in paths:
        step = read_record(findings.ReleaseStep, Path(path), "Compare again: credence compare.")
        if steps and step.older.digest != steps[-1].newer.digest:
            reason = f"it begins at {step.older.name}, and the one before it ends at "
            remedy = "Give --changes in the order of the releases, without gaps."
            raise refuse(path, f"{reason}{steps[-1].newer.name}.", remedy)
        steps.append(step)
    releases = (steps[0].older, *(step.newer for step in steps))
    return findings.ReleasesFinding(releases=releases, steps=tuple(steps))


def _publish_archive(
    path: Path, shown: findings.Findings, page: Path, beside: Iterable[str], further: Iterable[str]
) -> None:
    """Write an archive of the page and of what it rests on."""
    members: dict[str, str | Path] = {
        "index.html": page,
        RECORD: page.parent / RECORD,
        "findings.json": json_text(signed(shown)),
        "README.md": readme(shown),
        "CITATION.cff": citation(shown),
        "references.bib": bibliography(shown),
        MULTIQC: page.parent / MULTIQC,
        PUBLICATION: page.parent / PUBLICATION,
        **{name: page.parent / name for name in beside},
    }
    home = page.parent.resolve()
    for text in further:
        file = Path(text).resolve()
        is_beside = file.is_relative_to(home)
        members[file.relative_to(home).as_posix() if is_beside else file.name] = file
    name = slug(shown.provenance.run, 0).partition("-")[2] or "run"
    members[WORKFLOW] = workflow_folder() / "Snakefile"
    members[CRATE_METADATA] = json_text(metadata(shown, [*members, writing.SUMS]))
    writing.write_archive(path, f"credence-{name}", members)


def _publish_index(path: Path) -> None:
    """Write a page over every run whose folder lies beside it."""
    records = {}
    for file in sorted(path.parent.glob(f"*/{RECORD}")):
        try:
            record = parse_json(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # not a finished run
        if isinstance(record, dict):
            records[file.parent.name] = record
    writing.write_text(path, render_index(records))


def summarise_file(
    name: str, path: Path, results: findings.Results, chosen: str
) -> findings.QuerySet:
    """Return what a page shows of a table of confidences, however long it is."""
    further = contract.UNCORRECTED_NAMES if contract.is_corrected(path) else ()
    return _read(path, partial(_summary, name, str(path), results, chosen), further)


def _read(
    path: Path, work: Callable[[Iterable[pa.Table]], Made], further: Sequence[str] = ()
) -> Made:
    try:
        return work(contract.stream_confidences(path, further))
    except contract.NOT_QUICKLY:
        return work([contract.read_slowly(path, further)])


def _summary(
    name: str, path: str, results: findings.Results, chosen: str, pieces: Iterable[pa.Table]
) -> findings.QuerySet:
    none, nothing = np.empty(0, np.int64), np.empty(0)
    is_none = np.empty(0, np.bool_)
    by_class, by_bin = query_set_counts(
        len(results.class_names),
        UseColumns(
            class_=none,
            value=nothing,
            is_accepted=is_none,
            is_to_check=is_none,
            is_in_range=is_none,
        ),
    )
    notes: Counter[str] = Counter()
    method = chosen
    for number, piece in enumerate(pieces):
        if number == 0 and len(piece):
            method = piece["method"][0].as_py()
        before = [name for name in contract.UNCORRECTED_NAMES if name in piece.column_names]
        columns = ("confidence", *(before or ("confidence", "lower", "upper")))
        value, plain, least, most = (
            piece[column].to_numpy().astype(np.float64) for column in columns
        )
        # Without an interval only what did not move at all is known to stay in it.
        stays = np.isnan(least) & (np.abs(value - plain) <= CONFIDENCE_ROUNDING)
        columns_of_piece = UseColumns(
            class_=contract.class_codes(piece["predicted_class"], results.class_names, path),
            value=value,
            is_accepted=pc.equal(piece["decision"], ACCEPT).to_numpy(),
            is_to_check=pc.equal(piece["decision"], CHECK).to_numpy(),
            is_in_range=stays | ((least <= value) & (value <= most)),
        )
        more_by_class, more_by_bin = query_set_counts(len(results.class_names), columns_of_piece)
        by_class, by_bin = by_class + more_by_class, by_bin + more_by_bin
        for entry in pc.value_counts(piece["note"]).to_pylist():
            notes[entry["values"] or ""] += entry["counts"]
    counted = {
        text: sum(number for note, number in notes.items() if text in note)
        for text in (*NOTE_TEXTS.values(), contract.UNSCORED_NOTE)
    }
    return query_set_of(name, method, results.class_names, (by_class, by_bin), counted)


def protein_rows(path: Path, query_set: findings.QuerySet) -> findings.ProteinRows | None:
    """Return the predictions of a set for the page; of a large set the surest accepted ones."""
    if query_set.n == 0:
        return None
    is_whole, header = query_set.n <= MOST_PROTEINS, contract.header_of(path)
    nearest = next((name for name in contract.NEAREST_NAMES if name in header), None)
    identity = contract.CLOSEST_IDENTITY if nearest == contract.NEAREST_NAMES[0] else None
    genome = contract.GENOME if contract.GENOME in header else None
    further = [name for name in (nearest, identity, genome) if name]

    def gathered(pieces: Iterable[pa.Table]) -> pa.Table:
        if not is_whole:
            pieces = (piece.filter(pc.equal(piece["decision"], ACCEPT)) for piece in pieces)
        return pa.concat_tables(pieces)

    table = _read(path, gathered, further)
    if len(table) > MOST_PROTEINS:
        table = table.sort_by([("confidence", "descending")]).slice(0, MOST_PROTEINS)

    def texts(name: str | None) -> tuple[str, ...]:
        column = () if name is None else table[name].to_pylist()
        return tuple(_unguarded(text or "") for text in column)

    def numbers(name: str | None) -> tuple[float, ...]:
        column = () if name is None else table[name].to_numpy().astype(np.float64)
        return tuple(float(value) for value in column)

    notes = texts("note")
    places = {text: place for place, text in enumerate(dict.fromkeys(notes))}
    names = tuple(entry.class_name for entry in query_set.classes)
    classes = contract.class_codes(table["predicted_class"], names, str(path))
    return findings.ProteinRows(
        ids=texts("id"),
        classes=tuple(classes.tolist()),
        confidence=numbers("confidence"),
        lower=numbers("lower"),
        upper=numbers("upper"),
        decisions=tuple(DECISIONS.index(text) for text in table["decision"].to_pylist()),
        texts=tuple(places),
        notes=tuple(places[text] for text in notes),
        nearest=texts(nearest),
        identity=numbers(identity),
        genomes=texts(genome),
        is_whole=is_whole,
    )


def with_truth(query_set: findings.QuerySet, path: Path, table: str | None) -> findings.QuerySet:
    """Return a query set with its right predictions counted; refuse a truth that lacks some."""
    if table is None:
        return query_set
    true_class = _true_classes(table, tuple(entry.class_name for entry in query_set.classes))

    def count(pieces: Iterable[pa.Table]) -> tuple[Counter[str], list[str]]:
        right, missing = Counter[str](), []
        for piece in pieces:
            columns = (piece[name].to_pylist() for name in ("id", "predicted_class", "confidence"))
            for id_, predicted, confidence in zip(*columns, strict=True):
                true = true_class.get(id_) or true_class.get(_unguarded(id_))
                if not true:
                    missing.append(id_)
                elif confidence is not None and math.isfinite(confidence):
                    right[_unguarded(predicted)] += _unguarded(predicted) == true
        return right, missing

    right, missing = _read(path, count)
    if missing:
        reason = f"it lacks {len(missing):,} proteins of {query_set.name}, {missing[0]!r} first."
        raise refuse(table, reason, "Give the true class of every protein, or leave truth out.")
    classes = tuple(replace(entry, n_right=right[entry.class_name]) for entry in query_set.classes)
    return replace(query_set, classes=classes)


def _true_classes(table: str, class_names: tuple[str, ...]) -> dict[str, str]:
    """Return the true class of each protein of a table; refuse labels that are no class."""
    labels, known = read_labels(Path(table)), NameLookup(class_names, any_case=True)
    problems = ProblemList(table)
    for text in dict.fromkeys(labels.texts):
        if text and known[text] < 0:
            rows = np.flatnonzero(labels.texts == text)
            reason, remedy = known.misfit(text, named(labels.ids[rows[0]], len(rows)))
            problems.add(reason, remedy, int(labels.lines[rows[0]]), "true_class")
    problems.raise_any()
    if known.recased:
        echo(f"{table}: {taken_as_one(known.recased)}.")
    pairs = zip(labels.ids, labels.texts, strict=True)
    return {id_: class_names[known[text]] for id_, text in pairs if text}


def _unguarded(text: str) -> str:
    """Return a text as it was before it was made safe for spreadsheets."""
    return text[1:] if text[:1] == "'" and re.match(writing.FORMULA_START, text[1:]) else text
