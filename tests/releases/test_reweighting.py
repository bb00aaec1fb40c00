"""A change is told apart into new evidence and other shares of the classes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from credence.calibrators.classwise import class_samples
from credence.calibrators.intervals import share_band
from credence.calibrators.kernel import Kernel
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import shifted
from credence.draws import cluster_weights
from credence.findings import ReleaseState, ReleaseStep
from credence.predictions import Labelled
from credence.records import to_record
from credence.releases.compare import Comparison, ReleaseData, compare
from credence.releases.drift import class_weights
from credence.report.release_words import change_sentence, step_sentences

CLASSES = ("Portal", "Collar", "HTJ", "Other")
EXACT = 1e-9  # of the methods that are ratios of sums; the stored kernel curve adds 1e-7
STORED = 3e-7
SUMS = ["class_only", "histogram", "cumulative", "kernel(bandwidth=0.5, prior_weight=0)"]
several_worlds = settings(max_examples=4, deadline=None)


def side(labelled: Labelled, name: str, method: str, options: FitOptions) -> ReleaseData:
    calibration = parse_method(method, "test").build(options).fit(labelled)
    classes = to_record(calibration).get("classes", {})
    state = ReleaseState(
        name=name, number=0, date=None, digest="", n_calibration=labelled.n_samples,
        n_correct=int(labelled.is_correct.sum()),
        n_clusters=len(set(labelled.cluster)),
    )  # fmt: skip
    counts = {key: entry["counts"] for key, entry in classes.items()}
    return ReleaseData(state=state, calibration=calibration, counts=counts, labelled=labelled)


def step_of(
    before: Labelled, after: Labelled, method: str, options: FitOptions | None = None
) -> ReleaseStep:
    options = options or FitOptions(n_draws=0)
    how = Comparison(
        method=method,
        calibrator=parse_method(method, "test").build(replace(options, n_draws=0)),
        class_names=before.predictions.class_names,
        scale=before.predictions.scale,
        resolution=before.predictions.resolution,
        options=options,
        n_signs=0,
    )
    step, _ = compare(
        side(before, "old", method, options), side(after, "new", method, options), how
    )
    return step


def renamed(labelled: Labelled, prefix: str) -> Labelled:
    """Return the same proteins as if they were others, of other families."""
    predictions = labelled.predictions
    ids = np.array([f"{prefix}{name}" for name in predictions.ids], dtype=object)
    cluster = np.array([f"{prefix}{name}" for name in labelled.cluster], dtype=object)
    return replace(labelled, predictions=replace(predictions, ids=ids), cluster=cluster)


@pytest.mark.parametrize("method", SUMS)
@several_worlds
@given(seed=st.integers(0, 2**16), class_=st.integers(0, 3))
def test_more_of_the_same_of_one_class_is_all_re_weighting(
    sets: SimpleNamespace, method: str, seed: int, class_: int
) -> None:
    before = sets.draw(seed, 300, "old")
    twins = renamed(before.take(before.true_class == class_), "twin_of_")
    step = step_of(before, sets.joined(before, twins), method)
    tolerance = STORED if "kernel" in method else EXACT
    message = [entry.change for entry in step.classes if entry.change is not None]
    assert len(message) >= 2  # the classes that some of its members are predicted to be
    for change in message:
        assert abs(change.evidence) < tolerance
        assert change.composition == pytest.approx(change.total, abs=tolerance)
    shares = [entry.share for entry in step.classes if entry.share is not None]
    for change in shares:
        assert abs(change.evidence) < EXACT
    assert max(abs(change.total) for change in shares) > 0.01  # something did change


@pytest.mark.parametrize("method", SUMS)
@several_worlds
@given(seed=st.integers(0, 2**16))
def test_other_scores_at_the_same_shares_are_all_new_evidence(
    sets: SimpleNamespace, method: str, seed: int
) -> None:
    before = sets.draw(seed, 300, "old")
    better = renamed(sets.draw(seed, 300, "old", skill=4.0), "new_")
    assert np.array_equal(
        np.bincount(better.true_class, minlength=4), np.bincount(before.true_class, minlength=4)
    )
    step = step_of(before, sets.joined(before, better), method)
    message = [entry.change for entry in step.classes if entry.change is not None]
    for change in message:
        assert abs(change.composition) < EXACT
        assert change.evidence == pytest.approx(change.total, abs=EXACT)
    shares = [entry.share for entry in step.classes if entry.share is not None]
    assert max(abs(change.total) for change in shares) > 0.01


def test_weights_give_the_newer_set_the_older_one_s_shares(sets: SimpleNamespace) -> None:
    before = sets.draw(1, 400, "old")
    after = sets.joined(before, sets.draw(2, 200, "new", prevalence=(0.0, 0.1, 0.9, 0.0)))
    weight = class_weights(before, after)
    shares = [
        np.bincount(part.true_class, weights=part.weight, minlength=4) / part.weight.sum()
        for part in (before, shifted(after, class_weights(before, after)))
    ]
    np.testing.assert_allclose(shares[0], shares[1], rtol=0, atol=1e-12)
    # By hand: w = older share / newer share.
    portal_before = (before.true_class == 0).mean()
    portal_after = (after.true_class == 0).mean()
    assert weight[0] == pytest.approx(portal_before / portal_after)


def test_a_class_that_is_new_has_no_weight_and_a_class_that_is_gone_none(
    sets: SimpleNamespace,
) -> None:
    world = sets.draw(3, 300, "old")
    without = world.take(world.true_class != 2)
    assert class_weights(without, world)[2] == 0.0
    assert np.isnan(class_weights(world, without)[2])
    assert (shifted(world, class_weights(without, world)).true_class != 2).all()


@cases("method", ["kernel", "histogram", "cumulative_optimal", "class_only"], long=["kernel"])
def test_intervals_hold_their_numbers_and_have_width(sets: SimpleNamespace, method: str) -> None:
    before = sets.draw(4, 300, "old")
    after = sets.joined(before, sets.draw(5, 100, "new", prevalence=(0.1, 0.1, 0.7, 0.1)))
    step = step_of(before, after, method, FitOptions(n_draws=100))
    for entry in step.classes:
        for change in (entry.change, entry.share):
            assert change is not None
            for part in ("total", "evidence", "composition"):
                lower, value, upper = (
                    getattr(change, name) for name in (f"{part}_lower", part, f"{part}_upper")
                )
                assert lower <= value <= upper
                assert 0.0 < upper - lower < 1.0


def test_what_both_releases_share_cancels_in_the_interval(sets: SimpleNamespace) -> None:
    before = sets.draw(6, 300, "old")
    few = sets.draw(7, 6, "new")
    options = FitOptions(n_draws=100)
    step = step_of(before, sets.joined(before, few), "class_only", options)
    entry = max(step.classes, key=lambda one: one.n_predicted[1] - one.n_predicted[0])
    assert entry.share is not None
    width = entry.share.total_upper - entry.share.total_lower
    sample = class_samples(before)[CLASSES.index(entry.class_name)]
    assert sample is not None
    band = share_band(sample, options)
    assert 0.0 < width < (band.upper - band.lower) / 2.0


def test_the_kernel_draws_at_a_score_are_its_refits(sets: SimpleNamespace) -> None:
    sample = class_samples(sets.draw(8, 400, "old"))[0]
    assert sample is not None
    method = Kernel(bandwidth=0.8)
    drawn = method.draw_values(sample, 8.0, 20)
    for draw in range(20):
        weight = sample.weight * cluster_weights(sample.cluster_key, draw)[sample.cluster]
        curve = method.fit_curve(replace(sample, weight=weight))
        assert drawn[draw] == pytest.approx(curve.value(np.array([8.0]))[0], abs=1e-6)


def test_relatives_that_join_a_family_lighten_it_and_that_is_said(sets: SimpleNamespace) -> None:
    def one_each(labelled: Labelled) -> Labelled:
        _, codes, size = np.unique(
            labelled.cluster.astype(str), return_inverse=True, return_counts=True
        )
        return labelled.reweighted(1.0 / size[codes])

    before = sets.draw(9, 200, "old")
    joining = sets.draw(10, 10, "new")
    joining = replace(joining, cluster=before.cluster[:10].copy())
    n_lighter = int(np.isin(before.cluster, before.cluster[:10]).sum())
    older, newer = one_each(before), one_each(sets.joined(before, joining))
    step = step_of(older, newer, "class_only")
    assert step.n_lightened == n_lighter
    assert (
        f"{n_lighter} old proteins weigh less than before: each family counts one, and relatives "
        "joined theirs."
    ) in step_sentences(step)
    asked = before.predictions.at_scores(np.arange(len(CLASSES)), np.full(len(CLASSES), 5.0))
    first, second = (
        side(of, "", "class_only", FitOptions(n_draws=0)).calibration.confidence(asked).value
        for of in (older, newer)
    )
    for entry, is_same in zip(step.classes, first == second, strict=True):
        # A class whose proteins became lighter has changed, be it that none was added to it.
        assert ("nothing changed" in change_sentence(entry, step.scale)) == is_same


@cases("method", ["cstswa", "platt -> kernel"], long=["platt -> kernel"])
def test_methods_of_every_kind_can_be_compared(sets: SimpleNamespace, method: str) -> None:
    before = sets.draw(11, 150, "old")
    after = sets.joined(before, sets.draw(12, 60, "new", prevalence=(0.1, 0.1, 0.7, 0.1)))
    step = step_of(before, after, method)
    message = [entry for entry in step.classes if entry.change is not None]
    assert len(message) == 4
    assert all(entry.is_moved for entry in message)
    for entry in message:
        assert entry.change is not None
        assert np.isfinite([entry.change.before, entry.change.fixed, entry.change.after]).all()
        assert np.isnan(entry.change.total_lower)
        # Only class and top score give a confidence at a score.
        assert np.isnan(entry.score) == (method == "cstswa")


def test_a_class_that_shares_a_parameter_moves_without_a_protein_of_its_own(
    sets: SimpleNamespace,
) -> None:
    before = sets.draw(13, 200, "old")
    new = sets.draw(14, 40, "new")
    new = new.take((new.true_class == 2) & (new.predictions.predicted_class == 2))
    step = step_of(before, sets.joined(before, new), "sts")
    portal = next(entry for entry in step.classes if entry.class_name == "Portal")
    assert portal.n_predicted[0] == portal.n_predicted[1]
    assert portal.is_touched and "nothing changed" not in change_sentence(portal, step.scale)
