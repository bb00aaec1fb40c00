"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import errno

import numpy as np

from credence import app
from credence.app import configuration, editing, meaning
from credence.stages import evaluate, reading


def test_a_full_disk_is_explained_and_a_bug_is_not() -> None:
    assert (
        str(app.explain(OSError(errno.ENOSPC, "No space left on device", "out.tsv")))
        == "out.tsv: the disk is full. Make room, or write to another disk.\n"
        "Fix this and run the command again."
    )
    assert app.explain(KeyError("x")) is None


def test_flat_gives_every_setting_by_its_dotted_name_as_text() -> None:
    assert list(configuration.flat_settings({"run": "demo", "split": {"groups": 12}})) == [
        ("run", "demo"),
        ("split.groups", "12"),
    ]


def test_slug_gives_a_methods_specification_as_a_file_name() -> None:
    assert (
        configuration.method_file_name("kernel(bandwidth=mon4, prior_weight=0.0)")
        == "kernel-bandwidth_mon4-prior_weight_0.0"
    )


def test_option_gives_an_option_of_a_command_with_its_value() -> None:
    assert configuration.option("--clusters", "c.tsv") == ["--clusters", "c.tsv"]
    assert configuration.option("--clusters", None) == []


def test_options_gives_an_option_once_for_each_value() -> None:
    assert configuration.options("--method", ["kernel", "histogram"]) == [
        "--method",
        "kernel",
        "--method",
        "histogram",
    ]


def test_with_trove_gives_a_configuration_with_one_trove_more_at_the_end_of_its_list() -> None:
    assert (
        editing.with_trove("run: a  # mine\n", {"name": "b", "scores": "b.csv"}, "x")
        == "run: a  # mine\n\ntroves:\n  - name: b\n    scores: b.csv\n"
    )


def test_inline_gives_a_value_on_one_line() -> None:
    assert (
        editing.inline([1e-6, 10.0, True, None, "Tail fiber", "y z.csv"])
        == '[1.0e-6, 10, true, null, Tail fiber, "y z.csv"]'
    )


def test_a_path_that_looks_like_an_option_is_refused() -> None:
    assert meaning.path_problem("-x.csv") == (
        "'-x.csv' begins with a dash, as an option does.",
        "Write './-x.csv'.",
    )
    assert meaning.path_problem("scores.csv") is None


def test_in_words_gives_a_setting_and_its_value_as_a_sentence_has_them() -> None:
    assert evaluate._in_words("prior_weight", 1.0) == "prior weight 1"
    assert evaluate._in_words("reflection", False) == "no reflection"


def test_training_proteins_stand_beside_the_others_under_names_of_their_own() -> None:
    training = np.array(["a", "b"], dtype=object)
    assert reading.training_ids(training, np.array(["b", "c"], dtype=object)).tolist() == [
        "a",
        "training:b",
    ]
