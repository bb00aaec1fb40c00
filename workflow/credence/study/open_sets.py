"""The same comparison on open sets that scikit-learn ships or makes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import datasets

from credence.calibrators.draws import keys_of, uniform
from credence.predictions import Floats, Integers, Strings, label
from credence.splits.folds import fold_of
from credence.study.classifier import train
from credence.study.comparing import CALIBRATION, HELD_OUT, Material

SEED = 1
N_MADE = 3_000
N_ROUNDS = 200  # over sets of a few hundred samples
PERMUTED, UNIFORM = "features permuted", "uniform, thrice as wide"
WIDER = 3.0

Loaded = tuple[Floats, Integers]


def _digits() -> Loaded:
    return datasets.load_digits(return_X_y=True)  # type: ignore[no-any-return]


def _cancer() -> Loaded:
    return datasets.load_breast_cancer(return_X_y=True)  # type: ignore[no-any-return]


def _moons() -> Loaded:
    return datasets.make_moons(N_MADE, noise=0.25, random_state=SEED)  # type: ignore[no-any-return]


def _made() -> Loaded:
    return datasets.make_classification(  # type: ignore[no-any-return]
        N_MADE,
        n_features=12,
        n_informative=8,
        n_redundant=2,
        n_classes=6,
        n_clusters_per_class=2,
        class_sep=1.5,
        random_state=SEED,
    )


OPEN_SETS: dict[str, tuple[str, Callable[[], Loaded]]] = {
    "digits": ("handwritten digits of 8 × 8 pixels (UCI, shipped with scikit-learn)", _digits),
    "breast cancer": ("cell nuclei, benign or not (Wisconsin, shipped with it)", _cancer),
    "moons": ("two interleaved half circles with noise, made by it", _moons),
    "six classes": ("clusters of Gaussian points in 12 dimensions, made by it", _made),
}
MADE = ("moons", "six classes")  # of no measurement


def open_material(name: str) -> Material:
    """Return what is compared on an open set.

    Parameters
    ----------
    name : str
        One of `OPEN_SETS`.

    Notes
    -----
    Two kinds of noise: held-out samples with each feature permuted among them, so
    that every feature has its own distribution and no two belong together; and
    uniform points in a box three times as wide as the samples are.
    """
    about, given = OPEN_SETS[name]
    points, true = given()
    ids = np.array([f"{name} {number}" for number in range(len(true))], dtype=object)
    fold = fold_of(ids, true, 3)
    learnt, known, judged = (np.flatnonzero(fold == number) for number in range(3))
    names = tuple(f"class {number}" for number in range(int(true.max()) + 1))
    classifier = train(points[learnt], true[learnt].astype(np.int64), names, n_rounds=N_ROUNDS)
    scaled = (points - classifier.centre) / classifier.spread
    inputs = {
        CALIBRATION: scaled[known],
        HELD_OUT: scaled[judged],
        PERMUTED: _permuted(scaled[judged], ids[judged]),
        UNIFORM: _uniform(scaled[judged], ids[judged]),
    }
    said = {
        kind: classifier.predict(at * classifier.spread + classifier.centre, _names(at))
        for kind, at in inputs.items()
    }
    return Material(
        name=name,
        about=about,
        n_training=len(learnt),
        calibration=label(said[CALIBRATION], true[known].astype(np.int64)),
        held_out=label(said[HELD_OUT], true[judged].astype(np.int64)),
        noise={kind: said[kind] for kind in (PERMUTED, UNIFORM)},
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
