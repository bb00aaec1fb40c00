"""The estimators of a composition, and the compositions that are not estimated."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy

from credence.calibrators.newton import newton_minimum
from credence.calibrators.protocol import Need
from credence.composition.probabilities import TINIEST
from credence.predictions import Booleans, Floats, Integers
from credence.problems import Problem, nearest, raise_any, refuse


@dataclass(frozen=True, kw_only=True, eq=False)
class EstimatorInput:
    """What is known of both sets, as sums; one draw of a bootstrap is one more."""

    confusion: Floats  # P(predicted i, true j) in calibration, weighted; sums to 1
    predicted_share: Floats  # P(predicted i) in the query set
    n_calibration: float  # Effective numbers of rows
    n_query: float
    # Calibrated probability of i, summed over true j; None without vectors.
    soft_confusion: Floats | None = None
    mean_probability: Floats | None = None  # Mean calibrated probability of i in the query set
    # Calibrated probabilities of the query set's rows, or of cells of like rows.
    probability: Floats | None = None
    mass: Floats | None = None  # Share of the query set in each cell
    # Calibrated probabilities of the calibration set's rows.
    calibration_probability: Floats | None = None
    calibration_true: Integers | None = None  # Their true classes
    calibration_mass: Floats | None = None  # Their weights, summing to 1
    class_number: Floats | None = None  # Effective number of clusters of each true class
    # In a draw: a composition near the answer, all positive, which is not to be found again.
    start: Floats | None = None
    # In a draw: standard normal errors of what `matched` holds its answer near, a row for EM's
    # composition and one for calibration's.
    prior_error: Floats | None = None

    @property
    def prevalence(self) -> Floats:
        """Share of each true class in calibration."""
        return np.asarray(self.confusion.sum(axis=0))

    def among(self, classes: Booleans) -> Self:
        """Return the evidence with columns of these true classes alone."""

        def columns(values: Floats | None) -> Floats | None:
            return None if values is None else values[:, classes]

        return replace(
            self,
            confusion=self.confusion[:, classes],
            soft_confusion=columns(self.soft_confusion),
            probability=columns(self.probability),
            calibration_probability=columns(self.calibration_probability),
            calibration_true=None
            if self.calibration_true is None
            else (np.cumsum(classes) - 1)[self.calibration_true],
            class_number=None if self.class_number is None else self.class_number[classes],
            start=None if self.start is None else self.start[classes],
            prior_error=columns(self.prior_error),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A composition, and where it would be if shares could be negative."""

    share: Floats  # Not negative, summing to 1
    # The same criterion, to second order, without the bound at 0. It says how far a share of 0 is
    # from being positive.
    unbounded: Floats
    flat: Floats  # Unit vectors, as columns, along which the criterion is the same

    @property
    def is_free(self) -> Booleans:
        """Shares that the criterion leaves open."""
        return np.asarray((self.flat**2).sum(axis=1) > TAKEN_PART)


@dataclass(frozen=True, kw_only=True)
class Estimator:
    """One entry of the registry."""

    name: str  # What users write
    summary: str  # One line
    reference: str  # Where it is from
    needs: Need  # What it asks of the predictions
    # Evidence → :class:`Estimate`; every true class in it has calibration proteins. None where
    # nothing is estimated: the calibration set's composition (`none`) or a stated one.
    estimate: Callable[[EstimatorInput], Estimate] | None = None


SUM_TOLERANCE = 0.005  # of stated shares: they may have been rounded to two decimals


def stated_share(stated: Mapping[str, float], class_names: Sequence[str], where: str) -> Floats:
    """Return stated shares, each from 0 to 1, in the order of the classes, summing to 1."""
    problems = [
        Problem(
            where=where,
            what=f"there is no class {name!r}.",
            remedy=nearest(name, list(class_names)),
        )
        for name in stated
        if name not in class_names
    ]
    if not problems and not abs((total := sum(stated.values())) - 1.0) <= SUM_TOLERANCE:
        message = f"the shares sum to {total:.4g}."
        problems = [Problem(where=where, what=message, remedy="Give shares that sum to 1.")]
    raise_any(problems)
    values = np.array([float(stated.get(name, 0.0)) for name in class_names])
    return np.asarray(values / values.sum())


FLAT_CURVATURE = 1e-9  # of the greatest curvature: below it a direction counts as flat
AS_IF = 1e-8  # the curvature it is given; rounding then moves no share by 1e-7
TAKEN_PART = 1e-3  # of a class in flat directions, above which its share is not determined
MULTIPLIER_SLACK = 1e-12  # of a multiplier, as a part of the largest gradient
MOST_TURNS = 100  # changes of the active set, per class
LEAST_DENSITY_LEFT = 0.05  # of a cell's density that a step leaves: the parabola holds no further
MIXTURE_DECREMENT = 1e-14  # of the mean log-likelihood, below which the maximum is reached


