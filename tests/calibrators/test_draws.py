from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.draws import (
    KEYS_AT_ONCE,
    cluster_weights,
    drawn_weights,
    encode_clusters,
    keys_of,
    uniform,
    uniforms,
    weight_blocks,
)


@settings(max_examples=50, deadline=None)
@given(names=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20))
def test_a_key_is_the_blake2b_of_its_name_whatever_stands_beside_it(names: list[str]) -> None:
    expected = [
        int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest()) for name in names
    ]
    assert keys_of(names).tolist() == expected
    assert keys_of(np.array(names[::-1], dtype=object)).tolist() == expected[::-1]
    assert [int(keys_of([name])[0]) for name in names] == expected


def test_keys_never_change() -> None:
    # Pinned: calibrations of the same data must be the same on every machine, for years.
    assert keys_of(["cluster_1"])[0] == np.uint64(1998891668944274281)
    assert uniform(keys_of(["cluster_1"]), 3, "x")[0] == 0.4863641600369519


def test_codes_do_not_depend_on_the_order_of_rows() -> None:
    names = np.array(["c", "a", "b", "a"], dtype=object)
    codes, keys = encode_clusters(names)
    other_codes, other_keys = encode_clusters(names[::-1])
    np.testing.assert_array_equal(keys, other_keys)
    np.testing.assert_array_equal(codes, other_codes[::-1])


def test_draws_depend_on_the_name_alone() -> None:
    few, many = keys_of(["a", "b"]), keys_of(["x", "b", "y", "a"])
    np.testing.assert_array_equal(cluster_weights(few, 5), cluster_weights(many, 5)[[3, 1]])


@pytest.mark.parametrize("n_keys", [0, 1, 7, KEYS_AT_ONCE, 2 * KEYS_AT_ONCE + 3])
def test_many_draws_at_once_are_bit_for_bit_those_one_by_one(n_keys: int) -> None:
    keys = keys_of([f"c{number}" for number in range(n_keys)])
    draws = range(3, 16)
    numbers = np.stack([uniform(keys, draw, "x") for draw in draws], axis=1)
    np.testing.assert_array_equal(uniforms(keys, draws, "x"), numbers)
    weights = np.stack([cluster_weights(keys, draw) for draw in range(16)], axis=1)
    np.testing.assert_array_equal(drawn_weights(keys, draws), weights[:, 3:])
    blocks = list(weight_blocks(keys, 16, 5))
    assert [(part.start, part.stop) for part, _ in blocks] == [(0, 5), (5, 10), (10, 15), (15, 16)]
    np.testing.assert_array_equal(np.concatenate([one for _, one in blocks], axis=1), weights)


def test_draws_of_different_numbers_and_purposes_are_unrelated() -> None:
    keys = keys_of([f"c{number}" for number in range(4000)])
    first = uniform(keys, 0, "a")
    for other in (uniform(keys, 1, "a"), uniform(keys, 0, "b")):
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.06  # standard error 0.016


def test_weights_are_exponential_with_mean_1() -> None:
    keys = keys_of([f"c{number}" for number in range(4000)])
    drawn = cluster_weights(keys, 0)
    assert (drawn > 0).all()
    assert drawn.mean() == pytest.approx(1.0, abs=0.06)
    assert drawn.var() == pytest.approx(1.0, abs=0.2)
