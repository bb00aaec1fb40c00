"""The composition of a query set with its interval, and what of it is applied.

Calibration clusters and the query set's rows or genomes are drawn, and in every
draw the composition is estimated again. The estimate is shown with its interval;
confidences are corrected for a composition that lies between the calibration
set's and the estimate, by how much of the shift chance cannot explain.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy
from scipy import special

from credence.calibrators.intervals import (
    LEAST_FREEDOM,
    draws_needed,
    expanded_quantiles,
    freedom_with,
    tail_levels,
)
from credence.calibrators.protocol import FitOptions
from credence.composition import both_samples
from credence.composition.both_samples import HALF_ROW, CalibrationSample, UseSample
from credence.composition.estimators import Estimate, Estimator, EstimatorInput
from credence.composition.probabilities import parameter_draws
from credence.draws import drawn_weights, id_keys, kish, uniform
from credence.predictions import Booleans, Floats, Predictions
from credence.progress import each


def estimator_input(sample: CalibrationSample, use: UseSample) -> EstimatorInput:
    """Return what both sets say, each row once."""
    evidence = next(
        drawn_evidence(sample, use, np.ones((len(sample.unit_key), 1)), is_drawn=False)
    )
    return replace(evidence, class_number=sample.class_number)


def drawn_evidence(
    sample: CalibrationSample, use: UseSample, weights: Floats, *, is_drawn: bool
) -> Iterator[EstimatorInput]:
    """Yield the evidence under weights of clusters; of the query set a draw each, if asked for."""
    model, cells, n_classes = sample.model, use.cells, sample.n_classes
    confusion = sample.masses(sample.outcome, n_classes**2, weights)
    if model is not None and cells is not None:
        if is_drawn:
            slope, bias = parameter_draws(
                model, sample.logs, sample.true_class, sample.weight, sample.unit, weights
            )
        kept = model.uneven(cells.row)
        mass = cells.shared(cells.n_rows / use.n_rows)
        # What keeping a part of the rows has changed in the mean is known, and taken back.
        gathered = use.total_probability / use.n_rows - mass @ kept
    for draw in range(weights.shape[1]):
        predicted = both_samples.predicted_draw(use, draw) if is_drawn else use.counts.sum(axis=1)
        joint, share = confusion[:, draw], predicted / predicted.sum()
        joint = joint.reshape(n_classes, n_classes)
        plain = EstimatorInput(
            confusion=joint,
            predicted_share=share,
            n_calibration=sample.n_clusters,
            n_query=use.n_units,
        )
        if model is None or cells is None:
            yield plain
            continue
        assert sample.probability is not None
        calibration_probability, probability = sample.probability, kept
        if is_drawn:
            calibration_probability, probability = (
                model.moved(values, float(slope[draw]), bias[:, draw])
                for values in (sample.probability, kept)
            )
            # Half a row that is surely of each class: a share of 0 has a width.
            probability = np.concatenate([probability, np.eye(n_classes)])
            half = np.isfinite(model.bias) * both_samples.half_weights(use, draw)
            mass = np.concatenate([both_samples.cell_weights(use, draw), half])
            mass = mass / mass.sum()
        row_mass = sample.weight * weights[sample.unit, draw]
        row_mass = row_mass / row_mass.sum()
        soft = np.empty((n_classes, n_classes))
        for class_ in range(n_classes):
            rows = sample.true_class == class_
            soft[:, class_] = row_mass[rows] @ calibration_probability[rows]
        yield replace(
            plain,
            soft_confusion=soft,
            mean_probability=mass @ probability + gathered,
            probability=probability,
            mass=mass,
            calibration_probability=calibration_probability,
            calibration_true=sample.true_class,
            calibration_mass=row_mass,
        )


N_CHANCE_DRAWS = 400  # of what chance gives; they cost next to nothing
TEST_LEVEL = 0.05  # of the test that decides whether a composition is applied


@dataclass(frozen=True, kw_only=True, eq=False)
class NoShift:
    """How far the predicted classes are from calibration's, and chance alone."""

    distance: float  # Σ (μ_i − ν_i)²/v_i, v the variance that chance gives
    chance: Floats  # The same where nothing but chance is at work

    @property
    def p_value(self) -> float:
        """Probability of such a distance by chance."""
        return float((1 + (self.chance >= self.distance).sum()) / (1 + len(self.chance)))

    @property
    def reality(self) -> float:
        """Part of the distance that chance does not give in 19 of 20 sets; 0: not rejected."""
        if self.distance <= 0.0:
            return 0.0
        # The least distance that `p_value` does not put below the level.
        reached = min(math.ceil(TEST_LEVEL * (1 + len(self.chance))) - 1, len(self.chance))
        limit = float(np.sort(self.chance)[-reached]) if reached > 0 else np.inf
        return max(0.0, 1.0 - limit / self.distance)


