from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import refusals
from credence.app import run_command_line
from credence.simulate.law import WorldSettings
from small_worlds import rows_of, write_world

SMALL = WorldSettings(
    n_calibration=90, n_query=20, n_training=30, n_trove=9, n_defects=2, n_training_relatives=3
)
SPLIT = ("split", "demo/calibration.csv", "--format", "phanns-labelled")
NEEDS_CD_HIT = pytest.mark.skipif(shutil.which("cd-hit") is None, reason="CD-HIT is not installed")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("split"), SMALL)


def refused(capsys: refusals.Stated, *words: str) -> str:
    message = refusals.refused(capsys, *words, "--out", "never.tsv")
    assert not Path("never.tsv").exists()
    return message


def records(path: Path) -> list[tuple[str, str]]:
    parts = path.read_text().split(">")[1:]
    return [(part.split("\n", 1)[0], part.split("\n", 1)[1]) for part in parts]


def write_records(path: Path, chosen: list[tuple[str, str]]) -> None:
    path.write_text("".join(f">{header}\n{text}" for header, text in chosen))


@pytest.mark.long
def test_clusters_are_the_same_in_any_order_and_with_any_threads(inside: Path) -> None:
    assert run_command_line(["cluster", "demo/proteins.fasta", "--out", "one.tsv"]) == 0
    shuffled = records(Path("demo/proteins.fasta"))
    np.random.default_rng(4).shuffle(shuffled)
    write_records(Path("shuffled.fasta"), shuffled)
    words = ["cluster", "shuffled.fasta", "--threads", "2", "--out", "two.tsv"]
    assert run_command_line(words) == 0
    one, two = (Path(name).read_text().splitlines() for name in ("one.tsv", "two.tsv"))
    assert one != two
    assert sorted(one) == sorted(two)


