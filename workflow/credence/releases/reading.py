"""The sides of a comparison, read from release folders or calibration files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credence.calibrators.protocol import FitOptions
from credence.findings.releases import Outcome, ReleaseState, SetAside
from credence.predictions import Labelled, label
from credence.problems import InputError, Problem, nearest, refuse
from credence.releases.attaching import ADDED, OUTCOMES
from credence.releases.chain import FILE, Release, read_release, set_digest
from credence.releases.compare import ReleaseData
from credence.releases.trove_tables import AttachedProteins, read_attached
from credence.tables.calibration_file import CalibrationFile, read_calibration
from credence.tables.contract import read_groups
from credence.tables.digests import sha256_of
from credence.tables.joining import match_rows
from credence.tables.samples import read_samples
from credence.tables.table_spec import TableSpec

MOST_EXAMPLES = 5  # proteins named per outcome
SAMPLES, GROUPS, ATTACHED = "samples.parquet", "groups.tsv", "attach.tsv"
FOLDER = "calibrations"
PUBLISHED = "calibration.json"  # beside a page, where there is one method
REBUILD = "Derive the release again: credence run."


@dataclass(frozen=True, eq=False)
class Source:
    """One of the two things that are compared, with its calibration read."""

    path: Path  # As the user gave it
    file: CalibrationFile  # Of the method compared
    release: Release | None  # None for a calibration file alone

    @property
    def has_proteins(self) -> bool:
        """Whether the release's proteins are at hand."""
        return self.release is not None and (self.path / SAMPLES).exists()


def read_pair(older: Path, newer: Path, method: str | None) -> tuple[Source, Source]:
    """Return two sources of one method, classes and scale; refuse all that differs."""
    older, newer = (path.parent if path.name == FILE else path for path in (older, newer))
    found: list[tuple[Release | None, dict[str, CalibrationFile]]] = []
    problems: list[Problem] = []
    for path in (older, newer):
        try:
            found.append(_read(path, method is not None))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    (first_release, first), (second_release, second) = found
    chosen = _method(older, first, newer, second, method)
    sources = (
        Source(older, first[chosen], first_release),
        Source(newer, second[chosen], second_release),
    )
    _require_alike(*sources)
    return sources


def _read(path: Path, with_others: bool) -> tuple[Release | None, dict[str, CalibrationFile]]:
    """Return the release, if it is one, and its calibrations by method.

    The record of a release names the calibration of its chosen method; the last
    one has others too, which are read where one of them is wanted.
    """
    if not path.exists():
        raise refuse(
            str(path), "there is no such file or folder.",
            "Give the folder of a release, or a calibration file.",
        )  # fmt: skip
    if path.is_file():
        file = read_calibration(path)
        return None, {file.method_spec: file}
    if not (path / FILE).is_file():
        raise refuse(
            str(path), f"this is no release: it has no {FILE}.",
            "Give a folder of results/<run>/releases or reports/<run>/releases.",
        )  # fmt: skip
    release = read_release(path)
    files, problems = {}, _changed(path, release)
    for calibration, is_sure in _calibrations(path, release, with_others):
        try:
            file = _read_calibration(calibration, release if is_sure else None)
        except InputError as error:
            problems += error.problems
            continue
        if is_sure or file.release == release.set:
            files[file.method_spec] = file
    if problems:
        raise InputError(problems)
    return release, files


def _read_calibration(path: Path, release: Release | None) -> CalibrationFile:
    """Return a calibration; one that a release names has to have the digest it gives."""
    if not path.is_file():
        raise refuse(str(path), "there is no such file.", REBUILD)
    if release is not None and sha256_of(path) not in release.calibrations.values():
        what = f"its digest is not that of {FILE}: it was changed, or is of another release."
        raise refuse(str(path), what, REBUILD)
    return read_calibration(path)


def _calibrations(path: Path, release: Release, with_others: bool) -> list[tuple[Path, bool]]:
    """Return the calibrations of a release, and whether its record names each."""
    if (path / PUBLISHED).is_file() and not (path / FOLDER).is_dir():
        return [(path / PUBLISHED, True)]
    named = [path / FOLDER / f"{name}.json" for name in release.calibrations]
    others = sorted(set((path / FOLDER).glob("*.json")) - set(named)) if with_others else []
    return [*((one, True) for one in named), *((one, False) for one in others)]


def _changed(path: Path, release: Release) -> list[Problem]:
    """Return that the proteins of a release are not those it was made of."""
    samples, groups = path / SAMPLES, path / GROUPS
    if not samples.exists():
        return []
    if not groups.exists():
        return [Problem(str(groups), "there is no such file.", REBUILD)]
    if set_digest(samples, groups) == release.set:
        return []
    return [
        Problem(
            str(path),
            f"{SAMPLES} and {GROUPS} are not those of {FILE}: one of them was changed.",
            REBUILD,
        )
    ]


def _method(
    older: Path,
    first: Mapping[str, CalibrationFile],
    newer: Path,
    second: Mapping[str, CalibrationFile],
    wanted: str | None,
) -> str:
    common = [name for name in first if name in second]
    if wanted is not None:
        if wanted not in common:
            raise refuse(
                "--method", f"{wanted!r} is not in both.",
                nearest(wanted, common) if common else f"They have {_list([*first, *second])}.",
            )  # fmt: skip
        return wanted
    if not common:
        raise refuse(
            str(newer),
            f"it has {_list([*second])}, and {older} has {_list([*first])}: no method in common.",
            "Compare calibrations of one method.",
        )
    if len(common) > 1:
        raise refuse(
            "--method", f"both have several methods: {_list(common)}.", "Name one of them."
        )
    return common[0]


