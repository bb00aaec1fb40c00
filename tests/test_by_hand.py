"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence import confidence, draws, problems, proteins, records, settings
from credence.lists.decision import before_lists


def test_note_text_gives_the_phrases_of_a_note_joined_by_semicolons() -> None:
    assert confidence.note_text(0) == ""
    assert (
        confidence.note_text(4)
        == "no calibration protein in this bin of scores, so the overall precision of the class"
    )


def test_sentences_of_gives_a_sentence_for_each_text_that_some_proteins_carry() -> None:
    assert confidence.sentences_of({"its class is known": 2, "it is new": 0}, 1000) == [
        "2 of 1,000 proteins: its class is known"
    ]


def test_before_lists_gives_whether_the_data_of_each_prediction_are_sufficient() -> None:
    stated = confidence.unknown(1, confidence.Note.UNSEEN_CLASS)
    assert before_lists(stated).tolist() == ["insufficient data"]


def test_effective_clusters_gives_kishs_effective_number_over_the_masses_of_clusters() -> None:
    assert draws.effective_clusters(np.array([0, 0, 1]), np.array([0.5, 0.5, 1.0])) == 2.0


def test_a_problem_names_file_line_and_column() -> None:
    assert (
        str(
            problems.Problem(
                where="a.tsv",
                what="'x' is not a number.",
                remedy="Give a score.",
                line=3,
                column="HTJ",
            )
        )
        == "a.tsv, line 3, column 'HTJ': 'x' is not a number. Give a score."
    )


def test_the_nearest_name_is_given_or_all_that_are_known() -> None:
    assert problems.nearest("kernal", ["kernel", "isotonic"]) == "Did you mean 'kernel'?"
    assert problems.nearest("xyz", ["kernel", "isotonic"]) == "Known are: kernel, isotonic."


def test_join_gives_the_proteins_of_several_sets_one_set_after_the_other() -> None:
    one = proteins.Proteins(
        ids=np.array(["a"], dtype=object), sequences=np.array(["MK"], dtype=object)
    )
    two = proteins.Proteins(
        ids=np.array(["b"], dtype=object), sequences=np.array(["ML"], dtype=object)
    )
    assert proteins.join([one, two]).ids.tolist() == ["a", "b"]


def test_nan_is_written_as_none_and_arrays_as_lists() -> None:
    assert records.to_record({"lower": np.array([0.5, np.nan]), "n": np.int64(3)}) == {
        "lower": [0.5, None],
        "n": 3,
    }


def test_null_is_read_as_nan() -> None:
    assert repr(records.from_record(tuple[float, ...], [1.5, None])) == "(1.5, nan)"


def test_lists_without_mappings_stand_on_one_line() -> None:
    assert (
        records.json_text({"b": [0.1, float("nan")], "a": {"n": 3}})
        == '{\n  "b": [0.1, null],\n  "a": {\n    "n": 3\n  }\n}\n'
    )


def test_kind_of_gives_the_type_of_a_setting_and_whether_it_may_be_absent() -> None:
    @dataclass(frozen=True)
    class Example:
        level: float | None = settings.setting(None, "Coverage.")

    assert repr(settings.setting_type(Example, "level")) == "(<class 'float'>, True)"
