from __future__ import annotations

from types import SimpleNamespace

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
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
