from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from Bio.Align import PairwiseAligner, substitution_matrices
from verification.world_truth import truth

from credence.simulate.law import QUERY_PREVALENCE, WorldSettings, score_law
from credence.simulate.sequences import whole_shares
from credence.simulate.world import NOTICE, World, make_world

SETTINGS = WorldSettings(
    n_calibration=1200, n_query=500, n_training=400, n_trove=80, n_defects=6, seed=7
)


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(SETTINGS)


@pytest.fixture(scope="module")
def sequence_of(world: World) -> dict[str, str]:
    sets = (world.calibration, world.use, world.training, world.trove, world.mixed_trove)
    return {
        name: sequence for s in sets for name, sequence in zip(s.ids, s.sequences, strict=True)
    }


@pytest.fixture(scope="module")
def label_of(world: World) -> dict[str, int]:
    sets = (world.calibration, world.trove, world.mixed_trove)
    return {
        name: int(class_)
        for s in sets
        for name, class_ in zip(s.ids, s.labelled.true_class, strict=True)
    }


def sources(world: World, kind: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(entry.id, entry.sources) for entry in world.planted if entry.kind == kind]


def test_no_name_is_used_twice_in_the_whole_world(
    world: World, sequence_of: dict[str, str]
) -> None:
    sets = (world.calibration, world.use, world.training, world.trove, world.mixed_trove)
    assert len(sequence_of) == sum(len(s.ids) for s in sets)


def test_classes_have_the_published_imbalance_and_the_query_set_another(world: World) -> None:
    for simulated, shares in (
        (world.calibration, score_law().prevalence),
        (world.use, np.array(QUERY_PREVALENCE)),
    ):
        counts = np.bincount(simulated.labelled.true_class, minlength=11)
        assert counts.tolist() == whole_shares(shares, len(simulated.ids)).tolist()
    assert np.mean(world.calibration.labelled.true_class == 10) == pytest.approx(0.64, abs=0.001)
    assert np.mean(world.use.labelled.true_class == 10) == pytest.approx(0.35, abs=0.001)


def test_the_order_of_the_query_set_gives_no_class_away(world: World) -> None:
    classes = world.use.labelled.true_class
    agreement = np.mean(classes[1:] == classes[:-1])
    # For a random order, the chance that two proteins share a class; 4 standard errors.
    expected = float((np.bincount(classes) ** 2).sum()) / len(classes) ** 2
    assert agreement < expected + 4 * np.sqrt(expected / len(classes))


def test_the_row_order_of_scores_sequences_and_truth_is_one(world: World) -> None:
    for simulated in (world.calibration, world.use, world.trove, world.mixed_trove):
        predictions = simulated.labelled.predictions
        assert predictions.scores is not None
        assert predictions.network_scores is not None
        np.testing.assert_allclose(
            predictions.network_scores.sum(axis=1), simulated.unrounded_scores, atol=5e-6
        )
        np.testing.assert_allclose(predictions.scores, simulated.unrounded_scores, atol=0.00501)
        assert len(simulated.sequences) == len(simulated.ids)


def test_the_same_sequence_has_the_same_scores(world: World) -> None:
    calibration = world.calibration
    for sequence, count in Counter(calibration.sequences).items():
        if count > 1:
            rows = calibration.unrounded_scores[calibration.sequences == sequence]
            assert (rows == rows[0]).all()
    assert len(set(calibration.sequences)) < len(calibration.sequences)


def test_the_same_settings_make_the_same_world_and_another_seed_another(world: World) -> None:
    again = make_world(SETTINGS)
    assert again.calibration.sequences.tolist() == world.calibration.sequences.tolist()
    assert again.planted == world.planted
    np.testing.assert_array_equal(
        again.mixed_trove.unrounded_scores, world.mixed_trove.unrounded_scores
    )
    other = make_world(
        WorldSettings(n_calibration=1200, n_query=1, n_training=0, n_trove=1, seed=8)
    )
    assert other.calibration.sequences.tolist() != world.calibration.sequences.tolist()


def test_the_size_of_one_set_changes_no_other(world: World) -> None:
    other = make_world(
        WorldSettings(
            n_calibration=1200, n_query=77, n_training=33, n_trove=80, n_defects=6, seed=7
        )
    )
    assert other.calibration.sequences.tolist() == world.calibration.sequences.tolist()
    assert other.trove.sequences.tolist() == world.trove.sequences.tolist()


