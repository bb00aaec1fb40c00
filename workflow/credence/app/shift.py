"""``credence shift``: the composition of a use-set, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import also_option, fit_options, out_option, set_options, table_options

if TYPE_CHECKING:
    from credence.calibrators.method_spec import Specification
    from credence.calibrators.protocol import Calibration, FitOptions
    from credence.composition.adjusted import AdjustedCalibration
    from credence.composition.both_samples import CalibrationSample, UseSample
    from credence.composition.estimate import Composition
    from credence.composition.estimator import Estimator
    from credence.findings.use_sets import ShiftFinding
    from credence.predictions import Floats, Labelled, Predictions
    from credence.tables.samples import Samples
    from credence.tables.table_spec import TableSpec


@click.command(
    epilog="Example: credence shift demo/use.csv --samples demo/calibration.csv "
    "--samples-format phanns-labelled --out composition.tsv --record shift.json"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option("--samples", required=True, help="The labelled table that calibrates.")
@click.option("--samples-format", help="Its format.")
@click.option(
    "--samples-spec", default="{}", help="How it is read, as JSON: as --spec, for --samples."
)
@set_options
@click.option("--calibration", help="What credence fit wrote: the method to correct.")
@click.option("--method", help="Method to correct, without a calibration; else kernel.")
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
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before names that a spreadsheet would take for a formula.",
)
@also_option
@out_option("The composition: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    samples: str,
    samples_format: str | None,
    samples_spec: str,
    groups: str | None,
    clusters: str | None,
    weights: str,
    calibration: str | None,
    method: str | None,
    estimator: str,
    stated_json: str | None,
    name: str,
    min_positives: float,
    level: float,
    draws: int,
    record: str | None,
    spreadsheet_safe: bool,
    also: str | None,
    out: str,
) -> None:
    """Estimate how frequent the classes are in TABLE, whose classes are unknown.

    Only the mix of the classes may differ from the calibration set's; whether
    that is so is tested, and said. Tables of any size: they are read piece by
    piece.
    """
    from credence.calibrators.protocol import FitOptions
    from credence.composition.estimators import stated_share
    from credence.stages.reading import (
        calibration_set,
        json_settings,
        read_set,
        require_other,
        table_spec,
    )

    inputs = [*tables, samples, groups, clusters, calibration]
    for written in filter(None, (out, also, record)):
        require_other(written, inputs)
    estimator, stated = _stated(estimator, stated_json)
    labelled = calibration_set(
        read_set([samples], _samples_spec(samples, samples_format, samples_spec, calibration)),
        samples,
        groups,
        clusters,
        weights,
    ).labelled
    # Before anything that takes time: a wrong composition is told at once.
    names = labelled.predictions.class_names
    share = None if stated is None else stated_share(stated, names, "--stated")
    options = FitOptions(min_positives, level, draws)
    method_fit = _method(method, calibration, labelled, samples, options)
    spec = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    use = _UseTables(tables, spec, labelled, estimator)
    found, adjusted = _find(use, method_fit, share, name or Path(tables[0]).stem, options)
    for written in filter(None, (out, also)):
        _write_table(written, found, spreadsheet_safe)
    if record is not None:
        _write_record(record, found, adjusted, labelled)
    _notify(out, found)


def _samples_spec(
    samples: str, format_: str | None, spec_json: str, calibration: str | None
) -> TableSpec:
    """Return how the labelled table is read; the scale is that of the calibration."""
    from dataclasses import replace

    from credence.stages.reading import as_calibrated, json_settings, table_spec
    from credence.tables.calibration_file import read_calibration

    stated = table_spec([samples], format_, json_settings(spec_json, "--samples-spec"))
    if calibration is None:
        return stated
    file = read_calibration(Path(calibration))
    as_known = as_calibrated(stated, file.class_names, file.scale)
    return replace(as_known, class_names=stated.class_names)


def _stated(estimator: str, stated_json: str | None) -> tuple[str, Mapping[str, Any] | None]:
    """Return the estimator and the stated composition; refuse one without the other."""
    from credence.problems import refuse
    from credence.stages.reading import json_settings

    if stated_json is None:
        if estimator == "stated":
            raise refuse(
                "--stated", "no composition is given.", "Give --stated '{\"class\": share}'."
            )
        return estimator, None
    if estimator not in ("auto", "stated"):
        what = f"a composition is stated, and the estimator is {estimator!r}."
        raise refuse("--stated", what, "Give --estimator stated, or leave --stated out.")
    return "stated", json_settings(stated_json, "--stated")


@dataclass(frozen=True, eq=False)
class _MethodFit:
    """The method to correct, as fitted to the calibration set as it is."""

    specification: Specification
    plain: Calibration


def _method(
    method: str | None,
    calibration: str | None,
    labelled: Labelled,
    where: str,
    options: FitOptions,
) -> _MethodFit:
    from credence.calibrators.method_spec import parse_method
    from credence.problems import InputError, refuse
    from credence.tables.calibration_file import need_problems, read_calibration, require_match

    if calibration is None:
        specification = parse_method(method or "kernel", "--method")
        _require_correctable(specification, "--method")
        needs = specification.needs
        problems = need_problems(specification.text, needs, labelled.predictions, where)
        if problems:
            raise InputError(problems)
        return _MethodFit(specification, specification.build(options).fit(labelled))
    file = read_calibration(Path(calibration))
    specification = parse_method(file.method_spec, calibration)
    _require_correctable(specification, calibration)
    require_match(file, labelled.predictions, where)
    if method is not None and parse_method(method, "--method").text != specification.text:
        raise refuse(
            "--method",
            f"{method!r} is not the calibration's method, {specification.text!r}.",
            "Leave --method out.",
        )
    return _MethodFit(specification, file.calibration)


def _require_correctable(specification: Specification, where: str) -> None:
    """Refuse a method whose confidences are not corrected for a composition."""
    from credence.calibrators.protocol import Need
    from credence.problems import refuse

    if specification.needs is Need.PLACE:
        raise refuse(
            where,
            f"{specification.text!r} gives no interval and cannot be corrected for a composition.",
            "Give another method, as --method kernel.",
        )


@dataclass(frozen=True, eq=False)
class _UseTables:
    """The tables of a use-set, read piece by piece."""

    tables: Sequence[str]
    spec: TableSpec
    labelled: Labelled
    estimator: str

    def parts(self) -> Iterator[tuple[str, Samples]]:
        """Yield pieces with scores; refuse one of another scale."""
        from credence.app.progress import Progress
        from credence.problems import refuse
        from credence.stages.reading import as_calibrated
        from credence.tables.joining import stream_tables

        known = self.labelled.predictions
        spec = as_calibrated(self.spec, known.class_names, known.scale)
        with Progress("shift", "proteins") as progress:
            for table, samples in stream_tables(self.tables, spec):
                part = samples.predictions
                if part.scale != known.scale:
                    raise refuse(
                        table,
                        f"its scale is {part.scale:g}, the calibration set's is {known.scale:g}.",
                        "Give scores of the classifier that was calibrated, on the same scale.",
                    )
                progress.add(part.n_samples)
                if part.n_samples > 0:
                    yield table, samples

    def summed(self) -> tuple[Estimator, CalibrationSample, UseSample, float]:
        """Return estimator, both sides, and what gathering rows changes in shares."""
        from credence.composition.both_samples import calibration_sample, together, use_sample
        from credence.composition.estimate import compression_error
        from credence.composition.estimators import estimator_for, has_vectors
        from credence.draws import keys_of
        from credence.problems import refuse

        chosen: Estimator | None = None
        side: CalibrationSample | None = None
        use: UseSample | None = None
        first: Predictions | None = None
        for table, samples in self.parts():
            part = samples.predictions
            if side is None or chosen is None:
                both = has_vectors(self.labelled.predictions) and has_vectors(part)
                chosen = estimator_for(self.estimator, both)
                side = calibration_sample(self.labelled, chosen.needs.is_vector)
                first = part
            if side.model is not None and not has_vectors(part):
                raise refuse(
                    table,
                    f"{chosen.name!r} needs the score of every class.",
                    "Give --estimator bbse_hard.",
                )
            genome = None if samples.genome is None else keys_of(samples.genome)
            summed = use_sample(part, side.model, genome=genome)
            use = summed if use is None else together(use, summed)
        if chosen is None or side is None or use is None or first is None:
            raise refuse(self.tables[0], "no protein has scores.", "Give a table with scores.")
        return chosen, side, use, compression_error(side, first, use, chosen)


def _composition(
    chosen: Estimator,
    side: CalibrationSample,
    use: UseSample,
    share: Floats | None,
    options: FitOptions,
) -> Composition:
    from credence.composition.estimate import estimate_composition, fixed_composition

    if chosen.estimate is not None:
        return estimate_composition(side, use, chosen, options)
    return fixed_composition(side, share)


def _find(
    use_tables: _UseTables,
    method: _MethodFit,
    share: Floats | None,
    name: str,
    options: FitOptions,
) -> tuple[ShiftFinding, AdjustedCalibration]:
    from dataclasses import replace

    from credence.composition.adjusted import adjust
    from credence.composition.diagnostics import diagnose
    from credence.composition.summary import Corrected, summarise_shift
    from credence.composition.what_if import curves_of

    chosen, side, use, error = use_tables.summed()
    composition = _composition(chosen, side, use, share, options)
    specification = method.specification
    corrected = Corrected(
        side,
        use,
        composition,
        diagnose(side, use, composition, options),
        method.plain,
        adjust(side, specification.build(options), composition, options),
        not specification.needs.is_vector and not specification.text.startswith("auto"),
    )
    found = summarise_shift(name, chosen.name, specification.text, corrected, options, error)
    return replace(found, curves=curves_of(corrected)), corrected.adjusted


def _write_table(out: str, found: ShiftFinding, spreadsheet_safe: bool) -> None:
    import numpy as np

    from credence.tables.contract import CompositionTable, write_contract

    def column(field: str) -> Any:
        values = [getattr(entry, field) for entry in found.classes]
        return np.array(values, dtype=object if field == "class_name" else np.float64)

    fields = ("class_name", "calibration_share", "share", "lower", "upper", "weight", "applied")
    write_contract(
        Path(out),
        CompositionTable(*(column(field) for field in fields)),
        spreadsheet_safe=spreadsheet_safe,
    )


def _write_record(
    record: str, found: ShiftFinding, adjusted: AdjustedCalibration, labelled: Labelled
) -> None:
    from credence.findings import to_record
    from credence.tables.stage_files import ShiftFile, write_shift

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


def _notify(out: str, found: ShiftFinding) -> None:
    largest = max(found.classes, key=lambda entry: abs(entry.share - entry.calibration_share))
    click.echo(
        f"Wrote {out}: {found.n_use} proteins by {found.estimator}; {largest.class_name} "
        f"{largest.share:.3f} for {largest.calibration_share:.3f} in calibration.",
        err=True,
    )
    for sentence in (*found.remarks, *found.sentences):
        click.echo(sentence, err=True)
