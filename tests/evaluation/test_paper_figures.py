"""The figures of the calibration paper, as records, on sets whose numbers can be counted."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from classes_in_order import with_classes_in_order
from credence.evaluation.paper_figures import (
    FIGURES,
    MON2,
    FigureSource,
    losses,
    make_figures,
    n_parameters,
)
from credence.findings import FigureRecord
from credence.predictions import UNKNOWN_CLASS, Labelled, from_scores, label

CLASSES = ("A", "B", "C")
MON2_NAME = "kernel (b_mon2)"


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
    lacking = [number for number, one in made.items() if one.lacks]
    assert lacking == ["16a", "16b", "18", "19"]
    for number, one in made.items():
        if number <= "17b" and not one.lacks:
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
        own, every = found["kernel (b_mon2)"], found["if all counted"]
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


def trained_to_the_end(seed: int, n: int = 400) -> Labelled:
    """Return a tool nearly all of whose top scores are at the top, 40 of them wrong."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, 3, n)
    predicted = np.where(np.arange(n) < 40, (true + 1) % 3, true)
    scores = np.zeros((n, 3))
    scores[np.arange(n), predicted] = 10.0
    scores[:3, :] = 3.0
    scores[np.arange(3), predicted[:3]] = 4.0
    ids = np.array([f"s{seed}.{k}" for k in range(n)], dtype=object)
    return label(from_scores(ids, CLASSES, scores, 10.0, 0.01), true)


def test_a_tool_that_is_not_trained_to_the_end_has_no_warning(
    made: dict[str, FigureRecord],
) -> None:
    for number in ("16a", "16b"):
        assert made[number].lacks == (
            "a tool trained to the end, 95 % of its top scores above 0.99 of the scale"
        )


def test_of_a_tool_trained_to_the_end_the_caption_says_what_served_best_on_another_set() -> None:
    first, second = trained_to_the_end(1), trained_to_the_end(2)
    source = FigureSource(labelled=first, second=second)
    figures = [one for one in FIGURES if one.number in ("16a", "16b")]
    counts, warning = make_figures(source, figures)
    assert np.array(counts.matrix).sum() == first.n_samples
    names = [one.name for one in warning.panels[0].series]
    assert names == ["b_mon2", "Conf1", "b_mon", "Cum*"]
    right = second.is_correct
    conf1 = source.fitted("class_only").confidence(second.predictions).value
    loss = -np.mean(np.log(np.where(right, conf1, 1.0 - conf1)))
    assert "Here the mean NLL on the second set is, best first: " in warning.caption
    assert f"Conf1 {loss:.3f}" in warning.caption


def test_halves_of_two_sets_are_those_sets(labelled: Labelled) -> None:
    second = labelled_of(200, seed=7)
    (record,) = make_figures(
        FigureSource(labelled=labelled, second=second),
        [one for one in FIGURES if one.name == "halves"],
    )
    for at, panel in enumerate(record.panels):
        assert [one.name for one in panel.series] == ["first set", "second set"]
        predicted = [set_.predictions.predicted_class == at for set_ in (labelled, second)]
        assert [sum(one.n) for one in panel.series] == [int(rows.sum()) for rows in predicted]
        assert len({one.look for one in panel.series}) == 2
    assert "They are two independent test sets: the difference is noise." in record.caption


def test_histograms_have_the_papers_ten_intervals_and_their_captions_say_so(
    labelled: Labelled, made: dict[str, FigureRecord]
) -> None:
    for number in ("03", "04", "05", "07", "08", "09", "10", "11", "12", "13"):
        steps = [
            one for panel in made[number].panels for one in panel.series if "steps" in one.kind
        ]
        assert steps
        assert all(np.allclose(one.x, np.arange(11.0)) for one in steps), number
        assert "10 equal intervals" in made[number].caption, number
    predictions, at = labelled.predictions, 1
    rows = predictions.predicted_class == at
    assert predictions.top_score is not None
    is_in = rows & (predictions.top_score > 7.0) & (predictions.top_score <= 8.0)
    steps = series(made["09"], at)["histogram"]
    assert steps[7] == pytest.approx(labelled.is_correct[is_in].mean())


def test_a_method_that_sees_vectors_stands_under_conf3(made: dict[str, FigureRecord]) -> None:
    names = [[one.name for one in panel.series] for panel in made["02"].panels]
    assert names[0] == ["Conf1", "class_only"]
    assert "auto" in names[2]


def test_kernels_are_exactly_the_papers_at_every_prediction(labelled: Labelled) -> None:
    source = FigureSource(labelled=labelled)
    for class_, sample in source.samples.items():
        b, right = source.bandwidth(class_), sample.is_correct
        near = np.exp(-0.5 * ((sample.score[:, None] - sample.score) / b) ** 2)
        formula = near[:, right].sum(axis=1) / near.sum(axis=1)
        at = labelled.predictions.at_scores(class_, sample.score)
        value = source.fitted(MON2).confidence(at).value
        np.testing.assert_allclose(value, formula, rtol=0, atol=1e-6)


