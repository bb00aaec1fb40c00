"""The stage `shift`: the composition of a use-set, and what it changes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import numpy as np

from credence.calibrators.method_spec import Specification, parse_method
from credence.calibrators.protocol import Calibration, FitOptions, Need
from credence.composition import both_samples, estimate, estimators
from credence.composition.adjusted import shifted, with_reach
from credence.composition.diagnostics import diagnose
from credence.composition.sameness import SketchCounts, sketch_of
from credence.composition.summary import Corrected, shift_curves, summarise_shift
from credence.draws import keys_of
from credence.findings import ShiftFinding, Threshold
from credence.lists.held_out import HeldOut, held_out_of, mix_draws
from credence.lists.thresholds import Wanted, corrected_thresholds
from credence.predictions import Floats, Labelled, Predictions
from credence.problems import nearest, raise_any, refuse
from credence.progress import Progress, echo
from credence.sentences import warning_of
from credence.stages import reading
from credence.stages.settings import CalibrationSettings, Settings, ShiftSettings
from credence.tables import stage_files
from credence.tables.contract import CompositionTable, named_columns
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables
from credence.tables.samples import Samples
from credence.tables.writing import TableWriter, check_table_ending

STATED = "stated"
Pieces = Iterable[tuple[str, Samples]]  # of a use-set, each with its table


def shift_tables(
    tables: Sequence[str],
    out: str,
    settings: Settings,
    samples: str,
    format_: str | None,
    spec_json: str,
    samples_format: str | None,
    samples_spec: str,
    groups: str | None,
    clusters: str | None,
    calibration: str | None,
    method: str | None,
    name: str,
    record: str | None,
    also: str | None,
    spreadsheet_safe: bool,
    six_decimals: bool,
) -> None:
    """Estimate the composition of tables and write it, and the calibration corrected for it."""
    reading.require_other((out, also, record), [*tables, samples, groups, clusters, calibration])
    for table in filter(None, (out, also)):
        check_table_ending(Path(table))
    reading.json_settings(spec_json, "--spec")  # refused before anything that takes time
    shift = with_stated(settings.shift)
    known = reading.LabelledFiles(
        tables=[samples],
        format_=samples_format,
        spec_json=samples_spec,
        groups=groups,
        clusters=clusters,
        option="--samples-spec",
    )
    file = None if calibration is None else stage_files.read_calibration(Path(calibration))
    reading.require_combined(file, tables)
    labelled = known.open(file).calibrating(settings.calibration.weights).labelled
    # Before anything that takes time: what is stated wrongly is refused at once.
    if shift.composition is not None:
        estimators.stated_share(shift.composition, labelled.predictions.class_names, "--stated")
    settings = replace(settings, shift=shift)
    chosen, plain = _method(method, calibration, file, labelled, samples, shift_options(settings))
    spec = reading.stated_spec(tables, format_, spec_json, file=file)
    parts = _parts(tables, spec, labelled.predictions)
    name = name or Path(tables[0]).stem
    made = find_shift(labelled, parts, chosen, plain, settings, name, tables[0])
    digest = "" if file is None else stage_files.fitted_digest(file)
    names = tuple(Path(table).name for table in tables)
    made = replace(made, calibration=digest, tables=names)
    finding = made.finding
    how: Any = {"spreadsheet_safe": spreadsheet_safe, "in_six_decimals": six_decimals}
    columns = named_columns(composition_table(finding))
    with ExitStack() as stack:  # all of them, or none
        for path in map(Path, filter(None, (out, also))):
            stack.enter_context(TableWriter(path, list(columns), **how)).write(columns)
        if record is not None:
            stage_files.SHIFT_FILES.write(Path(record), made)
    largest = max(finding.classes, key=lambda entry: abs(entry.share - entry.calibration_share))
    echo(
        f"Wrote {out}: {finding.n_use} protein{'s' * (finding.n_use != 1)} by "
        f"{finding.estimator}; "
        f"{largest.class_name} {largest.share:.3f} for {largest.calibration_share:.3f} "
        "in calibration."
    )
    for sentence in (*finding.remarks, *finding.sentences):
        echo(sentence)
    if finding.sameness is not None and finding.sameness.is_changed:
        echo(f"{finding.name}: {warning_of(finding.sameness)}.")


def shift_options(settings: Settings) -> FitOptions:
    """Return what is asked of intervals; level and draws are calibration's where not given."""
    calibration, shift = settings.calibration, settings.shift
    level = calibration.level if shift.level is None else shift.level
    draws = calibration.draws if shift.draws is None else shift.draws
    return FitOptions(min_positives=calibration.min_positives, level=level, n_draws=draws)


