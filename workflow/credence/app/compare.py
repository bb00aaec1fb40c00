"""``credence compare``: what changed from one release to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import table_options

if TYPE_CHECKING:
    from credence.findings.releases import ReleaseStep
    from credence.predictions import Predictions
    from credence.releases.reading import Source


@click.command(
    epilog="Example: credence compare results/demo/releases/00-base "
    "results/demo/releases/01-htj --out changes.tsv --page changes.html"
)
@click.argument("older")
@click.argument("newer")
@click.option("--table", help="A score table: compare the confidences of its proteins.")
@table_options
@click.option("--method", help="Method compared, where both have several.")
@click.option("--classes", help="Also write the changes by class, as a table.")
@click.option("--page", help="Also make a page of them, one HTML file.")
@click.option("--record", help="Also write all that was found, as JSON.")
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before ids that a spreadsheet would take for a formula.",
)
@click.option(
    "--out", help="Confidences before and after by protein: .tsv, .tsv.gz, .tsv.zst or .parquet."
)
def command(
    older: str,
    newer: str,
    table: str | None,
    format_: str | None,
    spec_json: str,
    method: str | None,
    classes: str | None,
    page: str | None,
    record: str | None,
    spreadsheet_safe: bool,
    out: str | None,
) -> None:
    """Say what changed from OLDER to NEWER, two releases of a calibration set.

    Both are folders of releases, or calibration files: these have counts,
    bandwidths and curves; what moved a confidence, metrics and drift need the
    proteins, which the folders of results/ hold.
    """
    from credence.releases.compare import compare
    from credence.releases.reading import read_pair, release_data
    from credence.stages.reading import require_other
    from credence.tables.writing import check_table_ending, write_json, write_table, write_text

    written = [path for path in (out, classes, page, record) if path is not None]
    _require_outputs(written)
    for path in written:
        require_other(path, [older, newer, table])
    for table_path in filter(None, (out, classes)):
        check_table_ending(Path(table_path))
    sources = read_pair(Path(older), Path(newer), method)
    if out is not None and table is None and not sources[1].has_proteins:
        _refuse_without_proteins(newer)
    asked = None if table is None else _asked(table, format_, spec_json, sources)
    first, second = (release_data(source) for source in sources)
    step, proteins = compare(first, second, _how(sources[1]), asked)
    if out is not None:
        assert proteins is not None
        write_table(Path(out), proteins.columns(), spreadsheet_safe=spreadsheet_safe)
    if classes is not None:
        write_table(Path(classes), _class_columns(step), spreadsheet_safe=spreadsheet_safe)
    if record is not None:
        write_json(Path(record), step)
    if page is not None:
        write_text(Path(page), _page(step))
    for sentence in step.sentences:
        click.echo(sentence, err=True)
    click.echo(f"Wrote {', '.join(written)}.", err=True)


def _require_outputs(written: list[str]) -> None:
    from credence.problems import InputError, Problem, refuse

    if not written:
        raise refuse(
            "credence compare", "nothing is to be written.",
            "Give --out, --classes, --page or --record.",
        )  # fmt: skip
    twice = {path for path in written if written.count(path) > 1}
    if twice:
        raise InputError(
            Problem(path, "two outputs are to be written here.", "Give each a name of its own.")
            for path in sorted(twice)
        )


def _refuse_without_proteins(newer: str) -> None:
    from credence.problems import refuse

    raise refuse(
        newer,
        "there are no proteins here whose confidences could be compared.",
        "Give a score table with --table, or the release's folder in results/; "
        "--classes and --page need no proteins.",
    )


def _how(source: Source) -> Any:
    from dataclasses import replace

    from credence.calibrators.method_spec import parse_method
    from credence.releases.compare import Comparison
    from credence.releases.reading import options_of

    file, options = source.file, options_of(source.file)
    return Comparison(
        method=file.method_spec,
        calibrator=parse_method(file.method_spec, "--method").build(replace(options, n_draws=0)),
        class_names=file.class_names,
        scale=file.scale,
        resolution=file.resolution,
        options=options,
    )


def _asked(
    table: str, format_: str | None, spec_json: str, sources: tuple[Source, Source]
) -> Predictions:
    from credence.stages.reading import as_calibrated, json_settings, read_set, table_spec
    from credence.tables.calibration_file import require_match

    file = sources[1].file
    spec = table_spec([table], format_, json_settings(spec_json, "--spec"))
    predictions = read_set([table], as_calibrated(spec, file.class_names, file.scale)).predictions
    require_match(file, predictions, table)
    return predictions


def _class_columns(step: ReleaseStep) -> dict[str, list[Any]]:
    """Return the table of changes by class."""
    columns: dict[str, list[Any]] = {}

    def add(name: str, value: Any) -> None:
        columns.setdefault(name, []).append(value)

    names = list(dict.fromkeys(part.name for entry in step.classes for part in entry.parameters))
    for entry in step.classes:
        add("class", entry.class_name)
        for name in ("n_true", "n_predicted", "n_correct", "n_clusters"):
            pair = getattr(entry, name)
            add(f"{name}_before", pair[0])
            add(f"{name}_after", pair[1])
        chosen = {part.name: part for part in entry.parameters}
        for name in names:
            part = chosen.get(name)
            add(f"{name}_before", float("nan") if part is None else part.before)
            add(f"{name}_after", float("nan") if part is None else part.after)
        add("score", entry.score)
        for word, change in (("confidence", entry.change), ("share", entry.share)):
            for key in (
                "before", "fixed", "after",
                "total", "total_lower", "total_upper",
                "evidence", "evidence_lower", "evidence_upper",
                "composition", "composition_lower", "composition_upper",
            ):  # fmt: skip
                add(f"{word}_{key}", float("nan") if change is None else getattr(change, key))
        add("said", entry.sentence)
    return columns


def _page(step: ReleaseStep) -> str:
    from credence import __version__
    from credence.findings import Provenance
    from credence.report.html import render_sections
    from credence.report.sections.releases import sections_of_step

    names = f"{step.older.name} → {step.newer.name}"
    provenance = Provenance(run=names, title="What changed", credence_version=__version__)
    return render_sections(provenance, sections_of_step(step), step.schema)
