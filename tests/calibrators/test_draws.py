from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.draws import cluster_weights, encode_clusters, keys_of, uniform


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
