"""Another version of the tool is noticed; another mix of the classes is not taken for one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from verification.in_memory import draw_labelled

import credence
from credence.composition import sameness
from credence.composition.sameness import (
    RUNNER_UP,
    TOP_SCORE,
    FeatureSketch,
    Sketch,
    SketchCounts,
    _Part,
    sketch_of,
)
from credence.confidence import NOTE_TEXTS, Note
from credence.findings import Sameness
from credence.predictions import Floats, Labelled, Predictions, from_scores, label
from credence.records import from_record, to_record
from credence.sentences import warning_of
from credence.simulate.law import CLASS_NAMES, WorldSettings

CHANGED = NOTE_TEXTS[Note.CHANGED]


@cache
def world(seed: int, dirichlet: bool = False) -> Labelled:
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(11)) if dirichlet else None
    return draw_labelled(WorldSettings(n_calibration=6_000), rng, share)


@cache
def sketch() -> Sketch:
    found = sketch_of(world(0))
    assert found is not None
    return found


def some(seed: int, n: int, dirichlet: bool = False) -> Predictions:
    found = world(seed, dirichlet).predictions
    return found.take(np.random.default_rng(seed).choice(found.n_samples, n, replace=False))


def looked(predictions: Predictions, known: Sketch | None = None) -> Sameness:
    look = SketchCounts(known or sketch(), predictions.class_names)
    look.add(predictions)
    found = look.found()
    assert found is not None
    return found


def with_scores(predictions: Predictions, scores: Floats) -> Predictions:
    return from_scores(
        predictions.ids,
        predictions.class_names,
        np.round(predictions.scale * scores / scores.sum(axis=1, keepdims=True), 2),
        predictions.scale,
        predictions.resolution,
    )


@pytest.mark.parametrize("exponent", [0.5, 2.0])
@pytest.mark.parametrize("only_top", [False, True])
def test_vectors_to_a_power_are_another_classifier(exponent: float, only_top: bool) -> None:
    for seed in range(1, 4):
        found = with_scores(some(seed, 500), np.asarray(some(seed, 500).scores) ** exponent)
        assert looked(replace(found, scores=None) if only_top else found).is_changed


def test_two_large_columns_exchanged_are_another_classifier() -> None:
    use = some(1, 500)
    scores = np.asarray(use.scores).copy()
    first, second = np.argsort(-np.bincount(use.predicted_class, minlength=11))[:2]
    scores[:, [first, second]] = scores[:, [second, first]]
    assert looked(with_scores(use, scores)).is_changed


def exchanged(use: Predictions, first: int, second: int) -> Predictions:
    scores = np.asarray(use.scores).copy()
    scores[:, [first, second]] = scores[:, [second, first]]
    return with_scores(use, scores)


def test_rare_columns_exchanged_or_all_shuffled_are_noticed_and_named() -> None:
    # Top scores alone noticed 21 to 43 of 100 exchanges, and half of the shuffled tables.
    for seed, (first, second) in enumerate([(0, 10), (2, 9), (3, 5), (6, 10)], start=1):
        found = looked(exchanged(some(seed, 500), first, second))
        assert found.is_changed
        assert set(found.exchanged) == {CLASS_NAMES[first], CLASS_NAMES[second]}
        names = " and ".join(repr(name) for name in found.exchanged)
        assert f"They fit better with the columns {names} exchanged; " in warning_of(found)
    use = some(5, 500)
    shuffled = np.asarray(use.scores)[:, np.random.default_rng(5).permutation(11)]
    found = looked(with_scores(use, shuffled))
    assert found.is_misnamed
    assert found.exchanged == ()  # no single exchange explains it
    assert (
        " Which class comes second does not fit the class that comes first: columns may stand "
        "under wrong names. Compare the header with that of the calibrated table. "
    ) in warning_of(found)
    assert not looked(use).is_misnamed


def test_rotated_headers_are_noticed_at_six_hundred_proteins() -> None:
    # In families of up to 300, as here; on a real table at 300: verification/wrong_names.py.
    found = [
        looked(with_scores(some(seed, 600), np.roll(np.asarray(some(seed, 600).scores), seed, 1)))
        for seed in range(1, 7)
    ]
    assert sum(one.is_misnamed for one in found) >= 5


@pytest.mark.parametrize("exponent", [0.5, 2.0])
def test_no_columns_are_called_exchanged_where_scores_are_sharpened_or_softened(
    exponent: float,
) -> None:
    for seed in range(1, 5):
        use = some(seed, 3_000)
        found = looked(with_scores(use, np.asarray(use.scores) ** exponent))
        assert found.is_changed
        assert (found.is_misnamed, found.exchanged) == (False, ())


@pytest.mark.parametrize("class_", [0, 3, 5, 10])
def test_a_table_filtered_to_one_class_is_the_same_classifier(class_: int) -> None:
    for seed in range(1, 4):
        use = world(seed).predictions
        assert not looked(use.take(use.predicted_class == class_)).is_changed


@pytest.mark.parametrize(("least", "most"), [(8.0, 10.0), (9.5, 10.0), (0.0, 7.0)])
def test_a_table_filtered_by_its_scores_is_the_same_classifier(least: float, most: float) -> None:
    for seed in range(1, 4):
        use = some(seed, 1_500)
        top = np.asarray(use.top_score)
        assert not looked(use.take((top >= least) & (top <= most))).is_changed


def test_a_sketch_of_too_many_classes_lacks_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sameness, "MOST_SKETCH_CELLS", 4_355)
    found = sketch_of(world(0))
    assert found is not None
    assert found.lacks_names
    assert not sketch().lacks_names
    bare = sketch_of(replace(world(0), predictions=replace(world(0).predictions, scores=None)))
    assert bare is not None
    assert not bare.lacks_names  # of the top score alone there are no columns


def test_a_network_whose_rows_stand_in_another_order_is_another_classifier() -> None:
    use = some(1, 400)
    own = np.asarray(use.scores) / use.scale
    networks = np.repeat(own[:, None], 4, axis=1)
    whole = looked(replace(use, network_scores=networks))
    assert (whole.is_changed, whole.rows) == (False, None)
    networks[:, 2] = networks[np.random.default_rng(1).permutation(400), 2]
    found = looked(replace(use, network_scores=networks))
    assert found.is_changed
    assert found.rows is not None
    assert (found.rows.network, found.rows.n_networks) == (3, 4)


def test_classes_that_calibration_never_had_are_not_taken_for_exchanged_columns() -> None:
    labelled = world(0)
    known = sketch_of(labelled.take(labelled.true_class == 0))
    assert known is not None
    assert looked(some(1, 500), known).exchanged == ()


def test_another_mix_of_the_classes_is_the_same_classifier() -> None:
    warned = [looked(some(seed, 1_000, dirichlet=True)).is_changed for seed in range(1, 7)]
    assert sum(warned) <= 1  # one time in twenty


def test_a_set_like_calibration_is_the_same_classifier() -> None:
    warned = [looked(some(seed, 500)).is_changed for seed in range(1, 7)]
    assert sum(warned) <= 1


def test_a_small_calibration_set_does_not_call_every_set_another_classifier() -> None:
    known = sketch_of(world(0).take(np.arange(150)))
    warned = [looked(some(seed, 2_000), known).is_changed for seed in range(1, 7)]
    assert sum(warned) <= 1


def test_relatives_in_one_set_do_not_make_another_classifier() -> None:
    # 40 families of 25 alike in calibration, and other families in the query set.
    def families(seed: int) -> Labelled:
        one = world(seed).take(np.random.default_rng(seed).choice(6_000, 60, replace=False))
        every = one.take(np.repeat(np.arange(60), 20))
        ids = np.array([f"p{row}" for row in range(every.n_samples)], dtype=object)
        predictions = replace(every.predictions, ids=ids)
        return label(predictions, every.true_class, cluster=np.repeat(ids[:60], 20))

    known = sketch_of(families(0))
    warned = [looked(families(seed).predictions, known).is_changed for seed in range(1, 7)]
    assert sum(warned) <= 1


def test_pieces_in_any_order_give_what_the_whole_gives() -> None:
    use = some(1, 500)
    look = SketchCounts(sketch(), CLASS_NAMES)
    for rows in np.array_split(np.random.default_rng(2).permutation(500), 7):
        look.add(use.take(rows))
    assert look.found() == looked(use)


def test_a_handful_of_proteins_says_nothing() -> None:
    look = SketchCounts(sketch(), CLASS_NAMES)
    look.add(some(1, 10))
    assert look.found() is None


def test_a_tool_that_gives_no_scores_has_no_sketch() -> None:
    known = world(0)
    bare = replace(known, predictions=replace(known.predictions, scores=None, top_score=None))
    assert sketch_of(bare) is None


def test_a_sketch_counts_each_protein_once_by_predicted_and_true_class() -> None:
    known = world(0)
    names = [part.name for part in sketch().features]
    assert names == [TOP_SCORE, RUNNER_UP, "margin", "row sum", "share of zeros"]
    for part in sketch().features:
        counts = np.zeros((11, part.n_bins, 11), dtype=np.int64)
        counts.flat[part.place] = part.count
        wanted = np.zeros((11, 11), dtype=np.int64)
        np.add.at(wanted, (known.predictions.predicted_class, known.true_class), 1)
        assert (counts.sum(axis=1) == wanted).all(), part.name


def test_families_alike_have_a_design_effect_of_their_size() -> None:
    # Families of 5 with one score each: 5 proteins say what one does.
    score = np.repeat(np.random.default_rng(1).uniform(5, 10, 200), 5)
    scores = np.column_stack([score, 10.0 - score])
    ids = np.array([str(row) for row in range(1000)], dtype=object)
    predictions = from_scores(ids, ("a", "b"), scores, 10.0, 0.0)
    cluster = np.repeat(ids[:200], 5)
    known = sketch_of(label(predictions, np.zeros(1000, dtype=np.int64), cluster=cluster))
    assert known is not None
    assert known.features[0].design == pytest.approx([5.0, 1.0], rel=0.02)


def test_a_class_of_lone_proteins_beside_families_has_no_design_effect() -> None:
    score = np.concatenate(
        [np.repeat(np.random.default_rng(1).uniform(5, 10, 40), 5), np.arange(100) / 20 + 5]
    )
    ids = np.array([str(row) for row in range(300)], dtype=object)
    predictions = from_scores(ids, ("a", "b"), np.column_stack([score, 10.0 - score]), 10.0, 0.0)
    cluster = np.concatenate([np.repeat(ids[:40], 5), ids[200:]])
    known = sketch_of(label(predictions, np.repeat([0, 1], [200, 100]), cluster=cluster))
    assert known is not None
    assert known.features[0].design == pytest.approx([5.0, 1.0], rel=0.05)


def test_a_sketch_with_a_count_of_0_is_refused() -> None:
    part = sketch().features[0]
    with pytest.raises(ValueError, match="its counts are no counts"):
        replace(part, count=np.append(part.count[:-1], 0)).refuse_damage()
    part.refuse_damage()


def test_a_sketch_comes_back_from_its_record() -> None:
    again = from_record(Sketch, to_record(sketch()))
    for one, other in zip(sketch().features, again.features, strict=True):
        for name in ("edges", "place", "count", "design"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    ("part", "value"), [("design", [1.0]), ("edges", [[2.0, 1.0]] * 11), ("place", None)]
)
def test_a_damaged_sketch_is_refused(part: str, value: object) -> None:
    record = to_record(sketch())
    record["features"][0][part] = value
    with pytest.raises(credence.problems.InputError, match=r"features\[0\]"):
        from_record(Sketch, record)


def part_of(seen: list[int], design: list[float], counts: list[int]) -> _Part:
    """Return the counts of two classes, all predicted right, in one bin each."""
    place, edges = np.array([0, 3]), np.empty((2, 0))
    known = FeatureSketch(
        name=TOP_SCORE, edges=edges, place=place, count=np.array(seen), design=np.array(design)
    )
    return _Part(known, np.array(counts), -np.inf, np.inf)


@pytest.mark.parametrize(
    ("seen", "design", "is_compared"),
    [
        ([50, 50], [1.0, 1.0], [True, True]),
        ([49, 50], [1.0, 1.0], [False, True]),  # fewer than 50 predicted so
        ([50, 50], [10.0, 10.0], [True, True]),
        ([50, 50], [10.0, 10.1], [True, False]),  # fewer than five families
    ],
)
def test_a_class_is_compared_from_fifty_proteins_and_five_families_on(
    seen: list[int], design: list[float], is_compared: list[bool]
) -> None:
    assert part_of(seen, design, [30, 30]).is_compared.tolist() == is_compared


def test_a_set_of_many_proteins_counts_as_a_thousand() -> None:
    part = part_of([60, 60], [1.0, 1.0], [600, 1_000])
    assert (part.counted_as, part.n) == (0.625, 1000.0)
    assert part.n_class.tolist() == [375.0, 625.0]
    assert part_of([60, 60], [1.0, 1.0], [300, 500]).counted_as == 1.0


def test_a_number_of_too_many_cells_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # 11 · 11 classes in 20 bins are 2,420 cells; with 12 runners-up at 3 levels 4,356.
    for most, left_out in ((4_356, False), (4_355, True)):
        monkeypatch.setattr(sameness, "MOST_SKETCH_CELLS", most)
        found = sketch_of(world(0))
        assert found is not None
        assert (RUNNER_UP not in [part.name for part in found.features]) == left_out


def test_where_nobody_says_who_is_related_a_design_effect_is_assumed() -> None:
    known = world(0)
    found = sketch_of(replace(known, cluster=known.predictions.ids))
    assert found is not None
    assert found.features[0].design.tolist() == [10.0] * 11


def test_a_class_of_which_enough_is_seen_is_asked_for_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of the first class there are 30, of the second 10, which are too few by themselves.
    p_values = iter([0.001, 0.002, 0.5])  # of the first, of the second, of both together
    monkeypatch.setattr(sameness, "_tail", lambda misfit, drawn: next(p_values))
    known = FeatureSketch(
        name=TOP_SCORE,
        edges=np.empty((2, 0)),
        place=np.array([0, 3]),
        count=np.array([60, 60]),
        design=np.ones(2),
    )
    look = SketchCounts(Sketch(features=(known,)), ("a", "b"))
    look._counts, look._lowest, look._highest = [np.array([30, 10])], 0.0, 10.0
    found = look.found()
    assert found is not None
    assert found.p_value == pytest.approx(0.003)  # three questions share the level


def test_all_proteins_of_a_large_set_are_told_though_a_thousand_count() -> None:
    known = FeatureSketch(
        name=TOP_SCORE,
        edges=np.empty((2, 0)),
        place=np.array([0, 3]),
        count=np.array([60, 60]),
        design=np.ones(2),
    )
    look = SketchCounts(Sketch(features=(known,)), ("a", "b"))
    look._counts, look._lowest, look._highest = [np.array([600, 1_000])], 0.0, 10.0
    found = look.found()
    assert found is not None
    assert found.n == 1_600


def slow_power(found: _Part, by_chance: Floats) -> float:
    """Return the chance to notice scores moved up, by trying slopes one after the other."""
    share = found.share
    for slope in np.arange(0.0, sameness.STEEPEST, 0.02):
        moved, ratio = [], []
        for own in (found.given * share).sum(axis=2) * found.n:
            middle = [(own[:at].sum() + own[at] / 2) / own.sum() - 0.5 for at in range(len(own))]
            tilted = own * np.exp(slope * np.array(middle))
            moved.append(tilted * own.sum() / tilted.sum())
            ratio.append(moved[-1] / np.maximum(own, sameness.LEAST_DIVISOR))
        if found.effects(np.array(moved)).sum() >= 0.05:
            break
    rng = np.random.default_rng(sameness.SAMENESS_SEED)
    drawn = found.draws(rng, np.array(ratio), sameness.POWER_DRAWS)
    return float(np.mean([3 * sameness._tail(one, by_chance) <= 0.05 for one in drawn[:, -1]]))


@pytest.mark.parametrize("n", [60, 300])
def test_the_power_is_that_of_slopes_tried_one_after_the_other(n: int) -> None:
    look = SketchCounts(sketch(), CLASS_NAMES)
    look.add(some(3, n))
    found = look._part(look._sketch.features[0], look._counts[0])
    drawn = found.draws(np.random.default_rng(sameness.SAMENESS_SEED))
    assert found.power(drawn[:, -1]) == pytest.approx(slow_power(found, drawn[:, -1]), abs=0.02)


def test_few_proteins_have_less_power_and_a_flat_confidence_has_none() -> None:
    few, many = (looked(some(3, n)).power for n in (40, 1_000))
    assert few < many
    assert many > 0.8
    labelled = world(0)
    wrong = np.random.default_rng(1).permutation(labelled.true_class)  # scores show nothing
    flat = sketch_of(replace(labelled, true_class=wrong))
    assert looked(some(3, 1_000), flat).power < 0.8


@pytest.mark.long
def test_few_sets_of_very_unlike_families_are_taken_for_another_classifier() -> None:
    """Families of up to 300, others in each set, in another mix: by chance one in twenty."""
    warned = []
    for seed in range(80):
        rng = np.random.default_rng([11, seed])
        known = draw_labelled(WorldSettings(n_calibration=1500), rng)
        others = draw_labelled(
            WorldSettings(n_calibration=800), rng, rng.dirichlet(np.full(11, 3))
        )
        own = sketch_of(known)
        assert own is not None
        warned.append(looked(others.predictions, own).is_changed)
    assert sum(warned) <= 7