def compare_predicted(
    sample: CalibrationSample, use: UseSample, n_draws: int = N_CHANCE_DRAWS
) -> NoShift:
    """Return the distance between both sets' predicted classes, and chance's."""
    size = np.bincount(sample.unit, weights=sample.weight)
    size = size / size.sum()
    known = np.bincount(
        sample.predicted_class, weights=sample.weight, minlength=len(use.class_key)
    )
    known = known / known.sum()
    seen = use.counts.sum(axis=1) / use.n_rows
    n_known, n_seen = kish(size), use.n_units
    pool = (n_known * known + n_seen * seen) / (n_known + n_seen)
    order = np.argsort(use.class_key)
    order = order[pool[order] > 0]
    share = pool[order]
    steps = np.cumsum(share)[:-1]
    off = np.empty((n_draws, len(order)))
    for draw in range(n_draws):
        class_ = np.searchsorted(steps, uniform(sample.unit_key, draw, "no shift"), side="right")
        drawn = np.bincount(class_, weights=size, minlength=len(order))
        off[draw] = _use_noise(use, draw, pool, seen)[order] + share - drawn
    # A class in which a large family may fall by chance counts for less than one of lone proteins.
    variance = (off**2).mean(axis=0)
    distance = float(((seen - known)[order] ** 2 / variance).sum())
    return NoShift(distance=distance, chance=(off**2 / variance).sum(axis=1))


def _use_noise(use: UseSample, draw: int, pool: Floats, seen: Floats) -> Floats:
    """Return how far a draw of the query set is from it; a genome gets the mix of another."""
    genomes = use.drawn_genomes
    if genomes is None:
        drawn = both_samples.gamma_weights(pool * use.n_rows, use.class_key, draw, "no shift")
        return np.asarray(drawn / drawn.sum() - pool)
    size = np.asarray(genomes.counts.sum(axis=0), dtype=np.float64)
    level = uniform(genomes.key, draw, "no shift")
    other = np.searchsorted(np.cumsum(size / size.sum())[:-1], level, side="right")
    given = np.bincount(other, weights=size, minlength=len(size)) / size
    drawn = (genomes.counts @ given).reshape(use.counts.shape).sum(axis=1)
    return np.asarray(drawn / drawn.sum() - seen)


FEWEST_ROWS = 20  # of a query set, below which its proportions are not estimated: decision 0042
FEWEST_DRAWS = 2  # of which quantiles can be taken
PRIOR_STREAMS = ("error of EM", "error of calibration's proportions")
HELD_CLUSTERS = 4.0  # of a class, that hold its weight near 1 (decision 0021)
SHARE_DIGITS = 6  # of the weights to fit with
HALF = 0.5  # of the mean of the draws: no share is taken to be less


