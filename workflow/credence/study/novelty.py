"""The study on proteins: a classifier trained, methods calibrated, noise put to them."""

from __future__ import annotations

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from credence.novelty.space import fit_composition
from credence.predictions import Booleans, Floats, Integers, Strings, label
from credence.splits.folds import fold_of
from credence.study.classifier import Classifier, train
from credence.study.comparing import CALIBRATION, HELD_OUT, Material, mutation_kind
from credence.study.noise import mutated, natural_shares, random_, reversed_, shuffled
from credence.study.world import Proteins

N_PARTS = 3  # training, calibration, held out
N_AXES = 32
PARTS_MUTATED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
COMPOSITION, CLASSES, UNITS = "composition", "class axes", "hidden units"
RANDOM, SHUFFLED, REVERSED, LEFT_OUT = "random residues", "shuffled", "reversed", "class left out"


def thirds(proteins: Proteins, left_out: int | None) -> tuple[Proteins, Proteins, Proteins]:
    """Return proteins to train, to calibrate and to judge on; they share no family.

    Parameters
    ----------
    proteins : Proteins
        All.
    left_out : int, optional
        A class that is in the last part only.
    """
    fold = fold_of(proteins.cluster, proteins.true_class, N_PARTS)
    is_known = np.ones(len(fold), dtype=np.bool_)
    if left_out is not None:
        is_known = proteins.true_class != left_out
    parts = [
        proteins.take(np.flatnonzero((fold == number) & (is_known | (number == N_PARTS - 1))))
        for number in range(N_PARTS)
    ]
    return parts[0], parts[1], parts[2]


def protein_material(proteins: Proteins, left_out: int | None, name: str, about: str) -> Material:
    """Return what is compared on proteins.

    Parameters
    ----------
    proteins : Proteins
        Of known class and family.
    left_out : int, optional
        Class that neither the classifier nor a method learns: a kind of noise.
    name, about : str
        What the set is.

    Notes
    -----
    MACEst looks in three spaces: the axes on which compositions differ most, as
    the novelty of a run does; the axes that tell the training set's classes
    apart (linear discriminants of the former); the classifier's hidden units.
    """
    learnt, known, judged = thirds(proteins, left_out)
    unknown = judged.true_class == left_out if left_out is not None else _none(judged)
    stranger, judged = judged.take(np.flatnonzero(unknown)), judged.take(np.flatnonzero(~unknown))
    classes = [c for c in range(len(proteins.class_names)) if c != left_out]
    code = np.full(len(proteins.class_names), -1, dtype=np.int64)
    code[classes] = np.arange(len(classes))
    names = tuple(proteins.class_names[c] for c in classes)
    space = fit_composition(learnt.sequences, N_AXES)
    points = space.of_sequences(learnt.sequences)
    told = np.isfinite(points).all(axis=1)
    classifier = train(points[told], code[learnt.true_class[told]], names)
    axes = LinearDiscriminantAnalysis().fit(
        points[told].astype(np.float64), code[learnt.true_class[told]]
    )
    shares = natural_shares(learnt.sequences)
    sequences: dict[str, Strings] = {
        CALIBRATION: known.sequences,
        HELD_OUT: judged.sequences,
        RANDOM: random_(judged.sequences, judged.ids, shares),
        SHUFFLED: shuffled(judged.sequences, judged.ids),
        REVERSED: reversed_(judged.sequences),
    }
    if len(stranger.ids):
        sequences[LEFT_OUT] = stranger.sequences
    noise = [kind for kind in sequences if kind not in (CALIBRATION, HELD_OUT)]
    for part in PARTS_MUTATED:
        sequences[mutation_kind(part)] = mutated(judged.sequences, judged.ids, shares, part)
    placed = {kind: space.of_sequences(entry) for kind, entry in sequences.items()}
    said = {kind: classifier.predict(np.nan_to_num(at), _names(at)) for kind, at in placed.items()}
    return Material(
        name=name,
        about=about,
        n_training=len(learnt.ids),
        calibration=label(said[CALIBRATION], code[known.true_class], cluster=known.cluster),
        held_out=label(said[HELD_OUT], code[judged.true_class], cluster=judged.cluster),
        noise={kind: said[kind] for kind in noise},
        mutated={part: said[mutation_kind(part)] for part in PARTS_MUTATED},
        spaces=_spaces(placed, classifier, axes),
    )


def _spaces(
    placed: dict[str, Floats], classifier: Classifier, axes: LinearDiscriminantAnalysis
) -> dict[str, dict[str, Floats]]:
    finite = {kind: np.nan_to_num(at).astype(np.float64) for kind, at in placed.items()}
    return {
        COMPOSITION: finite,
        CLASSES: {kind: np.asarray(axes.transform(at)) for kind, at in finite.items()},
        UNITS: {kind: classifier.hidden(at) for kind, at in finite.items()},
    }


def _none(proteins: Proteins) -> Booleans:
    return np.zeros(len(proteins.ids), dtype=np.bool_)


def _names(points: Floats) -> Strings:
    return np.array([f"input_{number}" for number in range(len(points))], dtype=object)


def known_classes(proteins: Proteins, least: int) -> Integers:
    """Return the classes that have families enough to be in all three parts.

    Parameters
    ----------
    proteins : Proteins
        All.
    least : int
        Families of a class.
    """
    return np.array(
        [
            class_
            for class_ in range(len(proteins.class_names))
            if len(set(proteins.cluster[proteins.true_class == class_])) >= least
        ],
        dtype=np.int64,
    )
