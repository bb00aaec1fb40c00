from __future__ import annotations

from credence.calibrators.all_methods import BY_NAME, METHODS, needs_of
from credence.calibrators.protocol import Need


def test_every_method_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(METHODS)


def test_a_stack_needs_what_its_members_need() -> None:
    members = {name: {"method": name} for name in ("class_only", "tswa", "kernel")}
    assert needs_of({"method": "auto", "members": members}) is Need.VECTOR
    del members["tswa"]
    assert needs_of({"method": "auto", "members": members}) is Need.TOP_SCORE


def test_a_composition_needs_what_its_first_stage_needs() -> None:
    stages = {"first": {"method": "tswa"}, "second": {"method": "kernel"}}
    assert needs_of({"method": "composition", **stages}) is Need.VECTOR
