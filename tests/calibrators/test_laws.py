"""Laws of METHODS section 2, for every method whose registry entry promises them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.calibrators.all_methods import METHODS
from credence.calibrators.protocol import FitOptions, Law, Method
from credence.confidence import Confidence, Note
from credence.predictions import Labelled, label
from credence.stages.methods import describe

EXACT = 1e-12  # METHODS section 2: the laws hold to this
ITERATED = 1e-9  # where a minimum is found by steps, its place is only as sure as this
OPTIONS = FitOptions(n_draws=0)
SEEDS = st.integers(min_value=0, max_value=2**16)
few_worlds = settings(max_examples=3, deadline=None, derandomize=True)

every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def promises(law: Law) -> Any:
    """Return the methods, with settings, that promise a law."""
    found = [(method, method.settings()) for method in METHODS if law in method.laws]
    found += [
        (method, method.conditional_laws[law])
        for method in METHODS
        if law in method.conditional_laws
    ]
    return pytest.mark.parametrize(
        ("method", "method_settings"), found, ids=[method.name for method, _ in found]
    )


def tolerance(method: Method) -> float:
    """Return how far rounding may move a confidence."""
    return EXACT if method.additive else ITERATED


def fit(method: Method, method_settings: Any, labelled: Labelled, asked: Labelled) -> Confidence:
    calibration = method.build(method_settings, OPTIONS).fit(labelled)
    return calibration.confidence(asked.predictions)


@every_method
@few_worlds
@given(seed=SEEDS, factor=st.sampled_from([0.1, 1 / 3, 3.7, 100.0]))
def test_scaling_the_scores_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int, factor: float
) -> None:
    world = worlds.draw(seed)
    other = label(
        worlds.scaled(world.predictions, factor), world.true_class, world.weight, world.cluster
    )
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), other, other)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))
    np.testing.assert_array_equal(first.note, second.note)


@every_method
@few_worlds
@given(seed=SEEDS)
def test_permuting_rows_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int
) -> None:
    world = worlds.draw(seed)
    order = np.random.default_rng(seed).permutation(world.n_samples)
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), world.take(order), world)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@every_method
@few_worlds
@given(seed=SEEDS)
def test_permuting_classes_changes_no_confidence(
    worlds: SimpleNamespace, method: Method, seed: int
) -> None:
    world = worlds.draw(seed)
    order = np.random.default_rng(seed).permutation(world.predictions.n_classes).tolist()
    other = worlds.with_classes_in_order(world, order)
    first = fit(method, method.settings(), world, world)
    second = fit(method, method.settings(), other, other)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@promises(Law.REPEAT_IS_WEIGHT)
@few_worlds
@given(seed=SEEDS)
def test_each_row_twice_is_weight_2(
    worlds: SimpleNamespace, method: Method, method_settings: Any, seed: int
) -> None:
    world = worlds.draw(seed)
    twice = world.take(np.repeat(np.arange(world.n_samples), 2))
    first = fit(method, method_settings, twice, world)
    second = fit(method, method_settings, world.reweighted(2.0 * world.weight), world)
    np.testing.assert_allclose(first.value, second.value, rtol=0, atol=tolerance(method))


@promises(Law.TROVE)
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
