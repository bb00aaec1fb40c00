"""Support by hand: how many families are near a score."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from credence.calibrators.masses import class_masses
from credence.calibrators.protocol import ClassSample

Make = Callable[..., ClassSample]
NEAR = np.exp(-0.5)  # of a protein one standard deviation off: 0.5 of the scale of 10


def support_at(sample: ClassSample, score: float) -> float:
    support = class_masses(sample).support
    return float(np.interp(score, support.score, support.n))


def test_a_protein_half_a_scale_unit_off_is_near_by_e_to_minus_one_half(sample_of: Make) -> None:
    sample = sample_of([5.0], [5.5])
    # Kish's number (1 + k)²/(1 + k²) is 1.89: more than there is of each, 1 + k.
    assert support_at(sample, 5.0) == pytest.approx(1.0 + NEAR)
    assert support_at(sample, 4.5) == pytest.approx(NEAR + NEAR**4)
    assert support_at(sample, 0.0) == pytest.approx(NEAR**100 + NEAR**121)


def test_unlike_weights_count_by_kishs_number(sample_of: Make) -> None:
    sample = sample_of([5.0], [5.5], weight=np.array([3.0, 1.0]))
    assert support_at(sample, 5.0) == pytest.approx((3.0 + NEAR) ** 2 / (9.0 + NEAR**2))


def test_relatives_are_added_up_before_they_are_squared(sample_of: Make) -> None:
    # A family at 5.0 and 5.5, and one protein of weight 4 at 5.0.
    names, weight = ["lone", "family", "family"], np.array([4.0, 1.0, 1.0])
    sample = sample_of([5.0, 5.0], [5.5], weight=weight, cluster=names)
    kish = (4.0 + 1.0 + NEAR) ** 2 / (16.0 + (1.0 + NEAR) ** 2)
    assert support_at(sample, 5.0) == pytest.approx(kish, rel=1e-6)
    # All of equal weight: the family is there by the mean nearness of its members.
    sample = sample_of([5.0, 5.0], [5.5], cluster=names)
    assert support_at(sample, 5.0) == pytest.approx(1.0 + (1.0 + NEAR) / 2.0, rel=1e-6)


def test_scores_off_the_bins_count_where_the_nearest_bin_is(sample_of: Make) -> None:
    # Bins are 0.05 apart; beyond the scale a score counts at its end.
    assert support_at(sample_of([5.024], []), 5.0) == pytest.approx(1.0)
    assert support_at(sample_of([5.026], []), 5.0) == pytest.approx(np.exp(-0.5 * 0.1**2))
    assert support_at(sample_of([10.4], []), 10.0) == pytest.approx(1.0)
    assert support_at(sample_of([0.0], []), 0.0) == pytest.approx(1.0)
    assert support_at(sample_of([5.0], []), 10.3) == pytest.approx(np.exp(-0.5 * 10**2))
