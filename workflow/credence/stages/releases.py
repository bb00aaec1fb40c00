"""The stages `release` and `compare`: the record of a release, and what changed in it."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from credence import __version__
from credence.calibrators.crossfit import DEFAULT_FOLDS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.findings import Outcome, Provenance, ReleaseState, ReleaseStep, SetAside
from credence.predictions import Labelled, Predictions, Strings, label
from credence.problems import Problem, gathering, nearest, raise_any, refuse
from credence.progress import echo
from credence.records import from_record, json_text
from credence.relatives.pack import CALIBRATION, SET_ASIDE, TEST
from credence.releases import files
from credence.releases.attaching import ADDED, OUTCOMES
from credence.releases.compare import Comparison, ReleaseData, compare
from credence.report.html import render_sections
from credence.report.release_words import change_sentence, step_sentences
from credence.report.sections.releases import sections_of_step
from credence.stages import reading
from credence.stages.check import read_summary
from credence.tables import writing
from credence.tables.contract import read_groups, write_contract
from credence.tables.digests import sha256_of
from credence.tables.formats import TableSpec
from credence.tables.samples import Samples, read_samples
from credence.tables.stage_files import (
    CalibrationFile,
    read_calibration,
    read_held_out_file,
    refuse_calls,
    require_match,
)

MOST_SET_ASIDE_SHOWN = 5  # proteins named per outcome
SAMPLES, GROUPS, ATTACHED = "samples.parquet", "groups.tsv", "attach.tsv"
ATTACH_SUMMARY = "attach.json"
CALIBRATIONS_FOLDER = "calibrations"
PUBLISHED_CALIBRATION = "calibration.json"  # beside a page, where there is one method
REBUILD = "Derive the release again: credence run."


def record_release(
    name: str,
    out: str,
    samples: str,
    groups: str,
    calibration: str,
    number: int,
    date: str | None,
    parent: str | None,
    samples_format: str | None,
    summary: str | None,
    attached: str | None,
    publish: str | None,
) -> None:
    """Write the record of a release, and what is published of it."""
    reading.require_other((out,), [parent, samples, groups, calibration, summary, attached])
    trove = None if attached is None else files.read_attach_summary(Path(attached))
    made_by = [None if summary is None else read_summary(Path(summary)), trove]
    read = reading.read_set((samples,), reading.table_spec((samples,), samples_format, {}))
    true_class = reading.require_labels(read, samples)
    role, cluster = _places(read, Path(samples), Path(groups))
    calibrates = role == CALIBRATION
    release = files.Release(
        name=name,
        number=number,
        date=date,
        parent=None if parent is None else files.read_release(Path(parent)).digest,
        set=files.set_digest(Path(samples), Path(groups)),
        inputs=tuple(entry for record in made_by if record is not None for entry in record.inputs),
        counts=files.ReleaseCounts(
            n_proteins=read.n_samples,
            n_calibration=int(calibrates.sum()),
            n_clusters=len(set(cluster[calibrates])),
            n_set_aside=int((role == SET_ASIDE).sum()),
            by_class=dict(
                files.counts_by_class(
                    read.predictions.class_names, true_class[calibrates].tolist()
                )
            ),
        ),
        attach=None if trove is None else trove.counts,
        calibrations={Path(calibration).stem: sha256_of(Path(calibration))},
    )
    files.write_release(Path(out), release)
    if publish is not None:
        # What is of use to people, tables safe for a spreadsheet.
        folder = Path(publish)
        write_contract(folder / GROUPS, read_groups(Path(groups)), spreadsheet_safe=True)
        if attached is not None:
            table = files.read_attached(Path(attached).parent / ATTACHED)
            writing.write_table(folder / ATTACHED, table, spreadsheet_safe=True)
        for source, target in ((calibration, PUBLISHED_CALIBRATION), (out, files.FILE)):
            with writing.open_output(folder / target) as handle:
                handle.write(Path(source).read_bytes())
    echo(f"Wrote {out}: {release.counts.n_calibration} proteins calibrate.")


def _places(samples: Samples, where: Path, groups: Path) -> tuple[Any, Any]:
    table = read_groups(groups)
    rows = reading.rows_by_id(samples.predictions.ids, str(where), table.ids, str(groups))
    return table.role[rows], table.cluster[rows]


def compare_releases(
    older: str,
    newer: str,
    table: str | None,
    format_: str | None,
    spec_json: str,
    method: str | None,
    classes: str | None,
    page: str | None,
    record: str | None,
    as_json: bool,
    spreadsheet_safe: bool,
    held_out: str | None,
    out: str | None,
) -> None:
    """Write what changed from one release to another: tables, a page, a record."""
    written = [path for path in (out, classes, page, record) if path is not None]
    if not (written or as_json):
        remedy = "Give --out, --classes, --page, --record or --json."
        raise refuse("credence compare", "nothing is to be written.", remedy)
    raise_any(
        Problem(
            where=path,
            what="two outputs are to be written here.",
            remedy="Give each a name of its own.",
        )
        for path in sorted({path for path in written if written.count(path) > 1})
    )
    reading.require_other(written, [older, newer, table, held_out])
    for table_path in filter(None, (out, classes)):
        writing.check_table_ending(Path(table_path))
    first, second = read_pair(Path(older), Path(newer), method)
    if out is not None and table is None and not second.has_proteins:
        reason = "there are no proteins here whose confidences could be compared."
        remedy = "Give a score table with --table, or the release's folder in results/; "
        raise refuse(newer, reason, f"{remedy}--classes and --page need no proteins.")
    file = second.file
    asked: Predictions | None = None
    unscored = np.empty(0, dtype=object)
    if table is not None:
        spec = reading.stated_spec([table], format_, spec_json, file=file)
        spec = reading.as_calibrated(spec, file.class_names, file.scale)
        samples = reading.read_set([table], spec)
        asked, unscored = samples.predictions, samples.unscored_ids
        require_match(file, asked, table)
    step, proteins = compare_sources(first, second, asked, unscored, newer, held_out)
    if out is not None and proteins is not None:
        writing.write_table(Path(out), proteins, spreadsheet_safe=spreadsheet_safe)
    if classes is not None:
        writing.write_table(Path(classes), class_columns(step), spreadsheet_safe=spreadsheet_safe)
    writing.write_record(record, step)
    if page is not None:
        names = f"{step.older.name} → {step.newer.name}"
        provenance = Provenance(run=names, title="What changed", credence_version=__version__)
        text = render_sections(provenance, sections_of_step(step), step.schema)
        writing.write_text(Path(page), text)
    lines = (*step_sentences(step), f"Wrote {', '.join(written)}.")
    click.echo(json_text(step) if as_json else "\n".join(lines), nl=not as_json, err=not as_json)


@dataclass(frozen=True, kw_only=True, eq=False)
class Source:
    """One of the two things that are compared, with its calibration read."""

    path: Path  # As the user gave it
    file: CalibrationFile  # Of the method compared
    release: files.Release | None  # None for a calibration file alone

    @property
    def has_proteins(self) -> bool:
        """Whether the release's proteins are at hand."""
        return self.release is not None and (self.path / SAMPLES).exists()


