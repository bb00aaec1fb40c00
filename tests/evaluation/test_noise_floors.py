from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation import measures
from credence.evaluation.evaluate import evaluate, metric_columns
from credence.evaluation.judging import EvaluationOptions


def test_every_interval_of_the_table_of_metrics_holds_its_number(sets: SimpleNamespace) -> None:
    # Of a few proteins a debiased error is 0 in nearly every draw of its floor.
    found = 0
    for seed in range(3):
        world = sets.draw(seed, 24, "few", skill=3.5)
        calibrator = parse_method("class_only", "test").build(FitOptions(n_draws=0))
        options = EvaluationOptions(n_folds=2, n_draws=20, n_floor=100, n_signs=0)
        table = metric_columns(evaluate(world, {"class_only": calibrator}, options).results)
        for value, lower, upper in zip(
            table["value"], table["lower"], table["upper"], strict=True
        ):
            assert not (value < lower or value > upper)
            found += lower == lower
    assert found > 100


def test_fewer_draws_at_once_change_no_metric_and_no_floor(
    sets: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = sets.draw(1, 60, "few", skill=3.5)
    calibrator = parse_method("class_only", "test").build(FitOptions(n_draws=0))
    options = EvaluationOptions(n_folds=2, n_draws=20, n_floor=20, n_signs=0)
    known = metric_columns(evaluate(world, {"class_only": calibrator}, options).results)
    assert [measures.draws_at_once(n) for n in (1, 30, 31, 200, 10_000)] == [250, 250, 241, 37, 1]
    monkeypatch.setattr(measures, "DRAWS_AT_ONCE", 7)
    found = metric_columns(evaluate(world, {"class_only": calibrator}, options).results)
    for name in ("value", "lower", "upper"):
        # The search for the width of the smooth error ends for all draws of a part together.
        np.testing.assert_allclose(found[name], known[name], rtol=0, atol=1e-6)
