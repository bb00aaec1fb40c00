"""No stage holds a table of the query set in memory: its memory grows by bytes a row.

What Python and numpy hold is traced at two sizes of a table with many columns.
Arrow's own blocks are counted apart, as they are not traced.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.app import run_command_line
from credence.findings import Findings
from credence.problems import ProblemList
from credence.stages import shift
from credence.stages.report import summarise_file
from credence.tables import contract, joining, samples, source, text, writing

CLASSES = [f"class {number:02d}" for number in range(40)]
SIZES = (1_500, 4_500)
N_FIRST = 700  # rows of a table before it
N_LOADING = 600  # rows with which all is loaded that is loaded once
CHUNK_ROWS = 300
TABLE_BYTES = 8 * len(CLASSES)  # of one row in memory, without its id
# Of a row that is not in the chunk: hashes of ids and room to sort them; for the
# page, class and confidence, once as pieces and once together.
MOST_BYTES = 60
SCALE = '{"scale": 1}'
SPEC = ["--format", "wide", "--spec", SCALE]
N_NETWORKS = 3
# Pooled by logs, networks have the scale of the calibration.
LONG_SPEC = ["--format", "credence", "--spec", '{"pooling": "log_sum"}']


def write_scores(path: Path, n_rows: int, seed: int, labelled: bool = False) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(len(CLASSES), 0.2), n_rows)
    columns = {"id": [f"{seed}-{row}" for row in range(n_rows)]}
    if labelled:
        columns["true_class"] = [CLASSES[class_] for class_ in scores.argmax(axis=1)]
    columns |= dict(zip(CLASSES, scores.T, strict=True))
    pq.write_table(pa.table(columns), path, row_group_size=CHUNK_ROWS)


def write_networks(folder: Path, n_proteins: int) -> None:
    """Write an ensemble as a long table."""
    rng = np.random.default_rng(n_proteins)
    scores = rng.dirichlet(np.full(len(CLASSES), 0.2), (n_proteins, N_NETWORKS))
    ids = np.array([f"{n_proteins}-{row}" for row in range(n_proteins)])
    columns = {"id": np.repeat(ids, N_NETWORKS), "network": np.tile(list("312"), n_proteins)}
    columns |= dict(zip(CLASSES, scores.reshape(-1, len(CLASSES)).T, strict=True))
    path = folder / f"networks-{n_proteins}.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=CHUNK_ROWS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with query sets of both sizes, and a calibration for them."""
    folder = tmp_path_factory.mktemp("memory")
    write_scores(folder / "known.parquet", 600, 1, labelled=True)
    for size in (N_LOADING, N_FIRST, *SIZES):
        write_scores(folder / f"{size}.parquet", size, size)
    for size in (N_LOADING, *SIZES):
        write_networks(folder, size)
    words = ["--format", "credence", "--scale", "1", "--method", "class_only"]
    given = [str(folder / "known.parquet"), *words, "--out", str(folder / "c.json")]
    assert run_command_line(["fit", *given]) == 0
    return folder


