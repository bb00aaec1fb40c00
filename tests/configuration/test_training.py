"""A configuration without scores: what networks learn from, and what stands in the place."""

from __future__ import annotations

from pathlib import Path

import pytest

from credence.app import configuration, run_command_line
from credence.app.check import check_files
from credence.problems import InputError
from small_classifiers import write_proteins

TEXT = """run: lab
calibration_set:
  proteins: proteins.fasta
  labels: {table: labels.tsv}
  match: full
classifier: {features: di_sc_p}
use_sets: [{name: new, proteins: new.fasta}, {name: theirs, scores: theirs.csv, format: phanns}]
troves: [{name: more, fasta: more.fasta, labels: more.tsv}]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_proteins(tmp_path)
    for name in ("new.fasta", "theirs.csv", "more.fasta"):
        (tmp_path / name).write_text(">a\nMKV\n")
    (tmp_path / "more.tsv").write_text("id\ttrue_class\na\tclass 1\n")
    return tmp_path


def test_made_scores_stand_where_those_of_a_tool_would() -> None:
    settings = configuration.loads(TEXT)
    training, made = settings.training, "results/lab/classifier"
    assert training is not None and settings.clustered == "proteins.fasta"
    assert settings.calibration_set.scores == (f"{made}/scores.parquet",)
    assert settings.calibration_set.spec["format"] == "credence"
    assert settings.calibration_set.proteins == f"{made}/proteins.fasta"
    assert settings.calibration_set.labels is None and settings.calibration_set.match == "full"
    new, theirs = settings.use_sets
    assert (new.scores, new.spec["format"]) == ((f"{made}/use-new.csv",), "phanns")
    assert new.proteins == "new.fasta" and theirs.scores == ("theirs.csv",)
    assert settings.troves[0].scores == (f"{made}/trove-more.csv",)
    assert training.sets["trove-more"].is_known and not training.sets["use-new"].is_known
    assert set(settings.made).isdisjoint(settings.files)
    files = ["labels.tsv", "more.fasta", "more.tsv", "new.fasta", "proteins.fasta", "theirs.csv"]
    assert settings.files == files


def test_a_test_group_makes_a_training_set_whose_relatives_are_known() -> None:
    text = TEXT.replace("{features: di_sc_p}", "{calibrate: test_group}")
    settings = configuration.loads(text)
    assert settings.training_proteins == "results/lab/classifier/training.fasta"
    assert settings.trained_elsewhere is None
    assert settings.training_proteins in settings.made


def test_scores_are_taken_where_they_are_given() -> None:
    text = TEXT.replace("  labels:", "  scores: theirs.csv\n  format: phanns\n  labels:")
    with pytest.raises(InputError) as caught:
        configuration.loads(text)
    assert "so that nothing is trained" in str(caught.value)
    base = text[: text.index("use_sets")].replace("{features: di_sc_p}", "{groups: 11}")
    settings = configuration.loads(base)
    assert settings.training is None


def test_check_reads_what_there_is_to_train_on() -> None:
    lines = check_files(configuration.loads(TEXT))
    assert lines[0].endswith(" proteins, 3 classes (class 1; class 2; class 3)")
    assert lines[1:] == ["use-new: 1 proteins to score", "trove-more: 1 proteins to score"]


def test_check_names_every_file_that_cannot_be_trained_on() -> None:
    Path("labels.tsv").write_text("id\ttrue_class\nstranger\tclass 1\n")
    Path("new.fasta").write_text(">a\nMK*V\n")
    with pytest.raises(InputError) as caught:
        check_files(configuration.loads(TEXT.replace("di_sc_p", "penta")))
    text = "\n".join(map(str, caught.value.problems))
    assert "config.yaml: 'penta' is no set of features." in text
    assert "labels.tsv, line 2: protein 'stranger' is not in proteins.fasta." in text
    assert "new.fasta, line 2: " in text


def test_check_notices_a_trove_whose_labels_changed_or_hold_an_unknown_class() -> None:
    Path("more.tsv").write_text("id\ttrue_class\na\tclass 4\n")
    digest = 'sha256: {more.tsv: "0123456789"}'
    text = TEXT.replace("labels: more.tsv}", f"labels: more.tsv, {digest}}}")
    with pytest.raises(InputError) as caught:
        check_files(configuration.loads(text))
    first, second = map(str, caught.value.problems)
    assert first.startswith("more.tsv: its SHA-256 begins with ")
    assert first.endswith(
        ", and with 01234567 when it was added. Put the file back as it was; or, where the change "
        "is meant, take its line out of sha256, and the releases from this trove on are derived "
        "anew."
    )
    assert second == (
        "more.tsv, line 2, column 'true_class': 'class 4' is no class (protein 'a'). "
        "Did you mean 'class 3'?"
    )
    Path("more.tsv").write_text("id\ttrue_class\na\tclass 3\n")
    assert check_files(configuration.loads(TEXT))[-1] == "trove-more: 1 proteins to score"


def test_troves_to_learn_from_are_no_releases_of_their_own() -> None:
    settings = configuration.loads(TEXT.replace("{features: di_sc_p}", "{retrain: true}"))
    training = settings.training
    assert training is not None and settings.troves == ()
    assert training.troves == [("more.fasta", '{"table": "more.tsv"}', "full")]
    assert set(training.sets) == {"use-new"}
    # All that was learnt from is clustered, after training.
    assert settings.clustered == "results/lab/classifier/proteins.fasta"
    assert {"more.fasta", "more.tsv"} <= set(settings.files)


def test_the_demo_from_sequences_trains_networks_and_combines_them_with_another_tool() -> None:
    settings = configuration.loads(configuration.demo_text(from_fasta=True))
    assert settings.training is not None and settings.has_demo
    assert settings.training.files == ("demo/proteins.fasta", "demo/labels.tsv")
    assert [tool.name for tool in settings.tools] == ["other"]
    assert settings.use_sets[0].scores == ("results/demo/classifier/use-use.csv",)


def test_a_trove_of_sequences_and_labels_is_added_where_networks_are_trained(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("lab.yaml").write_text(TEXT.rsplit("troves:", 1)[0].replace("  match: full\n", ""))
    Path("new.tsv").write_text("id\ttrue_class\na\tTail\n")
    add = ["trove", "add", "later", "--config", "lab.yaml"]
    assert run_command_line([*add, "--fasta", "more.fasta", "--labels", "new.tsv"]) == 2
    assert "'Tail' is no class (protein 'a')" in capsys.readouterr().err
    Path("new.tsv").write_text("id\ttrue_class\na\tclass 1\n")
    assert run_command_line([*add, "--fasta", "more.fasta", "--labels", "new.tsv"]) == 0
    assert configuration.load("lab.yaml").troves[0].fasta == "more.fasta"
    Path("new.tsv").write_text("id\ttrue_class\nb\tclass 1\n")
    before = Path("lab.yaml").read_text()
    assert run_command_line([*add[:2], "other", *add[3:], "--labels", "new.tsv"]) == 2
    assert "it has neither scores nor a FASTA file" in capsys.readouterr().err
    words = ["--fasta", "more.fasta", "--labels", "new.tsv"]
    assert run_command_line([*add[:2], "other", *add[3:], *words]) == 2
    assert "more.fasta, line 1: protein 'a' has no label in new.tsv" in capsys.readouterr().err
    assert Path("lab.yaml").read_text() == before
