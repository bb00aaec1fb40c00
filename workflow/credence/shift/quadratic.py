"""The estimate that a quadratic criterion gives."""

from __future__ import annotations

import numpy as np

from credence.predictions import Floats
from credence.shift.protocol import Estimate
from credence.shift.simplex import (
    conditioned,
    flat_directions,
    on_free,
    quadratic_minimum,
    undetermined,
)


def solved(curvature: Floats, linear: Floats) -> Estimate:
    """Return the composition q of least ½ q'Hq − c'q.

    In directions in which H is flat, c is nothing but rounding errors over it,
    and the shares nearest to even are taken.

    Parameters
    ----------
    curvature : array of float, shape (n_classes, n_classes)
        H, symmetric and not negative.
    linear : array of float, shape (n_classes,)
        c.
    """
    flat = flat_directions(curvature)
    told = linear - flat @ (flat.T @ linear)
    steady = conditioned(curvature)
    everywhere = np.ones(len(linear), dtype=np.bool_)
    return Estimate(
        quadratic_minimum(steady, told),
        on_free(steady, told, everywhere),
        undetermined(curvature),
    )
