from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cases import cases
from credence.calibrators.intervals import guarded
from credence.calibrators.protocol import ClassSample, FitOptions, Method
from credence.calibrators.shares import (
    CUMULATIVE,
    CUMULATIVE_OPTIMAL,
    CUMULATIVE_PLUS,
    MOST_SHARE_STEPS,
    THINNING,
    Cumulative,
    CumulativeCurve,
    CumulativeOptimal,
    CumulativePlus,
)
from credence.confidence import Note
from credence.draws import cluster_weights
from credence.predictions import Floats, Labelled, from_scores
from credence.records import from_record, to_record
from credence.releases.compare import draws_at

Make = Callable[..., ClassSample]
FORMS = [Cumulative(), CumulativePlus(), CumulativeOptimal()]


def slow_value(sample: ClassSample, cutoff: float, score: float) -> float:
    """Return Cum, or the share below the cutoff, straight from the definition."""
    if score < cutoff:
        held = sample.score < cutoff
        if not held.any():
            held = np.ones(len(sample.score), dtype=bool)
    else:
        held = sample.score >= min(score, sample.score.max())
    right = sample.weight[held & sample.is_correct].sum()
    return float(right / sample.weight[held].sum())


def slow_loss(sample: ClassSample, cutoff: float) -> float:
    loss = 0.0
    for score, is_correct, weight in zip(
        sample.score, sample.is_correct, sample.weight, strict=True
    ):
        value = slow_value(sample, cutoff, score)
        loss -= weight * np.log(value if is_correct else 1 - value)
    return loss


def drawn(sample_of: Make, seed: int) -> ClassSample:
    """Return a sample with ties and weights."""
    rng = np.random.default_rng(seed)
    right, wrong = np.round(10 * rng.beta(4, 1, 50), 1), np.round(10 * rng.beta(2, 1.5, 30), 1)
    return sample_of(right, wrong, weight=rng.uniform(0.2, 3, 80))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_running_sums_give_what_the_definition_gives(
    sample_of: Make, form: Cumulative, seed: int
) -> None:
    sample = drawn(sample_of, seed)
    curve = form.fit_curve(sample)
    point = np.concatenate([sample.score, np.linspace(-1, 11, 200)])
    expected = [slow_value(sample, curve.cutoff, score) for score in point]
    np.testing.assert_allclose(curve.value(point), expected, rtol=0, atol=1e-12)


