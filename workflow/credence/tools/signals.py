"""What a tool's answer shows of each class of the run, whatever its own classes and scores are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from credence.calibrators.score_logs import (
    DECIMALS,
    UNKNOWN_RESOLUTION_FLOOR,
    name_order,
    predicted_rank,
    share_bounds,
    sorted_log_scores,
)
from credence.predictions import Booleans, Floats, Integers, Predictions
from credence.tools.softmax import Features

NONE = ""  # what a class of a tool is mapped to that is none of the run's
# Ridges on a class's weight for the tool's score of the same class, and of another.
SAME_RIDGE, OTHER_RIDGE = 1.0, 100.0


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A tool's classes, sorted by name, and what each is among the run's, sorted as well."""

    run: tuple[str, ...]
    own: tuple[str, ...]
    target: Integers  # Index into `run` of each of `own`; -1 where it is none of them

    @classmethod
    def of(cls, run: tuple[str, ...], classes: Mapping[str, str]) -> Vocabulary:
        """Return the vocabulary of a mapping from a tool's classes to the run's."""
        names, own = tuple(sorted(run)), tuple(sorted(classes))
        place = {name: index for index, name in enumerate(names)}
        target = np.array([place.get(classes[name], -1) for name in own], dtype=np.int64)
        return cls(names, own, target)

    def ridge(self, per_class: int) -> Floats:
        """Return the ridges on the weights of features of which each own class has some."""
        found = np.full((len(self.run), len(self.own)), OTHER_RIDGE)
        is_named = self.target >= 0
        found[self.target[is_named], np.flatnonzero(is_named)] = SAME_RIDGE
        # What is none of the run's may be any class that the tool cannot name.
        lacking = np.setdiff1d(np.arange(len(self.run)), self.target)
        found[np.ix_(lacking, np.flatnonzero(~is_named))] = SAME_RIDGE
        return np.tile(found, (1, per_class))

    def spread(self, share: Floats) -> Floats:
        """Return shares of the tool's classes as shares of the run's.

        That of classes which are none of the run's goes evenly to those that the tool cannot name.
        """
        found = np.zeros((len(share), len(self.run)))
        for place, target in enumerate(self.target.tolist()):
            if target >= 0:
                found[:, target] += share[:, place]
        lacking = np.setdiff1d(np.arange(len(self.run)), self.target)
        if len(lacking):
            found[:, lacking] = share[:, self.target < 0].sum(axis=1, keepdims=True) / len(lacking)
        return found


def said(vocabulary: Vocabulary, predictions: Predictions) -> Integers:
    """Return the run's class that each answer names, sorted by name; -1 for none of them."""
    return np.asarray(vocabulary.target[predicted_rank(predictions)])


def signals(vocabulary: Vocabulary, predictions: Predictions) -> Features:
    """Return what a softmax over the run's classes sees of answers of one tool."""
    rank = predicted_rank(predictions)
    is_named: Booleans = np.equal(rank[:, None], np.arange(len(vocabulary.own)))
    own: Floats
    if predictions.scores is not None and predictions.is_distribution:
        own = sorted_log_scores(predictions)
        share = vocabulary.spread(special.softmax(own, axis=1))
    else:
        n_others = max(len(vocabulary.own) - 1, 1)
        top = np.full(predictions.n_samples, 0.5)
        columns = [is_named.astype(np.float64)]
        if predictions.top_score is not None:
            bounds = share_bounds(predictions.resolution, predictions.scale)
            top = np.clip(predictions.top_score / predictions.scale, *bounds)
            columns.append(is_named * special.logit(top)[:, None])
        if predictions.scores is not None:
            order = name_order(predictions.class_names)
            columns[-1] = predictions.scores[:, order] / predictions.scale
        own = np.hstack(columns)
        share = vocabulary.spread(np.where(is_named, top[:, None], (1 - top[:, None]) / n_others))
    logs: Floats = np.log(np.maximum(share, UNKNOWN_RESOLUTION_FLOOR))
    return Features(np.round(logs, DECIMALS)[:, :, None], np.round(own, DECIMALS))


def facts_of(predictions: Predictions) -> dict[str, Any]:
    """Return what answers of one tool have in common, later ones too."""
    return {
        "scale": float(predictions.scale),
        "has_scores": predictions.scores is not None,
        "has_top_score": predictions.top_score is not None,
        "is_distribution": predictions.is_distribution,
    }