@pytest.fixture(autouse=True)
def small_pieces(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(
        samples, "stream_samples", partial(samples.stream_samples, chunk_rows=CHUNK_ROWS)
    )
    for module in (joining, contract):
        monkeypatch.setattr(module, "CHUNK_ROWS", CHUNK_ROWS)
    monkeypatch.setattr(writing, "GROUP_ROWS", CHUNK_ROWS)
    monkeypatch.setattr(contract, "CSV_BLOCK_BYTES", 20_000)
    monkeypatch.setattr(text, "BLOCK_BYTES", 20_000)
    both = shift.both_samples
    monkeypatch.setattr(both, "use_sample", partial(both.use_sample, most_rows=500))
    monkeypatch.setattr(both, "both_parts", partial(both.both_parts, most_rows=500))


def bytes_a_row(work: Callable[[int], object]) -> float:
    """Return by how much the greatest memory grows from one row to the next."""
    work(N_LOADING)
    peaks = []
    for size in SIZES:
        tracemalloc.start()
        work(size)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return (peaks[1] - peaks[0]) / (SIZES[1] - SIZES[0])


def done(*words: str, spec: list[str] = SPEC) -> None:
    assert run_command_line([*words, *spec]) == 0


ANNOTATE = ("annotate", "--calibration", "c.json")


def test_reading_a_whole_table_is_seen_by_this_measure() -> None:
    spec = joining.TableSpec(format="wide", scale=1.0)
    grown = bytes_a_row(lambda size: samples.read_samples(Path(f"{size}.parquet"), spec))
    assert grown > TABLE_BYTES


@pytest.mark.long
@pytest.mark.parametrize("ending", ["tsv", "tsv.gz", "parquet"])
def test_annotating_holds_a_chunk(ending: str) -> None:
    def annotate(size: int) -> None:
        done(*ANNOTATE, f"{size}.parquet", "--out", f"out-{size}.{ending}")

    assert bytes_a_row(annotate) < MOST_BYTES


@pytest.mark.long
def test_annotating_several_tables_holds_a_chunk() -> None:
    def annotate(size: int) -> None:
        done(*ANNOTATE, f"{N_FIRST}.parquet", f"{size}.parquet", "--out", "both.tsv")

    assert bytes_a_row(annotate) < MOST_BYTES


def test_checking_holds_a_chunk() -> None:
    def check(size: int) -> None:
        done("check", f"{size}.parquet", "--out", "check.json")

    assert bytes_a_row(check) < MOST_BYTES


@pytest.mark.long
def test_estimating_a_composition_holds_a_chunk_and_what_stands_for_the_rest() -> None:
    def estimate(size: int) -> None:
        words = ["--calibration", "c.json", "--resamples", "20"]
        done("shift", f"{size}.parquet", *words, "--estimator", "bbse_soft", "--out", "c.tsv")

    assert bytes_a_row(estimate) < MOST_BYTES


def test_reading_an_ensemble_whole_is_seen_by_this_measure() -> None:
    spec = joining.TableSpec(format="credence", pooling="log_sum")
    grown = bytes_a_row(lambda size: samples.read_samples(Path(f"networks-{size}.parquet"), spec))
    assert grown > N_NETWORKS * TABLE_BYTES


@pytest.mark.long
def test_annotating_an_ensemble_holds_a_chunk() -> None:
    def annotate(size: int) -> None:
        done(*ANNOTATE, f"networks-{size}.parquet", "--out", "out.tsv", spec=LONG_SPEC)

    assert bytes_a_row(annotate) < MOST_BYTES


def test_checking_an_ensemble_holds_a_chunk() -> None:
    def check(size: int) -> None:
        done("check", f"networks-{size}.parquet", "--out", "check.json", spec=LONG_SPEC)

    assert bytes_a_row(check) < MOST_BYTES


@pytest.mark.long
def test_estimating_the_composition_of_an_ensemble_holds_a_chunk() -> None:
    def estimate(size: int) -> None:
        words = [f"networks-{size}.parquet", "--calibration", "c.json", "--resamples", "20"]
        done("shift", *words, "--estimator", "bbse_hard", "--out", "c.tsv", spec=LONG_SPEC)

    assert bytes_a_row(estimate) < MOST_BYTES


@pytest.mark.long
@pytest.mark.parametrize("ending", ["tsv", "parquet"])
def test_summing_up_for_the_page_holds_a_piece(ending: str, small: Findings) -> None:
    from dataclasses import replace

    results = replace(small.results, class_names=tuple(CLASSES))
    for size in (N_LOADING, *SIZES):
        done(*ANNOTATE, f"{size}.parquet", "--out", f"out-{size}.{ending}")

    def summarise(size: int) -> None:
        found = summarise_file("sea", Path(f"out-{size}.{ending}"), results, "kernel")
        assert found.n == size

    assert bytes_a_row(summarise) < MOST_BYTES


def test_blocks_of_a_parquet_file_are_let_go_of() -> None:
    table = source.ParquetTable(Path(f"{SIZES[1]}.parquet"))
    before, held = pa.total_allocated_bytes(), []
    for chunk in table.chunks(CHUNK_ROWS, ProblemList("")):
        held.append(pa.total_allocated_bytes() - before)
        del chunk
    assert len(held) == SIZES[1] // CHUNK_ROWS
    # A group of rows takes so much; with all of them it would be 15 times as much.
    assert max(held) < 4 * CHUNK_ROWS * (TABLE_BYTES + 20) + held[0]
