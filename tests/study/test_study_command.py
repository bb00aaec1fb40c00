"""``credence study novelty`` on a user's proteins: its files, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from credence.app import run_command_line
from credence.study.worlds import ProteinWorldSettings, StudyProteins, simulate_proteins

SETTINGS = ProteinWorldSettings(n_classes=4, n_families=120, n_folds=1, seed=2)


@pytest.fixture(scope="module")
def proteins() -> StudyProteins:
    return simulate_proteins(SETTINGS)


@pytest.fixture
def folder(proteins: StudyProteins, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the proteins, their labels and clusters."""
    monkeypatch.chdir(tmp_path)
    rows = list(zip(proteins.ids, proteins.sequences, strict=True))
    for name, ordered in (("p.fasta", rows), ("turned.fasta", rows[::-1])):
        Path(name).write_text("".join(f">{id_}\n{text}\n" for id_, text in ordered))
    classes = [proteins.class_names[class_] for class_ in proteins.true_class]
    for name, column, values in (
        ("labels.tsv", "true_class", classes),
        ("clusters.tsv", "cluster", proteins.cluster),
    ):
        body = "".join(f"{i}\t{v}\n" for i, v in zip(proteins.ids, values, strict=True))
        Path(name).write_text(f"id\t{column}\n{body}")
    return tmp_path


def study(*words: str, fasta: str = "p.fasta", out: str = "out") -> int:
    given = ["--proteins", fasta, "--labels", "labels.tsv", "--clusters", "clusters.tsv"]
    quick = ["--method", "uncalibrated", "--method", "sts", "--no-open-sets", "--out", out]
    return run_command_line(["study", "novelty", *given, *quick, *words])


@pytest.mark.long
def test_page_and_tables_are_written_whatever_the_order_of_proteins(
    folder: Path, proteins: StudyProteins
) -> None:
    assert study("--left-out", "class 4") == 0
    assert study("--left-out", "class 4", fasta="turned.fasta", out="again") == 0
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {"index.html", "inputs.tsv", "mutations.tsv", "study.json"}
    for name in names:
        assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes()
    with (folder / "out" / "inputs.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    kinds = ["held out", "random residues", "shuffled", "reversed", "class left out"]
    methods = ["uncalibrated", "sts"]
    methods += [f"macest, {space}" for space in ("composition", "class axes", "hidden units")]
    assert [(row["method"], row["input"]) for row in rows] == [
        (method, kind) for method in methods for kind in kinds
    ]
    n_left_out = int(next(row["n"] for row in rows if row["input"] == "class left out"))
    # A third of the families of that class, as evenly as whole families allow.
    assert abs(n_left_out - (proteins.true_class == 3).sum() / 3) < 12
    random = {r["method"]: float(r["mean_confidence"]) for r in rows if r["input"] == kinds[1]}
    assert random["macest, composition"] < random["uncalibrated"]
    page = (folder / "out" / "index.html").read_text()
    assert "Your proteins." in page
    assert "It knows 3 classes" in page
    assert 'class="simulated"' not in page


def test_the_three_files_go_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["study", "novelty", "--proteins", "p.fasta", "--out", "out"]
    assert run_command_line(words) == 2
    assert capsys.readouterr().err == (
        "--labels: it is missing. Give --proteins, --labels and --clusters together.\n"
        "--clusters: it is missing. Give --proteins, --labels and --clusters together.\n"
        "Fix this and run the command again.\n"
    )
    assert not Path("out").exists()


def test_an_unknown_class_cannot_be_left_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert study("--left-out", "clas 4") == 2
    assert capsys.readouterr().err.startswith("--left-out: 'clas 4' is no class. Did you mean")
    assert not Path("out").exists()


def test_a_protein_without_a_class_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path("p.fasta").open("a") as file:
        file.write(">stranger\nMKVL\n")
    line = Path("p.fasta").read_text().count("\n") - 1
    assert study() == 2
    assert capsys.readouterr().err == (
        f"p.fasta, line {line}: 'stranger' is not in labels.tsv. Add it there, or remove it.\n"
        f"p.fasta, line {line}: 'stranger' is not in clusters.tsv. Add it there, or remove it.\n"
        "Fix this and run the command again.\n"
    )


def test_classes_of_few_families_are_named(
    folder: Path, proteins: StudyProteins, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path("labels.tsv").read_text()
    first = proteins.ids[0]
    own = proteins.class_names[proteins.true_class[0]]
    Path("labels.tsv").write_text(text.replace(f"{first}\t{own}\n", f"{first}\trare\n"))
    assert study() == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        "clusters.tsv: of these classes fewer than 6 families are there: rare. Leave them out."
    )
