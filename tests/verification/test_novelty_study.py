"""The study of noise: its numbers against plain computations, its page and its files."""

from __future__ import annotations

import csv
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from verification.novelty_study import (
    CALIBRATION,
    HELD_OUT,
    PERMUTED,
    RESIDUES,
    UNIFORM,
    HardSample,
    InputFinding,
    Material,
    ProteinWorldSettings,
    StudyMethod,
    StudyProteins,
    StudySet,
    best_by_scores,
    compare,
    ks_distance,
    losses,
    mutated,
    mutation_kind,
    natural_shares,
    open_material,
    random_,
    rank_correlation,
    remote_world,
    reversed_,
    sections_of_study,
    shuffled,
    simulate_proteins,
    verdict,
)

from credence.predictions import from_scores, label
from credence.records import from_record, to_record
from credence.report.blocks import Paragraph, TableBlock
from verification import novelty_study


def test_distances_and_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    one, other = rng.random(60).round(1), (rng.random(60) ** 2).round(1)
    assert ks_distance(one, other) == pytest.approx(stats.ks_2samp(one, other).statistic)
    assert rank_correlation(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    one[3] = np.nan
    assert not math.isnan(rank_correlation(one, other))
    assert math.isnan(rank_correlation(np.ones(5), other[:5]))
    assert math.isnan(ks_distance(np.array([np.nan]), other))


def test_an_unknown_confidence_costs_as_one_half() -> None:
    found = losses(np.array([np.nan, 0.25]), np.array([True, False]))
    assert found == pytest.approx([math.log(2), -math.log(0.75)])


def test_the_gap_between_confidence_and_share_right_in_two_bins() -> None:
    outcomes = np.array([False, True, True, True])
    gap = novelty_study.calibration_gap(np.array([0.2, 0.4, 0.8, 1.0]), outcomes, 2)
    assert gap == pytest.approx(0.15)


def material(n: int = 300) -> Material:
    """Return points around three centres, a classifier by distance, and points far away."""
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])

    def drawn(name: str, at: np.ndarray, true: np.ndarray):  # type: ignore[no-untyped-def]
        distance = np.linalg.norm(at[:, None] - centres, axis=2)
        scores = np.exp(-distance)
        scores /= scores.sum(axis=1, keepdims=True)
        ids = np.array([f"{name}{number}" for number in range(len(at))], dtype=object)
        return label(from_scores(ids, ("a", "b", "c"), scores, 1.0, 1e-6), true)

    points = {}
    for kind in (CALIBRATION, HELD_OUT):
        true = rng.integers(0, 3, n)
        points[kind] = (centres[true] + rng.normal(0, 1.2, (n, 2)), true)
    far = rng.normal(0, 1, (n, 2)) + np.array([-300.0, -300.0])
    moved = {part: points[HELD_OUT][0] * (1 - part) for part in (0.0, 1.0)}
    zeros = np.zeros(n, dtype=np.int64)
    return Material(
        "points", "Points.", 0,
        drawn("k", *points[CALIBRATION]), drawn("h", *points[HELD_OUT]),
        {"far": drawn("f", far, zeros).predictions},
        {part: drawn("m", at, zeros).predictions for part, at in moved.items()},
        {"plane": {
            CALIBRATION: points[CALIBRATION][0], HELD_OUT: points[HELD_OUT][0], "far": far,
            **{mutation_kind(part): at for part, at in moved.items()},
        }},
    )  # fmt: skip


def test_far_from_all_data_macest_knows_nothing_and_scores_are_sure() -> None:
    given = material()
    found = compare(given, ("uncalibrated", "sts"), n_draws=20)
    raw, scaled, macest = found.methods
    assert [method.name for method in found.methods] == ["uncalibrated", "sts", "macest, plane"]
    assert macest.inputs[1].mean == pytest.approx(1 / 3, abs=0.03)  # all classes equally far
    assert macest.inputs[1].ks == 0.0
    top = given.held_out.predictions.top_score
    assert top is not None
    assert raw.inputs[0].mean == pytest.approx(top.mean())
    loss = np.where(given.held_out.is_correct, -np.log(top), -np.log1p(-top))
    assert raw.nll == pytest.approx(loss.mean())
    assert raw.nll_lower < raw.nll < raw.nll_upper
    assert scaled.nll < raw.nll
    assert macest.nll < 1.5 * scaled.nll  # neighbours are sought among 150 points only
    assert found.accuracy == given.held_out.is_correct.mean()
    assert macest.at_mutations[0] == pytest.approx(macest.inputs[0].mean)
    assert from_record(StudySet, to_record(found)) == found


