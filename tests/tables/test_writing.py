from __future__ import annotations

import decimal
import errno
import hashlib
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import refusals
from credence.lists.held_out import step_of
from credence.lists.plan import stratum_of
from credence.predictions import Floats
from credence.problems import InputError
from credence.records import from_record
from credence.tables.writing import (
    GROUP_ROWS,
    TableWriter,
    atomic,
    open_output,
    six_decimals,
    write_json,
    write_table,
    write_text,
)

ENDINGS = [".tsv", ".tsv.gz", ".tsv.zst", ".parquet"]
FLOATS = st.lists(st.floats(allow_nan=True, allow_infinity=False), max_size=30)
TIMEOUT = 300  # seconds, for processes that take two
SHARED = [HealthCheck.function_scoped_fixture]


def objects(*values: str) -> Any:
    return np.array(values, dtype=object)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_appears_only_when_it_is_complete(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with atomic(path) as temporary:
        temporary.write_text("half")
        assert not path.exists()
        assert temporary.parent == path.parent
    assert path.read_text() == "half"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("old")
    with pytest.raises(RuntimeError), TableWriter(path, ["id"]) as writer:
        writer.write({"id": objects("p1")})
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_writer_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("old")
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from credence.tables.writing import atomic\n"
        "with atomic(Path(sys.argv[1])) as temporary:\n"
        "    temporary.write_text('half'); os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    words = [sys.executable, "-c", code, str(path)]
    assert subprocess.run(words, timeout=TIMEOUT).returncode < 0
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    write_text(path, "new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]  # what the killed one left is gone


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    with atomic(path) as temporary:
        temporary.write_text("first")
        write_text(path, "second")
        assert temporary.exists()
    assert path.read_text() == "first"
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_folder_is_made_and_a_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "er" / "a.txt"
    write_text(target, "one")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    write_text(link, "two")
    assert link.is_symlink()
    assert target.read_text() == "two"


def test_others_may_read_what_is_written_as_the_umask_says(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        write_text(tmp_path / "a.txt", "one")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o644


def test_a_pipe_is_written_to_directly() -> None:
    code = (
        "from pathlib import Path; import numpy as np\n"
        "from credence.tables.writing import write_text\n"
        "write_text(Path('/dev/stdout'), 'through')\n"
    )
    words = [sys.executable, "-c", code]
    run = subprocess.run(words, capture_output=True, timeout=TIMEOUT, check=True)
    assert run.stdout == b"through"


def refusal(path: Path) -> str:
    return refusals.refusal(write_text, path, "x" * 100_000).replace(f"{path.parent}/", "")


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / ".").endswith(
        ": this is a folder. Give the name of a file to write."
    )
    (tmp_path / "file").write_text("")
    assert refusal(tmp_path / "file" / "a.txt") == (
        "a.txt: cannot be written, part of the path is a file, not a folder. "
        "Choose another folder."
    )
    assert refusal(tmp_path / ("n" * 300)).endswith(
        ": cannot be written, the name is too long. Choose a shorter name."
    )


@pytest.mark.parametrize(
    ("name", "device"), [("aux.tsv", "aux"), ("NUL", "NUL"), ("Com1.tar.gz", "Com1")]
)
def test_a_name_that_windows_keeps_for_a_device_is_refused(
    tmp_path: Path, name: str, device: str
) -> None:
    assert refusal(tmp_path / name) == (
        f"{name}: nobody can open this file on Windows, where {device!r} is a device. "
        "Choose another name."
    )
    assert list(tmp_path.iterdir()) == []
    for like_it in ("auxiliary.tsv", "con-fidences.tsv", "com10.tsv", "a.nul"):
        write_text(tmp_path / like_it, "x")
        assert (tmp_path / like_it).read_text() == "x"


def test_a_name_may_begin_with_a_dash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("-x.tsv"), "x")
    assert [path.name for path in tmp_path.iterdir()] == ["-x.tsv"]


def test_a_file_that_grows_past_the_limit_is_refused_and_removed(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path\n"
        "from credence.problems import InputError\n"
        "from credence.tables.writing import write_text\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))\n"
        "try: write_text(Path(sys.argv[1]), 'x' * 5000)\n"
        "except InputError as error: print(error)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.txt")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert run.stdout.replace(f"{tmp_path}/", "") == (
        "a.txt: cannot be written, the file grew past the size allowed. "
        "Raise the limit (ulimit -f).\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (errno.ENOSPC, "the disk is full. Make room, or write to another disk."),
        (errno.EROFS, "the disk is read-only. Write to another disk."),
        (errno.EDQUOT, "your quota of disk space is used up. Make room, or write elsewhere."),
    ],
)
def test_a_disk_that_takes_no_more_is_named(tmp_path: Path, code: int, message: str) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(InputError) as caught, atomic(path):
        raise OSError(code, os.strerror(code))
    assert str(caught.value) == f"{path}: cannot be written, {message}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is absent")
