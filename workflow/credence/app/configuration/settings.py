"""The settings of a run, checked, typed and with every default filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date as calendar_date
from functools import cached_property
from pathlib import Path
from typing import Any

from credence.app.configuration.reading import (
    Document,
    SettingPath,
    dotted,
    parse_document,
    read_document,
    schema_problems,
    with_defaults,
)
from credence.problems import InputError, Problem, nearest, refuse
from credence.settings import schema_of
from credence.stages.settings import SECTIONS, Settings, ShiftSettings, Trove
from credence.tables.writing import device_of


def event_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the settings of events, whatever the classes are."""
    from credence.events.event import STANDING
    from credence.events.features import BY_NAME as FEATURES
    from credence.events.forecasters import BY_NAME as FORECASTERS

    block = document.data.get("events")
    if not isinstance(block, dict):
        return
    for key, known, kind in (
        ("ask", STANDING, "event"),
        ("compare", tuple(FORECASTERS), "forecaster"),
        ("without", tuple(FEATURES), "feature"),
    ):
        for path, name in _event_entries(block, key):
            if name not in known:
                what = f"there is no {kind} {name!r}."
                yield document.problem(("events", *path), what, nearest(name, known))
    chosen = block.get("forecaster")
    if isinstance(chosen, str) and chosen not in FORECASTERS:
        what = f"there is no forecaster {chosen!r}."
        yield document.problem(("events", "forecaster"), what, nearest(chosen, list(FORECASTERS)))
    yield from _rule_problems(document, block, None)
    groups, rules = (_mapping(block, key) for key in ("groups", "rules"))
    for name in rules:
        if name in groups:
            what = f"a group is called {name!r} too."
            yield document.problem(("events", "rules", name), what, "Give one another name.")


def event_class_problems(document: Document, class_names: Sequence[str]) -> Iterator[Problem]:
    """Yield the classes and columns of events that the tables do not have."""
    block = document.data.get("events") or {}
    for name, classes in (block.get("groups") or {}).items():
        for position, class_name in enumerate(classes):
            if class_name not in class_names:
                yield document.problem(
                    ("events", "groups", name, position),
                    f"there is no class {class_name!r}.",
                    nearest(class_name, class_names),
                )
    yield from _rule_problems(document, block, class_names)


def _rule_problems(
    document: Document, block: Mapping[str, Any], class_names: Sequence[str] | None
) -> Iterator[Problem]:
    """Yield rules that cannot be read; with class names, columns that are not there."""
    from credence.events.rules import parse_rule

    rules: list[tuple[SettingPath, Any]] = [
        (("events", "rules", name), text) for name, text in _mapping(block, "rules").items()
    ]
    rules.append((("events", "admissible"), block.get("admissible")))
    for path, text in rules:
        if not isinstance(text, str):
            continue
        try:
            rule = parse_rule(text, document.where)
            if class_names is not None:
                rule.require_columns(class_names, document.where, None)
        except InputError as error:
            for problem in error.problems:
                yield document.problem(path, problem.what, problem.remedy)


def _event_entries(block: Mapping[str, Any], key: str) -> Iterator[tuple[SettingPath, str]]:
    values = block.get(key)
    for position, name in enumerate(values if isinstance(values, list) else []):
        if isinstance(name, str):
            yield (key, position), name


