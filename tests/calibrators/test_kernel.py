from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from credence.calibrators.classwise import class_samples
from credence.calibrators.kernel import KERNEL_METHOD, Kernel, KernelCurve, steady_bandwidth
from credence.calibrators.masses import masses_of
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import ClassSample, FitOptions
from credence.confidence import Note
from credence.predictions import Floats, Labelled, from_scores, label
from credence.records import from_record, to_record

NODES = 1e-11  # what replacing many scores in a bin by two nodes can change
STORED = 1e-6  # issue 3: the stored curve against the direct sum
Make = Callable[..., ClassSample]


def direct_sum(
    sample: ClassSample,
    point: Floats,
    bandwidth: float,
    prior_weight: float = 0.0,
    reflection: bool = False,
) -> Floats:
    """Return Eq. 7-9 row by row: the slow obvious version, in logs."""
    score, weight, is_correct = sample.score, sample.weight, sample.is_correct
    if reflection:
        score = np.concatenate([score, -score, 2 * sample.scale - score])
        weight, is_correct = np.tile(weight, 3), np.tile(is_correct, 3)
    log_kernel = -0.5 * ((point[:, None] - score) / bandwidth) ** 2 + np.log(weight)
    share = sample.share_correct
    logs = []
    for held, part in ((is_correct, share), (~is_correct, 1 - share)):
        terms = log_kernel[:, held]
        if prior_weight * part > 0:
            prior = np.full((len(point), 1), np.log(prior_weight * part))
            terms = np.concatenate([terms, prior], axis=1)
        logs.append(logsumexp(terms, axis=1))
    return np.asarray(expit(logs[0] - logs[1]))


def assert_exact(sample: ClassSample, bandwidth: float, **settings: Any) -> None:
    curve = Kernel(bandwidth=bandwidth, **{"prior_weight": 0.0, **settings}).fit_curve(sample)
    n_points = 3001 if len(sample.score) < 1000 else 301
    point = np.linspace(sample.score.min(), sample.score.max(), n_points)
    expected = direct_sum(sample, point, bandwidth, **settings)
    np.testing.assert_allclose(curve.value(point), expected, rtol=0, atol=STORED)


def two_clumps(seed: int, n: int, gap: float) -> tuple[Floats, Floats]:
    """Return right scores near 9 and wrong scores near 9 − gap, a few of each apart."""
    rng = np.random.default_rng(seed)
    right = np.clip(9 + 0.3 * rng.standard_normal(n), 0, 10)
    wrong = np.clip(9 - gap + 0.3 * rng.standard_normal(n), 0, 10)
    return np.append(right, 9 - gap), np.append(wrong, 9.1)


@pytest.mark.parametrize("bandwidth", [0.02, 0.1, 0.5, 3.0])
@pytest.mark.parametrize("prior_weight", [0.0, 1.0, 25.0])
def test_the_stored_curve_is_the_direct_sum(
    sample_of: Make, bandwidth: float, prior_weight: float
) -> None:
    right, wrong = two_clumps(1, 150, 3.0)
    assert_exact(sample_of(right, wrong), bandwidth, prior_weight=prior_weight)


@pytest.mark.parametrize("bandwidth", [0.1, 0.4, 1.0])
def test_it_is_exact_in_a_gap_and_five_bandwidths_beyond_the_data_of_a_kind(
    sample_of: Make, bandwidth: float
) -> None:
    rng = np.random.default_rng(2)
    # Right predictions end at 4, wrong ones begin at 9: at 0.1 that is 50 bandwidths.
    right = np.append(rng.uniform(1, 4, 60), 10.0)
    wrong = np.append(rng.uniform(9, 10, 30), 0.5)
    assert_exact(sample_of(right, wrong), bandwidth)


@pytest.mark.parametrize("prior_weight", [0.0, 1.0])
def test_many_scores_in_bins_are_as_exact_as_one_by_one(
    sample_of: Make, prior_weight: float
) -> None:
    rng = np.random.default_rng(3)
    right = 10 * rng.beta(6, 1.2, 9_000)
    wrong = 10 * rng.beta(3, 2, 4_000)
    # A dense clump of wrong ones, then nothing of their kind for ten bandwidths.
    wrong = wrong[wrong < 7]
    sample = sample_of(right, wrong, weight=rng.uniform(0.2, 3.0, len(right) + len(wrong)))
    assert_exact(sample, 0.3, prior_weight=prior_weight)


def test_ties_and_weights_count_as_they_should(sample_of: Make) -> None:
    rng = np.random.default_rng(4)
    right, wrong = np.round(rng.uniform(3, 10, 80), 1), np.round(rng.uniform(2, 9, 50), 1)
    sample = sample_of(right, wrong, weight=rng.uniform(0.1, 5.0, 130))
    assert_exact(sample, 0.25)
    assert_exact(sample, 0.25, prior_weight=1.0)