def test_the_length_of_proteins_changes_no_score(world: World) -> None:
    shorter = make_world(replace(world.settings, length=0.5))
    for name in ("calibration", "trove"):
        before, after = getattr(world, name), getattr(shorter, name)
        assert np.array_equal(before.unrounded_scores, after.unrounded_scores)
        lengths = [np.median([len(text) for text in of.sequences]) for of in (before, after)]
        assert 0.45 < lengths[1] / lengths[0] < 0.55


def test_the_clean_trove_is_new_htj_without_repeats(world: World) -> None:
    assert (world.trove.labelled.true_class == 9).all()
    assert len(set(world.trove.sequences)) == 80
    known = {*world.calibration.sequences, *world.training.sequences}
    assert not known & set(world.trove.sequences)


def test_as_many_defects_are_planted_as_the_settings_say(world: World) -> None:
    counts = Counter(entry.kind for entry in world.planted)
    for kind in (
        *("exact_repeat", "label_conflict", "repeat_within"),
        *("relative_of_training", "joins_family", "bridge"),
    ):
        assert counts[kind] == 6
    assert counts["relative_in_training"] >= SETTINGS.n_training_relatives
    assert len(world.training.ids) == 400 + SETTINGS.n_training_relatives


def test_repeats_are_listed_with_the_very_protein_that_they_repeat(
    world: World, sequence_of: dict[str, str], label_of: dict[str, int]
) -> None:
    for name, (source,) in sources(world, "exact_repeat") + sources(world, "repeat_within"):
        assert sequence_of[name] == sequence_of[source]
        assert label_of[name] == label_of[source]
    for name, (source,) in sources(world, "label_conflict"):
        assert sequence_of[name] == sequence_of[source]
        assert label_of[name] != label_of[source]


def test_every_repeat_in_the_mixed_trove_is_listed(world: World) -> None:
    listed = {
        entry.id
        for entry in world.planted
        if entry.kind in ("exact_repeat", "label_conflict", "repeat_within")
    }
    seen = {*world.calibration.sequences, *world.training.sequences}
    for name, sequence in zip(world.mixed_trove.ids, world.mixed_trove.sequences, strict=True):
        assert (sequence in seen) == (name in listed)
        seen.add(sequence)


def test_planted_relatives_align_with_their_sources(
    world: World, sequence_of: dict[str, str]
) -> None:
    aligner = PairwiseAligner(mode="local", open_gap_score=-11, extend_gap_score=-1)
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    listed = [
        *sources(world, "relative_of_training"),
        *sources(world, "joins_family"),
        *sources(world, "relative_in_training"),
        *sources(world, "bridge"),
    ]
    for name, origins in listed:
        for origin in origins:
            first, second = sequence_of[name], sequence_of[origin]
            counts = aligner.align(first, second)[0].counts()
            aligned = counts.identities + counts.mismatches
            assert counts.identities / aligned > 0.5
            assert aligned / min(len(first), len(second)) > 0.8


def test_bridges_join_two_families_and_stay_within_the_longest_length(
    world: World, sequence_of: dict[str, str]
) -> None:
    family = dict(zip(world.calibration.ids, world.calibration.labelled.cluster, strict=True))
    for name, (first, second) in sources(world, "bridge"):
        assert family[first] != family[second]
        assert sequence_of[name] == sequence_of[first] + sequence_of[second]
        assert len(sequence_of[name]) <= 1200


def test_no_defect_touches_a_family_that_is_tied_to_training(world: World) -> None:
    family = dict(zip(world.calibration.ids, world.calibration.labelled.cluster, strict=True))
    tied = {family[e.id] for e in world.planted if e.kind.endswith("_in_training")}
    for kind in ("exact_repeat", "label_conflict", "joins_family", "bridge"):
        for _, origins in sources(world, kind):
            assert not tied & {family[origin] for origin in origins}


def test_tied_families_are_listed_whole(world: World) -> None:
    cluster = world.calibration.labelled.cluster
    shared = set(cluster) & set(world.training.family)
    listed = {e.id for e in world.planted if e.kind.endswith("_in_training")}
    assert listed == set(world.calibration.ids[np.isin(cluster, list(shared))])


def test_the_truth_is_at_hand_and_the_notice_says_that_it_is_simulated() -> None:
    assert NOTICE.startswith("Simulated data: ")
    assert truth().probability_correct(1, 5.0) < 0.2
    assert truth().probability_correct(10, 9.0) > 0.9


def test_the_smallest_world_can_be_made() -> None:
    tiny = make_world(
        WorldSettings(n_calibration=1, n_query=1, n_training=0, n_trove=1, n_defects=0)
    )
    assert [len(s.ids) for s in (tiny.calibration, tiny.use, tiny.trove, tiny.mixed_trove)] == [
        *(1, 1, 1, 0)
    ]
