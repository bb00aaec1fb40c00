"""Logistic regression on all features, with a ridge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.logistic import ROUGH, STRENGTHS, ridge
from credence.calibrators.newton import DECREMENT_TOLERANCE
from credence.events.forecasters.protocol import Forecaster, Lesson, Record, Scaling, scaling_of
from credence.predictions import Floats

MOST_LINEAR = 30.0  # log odds beyond which a probability would round to 0 or 1


@dataclass(frozen=True, eq=False)
class LogisticForecast:
    """A regression.

    Parameters
    ----------
    scaling : Scaling
        Of the features.
    coefficient : array of float, shape (n_columns + 1,)
        The intercept first.
    """

    scaling: Scaling
    coefficient: Floats

    def probability(self, features: Floats) -> Floats:
        """Return the probability of the event for each row."""
        linear = design_of(self.scaling, features) @ self.coefficient
        return np.asarray(special.expit(np.clip(linear, -MOST_LINEAR, MOST_LINEAR)))

    def to_record(self) -> Record:
        """Return the regression as JSON data."""
        return {"scaling": self.scaling.to_record(), "coefficient": self.coefficient.tolist()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> LogisticForecast:
        """Return the regression of a record."""
        scaling = Scaling.from_record(record["scaling"])
        return cls(scaling, np.array(record["coefficient"], dtype=float))


def design_of(scaling: Scaling, features: Floats) -> Floats:
    """Return ones, and the features on one scale.

    Parameters
    ----------
    scaling : Scaling
        Of the features.
    features : array of float, shape (n_samples, n_columns)
        NaN where not known.
    """
    return np.column_stack([np.ones(len(features)), scaling.apply(features)])


def fit(lesson: Lesson, strength: float) -> LogisticForecast:
    """Return the regression with a ridge of this strength.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from, with both outcomes.
    strength : float
        1 is a standard normal prior on the coefficient of a feature of spread 1.
    """
    scaling = scaling_of(lesson)
    design = design_of(scaling, lesson.features)
    found = ridge(design, lesson.outcome, lesson.weight, strength, None, DECREMENT_TOLERANCE)
    return LogisticForecast(scaling, found.coefficient)


def path(lesson: Lesson, features: Floats) -> Floats:
    """Return the probabilities under each strength, each fit begun at the one before.

    Parameters
    ----------
    lesson : Lesson
        What is learnt from.
    features : array of float, shape (n_samples, n_columns)
        Of whom is asked about.
    """
    scaling = scaling_of(lesson)
    design = design_of(scaling, lesson.features)
    found, start = [], None
    for strength in STRENGTHS:
        fitted = ridge(design, lesson.outcome, lesson.weight, strength, start, ROUGH)
        start = fitted.coefficient
        found.append(LogisticForecast(scaling, start).probability(features))
    return np.stack(found)


FORECASTER = Forecaster(
    name="logistic",
    summary="Logistic regression on all features, with a ridge.",
    reference="Platt 1999; Salamon et al. 2023, Eq. 10, doi 10.3390/make5030043",
    candidates=STRENGTHS,
    default=10.0,
    tuned="strength of the ridge",
    fit=fit,
    path=path,
    read=LogisticForecast.from_record,
)
