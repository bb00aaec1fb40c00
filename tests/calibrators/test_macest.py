from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from credence.calibrators.all_methods import read_calibration
from credence.calibrators.macest import MACEST_METHOD
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.confidence import Note
from credence.predictions import Labelled
from credence.records import to_record
from refusals import refusal

OPTIONS = FitOptions(n_draws=0)


@pytest.fixture(scope="module")
def world(worlds: SimpleNamespace) -> Labelled:
    return worlds.draw(seed=11)


def moved(labelled: Labelled, rows: list[int], to: float) -> Labelled:
    places = labelled.predictions.places.copy()
    places[rows] = to
    return replace(labelled, predictions=replace(labelled.predictions, places=places))


def test_a_protein_without_a_place_has_no_confidence_and_says_why(world: Labelled) -> None:
    calibration = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(world)
    asked = moved(world, [0, 5], np.nan).predictions
    found = calibration.confidence(asked)
    assert (
        np.isnan(found.value[[0, 5]]).all() and np.isfinite(np.delete(found.value, [0, 5])).all()
    )
    assert (found.note[[0, 5]] == Note.NO_PLACE).all()
    assert not (np.delete(found.note, [0, 5]) & Note.NO_PLACE).any()


def test_fitting_passes_over_proteins_without_a_place(world: Labelled) -> None:
    rows = list(range(40))
    with_holes = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(
        moved(world, rows, np.nan)
    )
    without = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(
        world.take(np.arange(40, 400))
    )
    assert json.dumps(to_record(with_holes)["model"]) == json.dumps(to_record(without)["model"])


def test_where_no_protein_has_a_place_nothing_is_said(world: Labelled) -> None:
    nowhere = moved(world, list(range(400)), np.nan)
    calibration = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(nowhere)
    again = read_calibration(json.loads(json.dumps(to_record(calibration))))
    found = again.confidence(nowhere.predictions)
    assert np.isnan(found.value).all() and (found.note == Note.NO_PLACE).all()


def test_nonsense_far_away_is_not_believed_whatever_its_scores(world: Labelled) -> None:
    calibration = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(world)
    far = moved(world, list(range(400)), 500.0).predictions
    found = calibration.confidence(far).value
    assert calibration.confidence(world.predictions).value.mean() > 0.6
    # Four classes: 1/4, to what the scores still change.
    np.testing.assert_allclose(found, 0.25, atol=0.05)


def test_places_in_another_unit_give_the_same_confidences(world: Labelled) -> None:
    places = world.predictions.places
    small = replace(world, predictions=replace(world.predictions, places=places * 1e-3))
    found, expected = (
        MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS)
        .fit(given)
        .confidence(given.predictions)
        .value
        for given in (small, world)
    )
    # The scale is kept to nine digits.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


def test_neighbours_that_speak_for_another_class_are_told(world: Labelled) -> None:
    calibration = MACEST_METHOD.build(MACEST_METHOD.settings(), OPTIONS).fit(world)
    found = calibration.confidence(world.predictions)
    probability = calibration.probabilities(world.predictions)
    own = probability[np.arange(400), world.predictions.predicted_class]
    np.testing.assert_array_equal(found.value, own)
    has_features = (found.note & Note.DISAGREES) > 0
    np.testing.assert_array_equal(has_features, probability.max(axis=1) > own)
    assert 0 < has_features.sum() < 200


def test_it_has_to_be_given_places(world: Labelled) -> None:
    assert MACEST_METHOD.needs is Need.PLACE and MACEST_METHOD.needs.is_vector
    assert "'macest' sees the whole score vector" in refusal(
        parse_method, "kernel -> macest", "--method"
    )
