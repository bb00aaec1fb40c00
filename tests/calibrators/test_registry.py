from __future__ import annotations

from credence.calibrators.all_methods import BY_NAME, METHODS, needs_of
from credence.calibrators.protocol import Need


def test_every_method_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(METHODS)


def test_a_choice_needs_what_its_members_need() -> None:
    members = {name: {"method": name} for name in ("class_only", "tswa", "kernel")}
    assert needs_of({"method": "auto", "members": members}) is Need.VECTOR
    del members["tswa"]
    assert needs_of({"method": "auto", "members": members}) is Need.TOP_SCORE


def test_a_choice_needs_for_a_class_what_was_chosen_for_it() -> None:
    members = {name: {"method": name} for name in ("class_only", "tswa", "kernel")}
    choices = [
        {"class_name": "Portal", "chosen": ["class_only"], "interval": ["kernel"]},
        {"class_name": "HTJ", "chosen": ["class_only"], "interval": ["tswa"]},
    ]
    record = {"method": "auto", "members": members, "choices": choices}
    assert needs_of(record, "Portal") is Need.TOP_SCORE
    assert needs_of(record, "HTJ") is Need.VECTOR


def test_a_composition_needs_what_its_first_stage_needs() -> None:
    stages = {"first": {"method": "tswa"}, "second": {"method": "kernel"}}
    assert needs_of({"method": "composition", **stages}) is Need.VECTOR
