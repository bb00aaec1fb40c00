"""``credence fit``: from labelled predictions to a calibration file."""

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
    epilog="Example: credence fit demo/calibration.csv --format phanns-labelled "
    "--method kernel --out c.json"
)
@tables_argument
@table_options
@file_options(labels="Table of true classes: id and true_class.")
@group_options
@file_options(novelty="What credence novelty wrote, for methods that ask where proteins lie.")
@click.option("--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to.")
@settings_options("fit")
@out_option("The calibration, a JSON file.")
def command(**given: Any) -> None:
    """Learn confidences from labelled predictions.

    The proteins must be ones that the classifier never saw in training.
    """
    from credence.stages.fit import fit_tables

    fit_tables(**given)
