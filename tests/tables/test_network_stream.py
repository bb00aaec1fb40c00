"""Tables of networks in pieces of whole proteins, against the same tables read whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cases import cases
from credence.predictions import Integers, Strings
from credence.problems import InputError
from credence.tables import samples
from credence.tables.formats import TableSpec
from credence.tables.joining import ROWS_APART, census_of, concatenate, take_census
from credence.tables.samples import Samples, in_order, read_samples, stream_samples
from refusals import refusal

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
CHUNKS = st.sampled_from([1, 2, 7, 1000])
NAMES = ["1", "2", "10", "b", "a", "3", "11", "left"]
ARRAYS = ("ids", "predicted_class", "top_score", "scores", "network_scores")
CLASSES = ("x", "y", "z")


@dataclass(frozen=True)
class Row:
    id: str
    network: str
    true_class: str
    genome: str
    scores: tuple[str, ...]


@st.composite
def ensembles(draw: st.DrawFn, *, together: bool = True) -> list[Row]:
    """Return the rows of some proteins; networks are in another order for each."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    names = draw(st.permutations(NAMES))[: draw(st.integers(1, len(NAMES)))]
    decimals = draw(st.sampled_from([1, 3, 16]))
    has_truth = draw(st.booleans())
    rows = []
    for number in range(draw(st.integers(1, 9))):
        true_class = str(rng.choice(["", *CLASSES])) if has_truth else ""
        genome = str(rng.choice(["", "g1", "g2"]))
        for name in rng.permutation(names):
            parts = np.round(rng.dirichlet([0.5, 0.5]) / 2, decimals)
            scores = tuple(format(value, ".16g") for value in (*parts, 1 - parts.sum()))
            rows.append(Row(f"p{number}", str(name), true_class, genome, scores))
    return rows if together else [rows[row] for row in rng.permutation(len(rows))]


def write(path: Path, rows: list[Row]) -> TableSpec:
    """Write a long table with the columns of the format credence, and how it is read."""
    names = ["id", "true_class", "genome", *CLASSES, "network"]
    if path.suffix == ".parquet":
        texts = {name: [getattr(row, name) for row in rows] for name in names if len(name) > 1}
        by_class = zip(*(map(float, row.scores) for row in rows), strict=True)
        columns = texts | dict(zip(CLASSES, by_class, strict=True))
        pq.write_table(pa.table({name: columns[name] for name in names}), path, row_group_size=4)
    else:
        lines = [[row.id, row.true_class, row.genome, *row.scores, row.network] for row in rows]
        text = "".join("\t".join(cells) + "\n" for cells in [names, *lines])
        path.write_text(text)
    return TableSpec(format="credence", genome="genome")


