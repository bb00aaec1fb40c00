"""``credence novelty`` as a user calls it, and what ``credence annotate`` makes of its file."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from credence import __version__
from credence.app import run_command_line
from credence.draws import keys_of
from credence.evaluation import bands
from credence.findings import DistanceBand
from credence.stages import novelty as stage
from credence.stages.novelty import bands_of, seen_of
from credence.stages.reading import read_proteins
from credence.tables import contract
from credence.tables.stage_files import NOVELTY_FILES, read_calibration
from refusals import Stated, refused

LABELLED = ["--format", "phanns-labelled"]
WORLD = {"n_calibration": 90, "n_query": 24, "n_training": 20, "n_training_relatives": 3}
N_NUMBERS = 6  # of a vector


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small world."""
    folder = tmp_path_factory.mktemp("novelty") / "world"
    settings = json.dumps({**WORLD, "n_trove": 9})
    assert run_command_line(["simulate", str(folder), "--settings", settings]) == 0
    return folder


@pytest.fixture
def world(
    simulated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Stated
) -> Path:
    """Return the working directory, with a copy of the world in it."""
    shutil.copytree(simulated, tmp_path / "world")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    return tmp_path


def call(*words: str) -> int:
    return run_command_line(["novelty", "world/calibration.csv", *LABELLED, *words])


def ids_of(path: str) -> list[str]:
    return [str(id_) for id_ in pd.read_csv(path).iloc[:, 0]]


def write_vectors(name: str, ids: list[str], n_numbers: int = N_NUMBERS) -> None:
    values = np.random.default_rng(6).normal(size=(len(ids), n_numbers))
    np.savez(name, id=np.array(ids), vectors=values)


def annotate(*words: str, method: str = "class_only") -> list[str]:
    """Return the words that annotate the query set with the calibration of the world."""
    fit = ["fit", "world/calibration.csv", *LABELLED, "--method", method, "--resamples", "50"]
    assert run_command_line([*fit, "--out", "fit.json"]) == 0
    table = [
        "annotate",
        "world/my_phages.csv",
        "--shift",
        "none",
        "--format",
        "phanns",
        "--calibration",
        "fit.json",
    ]
    return [*table, "--novelty", "novelty.json", *words, "--out", "out.tsv"]


def test_known_proteins_are_written_and_queries_compared_with_them(
    world: Path, capsys: Stated
) -> None:
    words = ["--proteins", "world/proteins.fasta", "--training", "world/training.fasta"]
    assert call(*words, "--components", "8", "--out", "novelty.json") == 0
    known = NOVELTY_FILES.read(Path("novelty.json"))
    assert capsys.readouterr().err == "Wrote novelty.json: 90 proteins along 8 axes.\n"
    assert sorted(known.reference.ids) == sorted(ids_of("world/calibration.csv"))
    assert known.reference.training is not None and len(known.reference.training) == 23
    assert call(*words, "--components", "8", "--out", "again.json") == 0
    assert Path("again.json").read_bytes() == Path("novelty.json").read_bytes()
    assert run_command_line(annotate("--proteins", "world/my_phages.fasta")) == 0
    table = pd.read_csv("out.tsv", sep="\t")
    assert table["novelty_p"].between(0, 1).all() and len(table) == len(
        ids_of("world/my_phages.csv")
    )
    fasta = read_proteins("world/my_phages.fasta", "first_word")
    sequence = dict(zip(fasta.ids, fasta.sequences, strict=True))
    asked = np.array([sequence[id_] for id_ in table["id"]], dtype=object)
    points = known.reference.space.of_sequences(asked)
    distance = np.linalg.norm(points[:, None] - known.reference.points[None], axis=2)
    np.testing.assert_allclose(table["calibration_distance"], distance.min(axis=1))
    nearest = known.reference.ids[distance.argmin(axis=1)]
    assert table["nearest_calibration"].tolist() == nearest.tolist()


