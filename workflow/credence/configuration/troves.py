"""Troves of a configuration: new labelled proteins, in the order in which they join."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date as calendar_date
from typing import Any

from credence.configuration.reading import Document, SettingPath
from credence.problems import Problem

BASE = "base"  # what release 0 is called
# What a set says of its format, where it says nothing.
FORMAT_ALONE: dict[str, Any] = {
    "columns": {},
    "scale": None,
    "sum_to_scale": None,
    "pooling": "sum",
}
INHERITED = ("format", "columns", "scale", "sum_to_scale", "synonyms", "pooling")


@dataclass(frozen=True)
class Trove:
    """One trove, with all that it takes over from the calibration set.

    Parameters
    ----------
    name : str
        Of the release that it makes.
    date : str, optional
        When it arrived.
    scores : tuple of str
        Score tables.
    spec : mapping
        How they are read.
    fasta : str, optional
        FASTA file.
    labels : mapping, optional
        Where true classes are, when not in the table.
    match : str
        How ids meet FASTA headers.
    clusters : str, optional
        Table of its clusters.
    sha256 : mapping of str to str
        File → digest that it had when the trove was added.
    """

    name: str
    date: str | None
    scores: tuple[str, ...]
    spec: Mapping[str, Any]
    fasta: str | None
    labels: Mapping[str, Any] | None
    match: str
    clusters: str | None
    sha256: Mapping[str, str]

    @property
    def files(self) -> tuple[str, ...]:
        """All files that it names."""
        table = None if self.labels is None else self.labels.get("table")
        return (*self.scores, *filter(None, (self.fasta, table, self.clusters)))

    @property
    def words(self) -> list[str]:
        """Options of ``credence attach`` that say how it is read."""
        words = ["--spec", json.dumps(dict(self.spec), ensure_ascii=False)]
        words += ["--labels", json.dumps(self.labels, ensure_ascii=False)]
        words += ["--match", self.match]
        if self.sha256:
            words += ["--sha256", json.dumps(dict(self.sha256), ensure_ascii=False)]
        for option, path in (("--fasta", self.fasta), ("--trove-clusters", self.clusters)):
            words += [] if path is None else [option, path]
        return words


def trove_of(entry: Mapping[str, Any], base: Mapping[str, Any]) -> Trove:
    """Return a trove of the configuration, defaults filled in.

    Parameters
    ----------
    entry : mapping
        What the list says of it.
    base : mapping
        The calibration set.
    """
    own = {key: entry[key] for key in INHERITED if entry.get(key) not in (None, {})}
    # Names of columns and the scale are those of a format; spellings are of a lab.
    is_alike = own.get("format", base["format"]) == base["format"]
    spec = {**(base if is_alike else {**FORMAT_ALONE, "synonyms": base["synonyms"]}), **own}
    spec = {key: spec[key] for key in INHERITED}
    scores, labels = entry["scores"], entry.get("labels")
    if isinstance(labels, str):
        labels = {"table": labels}
    above = base.get("labels") or {}
    if labels is None and above.get("pattern") is not None:
        labels = {"pattern": above["pattern"]}
    elif labels is not None and labels.get("table") is not None:
        names = {key: above[key] for key in ("id_column", "label_column") if above.get("table")}
        labels = {**names, **{key: value for key, value in labels.items() if value is not None}}
    return Trove(
        name=entry["name"],
        date=entry.get("date"),
        scores=(scores,) if isinstance(scores, str) else tuple(scores),
        spec=spec,
        fasta=entry.get("fasta"),
        labels=labels,
        match=entry.get("match") or base.get("match", "first_word"),
        clusters=entry.get("clusters"),
        sha256=entry.get("sha256") or {},
    )


def trove_problems(document: Document) -> Iterator[Problem]:
    """Yield what a schema cannot say of the troves.

    Parameters
    ----------
    document : Document
        What the user wrote.
    """
    troves = document.data.get("troves")
    if not isinstance(troves, list):
        return
    names = {BASE: "release 0"}
    for position, entry in enumerate(troves):
        if isinstance(entry, dict):
            path: SettingPath = ("troves", position)
            yield from _name_problems(document, path, entry.get("name"), names)
            yield from _date_problems(document, path, entry.get("date"))
            yield from _need_problems(document, path, entry)


def _name_problems(
    document: Document, path: SettingPath, name: Any, names: dict[str, str]
) -> Iterator[Problem]:
    if not isinstance(name, str):
        return
    # Two names that differ in case only are one folder on some file systems.
    if name.lower() in names:
        yield document.problem(
            (*path, "name"),
            f"{name!r} is taken by {names[name.lower()]}; capitals make no difference.",
            "Give each trove its own name.",
        )
    names.setdefault(name.lower(), f"trove {name!r}")


def _date_problems(document: Document, path: SettingPath, date: Any) -> Iterator[Problem]:
    if not isinstance(date, str):
        return
    try:
        if calendar_date.fromisoformat(date).isoformat() == date:
            return
    except ValueError:
        pass
    yield document.problem(
        (*path, "date"), f"{date!r} is not a date.", "Write it like 2026-11-21."
    )


def _need_problems(
    document: Document, path: SettingPath, entry: Mapping[str, Any]
) -> Iterator[Problem]:
    data = document.data
    above, clustering = data.get("calibration_set"), data.get("clustering")
    has_sequences = isinstance(above, dict) and above.get("proteins") is not None
    has_table = isinstance(clustering, dict) and clustering.get("table") is not None
    if has_sequences and entry.get("fasta") is None:
        yield document.problem(
            (*path, "fasta"),
            "repeats and relatives cannot be found without sequences.",
            "Give the FASTA file of this trove, as the calibration set has one.",
        )
    if not has_sequences and entry.get("fasta") is not None:
        yield document.problem(
            (*path, "fasta"),
            "there is nothing to compare these sequences with.",
            "Give proteins of the calibration set too, or leave this out.",
        )
    if has_table and entry.get("clusters") is None:
        yield document.problem(
            (*path, "clusters"),
            "clusters come from a table (clustering.table), and this trove has none.",
            "Give a table of id and cluster of its proteins, with the same names of clusters.",
        )
    if not has_table and entry.get("clusters") is not None:
        yield document.problem(
            (*path, "clusters"),
            "the other clusters do not come from a table.",
            "Leave this out, or give clustering.table.",
        )
