"""Masses added in any order give what a fit from scratch gives, bit for bit."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.calibrators.all_methods import BY_NAME, METHODS, read_calibration
from credence.calibrators.classwise import ClasswiseCalibration, ClasswiseCalibrator
from credence.calibrators.kernel import Kernel
from credence.calibrators.protocol import FitOptions
from credence.calibrators.recalibrate import add_trove, fit_masses, mass_table, with_masses
from credence.predictions import Labelled

OPTIONS = FitOptions(n_draws=0)
ADDITIVE = [method.name for method in METHODS if method.additive]
SPECS = [
    *((name, {}) for name in ADDITIVE),
    ("histogram", {"bins": "count"}),
    ("kernel", {"bandwidth": 0.5, "prior_weight": 0.0}),
    ("kernel", {"bandwidth": "mon4", "reflection": True}),
]
several_worlds = settings(max_examples=12, deadline=None)


def calibrator_of(spec: tuple[str, dict[str, object]]) -> ClasswiseCalibrator:
    name, chosen = spec
    method = BY_NAME[name]
    built = method.build(method.settings(**chosen), OPTIONS)
    assert isinstance(built, ClasswiseCalibrator)
    return built


def text_of(calibration: ClasswiseCalibration) -> str:
    """Return all that is written of a calibration, but for the masses."""
    record = calibration.to_record()
    for entry in record["classes"].values():
        entry.pop("masses", None)
    return json.dumps(record)


def by_cluster(labelled: Labelled, shift: bool) -> Labelled:
    """Return the proteins with 1/(cluster size) weights, times a weight of the true class."""
    _, codes, size = np.unique(
        labelled.cluster.astype(str), return_inverse=True, return_counts=True
    )
    weight = 1.0 / size[codes]
    if shift:
        weight = weight * np.array([0.3, 1.7, 1 / 3, 2.1])[labelled.true_class]
    return labelled.reweighted(weight)


def in_parts(labelled: Labelled, seed: int) -> list[Labelled]:
    """Return the proteins in up to five parts of whole clusters, rows shuffled."""
    rng = np.random.default_rng(seed)
    _, codes = np.unique(labelled.cluster.astype(str), return_inverse=True)
    part_of = rng.integers(0, rng.integers(1, 6), codes.max() + 1)[codes]
    return [
        labelled.take(rng.permutation(np.flatnonzero(part_of == part)))
        for part in rng.permutation(part_of.max() + 1)
        if (part_of == part).any()
    ]


@pytest.mark.parametrize("spec", SPECS, ids=str)
@several_worlds
@given(
    seed=st.integers(0, 2**16),
    n_samples=st.sampled_from([30, 400]),
    weights=st.sampled_from(["drawn", "cluster", "cluster and shift"]),
)
def test_masses_added_in_any_order_are_a_fit_from_scratch_bit_for_bit(
    worlds: SimpleNamespace, spec: tuple[str, dict[str, object]],
    seed: int, n_samples: int, weights: str,
) -> None:  # fmt: skip
    world = worlds.draw(seed, n_samples=n_samples)
    if weights != "drawn":
        world = by_cluster(world, shift=weights == "cluster and shift")
    calibrator = calibrator_of(spec)
    first, *rest = in_parts(world, seed)
    table = mass_table(first)
    for part in rest:
        table = add_trove(table, part)
    assert text_of(fit_masses(calibrator, table)) == text_of(calibrator.fit(world))


@pytest.mark.parametrize("name", ADDITIVE)
@several_worlds
@given(seed=st.integers(0, 2**16))
def test_a_trove_that_joins_old_clusters_lightens_their_proteins_exactly(
    worlds: SimpleNamespace, name: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    world = worlds.draw(seed)
    is_new = rng.random(world.n_samples) < 0.2
    grown = by_cluster(world, shift=False)
    old = by_cluster(world.take(~is_new), shift=False)
    # Only the clusters that the trove joins are looked at again.
    is_touched = np.isin(old.cluster, world.cluster[is_new])
    joins = np.isin(grown.cluster, old.cluster[is_touched])
    table = add_trove(
        mass_table(old), grown.take(is_new & ~joins), old.take(is_touched), grown.take(joins)
    )
    calibrator = calibrator_of((name, {}))
    assert text_of(fit_masses(calibrator, table)) == text_of(calibrator.fit(grown))


@pytest.mark.parametrize("name", ADDITIVE)
def test_a_withdrawn_trove_leaves_no_trace(worlds: SimpleNamespace, name: str) -> None:
    world = worlds.draw(5)
    is_new = np.isin(world.cluster, [f"family_{code}" for code in range(40)])
    table = mass_table(world) - mass_table(world.take(is_new))
    calibrator = calibrator_of((name, {}))
    assert text_of(fit_masses(calibrator, table)) == text_of(calibrator.fit(world.take(~is_new)))
    with pytest.raises(ValueError, match="more"):
        table - mass_table(world.take(is_new))


def test_a_record_keeps_the_masses_and_a_trove_can_be_added_to_it(
    worlds: SimpleNamespace,
) -> None:
    world = by_cluster(worlds.draw(6), shift=True)
    is_new = np.isin(world.cluster, [f"family_{code}" for code in range(40)])
    old, trove = world.take(~is_new), world.take(is_new)
    calibrator = calibrator_of(("kernel", {}))
    stored = with_masses(calibrator.fit(old), old)
    read = read_calibration(json.loads(json.dumps(stored.to_record())))
    assert isinstance(read, ClasswiseCalibration)
    assert read.to_record() == stored.to_record()
    kept = [entry.masses for entry in read.entries]
    table = mass_table(old)
    assert [None if one is None else one.to_record() for one in kept] == [
        None if one is None else one.to_record() for one in table.entries
    ]
    again = type(table)(table.class_names, table.scale, table.resolution, tuple(kept))
    grown = fit_masses(calibrator, add_trove(again, trove))
    assert text_of(grown) == text_of(calibrator.fit(world))


def test_weights_of_one_are_written_as_counts(worlds: SimpleNamespace) -> None:
    world = worlds.draw(7)
    world = world.reweighted(np.ones(world.n_samples))
    entry = mass_table(world).entries[0]
    assert entry is not None
    record = entry.to_record()
    shift = record["right"]["shift"]
    assert [unit << shift for unit in record["right"]["units"]] == [
        n << 52 for n in record["n_right"]
    ]
    assert max(record["right"]["units"]) < 2**20


def test_a_bandwidth_that_looks_at_clusters_is_no_function_of_masses(
    worlds: SimpleNamespace,
) -> None:
    assert Kernel().is_additive and not Kernel(bandwidth="loo").is_additive
    with pytest.raises(ValueError, match="kernel with these settings is no sum over proteins"):
        fit_masses(calibrator_of(("kernel", {"bandwidth": "loo"})), mass_table(worlds.draw(8)))
