"""Arrays of an npz file: as numpy reads them, or refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from credence.tables.formats import TableSpec
from credence.tables.joining import concatenate
from credence.tables.npz import read_arrays
from credence.tables.samples import Samples, read_samples, stream_samples
from refusals import refusal

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KINDS = ["f2", "f4", "f8", ">f8", "i4", "u1", "U3", "U0", "S2", "?"]
SPEC = TableSpec(format="networks-npz")
DAMAGED = "the arrays are damaged. Copy or make the file again."


@st.composite
def arrays(draw: st.DrawFn) -> Any:
    """Return an array of 5 rows of any kind, in either order."""
    kind = np.dtype(draw(st.sampled_from(KINDS)))
    shape = (5, *draw(st.lists(st.integers(0, 3), max_size=2)))
    numbers = np.random.default_rng(draw(st.integers(0, 99))).integers(0, 200, shape)
    order = draw(st.sampled_from("CF"))
    return numbers.astype(kind).copy(order=order)  # type: ignore[call-overload]


@SETTINGS
@given(saved=st.lists(arrays(), min_size=1, max_size=3), is_packed=st.booleans())
def test_arrays_are_what_numpy_reads(saved: list[Any], is_packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    named = {f"a{place}": array for place, array in enumerate(saved)}
    (np.savez_compressed if is_packed else np.savez)(path, **named)
    found = read_arrays(path)
    with np.load(path, allow_pickle=False) as expected:
        assert list(found) == expected.files
        for name in named:
            assert found[name].dtype == expected[name].dtype
            assert found[name].tolist() == expected[name].tolist()


def test_what_is_no_array_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.arange(3))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("README.txt", "Scores of ten networks.")
    assert list(read_arrays(path)) == ["a"]


def test_names_of_fields_in_any_writing_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with pytest.warns(UserWarning, match="format 3.0"):
        np.savez(path, a=np.zeros(2, dtype=[("名", "f8")]), b=np.arange(2))
    assert read_arrays(path)["a"].shape == (2,)


def header(shape: str, kind: str = "<f8") -> bytes:
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


NOT_WHOLE = {
    "a byte is missing": header("(3,)") + bytes(23),
    "fewer rows than none": header("(-1, 2)") + bytes(16),
    "far more than there is": header("(1000000000000,)"),
    "a bracket is open": header("(3,") + bytes(24),
    "a kind that is none": header("(3,)", "<qq") + bytes(24),
    "a version that is none": b"\x93NUMPY\x09\x00" + bytes(200),
    "no header": b"\x93NUMPY",
}


@pytest.mark.parametrize("content", NOT_WHOLE.values(), ids=NOT_WHOLE)
def test_an_array_that_is_not_whole_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", content)
    assert refusal(read_arrays, path) == f"{path}: {DAMAGED}"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_every_byte_is_compared_with_its_checksum_before_a_row_comes_out(
    save: Callable[..., None], tmp_path: Path
) -> None:
    path = tmp_path / "a.npz"
    save(path, a=np.random.default_rng(1).random(200))
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        (info,) = archive.infolist()
    for place in range(400, info.compress_size, 131):  # beyond the header of the array
        spoilt = bytearray(content)
        spoilt[place] ^= 0x10
        path.write_bytes(spoilt)
        assert refusal(read_arrays, path) == f"{path}: {DAMAGED}"


def test_damage_in_any_packing_is_told_as_such(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    for packing in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        with zipfile.ZipFile(path, "w", packing) as archive:
            archive.writestr("a.npy", header("(3000,)") + np.arange(3000.0).tobytes())
        content = bytearray(path.read_bytes())
        assert read_arrays(path)["a"].tolist() == list(range(3000))
        content[60:80] = bytes(20)
        path.write_bytes(content)
        assert refusal(read_arrays, path) == f"{path}: {DAMAGED}"


def test_pickled_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array(["x"], dtype=object))
    assert refusal(read_arrays, path) == (
        f"{path}: an array holds Python objects, which could run code. "
        "Save texts as arrays of text (dtype str)."
    )


def forms(scores: Any, folder: Path) -> dict[str, Path]:
    """Return files of the same scores, written in every way that numpy has."""
    n_proteins, n_networks, n_classes = scores.shape
    facts: dict[str, Any] = {
        "id": np.array([f"p{row}" for row in range(n_proteins)]),
        "class_names": np.array([f"c{place}" for place in range(n_classes)]),
        "true_class": np.array([f"c{row % n_classes}" for row in range(n_proteins)]),
    }
    by_network = {f"n{place}": scores[:, place] for place in range(n_networks)}
    by_columns = {name: np.asfortranarray(matrix) for name, matrix in by_network.items()}
    saved: dict[str, Any] = {
        "deep": {"softmax": scores},
        "deep by columns": {"softmax": np.asfortranarray(scores)},
        "flat": by_network,
        "flat by columns": by_columns,
        "flat, some by columns": by_network | {"n1": by_columns["n1"]},
        "big-endian": {"softmax": scores.astype(scores.dtype.newbyteorder(">"))},
    }
    paths = {}
    for name, given_ in saved.items():
        for save in (np.savez, np.savez_compressed):
            path = folder / f"{name} {save.__name__}.npz"
            save(path, **facts, **given_)
            paths[path.stem] = path
    return paths


def assert_same(found: Samples, scores: Any) -> None:
    predictions = found.predictions
    assert predictions.network_scores is not None
    assert np.array_equal(predictions.network_scores, scores.astype(np.float64))
    assert predictions.ids.tolist() == [f"p{row}" for row in range(len(scores))]
    assert found.true_class is not None
    assert found.true_class.tolist() == [row % scores.shape[2] for row in range(len(scores))]
    assert found.lines.tolist() == list(range(1, len(scores) + 1))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_every_way_to_save_an_ensemble_gives_the_same_in_any_pieces(
    kind: type[np.floating[Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(*_: object) -> None:
        raise AssertionError("the table was read whole")

    monkeypatch.setattr("credence.tables.samples._whole", whole)
    scores = np.random.default_rng(2).dirichlet(np.ones(4), (9, 3)).astype(kind)
    steps = set()
    for path in forms(scores, tmp_path).values():
        assert_same(read_samples(path, SPEC), scores)
        for chunk_rows in (1, 2, 7, 100):
            parts = list(stream_samples(path, SPEC, chunk_rows))
            assert max(part.n_samples for part in parts) <= chunk_rows
            joined = concatenate([(path, part) for part in parts])
            assert_same(joined, scores)
            steps.add(joined.predictions.resolution)
    assert len(steps) == 1


def test_networks_of_two_kinds_are_of_the_wider_one(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    facts = {"id": np.array(["p1", "p2"]), "class_names": np.array(["x", "y"])}
    coarse = np.array([[0.25, 0.75], [0.3, 0.7]], dtype=np.float32)
    np.savez(path, one=coarse, two=np.full((2, 2), 0.5), **facts)  # type: ignore[arg-type]
    found = read_samples(path, SPEC).predictions
    assert found.network_scores is not None
    assert found.network_scores[1, 0].tolist() == coarse[1].astype(float).tolist()
    # As doubles those singles are no tenths, so that there is no step.
    assert found.resolution == 0.0


def test_an_id_that_stands_twice_in_arrays_is_named(tmp_path: Path) -> None:
    for ids, line in ((["p1", "p1", "p2"], 2), (["p1", "p2", "p1"], 3)):
        path = tmp_path / "a.npz"
        scores = np.full((3, 2, 2), 0.5)
        np.savez(path, softmax=scores, id=np.array(ids), class_names=np.array(["x", "y"]))
        message = "\n".join(
            f"{path}, line {line}, column 'id': the id 'p1 (network {network})' is in line 1 "
            "already. Give each protein its own id, or remove one of the rows."
            for network in (1, 2)
        )
        assert refusal(read_samples, path, SPEC) == message
        assert refusal(next, stream_samples(path, SPEC, 1)) == message


def test_the_header_that_these_tests_write_is_one_that_numpy_reads() -> None:
    assert np.lib.format.read_array(io.BytesIO(header("(3,)") + bytes(24))).tolist() == [0, 0, 0]