def test_letters_that_stand_for_others_are_read_so_on_both_sides(world: Path) -> None:
    seen = []
    for proteins, use in (("plain", "plain"), ("odd", "plain"), ("plain", "odd")):
        for name, kind in (("proteins", proteins), ("my_phages", use)):
            lines = Path(f"world/{name}.fasta").read_text().splitlines()
            odd = str.maketrans("DELCK", "BZJUO" if kind == "odd" else "DELCK")
            texts = [one if one.startswith(">") else one.translate(odd) for one in lines]
            Path(f"{name}.fasta").write_text("\n".join(texts) + "\n")
        assert call("--proteins", "proteins.fasta", "--out", "novelty.json") == 0
        assert run_command_line(annotate("--proteins", "my_phages.fasta")) == 0
        seen.append(pd.read_csv("out.tsv", sep="\t"))
    pd.testing.assert_frame_equal(seen[0], seen[1])
    pd.testing.assert_frame_equal(seen[0], seen[2])


def test_a_trove_that_added_nothing_is_no_file_without_proteins(
    world: Path, capsys: Stated
) -> None:
    Path("added.fasta").touch()
    own = ("--proteins", "world/proteins.fasta")
    assert call(*own, "--out", "without.json") == 0
    assert call(*own, "--proteins", "added.fasta", "--out", "with.json") == 0
    with_it, without = (
        NOVELTY_FILES.read(Path("with.json")),
        NOVELTY_FILES.read(Path("without.json")),
    )
    assert list(with_it.reference.ids) == list(without.reference.ids)
    words = ("novelty", "world/calibration.csv", *LABELLED, "--proteins", "added.fasta")
    assert refused(capsys, *words, "--out", "n.json") == (
        "added.fasta: the file is empty. Give a FASTA file of proteins.\n"
    )


def test_vectors_tell_proteins_as_sequences_do(world: Path, capsys: Stated) -> None:
    calibration, use = ids_of("world/calibration.csv"), ids_of("world/my_phages.csv")
    write_vectors("vectors.npz", [*calibration, *use])
    words = ["--vectors", "vectors.npz", "--components", "4"]
    assert call(*words, "--out", "novelty.json") == 0
    assert capsys.readouterr().err == "Wrote novelty.json: 90 proteins along 4 axes.\n"
    space = NOVELTY_FILES.read(Path("novelty.json")).reference.space
    assert (space.kind, space.n_features) == ("vectors", N_NUMBERS)
    assert run_command_line(annotate("--vectors", "vectors.npz")) == 0
    assert pd.read_csv("out.tsv", sep="\t")["novelty_p"].notna().all()


def test_a_protein_that_calibrates_and_has_no_features_is_named(
    world: Path, capsys: Stated
) -> None:
    ids = ids_of("world/calibration.csv")
    write_vectors("vectors.npz", ids[2:])
    table = ["novelty", "world/calibration.csv", *LABELLED, "--vectors", "vectors.npz"]
    assert refused(capsys, *table, "--out", "novelty.json") == "".join(
        f"world/calibration.csv: {id_!r} is not in vectors.npz. "
        "Add the protein there or remove this row.\n"
        for id_ in ids[:2]
    )
    assert not Path("novelty.json").exists()


def test_features_are_named_once(world: Path, capsys: Stated) -> None:
    table = ["novelty", "world/calibration.csv", *LABELLED, "--out", "novelty.json"]
    expected = (
        "--proteins: the proteins need sequences or vectors, one of the two. "
        "Give --proteins or --vectors.\n"
    )
    assert refused(capsys, *table) == expected
    write_vectors("vectors.npz", ids_of("world/calibration.csv"))
    both = ["--proteins", "world/proteins.fasta", "--vectors", "vectors.npz"]
    assert refused(capsys, *table, *both) == expected


