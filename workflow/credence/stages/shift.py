"""The stage `shift`: the composition of a query set, and what it changes."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import reduce
from itertools import chain, starmap
from pathlib import Path
from typing import Any

import numpy as np

from credence.calibrators.protocol import FitOptions, Need
from credence.composition import both_samples, estimate, estimators
from credence.composition.adjusted import correction_for
from credence.composition.diagnostics import diagnose
from credence.composition.sameness import SketchCounts
from credence.composition.summary import Corrected, shift_curves, summarise_shift
from credence.draws import keys_of
from credence.evaluation.corrected import judged_at_proportions
from credence.findings import ShiftFinding, Threshold
from credence.lists.held_out import corrected_held_out
from credence.lists.thresholds import ON_SCORE, Ranked, Wanted, thresholds_of
from credence.problems import nearest, refuse
from credence.progress import Progress, echo
from credence.sentences import sentences_of_mix, warning_of
from credence.stages import reading
from credence.stages.settings import Settings, ShiftSettings
from credence.tables import stage_files
from credence.tables.contract import CompositionTable, named_columns
from credence.tables.formats import TableSpec
from credence.tables.joining import stream_tables
from credence.tables.samples import Samples
from credence.tables.writing import TableWriter, check_table_ending

STATED = "stated"
Pieces = Iterable[tuple[str, Samples]]  # of a query set, each with its table


def shift_tables(
    tables: Sequence[str],
    out: str,
    settings: Settings,
    calibration: str,
    format_: str | None,
    spec_json: str,
    name: str,
    record: str | None,
    also: str | None,
    spreadsheet_safe: bool,
    six_decimals: bool,
) -> None:
    """Estimate the composition of tables and write it, and what corrects confidences for it."""
    reading.require_other((out, also, record), [*tables, calibration])
    for table in filter(None, (out, also)):
        check_table_ending(Path(table))
    reading.json_settings(spec_json, "--spec")  # refused before anything that takes time
    shift = with_stated(settings.shift)
    file = stage_files.read_calibration(Path(calibration))
    reading.require_combined(file, tables)
    # Before anything that takes time: what is stated wrongly is refused at once.
    if shift.class_proportions is not None:
        estimators.stated_share(shift.class_proportions, file.class_names, "--stated")
    require_correctable(file, calibration, shift)
    spec = reading.stated_spec(tables, format_, spec_json, file=file)
    parts = _parts(tables, spec, file)
    name = name or Path(tables[0]).stem
    made = find_shift(file, parts, replace(settings, shift=shift), name, tables[0])
    made = replace(made, tables=tuple(Path(table).name for table in tables))
    finding = made.finding
    how: Any = {"spreadsheet_safe": spreadsheet_safe, "in_six_decimals": six_decimals}
    columns = named_columns(composition_table(finding))
    with ExitStack() as stack:  # all of them, or none
        for path in map(Path, filter(None, (out, also))):
            stack.enter_context(TableWriter(path, list(columns), **how)).write(columns)
        if record is not None:
            stage_files.SHIFT_FILES.write(Path(record), made)
    echo(f"Wrote {out}: {in_one_line(finding)}.")
    for sentence in sentences_of_mix(finding):
        echo(sentence)
    if finding.sameness is not None and finding.sameness.is_changed:
        echo(f"{finding.name}: {warning_of(finding.sameness)}.")


MOST_NAMED = 3  # classes whose shares are said in one line


def in_one_line(finding: ShiftFinding) -> str:
    """Return the shares that differ most from calibration's, with their intervals."""
    order = sorted(
        finding.classes, key=lambda entry: -abs(entry.share - entry.calibration_proportion)
    )
    shares = [
        f"{entry.class_name} {100 * entry.share:.0f} % "
        + f"({100 * entry.lower:.0f}–{100 * entry.upper:.0f}; " * (entry.upper > entry.lower)
        + "(" * (not entry.upper > entry.lower)
        + f"calibration set {100 * entry.calibration_proportion:.0f} %)"
        for entry in order[:MOST_NAMED]
    ]
    how = "stated" if finding.estimator == STATED else f"estimated by {finding.estimator}"
    n = f"{finding.n_query:,} protein{'s' * (finding.n_query != 1)}"
    further = ", …" if len(order) > MOST_NAMED else ""
    return f"class proportions of {n}, {how}: {', '.join(shares)}{further}"


