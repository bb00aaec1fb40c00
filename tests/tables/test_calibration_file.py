from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credence import __version__
from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.predictions import Labelled, Predictions, from_scores, label
from credence.problems import InputError
from credence.tables.stage_files import (
    CalibrationFile,
    checksum_of,
    read_calibration,
    require_match,
    settings_record,
    write_calibration,
)
from refusals import refusal
from small_forests import small_forests

CORPUS = Path(__file__).resolve().parents[1] / "data" / "invalid" / "calibration"
CLASSES = ("Portal", "HTJ", "Köpfe")
OPTIONS = FitOptions(n_draws=5)


def labelled(n_samples: int = 120) -> Labelled:
    rng = np.random.default_rng(5)
    scores = rng.dirichlet([1.0, 1.0, 1.0], n_samples) * 10
    scores[:, 2] *= 0.0  # never predicted: NaN has to survive
    scores *= 10 / scores.sum(axis=1, keepdims=True)
    ids = np.array([f"p{row}" for row in range(n_samples)], dtype=object)
    predictions = from_scores(ids, CLASSES, scores, 10.0, 0.01)
    truth = rng.integers(0, 3, n_samples)
    predictions = replace(predictions, places=rng.normal(size=(n_samples, 2)))
    return label(predictions, truth)


def file_of(method: str) -> tuple[CalibrationFile, Predictions]:
    known = labelled()
    stage = parse_method(method, "test")
    file = CalibrationFile(
        calibration=stage.build(OPTIONS).fit(known),
        method_spec=stage.text,
        class_names=CLASSES,
        scale=10.0,
        resolution=0.01,
        counts={"n": known.n_samples},
        inputs={"scores.csv": "0" * 64},
        settings=settings_record(stage, OPTIONS),
        release="first",
    )
    return file, known.predictions


@pytest.mark.parametrize("method", [*(method.name for method in METHODS), "tswa -> isotonic"])
def test_every_method_comes_back_with_the_same_confidences(tmp_path: Path, method: str) -> None:
    with small_forests():
        file, predictions = file_of(method)
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    write_calibration(first, file)
    back = read_calibration(first)
    write_calibration(second, back)
    assert first.read_bytes() == second.read_bytes()
    before, after = (
        file.calibration.confidence(predictions),
        back.calibration.confidence(predictions),
    )
    for name, values in vars(before).items():
        np.testing.assert_array_equal(getattr(after, name), values, err_msg=name)
    for name in ("method_spec", "class_names", "scale", "resolution", "counts", "inputs"):
        assert getattr(back, name) == getattr(file, name)
    assert (back.release, back.settings, back.credence_version) == (
        "first",
        file.settings,
        __version__,
    )


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*.json")), ids=lambda path: path.name)
def test_each_defect_is_refused_with_its_whole_message(path: Path) -> None:
    found = refusal(read_calibration, path).replace(f"{path.parent}/", "")
    expected = path.with_suffix(".txt").read_text()
    assert found.replace(__version__, "{version}") + "\n" == expected.replace(
        __version__, "{version}"
    )


def test_an_absent_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(read_calibration, tmp_path / "c.json") == (
        f"{tmp_path}/c.json: there is no such file. Give a file that credence fit wrote."
    )
    assert refusal(read_calibration, tmp_path) == (
        f"{tmp_path}: this is a folder. Give a file that credence fit wrote."
    )


def mismatch(file: CalibrationFile, predictions: Predictions) -> str:
    return refusal(require_match, file, predictions, "use.csv")


def test_the_predictions_it_was_made_for_are_accepted() -> None:
    for method in ("class_only", "kernel"):
        require_match(*file_of(method), "use.csv")


def test_other_classes_are_named() -> None:
    file, predictions = file_of("class_only")
    other = replace(predictions, class_names=("Portal", "Tail", "HTJ", "Collar"))
    assert mismatch(file, other) == (
        "use.csv: its classes are not the calibration's: missing 'Köpfe'; "
        "not known 'Tail', 'Collar'. Give a table with these classes, in this order: "
        "'Portal', 'HTJ', 'Köpfe'."
    )


def test_classes_in_another_order_and_another_scale_are_both_named() -> None:
    file, predictions = file_of("class_only")
    other = replace(predictions, class_names=("HTJ", "Portal", "Köpfe"), scale=1.0)
    assert mismatch(file, other) == (
        "use.csv: its classes are the calibration's in another order: 'HTJ', 'Portal', 'Köpfe'. "
        "Put them in this order: 'Portal', 'HTJ', 'Köpfe'.\n"
        "use.csv: its scale is 1, the calibration's is 10. "
        "Give scores of the classifier that was calibrated, on the same scale."
    )


def test_a_table_without_what_the_method_needs_is_refused() -> None:
    file, predictions = file_of("kernel")
    assert mismatch(file, replace(predictions, top_score=None, scores=None)) == (
        "use.csv: it has no scores, and 'kernel' needs the top score. "
        "Give such a table, or fit with a method that needs less."
    )
    require_match(file, replace(predictions, scores=None), "use.csv")


@pytest.mark.parametrize("method", ["tswa", "tswa -> isotonic"])
def test_a_method_that_sees_the_vector_somewhere_needs_it(method: str) -> None:
    file, predictions = file_of(method)
    assert mismatch(file, replace(predictions, scores=None)) == (
        f"use.csv: it has the top score only, and {method!r} needs the "
        "score of every class, each row summing to the scale. "
        "Give such a table, or fit with a method that needs less."
    )


def test_every_setting_is_written_with_its_value() -> None:
    record = settings_record(parse_method("kernel(bandwidth=mon4)", "test"), OPTIONS)
    assert record["stages"][0]["bandwidth"] == "mon4"
    assert record["stages"][0]["prior_weight"] == 1.0
    assert record["options"] == {"min_positives": 10.0, "level": 0.95, "n_draws": 5}


def test_reformatting_a_file_does_not_break_it_but_a_changed_digit_does(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    write_calibration(path, file_of("class_only")[0])
    body = json.loads(path.read_text())
    path.write_text(json.dumps(body, indent=8))
    assert read_calibration(path).class_names == CLASSES
    body["resolution"] += 1e-15
    assert checksum_of(body) != body["checksum"]
    path.write_text(json.dumps(body))
    with pytest.raises(InputError, match="its checksum does not fit"):
        read_calibration(path)


@settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(place=st.floats(0, 1), noise=st.binary(max_size=3), n_cut=st.integers(0, 5))
def test_a_damaged_file_is_refused_or_unchanged(
    tmp_path: Path, place: float, noise: bytes, n_cut: int
) -> None:
    path = tmp_path / "c.json"
    if not path.exists():
        write_calibration(path, file_of("class_only")[0])
    data = path.read_bytes()
    at = int(place * len(data))
    damaged = tmp_path / "damaged.json"
    damaged.write_bytes(data[:at] + noise + data[at + n_cut :])
    try:
        back = read_calibration(damaged)
    except InputError as error:
        assert str(error).startswith(str(damaged))
        return
    again = tmp_path / "again.json"
    write_calibration(again, back)
    assert again.read_bytes() == data
