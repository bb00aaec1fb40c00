"""Tables as Excel and Windows write them, and the lines of their rows."""

from __future__ import annotations

import codecs
import gzip
import subprocess
from itertools import product
from pathlib import Path

import pytest

from credence.problems import InputError
from credence.tables import text
from credence.tables.fasta import read_fasta
from credence.tables.formats import TableSpec
from credence.tables.labels import read_labels
from credence.tables.samples import read_samples
from refusals import refusal

VALID = Path(__file__).resolve().parents[1] / "data" / "valid" / "tables"
MARKS = {
    "utf-8": b"",
    "utf-8-sig": b"",  # Python writes the mark itself
}
WAYS = list(product(MARKS, ["\n", "\r\n"]))
SPEC = TableSpec(format="credence", scale=1.0)
# A comment, an empty line, a line break within a cell, no line end after the last row.
TABLE = (
    '# made by hand\n\nid\ttrue_class\tKöpfe\tSchwänze\n"p1"\tKöpfe\t0.75\t0.25\n'
    "p2\tSchwänze\t0.5\t0.5\n\np3\t\t{}\t0.75"
)


def written(plain: str, encoding: str, end: str) -> bytes:
    return MARKS[encoding] + plain.replace("\n", end).encode(encoding)


@pytest.mark.parametrize(("encoding", "end"), WAYS)
@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_a_table_of_excel_or_windows_reads_like_the_plain_one(
    tmp_path: Path, name: str, encoding: str, end: str
) -> None:
    path = tmp_path / name
    data = written(TABLE.format("0.25"), encoding, end)
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    samples = read_samples(path, SPEC)
    predictions = samples.predictions
    assert predictions.ids.tolist() == ["p1", "p2", "p3"]
    assert predictions.class_names == ("Köpfe", "Schwänze")
    assert predictions.scores is not None
    assert predictions.scores.tolist() == [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]]
    assert samples.lines.tolist() == [4, 5, 7]


@pytest.mark.parametrize(("encoding", "end"), WAYS)
def test_a_fault_stands_in_the_line_that_an_editor_shows(
    tmp_path: Path, encoding: str, end: str
) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(written(TABLE.format("high"), encoding, end))
    assert refusal(read_samples, path, SPEC) == (
        f"{path}, line 7, column 'Köpfe': 'high' is not a number. "
        "Give protein 'p3' a score or remove its row."
    )


@pytest.mark.parametrize(("encoding", "end"), WAYS)
def test_proteins_and_labels_of_windows_read_like_the_plain_ones(
    tmp_path: Path, encoding: str, end: str
) -> None:
    (tmp_path / "p.fasta").write_bytes(written(">p1 Köpfe\nMK\nLV\n\n>p2\nML\n", encoding, end))
    fasta = read_fasta(tmp_path / "p.fasta")
    assert fasta.headers.tolist() == ["p1 Köpfe", "p2"]
    assert fasta.sequences.tolist() == ["MKLV", "ML"]
    assert fasta.lines.tolist() == [1, 5]
    plain = (VALID / "labels.tsv").read_text(encoding="utf-8")
    (tmp_path / "l.tsv").write_bytes(written(plain, encoding, end))
    assert read_labels(tmp_path / "l.tsv").texts.tolist() == ["beta", "alpha"]


@pytest.mark.parametrize("n_bytes", [4, 5, 61, 62, 63])
@pytest.mark.parametrize("encoding", MARKS)
def test_lines_are_the_same_wherever_blocks_of_the_file_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_bytes: int, encoding: str
) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(written(TABLE, encoding, "\r\n"))
    monkeypatch.setattr(text, "BLOCK_BYTES", n_bytes)
    assert "".join(text.lines_of(path)) == TABLE + "\n"


def test_a_line_end_of_two_carriage_returns_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(written(TABLE, "utf-8", "\r\r\n"))
    assert refusal(read_samples, path, SPEC).startswith(
        f"{path}, line 1: there is a carriage return inside the line. Run: tr -d '\\r' < "
    )


def test_a_file_of_a_mark_alone_has_no_header(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_bytes(codecs.BOM_UTF8)
    with pytest.raises(InputError, match="there is no header"):
        read_samples(path, SPEC)


OTHERWISE = {
    "UTF-16": (
        codecs.BOM_UTF16_LE + TABLE.encode("utf-16-le"),
        "the text is UTF-16. Run: gzip -dc {0}/a.tsv.gz | iconv -f UTF-16 -t UTF-8 | gzip > "
        "{0}/fixed_a.tsv.gz",
    ),
    "UTF-16, the other way": (
        codecs.BOM_UTF16_BE + TABLE.encode("utf-16-be"),
        "the text is UTF-16. Run: gzip -dc {0}/a.tsv.gz | iconv -f UTF-16 -t UTF-8 | gzip > "
        "{0}/fixed_a.tsv.gz",
    ),
    "old Macs": (
        TABLE.replace("\n", "\r").encode(),
        "a carriage return ends each line, as on old Macs. Run: gzip -dc {0}/a.tsv.gz | "
        "tr '\\r' '\\n' | gzip > {0}/fixed_a.tsv.gz",
    ),
}


@pytest.mark.parametrize("kind", OTHERWISE)
def test_other_texts_are_refused_with_the_command_that_makes_them_readable(
    tmp_path: Path, kind: str
) -> None:
    data, message = OTHERWISE[kind]
    path = tmp_path / "a.tsv.gz"
    path.write_bytes(gzip.compress(data))
    with pytest.raises(InputError) as caught:
        read_samples(path, SPEC)
    assert str(caught.value) == f"{path}: {message.format(tmp_path)}"
    command = message.format(tmp_path).split("Run: ")[1]
    subprocess.run(command, shell=True, check=True)  # noqa: S602 -- as a user pastes it
    path.with_name("fixed_a.tsv.gz").rename(path)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"{}", b"0.25")))
    assert read_samples(path, SPEC).predictions.ids.tolist() == ["p1", "p2", "p3"]
