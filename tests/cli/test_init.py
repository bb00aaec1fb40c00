"""`credence init` on tables of many shapes: what it writes passes `credence check`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.app import run_command_line
from credence.app.configuration import load
from credence.problems import InputError
from credence.tables.guess import guess_columns
from refusals import refused

CLASSES = ["Cytoplasm", "Nucleus", "Extracellular", "Cell membrane"]


def scored(n: int, names: list[str], seed: int = 0, scale: float = 1.0) -> pd.DataFrame:
    """Return ids, four decimals of a score for every class, and true classes."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(len(names), 0.5), n)
    truth = [names[rng.choice(len(names), p=row)] for row in scores]
    table = pd.DataFrame(np.round(scale * scores, 4), columns=names)
    table.insert(0, "Accession", [f"Q{seed}{row:05d}" for row in range(n)])
    table["Location"] = truth
    return table


def best_only(table: pd.DataFrame) -> pd.DataFrame:
    scores = table[CLASSES]
    return pd.DataFrame(
        {
            "protein": table.Accession,
            "call": scores.idxmax(axis=1),
            "probability": scores.max(axis=1),
            "length": range(100, 100 + len(table)),
            "truth": table.Location,
        }
    )


def tables() -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """Return labelled tables of unlike tools, each with one to be given confidences."""
    known, new = scored(90, CLASSES), scored(20, CLASSES, 1).drop(columns="Location")
    beside = known.assign(Length=range(90), Predicted=known[CLASSES].idxmax(axis=1), Conf=0.5)
    renamed = {name: f"P({name})" for name in CLASSES}
    percent, new_percent = (
        part.assign(**{name: (100 * part[name]).round(2) for name in CLASSES})
        for part in (known, new)
    )
    numbers = np.random.default_rng(2).random((90, 4)).round(3)
    free = known.assign(**dict(zip(CLASSES, numbers.T, strict=True)))
    return {
        "accession": (known, new),
        "beside": (beside, new),
        "percent": (percent.rename(columns=renamed), new_percent.rename(columns=renamed)),
        "free": (free, new),
        "best": (best_only(known), best_only(known).drop(columns="truth").assign(protein="x")),
    }