def test_reflection_folds_mass_back_at_both_ends(sample_of: Make) -> None:
    rng = np.random.default_rng(5)
    sample = sample_of(10 * rng.beta(5, 0.8, 100), 10 * rng.beta(0.8, 2, 60))
    assert_exact(sample, 0.6, reflection=True)


def test_right_over_all_is_the_same_number_as_the_ratio_of_densities(sample_of: Make) -> None:
    # [S23] section 13.3: n_TP·K_TP / (n_P·K_P), each a normalised density.
    right, wrong = two_clumps(6, 40, 2.0)
    sample = sample_of(right, wrong)
    point = np.linspace(7, 9, 50)
    curve = Kernel(bandwidth=0.5, prior_weight=0.0).fit_curve(sample)

    def density(scores: Floats) -> Floats:
        kernel = np.exp(-0.5 * ((point[:, None] - scores) / 0.5) ** 2)
        return np.asarray(kernel.mean(axis=1) / (0.5 * np.sqrt(2 * np.pi)))

    n_right, n_all = len(right), len(right) + len(wrong)
    ratio = n_right * density(right) / (n_all * density(np.concatenate([right, wrong])))
    np.testing.assert_allclose(curve.value(point), ratio, rtol=0, atol=STORED)


def test_two_proteins_by_hand(sample_of: Make) -> None:
    # Right at 6, wrong at 4, b = 1: the odds at S are exp(((S−4)² − (S−6)²)/2) = exp(2S − 10).
    curve = Kernel(bandwidth=1.0, prior_weight=0.0).fit_curve(sample_of([6.0], [4.0]))
    point = np.array([4.0, 5.0, 5.5, 6.0])
    expected = 1 / (1 + np.exp(10 - 2 * point))
    np.testing.assert_allclose(curve.value(point), expected, rtol=0, atol=STORED)


def test_one_prior_protein_by_hand(sample_of: Make) -> None:
    # At S = 6: right 1, wrong exp(−2), share ½, a = 1: (1 + ½) / (1 + exp(−2) + 1).
    curve = Kernel(bandwidth=1.0).fit_curve(sample_of([6.0], [4.0]))
    expected = 1.5 / (2 + np.exp(-2))
    assert curve.value(np.array([6.0]))[0] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("right", "wrong", "expected"), [([5.0], [], 1.0), ([], [5.0], 0.0)])
def test_one_positive_gives_its_own_share(
    sample_of: Make, right: list[float], wrong: list[float], expected: float
) -> None:
    curve = Kernel(bandwidth=1.0).fit_curve(sample_of(right, wrong))
    assert curve.value(np.array([0.0, 5.0, 9.0])).tolist() == [expected] * 3


@pytest.mark.parametrize("prior_weight", [0.0, 1.0])
def test_three_right_ones_are_1_everywhere(sample_of: Make, prior_weight: float) -> None:
    settings = Kernel(bandwidth=0.1, prior_weight=prior_weight)
    curve = settings.fit_curve(sample_of([2.0, 5.0, 9.0], []))
    np.testing.assert_allclose(curve.value(np.linspace(0, 10, 99)), 1.0, rtol=0, atol=1e-12)


def test_a_very_wide_kernel_gives_the_share_of_the_class(sample_of: Make) -> None:
    right, wrong = two_clumps(7, 30, 4.0)
    sample = sample_of(right, wrong[:10])
    curve = Kernel(bandwidth=1e6, prior_weight=0.0).fit_curve(sample)
    # The curve differs from the share by (spread of scores / b)², 1e-11 here.
    np.testing.assert_allclose(
        curve.value(np.linspace(0, 10, 50)), sample.share_correct, rtol=0, atol=1e-9
    )


def test_outside_the_range_the_end_is_held_with_a_note(sample_of: Make) -> None:
    curve = Kernel(bandwidth=0.5).fit_curve(sample_of([5.0, 8.0, 9.0], [4.0, 6.0]))
    bounds = curve.value(np.array([4.0, 9.0]))
    outside = np.array([1.0, 3.999, 9.001, 10.0])
    np.testing.assert_array_equal(curve.value(outside), np.repeat(bounds, 2))
    below, above = int(Note.BELOW_RANGE), int(Note.ABOVE_RANGE)
    assert curve.note(outside).tolist() == [below, below, above, above]
    assert curve.note(np.array([4.0, 5.0, 9.0])).tolist() == [0, 0, 0]


