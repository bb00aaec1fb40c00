"""The page of the benchmarks keeps the sections that are not measured anew."""

from __future__ import annotations

import sys
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


def test_contestants_of_small_sets_are_judged_beside_auto_and_failures_are_told() -> None:
    score = np.array([0.9, 0.8, 0.7, 0.6] * 10)
    scores = np.column_stack([score, 1.0 - score])
    ids = np.arange(40).astype(str).astype(object)
    is_right = np.arange(40) % 4 > 0
    labelled = label(from_scores(ids, ("A", "B"), scores, 1.0, 0.01), (~is_right).astype(np.int64))

    def fails(seen: Labelled, unseen: Labelled) -> np.ndarray:
        raise ValueError("a class is missing")

    contestants = {
        "auto": lambda seen, unseen: np.full(40, 0.5),
        "random forest": lambda seen, unseen: np.full(40, 0.75),
        "venn-abers": fails,
    }
    found: dict[str, small.Sums] = {}
    small.judge_small_set(labelled, labelled, contestants, found)
    assert list(found) == ["auto", "random forest", small.MEAN_OF_TREES]
    loss = -0.75 * np.log(0.75) - 0.25 * np.log(0.25)
    np.testing.assert_allclose(found["random forest"].nll, loss)
    np.testing.assert_allclose(found["random forest"].loss, loss - np.log(2.0))
    np.testing.assert_allclose(found["random forest"].brier, 0.1875)
    assert np.isnan(found["auto"].scarce).all()  # forty predictions of one class
    name, nll, gap, scarce, brier, _ = small.line_of("random forest", found["random forest"], 2)
    assert (name, nll, scarce) == ("random forest (fails in 1 of 2)", "0.5623", "–")
    assert gap.startswith("-0.1308 ± 0.0") and brier == "0.1875"
