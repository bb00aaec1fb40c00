"""True classes from a second table and from FASTA headers."""

from __future__ import annotations

import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from credence.problems import InputError
from credence.tables import labels as tables_of_labels
from credence.tables.formats import TableSpec
from credence.tables.joining import census_of, take_census
from credence.tables.labels import Labels, attach_labels, labels_from_headers, read_labels
from credence.tables.samples import Samples, read_samples, stream_samples
from refusals import refusal

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"
SPEC = TableSpec(format="credence", scale=1.0)


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
    spec = TableSpec(format="phanns", synonyms={"gp20": "Portal"})
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
    spec = TableSpec(format="phynteny")
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
    assert refusal(labels_from_headers, "a.fasta", ["p1"], ["p1 x=HTJ"], [1], pattern) == message


def test_labels_may_name_a_class_that_is_never_predicted(tmp_path: Path) -> None:
    """Only where the tool names the best class alone; else the columns are the classes."""
    path = tmp_path / "best.csv"
    path.write_text("id,predicted_class,score\na,Portal,0.9\nb,Portal,0.4\nc,Tail,0.4\nd,Tail,1\n")
    spec = TableSpec(format="top-score", scale=1.0, synonyms={"neck": "Collar"})
    samples = read_samples(path, spec)
    headers = ["x=Portal", "x=neck", "x=Baseplate", "x="]
    labels = labels_from_headers("a.fasta", [*"abcd"], headers, [1, 3, 5, 7], "x=(?P<label>.*)")
    labelled = attach_labels(samples, labels, spec, "best.csv")
    predictions = labelled.predictions
    assert predictions.class_names == ("Baseplate", "Collar", "Portal", "Tail")
    assert predictions.predicted_class.tolist() == [2, 2, 3, 3]
    assert labelled.true_class is not None
    assert labelled.true_class.tolist() == [2, 1, 0, -1]
    stated = TableSpec(format="top-score", scale=1.0, class_names=("Portal", "Tail"))
    with pytest.raises(InputError, match="'neck' is no class"):
        attach_labels(read_samples(path, stated), labels, stated, "best.csv")


TWICE = r"(?P<label>Portal|(a+)+$)"  # tries 2^n ways of n letters in the last header
SLOW = r"x=(a+)+$|(?P<label>!)"


