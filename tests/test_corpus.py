"""The list of refusals names files that are there, and all folders of the corpus."""

from __future__ import annotations

import re
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "data" / "invalid"


def test_every_refusal_names_files_that_are_there() -> None:
    text = (CORPUS / "README.md").read_text(encoding="utf-8")
    folders = {path.name for path in CORPUS.iterdir() if path.is_dir()}
    named = re.findall(rf"`((?:{'|'.join(sorted(folders))})/[^`]*)`", text)
    assert [name for name in named if not list(CORPUS.glob(name))] == []
    assert {name.split("/")[0] for name in named} == folders
    rows = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert all("`" in row.split("|")[2] for row in rows)
