"""The laws of methods, for every method whose registry entry promises them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from cases import cases, promising
from credence.calibrators.all_methods import METHODS
from credence.calibrators.classwise import LowEnd
from credence.calibrators.protocol import FitOptions, Law, Method, Need
from credence.confidence import Confidence, Note
from credence.predictions import Floats, Labelled, Strings, label
from credence.stages.methods import describe

EXACT = 1e-12  # the laws hold to this
ITERATED = 1e-9  # where a minimum is found by steps, its place is only as sure as this
OPTIONS = FitOptions(n_draws=0)
N_SAMPLES, N_CLUSTERS = 200, 60  # a law holds in a small world too
SEEDS = st.integers(min_value=0, max_value=2**16)
few_worlds = settings(max_examples=3, deadline=None, derandomize=True)

every_method = cases("method", METHODS)
# Of those that are slow to fit, other laws stay.
every_method_moved = cases("method", METHODS, long=["auto", "cstswa", "macest"])


def tolerance(method: Method) -> float:
    """Return how far rounding may move a confidence."""
    return EXACT if method.additive else ITERATED


def fit(method: Method, method_settings: Any, labelled: Labelled, asked: Labelled) -> Confidence:
    calibration = method.build(method_settings, OPTIONS).fit(labelled)
    return calibration.confidence(asked.predictions)


@every_method_moved
@few_worlds
@given(seed=SEEDS, factor=st.sampled_from([0.1, 1 / 3, 3.7, 100.0]))
def test_scaling_the_scores_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int, factor: float
) -> None:
    world = worlds.draw(seed, N_SAMPLES, N_CLUSTERS)
    other = label(
        worlds.scaled(world.predictions, factor), world.true_class, world.weight, world.cluster
    )
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), other, other)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))
    np.testing.assert_array_equal(first.note, second.note)


@every_method_moved
@few_worlds
@given(seed=SEEDS)
def test_permuting_rows_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int
) -> None:
    world = worlds.draw(seed, N_SAMPLES, N_CLUSTERS)
    order = np.random.default_rng(seed).permutation(world.n_samples)
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), world.take(order), world)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@every_method_moved
@few_worlds
@given(seed=SEEDS)
def test_permuting_classes_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int
) -> None:
    world = worlds.draw(seed, N_SAMPLES, N_CLUSTERS)
    order = np.random.default_rng(seed).permutation(world.predictions.n_classes).tolist()
    other = worlds.with_classes_in_order(world, order)
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), other, other)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@promising(Law.REPEAT_IS_WEIGHT, long=["cstswa"])
@few_worlds
@given(seed=SEEDS)
def test_each_row_twice_is_weight_2(
    worlds: SimpleNamespace, method: Method, method_settings: Any, seed: int
) -> None:
    world = worlds.draw(seed, N_SAMPLES, N_CLUSTERS)
    twice = world.take(np.repeat(np.arange(world.n_samples), 2))
    first = fit(method, method_settings, twice, world)
    second = fit(method, method_settings, world.reweighted(2.0 * world.weight), world)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@promising(Law.TROVE)
@settings(max_examples=12, deadline=None)
@given(
    seed=SEEDS,
    class_=st.integers(min_value=0, max_value=3),
    has_ties=st.booleans(),
    share_added=st.sampled_from([0.2, 0.5, 1.0]),
)
def test_more_true_proteins_of_a_class_never_lower_it_nor_raise_another(
    worlds: SimpleNamespace,
    method: Method,
    method_settings: Any,
    seed: int,
    class_: int,
    has_ties: bool,
    share_added: float,
) -> None:
    everything = worlds.draw(seed, n_samples=700)
    if has_ties:
        everything = worlds.rounded(everything)
    is_new = np.zeros(everything.n_samples, dtype=bool)
    is_new[400:] = everything.true_class[400:] == class_
    is_new &= np.random.default_rng([seed, 1]).random(everything.n_samples) < share_added
    assert is_new.any()
    is_old = np.arange(everything.n_samples) < 400
    old, grown = everything.take(is_old), everything.take(is_old | is_new)
    before = fit(method, method_settings, old, old)
    after = fit(method, method_settings, grown, old)
    # The law holds where no fallback and no held end speaks on either side.
    plain = (before.note == Note.NONE) & (after.note == Note.NONE)
    rise = (after.value - before.value)[plain]
    in_class = old.predictions.predicted_class[plain] == class_
    slack = EXACT + 2.0 * method.stored_within
    assert plain.mean() > 0.8
    assert (rise[in_class] >= -slack).all()
    assert (rise[~in_class] <= slack).all()
    assert np.abs(rise).max() > 1e-3  # the trove did tell something


@every_method
def test_a_method_that_does_not_promise_the_trove_law_says_so(method: Method) -> None:
    entry = describe(method)
    kept = [
        entry["laws_promised"], entry["laws_promised_with_settings"], entry["laws_not_promised"]
    ]  # fmt: skip
    is_conditional = Law.TROVE in method.conditional_laws
    assert [Law.TROVE.value in part for part in kept] == [
        Law.TROVE in method.laws,
        is_conditional,
        Law.TROVE not in method.laws and not is_conditional,
    ]


def test_the_methods_that_promise_the_trove_law_are_those_of_the_methods_page() -> None:
    promising = {method.name for method in METHODS if Law.TROVE in method.laws}
    conditional = {method.name for method in METHODS if Law.TROVE in method.conditional_laws}
    assert promising == {"class_only", "histogram", "cumulative", "isotonic"}
    assert conditional == {"kernel"}


def supported_fit(scores: Floats, is_right: Floats, weight: Floats, family: Strings) -> LowEnd:
    """Return the slow twin of `low_end`: family by family, and scikit-learn's isotonic fit."""
    for lowest in np.unique(scores):
        below = scores <= lowest
        masses = np.array([weight[below & (family == one)].sum() for one in set(family[below])])
        if masses.sum() ** 2 / (masses**2).sum() >= 5.0 - 1e-6:
            fit = IsotonicRegression().fit(scores, is_right, weight).predict(scores)
            most = fit[scores == lowest][0]
            block = weight[np.abs(fit - most) < 1e-9].sum()
            return LowEnd(score=float(lowest), most=max(most, 0.5 / (block + 1.0)))
    raise AssertionError("a world has more than five families a class")


@cases("method", [method for method in METHODS if method.needs is Need.TOP_SCORE])
@few_worlds
@given(seed=SEEDS)
def test_a_value_held_below_the_scores_seen_never_exceeds_the_monotone_fit_there(
    worlds: SimpleNamespace, method: Method, seed: int
) -> None:
    world = worlds.draw(seed, N_SAMPLES, N_CLUSTERS)
    predictions = world.predictions
    calibration = method.build(method.settings(), OPTIONS).fit(world)
    for class_ in range(predictions.n_classes):
        rows = predictions.predicted_class == class_
        low = supported_fit(
            predictions.top_score[rows], world.is_correct[rows] * 1.0, world.weight[rows],
            world.cluster[rows].astype(str),
        )  # fmt: skip
        asked = predictions.take(np.flatnonzero(rows)[[0, 0]])
        below = replace(asked, top_score=np.array([0.0, np.nextafter(low.score, 0.0)]))
        found = calibration.confidence(below)
        # Shares of the scale, of a bin or of all above hold no value of an end.
        if found.note[0] & Note.BELOW_RANGE:
            assert (found.value <= low.most + ITERATED).all()
        else:
            assert not (found.note & Note.LOW_END).any()
