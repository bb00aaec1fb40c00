"""Settings of events: which are asked for, and how they are learnt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from credence.configuration.reading import Document, SettingPath
from credence.problems import InputError, Problem, nearest


def has_events(values: Mapping[str, Any]) -> bool:
    """Return whether any event is asked for.

    Parameters
    ----------
    values : mapping
        The block `events`, defaults filled in.
    """
    return bool(values["ask"] or values["groups"] or values["rules"])


def event_words(values: Mapping[str, Any]) -> list[str]:
    """Return the options of ``credence events``.

    Parameters
    ----------
    values : mapping
        The block `events`, defaults filled in.
    """
    words: list[str] = []
    for option, key in (("--ask", "ask"), ("--compare", "compare"), ("--without", "without")):
        for name in values[key]:
            words += [option, name]
    words += ["--named", json.dumps(values["groups"], ensure_ascii=False)]
    words += ["--rules", json.dumps(values["rules"], ensure_ascii=False)]
    if values["admissible"] is not None:
        words += ["--admissible", values["admissible"]]
    words += ["--forecaster", values["forecaster"], "--folds", str(values["folds"])]
    return [*words, "--agree" if values["agree"] else "--no-agree"]


def event_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with the settings of events, whatever the classes are.

    Parameters
    ----------
    document : Document
        What the user wrote, whether or not it fits the schema.
    """
    from credence.events.event import STANDING
    from credence.events.features.registry import BY_NAME as FEATURES
    from credence.events.forecasters.registry import BY_NAME as FORECASTERS

    block = document.data.get("events")
    if not isinstance(block, dict):
        return
    for key, known, kind in (
        ("ask", STANDING, "event"),
        ("compare", tuple(FORECASTERS), "forecaster"),
        ("without", tuple(FEATURES), "feature"),
    ):
        for path, name in _entries(block, key):
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
    """Yield the classes and columns of events that the tables do not have.

    Parameters
    ----------
    document : Document
        What the user wrote; it fits the schema.
    class_names : sequence of str
        The classifier's classes.
    """
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


def _entries(block: Mapping[str, Any], key: str) -> Iterator[tuple[SettingPath, str]]:
    values = block.get(key)
    for position, name in enumerate(values if isinstance(values, list) else []):
        if isinstance(name, str):
            yield (key, position), name


def _mapping(block: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = block.get(key)
    return found if isinstance(found, dict) else {}
