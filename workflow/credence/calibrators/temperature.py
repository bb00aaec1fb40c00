"""The temperature family: STS, CSTS, TSwA and CSTSwA ([S23] sections 9 to 11).

ŷ = softmax((log y + A_k [predicted class]) / T), y the row divided by its sum and
floored at half the table's step. The confidence is ŷ at the *stored* predicted
class. T is one for all or one per predicted class; the award A is none or one
per predicted class.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.joint import build_joint, joint_reader_of
from credence.calibrators.protocol import FitOptions, Law, Method, Need, Record, setting
from credence.calibrators.temperature_fit import Objective, Profile, minimise
from credence.calibrators.temperature_rows import (
    Rows,
    blocks_of,
    gather,
    log_scores,
    rest_moments,
    split_top,
)
from credence.calibrators.temperature_spread import Spread, spread_by_class, spread_of_all
from credence.predictions import Booleans, Floats, Labelled, Predictions

REFERENCE = "Salamon et al. 2023, {}, doi 10.3390/make5030043"
MEASURES = ("nll", "brier")
MEASURE_HELP = "The loss to minimise: negative log-likelihood or Brier's squared error."


@dataclass(frozen=True, eq=False)
class TemperatureModel:
    """A temperature and an award for every predicted class.

    Parameters
    ----------
    temperature, award : array of float, shape (n_classes,)
        T_k and A_k. A class that was too scarce to learn has the shared
        temperature and no award; they serve the vector alone.
    resolution : float
        Step of the calibration table; a coarser table is floored by its own.
    spread : Spread, optional
        Uncertainty of the parameters; None where no intervals were asked for.
    """

    temperature: Floats
    award: Floats
    resolution: float
    spread: Spread | None

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return the confidence and the ends of its interval.

        Parameters
        ----------
        predictions : Predictions
            With score vectors.
        """
        value, lower, upper = (np.full(predictions.n_samples, np.nan) for _ in range(3))
        resolution = max(self.resolution, predictions.resolution)
        for block, scores in blocks_of(predictions):
            class_ = predictions.predicted_class[block]
            top, rest, _ = split_top(log_scores(scores, resolution), class_)
            beta = 1.0 / self.temperature[class_]
            log_sum, mean, _ = rest_moments(rest, beta)
            raised = top + self.award[class_]
            log_odds = beta * raised - log_sum
            value[block] = special.expit(log_odds)
            if self.spread is not None:
                reach = self.spread.reach(class_, -beta * (raised - mean), beta)
                lower[block] = special.expit(log_odds - reach)
                upper[block] = special.expit(log_odds + reach)
        return value, lower, upper

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return a probability for every class; each row sums to 1.

        At the predicted class it is the confidence, but for classes that were
        too scarce to learn.

        Parameters
        ----------
        predictions : Predictions
            With score vectors.
        """
        vector = np.empty((predictions.n_samples, predictions.n_classes))
        resolution = max(self.resolution, predictions.resolution)
        for block, scores in blocks_of(predictions):
            class_ = predictions.predicted_class[block]
            logits = log_scores(scores, resolution)
            logits[np.arange(len(class_)), class_] += self.award[class_]
            vector[block] = special.softmax(logits / self.temperature[class_][:, None], axis=1)
        return vector

    def to_record(self) -> Record:
        """Return the model as JSON data."""
        return {
            "temperature": self.temperature.tolist(),
            "award": self.award.tolist(),
            "resolution": self.resolution,
            "spread": None if self.spread is None else self.spread.to_record(),
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> TemperatureModel:
        """Return the model of a record."""
        spread = record["spread"]
        return cls(
            np.array(record["temperature"], dtype=np.float64),
            np.array(record["award"], dtype=np.float64),
            float(record["resolution"]),
            None if spread is None else Spread.from_record(spread),
        )


def runs_of(rows: Rows) -> list[Rows]:
    """Return the rows of each predicted class on their own.

    Parameters
    ----------
    rows : Rows
        Sorted by predicted class.
    """
    ends = np.append(rows.starts, len(rows.top))
    return [rows.take(slice(int(a), int(b))) for a, b in itertools.pairwise(ends)]


def fit_shared(
    labelled: Labelled, options: FitOptions, measure: str, has_awards: bool, is_vector: bool
) -> TemperatureModel:
    """Return the model with one temperature for all classes.

    Parameters
    ----------
    labelled : Labelled
        Rows of the classes that are not scarce.
    options : FitOptions
        What all methods share.
    measure : {'nll', 'brier'}
        The loss.
    has_awards : bool
        Whether classes have awards.
    is_vector : bool
        Whether the loss is that of the K-class likelihood.
    """
    rows = gather(labelled)
    best = shared_minimum(rows, measure, has_awards, is_vector)
    n_classes = labelled.predictions.n_classes
    present = np.unique(labelled.predictions.predicted_class)
    award = np.zeros(n_classes)
    award[present] = best.award
    spread = None
    if options.n_draws > 0:
        objective = Objective(rows, measure, has_awards, is_vector)
        spread = spread_of_all(objective, best, labelled, options)
    temperature = np.full(n_classes, float(np.exp(best.log_temperature)))
    return TemperatureModel(temperature, award, labelled.predictions.resolution, spread)


def shared_minimum(rows: Rows, measure: str, has_awards: bool, is_vector: bool = False) -> Profile:
    """Return the least loss with one temperature; awards start from none.

    Parameters
    ----------
    rows : Rows
        The labelled rows.
    measure, has_awards, is_vector
        See :func:`fit_shared`.
    """
    plain = minimise(Objective(rows, measure, False, is_vector))
    if not has_awards:
        return plain
    return minimise(Objective(rows, measure, True), [plain.log_temperature])


def fit_by_class(
    labelled: Labelled, options: FitOptions, measure: str, has_awards: bool
) -> TemperatureModel:
    """Return the model with a temperature for each class.

    Parameters
    ----------
    labelled, options, measure, has_awards
        See :func:`fit_shared`.
    """
    rows = gather(labelled)
    predictions = labelled.predictions
    plain = shared_minimum(rows, measure, False).log_temperature
    starts = [plain]
    if has_awards:
        starts.append(shared_minimum(rows, measure, True).log_temperature)
    n_classes = predictions.n_classes
    temperature = np.full(n_classes, float(np.exp(plain)))
    award = np.zeros(n_classes)
    objectives, minima = [], []
    present = np.unique(predictions.predicted_class)
    for class_, part in zip(present, runs_of(rows), strict=True):
        own = starts
        if has_awards:
            own = [*starts, minimise(Objective(part, measure, False), [plain]).log_temperature]
        objective = Objective(part, measure, has_awards)
        best = minimise(objective, own)
        temperature[class_] = float(np.exp(best.log_temperature))
        award[class_] = best.award[0]
        objectives.append(objective)
        minima.append(best)
    spread = None
    if options.n_draws > 0:
        spread = spread_by_class(objectives, minima, present, labelled, options)
    return TemperatureModel(temperature, award, predictions.resolution, spread)


@dataclass(frozen=True)
class SharedTemperature:
    """Settings of single temperature scaling (STS).

    Notes
    -----
    One T; A = 0. The loss is that of the predicted class, Eq. 15-16 of [1]_, or
    the K-class likelihood of [2]_.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    .. [2] Guo et al. 2017, arXiv 1706.04599
    """

    loss: str = setting(
        "top_label",
        "What is likely: that the prediction is right, or the true class among all.",
        choices=("top_label", "vector"),
    )
    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> TemperatureModel:
        """Return the one temperature of least loss."""
        return fit_shared(labelled, options, self.measure, False, self.loss == "vector")


@dataclass(frozen=True)
class ClassTemperatures:
    """Settings of class-wise temperature scaling (CSTS): T_k, A = 0."""

    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> TemperatureModel:
        """Return the temperature of least loss of each class."""
        return fit_by_class(labelled, options, self.measure, False)


@dataclass(frozen=True)
class TemperatureWithAwards:
    """Settings of temperature scaling with awards (TSwA): T, A_k."""

    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> TemperatureModel:
        """Return the temperature and the awards of least loss."""
        return fit_shared(labelled, options, self.measure, True, False)


@dataclass(frozen=True)
class ClassTemperaturesWithAwards:
    """Settings of class-wise temperature scaling with awards (CSTSwA): T_k, A_k."""

    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)

    def fit_model(
        self, labelled: Labelled, is_active: Booleans, options: FitOptions
    ) -> TemperatureModel:
        """Return the temperature and the award of least loss of each class."""
        return fit_by_class(labelled, options, self.measure, True)


def family_member(name: str, summary: str, reference: str, settings: type[Any]) -> Method:
    """Return the registry's entry of one member of the family.

    Parameters
    ----------
    name, summary, reference, settings
        See :class:`credence.calibrators.protocol.Method`.
    """
    return Method(
        name=name,
        summary=summary,
        reference=reference,
        settings=settings,
        needs=Need.VECTOR,
        build=build_joint(name),
        read=joint_reader_of(name, TemperatureModel.from_record),
        laws=frozenset({Law.REPEAT_IS_WEIGHT}),
        gives_vector=True,
    )


STS = family_member(
    "sts",
    "One temperature for all classes (single temperature scaling).",
    "Guo et al. 2017, arXiv 1706.04599; " + REFERENCE.format("section 9"),
    SharedTemperature,
)
CSTS = family_member(
    "csts",
    "A temperature for each predicted class.",
    REFERENCE.format("section 10"),
    ClassTemperatures,
)
TSWA = family_member(
    "tswa",
    "One temperature, and an award for each predicted class.",
    REFERENCE.format("section 11"),
    TemperatureWithAwards,
)
CSTSWA = family_member(
    "cstswa",
    "A temperature and an award for each predicted class.",
    REFERENCE.format("section 11"),
    ClassTemperaturesWithAwards,
)
