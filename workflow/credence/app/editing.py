"""The text of a configuration: sections with their comments, troves put in or taken out.

For troves the text is edited where the list stands and nowhere else: a YAML writer would
set comments, order, quotes and line ends its own way. What comes out is read again.
"""

import io
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from credence.problems import InputError, refuse
from credence.tables.document import parse_document, resolve

TROVES, LOOKED = "troves", "looked"
PLAIN_TEXT = re.compile(r"(\.{0,2}/|[A-Za-z_])[A-Za-z0-9_./-]*|[A-Za-z]+( [A-Za-z]+)+", re.ASCII)
OF_TROVES = "the list troves is written in a way that is not edited here."
WRITE_TROVES = "Write it so that troves is a list of lines that begin with '- ', or"
WORDS_OF_YAML = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "."}


def section_text(name: str, schema: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Return the lines of a section: every setting, its value or default, and what it means."""
    section = resolve(schema["properties"][name], schema)
    lines = [f"{name}:  # {_comment(section)}"]
    for key, raw in section["properties"].items():
        rule = resolve(raw, schema)
        value, comment = values.get(key, rule.get("default")), _comment(rule)
        if "default" in rule and value != rule["default"]:
            comment += f"; default: {inline(rule['default'])}"
        lines.append(f"  {key}: {inline(value)}  # {comment}")
    return "\n".join(lines) + "\n"


def _comment(rule: Mapping[str, Any]) -> str:
    """Return a description as it stands behind a setting: no sentence, but part of a line."""
    text = str(rule["description"]).removesuffix(".")
    return text if text[1:2].isupper() else text[0].lower() + text[1:]


def with_trove(text: str, entry: Mapping[str, Any], where: str) -> str:
    """Return a configuration with one trove more, at the end of its list."""
    root, key, value = _nodes(text, where)
    lines = text.splitlines(keepends=True)
    end = "\r\n" if "\r\n" in text else "\n"
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += end
    if root.flow_style or (_entries(value) and value.flow_style):
        edited = text  # which is refused below
    elif value is None:
        indent = root.start_mark.column
        block = ["", f"{' ' * indent}{TROVES}:", *_block(entry, indent + 2)]
        edited = "".join([*lines, *(line + end for line in block)])
    else:
        if _entries(value):
            indent = value.start_mark.column
            place = _last_line(value.value[-1]) + 1
            # The comments that belong to an item stand deeper.
            while place < len(lines) and re.match(rf" {{{indent + 1},}}#", lines[place]):
                place += 1
        else:  # an empty list, or nothing
            indent, place = key.start_mark.column + 2, key.start_mark.line + 1
            start, stop, line = value.start_mark, value.end_mark, lines[place - 1]
            if start.line == stop.line == place - 1:
                lines[place - 1] = line[: start.column].rstrip(" ") + line[stop.column :]
        lines[place:place] = [line + end for line in _block(entry, indent)]
        edited = "".join(lines)
    data = parse_document(text, where).data
    wanted = {**data, TROVES: [*(data.get(TROVES) or []), dict(entry)]}
    by_hand = "write by hand:\n" + "\n".join(_block(entry, 2))
    return _checked(edited, wanted, where, OF_TROVES, f"{WRITE_TROVES} {by_hand}")


def with_look(text: str, look: Mapping[str, str], where: str) -> str:
    """Return a configuration that says who looked at the figures, in place of what it said."""
    data = parse_document(text, where).data
    lines = text.splitlines(keepends=True)
    for key, value in _root(text).value:
        if key.value == LOOKED:
            lines[key.start_mark.line : _last_line(value) + 1] = []
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += "\n"
    edited = "".join(lines) + look_lines(look)
    reason = "who looked cannot be written into it."
    return _checked(
        edited, {**data, LOOKED: dict(look)}, where, reason, f"Write by hand:\n{look_lines(look)}"
    )


def look_lines(look: Mapping[str, str]) -> str:
    """Return the lines of a configuration that say who looked at the figures."""
    rows = [f"{LOOKED}:", *(f"  {name}: {inline(value)}" for name, value in look.items())]
    return "\n".join(rows) + "\n"


def without_trove(text: str, position: int, where: str) -> str:
    """Return a configuration without one of its troves."""
    _, _, value = _nodes(text, where)
    lines = text.splitlines(keepends=True)
    item = value.value[position]
    if not value.flow_style:
        start, stop = item.start_mark.line, _last_line(item) + 1
        while not lines[start].lstrip().startswith("-"):
            start -= 1
        lines[start:stop] = []
        if len(value.value) == 1:
            named = rf"\s*[\"']?{TROVES}[\"']?\s*:"
            place = start - 1
            while not (match := re.match(named, lines[place])):
                place -= 1
            lines[place] = f"{match[0]} []{lines[place][match.end() :]}"
    data = parse_document(text, where).data
    left = [entry for at, entry in enumerate(data[TROVES]) if at != position]
    by_hand = "take the entry out by hand."
    wanted = {**data, TROVES: left}
    return _checked("".join(lines), wanted, where, OF_TROVES, f"{WRITE_TROVES} {by_hand}")


def _nodes(text: str, where: str) -> tuple[Any, Any, Any]:
    """Return the nodes of all settings, of the list's name and of the list, or None."""
    parse_document(text, where)  # refuses what is no YAML
    root = _root(text)
    for key, value in root.value:
        if key.value == TROVES:
            return root, key, value
    return root, None, None


def _root(text: str) -> Any:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=True).compose(io.StringIO(text))


def _entries(value: Any) -> list[Any]:
    """Return the entries of a node that is a list; none of another."""
    return value.value if value is not None and value.id == "sequence" else []


def _last_line(node: Any) -> int:
    if node.id == "scalar" or node.flow_style:
        mark = node.end_mark
        is_next = mark.column == 0 and mark.line > node.start_mark.line
        return int(mark.line) - (1 if is_next else 0)
    lines = [int(node.start_mark.line)]
    for entry in node.value:
        for part in entry if node.id == "mapping" else [entry]:
            # Nothing stands where the next thing begins.
            if part.start_mark.index < part.end_mark.index:
                lines.append(_last_line(part))
    return max(lines)


def _block(entry: Mapping[str, Any], indent: int) -> list[str]:
    rows = []
    for name, value in entry.items():
        if isinstance(value, Mapping) and name == "sha256":
            rows.append(f"{name}:")
            rows += [f"  {inline(key)}: {inline(digest)}" for key, digest in value.items()]
        else:
            rows.append(f"{name}: {inline(value)}")
    pad = " " * indent
    return [f"{pad}{'- ' if at == 0 else '  '}{row}" for at, row in enumerate(rows)]


def inline(value: Any) -> str:
    """Return a value on one line; text plain where YAML, 1.1 too, takes it for nothing else."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{inline(k)}: {inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(inline, value)) + "]"
    if (
        isinstance(value, str)
        and PLAIN_TEXT.fullmatch(value)
        and value.lower() not in WORDS_OF_YAML
    ):
        return value
    if isinstance(value, float):  # YAML 1.1 takes 1e-06 for text
        return re.sub(r"^(-?\d+)e([+-])0*", r"\1.0e\2", f"{value:.15g}")
    return json.dumps(value, ensure_ascii=False)


def _checked(edited: str, wanted: Mapping[str, Any], where: str, reason: str, remedy: str) -> str:
    """Return an edit; refuse one that does not say what was meant, which is made by hand then."""
    with suppress(InputError):
        if parse_document(edited, where).data == wanted:
            return edited
    raise refuse(where, reason, remedy)