@pytest.mark.long
def test_an_open_set_is_split_without_loss_and_the_same_each_time() -> None:
    one, two = open_material("breast cancer"), open_material("breast cancer")
    assert one.n_training + one.calibration.n_samples + one.held_out.n_samples == 569
    assert set(one.noise) == {PERMUTED, UNIFORM}
    for kind, predictions in one.noise.items():
        assert predictions.scores is not None
        assert np.array_equal(predictions.scores, two.noise[kind].scores)  # type: ignore[arg-type]
    points = one.spaces["features"]
    assert np.array_equal(np.sort(points[PERMUTED], axis=0), np.sort(points[HELD_OUT], axis=0))
    assert not np.array_equal(points[PERMUTED], points[HELD_OUT])


def inputs(*means: float) -> tuple[InputFinding, ...]:
    kinds = ("held out", "random residues", "shuffled")
    return tuple(
        InputFinding(kind, 50, mean, (0.05, 0.1, mean, 0.8, 0.9), 0.5, 0.25)
        for kind, mean in zip(kinds, means, strict=True)
    )


def study_set() -> StudySet:
    methods = (
        StudyMethod("sts", "scores", 0.5, 0.4, 0.6, 0.02, inputs(0.8, 0.6, 0.7), (0.8, 0.6)),
        StudyMethod("kernel", "scores", 0.4, 0.3, 0.5, 0.02, inputs(0.8, 0.5, 0.7), (0.8, 0.5)),
        StudyMethod(
            "macest, composition",
            "neighbours",
            0.45,
            0.4,
            0.5,
            0.1,
            inputs(0.7, 0.15, 0.55),
            (0.7, 0.15),
        ),
        StudyMethod(
            "macest, class axes",
            "neighbours",
            0.6,
            0.5,
            0.7,
            0.1,
            inputs(0.7, 0.3, 0.5),
            (0.7, 0.3),
        ),
    )
    return StudySet(
        "proteins", "Simulated proteins.", 11, 900, 800, 700, 300, 0.81, methods,
        (0.0, 1.0), (0.81, 0.12),
    )  # fmt: skip


def test_the_verdict_says_by_how_much_and_on_what() -> None:
    entry = study_set()
    assert best_by_scores(entry).name == "kernel"
    assert verdict(entry, entry.methods[2]) == (
        "macest, composition: NLL 0.450, 1.12 times that of kernel, the best method of scores "
        "(0.400): within 25 %. Mean confidence below 0.2: random residues 0.15. Not below 0.2: "
        "shuffled 0.55."
    )
    assert "1.50 times that of kernel, the best method of scores (0.400): not within 25 %" in (
        verdict(entry, entry.methods[3])
    )


def test_the_page_has_every_number_of_the_study() -> None:
    sections = sections_of_study((study_set(),))
    assert [section.title for section in sections] == ["Proteins", "How to read this"]
    tables = [block for block in sections[0].blocks if isinstance(block, TableBlock)]
    assert tables[0].rows[2] == (
        "macest, composition", "0.450 (0.400 to 0.500)", "0.100", "0.70", "0.15", "0.55",
    )  # fmt: skip
    assert tables[1].rows[0] == ("sts", "0.25", "0.25", "0.25")
    assert len(tables[1].rows) == 3  # not against itself
    first = sections[0].blocks[0]
    assert isinstance(first, Paragraph)
    stated = "It knows 11 classes; 0.81 of its predictions there are right."
    assert f"{stated} A confidence that knew nothing would be 0.09." in first.text


def test_the_lead_is_what_is_published_and_hard_samples_have_their_sentence() -> None:
    published = StudyMethod(
        "published", "published", 0.4, 0.3, 0.5, 0.02, inputs(0.8, 0.01, 0.02), (0.8, 0.01)
    )
    by_family = (0.21, 0.36, 0.61, 0.9)
    hard = HardSample(
        "far", 90, 12, 0.5, 0.2, 0.35, 0.3, 0.4, 0.6, 0.8, *by_family, "It looks foreign."
    )
    entry = replace(study_set(), methods=(*study_set().methods, published), hard=(hard,))
    assert best_by_scores(entry).name == "kernel"
    (section, _) = sections_of_study((entry,))
    leads = [one.text for one in section.blocks if isinstance(one, Paragraph) and one.is_lead]
    assert leads[0].startswith("published: NLL 0.400, 1.00 times that of kernel")
    assert "Mean confidence below 0.2: random residues 0.01, shuffled 0.02." in leads[0]
    table = [one for one in section.blocks if isinstance(one, TableBlock)][-1]
    assert table.rows == (
        ("far", "90", "12", "0.50", "0.20", "0.350 (0.300 to 0.400)", "0.60", "0.80",
         "0.21", "0.36", "0.61", "0.90", "It looks foreign."),
    )  # fmt: skip


