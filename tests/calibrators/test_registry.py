from __future__ import annotations

from typing import Any

import numpy as np

from credence.calibrators.all_methods import BY_NAME, METHODS
from credence.calibrators.auto import AutoCalibration, MemberWeights
from credence.calibrators.classwise import ClassCurve, ClasswiseCalibration, JointCalibration
from credence.calibrators.crossfit import ComposedCalibration
from credence.calibrators.protocol import Need


def test_every_method_has_a_name_of_its_own() -> None:
    assert len(BY_NAME) == len(METHODS)


def test_a_stack_needs_what_its_members_need_and_a_composition_what_its_first_stage_does() -> None:
    curves = {
        name: ClasswiseCalibration(method=name, classes={"A": ClassCurve(counts={"n": 3})})
        for name in ("class_only", "kernel")
    }
    joint = JointCalibration(method="tswa", classes={}, model=None)
    weights = MemberWeights(
        members=("class_only",), pooled=np.ones(1), by_class={}, scarce=np.ones(1), spread=None
    )

    def stack(members: dict[str, Any]) -> AutoCalibration:
        return AutoCalibration(
            class_names=("A",),
            skipped={},
            judged=(),
            n=0,
            n_clusters=0,
            full=weights,
            score_only=None,
            members=members,
        )

    assert stack(curves | {"tswa": joint}).needs is Need.VECTOR
    assert stack(curves).needs is Need.TOP_SCORE
    assert stack(curves | {"tswa": joint}).gives_curve  # by the members that see the score
    assert stack(curves).counts == {"A": {"n": 3}}
    composed = ComposedCalibration(text="tswa -> kernel", first=joint, second=curves["kernel"])
    assert composed.needs is Need.VECTOR
    assert not composed.gives_curve
    assert ComposedCalibration(
        text="kernel -> kernel", first=curves["kernel"], second=joint
    ).gives_curve
