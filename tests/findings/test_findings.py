from __future__ import annotations

import dataclasses
import json
import math

import pytest

from credence.findings import (
    Findings,
    MethodFinding,
    MetricValue,
    Notice,
    Provenance,
    Results,
    Setting,
    from_record,
    to_record,
)
from credence.problems import InputError


def findings() -> Findings:
    results = Results(
        class_names=("A", "B"),
        scale=10.0,
        n_samples=3,
        n_clusters=2,
        n_correct=1,
        n_ties=0,
        n_folds=2,
        n_draws=0,
        level=0.95,
        confusion=((1, 0), (2, 0)),
        classes=(),
        metrics=(MetricValue("m", None, "held_out", "nll", 0.1, math.nan, math.nan, 3, 2, 0, 1),),
        notices=(Notice("ties", "Two.", "A", is_warning=True),),
    )
    method = MethodFinding("m", "A method.", "", (Setting("a", "1"),))
    return Findings(Provenance("run", "Title", "0.1.0", True), (method,), "m", results)


def test_findings_survive_json_bit_for_bit() -> None:
    text = json.dumps(findings().to_record(), allow_nan=False)
    back = Findings.from_record(json.loads(text))
    assert json.dumps(back.to_record(), allow_nan=False) == text
    assert dataclasses.replace(back, results=findings().results) == findings()
    assert back.results.confusion == ((1, 0), (2, 0))
    assert back.results.notices == findings().results.notices
    assert math.isnan(back.results.metrics[0].lower)


@pytest.mark.parametrize("number", [0.1, 1 / 3, 5e-324, 1e308, -0.0])
def test_a_float_comes_back_bit_for_bit(number: float) -> None:
    back = from_record(float, json.loads(json.dumps(to_record(number))))
    assert back.hex() == number.hex()


def test_findings_of_a_newer_schema_are_refused_by_name() -> None:
    record = findings().to_record() | {"schema": "credence/findings/2"}
    with pytest.raises(InputError) as refusal:
        Findings.from_record(record, "results/demo/findings.json")
    assert str(refusal.value) == (
        "results/demo/findings.json: its schema is 'credence/findings/2', and this version reads "
        "'credence/findings/1'. Evaluate again with this version of credence."
    )


def test_records_name_no_clock_host_or_path() -> None:
    names = {field.name for field in dataclasses.fields(Provenance)}
    assert names == {"run", "title", "credence_version", "is_simulated", "inputs", "settings"}
