"""Settings: a default, a range and a line of help, written once beside their field.

The configuration's schema, the options of commands, the values that a rule hands
over and the reference are all made from what stands here beside a field.
"""

import re
import types
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

JSON_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    tuple: "array",
    Mapping: "object",
}


@dataclass(frozen=True, kw_only=True)
class SettingRule:
    """What a user may write for one setting."""

    text: str  # One line of help
    choices: tuple[str, ...] = ()  # Words allowed; with numbers too where `low` or `high` is given
    low: float | None = None  # Range of numbers, its limits included
    high: float | None = None
    above: float | None = None  # The same, the limits themselves left out
    below: float | None = None
    option: str | None = None  # Its name on the command line, where it is another
    alone: str | None = None  # What the option means where no value follows it
    schema: Mapping[str, Any] = field(default_factory=dict)  # Further rules of JSON schema


def range_in_words(low: float | None, high: float | None) -> str:
    """Return the range that numbers have to keep to; '' where any will do."""
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    if low is not None:
        return f"of at least {low:g}"
    return "" if high is None else f"of at most {high:g}"


def setting(default: Any, text: str, choices: tuple[str, ...] = (), **rule: Any) -> Any:
    """Return a dataclass field that carries its own :class:`SettingRule`."""
    metadata = {"rule": SettingRule(text=text, choices=choices, **rule)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def setting_rules(settings: type[Any]) -> dict[str, tuple[Any, SettingRule]]:
    """Return name → (default, rule) of settings, in order."""
    rules = {}
    for entry in fields(settings):
        made = entry.default_factory
        default = entry.default if made is MISSING else made()
        assert default is not MISSING, f"{settings.__name__}.{entry.name} has no default"
        rules[entry.name] = (default, entry.metadata["rule"])
    return rules


def setting_type(settings: type[Any], name: str) -> tuple[type, bool]:
    """Return the type of a setting, and whether it may be absent."""
    hint = get_type_hints(settings)[name]
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    main = next(part for part in parts if part is not types.NoneType)
    return get_origin(main) or main, types.NoneType in parts


def type_text(settings: type[Any], name: str) -> str:
    """Return the type of a setting as a caller writes it: of a tuple, any sequence will do."""
    hint = get_type_hints(settings)[name]
    text = hint.__name__ if type(hint) is type else str(hint)
    return re.sub(r"tuple\[(\w+), \.\.\.\]", r"Sequence[\1]", re.sub(r"\b(?:\w+\.)+", "", text))


def item_of(settings: type[Any], name: str) -> type:
    """Return the type of the entries of a setting that is a tuple."""
    hint = get_type_hints(settings)[name]
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not types.NoneType)
    kind: type = get_args(hint)[0]
    return kind


def schema_of(settings: type[Any]) -> dict[str, Any]:
    """Return the JSON schema of settings: what may be written, and every default."""
    properties = {}
    for name, (default, rule) in setting_rules(settings).items():
        kind, may_be_absent = setting_type(settings, name)
        word = JSON_KINDS[Mapping if kind.__name__ == "Mapping" else kind]
        property_: dict[str, Any] = {"description": rule.text}
        property_["type"] = [word, "null"] if may_be_absent else word
        names = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
        limits = dict(zip(names, (rule.low, rule.high, rule.above, rule.below), strict=True))
        property_ |= {key: limit for key, limit in limits.items() if limit is not None}
        if rule.choices and "properties" in rule.schema:  # a word, or a mapping
            property_["type"], property_["if"] = [word, "object"], {"type": word}
            property_["then"] = {"enum": list(rule.choices)}
        elif rule.choices:
            property_["enum"] = list(rule.choices)
        if word == "array":
            item: dict[str, Any] = {"type": JSON_KINDS[item_of(settings, name)]}
            item |= {key: property_.pop(key) for key in limits if key in property_}
            property_["items"] = item
        property_ |= rule.schema
        property_["default"] = list(default) if isinstance(default, tuple) else default
        properties[name] = property_
    return {
        "description": (settings.__doc__ or "").splitlines()[0],
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "default": {},
    }


def settings_from(settings: type[Any], values: Mapping[str, Any]) -> Any:
    """Return settings of checked values; lists become tuples, numbers those of their setting."""
    converted = dict(values)
    for name, value in values.items():
        kind, _ = setting_type(settings, name)
        if isinstance(value, list | tuple):
            is_number = item_of(settings, name) is float
            converted[name] = tuple(map(float, value) if is_number else value)
        elif kind in (int, float) and value is not None:
            converted[name] = kind(value)
    return settings(**converted)
