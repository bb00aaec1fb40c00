"""Whether confidences hold far from what is known: promised and right, by identity.

Calibration proteins are put into bands by how alike the nearest known protein of another family
is. In each band the mean confidence by fits without their families stands beside the precision.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import betaincinv, stdtr

from credence.findings import DistanceBand
from credence.metrics.walk import holm
from credence.predictions import Booleans, Floats, Integers

BAND_EDGES = (0.3, 0.4, 0.6)  # identity with the nearest known protein of another family
BAND_NAMES = ("none, or below 30 %", "30 to 40 %", "40 to 60 %", "60 % and more")
TEST_LEVEL = 0.05
FEWEST_BAND_FAMILIES = 10  # families of a band: fewer show nothing


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """Calibration proteins with what fits without their families stated."""

    stated: Floats
    is_right: Booleans
    family: Integers  # Number of the family of each, from 0 on
    band: Integers


def band_of(identity: Floats) -> Integers:
    """Return the band of each protein; without any relative it is the farthest."""
    return np.digitize(np.nan_to_num(identity), BAND_EDGES).astype(np.int64)


def judged_bands(seen: Seen) -> tuple[DistanceBand, ...]:
    """Return what is promised and what is right in each band, and whether they differ."""
    bands = [_judged(seen, at) for at in range(len(BAND_NAMES))]
    adjusted = holm(np.array([band.p for band in bands])).tolist()
    return tuple(
        replace(band, p=p, is_off=p <= TEST_LEVEL) for band, p in zip(bands, adjusted, strict=True)
    )


def _judged(seen: Seen, at: int) -> DistanceBand:
    """Return what is found in a band by itself; NaN where its families are too few."""
    rows = seen.band == at
    stated, is_right = seen.stated[rows], seen.is_right[rows]
    _, family = np.unique(seen.family[rows], return_inverse=True)
    n, size = len(family), np.bincount(family)
    band = DistanceBand(
        name=BAND_NAMES[at],
        n=n,
        n_families=len(size),
        promised=np.nan,
        right=np.nan,
        lower=np.nan,
        upper=np.nan,
        p=np.nan,
        is_off=False,
    )
    if len(size) < FEWEST_BAND_FAMILIES:
        return band
    gap = np.bincount(family, weights=is_right - stated)
    # Under the hypothesis each family's gap is as likely to have the other sign.
    spread = np.sqrt((gap**2).sum())
    t = abs(gap.sum()) / spread if spread > 0 else 0.0
    right = float(is_right.mean())
    off = np.bincount(family, weights=is_right) - right * size
    error = (off**2).sum() / n**2
    n_alone = min(right * (1.0 - right) / error, n) if error > 0 else len(size)
    lower, upper = interval_of(right * n_alone, n_alone)
    return replace(
        band,
        promised=float(stated.mean()),
        right=right,
        lower=lower,
        upper=upper,
        p=float(2.0 * stdtr(len(size) - 1, -t)),
    )


def interval_of(k: float, n: float) -> tuple[float, float]:
    """Return the 95 % interval of a share (Clopper and Pearson)."""
    tail = TEST_LEVEL / 2.0
    lower = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    return lower, float(betaincinv(k + 1, n - k, 1.0 - tail)) if k < n else 1.0