def compare_sources(
    first: Source,
    second: Source,
    asked: Predictions | None,
    unscored: Strings,
    newer: str,
    held_out: str | None = None,
) -> tuple[ReleaseStep, dict[str, Any] | None]:
    """Return what changed from one to the other, and the columns of the proteins, if any.

    Those of `asked`, or else of the newer release; ids without scores stand at the end.
    """
    file = second.file
    stated = file.settings.get("options", {})
    options = from_record(FitOptions, stated, f"{newer}, settings.options", REBUILD)
    how = Comparison(
        method=file.method_spec,
        calibrator=parse_method(file.method_spec, "--method").build(replace(options, n_draws=0)),
        class_names=file.class_names,
        scale=file.scale,
        resolution=file.resolution,
        options=options,
    )
    before = release_data(first)
    if held_out is not None:
        before = _with_held_out(before, Path(held_out), how)
    step, proteins = compare(before, release_data(second), how, asked)
    if proteins is None:
        return step, None
    blanks = {
        name: np.full(len(unscored), "" if column.dtype == object else np.nan)
        for name, column in proteins.items()
    } | {"id": unscored}
    return step, {name: np.append(proteins[name], blanks[name]) for name in proteins}


def _with_held_out(release: ReleaseData, path: Path, how: Comparison) -> ReleaseData:
    """Return the older release with what its method says of held-out proteins."""
    if release.labelled is None:
        raise refuse(str(path), "the older release has no proteins here.", "Leave it out.")
    order = reading.order_of_ids(release.labelled)
    facts = {"folds": DEFAULT_FOLDS, "min_positives": how.options.min_positives}
    labelled = release.labelled.take(order)
    file = read_held_out_file(path, labelled, facts, [how.method], are_options=False)
    confidence = np.empty(len(order))
    confidence[order] = file.confidence
    return replace(release, held_out=confidence)


