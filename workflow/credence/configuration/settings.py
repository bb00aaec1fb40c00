"""The settings of a run, checked, typed and with every default filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from credence.configuration.events import event_words, has_events
from credence.configuration.meaning import meaning_problems
from credence.configuration.novelty import NoveltySettings, novelty_settings
from credence.configuration.reading import (
    Document,
    SettingPath,
    dotted,
    parse_document,
    read_document,
)
from credence.configuration.shift import ShiftSettings, shift_settings
from credence.configuration.troves import BASE, Trove, trove_of
from credence.configuration.validation import schema_problems, with_defaults
from credence.problems import InputError, Problem

SCHEMA_FILE = "config.schema.yaml"
SPEC_KEYS = ("format", "columns", "scale", "sum_to_scale", "synonyms", "pooling")


def workflow_folder() -> Path:
    """Return the folder of the Snakefile, its rules, schemas and profiles.

    In a checkout it holds the package; in an installed package it is inside.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "_workflow"
    return installed if installed.is_dir() else package.parent


def load_schema() -> dict[str, Any]:
    """Return the schema of the configuration."""
    path = workflow_folder() / "schemas" / SCHEMA_FILE
    return read_document(path).data


@dataclass(frozen=True)
class TableSet:
    """One set of proteins: its tables and how they are to be read.

    Parameters
    ----------
    name : str
        ``calibration_set``, or the name of a use-set.
    scores : tuple of str
        Score tables.
    spec : mapping
        How they are read: the keys of :data:`SPEC_KEYS`.
    labels : mapping, optional
        Where true classes are, when not in the table.
    proteins : str, optional
        FASTA file.
    match : str
        How ids meet FASTA headers.
    shift : ShiftSettings, optional
        How its composition is found; None for the calibration set.
    """

    name: str
    scores: tuple[str, ...]
    spec: Mapping[str, Any]
    labels: Mapping[str, Any] | None = None
    proteins: str | None = None
    match: str = "first_word"
    shift: ShiftSettings | None = None

    @property
    def shift_options(self) -> list[str]:
        """Options of the command that finds the composition."""
        return [] if self.shift is None else self.shift.words

    @property
    def spec_json(self) -> str:
        """How the tables are read, as one line of JSON for a command."""
        return json.dumps(dict(self.spec), ensure_ascii=False)

    @property
    def label_table(self) -> str | None:
        """The second table that holds the labels, if any."""
        return None if self.labels is None else self.labels["table"]

    @property
    def labels_json(self) -> str:
        """Where the labels are, as one line of JSON for a command."""
        return json.dumps(self.labels, ensure_ascii=False)


@dataclass(frozen=True)
class Configuration:
    """Everything that a run is told.

    Parameters
    ----------
    where : str
        The file that says it.
    values : mapping
        All settings, defaults included, as plain data.
    calibration_set : TableSet
        The labelled proteins.
    use_sets : tuple of TableSet
        The tables that are to be given confidences.
    methods : tuple of str
        Methods compared, in canonical spelling; the chosen one is among them.
    method : str
        The chosen one.
    troves : tuple of Trove
        What joins the calibration set, in order.
    """

    where: str
    values: Mapping[str, Any]
    calibration_set: TableSet
    use_sets: tuple[TableSet, ...]
    methods: tuple[str, ...]
    method: str
    troves: tuple[Trove, ...] = ()

    @property
    def novelty(self) -> NoveltySettings:
        """By what proteins are told, so that it is seen how far they are from those known."""
        return novelty_settings(self.values)

    @property
    def releases(self) -> tuple[str, ...]:
        """Folder names of the releases, the base first."""
        names = (BASE, *(trove.name for trove in self.troves))
        return tuple(f"{number:02d}-{name}" for number, name in enumerate(names))

    @property
    def run(self) -> str:
        """Name of the run."""
        return str(self.values["run"])

    @property
    def title(self) -> str:
        """Heading of the page."""
        return str(self.values["title"]) or self.run

    @property
    def has_demo(self) -> bool:
        """Whether the inputs are to be simulated first."""
        return "demo" in self.values

    @property
    def demo_json(self) -> str:
        """Settings of the demo world, as one line of JSON for a command."""
        return json.dumps(self.values["demo"])

    @property
    def training_proteins(self) -> str | None:
        """FASTA file of what the classifier was trained on."""
        path = self.values["training"]["proteins"]
        return None if path is None else str(path)

    @property
    def cluster_table(self) -> str | None:
        """A table of clusters that the user made."""
        path = self.values["clustering"]["table"]
        return None if path is None else str(path)

    @property
    def fit_options(self) -> list[str]:
        """Options of the commands that fit."""
        calibration = self.values["calibration"]
        words = []
        for key in ("weights", "min_positives", "level", "draws"):
            words += [f"--{key.replace('_', '-')}", str(calibration[key])]
        return words

    @property
    def sets_options(self) -> list[str]:
        """Options of the command that fits: those of prediction sets."""
        sets = self.values["sets"]
        if sets["level"] is None:
            return []
        return ["--sets", str(sets["level"]), "--sets-kind", str(sets["kind"])]

    @property
    def set_options(self) -> list[str]:
        """Options of the command that corrects what was fitted: those without draws."""
        return self.fit_options[: 2 * len(("weights", "min_positives"))]

    @property
    def has_events(self) -> bool:
        """Whether any event is asked for."""
        return has_events(self.values["events"])

    @property
    def evidence(self) -> str | None:
        """The table of what events need beside scores."""
        path = self.values["events"]["evidence"]
        return None if path is None else str(path)

    @property
    def event_options(self) -> list[str]:
        """Options of the command that learns events."""
        return [*event_words(self.values["events"]), *self.fit_options]

    @property
    def report_json(self) -> str:
        """What the page says of the run, as one line of JSON for a command.

        How work is divided is left out: the page is the same bytes either way.
        """
        values = {name: value for name, value in self.values.items() if name != "scatter"}
        return json.dumps(
            {
                "run": self.run,
                "title": self.title,
                "simulated": bool(self.values["simulated"]),
                "settings": dict(flat(values)),
            },
            ensure_ascii=False,
        )