def shift_options(file: stage_files.CalibrationFile, settings: ShiftSettings) -> FitOptions:
    """Return what is asked of intervals; as in the calibration where it is not given."""
    options = FitOptions(**file.settings.get("options", {}))
    level = options.level if settings.level is None else settings.level
    draws = options.n_draws if settings.resamples is None else settings.resamples
    return replace(options, level=level, n_draws=draws)


def find_shift(
    file: stage_files.CalibrationFile, parts: Pieces, settings: Settings, name: str, where: str
) -> stage_files.ShiftFile:
    """Return what is found of a query set, given piece by piece, and what corrects confidences."""
    assert file.sample is not None  # see `require_correctable`
    options = shift_options(file, settings.shift)
    look = None if file.sketch is None else SketchCounts(file.sketch, file.class_names)
    estimator, sample, use, error = _summed(file.sample, parts, look, settings.shift.method, where)
    is_too_few = estimator.estimate is not None and use.n_rows < estimate.FEWEST_ROWS
    if is_too_few:
        estimator = estimators.ESTIMATORS_BY_NAME["none"]
    if estimator.estimate is not None:
        composition = estimate.estimate_composition(sample, use, estimator, options)
    else:
        stated, names = settings.shift.class_proportions, file.class_names
        share = None if stated is None else estimators.stated_share(stated, names, "--stated")
        composition = estimate.fixed_composition(sample, share)
    corrected = Corrected(
        sample=file.sample,
        use=use,
        composition=composition,
        diagnostics=diagnose(sample, use, composition, options),
        plain=file.calibration,
        correction=correction_for(sample, composition, options.level),
        by_score=not file.needs.is_vector and file.sample.model is None,
    )
    finding = replace(
        summarise_shift(name, estimator.name, file.method_spec, corrected, options, error),
        curves=shift_curves(corrected),
        reference=estimator.reference,
        thresholds=_thresholds(file.sample, composition, settings, options),
        doubts=replace(
            corrected.diagnostics.doubts,
            n_too_few=use.n_rows if is_too_few else 0,
            n_needed=estimate.FEWEST_ROWS if is_too_few else 0,
            is_assumed=sample.is_assumed,
        ),
        sameness=None if look is None else look.found(),
        judged=judged_at_proportions(
            file.sample, corrected.correction.weight, options.level, options.n_draws
        ),
    )
    return stage_files.ShiftFile(
        method_spec=file.method_spec,
        class_names=file.class_names,
        scale=float(file.scale),
        finding=finding,
        correction=corrected.correction,
        held_out=corrected_held_out(file.sample, composition),
        calibration=stage_files.fitted_digest(file),
    )


def _thresholds(
    sample: both_samples.CalibrationSample,
    composition: estimate.Composition,
    settings: Settings,
    options: FitOptions,
) -> tuple[Threshold, ...]:
    """Return thresholds on the score at the estimated proportions, for which lists are, too."""
    if not sample.has_scores:
        return ()
    lists = settings.lists
    edges = np.arange(both_samples.N_DENSITY_BINS) * sample.scale / both_samples.N_DENSITY_BINS
    counted = sample.weight * np.nan_to_num(composition.estimated_weight)[sample.true_class]
    ranked = Ranked(
        on=ON_SCORE,
        value=edges[sample.score_bin],
        grid=edges[::-1],
        predicted=sample.predicted_class,
        true=sample.true_class,
        weight=counted,
        cluster=sample.unit_key[sample.unit].astype(str).astype(object),
        family=sample.unit,
        order=np.arange(len(counted)),
    )
    wanted = Wanted(
        precision=lists.precision,
        certainty=lists.certainty,
        level=options.level,
        n_draws=options.n_draws,
        is_guaranteed=False,
    )
    return thresholds_of([ranked.take(np.flatnonzero(counted > 0))], sample.class_names, wanted)


