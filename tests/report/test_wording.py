from __future__ import annotations

import math

import hypothesis.strategies as st
from hypothesis import given, settings

from credence.report.wording import printable, share, slug


@given(st.floats(0.0, 1.0))
@settings(max_examples=50, deadline=None)
def test_a_share_never_reads_as_certain_unless_it_is(value: float) -> None:
    text = share(value)
    assert (text == "1.00") == (value == 1.0)
    assert (text == "0.00") == (value == 0.0)
    if text[0] not in "<>":
        assert math.isclose(float(text), value, abs_tol=0.00501)


@given(st.text(max_size=40))
@settings(max_examples=50, deadline=None)
def test_what_is_printed_has_no_invisible_character(text: str) -> None:
    shown = printable(text)
    assert len(shown) == len(text)
    assert all(c.isprintable() or c in "\n\t\u00a0" for c in shown)


def test_names_that_differ_in_signs_alone_have_anchors_of_their_own() -> None:
    assert slug("A+", 1) != slug("A-", 2)
