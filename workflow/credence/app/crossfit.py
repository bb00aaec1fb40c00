"""``credence crossfit``: one method on proteins that did not fit it."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import (
    group_options,
    out_option,
    settings_options,
    table_options,
    tables_argument,
)


@click.command(
    epilog="Example: credence crossfit demo/calibration.csv --format phanns-labelled "
    "--calibration c.json --out held_out.parquet"
)
@tables_argument
@table_options
@click.option("--calibration", required=True, help="What credence fit wrote from this table.")
@group_options
@settings_options("crossfit")
@out_option("What it says of every protein held out, a .parquet file.")
def command(**given: Any) -> None:
    """Fit the method of a calibration without one fold after the other.

    The slow part of credence evaluate, for one method: several machines can do
    it for several methods. Give what it writes to evaluate with --held-out.
    """
    from credence.stages.evaluate import crossfit_tables

    crossfit_tables(**given)