def test_a_pattern_that_takes_exponential_time_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables_of_labels, "MOST_SECONDS", 0.1)
    began, before = time.process_time(), signal.getsignal(signal.SIGVTALRM)
    headers = ["p1 Portal", f"p2 {'a' * 60}!"]
    assert refusal(labels_from_headers, "a.fasta", ["p1", "p2"], headers, [1, 3], TWICE) == (
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


def labels_of(ids: list[str], texts: list[str]) -> Labels:
    names, labels = (np.array(column, dtype=object) for column in (ids, texts))
    return Labels(
        where="labels.tsv",
        column="truth",
        ids=names,
        texts=labels,
        lines=np.arange(2, 2 + len(ids)),
    )


def scored(path: Path, ids: list[str], classes: tuple[str, ...] = ("Portal", "Tail")) -> Samples:
    rows = [f"{name},0.75,0.25{',0' * (len(classes) - 2)}\n" for name in ids]
    path.write_text(",".join(["id", *classes]) + "\n" + "".join(rows))
    return read_samples(path, SPEC)


def test_ids_and_labels_in_other_capitals_are_matched_and_said(tmp_path: Path) -> None:
    ids = [f"p{number}" for number in range(50)]
    samples = scored(tmp_path / "s.csv", ids)
    texts = [("PORTAL", "Tail", "tail")[number % 3] for number in range(50)]
    labels = labels_of([f" {name.upper()}" for name in ids], texts)
    labelled = attach_labels(samples, labels, SPEC, "s.csv")
    assert labelled.true_class is not None
    assert labelled.true_class.tolist() == [int(number % 3 > 0) for number in range(50)]
    assert labelled.recased["PORTAL"] == "Portal"
    recased = (
        "' P0' is taken for 'p0', ' P1' is taken for 'p1', ' P2' is taken for 'p2', and so are "
        "49 more: they differ in capital letters alone"
    )
    # Beside it: of these labels, drawn in turn, the scores know nothing.
    assert recased in census_of(labelled).notices()


def test_labels_in_a_score_table_are_matched_in_other_capitals_too(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("id,true_class,Portal,Tail\na,TAIL,0.5,0.5\nb,Tail,0.25,0.75\n")
    samples = read_samples(path, SPEC)
    assert samples.true_class is not None
    assert samples.true_class.tolist() == [1, 1]
    stream = [*stream_samples(path, SPEC, chunk_rows=1)]
    assert [census_of(piece).recased for piece in stream] == [{"TAIL": "Tail"}] * 2
    notice = "'TAIL' is taken for 'Tail': they differ in capital letters alone"
    assert notice in take_census([str(path)], SPEC).notices()


def test_what_may_be_two_is_refused_once_a_distinct_value(tmp_path: Path) -> None:
    """Ids or classes that differ in capitals alone there, or ids here."""
    ids = [*"abcdefgh", "q1", "Q1", "r1"]
    samples = scored(tmp_path / "s.csv", ids, ("Portal", "portal", "Tail"))
    names = [*"abcdefgh", "q1 ", "R1", "r1 "]
    texts = [*["PORTAL"] * 6, "Tail", "gate", "Tail", "Tail", "Tail"]
    message = refusal(
        attach_labels, samples, labels_of(names, texts), SPEC, "s.csv", may_lack=True
    )
    remedy = "Correct its name, remove it, or add its scores."
    elsewhere = (
        "If it means one of them, state it in synonyms; else leave these proteins out, or take a "
        "classifier that knows it."
    )
    assert message.splitlines() == [
        "labels.tsv, line 2, column 'truth': 'PORTAL' is no class (6 proteins, 'a' first). "
        f"Known are: Portal, portal, Tail. {elsewhere}",
        "labels.tsv, line 9, column 'truth': 'gate' is no class (protein 'h'). "
        f"Known are: Portal, portal, Tail. {elsewhere}",
        f"labels.tsv, line 10: protein 'q1 ' is not in s.csv. {remedy}",
        f"labels.tsv, line 11: protein 'R1' is not in s.csv. {remedy}",
        f"labels.tsv, line 12: protein 'r1 ' is not in s.csv. {remedy}",
    ]


ONE_EACH = "Give each the one class to judge by, or leave these proteins out."


def test_several_labels_in_a_cell_are_named_as_such(tmp_path: Path) -> None:
    samples = scored(tmp_path / "s.csv", [*"abcdef"])
    texts = ["Portal;Tail", "tail | Portal", "Portal;Tail", "Tail,gate", "neck;gate", "Tail"]
    message = refusal(attach_labels, samples, labels_of([*"abcdef"], texts), SPEC, "s.csv")
    start = "labels.tsv, line {}, column 'truth': {!r} "
    several = start + "holds several labels ({}). " + ONE_EACH
    assert message.splitlines() == [
        several.format(2, "Portal;Tail", "2 proteins, 'a' first"),
        several.format(3, "tail | Portal", "protein 'b'"),
        several.format(5, "Tail,gate", "protein 'd'"),
        start.format(6, "neck;gate") + "is no class (protein 'e'). Known are: Portal, Tail. "
        "If it means one of them, state it in synonyms; else leave these proteins out, or take a "
        "classifier that knows it.",
    ]


def test_several_labels_are_no_class_of_their_own_where_the_best_class_alone_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "best.csv"
    path.write_text("id,predicted_class,score\na,Portal,0.9\nb,Tail,0.4\nc,Head,1\n")
    spec = TableSpec(format="top-score", scale=1.0)
    with pytest.raises(InputError) as refusal:
        labels = labels_of([*"abc"], ["Portal;tail", "Tail", "Head, neck"])
        attach_labels(read_samples(path, spec), labels, spec, "best.csv")
    assert str(refusal.value) == (
        "labels.tsv, line 2, column 'truth': 'Portal;tail' holds several labels (protein 'a'). "
        f"{ONE_EACH}"
    )
    labels = labels_of([*"abc"], ["Portal", "tail", "Head, neck"])  # neck is no class
    labelled = attach_labels(read_samples(path, spec), labels, spec, "best.csv")
    assert labelled.predictions.class_names == ("Head", "Head, neck", "Portal", "Tail")


def test_labels_of_a_score_table_that_are_no_class_are_named_once_each(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    truth = ["Tale", "Portal|Tail", "Tale", "Tail", "Tale"]
    rows = [f"p{row},{text},0.5,0.5\n" for row, text in enumerate(truth)]
    path.write_text("id,true_class,Portal,Tail\n" + "".join(rows))
    message = refusal(read_samples, path, SPEC)
    start = f"{path}, line {{}}, column 'true_class': "
    assert message.splitlines() == [
        start.format(2) + "'Tale' is no class (3 proteins, 'p0' first). Did you mean 'Tail'?",
        start.format(3) + f"'Portal|Tail' holds several labels (protein 'p1'). {ONE_EACH}",
    ]


def test_labels_of_other_proteins_are_one_problem(tmp_path: Path) -> None:
    samples = scored(tmp_path / "s.csv", [f"p{number}" for number in range(2000)])
    labels = labels_of([f"x{number}" for number in range(2000)], ["Tail"] * 2000)
    assert refusal(attach_labels, samples, labels, SPEC, "s.csv") == (
        "labels.tsv: none of its 2,000 proteins is in s.csv: here is 'x0', there 'p0'. "
        "Write ids alike, or name the column that holds them."
    )
