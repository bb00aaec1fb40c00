"""The pages of the reference, made from the code, and notebooks as pages.

`make docs` writes them beside copies of the other pages into a folder, of which mkdocs makes
the site: `python docs/reference.py build/docs`.
"""

from __future__ import annotations

import base64
import dataclasses
import inspect
import json
import shutil
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import messages

import credence
from credence.app import COMMANDS, GROUPS, HIDDEN, group
from credence.stages.methods import describe_methods, method_lines
from credence.stages.settings import SECTIONS, load_schema

TOP = Path(__file__).resolve().parents[1]
PAGES = TOP / "docs"
NOTEBOOKS = TOP / "examples" / "notebooks"


def block(text: str) -> str:
    """Return text as it stands, in a box."""
    return f"\n```text\n{text.rstrip()}\n```\n"


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Yield each command and those below it, by the words that call it."""
    context = click.Context(group, info_name="credence")
    for name in COMMANDS:
        command = group.get_command(context, name)
        assert command is not None
        yield name, command
        for below in getattr(command, "commands", {}).items():
            yield f"{name} {below[0]}", below[1]


def commands() -> str:
    """Return the page of commands: their help, as they print it."""
    parts = ["# Commands", "What `credence COMMAND --help` prints, in the order of use:\n"]
    for title, names in {**GROUPS, "For workflows, not in the list": HIDDEN}.items():
        links = ", ".join(f"[{name}](#{name})" for name in names)
        parts[-1] += f"\n- **{title}**: {links}"
    for name, command in every_command():
        context = click.Context(command, info_name=f"credence {name}", max_content_width=100)
        parts += [f"## `{name}`", block(command.get_help(context))]
    return "\n\n".join(parts)


def rows_of(name: str, entry: dict[str, Any], definitions: dict[str, Any]) -> Iterator[str]:
    """Yield a row for a setting and for each one below it."""
    entry = definitions.get(str(entry.get("$ref", "")).rpartition("/")[2], {}) | entry
    kind = entry.get("enum") or entry.get("type") or ""
    words = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    limits = {"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "above"}
    range_ = ", ".join(f"{word} {entry[key]:g}" for key, word in limits.items() if key in entry)
    default = "" if "default" not in entry else f"`{entry['default']!r}`"
    text = str(entry.get("description", "")).replace("|", "\\|").replace("<", "&lt;")
    cells = (f"`{name}`", text, f"{words}{'; ' if range_ else ''}{range_}", default)
    yield f"| {' | '.join(cell.replace(chr(10), ' ') for cell in cells)} |"
    for key, below in entry.get("properties", {}).items():
        yield from rows_of(f"{name}.{key}", below, definitions)
    items = entry.get("items", {})
    for key, below in (
        (definitions.get(str(items.get("$ref", "")).rpartition("/")[2]) or {})
        .get("properties", {})
        .items()
    ):
        yield from rows_of(f"{name}[].{key}", below, definitions)


def configuration() -> str:
    """Return the page of the configuration: every setting with default and range."""
    schema = load_schema()
    parts = ["# Configuration", "Every setting, as `credence check` knows it; an example is"]
    parts[1] += " `config.yaml`. Sections of settings: " + ", ".join(f"`{s}`" for s in SECTIONS)
    parts[1] += ". What a path names is found from the folder in which the command is typed."
    for name, entry in schema["properties"].items():
        rows = list(rows_of(name, entry, schema["$defs"]))
        parts += [
            f"## `{name}`",
            "| setting | what it is | values | default |\n|---|---|---|---|\n",
        ]
        parts[-1] += "\n".join(rows)
    return "\n\n".join(parts)


def methods() -> str:
    """Return the page of all methods, as `credence show methods` lists them."""
    parts = [
        "# Calibration methods",
        "What `credence show methods` prints, from simple to complex.",
    ]
    address = "mathematics.md#2-from-a-score-to-a-confidence"
    parts += [f"What their formulas are: [the full mathematics]({address})."]
    for entry in describe_methods():
        parts += [f"## `{entry['name']}`", block("\n".join(method_lines(entry)))]
    return "\n\n".join(parts)


def python() -> str:
    """Return the page of what `import credence` gives: signatures and docstrings."""
    parts = ["# Python", inspect.cleandoc(credence.__doc__ or "").splitlines()[0]]
    for name in credence.__all__:
        thing = getattr(credence, name)
        if not callable(thing):
            continue
        signature = "" if inspect.isclass(thing) else str(inspect.signature(thing))
        parts += [f"## `credence.{name}`", block(f"{name}{signature}\n\n{inspect.getdoc(thing)}")]
        if not inspect.isclass(thing):
            continue
        hidden = {field.name for field in dataclasses.fields(thing)} if is_record(thing) else set()
        for below, member in inspect.getmembers(thing):
            text = inspect.getdoc(member)
            if not below.startswith("_") and below not in hidden and text:
                parts += [f"### `{name}.{below}`", block(textwrap.dedent(text))]
    return "\n\n".join(parts)


def is_record(thing: object) -> bool:
    """Return whether a class is a record with fields."""
    return dataclasses.is_dataclass(thing)


def notebook_page(path: Path, folder: Path) -> str:
    """Return a notebook as a page, and write its pictures into the folder."""
    parts = []
    pictures = 0
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                parts.append(block("".join(output["text"])))
                continue
            name = f"{path.stem}-{pictures}.png"
            pictures += 1
            (folder / "images" / name).write_bytes(base64.b64decode(output["data"]["image/png"]))
            parts.append(f"![What the cell above draws](images/{name})")
    address = path.relative_to(TOP)
    return "\n\n".join([*parts, f"The notebook: `{address}`."])


MADE = {
    "reference-commands.md": commands,
    "reference-configuration.md": configuration,
    "reference-methods.md": methods,
    "reference-python.md": python,
    "reference-messages.md": messages.page,
}


def write_site(folder: Path) -> None:
    """Write all pages into a folder, anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(PAGES, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    shutil.copy(TOP / "CHANGELOG.md", folder / "changelog.md")
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        page = f"notebook-{path.stem.replace('_', '-')}.md"
        (folder / page).write_text(notebook_page(path, folder) + "\n", encoding="utf-8")
    for name, make in MADE.items():
        (folder / name).write_text(make() + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
