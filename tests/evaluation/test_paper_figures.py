"""The figures of the calibration paper, as records, on sets whose numbers can be counted."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from classes_in_order import with_classes_in_order
from credence.evaluation.paper_figures import (
    FIGURES,
    FigureSource,
    losses,
    make_figures,
    sharpened,
)
from credence.findings import FigureRecord
from credence.predictions import UNKNOWN_CLASS, Labelled, from_scores, label

CLASSES = ("A", "B", "C")


def labelled_of(n: int, seed: int = 0, only: int | None = None) -> Labelled:
    """Return proteins of three classes; the better the score, the oftener right."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n) if only is None else np.full(n, only)
    scores = rng.dirichlet(np.ones(3), n)
    scores[np.arange(n), true] += rng.uniform(0.0, 2.0, n)
    scores = np.round(10.0 * scores / scores.sum(axis=1, keepdims=True), 2)
    ids = np.array([f"p{seed}.{k}" for k in range(n)], dtype=object)
    family = np.array([f"f{seed}.{k // 2}" for k in range(n)], dtype=object)
    return label(from_scores(ids, CLASSES, scores, 10.0, 0.01), true, cluster=family)


def joined(first: Labelled, second: Labelled) -> Labelled:
    both = (first, second)
    scores = np.concatenate([one.predictions.scores for one in both])
    ids = np.concatenate([one.predictions.ids for one in both])
    return label(
        from_scores(ids, CLASSES, scores, 10.0, 0.01),
        np.concatenate([one.true_class for one in both]),
        cluster=np.concatenate([one.cluster for one in both]),
    )


@pytest.fixture(scope="module")
def labelled() -> Labelled:
    return labelled_of(240)


@pytest.fixture(scope="module")
def made(labelled: Labelled) -> dict[str, FigureRecord]:
    after = joined(labelled, labelled_of(80, 1, only=2))
    source = FigureSource(labelled=labelled, troves={"c": (labelled, after)})
    return {one.number: one for one in make_figures(source)}


def series(record: FigureRecord, panel: int) -> dict[str, np.ndarray]:
    return {one.name: np.array(one.y) for one in record.panels[panel].series}


def test_figures_sort_by_their_numbers_and_have_names_of_their_own() -> None:
    stems = [f"{figure.number}-{figure.name}" for figure in FIGURES]
    assert stems == sorted(stems)
    assert len({figure.name for figure in FIGURES}) == len(FIGURES)


def test_a_set_alone_gives_all_but_what_only_a_run_can_give(made: dict[str, FigureRecord]) -> None:
    assert [number for number, one in made.items() if one.lacks] == ["18", "19"]
    for number, one in made.items():
        if number <= "17":
            cited = f"After Fig. {int(number[:2])} of Salamon et al. 2023 (doi 10.3390/"
            assert cited in one.caption, number
            assert one.caption.startswith(one.shows.rstrip("."))


def test_the_matrices_are_counts_shares_of_rows_and_shares_of_columns(
    labelled: Labelled, made: dict[str, FigureRecord]
) -> None:
    counts = np.array(made["01a"].matrix)
    assert counts.sum() == labelled.n_samples
    assert np.array(made["01b"].matrix).sum(axis=1) == pytest.approx(np.ones(3))
    diagonal = np.diag(np.array(made["01c"].matrix))
    assert diagonal == pytest.approx(np.diag(counts) / counts.sum(axis=0))


def test_a_tool_is_marked_where_it_stands_and_every_method_is_named(
    labelled: Labelled, made: dict[str, FigureRecord]
) -> None:
    names = [[one.name for one in panel.series] for panel in made["02"].panels]
    assert "this tool" in names[2]
    assert ["class_only" in names[0], "kernel" in names[1], "tswa" in names[2]] == [True] * 3
    top = replace(labelled, predictions=replace(labelled.predictions, scores=None))
    (kinds,) = make_figures(FigureSource(labelled=top), [FIGURES[3]])
    assert "this tool" in [one.name for one in kinds.panels[1].series]


def test_the_bound_of_a_histogram_is_that_of_gupta_and_ramdas(
    made: dict[str, FigureRecord],
) -> None:
    steps = made["03"].panels[1].series[0]
    share, lower, n = (np.array(values) for values in (steps.y, steps.lower, steps.n))
    n_filled = int((n > 0).sum())
    free = np.flatnonzero((n > 0) & (lower > 0))
    # Families of two, some of both in one interval: between n/2 and n of them.
    for at in free.tolist():
        half = share[at] - lower[at]
        few, many = (np.sqrt(np.log(2 * n_filled / 0.05) / 2 / k) for k in (n[at] / 2, n[at]))
        assert many - 1e-12 <= half <= few + 1e-12
    assert len(free) > 0


