"""``credence novelty`` as a user calls it, and what ``credence annotate`` makes of its file."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from credence import __version__
from credence.app import run_command_line
from credence.findings import DistanceBand
from credence.novelty import detector as detectors
from credence.novelty.reference import Look
from credence.relatives import profiles
from credence.stages.reading import read_proteins
from credence.tables.stage_files import NOVELTY
from refusals import Stated, refused

LABELLED = ["--format", "phanns-labelled"]
WORLD = {"n_calibration": 90, "n_use": 24, "n_training": 20, "n_training_relatives": 3}
N_NUMBERS = 6  # of a vector


@pytest.fixture(scope="module", autouse=True)
def few_profiles() -> Iterator[None]:
    """Make few profiles, and foils of few families: seconds, of which nothing here asks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "MOST_PROFILES", 3)
        patch.setattr(detectors, "MOST_FAMILIES", 40)
        yield


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


def annotate(*words: str) -> list[str]:
    """Return the words that annotate the use-set with the calibration of the world."""
    fit = ["fit", "world/calibration.csv", *LABELLED, "--method", "class_only", "--draws", "50"]
    assert run_command_line([*fit, "--out", "fit.json"]) == 0
    table = ["annotate", "world/use.csv", "--format", "phanns", "--calibration", "fit.json"]
    return [*table, "--novelty", "novelty.json", *words, "--out", "out.tsv"]


def test_known_proteins_are_written_and_use_sets_compared_with_them(
    world: Path, capsys: Stated
) -> None:
    words = ["--proteins", "world/proteins.fasta", "--training", "world/training.fasta"]
    assert call(*words, "--components", "8", "--out", "novelty.json") == 0
    known = NOVELTY.read(Path("novelty.json"))
    assert known.detector is not None
    kinds = ", ".join(f"{one.power:.2f} of {one.n} {one.kind}" for one in known.detector.powers)
    assert kinds.count(" of ") == 4 and capsys.readouterr().err == (
        "Wrote novelty.json: 90 proteins along 8 axes.\n"
        f"novelty.json: at 5 % false alarms foils are noticed, one a family: {kinds}.\n"
    )
    assert sorted(known.reference.ids) == sorted(ids_of("world/calibration.csv"))
    assert known.reference.training is not None and len(known.reference.training) == 23
    assert call(*words, "--components", "8", "--out", "again.json") == 0
    assert Path("again.json").read_bytes() == Path("novelty.json").read_bytes()
    assert run_command_line(annotate("--proteins", "world/use.fasta")) == 0
    table = pd.read_csv("out.tsv", sep="\t")
    assert table["novelty"].between(0, 1).all() and len(table) == len(ids_of("world/use.csv"))
    fasta = read_proteins("world/use.fasta", "first_word")
    sequence = dict(zip(fasta.ids, fasta.sequences, strict=True))
    asked = np.array([sequence[id_] for id_ in table["id"]], dtype=object)
    points = known.reference.space.of_sequences(asked)
    distance = np.linalg.norm(points[:, None] - known.reference.points[None], axis=2)
    np.testing.assert_allclose(table["calibration_distance"], distance.min(axis=1))
    nearest = known.reference.ids[distance.argmin(axis=1)]
    assert table["nearest_calibration"].tolist() == nearest.tolist()


def test_where_a_class_is_left_out_so_are_training_proteins_that_are_nearest_to_it(
    world: Path,
) -> None:
    text = Path("world/proteins.fasta").read_text()
    Path("trained.fasta").write_text(text.replace(">", ">trained_"))
    words = ["--proteins", "world/proteins.fasta", "--training", "trained.fasta"]
    assert call(*words, "--out", "novelty.json") == 0
    found = NOVELTY.read(Path("novelty.json")).detector
    assert found is not None
    power = {one.kind: one.power for one in found.powers}
    # Every protein has its copy in training, and is near it, but where its class is left out.
    assert power[detectors.WITHOUT_CLASS] > 0.9


