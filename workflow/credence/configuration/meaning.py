"""What a schema cannot say: names that nothing bears, files that are not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from credence.configuration.events import event_problems
from credence.configuration.names import folder_problems, path_problem
from credence.configuration.novelty import novelty_problems
from credence.configuration.reading import Document, SettingPath
from credence.configuration.shift import shift_problems
from credence.configuration.troves import trove_problems
from credence.problems import InputError, Problem, nearest


def meaning_problems(document: Document) -> list[Problem]:
    """Return what a schema cannot say: names that nothing bears, missing files.

    Parameters
    ----------
    document : Document
        What the user wrote, whether or not it fits the schema.
    """
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
    from credence.calibrators.spec import parse_method

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
    from credence.simulate.settings import world_settings

    values = document.data["demo"]
    if isinstance(values, dict):
        try:
            world_settings(values, document.where)
        except InputError as error:
            for problem in error.problems:
                path = ("demo", str(problem.column))
                yield document.problem(path, problem.what, problem.remedy)


def _set_problems(document: Document) -> Iterator[Problem]:
    from credence.tables.formats.registry import FORMATS

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
                "Mend it.",
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
    from credence.configuration.commands import DEMO_FILES

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
                "Mend the path; it starts where you run the command.",
            )


def _files(data: Mapping[str, Any]) -> Iterator[tuple[SettingPath, str]]:
    for path, entry in _sets(data):
        scores = entry.get("scores")
        if isinstance(scores, str):
            yield (*path, "scores"), scores
        elif isinstance(scores, list):
            for position, text in enumerate(scores):
                if isinstance(text, str):
                    yield (*path, "scores", position), text
        proteins, labels = entry.get("proteins"), entry.get("labels")
        if isinstance(proteins, str):
            yield (*path, "fasta" if path[0] == "troves" else "proteins"), proteins
        if isinstance(entry.get("clusters"), str):
            yield (*path, "clusters"), entry["clusters"]
        if isinstance(labels, str):
            yield (*path, "labels"), labels
        if isinstance(labels, dict) and isinstance(labels.get("table"), str):
            yield (*path, "labels", "table"), labels["table"]
    for path in (("training", "proteins"), ("clustering", "table"), ("events", "evidence")):
        section = data.get(path[0])
        if isinstance(section, dict) and isinstance(section.get(path[1]), str):
            yield path, section[path[1]]
