from __future__ import annotations

import math
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from credence.lists.errors import FAMILIES_OF_BIN, ListErrors, bins_of, errors_of, merged_bins
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut, MixDraws, held_out_of, step_of
from credence.predictions import Predictions, label

N = len(CONFIDENCE_STEPS)
# Of each row: step in forties (so that there are ties), wrong, cluster, weight.
row_strategy = st.tuples(
    st.integers(0, N // 40).map(lambda number: 40 * number),
    st.booleans(),
    st.integers(0, 40),
    st.sampled_from([1.0, 0.5, 2.0]),
)
rows_strategy = st.lists(row_strategy, max_size=60)
Row = tuple[int, bool, int, float]


def held_out_from(rows: list[Row]) -> HeldOut:
    names = sorted({row[2] for row in rows})
    return HeldOut(
        step=np.array([row[0] for row in rows], dtype=np.int64),
        predicted=np.zeros(len(rows), dtype=np.int64),
        true=np.array([int(row[1]) for row in rows], dtype=np.int64),
        weight=np.array([row[3] for row in rows], dtype=np.float64),
        cluster=np.array([names.index(row[2]) for row in rows], dtype=np.int64),
        key=np.array(names, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15),
    )


def uses(steps: list[int]) -> np.ndarray:
    return np.bincount(np.array(steps, dtype=np.int64), minlength=N)


def some_rows(seed: int, *, n_families: int = 80, confident: float = 0.5) -> list[Row]:
    """Return families of unlike sizes, relatives alike, right about as often as stated."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for family in range(n_families):
        ease = rng.beta(2.0, confident)
        own = rng.random()
        for _ in range(int(rng.integers(1, 6))):
            alike = own if rng.random() < 0.6 else rng.random()
            rows.append((int(step_of(np.array([ease]))[0]), bool(alike > ease), family, 1.0))
    return rows


def effective(rows: list[Row], steps: list[int]) -> float:
    """Return Kish's number of families in a bin, each of the mean weight of its members."""
    means = []
    for family in {row[2] for row in rows if row[0] in steps}:
        own = [row[3] for row in rows if row[0] in steps and row[2] == family]
        means.append(sum(own) / len(own))
    return sum(means) ** 2 / sum(mean**2 for mean in means) if means else 0.0


def slow_bins(rows: list[Row]) -> list[int]:
    """Go down the steps; a bin is full when so many families are in it."""
    bins: list[list[int]] = [[]]
    for step in reversed(range(N)):
        if effective(rows, bins[-1]) >= FAMILIES_OF_BIN - 1e-6:
            bins.append([])
        bins[-1].append(step)
    if effective(rows, bins[-1]) < FAMILIES_OF_BIN - 1e-6 and len(bins) > 1:
        rest = bins.pop()
        bins[-1] += rest
    return [next(number for number, bin_ in enumerate(bins) if step in bin_) for step in range(N)]


def slow_pooled(rows: list[Row]) -> list[int]:
    """Put bins together while one has no more wrong ones than the one above it."""

    def share(bins: list[int]) -> float:
        own = [row for row in rows if bin_of[row[0]] in bins]
        total = sum(row[3] for row in own)
        return sum(row[3] for row in own if row[1]) / total if total else 0.0

    bin_of = slow_bins(rows)
    blocks: list[list[int]] = []
    for bin_ in range(max(bin_of) + 1):
        blocks.append([bin_])
        while len(blocks) > 1 and share(blocks[-1]) <= share(blocks[-2]) + 1e-12:
            last = blocks.pop()
            blocks[-1] += last
    return [next(n for n, block in enumerate(blocks) if bin_ in block) for bin_ in bin_of]


def slow_errors(rows: list[Row], n_query: np.ndarray) -> list[float]:
    """Return the estimated error of the list that ends at each step, by plain sums."""
    every = []
    for bins in (slow_bins(rows), slow_pooled(rows)):
        step_error = []
        for step in range(N):
            own = [row for row in rows if bins[row[0]] == bins[step]]
            total = sum(row[3] for row in own)
            step_error.append(sum(row[3] for row in own if row[1]) / total if own else 0.0)
        every.append(step_error)
    answer = []
    for end in range(N):
        above = [row for row in rows if row[0] >= end]
        sums = [sum(row[3] ** power for row in above) for power in (0, 1, 2)]
        families = 0.0
        if above:  # Kish's number; one at least, whatever the weights of its members
            families = len({row[2] for row in above}) * sums[1] ** 2 / sums[0] / sums[2]
            families = max(families, 1.0)
        listed = int(n_query[end:].sum())
        if families == 0 or listed == 0:
            answer.append(math.nan)
            continue
        wrong = max(
            sum(step_error[step] * n_query[step] for step in range(end, N)) for step_error in every
        )
        wrong /= listed
        answer.append((wrong + 1.0 / families) / (1.0 + 1.0 / families))
    return answer


def slow_alike(rows: list[Row], found: ListErrors, end: int) -> float:
    """Return the products of residuals of all ordered pairs of relatives in a list.

    Against the variance of its proteins times their mean number of relatives.
    """
    listed = [row for row in rows if row[0] >= end]
    products, n_pairs = 0.0, 0
    for place, (step, wrong, family, _) in enumerate(listed):
        for other, (other_step, other_wrong, other_family, _) in enumerate(listed):
            if other != place and other_family == family:
                n_pairs += 1
                products += (wrong - found.step_error[0][step]) * (
                    other_wrong - found.step_error[0][other_step]
                )
    own = found.step_error[0]
    variance = sum(own[row[0]] * (1 - own[row[0]]) for row in listed)
    most = variance * n_pairs / len(listed) if listed else 0.0
    return min(max(products / most, 0.0), 1.0) if most > 1e-12 else 1.0


def numbers_of(found: ListErrors) -> list[np.ndarray]:
    return [
        found.error, found.bound, found.q_value, *found.step_error, found.variance, found.alike
    ]  # fmt: skip


def assert_same(one: ListErrors, other: ListErrors) -> None:
    for left, right in zip(numbers_of(one), numbers_of(other), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-12)  # sums in another order


@given(rows_strategy, st.lists(st.integers(0, N - 1), max_size=40))
@settings(max_examples=25, deadline=None)
def test_errors_are_those_of_loops_over_steps(rows: list[Row], used: list[int]) -> None:
    found = errors_of(held_out_from(rows), uses(used), 0.95)
    np.testing.assert_allclose(found.error, slow_errors(rows, uses(used)), atol=1e-12)
    for end in (0, 120, 320):
        assert found.alike[end] == pytest.approx(slow_alike(rows, found, end), abs=1e-9)


@given(rows_strategy)
@settings(max_examples=25, deadline=None)
def test_bins_are_those_of_a_loop_down_the_steps(rows: list[Row]) -> None:
    held_out = held_out_from(rows)
    found = bins_of(held_out)
    assert found.tolist() == slow_bins(rows)
    assert merged_bins(held_out, found).tolist() == slow_pooled(rows)


def test_steps_below_all_that_was_held_out_are_judged_with_the_lowest_bin() -> None:
    # The bin is full at step 300 exactly: what lies below would be a bin of nothing, never wrong.
    rows = [(300, True, family, 1.0) for family in range(FAMILIES_OF_BIN)]
    assert bins_of(held_out_from(rows)).tolist() == slow_bins(rows) == [0] * N
    assert errors_of(held_out_from(rows), uses([300, 100]), 0.95).step_error[0][100] > 0.9


def test_above_counts_families_kish_and_relatives() -> None:
    rows = [(300, False, 0, 1.0), (300, True, 0, 1.0), (300, False, 1, 2.0), (100, False, 2, 1.0)]
    above = errors_of(held_out_from(rows), uses([300]), 0.95).above
    # Rows of unlike weight are as many as Kish counts: (1 + 1 + 2)² / (3 · 6) of 2 families.
    found = above.n_families[[301, 300, 101, 100, 0]].tolist()
    assert found == pytest.approx([0, 16 / 9, 16 / 9, 3 * 25 / 28, 3 * 25 / 28])
    # Masses 2 and 2, then 2, 2 and 1: 5² / 9.
    np.testing.assert_allclose(above.kish[[300, 100]], [2.0, 25.0 / 9.0])
    # Two of three proteins have one relative each.
    np.testing.assert_allclose(above.relatives[[300, 100]], [2.0 / 3.0, 0.5])


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    rows = some_rows(seed)
    moved = np.random.default_rng(seed).permutation(len(rows))
    n_query = uses([row[0] for row in rows])
    assert_same(
        errors_of(held_out_from(rows), n_query, 0.95),
        errors_of(held_out_from([rows[place] for place in moved]), n_query, 0.95),
    )


def test_weights_seven_times_as_large_change_nothing() -> None:
    rows = some_rows(3)
    n_query = uses([row[0] for row in rows])
    heavy = [(step, wrong, family, 7.0 * weight) for step, wrong, family, weight in rows]
    assert_same(
        errors_of(held_out_from(rows), n_query, 0.95),
        errors_of(held_out_from(heavy), n_query, 0.95),
    )


def test_ties_are_one_step_and_end_one_list() -> None:
    rows = [(300, number % 3 == 0, number, 1.0) for number in range(120)]
    found = errors_of(held_out_from(rows), uses([300] * 50), 0.95)
    # A third, and a wrong family among 120.
    expected = (1.0 / 3.0 + 1.0 / 120.0) / (1.0 + 1.0 / 120.0)
    assert found.error[300] == pytest.approx(expected)
    assert np.isnan(found.error[301:]).all()
    assert found.n_listed[300] == 50
    assert found.end_of(0.4) == 0  # what is below holds nobody: the same list
    assert found.end_of(0.3) is None


@pytest.mark.parametrize("n", [20, 60, 200])
def test_equal_confidences_have_the_error_of_all_of_them(n: int) -> None:
    # Each of n proteins is given the precision among the others: those that are right have less.
    wrong = np.arange(n) % 5 == 0
    held = (n - wrong.sum() - ~wrong) / (n - 1)
    assert held[wrong].min() > held[~wrong].max()
    steps = step_of(held)
    rows = [
        (int(step), bool(own), at, 1.0)
        for at, (step, own) in enumerate(zip(steps, wrong, strict=True))
    ]
    stated = int(step_of(np.array([0.8]))[0])
    found = errors_of(held_out_from(rows), uses([stated] * 100), 0.95)
    assert found.error[stated] >= 0.2
    assert found.right(stated, 0.95).expected <= 80
    assert found.end_of(0.1) is None


def test_a_q_value_is_the_least_error_of_a_list_that_holds_the_step() -> None:
    rows = some_rows(4)
    found = errors_of(held_out_from(rows), uses([row[0] for row in rows]), 0.95)
    for step in range(0, N, 7):
        known = found.error[: step + 1][~np.isnan(found.error[: step + 1])]
        assert found.q_value[step] == pytest.approx(known.min())


@pytest.mark.parametrize("rows", [[], [(300, False, 0, 1.0)], [(300, True, 0, 1.0)]])
def test_no_rows_or_one_family_give_no_certain_list(rows: list[Row]) -> None:
    found = errors_of(held_out_from(rows), uses([300, 100]), 0.95)
    assert found.end_of(0.5, is_certain=True) is None
    if not rows:
        assert np.isnan(found.error).all()
        assert found.end_of(0.99) is None
        return
    assert found.error[300] >= 0.5  # one family, and one that is wrong
    right = found.right(300, 0.95)
    assert (right.lower, right.upper) == pytest.approx((0.0, 1.0))


def test_all_right_is_no_certainty() -> None:
    rows = [(300, False, number, 1.0) for number in range(200)]
    found = errors_of(held_out_from(rows), uses([300] * 1_000), 0.95)
    assert found.error[300] == pytest.approx(1.0 / 201.0)
    assert found.bound[300] > 1.0 / 201.0
    right = found.right(300, 0.95)
    assert right.expected == pytest.approx(1_000 * 200 / 201)  # as the error is stated
    assert right.upper == 1_000
    assert 950 < right.lower < 995


def test_all_wrong_gives_no_list() -> None:
    rows = [(300, True, number, 1.0) for number in range(200)]
    found = errors_of(held_out_from(rows), uses([300] * 10), 0.95)
    assert found.error[300] == pytest.approx(1.0)
    assert found.end_of(0.99) is None
    right = found.right(300, 0.95)
    assert right.expected == pytest.approx(0.0)
    assert 0.0 < right.upper < 1.0  # ten that are all wrong are no certainty


def test_a_query_set_above_all_that_calibration_had_is_not_known() -> None:
    rows = [(200, False, number, 1.0) for number in range(40)]
    found = errors_of(held_out_from(rows), uses([360] * 5 + [200] * 5), 0.95)
    assert np.isnan(found.error[201:]).all()  # no family there
    assert found.error[200] == pytest.approx(1.0 / 41.0)
    assert found.n_listed[200] == 10


def test_a_right_family_that_turns_wrong_never_lengthens_a_list() -> None:
    for seed in range(6):
        rows = some_rows(seed)
        n_query = uses([row[0] for row in rows])
        before = errors_of(held_out_from(rows), n_query, 0.95)
        worse = [(step, wrong or own == 7, own, weight) for step, wrong, own, weight in rows]
        after = errors_of(held_out_from(worse), n_query, 0.95)
        for error in (0.3, 0.2, 0.1):
            one, other = before.end_of(error), after.end_of(error)
            assert other is None or (one is not None and other >= one)


def test_ranges_are_wider_where_relatives_are_all_alike() -> None:
    rows = some_rows(5)
    found = errors_of(held_out_from(rows), uses([row[0] for row in rows]), 0.95)
    right = found.right(200, 0.95)
    assert right.lower_alike <= right.lower <= right.expected <= right.upper <= right.upper_alike
    alone = found.right(200, 0.95, relatives=0.0)
    assert right.lower <= alone.lower
    assert alone.upper <= right.upper
    assert (alone.lower_alike, alone.upper_alike) == (alone.lower, alone.upper)


def test_held_out_proteins_without_a_confidence_are_left_out() -> None:
    ids = np.array(["a", "b", "c"], dtype=object)
    zero = np.zeros(3, dtype=np.int64)
    labelled = label(
        Predictions(
            ids=ids,
            class_names=("Portal", "Collar"),
            scale=1.0,
            resolution=0.01,
            predicted_class=zero,
        ),
        np.array([0, 1, 1]),
    )
    found = held_out_of(labelled, np.array([0.9, np.nan, 0.3]))
    # In the order of the hash of their ids.
    assert sorted(zip(found.step, found.is_wrong, strict=True)) == [(60, True), (180, False)]
    assert len(found.key) == 2
    assert found.of_classes(1).step.tolist() == []
    nothing = errors_of(found.of_classes(1), uses([200]), 0.95)
    assert nothing.end_of(0.9) is None


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("step", [N, 0], "it has a value out of range"),
        ("step", [-1, 0], "it has a value out of range"),
        ("cluster", [0, 2], "it has a value out of range"),
        ("weight", [1.0, np.nan], "it has a value out of range"),
        ("true", [0], "its columns differ in length"),
    ],
)
def test_damaged_rows_are_refused(part: str, value: list[float], message: str) -> None:
    whole = held_out_from([(300, False, 0, 1.0), (200, True, 1, 1.0)])
    whole.refuse_damage()
    damaged = replace(whole, **{part: np.array(value)})
    with pytest.raises(ValueError, match=f"^{message}$"):
        damaged.refuse_damage()


