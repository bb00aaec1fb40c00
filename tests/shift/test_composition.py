"""Intervals, diagnostics and corrected confidences on simulated sets of known truth."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from verification.in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import ProportionCorrection, correction_for, shifted
from credence.composition.both_samples import (
    CalibrationSample,
    _model_of,
    both_parts,
    calibration_sample,
    use_sample,
)
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import (
    Composition,
    estimate_composition,
    estimator_input,
    fixed_composition,
)
from credence.composition.estimators import ESTIMATORS_BY_NAME
from credence.confidence import Note
from credence.predictions import Labelled, from_scores, label
from credence.records import from_record, json_text, to_record
from credence.simulate.law import CLASS_NAMES, QUERY_PREVALENCE, WorldSettings
from shift_findings import adjust, warnings_about

OPTIONS = FitOptions(n_draws=40)
MINOR, PORTAL, OTHER = (CLASS_NAMES.index(name) for name in ("Minor capsid", "Portal", "Other"))
SHARES = np.array([0.3, 0.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])


@cache
def sets() -> tuple[Labelled, Labelled]:
    settings = WorldSettings(n_calibration=1500, class_proportions="sampled", family_size="single")
    calibration = draw_labelled(settings, np.random.default_rng(5))
    use = draw_labelled(settings, np.random.default_rng(6), SHARES)
    return calibration, use


@cache
def found(name: str) -> Composition:
    calibration, use = sets()
    sample = calibration_sample(calibration, True)
    return estimate_composition(
        sample, use_sample(use.predictions, sample.model), ESTIMATORS_BY_NAME[name], OPTIONS
    )


ESTIMATING = [name for name, entry in ESTIMATORS_BY_NAME.items() if entry.estimate is not None]


@pytest.mark.parametrize("name", ESTIMATING)
def test_intervals_hold_the_estimate_and_have_a_width_at_zero(name: str) -> None:
    composition = found(name)
    assert (composition.lower <= composition.share).all()
    assert (composition.share <= composition.upper).all()
    known = composition.is_known
    assert (composition.upper[known] > composition.lower[known]).all()
    assert np.nansum(composition.weight * composition.calibration_proportion) == pytest.approx(1.0)


def test_one_class_that_is_never_predicted_does_not_open_the_intervals_of_all() -> None:
    # Two families of the last class, whose column is empty: draws without these ended in a
    # query set that is of this class alone, and the other shares began at 0.
    calibration, use = sets()
    rows = np.flatnonzero(calibration.true_class != 1)[:800]
    rows = np.concatenate([rows, np.flatnonzero(calibration.true_class == 1)[:4]])
    sample = calibration_sample(without_column(calibration.take(rows), 1), True)
    seen = use_sample(without_column(use, 1).predictions, sample.model)
    composition = estimate_composition(sample, seen, ESTIMATORS_BY_NAME["em"], OPTIONS)
    usual = found("em")
    width, before = composition.upper - composition.lower, usual.upper - usual.lower
    others = np.arange(11) != 1
    assert (width[others] < 3.0 * before[others] + 0.05).all()
    assert composition.lower[0] > 0.1


def without_column(labelled: Labelled, class_: int) -> Labelled:
    """Return the same of a tool that never predicts a class."""
    scores = np.asarray(labelled.predictions.scores).copy()
    scores[:, class_] = 0.0
    scores = np.round(10.0 * scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-9), 2)
    base = labelled.predictions
    predictions = from_scores(base.ids, base.class_names, scores, base.scale, base.resolution)
    return label(predictions, labelled.true_class, labelled.weight, labelled.cluster)


def test_relatives_and_the_order_of_rows_do_not_matter() -> None:
    calibration, use = sets()
    order = np.random.default_rng(0).permutation(calibration.n_samples)
    sample = calibration_sample(calibration.take(order), True)
    rows = np.random.default_rng(1).permutation(use.n_samples)
    parts = [use.predictions.take(rows[:700]), use.predictions.take(rows[700:])]
    moved = estimator_input(
        sample, both_parts(use_sample(parts[0], sample.model), use_sample(parts[1], sample.model))
    )
    again = ESTIMATORS_BY_NAME["em_matched"].estimate
    assert again is not None
    known = moved.prevalence > 0
    share = again(moved.among(known)).share
    np.testing.assert_allclose(share, found("em_matched").share[known], atol=1e-9)


def test_a_class_that_calibration_does_not_hold_is_said_to_be_beyond_correction() -> None:
    calibration, use = sets()
    kept = calibration.take(calibration.true_class != 5)
    sample = calibration_sample(kept, True)
    rows = use_sample(use.predictions, sample.model)
    composition = estimate_composition(sample, rows, ESTIMATORS_BY_NAME["em_matched"], OPTIONS)
    assert composition.share[5] == 0.0
    assert np.isnan(composition.weight[5])
    assert (composition.lower[5], composition.upper[5]) == (0.0, 1.0)
    message = warnings_about(diagnose(sample, rows, composition, OPTIONS))
    assert (
        "The calibration set holds no Portal: its share is not known, "
        "and confidences cannot be corrected for it."
    ) in message


def blind(n: int, share_first: float, rng: np.random.Generator) -> Labelled:
    """Three classes; the classifier cannot tell the last two apart at all."""
    from credence.predictions import from_scores

    true = rng.choice(3, size=n, p=[share_first, (1 - share_first) / 2, (1 - share_first) / 2])
    scores = rng.dirichlet([1.0, 1.0, 1.0], size=n)
    scores[:, 0] = np.where(true == 0, 2.0, 0.1)
    scores /= scores.sum(axis=1, keepdims=True)
    ids = np.array([f"p{i}" for i in range(n)], dtype=object)
    return label(from_scores(ids, ("a", "b", "c"), scores, 1.0, 0.0), true)


@pytest.mark.parametrize("name", ["bbse_hard", "bbse_soft", "em_matched"])
def test_classes_that_cannot_be_told_apart_get_a_wide_interval_and_a_sentence(name: str) -> None:
    rng = np.random.default_rng(2)
    sample = calibration_sample(blind(800, 0.4, rng), True)
    rows = use_sample(blind(600, 0.2, rng).predictions, sample.model)
    composition = estimate_composition(
        sample, rows, ESTIMATORS_BY_NAME[name], FitOptions(n_draws=60)
    )
    width = composition.upper - composition.lower
    assert width[0] < 0.15
    # `em_matched` holds what the scores leave open near calibration's proportions, as ten
    # families would hold it: both intervals still reach from half to three quarters more.
    assert (width[1:] > (0.35 if name == "em_matched" else 0.5)).all()
    assert (composition.lower <= 0.4).all() and (composition.upper[1:] >= 0.4).all()
    message = warnings_about(diagnose(sample, rows, composition, FitOptions(n_draws=20)))
    assert message[0].startswith(
        "Some classes are confused so often, or so few of their proteins were seen, that their"
        if name == "em_matched"
        else "The classifier cannot tell b and c from other classes: "
    )


def test_three_known_proteins_of_a_class_do_not_leave_the_shares_of_others_unknown() -> None:
    rng = np.random.default_rng([77, 3])
    known = draw_labelled(WorldSettings(n_calibration=1500, class_proportions="sampled"), rng)
    is_minor = known.true_class == MINOR
    kept = ~is_minor | (np.cumsum(is_minor) <= 3)
    sample = calibration_sample(known.take(kept), True)
    single = WorldSettings(n_calibration=600, class_proportions="sampled", family_size="single")
    share = np.array(QUERY_PREVALENCE) / np.sum(QUERY_PREVALENCE)
    use = draw_labelled(single, rng, share)
    rows = use_sample(use.predictions, sample.model)
    estimator = ESTIMATORS_BY_NAME["em_matched"]
    composition = estimate_composition(sample, rows, estimator, FitOptions(n_draws=100))
    # The class itself is known roughly; its few proteins once let its share be up to 1, and that
    # of Portal, for which it is taken, nothing.
    assert composition.upper[MINOR] < 0.5
    assert (composition.lower[[PORTAL, OTHER]] > [0.02, 0.2]).all()
    assert (composition.lower <= share).all() and (share <= composition.upper).all()
    correction = correction_for(sample, composition, 0.95)
    assert correction.down[[PORTAL, OTHER]].max() < 2.0  # log odds; once 6


@pytest.mark.parametrize("n", [1, 2, 15])
def test_of_a_few_proteins_no_sentence_blames_the_classifier_or_their_kind(n: int) -> None:
    rng = np.random.default_rng(2)
    sample = calibration_sample(blind(800, 0.4, rng), True)
    rows = use_sample(blind(n, 0.2, rng).predictions, sample.model)
    options = FitOptions(n_draws=120)
    composition = estimate_composition(sample, rows, ESTIMATORS_BY_NAME["em_matched"], options)
    seen = diagnose(sample, rows, composition, options)
    assert np.isnan(seen.p_label_shift)
    assert {sentence[:20] for sentence in warnings_about(seen)} <= {
        "Too few proteins of ",
        "Some classes are con",
    }


def test_a_set_drawn_like_calibration_passes_both_tests_and_another_fails_one() -> None:
    calibration, use = sets()
    settings = WorldSettings(n_calibration=1500, class_proportions="sampled", family_size="single")
    like = draw_labelled(settings, np.random.default_rng(8))
    sample = calibration_sample(calibration, True)
    rows = use_sample(like.predictions, sample.model)
    composition = estimate_composition(sample, rows, ESTIMATORS_BY_NAME["em_matched"], OPTIONS)
    seen = diagnose(sample, rows, composition, OPTIONS)
    assert seen.p_no_shift > 0.05 and seen.p_label_shift > 0.05
    moved = use_sample(use.predictions, sample.model)
    seen = diagnose(sample, moved, found("em_matched"), OPTIONS)
    assert seen.p_no_shift == pytest.approx(1 / 401)  # the least that 400 draws can give
    assert seen.p_label_shift > 0.05


def test_scores_of_another_kind_are_told_from_another_composition() -> None:
    from dataclasses import replace

    calibration, use = sets()
    sample = calibration_sample(calibration, True)
    predictions = use.predictions
    assert predictions.top_score is not None
    lowered = replace(predictions, top_score=predictions.top_score * 0.6)
    rows = use_sample(lowered, sample.model)
    options = FitOptions(n_draws=150)
    composition = estimate_composition(sample, rows, ESTIMATORS_BY_NAME["em_matched"], OPTIONS)
    fixed = fixed_composition(sample, composition.share)
    message = warnings_about(diagnose(sample, rows, fixed, options))
    assert any("out of distribution" in sentence for sentence in message)


def test_no_shift_leaves_the_labelled_set_as_it_is() -> None:
    calibration, _ = sets()
    own = fixed_composition(calibration_sample(calibration, False), None)
    weight = own.fit_weight
    np.testing.assert_array_equal(weight[own.is_known], 1.0)
    assert shifted(calibration, weight) is calibration


@pytest.mark.parametrize(
    "method", ["class_only", "histogram", "cumulative", "kernel(bandwidth=1.0, prior_weight=0.0)"]
)
def test_more_of_a_class_raises_its_confidence_and_no_other(method: str) -> None:
    calibration, _ = sets()
    calibrator = parse_method(method, "test").build(FitOptions(n_draws=0, min_positives=1.0))
    predictions = calibration.predictions
    before = calibrator.fit(calibration).confidence(predictions)
    weight = np.ones(11)
    weight[5] = 3.0
    after = calibrator.fit(shifted(calibration, weight)).confidence(predictions)
    own = predictions.predicted_class == 5
    away = int(Note.SCARCE | Note.ONE_SIDED | Note.LOW_END)  # the law is of other values
    free = (before.note | after.note) & away == 0
    # The kernel's stored cubic is within 1e-7 of its sums.
    assert (after.value[own & free] >= before.value[own & free] - 1e-6).all()
    assert (after.value[~own & free] <= before.value[~own & free] + 1e-6).all()


def test_refitting_with_weights_is_the_ratio_of_weighted_densities() -> None:
    calibration, _ = sets()
    weight = np.linspace(0.2, 2.2, 11)
    calibrator = parse_method("kernel(bandwidth=0.8, prior_weight=0.0)", "test").build(
        FitOptions(n_draws=0)
    )
    predictions, true = calibration.predictions, calibration.true_class
    assert predictions.top_score is not None
    rows = np.flatnonzero(predictions.predicted_class == 10)
    score = predictions.top_score[rows]
    got = calibrator.fit(shifted(calibration, weight)).confidence(predictions.take(rows))
    kernel = np.exp(-(((score[:, None] - score) / 0.8) ** 2) / 2.0) * weight[true[rows]]
    expected = kernel[:, true[rows] == 10].sum(axis=1) / kernel.sum(axis=1)
    is_free = (got.note & Note.LOW_END) == 0
    assert is_free.mean() > 0.9
    np.testing.assert_allclose(got.value[is_free], expected[is_free], atol=1e-6)


def test_corrected_intervals_carry_the_composition_and_come_back_from_their_record() -> None:
    calibration, use = sets()
    sample = calibration_sample(calibration, True)
    options = FitOptions(n_draws=30)
    fitted = parse_method("histogram", "test").build(options).fit(calibration)
    composition = found("em_matched")
    adjusted = adjust(sample, fitted, composition)
    applied = composition.fit_weight * composition.calibration_proportion
    known = adjust(sample, fitted, fixed_composition(sample, applied))
    predictions = use.predictions
    wide, narrow = adjusted.confidence(predictions), known.confidence(predictions)
    inside = (
        (narrow.lower > 0)
        & (narrow.upper < 1)
        & (composition.share > 0)[predictions.predicted_class]
    )
    np.testing.assert_allclose(wide.value[inside], narrow.value[inside])
    gain = (wide.upper - wide.lower)[inside] - (narrow.upper - narrow.lower)[inside]
    assert gain.min() >= -1e-12 and gain.mean() > 0.01
    read = from_record(ProportionCorrection, to_record(adjusted.correction))
    again = replace(adjusted, correction=read).confidence(predictions)
    np.testing.assert_array_equal(again.upper, wide.upper)


def test_a_sample_keeps_scores_and_its_probabilities_are_those_of_fits_that_saw_no_relative() -> (
    None
):
    calibration, _ = sets()
    sample = calibration_sample(calibration, True)
    again = from_record(CalibrationSample, json.loads(json_text(sample)), "sample", "")
    assert sample.probability is not None and sample.held_out_probability is not None
    np.testing.assert_array_equal(again.probability, sample.probability)
    np.testing.assert_array_equal(again.held_out_probability, sample.held_out_probability)
    assert sample.model is not None
    whole = sample.model.probabilities(calibration.predictions)
    np.testing.assert_allclose(sample.probability, whole, atol=1e-6)  # scores in single precision
    for number in np.unique(sample.fold):
        is_out = sample.fold == number
        model = _model_of(calibration.take(~is_out), sample.model.matrix)
        unseen = model.probabilities(calibration.predictions.take(is_out))
        np.testing.assert_allclose(sample.held_out_probability[is_out], unseen, atol=1e-6)
