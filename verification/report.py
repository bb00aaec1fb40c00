"""Write a study's table into a page, in place of the one that was there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def worded(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def write_section(
    path: Path, title: str, text: str, table: Sequence[Mapping[str, object]]
) -> None:
    """Replace or append the section of this title; the rest of the page stays."""
    lines = [f"## {title}", "", text, ""]
    names = list(table[0])
    lines.append("| " + " | ".join(names) + " |")
    lines.append("|" + "---|" * len(names))
    lines += ["| " + " | ".join(worded(row[name]) for name in names) + " |" for row in table]
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
