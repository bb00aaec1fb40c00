"""The rival of forecasting events: every class against all others, made to sum to 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.isotonic import Polyline
from credence.events.forecasters.isotonic import never_falling
from credence.events.rules import row_shares
from credence.predictions import Floats, Integers, Predictions

NAME = "one_vs_all"


@dataclass(frozen=True, eq=False)
class OneVsAll:
    """A curve for every class over its share of the scores.

    Parameters
    ----------
    curves : tuple of Polyline
        In the classifier's order.

    References
    ----------
    Zadrozny & Elkan 2002, doi 10.1145/775047.775151.
    """

    curves: tuple[Polyline, ...]

    def shares(self, predictions: Predictions) -> Floats:
        """Return a distribution over the classes, shape (n_samples, n_classes)."""
        share = row_shares(predictions)
        found = np.column_stack(
            [curve.value(share[:, class_]) for class_, curve in enumerate(self.curves)]
        )
        return np.asarray(found / found.sum(axis=1, keepdims=True))


def fit_one_vs_all(predictions: Predictions, true_class: Integers, weight: Floats) -> OneVsAll:
    """Return the curves of all classes.

    Parameters
    ----------
    predictions : Predictions
        With score vectors.
    true_class, weight : array, shape (n_samples,)
        What they truly are, and what they count.
    """
    share = row_shares(predictions)
    return OneVsAll(
        tuple(
            never_falling(share[:, class_], np.equal(true_class, class_).astype(float), weight)
            for class_ in range(predictions.n_classes)
        )
    )


def held_out_shares(
    predictions: Predictions, true_class: Integers, weight: Floats, fold: Integers
) -> Floats:
    """Return each protein's distribution from curves that did not see its fold.

    Parameters
    ----------
    predictions : Predictions
        With score vectors.
    true_class, weight : array, shape (n_samples,)
        What they truly are, and what they count.
    fold : array of int, shape (n_samples,)
        Of whole clusters.
    """
    found = np.full((predictions.n_samples, predictions.n_classes), np.nan)
    for number in np.unique(fold):
        judged = np.equal(fold, number)
        if judged.all():
            continue
        seen = ~judged
        fitted = fit_one_vs_all(predictions.take(seen), true_class[seen], weight[seen])
        found[judged] = fitted.shares(predictions.take(judged))
    return found
