from __future__ import annotations

import itertools
import math

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from scipy import stats

from credence.lists.guarantee import (
    Coins,
    Guarantee,
    coins_of,
    grid_of,
    guaranteed,
    least_families,
)
from credence.lists.held_out import held_out_of
from credence.lists.thresholds import Wanted, find_thresholds
from credence.predictions import Predictions, label
from credence.stages.lists import NEVER, threshold_columns

# Of each row: score in tenths (so that there are ties), wrong, family.
rows_strategy = st.lists(
    st.tuples(st.integers(0, 10), st.booleans(), st.integers(0, 6)), max_size=30
)
GRID = grid_of(1.0, 0.1, 1.0)


def coins_from(rows: list[tuple[int, bool, int]], order: list[int] | None = None) -> Coins:
    """Return the coins of rows; the order is the row's place unless given."""
    tenths, wrong, family = ([row[place] for row in rows] for place in range(3))
    return coins_of(
        GRID,
        np.array(tenths, dtype=np.float64) / 10.0,
        np.array(wrong, dtype=np.bool_),
        np.array(family, dtype=np.int64),
        np.array(range(len(rows)) if order is None else order, dtype=np.float64),
    )


def slow_coins(rows: list[tuple[int, bool, int]], order: list[int]) -> list[tuple[int, int]]:
    """Look at each threshold, and there at each family, one after the other."""
    answer = []
    for threshold in GRID:
        n_families, n_wrong = 0, 0
        for family in sorted({row[2] for row in rows}):
            members = [
                (order[place], row[1])
                for place, row in enumerate(rows)
                if row[2] == family and row[0] / 10.0 >= threshold - 1e-6
            ]
            n_families += bool(members)
            n_wrong += bool(members) and min(members)[1]
        answer.append((n_families, n_wrong))
    return answer


def slow_guaranteed(coins: Coins, error: float, certainty: float) -> float:
    """Walk from each start in plain loops; NaN where nothing passes."""
    n, wrong, delta = coins.n_families.tolist(), coins.n_wrong.tolist(), 1.0 - certainty
    least = math.ceil(math.log(delta / 8) / math.log(1.0 - error) - 1e-9)
    wanted = [n[-1]]
    if n[-1] > least:
        wanted = [least * (n[-1] / least) ** (number / 7) for number in range(8)]
    starts = {min(place for place in range(len(n)) if n[place] >= one - 1e-6) for one in wanted}
    found, level = math.nan, 0.0
    for place in range(len(n)):
        if place in starts:
            level += delta / len(starts)
        p_value = 1.0
        if n[place] > 0:
            test = stats.binomtest(wrong[place], n[place], error, alternative="less")
            p_value = float(test.pvalue)
        if level > 0 and p_value <= level:
            found = float(coins.threshold[place])
        else:
            level = 0.0
    return found


def coins_at_random(seed: int, *, n_families: int = 300) -> Coins:
    """Return coins of which more are wrong the lower the threshold is."""
    rng = np.random.default_rng(seed)
    score = np.round(rng.beta(2.0, 1.0, n_families), 2)
    is_wrong = rng.random(n_families) > score ** rng.uniform(0.05, 1.0)
    order = rng.random(n_families)
    return coins_of(grid_of(1.0, 0.01, 1.0), score, is_wrong, np.arange(n_families), order)


