"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.events import coherence, event, forecasters, model
from credence.predictions import from_scores


def test_the_shares_nearest_to_a_forecast_of_one_class() -> None:
    none = np.zeros(1)
    assert coherence.nearest_shares(np.array([[1.0, 0.0]]), np.array([[0.3]]), none, none).round(
        6
    ).tolist() == [[0.3, 0.7]]


def test_the_two_best_classes_are_in_the_event() -> None:
    scores = np.array([[0.7, 0.2, 0.1]])
    found = from_scores(np.array(["p"], dtype=object), ("A", "B", "C"), scores, 1.0, 0.0)
    assert event.membership(event.Event(name="two_best", n_best=2), found).tolist() == [
        [True, True, False]
    ]


def test_a_share_with_its_prior_is_never_quite_zero_or_one() -> None:
    assert forecasters.share_with_prior(np.array([0.0, 3.0]), np.array([1.0, 3.0])).tolist() == [
        0.25,
        0.875,
    ]


def test_events_of_another_mix_of_classes() -> None:
    held = np.array([[[True, False, False]]])
    share = np.array([[0.5, 0.3, 0.2]])
    assert model.for_another_mix(
        held, np.array([[0.5]]), share, np.array([3.0, 1.0, 1.0])
    ).tolist() == [[0.75]]
