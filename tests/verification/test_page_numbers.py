"""The script that recomputes a page's numbers finds one that is not that of the tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from verification.page_numbers import compare, is_same

TABLE = """\
id\tpredicted_class\tconfidence\tlower\tdecision\tnote
a\tPortal\t0.96\t0.91\taccept\t
b\tPortal\t0.93\t0.5\tcheck\tfar from all known proteins
c\tOther\t0.4\t0.1\tcheck\t
"""
LISTED = "# about 1 is right\nid\tpredicted_class\tconfidence\na\tPortal\t0.96\n"
GROUPS = "id\tcluster\trole\np\tp\tcalibration\nq\tp\tcalibration\nr\tr\tset_aside\n"
METRICS = "method\tclass\tsample\tmetric\tvalue\tlower\tupper\tn\n" + (
    "auto\tall\theld_out\tgap\t0.0123\t-0.02\t0.04\t2\n"
    "auto\tall\theld_out\tnll\t0.2371\t0.191\t0.29\t2\n"
    "uncalibrated\tall\theld_out\tnll\t0.362\t0.303\t0.436\t2\n"
    "auto\tPortal\tin_sample\taccuracy\t0.5\t0.2\t0.8\t2\n"
)
THRESHOLDS = """\
class\ton\tprecision\tthreshold\taccepted
Portal\tscore\t0.9\t6.948\t0.4
Other\tscore\t0.9\t\t
"""


def answer(number: str, text: str, ends: str = "") -> dict[str, Any]:
    return {"kind": "Answer", "number": number, "text": text, "range": ends, "anchor": ""}


def table(caption: str, columns: tuple[str, ...], *rows: tuple[str, ...]) -> dict[str, Any]:
    return {
        "kind": "Table",
        "caption": caption,
        "columns": [{"kind": "Column", "title": title} for title in columns],
        "rows": [list(row) for row in rows],
    }


def written(
    folder: Path,
    n_check: str = "2",
    gap: str = "1.2",
    n_accepted: str = "1",
    threshold: str = "6.95",
    nll: str = "0.237",
    example: str = "0.96",
) -> Path:
    (folder / "use").mkdir(exist_ok=True)
    (folder / "releases" / "00-base").mkdir(parents=True, exist_ok=True)
    (folder / "releases" / "00-base" / "groups.tsv").write_text(GROUPS)
    (folder / "metrics.tsv").write_text(METRICS)
    (folder / "thresholds.tsv").write_text(THRESHOLDS)
    (folder / "use" / "confidences.tsv").write_text(TABLE)
    (folder / "use" / "list_0.05.tsv").write_text(LISTED)
    columns = ("FDR", "kept to by", "confidence from", "predictions")
    listed = table("Lists of use.", columns, ("5 %", "estimate", "0.95", "1"))
    ninety = "90\u00a0% precision from score"
    glance = {
        "kind": "Glance",
        "columns": ["predicted", "accepted", "expected precision", "families known", ninety],
        "strips": [
            {"name": "Portal", "cells": ["2", n_accepted, "90 %", "1", threshold]},
            {"name": "Other", "cells": ["1", "0", "–", "0", "–"]},
        ],
    }
    columns = ("protein", "confidence", "decision", "note")
    examples = table("1 of 2 in use", columns, ("a", f"{example} (0.91–1.00)", "accept", "–"))
    sentence = {"kind": "Paragraph", "text": "Whatever the score, 1 of 2 are right: 0.50 (0–1)."}
    panel = {"kind": "Panel", "title": "Portal", "blocks": [sentence, examples]}
    losses = table(
        "Over all classes, cross-validated by families: less is better.",
        ("confidence from", "NLL"),
        ("auto", f"{nll} (0.191 to 0.290)"),
        ("raw scores", "0.362 (0.303 to 0.436)"),
    )
    methods = table(
        "Methods over all classes.", ("method", "held-out NLL"), ("auto", "0.237 (0.191 to 0.290)")
    )
    screen = {
        "kind": "FirstScreen",
        "about": "learnt from 2 proteins of known class, in 1 family.",
        "truth": "",
        "answers": [
            answer("77 %", "of your 3 predictions should be right: about 2.3", "(40 to 95)"),
            answer("1", "accepted at 5 % FDR (none of them Other)"),
            answer(n_check, "to check"),
            answer("0", "insufficient data"),
        ],
    }
    text = f"Over all classes, confidences are {gap} percentage points too high on families held"
    check = {
        "name": "gap",
        "query_set": None,
        "headline": "Confidences hold",
        "text": f"{text} out (−2.0 to +4.0).",
        "n_affected": 0,
    }
    held = [{"kind": "Paragraph", "text": "use holds 3 proteins."}]
    record = {
        "summary": {"chosen": "auto"},
        "verdict": {"checks": [check]},
        "sections": [
            {"name": "first", "blocks": [screen]},
            {"name": "classes", "blocks": [glance, panel]},
            {"name": "measuring", "blocks": [losses]},
            {"name": "methods", "blocks": [methods]},
            {"name": "lists", "blocks": [listed]},
            {"name": "query-sets", "blocks": held},
        ],
    }
    (folder / "report.json").write_text(json.dumps(record))
    return folder


def test_numbers_of_the_tables_are_the_same(tmp_path: Path) -> None:
    compared = compare(written(tmp_path))
    assert [entry for entry in compared if not entry.is_same] == []
    assert len(compared) >= 30


@pytest.mark.parametrize(
    ("changed", "where", "recomputed"),
    [
        ({"n_check": "3"}, "first: to check", 2),
        ({"n_accepted": "2"}, "glance, Portal: accepted", 1),
        ({"threshold": "6.94"}, "glance, Portal: threshold 6.94 for 6.948", None),
        ({"nll": "0.238"}, "measuring, auto: NLL value", 0.2371),
        ({"example": "0.97"}, "classes, Portal: a", 0.96),
        ({"gap": "1.3"}, "verdict, gap", 1.23),
    ],
)
def test_a_number_that_is_another_is_named(
    tmp_path: Path, changed: dict[str, str], where: str, recomputed: float | None
) -> None:
    compared = compare(written(tmp_path, **changed))
    (off,) = (entry for entry in compared if not entry.is_same)
    assert off.where == where
    if recomputed is not None:
        assert off.recomputed == pytest.approx(recomputed)


def test_a_list_that_is_cut_elsewhere_than_stated_is_named(tmp_path: Path) -> None:
    folder = written(tmp_path)
    more = LISTED + "b\tPortal\t0.93\n"
    (folder / "use" / "list_0.05.tsv").write_text(more)
    off = {entry.where for entry in compare(folder) if not entry.is_same}
    assert "lists, use at 5 %: all of 0.95 or more" in off
    assert "lists, use at 5 %" in off


def test_rounding_is_allowed_and_no_more() -> None:
    assert is_same("1,234", 1234.0)
    assert is_same("0.73", 0.7349)
    assert not is_same("0.730", 0.732)
    assert is_same("−3.9", -3.94)
    assert is_same("<0.001", 0.0004)
    assert not is_same("<0.001", 0.002)
    assert is_same("–", float("nan"))
    assert not is_same("7", float("nan"))
