"""Simulated proteins whose class is written in their residues.

A class is a few folds, a fold a composition and an order of residues, a family a variation of its
fold, relatives copies with mutations. Some families of a fold are of another class, so nobody can
be right about all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.predictions import Floats, Integers, Strings

RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
# How common they are in proteins, in per cent and in that order, as in
# UniProtKB/Swiss-Prot, rounded.
PER_CENT = (
    *(8.3, 1.4, 5.5, 6.7, 3.9, 7.1, 2.3, 5.9, 5.8, 9.7),
    *(2.4, 4.1, 4.7, 3.9, 5.5, 6.6, 5.4, 6.9, 1.1, 2.9),
)
NATURAL = np.array(PER_CENT) / sum(PER_CENT)
LENGTH, LENGTH_SPREAD = 280.0, 0.5  # of folds: median and standard deviation of logs
OWN_LENGTH_SPREAD = 0.15  # of families about their fold
SHORTEST, LONGEST = 60, 1200
MOST_RELATIVES = 10
SIZE_TAIL = 1.5  # of a Pareto law of family sizes
LEAST_CHANGED, MOST_CHANGED = 0.05, 0.4  # residues in which relatives differ


@dataclass(frozen=True, eq=False)
class StudyProteins:
    """Proteins of known class."""

    ids: Strings  # Name, residues and family of each
    sequences: Strings
    cluster: Strings
    true_class: Integers  # Index into `class_names`
    class_names: tuple[str, ...]  # The classes


@dataclass(frozen=True)
class ProteinWorldSettings:
    """How proteins are simulated."""

    n_classes: int = 12  # Classes, and families in all
    n_families: int = 2_600
    n_folds: int = 3  # Folds of each class
    # Concentrations: how similar compositions of folds are, the residues that follow each
    # residue of a fold, and those of a family and its fold.
    composition: float = 60.0
    order: float = 30.0
    family: float = 600.0
    ambiguous: float = 0.12  # Share of families that are of another class than their fold's
    seed: int = 1  # Of the draws


def simulate_proteins(settings: ProteinWorldSettings) -> StudyProteins:
    """Return simulated proteins in families."""
    rng = np.random.default_rng([settings.seed, settings.n_classes, settings.n_families])
    n_folds = settings.n_classes * settings.n_folds
    shares = _about(NATURAL[None].repeat(n_folds, 0), settings.composition, rng)
    follows = _about(shares[:, None, :].repeat(len(RESIDUES), 1), settings.order, rng)
    length = rng.lognormal(np.log(LENGTH), LENGTH_SPREAD, n_folds)
    own = np.arange(n_folds) % settings.n_classes
    other = (own + rng.integers(1, settings.n_classes, n_folds)) % settings.n_classes
    fold = rng.integers(0, n_folds, settings.n_families)
    is_other = rng.random(settings.n_families) < settings.ambiguous
    class_ = np.where(is_other, other[fold], own[fold])
    own_length = rng.lognormal(np.log(length[fold]), OWN_LENGTH_SPREAD)
    n_residues = np.clip(own_length, SHORTEST, LONGEST).astype(np.int64)
    ancestors = _chains(_about(follows[fold], settings.family, rng), n_residues, rng)
    sequences: list[str] = []
    family: list[int] = []
    for number, ancestor in enumerate(ancestors):
        for _ in range(min(1 + int(rng.pareto(SIZE_TAIL)), MOST_RELATIVES)):
            sequences.append(_mutated(ancestor, rng.uniform(LEAST_CHANGED, MOST_CHANGED), rng))
            family.append(number)
    codes = np.array(family)
    return StudyProteins(
        ids=np.array([f"protein_{number}" for number in range(len(codes))], dtype=object),
        sequences=np.array(sequences, dtype=object),
        cluster=np.array([f"family_{number}" for number in family], dtype=object),
        true_class=class_[codes].astype(np.int64),
        class_names=tuple(f"class {number + 1}" for number in range(settings.n_classes)),
    )


def _about(centre: Floats, concentration: float, rng: np.random.Generator) -> Floats:
    """Return draws of Dirichlet laws around shares, along the last axis."""
    drawn = rng.standard_gamma(concentration * centre + 1e-3)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def _chains(follows: Floats, n_residues: Integers, rng: np.random.Generator) -> list[Integers]:
    """Return a chain of residues for each family, all of them grown at once."""
    upto = follows.cumsum(axis=2)
    rows = np.arange(len(follows))
    chains = np.zeros((len(follows), int(n_residues.max())), dtype=np.int64)
    chains[:, 0] = rng.choice(len(RESIDUES), len(follows), p=NATURAL)
    for place in range(1, chains.shape[1]):
        reached = upto[rows, chains[:, place - 1]] < rng.random(len(rows))[:, None]
        chains[:, place] = np.minimum(reached.sum(axis=1), len(RESIDUES) - 1)
    return [chain[:n] for chain, n in zip(chains, n_residues, strict=True)]


def _mutated(chain: Integers, share: float, rng: np.random.Generator) -> str:
    changed = rng.random(len(chain)) < share
    copy = chain.copy()
    copy[changed] = rng.choice(len(RESIDUES), int(changed.sum()), p=NATURAL)
    return "".join(RESIDUES[copy])
