"""``credence split`` of proteins that no classifier has scored."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import credence
from credence.app import run_command_line
from refusals import refused
from small_worlds import rows_of

CLASSES = ("Collar", "Portal")
N_FAMILIES = 20  # of each class, of two proteins


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with labels, sequences and clusters of proteins; pairs are alike."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    labels, clusters = ["id\ttrue_class"], ["id\tcluster"]
    fastas: dict[str, list[str]] = {name: [] for name in CLASSES}
    for number in range(N_FAMILIES * len(CLASSES)):
        name = CLASSES[number % len(CLASSES)]
        residues = "".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), 60))
        for member in "ab":
            id_ = f"p{number}{member}"
            labels.append(f"{id_}\t{name}")
            clusters.append(f"{id_}\tc{number}")
            fastas[name].append(f">{id_} label={name}\n{residues}\n")
    Path("labels.tsv").write_text("\n".join(labels) + "\n")
    Path("clusters.tsv").write_text("\n".join(clusters) + "\n")
    for name, records in fastas.items():
        Path(f"{name}.fasta").write_text("".join(records))
    Path("all.fasta").write_text("".join(chain.from_iterable(fastas.values())))
    return tmp_path


def split(*words: str) -> list[dict[str, str]]:
    assert run_command_line(["split", *words, "--out", "groups.tsv"]) == 0
    rows = rows_of("groups.tsv")
    assert list(rows[0]) == ["id", "cluster", "group", "role", "reason", "class"]
    return rows


def test_labels_alone_are_split_and_the_class_stands_beside(folder: Path) -> None:
    rows = split("--labels", "labels.tsv", "--clusters", "clusters.tsv", "--groups", "4")
    known = dict(line.split("\t") for line in Path("labels.tsv").read_text().splitlines()[1:])
    assert {row["id"]: row["class"] for row in rows} == known
    assert {row["role"] for row in rows} == {"calibration"}
    counts = Counter((row["group"], row["class"]) for row in rows)
    assert set(counts.values()) == {10}  # 40 of each class, in four groups
    homes = pd.DataFrame(rows).groupby("cluster")["group"].nunique()
    assert (homes == 1).all()
    # A score table gives the same groups.
    lines = ["id,true_class,Collar,Portal", *(f"{k},{v},0.5,0.5" for k, v in known.items())]
    Path("scores.csv").write_text("\n".join(lines) + "\n")
    words = ("--format", "credence", "--spec", '{"scale": 1}', "--clusters", "clusters.tsv")
    assert split("scores.csv", *words, "--groups", "4") == rows


def test_every_reader_of_labels_is_there(folder: Path) -> None:
    rows = split("--labels", "labels.tsv", "--groups", "4")
    renamed = Path("labels.tsv").read_text().replace("id\ttrue_class", "name\tclass", 1)
    Path("renamed.tsv").write_text(renamed)
    columns = '{"table": "renamed.tsv", "id_column": "name", "label_column": "class"}'
    assert split("--labels", columns, "--groups", "4") == rows
    pattern = '{"pattern": "label=(?P<label>\\\\S+)"}'
    further = ("--proteins", "all.fasta", "--audit", "none", "--groups", "4")
    assert split("--labels", pattern, *further) == sorted(
        rows, key=lambda row: (row["class"], int(row["id"][1:-1]), row["id"])
    )


def test_a_file_for_each_class_needs_no_labels(folder: Path) -> None:
    words = [word for name in CLASSES for word in ("--class", name, f"{name}.fasta")]
    rows = split(*words, "--audit", "exhaustive", "--groups", "4")
    assert Counter(row["class"] for row in rows) == {"Collar": 40, "Portal": 40}
    homes = {row["id"]: row["group"] for row in rows}
    assert all(homes[f"p{k}a"] == homes[f"p{k}b"] for k in range(40))  # joined by the audit
    found = credence.split(
        fastas={name: f"{name}.fasta" for name in CLASSES},
        engine="exact", audit="exhaustive", groups=4,
    ).to_pandas()  # fmt: skip
    assert dict(zip(found["id"], found["group"], strict=True)) == homes


@pytest.mark.parametrize(
    ("roles", "counts"),
    [
        ('{"training": 0.8, "validation": 0.1, "test": 0.1}', (64, 8, 8)),
        ('{"training": 3, "validation": 1, "test": 1}', (48, 16, 16)),
    ],
)
def test_roles_are_chosen_by_shares_or_by_numbers_of_groups(
    folder: Path, roles: str, counts: tuple[int, ...]
) -> None:
    rows = split("--labels", "labels.tsv", "--clusters", "clusters.tsv", "--roles", roles)
    held = Counter(row["role"] for row in rows)
    assert tuple(held[role] for role in ("training", "validation", "test")) == counts
    by_class = Counter((row["role"], row["class"]) for row in rows)
    for role in held:  # each class has its share of each role
        assert by_class[role, "Collar"] == by_class[role, "Portal"]
    homes = pd.DataFrame(rows).groupby("cluster")["role"].nunique()
    assert (homes == 1).all()


def test_in_python_the_same(folder: Path) -> None:
    roles = '{"training": 0.8, "test": 0.2}'
    rows = split("--labels", "labels.tsv", "--clusters", "clusters.tsv", "--roles", roles)
    asked = {"clusters": "clusters.tsv", "roles": {"training": 0.8, "test": 0.2}}
    table = pd.read_csv("labels.tsv", sep="\t")
    for labels in ("labels.tsv", table, dict(zip(table["id"], table["true_class"], strict=True))):
        found = credence.split(labels=labels, **asked).to_pandas()
        assert found.astype(str).to_dict("records") == rows
    with pytest.raises(credence.InputError) as refusal:
        credence.split("scores.csv", labels="labels.tsv")
    assert str(refusal.value) == (
        "table: the labelled proteins are to be given in exactly one way. Give one of table, "
        "labels and fastas."
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (),
            "TABLE: the labelled proteins are to be given in exactly one way. Give one of TABLE, "
            "--labels and --class.",
        ),
        (
            ("--labels", "labels.tsv", "--roles", '{"training": 0.5, "test": 0.1}'),
            "--roles: its values sum to 0.6; they are neither shares that sum to 1 nor "
            "numbers of groups, two or more in all. Give whole numbers of groups, or shares that "
            "sum to 1.",
        ),
        (
            ("--labels", "labels.tsv", "--roles", '{"training": 0.6667, "test": 0.3333}'),
            "--roles: its shares have more than two decimals. Round them: 0.33, say.",
        ),
        (
            ("--labels", "labels.tsv", "--roles", '{"train": 0.8, "test": 0.2}'),
            "--roles, column 'train': unknown setting. Did you mean 'training'?",
        ),
        (
            ("--labels", "labels.tsv", "--roles", '{"training": 1, "test": 1}', "--groups", "3"),
            "--groups: --roles says how many groups there are. Leave one of them out.",
        ),
        (
            ("--labels", "labels.tsv", "--roles", '{"training": 1, "test": 1}', "--test-group"),
            "--test-group: --roles says what is for what. Leave one of them out.",
        ),
        (
            ("--class", "A", "Portal.fasta", "--class", "B", "Portal.fasta"),
            "Portal.fasta: this file is given twice. Name it once.",
        ),
        (
            ("--class", "A", "one.fasta", "--class", "B", "two.fasta"),
            "two.fasta, line 1: protein 'p' is in one.fasta already. Give each protein one class.",
        ),
        (
            ("--class", "A", "one.fasta", "--proteins", "all.fasta"),
            "--proteins: the files of --class hold the sequences. Leave --proteins out.",
        ),
        (
            ("--labels", "some.tsv"),
            "some.tsv, line 3, column 'true_class': 'q' has no label. Give it one, or remove its "
            "row.",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    for name in ("one", "two"):
        Path(f"{name}.fasta").write_text(">p\nMKVLA\n")
    Path("some.tsv").write_text("id\ttrue_class\np\tPortal\nq\t\n")
    assert refused(capsys, "split", *words, "--out", "groups.tsv") == f"{message}\n"


def test_a_role_that_nobody_would_have_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("few.tsv").write_text("id\ttrue_class\np\tPortal\nq\tPortal\n")
    roles = '{"training": 1, "validation": 1, "test": 1}'
    message = refused(
        capsys, "split", "--labels", "few.tsv", "--roles", roles, "--out", "groups.tsv"
    )
    assert message == (
        "--roles: no protein would have the role 'test': there are too few clusters. Give fewer "
        "groups than 3, or larger shares.\n"
    )