def test_letters_that_stand_for_others_are_read_so_on_both_sides(world: Path) -> None:
    seen = []
    for proteins, use in (("plain", "plain"), ("odd", "plain"), ("plain", "odd")):
        for name, kind in (("proteins", proteins), ("use", use)):
            lines = Path(f"world/{name}.fasta").read_text().splitlines()
            odd = str.maketrans("DELCK", "BZJUO" if kind == "odd" else "DELCK")
            texts = [one if one.startswith(">") else one.translate(odd) for one in lines]
            Path(f"{name}.fasta").write_text("\n".join(texts) + "\n")
        assert call("--proteins", "proteins.fasta", "--out", "novelty.json") == 0
        assert run_command_line(annotate("--proteins", "use.fasta")) == 0
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
    with_it, without = NOVELTY.read(Path("with.json")), NOVELTY.read(Path("without.json"))
    assert list(with_it.reference.ids) == list(without.reference.ids)
    words = ("novelty", "world/calibration.csv", *LABELLED, "--proteins", "added.fasta")
    assert refused(capsys, *words, "--out", "n.json") == (
        "added.fasta: the file is empty. Give a FASTA file of proteins.\n"
    )


def test_vectors_tell_proteins_as_sequences_do(world: Path, capsys: Stated) -> None:
    calibration, use = ids_of("world/calibration.csv"), ids_of("world/use.csv")
    write_vectors("vectors.npz", [*calibration, *use])
    words = ["--vectors", "vectors.npz", "--components", "4"]
    assert call(*words, "--out", "novelty.json") == 0
    assert capsys.readouterr().err == "Wrote novelty.json: 90 proteins along 4 axes.\n"
    space = NOVELTY.read(Path("novelty.json")).reference.space
    assert (space.kind, space.n_features) == ("vectors", N_NUMBERS)
    assert run_command_line(annotate("--vectors", "vectors.npz")) == 0
    assert pd.read_csv("out.tsv", sep="\t")["novelty"].notna().all()


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
        "--proteins: the proteins' features are not named once. Give --proteins or --vectors.\n"
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
    with_sequences = annotate("--proteins", "world/use.fasta")
    assert refused(capsys, *with_sequences) == (
        "novelty.json: its space is one of vectors. Give --vectors.\n"
    )
    write_vectors("wide.npz", ids_of("world/use.csv"), N_NUMBERS + 1)
    assert refused(capsys, *annotate("--vectors", "wide.npz")) == (
        "wide.npz: its vectors have 7 numbers, those of novelty.json 6. "
        "Give vectors of the same kind.\n"
    )
    record = json.loads(Path("novelty.json").read_text())
    Path("novelty.json").write_text(json.dumps(record | {"schema": "credence/novelty/3"}))
    assert refused(capsys, *with_sequences) == (
        "novelty.json, column 'schema': 'credence/novelty/3' is not 'credence/novelty/5', the "
        f"only one that credence {__version__} reads. Make it again: credence novelty.\n"
    )
    assert not Path("out.tsv").exists()