def test_of_a_sample_asked_in_part_the_rest_is_not_known() -> None:
    rows = novelty_study._chosen("shuffled", 10, 4)
    assert rows.tolist() == sorted(set(rows.tolist())) and len(rows) == 4
    found = novelty_study._at(rows, pd.Series([0.1, 0.2, 0.3, 0.4]), 10)
    assert found[rows].tolist() == [0.1, 0.2, 0.3, 0.4]
    assert np.isnan(np.delete(found, rows)).all()


def test_distant_families_are_farther_than_those_of_the_world() -> None:
    near, distant = remote_world(1)
    assert (len(near.ids), len(distant.ids)) == (1874, 929)
    assert near.class_names == distant.class_names and set(near.ids).isdisjoint(distant.ids)
    again, _ = remote_world(1)
    assert again.sequences.tolist() == near.sequences.tolist()

    def words(world: StudyProteins, family: str) -> set[str]:
        row = world.cluster.tolist().index(family)
        return {world.sequences[row][at : at + 5] for at in range(len(world.sequences[row]) - 4)}

    def shared(world: StudyProteins) -> int:
        """Return how many words two families have in common, over all superfamilies."""
        return sum(
            len(words(world, f"family {number} 0") & words(world, f"family {number} 1"))
            for number in range(24)
        )

    # A word of five is kept by both with the share kept to the tenth power; 0.6 against 0.3.
    assert shared(near) > 3 * shared(distant)


def test_what_is_simulated_says_so_and_nothing_else_does() -> None:
    made, measured = replace(study_set(), is_simulated=True), study_set()
    open_set = replace(measured, name="digits", mutations=(), accuracy_at_mutations=())
    moons = replace(open_set, name="moons", is_simulated=True)
    folds = [[entry, replace(entry, accuracy=0.83)] for entry in (open_set, moons)]
    sections = sections_of_study((made, measured), folds)
    assert [section.title for section in sections] == [
        *("Proteins (simulated)", "Proteins", "Open sets", "How to read this")
    ]
    stated, table = sections[2].blocks[:2]
    assert isinstance(stated, Paragraph) and isinstance(table, TableBlock)
    assert " digits: " in stated.text and " moons (simulated): " in stated.text
    assert "0.820 ± 0.028 right" in stated.text  # twice the standard deviation of two folds
    assert [column.title for column in table.columns] == ["method", "digits", "moons (simulated)"]


SEQUENCES = np.array(["MKVLAAGIT" * 9, "WWYFPGGC" * 20], dtype=object)
IDS = np.array(["one", "two"], dtype=object)


def differing(one: str, other: str) -> float:
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


def test_a_reversed_protein_is_read_from_its_end() -> None:
    assert reversed_(np.array(["MKV"], dtype=object)).tolist() == ["VKM"]


def test_shuffling_keeps_the_residues_and_changes_their_order() -> None:
    found = shuffled(SEQUENCES, IDS)
    for before, after in zip(SEQUENCES, found, strict=True):
        assert sorted(before) == sorted(after)
        assert differing(before, after) > 0.5


def test_noise_depends_on_names_and_not_on_the_order_of_proteins() -> None:
    shares = natural_shares(SEQUENCES)
    for make in (
        lambda s, i: shuffled(s, i),
        lambda s, i: random_(s, i, shares),
        lambda s, i: mutated(s, i, shares, 0.3),
    ):
        assert make(SEQUENCES[::-1], IDS[::-1]).tolist() == make(SEQUENCES, IDS)[::-1].tolist()


def test_random_residues_are_as_common_as_stated() -> None:
    shares = {"A": 0.7, "C": 0.3}
    long = np.array(["M" * 20_000], dtype=object)
    text = random_(long, IDS[:1], shares)[0]
    assert len(text) == 20_000
    assert set(text) == {"A", "C"}
    # Four standard deviations of a share of 20,000 draws are 0.013.
    assert text.count("A") / len(text) == pytest.approx(0.7, abs=0.013)


def test_shares_are_those_of_the_twenty_residues() -> None:
    shares = natural_shares(np.array(["AACX", "AB"], dtype=object))
    assert shares["A"] == 0.75
    assert shares["C"] == 0.25
    assert sum(shares.values()) == 1.0


