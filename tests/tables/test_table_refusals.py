# ruff: noqa: E501 - a message stands on one line, so that it can be searched for
"""The corpus of bad score tables: one defect a file, and the whole message of each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.problems import InputError
from credence.tables.formats import TableSpec
from credence.tables.labels import attach_labels, read_labels
from credence.tables.samples import read_samples, stream_samples
from refusals import refusal

STATE_SCALE = (
    "State what a row sums to: scale: 1 in the configuration, scale=1 in Python, "
    "--spec '{\"scale\": 1}' elsewhere."
)
CORPUS = Path(__file__).resolve().parents[1] / "data" / "invalid" / "tables"
VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"


@dataclass(frozen=True)
class Case:
    file: str
    spec: TableSpec
    lines: list[str]


FOUR = ("Portal", "Collar", "HTJ", "Other")
# fmt: off
CASES = [
    Case(file="id_missing.csv", spec=TableSpec(format="phanns"), lines=['id_missing.csv, line 3: the id is missing. Name the protein or remove its row.']),
    Case(file="id_with_line_break.csv", spec=TableSpec(format="phanns"), lines=["id_with_line_break.csv, line 3: the id 'gp\\n2' holds a control character or a line break. Give the protein a name on one line."]),
    Case(file="id_repeated.csv", spec=TableSpec(format="phanns"), lines=["id_repeated.csv, line 5: the id 'gp1' is in line 2 already. Give each protein its own id, or remove one of the rows."]),
    Case(file="class_missing.csv", spec=TableSpec(format="phanns", class_names=FOUR), lines=["class_missing.csv, line 1: the column of class 'Collar' is missing. Known are: Portal, HTJ, Other."]),
    Case(file="class_extra.csv", spec=TableSpec(format="phanns", class_names=FOUR), lines=["class_extra.csv, line 1, column 'Tail fiber': 'Tail fiber' is none of the classes expected. Known are: Portal, Collar, HTJ, Other."]),
    Case(file="class_misspelt.csv", spec=TableSpec(format="phanns", class_names=FOUR), lines=["class_misspelt.csv, line 1: the column of class 'Collar' is missing. Did you mean 'Collarr'?", "class_misspelt.csv, line 1, column 'Collarr': 'Collarr' is none of the classes expected. Did you mean 'Collar'?"]),
    Case(file="score_text.csv", spec=TableSpec(format="phanns"), lines=["score_text.csv, line 3, column 'Portal': 'high' is not a number. Give protein 'gp2' a score or remove its row."]),
    Case(file="score_missing.csv", spec=TableSpec(format="phanns"), lines=["score_missing.csv, line 3, column 'Collar': the score is missing. Give protein 'gp2' a score or remove its row."]),
    Case(file="score_nan.csv", spec=TableSpec(format="phanns"), lines=["score_nan.csv, line 3, column 'Collar': 'nan' is not a number. Give protein 'gp2' a score or remove its row."]),
    Case(file="score_infinite.csv", spec=TableSpec(format="phanns"), lines=["score_infinite.csv, line 4, column 'Other': 'inf' is not a number. Give protein 'gp3' a score or remove its row."]),
    Case(file="score_negative.csv", spec=TableSpec(format="phanns"), lines=["score_negative.csv, line 2, column 'HTJ': the score '-0.20' of protein 'gp1' is negative. Give scores from 0 to 10."]),
    Case(file="score_above_scale.csv", spec=TableSpec(format="phanns"), lines=["score_above_scale.csv, line 2, column 'Portal': the score '10.40' of protein 'gp1' is above the scale 10. Give scores from 0 to 10, or state another scale."]),
    Case(file="score_thousands_comma.csv", spec=TableSpec(format="phanns"), lines=["score_thousands_comma.csv, line 3, column 'Portal': '1,100' is not a number. Write decimals with a point."]),
    Case(file="column_of_text.csv", spec=TableSpec(format="phanns"), lines=["column_of_text.csv, line 2, column 'Comment': none of the 3 cells is a number, from 'fine' on. Remove the column, or name the columns of the classes."]),
    Case(file="row_sum.csv", spec=TableSpec(format="phanns"), lines=['row_sum.csv, line 3: the scores sum to 9.6, not to 10 (give or take 0.02 for the decimals). Correct the scores or remove the row.']),
    Case(file="all_row_sums.csv", spec=TableSpec(format="phanns"), lines=['all_row_sums.csv, line 2: all 2 rows sum to 1, not to 10. State the scale that the rows sum to, or that they sum to nothing in particular (sum_to_scale: false).']),
    Case(file="label_unknown.csv", spec=TableSpec(format="phanns-labelled"), lines=["label_unknown.csv, line 3: the name 'colar_2' carries the label 'colar', which is no class. Did you mean 'Collar'?"]),
    Case(file="label_of_no_kind.csv", spec=TableSpec(format="phanns-labelled"), lines=["label_of_no_kind.csv, line 3: protein '_17' has no class. Give it one or remove its row."]),
    Case(file="true_class_unknown.tsv", spec=TableSpec(format="credence", scale=1.0), lines=["true_class_unknown.tsv, line 2, column 'true_class': 'Portl' is no class (protein 'p1'). Did you mean 'Portal'?"]),
    Case(file="empty.csv", spec=TableSpec(format="phanns"), lines=['empty.csv: the file is empty. Give a table with a header and rows.']),
    Case(file="header_only.csv", spec=TableSpec(format="phanns"), lines=['header_only.csv: the table has a header and no rows. Give a table with rows.']),
    Case(file="comments_only.tsv", spec=TableSpec(format="credence", scale=1.0), lines=['comments_only.tsv: there is no header. Give a table with a header and rows.']),
    Case(file="one_class.csv", spec=TableSpec(format="phanns"), lines=['one_class.csv, line 1: the table has only one class column. Give a table with a column for each of at least two classes.']),
    Case(file="one_class_predicted.csv", spec=TableSpec(format="phavip"), lines=["one_class_predicted.csv: the table shows only one class, 'portal'. Name all classes that the tool knows, or give a table with at least two."]),
    Case(file="separated_by_bars.csv", spec=TableSpec(format="phanns"), lines=['separated_by_bars.csv, line 1: the cells are separated by bars, not by commas. Save the table with commas between its cells.']),
    Case(file="separated_by_tabs.csv", spec=TableSpec(format="phanns"), lines=['separated_by_tabs.csv, line 1: the cells are separated by tabs, not by commas. Let the name of the file end in .tsv.']),
    Case(file="fasta_as_table.csv", spec=TableSpec(format="phanns"), lines=["fasta_as_table.csv, line 1: this is a FASTA file, not a table. Give the path of the table."]),
    Case(file="json_as_table.csv", spec=TableSpec(format="phanns"), lines=["json_as_table.csv, line 1: this is a JSON file, not a table. Give the path of the table."]),
    Case(file="picture_as_table.csv", spec=TableSpec(format="phanns"), lines=["picture_as_table.csv: the file is a picture. Give a text file."]),
    Case(file="other_classes.csv", spec=TableSpec(format="phanns", class_names=FOUR), lines=["other_classes.csv, line 1: no column is one of the classes expected: Portal, Collar, HTJ, Other. Give a table of these classes; this one has: Ammonium, Nitrate."]),
    Case(file="carriage_return.csv", spec=TableSpec(format="phanns"), lines=["carriage_return.csv, line 3: there is a carriage return inside the line. Run: tr -d '\\r' < carriage_return.csv > fixed_carriage_return.csv"]),
    Case(file="utf16.csv", spec=TableSpec(format="phanns"), lines=['utf16.csv: the text is UTF-16. Run: iconv -f UTF-16 -t UTF-8 < utf16.csv > fixed_utf16.csv']),
    Case(file="old_mac.csv", spec=TableSpec(format="phanns"), lines=["old_mac.csv: a carriage return ends each line, as on old Macs. Run: tr '\\r' '\\n' < old_mac.csv > fixed_old_mac.csv"]),
    Case(file="not_utf8.csv", spec=TableSpec(format="phanns"), lines=['not_utf8.csv, line 3: the byte 0xe9 is no UTF-8. Run: iconv -f ISO-8859-1 -t UTF-8 < not_utf8.csv > fixed_not_utf8.csv']),
    Case(file="nul_byte.csv", spec=TableSpec(format="phanns"), lines=['nul_byte.csv, line 3: there is a NUL byte: the file is damaged or no text. Copy or make it again.']),
    Case(file="row_too_short.csv", spec=TableSpec(format="phanns"), lines=['row_too_short.csv, line 3: the row has 4 cells, the header has 5. Give each row as many cells as the header.']),
    Case(file="row_too_long.csv", spec=TableSpec(format="phanns"), lines=['row_too_long.csv, line 3: the row has 6 cells, the header has 5. Give each row as many cells as the header.']),
    Case(file="column_name_repeated.csv", spec=TableSpec(format="phanns"), lines=["column_name_repeated.csv, line 1: 2 columns have the name 'Portal'. Give each column its own name."]),
    Case(file="class_column_repeated.csv", spec=TableSpec(format="phanns"), lines=["class_column_repeated.csv, line 1, column 'Portal ': this column and 'Portal' are both of the class 'Portal'. Rename one of them, or remove it."]),
    Case(file="column_name_of_blanks.tsv", spec=TableSpec(format="credence", scale=1.0), lines=["column_name_of_blanks.tsv, line 1: column 3 has no name. Name it or remove it."]),
    Case(file="column_name_missing.csv", spec=TableSpec(format="phanns"), lines=["column_name_missing.csv, line 1: 2 columns have the name ''. Give each column its own name."]),
    Case(file="quote_unclosed.csv", spec=TableSpec(format="phanns"), lines=['quote_unclosed.csv, line 3: the quotation marks of the row that begins here do not pair. Close them, or write a quotation mark inside a quoted cell as "".']),
    Case(file="quote_followed_by_text.csv", spec=TableSpec(format="phanns"), lines=['quote_followed_by_text.csv, line 3: the quotation marks of the row that begins here do not pair. Close them, or write a quotation mark inside a quoted cell as "".']),
    Case(file="cell_too_long.csv.gz", spec=TableSpec(format="phanns"), lines=['cell_too_long.csv.gz, line 3: a cell is longer than 131,072 characters. Close the quotation mark that opens in this row, or remove the cell.']),
    Case(file="truncated.csv.gz", spec=TableSpec(format="phanns"), lines=['truncated.csv.gz: the packed file ends in the middle: it is cut short. Copy or make it again.']),
    Case(file="no_gzip.csv.gz", spec=TableSpec(format="phanns"), lines=['no_gzip.csv.gz: the file is damaged, or not packed as its name says. Copy or make it again; if it is not packed, take the last ending off its name.']),
    Case(file="corrupt.csv.gz", spec=TableSpec(format="phanns"), lines=['corrupt.csv.gz: the file is damaged, or not packed as its name says. Copy or make it again; if it is not packed, take the last ending off its name.']),
    Case(file="gzip_by_another_name.csv", spec=TableSpec(format="phanns"), lines=['gzip_by_another_name.csv: the file is packed with gzip. Let its name end in .gz.']),
    Case(file="truncated.csv.zst", spec=TableSpec(format="phanns"), lines=['truncated.csv.zst: the packed file ends in the middle: it is cut short. Copy or make it again.']),
    Case(file="no_zstd.csv.zst", spec=TableSpec(format="phanns"), lines=['no_zstd.csv.zst: the file is damaged, or not packed as its name says. Copy or make it again; if it is not packed, take the last ending off its name.']),
    Case(file="zip_by_another_name.csv", spec=TableSpec(format="phanns"), lines=['zip_by_another_name.csv: the file is a zip archive, as Excel workbooks and npz arrays are. Save a workbook as CSV; let the name of arrays end in .npz.']),
    Case(file="truncated.parquet", spec=TableSpec(format="credence"), lines=['truncated.parquet: the file is no Parquet table, or not the whole of one. Copy or make it again.']),
    Case(file="no_parquet.parquet", spec=TableSpec(format="credence"), lines=['no_parquet.parquet: the file is no Parquet table, or not the whole of one. Copy or make it again.']),
    Case(file="empty.parquet", spec=TableSpec(format="credence"), lines=['empty.parquet: the file is no Parquet table, or not the whole of one. Copy or make it again.']),
    Case(file="score_null.parquet", spec=TableSpec(format="credence", scale=1.0), lines=["score_null.parquet, line 2, column 'Portal': the score is missing. Give protein 'p2' a score or remove its row.", "score_null.parquet, line 3, column 'Portal': 'nan' is not a number. Give protein 'p3' a score or remove its row."]),
    Case(file="column_of_lists.parquet", spec=TableSpec(format="credence", scale=1.0), lines=["column_of_lists.parquet, column 'Collar': the column holds values of type list<element: double>. Give a column of texts or numbers."]),
    Case(file="no_rows.parquet", spec=TableSpec(format="credence", scale=1.0), lines=['no_rows.parquet: the table has a header and no rows. Give a table with rows.']),
    Case(file="no_npz.npz", spec=TableSpec(format="networks-npz"), lines=['no_npz.npz: the file is no npz archive, or not the whole of one. Save the arrays with np.savez.']),
    Case(file="no_class_names.npz", spec=TableSpec(format="networks-npz"), lines=["no_class_names.npz: the array 'class_names' is missing. Known are: softmax, id."]),
    Case(file="ids_of_another_number.npz", spec=TableSpec(format="networks-npz"), lines=["ids_of_another_number.npz: the array 'id' has the shape (3,), the scores ask for (2,). Give one entry each."]),
    Case(file="no_networks.npz", spec=TableSpec(format="networks-npz"), lines=['no_networks.npz: the arrays are no score matrices of networks (other (3,), id (2,), class_names (2,)). Give one array (proteins, networks, classes), or a matrix of the same shape for each network.']),
    Case(file="score_nan.npz", spec=TableSpec(format="networks-npz"), lines=["score_nan.npz, line 2, column 'x': 'nan' is not a number. Give protein 'b' a score or remove its row."]),
    Case(file="pickled.npz", spec=TableSpec(format="networks-npz"), lines=['pickled.npz: an array holds Python objects, which could run code. Save texts as arrays of text (dtype str).']),
    Case(file="verdict_contradicts.csv", spec=TableSpec(format="phanns3"), lines=["verdict_contradicts.csv, line 2, column 'prediction': the verdict 'HTJ' on protein 'p1' contradicts the scores, whose best is 'Baseplate'. Correct the verdict or the scores."]),
    Case(file="verdict_unknown.csv", spec=TableSpec(format="phanns3"), lines=["verdict_unknown.csv, line 2, column 'prediction': 'Baseplates' is no class (protein 'p1'). Did you mean 'Baseplate'?"]),
    Case(file="verdict_missing.csv", spec=TableSpec(format="phavip"), lines=["verdict_missing.csv, line 3, column 'pred': protein 'p2' has no class. Give it one or remove its row."]),
    Case(file="column_missing.csv", spec=TableSpec(format="phanns3"), lines=["column_missing.csv, line 1: the column 'header' is missing (id). Known are: name, Baseplate, HTJ, prediction, confidence."]),
    Case(file="network_missing.tsv", spec=TableSpec(format="credence"), lines=["network_missing.tsv, line 4: protein 'p2' has no row of network '2'. Give the scores of every network for every protein."]),
    Case(file="network_repeated.tsv", spec=TableSpec(format="credence"), lines=["network_repeated.tsv, line 3, column 'id': the id 'p1 (network 1)' is in line 2 already. Give each protein its own id, or remove one of the rows."]),
    Case(file="network_true_class_differs.tsv", spec=TableSpec(format="credence"), lines=["network_true_class_differs.tsv, line 3: protein 'p1' has another true class than in line 2. Give each protein one true class."]),
    Case(file="networks_without_classes.tsv", spec=TableSpec(format="credence"), lines=["networks_without_classes.tsv, line 1: there is a row for each network, and no column for a class. Give what every network says of every class."]),
    Case(file="unscored_only.tsv", spec=TableSpec(format="phynteny"), lines=['unscored_only.tsv: no row has scores. Give a table with scores.']),
    Case(file="many_problems.csv", spec=TableSpec(format="phanns"), lines=["many_problems.csv, line 2, column 'Portal': 'high' is not a number. Give protein 'gp1' a score or remove its row.", 'many_problems.csv, line 3: the id is missing. Name the protein or remove its row.', "many_problems.csv, line 4: the id 'gp1' is in line 2 already. Give each protein its own id, or remove one of the rows.", "many_problems.csv, line 5, column 'Portal': the score '-1.00' of protein 'gp4' is negative. Give scores from 0 to 10."]),
    Case(file="no_such_file.csv", spec=TableSpec(format="phanns"), lines=['no_such_file.csv: the file does not exist. Correct the path.']),
    Case(file=".", spec=TableSpec(format="phanns"), lines=['.: this is a folder. Give the path of a table in it.']),
]
# fmt: on
LABEL_CASES = {
    "labels_column_missing.tsv": [
        "labels_column_missing.tsv, line 1: the column 'true_class' is missing (true class). "
        "Known are: id, label.",
        "labels_column_missing.tsv, line 1: its columns have other names than id and true_class. "
        "State them: id_column and label_column, or credence init … --label-columns.",
    ],
    "labels_id_missing.tsv": [
        "labels_id_missing.tsv, line 3, column 'id': the id is missing. "
        "Name the protein or remove its row."
    ],
    "labels_id_repeated.tsv": [
        "labels_id_repeated.tsv, line 3, column 'id': the id 'p1' is in line 2 already. "
        "Give each protein its own id, or remove one of the rows."
    ],
    "labels_no_rows.tsv": [
        "labels_no_rows.tsv: the table has a header and no rows. Give a table with rows."
    ],
    "labels_do_not_match.tsv": [
        "labels_do_not_match.tsv, line 2, column 'true_class': 'alpa' is no class "
        "(protein 'p1'). Did you mean 'alpha'?",
        "labels_do_not_match.tsv, line 3: protein 'p3' is not in scores.tsv. "
        "Correct its name, remove it, or add its scores.",
        "scores.tsv, line 3: protein 'p2' has no label in labels_do_not_match.tsv. "
        "Give it one, or remove its row.",
    ],
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_a_bad_table_is_refused_with_its_whole_message(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS)
    assert refusal(read_samples, Path(case.file), case.spec).split("\n") == case.lines


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.file)
def test_a_stream_refuses_a_bad_table_before_its_first_chunk(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CORPUS)
    assert (
        refusal(next, stream_samples(Path(case.file), case.spec, chunk_rows=1)).split("\n")
        == case.lines
    )


@pytest.mark.parametrize("name", LABEL_CASES)
def test_a_bad_table_of_labels_is_refused_with_its_whole_message(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = TableSpec(format="credence", scale=1.0)
    samples = read_samples(VALID / "credence.tsv", spec)
    monkeypatch.chdir(CORPUS)
    stated = refusal(lambda: attach_labels(samples, read_labels(Path(name)), spec, "scores.tsv"))
    assert stated.split("\n") == LABEL_CASES[name]


def test_every_file_of_the_corpus_has_its_message() -> None:
    files = {path.name for path in CORPUS.iterdir() if path.name != ".gitattributes"}
    named = {case.file for case in CASES} | set(LABEL_CASES)
    assert named - files == {"no_such_file.csv", "."}
    assert files <= named


def test_a_file_that_may_not_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked.csv"
    path.write_text(",A,B\n")

    def locked(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", locked)
    assert refusal(read_samples, path, TableSpec(format="phanns")) == (
        f"{path}: the file cannot be read (Permission denied). Give a file that you may read."
    )


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (TableSpec(format="phans"), "a.csv: 'phans' is no format. Did you mean 'phanns'?"),
        (
            TableSpec(format="phanns", scale=-1.0),
            f"a.csv: the scale -1.0 is no positive number. {STATE_SCALE}",
        ),
        (
            TableSpec(format="phanns", pooling="sums"),
            "a.csv: 'sums' is no pooling. Did you mean 'sum'?",
        ),
        (
            TableSpec(format="phanns", class_names=("Portal", "Portal")),
            "a.csv: the classes stated are fewer than two or repeat. Name each class once.",
        ),
        (
            TableSpec(format="phanns", class_names=("Portal", "Portal ")),
            "a.csv: the classes stated are fewer than two or repeat. Name each class once.",
        ),
        (
            TableSpec(
                format="phanns", class_names=("Portal", "Other"), synonyms={"gp20": "Portl"}
            ),
            "a.csv: the synonym 'gp20' stands for 'Portl', which is no class. "
            "Did you mean 'Portal'?",
        ),
        (
            TableSpec(format="phanns", columns={"id": "name"}),
            "a.csv: the format 'phanns' knows its columns; none can be named. "
            "Leave `columns` out, or use the format 'wide', 'top-score' or 'long'.",
        ),
        (
            TableSpec(format="wide", scale=1.0, columns={"ids": "name"}),
            "a.csv: 'ids' is no role of a column. Did you mean 'id'?",
        ),
        (
            TableSpec(format="wide", scale=1.0, columns={"classes": "A"}),
            "a.csv: `columns: classes` is 'A'. Give a list of names.",
        ),
    ],
)
def test_a_wrong_statement_about_a_table_is_refused(spec: TableSpec, message: str) -> None:
    assert refusal(read_samples, Path("a.csv"), spec) == message


def test_a_wide_table_without_a_scale_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,A,B\np1,0.5,0.5\n")
    assert refusal(read_samples, path, TableSpec(format="wide")) == (
        f"{path}: the scale is not known. {STATE_SCALE}"
    )


def test_more_than_twenty_problems_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "".join(f"p{row},x,0.5\n" for row in range(2, 32))
    path.write_text("id,A,B\np1,0.5,0.5\n" + rows)
    with pytest.raises(InputError) as refusal:
        read_samples(path, TableSpec(format="wide", scale=1.0))
    assert len(refusal.value.problems) == 30
    assert str(refusal.value).endswith("\n… and 10 more.")


def test_a_number_of_a_narrow_column_is_quoted_with_the_digits_that_it_has(tmp_path: Path) -> None:
    columns = {"id": ["p1"], "A": np.float32([-0.1]), "B": np.float32([1.1])}
    pq.write_table(pa.table(columns), tmp_path / "narrow.parquet")
    assert "'-0.1'" in refusal(
        read_samples, tmp_path / "narrow.parquet", TableSpec(format="wide", scale=1.0)
    )
