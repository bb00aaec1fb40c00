"""The second stage never sees a first-stage value fitted on the same cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

from credence.calibrators.all_methods import read_calibration
from credence.calibrators.crossfit import (
    NOTHING_KNOWN,
    ComposedCalibrator,
    as_scores,
    folds_by_class,
    out_of_fold,
)
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.confidence import Confidence, Note
from credence.predictions import Labelled, Predictions
from credence.records import to_record

OPTIONS = FitOptions(n_draws=20)
QUICK = FitOptions(n_draws=0)


@dataclass(frozen=True)
class Heart:
    """Knows an outcome of each cluster it saw by heart, ½ for the others."""

    known: dict[str, bool]

    def confidence(self, predictions: Predictions) -> Confidence:
        clusters = [name.split("/")[0] for name in predictions.ids]
        value = np.array([float(self.known.get(cluster, 0.5)) for cluster in clusters])
        note = np.zeros(len(value), dtype=np.int64)
        return Confidence(value=value, lower=value, upper=value, support=value, note=note)

    def to_record(self) -> dict:
        return {}


class ByHeart:
    def fit(self, labelled: Labelled) -> Heart:
        pairs = zip(labelled.cluster, labelled.is_correct, strict=True)
        return Heart(known={cluster: bool(is_correct) for cluster, is_correct in pairs})


class Spy:
    def fit(self, labelled: Labelled) -> Heart:
        self.seen = labelled
        return Heart(known={})


def test_a_first_stage_that_learns_by_heart_leaks_nothing(worlds) -> None:
    world = worlds.draw(seed=1)
    named = [f"{cluster}/{row}" for row, cluster in enumerate(world.cluster)]
    ids = np.array(named, dtype=object)
    world = replace(world, predictions=replace(world.predictions, ids=ids))
    spy = Spy()
    ComposedCalibrator(text="toy", first=ByHeart(), second=spy).fit(world)
    np.testing.assert_array_equal(spy.seen.predictions.top_score, 0.5)
    assert spy.seen.predictions.scale == 1.0 and spy.seen.predictions.scores is None
    # Fitted on the same clusters it would have given outcomes away.
    naive = ByHeart().fit(world).confidence(world.predictions).value
    assert (naive != 0.5).all()


@pytest.mark.parametrize(
    "text", ["class_only -> kernel", "tswa -> isotonic", "logistic -> kernel"]
)
def test_it_is_the_same_as_its_stages_by_hand(worlds, text: str) -> None:
    world = worlds.draw(seed=2)
    first, second = (parse_method(part, "").build(QUICK) for part in text.split(" -> "))
    unseen = out_of_fold(world, first, folds_by_class(world, 5)).value
    scored = replace(world, predictions=as_scores(world.predictions, unseen))
    after = first.fit(world).confidence(world.predictions).value
    expected = second.fit(scored).confidence(as_scores(world.predictions, after)).value
    fitted = parse_method(text, "").build(QUICK).fit(world)
    np.testing.assert_array_equal(fitted.confidence(world.predictions).value, expected)


@pytest.mark.parametrize("text", ["logistic -> kernel", "class_only -> platt -> isotonic"])
def test_records_nest_and_come_back_bit_for_bit(worlds, text: str) -> None:
    world = worlds.draw(seed=3)
    calibration = parse_method(text, "").build(OPTIONS).fit(world)
    written = json.dumps(to_record(calibration))
    again = read_calibration(json.loads(written))
    assert json.dumps(to_record(again)) == written
    before, after = (one.confidence(world.predictions) for one in (calibration, again))
    for name in ("value", "lower", "upper", "support", "note"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    assert (before.lower < before.upper).all()


def test_rows_classes_and_scale_are_nothing(worlds) -> None:
    world = worlds.draw(seed=4)
    method = parse_method("logistic -> isotonic", "").build(OPTIONS)
    expected = method.fit(world).confidence(world.predictions)
    order = np.random.default_rng(0).permutation(world.n_samples)
    turned = worlds.with_classes_in_order(world, [1, 3, 0, 2])
    scaled = replace(world, predictions=worlds.scaled(world.predictions, 0.3))
    for fitted, asked in (
        (world.take(order), world.predictions),
        (turned, turned.predictions),
        (scaled, scaled.predictions),
    ):
        found = method.fit(fitted).confidence(asked)
        for name in ("value", "lower", "upper"):
            np.testing.assert_allclose(
                getattr(found, name), getattr(expected, name), rtol=0, atol=1e-9
            )


def test_scarce_and_unseen_classes_fall_back_once(worlds) -> None:
    world = worlds.draw(seed=5)
    predicted = world.predictions.predicted_class
    kept = np.concatenate([np.flatnonzero(predicted > 1), np.flatnonzero(predicted == 1)[:3]])
    few = replace(world.take(kept), weight=np.ones(len(kept)))
    confidence = (
        parse_method("logistic -> kernel", "").build(QUICK).fit(few).confidence(world.predictions)
    )
    right = few.is_correct[-3:].sum()
    np.testing.assert_allclose(confidence.value[predicted == 1], (right + 0.5) / 4, atol=1e-12)
    assert np.isnan(confidence.value[predicted == 0]).all()
    assert (confidence.note[predicted == 0] == Note.UNSEEN_CLASS).all()


def test_a_class_of_one_cluster_is_given_its_share(worlds) -> None:
    world = worlds.draw(seed=6)
    one = world.predictions.predicted_class == 0
    cluster = np.where(one, "family_of_all", world.cluster).astype(object)
    world = replace(world, cluster=cluster, weight=np.ones(world.n_samples))
    text = parse_method("tswa -> isotonic", "")
    confidence = text.build(QUICK).fit(world).confidence(world.predictions)
    # No fold could say anything of it, so the second stage saw a constant.
    share = world.is_correct[one].mean()
    np.testing.assert_allclose(confidence.value[one], share, rtol=0, atol=1e-9)
    assert as_scores(world.predictions, np.full(world.n_samples, np.nan)).top_score[0] == (
        NOTHING_KNOWN
    )