def quadratic_minimum(curvature: Floats, linear: Floats) -> Floats:
    """Return the shares that minimise ½ x'Hx − c'x, exactly; where H is flat, nearest to even."""
    n = len(linear)
    steady = conditioned(curvature)
    is_free = np.ones(n, dtype=np.bool_)
    x = np.full(n, 1.0 / n)
    for _ in range(MOST_TURNS * n):
        target = on_free(steady, linear, is_free)
        falling = is_free & (target < 0.0)
        if falling.any():
            part = np.full(n, np.inf)
            part[falling] = x[falling] / (x[falling] - target[falling])
            blocking = int(part.argmin())
            x = x + min(float(part[blocking]), 1.0) * (target - x)
            x[blocking] = 0.0
            is_free[blocking] = False
            continue
        x = target
        gradient = steady @ x - linear
        level = float(gradient[is_free].mean())
        gain = np.where(is_free, 0.0, gradient - level)
        if gain.min() >= -MULTIPLIER_SLACK * max(
            float(np.abs(gradient).max()), float(np.abs(linear).max())
        ):
            break
        is_free[int(gain.argmin())] = True
    x = np.where(is_free, np.maximum(x, 0.0), 0.0)
    return np.asarray(x / x.sum())


def conditioned(curvature: Floats) -> Floats:
    """Return H with a little curvature where it is flat, lest rounding place the minimum."""
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    greatest = max(float(values[-1]), np.finfo(np.float64).tiny)
    is_flat = values < FLAT_CURVATURE * greatest
    if not is_flat.any():
        return np.asarray((curvature + curvature.T) / 2.0)
    return np.asarray((vectors * np.where(is_flat, AS_IF * greatest, values)) @ vectors.T)


def flat_directions(curvature: Floats) -> Floats:
    """Return unit vectors, as columns, along which H is as good as flat."""
    values, vectors = np.linalg.eigh((curvature + curvature.T) / 2.0)
    return np.asarray(vectors[:, values < FLAT_CURVATURE * values[-1]])


def on_free(curvature: Floats, linear: Floats, is_free: Booleans) -> Floats:
    """Return the minimum with some entries held at 0, the others of any sign."""
    free = np.flatnonzero(is_free)
    n = len(free)
    block = curvature[np.ix_(free, free)]
    unit = max(float(np.trace(block)) / n, np.finfo(np.float64).tiny)
    system = np.zeros((n + 1, n + 1))
    system[:n, :n] = block / unit
    system[:n, n] = system[n, :n] = 1.0
    right = np.append(linear[free] / unit, 1.0)
    solution = np.linalg.lstsq(system, right, rcond=None)[0]
    x = np.zeros(len(linear))
    x[free] = solution[:n]
    return x


def mixture_maximum(ratio: Floats, mass: Floats, start: Floats) -> Floats:
    """Return the shares q of most likelihood Σ m log Σ_j ratio_j q_j, which is concave."""

    def loss(share: Floats) -> float:
        return -float(mass @ np.log(ratio @ share))

    def step_at(share: Floats) -> tuple[Floats, bool]:
        density = ratio @ share
        gradient, curvature = mixture_slope(ratio, mass, density)
        steady = conditioned(curvature)
        step = quadratic_minimum(steady, steady @ share + gradient) - share
        if gradient @ step <= MIXTURE_DECREMENT:
            return np.zeros(len(share)), True
        while (ratio @ (share + step) < LEAST_DENSITY_LEFT * density).any():
            step = step / 2.0
        return step, False

    share = newton_minimum(start, loss, step_at)
    return np.asarray(share / share.sum())


def mixture_slope(ratio: Floats, mass: Floats, density: Floats) -> tuple[Floats, Floats]:
    """Return gradient and negated second derivative of the mean log-likelihood."""
    scaled = ratio / density[:, None]
    weighted = scaled * mass[:, None]
    return weighted.sum(axis=0), weighted.T @ scaled


def solved(curvature: Floats, linear: Floats) -> Estimate:
    """Return the composition of least ½ q'Hq − c'q, nearest to even where H is flat."""
    flat = flat_directions(curvature)
    message = linear - flat @ (flat.T @ linear)
    return near_parabola(curvature, message, quadratic_minimum(conditioned(curvature), message))


def near_parabola(curvature: Floats, linear: Floats, share: Floats) -> Estimate:
    """Return shares, with the minimum for shares of any sign and what H leaves open."""
    everywhere = np.ones(len(linear), dtype=np.bool_)
    unbounded = on_free(conditioned(curvature), linear, everywhere)
    return Estimate(share=share, unbounded=unbounded, flat=flat_directions(curvature))


