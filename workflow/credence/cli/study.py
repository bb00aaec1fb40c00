"""``credence study``: what a question about method costs, answered on your own table."""

from __future__ import annotations

from pathlib import Path

import click

from credence.cli.shared import out_option, set_options, table_options


@click.group(epilog="Example: credence study two-sets --help")
def command() -> None:
    """Answer a question of method on a labelled table."""


@command.command(
    "two-sets",
    epilog="Example: credence study two-sets demo/calibration.csv --format phanns-labelled "
    "--method kernel --method isotonic --draws 20 --out two_sets.tsv",
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option(
    "--method",
    "methods",
    multiple=True,
    default=("class_only", "histogram", "kernel", "cumulative_optimal", "isotonic"),
    show_default=True,
    help="A method, as in credence fit; once for each.",
)
@set_options
@click.option(
    "--draws",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="How often the set is halved anew.",
)
@click.option(
    "--min-positives",
    type=click.FloatRange(1.0),
    default=10.0,
    show_default=True,
    help="Below this effective number a class has its overall share only.",
)
@out_option("The table: medians by method, class and metric.")
def two_sets(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    methods: tuple[str, ...],
    groups: str | None,
    clusters: str | None,
    weights: str,
    draws: int,
    min_positives: float,
    out: str,
) -> None:
    """Fit on one half, measure on both: how much in-sample numbers flatter.

    Halves share no cluster; each draw halves the set anew. The table has the
    median of each metric on the fitted half and on the other, and the median
    and the 5 % and 95 % quantiles of their difference.
    """
    from credence.calibrators.protocol import FitOptions
    from credence.calibrators.spec import parse_method
    from credence.cli.progress import Progress
    from credence.cli.tables import calibration_set, read_set, table_spec
    from credence.cli.values import json_settings
    from credence.evaluation.two_sets import measure_halves, summarise_draws
    from credence.tables.writing import write_table

    spec = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    labelled = calibration_set(
        read_set(tables, spec), tables[0], groups, clusters, weights
    ).labelled
    options = FitOptions(min_positives, n_draws=0)
    specifications = [parse_method(text, "--method") for text in methods]
    calibrators = {entry.text: entry.build(options) for entry in specifications}
    found = []
    with Progress("study", "draws", draws) as progress:
        for draw in range(draws):
            found.append(measure_halves(labelled, calibrators, draw))
            progress.add()
    rows = summarise_draws(found)
    write_table(
        Path(out),
        {
            "method": [row.method for row in rows],
            "class": ["all" if row.class_name is None else row.class_name for row in rows],
            "metric": [row.metric for row in rows],
            "in_sample": [row.in_sample for row in rows],
            "held_out": [row.held_out for row in rows],
            "difference": [row.flattery for row in rows],
            "lower": [row.lower for row in rows],
            "upper": [row.upper for row in rows],
            "n_draws": [row.n_draws for row in rows],
        },
    )
    click.echo(f"Wrote {out}: {len(calibrators)} methods, {draws} draws.", err=True)
