"""``credence split``: whole clusters into groups, each protein with a role."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from credence.app.options import (
    file_options,
    match_option,
    out_option,
    settings_options,
    table_options,
    tables_argument,
    threads_option,
)


@click.command(
    epilog="Example: credence split demo/calibration.csv --format phanns-labelled "
    "--clusters clusters.tsv --training demo/training.fasta --proteins demo/proteins.fasta "
    "--audit --out groups.tsv"
)
@tables_argument
@table_options
@file_options(
    clusters="Table of clusters; without it each protein is its own.",
    training="FASTA file of the classifier's training set.",
    relatives="Table of training relatives, from credence cluster.",
    proteins="FASTA file of the table's proteins, for the audit.",
)
@match_option
@settings_options("split")
@threads_option
@file_options(summary="Also write what the page says of the split, as JSON.")
@out_option("The groups: id, cluster, group, role, reason.")
@click.pass_context
def command(context: click.Context, /, **given: Any) -> None:
    """Put whole clusters into groups, with every class's share alike.

    Proteins of TABLE calibrate, but for relatives of training proteins, which
    are set aside with their reason. An audit says who has a relative in
    another group; it needs sequences.
    """
    from credence.stages.split import split_tables

    written = ParameterSource.COMMANDLINE
    asked = [
        name
        for name in ("audit", "strict")
        if context.get_parameter_source(f"split_{name}") is written
    ]
    split_tables(**given, asked=asked)
