from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import refusals
from credence import __version__
from credence.novelty.reference import build
from credence.novelty.space import Space
from credence.problems import InputError
from credence.tables.npz import read_vectors
from credence.tables.stage_files import NOVELTY_FILES, NoveltyFile


@pytest.fixture
def written(tmp_path: Path) -> Path:
    line = Space(
        kind="vectors",
        scale=np.ones(1),
        axes=np.ones((1, 1)),
        origin=np.zeros(1),
        explained=np.ones(1),
    )
    ids = np.array(["a", "b"], dtype=object)
    reference = build(line, ids, ids, np.array([[0.0], [1.0]]), ids, None, 0.99)
    path = tmp_path / "novelty.json"
    NOVELTY_FILES.write(path, NoveltyFile(reference=reference, inputs={"a.fasta": "0" * 64}))
    return path


def test_a_file_comes_back_to_the_byte(written: Path, tmp_path: Path) -> None:
    file = NOVELTY_FILES.read(written)
    NOVELTY_FILES.write(tmp_path / "again.json", file)
    assert (tmp_path / "again.json").read_bytes() == written.read_bytes()
    assert file.reference.look([[3.0]]).distance[0] == 2.0


def changed(path: Path, **values: object) -> str:
    record = json.loads(path.read_text()) | values
    path.write_text(json.dumps(record))
    return refusals.refusal(NOVELTY_FILES.read, path).replace(str(path), "novelty.json")


def test_what_is_no_novelty_file_of_this_version_is_refused_by_name(written: Path) -> None:
    assert changed(written, inputs={}) == (
        "novelty.json: its content was changed after it was written. "
        "Make it again: credence novelty."
    )
    assert changed(written, schema="credence/novelty/6") == (
        "novelty.json, column 'schema': 'credence/novelty/6' is not 'credence/novelty/7', the "
        f"only one that credence {__version__} reads. Make it again: credence novelty."
    )
    assert changed(written, schema="something") == (
        "novelty.json: its schema is not 'credence/novelty/7'. Make it again: credence novelty."
    )


def test_half_a_file_is_refused(written: Path) -> None:
    written.write_bytes(written.read_bytes()[:50])
    with pytest.raises(InputError, match="this is not JSON, or not the whole of it"):
        NOVELTY_FILES.read(written)


def refusal(path: Path) -> str:
    return refusals.refusal(read_vectors, path).replace(f"{path.parent}/", "")


def test_vectors_of_both_kinds_of_file_are_the_same(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = np.arange(6.0).reshape(3, 2)
    np.savez(tmp_path / "v.npz", id=np.array(["a", "b", "c"]), vectors=values)
    table = pa.table({"id": ["a", "b", "c"], "x": values[:, 0], "y": values[:, 1]})
    pq.write_table(table, tmp_path / "v.parquet")
    for name in ("v.npz", "v.parquet"):
        found = read_vectors(tmp_path / name)
        asked = found.of(np.array(["c", "nobody"], dtype=object))
        np.testing.assert_array_equal(asked, [[4.0, 5.0], [np.nan, np.nan]])


def test_vectors_that_are_wrong_are_refused_with_all_their_problems(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, id=np.array(["a", "a", "b"]), vectors=np.array([[1.0], [np.inf], [-1e39]]))
    assert refusal(path) == (
        "v.npz, line 2, column 'id': the id 'a' stands in row 1 already. Remove one of them.\n"
        "v.npz, line 2: the vector of 'a' has a number that is not finite, or beyond 1e18. "
        "Remove the protein.\n"
        "v.npz, line 3: the vector of 'b' has a number that is not finite, or beyond 1e18. "
        "Remove the protein."
    )
    np.savez(path, id=np.array(["a", "b"]), vectors=np.ones((3, 2)))
    assert refusal(path) == (
        "v.npz: 'id' has the shape (2,), 'vectors' (3, 2). Give a row of vectors for each id."
    )
    np.savez(path, id=np.array(["a"], dtype=object), vectors=np.ones((1, 2)))
    assert "an array holds Python objects, which could run code." in refusal(path)
    other = tmp_path / "v.txt"
    other.write_text("a 1")
    assert refusal(other) == (
        "v.txt: its ending is neither .npz nor .parquet. Give an npz file with the arrays id and "
        "vectors, or Parquet with the column id."
    )
