"""The comparison of methods on noise, against plain computations and its own words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from credence.findings import InputFinding, NoveltyStudy, StudyMethod, StudySet
from credence.predictions import from_scores, label
from credence.records import from_record, to_record
from credence.report.blocks import Paragraph, TableBlock
from credence.report.novelty_study import best_by_scores, sections_of_study, verdict
from credence.study.comparing import (
    CALIBRATION,
    HELD_OUT,
    Material,
    compare,
    ks_distance,
    losses,
    mutation_kind,
    rank_correlation,
)
from credence.study.worlds import PERMUTED, UNIFORM, open_material


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
    record = to_record(NoveltyStudy(0.95, (found,)))
    assert from_record(NoveltyStudy, record) == NoveltyStudy(0.95, (found,))


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
        StudyMethod("sts", False, 0.5, 0.4, 0.6, 0.02, inputs(0.8, 0.6, 0.7), (0.8, 0.6)),
        StudyMethod("kernel", False, 0.4, 0.3, 0.5, 0.02, inputs(0.8, 0.5, 0.7), (0.8, 0.5)),
        StudyMethod(
            "macest, composition", True, 0.45, 0.4, 0.5, 0.1, inputs(0.7, 0.15, 0.55), (0.7, 0.15)
        ),
        StudyMethod(
            "macest, class axes", True, 0.6, 0.5, 0.7, 0.1, inputs(0.7, 0.3, 0.5), (0.7, 0.3)
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
    sections = sections_of_study(NoveltyStudy(0.95, (study_set(),)))
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


def test_what_is_simulated_says_so_and_nothing_else_does() -> None:
    made, measured = replace(study_set(), is_simulated=True), study_set()
    open_set = replace(measured, name="digits", mutations=(), accuracy_at_mutations=())
    moons = replace(open_set, name="moons", is_simulated=True)
    sections = sections_of_study(NoveltyStudy(0.95, (made, measured, open_set, moons)))
    assert [section.title for section in sections] == [
        *("Proteins (simulated)", "Proteins", "Open sets", "How to read this")
    ]
    stated, table = sections[2].blocks[:2]
    assert isinstance(stated, Paragraph) and isinstance(table, TableBlock)
    assert " digits: " in stated.text and " moons (simulated): " in stated.text
    assert [column.title for column in table.columns] == ["method", "digits", "moons (simulated)"]
