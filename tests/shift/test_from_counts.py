"""Class proportions of a calibration set whose wrong predictions were only counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from verification.in_memory import draw_labelled

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import CalibrationSample, calibration_sample
from credence.composition.estimate import fixed_composition
from credence.composition.from_counts import assumed_true_classes, even_table, whole_shares
from credence.confidence import Confidence
from credence.predictions import Floats, Labelled
from credence.simulate.law import WorldSettings

N_QUERY = 4000


def test_two_classes_are_taken_for_each_other() -> None:
    # What is not of the one class is of the other.
    table = even_table(np.array([7, 3]), np.array([3, 7]))
    assert table.tolist() == [[0.0, 7.0], [3.0, 0.0]]


def test_wrong_predictions_and_missed_members_are_both_counted_in_full() -> None:
    n_wrong, n_missed = np.array([30, 5, 10, 0]), np.array([4, 20, 15, 6])
    table = even_table(n_wrong, n_missed)
    assert table.sum(axis=1) == pytest.approx(n_wrong)
    assert table.sum(axis=0) == pytest.approx(n_missed)
    assert np.diag(table).tolist() == [0.0] * 4
    # Apart from the diagonal rows are proportional: no two classes are confused more.
    assert table[0, 2] / table[0, 3] == pytest.approx(table[1, 2] / table[1, 3])


def test_whole_shares_have_the_sum_asked_for() -> None:
    assert whole_shares(np.array([1.6, 0.9, -0.5, 2.0]), 4).tolist() == [1, 1, 0, 2]
    assert whole_shares(np.array([0.2, 0.2]), 2).tolist() == [1, 1]


@pytest.fixture(scope="module")
def worlds() -> tuple[Labelled, Labelled]:
    rng = np.random.default_rng(6)
    single = WorldSettings(n_calibration=6000, class_proportions="sampled", family_size="single")
    larger = replace(single, n_calibration=30_000)
    return draw_labelled(single, rng), draw_labelled(larger, rng)


def counted(known: Labelled) -> CalibrationSample:
    """Return what is kept of a set of which only right, wrong and members are known."""
    members = np.bincount(known.true_class, minlength=known.predictions.n_classes)
    hidden = np.where(known.is_correct, known.true_class, -1)
    assumed = assumed_true_classes(replace(known, true_class=hidden), members)
    sample = calibration_sample(replace(known, true_class=assumed), False)
    return replace(sample, is_assumed=True)


def test_every_class_has_its_members(worlds: tuple[Labelled, Labelled]) -> None:
    known, _ = worlds
    assumed = counted(known).true_class
    n_classes = known.predictions.n_classes
    np.testing.assert_array_equal(
        np.bincount(assumed, minlength=n_classes), np.bincount(known.true_class)
    )
    np.testing.assert_array_equal(assumed == known.predictions.predicted_class, known.is_correct)


def query_of(pool: Labelled, share: Floats) -> Labelled:
    there = np.bincount(pool.true_class, minlength=len(share)) / pool.n_samples
    each = (share / there)[pool.true_class]
    rng = np.random.default_rng(7)
    return pool.take(rng.choice(pool.n_samples, N_QUERY, p=each / each.sum()))


def mean_nll(confidence: Confidence, query: Labelled) -> float:
    value = np.clip(confidence.value, 1e-4, 1.0 - 1e-4)
    return float(-np.log(np.where(query.is_correct, value, 1.0 - value)).mean())


@pytest.mark.parametrize("background", [0.05, 0.2, 0.9, 0.98])
def test_stated_proportions_help_as_much_as_where_true_classes_are_known(
    worlds: tuple[Labelled, Labelled], background: float
) -> None:
    known, pool = worlds
    there = np.bincount(known.true_class, minlength=known.predictions.n_classes) / known.n_samples
    share = there * (1.0 - background) / (1.0 - there.max())
    share[there.argmax()] = background
    query = query_of(pool, share)
    fitted = parse_method("kernel", "--method").build(FitOptions(n_draws=40)).fit(known)
    plain = fitted.confidence(query.predictions)

    def corrected(sample: CalibrationSample) -> Confidence:
        correction = correction_for(sample, fixed_composition(sample, share), 0.95)
        return correction.corrected(plain, query.predictions, sample)

    from_counts, in_full = corrected(counted(known)), corrected(calibration_sample(known, False))
    before, with_counts = mean_nll(plain, query), mean_nll(from_counts, query)
    # At 5, 20, 90 and 98 % background 0.515, 0.433, 0.134 and 0.096 become 0.364, 0.371, 0.105
    # and 0.035.
    assert with_counts < before - 0.02
    assert with_counts == pytest.approx(mean_nll(in_full, query), abs=0.005)
    width_of_counts = np.nanmean(from_counts.upper - from_counts.lower)
    assert width_of_counts > np.nanmean(in_full.upper - in_full.lower)