@given(rows_strategy, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_coins_are_those_of_loops_over_thresholds_and_families(rows, random) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    found = coins_from(rows, order)
    together = list(zip(found.n_families.tolist(), found.n_wrong.tolist(), strict=True))
    assert together == slow_coins(rows, order)


@given(rows_strategy, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_rows_changes_no_coin(rows, random) -> None:
    moved = list(range(len(rows)))
    random.shuffle(moved)
    before = coins_from(rows)
    after = coins_from([rows[place] for place in moved], moved)
    assert before.n_families.tolist() == after.n_families.tolist()
    assert before.n_wrong.tolist() == after.n_wrong.tolist()


def test_coins_speak_for_families_however_large() -> None:
    small = coins_from([(9, True, 0), (9, False, 1), (2, False, 2)])
    # Copies of each protein, none of lesser order than the first of its family.
    large = coins_from(
        [(9, True, 0), (9, False, 1), (2, False, 2), *[(9, True, 0)] * 40, *[(2, False, 2)] * 9]
    )
    assert small.n_families.tolist() == large.n_families.tolist()
    assert small.n_wrong.tolist() == large.n_wrong.tolist()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("error", [0.5, 0.2, 0.1, 0.05])
def test_the_walk_is_that_of_plain_loops(seed: int, error: float) -> None:
    coins = coins_at_random(seed, n_families=[5, 30, 55, 300][seed % 4])
    assert guaranteed(coins, error, 0.95).threshold == pytest.approx(
        slow_guaranteed(coins, error, 0.95), nan_ok=True
    )


def test_families_needed_are_those_of_methods_section_10() -> None:
    errors = [0.5, 0.2, 0.1, 0.05, 0.01]
    none = np.zeros(1, dtype=np.int64)
    assert [int(least_families(none, error, 0.05 / 8)[0]) for error in errors] == [
        8, 23, 49, 99, 505,
    ]  # fmt: skip


def test_least_families_are_the_least() -> None:
    wrong = np.array([0, 1, 2, 7, 40, 900])
    for error in (0.5, 0.05, 0.01):
        least = least_families(wrong, error, 0.05 / 8)
        assert (stats.binom.cdf(wrong, least, error) <= 0.05 / 8).all()
        assert (stats.binom.cdf(wrong, least - 1, error) > 0.05 / 8).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_right_family_that_turns_wrong_never_lengthens_a_list(seed: int) -> None:
    coins = coins_at_random(seed)
    right = coins.n_families - coins.n_wrong
    place = int(np.random.default_rng(seed).integers(0, len(right)))
    # From that place on one more is wrong, where one was right.
    more = np.where((np.arange(len(right)) >= place) & (right > 0), 1, 0)
    worse = Coins(
        threshold=coins.threshold, n_families=coins.n_families, n_wrong=coins.n_wrong + more
    )
    for error in (0.3, 0.1, 0.05):
        before, after = guaranteed(coins, error, 0.95), guaranteed(worse, error, 0.95)
        assert math.isnan(after.threshold) or after.threshold >= before.threshold


def test_where_all_are_right_all_are_let_through() -> None:
    coins = coins_from([(number % 11, False, number) for number in range(60)])
    assert guaranteed(coins, 0.1, 0.95) == Guarantee(threshold=0.0, n_families=60, n_more=0)


def test_where_all_are_wrong_there_is_no_threshold() -> None:
    coins = coins_from([(number % 11, True, number) for number in range(60)])
    found = guaranteed(coins, 0.1, 0.95)
    assert math.isnan(found.threshold)
    assert found.n_families == 0
    # At the highest threshold five are wrong (10, 21, 32, 43, 54): of 134 that is few enough.
    enough = next(n for n in range(5, 999) if stats.binom.cdf(5, n, 0.1) <= 0.05 / 8)
    assert found.n_more == enough - 5 == 129


@pytest.mark.parametrize("rows", [[], [(5, False, 0)], [(5, False, 0), (7, True, 0)]])
def test_no_rows_or_one_family_guarantee_nothing(rows: list) -> None:
    found = guaranteed(coins_from(rows), 0.1, 0.95)
    assert math.isnan(found.threshold)
    assert found.n_more >= 49 - 1


@pytest.mark.parametrize("seed", range(40))
def test_as_many_more_right_families_as_stated_give_a_threshold(seed: int) -> None:
    """A small p-value at a threshold between two starts was taken for enough."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 260))
    score = np.round(rng.beta(2.0, 1.0, n), 2)
    is_wrong = rng.random(n) > 0.9 * score ** rng.uniform(0.05, 1.0)
    order = rng.random(n)
    grid = grid_of(1.0, 0.01, 1.0)
    for error in (0.3, 0.1, 0.05):
        found = guaranteed(coins_of(grid, score, is_wrong, np.arange(n), order), error, 0.95)
        more = found.n_more
        assert (more > 0) == math.isnan(found.threshold)
        with_more = coins_of(
            grid,
            np.append(score, np.ones(more)),
            np.append(is_wrong, np.zeros(more, dtype=np.bool_)),
            np.arange(n + more),
            np.append(order, np.zeros(more)),
        )
        assert not math.isnan(guaranteed(with_more, error, 0.95).threshold)


def test_a_class_that_is_never_predicted_has_a_row_for_each_precision() -> None:
    """It was left out, so that nobody saw that none of it can be kept."""
    ids = np.array([f"p{number}" for number in range(60)], dtype=object)
    predicted = np.arange(60) % 2
    true = np.where(np.arange(60) % 20 == 0, 2, predicted)  # the third class is never predicted
    names, score = ("Portal", "Collar", "Shaft"), np.linspace(0.2, 1.0, 60)
    labelled = label(
        Predictions(
            ids=ids,
            class_names=names,
            scale=1.0,
            resolution=0.01,
            predicted_class=predicted,
            top_score=score,
        ),
        true,
    )
    held_out = held_out_of(labelled, np.where(predicted == 0, score, np.nan))
    found = find_thresholds(
        labelled, held_out, Wanted(precision=(0.5, 0.9), certainty=0.95, level=0.95, n_draws=20)
    )
    table = pd.DataFrame(threshold_columns(found))
    assert len(table) == 2 * 4 * 2  # score and confidence, all and three classes, two precisions
    never = table[table["predictions"] == 0]
    assert sorted(zip(never["class"], never["on"], strict=True)) == sorted(
        [("Shaft", "score"), ("Shaft", "confidence"), ("Collar", "confidence")] * 2
    )
    wanted = {0.5: 8, 0.9: 49}  # families without a wrong one
    for row in never.to_dict("records"):
        assert row["families_missing"] == wanted[row["precision"]]
        assert (row["n_families"], row["guaranteed_families"]) == (0, 0)
        assert row["note"] == NEVER[row["on"]]
        for name in (
            "threshold",
            "accepted",
            "recall",
            "measured_precision",
            "guaranteed_threshold",
        ):
            assert math.isnan(row[name])
    assert (table["note"] != "").sum() == len(never)


def test_thresholds_go_down_to_nothing_each_once() -> None:
    for scale, resolution, top in ((1.0, 0.0, 1.0), (10.0, 0.01, 10.03), (100.0, 1.0, 97.0)):
        grid = grid_of(scale, resolution, top)
        assert grid[-1] == 0.0
        assert grid[0] >= top
        assert (np.diff(grid) < 0).all()


def test_a_table_of_many_decimals_has_not_millions_of_thresholds() -> None:
    assert len(grid_of(1.0, 1e-9, 1.0)) < 20_000


@pytest.mark.parametrize(
    "chances",
    [
        pytest.param([0.51] * 8, marks=pytest.mark.long),  # nothing may be let through
        pytest.param([0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 0.9, 1.0], marks=pytest.mark.long),
        [0.0, 0.0, 0.3, 0.5, 0.5, 0.9, 1.0, 1.0],
    ],
)
def test_the_chance_of_a_false_guarantee_is_at_most_what_is_left_of_certainty(chances) -> None:
    """Fixed scores, one family each; all 256 outcomes with their chances, so without chance."""
    n, error, delta = len(chances), 0.5, 0.3
    score, family = np.arange(n, 0, -1) / 10.0, np.arange(n)
    chance = np.array(chances)
    exceeded = found = 0.0
    for outcome in itertools.product([False, True], repeat=n):
        is_wrong = np.array(outcome)
        coins = coins_of(GRID, score, is_wrong, family, family.astype(np.float64))
        threshold = guaranteed(coins, error, 1.0 - delta).threshold
        if not math.isnan(threshold):
            likely = float(np.where(is_wrong, chance, 1.0 - chance).prod())
            found += likely
            exceeded += likely * bool(chance[score >= threshold - 1e-9].mean() > error)
    assert exceeded <= delta + 1e-12
    assert found > 0.02  # it is no test where nothing is found