def test_a_file_of_another_version_and_features_of_another_kind_are_refused(
    world: Path, capsys: Stated
) -> None:
    write_vectors("vectors.npz", ids_of("world/calibration.csv"))
    assert call("--vectors", "vectors.npz", "--out", "novelty.json") == 0
    with_sequences = annotate("--proteins", "world/my_phages.fasta")
    assert refused(capsys, *with_sequences) == (
        "novelty.json: it was learnt from vectors. Give --vectors.\n"
    )
    write_vectors("wide.npz", ids_of("world/my_phages.csv"), N_NUMBERS + 1)
    assert refused(capsys, *annotate("--vectors", "wide.npz")) == (
        "wide.npz: its vectors have 7 numbers, those of novelty.json 6. "
        "Give vectors of the same kind.\n"
    )
    record = json.loads(Path("novelty.json").read_text())
    Path("novelty.json").write_text(json.dumps(record | {"schema": "credence/novelty/6"}))
    assert refused(capsys, *with_sequences) == (
        "novelty.json, column 'schema': 'credence/novelty/6' is not 'credence/novelty/7', the "
        f"only one that credence {__version__} reads. Make it again: credence novelty.\n"
    )
    assert not Path("out.tsv").exists()


def test_each_protein_has_its_nearest_known_identity_coverage_and_p(world: Path) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    known = NOVELTY_FILES.read(Path("novelty.json"))
    assert known.known is not None and known.closest is not None
    assert run_command_line(annotate("--proteins", "world/my_phages.fasta")) == 0
    table = pd.read_csv("out.tsv", sep="\t")
    asked = read_proteins("world/my_phages.fasta", "first_word")
    sequence = dict(zip(asked.ids, asked.sequences, strict=True))
    texts = np.array([sequence[id_] for id_ in table["id"]], dtype=object)
    close = known.known.closest(texts)
    assert table["closest_known"].tolist() == known.known.ids[close.nearest].tolist()
    np.testing.assert_allclose(table["closest_identity"], close.identity)
    np.testing.assert_allclose(table["closest_coverage"], close.coverage)
    # Each protein is a family of its own here, so that all of them stand for new ones.
    held = 1.0 - known.closest.identity * known.closest.coverage
    far = 1.0 - close.identity * close.coverage
    expected = [(1 + sum(held >= own)) / (1 + len(held)) for own in far]
    np.testing.assert_allclose(table["novelty_p"], expected)
    flagged = table["note"].fillna("").str.contains("far from all known proteins")
    assert flagged.tolist() == [p <= 0.05 + 1e-9 for p in expected]


def planted(p: float) -> tuple[DistanceBand, ...]:
    """Return bands of which the one from 30 to 40 % is off."""
    return tuple(
        DistanceBand(
            name=name,
            n=80,
            n_families=40,
            promised=0.8,
            right=0.6,
            lower=0.5,
            upper=0.7,
            p=p,
            is_off=at == 1,
        )
        for at, name in enumerate(bands.BAND_NAMES)
    )


@pytest.mark.parametrize("flag", ["0.0", "0.95"])
@pytest.mark.parametrize("how", ["--proteins", "--vectors"])
@pytest.mark.parametrize("method", ["class_only", "kernel", "isotonic"])
def test_no_bit_of_a_confidence_depends_on_novelty(
    world: Path, monkeypatch: pytest.MonkeyPatch, flag: str, how: str, method: str
) -> None:
    monkeypatch.setattr(stage, "bands_of", lambda *_: planted(0.001))
    write_vectors(
        "vectors.npz", [*ids_of("world/calibration.csv"), *ids_of("world/my_phages.csv")]
    )
    known, asked = "vectors.npz", "vectors.npz"
    if how == "--proteins":
        known, asked = "world/proteins.fasta", "world/my_phages.fasta"
    settings = json.dumps({"novelty": {"flag": float(flag)}})
    assert call(how, known, "--settings", settings, "--out", "novelty.json") == 0
    words = annotate(how, asked, method=method)
    assert run_command_line([*words, "--novelty-record", "record.json"]) == 0
    novel = pd.read_csv("out.tsv", sep="\t", dtype=str, keep_default_na=False)
    at = words.index("--novelty")
    assert run_command_line([*words[:at], *words[words.index("--out") :]]) == 0
    plain = pd.read_csv("out.tsv", sep="\t", dtype=str, keep_default_na=False)
    told = ["note", "decision", "q_value"]  # what a flag may change
    same = [name for name in plain if name not in told]
    assert {"confidence", "lower", "upper", "support"} <= {*same}
    pd.testing.assert_frame_equal(novel[same], plain[same])
    assert {*novel} - {*plain} == {*contract.NOVELTY_NAMES}
    is_flagged = novel["note"].str.contains("far from all known proteins")
    is_off = novel["note"].str.contains("far from other families were not calibrated")
    assert is_flagged.all() if flag == "0.0" else not is_flagged.all()
    assert not novel["decision"][is_flagged | is_off].eq("accept").any()
    record = json.loads(Path("record.json").read_text())
    assert (record["n_flagged"], record["n_off"]) == (is_flagged.sum(), is_off.sum())
    identity = pd.to_numeric(novel["closest_identity"], errors="coerce").to_numpy()
    if how == "--proteins":
        assert is_off.any() and (is_off == (bands.band_of(identity) == 1)).all()


