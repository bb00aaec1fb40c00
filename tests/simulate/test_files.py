from __future__ import annotations

import io

import numpy as np
import pytest
from Bio import SeqIO

from credence.simulate.law import CLASS_NAMES, WorldSettings
from credence.simulate.world import World, make_world, precision_at, render_files

SETTINGS = WorldSettings(n_calibration=600, n_query=200, n_training=100, n_trove=40, n_defects=4)


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(SETTINGS)


@pytest.fixture(scope="module")
def files(world: World) -> dict[str, str | bytes]:
    return render_files(world)


def text(files: dict[str, str | bytes], name: str) -> str:
    content = files[name]
    assert isinstance(content, str)
    return content


def test_two_worlds_of_the_same_settings_give_the_same_bytes(
    files: dict[str, str | bytes],
) -> None:
    assert render_files(make_world(SETTINGS)) == files


def test_the_labelled_table_is_in_phanns_layout_with_the_label_in_the_name(
    world: World, files: dict[str, str | bytes]
) -> None:
    lines = text(files, "calibration.csv").splitlines()
    assert lines[0] == "," + ",".join(CLASS_NAMES)
    assert len(lines) == 601
    scores = world.calibration.labelled.predictions.scores
    assert scores is not None
    for line, name, row, class_ in zip(
        lines[1:],
        world.calibration.ids,
        scores,
        world.calibration.labelled.true_class,
        strict=True,
    ):
        cells = line.split(",")
        assert cells[0] == name
        assert [float(cell) for cell in cells[1:]] == row.tolist()
        label = cells[0].rpartition("_")[0].replace("_", " ")
        assert label.lower() in CLASS_NAMES[class_].lower()


def test_the_use_table_shows_a_confidence_but_no_class(files: dict[str, str | bytes]) -> None:
    lines = text(files, "my_phages.csv").splitlines()
    assert lines[0] == "," + ",".join(CLASS_NAMES) + ",Confidence"
    assert [line.split(",")[0] for line in lines[1:3]] == [
        *("simulated_phage_000001", "simulated_phage_000002")
    ]
    assert all(0 <= float(line.rpartition(",")[2]) <= 1 for line in lines[1:])


def test_confidence_is_the_precision_at_that_score_or_better(world: World) -> None:
    labelled = world.calibration.labelled
    predicted, top = labelled.predictions.predicted_class, labelled.predictions.top_score
    assert top is not None
    asked = np.array([3.0, 6.5, 9.99])
    given = precision_at(world.calibration, np.full(3, 10), asked)
    slow = [labelled.is_correct[(predicted == 10) & (top >= score)].mean() for score in asked]
    assert given.tolist() == pytest.approx(slow, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "proteins"),
    [
        ("calibration.csv", "proteins.fasta"),
        ("my_phages.csv", "my_phages.fasta"),
        ("trove_htj.csv", "trove_htj.fasta"),
        ("trove_mixed.csv", "trove_mixed.fasta"),
    ],
)
def test_tables_and_fasta_name_the_same_proteins_and_headers_say_simulated(
    files: dict[str, str | bytes], table: str, proteins: str
) -> None:
    names = [line.split(",")[0] for line in text(files, table).splitlines()[1:]]
    records = list(SeqIO.parse(io.StringIO(text(files, proteins)), "fasta"))
    assert [record.id for record in records] == names
    assert all(record.description == f"{record.id} simulated" for record in records)


def test_the_networks_come_as_one_array_without_objects(
    world: World, files: dict[str, str | bytes]
) -> None:
    content = files["calibration_networks.npz"]
    assert isinstance(content, bytes)
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        assert arrays["softmax"].shape == (600, 10, 11)
        assert arrays["class_names"].tolist() == list(CLASS_NAMES)
        assert arrays["id"].tolist() == world.calibration.ids.tolist()
        np.testing.assert_allclose(
            arrays["softmax"].sum(axis=1), world.calibration.unrounded_scores, atol=10 * 0.5e-4
        )


def test_the_readme_says_simulated_and_explains_every_planted_kind(
    world: World, files: dict[str, str | bytes]
) -> None:
    readme = text(files, "README.txt")
    assert readme.startswith("Simulated data: ")
    for kind in {entry.kind for entry in world.planted}:
        assert f"  {kind}: " in readme
    planted = text(files, "truth/planted.tsv").splitlines()
    assert len(planted) == len(world.planted) + 1