def test_nothing_crosses_what_strict_split_has_joined(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--audit", "exhaustive"]
    assert run_command_line([*words, "--strict", "join", "--groups", "4", "--out", "g.tsv"]) == 0
    stated = capsys.readouterr().err
    assert re.search(
        r"^Relatives align with identity of at least 0\.40 over at least 0\.80 of the shorter .*"
        r" \d+ clusters were joined with others for what the audit found\..*\n"
        r"Of all 90 proteins in groups, 0 have a relative in another group\.$",
        stated,
        re.M,
    )
    assert stated.endswith("Wrote g.tsv: 90 calibration.\n")
    assert len({row["cluster"] for row in rows_of("g.tsv")}) < 90


def test_an_exhaustive_audit_in_shares_writes_the_same_bytes_and_leaves_no_pieces(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--audit", "exhaustive"]
    assert run_command_line([*words, "--summary", "a.json", "--out", "a.tsv"]) == 0
    words += ["--pieces", "pieces"]
    for number in (2, 1):
        assert run_command_line([*words, "--share", f"audit:{number}/2", "--out", "done.txt"]) == 0
        assert Path("done.txt").read_text() == f"share audit:{number}/2\n"
    # Alignments are read where they were kept: a lost one is made again.
    kept = sorted(Path("pieces").glob("*/audit-*.npz"))
    assert len(kept) == 2
    kept[0].unlink()
    assert run_command_line([*words, "--summary", "b.json", "--out", "b.tsv"]) == 0
    assert Path("a.tsv").read_bytes() == Path("b.tsv").read_bytes()
    assert Path("a.json").read_bytes() == Path("b.json").read_bytes()
    assert not Path("pieces").exists()
    assert refused(capsys, *words[:-4], "--audit", "sample", *words[-2:]) == (
        "--pieces: only an exhaustive audit works in pieces. Leave --pieces out.\n"
    )
    assert refused(capsys, *words, "--share", "search:1/2") == (
        "--share: 'search:1/2' is no share of a step. "
        "Write 1/8 of audit as audit:1/8; 0/8 comes first.\n"
    )


def test_a_split_without_clusters_is_told_what_crosses_it_and_what_to_do(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--groups", "4", "--strict", "report"]
    assert run_command_line([*words, "--audit", '{"cells": 1e8}', "--out", "g.tsv"]) == 0
    stated = capsys.readouterr().err
    lead = re.search(
        r"^Of (\d+) of the 90 proteins in groups, taken at random and compared with all of other "
        r"groups, (\d+) have a relative there, and so have (\d+) others that were met; with 95 % "
        r"confidence at most (\d+\.\d\d) % of all do\.$",
        stated,
        re.M,
    )
    assert lead is not None
    assert 0 < int(lead[2]) + int(lead[3]) < 0.9 * float(lead[4]) < 90
    assert int(lead[2]) <= int(lead[1]) < 90
    pair = r"^  \S+ of group \d and \S+ of group \d: identity [01]\.\d\d, coverage [01]\.\d\d$"
    assert len(re.findall(pair, stated, re.M)) == 3
    assert "To prevent this, give --strict join or set_aside.\n" in stated


def test_a_budget_is_refused_by_the_setting_that_is_wrong(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--audit"]
    assert refused(capsys, *words, '{"sells": 1e8}') == (
        "--audit, column 'cells': this setting is missing. Add it.\n"
        "--audit, column 'sells': unknown setting. Did you mean 'cells'?\n"
    )
    assert refused(capsys, *words, '{"cells": 0}') == (
        "--audit, column 'cells': 0 is out of range. Give a number above 0.\n"
    )
    assert refused(capsys, *words, "exhaustiv") == (
        "--audit: 'exhaustiv' is no audit. Did you mean 'exhaustive'?\n"
    )


def test_a_split_with_sequences_is_audited_and_joined_unless_asked_otherwise(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--groups", "4"]
    assert run_command_line([*words, "--out", "g.tsv"]) == 0
    joined = r" \d+ clusters were joined .*\nOf .* proteins in groups, .*\b0 have a relative "
    assert re.search(joined, capsys.readouterr().err)
    assert run_command_line([*words, "--audit", "none", "--out", "g.tsv"]) == 0
    assert capsys.readouterr().err.count("Nothing says which proteins are relatives") == 1


def test_setting_aside_names_the_relative_and_its_group(inside: Path) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--audit", "exhaustive"]
    # So small groups that families do not fit in one, or they would be joined.
    words += ["--strict", "set_aside", "--groups", "30"]
    assert run_command_line([*words, "--out", "apart.tsv"]) == 0
    rows = rows_of("apart.tsv")
    apart = [row for row in rows if row["role"] == "set_aside"]
    assert 0 < len(apart) < len(rows) / 2
    reason = r"relative of protein '\S+' of group \d+ \(identity [01]\.\d\d\)"
    assert all(re.fullmatch(reason, row["reason"]) and row["group"] == "" for row in apart)


@NEEDS_CD_HIT
def test_phanns_recipe_is_reproduced_and_its_leakage_is_told(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--proteins", "demo/proteins.fasta", "--recipe", "phanns"]
    words += ["--training", "demo/training.fasta", "--groups", "3"]
    assert run_command_line([*words, "--audit", "exhaustive", "--out", "phanns.tsv"]) == 0
    stated = capsys.readouterr().err
    assert stated.startswith(
        "PhANNs' recipe: CD-HIT in each class, clusters given to groups in turn.\n"
    )
    found = re.search(r"^Of all 90 proteins in groups, (\d+) have a ", stated, re.M)
    assert found is not None
    assert int(found[1]) > 0
    assert "To prevent this, leave --recipe phanns out.\n" in stated
    groups: dict[str, set[str]] = {}
    for row in rows_of("phanns.tsv"):
        assert row["role"] == ("training" if row["group"] == "training" else "calibration")
        groups.setdefault(row["cluster"], set()).add(row["group"])
    assert all(len(of) == 1 for of in groups.values())
    # Dealt in turn: of each class's clusters the first is in group 1, the second in 2.
    kinds = {name.split(":")[0] for name in groups if not name.startswith("training")}
    for kind in kinds:
        mine = [name for name in groups if name.split(":")[0] == kind]
        mine.sort(key=lambda name: int(name.split(":")[1]))
        assert [min(groups[name]) for name in mine] == [
            str(place % 3 + 1) for place in range(len(mine))
        ]


def test_phanns_recipe_says_all_that_it_does_not_go_with(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--recipe", "phanns", "--strict", "join", "--clusters", "one.tsv"]
    assert refused(capsys, *words) == (
        "--recipe: PhANNs' recipe clusters the sequences itself. Give --proteins.\n"
        "--clusters: PhANNs' recipe makes its own clusters. Leave --clusters out.\n"
        "--strict: PhANNs' recipe is reproduced as published, with its leakage. "
        "Leave --strict out, or choose --recipe balanced.\n"
    )


def test_phanns_recipe_without_cd_hit_says_how_to_install_it(
    inside: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("credence.relatives.cdhit.shutil.which", lambda name: None)
    words = [*SPLIT, "--recipe", "phanns", "--proteins", "demo/proteins.fasta"]
    assert refused(capsys, *words) == (
        "cd-hit: CD-HIT is not installed. Install it: conda install -c bioconda cd-hit "
        "(Debian: sudo apt install cd-hit).\n"
    )


def test_rows_without_sequence_and_sequences_without_row_are_all_listed(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = records(Path("demo/proteins.fasta"))
    names = [header.split()[0] for header, _ in kept]
    write_records(Path("odd.fasta"), [*kept[2:], ("stranger", "MKVLAAGIVGLCAK\n")])
    line = 1 + Path("odd.fasta").read_text().split(">stranger")[0].count("\n")
    stated = refused(capsys, *SPLIT, "--proteins", "odd.fasta", "--audit")
    table = "demo/calibration.csv"
    missing = [f"{name!r} has no protein in odd.fasta." for name in names[:2]]
    message = stated.splitlines()
    assert len(message) == 3
    for text in missing:
        assert any(
            re.fullmatch(
                rf"{re.escape(table)}(, line \d+)?: {re.escape(text)} "
                r"Add the protein there or remove this row\.",
                one,
            )
            for one in message
        )
    assert message[-1] == (
        f"odd.fasta, line {line}: 'stranger' has no row in {table}. "
        "Add the row there or remove this protein."
    )


def test_an_audit_without_sequences_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, *SPLIT, "--audit") == (
        "--audit: an audit aligns sequences, and none are given. Give --proteins.\n"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "bad.fasta: the file is empty. Give a FASTA file of proteins.\n"),
        (
            ">a\nMKVLY\n>a\nMKVLYWW\n",
            "bad.fasta, line 3: the id 'a' stands in line 1 already, with another sequence. "
            "Give one of them another id.\n",
        ),
        (
            ">a\nACGTACGTACGTAACCGGTTACGTACGTACGTAACCGGTT\n",
            "bad.fasta, line 1: protein 'a' is DNA or RNA: it has no letter but A, C, G, T, U, N. "
            "Translate it to protein.\n",
        ),
    ],
    ids=["empty", "repeated", "DNA"],
)
def test_what_is_no_protein_file_is_not_clustered(
    text: str, expected: str, inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.fasta").write_text(text)
    assert refused(capsys, "cluster", "bad.fasta") == expected


def test_an_unknown_engine_is_answered_with_the_nearest(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("cluster", "demo/proteins.fasta", "--engine", "mmseq")
    assert refused(capsys, *words) == ("--engine: 'mmseq' is no engine. Did you mean 'mmseqs'?\n")


def test_a_cluster_file_that_lacks_proteins_names_them(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_records(Path("two.fasta"), [("a", "MKVLAAGIVGLCAK\n"), ("b", "MKVLAAGIVG\n")])
    Path("x.clstr").write_text(">Cluster 0\n0\t14aa, >a... *\n")
    assert refused(capsys, "cluster", "two.fasta", "--clstr", "x.clstr") == (
        "x.clstr: 'b' is in none of its clusters. Cluster all proteins.\n"
    )


def test_relatives_are_not_looked_for_without_a_training_set(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "cluster", "demo/proteins.fasta", "--relatives", "r.tsv") == (
        "--relatives: there is no training set. Give --training, or leave it out.\n"
    )


def test_a_test_group_that_nobody_would_be_in_is_refused(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*SPLIT, "--test-group", "--groups"]
    assert refused(capsys, *words, "91") == (
        "--test-group: The test group would be empty: 90 clusters for 91 groups. "
        "Give --groups of at most 90, or leave --test-group out.\n"
    )
    assert run_command_line([*words, "90", "--out", "g.tsv"]) == 0
    assert [row["role"] for row in rows_of("g.tsv")].count("test") == 1
    assert "empty" not in capsys.readouterr().err


def test_groups_beyond_the_clusters_are_told_and_no_protein_is_called_too_large(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command_line([*SPLIT, "--groups", "200", "--out", "g.tsv"]) == 0
    stated = capsys.readouterr().err
    assert "Some of the 200 groups are empty: there are too few clusters.\n" in stated
    assert "more than a group" not in stated


def test_a_table_of_ones_own_clusters_is_not_said_to_be_aligned(inside: Path) -> None:
    ids = [row["id"] for row in rows_of("demo/truth/families.tsv")]
    own = "".join(f"{name}\tc{at % 30}\n" for at, name in enumerate(ids))
    Path("own.tsv").write_text(f"id\tcluster\n{own}")
    copied = "".join(f"{name}\tc{at}\t{name}\t1\t1\n" for at, name in enumerate(ids))
    Path("made.tsv").write_text(f"id\tcluster\trepresentative\tidentity\tcoverage\n{copied}")
    said = {}
    for name, words in {
        "nothing": (),
        "own": ("--clusters", "own.tsv"),
        "made": ("--clusters", "made.tsv"),
        "copied": ("--clusters", "made.tsv", "--own-clusters"),
    }.items():
        more = ("--summary", "split.json", "--out", "g.tsv")
        assert run_command_line([*SPLIT, "--groups", "4", *words, *more]) == 0
        found = json.loads(Path("split.json").read_text())
        said[name] = found["clusters"], found["n_training"]
    assert said == {
        "nothing": ("none", 0),
        "own": ("table", 0),
        "made": ("aligned", 0),
        "copied": ("table", 0),
    }
