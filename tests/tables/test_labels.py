"""True classes from a second table and from FASTA headers."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from credence.problems import InputError
from credence.tables import labels as tables_of_labels
from credence.tables.formats import TableSpec
from credence.tables.labels import attach_labels, labels_from_headers, read_labels
from credence.tables.samples import read_samples

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"
SPEC = TableSpec("credence", scale=1.0)


def test_labels_of_a_second_table_meet_their_proteins_by_id() -> None:
    samples = read_samples(VALID / "credence.tsv", SPEC)
    labelled = attach_labels(samples, read_labels(VALID / "labels.tsv"), SPEC, "credence.tsv")
    assert labelled.true_class is not None
    assert labelled.true_class.tolist() == [0, 1]
    assert samples.true_class is not None
    assert samples.true_class.tolist() == [0, -1]  # the samples given are as they were


def test_the_columns_of_a_label_table_are_the_users(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("protein,kind\np1,x\n")
    labels = read_labels(path, "protein", "kind")
    assert (labels.ids.tolist(), labels.texts.tolist()) == (["p1"], ["x"])


def test_labels_are_spelt_as_the_format_and_the_user_spell() -> None:
    spec = TableSpec("phanns", synonyms={"gp20": "Portal"})
    samples = read_samples(VALID / "phanns.csv", spec)
    ids = samples.predictions.ids
    labels = labels_from_headers(
        "a.fasta", ids, ["x=gp20", "x=others", "x=tail_shaft"], [1, 3, 5], "x=(?P<label>.*)"
    )
    labelled = attach_labels(samples, labels, spec, "phanns.csv")
    assert labelled.true_class is not None
    names = [samples.predictions.class_names[code] for code in labelled.true_class]
    assert names == ["Portal", "Other", "Tail shaft"]


def test_proteins_without_scores_may_have_a_label() -> None:
    spec = TableSpec("phynteny")
    samples = read_samples(VALID / "phynteny.tsv", spec)
    labels = labels_from_headers(
        "a.fasta", ["c_1", "c_2", "c_3"], ["lysis"] * 3, [1, 2, 3], "(?P<label>.*)"
    )
    labelled = attach_labels(samples, labels, spec, "phynteny.tsv")
    assert labelled.true_class is not None
    assert labelled.true_class.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (
            "[",
            "a.fasta: '[' is not a regular expression: "
            "unterminated character set at position 0. Fix it.",
        ),
        ("x=(.*)", "a.fasta: 'x=(.*)' has no group named label. Write one: (?P<label>…)."),
        (
            "y=(?P<label>.*)",
            "a.fasta, line 1: the header of protein 'p1' does not fit the pattern "
            "'y=(?P<label>.*)'. Correct the pattern or the header.",
        ),
    ],
)
def test_a_pattern_that_finds_no_label_is_refused(pattern: str, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        labels_from_headers("a.fasta", ["p1"], ["p1 x=HTJ"], [1], pattern)
    assert str(refusal.value) == message


def test_labels_may_name_a_class_that_is_never_predicted(tmp_path: Path) -> None:
    """Only where the tool names the best class alone; else the columns are the classes."""
    path = tmp_path / "best.csv"
    path.write_text("id,predicted_class,score\na,Portal,0.9\nb,Portal,0.4\nc,Tail,0.4\nd,Tail,1\n")
    spec = TableSpec("top-score", scale=1.0, synonyms={"neck": "Collar"})
    samples = read_samples(path, spec)
    headers = ["x=Portal", "x=neck", "x=Baseplate", "x="]
    labels = labels_from_headers("a.fasta", [*"abcd"], headers, [1, 3, 5, 7], "x=(?P<label>.*)")
    labelled = attach_labels(samples, labels, spec, "best.csv")
    predictions = labelled.predictions
    assert predictions.class_names == ("Baseplate", "Collar", "Portal", "Tail")
    assert predictions.predicted_class.tolist() == [2, 2, 3, 3]
    assert labelled.true_class is not None
    assert labelled.true_class.tolist() == [2, 1, 0, -1]
    stated = TableSpec("top-score", scale=1.0, class_names=("Portal", "Tail"))
    with pytest.raises(InputError, match="'neck' is no class"):
        attach_labels(read_samples(path, stated), labels, stated, "best.csv")


TWICE = r"(?P<label>Portal|(a+)+$)"  # tries 2^n ways of n letters in the last header
SLOW = r"x=(a+)+$|(?P<label>!)"


def test_a_pattern_that_takes_exponential_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_of_labels, "MOST_SECONDS", 0.1)
    began, before = time.process_time(), signal.getsignal(signal.SIGVTALRM)
    headers = ["p1 Portal", f"p2 {'a' * 60}!"]
    with pytest.raises(InputError) as refusal:
        labels_from_headers("a.fasta", ["p1", "p2"], headers, [1, 3], TWICE)
    assert str(refusal.value) == (
        f"a.fasta, line 3: the pattern {TWICE!r} takes more than 0.1 s on the header of protein "
        "'p2'. Write it without a repetition inside another one, such as (x+)+."
    )
    assert time.process_time() - began < 5  # 2^60 ways would take thousands of years
    assert signal.getsignal(signal.SIGVTALRM) == before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_the_limit_is_that_of_one_header_not_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_of_labels, "MOST_SECONDS", 0.15)
    began, headers = time.process_time(), [f"x={'a' * 18}!"] * 50  # ten milliseconds or so each
    labels = labels_from_headers("a.fasta", [*map(str, range(50))], headers, range(50), SLOW)
    assert labels.texts.tolist() == ["!"] * 50
    assert time.process_time() - began > 0.15


def test_labels_of_headers_are_found_in_any_thread() -> None:
    with ThreadPoolExecutor(1) as pool:
        headers = (["p1"], ["p1 x=Portal"], [1], "x=(?P<label>.+)")
        labels = pool.submit(labels_from_headers, "a.fasta", *headers).result()
    assert labels.texts.tolist() == ["Portal"]
