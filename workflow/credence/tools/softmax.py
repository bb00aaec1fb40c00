"""A regularised softmax: what calibrates one tool's answers, and what combines those of several.

The logit of class k is Σ_a w_a S_ka + Σ_j D_kj X_j + b_k: features S with a value for each class
share their weights, features X of the protein have one for each class. Ridges pull w towards
where it starts, D and b towards nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from credence.predictions import Floats, Integers

SHARED_RIDGE, INTERCEPT_RIDGE = 1.0, 1.0
MOST_ROUNDS, SETTLED = 300, 1e-7  # of the search: rounds, and by what part the loss still falls


@dataclass(frozen=True, eq=False)
class Features:
    """What a softmax sees of some proteins."""

    shared: Floats  # By protein, class and feature
    own: Floats  # By protein and feature

    def take(self, rows: Integers | np.ndarray) -> Features:
        """Return those of the rows chosen."""
        return Features(self.shared[rows], self.own[rows])


@dataclass(frozen=True, eq=False)
class Softmax:
    """Its weights."""

    shared: Floats  # w, one per shared feature
    own: Floats  # D, a row per class, the intercepts in the last column

    def log_probabilities(self, features: Features) -> Floats:
        """Return the log probability of each class."""
        # Row by row: a product of matrices depends on how many rows a piece has.
        logit = np.einsum("nka,a->nk", features.shared, self.shared)
        logit += np.einsum("nj,kj->nk", features.own, self.own[:, :-1]) + self.own[:, -1]
        return np.asarray(special.log_softmax(logit, axis=1))


def fit_softmax(
    features: Features, true_class: Integers, weight: Floats, start: Floats, ridge: Floats
) -> Softmax:
    """Return the weights; `start` is of the shared ones, `ridge` of D, a row per class."""
    n_rows, n_classes, n_shared = features.shared.shape
    design = np.column_stack([features.own, np.ones(n_rows)])
    ridges = np.column_stack([ridge, np.full(n_classes, INTERCEPT_RIDGE)])
    rows, total = np.arange(n_rows), max(float(weight.sum()), 1.0)
    flat = np.ascontiguousarray(features.shared.reshape(n_rows * n_classes, n_shared))

    def loss(point: Floats) -> tuple[float, Floats]:
        shared, own = point[:n_shared], point[n_shared:].reshape(n_classes, -1)
        log_p = special.log_softmax(
            (flat @ shared).reshape(n_rows, n_classes) + design @ own.T, axis=1
        )
        excess = np.exp(log_p)
        excess[rows, true_class] -= 1.0
        excess *= weight[:, None]
        penalty = SHARED_RIDGE * ((shared - start) ** 2).sum() + (ridges * own**2).sum()
        slope = np.concatenate(
            [
                excess.ravel() @ flat + SHARED_RIDGE * (shared - start),
                (excess.T @ design + ridges * own).ravel(),
            ]
        )
        return (penalty / 2.0 - weight @ log_p[rows, true_class]) / total, slope / total

    begin = np.concatenate([start, np.zeros(n_classes * design.shape[1])])
    options = {"maxiter": MOST_ROUNDS, "ftol": SETTLED, "gtol": 1e-6, "maxfun": 2 * MOST_ROUNDS}
    found = optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x
    return Softmax(found[:n_shared], found[n_shared:].reshape(n_classes, -1))
