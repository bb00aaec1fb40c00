"""``credence shift``: the composition of a use-set, and what it changes."""

from __future__ import annotations

from typing import Any

import click

from credence.app import options


@click.command(
    epilog="Example: credence shift demo/use.csv --samples demo/calibration.csv "
    "--samples-format phanns-labelled --out composition.tsv --record shift.json"
)
@options.tables_argument
@options.table_options
@click.option("--samples", required=True, help="The labelled table that calibrates.")
@options.file_options(samples_format="Its format.")
@click.option("--samples-spec", default="{}", help="How it is read, as JSON: as --spec.")
@options.group_options
@options.file_options(
    calibration="What credence fit wrote: the method to correct.",
    method="Method to correct, without a calibration; else kernel.",
    record="Also write all that was found, for credence annotate --shift.",
)
@click.option("--name", default="", help="Name of the use-set on the page.")
@options.settings_options("shift")
@options.spreadsheet_option
@options.also_option
@options.out_option("The composition: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(**given: Any) -> None:
    """Estimate how frequent the classes are in TABLE, whose classes are unknown.

    Only the mix of the classes may differ from the calibration set's; whether
    that is so is tested, and reported. Tables of any size: they are read piece
    by piece.
    """
    from credence.stages.shift import shift_tables

    shift_tables(**given)
