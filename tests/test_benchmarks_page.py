"""The page of the benchmarks keeps the sections that are not measured anew."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from credence.predictions import Labelled, from_scores, label

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT))
try:
    from benchmarks import run, small
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


def forty_proteins() -> Labelled:
    """Return predictions of one class, three of four of them right."""
    score = np.array([0.9, 0.8, 0.7, 0.6] * 10)
    scores = np.column_stack([score, 1.0 - score])
    ids = np.arange(40).astype(str).astype(object)
    is_right = np.arange(40) % 4 > 0
    return label(from_scores(ids, ("A", "B"), scores, 1.0, 0.01), (~is_right).astype(np.int64))


def fails(seen: Labelled, unseen: Labelled) -> np.ndarray:
    raise ValueError("a class is missing")


EVERYONE = {
    "auto": small.Contestant(answer=lambda seen, unseen: np.full(40, 0.5), version="1"),
    "random forest": small.Contestant(answer=lambda seen, unseen: np.full(40, 0.75), version="2"),
    "venn-abers": small.Contestant(answer=fails, version="3"),
    "CatBoost": small.Contestant(answer=None, version="No module named 'catboost'"),
}


def test_contestants_of_small_sets_are_judged_beside_auto_and_failures_are_said(
    tmp_path: Path,
) -> None:
    labelled = forty_proteins()
    cells = [small.Cell(size=40, draw=draw, seen=labelled, unseen=labelled) for draw in range(2)]
    answers = [small.all_answers(tmp_path, EVERYONE, cell) for cell in cells]
    assert list(answers[0]) == ["auto", "random forest", "venn-abers", small.MEAN_OF_TREES]
    assert answers[0]["venn-abers"].failure == "ValueError: a class is missing"
    assert small.numbers_of("venn-abers", cells, answers) is None
    numbers = small.numbers_of("random forest", cells, answers)
    assert numbers is not None
    loss = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    np.testing.assert_allclose([numbers.nll, numbers.gap], [loss, loss - np.log(2.0)])
    # The mean is 3/4, and so is the precision; the deviation of a gap is log 3 · √(3/16).
    np.testing.assert_allclose(
        [numbers.brier, numbers.debiased, numbers.error],
        [0.1875, 0.0, np.log(3.0) * np.sqrt(3.0 / 16.0 / 39.0)],
    )
    assert np.isnan(numbers.scarce)  # forty predictions of one class
    name, nll, gap, scarce, scarce_gap, brier, debiased, _ = small.line_of(
        "random forest", numbers
    )
    assert (name, nll, gap) == ("random forest", "0.5623", "-0.1308 ± 0.0762")
    assert (scarce, scarce_gap, brier, debiased) == ("–", "–", "0.1875", "0.0000")


def test_answers_of_small_sets_that_are_kept_are_not_computed_again(tmp_path: Path) -> None:
    labelled = forty_proteins()
    cell = small.Cell(size=40, draw=0, seen=labelled, unseen=labelled)
    first = small.kept_answer(tmp_path, "auto", EVERYONE["auto"], cell)
    np.testing.assert_array_equal(first.confidence, 0.5)
    changed = replace(EVERYONE["auto"], answer=fails)
    again = small.kept_answer(tmp_path, "auto", changed, cell)
    np.testing.assert_array_equal(again.confidence, 0.5)
    # Another version is another answer.
    other = small.kept_answer(tmp_path, "auto", replace(changed, version="4"), cell)
    assert other.failure == "ValueError: a class is missing"


def test_the_summary_of_small_sets_names_who_is_better_than_auto(tmp_path: Path) -> None:
    labelled = forty_proteins()
    source = small.SmallTable(title="Forty", name="forty", rows=labelled, judging=labelled)
    cell = source.cell(small.FULL, 0)
    assert cell is not None
    small.all_answers(tmp_path / "forty", EVERYONE, cell)
    text = small.section(tmp_path, EVERYONE, [source])
    assert "Absent: CatBoost (No module named 'catboost')." in text
    assert (
        "| Forty | 40 | 1 | 0.6931 | random forest 0.5623 | -0.1308 ± 0.0762 "
        "| random forest, mean of the four | – | – | – |" in text
    )
    assert "**Forty, 40 proteins, subsets: 1**" in text
    # A size of which somebody's answer is missing is not on the page.
    newer = {**EVERYONE, "auto": replace(EVERYONE["auto"], version="5")}
    assert "Forty" not in small.section(tmp_path, newer, [source])
