from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.describing import parameters_of
from credence.findings import FittedParameter
from credence.predictions import Labelled, Predictions


@dataclass(frozen=True)
class Recorded:
    """A calibration of which only the record is asked."""

    record: dict[str, Any]

    def to_record(self) -> dict[str, Any]:
        return self.record


def test_numbers_of_curves_and_of_models_are_found_class_by_class() -> None:
    cumulative = Recorded(
        {"classes": {"A": {"curve": {"cutoff": 7.5}}, "B": {"curve": {"cutoff": None}}}}
    )
    tswa = Recorded(
        {"classes": {"A": {}, "B": {}}, "model": {"temperature": [0.9, 0.9], "award": [0, -1]}}
    )
    found = parameters_of({"cumulative": cumulative, "tswa": tswa}, ("A", "B"))  # type: ignore[dict-item]
    assert found == (
        FittedParameter("cumulative", "A", "cutoff", 7.5),
        FittedParameter("tswa", "A", "temperature", 0.9),
        FittedParameter("tswa", "A", "award", 0.0),
        FittedParameter("tswa", "B", "temperature", 0.9),
        FittedParameter("tswa", "B", "award", -1.0),
    )


def test_a_method_without_such_numbers_has_none() -> None:
    assert parameters_of({"class_only": Recorded({"classes": {"A": {"curve": {}}}})}, ("A",)) == ()  # type: ignore[dict-item]


def test_the_bandwidth_of_a_fitted_kernel_is_found() -> None:
    n = 40
    score = np.linspace(2.0, 9.0, n)
    predictions = Predictions(
        ids=np.array([f"p{k}" for k in range(n)]),
        class_names=("A", "B"),
        scale=10.0,
        resolution=0.01,
        predicted_class=np.zeros(n, dtype=np.int64),
        top_score=score,
    )
    true_class = np.where(np.arange(n) % 3 == 0, 1, 0)
    labelled = Labelled(predictions, true_class, np.ones(n), np.arange(n).astype(str))
    method = parse_method("kernel(bandwidth=0.7)", "method")
    fitted = method.build(FitOptions(n_draws=0)).fit(labelled)
    (found,) = parameters_of({"k": fitted}, ("A", "B"))
    assert found == FittedParameter("k", "A", "bandwidth", 0.7)
