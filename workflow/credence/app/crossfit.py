"""``credence crossfit``: one method on proteins that did not fit it."""

from __future__ import annotations

from pathlib import Path

import click

from credence.app.shared import min_positives_option, out_option, set_options, table_options


@click.command(
    epilog="Example: credence crossfit demo/calibration.csv --format phanns-labelled "
    "--calibration c.json --out held_out.parquet"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--calibration", required=True, help="What credence fit wrote from this table.")
@set_options
@min_positives_option
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Parts of whole clusters that are left out in turn.",
)
@out_option("What it says of every protein held out, a .parquet file.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    calibration: str,
    groups: str | None,
    clusters: str | None,
    weights: str,
    min_positives: float,
    folds: int,
    out: str,
) -> None:
    """Fit the method of a calibration without one fold after the other.

    The slow part of credence evaluate, for one method: several machines can do
    it for several methods. Give what it writes to evaluate with --held-out.
    """
    from credence.calibrators.crossfit import fold_of
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions
    from credence.evaluation.held_out import cross_fit
    from credence.stages.evaluate import facts_of, judged_set, read_calibrations, samples_of
    from credence.stages.reading import json_settings, require_other, table_spec
    from credence.tables.stage_files import check_held_out_ending, write_held_out_file

    require_other(out, [*tables, calibration, groups, clusters])
    check_held_out_ending(Path(out))
    files = read_calibrations([calibration])
    ((name, file),) = files.items()
    stated = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    samples = samples_of(tables, stated, files)
    labelled = judged_set(samples, tables[0], groups, clusters, weights).labelled
    calibrator = parse_method(name, "--calibration").build(FitOptions(min_positives, 0.95, 0))
    fold = fold_of(labelled.cluster, labelled.predictions.predicted_class, folds)
    confidences, vectors = cross_fit(labelled, {name: calibrator}, fold)
    stated_there = confidences[name], vectors.get(name)
    write_held_out_file(Path(out), name, *stated_there, labelled, facts_of(folds, min_positives))
    n_samples = labelled.n_samples
    click.echo(f"Wrote {out}: {file.method_spec}, {n_samples} proteins, {folds} folds.", err=True)
