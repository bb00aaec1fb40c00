"""Many small trees, each grown on what those before leave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from credence.calibrators.forest import Growth, grow
from credence.events.forecasters.protocol import Forecaster, Lesson
from credence.events.forecasters.tree import TreeForecast
from credence.predictions import Floats

CANDIDATES = (5.0, 10.0, 20.0, 30.0, 45.0, 60.0)
GROWTH = Growth(n_trees=int(max(CANDIDATES)), learning_rate=0.15)


def fit(lesson: Lesson, n_trees: float) -> TreeForecast:
    """Return so many trees.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    n_trees : float
        How many.
    """
    still = np.zeros(lesson.features.shape[1], dtype=np.int64)
    growth = replace(GROWTH, n_trees=int(n_trees))
    came_true = lesson.outcome > 0
    return TreeForecast(grow(lesson.features, came_true, lesson.weight, still, growth))


def path(lesson: Lesson, features: Floats) -> Floats:
    """Return the probabilities after each number of trees; they are grown once.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    features : array of float, shape (n_samples, n_columns)
        Of whom is asked about.
    """
    staged = fit(lesson, max(CANDIDATES)).forest.staged(features)
    at = np.minimum(np.array(CANDIDATES).astype(np.int64), staged.shape[1] - 1)
    return np.asarray(special.expit(staged[:, at].T))


FORECASTER = Forecaster(
    name="boosting",
    summary="Gradient-boosted trees on all features.",
    reference="Friedman 2001, doi 10.1214/aos/1013203451",
    candidates=CANDIDATES,
    default=20.0,
    tuned="number of trees",
    fit=fit,
    path=path,
    read=TreeForecast.from_record,
)
