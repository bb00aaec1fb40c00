from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from credence.calibrators.all_methods import read_calibration
from credence.calibrators.classwise import class_samples, count, low_end, scarce_fallback
from credence.calibrators.masses import class_masses
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import ClassSample, FitOptions
from credence.confidence import Note
from credence.draws import kish
from credence.predictions import Labelled, from_scores, label
from credence.records import to_record

Make = Callable[..., ClassSample]


@pytest.fixture(scope="module")
def world(worlds: SimpleNamespace) -> Labelled:
    return worlds.draw(seed=11)


def test_each_class_gets_its_positives_and_nothing_else(world: Labelled) -> None:
    predictions = world.predictions
    for class_, sample in enumerate(class_samples(world)):
        assert sample is not None
        own = predictions.predicted_class == class_
        assert predictions.top_score is not None
        np.testing.assert_array_equal(np.sort(sample.score), np.sort(predictions.top_score[own]))
        assert sample.is_correct.sum() == world.is_correct[own].sum()
        assert sample.weight.sum() == pytest.approx(world.weight[own].sum())
        assert len(sample.cluster_key) == len(set(world.cluster[own]))


def test_the_order_of_rows_does_not_reach_a_method(world: Labelled) -> None:
    order = np.random.default_rng(0).permutation(world.n_samples)
    for first, second in zip(class_samples(world), class_samples(world.take(order)), strict=True):
        assert first is not None and second is not None
        for name in ("score", "is_correct", "weight", "cluster", "cluster_key"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_tied_scores_come_in_one_order_too(worlds: SimpleNamespace, world: Labelled) -> None:
    tied = worlds.rounded(world)
    order = np.random.default_rng(1).permutation(tied.n_samples)
    for first, second in zip(class_samples(tied), class_samples(tied.take(order)), strict=True):
        assert first is not None and second is not None
        assert len(np.unique(first.score)) < len(first.score)
        for name in ("score", "is_correct", "weight", "cluster"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_class_that_was_never_predicted_has_no_sample(world: Labelled) -> None:
    kept = world.predictions.predicted_class != 3
    assert class_samples(world.take(kept))[3] is None


def test_kish_by_hand() -> None:
    # Weights 1, 1, 2: 16 / 6.
    assert kish(np.array([1.0, 1.0, 2.0])) == pytest.approx(16 / 6)
    assert kish(np.zeros(0)) == 0.0


def test_scarce_and_one_sided_are_told_apart(sample_of: Make) -> None:
    options = FitOptions(min_positives=10)
    assert scarce_fallback(class_masses(sample_of([5.0] * 9, [4.0])), options) is None
    scarce = scarce_fallback(class_masses(sample_of([5.0] * 8, [4.0])), options)
    assert scarce is not None and scarce.code == Note.SCARCE
    assert scarce.share == pytest.approx(8.5 / 10)
    one_sided = scarce_fallback(class_masses(sample_of([5.0] * 12, [])), options)
    assert one_sided is not None and one_sided.code == Note.ONE_SIDED
    assert one_sided.share == pytest.approx(12.5 / 13)
    both = scarce_fallback(class_masses(sample_of([], [4.0])), options)
    assert both is not None and both.code == Note.SCARCE | Note.ONE_SIDED
    assert both.share == pytest.approx(0.25)


def test_weights_that_vary_make_a_class_scarcer(sample_of: Make) -> None:
    weight = np.append(np.full(11, 0.01), 1.0)
    sample = sample_of([5.0] * 8, [4.0] * 4, weight=weight)
    assert scarce_fallback(class_masses(sample), FitOptions()) is not None


def test_support_counts_a_family_of_alike_once(sample_of: Make) -> None:
    alone = class_masses(sample_of([8.0] * 40, [])).support
    family = class_masses(sample_of([8.0] * 40, [], cluster=["one"] * 40)).support
    at_8 = int(np.argmin(np.abs(alone.score - 8.0)))
    assert alone.n[at_8] == pytest.approx(40)
    assert family.n[at_8] == pytest.approx(1)


def test_support_fades_away_from_the_scores_seen(sample_of: Make) -> None:
    near = class_masses(sample_of([8.0] * 40, [])).support
    knots, support = near.score, near.n
    assert support[np.argmin(np.abs(knots - 5.0))] < 0.5
    assert np.interp(8.0, knots, support) > np.interp(7.5, knots, support)


def test_support_of_many_clusters_is_that_of_the_definition(sample_of: Make) -> None:
    rng = np.random.default_rng(2)
    # On the bins of 0.05, so that binning moves nothing.
    score = np.round(rng.uniform(5, 10, 300) * 20) / 20
    names = [f"f{code}" for code in rng.integers(120, size=300)]
    sample = sample_of(score, [], weight=rng.uniform(0.5, 2, 300), cluster=names)
    found = class_masses(sample).support
    knots, support = found.score, found.n
    for knot in (6.0, 8.0, 9.0):
        near = sample.weight * np.exp(-0.5 * ((knot - sample.score) / 0.5) ** 2)
        mass = np.bincount(sample.cluster, weights=near)
        whole = np.bincount(sample.cluster, weights=sample.weight)
        expected = min(mass.sum() ** 2 / (mass**2).sum(), (mass / whole).sum())
        assert np.interp(knot, knots, support) == pytest.approx(expected, rel=1e-6)


def test_counts_say_what_a_class_rests_on(sample_of: Make) -> None:
    sample = sample_of([8.0, 6.0], [4.0], cluster=["a", "a", "b"])
    found = count(sample, class_masses(sample))
    assert (found["n"], found["n_correct"], found["n_clusters"]) == (3, 2, 2)
    assert (found["score_min"], found["score_median"], found["score_max"]) == (4.0, 6.0, 8.0)


def test_sums_that_an_older_file_keeps_are_ignored(world: Labelled) -> None:
    record = to_record(read_calibration(fit_record(world)))
    older = fit_record(world)
    for entry in older["classes"].values():
        entry["masses"] = {"score": [1.0], "right": {"shift": 52, "units": [1]}}
    assert to_record(read_calibration(older)) == record


def fit_record(world: Labelled) -> dict[str, Any]:
    """Return the record of a histogram fitted without draws, as a file gives it back."""
    fitted = parse_method("histogram", "test").build(FitOptions(n_draws=0)).fit(world)
    record: dict[str, Any] = json.loads(json.dumps(to_record(fitted)))
    return record


def lowest(sample: ClassSample) -> tuple[float, float]:
    found = low_end(sample, class_masses(sample).at_scores)
    return found.score, found.most


def test_the_lowest_scores_allow_what_five_families_show(sample_of: Make) -> None:
    # From below: right, then wrong four times: the fifth is at 5.4, and 1/5 is pooled there.
    right, wrong = [4.6, 7.0, 8.0, 9.0], [5.1, 5.2, 5.3, 5.4]
    assert lowest(sample_of(right, wrong)) == (5.4, pytest.approx(1 / 5))
    # Were the first two wrong ones one family, it would weigh 2: 5²/(4 + 3) is 3.6 families at
    # 5.4 and 6²/(4 + 4) = 4.5 at 7, so the fifth is at 8, where the fit is 1.
    names = ["a", "b", "c", "d", "e", "e", "f", "g"]
    assert lowest(sample_of(right, wrong, cluster=names)) == (8.0, 1.0)


def test_lowest_scores_of_wrong_ones_only_allow_more_than_nothing(sample_of: Make) -> None:
    # Six wrong: Jeffreys' prior leaves ½ in 7, as it would for a class of them.
    assert lowest(sample_of([8.0], [4.0, 4.5, 5.0, 5.0, 5.0, 6.0])) == (5.0, 0.5 / 7)


def test_a_class_of_few_families_allows_the_fit_at_its_lowest_score(sample_of: Make) -> None:
    sample = sample_of([5.0] * 8, [6.0, 7.0] * 4, cluster=["a"] * 8 + ["b"] * 8)
    assert lowest(sample) == (5.0, 0.5)


def test_one_right_protein_at_the_edge_is_not_the_confidence_of_all_below() -> None:
    # As Portal of the demo: one right at 4.6, above it a quarter, then more and more.
    score = np.concatenate([[4.6], np.linspace(5.2, 6.0, 20), np.linspace(6.5, 9.9, 60)])
    is_right = np.concatenate([[1], np.tile([0, 0, 0, 1], 5), np.tile([0, 1, 1], 20)])
    names = ("Portal", "Other")
    ids = np.array([f"p{row}" for row in range(len(score))], dtype=object)
    scores = np.stack([score, np.zeros(len(score))], axis=1)
    labelled = label(from_scores(ids, names, scores, 10.0, 0.01), 1 - is_right)
    asked = labelled.predictions.at_scores(0, np.array([0.0, 4.59, 4.6, 5.0, 9.0]))
    for method in ("kernel", "spline", "platt", "venn_abers"):
        plain = parse_method(method, "test").build(FitOptions()).fit(labelled)
        curve = plain.classes["Portal"].curve  # type: ignore[attr-defined]
        found = plain.confidence(asked)
        # The lowest four are 1 right and 3 wrong, and so on: the fit of the fifth is 1/4.
        assert (found.value[:4] <= 0.25 + 1e-9).all(), method
        free = curve.value(asked.top_score)
        assert found.value[4] == free[4]
        is_held = (found.note & Note.LOW_END) > 0
        np.testing.assert_array_equal(is_held, free > found.value)
        assert found.lower[0] < 1e-3 and found.upper[0] > 1.0 - 1e-3


def test_a_table_without_scores_is_near_all_of_its_class(world: Labelled) -> None:
    calibration = parse_method("class_only", "test").build(FitOptions()).fit(world)
    unscored = replace(world.predictions, top_score=None, scores=None)
    found, scored = calibration.confidence(unscored), calibration.confidence(world.predictions)
    in_class = world.predictions.predicted_class == 0
    assert found.support[in_class].min() == pytest.approx(scored.support[in_class].max(), rel=0.1)
    at_most = scored.support[in_class].argmax()
    assert found.lower[in_class][0] == scored.lower[in_class][at_most]
