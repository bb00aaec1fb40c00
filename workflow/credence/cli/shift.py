"""``credence shift``: the composition of a use-set, and what it changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.cli.shared import fit_options, out_option, set_options, table_options

if TYPE_CHECKING:
    from credence.calibrators.protocol import FitOptions
    from credence.predictions import Labelled
    from credence.shift.protocol import Estimator
    from credence.shift.sides import CalibrationSide, UseSide
    from credence.tables.spec import TableSpec


@click.command(
    epilog="Example: credence shift demo/use.csv --samples demo/calibration.csv "
    "--samples-format phanns-labelled --out composition.tsv --record shift.json"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--samples", required=True, help="The labelled table that calibrates.")
@click.option("--samples-format", help="Its format.")
@set_options
@click.option("--method", default="kernel", show_default=True, help="Method to correct.")
@click.option(
    "--estimator",
    type=click.Choice(
        ["auto", "none", "stated", "bbse_hard", "bbse_soft", "rlls", "em", "em_matched"]
    ),
    default="auto",
    show_default=True,
    help="What estimates the composition; auto: em_matched, or bbse_hard without vectors.",
)
@click.option("--stated", "stated_json", help="Composition as JSON: {class: share}.")
@click.option("--name", default="", help="Name of the use-set on the page.")
@fit_options
@click.option("--record", help="Also write all that was found, for credence annotate --shift.")
@out_option("The composition: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    samples: str,
    samples_format: str | None,
    groups: str | None,
    clusters: str | None,
    weights: str,
    method: str,
    estimator: str,
    stated_json: str | None,
    name: str,
    min_positives: float,
    level: float,
    draws: int,
    record: str | None,
    out: str,
) -> None:
    """Estimate how frequent the classes are in TABLE, whose classes are unknown.

    Only the mix of the classes may differ from the calibration set's; whether
    that is so is tested, and said. Tables of any size: they are read piece by
    piece.
    """
    from credence.calibrators.protocol import FitOptions
    from credence.cli.tables import calibration_set, read_set, table_spec
    from credence.cli.values import json_settings
    from credence.problems import refuse

    if estimator == "stated" and stated_json is None:
        raise refuse("--stated", "no composition is given.", "Give --stated '{\"class\": share}'.")
    labelled_spec = table_spec([samples], samples_format, {})
    labelled = calibration_set(
        read_set([samples], labelled_spec), samples, groups, clusters, weights
    ).labelled
    spec = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    stated = None if stated_json is None else json_settings(stated_json, "--stated")
    options = FitOptions(min_positives, level, draws)
    found, adjusted = _find(
        tables, spec, labelled, method, estimator, stated, name or Path(tables[0]).stem, options
    )
    _write(out, record, found, adjusted, labelled)
    largest = max(found.classes, key=lambda entry: abs(entry.share - entry.calibration_share))
    click.echo(
        f"Wrote {out}: {found.n_use} proteins by {found.estimator}; {largest.class_name} "
        f"{largest.share:.3f} for {largest.calibration_share:.3f} in calibration.",
        err=True,
    )
    for sentence in found.sentences:
        click.echo(sentence, err=True)


def _find(
    tables: tuple[str, ...],
    spec: TableSpec,
    labelled: Labelled,
    method: str,
    estimator: str,
    stated: Mapping[str, Any] | None,
    name: str,
    options: FitOptions,
) -> tuple[Any, Any]:
    from credence.calibrators.protocol import Need
    from credence.calibrators.spec import parse_method
    from credence.shift.adjusted import adjust
    from credence.shift.composition import estimate_composition, fixed_composition
    from credence.shift.diagnostics import diagnose
    from credence.shift.fixed import stated_share
    from credence.shift.registry import estimator_for, has_vectors
    from credence.shift.sides import calibration_side
    from credence.shift.summary import Corrected, summarise_shift

    stage = parse_method(method, "--method")
    chosen = estimator_for(estimator, has_vectors(labelled.predictions))
    side = calibration_side(labelled, chosen.needs is Need.VECTOR)
    use, error = _read_use(tables, spec, side, chosen)
    if chosen.estimate is None:
        share = None
        if stated is not None:
            share = stated_share(stated, labelled.predictions.class_names, "--stated")
        composition = fixed_composition(side, share)
    else:
        composition = estimate_composition(side, use, chosen, options)
    calibrator = stage.build(options)
    corrected = Corrected(
        side,
        use,
        composition,
        diagnose(side, use, composition, options),
        calibrator.fit(labelled),
        adjust(side, calibrator, composition, options),
        stage.needs is not Need.VECTOR and not stage.text.startswith("auto"),
    )
    found = summarise_shift(name, chosen.name, stage.text, corrected, options, error)
    return found, corrected.adjusted


def _read_use(
    tables: tuple[str, ...], spec: TableSpec, side: CalibrationSide, chosen: Estimator
) -> tuple[UseSide, float]:
    """Return the use-set summed up, and what gathering its rows changes in shares."""
    from credence.cli.progress import Progress
    from credence.cli.tables import as_calibrated
    from credence.problems import refuse
    from credence.shift.compression import compression_error
    from credence.shift.registry import has_vectors
    from credence.shift.sides import together, use_side
    from credence.tables.samples import stream_samples

    predictions = side.labelled.predictions
    spec = as_calibrated(spec, predictions.class_names, predictions.scale)
    use, first = None, None
    with Progress("shift", "proteins") as progress:
        for table in tables:
            for samples in stream_samples(Path(table), spec):
                part = samples.predictions
                if part.scale != predictions.scale:
                    raise refuse(
                        table,
                        f"its scale is {part.scale:g}, the calibration set's is "
                        f"{predictions.scale:g}.",
                        "Give scores of the classifier that was calibrated, on the same scale.",
                    )
                if side.model is not None and not has_vectors(part):
                    raise refuse(
                        table,
                        f"{chosen.name!r} needs the score of every class.",
                        "Give --estimator bbse_hard.",
                    )
                if part.n_samples == 0:
                    continue
                first = part if first is None else first
                summed = use_side(part, side.model)
                use = summed if use is None else together(use, summed)
                progress.add(part.n_samples)
    if use is None or first is None:
        raise refuse(tables[0], "no protein has scores.", "Give a table with scores.")
    return use, compression_error(side, first, use, chosen)


def _write(out: str, record: str | None, found: Any, adjusted: Any, labelled: Labelled) -> None:
    import numpy as np

    from credence.findings import to_record
    from credence.tables.contract import Composition, write_contract
    from credence.tables.shift_file import ShiftFile, write_shift

    def column(field: str) -> Any:
        values = [getattr(entry, field) for entry in found.classes]
        return np.array(values, dtype=object if field == "class_name" else np.float64)

    fields = ("class_name", "calibration_share", "share", "lower", "upper", "weight")
    write_contract(Path(out), Composition(*(column(field) for field in fields)))
    if record is not None:
        predictions = labelled.predictions
        write_shift(
            Path(record),
            ShiftFile(
                found.method,
                predictions.class_names,
                float(predictions.scale),
                to_record(found),
                adjusted,
            ),
        )
