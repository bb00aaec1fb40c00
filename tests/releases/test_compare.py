"""Two releases beside each other: each number worked out by hand, or by plain loops."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from credence.calibrators.classwise import class_samples
from credence.calibrators.crossfit import folds_by_class
from credence.calibrators.intervals import guard_draws, share_draws
from credence.calibrators.masses import class_masses
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import cluster_weights, encode_clusters
from credence.findings import Change, ClassChange, ParameterChange, ReleaseState, ReleaseStep
from credence.predictions import Labelled, Predictions, label
from credence.records import to_record
from credence.releases.compare import Comparison, ReleaseData, change_of, compare, draws_at
from credence.report.release_words import change_sentence, step_sentences

NAN = math.nan
NAMES = ("Tail", "Other")
TAIL, OTHER = 0, 1
Row = tuple[str, float, int, int, float]  # id, score, predicted and true class, weight

# Of the four predicted Tail three are right, of the six predicted Other four.
OLD: list[Row] = [
    *(("a1", 2.0, TAIL, TAIL, 1.0), ("a2", 4.0, TAIL, TAIL, 1.0), ("a3", 6.0, TAIL, TAIL, 1.0)),
    ("a4", 9.0, TAIL, OTHER, 1.0),
    *((f"b{number}", 5.0, OTHER, OTHER, 1.0) for number in range(4)),
    *((f"b{number}", 5.0, OTHER, TAIL, 1.0) for number in (4, 5)),
]
# Five more predicted Tail, one of them right; five more predicted Other, all right.
ADDED: list[Row] = [
    ("c0", 7.0, TAIL, TAIL, 1.0),
    *((f"c{number}", 7.0, TAIL, OTHER, 1.0) for number in range(1, 5)),
    *((f"d{number}", 5.0, OTHER, OTHER, 1.0) for number in range(5)),
]


def labelled_of(rows: list[Row], clusters: list[str] | None = None) -> Labelled:
    ids, score, predicted, true, weight = (np.array(part) for part in zip(*rows, strict=True))
    predictions = Predictions(
        ids=ids.astype(object),
        class_names=NAMES,
        scale=10.0,
        resolution=0.01,
        predicted_class=predicted,
        top_score=score,
    )
    cluster = None if clusters is None else np.array(clusters, dtype=object)
    return label(predictions, true, weight, cluster)


def release_of(
    labelled: Labelled, method: str = "class_only", options: FitOptions | None = None
) -> ReleaseData:
    options = options or FitOptions(min_positives=1.0, n_draws=0)
    calibration = parse_method(method, "test").build(options).fit(labelled)
    classes = to_record(calibration).get("classes", {})
    counts = {name: entry["counts"] for name, entry in classes.items()}
    n, n_right = labelled.n_samples, int(labelled.is_correct.sum())
    state = ReleaseState(
        name="r",
        number=0,
        date=None,
        digest="",
        n_calibration=n,
        n_correct=n_right,
        n_clusters=len(set(labelled.cluster)),
    )
    return ReleaseData(state=state, calibration=calibration, counts=counts, labelled=labelled)


def comparison_of(
    labelled: Labelled, method: str = "class_only", options: FitOptions | None = None
) -> Comparison:
    options = options or FitOptions(min_positives=1.0, n_draws=0)
    known = labelled.predictions
    calibrator = parse_method(method, "test").build(replace(options, n_draws=0))
    return Comparison(
        method=method,
        calibrator=calibrator,
        class_names=known.class_names,
        scale=known.scale,
        resolution=known.resolution,
        options=options,
        n_signs=0,
    )


def by_hand(n_draws: int = 0) -> tuple[ReleaseData, ReleaseData, Comparison]:
    older, newer = labelled_of(OLD), labelled_of([*OLD, *ADDED])
    how = comparison_of(older, options=FitOptions(min_positives=1.0, n_draws=n_draws))
    return release_of(older), release_of(newer), how


def test_a_change_is_told_apart_by_the_shares_of_true_classes() -> None:
    step, _ = compare(*by_hand())
    tail, other = step.classes
    # True Tail: 5 of 10 before and 6 of 20 now, so w is 5/3 for Tail and 5/7 for Other. Of those
    # predicted Tail four are right and five wrong: (4 · 5/3) / (4 · 5/3 + 5 · 5/7) = 140/215.
    for change in (tail.change, tail.share):
        assert change is not None
        points = (change.before, change.fixed, change.after)
        assert points == pytest.approx((3 / 4, 140 / 215, 4 / 9), abs=1e-12)
        assert math.isnan(change.total_lower)  # no draws were asked for
    # Of those predicted Other nine are right and two wrong: (9 · 5/7) / (9 · 5/7 + 2 · 5/3).
    assert other.change is not None
    points = (other.change.before, other.change.fixed, other.change.after)
    assert points == pytest.approx((4 / 6, 135 / 205, 9 / 11), abs=1e-12)
    assert tail.score == 5.0  # the median of 2, 4, 6, 9
    assert (tail.n_true, tail.n_predicted, tail.n_correct) == ((5, 6), (4, 9), (3, 4))
    assert (other.n_true, other.n_predicted, other.n_correct) == ((5, 14), (6, 11), (4, 9))
    assert tail.n_clusters == (4, 9)
    assert tail.is_moved and other.is_moved
    assert change_sentence(tail, 10.0) == (
        "Tail at score 5.0: confidence fell from 0.75 to 0.44. Of the 31 percentage points, 21 "
        "are re-weighting and 10 new evidence."
    )
    assert change_sentence(other, 10.0) == (
        "Other at score 5.0: confidence rose from 0.67 to 0.82. New evidence lowered it by 1 "
        "percentage point, re-weighting raised it by 16 percentage points."
    )
    assert step_sentences(step) == (
        "r adds 10 proteins to calibrate with: 10 before, 20 now.",
        "Of 20 proteins, 20 have a confidence that moved by half a percentage point or more.",
        f"The class whose typical prediction changed most: {change_sentence(tail, 10.0)}",
    )


def test_the_table_has_what_changed_most_first_and_says_what_is_new() -> None:
    older, newer, how = by_hand()
    step, proteins = compare(older, newer, how)
    assert proteins is not None
    # Tail by 11/36, Other by 5/33; equal ones by their ids.
    ids = ["a1", "a2", "a3", "a4", "c0", "c1", "c2", "c3", "c4"]
    ids += ["b0", "b1", "b2", "b3", "b4", "b5", "d0", "d1", "d2", "d3", "d4"]
    assert proteins["id"].tolist() == ids
    assert proteins["is_new"].tolist() == ["yes" if id_[0] in "cd" else "no" for id_ in ids]
    assert proteins["predicted_class"].tolist() == ["Tail"] * 9 + ["Other"] * 11
    assert proteins["score"].tolist()[:5] == [2.0, 4.0, 6.0, 9.0, 7.0]
    for name, tail, other in (("before", 3 / 4, 4 / 6), ("after", 4 / 9, 9 / 11)):
        np.testing.assert_allclose(proteins[name], [tail] * 9 + [other] * 11, atol=1e-12)
    np.testing.assert_allclose(proteins["change"], [-11 / 36] * 9 + [5 / 33] * 11, atol=1e-12)
    assert (step.n_compared, step.n_moved) == (20, 20)


def test_the_table_has_the_intervals_of_both_releases() -> None:
    options = FitOptions(min_positives=1.0, n_draws=20)
    older, newer = (
        release_of(labelled_of(rows), options=options) for rows in (OLD, [*OLD, *ADDED])
    )
    asked = labelled_of(OLD[:1]).predictions
    _, proteins = compare(older, newer, by_hand()[2], asked)
    assert proteins is not None
    for name, release in (("before", older), ("after", newer)):
        stated = release.calibration.confidence(asked)
        assert stated.lower[0] < stated.value[0] < stated.upper[0]
        for end in ("lower", "upper"):
            assert proteins[f"{name}_{end}"][0] == getattr(stated, end)[0]


def test_of_a_table_that_is_asked_for_nothing_is_new_and_only_what_moved_is_counted() -> None:
    older, newer, how = by_hand()
    # One more right prediction of Other moves 4/6 to 5/7; a wrong one of Tail that weighs a little
    # more moves 3/4 to 3/4.01, by less than half a point.
    more = labelled_of([*OLD[:3], (*OLD[3][:4], 1.01), *OLD[4:], ADDED[-1]])
    asked = labelled_of([*OLD[2:5], ("q", 1.0, TAIL, TAIL, 1.0)]).predictions
    step, proteins = compare(older, release_of(more), how, asked)
    assert proteins is not None
    assert proteins["id"].tolist() == ["b0", "a3", "a4", "q"]
    assert proteins["is_new"].tolist() == ["no"] * 4
    assert (step.n_compared, step.n_moved) == (4, 1)
    # Calibrations alone: no proteins, so nothing but counts and the table that was asked for.
    alone = (replace(older, labelled=None), replace(newer, labelled=None), how)
    step, proteins = compare(*alone)
    assert proteins is None
    assert (step.metrics, step.drift, step.n_compared, step.n_lightened) == ((), None, 0, 0)
    assert [entry.n_true for entry in step.classes] == [(None, None)] * 2
    assert change_sentence(step.classes[0], 10.0) == (
        "Tail: 4 predictions before, 9 now; right were 3, now 4."
    )
    assert compare(*alone, asked)[0].n_compared == 4


def test_a_protein_without_a_confidence_in_one_release_stands_last_and_is_not_compared() -> None:
    _, newer, how = by_hand()
    only_tail = labelled_of(OLD[:4])
    asked = labelled_of([OLD[5], OLD[0]]).predictions
    step, proteins = compare(release_of(only_tail), newer, how, asked)
    assert proteins is not None
    assert proteins["id"].tolist() == ["a1", "b1"]
    assert math.isnan(proteins["change"][1])
    assert step.n_compared == 1
    # Other was never predicted before: a sentence, and no change of its confidence.
    assert step.classes[1].change is None and step.classes[1].share is None
    assert change_sentence(step.classes[1], 10.0) == (
        "Other was never predicted before; now 9 of 11 predictions are right."
    )


def test_only_proteins_that_weigh_less_are_called_lighter() -> None:
    heavier = [(*OLD[0][:4], 2.0), (*OLD[1][:4], 0.5), (*OLD[2][:4], 0.5), *OLD[3:]]
    older, newer = labelled_of(OLD), labelled_of([*heavier[:-1], *ADDED])  # and one is gone
    step, _ = compare(release_of(older), release_of(newer), comparison_of(older))
    assert step.n_lightened == 2


def test_metrics_of_the_test_group_are_weighted_means_of_losses() -> None:
    older, newer, how = by_hand(n_draws=100)
    rows: list[Row] = [
        ("t1", 5.0, TAIL, TAIL, 1.0),
        ("t2", 5.0, TAIL, OTHER, 3.0),
        ("t3", 5.0, OTHER, OTHER, 2.0),
    ]
    judged = labelled_of(rows, ["one", "two", "two"])
    step, _ = compare(older, replace(newer, test=judged), how)
    of_test = [one for one in step.metrics if one.sample == "test"]
    found = {(one.class_name, one.metric): one for one in of_test}
    assert len(found) == 6
    every = found[None, "nll"]
    before = (-math.log(3 / 4) - 3 * math.log(1 / 4) - 2 * math.log(4 / 6)) / 6
    after = (-math.log(4 / 9) - 3 * math.log(5 / 9) - 2 * math.log(9 / 11)) / 6
    assert (every.before, every.after, every.n) == pytest.approx((before, after, 3))
    tail = found["Tail", "brier"]
    assert (tail.before, tail.after, tail.n) == pytest.approx(
        ((1 / 16 + 3 * 9 / 16) / 4, (25 / 81 + 3 * 16 / 81) / 4, 2)
    )
    # The interval is of after − before, in draws of the two families.
    _, keys = encode_clusters(judged.cluster)
    gain = [25 / 81 - 1 / 16, 16 / 81 - 9 / 16]
    draws = []
    for draw in range(100):
        one, two = cluster_weights(keys, draw)
        draws.append((one * gain[0] + 3 * two * gain[1]) / (one + 3 * two))
    assert (tail.lower, tail.upper) == pytest.approx(tuple(np.quantile(draws, [0.025, 0.975])))
    # One family has no interval.
    assert math.isnan(found["Other", "nll"].lower) and math.isnan(found["Other", "nll"].upper)
    # Where one release has no confidence, neither is judged.
    tail_only = replace(release_of(labelled_of(OLD[:4])), test=judged)
    step, _ = compare(older, tail_only, how)
    of_test = [one for one in step.metrics if one.sample == "test"]
    assert {(one.class_name, one.n) for one in of_test} == {(None, 2), ("Tail", 2)}
    # And the same of nobody gives none.
    nobody = judged.take(np.zeros(0, dtype=np.int64))
    step, _ = compare(older, replace(newer, test=nobody), how)
    assert {one.sample for one in step.metrics} == {"old"}


def test_old_proteins_are_judged_by_fits_that_leave_out_the_same_families(
    sets: SimpleNamespace,
) -> None:
    before = sets.draw(21, 90, "old")
    after = sets.joined(sets.draw(22, 70, "new"), before)
    options = FitOptions(min_positives=1.0, n_draws=0)
    held_out = np.linspace(0.05, 0.95, 90)
    held_out[3] = NAN  # it is judged in neither
    older = replace(release_of(before, options=options), held_out=held_out)
    newer = release_of(after, options=options)
    step, _ = compare(older, newer, comparison_of(before, options=options))
    folds = dict(zip(before.cluster, folds_by_class(before, 5).tolist(), strict=True))
    own = dict(zip(after.cluster, folds_by_class(after, 5).tolist(), strict=True))
    assert any(folds[cluster] != own[cluster] for cluster in folds)
    fold = np.array([folds.get(cluster, own[cluster]) for cluster in after.cluster])
    predicted, right = after.predictions.predicted_class, after.is_correct
    losses = []
    for row in range(90):
        at = 70 + row  # the old ones come last
        others = (fold != fold[at]) & (predicted == predicted[at])
        if row != 3:
            losses.append(
                [(value - right[at]) ** 2 for value in (held_out[row], right[others].mean())]
            )
    (found,) = (one for one in step.metrics if (one.class_name, one.metric) == (None, "brier"))
    assert found.n == 89
    assert (found.before, found.after) == pytest.approx(tuple(np.mean(losses, axis=0)))


def test_the_bounds_of_a_part_are_those_of_differences_of_draws() -> None:
    options = FitOptions(n_draws=101)
    drawn = [(np.full(101, value), 9.0) for value in (0.5, 0.6, 0.9)]
    found = change_of((0.5, 0.62, 0.8), drawn, options)
    # Of differences that are all alike, and of the change itself, which they always hold.
    assert (found.total_lower, found.total_upper) == pytest.approx((0.3, 0.4))
    assert (found.evidence_lower, found.evidence_upper) == pytest.approx((0.1, 0.12))
    assert (found.composition_lower, found.composition_upper) == pytest.approx((0.18, 0.3))
    # The fewer families of both sides decide how far quantiles are widened.
    spread = [
        (values * np.linspace(0.5, 1.5, 101), n)
        for (values, _), n in zip(drawn, (9.0, 3.0, 50.0), strict=True)
    ]
    few = [(values, 3.0) for values, _ in spread]
    one, other = (change_of((0.5, 0.62, 0.8), draws, options) for draws in (spread, few))
    assert one.evidence_lower == other.evidence_lower
    assert one.composition_upper == other.composition_upper
    assert one.total_upper < other.total_upper
    # Where one side has no draws its parts have no interval.
    found = change_of((0.5, 0.62, 0.8), [None, *drawn[1:]], options)
    assert math.isnan(found.total_lower) and math.isnan(found.evidence_upper)
    assert found.composition_upper == pytest.approx(0.3)


@pytest.mark.parametrize("method", ["kernel(bandwidth=0.8)", "cumulative"])
def test_draws_at_a_score_are_refits_with_half_a_family_more_of_each_kind(
    sets: SimpleNamespace, method: str
) -> None:
    sample = class_samples(sets.draw(8, 200, "old"))[0]
    assert sample is not None
    options = FitOptions(n_draws=6)
    calibrator = parse_method(method, "test").build(options)
    found = draws_at(calibrator, sample, 8.0, options)
    assert found is not None
    support = class_masses(sample).support
    near = float(np.interp(8.0, support.score, support.n))
    assert found[1] == near
    right, wrong = guard_draws(6)
    for draw in range(6):
        weight = sample.weight * cluster_weights(sample.cluster_key, draw)[sample.cluster]
        curve = calibrator.inner.settings.fit_curve(replace(sample, weight=weight))
        value = float(curve.value(np.array([8.0]))[0])
        expected = (value * near + right[draw]) / (near + right[draw] + wrong[draw])
        assert found[0][draw] == pytest.approx(expected, abs=1e-6)


def test_draws_of_a_scarce_class_are_those_of_its_share() -> None:
    rows = [*OLD[:3], (*OLD[3][:4], 3.0), *OLD[4:]]
    sample = class_samples(labelled_of(rows, ["f", "f", "g", "h", *"ijklmn"]))[TAIL]
    assert sample is not None
    options = FitOptions(min_positives=10.0, n_draws=4)
    calibrator = parse_method("kernel", "test").build(options)
    found = draws_at(calibrator, sample, 8.0, options)
    assert found is not None
    np.testing.assert_array_equal(found[0], share_draws(sample, 4))
    assert found[1] == pytest.approx(6**2 / (1 + 1 + 1 + 9))  # Kish, of weights 1, 1, 1 and 3
    assert draws_at(calibrator, None, 8.0, options) is None
    assert draws_at(calibrator, sample, 8.0, replace(options, n_draws=0)) is None
    vector = parse_method("sts", "test").build(options)
    assert draws_at(vector, sample, 8.0, options) is None


def test_where_a_score_is_not_enough_the_weighted_mean_of_predictions_is_compared(
    sets: SimpleNamespace,
) -> None:
    before = sets.draw(31, 120, "old")
    after = sets.joined(before, sets.draw(32, 60, "new", skill=1.0))
    after = after.reweighted(np.linspace(0.2, 2.0, 180))
    older, newer = (release_of(one, "sts") for one in (before, after))
    step, _ = compare(older, newer, comparison_of(before, "sts"))
    for class_, entry in enumerate(step.classes):
        mine = after.take(after.predictions.predicted_class == class_)
        assert entry.change is not None and math.isnan(entry.score)
        for value, release in ((entry.change.before, older), (entry.change.after, newer)):
            stated = release.calibration.confidence(mine.predictions).value
            mean = sum(stated * mine.weight) / sum(mine.weight)
            assert value == pytest.approx(mean, abs=1e-12)
        assert change_sentence(entry, 10.0).startswith(
            f"{entry.class_name}, mean of its predictions: "
        )


def changed(before: float, fixed: float, after: float, **bounds: float) -> ClassChange:
    names = ("total", "evidence", "composition")
    ends = {f"{name}_{end}": NAN for name in names for end in ("lower", "upper")}
    change = Change(before=before, fixed=fixed, after=after, **(ends | bounds))
    return ClassChange(
        class_name="Tail",
        n_true=(30, 50),
        n_predicted=(30, 50),
        n_correct=(12, 20),
        n_clusters=(9, 9),
        parameters=(),
        score=5.0,
        change=change,
        share=None,
    )


@pytest.mark.parametrize(
    ("entry", "stated"),
    [
        # Less than half a point is none, be it that one of the parts is more.
        (changed(0.60, 0.606, 0.6049), "confidence stayed at 0.60."),
        (changed(0.60, 0.60, 0.6051), "confidence rose from 0.600 to 0.605. All 0.5 percentage "
         "points are re-weighting: the classes are mixed in other shares, and at the old shares "
         "it would be 0.600."),
        # Near 0 and 1, and for small changes, there are three digits.
        (changed(0.986, 0.986, 0.986), "confidence stayed at 0.986."),
        (changed(0.009, 0.009, 0.009), "confidence stayed at 0.009."),
        (changed(0.90, 0.99, 0.99), "confidence rose from 0.900 to 0.990. All 9.0 percentage "
         "points are new evidence."),
        (changed(0.10, 0.01, 0.01), "confidence fell from 0.100 to 0.010. All 9.0 percentage "
         "points are new evidence."),
        (changed(0.60, 0.57, 0.57), "confidence fell from 0.60 to 0.57. All 3 percentage points "
         "are new evidence."),
        # The table beside has tenths: no part of it is left out of the sentence.
        (changed(0.60, 0.609, 0.606), "confidence rose from 0.600 to 0.606. New evidence raised "
         "it by 0.9 percentage points, re-weighting lowered it by 0.3 percentage points."),
        (changed(0.60, 0.703, 0.70), "confidence rose from 0.600 to 0.700. New evidence raised "
         "it by 10.3 percentage points, re-weighting lowered it by 0.3 percentage points."),
        (changed(0.60, 0.6004, 0.70), "confidence rose from 0.60 to 0.70. All 10 percentage "
         "points are re-weighting: the classes are mixed in other shares, and at the old shares "
         "it would be 0.60."),
        # The points are those of the numbers shown: 0.66 − 0.60 is 6, 4 of them re-weighting.
        (changed(0.604, 0.6149, 0.6551), "confidence rose from 0.60 to 0.66. Of the 6 percentage "
         "points, 4 are re-weighting and 2 new evidence."),
        # Chance is said of the evidence, not of the whole.
        (changed(0.50, 0.54, 0.70, evidence_lower=-0.01, evidence_upper=0.09, total_lower=0.1,
                 total_upper=0.3),
         "confidence rose from 0.50 to 0.70. Of the 20 percentage points, 16 are re-weighting and "
         "4 (−1 to 9) new evidence. What is new evidence may be chance: its interval holds 0."),
        (changed(0.50, 0.60, 0.54, evidence_lower=0.05, evidence_upper=0.15, total_lower=-0.1,
                 total_upper=0.1, composition_lower=-0.14, composition_upper=0.01),
         "confidence rose from 0.50 to 0.54. New evidence raised it by 10 percentage points (5 to "
         "15), re-weighting lowered it by 6 percentage points (−1 to 14)."),
    ],
)  # fmt: skip
def test_a_change_is_told_in_points_of_the_numbers_shown(entry: ClassChange, stated: str) -> None:
    assert change_sentence(entry, 10.0) == f"Tail at score 5.0: {stated}"


@pytest.mark.parametrize(
    ("name", "before", "after", "end"),
    [
        ("bandwidth", 0.675, 0.25, " The bandwidth went from 0.675 to 0.25; what that does counts "
         "as evidence."),
        ("cutoff", 2.0, 2.5, " The cutoff went from 2 to 2.5; what that does counts as evidence."),
        ("cutoff", 2.0, 2.19, ""),  # by less than a tenth
        ("cutoff", 0.0, 2.5, ""),
        ("temperature", 1.0, 2.0, ""),  # it is no choice
    ],
)  # fmt: skip
def test_a_parameter_is_told_where_it_was_chosen_otherwise(
    name: str, before: float, after: float, end: str
) -> None:
    entry = replace(
        changed(0.60, 0.60, 0.70),
        parameters=(ParameterChange(name=name, before=before, after=after),),
    )
    assert change_sentence(entry, 10.0).partition("would be 0.60.")[2] == end


def test_scores_have_two_digits_whatever_their_scale() -> None:
    entry = replace(changed(0.6, 0.6, 0.6), score=0.5)
    for scale, shown in ((1.0, "0.50"), (10.0, "0.5"), (100.0, "0"), (1_000.0, "0")):
        assert change_sentence(entry, scale) == (
            f"Tail at score {shown}: confidence stayed at 0.60."
        )


def step_of(
    classes: tuple[ClassChange, ...], n_before: int, n_after: int, **counts: int
) -> ReleaseStep:
    older, newer = (
        ReleaseState(
            name=name, number=0, date=None, digest="", n_calibration=n, n_correct=0, n_clusters=0
        )
        for name, n in (("old", n_before), ("new", n_after))
    )
    return ReleaseStep(
        older=older,
        newer=newer,
        method="kernel",
        scale=10.0,
        level=0.95,
        classes=classes,
        **counts,
    )


def test_a_step_tells_what_was_taken_away_and_which_class_changed_most() -> None:
    fell = replace(changed(0.6, 0.6, 0.4), class_name="Fell")
    rose = replace(changed(0.6, 0.6, 0.7), class_name="Rose")
    still = changed(0.6, 0.6, 0.6)
    assert step_sentences(step_of((rose, fell, still), 1_200, 1_100, n_lightened=3)) == (
        "new takes away 100 proteins to calibrate with: 1,200 before, 1,100 now.",
        "3 old proteins weigh less than before: each family counts one, and relatives joined "
        "theirs.",
        "The class whose typical prediction changed most: Fell at score 5.0: confidence fell "
        "from 0.60 to 0.40. All 20 percentage points are re-weighting: the classes are mixed in "
        "other shares, and at the old shares it would be 0.60.",
    )
    # Nothing touched; as many as before, of other classes; and none whose confidence moved.
    assert step_sentences(step_of((), 50, 50)) == ("new changes nothing: no protein was added.",)
    assert step_sentences(step_of((still,), 50, 50)) == ()