def least_squares(given_true: Floats, observed: Floats) -> Estimate:
    """Return the q of least |A q − μ|²."""
    return solved(given_true.T @ given_true, given_true.T @ observed)


def hard(evidence: EstimatorInput) -> Estimate:
    """Return the composition that explains how often each class is predicted."""
    return least_squares(evidence.confusion / evidence.prevalence, evidence.predicted_share)


def soft(evidence: EstimatorInput) -> Estimate:
    """Return the composition that explains the mean calibrated probabilities."""
    assert evidence.soft_confusion is not None and evidence.mean_probability is not None
    return least_squares(evidence.soft_confusion / evidence.prevalence, evidence.mean_probability)


def most_likely(evidence: EstimatorInput) -> Estimate:
    """Return the composition of most likelihood."""
    assert evidence.calibration_mass is not None and evidence.probability is not None
    assert evidence.calibration_probability is not None and evidence.mass is not None
    # Not the share of the class: where a draw leaves hardly any of it, probabilities do not fall
    # as far, and the whole query set would be of it.
    usual = np.maximum(evidence.calibration_mass @ evidence.calibration_probability, TINIEST)
    ratio, mass = np.maximum(evidence.probability, TINIEST) / usual, evidence.mass
    share = mixture_maximum(ratio, mass, usual / usual.sum())
    # The likelihood's parabola at the maximum, for shares of any sign.
    gradient, curvature = mixture_slope(ratio, mass, ratio @ share)
    return near_parabola(curvature, conditioned(curvature) @ share + gradient, share)


EM_ERROR = 0.03  # τ, as measured on the demo world: decision 0019
CALIBRATION_FAMILIES = 10.0  # that calibration's own proportions count as: decision 0042
FARTHEST_FROM_EM = 3.0  # such errors that the answer may lie from EM's
STEADY = 1e-9  # of the noise's mean, where two classes have the same densities


def matched(evidence: EstimatorInput) -> Estimate:
    """Return the composition that explains the mean scores of the likelihood."""
    assert evidence.probability is not None and evidence.mass is not None
    assert evidence.calibration_probability is not None
    assert evidence.calibration_true is not None and evidence.calibration_mass is not None
    prevalence = evidence.prevalence
    start = most_likely(evidence).share if evidence.start is None else evidence.start
    ratio = np.maximum(evidence.probability, TINIEST) / prevalence
    observed, information = mixture_slope(ratio, evidence.mass, ratio @ start)
    density = np.maximum(evidence.calibration_probability, TINIEST) / prevalence
    density = density / (density @ start)[:, None]
    part = evidence.calibration_mass / prevalence[evidence.calibration_true]
    n_classes = len(prevalence)
    given_true = density.T @ (np.eye(n_classes)[evidence.calibration_true] * part[:, None])
    # The variance of what is matched: of the query set's mean, and of calibration's own rows. One
    # of these that an estimate of 0 makes worth a million others is not trusted to be a million.
    noise = information / evidence.n_query
    if evidence.class_number is not None:
        spread = start**2 / np.maximum(evidence.class_number, 1.0)
        noise = noise + (density * (part * spread[evidence.calibration_true])[:, None]).T @ density
    steady = np.eye(n_classes) * (STEADY * np.trace(noise) / n_classes)
    precision = np.linalg.inv(noise + steady)
    curvature = given_true.T @ precision @ given_true
    curvature = (curvature + curvature.T) / 2.0
    linear = given_true.T @ precision @ observed
    # A composition is held near EM's, as far as EM's likelihood determines one, and near
    # calibration's. In a draw both are as far off as they may be.
    near_em, noise_of_rows = start, np.linalg.inv(conditioned(information * evidence.n_query))
    error = np.zeros((2, n_classes))
    if evidence.prior_error is not None:
        error = evidence.prior_error
        near_em = quadratic_minimum(conditioned(information), information @ start + observed)
    by_em = np.linalg.inv(np.eye(n_classes) * EM_ERROR**2 + noise_of_rows)
    deviation = np.sqrt((prevalence + 1.0 / evidence.n_calibration) / CALIBRATION_FAMILIES)
    held = curvature + by_em + np.diag(deviation**-2)
    linear = linear + by_em @ (near_em + EM_ERROR * error[0])
    linear = linear + (prevalence + deviation * error[1]) / deviation**2
    share = quadratic_minimum(held, linear)
    # Further from EM than EM is ever off: means that blew up, and are left out.
    is_far = float(np.linalg.norm(share - start)) > FARTHEST_FROM_EM * EM_ERROR
    if is_far and evidence.start is None:
        share = start
    return Estimate(
        share=share,
        unbounded=on_free(held, linear, np.ones(n_classes, dtype=np.bool_)),
        flat=flat_directions(curvature),
    )