def class_columns(step: ReleaseStep) -> dict[str, list[Any]]:
    """Return the columns of the table of what changed, class by class."""
    names = list(dict.fromkeys(part.name for entry in step.classes for part in entry.parameters))
    rows: list[dict[str, Any]] = []
    for entry in step.classes:
        row: dict[str, Any] = {"class": entry.class_name}
        chosen = {part.name: (part.before, part.after) for part in entry.parameters}
        for name in ("n_true", "n_predicted", "n_correct", "n_clusters", *names):
            nothing = (math.nan, math.nan)
            pair = chosen.get(name, nothing) if name in names else getattr(entry, name)
            before, after = (math.nan if number is None else number for number in pair)
            row |= {f"{name}_before": before, f"{name}_after": after}
        row["score"] = entry.score
        for word, change in (("confidence", entry.change), ("precision", entry.share)):
            for key in (
                "before", "fixed", "after",
                "total", "total_lower", "total_upper",
                "evidence", "evidence_lower", "evidence_upper",
                "composition", "composition_lower", "composition_upper",
            ):  # fmt: skip
                column = f"{word}_{key}".replace("composition", "class_proportions")
                row[column] = math.nan if change is None else getattr(change, key)
        rows.append(row | {"sentence": change_sentence(entry, step.scale)})
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def read_pair(older: Path, newer: Path, method: str | None) -> tuple[Source, Source]:
    """Return two sources of one method, classes and scale; refuse all that differs."""
    older, newer = (path.parent if path.name == files.FILE else path for path in (older, newer))
    read_both: list[tuple[files.Release | None, dict[str, CalibrationFile]]] = []
    problems: list[Problem] = []
    for path in (older, newer):
        with gathering(problems):
            read_both.append(_read(path, method is not None))
    raise_any(problems)
    (first_release, first), (second_release, second) = read_both
    for path, (_, calibrations) in zip((older, newer), read_both, strict=True):
        for file in calibrations.values():
            refuse_calls(
                file,
                str(path),
                "changes are stated class by class, for one class a protein",
                "Judge both on the same new proteins instead: credence evaluate.",
            )
    chosen = common_method(older, first, newer, second, method)
    sources = (
        Source(path=older, file=first[chosen], release=first_release),
        Source(path=newer, file=second[chosen], release=second_release),
    )
    require_alike(*sources)
    return sources


def _read(
    path: Path, with_others: bool
) -> tuple[files.Release | None, dict[str, CalibrationFile]]:
    """Return the release, if it is one, and its calibrations, by method `with_others` too."""
    if not path.exists():
        reason = "there is no such file or folder."
        raise refuse(str(path), reason, "Give the folder of a release, or a calibration file.")
    if path.is_file():
        file = read_calibration(path)
        return None, {file.method_spec: file}
    if not (path / files.FILE).is_file():
        remedy = "Give a folder of results/<run>/releases or reports/<run>/releases."
        raise refuse(str(path), f"this is no release: it has no {files.FILE}.", remedy)
    release = files.read_release(path)
    calibrations: dict[str, CalibrationFile] = {}
    problems: list[Problem] = []
    with gathering(problems):
        _require_unchanged(path, release)
    folder = path / CALIBRATIONS_FOLDER
    named = [folder / f"{name}.json" for name in release.calibrations]
    if (path / PUBLISHED_CALIBRATION).is_file() and not folder.is_dir():
        named, with_others = [path / PUBLISHED_CALIBRATION], False
    for calibration in named:
        with gathering(problems):
            if not calibration.is_file():
                raise refuse(str(calibration), "there is no such file.", REBUILD)
            if sha256_of(calibration) not in release.calibrations.values():
                reason = (
                    f"its digest is not that of {files.FILE}: it was changed, or is of another "
                )
                raise refuse(str(calibration), f"{reason}release.", REBUILD)
            file = read_calibration(calibration)
            calibrations[file.method_spec] = file
    for calibration in sorted(set(folder.glob("*.json")) - set(named)) if with_others else ():
        with gathering(problems):
            file = read_calibration(calibration)
            if file.release == release.set:
                calibrations[file.method_spec] = file
    raise_any(problems)
    return release, calibrations


def _require_unchanged(path: Path, release: files.Release) -> None:
    """Refuse a release whose proteins are not those it was made of."""
    samples, groups = path / SAMPLES, path / GROUPS
    if not samples.exists():
        return
    if not groups.exists():
        raise refuse(str(groups), "there is no such file.", REBUILD)
    if files.set_digest(samples, groups) != release.set:
        reason = f"{SAMPLES} and {GROUPS} are not those of {files.FILE}: one of them was changed."
        raise refuse(str(path), reason, REBUILD)


