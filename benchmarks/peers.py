"""Other libraries' calibrators on the same halves: processor seconds and held-out errors.

Each contestant takes scores and true classes of one half, and gives the
probability that the best class of each row of the other half is right. A peer
that is not installed is listed as absent, never left out in silence.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.data import halves, real_table

from credence.calibrators.all_methods import METHODS
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions, Need
from credence.predictions import Labelled

N_DEMO = 46_801  # size of the calibration paper's test set
N_BINS = 15  # equal-width bins of the error shown, as most papers take
CLIP = 1e-15
POINT_ESTIMATES = FitOptions(n_draws=0)
COMPOSITIONS = ("tswa -> kernel", "logistic -> kernel")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    library: str
    method: str
    fit_seconds: float
    predict_seconds: float
    nll: float
    brier: float
    ece: float
    absent: str = ""


Fitted = Callable[[Labelled], np.ndarray]
Fit = Callable[[Labelled], Fitted]


def probabilities_of(labelled: Labelled) -> np.ndarray:
    """Return the score table as probabilities."""
    scores = labelled.predictions.scores
    return scores / scores.sum(axis=1, keepdims=True)


def at_predicted(labelled: Labelled, probabilities: np.ndarray) -> np.ndarray:
    """Return the probability of each row's predicted class."""
    return probabilities[np.arange(labelled.n_samples), labelled.predictions.predicted_class]


class ScoresAsEstimator:
    """A fitted classifier whose features are its probabilities: what peers wrap."""

    _estimator_type = "classifier"

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes
        self.classes_ = np.arange(n_classes)
        self.n_features_in_ = n_classes

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn asks."""
        return {"n_classes": self.n_classes}

    def set_params(self, **params: Any) -> ScoresAsEstimator:
        """Return the same estimator: there is nothing to set."""
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.base import BaseEstimator, ClassifierMixin

        return type("Tagged", (ClassifierMixin, BaseEstimator), {})().__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, features: np.ndarray, target: np.ndarray, **_: Any) -> ScoresAsEstimator:
        """Return the estimator as it is."""
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:  # noqa: N803 (peers name it)
        """Return the features: they are probabilities."""
        return X

    def predict(self, X: np.ndarray) -> np.ndarray:  # noqa: N803
        """Return the best class of each row."""
        return X.argmax(axis=1)


def credence_fit(spec: str) -> Fit:
    """Return the fit of one of credence's methods."""

    def fit(labelled: Labelled) -> Fitted:
        calibration = parse_method(spec, "benchmarks").build(POINT_ESTIMATES).fit(labelled)
        return lambda other: calibration.confidence(other.predictions).value

    return fit


def sklearn_fit(method: str) -> Fit:
    """Return the fit of scikit-learn's own calibrator, one class against the rest."""

    def fit(labelled: Labelled) -> Fitted:
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.frozen import FrozenEstimator

        base = ScoresAsEstimator(labelled.predictions.n_classes)
        model = CalibratedClassifierCV(FrozenEstimator(base), method=method)
        model.fit(probabilities_of(labelled), labelled.true_class)
        return lambda other: at_predicted(other, model.predict_proba(probabilities_of(other)))

    return fit


def mapie_fit(method: str) -> Fit:
    """Return the fit of MAPIE's top-label calibrator."""

    def fit(labelled: Labelled) -> Fitted:
        from mapie.calibration import TopLabelCalibrator

        base = ScoresAsEstimator(labelled.predictions.n_classes)
        model = TopLabelCalibrator(estimator=base, calibrator=method, cv="prefit")
        model.fit(probabilities_of(labelled), labelled.true_class)
        return lambda other: np.nanmax(model.predict_proba(probabilities_of(other)), axis=1)

    return fit


def venn_abers_fit(labelled: Labelled) -> Fitted:
    """Return the fit of the venn-abers package, all classes."""
    from venn_abers import VennAbersCalibrator

    def predict(other: Labelled) -> np.ndarray:
        probabilities = VennAbersCalibrator().predict_proba(
            p_cal=probabilities_of(labelled),
            y_cal=labelled.true_class,
            p_test=probabilities_of(other),
        )
        return at_predicted(other, probabilities)

    return predict


