"""The page of the benchmarks keeps the sections that are not measured anew."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))
try:
    from benchmarks import run
finally:
    sys.path.remove(str(ROOT))

PAGE = """# Benchmarks

Made by hand.

## All methods, fitted without intervals

Of last year.

| method | seconds |
|---|---|
| `kernel` | 1 |

## A section that is measured no more

Its text.
"""


def test_a_section_measured_anew_replaces_its_own_and_no_other() -> None:
    page = run.page_with(PAGE, {run.TITLES["methods"]: "Of today.\n"})
    assert run.sections_of(page) == {
        "All methods, fitted without intervals": "Of today.",
        "A section that is measured no more": "Its text.",
    }


def test_a_new_section_takes_its_place_in_the_order_of_the_page() -> None:
    page = run.page_with(
        PAGE, {run.TITLES["splits"]: "Twelve groups.", run.TITLES["bandwidth"]: "b"}
    )
    assert list(run.sections_of(page)) == [
        "b_mon2 against the direct-sum scan",
        "All methods, fitted without intervals",
        "Splits that no relative crosses",
        "A section that is measured no more",
    ]
    kept = run.sections_of(page)["All methods, fitted without intervals"]
    assert kept == run.sections_of(PAGE)["All methods, fitted without intervals"]


def test_a_page_written_twice_stays_the_same() -> None:
    once = run.page_with(PAGE, {})
    assert run.page_with(once, {}) == once
    assert run.page_with("", {run.TITLES["splits"]: "x"}).endswith(
        "\n\n## Splits that no relative crosses\n\nx\n"
    )


def test_only_what_was_asked_for_is_taken_from_earlier_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(run, "OUT", tmp_path)
    (tmp_path / "README.md").write_text(PAGE)
    for name in ("methods", "splits"):
        (tmp_path / f"{name}.json").write_text('{"text": "anew"}')
    run.write_page(["splits", "peers"])
    assert run.sections_of((tmp_path / "README.md").read_text()) == {
        "All methods, fitted without intervals": run.sections_of(PAGE)[
            "All methods, fitted without intervals"
        ],
        "Splits that no relative crosses": "anew",
        "A section that is measured no more": "Its text.",
    }
