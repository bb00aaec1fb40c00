"""release.json: a release's name and date, what it rests on, and its parent.

Digests make the chain: that of a release covers its parent's, its own set and
the files that were read, so that one sees whether a release rebuilt is
the one that was.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from credence import __version__
from credence.findings import InputFile
from credence.problems import refuse
from credence.records import read_record
from credence.tables.digests import sha256_of
from credence.tables.writing import write_json

SCHEMA = "credence/release/1"
REMEDY = "Derive the release again: credence run."
BASE = "base"  # name of release 0: no trove may bear it
FILE = "release.json"


@dataclass(frozen=True)
class ReleaseCounts:
    """What a release holds."""

    # Proteins in all, those that calibrate and their clusters, and those of the base that are set
    # aside.
    n_proteins: int
    n_calibration: int
    n_clusters: int
    n_set_aside: int
    by_class: dict[str, int]  # True class → proteins that calibrate


@dataclass(frozen=True)
class Release:
    """One release."""

    name: str  # Of the trove; `BASE` for release 0
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
    digest: str = ""  # Of the release, from :func:`digest_of`
    credence_version: str = __version__  # Version that derived it
    schema: str = field(default=SCHEMA, init=False)


def set_digest(samples: Path, groups: Path) -> str:
    """Return the digest of what a calibration is fitted on."""
    return _sha256([sha256_of(samples), sha256_of(groups)])


def digest_of(release: Release) -> str:
    """Return the digest of a release: of all but counts, calibrations and version."""
    files = [[entry.role, entry.name, entry.sha256] for entry in release.inputs]
    return _sha256([release.name, release.date, release.parent, release.set, files])


def _sha256(content: Sequence[object]) -> str:
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_release(path: Path, release: Release) -> None:
    """Write a release with its digest, as JSON."""
    write_json(path, replace(release, digest=digest_of(release)))


def read_release(path: Path) -> Release:
    """Return a release, or refuse what is none."""
    path = Path(path)
    path = path / FILE if path.is_dir() else path
    release = read_record(Release, path, REMEDY)
    if release.digest != digest_of(release):
        what = "its digest does not fit its content: the file was changed after it was written."
        raise refuse(str(path), what, REMEDY)
    return release


def counts_by_class(class_names: Sequence[str], codes: Sequence[int]) -> Mapping[str, int]:
    """Return how many of each class there are, zeros too."""
    return {name: list(codes).count(code) for code, name in enumerate(class_names)}
