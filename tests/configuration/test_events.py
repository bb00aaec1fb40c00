"""Settings of events reach their stage; classes are checked by the tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from credence.app import configuration
from credence.app.meaning import class_problems
from credence.tables.document import parse_document

CLASSES = ("HTJ", "Portal", "Tail fiber")
HEAD = "run: x\ncalibration_set: {scores: scores.csv, format: phanns-labelled}\n"


@pytest.fixture(autouse=True)
def beside_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).resolve().parents[1] / "data" / "valid" / "config")


def test_without_a_word_no_event_is_asked_for() -> None:
    assert not configuration.loads(HEAD).has_events


def test_every_setting_is_handed_to_the_stage() -> None:
    found = configuration.loads(
        HEAD + "events: {ask: [two_best], groups: {tail: [HTJ]}, agree: false, folds: 4, "
        "compare: [knn, tree]}\n"
    )
    assert found.has_events
    assert json.loads(found.stage_json("events"))["events"] == {
        "ask": ["two_best"],
        "groups": {"tail": ["HTJ"]},
        "agree": False,
        "forecaster": "logistic",
        "compare": ["knn", "tree"],
        "folds": 4,
    }


def test_classes_that_the_tables_do_not_have_are_told_with_their_place() -> None:
    text = HEAD + "events:\n  groups: {tail: [HTJ, Tail fibre]}\n"
    document = parse_document(text, "config.yaml")
    found = [str(entry) for entry in class_problems(document, ("HTJ", "Portal", "Tail fiber"))]
    assert found == [
        "config.yaml, line 4, column 'events.groups.tail[1]': there is no class 'Tail fibre'. "
        "Did you mean 'Tail fiber'?"
    ]
