from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from credence.app.editing import with_trove, without_trove
from credence.problems import InputError
from credence.tables.document import parse_document
from refusals import refusal

ENTRY = {"name": "b", "date": "2026-01-02", "scores": ["x.csv", "y z.csv"], "labels": "l.tsv"}
LINES = '  - name: b\n    date: "2026-01-02"\n    scores: [x.csv, "y z.csv"]\n    labels: l.tsv\n'

# Text before and after; '@' is where the lines of the entry come.
CASES = {
    "no list": ("run: a  # mine\n", "run: a  # mine\n\ntroves:\n@"),
    "no line break at the end": ("run: a", "run: a\n\ntroves:\n@"),
    "an empty list": ("troves: []  # none yet\nrun: a\n", "troves:  # none yet\n@run: a\n"),
    "nothing": ("troves:\nrun: a\n", "troves:\n@run: a\n"),
    "null": ("troves: null\nrun: a\n", "troves:\n@run: a\n"),
    "a list": (
        "troves:\n  - name: a  # first\n    scores: q\n    # of a\n\n# of use\nqueries: []\n",
        "troves:\n  - name: a  # first\n    scores: q\n    # of a\n@\n# of use\nqueries: []\n",
    ),
    "an entry that ends in nothing": (
        "troves:\n  - name: a\n    scores: q\n    labels:\nrun: x\n",
        "troves:\n  - name: a\n    scores: q\n    labels:\n@run: x\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_trove_is_written_where_the_list_stands_and_nowhere_else(case: str) -> None:
    before, after = CASES[case]
    assert with_trove(before, ENTRY, "c.yaml") == after.replace("@", LINES)


@pytest.mark.parametrize("case", ["an empty list", "a list", "an entry that ends in nothing"])
def test_a_trove_taken_out_again_leaves_the_text_as_it_was(case: str) -> None:
    before, _ = CASES[case]
    position = len(parse_document(before, "c.yaml").data["troves"])
    with_it = with_trove(before, ENTRY, "c.yaml")
    assert without_trove(with_it, position, "c.yaml") == before


def test_line_ends_of_windows_stay_so() -> None:
    block = with_trove("run: a\r\n", {"name": "b"}, "c.yaml")
    assert block == "run: a\r\n\r\ntroves:\r\n  - name: b\r\n"


def test_a_list_in_brackets_is_left_to_the_user() -> None:
    text = "run: a\ntroves: [{name: a, scores: q}]  # two\nsplit: {}\n"
    edits = (lambda: with_trove(text, ENTRY, "c.yaml"), lambda: without_trove(text, 0, "c.yaml"))
    for edit in edits:
        with pytest.raises(InputError, match="a list of lines that begin with '- '"):
            edit()


def test_what_cannot_be_edited_is_left_to_the_user() -> None:
    assert refusal(with_trove, "{run: a}\n", {"name": "b", "scores": "b.csv"}, "c.yaml") == (
        "c.yaml: the list troves is written in a way that is not edited here. Write it so that "
        "troves is a list of lines that begin with '- ', or write by hand:\n"
        "  - name: b\n"
        "    scores: b.csv"
    )


@settings(max_examples=50, deadline=None)
@example(".0", "1e5")
@example(".inf", "1e5")
@given(
    st.text(max_size=12).filter(lambda text: text.isprintable()),
    st.sampled_from(["1e5", "true", "null", "- a", "a: b", "#x", "2026-01-02", "0x1f", "'", '"']),
)
def test_any_text_comes_back_as_it_was(one: str, other: str) -> None:
    entry = {"name": "x", "scores": [one, other], "sha256": {one: other}}
    edited = with_trove("run: a\n", entry, "c.yaml")
    assert parse_document(edited, "c.yaml").data["troves"] == [entry]