def find_shift(
    labelled: Labelled,
    parts: Pieces,
    method: Specification,
    plain: Calibration,
    settings: Settings,
    name: str,
    where: str,
) -> stage_files.ShiftFile:
    """Return what is found of a use-set, given piece by piece, and the corrected calibration."""
    options, shift = shift_options(settings), settings.shift
    sketch = sketch_of(labelled)
    look = None if sketch is None else SketchCounts(sketch, labelled.predictions.class_names)
    estimator, sample, use, error = _summed(labelled, parts, look, shift.method, where)
    if estimator.estimate is not None:
        composition = estimate.estimate_composition(sample, use, estimator, options)
    else:
        stated, names = shift.composition, labelled.predictions.class_names
        share = None if stated is None else estimators.stated_share(stated, names, "--stated")
        composition = estimate.fixed_composition(sample, share)
    moved = shifted(labelled, composition.fit_weight)
    calibration, unseen = method.fit_and_hold_out(moved, options)
    corrected = Corrected(
        sample=sample,
        use=use,
        composition=composition,
        diagnostics=diagnose(sample, use, composition, options),
        plain=plain,
        adjusted=with_reach(calibration, sample, composition, options),
        by_score=not method.needs.is_vector,
    )
    finding = replace(
        summarise_shift(name, estimator.name, method.text, corrected, options, error),
        curves=shift_curves(corrected),
        reference=estimator.reference,
        thresholds=_thresholds(labelled, composition, settings, options),
        sameness=None if look is None else look.found(),
    )
    return stage_files.ShiftFile(
        method_spec=finding.method,
        class_names=labelled.predictions.class_names,
        scale=float(labelled.predictions.scale),
        finding=finding,
        adjusted=corrected.adjusted,
        held_out=_held_out(moved, unseen, composition),
    )


def _held_out(moved: Labelled, unseen: Floats, composition: estimate.Composition) -> HeldOut:
    """Return what proteins held out show at the estimated mix, even where less is applied."""
    weights = (composition.estimated_weight, composition.fit_weight)
    weight, used = map(np.nan_to_num, weights)
    part = np.divide(weight, used, out=np.ones_like(used), where=used > 0)
    whole = moved.reweighted(moved.weight * part[moved.true_class])
    return held_out_of(whole, unseen, mix_draws(weight, composition.weight_draws))


def _thresholds(
    labelled: Labelled, composition: estimate.Composition, settings: Settings, options: FitOptions
) -> tuple[Threshold, ...]:
    """Return thresholds on the score at the estimated proportions, for which lists are, too."""
    if labelled.predictions.top_score is None:
        return ()
    wanted = Wanted(
        precision=settings.lists.precision,
        certainty=settings.lists.certainty,
        level=options.level,
        n_draws=options.n_draws,
        is_guaranteed=False,
    )
    moved = shifted(labelled, np.nan_to_num(composition.estimated_weight))
    return corrected_thresholds(moved, None, wanted, ())


def _summed(
    labelled: Labelled, parts: Pieces, look: SketchCounts | None, wanted: str, where: str
) -> tuple[estimators.Estimator, both_samples.CalibrationSample, both_samples.UseSample, float]:
    """Return estimator, both sets summed up, and what gathering rows changes in shares."""
    rest = iter(parts)
    head = next(rest, None)
    if head is None:
        raise refuse(where, "no protein has scores.", "Give a table with scores.")
    first = head[1].predictions
    both = labelled.predictions.has_vectors and first.has_vectors
    estimator = estimators.estimator_for(wanted, both)
    sample = both_samples.calibration_sample(labelled, estimator.needs.is_vector)

    def summed(table: str, samples: Samples) -> both_samples.UseSample:
        if look is not None:
            look.add(samples.predictions)
        if sample.model is not None and not samples.predictions.has_vectors:
            fault = f"{estimator.name!r} needs the score of every class."
            raise refuse(table, fault, "Give --estimator bbse_hard.")
        ids, genome = samples.predictions.ids, samples.genome
        # A protein of none that is named counts by itself.
        key = None if genome is None else keys_of(np.where(genome == "", ids, genome))
        return both_samples.use_sample(samples.predictions, sample.model, genome=key)

    use = reduce(both_samples.both_parts, starmap(summed, chain([head], rest)))
    return estimator, sample, use, estimate.compression_error(sample, first, use, estimator)


