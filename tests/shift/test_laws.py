"""Laws of class proportions, over both registries, and what no estimator may do."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import cases
from classes_in_order import with_classes_in_order
from credence.calibrators.all_methods import BY_NAME, METHODS
from credence.calibrators.protocol import FitOptions, Method, Need
from credence.composition.adjusted import ProportionCorrection, shifted
from credence.composition.both_samples import (
    N_DENSITY_BINS,
    CalibrationSample,
    both_parts,
    calibration_sample,
    use_sample,
)
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import Composition, estimate_composition, fixed_composition
from credence.composition.estimators import ESTIMATORS
from credence.confidence import Note
from credence.draws import keys_of
from credence.predictions import Floats, Labelled, from_scores, label
from shift_findings import adjust, warnings_about

NAMES = ("Portal", "Collar", "HTJ", "Other")
SEEDS = st.integers(0, 2**16)
EXACT = 1e-12  # beyond rounding of sums
ESTIMATING = [entry for entry in ESTIMATORS if entry.estimate is not None]
POINT = FitOptions(n_draws=0)
FEW = FitOptions(n_draws=8)
SCALE = 10.0
N_BINS = 10
# Nothing is corrected that asks where proteins lie: the configuration refuses to publish it.
QUICK = [
    method
    for method in METHODS
    if method.name not in ("auto", "trees") and method.needs is not Need.PLACE
]
every_estimator = cases("entry", ESTIMATING)


def drawn(
    seed: int,
    n: int,
    shares: Floats | None = None,
    names: tuple[str, ...] = NAMES,
    prefix: str = "p",
) -> Labelled:
    """Return labelled predictions, in families of three."""
    rng = np.random.default_rng([seed, len(prefix)])
    k = len(names)
    true = rng.choice(k, n, p=np.full(k, 1 / k) if shares is None else shares)
    logits = 1.5 * rng.normal(size=(n, k))
    logits[np.arange(n), true] += 2.0
    scores = np.exp(logits)
    scores = np.round(SCALE * scores / scores.sum(axis=1, keepdims=True), 2)
    scores += np.arange(k) * 1e-4  # no ties
    ids = np.array([f"{prefix}{row}" for row in range(n)], dtype=object)
    cluster = np.array([f"f{row // 3}" for row in range(n)], dtype=object)
    return label(from_scores(ids, names, scores, SCALE, 0.01), true, cluster=cluster)


@cases("method", QUICK, long=["random_trees"])
@given(seed=SEEDS)
@settings(max_examples=2, deadline=None)
def test_the_calibration_sets_own_composition_changes_nothing(method: Method, seed: int) -> None:
    labelled = drawn(seed, 300)
    calibrator = method.build(method.settings(), POINT)
    fitted = calibrator.fit(labelled)
    plain = fitted.confidence(labelled.predictions)
    sample = calibration_sample(labelled, False)
    for share in (None, np.bincount(labelled.true_class, minlength=4) / 300):
        own = adjust(sample, fitted, fixed_composition(sample, share))
        moved = own.confidence(labelled.predictions)
        np.testing.assert_allclose(moved.value, plain.value, rtol=0, atol=1e-9)
        np.testing.assert_array_equal(moved.note, plain.note)


@cases("method", QUICK, long=["random_trees"])
@given(
    seed=SEEDS,
    raised=st.integers(0, 3),
    factor=st.floats(1.01, 30.0),
    base=st.lists(st.floats(0.1, 5.0), min_size=4, max_size=4),
    with_vectors=st.booleans(),
)
@settings(max_examples=2, deadline=None)
def test_a_class_that_weighs_more_never_loses_confidence_nor_lends_any(
    method: Method, seed: int, raised: int, factor: float, base: list[float], with_vectors: bool
) -> None:
    labelled = drawn(seed, 300)
    fitted = method.build(method.settings(), FEW).fit(labelled)
    sample = calibration_sample(labelled, with_vectors)
    more = np.array(base)
    more[raised] *= factor
    plain = fitted.confidence(labelled.predictions)
    asked = labelled.predictions
    zero = np.zeros((4, N_DENSITY_BINS))
    before, after = (
        ProportionCorrection(weight=weight, scale=SCALE, down=zero, up=zero).corrected(
            plain, asked, sample
        )
        for weight in (np.array(base), more)
    )
    is_own = asked.predicted_class == raised
    for name in ("value", "lower", "upper"):
        rise = getattr(after, name) - getattr(before, name)
        is_there = ~np.isnan(rise)
        assert (rise[is_own & is_there] >= -EXACT).all()
        assert (rise[~is_own & is_there] <= EXACT).all()
    assert np.abs(after.value - before.value).max() > 1e-4


def test_the_odds_are_those_of_a_refit_with_the_weight_of_the_true_class() -> None:
    # One share among the wrong for all scores, and far more proteins than the prior has.
    labelled = drawn(3, 20_000)
    share = np.array([0.4, 0.1, 0.3, 0.2])
    sample = calibration_sample(labelled, False)
    composition = fixed_composition(sample, share)
    class_only = BY_NAME["class_only"]
    method = class_only.build(class_only.settings(), POINT)
    weight = composition.fit_weight
    again = method.fit(labelled.reweighted(weight[labelled.true_class]))
    no_scores = replace(labelled.predictions, top_score=None, scores=None)
    blind = calibration_sample(replace(labelled, predictions=no_scores), False)
    moved = adjust(blind, method.fit(labelled), composition).confidence(no_scores)
    expected = again.confidence(no_scores).value
    np.testing.assert_allclose(moved.value, expected, rtol=0, atol=0.002)


def weighted_ratio(counted: Floats, true: Floats, weight: Floats, class_: int) -> Floats:
    """w_k dens(k, k) / Σ_j w_j dens(k, j), `counted` the part of each row in the density."""
    dens = np.stack([counted[true == j].sum(axis=0) for j in range(len(weight))])
    return np.asarray(weight[class_] * dens[class_] / (weight @ dens))


@pytest.mark.parametrize("class_", range(4))
@pytest.mark.parametrize(
    "name", ["histogram", "cumulative", "cumulative_plus", "kernel", "class_only"]
)
def test_additive_methods_give_the_ratio_of_weighted_densities(name: str, class_: int) -> None:
    labelled = drawn(9, 900)
    weight = np.array([0.3, 2.0, 1.1, 0.7])
    (method,) = (method for method in METHODS if method.name == name)
    chosen = method.settings()
    if name == "histogram":
        chosen = replace(chosen, n_bins=N_BINS)
    if name == "kernel":
        chosen = replace(chosen, bandwidth=0.8, prior_weight=0.0)
    predictions = labelled.predictions
    assert predictions.top_score is not None
    rows = np.flatnonzero(predictions.predicted_class == class_)
    score, true = predictions.top_score[rows], labelled.true_class[rows]
    fitted = method.build(chosen, POINT).fit(shifted(labelled, weight))
    found = fitted.confidence(predictions)
    value, note = found.value[rows], found.note[rows]
    above = score[:, None] >= score
    if name == "histogram":
        edge = np.ceil(score / SCALE * N_BINS)
        counted = edge[:, None] == edge
    elif name == "kernel":
        counted = np.exp(-(((score[:, None] - score) / 0.8) ** 2) / 2.0)
    elif name == "class_only":
        counted = np.ones_like(above)
    else:
        # The median of the positives' scores, each with its weight.
        order = np.argsort(score)
        mass = np.cumsum(weight[true][order])
        theta = score[order][np.searchsorted(mass, mass[-1] / 2.0)]
        low = np.broadcast_to((score < theta)[:, None], above.shape)
        counted = np.where(score >= theta, above, low) if name == "cumulative_plus" else above
    expected = weighted_ratio(counted.astype(float), true, weight, class_)
    plain = note == Note.NONE
    assert plain.mean() > 0.9
    np.testing.assert_allclose(value[plain], expected[plain], atol=1e-6, rtol=0)


@lru_cache(maxsize=16)
def sampled(own: Labelled) -> CalibrationSample:
    """Return what estimators see of a calibration set; fitting it takes longer than they do."""
    return calibration_sample(own, True)


def compositions(
    own: Labelled, use: Labelled, entry: Any, options: FitOptions = FEW, **words: Any
) -> Composition:
    sample = sampled(own)
    return estimate_composition(
        sample, use_sample(use.predictions, sample.model, **words), entry, options
    )


@cases("entry", ESTIMATING, long=["rlls"])
@given(seed=SEEDS)
@settings(max_examples=3, deadline=None)
def test_neither_the_order_of_rows_nor_of_classes_moves_a_share_or_its_interval(
    entry: Any, seed: int
) -> None:
    own, use = drawn(seed, 240), drawn(seed, 150, np.array([0.1, 0.6, 0.2, 0.1]), prefix="use")
    rng = np.random.default_rng(seed)
    order = rng.permutation(4)
    first = compositions(own, use, entry)
    other = compositions(
        with_classes_in_order(own.take(rng.permutation(240)), order),
        with_classes_in_order(use.take(rng.permutation(150)), order),
        entry,
    )
    for name in ("share", "lower", "upper", "applied_proportion", "draws"):
        found, expected = getattr(other, name), getattr(first, name)[order]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6, err_msg=name)
    assert first.no_shift is not None and other.no_shift is not None
    assert first.no_shift.p_value == other.no_shift.p_value


def without(labelled: Labelled, true: int | None = None, predicted: int | None = None) -> Labelled:
    keep = np.ones(labelled.n_samples, dtype=bool)
    if true is not None:
        keep &= labelled.true_class != true
    if predicted is not None:
        keep &= labelled.predictions.predicted_class != predicted
    return labelled.take(keep)


def only_predicted(labelled: Labelled, class_: int) -> Labelled:
    return labelled.take(labelled.predictions.predicted_class == class_)


MANY = tuple(f"c{class_}" for class_ in range(30))
PAIR = ("a", "b")
CASES = {
    "no protein of a class": (without(drawn(1, 300), true=2), drawn(2, 100, prefix="use")),
    "a class never predicted": (without(drawn(1, 300), predicted=2), drawn(2, 100, prefix="use")),
    "a query set of one row": (drawn(1, 300), drawn(2, 1, prefix="use")),
    "one class predicted": (drawn(1, 300), only_predicted(drawn(2, 200, prefix="use"), 1)),
    "a class of one protein": (
        without(drawn(1, 300), true=2).take(np.arange(220)),
        drawn(2, 100, prefix="use"),
    ),
    "two classes": (drawn(1, 200, names=PAIR), drawn(2, 80, np.array([0.9, 0.1]), PAIR, "use")),
    "thirty classes": (drawn(1, 250, names=MANY), drawn(2, 60, names=MANY, prefix="use")),
    "one family in calibration": (
        replace(drawn(1, 60), cluster=np.full(60, "f", dtype=object)),
        drawn(2, 60, prefix="use"),
    ),
}


@pytest.mark.parametrize(
    ("case", "entry"),
    [
        pytest.param(
            case,
            entry,
            id=f"{case}-{entry.name}",
            marks=[pytest.mark.long] * ((case, entry.name) == ("thirty classes", "bbse_hard")),
        )
        for case in CASES
        for entry in ESTIMATING
    ],
)
def test_no_case_fails_or_gives_a_share_that_is_none(entry: Any, case: str) -> None:
    own, use = CASES[case]
    found = compositions(own, use, entry)
    for shares in (found.share, found.applied_proportion):
        assert (shares >= 0.0).all()
        assert shares.sum() == pytest.approx(1.0, abs=1e-12)
    assert ((found.lower >= 0.0) & (found.upper <= 1.0)).all()
    assert ((found.lower <= found.share) & (found.share <= found.upper)).all()
    sample = sampled(own)
    seen = diagnose(sample, use_sample(use.predictions, sample.model), found, FEW)
    assert 0.0 < seen.p_no_shift <= 1.0
    fitted = METHODS[1].build(METHODS[1].settings(), FEW).fit(own)
    value = adjust(sample, fitted, found).confidence(use.predictions)
    known = ~np.isnan(value.value)
    assert ((value.lower <= value.value) & (value.value <= value.upper))[known].all()


def always_sure_of_portal(labelled: Labelled) -> Labelled:
    """Return the set with Portal and Collar both given the same row of scores."""
    known = labelled.predictions
    is_either = np.isin(labelled.true_class, (0, 1))[:, None]
    assert known.scores is not None
    scores = np.where(is_either, [9.7, 0.1, 0.1, 0.1], known.scores)
    return label(
        from_scores(known.ids, NAMES, scores, SCALE, 0.01),
        labelled.true_class,
        cluster=labelled.cluster,
    )


@pytest.mark.parametrize("name", ["bbse_hard", "bbse_soft", "em_matched"])
def test_classes_whose_columns_are_the_same_are_left_open(name: str) -> None:
    own = always_sure_of_portal(drawn(4, 400))
    use = always_sure_of_portal(drawn(5, 200, np.array([0.2, 0.2, 0.3, 0.3]), prefix="use"))
    (entry,) = (entry for entry in ESTIMATING if entry.name == name)
    found = compositions(own, use, entry, FitOptions(n_draws=40))
    width = found.upper - found.lower
    assert (width[:2] > 0.3).all()
    assert (width[2:] < 0.3).all()
    assert np.isfinite(found.share).all()
    sample = sampled(own)
    message = warnings_about(
        diagnose(sample, use_sample(use.predictions, sample.model), found, FEW)
    )
    assert (
        "The classifier cannot tell Portal and Collar from other classes: "
        "their shares in this set are all but unknown."
    ) in message


@pytest.mark.parametrize("name", ["bbse_hard", "rlls", "bbse_soft", "em_matched"])
def test_one_class_that_is_never_predicted_does_not_open_the_intervals_of_all(name: str) -> None:
    # HTJ is predicted as Portal, Collar and Other; the interval of each of these was 0 to 1.
    own, use = without(drawn(1, 600), predicted=2), drawn(2, 300, prefix="use")
    (entry,) = (entry for entry in ESTIMATING if entry.name == name)
    found = compositions(own, use, entry, FitOptions(n_draws=40))
    width = found.upper - found.lower
    assert (width[[0, 1, 3]] < 0.45).all()
    assert (found.upper < 0.99).all()


def test_one_protein_of_a_class_at_0_does_not_move_the_composition() -> None:
    # One labelled "HTJ" scores as Portal does. Where no HTJ is in the query set it is worth
    # thousands of others to a mean of scores, which took that mean for known.
    own = drawn(1, 600)
    known = own.predictions
    assert known.scores is not None
    scores = known.scores.copy()
    odd = np.flatnonzero(own.true_class == 0)[:1]
    scores[odd] = [0.0, 0.0, 10.0, 0.0]
    moved = label(
        from_scores(known.ids, NAMES, scores, SCALE, 0.01), own.true_class, cluster=own.cluster
    )
    use = drawn(2, 400, np.array([0.9, 0.05, 0.0, 0.05]), prefix="use")
    use = without(use, predicted=2)
    em, matched = (
        compositions(moved, use, entry, POINT).share
        for entry in ESTIMATING
        if entry.name in ("em", "em_matched")
    )
    np.testing.assert_allclose(matched, em, atol=0.03)


def test_genomes_widen_the_interval_where_their_proteins_are_alike() -> None:
    own = drawn(1, 600)
    use = drawn(2, 300, prefix="use")
    order = np.argsort(use.true_class, kind="stable")  # genomes of one kind of protein each
    use = use.take(order)
    (entry,) = (entry for entry in ESTIMATING if entry.name == "bbse_hard")
    options = FitOptions(n_draws=100)
    genome = keys_of([f"g{row // 30}" for row in range(300)])
    by_row = compositions(own, use, entry, options)
    by_genome = compositions(own, use, entry, options, genome=genome)
    alone = compositions(own, use, entry, options, genome=keys_of([f"g{i}" for i in range(300)]))
    together_ = compositions(own, use, entry, options, genome=keys_of(["g"] * 300))
    np.testing.assert_allclose(by_genome.share, by_row.share, atol=1e-12)
    width, wide, same = ((one.upper - one.lower).mean() for one in (by_row, by_genome, alone))
    assert wide > 1.5 * width
    assert same == pytest.approx(width, rel=0.3)
    np.testing.assert_array_equal(together_.lower, by_row.lower)  # of one genome only rows


@every_estimator
def test_genomes_in_pieces_are_genomes_in_one(entry: Any) -> None:
    own, use = drawn(1, 300), drawn(2, 120, prefix="use")
    genome = keys_of([f"g{row % 11}" for row in range(120)])
    sample = sampled(own)
    cut = 50
    parts = [
        use_sample(use.predictions.take(rows), sample.model, genome=genome[rows])
        for rows in (np.arange(120) < cut, np.arange(120) >= cut)
    ]
    pieces = estimate_composition(sample, both_parts(*parts), entry, FEW)
    whole = compositions(own, use, entry, genome=genome)
    np.testing.assert_allclose(pieces.lower, whole.lower, rtol=0, atol=1e-9)
    np.testing.assert_allclose(pieces.draws, whole.draws, rtol=0, atol=1e-9)
