"""A user's rule is read by a small parser, and answers as Python would."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credence.events.event import class_ranks
from credence.events.rules import parse_rule
from credence.predictions import Predictions, from_scores
from credence.problems import InputError

NAMES = ("Portal", "HTJ", "Other")
SCORES = np.array([[6.0, 3.0, 1.0], [2.0, 2.0, 6.0], [0.0, 10.0, 0.0]])


def stated() -> Predictions:
    ids = np.array(["a", "b", "c"], dtype=object)
    return from_scores(ids, NAMES, SCORES, 10.0, 0.01)


def holds(rule: str) -> list[list[bool]]:
    return parse_rule(rule, "config.yaml", "mine").holds(stated(), class_ranks(stated())).tolist()


def test_the_score_is_that_of_the_class_asked_about() -> None:
    assert holds("'score' >= 0.3") == [
        [True, True, False],
        [False, False, True],
        [False, True, False],
    ]


def test_rank_1_is_the_predicted_class_and_ties_go_by_name() -> None:
    # Of Portal and HTJ at 2.0 each, HTJ sorts first.
    assert class_ranks(stated()).tolist() == [[1, 2, 3], [3, 2, 1], [3, 1, 2]]
    assert holds("'rank' <= 2")[1] == [False, True, True]


def test_a_class_name_is_a_column_and_asks_the_whole_row() -> None:
    assert holds('"Portal" > 0.5') == [[True] * 3, [False] * 3, [False] * 3]


def test_and_binds_before_or_and_not_before_and() -> None:
    # not (rank 1) and score >= 0.1, or Other > 0.5 in the row.
    assert holds("not 'rank' == 1 and 'score' >= 0.1 or 'Other' > 0.5") == [
        [False, True, True],
        [True, True, True],
        [False, False, False],
    ]
    assert holds("not ('rank' == 1 or 'score' >= 0.2)")[0] == [False, False, True]


def test_the_margin_is_the_lead_of_the_predicted_class() -> None:
    assert holds("'margin' >= 0.4 and 'top_score' < 0.9") == [[False] * 3, [True] * 3, [False] * 3]


def test_what_is_not_known_fulfils_no_comparison() -> None:
    ids = np.array(["a"], dtype=object)
    of = Predictions(ids, NAMES, 1.0, 0.01, np.array([1]), np.array([0.9]))
    ranks = class_ranks(of)
    assert not parse_rule("'score' >= 0", "x").holds(of, ranks).any()
    assert parse_rule("'rank' == 1", "x").holds(of, ranks).tolist() == [[False, True, False]]


WAY = "Compare columns in quotes and numbers: 'score' >= 0.1 and 'rank' <= 3."
BROKEN = {
    "score > 0.1": "character 1 of the rule: 'score' is no word of rules. "
    "Write 'score', in quotes.",
    "'score' >": "character 10 of the rule: the rule ends where a number or a column in quotes "
    f"is expected. {WAY}",
    "'score'": "character 8 of the rule: the rule ends where a comparison is expected. "
    "Use one of <, <=, >, >=, ==, !=.",
    "'score' > 1 'rank' < 2": "character 13 of the rule: 'rank' follows a complete rule. "
    "Join the two by and, or.",
    "('score' > 1": "character 13 of the rule: a bracket is not closed. Add ).",
    "'score > 1": "character 1 of the rule: a quotation mark that is not closed has no meaning "
    f"here. {WAY}",
    "'score' > 1; 'rank' < 2": f"character 12 of the rule: ';' has no meaning here. {WAY}",
    "__import__('os')": "character 1 of the rule: '__import__' is no word of rules. "
    "Write '__import__', in quotes.",
    "": "character 1 of the rule: the rule ends where a number or a column in quotes is expected. "
    f"{WAY}",
    "(" * 60 + "'score' > 1": "character 52 of the rule: brackets lie too deep. Write it flatter.",
}


@pytest.mark.parametrize("rule", BROKEN)
def test_a_broken_rule_is_refused_with_the_character(rule: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_rule(rule, "config.yaml", "mine")
    assert str(caught.value) == f"config.yaml, column 'mine': {BROKEN[rule]}"


def test_an_unknown_column_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError) as caught:
        parse_rule("'rank' < 2 and 'Portel' > 0.1", "config.yaml").require_columns(
            NAMES, "config.yaml", "mine"
        )
    assert str(caught.value) == (
        "config.yaml, column 'mine': character 16 of the rule: there is no column 'Portel'. "
        "Did you mean 'Portal'?"
    )


ATOMS = st.builds(
    lambda column, sign, number: (f"'{column}' {sign} {number}", (column, sign, number)),
    st.sampled_from(["score", "rank"]),
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.sampled_from([0.0, 0.1, 0.3, 1.0, 2.0]),
)


@given(ATOMS, ATOMS, ATOMS, st.sampled_from(["and", "or"]), st.sampled_from(["and", "or"]))
def test_rules_mean_what_the_same_words_mean_in_python(
    one: tuple, two: tuple, three: tuple, first: str, second: str
) -> None:
    found = holds(f"{one[0]} {first} not {two[0]} {second} ({three[0]})")
    ranks = class_ranks(stated())

    def truth(atom: tuple, row: int, class_: int) -> bool:
        column, sign, number = atom
        value = SCORES[row, class_] / 10 if column == "score" else ranks[row, class_]
        return {
            "<": value < number,
            "<=": value <= number,
            ">": value > number,
            ">=": value >= number,
            "==": value == number,
            "!=": value != number,
        }[sign]

    for row in range(3):
        for class_ in range(3):
            a, b, c = (truth(atom[1], row, class_) for atom in (one, two, three))
            b = not b
            if first == "and" and second == "or":
                expected = (a and b) or c
            elif first == "or" and second == "and":
                expected = a or (b and c)
            else:
                expected = all((a, b, c)) if first == "and" else any((a, b, c))
            assert found[row][class_] == expected