def test_confidences_move_by_what_did_not_hold_at_their_distance(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from credence.draws import keys_of
    from credence.evaluation import bands
    from credence.stages import annotate as stage
    from credence.stages.novelty import seen_of
    from credence.tables.stage_files import read_calibration

    monkeypatch.setattr(detectors, "LEAST_POWER", 1.1)  # so that distance alone moves them
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    words = annotate("--proteins", "world/use.fasta")
    assert run_command_line(words) == 0
    before = pd.read_csv("out.tsv", sep="\t", keep_default_na=False)

    # The pairing of held-out proteins with their distances: by a hash of ids.
    file, calibration = NOVELTY.read(Path("novelty.json")), read_calibration(Path("fit.json"))
    held, names = calibration.held_out, calibration.class_names
    assert held is not None and file.own is not None
    seen = seen_of(file, held, names)
    ids = file.reference.ids[file.reference.calibration_rows]
    own = dict(zip(keys_of(ids).tolist(), bands.band_of(file.own.identity), strict=True))
    # Each protein is a family of its own here, so that the key is that of its id.
    assert seen is not None and len(seen.band) == len(held.step) < len(ids)
    assert seen.band.tolist() == [own[key] for key in seen.key[seen.family].tolist()]
    right = dict(zip(held.key[held.cluster].tolist(), ~held.is_wrong, strict=True))
    assert seen.is_right.tolist() == [right[key] for key in seen.key[seen.family].tolist()]
    others = seen_of(file, replace(held, key=held.key + np.uint64(1)), names)
    assert others is not None and not len(others.band)  # other proteins

    # Bands as if the farthest had been tested by nobody, and the next one promised too much.
    untested, p = (float("nan"),) * 4, 0.001
    planted = (
        DistanceBand("far", 3, 1, *untested, float("nan")),
        DistanceBand("next", 80, 40, 0.8, 0.6, 0.5, 0.7, p, step=-1.0),
        *(DistanceBand(name, 80, 40, 0.8, 0.8, 0.7, 0.9, 1.0) for name in ("near", "nearest")),
    )
    monkeypatch.setattr(stage, "bands_of", lambda _: planted)
    assert run_command_line([*words, "--novelty-record", "record.json"]) == 0
    after = pd.read_csv("out.tsv", sep="\t", keep_default_na=False)
    assert len(json.loads(Path("record.json").read_text())["bands"]) == 4
    band = bands.band_of(pd.to_numeric(before["closest_identity"], errors="coerce").to_numpy())
    assert len({*band}) > 1
    is_next, is_far = band == 1, band == 0
    for name in ("confidence", "lower", "upper"):
        first, last = (pd.to_numeric(one[name], errors="coerce") for one in (before, after))
        moved = is_next & (first < 1.0).to_numpy()  # with six digits, 1 may be less
        odds = first[moved] / (1 - first[moved]) / np.e
        np.testing.assert_allclose(last[moved], odds / (1 + odds), atol=3e-6)
        assert moved.any()
        kept = ~is_next & ~(is_far & (name == "lower"))
        np.testing.assert_array_equal(first[kept], last[kept])
    lower = pd.to_numeric(after["lower"], errors="coerce")[is_far]
    assert (lower.dropna() == 0.0).all() and lower.notna().any()
    assert (after["note"].str.contains("so moved") == is_next).all()
    assert (after["note"].str.contains("the range is open below") == is_far).all()


def test_a_doubtful_kind_lowers_the_confidence_and_its_lower_end_more(
    world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from credence.stages import annotate as stage
    from credence.stages.novelty import look_at

    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0

    def annotated_at(known: float, least: float) -> pd.DataFrame:
        def doubtful(*given: Any) -> Look:
            look = look_at(*given)
            kinds = {"known_kind": known, "least_kind": least}
            full = {name: np.full(len(look.far), value) for name, value in kinds.items()}
            return replace(look, **full)

        monkeypatch.setattr(stage, "look_at", doubtful)
        assert run_command_line(annotate("--proteins", "world/use.fasta")) == 0
        return pd.read_csv("out.tsv", sep="\t")

    plain, lowered = annotated_at(1.0, 1.0), annotated_at(0.5, 0.25)
    assert (plain["lower"] > 0.1).any()
    for name, factor in (("confidence", 0.5), ("lower", 0.25), ("upper", 1.0)):
        np.testing.assert_allclose(lowered[name], factor * plain[name], atol=1e-6)
    assert (lowered["known_kind"] == 0.5).all()


def write_fasta(name: str, proteins: dict[str, str]) -> None:
    Path(name).write_text("".join(f">{id_}\n{text}\n" for id_, text in proteins.items()))


def test_foils_of_ones_own_are_looked_for_once_a_family(world: Path, capsys: Stated) -> None:
    rng = np.random.default_rng(3)
    others = {f"o{n}": "M" + "".join(rng.choice(list("CDHKMNPRWY"), 150)) for n in range(12)}
    relatives = {f"copy{n}": others["o0"][:-n] for n in range(1, 9)}
    write_fasta("others.fasta", {**relatives, **others, "short": "MKV"})
    words = ("--proteins", "world/proteins.fasta")
    assert call(*words, "--foils", "others.fasta", "--out", "novelty.json") == 0
    stated = capsys.readouterr().err
    detector = NOVELTY.read(Path("novelty.json")).detector
    assert detector is not None
    own = detector.powers[-1]
    assert (own.kind, own.n) == ("of no class of interest", 12) and own.power > 0.5
    assert f", {own.power:.2f} of 12 of no class of interest.\n" in stated
    write_fasta("others.fasta", {"short": "MKV", **others, **relatives})  # in another order
    assert call(*words, "--foils", "others.fasta", "--out", "again.json") == 0
    again = NOVELTY.read(Path("again.json")).detector
    assert again is not None
    np.testing.assert_array_equal(again.held, detector.held)
    capsys.readouterr()
    write_fasta("others.fasta", {"short": "MKV"})
    assert call(*words, "--foils", "others.fasta", "--out", "again.json") == 0
    assert ", all foils given are too short to be compared.\n" in capsys.readouterr().err


def test_what_cannot_be_compared_and_what_is_flagged_is_printed(
    world: Path, capsys: Stated
) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    own = read_proteins("world/use.fasta", "first_word")
    kept = dict(zip(own.ids[:20], own.sequences[:20], strict=True))
    write_fasta("use.fasta", {**kept, "stranger": "MKV" * 9})
    assert run_command_line(annotate("--proteins", "use.fasta")) == 0
    printed = capsys.readouterr().err
    assert (
        "out.tsv: 4 of 24 proteins: no sequence or vector to compare, or too short a sequence.\n"
        in printed
    )
    flagged = int((pd.read_csv("out.tsv", sep="\t")["novelty"] >= 0.95).sum())
    assert flagged > 0
    assert f"out.tsv: {flagged} of 24 proteins: unlike every known protein.\n" in printed


def test_a_novelty_file_of_other_proteins_than_the_calibration_is_named(
    world: Path, capsys: Stated
) -> None:
    for name in ("calibration.csv", "proteins.fasta"):
        text = Path("world", name).read_text()
        later = re.sub(r"^(>?[A-Za-z_]+_)(\d+)", r"\g<1>9\2", text, flags=re.MULTILINE)
        Path("other").with_suffix(Path(name).suffix).write_text(later)
    given = ["novelty", "other.csv", *LABELLED, "--proteins", "other.fasta"]
    assert run_command_line([*given, "--out", "novelty.json"]) == 0
    words = annotate("--proteins", "world/use.fasta")
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


def test_of_few_families_foils_teach_nothing_and_that_is_printed(
    world: Path, capsys: Stated
) -> None:
    rows = Path("world/calibration.csv").read_text().splitlines()
    Path("world/calibration.csv").write_text("\n".join(rows[:16]) + "\n")
    assert call("--proteins", "world/proteins.fasta", "--out", "n.json") == 0
    assert capsys.readouterr().err.endswith(
        "n.json: families are so few that foils teach nothing, and no confidence is lowered.\n"
    )


def test_foils_that_are_known_and_foils_beside_vectors_are_refused(
    world: Path, capsys: Stated
) -> None:
    fasta = read_proteins("world/proteins.fasta", "first_word")
    id_, text = fasta.ids[4], fasta.sequences[4]
    write_fasta("others.fasta", {"new": "MKVLAAGIVGLPWWWWKLMN", "old": text.lower()})
    words = ("novelty", "world/calibration.csv", *LABELLED, "--out", "novelty.json")
    foils = ("--foils", "others.fasta")
    assert refused(capsys, *words, "--proteins", "world/proteins.fasta", *foils) == (
        f"others.fasta, line 3: 'old' has the sequence of {id_!r}, which is known. "
        "Remove it here: a foil is a protein that is of none of the classes.\n"
    )
    write_vectors("vectors.npz", ids_of("world/calibration.csv"))
    assert refused(capsys, *words, "--vectors", "vectors.npz", *foils) == (
        "--foils: vectors are compared by distance alone, and foils by sequences. "
        "Give --proteins in place of --vectors, or no foils.\n"
    )


def test_what_neighbours_show_comes_as_columns_where_asked_for(
    world: Path, capsys: Stated
) -> None:
    assert call("--proteins", "world/proteins.fasta", "--out", "novelty.json") == 0
    words = annotate("--proteins", "world/use.fasta")
    assert run_command_line(words) == 0
    plain = pd.read_csv("out.tsv", sep="\t")
    assert run_command_line([*words, "--parts"]) == 0
    table = pd.read_csv("out.tsv", sep="\t")
    names = ["trust_score", "local_error", "local_distance"]
    pd.testing.assert_frame_equal(table.drop(columns=names), plain)
    assert (table["trust_score"].dropna() > 0).all() and table["trust_score"].notna().any()
    # Of the predicted class and another, by hand.
    file = NOVELTY.read(Path("novelty.json"))
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
        "--parts: nothing says where calibration proteins lie. "
        "Give --novelty, and --proteins or --vectors.\n"
    )
