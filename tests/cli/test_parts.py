"""A table annotated in parts by several workers, and the parts joined."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.app import run_command_line
from credence.simulate import WorldSettings
from credence.tables import samples as samples_module
from credence.tables import writing
from credence.tables.scan import rows_of_part
from small_worlds import write_world

SMALL = WorldSettings(
    n_calibration=150, n_use=61, n_training=30, n_trove=9, n_defects=2, n_training_relatives=3
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small world and its calibration, as the place to work in."""
    monkeypatch.chdir(tmp_path)
    # Pieces of a few rows, so that parts begin and end inside them.
    in_pieces = partial(samples_module.stream_samples, chunk_rows=7)
    monkeypatch.setattr(samples_module, "stream_samples", in_pieces)
    monkeypatch.setattr(writing, "ROWS_AT_ONCE", 5)
    write_world(tmp_path, SMALL)
    fit = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--draws", "20"]
    assert run_command_line([*fit, "--out", "k.json"]) == 0
    return tmp_path


def write_forms(folder: Path) -> None:
    """Write the use-set in several forms."""
    text = (folder / "demo" / "use.csv").read_text()
    # Two decimals stand in the first rows alone, blank lines and comments between rows.
    lines = text.splitlines()
    (folder / "gaps.csv").write_text("\n".join(["# made", *lines[:9], "", *lines[9:]]) + "\n")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    header, *rows = [line.split(",") for line in lines]
    columns = [pa.array([row[0] for row in rows], pa.string())]
    columns += [pa.array([float(row[at]) for row in rows]) for at in range(1, len(header))]
    pq.write_table(pa.table(columns, names=header), folder / "use.parquet", row_group_size=11)


@pytest.mark.parametrize(
    ("table", "n_parts"),
    [
        *(("demo/use.csv", 2), ("demo/use.csv", 70), ("gaps.csv", 7)),
        *(("packed.csv.gz", 3), ("use.parquet", 1), ("use.parquet", 7)),
    ],
)
def test_parts_joined_are_the_bytes_of_the_whole(world: Path, table: str, n_parts: int) -> None:
    write_forms(world)
    words = ["annotate", table, "--format", "phanns", "--calibration", "k.json"]
    assert run_command_line(["check", table, "--format", "phanns", "--out", "check.json"]) == 0
    whole = ["--spreadsheet-safe", "--out", "whole.tsv", "--also", "whole.parquet"]
    assert run_command_line([*words, *whole]) == 0
    parts = []
    for number in range(1, n_parts + 1):
        names = [f"part_{number}.tsv", f"part_{number}.parquet"]
        part = ["--part", f"{number}/{n_parts}", "--check", "check.json"]
        out = ["--spreadsheet-safe", "--out", names[0], "--also", names[1]]
        assert run_command_line([*words, *part, *out]) == 0
        parts += names
    joined = ["--out", "joined.tsv", "--also", "joined.parquet"]
    assert run_command_line(["gather", *parts, *joined]) == 0
    for ending in ("tsv", "parquet"):
        made = (world / f"joined.{ending}").read_bytes()
        assert made == (world / f"whole.{ending}").read_bytes(), ending


def test_a_part_of_networks_is_whole_proteins(world: Path) -> None:
    words = ["demo/calibration_networks.npz", "--format", "networks-npz"]
    assert run_command_line(["fit", *words, "--draws", "0", "--out", "n.json"]) == 0
    assert run_command_line(["check", *words, "--out", "check.json"]) == 0
    annotate = ["annotate", *words, "--calibration", "n.json"]
    assert run_command_line([*annotate, "--out", "whole.tsv"]) == 0
    for number in (1, 2, 3):
        part = ["--part", f"{number}/3", "--check", "check.json", "--out", f"part_{number}.tsv"]
        assert run_command_line([*annotate, *part]) == 0
    parts = ["part_1.tsv", "part_2.tsv", "part_3.tsv"]
    assert run_command_line(["gather", *parts, "--out", "joined.tsv"]) == 0
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()


