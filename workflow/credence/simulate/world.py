"""The demo world: proteins, scores and troves, with all that is true of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats, Integers
from credence.simulate.law import CLASS_NAMES, N_CLASSES, USE_PREVALENCE, WorldSettings, score_law
from credence.simulate.protein_sets import (
    Planted,
    SimulatedSet,
    SimulatedTraining,
    assemble,
    labelled_ids,
    mixed_trove,
    one_per_family,
)
from credence.simulate.scores import draw_scores
from credence.simulate.sequences import draw_families, evolve, relative, without_duplicates

NOTICE = (
    "Simulated data: these proteins, scores and labels were made by a computer program "
    "and say nothing about any real protein."
)
TROVE_CLASS = "HTJ"
PARTS = ("calibration", "use", "training", "relatives", "trove", "mixed")


@dataclass(frozen=True, eq=False)
class World:
    """A simulated world and its truth."""

    settings: WorldSettings  # What made it
    # Labelled proteins never seen in training; proteins of another composition, whose true classes
    # a table must not show.
    calibration: SimulatedSet
    use: SimulatedSet
    training: SimulatedTraining  # What the classifier saw
    trove: SimulatedSet  # New clean HTJ proteins; new proteins of all classes with defects
    mixed_trove: SimulatedSet
    planted: tuple[Planted, ...]  # All that was planted, of every set


def make_world(settings: WorldSettings) -> World:
    """Return the world of these settings, the same one every time."""
    streams = np.random.default_rng(settings.seed).spawn(len(PARTS))
    rng = dict(zip(PARTS, streams, strict=True))
    counts = np.zeros(N_CLASSES, dtype=np.int64)
    law = score_law()
    calibration = _draw_set(
        settings, settings.n_calibration, law.prevalence, "calibration", rng, counts
    )
    use = _unordered(
        _draw_set(settings, settings.n_use, np.array(USE_PREVALENCE), "use", rng, None), rng["use"]
    )
    training, planted = _training(settings, law.prevalence, calibration, rng)
    only_htj = np.eye(N_CLASSES)[CLASS_NAMES.index(TROVE_CLASS)]
    trove = _draw_set(settings, settings.n_trove, only_htj, "trove", rng, counts)
    mixed, defects = mixed_trove(settings, calibration, training, planted, rng["mixed"], counts)
    return World(settings, calibration, use, training, trove, mixed, planted + defects)


def _draw_set(
    settings: WorldSettings,
    n_members: int,
    prevalence: Floats,
    part: str,
    rng: Mapping[str, np.random.Generator],
    counts: Integers | None,
) -> SimulatedSet:
    families = draw_families(settings, n_members, prevalence, rng[part])
    if part == "trove":
        families = without_duplicates(families)
    scores, networks = draw_scores(families, rng[part], keep_networks=True)
    sequences = evolve(families, rng[part])
    prefix = "simulated" if part == "calibration" else f"simulated_{part}"
    ids = (
        labelled_ids(families.member_class, counts)
        if counts is not None
        else np.array([f"simulated_use_{i + 1:06d}" for i in range(n_members)], dtype=object)
    )
    return assemble(
        ids, families.member_class, families.names(f"{prefix}_family"), scores, networks, sequences
    )


def _unordered(simulated: SimulatedSet, rng: np.random.Generator) -> SimulatedSet:
    # The order of a use-set must not give the classes away.
    rows = rng.permutation(simulated.labelled.n_samples)
    shuffled = simulated.labelled.take(rows)
    return assemble(
        simulated.ids,
        shuffled.true_class,
        shuffled.cluster,
        simulated.unrounded_scores[rows],
        shuffled.predictions.network_scores,
        simulated.sequences[rows],
    )


def _training(
    settings: WorldSettings,
    prevalence: Floats,
    calibration: SimulatedSet,
    rng: Mapping[str, np.random.Generator],
) -> tuple[SimulatedTraining, tuple[Planted, ...]]:
    families = draw_families(settings, settings.n_training, prevalence, rng["training"])
    sequences = evolve(families, rng["training"])
    labelled = calibration.labelled
    sources = one_per_family(labelled.cluster, settings.n_training_relatives, rng["relatives"])
    relatives = [relative(calibration.sequences[row], rng["relatives"]) for row in sources]
    n_training = settings.n_training + len(sources)
    ids = np.array([f"simulated_training_{i + 1:06d}" for i in range(n_training)], dtype=object)
    family = families.names("simulated_training_family")
    training = SimulatedTraining(
        ids,
        np.concatenate([sequences, np.array(relatives, dtype=object)]),
        np.concatenate([families.member_class, labelled.true_class[sources]]),
        np.concatenate([family, labelled.cluster[sources]]),
    )
    planted = []
    for row, training_id in zip(sources, ids[settings.n_training :], strict=True):
        same = np.flatnonzero(calibration.sequences == calibration.sequences[row])
        for member in np.flatnonzero(labelled.cluster == labelled.cluster[row]):
            direct = "relative_in_training" if member in same else "family_in_training"
            planted.append(Planted(calibration.ids[member], direct, (training_id,)))
    return training, tuple(planted)
