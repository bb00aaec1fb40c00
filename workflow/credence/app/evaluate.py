"""``credence evaluate``: methods judged in sample and held out."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import (
    file_options,
    group_options,
    out_option,
    settings_options,
    table_options,
    tables_argument,
)


@click.command(
    epilog="Example: credence evaluate demo/calibration.csv --format phanns-labelled "
    "--calibration c.json --metrics metrics.tsv --out findings.json"
)
@tables_argument
@table_options
@click.option(
    "--calibration",
    "calibrations",
    multiple=True,
    required=True,
    help="What credence fit wrote from this table; once for each method.",
)
@group_options
@click.option(
    "--held-out",
    multiple=True,
    help="What credence crossfit wrote of one of the methods; other methods are fitted here.",
)
@file_options(
    novelty="What credence novelty wrote, for methods that ask where proteins lie.",
    chosen="Method of the published confidences; else the first.",
)
@click.option("--check", "summary", help="What credence check wrote of this table.")
@click.option("--attached", multiple=True, help="attach.json of a trove in it; each once.")
@click.option(
    "--resample",
    type=click.Choice(["cluster", "row"]),
    default="cluster",
    show_default=True,
    help="What intervals of metrics draw; row takes relatives for independent, to show how "
    "wrong that is.",
)
@settings_options("evaluate")
@click.option("--metrics", help="Also write the metrics as a table.")
@out_option("The findings, a JSON file; credence report makes a page of it.")
def command(**given: Any) -> None:
    """Judge methods on proteins that did not fit them.

    Each method is fitted again without one fold of whole clusters after the
    other; the numbers called held-out are of proteins left out.
    """
    from credence.stages.evaluate import evaluate_tables

    evaluate_tables(**given)
