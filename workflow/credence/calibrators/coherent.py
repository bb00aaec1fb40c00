"""Confidences of a protein's labels made coherent: none above that of a label that it is part of.

The least change does it, in squares weighed by 1/variance, under P(parent) ≥ P(child); where
nothing is incoherent nothing changes. Held-out confidences go through it as published ones do.

A coherent confidence claims the precision among calls of its label with that confidence, which
is another than what the curve claims: it knows more, and says it less boldly than it could. A line
of the log odds shows by how much, and intervals reach that far (decision 43).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
import scipy

from credence.calibrators.newton import fit_logistic
from credence.calibrators.protocol import (
    NO_PARAMETERS,
    Calibration,
    Calibrator,
    Need,
    components_asked,
)
from credence.confidence import Confidence
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import Stored
from credence.tree import LabelTree

COHERENT = "coherent"  # Method of the record of such a calibration
# A share of a label's families is known as if so many more were there (Jeffreys' prior and more).
FAMILIES_BEFORE = 2.0
LEAST_VARIANCE = 1e-4  # of a confidence of 0 or 1
LEAST_LOGIT_SHARE = 1e-12  # of which log odds are taken
UNMOVED, LINE_PRECISION = (0.0, 1.0), 1.0  # Prior of the line: that it changes nothing


def pairs_of(predictions: Predictions, tree: LabelTree) -> tuple[Integers, Integers]:
    """Return rows of one protein: a label, and the nearest one above it that the protein has."""
    if not tree.parents:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    above = [tuple(tree.ancestors(name)) for name in predictions.class_names]
    code_of = {name: code for code, name in enumerate(predictions.class_names)}
    codes = [[code_of[name] for name in names if name in code_of] for names in above]
    child = np.repeat(np.arange(len(codes)), [len(part) for part in codes])
    parent = np.array([code for part in codes for code in part], dtype=np.int64)
    # Every call with each that may be above it, looked up among the calls of the protein.
    protein, n_classes = predictions.protein, predictions.n_classes
    key = protein * n_classes + predictions.predicted_class
    order = np.argsort(key, kind="stable")
    starts = np.searchsorted(child, np.arange(n_classes + 1))
    n_above = np.diff(starts)[predictions.predicted_class]
    row = np.repeat(np.arange(len(key)), n_above)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(n_above) - n_above, n_above)
    asked = parent[starts[predictions.predicted_class[row]] + offset]
    wanted = protein[row] * n_classes + asked
    place = np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)
    is_there = key[order][place] == wanted
    return row[is_there].astype(np.int64), order[place[is_there]].astype(np.int64)


def nearest_to(values: Floats, weight: Floats, below: Integers, above: Integers) -> Floats:
    """Return the values of least weighted squared change with each at most what is above it.

    Its dual is a problem of least squares with multipliers that are not negative:
    x = y + W⁻¹Aᵀλ, where A x ≥ 0 has a row for each pair.
    """
    reaches = np.zeros((len(values), len(values)), dtype=np.int64)
    reaches[below, above] = 1
    is_direct = (reaches @ reaches == 0)[below, above]  # what others say already is left out
    below, above = below[is_direct], above[is_direct]
    rows = np.arange(len(below))
    pairs = np.zeros((len(below), len(values)))
    pairs[rows, above], pairs[rows, below] = 1.0, -1.0
    scale = np.sqrt(weight)
    multiplier, _ = scipy.optimize.nnls(pairs.T / scale[:, None], -values * scale)
    return np.asarray(values + (pairs.T @ multiplier) / weight)


def _proteins(rows: Integers, group: Integers) -> Iterator[Integers]:
    """Yield the places of `rows` that are of one group, group by group."""
    order = np.argsort(group[rows], kind="stable")
    bounds = np.flatnonzero(np.diff(group[rows][order])) + 1
    yield from np.split(order, bounds) if len(order) else ()


def coherent(
    confidence: Confidence, predictions: Predictions, tree: LabelTree, families: Floats
) -> Confidence:
    """Return confidences of which none is above that of a label above it, ends of intervals too.

    `families` are how many families of calibration each label has, which weigh its confidence.
    """
    below, above = pairs_of(predictions, tree)
    columns = np.stack([confidence.value, confidence.lower, confidence.upper])
    is_wrong = np.zeros(len(below), dtype=np.bool_)
    for values in columns:
        is_wrong |= values[below] > values[above]  # NaN is above nothing
    if not is_wrong.any():
        return confidence
    protein = predictions.protein
    touched = np.zeros(int(protein.max()) + 1, dtype=np.bool_)
    touched[protein[below[is_wrong]]] = True
    kept = touched[protein[below]] & ~np.isnan(confidence.value[below] + confidence.value[above])
    below, above = below[kept], above[kept]
    value = np.nan_to_num(confidence.value)
    variance = (value * (1.0 - value) + LEAST_VARIANCE) / (
        families[predictions.predicted_class] + FAMILIES_BEFORE
    )
    for part in _proteins(below, protein):
        lower_rows, upper_rows = below[part], above[part]
        rows, places = np.unique(np.append(lower_rows, upper_rows), return_inverse=True)
        low, high = places[: len(part)], places[len(part) :]
        weight = 1.0 / variance[rows]
        for values in columns:
            here = values[rows]
            if np.isnan(here).any() or not (here[low] > here[high]).any():
                continue
            fitted = nearest_to(here, weight, low, high)
            # Rounding leaves some 1e-16 above what they may be.
            for _ in range(len(rows)):
                lifted = fitted.copy()
                np.maximum.at(lifted, high, fitted[low])
                if (lifted == fitted).all():
                    break
                fitted = lifted
            values[rows] = np.clip(fitted, 0.0, 1.0)
    value, lower, upper = columns
    return Confidence(
        value=value,
        lower=np.minimum(lower, value),
        upper=np.maximum(upper, value),
        support=confidence.support,
        note=confidence.note,
    )


def _log_odds(share: Floats) -> Floats:
    return np.asarray(
        scipy.special.logit(np.clip(share, LEAST_LOGIT_SHARE, 1.0 - LEAST_LOGIT_SHARE))
    )


def line_of(value: Floats, labelled: Labelled) -> tuple[float, float]:
    """Return intercept and slope of the log odds of being right over those of a confidence."""
    known = ~np.isnan(value)
    fitted = fit_logistic(
        np.column_stack([np.ones(int(known.sum())), _log_odds(value[known])]),
        labelled.is_correct[known].astype(np.float64),
        labelled.weight[known],
        np.full(2, LINE_PRECISION),
        np.array(UNMOVED),
    )
    intercept, slope = fitted.coefficient.tolist()
    return intercept, slope


def reaching(after: Confidence, before: Confidence, line: tuple[float, float]) -> Confidence:
    """Return coherent confidences whose intervals hold those before, and both around the line.

    Around the line they are as wide, in log odds, as before coherence.
    """
    middle = line[0] + line[1] * _log_odds(after.value)
    start = _log_odds(before.value)
    lower, upper = (
        scipy.special.expit(middle + _log_odds(end) - start)
        for end in (before.lower, before.upper)
    )
    return replace(
        after,
        lower=np.minimum(np.minimum(after.lower, before.lower), lower),
        upper=np.maximum(np.maximum(after.upper, before.upper), upper),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class CoherentCalibration:
    """A calibration of labels in a tree, whose confidences of a protein are made coherent."""

    method: str = field(default=COHERENT, init=False)  # Tells what reads its record
    inner: Calibration  # What is made coherent
    tree: LabelTree
    # Of the log odds of coherent confidences; None where none changed, or without intervals.
    line: Annotated[tuple[float, float] | None, Stored(is_left_out=True)] = None

    @property
    def needs(self) -> Need:
        """What has to be given of each prediction."""
        return self.inner.needs

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer: of a protein with one label."""
        return self.inner.gives_curve

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What was counted of each class."""
        return self.inner.counts

    @property
    def n_components(self) -> int:
        """Number of components of a protein's place that are asked for."""
        return components_asked(self.inner)

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return what was chosen for each class."""
        return self.inner.parameters(class_names) or NO_PARAMETERS

    def probabilities(self, predictions: Predictions) -> None:
        """Return None: labels of a protein do not exclude each other."""

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each call, coherent with the others of its protein."""
        counts = self.inner.counts
        families = [
            float(counts.get(name, {}).get("n_clusters", 0.0)) for name in predictions.class_names
        ]
        plain = self.inner.confidence(predictions)
        answer = coherent(plain, predictions, self.tree, np.array(families))
        return answer if self.line is None else reaching(answer, plain, self.line)


@dataclass(frozen=True, kw_only=True)
class CoherentCalibrator:
    """A method that is made coherent where its calls have labels in a tree."""

    inner: Calibrator

    def fit(self, labelled: Labelled) -> Calibration:
        """Return the calibration; as it is where no label is above another."""
        fitted, tree = self.inner.fit(labelled), labelled.predictions.tree
        if tree is None or not tree.parents:
            return fitted
        calibration = CoherentCalibration(inner=fitted, tree=tree)
        plain = fitted.confidence(labelled.predictions)
        if np.isnan(plain.lower).all():
            return calibration  # without intervals
        value = calibration.confidence(labelled.predictions).value
        if np.array_equal(value, plain.value, equal_nan=True):
            return calibration
        return replace(calibration, line=line_of(value, labelled))