def _list(names: list[str]) -> str:
    return ", ".join(repr(name) for name in dict.fromkeys(names))


def _require_alike(first: Source, second: Source) -> None:
    problems = []
    for name in ("class_names", "scale"):
        own, other = getattr(second.file, name), getattr(first.file, name)
        if own != other:
            shown = [
                ", ".join(map(repr, value)) if isinstance(value, tuple) else f"{value:g}"
                for value in (own, other)
            ]
            what = "classes are" if name == "class_names" else "scale is"
            problems.append(
                Problem(
                    str(second.path),
                    f"its {what} {shown[0]}; in {first.path} {shown[1]}.",
                    "Compare calibrations of one classifier.",
                )
            )
    if problems:
        raise InputError(problems)


def options_of(file: CalibrationFile) -> FitOptions:
    """Return the options that a calibration was fitted with."""
    known: Mapping[str, Any] = file.settings.get("options", {})
    default = FitOptions()
    return FitOptions(
        float(known.get("min_positives", default.min_positives)),
        float(known.get("level", default.level)),
        int(known.get("n_draws", default.n_draws)),
    )


def release_data(source: Source) -> ReleaseData:
    """Return one side of a comparison, with its proteins where they are at hand."""
    counts = counts_in(source.file.calibration.to_record())
    labelled = test = None
    if source.has_proteins:
        labelled, test = _proteins(source)
        counts = _counted(labelled)
    return ReleaseData(_state(source, labelled), source.file.calibration, counts, labelled, test)


def counts_in(record: Mapping[str, Any]) -> dict[str, Mapping[str, int]]:
    """Return the counts of each class that a calibration's record holds."""
    classes = record.get("classes", {})
    found = {name: entry["counts"] for name, entry in classes.items() if "counts" in entry}
    for part in (record.get("first"), *record.get("members", {}).values()):
        if not found and isinstance(part, Mapping):
            found = counts_in(part)
    return found


def _counted(labelled: Labelled) -> dict[str, Mapping[str, int]]:
    """Return the counts of each class among the proteins themselves."""
    found: dict[str, Mapping[str, int]] = {}
    for class_, name in enumerate(labelled.predictions.class_names):
        held = labelled.predictions.predicted_class == class_
        found[name] = {
            "n": int(held.sum()),
            "n_correct": int(labelled.is_correct[held].sum()),
            "n_clusters": len(set(labelled.cluster[held].tolist())),
        }
    return found


def _proteins(source: Source) -> tuple[Labelled, Labelled]:
    """Return the proteins that calibrate, weighted as they were, and those of the test group."""
    file, path = source.file, source.path / SAMPLES
    spec = TableSpec(format="credence", class_names=file.class_names, scale=file.scale)
    samples = read_samples(path, spec)
    groups = read_groups(source.path / GROUPS)
    predictions, true_class = samples.predictions, samples.true_class
    if true_class is None:
        raise refuse(str(path), "it has no true classes.", REBUILD)
    rows = match_rows(
        predictions.ids, groups.ids, wanted_in=str(path), table_in=str(source.path / GROUPS)
    )
    role, cluster = groups.role[rows], groups.cluster[rows]
    everyone = label(predictions, true_class, cluster=cluster)
    calibrating = everyone.take(role == "calibration")
    if file.counts.get("weights") == "cluster":
        _, codes, sizes = np.unique(
            calibrating.cluster.astype(str), return_inverse=True, return_counts=True
        )
        calibrating = calibrating.reweighted(1.0 / sizes[codes])
    return calibrating, everyone.take((role == "test") & (true_class >= 0))


def _state(source: Source, labelled: Labelled | None) -> ReleaseState:
    counts, release = source.file.counts, source.release
    attached = source.path / ATTACHED
    return ReleaseState(
        name=source.path.name if release is None else release.name,
        number=0 if release is None else release.number,
        date=None if release is None else release.date,
        digest="" if release is None else release.digest,
        n_calibration=int(counts.get("n", 0)) if labelled is None else labelled.n_samples,
        n_correct=int(counts.get("n_correct", 0))
        if labelled is None
        else int(labelled.is_correct.sum()),
        n_clusters=int(counts.get("n_clusters", 0))
        if labelled is None
        else len(set(labelled.cluster.tolist())),
        outcomes=outcomes_of(read_attached(attached))
        if release is not None and attached.is_file()
        else (),
    )


def outcomes_of(table: AttachedProteins) -> tuple[Outcome, ...]:
    """Return what became of a trove, counted, with the first of each outcome by id."""
    order = np.argsort(table.ids.astype(str), kind="stable")
    found = []
    for outcome, meaning in OUTCOMES.items():
        rows = order[table.outcome[order] == outcome]
        examples = () if outcome == ADDED else tuple(
            SetAside(
                str(table.ids[row]),
                str(table.true_class[row]),
                str(table.relative[row]),
                str(table.relative_class[row]),
                float(table.identity[row]),
                float(table.coverage[row]),
                str(table.reason[row]),
            )
            for row in rows[:MOST_EXAMPLES]
        )  # fmt: skip
        found.append(Outcome(outcome, meaning, len(rows), examples))
    return tuple(found)
