"""A YAML file as plain data that remembers the line of every setting."""

import copy
import io
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence.problems import InputError, Problem, nearest, refuse
from credence.records import refuse_pipe, short

SettingPath = tuple[str | int, ...]

MOST_SETTINGS = 100_000  # nobody writes as many; aliases of aliases make more of few lines
MAXIMUM_DEPTH = 20  # a configuration is four levels deep; an alias of itself has no end
CORE_TAGS = "tag:yaml.org,2002:"


@dataclass(frozen=True, kw_only=True)
class Document:
    """The settings of a file, and where each stands."""

    where: str  # The file as the user named it
    data: dict[str, Any]  # Plain data: dicts, lists, strings, numbers, booleans and None
    lines: Mapping[SettingPath, int]  # Line of each setting, counted from 1, by its path
    # What is wrong with the writing: a setting that stands twice, for example.
    problems: tuple[Problem, ...] = ()

    def line(self, path: SettingPath) -> int | None:
        """Return the line of a setting, or of what it should stand in."""
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return None

    def problem(self, path: SettingPath, defect: str, remedy: str) -> Problem:
        """Return a problem with the setting at `path`."""
        return Problem(
            where=self.where,
            what=defect,
            remedy=remedy,
            line=self.line(path),
            column=dotted(path) or None,
        )


def dotted(path: SettingPath) -> str:
    """Return the path of a setting as one word."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else ("." if text else "") + step
    return text


def read_document(path: Path, where: str | None = None) -> Document:
    """Return the settings of a YAML file."""
    where = where or str(path)
    refuse_pipe(path)
    if path.is_dir():
        raise refuse(where, "this is a folder.", "Name the configuration file in it.")
    if not path.exists():
        defect = "there is no such file."
        raise refuse(where, defect, "Name an existing one, or write it: credence init.")
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        defect = "this line is not text in UTF-8."
        raise refuse(where, defect, "Save the file as UTF-8.", line) from error
    return parse_document(text, where)


def parse_document(text: str, where: str) -> Document:
    """Return the settings of YAML text."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="safe", pure=True)
    try:
        node = yaml.compose(io.StringIO(text))
    except YAMLError as error:
        raise _not_yaml(error, where) from error
    except RecursionError:
        raise refuse(where, "settings are nested without end.", "Write them out.") from None
    if node is None:
        raise refuse(where, "the file is empty.", "Write one with: credence init NAME.")
    builder = _Builder(where)
    data = builder.build(node, ())
    if not isinstance(data, dict):
        raise refuse(where, "there are no settings here.", "Write lines like run: mylab.", 1)
    return Document(where=where, data=data, lines=builder.lines, problems=tuple(builder.problems))


def _not_yaml(error: Exception, where: str) -> InputError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = None if mark is None else mark.line + 1
    reason = (getattr(error, "problem", None) or str(error)).splitlines()[0]
    reason = reason.replace("'<stream end>'", "the end of the file")
    if "another document" in reason:
        return refuse(where, "a second document begins here.", "Remove it and its ---.", line)
    if "\\t" in reason:
        return refuse(where, "a tab stands here.", "Indent with spaces.", line)
    return refuse(where, f"this is not YAML: {reason}.", "Fix this line or the one before.", line)


class _Builder:
    """Builds plain data of a composed YAML node, and keeps lines and problems."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.lines: dict[SettingPath, int] = {}
        self.problems: list[Problem] = []
        self._n_built = 0

    def build(self, node: Any, path: SettingPath) -> Any:
        self._n_built += 1
        if self._n_built > MOST_SETTINGS:
            defect = f"aliases make more than {MOST_SETTINGS:,} settings of this."
            raise refuse(self.where, defect, "Write them out.", node.start_mark.line + 1)
        if len(path) > MAXIMUM_DEPTH:
            self._report(node, path[:2], "settings are nested without end.", "Write them out.")
            return None
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            items = []
            for position, item in enumerate(node.value):
                self.lines[(*path, position)] = item.start_mark.line + 1
                items.append(self.build(item, (*path, position)))
            return items
        return self._scalar(node, path)

    def _mapping(self, node: Any, path: SettingPath) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key in data:
                defect = f"this setting stands on line {self.lines[(*path, key)]} already."
                self._report(key_node, (*path, key), defect, "Remove one of the two.")
                continue
            self.lines[(*path, key)] = key_node.start_mark.line + 1
            data[key] = self.build(value_node, (*path, key))
        return data

    def _scalar(self, node: Any, path: SettingPath) -> Any:
        kind, text = str(node.tag).removeprefix(CORE_TAGS), str(node.value)
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind in ("int", "float"):
            digits = text.replace("_", "").lower()
            with suppress(ValueError):
                number = int(digits, 0) if kind == "int" else float(digits.replace(".inf", "inf"))
                if abs(number) < math.inf:
                    return number
            self._report(node, path, f"{text!r} is not a number.", "Give a finite number.")
            return None
        if kind in ("str", "timestamp", "value", "merge"):
            return text
        self._report(node, path, f"the tag {kind!r} is not allowed.", "Remove it.")
        return None

    def _report(self, node: Any, path: SettingPath, defect: str, remedy: str) -> None:
        line = node.start_mark.line + 1
        self.problems.append(
            Problem(
                where=self.where,
                what=defect,
                remedy=remedy,
                line=line,
                column=dotted(path) or None,
            )
        )


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
LIMIT_WORDS = {
    "minimum": "of at least",
    "exclusiveMinimum": "above",
    "maximum": "of at most",
    "exclusiveMaximum": "below",
}


def _validator(schema: Schema) -> Any:
    """Return what checks data by a schema; nan, which is within all limits, is no number."""
    from jsonschema import Draft202012Validator, validators

    checker = Draft202012Validator.TYPE_CHECKER
    is_number = checker.redefine(
        "number", lambda _, value: checker.is_type(value, "number") and value == value
    )
    kind: Any = validators.extend(Draft202012Validator, type_checker=is_number)  # type: ignore[no-untyped-call]
    return kind(dict(schema))


def schema_problems(document: Document, schema: Schema) -> list[Problem]:
    """Return everything in which a document departs from a schema, by line."""
    problems: list[Problem] = []
    for error in _validator(schema).iter_errors(document.data):
        problems.extend(_problems_of(error, document))
    return sorted(problems, key=lambda problem: (problem.line or 0, problem.column or ""))


def with_defaults(data: Mapping[str, Any], schema: Schema, root: Schema) -> dict[str, Any]:
    """Return the settings with the schema's default wherever none is given."""
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