def test_corrected_confidences_of_parts_have_the_resolution_of_the_whole(world: Path) -> None:
    # All decimals stand in the first row; a part without it has to know of them.
    lines = (world / "demo" / "use.csv").read_text().splitlines()
    zeros = ",0.0" * (lines[0].count(",") - 2)
    coarse = [f"p{row},{'3.0,7.0' if row % 2 else '7.0,3.0'}{zeros}" for row in range(30)]
    (world / "coarse.csv").write_text("\n".join([*lines[:2], *coarse]) + "\n")
    form = ["--format", "phanns"]
    shift = ["shift", "coarse.csv", *form, "--samples", "demo/calibration.csv"]
    shift += ["--samples-format", "phanns-labelled", "--calibration", "k.json", "--draws", "20"]
    assert run_command_line([*shift, "--record", "shift.json", "--out", "composition.tsv"]) == 0
    assert run_command_line(["check", "coarse.csv", *form, "--out", "check.json"]) == 0
    words = ["annotate", "coarse.csv", *form, "--calibration", "k.json", "--shift", "shift.json"]
    assert run_command_line([*words, "--out", "whole.tsv"]) == 0
    for number in (1, 2):
        part = ["--part", f"{number}/2", "--check", "check.json", "--out", f"part_{number}.tsv"]
        assert run_command_line([*words, *part]) == 0
    assert run_command_line(["gather", "part_1.tsv", "part_2.tsv", "--out", "joined.tsv"]) == 0
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()


def test_every_row_is_in_one_part() -> None:
    for n_rows in (0, 1, 10, 61):
        for n_parts in (1, 2, 3, 61, 100):
            ranges = [rows_of_part(n_rows, number + 1, n_parts) for number in range(n_parts)]
            rows = [row for start, stop in ranges for row in range(start, stop)]
            assert rows == list(range(n_rows))


def message(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    """Return what a command that is refused says."""
    capsys.readouterr()
    assert run_command_line(words) == 2
    return capsys.readouterr().err.removesuffix("\nFix this and run the command again.\n")


def test_what_is_wrong_with_a_part_is_named(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["annotate", "demo/use.csv", "--format", "phanns", "--calibration", "k.json"]
    out = ["--out", "part.tsv"]
    for part in ("0/2", "3/2", "2", "1/0", "a/b"):
        assert message(capsys, [*words, "--part", part, *out]) == (
            f"--part: '{part}' names no part. Write 2/8 for the second of eight."
        )
    assert message(capsys, [*words, "--part", "1/2", *out]) == (
        "--part: the rows of demo/use.csv were not counted. Check it first: credence check "
        "demo/use.csv --out check.json, then give --check."
    )
    assert message(capsys, [*words, "demo/calibration.csv", "--part", "1/2", *out]) == (
        "--part: there are 2 tables. Annotate one at a time."
    )
    assert not (world / "part.tsv").exists()


def test_parts_that_do_not_fit_are_named(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (world / "a.tsv").write_text("id\tconfidence\np1\t0.5\n")
    (world / "b.tsv").write_text("id\tother\np2\t0.5\n")
    (world / "cut.tsv").write_text("id\tconfidence\np2\t0.")
    pq.write_table(pa.table({"id": ["p1"]}), world / "a.parquet")
    pq.write_table(pa.table({"other": ["p1"]}), world / "b.parquet")
    (world / "cut.parquet").write_bytes((world / "a.parquet").read_bytes()[:-8])
    for ending in ("tsv", "parquet"):
        a, b, cut = f"a.{ending}", f"b.{ending}", f"cut.{ending}"
        out = ["--out", f"all.{ending}"]
        assert message(capsys, ["gather", a, b, *out]) == (
            f"{b}: its columns are not those of {a}. Give the parts of one table, annotated alike."
        )
        assert message(capsys, ["gather", a, cut, *out]) == (
            f"{cut}: the part is cut short or damaged. Annotate it again."
        )
        assert message(capsys, ["gather", a, f"absent.{ending}", *out]) == (
            f"absent.{ending}: this part cannot be read. Annotate it again."
        )
        assert not (world / f"all.{ending}").exists()
    assert message(capsys, ["gather", "a.tsv", "--out", "all.parquet"]) == (
        "a.tsv: nothing that is to be written ends like this part. "
        "Give --out or --also a name with the same ending."
    )
    assert message(capsys, ["gather", "a.tsv", "--out", "all.tsv", "--also", "all.parquet"]) == (
        "all.parquet: no part ends in .parquet. Give the parts of this table."
    )