def test_without_a_bandwidth_the_share_is_given_with_a_note(sample_of: Make) -> None:
    # Equal means, unequal spread: the slope changes sign at 5 whatever the bandwidth.
    sample = sample_of([4.0, 6.0, 4.0, 6.0], [3.0, 7.0])
    curve = Kernel(bandwidth="mon").fit_curve(sample)
    point = np.array([0.0, 5.0, 7.0])
    assert curve.value(point) == pytest.approx(np.full(3, 4 / 6), abs=1e-15)
    assert (curve.note(point) == Note.NO_BANDWIDTH).all()
    again = from_record(KernelCurve, to_record(curve))
    assert (again.note(point) == Note.NO_BANDWIDTH).all()


def test_the_prior_draws_78_right_and_2_wrong_towards_their_share(sample_of: Make) -> None:
    # Issue 3: b_mon2 picks 0.09 for such a class; the plain curve then dives to the wrong ones.
    right, wrong = np.linspace(7, 9.99, 78), np.array([5.31, 6.31])
    sample = sample_of(right, wrong, resolution=0.01)
    plain = Kernel(bandwidth=0.09, prior_weight=0.0).fit_curve(sample)
    shrunk = Kernel(bandwidth=0.09).fit_curve(sample)
    share = sample.share_correct
    at_wrong = np.array([6.31])
    # Alone at 6.31: plain 0/1; with one protein of share 0.975 beside it 0.975/2.
    assert plain.value(at_wrong)[0] < 1e-6
    assert shrunk.value(at_wrong)[0] == pytest.approx(share / 2, abs=1e-6)
    # In the gap at 5.81 there is nothing: the plain curve goes on at 0, the prior gives the share.
    in_gap = np.array([5.81])
    assert plain.value(in_gap)[0] < 1e-6
    assert shrunk.value(in_gap)[0] == pytest.approx(share, abs=1e-4)


def test_the_paper_s_bandwidths_on_phanns_own_table(phanns: Labelled) -> None:
    # Issue 3: direct sums, scan of 0.005 from 0.005, 300 grid points over 1.5-10.
    published = {
        "Baseplate": 0.350,
        "Major tail": 0.380,
        "Minor tail": 0.485,
        "Portal": 0.310,
        "Tail fiber": 0.930,
        "Tail shaft": 0.305,
        "Collar": 0.700,
        "HTJ": 0.325,
    }
    calibration: Any = KERNEL_METHOD.build(Kernel(), FitOptions(n_draws=0)).fit(phanns)
    found = {
        name: entry.curve.bandwidth
        for name, entry in calibration.classes.items()
        if name in published
    }
    # One scan step: another grid can see a change of sign that this one steps over.
    assert found == pytest.approx(published, abs=0.005 + 1e-9)


def test_the_interval_holds_the_curve_and_has_width_everywhere(sample_of: Make) -> None:
    right, wrong = two_clumps(9, 60, 3.0)
    sample = sample_of(right, wrong)
    settings = Kernel()
    curve = settings.fit_curve(sample)
    band = settings.fit_band(sample, curve, FitOptions(n_draws=60))
    value = curve.value(band.score)
    assert (band.lower <= value).all() and (value <= band.upper).all()
    assert (band.upper - band.lower).min() > 1e-3


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**16),
    bandwidth=st.floats(0.02, 20.0),
    n_new=st.integers(1, 200),
    is_right=st.booleans(),
)
def test_the_sums_keep_the_trove_law_at_any_fixed_bandwidth(
    sample_of: Make, seed: int, bandwidth: float, n_new: int, is_right: bool
) -> None:
    """The stored curve is within 1e-7 of these sums; the law holds for them to rounding."""
    rng = np.random.default_rng(seed)
    right, wrong = 10 * rng.beta(5, 1, 80), 10 * rng.beta(2, 2, 40)
    new = 10 * rng.beta(3, 2, n_new)
    method = Kernel(bandwidth=bandwidth, prior_weight=0.0)
    before = masses_of(sample_of(right, wrong))
    grown = (np.append(right, new), wrong) if is_right else (right, np.append(wrong, new))
    point = np.linspace(0.0, 10.0, 201)
    first, _ = method.ratio(before, bandwidth, 10.0).evaluate(point)
    second, _ = method.ratio(masses_of(sample_of(*grown)), bandwidth, 10.0).evaluate(point)
    rise = second - first if is_right else first - second
    assert rise.min() >= -NODES


SATURATED_RIGHT = 10.0 - 0.02 * np.arange(60) ** 0.5  # 9.85 to 10


def test_where_scores_are_saturated_the_curve_no_longer_follows_single_proteins(
    sample_of: Make,
) -> None:
    # Two wrong among sixty: at any bandwidth the slope turns twice at most.
    sample = sample_of(SATURATED_RIGHT, [9.4, 9.97])
    masses = masses_of(sample)
    assert steady_bandwidth(masses, 10.0, 0.0, 2) == pytest.approx(0.005)
    curve = Kernel().fit_curve(sample)
    assert curve.bandwidth == steady_bandwidth(masses, 10.0, 0.0, 0)
    assert curve.bandwidth > 0.005
    assert (curve.note(np.array([9.9])) == Note.SATURATED).all()
    again = from_record(KernelCurve, to_record(curve))
    assert (again.note(np.array([9.9])) == Note.SATURATED).all()


