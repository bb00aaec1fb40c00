"""How much of a change is new evidence, and how much is re-weighting.

The newer release is fitted a second time with weights w[true class] that give
it the class frequencies of the older one (METHODS section 6). What still
differs from the older release is evidence; the rest of the change is
composition: the same classes, mixed in other shares.

Intervals draw whole families. A family that is in both releases has the same
weight in both, so that what they share cancels; frequencies are taken as they
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.classwise import ClasswiseCalibrator, class_samples, scarce_fallback
from credence.calibrators.intervals import expanded_quantiles, guarded, share_draws
from credence.calibrators.masses import class_masses
from credence.calibrators.protocol import Calibrator, ClassSample, FitOptions
from credence.composition.adjusted import shifted
from credence.draws import cluster_weights
from credence.findings import Change
from credence.predictions import Floats, Labelled

NONE = float("nan")


@dataclass(frozen=True, eq=False)
class ThreeSets:
    """The sets whose curves are compared."""

    # The older release, the newer one, and the newer one re-weighted to the older's class
    # frequencies; classes that the older one lacks are not in it.
    before: Labelled
    after: Labelled
    fixed: Labelled

    def samples(self) -> list[tuple[ClassSample | None, ...]]:
        """Return the positives of every class in the three sets."""
        parts = (class_samples(labelled) for labelled in (self.before, self.fixed, self.after))
        return list(zip(*parts, strict=True))


def three_sets(before: Labelled, after: Labelled) -> ThreeSets:
    """Return two releases, and the newer one at the older's class frequencies."""
    return ThreeSets(before, after, shifted(after, class_weights(before, after)))


def class_weights(before: Labelled, after: Labelled) -> Floats:
    """Return w[true class] that gives the newer set the older's class frequencies.

    NaN for classes that the newer set does not hold.
    """
    older, newer = (
        np.bincount(part.true_class, weights=part.weight, minlength=part.predictions.n_classes)
        for part in (before, after)
    )
    older, newer = older / older.sum(), newer / newer.sum()
    held = newer > 0
    return np.where(held, older / np.where(held, newer, 1.0), NONE)


def value_draws(
    calibrator: ClasswiseCalibrator, sample: ClassSample, score: float, options: FitOptions
) -> tuple[Floats, float] | None:
    """Return draws of the confidence at a score, and the families near it.

    None for methods that are too slow to be fitted in every draw.
    """
    settings, masses = calibrator.settings, class_masses(sample)
    n_near = float(np.interp(score, masses.support.score, masses.support.n))
    if scarce_fallback(masses, options) is not None:
        return share_draws(sample, options.n_draws), masses.effective_number
    draw_values = getattr(settings, "draw_values", None)
    if draw_values is not None:  # refits all draws at once
        values = draw_values(sample, score, options.n_draws)
    elif BY_NAME[calibrator.method].additive:
        values = np.empty(options.n_draws)
        at = np.array([score])
        for draw in range(options.n_draws):
            drawn = cluster_weights(sample.cluster_key, draw)[sample.cluster]
            curve = settings.fit_curve(replace(sample, weight=sample.weight * drawn))
            values[draw] = curve.value(at)[0]
    else:
        return None
    return guarded(values[None], np.array([n_near]))[0], n_near


def change_of(
    points: Sequence[float], draws: Sequence[tuple[Floats, float] | None], options: FitOptions
) -> Change:
    """Return a change with its parts and their intervals."""
    before, fixed, after = points

    def bounds(first: int, second: int) -> tuple[float, float]:
        one, other = draws[first], draws[second]
        if one is None or other is None:
            return NONE, NONE
        n_near = np.array([min(one[1], other[1])])
        low, high = expanded_quantiles((other[0] - one[0])[None], n_near, options)
        difference = points[second] - points[first]
        return min(float(low[0]), difference), max(float(high[0]), difference)

    return Change(before, fixed, after, *bounds(0, 2), *bounds(0, 1), *bounds(1, 2))


def share_change(samples: tuple[ClassSample | None, ...], options: FitOptions) -> Change | None:
    """Return what moved the share right of a class; None where that is not known."""
    given = [sample for sample in samples if sample is not None]
    if len(given) < len(samples):
        return None
    points = [sample.share_correct for sample in given]
    draws = [
        (share_draws(sample, options.n_draws), class_masses(sample).effective_number)
        if options.n_draws
        else None
        for sample in given
    ]
    return change_of(points, draws, options)


def draws_at(
    calibrator: Calibrator,
    samples: tuple[ClassSample | None, ...],
    score: float,
    options: FitOptions,
) -> list[tuple[Floats, float] | None]:
    """Return draws of a class's confidence at a score in three sets, where there are any."""
    if not isinstance(calibrator, ClasswiseCalibrator) or not options.n_draws:
        return [None] * len(samples)
    return [
        None if sample is None else value_draws(calibrator, sample, score, options)
        for sample in samples
    ]
