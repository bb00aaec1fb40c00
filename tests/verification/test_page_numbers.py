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
)


def answer(number: str, text: str, ends: str = "") -> dict[str, Any]:
    return {"kind": "Answer", "number": number, "text": text, "range": ends, "anchor": ""}


def written(folder: Path, n_sure: str = "2", gap: str = "1.2") -> Path:
    (folder / "use").mkdir(exist_ok=True)
    (folder / "releases" / "00-base").mkdir(parents=True, exist_ok=True)
    (folder / "releases" / "00-base" / "groups.tsv").write_text(GROUPS)
    (folder / "metrics.tsv").write_text(METRICS)
    (folder / "use" / "confidences.tsv").write_text(TABLE)
    (folder / "use" / "list_0.05.tsv").write_text(LISTED)
    columns = ("wrong ones allowed", "kept to", "confidence from", "predictions")
    table = {
        "kind": "Table",
        "caption": "Lists of use, all classes together.",
        "columns": [{"kind": "Column", "title": title} for title in columns],
        "rows": [["5 %", "by estimate", "0.95", "1"]],
    }
    screen = {
        "kind": "FirstScreen",
        "about": "learnt from 2 proteins of known class, in 1 family.",
        "truth": "",
        "answers": [
            answer("77 %", "of your 3 predictions should be right: about 2.3", "(40 to 95)"),
            answer(n_sure, "of your predictions are 90 % sure or more"),
            answer("1", "even at the low end of their range"),
            answer("1", "to use, if 5 % of them may be wrong"),
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
            {"name": "lists", "blocks": [table]},
            {"name": "query-sets", "blocks": held},
        ],
    }
    (folder / "report.json").write_text(json.dumps(record))
    return folder


def test_numbers_of_the_tables_are_the_same(tmp_path: Path) -> None:
    compared = compare(written(tmp_path))
    assert [entry for entry in compared if not entry.is_same] == []
    assert len(compared) >= 14


@pytest.mark.parametrize(
    ("changed", "where", "recomputed"),
    [
        ({"n_sure": "3"}, "first: of your predictions are 90 % sure or more", 2),
        ({"gap": "1.3"}, "verdict, gap", 1.23),
    ],
)
def test_a_number_that_is_another_is_named(
    tmp_path: Path, changed: dict[str, str], where: str, recomputed: float
) -> None:
    compared = compare(written(tmp_path, **changed))
    (off,) = (entry for entry in compared if not entry.is_same)
    assert (off.where, off.recomputed) == (where, pytest.approx(recomputed))


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
