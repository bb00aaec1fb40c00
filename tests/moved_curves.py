"""The slow twin of the page's sliders: every class's curve at a composition."""

from __future__ import annotations

import numpy as np

from credence.findings import WhatIf
from credence.predictions import Floats

HALF = 0.5  # Jeffreys


def curves_at(what_if: WhatIf, share: Floats) -> Floats:
    """Return every class's confidence over the grid at a composition."""
    own = np.array(what_if.calibration_share)
    n_classes, n_grid = len(own), len(what_if.score)
    weight = np.divide(share / share.sum(), own, out=np.zeros(n_classes), where=own > 0)
    right, total, squares = (np.zeros(n_classes) for _ in range(3))
    dense_right, dense_total = (np.zeros((n_classes, n_grid)) for _ in range(2))
    for part in what_if.parts:
        one, w = part.predicted, weight[part.true]
        density = w * np.array(part.density)
        total[one] += w * part.mass
        squares[one] += w**2 * part.mass_squared
        dense_total[one] += density
        if part.true == one:
            right[one] += w * part.mass
            dense_right[one] += density
    found = np.full((n_classes, n_grid), np.nan)
    for k in np.flatnonzero(total > 0):
        is_scarce = total[k] ** 2 < what_if.min_positives * squares[k]
        if is_scarce or right[k] in (0.0, total[k]):
            found[k] = (right[k] + HALF) / (total[k] + 1.0)
            continue
        own_share = right[k] / total[k]
        top = dense_right[k] + what_if.prior_weight * own_share
        bottom = dense_total[k] + what_if.prior_weight
        found[k] = np.divide(top, bottom, out=np.full(n_grid, own_share), where=bottom > 0)
    return found