def test_the_evaluation_says_what_held_at_each_identity_and_its_flag_covers_the_same(
    world: Path,
) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    annotate("--proteins", "world/my_phages.fasta")  # fits
    words = ["evaluate", "world/calibration.csv", *LABELLED, "--calibration", "fit.json"]
    words += ["--novelty", "novelty.json", "--out", "evaluation.json"]
    words += ["--settings", '{"evaluation": {"folds": 3}, "calibration": {"resamples": 20}}']
    assert run_command_line(words) == 0
    found = json.loads(Path("evaluation.json").read_text())["by_identity"]

    # The pairing of held-out proteins with their identities: by a hash of ids.
    file, calibration = (
        NOVELTY_FILES.read(Path("novelty.json")),
        read_calibration(Path("fit.json")),
    )
    held, names = calibration.held_out, calibration.class_names
    assert held is not None and file.closest is not None
    ids = file.reference.ids[file.reference.calibration_rows]
    band = dict(zip(keys_of(ids).tolist(), bands.band_of(file.closest.identity), strict=True))
    keys = held.key[held.cluster].tolist()  # each protein is a family of its own here
    assert len(keys) < len(ids)
    for at, row in enumerate(found):
        own = np.array([band[key] == at for key in keys])
        assert (row["name"], row["n"], row["n_families"]) == (
            bands.BAND_NAMES[at],
            *[own.sum()] * 2,
        )
        if row["right"] is not None:
            assert row["right"] == pytest.approx(np.mean(~held.is_wrong[own]))
    assert sum(row["n"] for row in found) == len(keys)
    # What annotate flags by is the same table.
    assert [row["is_off"] for row in found] == [
        entry.is_off for entry in bands_of(file, held, names)
    ]
    others = seen_of(file, replace(held, key=held.key + np.uint64(1)), names)
    assert others is not None and not len(others.band)  # other proteins


def write_fasta(name: str, proteins: dict[str, str]) -> None:
    Path(name).write_text("".join(f">{id_}\n{text}\n" for id_, text in proteins.items()))


def test_what_cannot_be_compared_and_what_is_flagged_is_printed(
    world: Path, capsys: Stated
) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    own = read_proteins("world/my_phages.fasta", "first_word")
    kept = dict(zip(own.ids[:20], own.sequences[:20], strict=True))
    write_fasta("my_phages.fasta", {**kept, "stranger": "MKV" * 9})
    assert run_command_line(annotate("--proteins", "my_phages.fasta")) == 0
    printed = capsys.readouterr().err
    assert (
        "out.tsv: 4 of 24 proteins: no sequence or vector to compare, or too short a sequence.\n"
        in printed
    )
    flagged = int((pd.read_csv("out.tsv", sep="\t")["novelty_p"] <= 0.05).sum())
    assert flagged > 0
    assert f"out.tsv: {flagged} of 24 proteins: far from all known proteins.\n" in printed


