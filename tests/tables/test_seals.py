from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from credence.app.commands import run_stage
from credence.problems import InputError
from credence.tables import digests
from credence.tables.digests import KnownDigests, sha256_of

AGAIN = "Leave it alone and run the command again"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of a run: a table of the user's, and two stages that made files of it."""
    monkeypatch.chdir(tmp_path)
    Path("mine").mkdir()
    Path("mine/a.csv").write_text("1\n")
    made("results/one.tsv", "first\n", "mine/a.csv")
    made("results/two.tsv", "second\n", "results/one.tsv")
    return tmp_path


def made(path: str, text: str, *reads: str) -> None:
    """Do what a stage does: examine what it reads, write, seal."""
    inputs = digests.examine(reads, KnownDigests())
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text(text)
    digests.write_seals([path], inputs)


def refusal(*reads: str) -> str:
    with pytest.raises(InputError) as caught:
        digests.examine(reads, KnownDigests())
    return caught.value.text()


def test_a_seal_says_what_a_file_was_made_from() -> None:
    seal = digests.read_seal("results/two.tsv")
    assert seal is not None
    assert seal.sha256 == sha256_of(Path("results/two.tsv"))
    assert seal.inputs == {"results/one.tsv": sha256_of(Path("results/one.tsv"))}


@pytest.mark.parametrize("path", ["results/two.tsv", "./results/../results/two.tsv"])
def test_files_as_they_were_written_are_read(path: str) -> None:
    assert set(digests.examine([path], KnownDigests())) == {"results/two.tsv"}


def test_one_flipped_bit_is_named_and_the_file_never_used() -> None:
    path = Path("results/two.tsv")
    content = bytearray(path.read_bytes())
    content[3] ^= 1
    path.write_bytes(content)
    message = (
        "results/two.tsv: it is not as it was written: its digest is another. "
        "Delete it and run the command again: rm results/two.tsv"
    )
    assert refusal("results/two.tsv") == message
    with pytest.raises(InputError) as caught:
        digests.require_sealed("results/two.tsv")
    assert caught.value.text() == message


def test_a_file_that_is_cut_short_is_named_with_all_others_at_once() -> None:
    Path("results/one.tsv").write_text("fir")
    Path("results/two.tsv").write_text("")
    assert refusal("results/one.tsv", "results/two.tsv").splitlines() == [
        f"results/{name}.tsv: it is not as it was written: its digest is another. "
        f"Delete it and run the command again: rm results/{name}.tsv"
        for name in ("one", "two")
    ]


def test_a_file_made_from_what_has_been_made_anew_is_named() -> None:
    made("results/one.tsv", "first, but otherwise\n", "mine/a.csv")
    assert refusal("results/two.tsv") == (
        "results/two.tsv: it was made from an earlier results/one.tsv. "
        "Delete it and run the command again: rm results/two.tsv"
    )


def test_a_table_that_changed_since_an_earlier_stage_read_it_is_named() -> None:
    Path("mine/a.csv").write_text("2\n")
    assert refusal("results/two.tsv") == (
        "mine/a.csv: it changed during the run: results/two.tsv was made from other bytes. "
        f"{AGAIN}; if this message comes again: rm results/two.tsv"
    )


def test_touching_anything_changes_nothing() -> None:
    for path in ("mine/a.csv", "results/one.tsv", "results/two.tsv"):
        os.utime(path, (2**33, 2**33))  # far in the future
    assert digests.examine(["results/two.tsv"], KnownDigests())