def found(path: str, **stated: Any) -> dict[str, Any]:
    return guess_columns(Path(path), stated, is_labelled=True)


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", tables())
def test_any_table_gets_a_configuration_that_passes_the_check(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    known, new = tables()[kind]
    if kind == "best":
        new["protein"] = [f"x{row}" for row in range(len(new))]
    known.to_csv("known.csv", index=kind == "beside")  # with the index that pandas writes
    new.to_csv("new.csv", index=False)
    assert run_command_line(["init", "lab", "--scores", "known.csv", "--query", "new.csv"]) == 0
    assert run_command_line(["check", "lab.yaml"]) == 0
    assert capsys.readouterr().out.endswith("lab.yaml: no problems.\n")
    settings = load("lab.yaml")
    columns = settings.calibration_set.spec["columns"]
    assert columns["true_class"] == ("truth" if kind == "best" else "Location")
    if kind != "best":
        end = "P({})" if kind == "percent" else "{}"
        assert columns["classes"] == [end.format(name) for name in CLASSES]
        assert settings.calibration_set.spec["scale"] == (100 if kind == "percent" else 1)
        assert settings.calibration_set.spec.get("sum_to_scale") == (
            False if kind == "free" else None
        )
    assert "true_class" not in settings.queries[0].spec["columns"]
    # Nothing of another field stands in it.
    text = Path("lab.yaml").read_text()
    assert "Portal" not in text.replace("{Portal: 0.2, Other: 0.8}", "")


NAMES = st.lists(
    st.text("abcdefgXYZ -/()", min_size=1, max_size=9).map(str.strip).filter(bool),
    min_size=2,
    max_size=9,
    unique_by=lambda name: " ".join(name.casefold().replace("-", " ").split()),
)
WORDS = st.sampled_from(["id", "Protein_ID", "ACC", "query", "locus tag"])
LABELS = st.sampled_from(["true_class", "Label", "Annotation", "what it is"])


SHAPES = given(
    names=NAMES,
    id_=WORDS,
    label=LABELS,
    scale=st.sampled_from([1.0, 10.0, 100.0]),
    further=st.booleans(),
    ending=st.sampled_from([("csv", ","), ("tsv", "\t")]),
    at=st.integers(0, 3),
)


def passes_the_check(
    names: list[str], id_: str, label: str, scale: float, further: bool, ending: Any, at: int
) -> None:
    taken = {"length", "verdict", id_.casefold(), label.casefold()}
    names = [f"class {name}" if name.casefold() in taken else name for name in names]
    table = scored(60, names, 3, scale).rename(columns={"Accession": id_, "Location": label})
    if further:  # a length beside the scores, and the tool's own verdict
        table.insert(1, "length", range(50, 110))
        table["verdict"] = table[names].idxmax(axis=1)
    columns = list(table.columns)
    columns.insert(min(at, len(columns) - 1), columns.pop(columns.index(label)))
    for path in Path().iterdir():
        path.unlink() if path.is_file() else shutil.rmtree(path)
    table[columns].to_csv(f"t.{ending[0]}", sep=ending[1], index=False)
    assert run_command_line(["init", "lab", "--scores", f"t.{ending[0]}"]) == 0  # with its check
    spec = load("lab.yaml").calibration_set.spec
    if spec["format"] == "credence":  # its own names, and nothing else beside the scores
        assert (id_, label, further) == ("id", "true_class", False)
    else:
        assert spec["columns"] == {"id": id_, "true_class": label, "classes": names}
    assert spec["scale"] == scale


test_whatever_columns_are_called_what_init_writes_passes_check = pytest.mark.long(
    settings(max_examples=100, deadline=None)(SHAPES(passes_the_check))
)


def test_columns_and_scale_that_are_stated_stand() -> None:
    table = scored(40, CLASSES).assign(second=scored(40, CLASSES, 5).Location)
    table.to_csv("t.csv", index=False)
    words = ["--columns", "id=Accession,true_class=second,classes=Nucleus;Cytoplasm"]
    assert run_command_line(["init", "lab", "--scores", "t.csv", *words, "--scale", "1"]) == 2
    words[1] = "true_class=second"
    assert run_command_line(["init", "lab", "--scores", "t.csv", *words]) == 0
    columns = load("lab.yaml").calibration_set.spec["columns"]
    assert columns == {"true_class": "second", "id": "Accession", "classes": CLASSES}


def test_labels_that_are_spelled_otherwise_become_synonyms() -> None:
    table = scored(40, ["prob_Tail_fiber", "prob_Portal"])
    table["Location"] = table.Location.map(
        {"prob_Tail_fiber": "tail fiber", "prob_Portal": "Portal"}
    )
    table.to_csv("t.csv", index=False)
    assert found("t.csv")["synonyms"] == {"Portal": "prob_Portal", "tail fiber": "prob_Tail_fiber"}


def test_rows_whose_sums_miss_by_more_than_their_decimals_are_read_as_scores_by_themselves() -> (
    None
):
    table = scored(60, CLASSES)
    for name in CLASSES:
        table[name] = table[name] * 100 / 3  # as many figures as a float has
    table.to_csv("t.csv", index=False)
    assert found("t.csv")["sum_to_scale"] is False
    # One wrong row among many is left for the check to find.
    table = scored(60, CLASSES)
    table.loc[7, "Nucleus"] = round(table.loc[7, "Nucleus"] + 0.3, 4)
    table.to_csv("t.csv", index=False)
    assert found("t.csv")["scale"] == 1.0
    assert "sum_to_scale" not in found("t.csv")


def test_a_column_that_is_always_the_best_class_is_not_the_truth() -> None:
    table = scored(40, CLASSES).drop(columns="Location")
    table["Localization"] = table[CLASSES].idxmax(axis=1)
    table.to_csv("t.csv", index=False)
    assert "true_class" not in found("t.csv")["columns"]


def test_scores_of_several_networks_have_a_row_for_each() -> None:
    parts = [scored(20, CLASSES, 4).assign(model=number) for number in (1, 2)]
    pd.concat(parts).to_csv("t.csv", index=False)
    columns = found("t.csv")["columns"]
    assert (columns["id"], columns["network"]) == ("Accession", "model")


def test_scores_are_no_ids_whatever_their_class_is_called() -> None:
    table = scored(60, ["/a", "acc", "X"], 3, 1.0)
    table = table.rename(columns={"Accession": "query", "Location": "true_class"})
    table.to_csv("t.csv", index=False)
    answer = found("t.csv")
    assert (answer["columns"]["id"], len(answer["columns"]["classes"])) == ("query", 3)


def refusal(*words: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run_command_line(["init", "lab", *words]) == 2
    assert not Path("lab.yaml").exists()
    return capsys.readouterr().err.splitlines()[0]


def test_what_cannot_be_found_is_refused_with_what_to_write(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name_them = (
        "Name them: --columns id=…,true_class=… (for a column per class, classes=A;B;C; for the "
        "best class alone, predicted_class=…,score=…; for a row per protein and class, "
        "term=…,score=…)."
    )
    Path("t.csv").write_text("id,word\np1,a\np2,a\np3,b\np4,b\n")
    assert refusal("--scores", "t.csv", capsys=capsys) == (
        "t.csv: no columns of class scores were found, whose rows sum to one number, nor a "
        f"column of the predicted class or the score. {name_them}"
    )
    Path("u.csv").write_text("word,x,y\na,0.5,0.5\na,0.4,0.6\n")
    assert refusal("--scores", "u.csv", capsys=capsys) == (
        f"u.csv: no column names each protein once. {name_them}"
    )
    assert refusal("--scores", "t.csv", "--columns", "id=nme", capsys=capsys) == (
        "t.csv: there is no column 'nme'. Its columns are: id, word."
    )
    assert refusal("--scores", "t.csv", "--columns", "truth=word", capsys=capsys) == (
        "--columns: 'truth' is no role of a column. Known are: id, true_class, predicted_class, "
        "score, network, classes, term."
    )
    assert refusal("--scores", "t.csv", "--columns", "word", capsys=capsys) == (
        "--columns: 'word' does not say which column has which role. "
        "Write id=Accession,true_class=Location."
    )
    assert refusal("--scores", "t.csv", "--format", "fanns", capsys=capsys).startswith(
        "--format: 'fanns' is no format."
    )
    np.savez("a.npz", tops=np.ones(3))
    assert refusal("--scores", "a.npz", capsys=capsys).startswith("a.npz: ")
    Path("e.csv").write_text("id,x,y\n")
    assert refusal("--scores", "e.csv", capsys=capsys) == (
        "e.csv: the table has no rows. Give a table with predictions."
    )


@pytest.mark.parametrize(
    ("mark", "name", "is_separated"),
    [
        *(("|", "t.csv", "bars, not by commas"), (" ", "t.txt", "blanks, not by commas")),
        ("|", "t.tsv", "bars, not by tabs"),
    ],
)
def test_cells_that_nothing_separates_are_refused_before_columns_are_looked_for(
    mark: str, name: str, is_separated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_text(f"id;A;B;truth\np1;0,9;0,1;A\n{'x' * 9};0,2;0,8;B\n".replace(";", mark))
    expected = is_separated.rpartition(" ")[2]
    message = f"{name}, line 1: the cells are separated by {is_separated}. "
    message += f"Save the table with {expected} between its cells."
    assert refusal("--scores", name, capsys=capsys) == message
    assert refusal("--scores", name, "--columns", "id=id", capsys=capsys) == message
    assert refused(capsys, "check", name).startswith(message)


def test_numbers_that_may_be_thousands_are_refused_before_columns_are_looked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    cell, remedy = "1,500", "Write decimals with a point."
    Path("t.tsv").write_text(f"id\tA\tB\ttruth\np1\t{cell}\t{cell}\tA\np2\t1\t{cell}\tB\n")
    message = f"t.tsv, line 2, column 'A': {cell!r} is not a number. {remedy}"
    assert refusal("--scores", "t.tsv", capsys=capsys) == message
    assert run_command_line(["check", "t.tsv"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [message, message.replace("'A'", "'B'")]


def test_a_text_that_is_no_table_is_not_read_as_cells(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.txt").write_text("three words here\nand more\n")
    assert refused(capsys, "check", "t.txt").startswith("t.txt: no format fits this table. ")


def test_a_table_without_labels_is_refused_before_anything_is_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scored(30, CLASSES).drop(columns="Location").to_csv("t.csv", index=False)
    refusal("--scores", "t.csv", capsys=capsys)


def test_other_commands_say_what_the_columns_seem_to_be(
    capsys: pytest.CaptureFixture[str],
) -> None:
    scored(30, CLASSES).to_csv("t.csv", index=False)
    assert run_command_line(["check", "t.csv"]) == 2
    text = capsys.readouterr().err
    words = text.split("Name its columns: ")[1].split(".\n")[0]
    format_, spec = words.removeprefix("--format ").split(" --spec ")
    assert run_command_line(["check", "t.csv", "--format", format_, "--spec", spec[1:-1]]) == 0
    assert capsys.readouterr().out.startswith("30 proteins, 4 classes")


def test_nonsense_is_refused_and_never_a_crash() -> None:
    for number, text in enumerate(
        ["", "a\n", "a,b\n1\n", "a,a\n1,2\n", ",,\n,,\n", "\0", "a,b\n,\n"]
    ):
        Path(f"{number}.csv").write_text(text)
        with pytest.raises(InputError):
            found(f"{number}.csv")


def test_init_writes_a_configuration_that_is_valid_and_commented(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--scores", "demo/calibration.csv", "--proteins", "demo/proteins.fasta"]
    words += ["--training", "demo/training.fasta", "--query", "demo/my_phages.csv"]
    assert run_command_line(["init", "lab1", *words]) == 0
    text = Path("lab1.yaml").read_text()
    assert "  format: phanns-labelled" in text
    assert "  - name: my_phages  # reports/lab1/my_phages/confidences.tsv\n" in text
    assert "demo:" not in text
    capsys.readouterr()
    assert run_command_line(["check", "lab1.yaml"]) == 0
    assert capsys.readouterr().out.endswith("lab1.yaml: no problems.\n")


def test_init_overwrites_nothing(inside: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine.yaml").write_text("precious\n")
    assert run_command_line(["init", "mine", "--scores", "demo/calibration.csv"]) == 2
    assert Path("mine.yaml").read_text() == "precious\n"
    assert capsys.readouterr().err == (
        "mine.yaml: this file is there already. Remove it, or choose --out.\n"
        "Fix this and run the command again.\n"
    )


@pytest.mark.parametrize("kind", ["wide", "credence", "npz"])
def test_the_scale_of_networks_is_left_to_their_number(kind: str) -> None:
    parts = [scored(20, CLASSES, 4).assign(network=number) for number in (1, 2)]
    table = pd.concat(parts)
    if kind == "credence":
        table = table.rename(columns={"Accession": "id", "Location": "true_class"})
    path = "t.npz" if kind == "npz" else "t.csv"
    table.to_csv("t.csv", index=False)
    if kind == "npz":
        scores = np.stack([part[CLASSES].to_numpy() for part in parts], axis=1)
        labels = parts[0].Location.to_numpy(dtype=str)
        ids = parts[0].Accession.to_numpy(dtype=str)
        np.savez(path, scores=scores, id=ids, class_names=CLASSES, true_class=labels)
    assert run_command_line(["init", "lab", "--scores", path]) == 0
    assert run_command_line(["check", "lab.yaml"]) == 0
    assert load("lab.yaml").calibration_set.spec.get("scale") is None


def test_the_columns_of_a_table_of_labels_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    known = scored(90, CLASSES)
    known[["Accession", "Location"]].to_csv("labels.csv", index=False)
    known.drop(columns="Location").rename(columns={"Accession": "id"}).to_csv("s.csv", index=False)
    words = ["init", "mine", "--scores", "s.csv", "--labels", "labels.csv", "--label-columns"]
    assert run_command_line([*words, "id=Accession,true_class=Location"]) == 0
    capsys.readouterr()
    assert run_command_line([*words[:-1], "--out", "other.yaml"]) == 2
    assert capsys.readouterr().err.splitlines()[-2] == (
        "labels.csv, line 1: its columns have other names than id and true_class. State them: "
        "id_column and label_column, or credence init … --label-columns."
    )
    labels = {"table": "labels.csv", "id_column": "Accession", "label_column": "Location"}
    assert load("mine.yaml").calibration_set.labels == {**labels, "pattern": None}
    assert run_command_line(["check", "mine.yaml"]) == 0
    assert "90 labelled" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--labels", "l.csv", "--label-columns", "score=p"],
            "--label-columns: 'score' is no role of a column. Known are: id, true_class.",
        ),
        (
            ["--labels", "l.csv", "--label-columns", "Accession"],
            "--label-columns: 'Accession' does not say which column has which role. "
            "Write id=Accession,true_class=Location.",
        ),
        (
            ["--label-columns", "id=p"],
            "--label-columns: there is no table of labels. Give it: --labels.",
        ),
    ],
)
def test_columns_of_labels_that_are_not_named_right_are_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "init", "mine", "--scores", "s.csv", *words).splitlines()[0] == message
