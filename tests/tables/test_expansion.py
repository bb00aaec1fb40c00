"""Small files that hold too much are refused at once; large honest ones are read."""

from __future__ import annotations

import gzip
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.problems import InputError
from credence.tables.document import parse_document
from credence.tables.fasta import read_fasta
from credence.tables.formats import TableSpec
from credence.tables.samples import read_samples
from credence.tables.text import FREE_BYTES, MOST_BYTES, check_bytes, check_rows

REMEDY = "If it is what you think, unpack it and give the plain file; else leave it alone."
SPEC = TableSpec("credence", scale=1.0)
WORKFLOW = Path(__file__).resolve().parents[2] / "workflow"
MOST_MEMORY = 3_000 << 20  # bytes of addresses for reading a bomb; libraries take half


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_samples(path, TableSpec("networks-npz") if path.suffix == ".npz" else SPEC)
    return caught.value.text()


def text_bomb(path: Path) -> None:
    """Write 64 MB of rows as a few kilobytes."""
    row = b"same\tx\t1\t0\n" * 100_000
    with pa.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(b"id\ttrue_class\tx\ty\n")
        for _ in range((64 << 20) // len(row)):
            stream.write(row)


def test_packed_proteins_that_grow_beyond_measure_are_refused(tmp_path: Path) -> None:
    proteins = tmp_path / "a.fasta.zst"
    with pa.CompressedOutputStream(str(proteins), "zstd") as stream:
        stream.write(b">a\n" + b"M" * 79)
        for _ in range(40):
            stream.write(b"\n" + b"MKVL" * ((1 << 20) // 4))
    with pytest.raises(InputError) as caught:
        read_fasta(proteins)
    assert "more than 2,000 times its size" in caught.value.text()


def test_a_parquet_table_of_more_rows_than_bytes_allow_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    n_rows = 20_000_000
    row = pa.DictionaryArray.from_arrays(np.zeros(n_rows, dtype=np.int8), ["same"])
    pq.write_table(pa.table({"id": row, "true_class": row}), path, compression="zstd")
    size = path.stat().st_size
    assert size < 200_000
    assert refusal(path) == (
        f"{path}: unpacked it becomes 20,000,000 rows, from {size:,} bytes, as no table does. "
        f"{REMEDY}"
    )


def test_a_parquet_table_of_one_long_text_told_once_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    index = np.zeros(200_000, dtype=np.int32)
    column = pa.DictionaryArray.from_arrays(index, ["x" * 1_000_000])
    pq.write_table(pa.table({"id": column}), path, compression="zstd", store_schema=False)
    assert path.stat().st_size < 20_000
    assert refusal(path) == (
        f"{path}: unpacked it becomes more than 2,000 times its size, as no table does. {REMEDY}"
    )


def test_arrays_of_nothing_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("softmax.npy", bytes(80 << 20))
    assert path.stat().st_size < 20_000
    assert refusal(path) == (
        f"{path}: unpacked it becomes more than 2,000 times its size, as no table does. {REMEDY}"
    )


def test_a_table_that_grows_beyond_measure_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv.zst"
    text_bomb(path)
    assert path.stat().st_size < 50_000
    words = ["check", str(path), "--format", "credence", "--spec", '{"scale": 1}']

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

    done = subprocess.run(
        [sys.executable, "-m", "credence", *words],
        env={"PYTHONPATH": str(WORKFLOW), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr == (
        f"{path}: unpacked it becomes more than 2,000 times its size, as no table does. {REMEDY}\n"
        "Fix this and run the command again.\n"
    )


def test_what_real_tables_shrink_to_is_let_through() -> None:
    # Ten million rows whose ids count up and whose scores are all alike, as measured:
    # 800-fold and nine rows to a byte as Parquet, 75-fold as text.
    check_bytes("a.parquet", 1_124_330, 800 * 1_124_330)
    check_rows("a.parquet", 1_124_330, 10_000_000)
    check_bytes("a.tsv.zst", 8_150_000, 75 * 8_150_000)
    check_bytes("small.gz", 20, FREE_BYTES)
    check_rows("small.parquet", 20, 1_000_000)


def test_there_is_an_end_to_size_too() -> None:
    with pytest.raises(InputError) as caught:
        check_bytes("a.tsv.gz", MOST_BYTES // 10, MOST_BYTES + 1)
    assert caught.value.text() == (
        "a.tsv.gz: unpacked it becomes more than 1,099,511,627,776 bytes, as no table does. "
        + REMEDY
    )


def test_a_small_honest_table_is_read_from_every_packing(tmp_path: Path) -> None:
    text = "id\ttrue_class\tx\ty\n" + "".join(f"p{row}\tx\t1\t0\n" for row in range(5_000))
    plain = tmp_path / "a.tsv"
    plain.write_text(text)
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as handle:
        handle.write(text)
    expected = read_samples(plain, SPEC)
    assert read_samples(tmp_path / "a.tsv.gz", SPEC).lines.tolist() == expected.lines.tolist()


def test_aliases_of_aliases_end_in_a_message() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)
    ]
    with pytest.raises(InputError) as caught:
        parse_document("\n".join(lines), "config.yaml")
    assert caught.value.text() == (
        "config.yaml, line 1: aliases make more than 100,000 settings of this. Write them out."
    )
