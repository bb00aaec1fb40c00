from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cases import cases
from credence.calibrators.intervals import expanded_quantiles
from credence.calibrators.protocol import FitOptions
from credence.draws import cluster_weights, encode_clusters
from credence.evaluation.judging import (
    HELD_OUT_SAMPLE,
    IN_SAMPLE,
    EvaluationOptions,
    Stated,
    judge,
)
from credence.evaluation.measures import (
    PairedDraws,
    chances,
    floors,
    measure,
    placements,
    relatives_of,
    scatter_of,
)
from credence.findings import MetricValue
from credence.metrics.all_metrics import METRICS, METRICS_BY_NAME
from credence.metrics.metric import Judged
from credence.predictions import Labelled, from_scores, label

CLASSES = ("A", "B", "C")
N = 160
SEARCH = 2e-7  # the smooth error is found by a search that ends when all blocks are good to 1e-7


def world(seed: int = 0, weighted: bool = True) -> tuple[Labelled, np.ndarray]:
    """Return proteins in families of about four, and confidences for them."""
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet((2.0, 1.5, 0.7), N)
    ids = np.array([f"p{k}" for k in range(N)], dtype=object)
    predictions = from_scores(ids, CLASSES, scores, 1.0, 0.0)
    cluster = np.array([f"c{k}" for k in rng.integers(0, N // 4, N)], dtype=object)
    true_class = np.array([rng.choice(3, p=row) for row in scores])
    weight = rng.choice([1.0, 2.0], N) if weighted else np.ones(N)
    labelled = label(predictions, true_class, weight, cluster)
    return labelled, np.round(scores.max(axis=1), 2)


def vector_of(labelled: Labelled) -> np.ndarray:
    scores = labelled.predictions.scores
    assert scores is not None
    return scores


def test_calibration_errors_are_counted_in_as_many_bins_as_are_asked_for() -> None:
    labelled, confidence = world(weighted=False)
    asked = {}
    for n_bins in (5, 15):
        options = EvaluationOptions(n_draws=0, n_floor=0, n_bins=n_bins)
        stated = {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence)}
        rows = judge(labelled, stated, "m", options).metrics
        asked[n_bins] = {row.metric: row.value for row in rows if row.class_name is None}
        width = np.ceil(confidence * n_bins)  # left-open bins, by hand
        gaps = [
            abs(float((confidence - labelled.is_correct)[width == bin_].sum()))
            for bin_ in np.unique(width)
        ]
        assert asked[n_bins]["ece"] == pytest.approx(sum(gaps) / N)
    for metric in ("ece", "ece_count", "mce", "ece_debiased"):
        assert asked[5][metric] != asked[15][metric]
    assert asked[5]["nll"] == asked[15]["nll"]


def test_calibration_errors_are_counted_in_bins_of_the_kind_that_is_asked_for() -> None:
    labelled, confidence = world(weighted=True)
    stated = {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence)}
    asked = {}
    for equal_counts in (False, True):
        options = EvaluationOptions(n_draws=20, n_floor=0, equal_counts=equal_counts)
        rows = judge(labelled, stated, "m", options).metrics
        asked[equal_counts] = {(row.metric, row.class_name): row for row in rows}
    width, counts = asked[False], asked[True]
    for key, row in counts.items():
        if key[0] in ("ece", "ece2"):
            like = counts[f"{key[0]}_count", key[1]]
            assert (row.value, row.lower, row.upper) == (like.value, like.lower, like.upper)
            assert row.value != width[key].value
        elif key[0] in ("ece_count", "nll", "brier", "ece_smooth", "ece_debiased"):
            assert row.value == width[key].value
    assert counts["mce", None].value != width["mce", None].value
    assert counts["ece_top_label", None].value != width["ece_top_label", None].value


def drawn_by_hand(labelled: Labelled, confidence: np.ndarray, name: str, draw: int) -> float:
    """Compute a metric of all proteins from scratch under the weights of one draw."""
    codes, keys = encode_clusters(labelled.cluster)
    weight = labelled.weight * cluster_weights(keys, draw)[codes]
    score = labelled.predictions.top_score
    assert score is not None
    judged = Judged(
        confidence=confidence, is_correct=labelled.is_correct, weight=weight, score=score
    )
    return METRICS_BY_NAME[name].compute(judged)


@pytest.mark.parametrize(
    "name", ["nll", "brier", "ece", "ece2", "mce", "ece_smooth", "sharpness", "remainder"]
)
def test_each_draw_is_the_metric_computed_anew_with_the_drawn_weights(name: str) -> None:
    labelled, confidence = world()
    unit, key = encode_clusters(labelled.cluster)
    drawing = PairedDraws(unit=unit, key=key, n_draws=4)
    score = labelled.predictions.top_score
    judged = Judged(
        confidence=confidence, is_correct=labelled.is_correct, weight=labelled.weight, score=score
    )
    block = labelled.predictions.predicted_class
    placed = placements(judged, block, 3)
    found = measure(judged, block, 3, placed, drawing, drawing.parts())
    for draw in range(4):
        expected = drawn_by_hand(labelled, confidence, name, draw)
        assert found.drawn[name][-1, draw] == pytest.approx(expected, abs=SEARCH)


@cases("metric", METRICS)
def test_values_by_class_and_over_all_are_the_metric_of_those_proteins(metric) -> None:  # type: ignore[no-untyped-def]
    labelled, confidence = world()
    stated = {("m", IN_SAMPLE): Stated(confidence=confidence, probabilities=vector_of(labelled))}
    rows = {
        entry.class_name: entry
        for entry in judge(labelled, stated, "m", EvaluationOptions(n_draws=0, n_floor=0)).metrics
        if entry.metric == metric.name
    }
    block, score = labelled.predictions.predicted_class, labelled.predictions.top_score
    assert score is not None
    own = Judged(
        confidence=confidence,
        is_correct=labelled.is_correct,
        weight=labelled.weight,
        score=score,
        probabilities=vector_of(labelled),
        true_class=labelled.true_class,
    )
    by_class = {name: own.take(block == k) for k, name in enumerate(CLASSES)}
    if metric.over_classes is None:
        assert rows[None].value == pytest.approx(metric.compute(own), abs=SEARCH)
    else:
        parts = np.array([METRICS_BY_NAME["ece"].compute(part) for part in by_class.values()])
        if metric.name == "area":
            parts = np.array([metric.compute(part) for part in by_class.values()])
        mass = np.array([part.weight.sum() for part in by_class.values()])
        equal = metric.name == "ece_top_label"
        expected = parts.mean() if equal else (parts * mass).sum() / mass.sum()
        assert rows[None].value == pytest.approx(expected, abs=1e-9)
    is_by_class = not metric.needs_vector and (metric.losses or metric.finish)
    assert set(rows) == ({None, *CLASSES} if is_by_class else {None})
    for name in set(rows) - {None}:
        assert rows[name].value == pytest.approx(metric.compute(by_class[name]), abs=SEARCH)
        assert rows[name].n == by_class[name].n_samples


def values(found: tuple[MetricValue, ...], metric: str) -> MetricValue:
    return next(row for row in found if row.metric == metric and row.class_name is None)


def nll_of(labelled: Labelled, confidence: np.ndarray) -> np.ndarray:
    return -np.log(np.where(labelled.is_correct, confidence, 1 - confidence))


def ends_by_hand(
    labelled: Labelled, losses: np.ndarray, value: float, drawn: np.ndarray, level: float
) -> tuple[float, float]:
    """Quantiles of draws as Student's t has them, then stretched."""
    codes, _ = encode_clusters(labelled.cluster)
    own = relatives_of(np.zeros_like(codes), 1, codes, labelled.weight)
    found = scatter_of(own, losses)
    low, high = expanded_quantiles(drawn[None], 1.0 + found.freedom, FitOptions(level=level))
    stretch = found.stretch[0]
    return value + stretch * (low[0] - value), value + stretch * (high[0] - value)


def test_a_paired_difference_is_drawn_draw_by_draw() -> None:
    labelled, confidence = world()
    other = np.clip(confidence * 0.8, 0.0, 1.0)
    stated = {
        ("a", HELD_OUT_SAMPLE): Stated(confidence=confidence),
        ("b", HELD_OUT_SAMPLE): Stated(confidence=other),
    }
    options = EvaluationOptions(n_draws=60, n_floor=0, level=0.9)
    found = judge(labelled, stated, "a", options)
    row = next(r for r in found.differences if r.metric == "nll" and r.class_name is None)
    drawn = np.array(
        [
            drawn_by_hand(labelled, other, "nll", k)
            - drawn_by_hand(labelled, confidence, "nll", k)
            for k in range(60)
        ]
    )
    apart = nll_of(labelled, other) - nll_of(labelled, confidence)
    low, high = ends_by_hand(labelled, apart, row.value, drawn, 0.9)
    assert (row.lower, row.upper) == pytest.approx((low, high), rel=1e-9)
    pair = next(r for r in found.pairs if r.metric == "nll" and r.class_name is None)
    assert (pair.method, pair.reference) == ("b", "a")
    assert (pair.value, pair.lower, pair.upper) == (row.value, row.lower, row.upper)


def test_a_mean_loss_is_stretched_on_the_scale_of_logarithms() -> None:
    labelled, confidence = world()
    stated = {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence)}
    row = values(
        judge(labelled, stated, "m", EvaluationOptions(n_draws=100, n_floor=0)).metrics, "nll"
    )
    drawn = np.array([drawn_by_hand(labelled, confidence, "nll", k) for k in range(100)])
    low, high = ends_by_hand(
        labelled, nll_of(labelled, confidence), np.log(row.value), np.log(drawn), 0.95
    )
    # Quantiles between two draws are taken before the logarithm.
    assert (row.lower, row.upper) == pytest.approx(np.exp((low, high)), rel=2e-3)


