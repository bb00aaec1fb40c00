"""The test of no shift, and what of an estimated shift is applied because of it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from verification.in_memory import draw_labelled

from credence.calibrators.protocol import FitOptions
from credence.composition.both_samples import CalibrationSample, calibration_sample, use_sample
from credence.composition.diagnostics import _effective, diagnose
from credence.composition.estimate import (
    Composition,
    NoShift,
    _interval,
    compare_predicted,
    estimate_composition,
)
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.draws import keys_of
from credence.predictions import Labelled
from credence.simulate.law import CLASS_NAMES, WorldSettings
from shift_findings import adjust, remarks_about

FAMILIES = WorldSettings(n_calibration=1200, class_proportions="sampled")
SINGLE = replace(FAMILIES, n_calibration=600, family_size="single")
OPTIONS = FitOptions(n_draws=30)


@cache
def sets(seed: int) -> tuple[CalibrationSample, Labelled]:
    rng = np.random.default_rng(seed)
    return calibration_sample(draw_labelled(FAMILIES, rng), False), draw_labelled(SINGLE, rng)


def calibrating(seed: int) -> Labelled:
    return draw_labelled(FAMILIES, np.random.default_rng(seed))


def test_sets_without_shift_are_rejected_as_often_as_is_said() -> None:
    # 60 sets: 3 are expected at 5 %; 9 or more come once in 300 such tests. A bootstrap
    # of both sides rejects 12 to 26 % here.
    p = [
        compare_predicted(sample, use_sample(use.predictions, None), 60).p_value
        for sample, use in map(sets, range(60))
    ]
    assert sum(value <= 0.05 for value in p) < 9
    assert 0.35 < float(np.median(p)) < 0.7


def test_a_shift_is_found() -> None:
    sample, _ = sets(0)
    even = draw_labelled(SINGLE, np.random.default_rng(0), np.full(11, 1 / 11))
    found = compare_predicted(sample, use_sample(even.predictions, None))
    assert found.p_value == pytest.approx(1 / 401)
    assert found.reality > 0.8


def test_families_that_are_named_as_genomes_are_not_taken_for_a_shift() -> None:
    settings = replace(FAMILIES, n_calibration=600)
    rejected = np.zeros(2)
    for seed in range(30):
        sample, _ = sets(seed)
        use = draw_labelled(settings, np.random.default_rng(1000 + seed))
        for at, genome in enumerate((None, keys_of(use.cluster))):
            seen = use_sample(use.predictions, None, genome=genome)
            rejected[at] += compare_predicted(sample, seen, 60).p_value <= 0.05
    assert rejected[1] <= 4 < rejected[0]


def test_what_is_real_begins_where_the_test_rejects_and_tends_to_all() -> None:
    chance = np.arange(1.0, 101.0)
    values = [
        NoShift(distance=distance, chance=chance).reality
        for distance in (0.0, 50.0, 95.0, 190.1, 9505.0)
    ]
    np.testing.assert_allclose(values, [0.0, 0.0, 0.0, 0.5, 0.99], atol=6e-3)


def test_something_is_applied_just_where_the_test_of_no_shift_rejects() -> None:
    # A page called one sample "as in the calibration set" and "more than chance".
    for n in (18, 19, 20, 60, 400):
        chance = np.arange(1.0, n + 1.0)
        for distance in np.arange(0.5, n + 2.0):
            found = NoShift(distance=float(distance), chance=chance)
            assert (found.reality > 0.0) == (found.p_value < 0.05)


def composition(use: Labelled, sample: CalibrationSample) -> Composition:
    seen = use_sample(use.predictions, None)
    return estimate_composition(sample, seen, ESTIMATORS_BY_NAME["bbse_hard"], OPTIONS)


def test_without_shift_confidences_are_not_moved_and_their_intervals_carry_what_is_not_known() -> (
    None
):
    from credence.calibrators.method_spec import parse_method

    sample, use = sets(3)
    found = composition(use, sample)
    assert found.part_applied == 0.0
    np.testing.assert_array_equal(found.applied_proportion, found.calibration_proportion)
    assert np.abs(found.share - found.calibration_proportion).max() > 0.005  # shown as it is
    fitted = parse_method("histogram", "test").build(OPTIONS).fit(calibrating(3))
    plain = fitted.confidence(use.predictions)
    moved = adjust(sample, fitted, found).confidence(use.predictions)
    np.testing.assert_array_equal(moved.value, plain.value)
    assert (moved.upper - moved.lower).mean() > (plain.upper - plain.lower).mean() + 0.005
    seen = diagnose(sample, use_sample(use.predictions, None), found, OPTIONS)
    assert (
        "How often the classes are predicted differs from the calibration set by no more than "
        "chance: confidences are not corrected, and their intervals include what is uncertain "
        "about the class proportions."
    ) in remarks_about(seen, found.part_applied)


def test_a_share_estimated_as_0_is_not_applied_as_0() -> None:
    sample, _ = sets(4)
    share = np.where(np.arange(11) == 8, 0.0, 0.1)
    found = composition(draw_labelled(SINGLE, np.random.default_rng(2), share), sample)
    known = found.is_known
    assert (found.share[known] == 0.0).any()
    assert (found.applied_proportion[known] > 0.0).all()
    assert found.part_applied > 0.9


def test_a_class_of_few_families_is_not_counted_a_hundred_times() -> None:
    sample, _ = sets(5)
    (place,) = (at for at, name in enumerate(CLASS_NAMES) if name == "Minor capsid")
    share = np.where(np.arange(11) == place, 0.3, 0.07)
    found = composition(draw_labelled(SINGLE, np.random.default_rng(3), share), sample)
    assert found.class_number is not None
    n, w = found.class_number, found.moved_weight
    expected = np.where(w > 1, 1 + (w - 1) * n / (n + 4), w)
    np.testing.assert_allclose(found.fit_weight[found.is_known], expected[found.is_known], 1e-5)
    # What another processor rounds otherwise is the same weight, to the last digit.
    moved = replace(found, share=found.share * (1.0 + 1e-12))
    assert (moved.moved_weight != found.moved_weight)[found.is_known].any()
    np.testing.assert_array_equal(moved.fit_weight, found.fit_weight)
    assert found.fit_weight[place] < 0.5 * w[place]
    seen = diagnose(sample, use_sample(composition_use(share).predictions, None), found, OPTIONS)
    assert (
        f"Minor capsid (only {n[place]:.1f} effective proteins, weight "
        f"{found.fit_weight[place]:.3g} in place of {w[place]:.3g})"
    ) in " ".join(remarks_about(seen, found.part_applied))


def composition_use(share: np.ndarray) -> Labelled:
    return draw_labelled(SINGLE, np.random.default_rng(3), share)


def test_the_effective_numbers_are_those_of_the_weights_that_are_fitted_with() -> None:
    sample, use = sets(6)
    seen = use_sample(use.predictions, None)
    still = diagnose(sample, seen, composition(use, sample), OPTIONS)
    np.testing.assert_array_equal(still.effective_after, still.effective_before)
    even = draw_labelled(SINGLE, np.random.default_rng(6), np.full(11, 1 / 11))
    found = composition(even, sample)
    moved = diagnose(sample, use_sample(even.predictions, None), found, OPTIONS)
    other = sample.predicted_class == 10
    weight = found.fit_weight[sample.true_class[other]]
    assert moved.effective_after[10] == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert moved.effective_after[10] < moved.effective_before[10]


def test_a_share_near_none_may_be_none_and_reaches_as_far_as_a_normal_does() -> None:
    # Of t with 99 degrees of freedom 1.98422 deviations: 0.01 + 0.19842.
    found, draws = (
        SimpleNamespace(unbounded=np.array([0.01]), share=np.array([0.01])),
        np.ones(100),
    )
    ends = _interval(
        found, 0.02 * draws[None, :], np.array([0.1]), np.array([100.0]), FitOptions(n_draws=100)
    )
    assert [end.tolist() for end in ends] == [[0.0], [pytest.approx(0.208422, abs=1e-6)]]


def test_a_class_that_calibration_lacks_is_not_moved_to() -> None:
    found = SimpleNamespace(
        no_shift=True,
        part_applied=0.5,
        share=np.array([0.2, 0.8, 0.0]),
        calibration_proportion=np.array([0.5, 0.5, 0.0]),
        least=0.0,
        draws=np.empty((3, 0)),
        is_known=np.array([True, True, False]),
    )
    moved = Composition.moved_share.fget(found)
    np.testing.assert_allclose(moved, [0.35, 0.65, 0.0], rtol=0, atol=1e-12)


def test_nothing_is_left_of_a_prediction_whose_proteins_are_all_of_a_class_of_weight_0() -> None:
    class_ = np.array([0, 0, 1])
    sample = SimpleNamespace(weight=np.ones(3), true_class=class_, predicted_class=class_)
    found = _effective(sample, np.array([1.0, 0.0]))
    assert [number.tolist() for number in found] == [[2.0, 1.0], [2.0, 0.0]]
