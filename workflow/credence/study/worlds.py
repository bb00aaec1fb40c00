"""Proteins whose class is written in their residues, for a classifier that reads them.

The scores of the demo world do not depend on sequences. Here a class is a few
folds, a fold a composition and an order of residues, a family a variation of its
fold, and relatives are copies with mutations. Some families of a fold do what
another class does, so that no classifier can be right about all.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from credence.calibrators.crossfit import fold_of
from credence.draws import keys_of, uniform
from credence.novelty.space import fit_composition
from credence.predictions import (
    Booleans,
    Floats,
    Integers,
    Predictions,
    Strings,
    from_scores,
    label,
)
from credence.study.comparing import (
    CALIBRATION,
    HELD_OUT,
    Material,
    mutated,
    mutation_kind,
    natural_shares,
    random_,
    reversed_,
    shuffled,
)

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

    def take(self, rows: Booleans) -> StudyProteins:
        """Return the proteins of the rows chosen."""
        columns = {name: part for name, part in vars(self).items() if name != "class_names"}
        return replace(self, **{name: part[rows] for name, part in columns.items()})


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
        np.array([f"protein_{number}" for number in range(len(codes))], dtype=object),
        np.array(sequences, dtype=object),
        np.array([f"family_{number}" for number in family], dtype=object),
        class_[codes].astype(np.int64),
        tuple(f"class {number + 1}" for number in range(settings.n_classes)),
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


# A small classifier: a few networks that vote, so that noise can be scored.
N_NETWORKS = 5
N_HIDDEN = 64
N_ROUNDS = 40  # over the training proteins; more learn them by heart
RATE = 3e-3
PENALTY = 1e-3
RESOLUTION = 1e-6


@dataclass(frozen=True, eq=False)
class Classifier:
    """Networks that were trained, and how their inputs are scaled."""

    networks: tuple[Any, ...]  # Of scikit-learn
    centre: Floats  # Mean and standard deviation of the training points
    spread: Floats
    class_names: tuple[str, ...]  # In order

    def predict(self, points: Floats, ids: Strings) -> Predictions:
        """Return the networks' summed probabilities, as PhANNs sums its ten."""
        scaled = self._scaled(points)
        scores = np.zeros((len(points), len(self.class_names)))
        for network in self.networks:
            scores[:, network.classes_] += network.predict_proba(scaled)
        return from_scores(ids, self.class_names, scores, float(len(self.networks)), RESOLUTION)

    def hidden(self, points: Floats) -> Floats:
        """Return what the networks' hidden units say, side by side."""
        scaled = self._scaled(points)
        parts = [
            np.maximum(scaled @ network.coefs_[0] + network.intercepts_[0], 0.0)
            for network in self.networks
        ]
        return np.concatenate(parts, axis=1)

    def _scaled(self, points: Floats) -> Floats:
        return np.asarray((points - self.centre) / self.spread, dtype=np.float64)


def train(
    points: Floats,
    true_class: Integers,
    class_names: tuple[str, ...],
    n_networks: int = N_NETWORKS,
    n_rounds: int = N_ROUNDS,
) -> Classifier:
    """Return a classifier of points; the same points give the same bits."""
    values = np.asarray(points, dtype=np.float64)
    centre, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    networks = []
    for number in range(n_networks):
        network = MLPClassifier(
            (N_HIDDEN,),
            alpha=PENALTY,
            learning_rate_init=RATE,
            max_iter=n_rounds,
            random_state=number,
        )
        with warnings.catch_warnings():  # few rounds are meant
            warnings.simplefilter("ignore", ConvergenceWarning)
            networks.append(network.fit((values - centre) / spread, true_class))
    return Classifier(tuple(networks), centre, spread, class_names)


SEED = 1
N_MADE = 3_000
N_ROUNDS = 200  # over sets of a few hundred samples
PERMUTED, UNIFORM = "features permuted", "uniform, thrice as wide"
WIDER = 3.0

# Points and their classes; in words, and how they are had.
OPEN_SETS: dict[str, tuple[str, Callable[[], Any]]] = {
    "digits": (
        "handwritten digits of 8 × 8 pixels (UCI, shipped with scikit-learn)",
        partial(datasets.load_digits, return_X_y=True),
    ),
    "breast cancer": (
        "cell nuclei, benign or not (Wisconsin, shipped with it)",
        partial(datasets.load_breast_cancer, return_X_y=True),
    ),
    "moons": (
        "two interleaved half circles with noise, made by it",
        partial(datasets.make_moons, N_MADE, noise=0.25, random_state=SEED),
    ),
    "six classes": (
        "clusters of Gaussian points in 12 dimensions, made by it",
        partial(
            datasets.make_classification, N_MADE, n_features=12, n_informative=8, n_redundant=2,
            n_classes=6, n_clusters_per_class=2, class_sep=1.5, random_state=SEED,
        ),
    ),
}  # fmt: skip
MADE = ("moons", "six classes")  # of no measurement