@cases("method", [CUMULATIVE, CUMULATIVE_PLUS, CUMULATIVE_OPTIMAL])
def test_draws_for_the_change_between_releases_are_refits(sample_of: Make, method: Method) -> None:
    sample = drawn(sample_of, 0)
    options = FitOptions(n_draws=3)
    given = draws_at(method.build(method.settings(), options), sample, 8.0, options)
    assert given is not None
    refits = []
    for draw in range(3):
        weight = sample.weight * cluster_weights(sample.cluster_key, draw)[sample.cluster]
        again = replace(sample, weight=weight)
        refits.append(slow_value(again, method.settings().fit_curve(again).cutoff, 8.0))
    found, n_near = given
    expected = guarded(np.array([refits]), np.array([n_near]))[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_no_cutoff_has_less_loss_than_the_one_found(sample_of: Make, seed: int) -> None:
    sample = drawn(sample_of, seed)
    found = CumulativeOptimal().fit_curve(sample).cutoff
    losses = [slow_loss(sample, cutoff) for cutoff in [-np.inf, *np.unique(sample.score)]]
    assert slow_loss(sample, found) == pytest.approx(min(losses), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_optimal_cutoff_is_never_worse_in_sample_than_the_median(
    sample_of: Make, seed: int
) -> None:
    sample = drawn(sample_of, seed)
    optimal, plus = (
        slow_loss(sample, form.fit_curve(sample).cutoff)
        for form in (CumulativeOptimal(), CumulativePlus())
    )
    assert optimal <= plus * (1 + 1e-12)


def test_four_proteins_by_hand(sample_of: Make) -> None:
    # Wrong 2, right 4, wrong 6, right 8. Cum: 2/4, 2/3, 1/2, 1. Median 5: below it 1/2.
    sample = sample_of([4.0, 8.0], [2.0, 6.0])
    point = np.array([0.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
    cum = Cumulative().fit_curve(sample)
    np.testing.assert_allclose(
        cum.value(point), [0.5, 0.5, 2 / 3, 2 / 3, 0.5, 0.5, 1, 1, 1], rtol=0, atol=1e-15
    )
    plus = CumulativePlus().fit_curve(sample)
    assert plus.cutoff == 5.0
    np.testing.assert_allclose(
        plus.value(point), [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 1, 1, 1], rtol=0, atol=1e-15
    )
    # Losses: none or 2: ln2 + ln(3/2) + ln2; 4: 0 + ln(3/2) + ln2; 6: ln2·2 + ln2; 8: ln(27/4).
    optimal = CumulativeOptimal().fit_curve(sample)
    assert optimal.cutoff == 4.0
    assert optimal.value(point[:2]).tolist() == [0.0, 0.0]


def test_ties_are_taken_together(sample_of: Make) -> None:
    curve = Cumulative().fit_curve(sample_of([5.0, 5.0], [5.0, 3.0]))
    np.testing.assert_allclose(curve.value(np.array([3.0, 5.0])), [0.5, 2 / 3], atol=1e-15)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
@pytest.mark.parametrize(("right", "wrong", "share"), [([5.0, 7.0], [], 1), ([], [5.0, 7.0], 0)])
def test_one_sided_classes_have_their_share_everywhere(
    sample_of: Make, form: Cumulative, right: list[float], wrong: list[float], share: float
) -> None:
    curve = form.fit_curve(sample_of(right, wrong))
    assert curve.value(np.array([0.0, 5.0, 6.0, 9.0])).tolist() == [share] * 4


def test_above_the_greatest_score_the_last_value_is_kept_with_a_note(sample_of: Make) -> None:
    curve = Cumulative().fit_curve(sample_of([5.0], [8.0]))
    assert curve.value(np.array([8.0, 8.1, 10.0])).tolist() == [0.0, 0.0, 0.0]
    assert curve.note(np.array([5.0, 8.0, 8.1])).tolist() == [0, 0, int(Note.ABOVE_RANGE)]


def test_a_cutoff_survives_its_record(sample_of: Make) -> None:
    for form in FORMS:
        curve = form.fit_curve(drawn(sample_of, 1))
        again = from_record(CumulativeCurve, to_record(curve))
        point = np.linspace(0, 10, 101)
        np.testing.assert_array_equal(again.value(point), curve.value(point))


def test_thinning_a_long_curve_hardly_moves_it(sample_of: Make) -> None:
    rng = np.random.default_rng(5)
    right, wrong = (
        10 * rng.beta(4, 1, 3 * MOST_SHARE_STEPS),
        10 * rng.beta(2, 1.5, MOST_SHARE_STEPS),
    )
    sample = sample_of(right, wrong)
    curve = Cumulative().fit_curve(sample)
    assert len(curve.score) < len(sample.score)
    exact = np.cumsum(sample.is_correct[::-1])[::-1] / np.arange(len(sample.score), 0, -1)
    np.testing.assert_allclose(curve.value(sample.score), exact, rtol=0, atol=THINNING)


def test_phanns_own_precisions(phanns: Labelled, real_data: Path) -> None:
    # phanns_precision_2020.csv is TP / (TP + FP) at a score or better, from the same table.
    calibration = CUMULATIVE.build(Cumulative(), FitOptions(n_draws=0)).fit(phanns)
    names = phanns.predictions.class_names
    with (real_data / "phanns_precision_2020.csv").open() as handle:
        rows = [row for row in csv.DictReader(handle) if row["class"] in names]
    checked = 0
    for threshold in (0.0, 5.0, 8.0):
        for row in rows:
            if abs(float(row["threshold"]) - threshold) > 1e-9:
                continue
            if (row["class"], threshold) == ("Minor capsid", 8.0):
                # No protein is predicted Minor capsid at 8 or better: PhANNs prints 0,
                # The method keeps the last value and adds a note.
                assert float(row["precision"]) == 0.0
                assert answer(calibration, names, row["class"], threshold).note[0]
            else:
                value = answer(calibration, names, row["class"], threshold).value[0]
                assert value == pytest.approx(float(row["precision"]), abs=1e-15), row
            checked += 1
    assert checked == 3 * len(names)


def answer(calibration: Any, names: tuple[str, ...], name: str, score: float) -> Any:
    """Return the confidence of one protein predicted `name` with a top score."""
    scores: Floats = np.full((1, len(names)), -1.0)
    scores[0, names.index(name)] = score
    ids = np.array(["protein"], dtype=object)
    return calibration.confidence(from_scores(ids, names, scores, 10.0, 0.01))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: type(form).__name__)
def test_the_interval_holds_the_curve_and_has_width_everywhere(
    sample_of: Make, form: Cumulative
) -> None:
    sample = drawn(sample_of, 3)
    curve = form.fit_curve(sample)
    band = form.fit_band(sample, curve, FitOptions(n_draws=60))
    value = curve.value(band.score)
    assert (band.lower <= value).all() and (value <= band.upper).all()
    assert (band.upper - band.lower).min() > 1e-3
