"""What every forecaster promises, and each by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from credence.events import forecasters
from credence.events.forecasters import FORECASTERS, Examples, Forecaster, scaling_of
from credence.records import from_record, to_record
from drawn_events import examples

EVERY = pytest.mark.parametrize("forecaster", FORECASTERS, ids=lambda entry: entry.name)


@EVERY
def test_probabilities_lie_between_0_and_1_and_follow_what_is_learnt(
    forecaster: Forecaster,
) -> None:
    learnt = forecaster.fit(examples(), forecaster.default)
    asked = examples(1).features
    found = learnt.probability(asked)
    assert ((found > 0) & (found < 1)).all()
    high, low = asked[:, 0] > 1, asked[:, 0] < -1
    assert found[high].mean() > found[low].mean() + 0.3


@EVERY
def test_a_forecast_comes_back_from_json_as_it_was(forecaster: Forecaster) -> None:
    learnt = forecaster.fit(examples(), forecaster.default)
    again = from_record(
        forecaster.kind, json.loads(json.dumps(to_record(learnt), allow_nan=False))
    )
    asked = examples(1).features
    assert (again.probability(asked) == learnt.probability(asked)).all()


@EVERY
def test_a_path_gives_what_fitting_each_value_would(forecaster: Forecaster) -> None:
    asked = examples(1).features
    found = forecaster.path(examples(), asked)
    assert len(found) == len(forecaster.candidates)
    for value, row in list(zip(forecaster.candidates, found, strict=True))[::7]:
        # The path of a regression stops early: it only chooses.
        alone = forecaster.fit(examples(), value).probability(asked)
        assert row == pytest.approx(alone, abs=1e-4 if forecaster.name == "logistic" else 1e-12)


@EVERY
def test_an_answer_depends_on_its_own_row_alone(forecaster: Forecaster) -> None:
    learnt = forecaster.fit(examples(), forecaster.default)
    asked = examples(1).features
    together = learnt.probability(asked)
    alone = np.concatenate([learnt.probability(asked[row : row + 1]) for row in range(20)])
    assert alone == pytest.approx(together[:20], abs=1e-12)


@EVERY
def test_the_default_is_a_candidate(forecaster: Forecaster) -> None:
    assert forecaster.default in forecaster.candidates


def test_neighbours_are_those_of_the_slow_way() -> None:
    of, asked = examples(), examples(1).features[:30]
    scaling = scaling_of(of)
    points, targets = scaling.apply(of.features), scaling.apply(asked)
    found = forecasters.neighbours_of(of, 15).probability(asked)
    for row, target in enumerate(targets):
        distance = [round(float(d), 7) for d in cdist(target[None], points)[0]]
        nearest = sorted(range(len(points)), key=lambda place, d=distance: (d[place], place))[:15]
        right = sum(of.weight[place] * of.outcome[place] for place in nearest)
        total = sum(of.weight[place] for place in nearest)
        assert found[row] == pytest.approx((right + 0.5) / (total + 1), rel=1e-12)


def test_neighbours_of_many_proteins_are_whole_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasters, "MOST_PROTEINS_KEPT", 100)
    of = examples()
    kept = forecasters.neighbours_of(of, 5)
    sizes = np.cumsum(np.bincount(of.cluster))
    assert len(kept.points) == sizes[sizes <= 100][-1]


def test_a_tree_answers_with_the_share_of_its_leaf() -> None:
    score = np.repeat([0.0, 1.0], 20)
    outcome = np.r_[np.zeros(18), 1, 1, np.ones(15), np.zeros(5)]
    of = Examples(
        features=score[:, None], outcome=outcome, weight=np.ones(40), cluster=np.arange(40)
    )
    found = forecasters.fit_tree(of, 10.0).probability(np.array([[0.0], [1.0]]))
    assert found == pytest.approx([2.5 / 21, 15.5 / 21])
    # A leaf of 30 cannot be had twice: the answer is the share of all.
    assert forecasters.fit_tree(of, 30.0).probability(np.array([[0.0]])) == pytest.approx(
        [17.5 / 41]
    )
