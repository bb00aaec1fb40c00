"""Draws of a use-set: of its rows, or of its genomes where those are known.

A row gets an exponential weight, n like rows their sum, a Gamma(n) weight; a
genome gives its exponential weight to all its rows. What is drawn is keyed by
what is in a row, or by the genome's name, so that order is nothing.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from credence.composition.both_samples import N_SCORE_BINS, UseSample
from credence.composition.cells import Genomes, Keys, keys_of_rows
from credence.draws import uniform
from credence.predictions import Floats

HALF_ROW = 0.5  # of every class, added to the use-set in each draw (Jeffreys)


def gamma_weights(shape: Floats, key: Keys, draw: int, stream: str) -> Floats:
    """Return Gamma(shape) weights, the sums of so many exponential ones; 0 for 0."""
    level = uniform(key, draw, stream)
    drawn = np.zeros(len(shape))
    is_held = shape > 0
    one = is_held & (shape == 1.0)
    drawn[one] = -np.log(level[one])
    rest = is_held & (shape != 1.0)
    drawn[rest] = special.gammaincinv(shape[rest], level[rest])
    return drawn


def genome_weights(genomes: Genomes, draw: int) -> Floats:
    """Return the weight of each place: its rows have the weights of their genomes."""
    level = uniform(genomes.key, draw, "use genomes")
    return np.asarray(genomes.counts @ -np.log(level))


def cell_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of each row that is kept, in one draw."""
    assert use.cells is not None
    if use.drawn_genomes is not None and use.cells.genomes is not None:
        return use.cells.shared(genome_weights(use.cells.genomes, draw))
    n_rows = use.cells.n_rows.astype(np.float64)
    return use.cells.shared(gamma_weights(n_rows, use.cells.key, draw, "use rows"))


def half_weights(use: UseSample, draw: int) -> Floats:
    """Return the weight of half a row of each class in one draw."""
    half = np.full(len(use.class_key), HALF_ROW)
    return gamma_weights(half, use.class_key, draw, "half")


def predicted_draw(use: UseSample, draw: int) -> Floats:
    """Return the weight of each predicted class in one draw, half a row added."""
    genomes = use.drawn_genomes
    if genomes is None:
        counts = use.counts.sum(axis=1)
        drawn = gamma_weights(counts, use.class_key, draw, "predicted")
    else:
        drawn = genome_weights(genomes, draw).reshape(use.counts.shape).sum(axis=1)
    return np.asarray(drawn + half_weights(use, draw))


def score_draw(use: UseSample, draw: int) -> Floats:
    """Return the use-set's distribution of predicted class and score in one draw."""
    genomes = use.drawn_genomes
    if genomes is None:
        bins = np.tile(np.arange(N_SCORE_BINS, dtype=np.uint64), len(use.class_key))
        own = np.repeat(use.class_key, N_SCORE_BINS)
        key = keys_of_rows(bins[:, None], np.zeros(1, dtype=np.uint64)) ^ own
        drawn = gamma_weights(use.counts.ravel(), key, draw, "use scores")
    else:
        drawn = genome_weights(genomes, draw)
    return np.asarray((drawn / drawn.sum()).reshape(use.counts.shape))