def test_where_even_the_steadiest_curve_follows_single_proteins_the_share_is_given(
    sample_of: Make,
) -> None:
    # All wrong ones lie below all right ones: no bandwidth turns.
    sample = sample_of(SATURATED_RIGHT, [9.2, 9.3])
    for rule in ("mon", "mon2", "mon4"):
        curve = Kernel(bandwidth=rule).fit_curve(sample)
        point = np.array([9.0, 9.25, 9.9])
        np.testing.assert_allclose(curve.value(point), 60 / 62)
        assert (curve.note(point) == Note.SATURATED_SHARE).all()
    band = Kernel().fit_band(sample, Kernel().fit_curve(sample), FitOptions(n_draws=20))
    assert (band.lower < 60 / 62).all() and (band.upper > 60 / 62).all()


def test_scores_that_separate_below_the_top_and_votes_of_networks_keep_their_curve(
    sample_of: Make,
) -> None:
    apart = sample_of(np.linspace(6.0, 8.0, 60), np.linspace(2.0, 4.0, 20))
    votes = sample_of([10.0] * 80 + [9.0] * 20, [10.0] + [9.0] * 9 + [8.0] * 2, resolution=1.0)
    for sample in (apart, votes):
        curve = Kernel().fit_curve(sample)
        assert np.isfinite(curve.bandwidth) and curve.code == Note.NONE


def test_twins_in_one_family_do_not_make_wrong_predictions_many(sample_of: Make) -> None:
    wrong = [9.4] * 6 + [9.93] * 6
    names = [f"right {row}" for row in range(60)] + ["one"] * 6 + ["two"] * 6
    curve = Kernel().fit_curve(sample_of(SATURATED_RIGHT, wrong, cluster=names))
    assert curve.code in (Note.SATURATED, Note.SATURATED_SHARE)


def test_a_curve_whose_record_has_no_note_has_none() -> None:
    record = {"bandwidth": 1.0, "score": [1.0, 2.0], "share": [0.5, 0.6], "slope": [0.1, 0.1]}
    curve = from_record(KernelCurve, record)
    assert curve.note(np.array([0.0, 1.5])).tolist() == [Note.BELOW_RANGE, 0]


@pytest.fixture
def lone_right_one() -> Labelled:
    """Return a class whose lowest score is that of one right prediction, 5 wrong ones above."""
    score = np.r_[2.0, np.linspace(3.0, 6.0, 12), np.linspace(5.0, 9.9, 30)]
    is_right = np.r_[True, np.zeros(12, np.bool_), np.ones(30, np.bool_)]
    scores = np.column_stack([score, 10.0 - score])
    scores[:, 1] = np.minimum(scores[:, 1], score - 0.01)
    ids = np.array([f"p{row}" for row in range(len(score))], dtype=object)
    return label(from_scores(ids, ("A", "B"), scores, 20.0, 0.01), np.where(is_right, 0, 1))


def test_the_papers_kernel_is_its_formula_for_every_prediction(lone_right_one: Labelled) -> None:
    predictions = lone_right_one.predictions
    confidence = {
        text: parse_method(f"kernel(bandwidth=0.3, prior_weight=0{text})", "test")
        .build(FitOptions(n_draws=0))
        .fit(lone_right_one)
        .confidence(predictions)
        for text in ("", ", safeguards=false")
    }
    guarded, published = confidence.values()
    sample = class_samples(lone_right_one)[0]
    assert sample is not None and predictions.top_score is not None
    formula = direct_sum(sample, predictions.top_score, 0.3)
    np.testing.assert_allclose(published.value, formula, rtol=0, atol=STORED)
    assert not (published.note & Note.LOW_END).any()
    # The lone right one is sure of itself by the formula; a few families do not support that.
    assert formula[0] > 0.99
    assert guarded.value[0] < 0.2


def test_the_papers_kernel_keeps_its_rule_where_scores_are_saturated(sample_of: Make) -> None:
    rng = np.random.default_rng(1)
    right, wrong = 10.0 - rng.exponential(0.05, 300), 10.0 - rng.exponential(0.2, 6)
    sample = sample_of(right.round(2), wrong.round(2))
    published = Kernel(prior_weight=0.0, safeguards=False).fit_curve(sample)
    rule = steady_bandwidth(masses_of(sample), sample.scale, sample.resolution, 2)
    assert published.bandwidth == rule
    assert Kernel(prior_weight=0.0).fit_curve(sample).bandwidth != rule
