"""All features of events, module by module, and the table that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credence.events.features import classes, ensemble, given, scores
from credence.events.features.protocol import Feature, Seen
from credence.predictions import Floats, Integers

DECIMALS = 9  # far above rounding error, far below what tells proteins apart

FEATURES: tuple[Feature, ...] = (
    *scores.FEATURES,
    *classes.FEATURES,
    *ensemble.FEATURES,
    *given.FEATURES,
)
BY_NAME: dict[str, Feature] = {entry.name: entry for entry in FEATURES}
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(entry.group for entry in FEATURES))


@dataclass(frozen=True, eq=False)
class Table:
    """Features of one event, as numbers.

    Parameters
    ----------
    values : array of float, shape (n_samples, n_columns)
        NaN where not known.
    feature : tuple of str
        The feature that each column is of.
    missing : tuple of str
        Features that could not be had.
    """

    values: Floats
    feature: tuple[str, ...]
    missing: tuple[str, ...]

    def only(self, names: Sequence[str]) -> Table:
        """Return the columns of some features."""
        kept = [place for place, name in enumerate(self.feature) if name in names]
        return Table(
            self.values[:, kept], tuple(self.feature[place] for place in kept), self.missing
        )


def table_of(seen: Seen, names: Sequence[str]) -> Table:
    """Return the features asked for, as far as they can be had.

    Parameters
    ----------
    seen : Seen
        An event of some proteins.
    names : sequence of str
        Names of the registry; its order counts.
    """
    columns: list[Floats] = []
    of: list[str] = []
    missing: list[str] = []
    for entry in FEATURES:
        if entry.name not in names:
            continue
        found = entry.compute(seen)
        if found is None:
            missing.append(entry.name)
            continue
        block = np.asarray(found, dtype=float).reshape(len(found), -1)
        columns.append(np.round(block, DECIMALS))
        of += [entry.name] * block.shape[1]
    values = np.hstack(columns) if columns else np.zeros((seen.predictions.n_samples, 0))
    return Table(values, tuple(of), tuple(missing))


def frequencies(true_class: Integers, weight: Floats, n_classes: int) -> Floats:
    """Return the weighted share of each class.

    Parameters
    ----------
    true_class, weight : array, shape (n_samples,)
        Of the calibration proteins.
    n_classes : int
        How many classes there are.
    """
    mass = np.bincount(true_class, weights=weight, minlength=n_classes)
    return np.asarray(mass / mass.sum(), dtype=float)
