"""What has to be known of an estimated composition before it is believed."""

from dataclasses import dataclass

import numpy as np

from credence.calibrators.protocol import FitOptions
from credence.composition.both_samples import CalibrationSample, UseSample, score_draw
from credence.composition.estimate import Composition, compare_predicted
from credence.draws import cluster_weights, kish
from credence.findings import CappedWeight, MixDoubts
from credence.predictions import Booleans, Floats
from credence.progress import each

NEAR_SINGULAR = 100.0  # condition number: an error in the mix grows by as much
WIDE_SHARE = 0.25  # standard deviation of a share that is as good as unknown
WHOLE = 0.9  # width of an interval of such a share
FEW_SEEN = 16  # proteins: of fewer, chance alone gives half of it and more, 0.5/√n
SMALL_P = 0.01  # p-value below which a test rejects
LARGE_GAP = 0.02  # gap between distributions that matters
HELD = 0.5  # part of a class's weight that is left, below which it is reported


@dataclass(frozen=True, kw_only=True, eq=False)
class Diagnostics:
    """Numbers that say how far a composition can be believed."""

    condition: float  # Condition number of P(predicted | true); ∞ where it is singular
    effective_before: Floats  # Kish's number of proteins per predicted class, before and after
    effective_after: Floats
    p_no_shift: float  # Of the test that the classes are predicted as often as in calibration
    # Greatest gap of the distributions of class and score; p that the composition explains it.
    gap: float
    p_label_shift: float
    doubts: MixDoubts  # What a reader has to know before believing it

    @property
    def is_other_kind(self) -> bool:
        """Whether no composition explains the scores."""
        return self.p_label_shift < SMALL_P and self.gap > LARGE_GAP


def diagnose(
    sample: CalibrationSample, use: UseSample, composition: Composition, options: FitOptions
) -> Diagnostics:
    """Return what has to be known of a composition."""
    mass = sample.score_masses()
    weight = np.nan_to_num(composition.estimated_weight)
    no_shift = composition.no_shift or compare_predicted(sample, use)
    gaps = walk(use.counts / use.n_rows - mix(mass, weight))
    p_label = np.nan
    if options.n_draws > 1 and min(sample.n_clusters, use.n_rows) >= FEW_SEEN:
        off_walk = np.empty(options.n_draws)
        weights = composition.weight_draws
        for draw in each(range(options.n_draws), options.n_draws):
            moved = sample.score_masses(cluster_weights(sample.unit_key, draw))
            seen = score_draw(use, draw)
            tilt = np.nan_to_num(weights[:, draw]) if weights.shape[1] else weight
            off_walk[draw] = np.abs(walk(seen - mix(moved, tilt)) - gaps).max()
        p_label = float((1 + (off_walk >= np.abs(gaps).max()).sum()) / (1 + options.n_draws))
    of_known = mass.sum(axis=2)[:, composition.is_known]
    values = np.linalg.svd(of_known / of_known.sum(axis=0), compute_uv=False)
    is_singular = values[-1] <= np.finfo(np.float64).eps * values[0]
    condition = float("inf") if is_singular else float(values[0] / values[-1])
    before, after = _effective(sample, np.nan_to_num(composition.fit_weight))
    gap = float(np.abs(gaps).max())
    return Diagnostics(
        condition=condition,
        effective_before=before,
        effective_after=after,
        p_no_shift=no_shift.p_value,
        gap=gap,
        p_label_shift=p_label,
        doubts=_doubts(sample.class_names, composition, condition > NEAR_SINGULAR),
    )


def mix(mass: Floats, weight: Floats) -> Floats:
    """Return the mass of predicted class and score under weights of true classes."""
    total = np.einsum("ijs,j->is", mass, weight)
    return np.asarray(total / total.sum())


def walk(difference: Floats) -> Floats:
    """Return running sums over scores, of each predicted class."""
    return np.asarray(np.cumsum(difference, axis=1))


def _effective(sample: CalibrationSample, weight: Floats) -> tuple[Floats, Floats]:
    predicted = sample.predicted_class
    weights = (sample.weight, sample.weight * weight[sample.true_class])
    before, after = (
        np.array(
            [kish(row_weight[(predicted == k) & (row_weight > 0)]) for k in range(len(weight))]
        )
        for row_weight in weights
    )
    return before, after


def _doubts(names: tuple[str, ...], composition: Composition, is_singular: bool) -> MixDoubts:
    is_unsure = composition.deviation > WIDE_SHARE
    is_unsure |= composition.upper - composition.lower > WHOLE
    if composition.is_free is not None:
        # Without intervals all that is open is as good as unknown.
        is_narrow = composition.upper - composition.lower <= WIDE_SHARE
        is_unsure |= composition.is_free & ~is_narrow
    is_unsure &= composition.is_known
    is_few = np.less(composition.n_seen, FEW_SEEN)
    is_estimated = composition.least > 0.0

    def named(rows: Booleans) -> tuple[str, ...]:
        return tuple(names[class_] for class_ in np.flatnonzero(rows))

    return MixDoubts(
        n_classes=len(names),
        missing=named(~composition.is_known),
        confused=named(is_unsure & ~is_few),
        scarce=named(is_unsure & is_few),
        is_estimated=is_estimated,
        is_inseparable=is_singular and is_estimated,
        capped=_capped(names, composition),
    )


def _capped(names: tuple[str, ...], composition: Composition) -> tuple[CappedWeight, ...]:
    """Return the classes of which an estimated weight is applied in part."""
    number = composition.class_number
    if composition.no_shift is None or number is None:
        return ()
    asked, applied = composition.moved_weight, composition.fit_weight
    return tuple(
        CappedWeight(
            class_name=names[class_],
            n=float(number[class_]),
            asked=float(asked[class_]),
            applied=float(applied[class_]),
        )
        for class_ in np.flatnonzero(applied < HELD * asked)
    )
