"""A table annotated in parts by several workers, and the parts joined."""

from __future__ import annotations

import gzip
import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from credence.app import run_command_line
from credence.simulate.law import WorldSettings
from credence.stages.annotate import Annotation
from credence.stages.check import read_summary
from credence.tables import samples as samples_module
from credence.tables import writing
from credence.tables.joining import MARK
from credence.tables.scan import rows_of_part
from credence.tables.writing import write_record
from small_worlds import write_world

SMALL = WorldSettings(
    n_calibration=150, n_use=31, n_training=30, n_trove=9, n_defects=2, n_training_relatives=3
)


FIT = ("fit", "demo/calibration.csv", "--format", "phanns-labelled")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a small world and its calibration, of which each test has a copy."""
    folder = write_world(tmp_path_factory.mktemp("fitted"), SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = [*FIT, "--method", "kernel", "--draws", "20", "--out", "k.json"]
        assert run_command_line(words) == 0
    return folder


@pytest.fixture
def world(fitted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small world and its calibration, as the place to work in."""
    shutil.copytree(fitted, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    # Pieces of a few rows, so that parts begin and end inside them.
    in_pieces = partial(samples_module.stream_samples, chunk_rows=7)
    monkeypatch.setattr(samples_module, "stream_samples", in_pieces)
    monkeypatch.setattr(writing, "ROWS_AT_ONCE", 5)
    return tmp_path


def write_forms(folder: Path) -> None:
    """Write the use-set in several forms."""
    text = (folder / "demo" / "use.csv").read_text()
    # Two decimals stand in the first rows alone, blank lines and comments between rows.
    lines = text.splitlines()
    (folder / "few.csv").write_text("\n".join(lines[:5]) + "\n")  # fewer rows than parts
    (folder / "gaps.csv").write_text("\n".join(["# made", *lines[:9], "", *lines[9:]]) + "\n")
    (folder / "packed.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    header, *rows = [line.split(",") for line in lines]
    columns = [pa.array([row[0] for row in rows], pa.string())]
    columns += [pa.array([float(row[at]) for row in rows]) for at in range(1, len(header))]
    pq.write_table(pa.table(columns, names=header), folder / "use.parquet", row_group_size=11)


@pytest.mark.parametrize(
    ("table", "n_parts"),
    [
        *(("demo/use.csv", 2), ("few.csv", 6), ("gaps.csv", 7)),
        *(("packed.csv.gz", 3), ("use.parquet", 1), ("use.parquet", 7)),
    ],
)
def test_parts_joined_are_the_bytes_of_the_whole(world: Path, table: str, n_parts: int) -> None:
    write_forms(world)
    words = ["annotate", table, "--format", "phanns", "--calibration", "k.json"]
    assert run_command_line(["check", table, "--format", "phanns", "--out", "check.json"]) == 0
    whole = ["--spreadsheet-safe", "--six-decimals", "--out", "whole.tsv"]
    whole += ["--also", "whole.parquet"]
    assert run_command_line([*words, *whole]) == 0
    parts = []
    for number in range(1, n_parts + 1):
        parts.append(f"part_{number}.parquet")
        part = ["--part", f"{number}/{n_parts}", "--check", "check.json", "--out", parts[-1]]
        assert run_command_line([*words, *part]) == 0
    joined = [
        "--spreadsheet-safe",
        "--six-decimals",
        "--out",
        "joined.tsv",
        "--also",
        "joined.parquet",
    ]
    assert run_command_line(["gather", *parts, *joined]) == 0
    for ending in ("tsv", "parquet"):
        made = (world / f"joined.{ending}").read_bytes()
        assert made == (world / f"whole.{ending}").read_bytes(), ending


def test_a_part_of_networks_is_whole_proteins(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Ten rows a protein, of which a piece of seven would be less than one.
    in_pieces = partial(samples_module.stream_samples.func, chunk_rows=107)
    monkeypatch.setattr(samples_module, "stream_samples", in_pieces)
    words = ["demo/calibration_networks.npz", "--format", "networks-npz"]
    fit = ["fit", *words, "--method", "kernel", "--draws", "0", "--out", "n.json"]
    assert run_command_line(fit) == 0
    assert run_command_line(["check", *words, "--out", "check.json"]) == 0
    annotate = ["annotate", *words, "--calibration", "n.json"]
    assert run_command_line([*annotate, "--out", "whole.tsv"]) == 0
    for number in (1, 2, 3):
        part = [
            "--part",
            f"{number}/3",
            "--check",
            "check.json",
            "--out",
            f"part_{number}.parquet",
        ]
        assert run_command_line([*annotate, *part]) == 0
    parts = ["part_1.parquet", "part_2.parquet", "part_3.parquet"]
    assert run_command_line(["gather", *parts, "--out", "joined.tsv"]) == 0
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()


def test_corrected_confidences_of_parts_are_those_of_the_whole(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
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
        part = [
            "--part",
            f"{number}/2",
            "--check",
            "check.json",
            "--out",
            f"part_{number}.parquet",
        ]
        assert run_command_line([*words, *part]) == 0
    gather = ["gather", "part_1.parquet", "part_2.parquet", "--out", "joined.tsv"]
    assert run_command_line(gather) == 0
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()
    # Without what corrected them, calibration proteins show nothing of these confidences.
    (world / "shift.json").unlink()
    capsys.readouterr()
    assert run_command_line(gather) == 0
    assert "joined.tsv: without q-values, which need --shift." in capsys.readouterr().err
    rows = (world / "joined.tsv").read_text().splitlines()
    assert "q_value" not in rows[0]
    assert run_command_line([*gather, "--six-decimals"]) == 0
    rounded = (world / "joined.tsv").read_text().splitlines()
    assert len(rounded) == len(rows) and rounded[0] == rows[0] and rounded[-1] != rows[-1]
    assert message(capsys, [*gather, "--lists", "lists"]) == (
        "--shift: nothing says what proteins held out show. "
        "Give what the parts were annotated with."
    )


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
        "--part: the rows of demo/use.csv were not counted. Check first: credence check "
        "demo/use.csv --out check.json; give --check."
    )
    check(["demo/use.csv"])
    checked = read_summary(world / "check.json")
    other = checked.read_as.replace("format='phanns'", "format='wide'")
    write_record(world / "check.json", replace(checked, read_as=other))
    part = ["--part", "1/2", "--check", "check.json", *out]
    # A table that was not checked, and one that was checked as if of another format.
    assert message(capsys, [*words, "demo/calibration.csv", *part]) == (
        "demo/calibration.csv: it is not what check.json was made from: its digest is "
        "another. Check all tables of the set again, and annotate every part anew.\n"
        "check.json: the check read the table in another way: --format or --spec were "
        "others. Check all tables of the set again, and annotate every part anew."
    )
    assert not (world / "part.tsv").exists()
    write_record(world / "check.json", checked)
    assert message(capsys, [*words, *part]) == (
        "part.tsv: a part is written as Parquet. "
        "Give a name that ends in .parquet; credence gather writes every kind of table."
    )
    for option in (["--also", "a.tsv"], ["--spreadsheet-safe"], ["--six-decimals"]):
        assert message(capsys, [*words, *part, *option]) == (
            f"{option[0]}: it is for whole tables. Give it to credence gather."
        )


def check(tables: list[str], out: str = "check.json") -> None:
    assert run_command_line(["check", *tables, "--format", "phanns", "--out", out]) == 0


def write_parts(n_parts: int, tables: list[str], name: str, *more: str) -> list[str]:
    """Write the parts of a table, or of several of which each is one; return their names."""
    names = []
    for number in range(1, n_parts + 1):
        own = tables if len(tables) == 1 else [tables[number - 1]]
        words = ["annotate", *own, "--format", "phanns", "--calibration", "k.json", *more]
        names.append(f"{name}_{number}.parquet")
        part = ["--part", f"{number}/{n_parts}", "--check", "check.json", "--out", names[-1]]
        assert run_command_line([*words, *part]) == 0
    return names


REMEDIES = {
    "other": "Give the parts of one table, annotated alike.",
    "none": "Give what credence annotate --part wrote, as it wrote it.",
    "cut": "Annotate it again.",
}


def test_a_table_that_grew_after_its_check_loses_no_protein(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(["demo/use.csv"])
    table = world / "demo" / "use.csv"
    lines = table.read_text().splitlines()
    table.write_text(
        "\n".join([*lines, lines[-1].replace(lines[-1].split(",")[0], "late")]) + "\n"
    )
    words = ["annotate", "demo/use.csv", "--format", "phanns", "--calibration", "k.json"]
    words += ["--check", "check.json", "--out", "part.tsv", "--part"]
    for part in ("1/2", "2/2"):
        assert message(capsys, [*words, part]) == (
            "demo/use.csv: it is not what check.json was made from: its digest is another. "
            "Check all tables of the set again, and annotate every part anew."
        )
    assert not (world / "part.tsv").exists()


def test_a_table_that_changes_while_it_is_annotated_is_refused(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = Annotation.columns

    def while_it_grows(*arguments: Any) -> dict[str, Any]:
        with (world / "demo" / "use.csv").open("a") as handle:
            handle.write("\n")
        return columns(*arguments)

    monkeypatch.setattr(Annotation, "columns", while_it_grows)
    words = ["annotate", "demo/use.csv", "--format", "phanns", "--calibration", "k.json"]
    assert message(capsys, [*words, "--out", "whole.tsv"]).endswith(
        "demo/use.csv: it changed while this step read it. "
        "Leave it alone and run the command again."
    )
    assert not (world / "whole.tsv").exists()


def test_parts_that_do_not_add_up_are_named(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(["demo/use.csv"])
    write_parts(3, ["demo/use.csv"], "a")
    write_parts(2, ["demo/use.csv"], "b")
    write_parts(3, ["demo/use.csv"], "full", "--match", "full")
    check(["demo/trove_htj.csv"])
    write_parts(3, ["demo/trove_htj.csv"], "trove")
    one, two, three, b, full, trove = (
        f"{name}.parquet" for name in ("a_1", "a_2", "a_3", "b_2", "full_2", "trove_2")
    )
    out = "all.tsv"
    order = "Give each part once, in their order."
    wrong = {
        (one, three): f"{out}: part 2 of 3 is missing. Give all parts, in their order.",
        (two, three): f"{out}: part 1 of 3 is missing. Give all parts, in their order.",
        (one, three, two): f"{two}: it is part 2 of 3, and stands after part 3. {order}",
        (
            one,
            b,
            three,
        ): f"{b}: it was made with another number of parts than {one}. {REMEDIES['other']}",
        (one, trove, three): (
            f"{trove}: it was made with another table than {one}. {REMEDIES['other']}"
        ),
        (one, full, three): (
            f"{full}: it was made with another --match than {one}. {REMEDIES['other']}"
        ),
    }
    for given, words in wrong.items():
        assert message(capsys, ["gather", *given, "--out", out]) == words
    (world / "copy.parquet").write_bytes((world / two).read_bytes())
    assert message(capsys, ["gather", one, two, "copy.parquet", "--out", out]) == (
        f"copy.parquet: it is part 2 of 3, and stands after part 2. {order}\n"
        f"{out}: part 3 of 3 is missing. Give all parts, in their order."
    )
    assert not (world / out).exists()


def test_several_tables_of_a_set_are_parts_too(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (world / "demo" / "use.csv").read_text().splitlines()
    tables = ["one.csv", "two.csv", "three.csv"]
    for name, (start, stop) in zip(tables, [(1, 10), (10, 23), (23, None)], strict=True):
        (world / name).write_text("\n".join([lines[0], *lines[start:stop]]) + "\n")
    check(tables)
    parts = write_parts(3, tables, "part")
    annotate = ["annotate", *tables, "--format", "phanns", "--calibration", "k.json"]
    assert run_command_line([*annotate, "--out", "whole.tsv"]) == 0
    assert run_command_line(["gather", *parts, "--out", "joined.tsv"]) == 0
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()
    # All tables in each part, or more parts than tables.
    remedy = (
        "Name in each part its own tables, in the order of the check. "
        "Or leave --check out, and give a folder as --out."
    )
    for own, part in (tables, "1/2"), (tables[:2], "2/3"), (tables[:1], "1/4"):
        words = ["annotate", *own, "--format", "phanns", "--calibration", "k.json", "--part", part]
        assert message(capsys, [*words, "--check", "check.json", "--out", "wrong.parquet"]) == (
            f"--part: {len(own)} of 3 tables in it leave too few for {part[-1]} parts. {remedy}"
        )
    # The same table twice, as part of two.
    again = write_parts(3, ["one.csv", "one.csv", "three.csv"], "again")
    assert message(capsys, ["gather", *again, "--out", "wrong.tsv"]) == (
        "wrong.tsv: its parts hold the tables 1, 1, 3 of 3. "
        "Put each table into one part, in the order of the check."
    )
    # A row that somebody took out of a part.
    table = pq.read_table(world / parts[1])
    pq.write_table(table.slice(1), world / parts[1])
    assert message(capsys, ["gather", *parts, "--out", "wrong.tsv"]) == (
        "wrong.tsv: its parts have 30 rows, and the tables 31. Annotate the parts again."
    )
    assert not (world / "wrong.tsv").exists()


def test_a_class_whose_name_has_a_line_break_is_counted_once(world: Path) -> None:
    spec = {"columns": {"id": "protein", "true_class": "truth"}, "scale": 10.0}
    rows = [f"p{row},{'x' if row % 2 else 'yes'},{row % 5 + 5},{5 - row % 5}" for row in range(40)]
    rows = [row.replace("x", '"x\n""1"""') for row in rows]
    (world / "wide.csv").write_text("\n".join(['protein,truth,"x\n""1""",yes', *rows]) + "\n")
    form = ["--format", "wide", "--spec", json.dumps(spec)]
    fit = ["fit", "wide.csv", *form, "--method", "class_only", "--draws", "0", "--out", "w.json"]
    assert run_command_line(fit) == 0
    assert run_command_line(["check", "wide.csv", *form, "--out", "check.json"]) == 0
    annotate = ["annotate", "wide.csv", *form, "--calibration", "w.json"]
    for number in (1, 2):
        part = [
            "--part",
            f"{number}/2",
            "--check",
            "check.json",
            "--out",
            f"part_{number}.parquet",
        ]
        assert run_command_line([*annotate, *part]) == 0
    assert run_command_line([*annotate, "--out", "whole.tsv"]) == 0
    assert (
        run_command_line(["gather", "part_1.parquet", "part_2.parquet", "--out", "joined.tsv"])
        == 0
    )
    assert (world / "joined.tsv").read_bytes() == (world / "whole.tsv").read_bytes()


def test_what_a_part_says_of_itself_may_be_nonsense(
    world: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check(["demo/use.csv"])
    (part,) = write_parts(1, ["demo/use.csv"], "a")
    table = pq.read_table(world / part)
    record = json.loads(table.schema.metadata[MARK.encode()])
    wrong: list[Any] = [[], 3, None, "[" * 100_000, {**record, "number": 0}]
    wrong += [{**record, "number": 2}, {**record, "tables": 7}, {**record, "n_rows": "many"}]
    wrong += [{key: value for key, value in record.items() if key != name} for name in record]
    for found in wrong:
        text = found if isinstance(found, str) else json.dumps(found)
        pq.write_table(table.replace_schema_metadata({MARK: text}), world / "b.parquet")
        assert message(capsys, ["gather", "b.parquet", "--out", "all.tsv"]) == (
            f"b.parquet: it does not say which part of a table it is. {REMEDIES['none']}"
        )


def test_parts_that_do_not_fit_are_named(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(["demo/use.csv"])
    write_parts(2, ["demo/use.csv"], "a")
    table = pq.read_table(world / "a_2.parquet")
    other = [name.replace("lower", "least") for name in table.column_names]
    (world / "cut.parquet").write_bytes((world / "a_2.parquet").read_bytes()[:-8])
    pq.write_table(table.slice(1), world / "short.parquet")
    renamed = table.rename_columns(other).replace_schema_metadata(table.schema.metadata)
    pq.write_table(renamed, world / "other.parquet")
    for name in ("cut", "short", "other"):
        words = ["gather", "a_1.parquet", f"{name}.parquet", "--out", "all.tsv"]
        assert message(capsys, words) == (
            f"{name}.parquet: the part is cut short or damaged. Annotate it again."
        ), name
    assert message(capsys, ["gather", "a_1.parquet", "absent.parquet", "--out", "all.tsv"]) == (
        "absent.parquet: there is no such file. Correct the path, or annotate the part."
    )
    assert not (world / "all.tsv").exists()
    pq.write_table(table.replace_schema_metadata(None), world / "whole.parquet")
    for name in ("whole.parquet", "demo/use.csv"):
        assert message(capsys, ["gather", name, "--out", "all.tsv"]) == (
            f"{name}: it does not say which part of a table it is. {REMEDIES['none']}"
        )
