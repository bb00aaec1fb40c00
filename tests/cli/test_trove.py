"""Troves from the command line: the list, what is refused, and what is attached."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from credence.app import run_command_line
from credence.app.configuration import load
from credence.app.run import _say_rescored
from credence.findings import JoinedAudit
from credence.releases import attaching
from credence.releases.files import AttachSummary, read_attach_summary, read_attached, read_release
from credence.simulate.law import CLASS_NAMES, WorldSettings
from credence.simulate.world import make_world, render_files
from credence.tables.contract import read_groups
from credence.tables.writing import write_record

SMALL = WorldSettings(
    n_calibration=150, n_query=40, n_training=30, n_trove=9, n_defects=3, n_training_relatives=3
)
CONFIGURATION = """\
# My own comment.
run: mine
calibration_set: {scores: base.csv, format: phanns-labelled, proteins: base.fasta}
training: {proteins: training.fasta}
clustering: {engine: exact}
calibration: {method: class_only, compare: [class_only]}
"""
ATTACH = (
    *("--samples", "base.csv", "--samples-format", "phanns-labelled", "--groups", "groups.tsv"),
    *("--proteins", "base.fasta", "--training", "training.fasta", "--engine", "exact"),
    *("--spec", '{"format": "phanns-labelled"}'),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of a small world and its groups."""
    folder = tmp_path_factory.mktemp("troves")
    files = render_files(make_world(SMALL))
    names = {"calibration.csv": "base.csv", "proteins.fasta": "base.fasta"}
    wanted = ("calibration.csv", "proteins.fasta", "training.fasta", "truth/planted.tsv")
    wanted = (*wanted, "truth/families.tsv")
    troves = [f"trove_{name}.{ending}" for name in ("htj", "mixed") for ending in ("csv", "fasta")]
    for name in (*wanted, *troves):
        content = files[name]
        assert isinstance(content, str)
        (folder / names.get(name, Path(name).name)).write_text(content)
    truth = files["truth/families.tsv"]
    assert isinstance(truth, str)
    cells = [line.split("\t") for line in truth.splitlines()[1:]]
    family = {id_: name for id_, part, name, _ in cells if part == "calibration"}
    number = {name: at % 4 + 1 for at, name in enumerate(dict.fromkeys(family.values()))}
    rows = [f"{id_}\t{name}\t{number[name]}\tcalibration\t\t" for id_, name in family.items()]
    (folder / "groups.tsv").write_text(
        "\n".join(["id\tcluster\tgroup\trole\treason\tclass", *rows]) + "\n"
    )
    return folder


def content_lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