def with_stated(shift: ShiftSettings) -> ShiftSettings:
    """Return settings whose method is `stated` where shares are; refuse one without the other."""
    if shift.method not in estimators.ESTIMATOR_NAMES:
        fault = f"{shift.method!r} is not an estimator of a composition."
        raise refuse("--estimator", fault, nearest(shift.method, estimators.ESTIMATOR_NAMES))
    if shift.composition is None:
        if shift.method == STATED:
            fault = "no composition is given."
            raise refuse("--stated", fault, "Give --stated '{\"class\": share}'.")
        return shift
    if shift.method not in ("auto", STATED):
        fault = f"a composition is stated, and the estimator is {shift.method!r}."
        raise refuse("--stated", fault, "Give --estimator stated, or leave --stated out.")
    return replace(shift, method=STATED)


def _method(
    method: str | None,
    calibration: str | None,
    file: stage_files.CalibrationFile | None,
    labelled: Labelled,
    where: str,
    options: FitOptions,
) -> tuple[Specification, Calibration]:
    """Return the method to correct, and its calibration by the labelled set as it is."""
    if file is None:
        chosen = parse_method(method or CalibrationSettings().method, "--method")
        require_correctable(chosen, "--method")
        known = labelled.predictions
        raise_any(stage_files.need_problems(chosen.text, chosen.needs, known, where))
        return chosen, chosen.build(options).fit(labelled)
    chosen = parse_method(file.method_spec, str(calibration))
    require_correctable(chosen, str(calibration))
    reading.require_fitted_on(file, labelled, where, str(calibration))
    if method is not None and parse_method(method, "--method").text != chosen.text:
        fault = f"{method!r} is not the calibration's method, {chosen.text!r}."
        raise refuse("--method", fault, "Leave --method out.")
    return chosen, file.calibration


def require_correctable(method: Specification, where: str) -> None:
    """Refuse a method whose confidences are not corrected for a composition."""
    if method.needs is Need.PLACE:
        fault = f"{method.text!r} gives no interval and cannot be corrected for a composition."
        raise refuse(where, fault, "Give another method, as --method kernel.")


def _parts(
    tables: Sequence[str], spec: TableSpec, known: Predictions
) -> Iterator[tuple[str, Samples]]:
    """Yield pieces of the use-set that have scores; refuse one of another scale."""
    spec = reading.as_calibrated(spec, known.class_names, known.scale)
    with Progress("shift", "proteins") as progress:
        for table, samples in stream_tables(tables, spec):
            part = samples.predictions
            if part.scale != known.scale:
                fault = f"its scale is {part.scale:g}, the calibration set's is {known.scale:g}."
                remedy = "Give scores of the classifier that was calibrated, on the same scale."
                raise refuse(table, fault, remedy)
            progress.add(part.n_samples)
            if part.n_samples > 0:
                yield table, samples


def composition_table(finding: ShiftFinding) -> CompositionTable:
    """Return the rows of the file of the composition."""
    classes = finding.classes
    return CompositionTable(
        class_=np.array([entry.class_name for entry in classes], dtype=object),
        calibration_share=np.array([entry.calibration_share for entry in classes], dtype=float),
        use_share=np.array([entry.share for entry in classes], dtype=float),
        lower=np.array([entry.lower for entry in classes], dtype=float),
        upper=np.array([entry.upper for entry in classes], dtype=float),
        weight=np.array([entry.weight for entry in classes], dtype=float),
        applied_share=np.array([entry.applied for entry in classes], dtype=float),
    )