def test_a_full_device_is_no_traceback_of_an_unfinished_table(tmp_path: Path) -> None:
    with pytest.raises((InputError, OSError)) as caught, open_output(Path("/dev/full")) as out:
        out.write(b"x" * 100_000)
    assert "o space" in str(caught.value) or "full" in str(caught.value)


@pytest.mark.parametrize("ending", [".txt", ".txt.gz", ".txt.zst"])
def test_the_same_text_gives_the_same_bytes_at_any_time(tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    write_text(first, "text\n" * 1000)
    time.sleep(1.1 if ending == ".txt.gz" else 0)
    write_text(second, "text\n" * 1000)
    assert digest(first) == digest(second)
    with pa.input_stream(str(first), compression="detect") as stream:
        assert stream.read() == b"text\n" * 1000


@settings(max_examples=50, deadline=None, suppress_health_check=SHARED)
@given(FLOATS)
def test_floats_come_back_from_json_bit_for_bit(tmp_path: Path, values: list[float]) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"values": np.array(values)})
    back = from_record(dict[str, Floats], json.loads(path.read_text()))["values"]
    np.testing.assert_array_equal(back.view(np.int64), canonical(values).view(np.int64))


def canonical(values: list[float]) -> Any:
    """All NaNs alike: which one it was is not kept."""
    array = np.array(values, dtype=float)
    array[np.isnan(array)] = np.nan
    return array


@pytest.mark.parametrize("ending", [".tsv", ".parquet"])
@settings(max_examples=30, deadline=None, suppress_health_check=SHARED)
@given(values=FLOATS)
def test_floats_come_back_from_tables_bit_for_bit(
    tmp_path: Path, ending: str, values: list[float]
) -> None:
    path = tmp_path / f"a{ending}"
    write_table(path, {"n": np.arange(len(values)), "x": np.array(values, dtype=float)})
    if ending == ".tsv":
        cells = [line.split("\t")[1] for line in path.read_text().split("\n")[1:-1]]
        back = np.array([float(cell) if cell else np.nan for cell in cells])
    else:
        back = pq.read_table(path)["x"].to_numpy()
    np.testing.assert_array_equal(
        canonical(back.tolist()).view(np.int64), canonical(values).view(np.int64)
    )


SHARES = st.floats(0.0, 1.0) | st.integers(0, 10**6).map(lambda one: one / 10**6)
NEAR = st.sampled_from([5e-324, 1e-9, 0.9999998, 1.0 - 2.0**-53, 0.1 + 0.2, np.nextafter(0.95, 0)])


def slow_six_decimals(number: float, up: bool) -> float:
    """Return a number cut to six decimals, by its digits."""
    way = decimal.ROUND_CEILING if up else decimal.ROUND_FLOOR
    with decimal.localcontext(prec=400):
        found = float(decimal.Decimal(repr(number)).quantize(decimal.Decimal("1e-6"), way))
    return min(max(found, 0.000001), 0.999999) if 0.0 < number < 1.0 else found


@given(st.lists(SHARES | NEAR | st.floats(-1e8, 1e8), min_size=1), st.booleans())
def test_six_decimals_are_those_of_the_digits_and_keep_the_order(
    numbers: list[float], up: bool
) -> None:
    given_ = np.sort(numbers)
    found = six_decimals(given_, up=up)
    assert found.tolist() == [slow_six_decimals(float(one), up) for one in given_]
    assert (np.diff(found) >= 0).all()


@given(st.lists(SHARES | NEAR, min_size=1))
def test_six_decimals_move_no_confidence_to_another_step_and_leave_it_in_its_range(
    numbers: list[float],
) -> None:
    confidence = np.array(numbers)
    found = six_decimals(confidence)
    np.testing.assert_array_equal(step_of(found), step_of(confidence))
    np.testing.assert_array_equal(stratum_of(found), stratum_of(confidence))
    assert (found <= six_decimals(confidence, up=True)).all()