RLLS_PART = 0.01  # of the bound; the authors' program has it
RLLS_DELTA = 0.05  # probability that the bound does not hold
# Logs of the least and greatest ridge; below the least, what is left unexplained is
# rounding, and the order of the classes decided.
RLLS_RIDGES = (-20.0, 15.0)
RLLS_STILL = 1e-5  # of its log


def regularised(evidence: EstimatorInput) -> Estimate:
    """Return the composition between BBSE's and no shift: least |Cθ − b| + Δ|θ|, w = 1 + θ.

    Neither norm is squared; a ridge of Δ|Cθ − b|/|θ| has the same minimum.
    """
    prevalence, n = evidence.prevalence, evidence.n_calibration
    given_true = evidence.confusion / prevalence
    log_term = 2.0 * np.log(2.0 * len(prevalence) / RLLS_DELTA) / n
    bound = RLLS_PART * 3.0 * (log_term / 3.0 + np.sqrt(log_term))

    def held(log_ridge: float) -> Estimate:
        weak = np.exp(log_ridge) / prevalence**2
        curvature = given_true.T @ given_true + np.diag(weak)
        return solved(curvature, given_true.T @ evidence.predicted_share + weak * prevalence)

    def excess(log_ridge: float) -> float:
        share = held(log_ridge).share
        theta = np.linalg.norm(share / prevalence - 1.0)
        rest = np.linalg.norm(given_true @ share - evidence.predicted_share)
        return float(np.log(max(bound * rest, TINIEST) / max(theta, STEADY)) - log_ridge)

    least, greatest = RLLS_RIDGES
    if excess(least) <= 0.0:
        return held(least)
    if excess(greatest) >= 0.0:
        return held(greatest)
    return held(float(scipy.optimize.brentq(excess, least, greatest, xtol=RLLS_STILL)))


LIPTON = "Lipton, Wang & Smola 2018, arXiv 1802.03916"
ESTIMATORS: tuple[Estimator, ...] = (
    Estimator(
        name="none",
        summary="No correction: the class proportions of the calibration set.",
        reference="",
        needs=Need.CLASS,
    ),
    Estimator(
        name="stated",
        summary="Class proportions that you state; they are taken as known, and have no interval.",
        reference="",
        needs=Need.CLASS,
    ),
    Estimator(
        name="bbse_hard",
        summary="Match how often each class is predicted.",
        reference=LIPTON,
        needs=Need.CLASS,
        estimate=hard,
    ),
    Estimator(
        name="bbse_soft",
        summary="Match the mean calibrated probability of each class.",
        reference=LIPTON,
        needs=Need.VECTOR,
        estimate=soft,
    ),
    Estimator(
        name="rlls",
        summary="As bbse_hard, drawn towards no shift where data are few.",
        reference="Azizzadenesheli et al. 2019, arXiv 1903.09734",
        needs=Need.CLASS,
        estimate=regularised,
    ),
    Estimator(
        name="em",
        summary="The most likely class proportions, given every row's calibrated probabilities.",
        reference="Saerens, Latinne & Decaestecker 2002, doi 10.1162/089976602753284446; "
        "Alexandari, Kundaje & Shrikumar 2020, arXiv 1901.06852",
        needs=Need.VECTOR,
        estimate=most_likely,
    ),
    Estimator(
        name="em_matched",
        summary="EM, checked against the calibration set; right where probabilities are not.",
        reference="Saerens et al. 2002, doi 10.1162/089976602753284446, with the moments of "
        "Lipton et al. 2018, arXiv 1802.03916",
        needs=Need.VECTOR,
        estimate=matched,
    ),
)
ESTIMATORS_BY_NAME: dict[str, Estimator] = {entry.name: entry for entry in ESTIMATORS}
AUTO = "auto"  # em_matched where score vectors are given, else bbse_hard
ESTIMATOR_NAMES = (AUTO, *ESTIMATORS_BY_NAME)


def estimator_for(name: str, with_vectors: bool) -> Estimator:
    """Return the estimator of a name; refuse one that needs more than there is."""
    if name == AUTO:
        name = "em_matched" if with_vectors else "bbse_hard"
    estimator = ESTIMATORS_BY_NAME[name]
    if estimator.needs is Need.VECTOR and not with_vectors:
        message = f"{name!r} needs the {Need.VECTOR.value}."
        raise refuse("--estimator", message, "Give 'bbse_hard' or 'rlls'.")
    return estimator
