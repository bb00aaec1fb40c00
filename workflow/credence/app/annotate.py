"""``credence annotate``: a confidence for every prediction of a table."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import (
    also_option,
    file_options,
    match_option,
    out_option,
    spreadsheet_option,
    table_options,
    tables_argument,
)


@click.command(
    epilog="Example: credence annotate demo/use.csv --calibration c.json --out conf.tsv"
)
@tables_argument
@file_options(
    calibration="What credence fit wrote.",
    release="In its place: name or folder of a release of the run.",
)
@click.option(
    "--config",
    default="config.yaml",
    show_default=True,
    help="The configuration of that run; read with the name of a release only.",
)
@table_options
@file_options(
    shift="What credence shift wrote with --record.",
    events="What credence events wrote of the same set.",
    evidence="What those events need of these proteins beside scores, as in credence events.",
    novelty="What credence novelty wrote: how far each protein is from those.",
    proteins="With it: FASTA file of the proteins of TABLE.",
    vectors="In place of --proteins: their vectors, npz or Parquet.",
)
@match_option
@file_options(novelty_record="Also write what was found of novelty, as JSON.")
@click.option("--name", default="use", help="What to call TABLE there.")
@click.option(
    "--part",
    metavar="K/N",
    help="Only the rows of one part of N, for several machines; credence gather joins them.",
)
@click.option("--check", "summary", help="What credence check wrote of TABLE; read with --part.")
@spreadsheet_option
@also_option
@out_option("The confidences: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(calibration: str | None, release: str | None, config: str, **given: Any) -> None:
    """Give every prediction of TABLE its confidence, in the table's order.

    Needs nothing but the table and a calibration file. Tables of any size:
    they are read piece by piece.
    """
    from credence.app.configuration import named_calibration
    from credence.stages.annotate import annotate_tables

    annotate_tables(calibration=named_calibration(calibration, release, config), **given)
