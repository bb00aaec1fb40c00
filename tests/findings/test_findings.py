from __future__ import annotations

import dataclasses
import json
import math

import pytest

from credence import __version__
from credence.findings import (
    Caution,
    Findings,
    MethodFinding,
    MetricValue,
    MixDoubts,
    Provenance,
    Results,
    Setting,
    ShiftClass,
    ShiftCurve,
    ShiftFinding,
)
from credence.problems import InputError
from credence.records import from_record, to_record
from refusals import refusal

AGAIN = "Evaluate again: credence evaluate."


def findings() -> Findings:
    results = Results(
        class_names=("A", "B"),
        scale=10.0,
        n_samples=3,
        n_clusters=2,
        n_correct=1,
        n_folds=2,
        n_draws=0,
        level=0.95,
        confusion=((1, 0), (2, 0)),
        classes=(),
        metrics=(
            MetricValue(
                method="m",
                class_name=None,
                sample="held_out",
                metric="nll",
                value=0.1,
                lower=math.nan,
                upper=math.nan,
                n=3,
                n_clusters=2,
            ),
        ),
        cautions=(Caution(kind="ties", counts={"proteins": 2}, class_name="A", is_warning=True),),
    )
    method = MethodFinding(
        name="m", summary="A method.", reference="", settings=(Setting(name="a", value="1"),)
    )
    return Findings(
        provenance=Provenance(
            run="run", title="Title", credence_version="0.1.0", is_simulated=True
        ),
        methods=(method,),
        chosen="m",
        results=results,
    )


def test_findings_survive_json_bit_for_bit() -> None:
    text = json.dumps(to_record(findings()), allow_nan=False)
    back = from_record(Findings, json.loads(text))
    assert json.dumps(to_record(back), allow_nan=False) == text
    expected = findings()  # Its results hold NaN, which is equal to nothing but the same object
    assert dataclasses.replace(back, results=expected.results) == expected
    assert back.results.confusion == ((1, 0), (2, 0))
    assert back.results.cautions == findings().results.cautions
    assert math.isnan(back.results.metrics[0].lower)


@pytest.mark.parametrize("number", [0.1, 1 / 3, 5e-324, 1e308, -0.0])
def test_a_float_comes_back_bit_for_bit(number: float) -> None:
    back = from_record(float, json.loads(json.dumps(to_record(number))))
    assert back.hex() == number.hex()


def test_findings_of_a_newer_schema_are_refused_by_name() -> None:
    record = to_record(findings()) | {"schema": "credence/findings/5"}
    assert refusal(from_record, Findings, record, "results/demo/findings.json", AGAIN) == (
        "results/demo/findings.json, column 'schema': 'credence/findings/5' is not "
        f"'credence/findings/4', the only one that credence {__version__} reads. {AGAIN}"
    )


def test_records_name_no_clock_host_or_path() -> None:
    names = {field.name for field in dataclasses.fields(Provenance)}
    stated = {"run", "title", "credence_version", "is_simulated", "inputs", "settings"}
    assert names == stated | {"versions", "looked", "documentation"}


def test_what_was_found_of_a_composition_survives_json() -> None:
    nan = float("nan")
    entry = ShiftClass(
        class_name="Portal",
        calibration_proportion=0.1,
        share=0.2,
        lower=0.15,
        upper=0.25,
        applied=0.18,
        weight=2.0,
        n_predicted=7,
        effective_before=40.0,
        effective_after=31.5,
        score_median=6.8,
        confidence_before=0.7,
        confidence_after=nan,
        elsewhere=2.5,
        elsewhere_lower=1.0,
        elsewhere_upper=4.0,
    )
    curve = ShiftCurve(
        class_name="Portal",
        score=(0.0, 1.0),
        after=(0.3, 1 / 3),
        after_lower=(0.3, 1 / 3),
        after_upper=(0.3, 1 / 3),
    )
    shift = ShiftFinding(
        name="use",
        estimator="em_matched",
        method="kernel",
        level=0.95,
        n_query=9,
        n_cells=9,
        compression_error=0.0,
        condition=3.5,
        part_applied=0.9,
        p_no_shift=0.01,
        gap=0.02,
        p_label_shift=0.5,
        classes=(entry,),
        doubts=MixDoubts(missing=("Portal",)),
        curves=(curve,),
    )
    found = dataclasses.replace(findings(), shifts=(shift,))
    back = from_record(Findings, json.loads(json.dumps(to_record(found), allow_nan=False)))
    assert repr(back.shifts) == repr((shift,))
    assert math.isnan(back.shifts[0].classes[0].confidence_after)


def test_damaged_findings_are_refused_and_an_absent_default_is_taken() -> None:
    record = to_record(findings())
    del record["queries"]
    assert from_record(Findings, record).queries == ()
    del record["results"]["scale"]
    assert refusal(from_record, Findings, record, "findings.json", AGAIN) == (
        f"findings.json, column 'results.scale': it is missing. {AGAIN}"
    )
    with pytest.raises(InputError, match="column 'results': 3 is no value for it"):
        from_record(Findings, record | {"results": 3}, "findings.json")
