"""Probabilities of events for another mix of classes than the calibration set's.

Where only the mix differs, a class that is w times as frequent weighs w times as
much in every sum over classes. An event holds several, so it has to be known how
what is said of it divides among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from credence.calibrators.temperature_rows import log_scores
from credence.predictions import Booleans, Floats, Labelled, Predictions
from credence.shift.probabilities import BiasCorrected, fit_bias_corrected
from credence.shift.registry import has_vectors

PRIOR_MASS = 1.0  # proteins of the overall mix, added to those of each predicted class


@dataclass(frozen=True, eq=False)
class Mixture:
    """How probable each class is, roughly: it only divides what is said of an event.

    Parameters
    ----------
    confused : array of float, shape (n_classes, n_classes)
        By predicted class the shares of the true ones.
    by_scores : BiasCorrected, optional
        What tells it from all scores, where the calibration set has them.
    """

    confused: Floats
    by_scores: BiasCorrected | None = None

    def shares(self, predictions: Predictions, confidence: Floats | None) -> Floats:
        """Return a distribution over the classes, shape (n_samples, n_classes).

        Parameters
        ----------
        predictions : Predictions
            What the classifier said.
        confidence : array of float, shape (n_samples,), optional
            Of the predicted class, NaN where not known. Where only that and the
            class are known, the rest is divided as calibration proteins were.
        """
        if self.by_scores is not None and has_vectors(predictions):
            return self.by_scores.probabilities(predictions)
        rows, best = np.arange(predictions.n_samples), predictions.predicted_class
        share = self.confused[best].copy()
        if confidence is None:
            return share
        own = np.where(np.isnan(confidence), share[rows, best], confidence)
        share[rows, best] = 0.0
        rest = share.sum(axis=1)
        share *= np.divide(1.0 - own, rest, out=np.zeros_like(rest), where=rest > 0)[:, None]
        share[rows, best] = own
        return share

    def to_record(self) -> dict[str, Any]:
        """Return the mixture as JSON data."""
        known = self.by_scores
        scores = None
        if known is not None:
            # JSON has no −∞: a class that calibration does not hold has no bias.
            bias = [value if np.isfinite(value) else None for value in known.bias.tolist()]
            scores = {"slope": known.slope, "bias": bias, "share": known.share.tolist()}
        return {"confused": self.confused.tolist(), "by_scores": scores}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Mixture:
        """Return the mixture of a record."""
        found = record["by_scores"]
        by_scores = None
        if isinstance(found, Mapping):
            bias = np.array(found["bias"], dtype=float)
            by_scores = BiasCorrected(
                float(found["slope"]),
                np.where(np.isnan(bias), -np.inf, bias),
                np.array(found["share"], dtype=float),
            )
        return cls(np.array(record["confused"], dtype=float), by_scores)


def mixture_of(labelled: Labelled) -> Mixture:
    """Return how true classes are mixed, by prediction and by scores.

    Parameters
    ----------
    labelled : Labelled
        The calibration set.
    """
    of, weight = labelled.predictions, labelled.weight
    n_classes = of.n_classes
    place = of.predicted_class * n_classes + labelled.true_class
    mass = np.bincount(place, weights=weight, minlength=n_classes**2)
    mass = mass.reshape(n_classes, n_classes)
    mass = mass + PRIOR_MASS * mass.sum(axis=0) / mass.sum()
    confused = np.asarray(mass / mass.sum(axis=1, keepdims=True))
    if of.scores is None or not has_vectors(of):
        return Mixture(confused)
    logs = log_scores(of.scores, of.resolution)
    return Mixture(confused, fit_bias_corrected(logs, labelled.true_class, weight, n_classes))


def for_another_mix(held: Booleans, said: Floats, share: Floats, weight: Floats) -> Floats:
    """Return what would be said of events if classes were w times as frequent.

    Parameters
    ----------
    held : array of bool, shape (n_events, n_samples, n_classes)
        Which classes each event holds.
    said : array of float, shape (n_events, n_samples)
        What is said for the calibration set's mix; NaN where nothing is.
    share : array of float, shape (n_samples, n_classes)
        How probable each class is there.
    weight : array of float, shape (n_classes,)
        w, not negative; only its proportions count.

    Returns
    -------
    array of float, shape (n_events, n_samples)
        NaN where all that is thought possible has weight 0.

    Notes
    -----
    Proteins of a class looking alike in both sets, P′(j | x) ∝ w_j P(j | x) [1]_,
    P the calibration set's. Hence, E an event, P′(E | x) = aP/(aP + b(1 − P)) with
    P = P(E | x), a the mean of w over the classes that E holds and b over the
    others, each class counting by its share. Of an event of one class a is w of
    that class, whatever the shares are.

    References
    ----------
    .. [1] Saerens et al. 2002, doi 10.1162/089976602753284446

    Examples
    --------
    >>> held = np.array([[[True, False, False]]])
    >>> share = np.array([[0.5, 0.3, 0.2]])
    >>> for_another_mix(held, np.array([[0.5]]), share, np.array([3.0, 1.0, 1.0])).tolist()
    [[0.75]]
    """
    if (weight == weight[0]).all():
        return said
    gain = _mean_weight(held, share, weight)
    loss = _mean_weight(~held, share, weight)
    above, below = said * gain, (1.0 - said) * loss
    total = above + below
    blank = np.full_like(total, np.nan)
    return np.asarray(np.divide(above, total, out=blank, where=total > 0))


def _mean_weight(held: Booleans, share: Floats, weight: Floats) -> Floats:
    """Return the mean w over the classes held, by their shares; 1 over none."""
    mass, moved = np.zeros(held.shape[:2]), np.zeros(held.shape[:2])
    # Class by class, so that no sum depends on how many rows there are.
    for class_ in range(held.shape[2]):
        part = np.where(held[:, :, class_], share[:, class_], 0.0)
        mass += part
        moved += part * weight[class_]
    return np.divide(moved, mass, out=np.ones_like(mass), where=mass > 0)