def test_a_rounded_table_is_full_as_parquet_and_keeps_scores_and_what_is_not_known(
    tmp_path: Path,
) -> None:
    columns = {
        "id": ["a", "b", "c"],
        "score": [1e-9, 1 / 3, 2.0],
        "confidence": [1e-9, 2 / 3, None],
        "upper": [0.9999998, 2 / 3, float("nan")],
        "n": [1, 2, 3],
        "support": [1e22, float("inf"), -2 / 3],
    }
    for ending in ("tsv", "parquet"):
        write_table(tmp_path / f"t.{ending}", columns, in_six_decimals=True)
    assert (tmp_path / "t.tsv").read_text() == (
        "id\tscore\tconfidence\tupper\tn\tsupport\n"
        "a\t1e-9\t0.000001\t0.999999\t1\t1e+22\n"
        "b\t0.3333333333333333\t0.666666\t0.666667\t2\tinf\n"
        "c\t2\t\t\t3\t-0.666667\n"
    )
    assert pq.read_table(tmp_path / "t.parquet")["confidence"].to_pylist() == [1e-9, 2 / 3, None]


def test_cells_are_quoted_only_where_they_must_be(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    cells = objects("plain", "tab\there", "line\nbreak", 'a "word"', "=SUM(A1)", "", "-")
    write_table(path, {"id": cells, "is_right": np.arange(7) > 3})
    assert path.read_text() == (
        'id\tis_right\nplain\tfalse\n"tab\there"\tfalse\n"line\nbreak"\tfalse\n'
        '"a ""word"""\tfalse\n=SUM(A1)\ttrue\n\ttrue\n-\ttrue\n'
    )
    back = pd.read_csv(path, sep="\t", keep_default_na=False)
    assert back["id"].tolist() == cells.tolist()


def test_a_published_table_holds_no_formula(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    ids = objects("=1+1", "+x", "-x", "@x", "\t=x", "x=1", "'=1+1")
    columns = {"id": ids, "x": np.full(7, -1.5)}
    write_table(path, columns, spreadsheet_safe=True)
    assert path.read_text() == (
        "id\tx\n'=1+1\t-1.5\n'+x\t-1.5\n'-x\t-1.5\n'@x\t-1.5\n\"'\t=x\"\t-1.5\nx=1\t-1.5\n"
        "''=1+1\t-1.5\n"
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_bytes_do_not_depend_on_how_rows_come_in_chunks(tmp_path: Path, ending: str) -> None:
    n_rows = 2 * GROUP_ROWS + 17
    x = np.sqrt(np.arange(n_rows) / 7.0)
    columns = {"id": np.array([f"p{row % 1000}" for row in range(n_rows)], dtype=object), "x": x}
    whole, pieces = tmp_path / f"whole{ending}", tmp_path / f"pieces{ending}"
    write_table(whole, columns)
    with TableWriter(pieces, list(columns)) as writer:
        for start in range(0, n_rows, 33_333):
            writer.write(
                {name: values[start : start + 33_333] for name, values in columns.items()}
            )
    assert digest(whole) == digest(pieces)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_table_without_rows_has_a_header(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    write_table(path, {"id": np.empty(0, dtype=object), "x": np.empty(0)})
    if ending == ".parquet":
        assert pq.read_table(path).schema.names == ["id", "x"]
    else:
        with pa.input_stream(str(path), compression="detect") as stream:
            assert stream.read() == b"id\tx\n"


def test_metadata_stays_in_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    write_table(path, {"x": np.arange(3)}, metadata={"scale": "10.0"})
    assert pq.read_schema(path).metadata[b"scale"] == b"10.0"


def test_an_ending_that_is_no_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    assert refusals.refusal(write_table, path, {"x": np.arange(3)}) == (
        f"{path}: its ending names no kind of table. "
        "Give a name that ends in .tsv, .tsv.gz, .tsv.zst or .parquet."
    )


def test_columns_in_another_order_are_a_mistake_of_ours(tmp_path: Path) -> None:
    with (
        pytest.raises(ValueError, match=r"columns \['b', 'a'\] are not \['a', 'b'\]"),
        TableWriter(tmp_path / "a.tsv", ["a", "b"]) as writer,
    ):
        writer.write({"b": np.arange(2), "a": np.arange(2)})


def test_memory_does_not_grow_with_the_table(tmp_path: Path) -> None:
    code = (
        "import resource, sys; from pathlib import Path; import numpy as np\n"
        "from credence.tables.writing import TableWriter\n"
        "def most(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "x = np.arange(100_000) / 7\n"
        "with TableWriter(Path(sys.argv[1]), ['x', 'y']) as writer:\n"
        "    for _ in range(3): writer.write({'x': x, 'y': x})\n"
        "    first = most()\n"
        "    for _ in range(12): writer.write({'x': x, 'y': x})\n"
        "    print(most() - first)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.tsv")],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    # Twelve chunks are 50 MB as text; one is 4 MB, and the allocator keeps a few.
    assert int(run.stdout) < 25
