"""A small classifier: a few networks that vote, so that noise can be scored."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from credence.predictions import Floats, Integers, Predictions, Strings, from_scores

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
