"""Proteins as the core sees them: names and sequences."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Integers, Strings


@dataclass(frozen=True, eq=False)
class Proteins:
    """Proteins in the order of their file."""

    ids: Strings  # Names, unique
    sequences: Strings  # Residues in one-letter code, capitals, none empty

    @property
    def n_proteins(self) -> int:
        """Number of proteins."""
        return len(self.ids)

    @cached_property
    def lengths(self) -> Integers:
        """Number of residues of each protein."""
        return np.fromiter(map(len, self.sequences), dtype=np.int64, count=len(self.sequences))

    def take(self, rows: NDArray[np.intp] | Integers | Booleans) -> Self:
        """Return the proteins chosen, in the order given."""
        columns = {entry.name: getattr(self, entry.name)[rows] for entry in fields(self)}
        return replace(self, **columns)


def join(parts: list[Proteins]) -> Proteins:
    """Return the proteins of several sets, one set after the other."""
    nothing = np.empty(0, dtype=object)
    return Proteins(
        np.concatenate([nothing, *(part.ids for part in parts)]),
        np.concatenate([nothing, *(part.sequences for part in parts)]),
    )