def open_material(name: str) -> Material:
    """Return what is compared on an open set: permuted features and a wide box are noise."""
    about, given = OPEN_SETS[name]
    points, true = given()
    ids = np.array([f"{name} {number}" for number in range(len(true))], dtype=object)
    fold = fold_of(ids, true, 3)
    learnt, known, judged = (fold == number for number in range(3))
    names = tuple(f"class {number}" for number in range(int(true.max()) + 1))
    classifier = train(points[learnt], true[learnt].astype(np.int64), names, n_rounds=N_ROUNDS)
    scaled = (points - classifier.centre) / classifier.spread
    inputs = {
        CALIBRATION: scaled[known],
        HELD_OUT: scaled[judged],
        PERMUTED: _permuted(scaled[judged], ids[judged]),
        UNIFORM: _uniform(scaled[judged], ids[judged]),
    }
    stated = {
        kind: classifier.predict(at * classifier.spread + classifier.centre, _names(at))
        for kind, at in inputs.items()
    }
    return Material(
        name=name,
        about=about,
        n_training=int(learnt.sum()),
        calibration=label(stated[CALIBRATION], true[known].astype(np.int64)),
        held_out=label(stated[HELD_OUT], true[judged].astype(np.int64)),
        noise={kind: stated[kind] for kind in (PERMUTED, UNIFORM)},
        mutated={},
        spaces={"features": inputs},
        is_simulated=name in MADE,
    )


def _permuted(points: Floats, ids: Strings) -> Floats:
    keys = keys_of(ids)
    return np.stack(
        [
            column[np.argsort(uniform(keys, number, "permuted"), kind="stable")]
            for number, column in enumerate(points.T)
        ],
        axis=1,
    )


def _uniform(points: Floats, ids: Strings) -> Floats:
    keys = keys_of(ids)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    drawn = np.stack([uniform(keys, k, "box") for k in range(points.shape[1])], axis=1)
    return np.asarray(middle + WIDER * half * (2.0 * drawn - 1.0))


def _names(points: Floats) -> Strings:
    return np.array([f"input_{number}" for number in range(len(points))], dtype=object)


N_PARTS = 3  # training, calibration, held out
N_AXES = 32
PARTS_MUTATED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
COMPOSITION, CLASSES, UNITS = "composition", "class axes", "hidden units"
RANDOM, SHUFFLED, REVERSED, LEFT_OUT = "random residues", "shuffled", "reversed", "class left out"


def thirds(proteins: StudyProteins, left_out: int | None) -> list[StudyProteins]:
    """Return proteins to train, to calibrate and to judge on; they share no family."""
    fold = fold_of(proteins.cluster, proteins.true_class, N_PARTS)
    is_known = proteins.true_class != (-1 if left_out is None else left_out)
    return [
        proteins.take((fold == number) & (is_known | (number == N_PARTS - 1)))
        for number in range(N_PARTS)
    ]


def protein_material(
    proteins: StudyProteins, left_out: int | None, name: str, about: str
) -> Material:
    """Return what is compared on proteins, in spaces of compositions, classes and hidden units."""
    learnt, known, judged = thirds(proteins, left_out)
    unknown = judged.true_class == (-1 if left_out is None else left_out)
    foreign, judged = judged.take(unknown), judged.take(~unknown)
    classes = [c for c in range(len(proteins.class_names)) if c != left_out]
    code = np.full(len(proteins.class_names), -1, dtype=np.int64)
    code[classes] = np.arange(len(classes))
    names = tuple(proteins.class_names[c] for c in classes)
    space = fit_composition(learnt.sequences, N_AXES)
    points = space.of_sequences(learnt.sequences)
    is_placed = np.isfinite(points).all(axis=1)
    points, true = points[is_placed], code[learnt.true_class[is_placed]]
    classifier = train(points, true, names)
    axes = LinearDiscriminantAnalysis().fit(points.astype(np.float64), true)
    shares = natural_shares(learnt.sequences)
    sequences: dict[str, Strings] = {
        CALIBRATION: known.sequences,
        HELD_OUT: judged.sequences,
        RANDOM: random_(judged.sequences, judged.ids, shares),
        SHUFFLED: shuffled(judged.sequences, judged.ids),
        REVERSED: reversed_(judged.sequences),
    }
    if len(foreign.ids):
        sequences[LEFT_OUT] = foreign.sequences
    noise = [kind for kind in sequences if kind not in (CALIBRATION, HELD_OUT)]
    for part in PARTS_MUTATED:
        sequences[mutation_kind(part)] = mutated(judged.sequences, judged.ids, shares, part)
    placed = {kind: space.of_sequences(entry) for kind, entry in sequences.items()}
    finite = {kind: np.nan_to_num(at).astype(np.float64) for kind, at in placed.items()}
    stated = {
        kind: classifier.predict(np.nan_to_num(at), _names(at)) for kind, at in placed.items()
    }
    return Material(
        name=name,
        about=about,
        n_training=len(learnt.ids),
        calibration=label(stated[CALIBRATION], code[known.true_class], cluster=known.cluster),
        held_out=label(stated[HELD_OUT], code[judged.true_class], cluster=judged.cluster),
        noise={kind: stated[kind] for kind in noise},
        mutated={part: stated[mutation_kind(part)] for part in PARTS_MUTATED},
        spaces={
            COMPOSITION: finite,
            CLASSES: {kind: np.asarray(axes.transform(at)) for kind, at in finite.items()},
            UNITS: {kind: classifier.hidden(at) for kind, at in finite.items()},
        },
    )


def known_classes(proteins: StudyProteins, least: int) -> list[int]:
    """Return the classes that have families enough to be in all three parts."""
    families = (
        set(proteins.cluster[proteins.true_class == class_])
        for class_ in range(len(proteins.class_names))
    )
    return [class_ for class_, held in enumerate(families) if len(held) >= least]
