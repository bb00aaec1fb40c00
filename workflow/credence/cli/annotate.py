"""``credence annotate``: a confidence for every prediction of a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.cli.shared import out_option, table_options

if TYPE_CHECKING:
    from credence.tables.calibration_file import CalibrationFile
    from credence.tables.samples import Samples
    from credence.tables.spec import TableSpec


@click.command(
    epilog="Example: credence annotate demo/use.csv --calibration c.json --out conf.tsv"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--calibration", required=True, help="What credence fit wrote.")
@table_options
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before ids that a spreadsheet would take for a formula.",
)
@out_option("The confidences: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(
    tables: tuple[str, ...],
    calibration: str,
    format_: str | None,
    spec_json: str,
    spreadsheet_safe: bool,
    out: str,
) -> None:
    """Give every prediction of TABLE its confidence, in the table's order.

    Needs nothing but the table and a calibration file. Tables of any size:
    they are read piece by piece.
    """
    from credence.cli.progress import Progress
    from credence.cli.tables import table_spec
    from credence.cli.values import json_settings
    from credence.tables.calibration_file import read_calibration, require_match
    from credence.tables.contract import CONFIDENCE_NAMES, confidence_columns
    from credence.tables.writing import TableWriter

    file = read_calibration(Path(calibration))
    spec = for_calibration(table_spec(tables, format_, json_settings(spec_json, "--spec")), file)
    n_unknown = 0
    with (
        Progress("annotate", "proteins") as progress,
        TableWriter(Path(out), CONFIDENCE_NAMES, spreadsheet_safe=spreadsheet_safe) as writer,
    ):
        for where, samples in _stream(tables, spec):
            require_match(file, samples.predictions, where)
            confidence = file.calibration.confidence(samples.predictions)
            n_unknown += int((confidence.value != confidence.value).sum())
            writer.write(confidence_columns(samples.predictions, confidence, file.method_spec))
            progress.add(samples.predictions.n_samples)
        n_samples = progress.done
    click.echo(f"Wrote {out}: {n_samples} proteins, {n_unknown} without a confidence.", err=True)


def for_calibration(spec: TableSpec, file: CalibrationFile) -> TableSpec:
    """Return how a table is read that a calibration is to annotate.

    The classes are those of the calibration, in its order; and the scale, where
    neither the user nor the format states one.

    Parameters
    ----------
    spec : TableSpec
        As the user states it.
    file : CalibrationFile
        What is to give the confidences.
    """
    from dataclasses import replace

    from credence.tables.formats.registry import BY_NAME

    scale = spec.scale
    if scale is None and spec.format in BY_NAME and BY_NAME[spec.format].scale is None:
        scale = file.scale
    return replace(spec, class_names=file.class_names, scale=scale)


def _stream(tables: tuple[str, ...], spec: TableSpec) -> Iterator[tuple[str, Samples]]:
    """Yield pieces of all tables; refuse an id that an earlier table has."""
    from credence.problems import InputError, Problem
    from credence.tables.samples import stream_samples

    seen: dict[Any, str] = {}
    for table in tables:
        for samples in stream_samples(Path(table), spec):
            if len(tables) > 1:
                problems = [
                    Problem(
                        table,
                        f"{id_!r} stands in {seen[id_]} too.",
                        "Remove one of the two.",
                        line,
                    )
                    for id_, line in zip(
                        samples.predictions.ids, samples.lines.tolist(), strict=True
                    )
                    if id_ in seen
                ]
                if problems:
                    raise InputError(problems)
            yield table, samples
            if table != tables[-1]:
                seen.update(dict.fromkeys(samples.predictions.ids, table))
