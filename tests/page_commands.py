"""Commands as they stand in the pages: in blocks, in order, continued lines joined."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "config/README.md",
    "benchmarks/README.md",
    "reports/README.md",
)
FENCE = re.compile(r"^\s*```(\w*)")
SHELL = ("", "sh", "bash", "console")
INDENTED = re.compile(r"^ {4,}\S")
WORD = re.compile(r"^[a-z.$(][\w./$-]*( |$)")


@dataclass(frozen=True)
class Command:
    """One command of a page.

    Parameters
    ----------
    page : str
        Path from the root of the project.
    line : int
        Where it begins.
    text : str
        On one line, without comment.
    """

    page: str
    line: int
    text: str

    @property
    def words(self) -> str:
        """The text without the folder of an environment before the program."""
        return self.text.removeprefix(".venv/bin/")


def pages() -> list[str]:
    """Return all pages that tell users what to type."""
    found = [page for page in PAGES if (ROOT / page).is_file()]
    return [*found, *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md"))]


def blocks_of(text: str) -> list[list[tuple[int, str]]]:
    """Return the blocks of code of a page, as numbered lines.

    An indented block begins after an empty line, and holds lines indented alike
    or more, as Markdown has it, also within a list.
    """
    blocks: list[list[tuple[int, str]]] = []
    fence, before = False, ""
    for number, line in enumerate(text.splitlines(), start=1):
        match = FENCE.match(line)
        if match is not None:
            fence = not fence
            if fence:
                blocks.append([])
                keeps = match[1] in SHELL
        elif fence:
            if keeps:
                blocks[-1].append((number, line))
        elif INDENTED.match(line) and (not before.strip() or _goes_on(blocks, number)):
            if not _goes_on(blocks, number):
                blocks.append([])
            blocks[-1].append((number, line))
        before = line
    return [block for block in blocks if block]


def _goes_on(blocks: list[list[tuple[int, str]]], number: int) -> bool:
    return bool(blocks) and bool(blocks[-1]) and blocks[-1][-1][0] == number - 1


def commands_of(page: str) -> list[Command]:
    """Return the commands of a page, in order."""
    found = []
    for block in blocks_of((ROOT / page).read_text("utf-8")):
        lines = textwrap.dedent("\n".join(text for _, text in block)).splitlines()
        start, joined = block[0][0], ""
        for (number, _), line in zip(block, lines, strict=True):
            if not joined:
                start = number
            joined += line.strip().removesuffix("\\")
            if line.rstrip().endswith("\\"):
                continue
            text = re.sub(r"\s+#\s.*$", "", joined).strip()
            if WORD.match(text):
                found.append(Command(page=page, line=start, text=text))
            joined = ""
    return found
