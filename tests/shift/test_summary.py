"""Expected numbers of right predictions and of proteins of a class elsewhere."""

from __future__ import annotations

import numpy as np
from verification.in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import estimate_composition
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.composition.summary import Corrected, expected_truth, summarise_shift
from credence.findings import ShiftFinding
from credence.predictions import Labelled
from credence.simulate.law import WorldSettings

SHARES = np.array([0.25, 0.0, 0.15, 0.05, 0.1, 0.1, 0.1, 0.05, 0.05, 0.1, 0.05])
OPTIONS = FitOptions(n_draws=40)


def test_expected_truth_is_bayes_rule_in_every_bin() -> None:
    # One score bin. Predicted 0: densities .6 (true 0), .1 (true 1); w = (1, 3): .6/(.6 + .3).
    density = np.array([[[0.6], [0.1]], [[0.1], [0.2]]])
    found = expected_truth(density, np.array([[90.0], [70.0]]), np.array([1.0, 3.0]))
    np.testing.assert_allclose(found, [[60.0, 30.0], [10.0, 60.0]])


def test_a_bin_that_calibration_never_saw_says_nothing() -> None:
    found = expected_truth(np.zeros((2, 2, 1)), np.array([[5.0], [0.0]]), np.ones(2))
    np.testing.assert_array_equal(found, 0.0)


def summary(use: Labelled) -> ShiftFinding:
    settings = WorldSettings(n_calibration=3000, class_proportions="sampled", family_size="single")
    calibration = draw_labelled(settings, np.random.default_rng(2))
    sample = calibration_sample(calibration, True)
    seen = use_sample(use.predictions, sample.model)
    composition = estimate_composition(sample, seen, ESTIMATORS_BY_NAME["em_matched"], OPTIONS)
    stage = parse_method("kernel", "test")
    corrected = Corrected(
        sample=sample,
        use=seen,
        composition=composition,
        diagnostics=diagnose(sample, seen, composition, OPTIONS),
        plain=stage.build(FitOptions(n_draws=0)).fit(calibration),
        correction=correction_for(sample, composition, OPTIONS.level),
        by_score=True,
    )
    return summarise_shift("use", "em_matched", "kernel", corrected, OPTIONS, 0.0)


def test_what_is_expected_of_a_query_set_is_what_is_true_of_it() -> None:
    settings = WorldSettings(n_calibration=2000, class_proportions="sampled", family_size="single")
    use = draw_labelled(settings, np.random.default_rng(3), SHARES)
    found = summary(use)
    predicted = use.predictions.predicted_class
    n_held = 0
    for class_, entry in enumerate(found.classes):
        is_elsewhere = (use.true_class == class_) & (predicted != class_)
        assert entry.n_predicted == (predicted == class_).sum()
        count = is_elsewhere.sum()
        assert entry.elsewhere_lower <= entry.elsewhere <= entry.elsewhere_upper
        slack = 2.0 * np.sqrt(count + 1.0)
        n_held += entry.elsewhere_lower - slack <= count <= entry.elsewhere_upper + slack
    assert n_held >= 0.9 * 11
    raised = max(found.classes, key=lambda entry: entry.weight)
    assert raised.confidence_after > raised.confidence_before
