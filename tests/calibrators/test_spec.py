"""Specifications: one canonical text, whole messages, new methods by themselves."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import pytest

from credence.calibrators import all_methods
from credence.calibrators.classwise import ConstantCurve, curve_method
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Need
from credence.records import to_record
from credence.settings import setting
from refusals import refusal


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("kernel", "kernel"),
        (" kernel ( ) ", "kernel"),
        ("kernel(bandwidth=mon2)", "kernel"),
        ("kernel( prior_weight = 0 , bandwidth=mon4)", "kernel(bandwidth=mon4, prior_weight=0.0)"),
        ("tswa->kernel", "tswa -> kernel"),
        (
            "logistic(strength=10) -> kernel(bandwidth=mon4)",
            "logistic(strength=10.0) -> kernel(bandwidth=mon4)",
        ),
        ("class_only -> platt -> isotonic", "class_only -> platt -> isotonic"),
        ("auto(sees=score)", "auto(sees=score)"),
        ("auto -> isotonic", "auto -> isotonic"),
        ("trees(trees=50)", "trees(trees=50.0)"),
    ],
)
def test_a_specification_has_one_form_that_reads_as_itself(written: str, canonical: str) -> None:
    parsed = parse_method(written, "--method")
    assert parsed.text == canonical
    assert parse_method(canonical, "--method") == parsed


def test_one_stage_is_no_composition() -> None:
    assert len(parse_method("kernel", "").stages) == 1
    composed = parse_method("tswa -> kernel", "")
    assert len(composed.stages) == 2
    assert composed.needs is Need.VECTOR and not composed.gives_vector
    assert parse_method("matrix", "").gives_vector


def test_every_method_of_the_registry_can_be_named() -> None:
    for name, method in all_methods.BY_NAME.items():
        assert parse_method(name, "").text == name
        assert parse_method(name, "").needs is method.needs


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kernal", "config.yaml, line 7: 'kernal' is not a method. Did you mean 'kernel'?"),
        (
            "tswa -> ",
            "config.yaml, line 7: ' ' is not a method. Write a name, with settings in brackets: "
            "kernel(bandwidth=mon4).",
        ),
        (
            "kernal -> isotonc",
            "config.yaml, line 7: 'kernal' is not a method. Did you mean 'kernel'?\n"
            "config.yaml, line 7: 'isotonc' is not a method. Did you mean 'isotonic'?",
        ),
        (
            "auto(sees=best)",
            "config.yaml, line 7, column 'auto.sees': 'best' is not allowed. "
            "Give vector or score.",
        ),
        (
            "logistic(strength=0)",
            "config.yaml, line 7, column 'logistic.strength': '0' is not allowed. "
            "Give cross-fitted or a number of at least 0.001.",
        ),
    ],
)
def test_all_that_is_wrong_with_a_specification_is_said(text: str, message: str) -> None:
    assert refusal(parse_method, text, "config.yaml", 7) == message


def test_a_method_that_sees_the_vector_cannot_come_second() -> None:
    stated = refusal(parse_method, "kernel -> logistic", "--method")
    start = (
        "--method: 'logistic' sees the whole score vector; a stage before it leaves one number. "
        "Put it first, or write one of "
    )
    assert stated.startswith(start) and stated.endswith(" there.")
    offered = stated.removeprefix(start).removesuffix(" there.").split(", ")
    needs = {name: all_methods.BY_NAME[name].needs for name in offered}
    assert "kernel" in offered and Need.VECTOR not in needs.values()


# A toy calibrator: its module (here), one line of the registry, its test.


@dataclass(frozen=True)
class Stubborn:
    """Settings of a method that always says the same."""

    always: float = setting(0.5, "What it says.", low=0.0, high=1.0)

    def fit_curve(self, sample: ClassSample) -> ConstantCurve:
        return ConstantCurve(share=self.always, code=0)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        return Band(score=np.zeros(1), lower=np.zeros(1), upper=np.ones(1))


TOY = curve_method(
    "stubborn",
    "The same confidence for all.",
    "this test",
    Stubborn,
    {Curve: ConstantCurve},
    needs=Need.CLASS,
)


def test_a_toy_needs_its_module_and_one_line_of_the_registry(
    worlds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(all_methods, "METHODS", (*all_methods.METHODS, TOY))
    monkeypatch.setitem(all_methods.BY_NAME, "stubborn", TOY)
    world = worlds.draw(seed=1)
    for text, expected in (("stubborn(always=0.3)", 0.3), ("tswa -> stubborn(always=0.3)", 0.3)):
        calibration = parse_method(text, "").build(FitOptions(n_draws=0)).fit(world)
        again = all_methods.read_calibration(json.loads(json.dumps(to_record(calibration))))
        np.testing.assert_array_equal(again.confidence(world.predictions).value, expected)
    composed = parse_method("stubborn -> isotonic", "").build(FitOptions(n_draws=0)).fit(world)
    value = composed.confidence(world.predictions).value
    for class_ in range(world.predictions.n_classes):
        here = world.predictions.predicted_class == class_
        share = np.average(world.is_correct[here], weights=world.weight[here])
        np.testing.assert_allclose(value[here], share, rtol=0, atol=1e-9)
    assert (
        refusal(parse_method, "stubbon", "--method")
        == "--method: 'stubbon' is not a method. Did you mean 'stubborn'?"
    )