def _summed(
    known: both_samples.CalibrationSample,
    parts: Pieces,
    look: SketchCounts | None,
    wanted: str,
    where: str,
) -> tuple[estimators.Estimator, both_samples.CalibrationSample, both_samples.UseSample, float]:
    """Return estimator, both sets summed up, and what gathering rows changes in shares."""
    rest = iter(parts)
    head = next(rest, None)
    if head is None:
        raise refuse(where, "no protein has scores.", "Give a table with scores.")
    first = head[1].predictions
    both = known.model is not None and first.has_vectors
    estimator = estimators.estimator_for(wanted, both)
    sample = known if estimator.needs.is_vector else known.without_vectors

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
        fault = f"{shift.method!r} is not an estimator of class proportions."
        raise refuse("--estimator", fault, nearest(shift.method, estimators.ESTIMATOR_NAMES))
    if shift.class_proportions is None:
        if shift.method == STATED:
            fault = "no class proportions are given."
            raise refuse("--stated", fault, "Give --stated '{\"class\": share}'.")
        return shift
    if shift.method not in ("auto", STATED):
        fault = f"class proportions are stated, and the estimator is {shift.method!r}."
        raise refuse("--stated", fault, "Give --estimator stated, or leave --stated out.")
    return replace(shift, method=STATED)


NO_SAMPLE = (
    "it does not say how many calibration proteins each class has (counts say it in their column "
    "'members')"
)
OF_CALLS = "its proteins have several labels, whose shares do not sum to one"
FROM_COUNTS = (
    "its counts do not say which classes the wrong predictions truly belong to, so class "
    "proportions cannot be estimated"
)


def require_correctable(
    file: stage_files.CalibrationFile, where: str, shift: ShiftSettings
) -> None:
    """Refuse a calibration whose confidences cannot be corrected for class proportions."""
    if not (reason := why_uncorrectable(file, shift)):
        return
    remedy = "Fit again to labelled tables, or to counts with 'members': credence fit."
    if reason == OF_CALLS:
        remedy = "Calibrate with proteins like these, or fit to the best label of each."
    elif reason == FROM_COUNTS:
        remedy = "State them: --stated '{\"class\": share}'."
    raise refuse(where, f"{reason}.", remedy)


def why_uncorrectable(file: stage_files.CalibrationFile, shift: ShiftSettings) -> str:
    """Return why confidences cannot be corrected for other class proportions; '' if they can."""
    if file.is_of_calls:
        return OF_CALLS
    if file.sample is None:
        return NO_SAMPLE
    if file.sample.is_assumed and shift.method not in (STATED, "none"):
        return FROM_COUNTS
    if file.needs is Need.PLACE:
        return (
            f"{file.method_spec!r} gives no interval and cannot be corrected for class proportions"
        )
    return ""


def _parts(
    tables: Sequence[str], spec: TableSpec, known: stage_files.CalibrationFile
) -> Iterator[tuple[str, Samples]]:
    """Yield pieces of the query set that have scores; refuse one of another scale."""
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
        calibration_proportion=np.array(
            [entry.calibration_proportion for entry in classes], dtype=float
        ),
        query_proportion=np.array([entry.share for entry in classes], dtype=float),
        lower=np.array([entry.lower for entry in classes], dtype=float),
        upper=np.array([entry.upper for entry in classes], dtype=float),
        weight=np.array([entry.weight for entry in classes], dtype=float),
        applied_proportion=np.array([entry.applied for entry in classes], dtype=float),
    )