def _mapping(block: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = block.get(key)
    return found if isinstance(found, dict) else {}


RELEASES = "releases"  # the folder beside those of the use-sets


def folder_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the names that become folders.

    A trove's name is not among them: its folder is ``01-name``.
    """
    yield from _device_problems(document, ("run",), document.data.get("run"))
    use_sets = document.data.get("use_sets")
    taken: dict[str, str] = {}  # two names that differ in case only may be one folder
    for position, entry in enumerate(use_sets if isinstance(use_sets, list) else ()):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str):
            continue
        path: SettingPath = ("use_sets", position, "name")
        yield from _device_problems(document, path, name)
        if name.lower() in taken:
            is_same = taken[name.lower()] == name
            capitals = "" if is_same else "; capitals make no difference"
            yield document.problem(
                path, f"{name!r} names an earlier use-set{capitals}.", "Give each its own name."
            )
        taken.setdefault(name.lower(), name)
        if name.lower() == RELEASES:
            yield document.problem(
                path, f"{name!r} is the folder of the releases.", "Give the use-set another name."
            )


def _device_problems(document: Document, path: SettingPath, name: Any) -> Iterator[Problem]:
    if isinstance(name, str) and device_of(name) is not None:
        yield document.problem(
            path, f"{name!r} is the name of a device on Windows.", "Choose another name."
        )


def path_problem(text: str) -> tuple[str, str] | None:
    """Return what is wrong with a path as it is written, and the remedy; None if nothing.

    Examples
    --------
    >>> path_problem("-x.csv")
    ("'-x.csv' begins with a dash, as an option does.", "Write './-x.csv'.")
    >>> path_problem("scores.csv") is None
    True
    """
    if text.startswith("-"):
        return f"{text!r} begins with a dash, as an option does.", f"Write './{text}'."
    if "{" in text or "}" in text:
        return (
            f"{text!r} has a brace, and Snakemake takes what braces hold for a wildcard.",
            "Rename it without { and }.",
        )
    return None


COMPOSITION, NONE = "composition", "none"


def needs_places(method: str) -> bool:
    """Return whether a method asks where proteins lie."""
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import Need

    return parse_method(method, "method").needs is Need.PLACE


def novelty_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with what the configuration says of novelty."""
    data = document.data
    novelty, labelled = data.get("novelty"), data.get("calibration_set")
    features = novelty.get("features", COMPOSITION) if isinstance(novelty, dict) else COMPOSITION
    has_proteins = isinstance(labelled, dict) and labelled.get("proteins") is not None
    if isinstance(features, str) and features not in (COMPOSITION, NONE):
        if (wrong := path_problem(features)) is not None:
            yield document.problem(("novelty", "features"), *wrong)
        elif not Path(features).is_file():
            yield document.problem(
                ("novelty", "features"),
                f"there is no file {features!r}.",
                f"Write {COMPOSITION}, {NONE}, or the path of a file of vectors.",
            )
        has_proteins = True
    for path, text in _methods(data):
        if not _asks(text):
            continue
        if features == NONE or not has_proteins:
            yield document.problem(
                path,
                f"{text!r} asks where proteins lie, and nothing tells it.",
                f"Write novelty: {{features: {COMPOSITION}}}."
                if features == NONE and has_proteins
                else "Give proteins of the calibration set, or vectors as novelty: {features: …}.",
            )
        elif path == ("calibration", "method"):
            yield document.problem(
                path,
                f"{text!r} gives no interval, and cannot be corrected for a composition.",
                "Put it among compare, and publish another method.",
            )


def _asks(text: str) -> bool:
    try:
        return needs_places(text)
    except InputError:
        return False


def _methods(data: Mapping[str, Any]) -> Iterator[tuple[SettingPath, str]]:
    calibration = data.get("calibration")
    if not isinstance(calibration, dict):
        return
    if isinstance(calibration.get("method"), str):
        yield ("calibration", "method"), calibration["method"]
    compare = calibration.get("compare")
    for at, text in enumerate(compare if isinstance(compare, list) else ()):
        if isinstance(text, str):
            yield ("calibration", "compare", at), text


STATED = "stated"
SHIFT_NONE = "none"


def shift_settings(values: Mapping[str, Any], own: Mapping[str, Any]) -> ShiftSettings:
    """Return the settings of one use-set: its own, else those of all, else calibration's."""
    calibration = values["calibration"]
    common = _completed(values["shift"])
    merged = {**common, **_completed(own)}
    if merged["method"] != STATED:  # shares stated for all sets, but not for this one
        merged["composition"] = None
    for name in ("level", "draws"):
        if merged[name] is None:
            merged[name] = calibration[name]
    return ShiftSettings(**merged)


def _completed(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block in which a composition says by itself that it is stated."""
    found = dict(block)
    if found.get("composition") is not None and found.get("method") in (None, "auto"):
        found["method"] = STATED
    return found


def shift_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the settings of label shift."""
    common = document.data.get("shift")
    common = common if isinstance(common, dict) else {}
    yield from _block_problems(document, ("shift",), common, {})
    use_sets = document.data.get("use_sets")
    for position, entry in enumerate(use_sets if isinstance(use_sets, list) else []):
        own = entry.get("shift") if isinstance(entry, dict) else None
        if isinstance(own, dict):
            yield from _block_problems(document, ("use_sets", position, "shift"), own, common)


def class_problems(document: Document, class_names: Sequence[str]) -> Iterator[Problem]:
    """Yield the stated shares of classes that the tables do not have."""
    blocks: list[tuple[SettingPath, Any]] = [(("shift",), document.data.get("shift"))]
    for position, entry in enumerate(document.data.get("use_sets") or []):
        blocks.append((("use_sets", position, "shift"), entry.get("shift")))
    for path, block in blocks:
        for name in (block or {}).get("composition") or {}:
            if name not in class_names:
                yield document.problem(
                    (*path, "composition", name),
                    f"there is no class {name!r}.",
                    nearest(name, class_names),
                )


def _block_problems(
    document: Document, path: SettingPath, block: Mapping[str, Any], above: Mapping[str, Any]
) -> Iterator[Problem]:
    from credence.composition.estimators import NAMES

    method, shares = block.get("method"), block.get("composition")
    if isinstance(method, str) and method not in NAMES:
        what = f"{method!r} is not an estimator of a composition."
        yield document.problem((*path, "method"), what, nearest(method, NAMES))
    elif method == STATED and shares is None and above.get("composition") is None:
        yield document.problem(
            (*path, "composition"),
            "no composition is stated.",
            "Give one, {class: share}, or another method.",
        )
    elif isinstance(method, str) and method not in (STATED, "auto") and shares is not None:
        yield document.problem(
            (*path, "composition"),
            f"a composition is stated, and the method is {method!r}.",
            "Write method: stated, or remove the composition.",
        )
    if isinstance(shares, dict):
        yield from _share_problems(document, (*path, "composition"), shares)


def _share_problems(
    document: Document, path: SettingPath, shares: Mapping[str, Any]
) -> Iterator[Problem]:
    from credence.composition.estimators import SUM_TOLERANCE

    numbers = [
        share
        for share in shares.values()
        if isinstance(share, int | float) and not isinstance(share, bool) and 0 <= share <= 1
    ]
    if len(numbers) < len(shares):
        return  # the schema says which
    total = sum(numbers)
    if abs(total - 1.0) > SUM_TOLERANCE:
        yield document.problem(
            path,
            f"the shares sum to {total:.4g}.",
            f"Give shares that sum to 1; up to {SUM_TOLERANCE:g} off, they are divided by "
            "their sum.",
        )


BASE = "base"  # what release 0 is called
# What a set says of its format, where it says nothing.
FORMAT_ALONE: dict[str, Any] = {
    "columns": {},
    "scale": None,
    "sum_to_scale": None,
    "pooling": "sum",
}
INHERITED = ("format", "columns", "scale", "sum_to_scale", "synonyms", "pooling")


def trove_of(entry: Mapping[str, Any], base: Mapping[str, Any]) -> Trove:
    """Return a trove of the configuration, defaults filled in."""
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
    """Yield what a schema cannot say of the troves."""
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


def meaning_problems(document: Document) -> list[Problem]:
    """Return what a schema cannot say: names that nothing bears, missing files."""
    data = document.data
    problems = [*_method_problems(document), *_set_problems(document)]
    if "demo" in data:
        problems += _demo_problems(document)
        if data.get("simulated") is not True:
            problems.append(
                document.problem(
                    ("simulated",),
                    "the inputs are simulated and this does not say so.",
                    "Write simulated: true, or remove demo.",
                )
            )
    problems += folder_problems(document)
    problems += _file_problems(document)
    problems += _training_problems(document)
    problems += _recipe_problems(document)
    problems += shift_problems(document)
    problems += event_problems(document)
    problems += trove_problems(document)
    problems += novelty_problems(document)
    return problems


def _entries(value: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    if isinstance(value, list):
        yield from ((at, entry) for at, entry in enumerate(value) if isinstance(entry, dict))


def _method_problems(document: Document) -> Iterator[Problem]:
    from credence.calibrators.method_spec import parse_method

    calibration = document.data.get("calibration")
    if not isinstance(calibration, dict):
        return
    places: list[tuple[SettingPath, Any]] = [
        (("calibration", "method"), calibration.get("method"))
    ]
    compare = calibration.get("compare")
    if isinstance(compare, list):
        places += [(("calibration", "compare", at), text) for at, text in enumerate(compare)]
    for path, text in places:
        if isinstance(text, str):
            try:
                parse_method(text, document.where, document.line(path))
            except InputError as error:
                for problem in error.problems:
                    setting = f"{problem.column}: " if problem.column else ""
                    yield document.problem(path, setting + problem.what, problem.remedy)


def _training_problems(document: Document) -> Iterator[Problem]:
    training, labelled = document.data.get("training"), document.data.get("calibration_set")
    if not (isinstance(training, dict) and isinstance(labelled, dict)):
        return
    if training.get("proteins") is not None and labelled.get("proteins") is None:
        yield document.problem(
            ("training", "proteins"),
            "relatives of the training proteins cannot be found without sequences.",
            "Give proteins of the calibration set too.",
        )


def _recipe_problems(document: Document) -> Iterator[Problem]:
    split, labelled = document.data.get("split"), document.data.get("calibration_set")
    if not (isinstance(split, dict) and isinstance(labelled, dict)):
        return
    if split.get("recipe") == "phanns" and labelled.get("proteins") is None:
        yield document.problem(
            ("split", "recipe"),
            "PhANNs' recipe clusters sequences, and there are none.",
            "Give proteins of the calibration set, or write recipe: balanced.",
        )


def _demo_problems(document: Document) -> Iterator[Problem]:
    from credence.simulate.law import world_settings

    values = document.data["demo"]
    if isinstance(values, dict):
        try:
            world_settings(values, document.where)
        except InputError as error:
            for problem in error.problems:
                path = ("demo", str(problem.column))
                yield document.problem(path, problem.what, problem.remedy)


def _set_problems(document: Document) -> Iterator[Problem]:
    from credence.tables.formats import FORMATS

    names = [entry.name for entry in FORMATS]
    for path, entry in _sets(document.data):
        name = entry.get("format")
        if isinstance(name, str) and name not in names:
            yield document.problem(
                (*path, "format"), f"{name!r} is not a format.", nearest(name, names)
            )
        labels = entry.get("labels")
        if isinstance(labels, dict):
            yield from _label_problems(document, (*path, "labels"), labels, entry)


def _label_problems(
    document: Document, path: SettingPath, labels: Mapping[str, Any], entry: Mapping[str, Any]
) -> Iterator[Problem]:
    table, pattern = labels.get("table"), labels.get("pattern")
    if (table is None) == (pattern is None):
        yield document.problem(
            path,
            "labels come from a table or from FASTA headers.",
            "Give table or pattern, one of the two.",
        )
    if isinstance(pattern, str):
        try:
            groups = re.compile(pattern).groupindex
        except re.error as error:
            yield document.problem(
                (*path, "pattern"),
                f"{pattern!r} is not a regular expression: {error}.",
                "Fix it.",
            )
        else:
            if "label" not in groups:
                yield document.problem(
                    (*path, "pattern"),
                    f"{pattern!r} has no group named label.",
                    "Write one: (?P<label>…).",
                )
        if entry.get("proteins") is None:
            yield document.problem(
                (*path, "pattern"),
                "labels in FASTA headers need a FASTA file.",
                "Give proteins of this set.",
            )


def _sets(data: Mapping[str, Any]) -> Iterator[tuple[SettingPath, dict[str, Any]]]:
    calibration_set = data.get("calibration_set")
    if isinstance(calibration_set, dict):
        yield ("calibration_set",), calibration_set
    for position, entry in _entries(data.get("use_sets")):
        yield ("use_sets", position), entry
    for position, entry in _entries(data.get("troves")):
        yield ("troves", position), {**entry, "proteins": entry.get("fasta")}


def _file_problems(document: Document) -> Iterator[Problem]:
    will_be_there = DEMO_FILES if "demo" in document.data else ()
    for path, text in _files(document.data):
        if not text or text in will_be_there:
            continue
        if (wrong := path_problem(text)) is not None:
            yield document.problem(path, *wrong)
        elif Path(text).is_dir():
            yield document.problem(path, f"{text!r} is a folder.", "Name a file.")
        elif not Path(text).exists():
            yield document.problem(
                path,
                f"there is no file {text!r}.",
                "Fix the path; it starts where you run the command.",
            )


def _files(data: Mapping[str, Any]) -> Iterator[tuple[SettingPath, str]]:
    found: list[tuple[SettingPath, Any]] = []
    for path, entry in _sets(data):
        scores, labels = entry.get("scores"), entry.get("labels")
        if isinstance(scores, list):
            found += [((*path, "scores", at), text) for at, text in enumerate(scores)]
        else:
            found.append(((*path, "scores"), scores))
        proteins = "fasta" if path[0] == "troves" else "proteins"
        found.append(((*path, proteins), entry.get("proteins")))
        found.append(((*path, "clusters"), entry.get("clusters")))
        if isinstance(labels, dict):
            found.append(((*path, "labels", "table"), labels.get("table")))
        else:
            found.append(((*path, "labels"), labels))
    for section, name in (
        ("training", "proteins"),
        ("clustering", "table"),
        ("events", "evidence"),
    ):
        if isinstance(data.get(section), dict):
            found.append(((section, name), data[section].get(name)))
    yield from ((path, text) for path, text in found if isinstance(text, str))


DEMO_FOLDER = "demo"
# What the command `simulate` writes into it; a test keeps the two lists equal.
DEMO_FILES = tuple(
    f"{DEMO_FOLDER}/{name}"
    for name in (
        "README.txt",
        "calibration.csv",
        "proteins.fasta",
        "calibration_networks.npz",
        "training.fasta",
        "use.csv",
        "use.fasta",
        "trove_htj.csv",
        "trove_htj.fasta",
        "trove_mixed.csv",
        "trove_mixed.fasta",
        "truth/families.tsv",
        "truth/planted.tsv",
    )
)
SCHEMA_FILE = "config.schema.yaml"
SPEC_KEYS = ("format", "columns", "scale", "sum_to_scale", "synonyms", "pooling")


def workflow_folder() -> Path:
    """Return the folder of the Snakefile, its rules, schemas and profiles.

    In a checkout it holds the package; in an installed package it is inside.
    """
    package = Path(__file__).resolve().parents[2]
    installed = package / "_workflow"
    return installed if installed.is_dir() else package.parent


def load_schema() -> dict[str, Any]:
    """Return the schema of the configuration: that of its sets, and one made of each section."""
    schema = read_document(workflow_folder() / "schemas" / SCHEMA_FILE).data
    demo = schema["properties"].pop("demo")
    schema["properties"] |= {name: schema_of(section) for name, section in SECTIONS.items()}
    schema["properties"]["demo"] = demo
    return schema


@dataclass(frozen=True)
class TableSet:
    """One set of proteins: its tables and how they are to be read."""

    name: str  # ``calibration_set``, or the name of a use-set
    scores: tuple[str, ...]  # Score tables
    spec: Mapping[str, Any]  # How they are read: the keys of :data:`SPEC_KEYS`
    labels: Mapping[str, Any] | None = None  # Where true classes are, when not in the table
    proteins: str | None = None  # FASTA file
    match: str = "first_word"  # How ids meet FASTA headers
    # How its composition is found; None for the calibration set.
    shift: ShiftSettings | None = None

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
    """Everything that a run is told."""

    where: str  # The file that says it
    values: Mapping[str, Any]  # All settings, defaults included, as plain data
    calibration_set: TableSet  # The labelled proteins
    use_sets: tuple[TableSet, ...]  # The tables that are to be given confidences
    # Methods compared, in canonical spelling; the chosen one is among them.
    methods: tuple[str, ...]
    method: str  # The chosen one
    troves: tuple[Trove, ...] = ()  # What joins the calibration set, in order

    @cached_property
    def settings(self) -> Settings:
        """The settings of all stages, the chosen method in canonical spelling."""
        sections = {name: self.values[name] for name in SECTIONS}
        return (
            Settings().with_values(sections).with_values({"calibration": {"method": self.method}})
        )

    def stage_json(self, stage: str, **own: Mapping[str, Any]) -> str:
        """Return what a stage uses as one line of JSON; `own` holds values for one job."""
        return self.settings.to_json(stage, **own)

    @property
    def novelty_vectors(self) -> str | None:
        """The file of vectors of all proteins, where there is one."""
        features = self.settings.novelty.features
        return None if features in (COMPOSITION, NONE) else features

    @property
    def has_novelty(self) -> bool:
        """Whether there is anything that shows where proteins lie."""
        has_proteins = self.calibration_set.proteins is not None
        is_composition = self.settings.novelty.features == COMPOSITION
        return self.novelty_vectors is not None or (is_composition and has_proteins)

    def compares(self, proteins: str | None) -> bool:
        """Return whether a use-set can be compared with what is known."""
        return self.has_novelty and (self.novelty_vectors is not None or proteins is not None)

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

    # Words of commands that are not given --settings yet.

    @property
    def fit_options(self) -> list[str]:
        """Options of the commands that fit."""
        calibration = self.values["calibration"]
        words = []
        for key in ("weights", "min_positives", "level", "draws"):
            words += [f"--{key.replace('_', '-')}", str(calibration[key])]
        return words

    @property
    def set_options(self) -> list[str]:
        """Options of the command that corrects what was fitted: those without draws."""
        return self.fit_options[: 2 * len(("weights", "min_positives"))]

    @property
    def has_events(self) -> bool:
        """Whether any event is asked for."""
        asked = self.settings.events
        return bool(asked.ask or asked.groups or asked.rules)

    @property
    def evidence(self) -> str | None:
        """The table of what events need beside scores."""
        path = self.values["events"]["evidence"]
        return None if path is None else str(path)

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
    """Return the configuration of a file."""
    document = read_document(Path(path), str(path))
    if overrides:
        document = replace(document, data=_merged(document.data, overrides))
    return check(document)


def named_calibration(calibration: str | None, release: str | None, config: str) -> str:
    """Return the calibration file that a user names, or that of a release."""
    if (calibration is None) == (release is None):
        raise refuse(
            "--calibration",
            "a calibration is named by its file or by its release.",
            "Give --calibration or --release, one of the two.",
        )
    if calibration is not None:
        return calibration
    assert release is not None
    folder = Path(release)
    if folder.is_dir():
        files = [folder / "calibration.json", *sorted((folder / "calibrations").glob("*.json"))]
        found = [file for file in files if file.exists()]
        if len(found) == 1 or (found and found[0] == files[0]):
            return str(found[0])
        what = "several calibrations are" if found else "no calibration is"
        raise refuse(release, f"{what} in this folder.", "Name the file with --calibration.")
    settings = load(config)
    name_of = {folder: folder.split("-", 1)[1] for folder in settings.releases}
    chosen = [folder for folder, name in name_of.items() if release in (folder, name)]
    if not chosen:
        what = f"{release!r} is no release of {config}."
        raise refuse("--release", what, nearest(release, list(name_of.values())))
    method = slug(settings.method)
    path = Path("results", settings.run, "releases", chosen[0], "calibrations", f"{method}.json")
    if not path.exists():
        what = f"release {release!r} was not derived yet: there is no file {path}."
        raise refuse("--release", what, f"Run credence run --config {config} first.")
    return str(path)


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
    """Return the configuration of settings that another workflow hands over."""
    return check(Document(where, json.loads(json.dumps(values)), {}))


def loads(text: str, where: str = "config.yaml") -> Configuration:
    """Return the configuration of YAML text."""
    return check(parse_document(text, where))


def check(document: Document) -> Configuration:
    """Return the typed configuration of a document."""
    schema = load_schema()
    problems: list[Problem] = []
    for found in (
        document.problems,
        schema_problems(document, schema),
        meaning_problems(document),
    ):
        # A setting that is wrong in one way would be told again in another.
        message = {problem.column for problem in problems}
        problems += [problem for problem in found if problem.column not in message]
    if problems:
        raise InputError(sorted(problems, key=lambda problem: problem.line or 0))
    values = with_defaults(document.data, schema, schema)
    return _typed(document, values)


def _typed(document: Document, values: Mapping[str, Any]) -> Configuration:
    from credence.calibrators.method_spec import parse_method

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
