"""``credence fit``: from labelled predictions to a calibration file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import fit_options, out_option, set_options, sets_options, table_options

GIVE_CLUSTERS = (
    "Give --clusters or --groups; credence cluster makes the one of a FASTA file, credence split "
    "the other."
)

if TYPE_CHECKING:
    from credence.sets.conformal import Kind
    from credence.stages.reading import CalibrationSet


@click.command(
    epilog="Example: credence fit demo/calibration.csv --format phanns-labelled "
    "--method kernel --out c.json"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--labels", help="Table of true classes: id and true_class.")
@set_options
@click.option(
    "--novelty", help="What credence novelty wrote, for methods that ask where proteins lie."
)
@click.option(
    "--method",
    default="kernel",
    show_default=True,
    help="Method with settings, like kernel(bandwidth=mon4); see: credence methods.",
)
@click.option("--scale", type=click.FloatRange(0.0, min_open=True), help="What a row sums to.")
@fit_options
@sets_options
@click.option(
    "--keep-masses",
    is_flag=True,
    help="Keep in the file what proteins can be added to, for methods that are sums.",
)
@click.option(
    "--onto",
    help="A calibration with its masses: add TABLE to it, exactly, with its method. None of "
    "TABLE may be a relative of the proteins there. Gives no intervals.",
)
@out_option("The calibration, a JSON file.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    labels: str | None,
    groups: str | None,
    clusters: str | None,
    weights: str,
    novelty: str | None,
    method: str,
    scale: float | None,
    min_positives: float,
    level: float,
    draws: int,
    sets_level: float | None,
    sets_kind: Kind,
    keep_masses: bool,
    onto: str | None,
    out: str,
) -> None:
    """Learn confidences from labelled predictions.

    The proteins must be ones that the classifier never saw in training.
    """
    from credence.app.onto import added_to, method_of, with_masses
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions
    from credence.problems import InputError
    from credence.stages.fit import require_no_sets, sets_of
    from credence.stages.reading import (
        RELATIVES_UNKNOWN,
        calibration_set,
        json_settings,
        read_set,
        require_other,
        table_spec,
        with_labels,
        with_places,
    )
    from credence.tables.calibration_file import (
        CalibrationFile,
        need_problems,
        settings_record,
        write_calibration,
    )
    from credence.tables.digests import sha256_of

    require_other(out, [*tables, labels, groups, clusters, novelty, onto])
    stage = parse_method(method if onto is None else method_of(onto), "--method")
    settings = dict(json_settings(spec_json, "--spec"))
    if scale is not None:
        settings["scale"] = scale
    spec = table_spec(tables, format_, settings)
    samples = read_set(tables, spec)
    if labels is not None:
        samples = with_labels(samples, tables[0], {"table": labels}, None, "first_word", spec)
    samples = with_places(samples, novelty)
    missing = need_problems(stage.text, stage.needs, samples.predictions, tables[0])
    if missing:
        raise InputError(missing)
    chosen = calibration_set(samples, tables[0], groups, clusters, weights)
    labelled = chosen.labelled
    options = FitOptions(min_positives, level, draws)
    predictions = labelled.predictions
    counts = _counts(chosen, weights)
    inputs = [*tables, *(path for path in (labels, groups, clusters, novelty) if path is not None)]
    digests = {name: sha256_of(Path(path)) for name, path in _names(inputs)}
    if onto is not None:
        require_no_sets(sets_level)
        file = added_to(onto, chosen, counts, digests)
    else:
        file = CalibrationFile(
            calibration=stage.build(options).fit(labelled),
            method_spec=stage.text,
            class_names=predictions.class_names,
            scale=predictions.scale,
            resolution=predictions.resolution,
            counts=counts,
            inputs=digests,
            settings=settings_record(stage, options),
            release=_set(tables, groups),
            sets=sets_of(labelled, sets_level, sets_kind, tables[0]),
        )
        file = with_masses(file, chosen) if keep_masses else file
    write_calibration(Path(out), file)
    for notice in samples.notices():
        click.echo(f"{tables[0]}: {notice}.", err=True)
    if counts["relatives"] == RELATIVES_UNKNOWN:
        click.echo(f"{out}: {RELATIVES_UNKNOWN}. {GIVE_CLUSTERS}", err=True)
    click.echo(f"Wrote {out}: {file.method_spec}, from {file.counts['n']} proteins.", err=True)


def _set(tables: Sequence[str], groups: str | None) -> str | None:
    """Return the digest of one table and its groups, by which a release is known."""
    from credence.releases.chain import set_digest

    if groups is None or len(tables) != 1:
        return None
    return set_digest(Path(tables[0]), Path(groups))


def _counts(chosen: CalibrationSet, weights: str) -> dict[str, Any]:
    """Return what the calibration file says of the proteins that it rests on."""
    from credence.stages.reading import RELATIVES_KNOWN, RELATIVES_UNKNOWN

    labelled = chosen.labelled
    n_clusters = len(set(labelled.cluster.tolist()))
    return {
        "n": labelled.n_samples,
        "n_correct": int(labelled.is_correct.sum()),
        "n_clusters": n_clusters,
        "n_set_aside": sum(chosen.set_aside.values()),
        "weights": weights,
        "relatives": RELATIVES_KNOWN if n_clusters < labelled.n_samples else RELATIVES_UNKNOWN,
    }


def _names(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file, or its path where two have one name."""
    names = [Path(path).name for path in paths]
    for name, path in zip(names, paths, strict=True):
        yield (name if names.count(name) == 1 else path), path
