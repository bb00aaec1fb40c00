"""Tables as spreadsheets, pandas and networks write them: marks, encodings, an index, logits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.problems import InputError
from credence.tables.formats import TableSpec
from credence.tables.guess import guess_columns, propose_formats
from credence.tables.labels import read_labels
from credence.tables.samples import read_samples, stream_samples
from credence.tables.text import _say_windows
from refusals import refusal

NAMES = ("Kern", "Zytoplasma", "Äußere Membran")
ROWS = "Protein;Kern;Zytoplasma;Äußere Membran;Klasse\r\np1;0,70;0,20;0,10;Kern\r\n"
ROWS += "p2;0,05;0,15;0,80;Äußere Membran\r\n"
NUMBERS = [[0.70, 0.20, 0.10], [0.05, 0.15, 0.80]]
SPEC = TableSpec(
    format="wide", scale=1.0, columns={"id": "Protein", "true_class": "Klasse", "classes": NAMES}
)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.txt"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_semicolons_and_decimal_commas_are_read_in_every_encoding_of_excel(
    name: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(ROWS.encode(encoding))
    samples = read_samples(path, SPEC)
    assert samples.predictions.scores is not None
    assert samples.predictions.scores.tolist() == NUMBERS
    assert samples.predictions.resolution == 0.01
    assert samples.predictions.class_names == NAMES
    assert samples.true_class is not None
    assert samples.true_class.tolist() == [0, 2]


def test_a_table_of_windows_is_said_to_be_read_as_one_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(ROWS.encode("cp1252"))
    _say_windows.cache_clear()
    list(stream_samples(path, SPEC, chunk_rows=1))
    assert capsys.readouterr().err == (
        f"{path}: its text is no UTF-8; it is read as Windows-1252, in which Excel writes CSV.\n"
    )


def test_what_is_no_text_of_windows_either_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(ROWS.encode("cp1252").replace(b"p2", b"p\x81"))
    assert refusal(read_samples, path, SPEC).startswith(
        f"{path}, line 1: the byte 0xc4 is no UTF-8. Run: iconv "
    )


def test_a_header_in_quotation_marks_is_one_with_semicolons_too(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('# by R\n"";"a";"c"\n"p1";0,25;0,75\n', "utf-8")
    samples = read_samples(path, TableSpec(format="wide", scale=1.0, columns={"id": ""}))
    assert samples.predictions.ids.tolist() == ["p1"]
    assert samples.predictions.class_names == ("a", "c")


def test_a_table_whose_header_has_commas_keeps_them_as_separators(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,A;B,C\np1,0.25,0.75\n")
    names = read_samples(path, TableSpec(format="wide", scale=1.0)).predictions.class_names
    assert names == ("A;B", "C")


def test_labels_with_semicolons_are_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_bytes("id;true_class\np1;Äußere Membran\n".encode("cp1252"))
    assert read_labels(path).texts.tolist() == ["Äußere Membran"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0,250", 0.25),
        ("-0,5", -0.5),
        (",5", 0.5),
        ("2,5e-1", 0.25),
        ("25%", 0.25),
        ("25,5 %", 0.255),
        ("12.25\N{NO-BREAK SPACE}%", 0.1225),
        ("1,2345", 1.2345),
        ("1,25", 1.25),
    ],
)
@pytest.mark.parametrize("mark", ["\t", ";"])
def test_a_number_with_comma_or_percent_sign_is_one(
    text: str, number: float, mark: str, tmp_path: Path
) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(f"id\tA\tB\np1\t{text}\t0\n".replace("\t", mark), "utf-8")
    spec = TableSpec(format="wide", scale=2.0, sum_to_scale=False)
    if number < 0:
        spec = TableSpec(format="wide", logits=True)
        expected = 1 / (1 + np.exp(-number))
    else:
        expected = number
    scores = read_samples(path, spec).predictions.scores
    assert scores is not None
    assert scores[0, 0] == pytest.approx(expected, rel=1e-15)


def test_a_comma_that_may_be_of_thousands_is_one_of_decimals_between_semicolons_only(
    tmp_path: Path,
) -> None:
    path, spec = tmp_path / "t.tsv", TableSpec(format="wide", scale=10.0)
    path.write_text("id;A;B\np1;1,250;8,750\n")
    samples = read_samples(path, spec)
    assert samples.predictions.scores is not None
    assert samples.predictions.scores.tolist() == [[1.25, 8.75]]
    path.write_text("id\tA\tB\np1\t1,250\t8,750\n")
    assert refusal(read_samples, path, spec) == (
        f"{path}, line 2, column 'A': '1,250' is not a number. Write decimals with a point.\n"
        f"{path}, line 2, column 'B': '8,750' is not a number. Write decimals with a point."
    )


def test_percent_signs_have_the_step_and_the_slack_of_their_decimals(tmp_path: Path) -> None:
    path, spec = tmp_path / "t.csv", TableSpec(format="wide", scale=1.0)
    path.write_text("id;A;B;C\np1;33,3%;33,3%;33,3%\n")  # 99.9 %
    assert read_samples(path, spec).predictions.resolution == 0.001
    path.write_text("id;A;B;C\np1;33,3%;33,3%;32,3%\n")
    with pytest.raises(InputError, match=r"the scores sum to 0\.989, not to 1 \(give or take"):
        read_samples(path, spec)


@pytest.mark.parametrize("n_classes", [2, 3, 11])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_single_precision_printed_as_double_sums_to_the_scale(
    n_classes: int, ending: str, tmp_path: Path
) -> None:
    scores = np.random.default_rng(0).dirichlet(np.ones(n_classes), 50)
    scores[:, 0] += 5e-7 - scores.sum(axis=1) + 1
    path, names = tmp_path / f"t.{ending}", [f"c{place}" for place in range(n_classes)]
    table = pd.DataFrame(scores, columns=names).assign(id=[f"p{row}" for row in range(50)])
    if ending == "csv":
        table.to_csv(path, index=False)
    else:
        pq.write_table(pa.table(table), path)
    spec = TableSpec(format="wide", scale=1.0)
    assert read_samples(path, spec).n_samples == 50
    table["c0"] += 2e-5
    table.to_csv(tmp_path / "off.csv", index=False)
    with pytest.raises(InputError, match="all 50 rows sum to"):
        read_samples(tmp_path / "off.csv", spec)


@pytest.mark.parametrize("index", ["names", "numbers"])
def test_the_index_of_pandas_names_the_proteins_where_nothing_else_does(
    index: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(1)
    scores = pd.DataFrame(rng.dirichlet(np.ones(3), 40), columns=["nuc", "cyt", "mem"])
    if index == "names":
        scores.index = pd.Index([f"Q{row}" for row in range(40)])
    scores["label"] = [("nuc", "cyt", "mem")[row % 3] for row in range(40)]
    path = tmp_path / "t.csv"
    scores.to_csv(path)
    found = guess_columns(path, {}, is_labelled=True)
    assert found["columns"] == {"id": "", "true_class": "label", "classes": ["nuc", "cyt", "mem"]}
    samples = read_samples(path, TableSpec(**found))
    assert samples.predictions.ids.tolist() == [str(name) for name in scores.index]


def test_an_index_beside_ids_is_left_out_whatever_the_format(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",id,true_class,A,B\n0,p1,A,0.75,0.25\n1,p2,B,0.4,0.6\n")
    samples = read_samples(path, TableSpec(format="credence", scale=1.0))
    assert samples.predictions.ids.tolist() == ["p1", "p2"]
    assert samples.predictions.class_names == ("A", "B")
    assert guess_columns(path, {}, is_labelled=True)["columns"]["id"] == "id"


LOGITS = np.array([[2.5, -1.25, 0.5], [-300.0, 500.0, 2.0], [-1.0, -1.0, -4.5]])


def softmax(rows: np.ndarray) -> np.ndarray:
    powers = np.exp(rows - rows.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def write_logits(path: Path) -> None:
    rows = [f"p{row}," + ",".join(map(str, cells)) for row, cells in enumerate(LOGITS.tolist())]
    path.write_text("\n".join(["id,A,B,C", *rows]) + "\n")


@pytest.mark.parametrize("name", ["wide", "credence", "phanns3"])
def test_of_logits_the_softmax_of_each_row_is_read(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_logits(path)
    if name == "phanns3":  # a verdict is held against the scores
        path.write_text("header,A,B,C,prediction\np0,2.5,-1.25,0.5,A\np1,-3,5,2,B\n")
    samples = read_samples(path, TableSpec(format=name, logits=True))
    predictions, logits = samples.predictions, LOGITS
    if name == "phanns3":
        logits = np.array([[2.5, -1.25, 0.5], [-3.0, 5.0, 2.0]])
    assert predictions.scores is not None
    np.testing.assert_allclose(predictions.scores, softmax(logits), rtol=1e-15)
    assert (predictions.scale, predictions.resolution) == (1.0, 0.0)
    assert predictions.is_distribution


@pytest.mark.parametrize("pooling", ["sum", "log_sum"])
def test_the_logits_of_networks_are_pooled_as_their_softmaxes(
    pooling: str, tmp_path: Path
) -> None:
    cube = np.random.default_rng(2).normal(0.0, 2.0, (4, 3, 5))
    np.savez(
        tmp_path / "t.npz",
        logits=cube,
        id=np.array(list("abcd")),
        class_names=np.array(list("vwxyz")),
    )
    spec = TableSpec(format="networks-npz", logits=True, pooling=pooling)
    predictions = read_samples(tmp_path / "t.npz", spec).predictions
    expected = softmax(cube).sum(axis=1) if pooling == "sum" else softmax(cube.sum(axis=1))
    assert predictions.scores is not None
    np.testing.assert_allclose(predictions.scores, expected, rtol=1e-12)
    assert predictions.scale == (3.0 if pooling == "sum" else 1.0)


@pytest.mark.parametrize(
    ("name", "spec", "text", "what"),
    [
        (
            "t.csv",
            TableSpec(format="wide", logits=True, scale=10.0),
            "id,A,B\np,1,-1\n",
            "the softmax of logits sums to 1, the scale 10 is stated. Leave the scale out, or "
            "`logits`.",
        ),
        (
            "t.tsv",
            TableSpec(format="top-score", logits=True),
            "id\tpredicted_class\tscore\np\tA\t-1\n",
            "logits have a column for each class, and this table has not. Leave `logits` out.",
        ),
        (
            "t.tsv",
            TableSpec(format="long", logits=True),
            "id\tterm\tscore\np\tA\t-1\np\tB\t1\n",
            "logits have a column for each class, and this table has not. Leave `logits` out.",
        ),
    ],
)
def test_logits_that_cannot_be_are_refused(
    name: str, spec: TableSpec, text: str, what: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert refusal(read_samples, tmp_path / name, spec) == f"{tmp_path / name}: {what}"


def test_a_cell_of_logits_that_is_no_number_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,A,B\np1,1.5,-2.5\np2,-inf,0.5\n")
    assert refusal(read_samples, path, TableSpec(format="wide", logits=True)) == (
        f"{path}, line 3, column 'A': '-inf' is not a number. Give protein 'p2' a score or remove "
        "its row."
    )


def test_a_length_beside_logits_is_no_class(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"p{row},{100 + 40 * row},{-1.5 + row / 8},{0.25 - row}" for row in range(8)]
    path.write_text("\n".join(["id,length,A,B", *rows]) + "\n")
    assert refusal(read_samples, path, TableSpec(format="wide", logits=True)) == (
        f"{path}, line 1, column 'length': it was taken as a class, and its numbers are no such "
        "scores: all are whole numbers, and other columns have decimals. Remove the column, or "
        'name those of the classes (columns: {"classes": ["A", "B"]}).'
    )
    found = guess_columns(path, {}, is_labelled=False)
    assert found == {
        "format": "wide",
        "logits": True,
        "columns": {"id": "id", "classes": ["A", "B"]},
    }


def test_a_table_of_logits_is_none_of_credences_own(tmp_path: Path) -> None:
    write_logits(tmp_path / "t.csv")
    assert propose_formats(tmp_path / "t.csv") == []
