"""Nested cross-fitting, against the slow way that refits everything."""

from __future__ import annotations

import numpy as np
import pytest

from credence.events.forecasters import FORECASTER_OF, Examples
from credence.events.learning import Learnt, is_scarce, learn_event
from drawn_events import examples

FOLD = examples().cluster % 4


def loss(p: np.ndarray, of: Examples) -> float:
    return float(-(of.weight * np.log(np.where(of.outcome > 0, p, 1 - p))).sum())


def slow(name: str, of: Examples) -> tuple[float, np.ndarray]:
    """Refit for every fold, every fold within it and every value."""
    entry = FORECASTER_OF[name]
    held_out = np.full(of.n_samples, np.nan)

    def best(rows: np.ndarray) -> float:
        losses = []
        for value in entry.candidates:
            total = 0.0
            for inner in np.unique(FOLD[rows]):
                judged = rows & (inner == FOLD)
                fitted = entry.fit(of.take(rows & ~judged), value)
                total += loss(fitted.probability(of.features[judged]), of.take(judged))
            losses.append(total)
        return entry.candidates[int(np.argmin(losses))]

    for outer in range(4):
        rows = outer != FOLD
        fitted = entry.fit(of.take(rows), best(rows))
        held_out[~rows] = fitted.probability(of.features[~rows])
    return best(np.ones(of.n_samples, dtype=bool)), held_out


@pytest.mark.parametrize("name", ["knn", "tree"])
def test_it_is_what_refitting_everything_gives(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    of = examples()
    few = (5.0, 20.0, 100.0)  # values to try, so that the slow way ends
    monkeypatch.setitem(FORECASTER_OF, name, replaced(name, few))
    found = learn_event(FORECASTER_OF[name], of, FOLD, 1.0)
    value, held_out = slow(name, of)
    assert found.value == value
    assert found.held_out == pytest.approx(held_out, rel=1e-12)


def replaced(name: str, candidates: tuple[float, ...]):  # type: ignore[no-untyped-def]
    from dataclasses import replace

    return replace(FORECASTER_OF[name], candidates=candidates)


def changed(of: Examples, rows: np.ndarray) -> Examples:
    outcome = of.outcome.copy()
    outcome[rows] = 1 - outcome[rows]
    return Examples(features=of.features, outcome=outcome, weight=of.weight, cluster=of.cluster)


@pytest.mark.parametrize("name", ["logistic", "knn"])
def test_a_fold_s_own_outcomes_do_not_reach_its_forecasts(name: str) -> None:
    of = examples()
    judged = FOLD == 2
    one = learn_event(FORECASTER_OF[name], of, FOLD, 1.0)
    two = learn_event(FORECASTER_OF[name], changed(of, judged), FOLD, 1.0)
    assert (one.held_out[judged] == two.held_out[judged]).all()
    assert (one.held_out[~judged] != two.held_out[~judged]).any()


def test_what_may_not_be_learnt_from_is_still_judged() -> None:
    of = examples()
    kept = of.cluster < 30
    one = learn_event(FORECASTER_OF["knn"], of, FOLD, 1.0, kept)
    two = learn_event(FORECASTER_OF["knn"], changed(of, ~kept), FOLD, 1.0, kept)
    assert not np.isnan(one.held_out).any()
    assert (one.held_out == two.held_out).all()


def test_too_few_of_one_outcome_give_the_overall_share() -> None:
    of = examples()
    rare = Examples(
        features=of.features, outcome=np.zeros(of.n_samples), weight=of.weight, cluster=of.cluster
    )
    rare.outcome[:3] = 1.0
    assert is_scarce(rare, 10.0) and not is_scarce(of, 10.0)
    found = learn_event(FORECASTER_OF["logistic"], rare, FOLD, 10.0)
    share = (rare.weight[:3].sum() + 0.5) / (rare.weight.sum() + 1.0)
    assert found.is_scarce
    assert found.forecast.probability(of.features[:2]) == pytest.approx([share, share])


def test_one_cluster_alone_leaves_nothing_to_judge() -> None:
    of = examples()
    found: Learnt = learn_event(
        FORECASTER_OF["knn"], of, np.zeros(of.n_samples, dtype=np.int64), 1.0
    )
    assert np.isnan(found.held_out).all()
    assert found.value == FORECASTER_OF["knn"].default
