"""``credence compare``: what changed from one release to another."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import file_options, spreadsheet_option, table_options


@click.command(
    epilog="Example: credence compare results/demo/releases/00-base "
    "results/demo/releases/01-htj --out changes.tsv --page changes.html"
)
@click.argument("older")
@click.argument("newer")
@file_options(table="A score table: compare the confidences of its proteins.")
@table_options
@click.option("--method", help="Method compared, where both have several.")
@file_options(
    classes="Also write the changes by class, as a table.",
    page="Also make a page of them, one HTML file.",
    record="Also write all that was found, as JSON.",
)
@spreadsheet_option
@file_options(out="Confidences before and after by protein: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(**given: Any) -> None:
    """Say what changed from OLDER to NEWER, two releases of a calibration set.

    Both are folders of releases, or calibration files: these have counts,
    bandwidths and curves; what moved a confidence, metrics and drift need the
    proteins, which the folders of results/ hold.
    """
    from credence.stages.releases import compare_releases

    compare_releases(**given)
