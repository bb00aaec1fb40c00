"""Tables in shards: a folder or a pattern in, a file of confidences for each out."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from credence.app import configuration, meaning, run_command_line
from credence.simulate.law import WorldSettings
from refusals import refusal
from small_worlds import call_here, write_world

SMALL = WorldSettings(
    n_calibration=120, n_query=60, n_training=20, n_trove=9, n_defects=2, n_training_relatives=3
)
N_SHARDS = 6
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with calibrations and a folder of tables, ten proteins each."""
    folder = write_world(tmp_path_factory.mktemp("shards"), SMALL)
    fit = ["fit", "demo/calibration.csv", "--format", "phanns-labelled", "--resamples", "0"]
    for method in ("histogram", "class_only"):
        done = call_here(folder, *fit, "--method", method, "--out", f"{method}.json")
        assert done.returncode == 0, done.stderr
    header, *rows = (folder / "demo" / "my_phages.csv").read_text().splitlines()
    (folder / "shards").mkdir()
    for number in range(N_SHARDS):
        lines = [header, *rows[1 + 10 * number : 11 + 10 * number]]
        (folder / "shards" / f"s{number}.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def here(lab: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(lab, tmp_path / "lab")
    monkeypatch.chdir(tmp_path / "lab")
    return tmp_path / "lab"


def annotate(
    *words: str, table: str = "shards", out: str = "conf", with_: str = "histogram"
) -> int:
    given = ["--format", "phanns", "--calibration", f"{with_}.json", "--out", out]
    return run_command_line(["annotate", table, *given, *words])


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.removesuffix("\nFix this and run the command again.\n")


def written(folder: str = "conf") -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(Path(folder).glob("[!.]*"))}


def inodes(folder: str = "conf") -> dict[str, int]:
    return {path.name: path.stat().st_ino for path in Path(folder).glob("[!.]*")}


def test_each_table_gets_what_it_gets_alone_but_for_q_values(here: Path) -> None:
    assert annotate() == 0
    assert sorted(written()) == [f"s{number}.tsv" for number in range(N_SHARDS)]
    for number in range(N_SHARDS):
        words = ("--shift", "none")
        assert annotate(*words, table=f"shards/s{number}.csv", out="alone.tsv") == 0
        alone = pd.read_csv("alone.tsv", sep="\t", dtype=str).drop(columns="q_value")
        pd.testing.assert_frame_equal(
            pd.read_csv(f"conf/s{number}.tsv", sep="\t", dtype=str), alone
        )


@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz", ".tsv.zst", ".parquet"])
def test_files_are_of_the_kind_that_was_given_or_asked_for(here: Path, ending: str) -> None:
    assert annotate("--ending", ending) == 0
    assert sorted(written()) == [f"s{number}{ending}" for number in range(N_SHARDS)]
    spec = ["--format", "phanns", "--out", "samples.parquet"]
    assert run_command_line(["check", "shards", *spec[:2], "--samples", "samples.parquet"]) == 0
    (here / "kept").mkdir()
    pq.write_table(pq.read_table("samples.parquet"), "kept/all.parquet")
    words = ["annotate", "kept", "--format", "credence", "--calibration", "histogram.json"]
    assert run_command_line([*words, "--out", "again/"]) == 0
    assert list(written("again")) == ["all.parquet"]


def test_one_file_of_all_tables_where_the_name_has_an_ending(here: Path) -> None:
    assert annotate(table="shards/s[0-9].csv", out="all.tsv") == 0
    ids = pd.read_csv("all.tsv", sep="\t")["id"]
    assert ids.tolist() == [
        line.split(",")[0]
        for number in range(N_SHARDS)
        for line in Path(f"shards/s{number}.csv").read_text().splitlines()[1:]
    ]