def common_method(
    older: Path,
    first: Mapping[str, CalibrationFile],
    newer: Path,
    second: Mapping[str, CalibrationFile],
    wanted: str | None,
) -> str:
    """Return by which method two are compared; refuse where they have none in common."""
    common = [name for name in first if name in second]
    if wanted is not None:
        if wanted not in common:
            known = f"They have {_list([*first, *second])}."
            remedy = nearest(wanted, common) if common else known
            raise refuse("--method", f"{wanted!r} is not in both.", remedy)
        return wanted
    if not common:
        reason = (
            f"it has {_list([*second])}, and {older} has {_list([*first])}: no method in common."
        )
        raise refuse(str(newer), reason, "Compare calibrations of one method.")
    if len(common) > 1:
        reason = f"both have several methods: {_list(common)}."
        raise refuse("--method", reason, "Name one of them.")
    return common[0]


def _list(names: list[str]) -> str:
    return ", ".join(repr(name) for name in dict.fromkeys(names))


def require_alike(first: Source, second: Source) -> None:
    """Refuse two of other classes, or of another scale."""
    problems = []
    for name, words in (("class_names", "classes are"), ("scale", "scale is")):
        before, after = getattr(first.file, name), getattr(second.file, name)
        if before != after:
            known, shown = (
                ", ".join(map(repr, value)) if isinstance(value, tuple) else f"{value:g}"
                for value in (before, after)
            )
            reason = f"its {words} {shown}; in {first.path} {known}."
            remedy = "Compare calibrations of one classifier."
            problems.append(Problem(where=str(second.path), what=reason, remedy=remedy))
    raise_any(problems)


def release_data(source: Source) -> ReleaseData:
    """Return a release to be compared, with its proteins where they are at hand."""
    counts = source.file.calibration.counts
    held, labelled, test = source.file.counts, None, None
    if source.has_proteins:
        labelled, test = _proteins(source)
        predicted, names = labelled.predictions.predicted_class, labelled.predictions.class_names
        counts = {
            name: reading.counts_of(labelled.take(predicted == k)) for k, name in enumerate(names)
        }
        held = reading.counts_of(labelled)
    release, attached = source.release, source.path / ATTACHED
    summary = source.path / ATTACH_SUMMARY
    is_attached = release is not None and summary.is_file()
    state = ReleaseState(
        name=source.path.name if release is None else release.name,
        number=0 if release is None else release.number,
        date=None if release is None else release.date,
        digest="" if release is None else release.digest,
        n_calibration=int(held.get("n", 0)),
        n_correct=int(held.get("n_correct", 0)),
        n_clusters=int(held.get("n_clusters", 0)),
        outcomes=outcomes_of(files.read_attached(attached))
        if release and attached.is_file()
        else (),
        n_rescored=files.read_attach_summary(summary).n_rescored if is_attached else 0,
    )
    return ReleaseData(
        state=state,
        calibration=source.file.calibration,
        counts=counts,
        labelled=labelled,
        test=test,
    )


def _proteins(source: Source) -> tuple[Labelled, Labelled]:
    file, path = source.file, source.path / SAMPLES
    spec = TableSpec(format="credence", class_names=file.class_names, scale=file.scale)
    samples = read_samples(path, spec)
    if samples.true_class is None:
        raise refuse(str(path), "it has no true classes.", REBUILD)
    role, cluster = _places(samples, path, source.path / GROUPS)
    everyone = label(samples.predictions, samples.true_class, cluster=cluster)
    weights = str(file.counts.get("weights", "none"))
    calibrating = reading.weighted(everyone.take(role == CALIBRATION), weights)
    return calibrating, everyone.take((role == TEST) & (samples.true_class >= 0))


def outcomes_of(table: Mapping[str, Any]) -> tuple[Outcome, ...]:
    """Return what became of a trove, counted, with the first of each outcome by id."""
    order = np.argsort(table["id"].astype(str), kind="stable")
    outcomes = []
    for outcome, meaning in OUTCOMES.items():
        rows = order[table["outcome"][order] == outcome]
        examples = tuple(
            SetAside(**{entry.name: table[entry.name][row] for entry in fields(SetAside)})
            for row in (() if outcome == ADDED else rows[:MOST_SET_ASIDE_SHOWN])
        )
        outcomes.append(Outcome(outcome=outcome, meaning=meaning, n=len(rows), examples=examples))
    return tuple(outcomes)
