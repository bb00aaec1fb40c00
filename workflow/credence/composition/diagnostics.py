"""What has to be known of an estimated composition before it is believed."""

from dataclasses import dataclass

import numpy as np

from credence.calibrators.protocol import FitOptions
from credence.composition.both_samples import CalibrationSample, UseSample, score_draw
from credence.composition.estimate import Composition, compare_predicted
from credence.draws import cluster_weights, kish
from credence.predictions import Floats
from credence.progress import each

NEAR_SINGULAR = 100.0  # condition number: an error in the mix grows by as much
WIDE_SHARE = 0.25  # standard deviation of a share that is as good as unknown
WHOLE = 0.9  # width of an interval of such a share
FEW_SEEN = 16  # proteins: of fewer, chance alone gives half of it and more, 0.5/√n
SMALL_P = 0.01  # p-value below which a test rejects
LARGE_GAP = 0.02  # gap between distributions that matters
MOST_PART = 0.9  # part of a shift that is applied, below which it is reported
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
    sentences: tuple[str, ...]  # What a reader has to know before believing it
    remarks: tuple[str, ...] = ()  # How much of an estimated composition is applied

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
        sentences=tuple(_sentences(sample, composition, condition, gap, p_label)),
        remarks=tuple(_remarks(sample.class_names, composition)),
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


def _sentences(
    sample: CalibrationSample, composition: Composition, condition: float, gap: float, p: float
) -> list[str]:
    names = sample.class_names
    sentences = []
    missing = [names[class_] for class_ in np.flatnonzero(~composition.is_known)]
    if missing:
        shares, missing_classes = "its share is", "it"
        if len(missing) > 1:
            shares, missing_classes = "their shares are", "them"
        sentences.append(
            f"The calibration set holds no {listed(missing, 'or')}: {shares} not known, "
            f"and confidences cannot be corrected for {missing_classes}."
        )
    is_unsure = composition.deviation > WIDE_SHARE
    is_unsure |= composition.upper - composition.lower > WHOLE
    if composition.is_free is not None:
        # Without intervals all that is open is as good as unknown.
        is_narrow = composition.upper - composition.lower <= WIDE_SHARE
        is_unsure |= composition.is_free & ~is_narrow
    is_unsure &= composition.is_known
    is_few = np.less(composition.n_seen, FEW_SEEN)
    for is_named, why in (
        (is_unsure & ~is_few, "The classifier cannot tell {} from other classes"),
        (is_unsure & is_few, "Too few proteins of {} were seen, here or in calibration"),
    ):
        unsure = [names[class_] for class_ in np.flatnonzero(is_named)]
        unsure_shares = (
            "its share in this set is" if len(unsure) == 1 else "their shares in this set are"
        )
        if unsure:
            which_share = listed(unsure) if len(unsure) < len(names) else "any class"
            sentences.append(f"{why.format(which_share)}: {unsure_shares} all but unknown.")
    is_estimated = composition.least > 0.0
    if condition > NEAR_SINGULAR and is_estimated:
        sentences.append(
            "Some classes are confused so often, or so few of their proteins were seen, that "
            "their proportions cannot be estimated apart: the 95 % intervals are wide."
        )
    if p < SMALL_P and gap > LARGE_GAP and not is_estimated:
        sentences.append(
            "The stated class proportions do not explain the scores of this set: either they are "
            "wrong, or its proteins differ from those of the calibration set (out of "
            "distribution). Do not rely on its confidences until you know which."
        )
    elif p < SMALL_P and gap > LARGE_GAP:
        sentences.append(
            "Label shift alone does not explain the scores of this set: its proteins differ from "
            "those of the calibration set (out of distribution). No correction helps here; do not "
            "rely on its confidences, corrected or not."
        )
    return sentences


def _remarks(names: tuple[str, ...], composition: Composition) -> list[str]:
    """Return sentences on an estimated composition that is applied in part."""
    no_shift = composition.no_shift
    if no_shift is None:
        return []
    if composition.part_applied == 0.0:
        return [
            "How often the classes are predicted differs from the calibration set by no more "
            "than chance: confidences are not corrected, and their intervals include what is "
            "uncertain about the class proportions."
        ]
    sentences = []
    if composition.part_applied < MOST_PART:
        sentences.append(
            f"{100 * composition.part_applied:.0f} % of the estimated difference from the "
            "calibration set is applied (the rest may be chance)."
        )
    held = np.flatnonzero(composition.fit_weight < HELD * composition.moved_weight)
    if len(held) > 0:
        assert composition.class_number is not None
        wanted, carried = composition.moved_weight, composition.fit_weight
        counted = [
            f"{names[class_]} (only {composition.class_number[class_]:.1f} effective proteins, "
            f"weight {carried[class_]:.3g} in place of {wanted[class_]:.3g})"
            for class_ in held
        ]
        sentences.append(
            "Weight capped, since the calibration set has few independent proteins: "
            f"{listed(counted)}."
        )
    return sentences


def listed(names: list[str], word: str = "and") -> str:
    """Return names as one enumeration."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