@dataclass(frozen=True, kw_only=True, eq=False)
class Composition:
    """Shares of the classes in a query set."""

    # Shares in calibration; in the query set, as estimated or stated, with the interval's ends.
    calibration_proportion: Floats
    share: Floats
    lower: Floats
    upper: Floats
    draws: Floats  # Shares in each draw
    calibration_draws: Floats  # The calibration set's shares in the same draws
    deviation: Floats  # Standard deviation of the estimate where shares below 0 are allowed
    is_known: Booleans  # Whether calibration holds proteins of the class
    # Half a row's share: no estimated share is known to be less. 0 where the composition was
    # stated.
    least: float = 0.0
    is_free: Booleans | None = None  # Shares that the estimator leaves open
    # Effective number of calibration clusters of each class, where the composition was estimated.
    class_number: Floats | None = None
    n_seen: Floats | float = np.inf  # The same or, where they are fewer, the query set's genomes
    # The comparison of predicted classes, where the composition was estimated.
    no_shift: NoShift | None = None

    @property
    def weight(self) -> Floats:
        """Ratio w = q/p of each class; NaN for one that calibration does not hold."""
        return ratio_of(self.share, self.calibration_proportion)

    @property
    def part_applied(self) -> float:
        """Part of the estimated shift that is applied: what chance cannot explain."""
        return 1.0 if self.no_shift is None else self.no_shift.reality

    @property
    def moved_share(self) -> Floats:
        """Composition so far from calibration's as chance does not explain.

        No share is less than half the mean of its draws: an estimated share of 0 is not none.
        """
        if self.no_shift is None:
            return self.share
        if self.part_applied == 0.0:
            return self.calibration_proportion
        aim = np.maximum(self.share, self.least)
        if self.draws.shape[1] > 0:
            aim = np.maximum(aim, HALF * self.draws.mean(axis=1))
        aim = np.where(self.is_known, aim, 0.0)
        way = aim / aim.sum() - self.calibration_proportion
        return np.asarray(self.calibration_proportion + self.part_applied * way)

    @property
    def estimated_weight(self) -> Floats:
        """Ratio w of the estimated shares; one of 0 counts as half a row."""
        return ratio_of(np.maximum(self.share, self.least), self.calibration_proportion)

    @property
    def moved_weight(self) -> Floats:
        """Ratio w of the moved composition."""
        return ratio_of(self.moved_share, self.calibration_proportion)

    @property
    def fit_weight(self) -> Floats:
        """The w to fit with: 1 + (w − 1) n/(n + 4) where a class has few clusters, n of them.

        To six digits: processors differ in the last ones, and trees split otherwise for it.
        """
        weight = self.moved_weight
        if self.class_number is not None and self.part_applied > 0.0:
            part = self.class_number / (self.class_number + HELD_CLUSTERS)
            weight = np.where(weight > 1.0, 1.0 + (weight - 1.0) * part, weight)
        return np.array([float(f"{value:.{SHARE_DIGITS}g}") for value in weight])

    @property
    def applied_proportion(self) -> Floats:
        """Composition that the fit weights stand for."""
        if self.no_shift is None or self.part_applied == 0.0:
            return self.moved_share
        applied = np.nan_to_num(self.fit_weight) * self.calibration_proportion
        return np.asarray(applied / applied.sum())

    @property
    def weight_draws(self) -> Floats:
        """The estimated w in each draw."""
        return ratio_of(np.maximum(self.draws, self.least), self.calibration_draws)


def ratio_of(share: Floats, calibration_proportion: Floats) -> Floats:
    """Return w = q/p; NaN where calibration holds nothing of the class."""
    blank = np.full(np.shape(share), np.nan)
    return np.asarray(
        np.divide(share, calibration_proportion, out=blank, where=calibration_proportion > 0)
    )


def estimate_composition(
    sample: CalibrationSample, use: UseSample, estimator: Estimator, options: FitOptions
) -> Composition:
    """Return the composition of a query set with its interval."""
    evidence = estimator_input(sample, use)
    is_known = evidence.prevalence > 0
    estimate = _within(estimator, evidence, is_known)
    n_classes, n_draws = len(is_known), options.n_draws
    # An interval rests on the fewer: the class's clusters, or the query set's genomes.
    n_units = np.minimum(sample.class_number, use.n_units)
    composition = Composition(
        calibration_proportion=evidence.prevalence,
        share=estimate.share,
        lower=np.full(n_classes, np.nan),
        upper=np.full(n_classes, np.nan),
        draws=np.zeros((n_classes, 0)),
        calibration_draws=np.zeros((n_classes, 0)),
        deviation=np.zeros(n_classes),
        is_known=is_known,
        least=HALF_ROW / use.n_rows,
        is_free=estimate.is_free,
        class_number=evidence.class_number,
        n_seen=n_units,
        no_shift=compare_predicted(sample, use),
    )
    if n_draws < FEWEST_DRAWS:
        return composition
    draws, unbounded, calibration = (np.zeros((n_classes, n_draws)) for _ in range(3))
    weights = drawn_weights(sample.unit_key, range(n_draws))
    # To second order it does not matter whose composition weighs the rows of a draw.
    near = np.where(is_known, np.maximum(estimate.share, HALF_ROW / use.n_rows), 0.0)
    evidence_of_draws = drawn_evidence(sample, use, weights, is_drawn=True)
    for draw, drawn in enumerate(each(evidence_of_draws, n_draws)):
        level = [uniform(use.class_key, draw, stream) for stream in PRIOR_STREAMS]
        drawn = replace(
            drawn,
            start=near / near.sum(),
            class_number=evidence.class_number,
            prior_error=special.ndtri(np.stack(level)),
        )
        redrawn = _within(estimator, drawn, is_known)
        draws[:, draw], unbounded[:, draw] = redrawn.share, redrawn.unbounded
        calibration[:, draw] = drawn.prevalence
    # The standard deviation that the middle of the draws implies.
    low, high = np.quantile(unbounded, [special.ndtr(-1.0), special.ndtr(1.0)], axis=1)
    deviation = np.asarray((high - low) / 2.0)
    lower, upper = _interval(estimate, draws, deviation, n_units, options)
    ends, flat = np.stack([estimate.share, estimate.share]), estimate.flat
    rules = {"A_ub": -flat, "b_ub": estimate.share, "b_eq": [0.0], "bounds": (None, None)}
    for class_ in np.flatnonzero(estimate.is_free):
        for end, sign in enumerate((1.0, -1.0)):
            summed = flat.sum(axis=0)[None, :]
            reached = scipy.optimize.linprog(sign * flat[class_], A_eq=summed, **rules)
            if reached.status == 0:
                ends[end, class_] += sign * reached.fun
    lower, upper = np.minimum(lower, ends[0]), np.maximum(upper, ends[1])
    lower[~is_known], upper[~is_known] = 0.0, 1.0
    return replace(
        composition,
        lower=lower,
        upper=upper,
        draws=draws,
        calibration_draws=calibration,
        deviation=deviation,
    )