def flat(values: Mapping[str, Any], above: SettingPath = ()) -> Iterator[tuple[str, str]]:
    """Yield every setting by its dotted name, as text.

    Parameters
    ----------
    values : mapping
        Settings.
    above : tuple
        Path of the settings.

    Examples
    --------
    >>> list(flat({"run": "demo", "split": {"groups": 12}}))
    [('run', 'demo'), ('split.groups', '12')]
    """
    for name, value in values.items():
        path = (*above, name)
        if isinstance(value, dict) and value:
            yield from flat(value, path)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for position, entry in enumerate(value):
                yield from flat(entry, (*path, position))
        elif isinstance(value, str):
            yield dotted(path), value
        else:
            yield dotted(path), json.dumps(value, ensure_ascii=False)


def slug(method: str) -> str:
    """Return a method's specification as a file name.

    Examples
    --------
    >>> slug("kernel(bandwidth=mon4, prior_weight=0.0)")
    'kernel-bandwidth_mon4-prior_weight_0.0'
    """
    words = re.sub(r"[(,]\s*", "-", method).replace("=", "_").rstrip(")")
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", words)


def load(path: Path | str, overrides: Mapping[str, Any] | None = None) -> Configuration:
    """Return the configuration of a file.

    Parameters
    ----------
    path : Path
        A YAML file.
    overrides : mapping, optional
        Settings that replace those of the file, as Snakemake's ``--config``
        gives them.

    Raises
    ------
    InputError
        With everything that is wrong in it, by line.
    """
    document = read_document(Path(path), str(path))
    if overrides:
        document = replace(document, data=_merged(document.data, overrides))
    return check(document)


def _merged(values: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(values)
    for name, value in overrides.items():
        below = merged.get(name)
        if isinstance(below, dict) and isinstance(value, Mapping):
            merged[name] = _merged(below, value)
        else:
            merged[name] = value
    return merged


def from_mapping(values: Mapping[str, Any], where: str) -> Configuration:
    """Return the configuration of settings that another workflow hands over.

    Parameters
    ----------
    values : mapping
        Settings.
    where : str
        Their name in messages.
    """
    return check(Document(where, json.loads(json.dumps(values)), {}))


def loads(text: str, where: str = "config.yaml") -> Configuration:
    """Return the configuration of YAML text.

    Parameters
    ----------
    text : str
        The text of a configuration.
    where : str
        Its name in messages.
    """
    return check(parse_document(text, where))


def check(document: Document) -> Configuration:
    """Return the typed configuration of a document.

    Parameters
    ----------
    document : Document
        What the user wrote.

    Raises
    ------
    InputError
        With everything that is wrong in it, by line.
    """
    schema = load_schema()
    problems: list[Problem] = []
    for found in (
        document.problems,
        schema_problems(document, schema),
        meaning_problems(document),
    ):
        # A setting that is wrong in one way would be told again in another.
        told = {problem.column for problem in problems}
        problems += [problem for problem in found if problem.column not in told]
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.line or 0))
    values = with_defaults(document.data, schema, schema)
    return _typed(document, values)


def _typed(document: Document, values: Mapping[str, Any]) -> Configuration:
    from credence.calibrators.spec import parse_method

    calibration = values["calibration"]
    chosen = parse_method(calibration["method"], document.where).text
    compared = [parse_method(text, document.where).text for text in calibration["compare"]]
    methods = tuple(dict.fromkeys([*compared, chosen]))
    calibration_set = _table_set("calibration_set", values["calibration_set"])
    use_sets = tuple(
        replace(
            _table_set(entry["name"], entry), shift=shift_settings(values, entry["shift"] or {})
        )
        for entry in values["use_sets"]
    )
    troves = tuple(trove_of(entry, values["calibration_set"]) for entry in values["troves"])
    return Configuration(
        document.where, values, calibration_set, use_sets, methods, chosen, troves
    )


def _table_set(name: str, values: Mapping[str, Any]) -> TableSet:
    return TableSet(
        name=name,
        scores=_as_list(values["scores"]),
        spec={key: values[key] for key in (*SPEC_KEYS, *_named(values, "genome"))},
        labels=values.get("labels"),
        proteins=values.get("proteins"),
        match=values.get("match", "first_word"),
    )


def _named(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return a key that only some sets have, where it is given."""
    return () if values.get(key) is None else (key,)


def _as_list(paths: str | list[str]) -> tuple[str, ...]:
    return (paths,) if isinstance(paths, str) else tuple(paths)