def test_what_is_not_known_of_the_mix_widens_bounds_and_ranges() -> None:
    rows = some_rows(9)
    known, n_query = held_out_from(rows), uses([row[0] for row in rows])
    ratios = np.array([0.2, 1.0, 3.0, 1.0])  # of the first class; the second is as it is
    mixed = replace(known, mix=MixDraws(n_classes=2, ratios=np.concatenate([ratios, np.ones(4)])))
    sure, unsure = errors_of(known, n_query, 0.95), errors_of(mixed, n_query, 0.95)
    np.testing.assert_allclose(unsure.error, sure.error)
    assert unsure.variance[0] > 1.5 * sure.variance[0]
    one, other = sure.right(0, 0.95), unsure.right(0, 0.95)
    assert other.upper - other.lower > one.upper - one.lower
    # Draws of ratio 1 are no draws.
    same = replace(known, mix=MixDraws(n_classes=2, ratios=np.ones(8)))
    np.testing.assert_allclose(errors_of(same, n_query, 0.95).bound, sure.bound)


def test_a_class_of_which_all_were_wrong_may_be_right_where_it_is_frequent() -> None:
    """A right family counted as a mean one, though its class is ten times as frequent there."""
    rows = [(300, True, family, 1.0) for family in range(20)]
    held_out = held_out_from(rows + [(100, True, 50 + family, 10.0) for family in range(20)])
    # The first twenty are predicted to be of class 0 and are of 1; the others the other way round.
    mixed = replace(
        held_out,
        predicted=np.repeat([0, 1], 20),
        true=np.repeat([1, 0], 20),
        mix=MixDraws(n_classes=2, ratios=np.ones(8)),
    )
    one, other = (
        errors_of(whole.of_classes(0), uses([300] * 90), 0.95).right(300, 0.95)
        for whole in (replace(mixed, mix=None), mixed)
    )
    assert one.expected == other.expected == 0.0
    # Twenty families, all wrong; one more that is right weighs 1, or 10, of 21 and 30.
    assert other.upper > 90 * 10 / 30 > one.upper > 90 / 21
    nothing = errors_of(mixed.of_classes(2), uses([300]), 0.95)
    assert np.isnan(nothing.error).all()


def test_a_few_heavy_families_are_not_taken_for_many() -> None:
    # One family of a rare class stands for most of the set: it cannot separate steps.
    rows = [(step, False, step, 0.01) for step in range(100, 200)] + [(300, True, 500, 100.0)]
    found = errors_of(held_out_from(rows), uses([row[0] for row in rows]), 0.95)
    assert len(set(found.step_error[0].tolist())) == 1
    assert found.above.n_families[0] < 2.0


def test_a_bound_of_more_certainty_than_four_hundred_draws_show_draws_more() -> None:
    # At 99.99 % a quantile of 400 draws is the largest of them, as at 99.8 %.
    held_out, n_query = held_out_from(some_rows(3, n_families=150)), uses([300, 360])
    usual, surer, surest = (
        errors_of(held_out, n_query, one).bound for one in (0.95, 0.998, 0.9999)
    )
    known = ~np.isnan(usual)
    assert (usual[known] <= surer[known]).all() and (surer[known] <= surest[known]).all()
    assert (surer[known] < surest[known]).any()