def test_a_run_that_was_killed_goes_on_and_writes_the_same_bytes(here: Path) -> None:
    header, *rows = Path("demo/my_phages.csv").read_text().splitlines()
    for number in range(40):
        own = [header, *(f"n{number}_{row}" for row in rows[1:])]
        Path(f"shards/s{number}.csv").write_text("\n".join(own) + "\n")
    assert annotate(out="undisturbed") == 0
    for least in (5, 20):
        child = os.fork()
        if not child:
            os._exit(annotate())
        while len(list(Path("conf").glob("s*.tsv"))) < least:
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        whole = written("undisturbed")
        assert all(content == whole[name] for name, content in written().items())
        before = inodes()
    assert len(before) < 40
    assert annotate("--ids-across") == 0
    assert written() == written("undisturbed")
    # At most the last one was written, and its seal was not.
    assert sum(inodes()[name] != inode for name, inode in before.items()) <= 1
    assert [path.name for path in Path("conf").glob(".*")] == [".credence"]


def test_only_what_is_out_of_date_is_made_again(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert annotate() == 0
    first, before = inodes(), written()
    assert annotate() == 0
    assert inodes() == first
    assert "Wrote 0 tables into conf: 0 proteins" in said(capsys)
    lines = Path("shards/s1.csv").read_text().splitlines()
    Path("shards/s1.csv").write_text("\n".join(lines[:-1]) + "\n")
    Path("conf/s2.tsv").write_bytes(before["s2.tsv"].replace(b"0", b"1"))  # as long as it was
    Path("conf/s3.tsv").unlink()
    os.utime("shards/s4.csv")
    assert annotate() == 0
    assert "Wrote 3 tables" in said(capsys)
    assert written()["s1.tsv"] != before["s1.tsv"]
    assert written() | {"s1.tsv": b""} == before | {"s1.tsv": b""}
    assert annotate(with_="class_only") == 0
    assert "Wrote 6 tables" in said(capsys)
    assert annotate("--six-decimals", with_="class_only") == 0
    assert "Wrote 6 tables" in said(capsys)


def test_problems_of_all_tables_come_together_and_no_earlier_file_stays(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert annotate() == 0
    good = written()
    for number in (1, 4):
        path = Path(f"shards/s{number}.csv")
        header, first, second, *rows = path.read_text().splitlines()
        wrong = [f"{row.split(',')[0]},high,{row.split(',', 2)[2]}" for row in (first, second)]
        path.write_text("\n".join([header, *wrong, *rows]) + "\n")
    capsys.readouterr()
    assert annotate() == 2
    found = [line for line in said(capsys).splitlines() if "'high'" in line]
    assert [line.split(": ")[0].split(", column")[0] for line in found] == [
        "shards/s1.csv, line 2",
        "shards/s4.csv, line 2",
        "shards/s1.csv, line 3",
        "shards/s4.csv, line 3",
    ]
    assert written() == {name: good[name] for name in good if name not in ("s1.tsv", "s4.tsv")}


def test_ids_are_looked_for_within_a_table_and_across_tables_where_asked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = Path("shards/s0.csv").read_text().splitlines()
    with Path("shards/s5.csv").open("a") as target:
        target.write(lines[3] + "\n")
    assert annotate() == 0
    name = lines[3].split(",")[0]
    problem = (
        f"shards/s5.csv, line 11: the id {name!r} is in shards/s0.csv already. "
        "Give each protein its own id, or remove one of the rows."
    )
    capsys.readouterr()
    assert annotate("--ids-across") == 2
    told = said(capsys).splitlines()
    assert told[1] == (
        "conf: confidences are those for the class proportions of the calibration set, since "
        "tables one by one do not tell those of the whole. Give --shift, what credence shift "
        "wrote of all tables, or --shift none."
    )
    assert told[3:] == [problem]
    with Path("shards/s5.csv").open("a") as target:
        target.write(lines[3] + "\n")
    assert annotate() == 2
    assert said(capsys).splitlines() == [  # of tables that were there already nothing is said
        f"shards/s5.csv, line 12: the id {name!r} is in line 11 already. "
        "Give each protein its own id, or remove one of the rows."
    ]


def test_folders_that_cannot_be_annotated_are_refused_with_their_remedy(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("empty", "mixed", "deep/below", "twice/a", "twice/b", "mine"):
        Path(folder).mkdir(parents=True)
    for name in ("mixed/a.csv", "mixed/b.csv.gz", "deep/a.csv", "twice/a/s.csv", "twice/b/s.tsv"):
        Path(name).touch()
    for name in ("mixed/_SUCCESS", "mixed/.a.crc"):
        Path(name).touch()
    Path("mine/s1.tsv").write_text("my own work\n")
    elsewhere = "Give a folder elsewhere as --out."
    among = "confidences would stand among the tables, and be read as such the next time."
    refusals: dict[tuple[str, ...], str] = {
        ("empty", "out"): "empty: there is no table in this folder. Correct the path.",
        ("no*.csv", "out"): "no*.csv: there is no table like this pattern. Correct the path.",
        ("mixed", "out"): "mixed: its tables are of several kinds: .csv, .csv.gz. "
        "Name tables of one kind by a pattern in quotes: 'mixed/*.csv.gz'.",
        ("deep/", "out"): "deep/: there is a folder among its tables. "
        "Name tables of one kind by a pattern in quotes: 'deep/*.csv'.",
        ("twice/*/s.*", "out"): "twice/*/s.*: its tables are of several kinds: .csv, .tsv. "
        "Let the pattern name tables of one kind.",
        ("shards", "shards/conf"): f"shards/conf: {among} {elsewhere}",
        ("shards/*.csv", "shards"): f"shards: {among} {elsewhere}",
        ("shards", "mine"): "mine/s1.tsv: it was not written here by credence annotate, and would "
        "be overwritten. Move it away, or give another --out.",
        ("shards", "out", "--also", "a.tsv"): "--also: it is for one table of confidences, and "
        "--out is a folder. Leave it out, or let --out end in .tsv or .parquet.",
        ("shards", "a.tsv", "--ids-across"): "--ids-across: it is for a folder of confidences, "
        "and --out is a file. Leave it out, or give a folder as --out.",
    }
    for (table, out, *words), message in refusals.items():
        assert annotate(*words, table=table, out=out) == 2, message
        assert said(capsys) == message
    Path("twice/b/s.csv").touch()
    assert annotate(table="twice/*/s.csv", out="out") == 2
    assert said(capsys) == (
        "twice/b/s.csv: its confidences would be out/s.tsv, as those of twice/a/s.csv. "
        "Rename it, or annotate it into another --out."
    )
    assert not Path("out").exists()
    assert annotate(table="shards/s[01].csv") == 0
    capsys.readouterr()
    assert annotate(table="shards/s[12].csv") == 2
    assert said(capsys) == (
        "conf/s0.tsv: it was made of a table that is not given now. "
        "Remove it, give that table too, or another --out."
    )


@pytest.mark.long
def test_the_benchmark_of_shards_holds_on_few_rows(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path\nif __name__ == '__main__':\n"
    code += "    from benchmarks.streams import shards; print(shards(Path(sys.argv[1]), 4000, 20))"
    (tmp_path / "small.py").write_text(code)
    found = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "workflow"), str(ROOT)])}
    words = [sys.executable, tmp_path / "small.py", tmp_path]
    done = subprocess.run(words, env=found, capture_output=True, text=True, check=False)
    assert "Each of 4,000 ids stands there once" in done.stdout, done.stderr