def fixed_composition(sample: CalibrationSample, share: Floats | None) -> Composition:
    """Return a composition that is taken as known: a stated one, or calibration's."""
    weight, true_class, n_classes = sample.weight, sample.true_class, sample.n_classes
    prevalence = np.bincount(true_class, weights=weight, minlength=n_classes) / weight.sum()
    taken = prevalence if share is None else share
    none, nothing = np.zeros((n_classes, 0)), np.zeros(n_classes)
    return Composition(
        calibration_proportion=prevalence,
        share=taken,
        lower=taken,
        upper=taken,
        draws=none,
        calibration_draws=none,
        deviation=nothing,
        is_known=prevalence > 0,
    )


def _within(estimator: Estimator, evidence: EstimatorInput, is_known: Booleans) -> Estimate:
    assert estimator.estimate is not None
    among_known = estimator.estimate(evidence.among(is_known))

    def of_all(values: Floats) -> Floats:
        every = np.zeros((len(is_known), *values.shape[1:]))
        every[is_known] = values
        return every

    return Estimate(
        share=of_all(among_known.share),
        unbounded=of_all(among_known.unbounded),
        flat=of_all(among_known.flat),
    )


def _interval(
    estimate: Estimate, draws: Floats, deviation: Floats, n_clusters: Floats, options: FitOptions
) -> tuple[Floats, Floats]:
    """Return percentiles; near 0, where draws pile up, at least a normal's upper end."""
    lower, upper = expanded_quantiles(draws, n_clusters, options, is_share=True)
    tail, _ = tail_levels(options)
    freedom = np.maximum(n_clusters - 1.0, LEAST_FREEDOM)
    if draws.shape[1] < draws_needed(tail):
        freedom = freedom_with(draws.shape[1], freedom)
    reach = -special.stdtrit(freedom, tail) * deviation
    is_near = estimate.unbounded < reach
    upper = np.where(
        is_near, np.maximum(upper, np.maximum(estimate.unbounded, 0.0) + reach), upper
    )
    lower = np.where(is_near & (estimate.unbounded - reach < 0), 0.0, lower)
    return np.minimum(lower, estimate.share), np.minimum(np.maximum(upper, estimate.share), 1.0)


def compression_error(
    sample: CalibrationSample, part: Predictions, use: UseSample, estimator: Estimator
) -> float:
    """Return the greatest change of a share on a part of the query set by gathering its rows."""
    if estimator.estimate is None or sample.model is None or use.cells is None:
        return 0.0
    if use.cells.n_steps == 0:
        return 0.0
    rows = sample.model.even(sample.model.probabilities(part))
    name = id_keys(part)
    every = both_samples.use_sample(part, sample.model, most_rows=part.n_samples)
    shares = []
    for n_steps in (0, use.cells.n_steps):
        gathered = replace(every, cells=both_samples.at_level(rows, name, n_steps))
        evidence = estimator_input(sample, gathered)
        shares.append(estimator.estimate(evidence.among(evidence.prevalence > 0)).share)
    return float(np.abs(shares[0] - shares[1]).max())
