"""The table of proteins: read from the file of a query set, and what the page gets of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from credence.findings import Findings
from credence.report.blocks import Link, Paragraph, Widget
from credence.report.sections.proteins import protein_data, section
from credence.stages import report as stage
from credence.stages.report import protein_rows
from small_findings import protein_rows as made_rows
from small_findings import with_proteins

HEADER = "id predicted_class confidence lower upper decision note score support method"
ROWS = (
    ("p0", "Portal", "0.9", "0.8", "0.95", "accept", "", "9", "30", "kernel"),
    ("'=p1", "Tail fiber", "0.4", "0.1", "0.8", "insufficient data", "wide", "4", "2", "kernel"),
    ("p2", "Portal", "", "", "", "insufficient data", "unseen", "1", "", "kernel"),
    ("p3", "Portal", "0.95", "0.9", "0.99", "accept", "", "9.5", "30", "kernel"),
)


def write(path: Path, **further: tuple[str, ...]) -> Path:
    header = "\t".join([*HEADER.split(), *further])
    rows = [
        "\t".join([*row, *(column[k] for column in further.values())])
        for k, row in enumerate(ROWS)
    ]
    path.write_text("\n".join([header, *rows, ""]), encoding="utf-8")
    return path


def test_every_prediction_of_a_table_is_read_with_its_nearest_and_its_genome(
    tmp_path: Path, small: Findings
) -> None:
    path = write(
        tmp_path / "confidences.tsv",
        closest_known=("k0", "", "k2", "k3"),
        closest_identity=("0.5", "", "0.3", "0.9"),
        genome=("a", "a", "b", ""),
    )
    rows = protein_rows(path, replace(small.queries[0], n=4))
    assert rows is not None
    assert rows.ids == ("p0", "=p1", "p2", "p3")
    assert (rows.classes, rows.decisions) == ((0, 1, 0, 0), (0, 2, 2, 0))
    assert [rows.texts[place] for place in rows.notes] == ["", "wide", "unseen", ""]
    assert rows.confidence[:2] == (0.9, 0.4) and math.isnan(rows.confidence[2])
    assert (rows.nearest, rows.genomes) == (("k0", "", "k2", "k3"), ("a", "a", "b", ""))
    assert rows.identity[0] == 0.5 and math.isnan(rows.identity[1])
    assert rows.is_whole
    without = protein_rows(write(tmp_path / "plain.tsv"), replace(small.queries[0], n=4))
    assert without is not None
    assert (without.nearest, without.identity, without.genomes) == ((), (), ())


def test_of_a_large_set_the_page_has_the_surest_accepted(
    tmp_path: Path, small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "MOST_PROTEINS", 1)
    rows = protein_rows(write(tmp_path / "confidences.tsv"), replace(small.queries[0], n=4))
    assert rows is not None
    assert (rows.ids, rows.is_whole) == (("p3",), False)
    found = replace(small, queries=(replace(small.queries[0], n=4, proteins=rows),))
    built = section(found)
    assert built is not None and isinstance(built.blocks[0], Paragraph)
    assert built.blocks[0].text == (
        "sea water has 4 predictions: the table has the 1 accepted with the highest confidence."
    )


def test_a_set_of_which_none_is_accepted_has_an_empty_table(
    tmp_path: Path, small: Findings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stage, "MOST_PROTEINS", 1)
    path = write(tmp_path / "confidences.tsv")
    path.write_text(path.read_text(encoding="utf-8").replace("accept", "check"), encoding="utf-8")
    rows = protein_rows(path, replace(small.queries[0], n=4))
    assert rows is not None and rows.ids == ()
    assert protein_rows(path, replace(small.queries[0], n=0)) is None


def test_the_section_leads_to_the_files_of_its_set_alone(small: Findings) -> None:
    assert section(small) is None
    built = section(with_proteins(small))
    assert built is not None
    text, table = built.blocks
    assert isinstance(text, Paragraph) and isinstance(table, Widget)
    assert text.text == "5 predictions of sea water. All predictions and the lists, as files:"
    assert text.links == tuple(
        Link(text=f"sea water/{file}", target=f"sea%20water/{file}")
        for file in ("confidences.tsv", "list_0.05.tsv")
    )


def test_the_script_reads_columns_of_one_length_and_no_number_that_is_none(
    small: Findings,
) -> None:
    rows = replace(made_rows(2), confidence=(math.nan, 0.123456789))
    query_set = replace(small.queries[0], proteins=rows)
    data = protein_data(small, query_set)
    assert data["confidence"] == [None, 0.123457]
    assert data["classes"] == ("Portal", "Tail fiber", "Collar")
    assert data["decisions"] == ("accept", "check", "insufficient data")
    assert {len(data[name]) for name in ("id", "class", "lower", "decision", "note")} == {2}
