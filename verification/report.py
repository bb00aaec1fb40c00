"""Write a study's table into a page, in place of the one that was there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

MOST_ROWS = 11  # of a table on a page; a longer one is a file beside it


def worded(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table_lines(page: Path, title: str, table: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the table as Markdown; a long one as a link to the file that it was written to."""
    names = list(table[0])
    cells = [[worded(row[name]) for name in names] for row in table]
    if len(table) <= MOST_ROWS:
        head = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
        return head + ["| " + " | ".join(row) + " |" for row in cells]
    slug = re.sub(r"\W+", "-", title.lower()).strip("-")
    path = page.parent / "tables" / f"{page.stem}-{slug}.tsv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in [names, *cells]), encoding="utf-8")
    return [f"[The table, {len(table)} rows](tables/{path.name})"]


def write_section(
    path: Path, title: str, text: str, table: Sequence[Mapping[str, object]]
) -> None:
    """Replace or append the section of this title; the rest of the page stays."""
    lines = [f"## {title}", "", text, "", *table_lines(path, title, table)]
    section = "\n".join(lines) + "\n"
    page = path.read_text(encoding="utf-8") if path.exists() else "# Verification\n"
    before, found, rest = page.partition(f"## {title}\n")
    if found:
        following = rest.find("\n## ")
        after = "" if following < 0 else rest[following:]
        page = before + section + after
    else:
        page = page.rstrip("\n") + "\n\n" + section
    path.write_text(page, encoding="utf-8")
