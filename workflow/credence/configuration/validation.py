"""A document against the schema: messages a user can act on, and defaults."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

from credence.configuration.reading import Document, SettingPath
from credence.problems import Problem, nearest

Schema = Mapping[str, Any]

TYPE_WORDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a group of settings",
    "null": "null",
}


def schema_problems(document: Document, schema: Schema) -> list[Problem]:
    """Return everything in which a document departs from a schema, by line.

    Parameters
    ----------
    document : Document
        What the user wrote.
    schema : mapping
        JSON schema, draft 2020-12.
    """
    from jsonschema import Draft202012Validator

    problems: list[Problem] = []
    for error in Draft202012Validator(dict(schema)).iter_errors(document.data):
        problems.extend(_problems_of(error, document))
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or ""))


def with_defaults(data: Mapping[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    """Return the settings with the schema's default wherever none is given.

    Parameters
    ----------
    data : mapping
        Valid settings.
    schema : mapping
        Their schema.
    root : mapping
        The whole schema, in which references are looked up.
    """
    filled = dict(data)
    for name, raw in resolve(schema, root).get("properties", {}).items():
        rule = resolve(raw, root)
        if name not in filled and "default" in rule:
            filled[name] = copy.deepcopy(rule["default"])
        value = filled.get(name)
        if isinstance(value, dict):
            filled[name] = with_defaults(value, rule, root)
        elif isinstance(value, list) and "items" in rule:
            filled[name] = [
                with_defaults(item, rule["items"], root) if isinstance(item, dict) else item
                for item in value
            ]
    return filled


def resolve(rule: Schema, root: Schema) -> Schema:
    """Return a rule with its reference into the same schema followed.

    Parameters
    ----------
    rule : mapping
        Possibly with ``$ref: "#/$defs/<name>"``.
    root : mapping
        The whole schema.
    """
    if "$ref" not in rule:
        return rule
    target = root["$defs"][rule["$ref"].rsplit("/", 1)[-1]]
    return {**target, **{key: value for key, value in rule.items() if key != "$ref"}}


def _problems_of(error: Any, document: Document) -> Iterator[Problem]:
    path: SettingPath = tuple(error.absolute_path)
    rule, value = error.schema, error.instance
    match error.validator:
        case "additionalProperties":
            known = list(rule.get("properties", {}))
            for name in value:
                if name not in known:
                    yield document.problem((*path, name), "unknown setting.", nearest(name, known))
        case "required":
            # jsonschema reports each missing name by an error of its own.
            missing = error.message.split("'")[1]
            yield document.problem((*path, missing), "this setting is missing.", "Add it.")
        case "type":
            order = _order(rule)
            if _wanted(rule) == TYPE_WORDS["string"] and isinstance(value, int | float):
                order = f'Write "{shown(value)}", in quotes.'
            yield document.problem(path, f"{shown(value)} is not {_wanted(rule)}.", order)
        case "enum":
            remedy = nearest(str(value), [str(word) for word in rule["enum"]])
            yield document.problem(path, f"{shown(value)} is not allowed.", remedy)
        case "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum":
            yield document.problem(path, f"{value!r} is out of range.", _order(rule))
        case "pattern":
            yield document.problem(
                path,
                f"{value!r} cannot name a folder.",
                "Use letters, digits, - and _ only, a letter or digit first.",
            )
        case "minItems":
            yield document.problem(
                path, "the list is too short.", f"Give at least {rule['minItems']}."
            )
        case "minLength":
            yield document.problem(path, "the text is empty.", "Give a name.")
        case "uniqueItems":
            yield document.problem(path, "an entry stands twice.", "Remove one of the two.")
        case _:
            raise AssertionError(f"the schema uses {error.validator!r}, which has no message")


def shown(value: Any) -> str:
    """Return a value as a user writes it.

    Examples
    --------
    >>> shown("ten"), shown(None), shown(True), shown([1, "a"])
    ("'ten'", 'null', 'true', '[1, "a"]')
    """
    return repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _wanted(rule: Schema) -> str:
    kinds = rule["type"]
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return " or ".join(TYPE_WORDS[kind] for kind in kinds)


def _order(rule: Schema) -> str:
    kinds = rule.get("type", "number")
    main = kinds if isinstance(kinds, str) else kinds[0]
    if main not in ("number", "integer"):
        return f"Give {_wanted(rule)}."
    if "minimum" in rule and "maximum" in rule:
        return f"Give {TYPE_WORDS[main]} from {rule['minimum']:g} to {rule['maximum']:g}."
    limits = []
    if "minimum" in rule:
        limits.append(f"of at least {rule['minimum']:g}")
    if "exclusiveMinimum" in rule:
        limits.append(f"above {rule['exclusiveMinimum']:g}")
    if "maximum" in rule:
        limits.append(f"of at most {rule['maximum']:g}")
    if "exclusiveMaximum" in rule:
        limits.append(f"below {rule['exclusiveMaximum']:g}")
    return f"Give {TYPE_WORDS[main]} {' and '.join(limits)}".rstrip() + "."
