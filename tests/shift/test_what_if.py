"""Curves at any composition against methods that are really fitted anew."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from verification.in_memory import draw_labelled

from credence.calibrators.classwise import ClasswiseCalibration, ConstantCurve
from credence.calibrators.kernel import KernelCurve
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibration, FitOptions
from credence.composition.adjusted import shifted
from credence.composition.what_if import MOST_NUMBERS, what_if_of
from credence.composition.what_if import _moved as moved
from credence.confidence import Confidence, Note
from credence.findings import WhatIf
from credence.predictions import Floats, Labelled
from credence.simulate.law import WorldSettings
from moved_curves import curves_at
from shift_findings import labelled_proteins, what_if

QUICK = FitOptions(n_draws=0)
# A kernel's curve is stored on knots, to 1e-7; the sums behind it are compressed to as much.
TOLERANCE = 1e-6


@cache
def world() -> Labelled:
    settings = WorldSettings(n_calibration=600, n_training_relatives=0)
    return draw_labelled(settings, np.random.default_rng(3))


def fitted(method: str, labelled: Labelled) -> Calibration:
    return parse_method(method, "test").build(QUICK).fit(labelled)


@cache
def fitted_to_the_world(method: str) -> tuple[Calibration, WhatIf]:
    """Return the calibration of the world by a method, and what gives its curves elsewhere."""
    calibration = fitted(method, world())
    found = what_if_of(world(), parse_method(method, "test"), calibration, QUICK)
    assert found is not None
    return calibration, found


def answers(calibration: Calibration, labelled: Labelled, class_: int, grid: Floats) -> Confidence:
    return calibration.confidence(labelled.predictions.at_scores(class_, grid))


METHODS = (
    *("kernel", "kernel(prior_weight=0.0)", "kernel(reflection=True)", "kernel(bandwidth=0.4)"),
    *("histogram", "cumulative", "cumulative_plus", "class_only", "isotonic", "platt"),
)


@pytest.mark.parametrize("method", METHODS)
def test_at_the_calibration_sets_own_composition_nothing_moves(method: str) -> None:
    labelled = world()
    calibration, found = fitted_to_the_world(method)
    assert found.is_exact is (method not in ("isotonic", "platt"))
    grid = np.array(found.score)
    curves = curves_at(found, np.array(found.calibration_share))
    for class_ in range(labelled.predictions.n_classes):
        expected = answers(calibration, labelled, class_, grid)
        np.testing.assert_allclose(curves[class_], expected.value, atol=TOLERANCE)


def with_bandwidth_of(calibration: Calibration, class_: int, method: str) -> str:
    """Return the method with the bandwidth that it chose, since here it is held."""
    assert isinstance(calibration, ClasswiseCalibration)
    curve = list(calibration.classes.values())[class_].curve
    if not isinstance(curve, KernelCurve):
        return method
    settings = parse_method(method, "test").stages[0].settings
    kept = f"bandwidth={curve.bandwidth!r}, prior_weight={settings.prior_weight}"
    return f"kernel({kept}, reflection={settings.reflection})"


@pytest.mark.parametrize("method", [*METHODS[:6], "class_only"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_at_any_composition_the_curve_is_that_of_a_refit(method: str, seed: int) -> None:
    labelled = world()
    calibration, found = fitted_to_the_world(method)
    own, grid = np.array(found.calibration_share), np.array(found.score)
    share = np.random.default_rng(seed).dirichlet(np.full(len(own), 0.5)) * (own > 0)
    curves = curves_at(found, share)
    weight = np.divide(share / share.sum(), own, out=np.full(len(own), np.nan), where=own > 0)
    moved = shifted(labelled, weight)
    refitted = cache(lambda spec: fitted(spec, moved))  # one fit for classes of one bandwidth
    for class_ in range(len(own)):
        spec = with_bandwidth_of(calibration, class_, method)
        expected = answers(refitted(spec), labelled, class_, grid)
        # What is held at the lowest scores moves by Bayes' rule; a fit anew holds another share.
        before = answers(calibration, labelled, class_, grid)
        is_held = ((expected.note | before.note) & Note.LOW_END) > 0
        assert is_held.mean() < 0.9
        np.testing.assert_allclose(
            curves[class_, ~is_held], expected.value[~is_held], atol=TOLERANCE
        )


def test_a_method_that_looks_at_the_vector_is_shown_by_the_kernel() -> None:
    assert what_if("tswa").method == "kernel"
    assert what_if("tswa") == what_if("kernel")


def test_by_hand() -> None:
    labelled = labelled_proteins()
    found = what_if_of(
        labelled, parse_method("class_only", "test"), fitted("class_only", labelled), QUICK
    )
    assert found is not None
    predicted, true = labelled.predictions.predicted_class, labelled.true_class
    share = np.array([0.2, 0.3, 0.5])
    weight = share / np.bincount(true, minlength=3) * len(true)
    held = predicted == 0
    # Of what is predicted first: the weight of those truly first over that of all.
    expected = weight[0] * (held & (true == 0)).sum() / weight[true[held]].sum()
    np.testing.assert_allclose(curves_at(found, share)[0], expected)
    assert np.isnan(curves_at(found, share)[2]).all()  # never predicted
    # Nothing but the last class, of which nobody is predicted right: Jeffreys' share.
    n_wrong = (held & (true == 2)).sum() * len(true) / (true == 2).sum()
    only_last = curves_at(found, np.array([0.0, 0.0, 1.0]))
    np.testing.assert_allclose(only_last[0], 0.5 / (n_wrong + 1.0))


def test_a_class_predicted_right_alone_lends_nothing_to_others() -> None:
    labelled = labelled_proteins()
    right = labelled.take((labelled.predictions.predicted_class == 0) & labelled.is_correct)
    value = np.array([0.2, 0.9])
    found = moved(right, 0, value, np.array([3.0, 9.0]))
    np.testing.assert_array_equal(found, [value, [0.0, 0.0], [0.0, 0.0]])


def test_far_from_every_protein_a_kernel_without_prior_stays_a_probability() -> None:
    labelled = labelled_proteins()
    method = "kernel(bandwidth=0.02, prior_weight=0.0)"
    found = what_if_of(labelled, parse_method(method, "test"), fitted(method, labelled), QUICK)
    assert found is not None
    curves = curves_at(found, np.array([0.1, 0.8, 0.1]))
    assert ((curves[:2] >= 0) & (curves[:2] <= 1)).all()


def test_relatives_count_as_one_family() -> None:
    labelled = labelled_proteins()
    alone = replace(labelled, cluster=labelled.predictions.ids)
    calibration = fitted("kernel", labelled)
    spec = parse_method("kernel", "test")
    in_families = what_if_of(labelled, spec, calibration, QUICK)
    by_protein = what_if_of(alone, spec, calibration, QUICK)
    assert in_families is not None
    assert by_protein is not None
    for one, other in zip(in_families.parts, by_protein.parts, strict=True):
        assert other.family_squared == other.mass_squared
        assert one.family_squared >= one.mass_squared


def test_many_classes_are_drawn_on_fewer_scores() -> None:
    n_classes, n = 120, 14_000
    rng = np.random.default_rng(0)
    labelled = labelled_proteins(n)
    predictions = replace(
        labelled.predictions,
        class_names=tuple(f"class {number}" for number in range(n_classes)),
        predicted_class=rng.integers(n_classes, size=n),
        scores=None,
        is_distribution=False,
    )
    many = replace(labelled, predictions=predictions, true_class=rng.integers(n_classes, size=n))
    found = what_if_of(many, parse_method("class_only", "test"), fitted("class_only", many), QUICK)
    assert found is not None
    assert 21 <= len(found.score) < 101
    assert len(found.parts) * len(found.score) <= MOST_NUMBERS


def test_without_scores_there_are_no_curves() -> None:
    labelled = labelled_proteins()
    bare = replace(labelled.predictions, top_score=None, scores=None, is_distribution=False)
    only = replace(labelled, predictions=bare)
    calibration = fitted("class_only", only)
    assert isinstance(calibration, ClasswiseCalibration)
    assert isinstance(next(iter(calibration.classes.values())).curve, ConstantCurve)
    assert what_if_of(only, parse_method("class_only", "test"), calibration, QUICK) is None
