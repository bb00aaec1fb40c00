"""Scores of ten simulated networks: a family has a favoured class, a rival and a margin."""

import math

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Floats, Integers, Labelled, Strings, from_scores, label
from credence.simulate import law as constants
from credence.simulate.law import N_CLASSES, N_NETWORKS, ScoreLaw, score_law
from credence.simulate.sequences import Families

Singles = NDArray[np.float32]

FAMILIES_PER_BLOCK = 1_024  # a block's arrays stay in the processor's cache


def as_labelled(
    ids: Strings, true_class: Integers, family: Strings, scores: Floats, networks: Floats | None
) -> Labelled:
    """Return labelled predictions, the scores with two decimals, as PhANNs writes them."""
    shown = np.round(scores, constants.DECIMALS_OF_SCORE)
    scale = constants.SCALE, constants.RESOLUTION
    predictions = from_scores(ids, constants.CLASS_NAMES, shown, *scale, network_scores=networks)
    return label(predictions, true_class, cluster=family)


def draw_scores(families: Families, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return the unrounded sums of ten softmaxes, and the networks' own."""
    law = score_law()
    n_members = families.n_members
    scores = np.empty((n_members, N_CLASSES))
    networks = np.empty((n_members, N_NETWORKS, N_CLASSES))
    end = np.concatenate([[0], np.cumsum(families.size)])
    starts = range(0, families.n_families, FAMILIES_PER_BLOCK)
    for start, child in zip(starts, rng.spawn(len(starts)), strict=True):
        stop = min(start + FAMILIES_PER_BLOCK, families.n_families)
        softmax = _draw_softmax(law, families.class_[start:stop], families.size[start:stop], child)
        rows = slice(int(end[start]), int(end[stop]))
        # The same sequence gets the same scores: a duplicate takes the nearest original's.
        is_duplicate = families.is_duplicate[rows]
        place = np.arange(len(is_duplicate))
        source = np.maximum.accumulate(np.where(is_duplicate, 0, place))
        scores[rows] = softmax.sum(axis=1, dtype=np.float64).T[source]
        networks[rows] = softmax.T[source]
    return scores, networks


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


def _draw_softmax(
    law: ScoreLaw, true_class: Integers, size: Integers, rng: np.random.Generator
) -> Singles:
    """Return each network's softmax of each member, shape (n_classes, n_networks, n_members)."""
    favoured = draw_categories(law.favour[true_class], rng)
    rival = draw_categories(law.rival[true_class, favoured], rng)
    shape, scale = margin_law(true_class, favoured)
    margin = constants.LEAST_MARGIN + rng.standard_gamma(shape) * scale
    n_families, n_members = len(size), int(size.sum())
    rest = draw_noise(rng, constants.SPREAD_REST, N_CLASSES, n_families)
    logits = family_logits(favoured, rival, margin, rest)
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


def family_logits(favoured: Integers, rival: Integers, margin: Floats, rest: Singles) -> Singles:
    """Return the logits that a family's members share, the leading class's `margin` ahead."""
    columns = np.arange(rest.shape[1])
    logits = rest - (margin + constants.REST_BEHIND).astype(np.float32)
    logits[rival, columns] = -margin
    logits[favoured, columns] = 0.0
    return logits


def softmax_in_place(law: ScoreLaw, values: Singles) -> Singles:
    """Return the networks' softmaxes of logits, which are overwritten."""
    values += law.bias.T.astype(np.float32)[:, :, None]
    values *= law.sharpness.astype(np.float32)[:, None]
    # The favoured class's logit is about 0 and no other far above: no overflow.
    np.exp(values, out=values)
    values /= values.sum(axis=0)
    return values