def test_a_novelty_file_of_other_proteins_than_the_calibration_is_named(
    world: Path, capsys: Stated
) -> None:
    for name in ("calibration.csv", "proteins.fasta"):
        text = Path("world", name).read_text()
        later = re.sub(r"^(>?[A-Za-z_]+_)(\d+)", r"\g<1>9\2", text, flags=re.MULTILINE)
        Path("other").with_suffix(Path(name).suffix).write_text(later)
    given = ["novelty", "other.csv", *LABELLED, "--proteins", "other.fasta"]
    assert run_command_line([*given, "--out", "novelty.json"]) == 0
    words = annotate("--proteins", "world/my_phages.fasta")
    capsys.readouterr()
    assert run_command_line(words) == 0
    stated = "novelty.json: none of its proteins is one on which fit.json was fitted.\n"
    assert stated in capsys.readouterr().err
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    assert run_command_line(words) == 0
    assert "none of its proteins" not in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--proteins", "--vectors"])
def test_proteins_that_are_all_the_same_are_refused(
    world: Path, capsys: Stated, option: str
) -> None:
    ids = ids_of("world/calibration.csv")
    if option == "--proteins":
        write_fasta("same.fasta", dict.fromkeys(ids, "MKVLAAGITRRSDEWNQ" * 9))
    else:
        np.savez("same.npz", id=np.array(ids), vectors=np.full((len(ids), 4), 0.3))
    name = "same.fasta" if option == "--proteins" else "same.npz"
    table = ["novelty", "world/calibration.csv", *LABELLED, option, name, "--out", "n.json"]
    what = f"{name}: fewer than two proteins can be distinguished. Give more proteins.\n"
    assert refused(capsys, *table) == what
    assert not Path("n.json").exists()


def test_what_neighbours_show_comes_as_columns_where_asked_for(
    world: Path, capsys: Stated
) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    words = annotate("--proteins", "world/my_phages.fasta")
    assert run_command_line(words) == 0
    plain = pd.read_csv("out.tsv", sep="\t")
    assert run_command_line([*words, "--parts"]) == 0
    table = pd.read_csv("out.tsv", sep="\t")
    names = ["trust_score", "local_error", "local_distance"]
    pd.testing.assert_frame_equal(table.drop(columns=names), plain)
    assert (table["trust_score"].dropna() > 0).all() and table["trust_score"].notna().any()
    # Of the predicted class and another, by hand.
    file = NOVELTY_FILES.read(Path("novelty.json"))
    labelled = pd.read_csv("world/calibration.csv", index_col=0).select_dtypes("number")
    assert file.is_wrong is not None
    predicted = labelled.idxmax(axis=1)[file.reference.ids]
    wrong = predicted.to_numpy() != file.reference.class_name
    np.testing.assert_array_equal(file.is_wrong, wrong)
    size = pd.Series(file.reference.class_name).value_counts()
    is_large = table["predicted_class"].map(size).fillna(0) >= 10
    assert (table["local_distance"].notna() == is_large).all() and is_large.any()
    without = [word for word in words if word not in ("--novelty", "novelty.json")]
    assert refused(capsys, *without, "--parts") == (
        "--parts: its columns need the distances to calibration proteins. "
        "Give --novelty, and --proteins or --vectors.\n"
    )


def test_tables_of_a_folder_are_compared_too_each_as_if_it_were_alone(world: Path) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    words = annotate("--proteins", "world/my_phages.fasta")
    assert run_command_line(words) == 0
    header, *rows = Path("world/my_phages.csv").read_text().splitlines()
    Path("tables").mkdir()
    for name, part in (("a", rows[:10]), ("b", rows[10:])):
        Path(f"tables/{name}.csv").write_text("\n".join([header, *part]) + "\n")
    words[1], words[-1] = "tables", "each"
    assert run_command_line([*words, "--ending", ".tsv"]) == 0
    parts = [pd.read_csv(f"each/{name}.tsv", sep="\t") for name in ("a", "b")]
    alone = pd.read_csv("out.tsv", sep="\t").drop(columns=contract.Q_VALUE)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), alone)