def well_typed(value: Any, schema: Schema, root: Schema) -> Any:
    """Return data without what is of another type than a schema's; None in lists and mappings."""
    if isinstance(value, list):
        rule = resolve(schema.get("items", {}), root)
        return [well_typed(v, rule, root) if _has_type(v, rule) else None for v in value]
    if not isinstance(value, dict):
        return value
    known, other = schema.get("properties", {}), schema.get("additionalProperties")
    kept = {}
    for name, entry in value.items():
        rule = resolve(known.get(name, other if isinstance(other, dict) else {}), root)
        if _has_type(entry, rule):
            kept[name] = well_typed(entry, rule, root)
        elif name not in known:
            kept[name] = None
    return kept


def _has_type(value: Any, rule: Schema) -> bool:
    return "type" not in rule or bool(_validator({"type": rule["type"]}).is_valid(value))


def resolve(rule: Schema, root: Schema) -> Schema:
    """Return a rule with its reference into the same schema followed."""
    if "$ref" not in rule:
        return rule
    target = root["$defs"][rule["$ref"].rsplit("/", 1)[-1]]
    return {**target, **{key: value for key, value in rule.items() if key != "$ref"}}


def _problems_of(error: Any, document: Document) -> Iterator[Problem]:
    path: SettingPath = tuple(error.absolute_path)
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for name in [name for name in error.instance if name not in known]:
            yield document.problem((*path, name), "unknown setting.", nearest(name, known))
    elif error.validator == "required":
        # jsonschema reports each missing name by an error of its own.
        missing = error.message.split("'")[1]
        yield document.problem((*path, missing), "this setting is missing.", "Add it.")
    else:
        words = _what_and_remedy(error.validator, error.schema, error.instance)
        yield document.problem(path, *words)


def _what_and_remedy(validator: str, rule: Schema, value: Any) -> tuple[str, str]:
    if validator == "type":
        order = _order(rule)
        if "string" in rule["type"] and isinstance(value, bool):
            order = quoting(value)
        elif _wanted(rule) == TYPE_WORDS["string"] and isinstance(value, int | float):
            order = f'Write "{as_written(value)}", in quotes.'
        return f"{short(as_written(value))} is not {_wanted(rule)}.", order
    if validator == "enum":
        remedy = nearest(str(value), list(map(str, rule["enum"])))
        return f"{short(as_written(value))} is not allowed.", remedy
    if validator in LIMIT_WORDS:
        return f"{short(repr(value))} is out of range.", _order(rule)
    if validator == "pattern" and "remedy" in rule:
        return f"{short(repr(value))} is not allowed.", rule["remedy"]
    if validator == "pattern":
        remedy = "Use letters, digits, - and _ only, a letter or digit first."
        return f"{value!r} cannot name a folder.", remedy
    return {
        "minItems": ("the list is too short.", f"Give at least {rule.get('minItems')}."),
        "minLength": ("the text is empty.", "Give a name."),
        "uniqueItems": ("an entry stands twice.", "Remove one of the two."),
    }[validator]


def quoting(value: bool) -> str:
    """Return the remedy where a word is read as true or false, as YAML 1.1 does with many."""
    words = "yes and on" if value else "no and off"
    return f"Put it in quotes: YAML reads words like {words} as {as_written(value)} too."


def as_written(value: Any) -> str:
    """Return a value as a user writes it."""
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
        ends = " to ".join(_limit(rule[key]) for key in ("minimum", "maximum"))
        return f"Give {TYPE_WORDS[main]} from {ends}."
    limits = [f"{words} {_limit(rule[key])}" for key, words in LIMIT_WORDS.items() if key in rule]
    return f"Give {TYPE_WORDS[main]} {' and '.join(limits)}".rstrip() + "."


def _limit(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"
