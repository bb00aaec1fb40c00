from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.describing import parameters_of
from credence.findings import FittedParameter
from credence.predictions import Labelled, Predictions

N = 60


def fitted(method: str) -> Any:
    """Return a method fitted to two classes, each predicted as often."""
    top = np.linspace(5.5, 9.0, N)
    predicted = np.arange(N) % 2
    scores = np.where(np.arange(2) == predicted[:, None], top[:, None], 10.0 - top[:, None])
    predictions = Predictions(
        ids=np.array([f"p{k}" for k in range(N)]),
        class_names=("A", "B"),
        scale=10.0,
        resolution=0.01,
        predicted_class=predicted,
        top_score=top,
        scores=scores,
    )
    true_class = np.where(np.arange(N) % 5 == 0, 1 - predicted, predicted)
    labelled = Labelled(
        predictions=predictions,
        true_class=true_class,
        weight=np.ones(N),
        cluster=np.arange(N).astype(str),
    )
    return parse_method(method, "method").build(FitOptions(n_draws=0)).fit(labelled)


def test_numbers_of_curves_and_of_models_are_those_that_they_answer_with() -> None:
    optimal, tswa = fitted("cumulative_optimal"), fitted("tswa")
    found = parameters_of({"optimal": optimal, "tswa": tswa}, ("A", "B"))
    curves = {name: optimal.classes[name].curve for name in ("A", "B")}
    cutoffs = [
        FittedParameter(method="optimal", class_name=name, name="cutoff", value=curve.cutoff)
        for name, curve in curves.items()
        if np.isfinite(curve.cutoff)  # else there is none
    ]
    of_model = [
        FittedParameter(
            method="tswa",
            class_name=class_name,
            name=name,
            value=float(getattr(tswa.model, name)[number]),
        )
        for number, class_name in enumerate(("A", "B"))
        for name in ("temperature", "award")
    ]
    assert found == (*cutoffs, *of_model)
    assert len(of_model) == 4
    assert len(cutoffs) >= 1


@pytest.mark.parametrize("method", ["class_only", "tswa -> kernel"])
def test_a_method_without_such_numbers_has_none(method: str) -> None:
    assert parameters_of({"method": fitted(method)}, ("A", "B")) == ()


def test_the_bandwidth_of_a_fitted_kernel_is_found() -> None:
    found = parameters_of({"k": fitted("kernel(bandwidth=0.7)")}, ("A", "B"))
    assert found == tuple(
        FittedParameter(method="k", class_name=name, name="bandwidth", value=0.7)
        for name in ("A", "B")
    )