def test_mutations_add_up_on_the_same_way() -> None:
    shares = {"A": 1.0}
    protein = np.array(["W" * 5_000], dtype=object)
    texts = [mutated(protein, IDS[:1], shares, part)[0] for part in (0.0, 0.2, 0.6, 1.0)]
    assert texts[0] == protein[0]
    assert texts[-1] == "A" * 5_000
    places = [{at for at, letter in enumerate(text) if letter == "A"} for text in texts]
    assert places[0] < places[1] < places[2] < places[3]
    assert len(places[1]) / 5_000 == pytest.approx(0.2, abs=0.025)


def test_a_world_is_the_same_each_time_and_another_with_another_seed() -> None:
    settings = ProteinWorldSettings(n_classes=3, n_families=40)
    one, two = simulate_proteins(settings), simulate_proteins(settings)
    assert one.sequences.tolist() == two.sequences.tolist()
    other = simulate_proteins(ProteinWorldSettings(n_classes=3, n_families=40, seed=2))
    assert one.sequences[:5].tolist() != other.sequences[:5].tolist()


def test_relatives_are_alike_and_strangers_are_not() -> None:
    world = simulate_proteins(ProteinWorldSettings(n_classes=3, n_families=60))
    assert set("".join(world.sequences)) == set(RESIDUES)
    assert len(set(world.cluster)) == 60
    alike, strange = [], []
    for first in range(len(world.ids) - 1):
        one, other = world.sequences[first], world.sequences[first + 1]
        n = min(len(one), len(other))
        gap = differing(one[:n], other[:n])
        (alike if world.cluster[first] == world.cluster[first + 1] else strange).append(gap)
    # Two copies differ in at most 1 − 0.6² of the places that mutations drew anew.
    assert max(alike) < 0.8 < min(strange)


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


@pytest.fixture
def study(folder: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """Return what calls the script with further words."""

    def call(*words: str, fasta: str = "p.fasta", out: str = "out") -> None:
        given = ["--proteins", fasta, "--labels", "labels.tsv", "--clusters", "clusters.tsv"]
        quick = ["--method", "uncalibrated", "--method", "sts", "--no-open-sets", "--out", out]
        monkeypatch.setattr(sys, "argv", ["novelty_study.py", *given, *quick, *words])
        novelty_study.main()

    return call


@pytest.mark.long
def test_page_and_tables_are_written_whatever_the_order_of_proteins(
    folder: Path, proteins: StudyProteins, study
) -> None:  # type: ignore[no-untyped-def]
    study("--left-out", "class 4")
    study("--left-out", "class 4", fasta="turned.fasta", out="again")
    names = {path.name for path in (folder / "out").iterdir()}
    assert names == {"index.html", "inputs.tsv", "mutations.tsv", "hard.tsv", "study.json"}
    for name in names:
        assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes()
    with (folder / "out" / "inputs.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    kinds = ["held out", "random residues", "shuffled", "reversed", "class left out"]
    methods = ["uncalibrated", "sts"]
    methods += [f"macest, {space}" for space in ("composition", "class axes", "hidden units")]
    methods += ["published, no novelty", "published", "published, noise a fifth"]
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


def spoiled(folder: Path, wrong: str, proteins: StudyProteins) -> None:
    """Spoil the files in one way."""
    text = Path("labels.tsv").read_text()
    if wrong == "a stranger":
        with Path("p.fasta").open("a") as file:
            file.write(">stranger\nMKVL\n")
    elif wrong == "a rare class":
        own = f"{proteins.ids[0]}\t{proteins.class_names[proteins.true_class[0]]}\n"
        Path("labels.tsv").write_text(text.replace(own, f"{proteins.ids[0]}\trare\n"))


@pytest.mark.parametrize(
    ("words", "wrong", "stated"),
    [
        (("--labels", ""), "", "Give the three together."),
        (("--left-out", "clas 4"), "", "--left-out: 'clas 4' is no class. Did you mean"),
        ((), "a stranger", "'stranger' is not in labels.tsv. Add it there, or remove it."),
        ((), "a stranger", "'stranger' is not in clusters.tsv. Add it there, or remove it."),
        (
            (), "a rare class",
            "of these classes fewer than 6 families are there: rare. Leave them out.",
        ),
    ],
)  # fmt: skip
def test_what_the_study_cannot_use_is_named(
    words, wrong: str, stated: str, folder: Path, proteins: StudyProteins, study
) -> None:  # type: ignore[no-untyped-def]
    spoiled(folder, wrong, proteins)
    with pytest.raises(SystemExit) as ended:
        study(*words)
    assert stated in str(ended.value)
    assert not Path("out").exists()
