"""What is known beside the scores: columns, neighbouring genes, a user's rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from credence.events.event import class_ranks
from credence.events.features.protocol import NO_GENE, Computed, Feature, Seen
from credence.events.rules import parse_rule


def _given_column(name: str, *, is_log: bool = False) -> Callable[[Seen], Computed]:
    """Return what computes a feature from a column of the evidence."""

    def compute(seen: Seen) -> Computed:
        values = seen.evidence.columns.get(name)
        if values is None:
            return None
        return np.log(np.maximum(values, 1.0)) if is_log else values

    return compute


def _neighbours(seen: Seen) -> Computed:
    """Return the share of the genes beside it that are predicted to be of the event."""
    beside = seen.evidence.neighbours
    if beside is None:
        return None
    is_there = beside != NO_GENE
    is_held = np.take_along_axis(seen.held, np.maximum(beside, 0), axis=1) & is_there
    number = is_there.sum(axis=1)
    return np.asarray(
        np.divide(is_held.sum(axis=1), number, out=np.full(len(beside), np.nan), where=number > 0)
    )


def _admissible(seen: Seen) -> Computed:
    """Return the share of the event's classes that fulfil the user's rule."""
    if not seen.evidence.admissible:
        return None
    of = seen.predictions
    holds = parse_rule(seen.evidence.admissible, "admissible").holds(of, class_ranks(of))
    number = seen.held.sum(axis=1)
    return np.asarray(
        np.divide(
            (holds & seen.held).sum(axis=1), number, out=np.zeros(of.n_samples), where=number > 0
        )
    )


FEATURES = (
    Feature(
        "length",
        "sequence",
        "logarithm of the protein's length",
        "a column 'length'",
        _given_column("length", is_log=True),
    ),
    Feature(
        "distance",
        "sequence",
        "distance to the nearest calibration protein",
        "what credence novelty wrote, or a column 'distance'",
        _given_column("distance"),
    ),
    Feature(
        "neighbours",
        "neighbours",
        "share of the genes beside it that are predicted to be of the event",
        "columns 'before' and 'after'",
        _neighbours,
    ),
    Feature(
        "admissible",
        "rule",
        "share of the event's classes that fulfil the rule",
        "a rule",
        _admissible,
    ),
)
