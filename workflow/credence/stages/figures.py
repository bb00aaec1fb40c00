"""The stage of figures for journals: records from a run, and drawings of records."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from credence.evaluation.paper_figures import FIGURES, FigureSource, FigureSpec, make_figures
from credence.findings import FigureRecord, FiguresRecord, Findings
from credence.predictions import Labelled
from credence.problems import Problem, nearest, plural, raise_any, refuse
from credence.progress import each, echo
from credence.records import read_record
from credence.report.journal import writing_figures
from credence.stages.reading import LabelledFiles, in_order_of_ids
from credence.tables.writing import open_output, write_record, write_table, write_text

JOURNAL_WIDTHS = {"one": (85,), "two": (174,), "both": (85, 174)}  # mm, of a journal's columns
FIGURE_INDEX = "figures.tsv"
RECORDS = "figures.json"
MAKE_AGAIN = "Make it again: credence figures --findings, or verification/figure_records.py."


def _made(source: FigureSource, figures: Sequence[FigureSpec]) -> FiguresRecord:
    records = tuple(each(make_figures(source, figures), len(figures)))
    is_simulated = source.findings is not None and source.findings.provenance.is_simulated
    return FiguresRecord(figures=records, is_simulated=is_simulated)


def _of_run(found_in: str) -> FigureSource:
    """Return a run's findings, and the samples of its releases where they lie beside them."""
    findings = read_record(Findings, Path(found_in), "Give findings.json of a finished run.")
    releases = findings.releases.releases if findings.releases is not None else ()
    names = [f"{release.number:02d}-{release.name}" for release in releases] or ["00-base"]
    folder = Path(found_in).parent / "releases"
    needed = [folder / name / file for name in names for file in ("samples.parquet", "groups.tsv")]
    if not all(path.is_file() for path in needed):
        return FigureSource(labelled=None, findings=findings)
    stated = {setting.name: setting.value for setting in findings.provenance.settings}
    weights = stated.get("calibration.weights", "none")
    sets = [_release(folder / name, weights) for name in names]
    if sets[-1].n_samples != findings.results.n_samples:
        reason = f"it is of {findings.results.n_samples} proteins, {folder}/{names[-1]} of others."
        raise refuse(found_in, reason, "Run again: credence run.")
    troves = {
        release.name: pair for release, pair in zip(releases[1:], pairwise(sets), strict=True)
    }
    return FigureSource(labelled=sets[-1], findings=findings, troves=troves)


def _release(folder: Path, weights: str) -> Labelled:
    files = LabelledFiles(
        tables=[str(folder / "samples.parquet")],
        format_="credence",
        spec_json="{}",
        groups=str(folder / "groups.tsv"),
        clusters=None,
    )
    return in_order_of_ids(files.open().calibrating(weights).labelled)


def draw_figures(
    out: str,
    *,
    found_in: str | None = None,
    records: str | None = None,
    only: str | None = None,
    formats: str = "pdf,svg,png",
    columns: str = "both",
) -> None:
    """Write figures of a run or of records, each with its numbers and caption, and a table."""
    if (found_in is None) == (records is None):
        remedy = "Give --findings of a run, or --records."
        raise refuse("--findings", "exactly one source of figures is needed.", remedy)
    problems: list[Problem] = []
    known_kinds = {name: name for name in writing_figures.FIGURE_FORMATS}
    kinds = _named(formats, known_kinds, "--formats", "format", problems)
    figures: Sequence[FigureSpec | FigureRecord] = FIGURES
    known = FiguresRecord(figures=())
    if records is not None:
        known = read_record(FiguresRecord, Path(records), MAKE_AGAIN)
        figures = known.figures
    if only is not None:
        by_key = {key: figure for figure in figures for key in _keys(figure)}
        figures = _named(only, by_key, "--only", "figure", problems)
    raise_any(problems)
    if found_in is not None:
        chosen = [figure for figure in figures if isinstance(figure, FigureSpec)]
        known = _made(_of_run(found_in), chosen)
    numbers = {figure.number for figure in figures}
    made = [figure for figure in known.figures if figure.number in numbers]
    if only is not None:
        reason, remedy = "figure {} needs {}, which is not there.", "Leave {} out of --only."
        lacking, where = [figure for figure in made if figure.lacks], str(found_in or records)
        raise_any(
            Problem(
                where=where,
                what=reason.format(figure.number, figure.lacks),
                remedy=remedy.format(figure.number),
            )
            for figure in lacking
        )
    if found_in is not None:
        write_record(Path(out) / RECORDS, known)
    rows = []
    for figure in each(made, len(made)):
        note, files = "", []
        if figure.lacks:
            note = f"Not made. It needs {figure.lacks}, which is not there."
            echo(f"Figure {figure.number} ({figure.name}): {note}")
        else:
            files = _draw(figure, known.is_simulated, Path(out), kinds, JOURNAL_WIDTHS[columns])
        row = (figure.number, figure.name, figure.shows, figure.caption, " ".join(files), note)
        rows.append(row)
    names = ("figure", "name", "shows", "caption", "files", "note")
    table = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    write_table(Path(out) / FIGURE_INDEX, table, spreadsheet_safe=True)
    n_made = sum(not figure.lacks for figure in made)
    echo(f"Wrote {plural(n_made, 'figure')} to {out}")


def _keys(figure: FigureSpec | FigureRecord) -> tuple[str, ...]:
    stem = f"{figure.number}-{figure.name}"
    return figure.number, figure.number.lstrip("0"), figure.name, stem


def _named(
    text: str, known: Mapping[str, Any], option: str, noun: str, problems: list[Problem]
) -> list[Any]:
    """Return what is named, each once and in the order known; note what is not."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        reason = f"it names no {noun}."
        problems.append(
            Problem(where=option, what=reason, remedy=f"Name some: {', '.join(list(known)[:3])}.")
        )
    shown = [getattr(entry, "number", entry) for entry in dict.fromkeys(known.values())]
    for word in words:
        if word not in known:
            close = nearest(word, [name for name in known if not name[0].isdigit()])
            remedy = close if close.startswith("Did") else f"Known are: {', '.join(shown)}."
            problems.append(
                Problem(where=option, what=f"there is no {noun} {word!r}.", remedy=remedy)
            )
    named = [known[word] for word in words if word in known]
    return [entry for entry in dict.fromkeys(known.values()) if entry in named]


def _draw(
    figure: FigureRecord,
    is_simulated: bool,
    folder: Path,
    formats: list[Any],
    widths: Iterable[int],
) -> list[str]:
    names = [f"{figure.stem}.tsv", f"{figure.stem}.txt"]
    write_table(folder / names[0], writing_figures.figure_columns(figure), spreadsheet_safe=True)
    write_text(folder / names[1], figure.caption + "\n")
    for part in writing_figures.parts_of(figure, widths):
        drawn = writing_figures.drawing(figure, part, is_simulated=is_simulated)
        for format_ in formats:
            names.append(f"{figure.stem}-{part.suffix}.{format_}")
            with open_output(folder / names[-1]) as handle:
                handle.write(writing_figures.rendered(drawn, format_))
    return names