def test_a_share_stays_within_0_and_1_however_it_is_stretched() -> None:
    labelled, confidence = world()
    stated = {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence)}
    for row in judge(labelled, stated, "m", EvaluationOptions(n_draws=60, n_floor=0)).metrics:
        if row.metric == "accuracy":
            assert 0.0 < row.lower < row.value < row.upper < 1.0


def test_no_interval_goes_beyond_what_a_metric_can_be() -> None:
    # One of few families is wrong at high confidence, beside a large one: very wide intervals.
    own, _ = world()
    family = np.repeat([f"f{k}" for k in range(11)], [120] + [4] * 10).astype(object)
    predicted = own.predictions.predicted_class
    truth = np.where(family == "f1", (predicted + 1) % 3, predicted)
    labelled = label(own.predictions, truth, np.ones(N), family)
    confidence = np.full(N, 0.99)
    stated = {
        ("m", HELD_OUT_SAMPLE): Stated(confidence=confidence),
        ("n", HELD_OUT_SAMPLE): Stated(confidence=1.0 - confidence),
    }
    found = judge(labelled, stated, "m", EvaluationOptions(n_draws=60, n_floor=10))
    rows = [*found.metrics, *found.pairs]
    bounded = [row for row in rows if row.metric != "nll" and not np.isnan(row.lower)]
    assert all(-1.0 <= row.lower <= row.value <= row.upper <= 1.0 for row in bounded)
    assert any(row.metric == "brier" and row.upper == 1.0 for row in bounded)
    assert any(row.metric == "nll" and row.upper > 1.0 for row in rows)