def assert_same(found: Samples, expected: Samples) -> None:
    one, other = found.predictions, expected.predictions
    for name in ("class_names", "scale", "resolution", "is_distribution"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert found.lines.tolist() == expected.lines.tolist()
    assert (found.true_class is None) == (expected.true_class is None)
    if found.true_class is not None and expected.true_class is not None:
        assert found.true_class.tolist() == expected.true_class.tolist()


def streamed(path: Path, spec: TableSpec, chunk_rows: int) -> list[Samples]:
    counts: list[int] = []
    parts = list(stream_samples(path, spec, chunk_rows, counts.append))
    assert counts == [sum(part.n_samples for part in parts)]
    assert max(part.n_samples for part in parts) <= chunk_rows
    return parts


def genomes(parts: list[Samples]) -> list[str]:
    return [name for part in parts if part.genome is not None for name in part.genome]


@pytest.fixture
def never_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a table that is read whole fail the test."""

    def whole(*_: object) -> Iterator[Samples]:
        raise AssertionError("the table was read whole")

    monkeypatch.setattr(samples, "_whole", whole)


@pytest.mark.usefixtures("never_whole")
@cases("ending", ["tsv", "parquet"], long=["parquet"])
@SETTINGS
@given(rows=ensembles(), chunk_rows=CHUNKS, pooling=st.sampled_from(["sum", "log_sum"]))
def test_pieces_are_the_whole_to_the_bit(
    ending: str, rows: list[Row], chunk_rows: int, pooling: str, tmp_path: Path
) -> None:
    path = tmp_path / f"a.{ending}"
    spec = TableSpec(format="credence", genome=write(path, rows).genome, pooling=pooling)
    whole = read_samples(path, spec)
    parts = streamed(path, spec, chunk_rows)
    assert_same(concatenate([(path, part) for part in parts]), whole)
    assert genomes(parts) == genomes([whole])


@SETTINGS
@given(rows=ensembles(together=False), chunk_rows=CHUNKS)
def test_rows_that_stand_anywhere_are_read_all_the_same(
    rows: list[Row], chunk_rows: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.tsv"
    spec = write(path, rows)
    parts = streamed(path, spec, chunk_rows)
    whole = read_samples(path, spec)
    assert_same(concatenate([(path, part) for part in parts]), whole)
    assert genomes(parts) == genomes([whole])


@SETTINGS
@given(rows=ensembles(), together=st.booleans())
def test_the_whole_is_what_a_dictionary_of_rows_says(
    rows: list[Row], together: bool, tmp_path: Path
) -> None:
    path = tmp_path / "a.tsv"
    rows = rows if together else sorted(rows, key=lambda row: (row.network, row.id))
    found = read_samples(path, write(path, rows)).predictions
    stated = {(row.id, row.network): [float(text) for text in row.scores] for row in rows}
    names = in_order(row.network for row in rows)
    assert found.ids.tolist() == list(dict.fromkeys(row.id for row in rows))
    for place, name in enumerate(found.ids):
        total = [0.0] * len(CLASSES)
        for network in names:
            total = [a + b for a, b in zip(total, stated[name, network], strict=True)]
        assert found.scores is not None
        assert found.scores[place].tolist() == total


def message(read: Iterator[object]) -> str:
    return refusal(list, read)


DEFECTS = [
    "missing",
    "twice",
    "twice, apart",
    "other truth",
    "text",
    "negative",
    "sum",
    "no id",
    "no class",
]


def spoil(rows: list[Row], defect: str, at: int) -> list[Row]:
    """Return the rows with one of them spoilt."""
    row, rest = rows[at], rows[:at] + rows[at + 1 :]
    if defect == "missing":
        return rest
    if defect == "twice":
        return [*rows[: at + 1], row, *rows[at + 1 :]]
    if defect == "twice, apart":
        return [*rows, row]
    spoilt = {
        "other truth": replace(row, true_class="y" if row.true_class == "x" else "x"),
        "text": replace(row, scores=("high", *row.scores[1:])),
        "negative": replace(row, scores=("-0.5", *row.scores[1:])),
        "sum": replace(row, scores=("0.5", "0.5", "0.5")),
        "no id": replace(row, id=""),
        "no class": replace(row, true_class="w"),
    }
    return [*rows[:at], spoilt[defect], *rows[at + 1 :]]


@SETTINGS
@given(data=st.data(), rows=ensembles(), chunk_rows=CHUNKS)
def test_a_spoilt_table_is_refused_in_the_same_words(
    data: st.DataObject, rows: list[Row], chunk_rows: int, tmp_path: Path
) -> None:
    path = tmp_path / "a.tsv"
    for _ in range(data.draw(st.integers(1, 3))):
        defect = data.draw(st.sampled_from(DEFECTS))
        rows = spoil(rows, defect, data.draw(st.integers(0, len(rows) - 1))) or rows
    spec = write(path, rows)
    try:
        whole = read_samples(path, spec)
    except InputError as refusal:
        assert message(stream_samples(path, spec, chunk_rows)) == str(refusal)
    else:  # a whole protein gone, or the one truth of a protein with one network
        parts = streamed(path, spec, chunk_rows)
        assert_same(concatenate([(path, part) for part in parts]), whole)


@pytest.mark.parametrize("defect", DEFECTS)
def test_each_defect_in_each_row_is_refused_in_the_same_words(defect: str, tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    rows = [
        Row(f"p{number}", network, "x", "", ("0.25", "0.5", "0.25"))
        for number, order in enumerate(("213", "123", "312"))
        for network in order
    ]
    for at in range(len(rows)):
        spec = write(path, spoil(rows, defect, at))
        stated = refusal(read_samples, path, spec)
        for chunk_rows in (1, 2, 7):
            assert message(stream_samples(path, spec, chunk_rows)) == stated


def test_networks_that_come_late_are_missing_before(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("id\tx\ty\tnetwork\np1\t0.5\t0.5\t1\np2\t0.5\t0.5\t2\np2\t0.5\t0.5\t1\n")
    assert message(stream_samples(path, TableSpec(format="credence"), 1)) == (
        f"{path}, line 2: protein 'p1' has no row of network '2'. "
        "Give the scores of every network for every protein."
    )


@SETTINGS
@given(rows=ensembles(), together=st.booleans())
def test_counts_of_pieces_are_those_of_the_whole(
    rows: list[Row], together: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credence.tables.joining.CHUNK_ROWS", 2)
    path = tmp_path / "a.tsv"
    rows = rows if together else rows[::2] + rows[1::2]
    spec = write(path, rows)
    seen: list[tuple[str, int]] = []

    def see(ids: Strings, lines: Integers) -> None:
        seen.extend(zip(ids.tolist(), lines.tolist(), strict=True))

    found = take_census([str(path)], spec, see)
    whole = read_samples(path, spec)
    stretches = [name for name, _ in groupby(row.id for row in rows)]
    is_apart = len(stretches) > len(set(stretches))
    assert found == replace(census_of(whole), is_apart=is_apart)
    assert found.notices() == [*census_of(whole).notices(), *([ROWS_APART] if is_apart else [])]
    expected = zip(whole.predictions.ids.tolist(), whole.lines.tolist(), strict=True)
    assert seen == list(expected)


@pytest.mark.parametrize("together", [True, False])
def test_a_protein_of_two_tables_is_named(together: bool, tmp_path: Path) -> None:
    header = "id\tx\ty\tnetwork\n"
    one, other = tmp_path / "one.tsv", tmp_path / "other.tsv"
    one.write_text(header + "p1\t0\t1\t1\np1\t0\t1\t2\np2\t0\t1\t1\np2\t0\t1\t2\n")
    rows = ["p3\t0\t1\t1\n", "p3\t0\t1\t2\n", "p2\t0\t1\t1\n", "p2\t0\t1\t2\n"]
    other.write_text(header + "".join(rows if together else sorted(rows, key=lambda r: r[-2])))
    message = refusal(take_census, [str(one), str(other)], TableSpec(format="credence"))
    line = 4 if together else 3
    assert message == (
        f"{other}, line {line}: the id 'p2' is in {one} already. "
        "Give each protein its own id, or remove one of the rows."
    )


def test_ids_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("credence.tables.samples.hash", lambda name: 7, raising=False)
    path = tmp_path / "a.tsv"
    path.write_text("id\tx\ty\tnetwork\n" + "".join(f"p{row}\t0\t1\t1\n" for row in range(5)))
    parts = streamed(path, TableSpec(format="credence"), 2)
    assert [name for part in parts for name in part.predictions.ids] == [
        f"p{row}" for row in range(5)
    ]


def test_a_chunk_of_many_large_proteins_is_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "MOST_SCORES", 13)  # three proteins of two by two
    path = tmp_path / "a.tsv"
    lines = [f"p{row}\t0\t1\t{network}\n" for row in range(8) for network in (1, 2)]
    path.write_text("id\tx\ty\tnetwork\n" + "".join(lines))
    parts = streamed(path, TableSpec(format="credence"), 5)
    assert [part.n_samples for part in parts] == [3, 3, 2]
