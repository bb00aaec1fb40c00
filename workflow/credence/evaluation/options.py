"""How methods are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

IN_SAMPLE = "in_sample"
HELD_OUT = "held_out"

Resampled = Literal["cluster", "row"]


@dataclass(frozen=True)
class EvaluationOptions:
    """How methods are judged.

    Parameters
    ----------
    n_folds : int
        Folds of whole clusters for the held-out numbers; at least 2.
    level : float
        Coverage of the pointwise intervals.
    n_draws : int
        Draws of the bootstrap; 0 gives no intervals.
    resample : str
        ``cluster``: whole clusters of relatives are drawn. ``row`` draws proteins
        one by one, as if there were no relatives, to show how wrong that is.
    n_floor : int
        Simulations of each noise floor; 0 gives none.
    n_signs : int
        Draws of random signs in the tests; 0 gives no p-values by clusters.
    families : tuple of str, optional
        Only metrics in cells of these families are measured; None: all.
    """

    n_folds: int = 10
    level: float = 0.95
    n_draws: int = 200
    resample: Resampled = "cluster"
    n_floor: int = 100
    n_signs: int = 999
    families: tuple[str, ...] | None = None