def netcal_fit(kind: str) -> Fit:
    """Return the fit of one of netcal's calibrators on all classes."""

    def fit(labelled: Labelled) -> Fitted:
        import netcal.binning
        import netcal.scaling

        makers = {
            "TemperatureScaling": netcal.scaling.TemperatureScaling,
            "HistogramBinning": lambda: netcal.binning.HistogramBinning(N_BINS),
            "IsotonicRegression": netcal.binning.IsotonicRegression,
        }
        model = makers[kind]()
        keywords = {"random_state": 0, "tensorboard": False} if "Temp" in kind else {}
        model.fit(probabilities_of(labelled), labelled.true_class, **keywords)
        return lambda other: at_predicted(other, model.transform(probabilities_of(other)))

    return fit


def probmetrics_fit(kind: str) -> Fit:
    """Return the fit of one of probmetrics' calibrators."""

    def fit(labelled: Labelled) -> Fitted:
        from probmetrics.calibrators import get_calibrator

        model = get_calibrator(kind)
        model.fit(probabilities_of(labelled), labelled.true_class)
        return lambda other: at_predicted(other, model.predict_proba(probabilities_of(other)))

    return fit


def contestants() -> Iterator[tuple[str, str, Fit]]:
    """Yield library, method and fit of all that take part."""
    for method in METHODS:
        if method.needs is Need.PLACE:  # where proteins lie among others is not in these tables
            continue
        yield "credence", method.name, credence_fit(method.name)
    for spec in COMPOSITIONS:
        yield "credence", spec, credence_fit(spec)
    for kind in ("sigmoid", "isotonic"):
        yield "scikit-learn CalibratedClassifierCV", kind, sklearn_fit(kind)
    for kind in ("sigmoid", "isotonic"):
        yield "MAPIE TopLabelCalibrator", kind, mapie_fit(kind)
    yield "venn-abers", "VennAbersCalibrator", venn_abers_fit
    for kind in ("TemperatureScaling", "HistogramBinning", "IsotonicRegression"):
        yield "netcal", kind, netcal_fit(kind)
    for kind in ("ts-mix", "svs", "sms"):
        yield "probmetrics", kind, probmetrics_fit(kind)


def errors(confidence: np.ndarray, is_correct: np.ndarray) -> tuple[float, float, float]:
    """Return mean NLL, Brier score and top-label ECE in equal-width bins."""
    known = ~np.isnan(confidence)
    value, right = confidence[known], is_correct[known]
    kept = np.clip(value, CLIP, 1 - CLIP)
    nll = -np.where(right, np.log(kept), np.log1p(-kept)).mean()
    bins = np.minimum((value * N_BINS).astype(int), N_BINS - 1)
    gaps = np.bincount(bins, weights=value - right, minlength=N_BINS)
    return float(nll), float(((value - right) ** 2).mean()), float(np.abs(gaps).sum() / len(value))


def compare(labelled: Labelled) -> list[Row]:
    """Return a line per contestant, fitted on one half and judged on the other."""
    first, second = halves(labelled)
    rows = []
    for library, name, fit in contestants():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.process_time()
                fitted = fit(first)
                middle = time.process_time()
                confidence = fitted(second)
                end = time.process_time()
        except Exception as problem:  # a peer may fail in any way; the table says how
            reason = f"{type(problem).__name__}: {problem}".splitlines()[0][:90]
            nan = float("nan")
            rows.append(Row(library, name, nan, nan, nan, nan, nan, reason))
            continue
        rows.append(
            Row(
                library, name, middle - start, end - middle, *errors(confidence, second.is_correct)
            )
        )
    return rows


def data_sets() -> Iterator[tuple[str, Labelled]]:
    """Yield the demo world and, where it is there, the real table."""
    from verification.in_memory import draw_labelled

    from credence.simulate.law import WorldSettings

    settings = WorldSettings(n_calibration=N_DEMO)
    yield f"simulated world, {N_DEMO:,} rows", draw_labelled(settings, np.random.default_rng(7))
    real = real_table()
    if real is not None:
        yield f"PhANNs' first table, {real.n_samples:,} rows, blocks of 100", real
