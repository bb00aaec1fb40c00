"""Mutated tables are read to exactly their rows or refused, never anything else."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credence.problems import InputError
from credence.tables.formats import TableSpec
from credence.tables.guess import propose_formats
from credence.tables.labels import read_labels
from credence.tables.samples import read_samples, stream_samples, write_samples
from credence.tables.source import delimiter_of
from valid_tables import SPECS, VALID

CELLS = [
    "",
    " ",
    "nan",
    "inf",
    "-1",
    "1e999",
    "1_0",
    "0x1",
    "12",
    "NA",
    "gp1",
    '"',
    "#",
    "é",
    "\t",
]
SETTINGS = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@st.composite
def mutations(draw: st.DrawFn, content: bytes) -> bytes:
    """Return the content of a file with one to three things done to it."""
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["flip", "drop", "twice", "cut", "cell", "insert"]))
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        lines = content.split(b"\n")
        line = draw(st.integers(0, len(lines) - 1))
        if kind == "flip" and content:
            byte = draw(st.integers(0, 255))
            content = content[:place] + bytes([byte]) + content[place + 1 :]
        elif kind == "drop":
            content = b"\n".join(lines[:line] + lines[line + 1 :])
        elif kind == "twice":
            content = b"\n".join(lines[: line + 1] + lines[line:])
        elif kind == "cut":
            content = content[:place]
        elif kind == "insert":
            text = draw(st.sampled_from(["\n", "\r\n", '"', ",", "\t", "\0", "\u2028", "\ufeff"]))
            content = content[:place] + text.encode() + content[place:]
        else:
            separator = b"\t" if b"\t" in lines[line] else b","
            cells = lines[line].split(separator)
            cell = draw(st.integers(0, len(cells) - 1))
            cells[cell] = draw(st.sampled_from(CELLS)).encode()
            lines[line] = separator.join(cells)
            content = b"\n".join(lines)
    return content


def rows_in(path: Path, spec: TableSpec) -> list[list[str]]:
    """Return the rows below the header, by the csv module alone."""
    from credence.tables.formats import FORMAT_OF

    format_ = FORMAT_OF[spec.format]
    lines = path.read_bytes().decode("utf-8-sig").split("\n")
    while lines and lines[0].startswith("#"):
        if format_.header_start and lines[0].startswith(format_.header_start):
            break
        del lines[0]
    text = io.StringIO("\n".join(lines), newline="")
    quoting = csv.QUOTE_MINIMAL if format_.quoted else csv.QUOTE_NONE
    reader = csv.reader(text, delimiter=delimiter_of(path, format_), quoting=quoting)
    rows = [row for row in reader if row]
    # Where there is no header comments may stand between rows and after them.
    return [row for row in rows if row[0][:1] != "#"] if format_.names else rows[1:]


@pytest.mark.parametrize("name", SPECS)
@SETTINGS
@given(data=st.data())
def test_a_mutated_table_is_read_whole_or_refused(
    name: str, data: st.DataObject, tmp_path: Path
) -> None:
    spec = SPECS[name]
    path = tmp_path / name
    path.write_bytes(data.draw(mutations((VALID / name).read_bytes())))
    try:
        samples = read_samples(path, spec)
    except InputError as refusal:
        assert refusal.problems
        return
    found = samples.predictions
    n_networks = 1 if found.network_scores is None else found.network_scores.shape[1]
    n_read = found.n_samples * n_networks + len(samples.unscored_ids)
    assert n_read == len(rows_in(path, spec))
    streamed = [one for chunk in stream_samples(path, spec, 2) for one in chunk.predictions.ids]
    assert streamed == found.ids.tolist()


@pytest.mark.parametrize("ending", [".gz", ".zst", ".parquet", ".npz"])
@SETTINGS
@given(data=st.data())
def test_a_mutated_binary_file_is_read_whole_or_refused(
    ending: str, data: st.DataObject, tmp_path: Path
) -> None:
    import numpy as np

    source = read_samples(VALID / "phanns.csv", TableSpec(format="phanns"))
    spec = TableSpec(format="credence", scale=10.0)
    path = tmp_path / f"a.tsv{ending}" if ending in (".gz", ".zst") else tmp_path / f"a{ending}"
    if ending == ".npz":
        spec = TableSpec(format="networks-npz")
        softmax = np.full((3, 2, 2), 0.5)
        np.savez(path, softmax=softmax, id=np.array(list("abc")), class_names=np.array(["x", "y"]))
    else:
        write_samples(path, source)
    path.write_bytes(data.draw(mutations(path.read_bytes())))
    try:
        samples = read_samples(path, spec)
    except InputError as refusal:
        assert refusal.problems
        return
    if ending == ".gz":  # its checksum covers every byte
        assert gzip.decompress(path.read_bytes())
    assert samples.n_samples + len(samples.unscored_ids) == 3


@SETTINGS
@given(content=st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused(content: bytes, tmp_path: Path) -> None:
    for ending in (".csv", ".tsv.gz", ".tsv.zst", ".parquet", ".npz"):
        path = tmp_path / f"a{ending}"
        path.write_bytes(content)
        for name in ("phanns", "phynteny", "networks-npz"):
            try:
                read_samples(path, TableSpec(format=name))
            except InputError as refusal:
                assert refusal.problems
        try:
            propose_formats(path)
        except InputError as refusal:
            assert refusal.problems


@SETTINGS
@given(data=st.data())
def test_a_mutated_table_of_labels_is_read_whole_or_refused(
    data: st.DataObject, tmp_path: Path
) -> None:
    path = tmp_path / "labels.tsv"
    path.write_bytes(data.draw(mutations((VALID / "labels.tsv").read_bytes())))
    try:
        labels = read_labels(path)
    except InputError as refusal:
        assert refusal.problems
        return
    assert len(labels.ids) == len(rows_in(path, TableSpec(format="credence")))