def test_a_table_that_changes_while_a_stage_reads_it_is_named() -> None:
    known = KnownDigests()
    inputs = digests.examine(["mine/a.csv"], known)
    os.utime("mine/a.csv", (1, 1))
    digests.require_unchanged(inputs, known)  # touched only
    Path("mine/a.csv").write_text("2\n")
    with pytest.raises(InputError) as caught:
        digests.require_unchanged(inputs, known)
    assert caught.value.text() == f"mine/a.csv: it changed while this step read it. {AGAIN}."


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"path": "x"', '{"path": 1, "sha256": 2}'])
def test_a_damaged_seal_is_named_with_its_file(text: str) -> None:
    Path("results/.seals/results/two.tsv.json").write_text(text)
    assert refusal("results/two.tsv") == (
        "results/.seals/results/two.tsv.json: this seal is damaged. Delete it with its file, "
        "then run again: rm results/.seals/results/two.tsv.json results/two.tsv"
    )


def test_files_outside_the_folder_have_no_seal(folder: Path) -> None:
    beside = folder.parent / "beside.tsv"
    beside.write_text("x\n")
    assert digests.seal_path(beside) is None
    made("results/three.tsv", "third\n", str(beside))
    beside.write_text("y\n")
    assert refusal("results/three.tsv").startswith("../beside.tsv: it changed during the run")


def test_what_was_made_from_an_earlier_file_is_made_old_whatever_the_clock_said() -> None:
    os.utime("results/two.tsv", (2**33, 2**33))
    assert digests.outdate(["results"]) == []
    made("results/one.tsv", "first, but otherwise\n", "mine/a.csv")
    assert digests.outdate(["results"]) == ["results/two.tsv"]
    assert Path("results/two.tsv").stat().st_mtime < Path("results/one.tsv").stat().st_mtime
    assert Path("results/two.tsv").read_text() == "second\n"


def test_a_stage_that_fails_seals_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    made("results/c.json", "{}", "mine/a.csv")
    words = ["fit", "mine/a.csv", "--format", "phanns-labelled"]
    words += ["--method", "class_only", "--out", "results/c.json"]
    assert run_stage(["mine/a.csv"], ["results/c.json"], words) == 2
    assert "mine/a.csv" in capsys.readouterr().err
    assert digests.read_seal("results/c.json") is None


def test_digests_are_remembered_only_of_what_did_not_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []

    def counted(path: Path) -> str:
        asked.append(str(path))
        return sha256_of(path)

    monkeypatch.setattr("credence.tables.digests.sha256_of", counted)
    monkeypatch.setattr("credence.tables.digests.TICK", -(10**9))  # believe what is young
    place = Path(".snakemake/credence.digests.json")
    place.parent.mkdir()
    first = KnownDigests()
    first.digest("mine/a.csv")
    first.remember(place)
    again = KnownDigests.remembered(place)
    assert again.digest("mine/a.csv") == sha256_of(Path("mine/a.csv"))
    assert asked == ["mine/a.csv"]
    state = Path("mine/a.csv").stat()
    Path("mine/a.csv").write_text("2\n")
    os.utime("mine/a.csv", ns=(state.st_atime_ns, state.st_mtime_ns))  # as if it were the old one
    assert again.digest("mine/a.csv") == sha256_of(Path("mine/a.csv"))
    assert asked == ["mine/a.csv"] * 2


def test_what_was_young_when_it_was_remembered_is_not_believed() -> None:
    place = Path("digests.json")
    known = KnownDigests()
    known.digest("mine/a.csv")
    known.remember(place)
    assert KnownDigests.remembered(place)._entries == {}


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}', '{"a": [[1, 2], "x"]}', "[" * 100_000])
def test_remembered_digests_that_cannot_be_read_are_taken_again(text: str) -> None:
    Path("digests.json").write_text(text)
    assert KnownDigests.remembered(Path("digests.json"))._entries == {}


def test_a_stage_says_how_it_is_called(capsys: pytest.CaptureFixture[str]) -> None:
    from credence.app import run_command_line

    for words in ([], ["--reads", "a"], ["--reads", "a", "--", "fit"], ["fit", "--writes", "c"]):
        assert run_command_line(["stage", *words]) in (0, 2)
        stated = capsys.readouterr()
        assert re.search(
            r"--reads FILE\.\.\. --writes FILE\.\.\. --\s+COMMAND", stated.out + stated.err
        )