def test_halves_add_up_to_the_whole_class(made: dict[str, FigureRecord]) -> None:
    whole, first, second = (
        np.array(record.panels[at].series[which].n)
        for record, at, which in ((made["03"], 1, 0), (made["04"], 0, 0), (made["04"], 0, 1))
    )
    assert (first + second).tolist() == whole.tolist()


def test_to_count_proteins_predicted_otherwise_can_only_lower_a_confidence(
    made: dict[str, FigureRecord],
) -> None:
    for panel in range(1, 6, 2):
        found = series(made["06"], panel)
        own, every = found["kernel (b_mon2)"], found["were all counted"]
        known = ~np.isnan(own)
        assert known.any()
        # Where scores end the curve holds its value, for less than a step of the grid.
        assert (every[known] <= own[known] + 0.01).all()


def test_a_trove_of_one_class_raises_its_confidence_and_moves_no_wrong_prediction(
    made: dict[str, FigureRecord],
) -> None:
    titles = [panel.title for panel in made["15"].panels]
    assert titles == ["C, trove c: densities", "C, trove c: confidence"]
    densities, confidence = (series(made["15"], at) for at in (0, 1))
    assert densities["wrong, before"] == pytest.approx(densities["wrong, after"])
    before, after = confidence["confidence before"], confidence["confidence after"]
    known = ~np.isnan(before)
    assert (after[known] >= before[known] - 1e-12).all()
    assert (after[known] > before[known] + 0.01).any()


def test_a_stand_in_for_a_saturated_tool_keeps_the_order_of_scores(labelled: Labelled) -> None:
    before, after = labelled.predictions.top_score, sharpened(labelled).predictions.top_score
    assert before is not None
    assert after is not None
    assert (after > 9.9).mean() >= 0.99
    assert (np.diff(after[np.argsort(before, kind="stable")]) >= 0).all()


@pytest.mark.long
def test_losses_in_sample_stand_beside_those_held_out_in_whatever_order_columns_come(
    made: dict[str, FigureRecord],
) -> None:
    record = made["17"]
    assert record.ticks == (
        *("histogram", "b_mon", "b_mon2", "STS", "CSTS", "TSwA", "Cum*", "uncalibrated"),
    )
    found = series(record, 0)
    assert record.panels[0].title == "all classes"
    assert found["in sample"][-1] == pytest.approx(found["held out"][-1])  # nothing is fitted
    assert (found["in sample"][:-1] < found["held out"][:-1]).all()

    alone = labelled_of(247)
    alone = replace(alone, cluster=alone.predictions.ids)
    orders = (alone, with_classes_in_order(alone, (2, 0, 1)))
    first, moved = (losses(FigureSource(labelled=one)) for one in orders)
    assert first is not None and moved is not None
    expected = series(first, 0)["held out"]
    assert series(moved, 0)["held out"] == pytest.approx(expected, rel=1e-6)


def test_counts_give_the_diagonal_and_name_what_they_cannot_give(labelled: Labelled) -> None:
    own = replace(labelled.predictions, scores=None, is_distribution=False)
    true = np.where(labelled.is_correct, labelled.true_class, UNKNOWN_CLASS)
    figures = [one for one in FIGURES if one.number in ("01a", "01b", "01c", "06", "10")]
    found = {
        one.number: one for one in make_figures(FigureSource(labelled=label(own, true)), figures)
    }
    counts = np.array(found["01a"].matrix)
    assert np.nansum(counts) == labelled.is_correct.sum()
    assert np.isnan(counts[0, 1])
    assert found["01b"].lacks == "the true classes of wrong predictions"
    assert found["06"].lacks == found["10"].lacks == "scores of all classes"


def test_classes_alone_have_their_matrices_and_the_scheme(labelled: Labelled) -> None:
    own = replace(labelled.predictions, scores=None, top_score=None, is_distribution=False)
    made = list(make_figures(FigureSource(labelled=replace(labelled, predictions=own))))
    assert [one.number for one in made if not one.lacks] == ["01a", "01b", "01c", "02", "16a"]


def test_axes_begin_at_zero_where_scores_are_low(labelled: Labelled) -> None:
    assert FigureSource(labelled=labelled).grid[0] == 1.5
    score = np.full(labelled.n_samples, 1.0)
    low = replace(labelled, predictions=replace(labelled.predictions, top_score=score))
    assert FigureSource(labelled=low).grid[0] == 0.0
