"""The page on the table of confidences names every column, every word and every note."""

from __future__ import annotations

import re

from credence.confidence import NOTE_TEXTS
from credence.findings import DECISIONS, AllThresholds
from credence.stages.lists import threshold_columns
from credence.tables.contract import CONFIDENCE_NAMES, FURTHER_COLUMNS, PREFIXES, UNSCORED_NOTE
from page_commands import ROOT


def first_cells(title: str) -> list[str]:
    """Return the first cell of each row of a table of docs/columns.md, by its first heading."""
    page = (ROOT / "docs/columns.md").read_text(encoding="utf-8")
    table = page.split(f"\n| {title} |", 1)[1].split("\n\n", 1)[0]
    return [row.split("|")[1].strip() for row in table.splitlines()[2:]]


def test_each_column_of_the_table_of_confidences_is_described_once_and_in_its_order() -> None:
    named = [name for cell in first_cells("column") for name in re.findall("`(.*?)`", cell)]
    events = [f"{prefix}…" for prefix in PREFIXES]
    further = {column.name for column in FURTHER_COLUMNS}
    assert sorted(named) == sorted([*CONFIDENCE_NAMES, *further, *events])
    assert tuple(named[: len(CONFIDENCE_NAMES)]) == CONFIDENCE_NAMES
    assert named[-len(events) :] == events


def test_each_word_and_each_note_is_described_once() -> None:
    assert sorted(cell.strip("`") for cell in first_cells("word")) == sorted(DECISIONS)
    named = [text for cell in first_cells("note") for text in cell.split("; ")]
    assert sorted(named) == sorted([*NOTE_TEXTS.values(), UNSCORED_NOTE])


def test_each_column_of_thresholds_is_described_once_and_in_its_order() -> None:
    named = [
        name
        for cell in first_cells("column of thresholds")
        for name in re.findall("`(.*?)`", cell)
    ]
    assert named == [
        *threshold_columns(AllThresholds(certainty=0.95, level=0.95, rows=(), curves=()))
    ]


def test_two_notes_can_be_told_apart() -> None:
    assert not [text for text in (*NOTE_TEXTS.values(), UNSCORED_NOTE) if ";" in text]