def test_a_class_is_nearly_calibrated_only_where_its_score_is_within_the_interval() -> None:
    rng = np.random.default_rng(5)
    n = 900
    top = np.round(rng.uniform(4.0, 9.9, n), 2)
    predicted = np.arange(n) % 3
    # A keeps its score, B is right far oftener and C far seldomer than its score says.
    chance = np.choose(predicted, [top / 10.0, 0.5 + top / 20.0, np.full(n, 0.1)])
    true = np.where(rng.random(n) < chance, predicted, (predicted + 1) % 3)
    scores = np.repeat(((10.0 - top) / 2.0)[:, None], 3, axis=1)
    scores[np.arange(n), predicted] = top
    ids = np.array([f"p{k}" for k in range(n)], dtype=object)
    labelled = label(from_scores(ids, CLASSES, scores, 10.0, 0.01), true)
    asked = [spec for spec in FIGURES if spec.name == "nearly-calibrated"]
    (record,) = make_figures(FigureSource(labelled=labelled), asked)
    first, second = (panel.title for panel in record.panels)
    assert first == "A: nearly calibrated"
    assert second.startswith("B: ") and second.endswith(" % of raw scores outside the interval")
    few = labelled.take(np.arange(n) < 60)  # twenty of each class hold nearly anything
    (record,) = make_figures(FigureSource(labelled=few), asked)
    titles = [panel.title for panel in record.panels]
    assert "A: interval too wide to tell" in titles
    assert not any(title.endswith(": nearly calibrated") for title in titles)


def test_a_bound_wider_than_half_is_not_drawn(made: dict[str, FigureRecord]) -> None:
    steps = made["03"].panels[1].series[0]
    drawn = [high - low for low, high in zip(steps.lower, steps.upper, strict=True) if low == low]
    assert drawn
    assert max(drawn) <= 0.5


def test_parameters_are_counted_by_method_and_aic_adds_them(
    labelled: Labelled, made: dict[str, FigureRecord]
) -> None:
    source = FigureSource(labelled=labelled)
    fitted = {name: n_parameters(source, name) for name in ("uncalibrated", "STS", "TSwA")}
    assert fitted == {"uncalibrated": 0.0, "STS": 1.0, "TSwA": 4.0}
    trace = 0.0
    for class_, sample in source.samples.items():
        near = (sample.score[:, None] - sample.score) / source.bandwidth(class_)
        trace += 1.0 + float((1.0 / np.exp(-0.5 * near**2).sum(axis=1)).sum())
    assert n_parameters(source, "b_mon2") == pytest.approx(trace)
    record = made["17b"]
    at = next(k for k, tick in enumerate(record.ticks) if tick.startswith("TSwA"))
    marks = series(record, 0)
    assert record.ticks[at] == "TSwA (4)"
    added = marks["AIC / 2n"][at] - marks["in sample"][at]
    assert added == pytest.approx(4.0 / labelled.n_samples)


@pytest.mark.long
def test_losses_in_sample_stand_beside_those_held_out_in_whatever_order_columns_come(
    made: dict[str, FigureRecord],
) -> None:
    record = made["17"]
    assert record.ticks == (
        *("histogram", "b_mon", "b_mon2", "STS", "CSTS", "TSwA", "CSTSwA", "Cum*"),
        "uncalibrated",
    )
    found = series(record, 0)
    assert record.panels[0].title == "all classes"
    assert found["in sample"][-1] == pytest.approx(found["held-out"][-1])  # nothing is fitted
    assert (found["in sample"][:-1] < found["held-out"][:-1]).all()

    alone = labelled_of(247)
    alone = replace(alone, cluster=alone.predictions.ids)
    orders = (alone, with_classes_in_order(alone, (2, 0, 1)))
    first, moved = (losses(FigureSource(labelled=one)) for one in orders)
    assert first is not None and moved is not None
    expected = series(first, 0)["held-out"]
    assert series(moved, 0)["held-out"] == pytest.approx(expected, rel=1e-6)


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
    assert [one.number for one in made if not one.lacks] == ["01a", "01b", "01c", "02"]


def test_axes_begin_at_zero_where_scores_are_low(labelled: Labelled) -> None:
    assert FigureSource(labelled=labelled).grid[0] == 1.5
    score = np.full(labelled.n_samples, 1.0)
    low = replace(labelled, predictions=replace(labelled.predictions, top_score=score))
    assert FigureSource(labelled=low).grid[0] == 0.0


def test_captions_say_which_class_is_shown_and_in_how_many_classes_b_opt_is_rougher(
    made: dict[str, FigureRecord],
) -> None:
    titles = [panel.title for panel in made["08"].panels]
    assert titles == ["Cum", "Cum+ (median)", "Cum* (best)"]
    assert any(f"The class is {name}." in made["08"].caption for name in CLASSES)
    bends = [
        np.nansum(np.abs(np.diff(lines["b_opt"]))) > np.nansum(np.abs(np.diff(lines[MON2_NAME])))
        for lines in (series(made["13"], panel) for panel in range(2))
    ]
    said = re.search(r"b_opt goes up and down more in (\d) of (\d) classes", made["13"].caption)
    assert said is not None and int(said[2]) <= len(CLASSES)
    assert sum(bends) == min(2, int(said[1]))  # the two that are shown come first
