"""What a feature is given, and what the registry knows of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from credence.events.event import Event
from credence.predictions import Booleans, Floats, Integers, Predictions

NO_GENE = -1  # there is no neighbour on this side
VECTOR = "a score for every class"

Computed = Floats | None


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known of some proteins beside the events.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    columns : mapping of str to array of float
        Further numbers of each protein, NaN where not known: ``length``,
        ``distance``; of a calibration protein the distance to other clusters.
    neighbours : array of int, shape (n_samples, n_neighbours), optional
        Class predicted for the genes beside each, `NO_GENE` where there is none.
    types : tuple of Event
        Named groups of classes.
    admissible : str
        A user's rule; empty: none.
    """

    predictions: Predictions
    columns: Mapping[str, Floats] = field(default_factory=dict)
    neighbours: Integers | None = None
    types: tuple[Event, ...] = ()
    admissible: str = ""


@dataclass(frozen=True, eq=False)
class Seen:
    """One event of some proteins, with the evidence, ready for features.

    Parameters
    ----------
    evidence : Evidence
        What is known.
    held : array of bool, shape (n_samples, n_classes)
        Which classes the event holds.
    frequency : array of float, shape (n_classes,)
        Share of each class among the calibration proteins.
    """

    evidence: Evidence
    held: Booleans
    frequency: Floats

    @property
    def predictions(self) -> Predictions:
        """What the classifier said."""
        return self.evidence.predictions


@dataclass(frozen=True)
class Feature:
    """An entry of the registry.

    Parameters
    ----------
    name : str
        Unique.
    group : str
        What it is taken away with when groups are left out.
    summary : str
        What it is.
    needs : str
        What has to be given for it, in words.
    compute : callable
        ``compute(seen)`` gives its columns, or None where that is not given.
    """

    name: str
    group: str
    summary: str
    needs: str
    compute: Callable[[Seen], Computed]
