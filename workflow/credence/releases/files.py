"""The files of a release: release.json, with a chain of digests, and those of a trove."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from credence import __version__
from credence.findings import InputFile, JoinedAudit
from credence.predictions import UNKNOWN_CLASS, Strings
from credence.records import read_record
from credence.releases.attaching import OUTCOMES, UNSCORED, Attachment, NewSet
from credence.tables.contract import Column, Kind, read_columns
from credence.tables.digests import sha256_of
from credence.tables.writing import write_record

RELEASE_SCHEMA = "credence/release/1"
ATTACH_SCHEMA = "credence/attach/1"
REMEDY = "Derive the release again: credence run."
FILE = "release.json"


@dataclass(frozen=True, kw_only=True)
class ReleaseCounts:
    """What a release holds."""

    # Proteins, those that calibrate, their clusters, and those of the base that are set aside.
    n_proteins: int
    n_calibration: int
    n_clusters: int
    n_set_aside: int
    by_class: dict[str, int]  # True class → proteins that calibrate


@dataclass(frozen=True, kw_only=True)
class Release:
    """One release."""

    name: str  # Of the trove; `base` for release 0
    number: int  # Its place in the chain
    date: str | None  # As the configuration states it
    parent: str | None  # Digest of the release before
    set: str  # Digest of the samples and groups, from :func:`set_digest`
    # Files that were read for it; those of earlier releases stand there.
    inputs: tuple[InputFile, ...]
    counts: ReleaseCounts  # What it holds
    attach: dict[str, int] | None = None  # Outcome → proteins of the trove
    # File name without ending → SHA-256.
    calibrations: dict[str, str] = field(default_factory=dict)
    digest: str = ""  # Of the release, from :func:`release_digest`
    credence_version: str = __version__  # Version that derived it
    schema: str = field(default=RELEASE_SCHEMA, init=False)


def set_digest(samples: Path, groups: Path) -> str:
    """Return the digest of what a calibration is fitted on."""
    return _sha256([sha256_of(samples), sha256_of(groups)])


def release_digest(release: Release) -> str:
    """Return the digest of a release: of all but counts, calibrations and version."""
    files = [[entry.role, entry.name, entry.sha256] for entry in release.inputs]
    return _sha256([release.name, release.date, release.parent, release.set, files])


def _sha256(content: Sequence[object]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_release(path: Path, release: Release) -> None:
    """Write a release with its digest, as JSON."""
    write_record(path, replace(release, digest=release_digest(release)))


def read_release(path: Path) -> Release:
    """Return a release, or refuse what is none."""
    path = Path(path)
    path = path / FILE if path.is_dir() else path
    return read_record(Release, path, REMEDY)


def counts_by_class(class_names: Sequence[str], codes: Sequence[int]) -> Mapping[str, int]:
    """Return how many of each class there are, zeros too."""
    return {name: list(codes).count(code) for code, name in enumerate(class_names)}


# Of attach.tsv: classes by name, '' where there is none; likeness to the relative.
COLUMNS = (
    Column(name="id", unique=True),
    Column(name="true_class", may_be_empty=True),
    Column(name="outcome", choices=tuple(OUTCOMES)),
    Column(name="cluster", may_be_empty=True),
    Column(name="group", may_be_empty=True),
    Column(name="relative", may_be_empty=True),
    Column(name="relative_class", may_be_empty=True),
    Column(name="identity", kind=Kind.NUMBER, may_be_empty=True, low=0.0, high=1.0),
    Column(name="coverage", kind=Kind.NUMBER, may_be_empty=True, low=0.0, high=1.0),
    Column(name="reason", may_be_empty=True),
)


@dataclass(frozen=True, kw_only=True)
class AttachSummary:
    """The counts of a trove."""

    name: str  # Of the trove
    class_names: tuple[str, ...]  # In the classifier's order
    counts: dict[str, int]  # Outcome → proteins, all outcomes
    n_joined: int  # Of those added: in clusters that were there, and clusters founded
    n_founded: int
    n_rescored: int  # Exact repeats whose scores are not the old ones
    added_by_class: dict[str, int]  # Class → proteins added
    inputs: tuple[InputFile, ...]  # Files that were read
    audit: JoinedAudit  # Of those added
    schema: str = field(default=ATTACH_SCHEMA, init=False)


def attached_proteins(
    new: NewSet, attachment: Attachment, class_names: tuple[str, ...], unscored: Strings
) -> dict[str, Any]:
    """Return the columns of what became of a trove by id, also of those without scores."""
    names = np.array([*class_names, ""], dtype=object)  # UNKNOWN_CLASS is -1
    assert UNKNOWN_CLASS == -1
    columns = vars(attachment) | {
        "id": new.ids,
        "true_class": names[new.class_],
        "relative_class": names[attachment.relative_class],
    }
    n = len(unscored)
    blank = np.full(n, "", dtype=object)
    empty: dict[str, Any] = {
        "id": unscored,
        "outcome": np.full(n, UNSCORED, dtype=object),
        "reason": np.full(n, OUTCOMES[UNSCORED], dtype=object),
        "identity": np.full(n, np.nan),
        "coverage": np.full(n, np.nan),
    }
    order = np.argsort(np.append(new.ids, unscored).astype(str), kind="stable")
    return {
        column.name: np.append(columns[column.name], empty.get(column.name, blank))[order]
        for column in COLUMNS
    }


def read_attached(path: Path) -> dict[str, Any]:
    """Return the columns of what became of every protein of a trove, checked."""
    return read_columns(path, COLUMNS).values


def read_attach_summary(path: Path) -> AttachSummary:
    """Return the counts of a trove."""
    return read_record(AttachSummary, path, "Attach the trove again: credence run.")
