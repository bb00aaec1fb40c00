"""The stage `fit`: from labelled predictions to a calibration file."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from credence.calibrators.crossfit import DEFAULT_FOLDS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.both_samples import calibration_sample
from credence.composition.from_counts import assumed_true_classes
from credence.composition.sameness import sketch_of
from credence.lists.held_out import held_out_of
from credence.predictions import Floats, Integers, Labelled
from credence.problems import Problem, in_one_line, raise_any, refuse
from credence.progress import echo
from credence.records import read_record
from credence.releases.files import set_digest
from credence.sentences import FAMILIES_UNKNOWN
from credence.sets.conformal import SetOptions, families_needed, fit_sets
from credence.stages import reading
from credence.stages.settings import CalibrationSettings, SetsSettings, Settings
from credence.tables import stage_files
from credence.tables.counts import FORMAT as COUNTS
from credence.tables.counts import read_counts
from credence.tables.digests import sha256_of
from credence.tables.joining import census_of
from credence.tools.combining import Combination

COMBINE_AGAIN = "Combine again: credence combine."
NO_SEQUENCES: Mapping[str, str] = MappingProxyType({})
GIVE_CLUSTERS = (
    "Give --clusters or --groups; credence cluster makes the one of a FASTA file, credence split "
    "the other."
)


def fit_files(
    given: reading.LabelledFiles,
    out: str,
    settings: Settings,
    proteins: Sequence[str],
    match: str,
    tools: str | None,
    design_effect: float | None,
    held_out: str | None,
    read_as: str | None,
) -> None:
    """Open labelled tables, fit one method to them, and write the calibration."""
    files = [*given.files, *proteins]
    reading.require_other((out, held_out), [*files, tools])
    parse_method(settings.calibration.method, "--method")  # refused before anything is read
    if given.format_ == COUNTS:
        further = {
            "--clusters": given.clusters,
            "--groups": given.groups,
            "--held-out": held_out,
            "--labels": given.labels,
            "--novelty": given.novelty,
            "--proteins": proteins,
            "--tools": tools,
            "--spec": given.spec_json != "{}",
            "--logits": given.logits,
        }
        _require_counts_alone(given.tables, [name for name, value in further.items() if value])
        _fit_counts(given.tables[0], given.scale, out, settings, design_effect or 1.0)
        return
    if design_effect is not None:
        remedy = "Leave it out; relatives are known by --clusters or --groups."
        raise refuse("--design-effect", f"it is for --format {COUNTS}.", remedy)
    stated = None if read_as is None else reading.spec_of(read_as, "--read-as")
    known = given.open()
    if stated is not None:
        known = replace(known, read_as=reading.to_remember(stated))
    fitted = fit_tables(known, settings, reading.read_sequences(proteins, match))
    is_release = given.groups is not None and len(given.tables) == 1
    file = replace(
        fitted.file,
        inputs={name: sha256_of(Path(path)) for name, path in _names(files)},
        release=set_digest(Path(known.where), Path(str(given.groups))) if is_release else None,
        tools=None if tools is None else read_record(Combination, Path(tools), COMBINE_AGAIN),
    )
    stage_files.write_calibration(Path(out), file)
    if held_out is not None:
        stage_files.HELD_OUT_FILES.write(Path(held_out), fitted.held_out_file(settings))
    for notice in (*sets_notices(file, settings.sets), *census_of(known.samples).notices()):
        echo(f"{known.where}: {notice}.")
    if file.counts["relatives"] == reading.RELATIVES_UNKNOWN:
        echo(f"{out}: {FAMILIES_UNKNOWN}. {GIVE_CLUSTERS}")
    _echo_written(out, file)


def _require_counts_alone(tables: Sequence[str], options: Sequence[str]) -> None:
    """Refuse whatever is given beside one table of counts."""
    problems = [
        Problem(
            where=option, what="counts name no proteins and no columns.", remedy="Leave it out."
        )
        for option in options
    ]
    problems += [
        Problem(
            where=table,
            what="only one table of counts can be given.",
            remedy="Add up its counts and those of the first.",
        )
        for table in tables[1:2]
    ]
    raise_any(problems)


def _fit_counts(
    table: str, scale: float | None, out: str, settings: Settings, design_effect: float
) -> None:
    """Fit one method to a table of counts, and write the calibration."""
    counted = read_counts(Path(table), scale, design_effect)
    file = counts_calibration(
        counted.labelled, settings, table, design_effect, members=counted.members
    )
    file = replace(file, inputs={Path(table).name: sha256_of(Path(table))})
    stage_files.write_calibration(Path(out), file)
    echo(f"{out}: {file.counts['relatives']}.")
    if scale is None:
        taken = f"the greatest possible score is taken to be {file.scale:g}, the highest here"
        echo(f"{table}: {taken}. Else state it: --scale.")
    _echo_written(out, file)


def _echo_written(out: str, file: stage_files.CalibrationFile) -> None:
    classes, units = in_one_line(file.class_names), "calls" if file.is_of_calls else "proteins"
    summary = f"{file.method_spec}, from {file.counts['n']} {units}, for the classes {classes}"
    echo(f"Wrote {out}: {summary}.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """One method, fitted to the proteins that calibrate."""

    file: stage_files.CalibrationFile
    labelled: Labelled  # Those proteins
    held_out: Floats  # Their confidences, by fits without the cluster of each

    def held_out_file(self, settings: Settings) -> stage_files.HeldOutFile:
        """Return what others need in order not to find the held-out confidences again."""
        order = reading.order_of_ids(self.labelled)
        least = settings.calibration.min_positives
        return stage_files.HeldOutFile(
            method=self.file.method_spec,
            set=stage_files.labelled_digest(self.labelled.take(order)),
            facts={"folds": DEFAULT_FOLDS, "min_positives": least},
            confidence=self.held_out[order],
        )


def fit_tables(
    known: reading.LabelledTables, settings: Settings, sequences: Mapping[str, str] = NO_SEQUENCES
) -> Fitted:
    """Return one method fitted to those proteins of labelled tables that calibrate."""
    chosen = known.calibrating(settings.calibration.weights)
    fitted = fit_chosen(chosen, settings, known.where, sequences)
    return replace(fitted, file=replace(fitted.file, read_as=known.read_as))


def counts_calibration(
    labelled: Labelled,
    settings: Settings,
    where: str,
    design_effect: float = 1.0,
    *,
    members: Integers | None = None,
) -> stage_files.CalibrationFile:
    """Return one method fitted to predictions that have no names, the wrong ones no true class.

    With the members of each class it can be corrected for class proportions that are stated.
    """
    chosen = reading.CalibrationSet(labelled=labelled, set_aside={})
    fitted = fit_chosen(chosen, settings, where)
    sample = None
    if members is not None:
        assumed = replace(labelled, true_class=assumed_true_classes(labelled, members))
        sample = replace(calibration_sample(assumed, False, fitted.held_out), is_assumed=True)
    file = replace(fitted.file, sample=sample)
    relatives = reading.RELATIVES_UNKNOWN
    if design_effect > 1.0:
        relatives = f"{design_effect:g} proteins count as one family, as was stated"
    return replace(file, counts={**file.counts, "relatives": relatives}, known=None)


def fit_chosen(
    chosen: reading.CalibrationSet,
    settings: Settings,
    where: str,
    sequences: Mapping[str, str] = NO_SEQUENCES,
) -> Fitted:
    """Return one method fitted to the proteins that calibrate, of the table `where`."""
    method = parse_method(settings.calibration.method, "--method")
    labelled = chosen.labelled
    predictions = labelled.predictions
    raise_any(stage_files.need_problems(method.text, method.needs, predictions, where))
    options = fit_options(settings.calibration)
    sets = None
    if settings.sets.level is not None and predictions.scores is not None:
        sets = fit_sets(labelled, SetOptions(level=settings.sets.level, kind=settings.sets.kind))  # type: ignore[arg-type]
    calibration, held_out = method.fit_and_hold_out(labelled, options)
    sample = None
    if (labelled.true_class >= 0).all():
        sample = calibration_sample(labelled, predictions.has_vectors, held_out)
    counts = reading.counts_of(labelled)
    is_known = counts["n_clusters"] < counts["n"]
    file = stage_files.CalibrationFile(
        calibration=calibration,
        method_spec=method.text,
        class_names=predictions.class_names,
        scale=predictions.scale,
        resolution=predictions.resolution,
        counts={
            **counts,
            "n_set_aside": sum(chosen.set_aside.values()),
            "weights": settings.calibration.weights,
            "relatives": reading.RELATIVES_KNOWN if is_known else reading.RELATIVES_UNKNOWN,
        },
        settings=stage_files.settings_record(method, options),
        sets=sets,
        known=stage_files.known_proteins(predictions.ids, sequences),
        sketch=None if sample is None else sketch_of(labelled),
        held_out=held_out_of(labelled, held_out),
        sample=sample,
    )
    return Fitted(file=file, labelled=labelled, held_out=held_out)


def fit_options(settings: CalibrationSettings) -> FitOptions:
    """Return what every calibrator is given beside its own settings."""
    return FitOptions(
        min_positives=settings.min_positives, level=settings.level, n_draws=settings.resamples
    )


def sets_notices(file: stage_files.CalibrationFile, settings: SetsSettings) -> list[str]:
    """Return why there are no prediction sets, and which classes lack a threshold of their own."""
    if settings.level is None:
        return []
    if file.sets is None:
        return ["only the top score is known, so no prediction sets"]
    sets, needed = file.sets, families_needed(settings.level)
    n_known = dict(zip(file.class_names, (x.n_clusters for x in sets.ladders), strict=True))
    always = [name for name, end in zip(n_known, sets.limits(), strict=True) if end == np.inf]
    notices = []
    if pooled := sets.names_in_pool():
        lending = _with_numbers(sets.names_in_pool(lending=True), n_known)
        lent = f" with the families of {lending}" if lending else ""
        notices.append(
            f"prediction sets: a class needs {needed} families for a threshold of its own; these "
            f"have fewer and share one threshold{lent}: {_with_numbers(pooled, n_known)}"
        )
    if always:
        why = f"classes with fewer than the {needed} families needed are in every prediction set"
        notices.append(f"{why}: {_with_numbers(always, n_known)}")
    return notices


def _with_numbers(names: Sequence[str], numbers: Mapping[str, int]) -> str:
    """Return names, each with its number."""
    return ", ".join(f"{name} ({numbers[name]})" for name in names)


def _names(paths: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file, or its path where two have one name."""
    names = [Path(path).name for path in paths]
    for name, path in zip(names, paths, strict=True):
        yield (name if names.count(name) == 1 else path), path
