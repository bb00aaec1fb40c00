"""What holds the page together: data that cannot break out, styles as classes, scripts."""

from __future__ import annotations

import json
import math
from importlib import resources

import hypothesis.strategies as st
from hypothesis import given, settings

from credence.report.html import SCRIPTS, data_text, gather_styles, scripts

TEXTS = st.text(st.sampled_from(list("</script>!-&\"'\\\u2028\u2029\0a")), max_size=20)


@given(st.dictionaries(TEXTS, st.lists(TEXTS)))
@settings(max_examples=50, deadline=None)
def test_data_come_back_whatever_they_hold_and_hold_no_sign_of_markup(value: object) -> None:
    text = str(data_text(value))
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


def test_numbers_that_are_none_are_null() -> None:
    assert json.loads(data_text({"a": [1.5, math.nan], "b": (2,)})) == {"a": [1.5, None], "b": [2]}


def test_styles_of_tags_become_classes_and_texts_stay() -> None:
    body = '<g style="fill: red"><text style="fill: red"> style="x" </text></g><p style="">a</p>'
    changed, rules = gather_styles(body)
    assert changed == '<g class="d0"><text class="d0"> style="x" </text></g><p>a</p>'
    assert rules == ".d0 { fill: red }"


def test_every_script_of_the_folder_is_on_the_page_once_and_makes_no_markup_of_texts() -> None:
    folder = resources.files("credence.report") / "scripts"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".js"))
    assert sorted(f"{name}.js" for name in SCRIPTS) == names
    for text in scripts():
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "fetch(", "http:"):
            assert word not in str(text).replace("http://www.w3.org/2000/svg", "")