def test_a_difference_is_over_the_proteins_that_both_methods_answer() -> None:
    labelled, confidence = world()
    gaps = confidence.copy()
    gaps[::5] = np.nan
    stated = {
        ("a", HELD_OUT_SAMPLE): Stated(confidence=confidence),
        ("b", HELD_OUT_SAMPLE): Stated(confidence=gaps),
    }
    found = judge(labelled, stated, "a", EvaluationOptions(n_draws=20, n_floor=0))
    row = next(r for r in found.differences if r.metric == "brier" and r.class_name is None)
    assert row.n == N - N // 5
    assert row.value == pytest.approx(0.0, abs=1e-15)
    answered = values(tuple(r for r in found.metrics if r.method == "b"), "nll")
    assert answered.n == N - N // 5


def test_drawing_rows_takes_relatives_for_independent() -> None:
    labelled, confidence = world(weighted=False)
    # Families whose members are copies of one another.
    rows = np.repeat(np.arange(0, N, 8), 8)
    ids = np.array([f"p{k}" for k in range(len(rows))], dtype=object)
    taken = labelled.predictions.take(rows)
    alike = label(
        from_scores(ids, CLASSES, taken.scores, 1.0, 0.0),  # type: ignore[arg-type]
        labelled.true_class[rows],
        cluster=np.repeat(np.array([f"f{k}" for k in range(N // 8)], dtype=object), 8),
    )
    stated = {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence[rows])}

    def width(resample: str) -> float:
        options = EvaluationOptions(n_draws=2000, n_floor=0, resample=resample)  # type: ignore[arg-type]
        row = values(judge(alike, stated, "m", options).metrics, "brier")
        return row.upper - row.lower

    # Eight alike are worth one: √8 = 2.8, and a little for few clusters: 3.2 with many draws.
    # 300 draws would place the ratio of two widths to 8 % only.
    assert width("cluster") / width("row") == pytest.approx(np.sqrt(8), rel=0.3)


def test_no_interval_of_a_calibration_error_goes_below_0_or_misses_its_value() -> None:
    labelled, confidence = world()
    found = judge(
        labelled,
        {("m", HELD_OUT_SAMPLE): Stated(confidence=confidence)},
        "m",
        EvaluationOptions(n_draws=80, n_floor=0),
    )
    errors = [row for row in found.metrics if METRICS_BY_NAME[row.metric].is_error]
    assert len(errors) > 30
    for row in errors:
        if not np.isnan(row.lower):
            assert 0.0 <= row.lower <= row.value <= row.upper


def test_the_noise_floor_is_the_mean_error_of_outcomes_drawn_from_the_confidences() -> None:
    labelled, confidence = world()
    block = labelled.predictions.predicted_class
    _, keys = encode_clusters(labelled.predictions.ids)
    chance = chances(keys, 7)
    score = labelled.predictions.top_score
    judged = Judged(
        confidence=confidence, is_correct=labelled.is_correct, weight=labelled.weight, score=score
    )
    placed = placements(judged, block, 3)
    found = floors(judged, block, 3, placed, chance)
    for name in ("ece", "ece2_count", "mce", "ece_debiased", "ece_smooth", "ece_kernel"):
        for draw in range(7):
            right = chance[:, draw] < confidence
            expected = METRICS_BY_NAME[name].compute(replace(judged, is_correct=right))
            assert found[name][-1, draw] == pytest.approx(expected, abs=SEARCH)


def test_the_noise_floor_of_vectors_draws_classes_from_the_vectors() -> None:
    labelled, confidence = world(weighted=False)
    vector = vector_of(labelled)
    options = EvaluationOptions(n_draws=0, n_floor=300)
    found = judge(
        labelled,
        {("m", IN_SAMPLE): Stated(confidence=confidence, probabilities=vector)},
        "m",
        options,
    )
    got = next(row for row in found.floors if row.metric == "sce" and not row.relatives_alike)
    rng = np.random.default_rng(1)
    simulated = []
    for _ in range(300):
        true = (rng.random((N, 1)) > vector.cumsum(axis=1)).sum(axis=1)
        own = Judged(
            confidence=confidence,
            is_correct=labelled.is_correct,
            weight=labelled.weight,
            score=None,
            probabilities=vector,
            true_class=np.minimum(true, 2),
        )
        simulated.append(METRICS_BY_NAME["sce"].compute(own))
    # Two means of 300 simulations each.
    error = np.std(simulated) * np.sqrt(2 / 300)
    assert got.value == pytest.approx(np.mean(simulated), abs=4 * error)


def test_relatives_that_go_together_raise_the_noise_floor() -> None:
    labelled, confidence = world()
    same = confidence[encode_clusters(labelled.cluster)[0] % N]  # one confidence per family
    found = judge(
        labelled,
        {("m", HELD_OUT_SAMPLE): Stated(confidence=same)},
        "m",
        EvaluationOptions(n_draws=0, n_floor=200),
    )
    alone, together = (
        next(
            row.value
            for row in found.floors
            if (row.metric, row.class_name, row.relatives_alike) == ("ece", None, alike)
        )
        for alike in (False, True)
    )
    assert together > 1.3 * alone


def test_a_perfect_method_scores_its_noise_floor() -> None:
    labelled, confidence = world(weighted=False)
    block = labelled.predictions.predicted_class
    _, keys = encode_clusters(labelled.predictions.ids)
    own = Judged(confidence=confidence, is_correct=labelled.is_correct, weight=labelled.weight)
    placed = placements(own, block, 3, (METRICS_BY_NAME["ece"],))
    floor = floors(own, block, 3, placed, chances(keys, 400))["ece"][-1]
    low, high = np.quantile(floor, (0.025, 0.975))
    inside = 0
    for seed in range(200):
        right = np.random.default_rng(seed).random(N) < confidence
        inside += low <= METRICS_BY_NAME["ece"].compute(replace(own, is_correct=right)) <= high
    # 95 % of 200 is 190; three standard errors, of the quantiles too, are 11.
    assert 179 <= inside <= 200
