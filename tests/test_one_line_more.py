"""A new method: its module (the first half of this file), one line of the registry, its test.

It must then appear in the list of methods, pass the configuration check, be
judged, and stand on the page, with nothing else touched.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from cases import cases
from credence.app import configuration
from credence.app.commands import show
from credence.calibrators import all_methods
from credence.calibrators.classwise import curve_method
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Need
from credence.evaluation.evaluate import evaluate
from credence.evaluation.judging import EvaluationOptions
from credence.findings import Findings, MethodFinding, Provenance
from credence.predictions import Floats, Integers, Labelled
from credence.report.html import render
from credence.settings import setting
from refusals import refusal
from shift_findings import labelled_proteins


@dataclass(frozen=True)
class HalfWay:
    share: float

    def value(self, score: Floats) -> Floats:
        return np.full(len(score), self.share)

    def note(self, score: Floats) -> Integers:
        return np.zeros(len(score), dtype=np.int64)


@dataclass(frozen=True)
class HalfWaySettings:
    towards: float = setting(0.5, "What the share is drawn to.", low=0.0, high=1.0)

    def fit_curve(self, sample: ClassSample) -> HalfWay:
        return HalfWay(share=(sample.share_correct + self.towards) / 2.0)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        return Band(score=np.zeros(1), lower=np.zeros(1), upper=np.ones(1))


METHOD = curve_method(
    "half_way",
    "Half way between the share and a number.",
    "made up for this test",
    HalfWaySettings,
    {Curve: HalfWay},
    needs=Need.CLASS,
)


@pytest.fixture
def one_line_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_methods, "METHODS", (*all_methods.METHODS, METHOD))
    monkeypatch.setitem(all_methods.BY_NAME, METHOD.name, METHOD)


@pytest.fixture(scope="module")
def world() -> Labelled:
    # Of three classes: the time goes by classes, each of which has curves and figures of its own.
    rng = np.random.default_rng(3)
    drawn = labelled_proteins(300)
    # Some methods ask where proteins lie: around a point for each class.
    middle = rng.normal(size=(drawn.predictions.n_classes, 3))
    places = middle[drawn.true_class] + rng.normal(size=(drawn.n_samples, 3)) / 2.0
    return replace(drawn, predictions=replace(drawn.predictions, places=places))


CONFIGURATION = """\
run: mylab
calibration_set: {{scores: scores.csv, format: phanns-labelled}}
calibration: {{compare: [class_only, "{method}"], method: class_only}}
"""


@pytest.mark.usefixtures("one_line_more")
def test_it_is_listed_with_its_settings() -> None:
    shown = CliRunner().invoke(show, ["methods", "half_way"])
    assert shown.exit_code == 0
    assert "half_way: Half way between the share and a number." in shown.stdout
    assert "towards=0.5: What the share is drawn to. (0 to 1)" in shown.stdout


@pytest.mark.usefixtures("one_line_more")
def test_the_configuration_check_knows_it_and_its_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "scores.csv").write_text("")
    monkeypatch.chdir(tmp_path)
    good = configuration.loads(CONFIGURATION.format(method="half_way(towards=0.25)"), "c.yaml")
    assert good.methods == ("class_only", "half_way(towards=0.25)")
    assert refusal(
        configuration.loads, CONFIGURATION.format(method="half_way(towards=2)"), "c.yaml"
    ) == (
        "c.yaml, line 3, column 'calibration.compare[1]': half_way.towards: "
        "'2' is not allowed. Give a number from 0 to 1."
    )


@pytest.mark.usefixtures("one_line_more")
def test_it_is_judged_and_stands_on_the_page(world: Labelled) -> None:
    text = "half_way(towards=0.25)"
    calibrator = parse_method(text, "test").build(FitOptions(n_draws=0))
    options = EvaluationOptions(n_folds=3, n_draws=20)
    results = evaluate(world, {text: calibrator}, options).results
    held_out = [
        value
        for value in results.metrics
        if (value.method, value.sample, value.metric, value.class_name)
        == (text, "held_out", "nll", None)
    ]
    assert len(held_out) == 1 and 0.0 < held_out[0].value < 2.0
    findings = Findings(
        provenance=Provenance(run="toy", title="Toy", credence_version="0"),
        methods=(MethodFinding(name=text, summary="", reference=""),),
        chosen=text,
        results=results,
    )
    assert text in render(findings)


@cases(
    "text",
    [*(method.name for method in all_methods.METHODS), "sts -> platt"],
    long=["auto", "trees"],
)
def test_every_method_is_judged_and_drawn(world: Labelled, text: str) -> None:
    calibrator = parse_method(text, "test").build(FitOptions(n_draws=0))
    results = evaluate(world, {text: calibrator}, EvaluationOptions(n_folds=2, n_draws=10)).results
    named = {curve.class_name for curve in results.curves}
    assert named == {entry.class_name for entry in results.classes if entry.n_predicted}
    values = np.concatenate([curve.value for curve in results.curves])
    known = values[~np.isnan(values)]
    assert len(known) and known.min() >= 0.0 and known.max() <= 1.0