@pytest.fixture
def inside(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "lab"
    shutil.copytree(world, folder)
    (folder / "config.yaml").write_text(CONFIGURATION)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return what a command says that has to be refused, without its last line."""

    def call(*words: str) -> str:
        capsys.readouterr()
        assert run_command_line(list(words)) == 2
        stated = capsys.readouterr()
        assert stated.out == ""
        return stated.err.removesuffix("Fix this and run the command again.\n").rstrip("\n")

    return call


def add(name: str, *words: str, trove: str = "trove_htj") -> list[str]:
    given = ["--scores", f"{trove}.csv", "--fasta", f"{trove}.fasta"]
    return ["trove", "add", name, *given, *words]


def test_a_trove_is_added_listed_and_withdrawn(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(add("autumn", "--date", "2025-10-01")) == 0
    assert capsys.readouterr().err == (
        "Added trove 'autumn' to config.yaml, as release 01-autumn. Next: credence run\n"
    )
    text = (inside / "config.yaml").read_text()
    assert text.startswith(CONFIGURATION + '\ntroves:\n  - name: autumn\n    date: "2025-10-01"\n')
    assert run_command_line(add("winter", trove="trove_mixed")) == 0
    capsys.readouterr()
    assert run_command_line(["trove", "list"]) == 0
    assert capsys.readouterr().out == (
        "01-autumn\t2025-10-01\ttrove_htj.csv, trove_htj.fasta\tnot attached yet\n"
        "02-winter\tno date\ttrove_mixed.csv, trove_mixed.fasta\tnot attached yet\n"
    )
    assert run_command_line(["trove", "remove", "winter"]) == 0
    assert (inside / "config.yaml").read_text() == text


def test_one_that_others_follow_is_withdrawn_only_if_they_are_derived_anew(
    inside: Path, capsys: pytest.CaptureFixture[str], refused: Callable[..., str]
) -> None:
    assert refused("trove", "remove", "autumn") == (
        "config.yaml, column 'troves': there is no trove 'autumn'. "
        "Name the configuration that lists it: --config."
    )
    assert run_command_line(add("autumn")) == 0
    assert run_command_line(add("winter", trove="trove_mixed")) == 0
    assert refused("trove", "remove", "autumn") == (
        "config.yaml, column 'troves': 'winter' joined after 'autumn', beside what it added. "
        "Remove 'winter' first; or give --rederive, and the releases of those that follow are "
        "derived anew, with other numbers and digests."
    )
    (inside / "results/mine/releases/01-autumn").mkdir(parents=True)
    capsys.readouterr()
    assert run_command_line(["trove", "remove", "autumn", "--rederive"]) == 0
    assert capsys.readouterr().err == (
        "Removed trove 'autumn' from config.yaml. Derived anew by the next credence run: winter. "
        "No longer of use, delete them: results/mine/releases/01-autumn.\n"
    )


def test_all_that_is_wrong_with_a_trove_is_told_at_once_and_nothing_written(
    inside: Path, refused: Callable[..., str]
) -> None:
    assert run_command_line(add("autumn")) == 0
    before = (inside / "config.yaml").read_bytes()
    lines = content_lines(inside / "trove_htj.csv")
    cells = lines[2].split(",")
    lines[2] = ",".join([cells[0], "high", *cells[2:]])
    (inside / "broken.csv").write_text("\n".join(lines) + "\n")
    words = ["trove", "add", "Autumn", "--date", "1st May", "--scores", "broken.csv"]
    assert refused(*words) == (
        "NAME: 'Autumn' is taken by trove 'autumn'; capitals make no difference. "
        "Give each trove its own name.\n"
        "--fasta: repeats and relatives cannot be found without sequences. "
        "Give the FASTA file of this trove, as the calibration set has one.\n"
        "--date: '1st May' is not a date. Write it like 2026-11-21.\n"
        "broken.csv, line 3, column 'Major capsid': 'high' is not a number. "
        f"Give protein {cells[0]!r} a score or remove its row."
    )
    assert refused("trove", "add", "new", "--scores", "none.csv", "--fasta", "none.fasta") == (
        "--scores: there is no file 'none.csv'. "
        "Fix the path; it starts where you run the command.\n"
        "--fasta: there is no file 'none.fasta'. "
        "Fix the path; it starts where you run the command."
    )
    assert refused("trove", "remove", "autum") == (
        "config.yaml, column 'troves': there is no trove 'autum'. Did you mean 'autumn'?"
    )
    assert (inside / "config.yaml").read_bytes() == before


def test_a_date_after_today_or_before_that_of_an_earlier_trove_is_said(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(add("late", "--date", "2999-01-01")) == 0
    assert capsys.readouterr().err.splitlines()[0] == (
        "--date: 2999-01-01 is after today. Correct it, if it is wrong."
    )
    assert run_command_line(add("early", "--date", "2020-01-01", trove="trove_mixed")) == 0
    before = (
        "2020-01-01 is before the date of trove 'late', which joins earlier: 2999-01-01. "
        "Correct it, or the order of the troves, if one of the two is wrong."
    )
    assert capsys.readouterr().err.splitlines()[:-1] == [f"--date: {before}"]
    lines = content_lines(inside / "config.yaml")
    places = [at for at, line in enumerate(lines, start=1) if "date:" in line]
    assert run_command_line(["check", "config.yaml"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        f"config.yaml, line {places[0]}, column 'troves[0].date': 2999-01-01 is after today. "
        "Correct it, if it is wrong.",
        f"config.yaml, line {places[1]}, column 'troves[1].date': {before}",
        "config.yaml: no problems.",
    ]


def edited(folder: Path, edit: Callable[[list[str]], list[str]]) -> None:
    """Write the trove's table anew, as bad.csv."""
    lines = edit(content_lines(folder / "trove_htj.csv"))
    (folder / "bad.csv").write_text("\n".join(lines) + "\n")


def scaled(line: str) -> str:
    name, *cells = line.split(",")
    return ",".join([name, *(f"{float(cell) / 10:.4f}" for cell in cells)])


def test_a_class_that_the_set_does_not_have_is_told(
    inside: Path, refused: Callable[..., str]
) -> None:
    edited(
        inside, lambda lines: [lines[0], "needle_1" + lines[1][lines[1].index(",") :], *lines[2:]]
    )
    first = content_lines(inside / "trove_htj.csv")[1].split(",")[0]
    fasta = (inside / "trove_htj.fasta").read_text().replace(f">{first} ", ">needle_1 ", 1)
    (inside / "bad.fasta").write_text(fasta)
    stated = refused("trove", "add", "bad", "--scores", "bad.csv", "--fasta", "bad.fasta")
    assert stated == (
        "bad.csv, line 2: the name 'needle_1' carries the label 'needle', which is no class. "
        f"Known are: {', '.join(CLASS_NAMES)}. If it means one of them, state it in synonyms; "
        "else leave these proteins out, or take a classifier that knows it."
    )


def test_a_class_that_the_set_does_not_have_is_told_once_however_many_proteins_have_it(
    inside: Path, refused: Callable[..., str]
) -> None:
    rows = content_lines(inside / "trove_htj.csv")
    names = [row.split(",")[0] for row in rows[1:]]
    Path("labels.tsv").write_text("".join(f"{name}\tneedle\n" for name in ["id", *names]))
    text = Path("labels.tsv").read_text().replace("id\tneedle", "id\ttrue_class", 1)
    Path("labels.tsv").write_text(text)
    words = ["--scores", "trove_htj.csv", "--fasta", "trove_htj.fasta", "--labels", "labels.tsv"]
    assert refused("trove", "add", "bad", *words) == (
        f"labels.tsv, line 2, column 'true_class': 'needle' is no class ({len(names)} proteins, "
        f"{names[0]!r} first). Known are: {', '.join(CLASS_NAMES)}. If it means one of them, "
        "state it in synonyms; else leave these proteins out, or take a classifier that knows it."
    )


def test_another_scale_is_told(inside: Path, refused: Callable[..., str]) -> None:
    edited(inside, lambda lines: [lines[0], *map(scaled, lines[1:])])
    stated = refused("trove", "add", "bad", "--scores", "bad.csv", "--fasta", "trove_htj.fasta")
    assert stated.startswith("bad.csv")
    assert "10" in stated


def test_a_missing_record_a_repeated_id_and_an_empty_trove_are_told(
    inside: Path, refused: Callable[..., str]
) -> None:
    lines = content_lines(inside / "trove_htj.csv")
    first, last = lines[1].split(",")[0], lines[-1].split(",")[0]
    edited(inside, lambda rows: [*rows[:-1], rows[1]])
    stated = refused("trove", "add", "bad", "--scores", "bad.csv", "--fasta", "trove_htj.fasta")
    assert f"bad.csv, line {len(lines)}" in stated
    assert f"{first!r}" in stated
    edited(inside, lambda rows: rows[:-1])
    assert refused("trove", "add", "bad", "--scores", "bad.csv", "--fasta", "trove_htj.fasta") == (
        f"trove_htj.fasta, line {line_of(inside / 'trove_htj.fasta', last)}: "
        f"{last!r} has no row in bad.csv. Add the row there or remove this protein."
    )
    edited(inside, lambda rows: rows[:1])
    stated = refused("trove", "add", "bad", "--scores", "bad.csv", "--fasta", "trove_htj.fasta")
    assert stated.startswith("bad.csv: ")


def line_of(path: Path, name: str) -> int:
    return next(
        at for at, line in enumerate(content_lines(path), start=1) if line.startswith(f">{name} ")
    )


def test_a_table_without_labels_is_told(inside: Path, refused: Callable[..., str]) -> None:
    rows = content_lines(inside / "trove_htj.csv")
    plain = [rows[0], *(f"p{at}" + row[row.index(",") :] for at, row in enumerate(rows[1:]))]
    (inside / "plain.csv").write_text("\n".join(plain) + "\n")
    fasta = "".join(f">p{at}\nMKVLAAGIV\n" for at in range(len(rows) - 1))
    (inside / "plain.fasta").write_text(fasta)
    words = ("trove", "add", "bad", "--scores", "plain.csv", "--fasta", "plain.fasta")
    assert refused(*words, "--format", "phanns") == (
        "plain.csv: the table has no true classes, and only labelled proteins can calibrate. "
        "Give labels: a table of id and label, or a pattern for FASTA headers."
    )


def test_a_file_that_changed_or_vanished_since_it_was_added_is_told(
    inside: Path, refused: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(add("autumn")) == 0
    digests = json.loads(json.dumps(entry_of(inside)["sha256"]))
    path = inside / "trove_htj.fasta"
    path.write_text(path.read_text() + "\n")
    capsys.readouterr()
    assert run_command_line(["trove", "list"]) == 0
    assert "changed since it was added: trove_htj.fasta" in capsys.readouterr().out
    stated = refused("check", "config.yaml")
    was = digests["trove_htj.fasta"][:8]
    assert stated.startswith("trove_htj.fasta: its SHA-256 begins with ")
    assert stated.endswith(
        f", and with {was} when it was added. Put the file back as it was; or, where the change "
        "is meant, take its line out of sha256, and the releases from this trove on are derived "
        "anew."
    )
    path.unlink()
    assert refused("check", "config.yaml").endswith(
        "column 'troves[0].fasta': there is no file 'trove_htj.fasta'. "
        "Fix the path; it starts where you run the command."
    )


def entry_of(folder: Path) -> dict[str, dict[str, str]]:
    from credence.tables.document import read_document

    entry = read_document(folder / "config.yaml").data["troves"][0]
    assert isinstance(entry, dict)
    return entry


def test_every_planted_protein_has_the_outcome_that_it_was_planted_for(inside: Path) -> None:
    words = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    assert run_command_line([*words, *ATTACH, "--out", "one"]) == 0
    table = read_attached(inside / "one" / "attach.tsv")
    outcome = dict(zip(table["id"], table["outcome"], strict=True))
    relative = dict(zip(table["id"], table["relative"], strict=True))
    expected = {
        "exact_repeat": "exact_repeat",
        "label_conflict": "label_conflict",
        "relative_of_training": "training_relative",
        "joins_family": "added",
        "bridge": "bridges_groups",
    }
    planted = [line.split("\t") for line in content_lines(inside / "planted.tsv")[1:]]
    seen = 0
    for id_, kind, sources in planted:
        if kind in expected and id_ in outcome:
            if kind == "bridge" and len(set(groups_of(inside, sources.split(",")))) == 1:
                continue  # both ends are in one group here, so that it may join
            assert outcome[id_] == expected[kind], (id_, kind)
            assert (
                kind == "bridge" or relative[id_] in sources.split(",") or kind == "joins_family"
            )
            seen += 1
    assert seen >= 13
    within = {id_ for id_, kind, _ in planted if kind == "repeat_within"}
    assert sum(outcome[id_] == "repeat_within" for id_ in outcome) == len(within) == 3
    assert sum(read_attach_summary(inside / "one" / "attach.json").counts.values()) == len(outcome)


def test_what_joins_is_audited_by_exact_alignment_with_all_of_other_groups(
    inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    assert run_command_line([*words, *ATTACH, "--out", "one"]) == 0
    sound = read_attach_summary(inside / "one" / "attach.json")
    n_added = sound.counts["added"]
    assert sound.audit == JoinedAudit(n=n_added, n_examined=n_added, n_crossing=0)
    # A search that finds nobody puts relatives into other groups: the audit does not rely on it.
    nobody = attaching.TroveSearch()
    monkeypatch.setattr(attaching, "SequenceSearch", lambda **_: nobody)
    assert run_command_line([*words, *ATTACH, "--out", "two"]) == 0
    blind = read_attach_summary(inside / "two" / "attach.json")
    assert blind.audit.n_examined == blind.counts["added"] > n_added
    assert blind.audit.n_crossing > 0
    # Where no audit is asked for nobody is examined, and nobody is said to be.
    assert run_command_line([*words, *ATTACH, "--audit", "none", "--out", "three"]) == 0
    unknown = read_attach_summary(inside / "three" / "attach.json").audit
    assert (unknown.n_examined, unknown.n_crossing) == (0, 0)


def groups_of(folder: Path, ids: list[str]) -> list[str]:
    table = read_groups(folder / "groups.tsv")
    home = dict(zip(table.ids, table.group, strict=True))
    return [home[id_] for id_ in ids]


def test_rows_in_any_order_and_the_same_trove_again_give_the_same_bytes(inside: Path) -> None:
    lines = content_lines(inside / "trove_mixed.csv")
    (inside / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    for table, out in (("trove_mixed.csv", "one"), ("turned.csv", "two")):
        words = ["attach", table, "--name", "mixed", "--fasta", "trove_mixed.fasta"]
        assert run_command_line([*words, *ATTACH, "--out", out]) == 0
    for name in ("samples.parquet", "groups.tsv", "attach.tsv", "added.fasta"):
        assert (inside / "one" / name).read_bytes() == (inside / "two" / name).read_bytes(), name
    again = [
        *("attach", "trove_mixed.csv", "--name", "again", "--fasta", "trove_mixed.fasta"),
        *("--samples", "one/samples.parquet", "--samples-format", "credence"),
        *("--groups", "one/groups.tsv", "--proteins", "base.fasta"),
        *("--added", "one/added.fasta", "--training", "training.fasta", "--engine", "exact"),
        *("--spec", '{"format": "phanns-labelled"}', "--out", "three"),
    ]
    assert run_command_line(again) == 0
    for name in ("samples.parquet", "groups.tsv"):
        assert (inside / "one" / name).read_bytes() == (inside / "three" / name).read_bytes()
    summary = read_attach_summary(inside / "three" / "attach.json")
    assert summary.counts["added"] == 0
    assert summary.n_rescored == 0
    for folder in ("one", "three"):
        fit = [
            "fit",
            f"{folder}/samples.parquet",
            "--format",
            "credence",
            "--method",
            "class_only",
        ]
        words = [
            "--groups",
            f"{folder}/groups.tsv",
            "--resamples",
            "20",
            "--out",
            f"{folder}/c.json",
        ]
        assert run_command_line([*fit, *words]) == 0
        words = ["release", folder, "--samples", f"{folder}/samples.parquet", "--samples-format"]
        words += ["credence", "--groups", f"{folder}/groups.tsv", "--calibration"]
        assert (
            run_command_line([*words, f"{folder}/c.json", "--out", f"{folder}/release.json"]) == 0
        )
    assert (inside / "one/c.json").read_bytes() == (inside / "three/c.json").read_bytes()
    one, three = (read_release(inside / folder) for folder in ("one", "three"))
    assert one.set == three.set == json.loads((inside / "one/c.json").read_text())["release"]
    assert one.digest != three.digest  # their names differ


def test_a_trove_that_adds_nothing_is_a_release_that_another_follows(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = content_lines(inside / "base.csv")
    names = {row.split(",")[0] for row in rows[1:13]}
    records = (inside / "base.fasta").read_text().split(">")
    known = [record for record in records if record.split(" ")[0] in names]
    (inside / "known.csv").write_text("\n".join(rows[:13]) + "\n")
    (inside / "known.fasta").write_text("".join(f">{record}" for record in known))
    # The same proteins under labels that they do not have.
    labels = {name: "Portal" if "portal" not in name else "HTJ" for name in names}
    cells = ["id\ttrue_class", *(f"{name}\t{label}" for name, label in sorted(labels.items()))]
    (inside / "conflicts.tsv").write_text("\n".join(cells) + "\n")
    table = ["attach", "known.csv", "--name", "known", "--fasta", "known.fasta", *ATTACH]
    conflicts = ["--labels", '{"table": "conflicts.tsv"}', "--spec", '{"format": "phanns"}']
    mixed = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    assert run_command_line([*mixed, *ATTACH, "--out", "at_once"]) == 0
    for out, more, counts in (
        ("repeats", [], "12 exact_repeat"),
        ("conflicts", conflicts, "12 label_conflict"),
    ):
        capsys.readouterr()
        assert run_command_line([*table, *more, "--out", out]) == 0
        assert capsys.readouterr().err == (f"Wrote {out}: {counts}. Trove 'known' adds nothing.\n")
        assert (inside / out / "added.fasta").read_bytes() == b""
        after = [*mixed, *ATTACH, "--samples", f"{out}/samples.parquet"]
        after += ["--samples-format", "credence", "--groups", f"{out}/groups.tsv"]
        after += ["--added", f"{out}/added.fasta", "--out", f"after_{out}"]
        assert run_command_line(after) == 0
        for name in ("samples.parquet", "groups.tsv", "added.fasta", "attach.tsv"):
            made = inside / f"after_{out}" / name
            assert made.read_bytes() == (inside / "at_once" / name).read_bytes(), (out, name)


def test_old_rows_stay_in_front_as_they_were(inside: Path) -> None:
    words = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    assert run_command_line([*words, *ATTACH, "--out", "one"]) == 0
    before, after = content_lines(inside / "groups.tsv"), content_lines(inside / "one/groups.tsv")
    assert after[: len(before)] == before


def test_scores_that_are_not_the_old_ones_of_the_same_proteins_are_told(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = content_lines(inside / "base.csv")
    other = [rows[0]]
    for row in rows[1:6]:
        name, *cells = row.split(",")
        place = max(range(len(cells)), key=lambda at: float(cells[at]))
        least = min(range(len(cells)), key=lambda at: float(cells[at]))
        cells[place] = f"{float(cells[place]) - 0.5:.2f}"
        cells[least] = f"{float(cells[least]) + 0.5:.2f}"
        other.append(",".join([name, *cells]))
    (inside / "rescored.csv").write_text("\n".join(other) + "\n")
    names = [row.split(",")[0] for row in other[1:]]
    records = (inside / "base.fasta").read_text().split(">")
    kept = [record for record in records if record.split(" ")[0] in names]
    (inside / "rescored.fasta").write_text("".join(f">{record}" for record in kept))
    capsys.readouterr()
    words = ["attach", "rescored.csv", "--name", "old", "--fasta", "rescored.fasta"]
    assert run_command_line([*words, *ATTACH, "--out", "one"]) == 0
    assert capsys.readouterr().err == (
        "Wrote one: 5 exact_repeat. Trove 'old' adds nothing.\n"
        "old: 5 of 5 exact repeats have other scores than before. One classifier gives one "
        "protein one score: see whether the table is of the version that is calibrated.\n"
    )


def test_other_scores_of_the_same_proteins_are_told_wherever_the_trove_is_shown(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line(add("autumn")) == 0
    summary = AttachSummary(
        name="autumn",
        class_names=CLASS_NAMES,
        counts={"exact_repeat": 3, "added": 4},
        n_joined=2,
        n_founded=2,
        n_rescored=1,
        added_by_class={},
        inputs=(),
        audit=JoinedAudit(n=0, n_examined=0, n_crossing=0),
    )
    stated = (
        "autumn: 1 of 3 exact repeats has other scores than before. One classifier gives one "
        "protein one score: see whether the table is of the version that is calibrated."
    )
    run = load("config.yaml").run
    folder = Path("results", run, "releases", "01-autumn")
    folder.mkdir(parents=True)
    write_record(folder / "attach.json", summary)
    capsys.readouterr()
    assert run_command_line(["trove", "list"]) == 0
    assert capsys.readouterr().out.endswith(f"\t3 exact_repeat, 4 added. {stated}\n")
    _say_rescored(Path("results", run), ["01-autumn"])
    assert capsys.readouterr().err == f"{stated}\n"


def test_a_release_record_that_was_edited_is_refused(
    inside: Path, refused: Callable[..., str]
) -> None:
    fit = ["fit", "base.csv", "--format", "phanns-labelled", "--method", "class_only"]
    assert run_command_line([*fit, "--groups", "groups.tsv", "--out", "c.json"]) == 0
    words = ["release", "base", "--samples", "base.csv", "--samples-format", "phanns-labelled"]
    words += ["--groups", "groups.tsv", "--calibration", "c.json"]
    assert run_command_line([*words, "--out", "release.json"]) == 0
    record = json.loads((inside / "release.json").read_text())
    assert record["counts"]["n_calibration"] == 150
    (inside / "other.json").write_text(json.dumps(record | {"date": "2020-01-01"}))
    assert refused(*words, "--parent", "other.json", "--out", "next.json") == (
        "other.json: its digest does not fit its content: the file was changed after it was "
        "written. Derive the release again: credence run."
    )


def test_a_release_is_named_or_its_folder_is(inside: Path, refused: Callable[..., str]) -> None:
    words = ("annotate", "base.csv", "--format", "phanns-labelled", "--out", "conf.tsv")
    assert refused(*words) == (
        "--calibration: a calibration is named by its file or by its release. "
        "Give --calibration or --release, one of the two."
    )
    assert refused(*words, "--release", "bas") == (
        "--release: 'bas' is no release of config.yaml. Did you mean 'base'?"
    )
    path = "results/mine/releases/00-base/calibrations/class_only.json"
    assert refused(*words, "--release", "base") == (
        f"--release: release 'base' was not derived yet: there is no file {path}. "
        "Run credence run --config config.yaml first."
    )
    fit = ["fit", "base.csv", "--format", "phanns-labelled", "--method", "class_only"]
    assert run_command_line([*fit, "--groups", "groups.tsv", "--out", path]) == 0
    for release in ("base", "00-base", "results/mine/releases/00-base"):
        assert run_command_line([*words, "--release", release]) == 0
        assert len(content_lines(inside / "conf.tsv")) == 151


@pytest.mark.long
@pytest.mark.parametrize("engine", ["mmseqs", "kmer"])
def test_every_engine_offers_the_search_of_new_against_old(inside: Path, engine: str) -> None:
    words = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    for name in ("exact", engine):
        given = [name if word == "exact" else word for word in ATTACH]
        assert run_command_line([*words, *given, "--out", name]) == 0
    wanted, got = (
        read_attach_summary(inside / name / "attach.json").counts for name in ("exact", engine)
    )
    assert got == wanted
    assert wanted["training_relative"] == 3


def family_of(folder: Path, part: str) -> dict[str, str]:
    cells = [line.split("\t") for line in content_lines(folder / "families.tsv")[1:]]
    return {id_: family for id_, set_, family, _ in cells if set_ == part}


def write_clusters(path: Path, home: dict[str, str]) -> None:
    rows = [f"{id_}\t{cluster}" for id_, cluster in home.items()]
    path.write_text("\n".join(["id\tcluster", *rows]) + "\n")


def test_given_clusters_are_given_for_the_trove_too(
    inside: Path, refused: Callable[..., str]
) -> None:
    old = family_of(inside, "calibration") | family_of(inside, "training")
    write_clusters(inside / "old.tsv", old)
    new = family_of(inside, "trove_mixed")
    write_clusters(inside / "new.tsv", new)
    words = ["attach", "trove_mixed.csv", "--name", "mixed", "--fasta", "trove_mixed.fasta"]
    given = [*words, *ATTACH, "--clusters", "old.tsv", "--out", "one"]
    assert refused(*given) == (
        "--trove-clusters: the calibration set has a table of clusters, and this trove has none. "
        "Give its table: id and cluster."
    )
    assert run_command_line([*given, "--trove-clusters", "new.tsv"]) == 0
    table = read_attached(inside / "one" / "attach.tsv")
    learnt = set(family_of(inside, "training").values())
    for id_, outcome in zip(table["id"], table["outcome"], strict=True):
        if outcome in ("added", "bridges_groups", "training_relative"):
            assert (outcome == "training_relative") == (new[id_] in learnt)
    write_clusters(inside / "new.tsv", dict(list(new.items())[1:]))
    first = next(iter(new))
    assert refused(*given, "--trove-clusters", "new.tsv") == (
        f"new.tsv: there is no row for {first!r} of the trove. Add it."
    )


def test_without_sequences_ids_tell_repeats_and_conflicts(inside: Path) -> None:
    rows = content_lines(inside / "base.csv")
    fresh = "HTJ_9999" + rows[1][rows[1].index(",") :]
    (inside / "again.csv").write_text("\n".join([*rows[:4], fresh]) + "\n")
    words = ["attach", "again.csv", "--name", "again", "--spec", '{"format": "phanns-labelled"}']
    set_ = ["--samples", "base.csv", "--samples-format", "phanns-labelled"]
    assert run_command_line([*words, *set_, "--groups", "groups.tsv", "--out", "one"]) == 0
    counts = read_attach_summary(inside / "one" / "attach.json").counts
    assert (counts["exact_repeat"], counts["added"]) == (3, 1)
    assert not (inside / "one" / "added.fasta").exists()
