"""Whether confidences have to fall with the distance to what is known, and by how much.

Calibration proteins are put into bands by how alike the best relative of another family is. In
each band the mean confidence by fits without their families stands beside the share right. Where
they differ beyond noise a constant is added to the log odds in that band, if families left out
are predicted no worse for it.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit, stdtr

from credence.draws import uniform
from credence.findings import DistanceBand
from credence.metrics.metric import negative_log_likelihood
from credence.metrics.walk import holm
from credence.novelty.detector import interval_of
from credence.predictions import Booleans, Floats, Integers

EDGES = (0.3, 0.4, 0.6)  # identity with the best relative of another family
BANDS = ("none, or below 30 %", "30 to 40 %", "40 to 60 %", "60 % and more")
LEVEL = 0.05
FEWEST = 10  # families of a band: fewer show nothing
HELD_TO = 50.0  # families by whose weight a constant is pulled to 0
N_FOLDS, STREAM, STEPS_OF_NEWTON = 5, "bands of distance", 30
CLIP = 1e-4


@dataclass(frozen=True, eq=False)
class Seen:
    """Calibration proteins with what fits without their families stated."""

    stated: Floats
    is_right: Booleans
    family: Integers  # Number of the family of each, from 0 on
    key: np.ndarray  # Of each family, by which folds are chosen
    band: Integers

    def take(self, rows: Booleans) -> "Seen":
        """Return some of them."""
        parts = (self.stated[rows], self.is_right[rows], self.family[rows])
        return Seen(*parts, self.key, self.band[rows])


def band_of(identity: Floats) -> Integers:
    """Return the band of each protein; without any relative it is the farthest."""
    return np.digitize(np.nan_to_num(identity), EDGES).astype(np.int64)


def judged_bands(seen: Seen) -> tuple[DistanceBand, ...]:
    """Return what is promised and what is right in each band, and whether they differ."""
    found, p_values = [], []
    for at, name in enumerate(BANDS):
        own = seen.take(seen.band == at)
        _, family = np.unique(own.family, return_inverse=True)
        n, n_families, size = len(family), int(family.max(initial=-1)) + 1, np.bincount(family)
        values, p = (np.nan,) * 4, np.nan
        if n_families >= FEWEST:
            gap = np.bincount(family, weights=own.is_right - own.stated)
            # Under the hypothesis each family's gap is as likely to have the other sign.
            spread = np.sqrt((gap**2).sum())
            t = abs(gap.sum()) / spread if spread > 0 else 0.0
            p = float(2.0 * stdtr(n_families - 1, -t))
            right = float(own.is_right.mean())
            off = np.bincount(family, weights=own.is_right) - right * size
            error = (off**2).sum() / n**2
            n_alone = min(right * (1.0 - right) / error, n) if error > 0 else n_families
            bounds = interval_of(right * n_alone, n_alone, LEVEL / 2.0)
            values = (float(own.stated.mean()), right, *bounds)
        found.append((name, n, n_families, *values))
        p_values.append(p)
    adjusted = holm(np.array(p_values)).tolist()
    return tuple(DistanceBand(*one, p=p) for one, p in zip(found, adjusted, strict=True))


def band_steps(seen: Seen) -> Floats:
    """Return what is added to the log odds in each band; 0 where nothing differs."""
    found = np.zeros(len(BANDS))
    for at, band in enumerate(judged_bands(seen)):
        if not band.p <= LEVEL:
            continue
        own = seen.take(seen.band == at)
        odds = logit(np.clip(own.stated, CLIP, 1.0 - CLIP))
        weight, pull = 1.0 / np.bincount(own.family)[own.family], HELD_TO / 16.0
        for _ in range(STEPS_OF_NEWTON):
            stated = expit(odds + found[at])
            slope = (weight * (stated - own.is_right)).sum() + pull * found[at]
            found[at] -= slope / ((weight * stated * (1.0 - stated)).sum() + pull)
    return found


def moved(value: Floats, steps: Floats, band: Integers) -> Floats:
    """Return confidences with the constants of their bands; unchanged to the bit where 0."""
    step = steps[band]
    changed = expit(logit(np.clip(value, CLIP, 1.0 - CLIP)) + step)
    return np.asarray(np.where(step == 0.0, value, changed))


def kept_steps(seen: Seen) -> tuple[Floats, float, float]:
    """Return the constants, 0 if families left out lose by them, and both losses of these."""
    if not len(seen.stated):
        return np.zeros(len(BANDS)), 0.0, 0.0
    fold = (np.argsort(np.argsort(uniform(seen.key, 0, STREAM))) % N_FOLDS)[seen.family]
    after = seen.stated.copy()
    for at in range(N_FOLDS):
        here = fold == at
        after[here] = moved(seen.stated[here], band_steps(seen.take(~here)), seen.band[here])
    before, now = (
        float(negative_log_likelihood(value, seen.is_right).mean())
        for value in (seen.stated, after)
    )
    steps = band_steps(seen)
    return (steps if now <= before else np.zeros_like(steps)), before, now


def bands_of(seen: Seen) -> tuple[DistanceBand, ...]:
    """Return each band with the constant that its confidences are moved by."""
    pairs = zip(judged_bands(seen), kept_steps(seen)[0].tolist(), strict=True)
    return tuple(replace(band, step=step) for band, step in pairs)
