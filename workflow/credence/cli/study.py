"""``credence study``: what a question about method costs, answered on your own table."""

from __future__ import annotations

from pathlib import Path

import click

from credence.cli import study_novelty
from credence.cli.shared import out_option, set_options, table_options

LEAST_CLUSTERS = 2  # one for each half


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
@click.option("--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to.")
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
    scale: float | None,
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
    from credence.cli.tables import calibration_set, in_order_of_ids, read_set, table_spec
    from credence.cli.values import json_settings, require_other
    from credence.evaluation.notices import plural
    from credence.evaluation.two_sets import measure_halves, summarise_draws
    from credence.problems import InputError, refuse
    from credence.tables.calibration_match import need_problems
    from credence.tables.writing import check_table_ending, write_table

    require_other(out, [*tables, groups, clusters])
    check_table_ending(Path(out))
    settings = dict(json_settings(spec_json, "--spec"))
    if scale is not None:
        settings["scale"] = scale
    samples = read_set(tables, table_spec(tables, format_, settings))
    specifications = {
        entry.text: entry for entry in (parse_method(m, "--method") for m in methods)
    }
    missing = [
        problem
        for text, entry in specifications.items()
        for problem in need_problems(text, entry.needs, samples.predictions, tables[0])
    ]
    if missing:
        raise InputError(missing)
    chosen = calibration_set(samples, tables[0], groups, clusters, weights)
    labelled = in_order_of_ids(chosen.labelled)
    if len(set(labelled.cluster.tolist())) < LEAST_CLUSTERS:
        raise refuse(
            clusters or groups or tables[0],
            "all proteins are of one cluster, and no cluster is divided.",
            "Give proteins of at least two.",
        )
    options = FitOptions(min_positives, n_draws=0)
    calibrators = {text: entry.build(options) for text, entry in specifications.items()}
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
    counts = f"{plural(len(calibrators), 'method')}, {plural(draws, 'draw')}"
    click.echo(f"Wrote {out}: {counts}.", err=True)


command.add_command(study_novelty.command)
