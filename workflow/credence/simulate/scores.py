"""Scores of ten simulated networks: members of one family have similar scores.

A family has a class that the networks favour, right or wrong, a rival, and the
margin between them; members and networks vary a little about that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers, Labelled, from_scores, label
from credence.simulate import law as constants
from credence.simulate.law import (
    CLASS_NAMES,
    N_CLASSES,
    N_NETWORKS,
    ScoreLaw,
    WorldSettings,
    score_law,
)
from credence.simulate.sequences import Families, draw_families

Singles = NDArray[np.float32]

FAMILIES_PER_BLOCK = 1_024  # a block's arrays stay in the processor's cache


@dataclass(frozen=True, eq=False)
class FamilyScores:
    """What the members of a family share in the networks' eyes."""

    favoured: Integers  # Class that leads and class that follows
    rival: Integers
    margin: Floats  # Logits between the two


def draw_labelled(
    settings: WorldSettings,
    rng: np.random.Generator,
    prevalence: Floats | None = None,
    *,
    keep_networks: bool = False,
) -> Labelled:
    """Return labelled predictions of `settings.n_calibration` proteins, without sequences.

    The law is that of :func:`credence.simulate.make_world`. Without the
    networks' own scores ten million rows take less than 8 GB.
    """
    law = score_law()
    shares = law.prevalence if prevalence is None else prevalence
    families = draw_families(settings, settings.n_calibration, shares, rng)
    scores, networks = draw_scores(families, rng, keep_networks=keep_networks)
    ids = np.array([f"simulated_{i:06d}" for i in range(families.n_members)], dtype=object)
    predictions = from_scores(
        ids,
        CLASS_NAMES,
        rounded(scores),
        constants.SCALE,
        constants.RESOLUTION,
        network_scores=networks,
    )
    return label(predictions, families.member_class, cluster=families.names("simulated_family"))


def rounded(scores: Floats) -> Floats:
    """Return scores with two decimals, as PhANNs writes them."""
    return np.round(scores, constants.DECIMALS)


def draw_scores(
    families: Families, rng: np.random.Generator, *, keep_networks: bool
) -> tuple[Floats, Floats | None]:
    """Return the unrounded sums of ten softmaxes, and the networks' own if wanted."""
    law = score_law()
    n_members = families.n_members
    scores = np.empty((n_members, N_CLASSES))
    networks = np.empty((n_members, N_NETWORKS, N_CLASSES)) if keep_networks else None
    end = np.concatenate([[0], np.cumsum(families.size)])
    starts = range(0, families.n_families, FAMILIES_PER_BLOCK)
    for start, child in zip(starts, rng.spawn(len(starts)), strict=True):
        stop = min(start + FAMILIES_PER_BLOCK, families.n_families)
        shared = draw_family_scores(law, families.class_[start:stop], child)
        softmax = network_softmax(law, shared, families.size[start:stop], child)
        rows = slice(int(end[start]), int(end[stop]))
        source = _source_rows(families.is_duplicate[rows])
        scores[rows] = softmax.sum(axis=1, dtype=np.float64).T[source]
        if networks is not None:
            networks[rows] = softmax.T[source]
    return scores, networks


def _source_rows(is_duplicate: NDArray[np.bool_]) -> NDArray[np.intp]:
    # The same sequence gets the same scores: a duplicate takes the nearest original's.
    rows = np.arange(len(is_duplicate))
    return np.maximum.accumulate(np.where(is_duplicate, 0, rows))


def draw_family_scores(
    law: ScoreLaw, true_class: Integers, rng: np.random.Generator
) -> FamilyScores:
    """Return favoured class, rival and margin of each family."""
    favoured = draw_categories(law.favour[true_class], rng)
    rival = draw_categories(law.rival[true_class, favoured], rng)
    shape, scale = margin_law(true_class, favoured)
    margin = constants.LEAST_MARGIN + rng.standard_gamma(shape) * scale
    return FamilyScores(favoured, rival, margin)


def draw_categories(shares: Floats, rng: np.random.Generator) -> Integers:
    """Return a category for each row of shares."""
    cumulative = np.cumsum(shares[:, :-1], axis=1)
    above = rng.random(len(shares))[:, None] >= cumulative
    return np.asarray(above.sum(axis=1), dtype=np.int64)


def margin_law(true_class: Integers, favoured: Integers) -> tuple[Floats, Floats]:
    """Return shape and scale of the gamma law of each family's margin above the least."""
    right = true_class == favoured

    def pick(if_right: tuple[float, ...], if_wrong: tuple[float, ...]) -> Floats:
        return np.where(right, np.array(if_right)[favoured], np.array(if_wrong)[favoured])

    shape = pick(constants.SHAPE_CORRECT, constants.SHAPE_WRONG)
    mean = pick(constants.MARGIN_CORRECT, constants.MARGIN_WRONG)
    return shape, (mean - constants.LEAST_MARGIN) / shape


def network_softmax(
    law: ScoreLaw, shared: FamilyScores, size: Integers, rng: np.random.Generator
) -> Singles:
    """Return each network's softmax of each member, shape (n_classes, n_networks, n_members)."""
    n_families, n_members = len(size), int(size.sum())
    rest = draw_noise(rng, constants.SPREAD_REST, N_CLASSES, n_families)
    logits = family_logits(shared, rest)
    if n_members == n_families:
        values = draw_noise(rng, SPREAD_NETWORK_SINGLE, N_CLASSES, N_NETWORKS, n_families)
        values += logits[:, None, :]
    else:
        spread = constants.SPREAD_NETWORK_FAMILY
        common = draw_noise(rng, spread, N_CLASSES, N_NETWORKS, n_families)
        common += logits[:, None, :]
        spread = constants.SPREAD_NETWORK_MEMBER
        values = draw_noise(rng, spread, N_CLASSES, N_NETWORKS, n_members)
        values += np.repeat(common, size, axis=2)
    values += draw_noise(rng, constants.SPREAD_MEMBER, N_CLASSES, n_members)[:, None, :]
    return softmax_in_place(law, values)


# One protein a family: the networks' two sums of normals are one, of the same law.
SPREAD_NETWORK_SINGLE = math.hypot(
    constants.SPREAD_NETWORK_FAMILY, constants.SPREAD_NETWORK_MEMBER
)


def draw_noise(rng: np.random.Generator, spread: float, *shape: int) -> Singles:
    """Return normal deviates."""
    return rng.standard_normal(shape, dtype=np.float32) * np.float32(spread)


def family_logits(shared: FamilyScores, rest: Singles) -> Singles:
    """Return the logits that a family's members share, shape (n_classes, n_families)."""
    columns = np.arange(rest.shape[1])
    logits = rest - (shared.margin + constants.REST_BEHIND).astype(np.float32)
    logits[shared.rival, columns] = -shared.margin
    logits[shared.favoured, columns] = 0.0
    return logits


def softmax_in_place(law: ScoreLaw, values: Singles) -> Singles:
    """Return the networks' softmaxes of logits, which are overwritten."""
    values += law.bias.T.astype(np.float32)[:, :, None]
    values *= law.sharpness.astype(np.float32)[:, None]
    # The favoured class's logit is about 0 and no other far above: no overflow.
    np.exp(values, out=values)
    values /= values.sum(axis=0)
    return values
