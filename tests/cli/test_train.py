"""``credence train`` and ``credence predict``: files in, files out, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from credence.app import run_command_line
from credence.stages.reading import read_set
from credence.tables.classifier_file import read_classifier
from credence.tables.formats import TableSpec
from refusals import Stated, refused
from small_classifiers import QUICK, write_proteins

TRAIN = ("train", "proteins.fasta", "--labels", "labels.tsv", *QUICK)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small world and of a classifier of it."""
    folder = tmp_path_factory.mktemp("train")
    write_proteins(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ("--out", "model.npz", "--scores", "scores.csv", "--summary", "found.json")
        assert run_command_line([*TRAIN, *words, "--groups-out", "groups.tsv"]) == 0
    return folder


@pytest.fixture
def inside(trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Stated) -> Path:
    """Return a copy of that folder, as the place to work in."""
    shutil.copytree(trained, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return tmp_path


def test_scores_in_turn_are_of_all_proteins_and_read_back_as_phanns(inside: Path) -> None:
    found = read_set(["scores.csv"], TableSpec(format="phanns"))
    labels = pd.read_csv("labels.tsv", sep="\t")
    assert found.predictions.ids.tolist() == labels["id"].tolist()
    assert found.predictions.class_names == ("class 1", "class 2", "class 3")
    predicted = np.array(found.predictions.class_names)[found.predictions.predicted_class]
    finding = json.loads(Path("found.json").read_text())
    assert (predicted == labels["true_class"]).mean() == finding["accuracy"] > 0.6
    assert (finding["n_networks"], finding["n_published"], finding["n_groups"]) == (6, 3, 4)


def test_no_network_that_scores_a_protein_saw_its_group(inside: Path) -> None:
    """A network's own features tell what it was scaled by: those of other groups alone."""
    model, groups = read_classifier(Path("model.npz")), pd.read_csv("groups.tsv", sep="\t")
    assert groups.groupby("cluster")["group"].nunique().max() == 1
    for network, left_out in zip(model.networks, model.about.left_out, strict=True):
        assert len(set(left_out)) == 2
        assert np.isfinite(network.mean).all()


def test_the_same_files_give_the_same_bytes_whatever_the_cores_and_the_ending(
    inside: Path,
) -> None:
    words = [*TRAIN, "--threads", "3", "--out", "again.npz", "--scores", "again.parquet"]
    assert run_command_line(words) == 0
    assert Path("again.npz").read_bytes() == Path("model.npz").read_bytes()
    found = read_set(["again.parquet"], TableSpec(format="credence"))
    text = read_set(["scores.csv"], TableSpec(format="phanns"))
    np.testing.assert_array_equal(found.predictions.scores, text.predictions.scores)
    assert found.true_class is not None and found.predictions.scale == 10.0


def test_predict_scores_new_proteins_and_mentions_what_no_word_holds(
    inside: Path, capsys: Stated
) -> None:
    Path("new.fasta").write_text('>a, "1"\nMKVLAXXBW\n>b\nMKVLAAGWC\n>c\nM\n')
    words = ["predict", "new.fasta", "--classifier", "model.npz", "--match", "full"]
    assert run_command_line([*words, "--out", "out.csv"]) == 0
    assert capsys.readouterr().err == (
        "new.fasta: 1 proteins have fewer than 2 known residues; their scores rest on their "
        "properties alone.\n"
        "new.fasta: 1 proteins have letters that are none of the twenty residues, 3 in all; "
        "words with them count for none.\nWrote out.csv: 3 proteins.\n"
    )
    found = read_set(["out.csv"], TableSpec(format="phanns")).predictions
    assert found.ids.tolist() == ['a, "1"', "b", "c"]
    assert found.scores is not None
    np.testing.assert_allclose(found.scores.sum(axis=1), 10.0, atol=1e-5)


def test_relatives_of_what_was_learnt_from_are_scored_by_networks_that_did_not_see_it(
    inside: Path, capsys: Stated
) -> None:
    records = Path("proteins.fasta").read_text().split(">")[1:9]
    Path("known.fasta").write_text("".join(f">{one}" for one in records) + ">new\n" + "WC" * 60)
    words = ["predict", "known.fasta", "--classifier", "model.npz", "--out", "known.csv"]
    learnt = ["--learnt", "proteins.fasta", "--groups", "groups.tsv", "--engine", "exact"]
    assert run_command_line([*words, *learnt]) == 0
    assert "9 proteins, 8 of them relatives of what it learnt from." in capsys.readouterr().err
    held_out = Path("scores.csv").read_text().splitlines()
    assert Path("known.csv").read_text().splitlines()[:9] == held_out[:9]
    assert run_command_line([*words[:-1], "plain.csv"]) == 0
    plain = Path("plain.csv").read_text().splitlines()
    assert plain[9] == Path("known.csv").read_text().splitlines()[9]
    assert not set(plain[1:9]) & set(held_out)
    assert refused(capsys, *words, "--learnt", "proteins.fasta") == (
        "--learnt: --learnt and --groups say together what each network saw. Give both, or none.\n"
    )


def test_with_a_test_group_its_proteins_alone_calibrate(inside: Path) -> None:
    words = ["--calibrate", "test_group", "--out", "t.npz", "--scores", "t.csv"]
    words += ["--proteins", "t.fasta", "--training", "seen.fasta"]
    assert run_command_line([*TRAIN, *words]) == 0
    model = read_classifier(Path("t.npz"))
    assert model.about.left_out == ((0,), (1,), (2,), (3,))
    assert model.about.published == (0, 1, 2, 3)
    ids = pd.read_csv("t.csv").iloc[:, 0].tolist()
    assert 0 < len(ids) < 60
    assert [line[1:] for line in Path("t.fasta").read_text().split("\n")[:-1:2]] == ids
    seen = {line[1:] for line in Path("seen.fasta").read_text().split("\n")[:-1:2]}
    assert not seen & set(ids)
    n_all = len(Path("labels.tsv").read_text().splitlines()) - 1
    assert len(seen) + len(ids) == n_all
    # They are scored as new proteins are.
    assert run_command_line(["predict", "t.fasta", "--classifier", "t.npz", "--out", "p.csv"]) == 0
    assert Path("p.csv").read_text() == Path("t.csv").read_text()


def test_both_compares_published_scores_with_those_in_turn(inside: Path) -> None:
    words = ["--calibrate", "both", "--out", "b.npz", "--summary", "b.json"]
    assert run_command_line([*TRAIN, *words]) == 0
    found = json.loads(Path("b.json").read_text())
    mean, lower, upper = found["surer"]
    assert lower < mean < upper
    assert found["n_test"] > 0 and found["n_networks"] == 6


def test_a_fasta_file_for_each_class_needs_no_labels(inside: Path) -> None:
    labels = dict(line.split("\t") for line in Path("labels.tsv").read_text().splitlines()[1:])
    records = Path("proteins.fasta").read_text().split(">")[1:]
    files = {name: f"{name.replace(' ', '_')}.fasta" for name in set(labels.values())}
    for name, path in files.items():
        own = [one for one in records if labels[one.split("\n")[0]] == name]
        Path(path).write_text("".join(f">{one}" for one in own))
    assert run_command_line(["train", *files.values(), *QUICK, "--out", "f.npz"]) == 0
    assert read_classifier(Path("f.npz")).about.class_names == ("class_1", "class_2", "class_3")


def test_vectors_take_the_place_of_features(inside: Path, capsys: Stated) -> None:
    ids = pd.read_csv("labels.tsv", sep="\t")["id"].to_numpy(dtype=str)
    values = np.random.default_rng(1).normal(size=(len(ids), 5))
    np.savez("v.npz", id=ids, vectors=values)
    assert run_command_line([*TRAIN, "--vectors", "v.npz", "--out", "v_model.npz"]) == 0
    predict = ("predict", "proteins.fasta", "--classifier", "v_model.npz", "--out", "v.csv")
    assert run_command_line([*predict, "--vectors", "v.npz"]) == 0
    assert refused(capsys, *predict) == (
        "v_model.npz: it was trained on vectors. Give --vectors.\n"
    )
    np.savez("wide.npz", id=ids, vectors=np.hstack([values, values]))
    assert refused(capsys, *predict, "--vectors", "wide.npz") == (
        "wide.npz: its vectors have 10 numbers, the classifier 5. Give vectors of the same kind.\n"
    )


def test_vectors_for_half_of_the_proteins_are_refused(inside: Path, capsys: Stated) -> None:
    ids = pd.read_csv("labels.tsv", sep="\t")["id"].to_numpy(dtype=str)
    np.savez("v.npz", id=ids[: len(ids) // 2], vectors=np.ones((len(ids) // 2, 5)))
    lines = refused(capsys, *TRAIN, "--vectors", "v.npz", "--out", "x.npz").splitlines()
    row = len(ids) // 2
    assert lines[0] == (
        f"proteins.fasta, line {2 * row + 1}: '{ids[row]}' has no vector in v.npz. "
        "Add its vector there, or remove the protein."
    )
    assert lines[-1] == f"… and {len(ids) - row - 20} more."
    assert not Path("x.npz").exists()


def test_labels_of_one_class_are_refused(inside: Path, capsys: Stated) -> None:
    text = (
        Path("labels.tsv").read_text().replace("class 2", "class 1").replace("class 3", "class 1")
    )
    Path("labels.tsv").write_text(text)
    assert refused(capsys, *TRAIN, "--out", "x.npz") == (
        "labels.tsv: all proteins are of one class, 'class 1'. Give proteins of two classes or "
        "more: labels, or a FASTA file for each class.\n"
    )


def test_classes_that_differ_in_capital_letters_alone_are_refused(
    inside: Path, capsys: Stated
) -> None:
    Path("labels.tsv").write_text(Path("labels.tsv").read_text().replace("class 2", "Class 1", 1))
    assert refused(capsys, *TRAIN, "--out", "x.npz") == (
        "labels.tsv: classes differ in capital letters alone: Class 1, class 1. Write each class "
        "in one way.\n"
    )


def test_a_class_in_fewer_groups_than_networks_leave_out_is_refused(
    inside: Path, capsys: Stated
) -> None:
    rows = Path("labels.tsv").read_text().splitlines()
    clusters = dict(line.split("\t") for line in Path("clusters.tsv").read_text().splitlines())
    first = clusters[rows[1].split("\t")[0]]
    of_first = [clusters[row.split("\t")[0]] == first for row in rows[1:]]
    named = [
        row.split("\t")[0] + "\trare" if is_first else row
        for row, is_first in zip(rows[1:], of_first, strict=True)
    ]
    Path("labels.tsv").write_text("\n".join([rows[0], *named]) + "\n")
    assert refused(capsys, *TRAIN, "--out", "x.npz").splitlines()[-1] == (
        f"proteins.fasta, line 1: class 'rare' ({sum(of_first)} proteins) stands in 1 of 4 groups "
        "of whole clusters, and networks leave out 2: one would not see it. Give proteins of 2 "
        "more families of it, or leave it out."
    )


def test_a_protein_shorter_than_a_word_is_not_learnt_from(inside: Path, capsys: Stated) -> None:
    for name, line in (("labels.tsv", "short\tclass 1\n"), ("clusters.tsv", "short\tshort\n")):
        Path(name).write_text(Path(name).read_text() + line)
    n_lines = len(Path("proteins.fasta").read_text().splitlines())
    Path("proteins.fasta").write_text(Path("proteins.fasta").read_text() + ">short\nMXX\n")
    assert refused(capsys, *TRAIN, "--out", "x.npz") == (
        f"proteins.fasta, line {n_lines + 1}: 'short' has 1 known residues, and words of 2 are "
        "counted. Remove it, or choose features of shorter words.\n"
    )


def test_a_protein_without_a_label_is_refused(inside: Path, capsys: Stated) -> None:
    rows = Path("labels.tsv").read_text().splitlines()
    Path("labels.tsv").write_text("\n".join([*rows[:2], *rows[3:], "stranger\tclass 1"]) + "\n")
    assert refused(capsys, *TRAIN, "--out", "x.npz") == (
        f"labels.tsv, line {len(rows)}: protein 'stranger' is not in proteins.fasta. Correct its "
        "name, remove it, or add its scores.\n"
        f"proteins.fasta, line 3: protein '{rows[2].split()[0]}' has no label in labels.tsv. "
        "Give it one, or remove its row.\n"
    )


def test_features_that_are_none_are_refused_before_anything_is_read(
    inside: Path, capsys: Stated
) -> None:
    assert refused(capsys, *TRAIN, "--features", "penta", "--out", "x.npz").startswith(
        "--features: 'penta' is no set of features. "
    )


@pytest.mark.parametrize("what", ["cut", "another", "text", "newer", "changed"])
def test_what_is_no_classifier_is_refused(inside: Path, capsys: Stated, what: str) -> None:
    path = Path("model.npz")
    with np.load(path) as file:
        arrays = dict(file)
    record = json.loads(arrays["record"].tobytes())
    if what == "cut":
        path.write_bytes(path.read_bytes()[:-300])
    elif what == "another":
        np.savez(path, softmax=np.ones((2, 3, 4)))
    elif what == "text":
        path.write_text("weights")
    elif what == "newer":
        text = json.dumps({**record, "schema": "credence/classifier/9"}).encode()
        np.savez(path, **{**arrays, "record": np.frombuffer(text, np.uint8)})
    else:
        np.savez(path, **{**arrays, "weights_1": arrays["weights_1"][:, :-1]})
    message = refused(
        capsys, "predict", "proteins.fasta", "--classifier", "model.npz", "--out", "o.csv"
    )
    again = "Train again: credence train.\n"
    whole = "the file is no npz archive, or not the whole of one. Save the arrays with np.savez.\n"
    assert (
        message
        == "model.npz: "
        + {
            "cut": whole,
            "text": whole,
            "another": f"this is no classifier that credence trained. {again}",
            "newer": "its schema is 'credence/classifier/9', and this version reads "
            "'credence/classifier/1'. Install the version of credence that wrote it.\n",
            "changed": f"the array 'weights_1' is not what its record says. {again}",
        }[what]
    )


def test_troves_are_learnt_from_and_whether_that_is_worth_it_is_judged(
    inside: Path, capsys: Stated
) -> None:
    """Half of the families are a trove, which also repeats a protein and names one anew."""
    clusters = dict(line.split("\t") for line in Path("clusters.tsv").read_text().splitlines()[1:])
    labels = Path("labels.tsv").read_text().splitlines()
    records = Path("proteins.fasta").read_text().split(">")[1:]
    families = [clusters[one.split("\n")[0]] for one in records]
    is_new = [int(name.removeprefix("family_")) % 2 == 1 for name in families]
    repeat = "again\n" + records[0].partition("\n")[2]
    assert not is_new[0]
    for name, wanted, more in (("old", False, []), ("new", True, [repeat])):
        chosen = [one for one, new in zip(records, is_new, strict=True) if new == wanted]
        Path(f"{name}.fasta").write_text("".join(f">{one}" for one in [*chosen, *more]))
        rows = [row for row, new in zip(labels[1:], is_new, strict=True) if new == wanted]
        rows += ["again\tclass 2" for _ in more]
        Path(f"{name}.tsv").write_text("\n".join([labels[0], *rows]) + "\n")
    words = ["train", "old.fasta", "--labels", "old.tsv", *QUICK, "--summary", "w.json"]
    words += ["--trove", "new.fasta", "new.tsv", "first_word", "--out", "w.npz"]
    assert run_command_line([*words, "--scores", "w.csv"]) == 0
    assert "new.fasta: 1 proteins are known already, and left out." in capsys.readouterr().err
    worth = json.loads(Path("w.json").read_text())["worth"]
    assert worth["n"] == len(records) and worth["n_new"] == sum(is_new)
    ids = pd.read_csv("w.csv").iloc[:, 0].tolist()
    assert sorted(ids) == sorted(row.split("\t")[0] for row in labels[1:])
    right, lower, upper = worth["right"]
    assert lower < right < upper
    # Twice the families teach more.
    assert worth["nll"][0] < 0.1


def test_a_trove_may_not_take_the_id_of_another_protein(inside: Path, capsys: Stated) -> None:
    Path("new.fasta").write_text(">protein_0\nMKVLAAGWCYYPNS\n")
    Path("new.tsv").write_text("id\ttrue_class\nprotein_0\tclass 1\n")
    words = [*TRAIN, "--trove", "new.fasta", "new.tsv", "first_word", "--out", "x.npz"]
    assert refused(capsys, *words) == (
        "new.fasta, line 1: the id 'protein_0' is taken by another protein. Give the new one "
        "another id.\n"
    )


def test_a_trove_of_known_proteins_changes_nothing_and_says_so(
    inside: Path, capsys: Stated
) -> None:
    record = Path("proteins.fasta").read_text().split(">")[1]
    Path("new.fasta").write_text(">again\n" + record.partition("\n")[2])
    Path("new.tsv").write_text("id\ttrue_class\nagain\tclass 1\n")
    words = [*TRAIN, "--trove", "new.fasta", "new.tsv", "first_word", "--out", "same.npz"]
    assert run_command_line([*words, "--scores", "same.csv"]) == 0
    err = capsys.readouterr().err
    assert "new.fasta: 1 proteins are known already, and left out.\n" in err
    what = "what learning from it changes is not judged: it has no new protein.\n"
    assert f"new.fasta: {what}" in err
    assert Path("same.csv").read_text() == Path("scores.csv").read_text()
