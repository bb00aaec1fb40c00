"""``credence figures``: figures for journals, from what a run found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credence.findings import Findings
    from credence.report.journal import Heat, JournalFigure, PanelGrid

WIDTHS = {"one": (85,), "two": (174,), "both": (85, 174)}
INDEX = "figures.tsv"


@click.command(
    epilog="Example: credence figures --findings findings.json --out figures --formats pdf"
)
@click.option("--findings", "found_in", required=True, help="findings.json of a run.")
@click.option("--out", required=True, help="Folder of the figures; made where it is missing.")
@click.option("--only", help="Numbers or names of figures, with commas: 09,17. All unless given.")
@click.option(
    "--formats",
    default="pdf,svg,png",
    show_default=True,
    help="What is made of each, with commas.",
)
@click.option(
    "--columns",
    type=click.Choice(list(WIDTHS)),
    default="both",
    show_default=True,
    help="Columns of a journal that it fills: one (85 mm), two (174 mm).",
)
def command(found_in: str, out: str, only: str | None, formats: str, columns: str) -> None:
    """Draw the figures that a run's findings allow, each with its numbers as TSV.

    Nothing is computed anew. figures.tsv says what each shows, with a caption,
    and why one is missing.
    """
    from credence.findings import Findings
    from credence.records import read_record
    from credence.report.journal import FORMATS, JOURNAL_FIGURES
    from credence.tables.seals import require_sealed
    from credence.tables.writing import write_table

    asked = only is not None
    problems: list[Any] = []
    kinds = _chosen(formats, {name: name for name in FORMATS}, "--formats", "format", problems)
    known = {
        key: journal_figure for journal_figure in JOURNAL_FIGURES for key in _keys(journal_figure)
    }
    sheets = (
        _chosen(only, known, "--only", "figure", problems) if only is not None else JOURNAL_FIGURES
    )
    _refuse(problems)
    require_sealed(found_in)
    findings = read_record(Findings, Path(found_in), "Give findings.json of a finished run.")
    bodies = [(journal_figure, journal_figure.build(findings)) for journal_figure in sheets]
    if asked:
        _refuse(
            [_lacking(found_in, journal_figure) for journal_figure, body in bodies if body is None]
        )
    rows = []
    for journal_figure, body in bodies:
        files = (
            _write(journal_figure, body, findings, Path(out), kinds, WIDTHS[columns])
            if body
            else []
        )
        note = (
            "" if body else f"Not made. It needs {journal_figure.needs}, which the findings lack."
        )
        caption = body.caption if body else ""
        rows.append(
            (
                journal_figure.number,
                journal_figure.name,
                journal_figure.shows,
                caption,
                " ".join(files),
                note,
            )
        )
        if not body:
            click.echo(f"Figure {journal_figure.number} ({journal_figure.name}): {note}", err=True)
    names = ("figure", "name", "shows", "caption", "files", "note")
    table = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    write_table(Path(out) / INDEX, table, spreadsheet_safe=True)
    n_made = sum(body is not None for _, body in bodies)
    what = "figure" if n_made == 1 else "figures"
    click.echo(f"Wrote {n_made} {what} to {out}", err=True)


def _keys(journal_figure: JournalFigure) -> tuple[str, ...]:
    """Return what a figure answers to: ``09``, ``9``, ``confidence``, its file's name."""
    return (
        journal_figure.number,
        journal_figure.number.lstrip("0"),
        journal_figure.name,
        journal_figure.stem,
    )


def _chosen(
    text: str, known: dict[str, Any], option: str, what: str, problems: list[Any]
) -> Sequence[Any]:
    """Return what is named, each once and in the order known; note what is not."""
    from credence.problems import Problem, nearest

    words = [word.strip() for word in text.split(",") if word.strip()]
    if not words:
        problems.append(
            Problem(option, f"it names no {what}.", f"Name some: {', '.join(list(known)[:3])}.")
        )
    shown = [getattr(entry, "number", entry) for entry in dict.fromkeys(known.values())]
    for word in words:
        if word not in known:
            close = nearest(word, [name for name in known if not name[0].isdigit()])
            remedy = close if close.startswith("Did") else f"Known are: {', '.join(shown)}."
            problems.append(Problem(option, f"there is no {what} {word!r}.", remedy))
    named = [known[word] for word in words if word in known]
    return [entry for entry in dict.fromkeys(known.values()) if entry in named]


def _lacking(found_in: str, journal_figure: JournalFigure) -> Any:
    from credence.problems import Problem

    return Problem(
        found_in,
        f"figure {journal_figure.number} needs {journal_figure.needs}, which is not in it.",
        f"Leave {journal_figure.number} out of --only.",
    )


def _refuse(problems: list[Any]) -> None:
    from credence.problems import InputError

    if problems:
        raise InputError(problems)


def _write(
    journal_figure: JournalFigure,
    body: PanelGrid | Heat,
    findings: Findings,
    folder: Path,
    formats: Sequence[str],
    widths: Sequence[int],
) -> list[str]:
    """Return the names of the files written for one figure."""
    from credence.report.journal import columns_of, drawing, parts_of, rendered
    from credence.tables.writing import open_output, write_table

    names = [f"{journal_figure.stem}.tsv"]
    write_table(folder / names[0], columns_of(body), spreadsheet_safe=True)
    for part in parts_of(body, widths):
        figure = drawing(body, part, is_simulated=findings.provenance.is_simulated)
        for format_ in formats:
            names.append(f"{journal_figure.stem}-{part.suffix}.{format_}")
            with open_output(folder / names[-1]) as handle:
                handle.write(rendered(figure, format_))
    return names