CONFIGURATION = """\
run: lab
calibration_set: {scores: demo/calibration.csv, format: phanns-labelled}
queries:
  - {name: my_phages, scores: SCORES, format: phanns}
"""


def test_a_configuration_takes_a_folder_for_the_tables_in_it(here: Path) -> None:
    names = tuple(f"shards/s{number}.csv" for number in range(N_SHARDS))
    for scores in ("shards", "shards/*.csv", ["shards/s[0-2].csv", "shards/s[3-5].csv"]):
        found = configuration.loads(CONFIGURATION.replace("SCORES", json.dumps(scores)))
        assert found.queries[0].scores == names
    Path("shards/README.md").touch()
    assert refusal(configuration.loads, CONFIGURATION.replace("SCORES", "shards")) == (
        "config.yaml, line 4, column 'queries[0].scores': 'shards': its tables are of several "
        "kinds: .csv, .md. Name tables of one kind by a pattern in quotes: 'shards/*.md'."
    )


def test_more_files_than_a_command_can_name_are_refused_in_a_configuration(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "MOST_BYTES_NAMED", 20)
    assert refusal(configuration.loads, CONFIGURATION.replace("SCORES", "shards")) == (
        "config.yaml, line 4, column 'queries[0].scores': 'shards': its 6 files are too many for "
        "one job. Annotate them by themselves: credence annotate with a folder as --out."
    )
