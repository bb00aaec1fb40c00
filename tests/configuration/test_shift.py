"""Settings of label shift: those of all query sets, those of one, and those of calibration."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.app import configuration
from credence.app.meaning import class_problems
from credence.stages.settings import ShiftSettings
from credence.tables.document import parse_document

HEAD = """\
run: x
calibration_set: {scores: scores.csv, format: phanns-labelled}
calibration: {level: 0.9, resamples: 50}
queries:
  - {name: plain, scores: scores.csv, format: phanns}
  - name: own
    scores: scores.csv
    format: phanns
    shift: SHIFT
"""


@pytest.fixture(autouse=True)
def beside_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[1] / "data" / "valid" / "config")


def settings(own: str, common: str = "") -> tuple[ShiftSettings, ShiftSettings]:
    found = configuration.loads(HEAD.replace("SHIFT", own) + common)
    first, second = (entry.shift for entry in found.queries)
    assert first is not None
    assert second is not None
    return first, second


def test_without_a_word_the_composition_is_estimated_with_calibrations_intervals() -> None:
    plain, own = settings("{}")
    assert (
        plain
        == own
        == ShiftSettings(method="auto", class_proportions=None, level=0.9, resamples=50)
    )
    assert plain == ShiftSettings(method="auto", class_proportions=None, level=0.9, resamples=50)


def test_a_query_set_has_its_own_settings_and_the_common_ones_for_the_rest() -> None:
    plain, own = settings("{method: em, resamples: 7}", "shift: {method: none, level: 0.8}\n")
    assert plain == ShiftSettings(method="none", class_proportions=None, level=0.8, resamples=50)
    assert own == ShiftSettings(method="em", class_proportions=None, level=0.8, resamples=7)


def test_a_composition_says_by_itself_that_it_is_stated() -> None:
    plain, own = settings("{class_proportions: {Portal: 0.5, Other: 0.5}}")
    assert plain.method == "auto"
    assert (own.method, own.class_proportions) == ("stated", {"Portal": 0.5, "Other": 0.5})


def test_a_common_composition_is_not_used_where_a_set_is_to_be_estimated() -> None:
    plain, own = settings("{method: auto}", "shift: {class_proportions: {Portal: 1}}\n")
    assert plain == ShiftSettings(
        method="stated", class_proportions={"Portal": 1}, level=0.9, resamples=50
    )
    assert own == ShiftSettings(method="auto", class_proportions=None, level=0.9, resamples=50)


def test_a_set_may_be_stated_by_the_common_composition() -> None:
    common = "shift: {method: stated, class_proportions: {Portal: 1}}\n"
    plain, own = settings("{method: stated, level: 0.5}", common)
    assert plain.method == own.method == "stated"
    assert own.class_proportions == {"Portal": 1}


def test_classes_that_the_tables_do_not_have_are_told_with_their_lines() -> None:
    text = HEAD.replace("SHIFT", "\n      class_proportions:\n        Portl: 1.0\n")
    document = parse_document(text, "config.yaml")
    (problem,) = class_problems(document, ("Portal", "Other"))
    assert str(problem) == (
        "config.yaml, line 11, column 'queries[1].shift.class_proportions.Portl': "
        "there is no class 'Portl'. Did you mean 'Portal'?"
    )
