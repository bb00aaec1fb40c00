"""The temperature family: STS, CSTS, TSwA and CSTSwA ([S23] sections 9 to 11).

ŷ = softmax((log y + A_k [predicted class]) / T) at the *stored* predicted class, y the row divided
by its sum and floored at half a step; T and the award A are one for all or one per class.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import scipy

from credence.calibrators import newton, score_logs
from credence.calibrators.classwise import vector_method
from credence.calibrators.protocol import FitOptions, Law, Method
from credence.calibrators.score_logs import ScoreRows, rest_moments
from credence.draws import effective_clusters, encode_clusters
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.settings import setting

LOG_T_LOW, LOG_T_HIGH = float(np.log(0.05)), float(np.log(20.0))  # of T, from 0.05 to 20
LARGEST_AWARD = 20.0  # bound of an award, in either direction
N_SCAN = 25  # temperatures of the scan: a factor of 1.28 apart, with T = 1 among the starts
N_SCAN_AWARDS = 41  # awards tried where the loss is not convex in them (Brier)
SCAN_ROWS = 8_000  # the scan that only finds the valleys looks at about so many rows
STEP_DONE = 1e-11  # a Newton step below this is the last: its square is below rounding
MOST_TEMPERATURE_STEPS = 80
FLAT_LOSS = 1e-13  # relative differences of loss below this are rounding

Slope = Callable[[Floats], tuple[Floats, Floats]]


def find_minima(slope: Slope, start: Floats, low: Floats, high: Floats) -> Floats:
    """Return where each slope turns from - to +, or an end, by Newton's method in a bracket."""
    point = np.clip(start, low, high)
    left, right = low.copy(), high.copy()
    for _ in range(MOST_TEMPERATURE_STEPS):
        first, second = slope(point)
        right = np.where(first > 0, point, right)
        left = np.where(first < 0, point, left)
        is_convex = second > 0
        jump = point - first / np.where(is_convex, second, 1.0)
        middle = (left + right) / 2.0
        target = np.where(is_convex, jump, middle)
        # A step beyond an end tries the end itself once, then halves.
        below = np.where((left == low) & (point > low), low, middle)
        above = np.where((right == high) & (point < high), high, middle)
        inside = np.where(target <= left, below, np.where(target >= right, above, target))
        # A step too small to change the point is the last, not one to an end.
        target = np.where((first == 0) | (target == point), point, inside)
        moved = np.abs(target - point)
        point = target
        if np.all(moved <= STEP_DONE * (1.0 + np.abs(point))):
            break
    return point


def losses_of(measure: str, log_odds: Floats, rows: ScoreRows) -> Floats:
    """Return the weighted top-label loss of each row, Eq. 15-16."""
    if measure == "brier":
        return np.asarray(rows.weight * (scipy.special.expit(log_odds) - rows.is_correct) ** 2)
    away = np.where(rows.is_correct > 0, -log_odds, log_odds)
    return np.asarray(rows.weight * (np.maximum(away, 0.0) + np.log1p(np.exp(-np.abs(away)))))


def derivatives_of(measure: str, log_odds: Floats, rows: ScoreRows) -> tuple[Floats, Floats]:
    """Return first and second derivatives of each row's loss in its log-odds."""
    right = scipy.special.expit(log_odds)
    spread = right * (1.0 - right)
    residual = right - rows.is_correct
    if measure == "nll":
        return rows.weight * residual, rows.weight * spread
    slope = 2.0 * residual * spread
    curvature = 2.0 * spread * (spread + residual * (1.0 - 2.0 * right))
    return rows.weight * slope, rows.weight * curvature


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """The least loss at one temperature."""

    log_temperature: float  # Where
    loss: float  # Of the profile over log T
    slope: float
    curvature: float
    award: Floats  # One per run of rows: the best awards at this temperature


@dataclass(frozen=True, kw_only=True)
class Objective:
    """What is minimised: the rows, the measure, and which parameters there are."""

    rows: ScoreRows  # The labelled rows
    measure: str  # The loss
    has_awards: bool  # Whether each class has an award, or none has
    # Whether the loss is that of the true class's entry among all (Guo 2017).
    is_vector: bool = False

    def profile(self, log_temperature: float, award: Floats | None = None) -> Profile:
        """Return the least loss at a temperature."""
        if self.is_vector:
            return vector_profile(self.rows, self.measure, log_temperature)
        rows, beta = self.rows, float(np.exp(-log_temperature))
        log_sum, mean, variance = rest_moments(rows.rest, beta)
        base = beta * rows.top - log_sum
        best = self._awards(base, beta, award) if self.has_awards else np.zeros(rows.n_runs)
        run_award = best[rows.run]
        log_odds = base + beta * run_award
        loss = float(losses_of(self.measure, log_odds, rows).sum())
        first, second = derivatives_of(self.measure, log_odds, rows)
        tilt = -beta * (rows.top + run_award - mean)
        bend = -tilt - beta**2 * variance
        slope = float((first * tilt).sum())
        curvature = float((second * tilt**2 + first * bend).sum())
        if self.has_awards:
            mixed = rows.per_run(beta * (second * tilt - first))
            run_curvature = rows.per_run(beta**2 * second)
            is_free = (np.abs(best) < LARGEST_AWARD) & (run_curvature > 0)
            curvature -= float((mixed[is_free] ** 2 / run_curvature[is_free]).sum())
        return Profile(
            log_temperature=log_temperature,
            loss=loss,
            slope=slope,
            curvature=curvature,
            award=best,
        )

    def _awards(self, base: Floats, beta: float, award: Floats | None) -> Floats:
        rows = self.rows
        run = rows.run

        def slope(point: Floats) -> tuple[Floats, Floats]:
            first, second = derivatives_of(self.measure, base + beta * point[run], rows)
            return beta * rows.per_run(first), beta**2 * rows.per_run(second)

        most = np.full(rows.n_runs, LARGEST_AWARD)
        if self.measure == "nll":
            start = np.zeros(rows.n_runs) if award is None else award
            return find_minima(slope, start, -most, most)
        grid = np.linspace(-LARGEST_AWARD, LARGEST_AWARD, N_SCAN_AWARDS)
        tried = np.array([self._losses(base + beta * point) for point in grid])
        place = tried.argmin(axis=0)
        low = grid[np.maximum(place - 1, 0)]
        high = grid[np.minimum(place + 1, N_SCAN_AWARDS - 1)]
        lowest = find_minima(slope, grid[place], low, high)
        is_better = self._losses(base + beta * lowest[run]) <= tried.min(axis=0)
        return np.where(is_better, lowest, grid[place])

    def _losses(self, log_odds: Floats) -> Floats:
        return self.rows.per_run(losses_of(self.measure, log_odds, self.rows))


def vector_profile(rows: ScoreRows, measure: str, log_temperature: float) -> Profile:
    """Return the K-class loss at a temperature, with its derivatives in log T."""
    beta = float(np.exp(-log_temperature))
    log_sum, mean, variance = full_moments(rows, beta)
    log_true = beta * rows.true - log_sum
    first, second = rows.true - mean, -variance  # of log_true, in β
    if measure == "nll":
        value, slope, curvature = -log_true, -first, -second
    else:
        double_sum, double_mean, double_variance = full_moments(rows, 2.0 * beta)
        log_square = double_sum - 2.0 * log_sum
        tilt, bend = 2.0 * (double_mean - mean), 4.0 * double_variance - 2.0 * variance
        square, true = np.exp(log_square), np.exp(log_true)
        value = 1.0 + square - 2.0 * true
        slope = square * tilt - 2.0 * true * first
        curvature = square * (tilt**2 + bend) - 2.0 * true * (first**2 + second)
    loss, in_beta, twice = (
        float((rows.weight * row_value).sum()) for row_value in (value, slope, curvature)
    )
    curved = beta * in_beta + beta**2 * twice
    return Profile(
        log_temperature=log_temperature,
        loss=loss,
        slope=-beta * in_beta,
        curvature=curved,
        award=np.zeros(rows.n_runs),
    )


def full_moments(rows: ScoreRows, beta: float) -> tuple[Floats, Floats, Floats]:
    """Return log Σ exp(β d), mean and variance of d over all classes."""
    rest_sum, rest_mean, rest_variance = rest_moments(rows.rest, beta)
    log_sum = np.logaddexp(beta * rows.top, rest_sum)
    share = np.exp(beta * rows.top - log_sum)
    gap = rows.top - rest_mean
    mean = rest_mean + share * gap
    return log_sum, mean, (1.0 - share) * (rest_variance + share * gap**2)


def minimise(objective: Objective, starts: Sequence[float] = (0.0,)) -> Profile:
    """Return the least loss over temperatures from 0.05 to 20."""
    grid = np.union1d(np.linspace(LOG_T_LOW, LOG_T_HIGH, N_SCAN), [*starts, 0.0])
    sketch = thinned(objective)
    profiles: list[Profile] = []
    for place in grid:
        known = profiles[-1].award if profiles else None
        profiles.append(sketch.profile(float(place), known))
    loss = np.array([profile.loss for profile in profiles])
    tolerance = FLAT_LOSS * (1.0 + np.abs(loss).max())
    if np.ptp(loss) <= tolerance:
        return objective.profile(0.0)  # no temperature is better than another
    fenced = np.concatenate(([np.inf], loss, [np.inf]))
    is_valley = (loss <= fenced[:-2]) & (loss <= fenced[2:])
    bottoms: list[Profile] = []
    for place in np.flatnonzero(is_valley).tolist():
        reach = 1 if sketch is objective else 2
        low = float(grid[max(place - reach, 0)])
        high = float(grid[min(place + reach, len(grid) - 1)])
        bottoms.append(refine(objective, profiles[place], low, high))
    best = least_loss(bottoms)
    for start in starts if sketch is not objective else ():
        rival = objective.profile(start, best.award)
        if rival.loss < best.loss:
            best = least_loss([best, refine(objective, rival, LOG_T_LOW, LOG_T_HIGH), rival])
    return best


def least_loss(profiles: Sequence[Profile]) -> Profile:
    """Return the profile of least loss; of equal ones that nearest to T = 1."""
    floor = min(profile.loss for profile in profiles)
    equal = [
        profile for profile in profiles if profile.loss <= floor + FLAT_LOSS * (1.0 + abs(floor))
    ]
    return min(equal, key=lambda profile: abs(profile.log_temperature))


def refine(objective: Objective, start: Profile, low: float, high: float) -> Profile:
    """Return the bottom of the valley of the profile that lies between two ends."""
    seen = [objective.profile(start.log_temperature, start.award)]

    def at(place: float) -> Profile:
        if place != seen[-1].log_temperature:
            seen.append(objective.profile(place, seen[-1].award))
        return seen[-1]

    def slope(point: Floats) -> tuple[Floats, Floats]:
        profile = at(float(point[0]))
        return np.array([profile.slope]), np.array([profile.curvature])

    limits = (
        np.array([log_temperature]) for log_temperature in (start.log_temperature, low, high)
    )
    at(float(find_minima(slope, *limits)[0]))
    floor = min(profile.loss for profile in seen)
    # The last point has the flattest slope; the loss itself is blunt near its minimum.
    return (
        seen[-1] if seen[-1].loss <= floor + FLAT_LOSS * (1.0 + abs(floor)) else least_loss(seen)
    )


def thinned(objective: Objective) -> Objective:
    """Return the objective on a sample of rows, even over classes, weighted to make up."""
    rows = objective.rows
    if len(rows.top) <= SCAN_ROWS:
        return objective
    quota = SCAN_ROWS // rows.n_runs
    chosen, stretch = [], []
    for run in rows.slices:
        size = run.stop - run.start
        chosen.append(np.arange(run.start, run.stop, -(-size // quota)))
        stretch.append(np.full(len(chosen[-1]), float(size) / len(chosen[-1])))
    kept = rows.take(np.concatenate(chosen))
    weight = kept.weight * np.concatenate(stretch)
    return replace(objective, rows=replace(kept, weight=weight / weight.sum()))


N_ENTRIES = 3  # variance of log T, covariance, variance of the award


@dataclass(frozen=True, kw_only=True, eq=False)
class TemperatureVariances:
    """Variances of log T and of the award, per predicted class."""

    # Of log T, both, the award; robust, then implied. NaN: the interval is all of [0, 1].
    variance: Floats
    critical: Floats  # Standard errors that the interval reaches out to

    def reach(self, class_: Integers, by_log_t: Floats, by_award: Floats) -> Floats:
        """Return half the width of the interval of each log-odds."""
        variance = self.variance[class_]
        squares = np.stack([by_log_t**2, 2.0 * by_log_t * by_award, by_award**2], axis=1)
        both = np.einsum("nvp,np->nv", variance, squares)
        widest = np.sqrt(np.maximum(both.max(axis=1), 0.0)) * self.critical[class_]
        return np.where(np.isnan(widest), np.inf, widest)

    def to_record(self) -> dict[str, Any]:
        """Return the variances as JSON data; None where nothing is known."""
        flat = self.variance.reshape(len(self.variance), -1)
        known = [None if np.isnan(entry).any() else entry for entry in flat]
        return {"variance": known, "critical": self.critical}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Self:
        """Return the variances of a record."""
        flat = [entry or [np.nan] * (2 * N_ENTRIES) for entry in record["variance"]]
        variance = np.array(flat, dtype=np.float64).reshape(-1, 2, N_ENTRIES)
        return cls(variance=variance, critical=np.array(record["critical"], dtype=np.float64))


def parameter_variances(
    fits: Sequence[tuple[Objective, Profile]],
    labelled: Labelled,
    options: FitOptions,
    is_by_class: bool,
) -> TemperatureVariances:
    """Return the spread of the parameters of one fit of all classes, or of one of each."""
    n_classes = labelled.predictions.n_classes
    variance = np.full((n_classes, 2, N_ENTRIES), np.nan)
    critical = np.full(n_classes, newton.critical_value(1.0, 0, options))
    for objective, best in fits:
        rows, has_awards = objective.rows, objective.has_awards
        cluster, _ = encode_clusters(labelled.cluster[rows.origin])
        matrices = parameter_covariances(objective, best, cluster, labelled)
        if not is_by_class:
            n_all = effective_clusters(cluster, rows.weight)
            if not has_awards and matrices is not None:
                # One temperature serves every class; the great families of all bear it.
                robust, implied = matrices[:, 0, 0]
                effect = float(robust / implied) if implied > 0 else np.inf
                n_all = min(n_all, newton.variance_clusters(cluster, rows.weight, effect))
                variance[:] = block_of(matrices, None)
            critical[:] = newton.critical_value(n_all, 1, options)
            if not has_awards:
                break
        n_parameters = 2 if is_by_class and has_awards else 1
        runs = zip(classes_of(rows, labelled), rows.slices, strict=True)
        for run, (class_, part) in enumerate(runs):
            code = np.unique(cluster[part], return_inverse=True)[1]
            n_own = effective_clusters(code, rows.weight[part])
            critical[class_] = newton.critical_value(n_own, n_parameters, options)
            if matrices is not None:
                variance[class_] = block_of(matrices, run + 1 if has_awards else None)
    return TemperatureVariances(variance=variance, critical=critical)


def classes_of(rows: ScoreRows, labelled: Labelled) -> Integers:
    """Return the predicted class of each run of rows."""
    return labelled.predictions.predicted_class[rows.origin[rows.starts]]


def block_of(matrices: Floats, place: int | None) -> Floats:
    """Return the three entries of log T and one award or none, robust and implied."""
    block = np.zeros((2, N_ENTRIES))
    block[:, 0] = matrices[:, 0, 0]
    if place is not None:
        block[:, 1], block[:, 2] = matrices[:, 0, place], matrices[:, place, place]
    return block


def parameter_covariances(
    objective: Objective, best: Profile, cluster: Integers, labelled: Labelled
) -> Floats | None:
    """Return the covariances of log T and the awards, robust and implied."""
    rows, top_score = objective.rows, labelled.predictions.required_top_score
    twin = newton.twins_of(cluster, rows.run, top_score[rows.origin])
    if objective.is_vector:
        return vector_covariances(objective, best, cluster, twin)
    beta = float(np.exp(-best.log_temperature))
    log_sum, mean, variance = rest_moments(rows.rest, beta)
    award = best.award[rows.run]
    log_odds = beta * (rows.top + award) - log_sum
    first, second = derivatives_of(objective.measure, log_odds, rows)
    tilt = -beta * (rows.top + award - mean)
    bend = -tilt - beta**2 * variance
    right = scipy.special.expit(log_odds)
    spread = right * scipy.special.expit(-log_odds)
    pull = 2.0 * spread if objective.measure == "brier" else np.ones(len(right))
    expected = rows.weight * pull * spread
    # Derivatives of each log-odds in log T and, where there are any, in its award.
    gradient = scipy.sparse.csr_array(tilt[:, None])
    if objective.has_awards:
        raised = np.full(len(tilt), beta), rows.run, np.arange(len(tilt) + 1)
        gradient = scipy.sparse.hstack([gradient, scipy.sparse.csr_array(raised)], format="csr")
    curvature = np.asarray((gradient.T @ gradient.multiply(second[:, None])).toarray())
    curvature[0, 0] += float((first * bend).sum())
    if objective.has_awards:
        mixed = -beta * rows.per_run(first)
        curvature[0, 1:] += mixed
        curvature[1:, 0] += mixed
    deviation = rows.weight * pull * np.sqrt(spread)
    terms = newton.Terms(
        gradient=gradient,
        first=first,
        implied=deviation,
        expected=expected,
        cluster=cluster,
        twin=twin,
    )
    implied = np.asarray((gradient.T @ gradient.multiply(expected[:, None])).toarray())
    return newton.covariances(terms, curvature, implied)


def vector_covariances(
    objective: Objective, best: Profile, cluster: Integers, twin: Integers
) -> Floats | None:
    """Return the variance of log T under the K-class loss, robust and implied."""
    rows = objective.rows
    beta = float(np.exp(-best.log_temperature))
    log_sum, mean, variance = full_moments(rows, beta)
    off = rows.true - mean
    if objective.measure == "nll":
        first = rows.weight * off * beta
        implied = rows.weight * np.sqrt(variance) * beta
    else:
        double_sum, double_mean, _ = full_moments(rows, 2.0 * beta)
        square, true = np.exp(double_sum - 2.0 * log_sum), np.exp(beta * rows.true - log_sum)
        first = -beta * rows.weight * (2.0 * square * (double_mean - mean) - 2.0 * true * off)
        implied = np.abs(first)  # no simpler form; twins then count as one, no more
    gradient = scipy.sparse.csr_array(np.ones((len(first), 1)))
    curvature = np.array([[best.curvature]])
    expected = rows.weight * variance * beta**2
    terms = newton.Terms(
        gradient=gradient,
        first=first,
        implied=implied,
        expected=expected,
        cluster=cluster,
        twin=twin,
    )
    return newton.covariances(terms, curvature, np.array([[float(expected.sum())]]))


MEASURES = ("nll", "brier")
MEASURE_HELP = "The loss to minimise: negative log-likelihood or Brier's squared error."


@dataclass(frozen=True, kw_only=True, eq=False)
class TemperatureModel:
    """A temperature and an award for every predicted class."""

    # T_k and A_k; a class too scarce to learn has the shared temperature, no award, for vectors.
    temperature: Floats
    award: Floats
    resolution: float  # Step of the calibration table; a coarser table is floored by its own
    spread: TemperatureVariances | None  # Uncertainty of the parameters; None without intervals

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return the confidence and the ends of its interval."""
        value, lower, upper = (np.full(predictions.n_samples, np.nan) for _ in range(3))
        resolution = max(self.resolution, predictions.resolution)
        for block, scores in score_logs.row_blocks(predictions):
            class_ = predictions.predicted_class[block]
            top, rest, _ = score_logs.split_top(score_logs.log_scores(scores, resolution), class_)
            beta = 1.0 / self.temperature[class_]
            log_sum, mean, _ = rest_moments(rest, beta)
            raised = top + self.award[class_]
            log_odds = beta * raised - log_sum
            value[block] = scipy.special.expit(log_odds)
            if self.spread is not None:
                reach = self.spread.reach(class_, -beta * (raised - mean), beta)
                lower[block] = scipy.special.expit(log_odds - reach)
                upper[block] = scipy.special.expit(log_odds + reach)
        return value, lower, upper

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return probabilities of all classes; one too scarce to learn has another confidence."""
        vector = np.empty((predictions.n_samples, predictions.n_classes))
        resolution = max(self.resolution, predictions.resolution)
        for block, scores in score_logs.row_blocks(predictions):
            class_ = predictions.predicted_class[block]
            logits = score_logs.log_scores(scores, resolution)
            logits[np.arange(len(class_)), class_] += self.award[class_]
            vector[block] = scipy.special.softmax(
                logits / self.temperature[class_][:, None], axis=1
            )
        return vector


class TemperatureMethod:
    """What fits a member of the family; `loss` and `measure` are settings."""

    is_by_class: ClassVar[bool] = False  # Whether each class has a temperature of its own
    has_awards: ClassVar[bool] = False
    loss: str = "top_label"
    measure: str

    def fit_model(self, labelled: Labelled, options: FitOptions) -> TemperatureModel:
        """Return the temperatures and awards of least loss."""
        rows, n_classes = score_logs.sorted_rows(labelled), labelled.predictions.n_classes
        objective = Objective(
            rows=rows, measure=self.measure, has_awards=False, is_vector=self.loss == "vector"
        )
        plain = best = minimise(objective)
        starts = [plain.log_temperature]
        if self.has_awards:
            objective = Objective(rows=rows, measure=self.measure, has_awards=True)
            best = minimise(objective, starts)
            starts.append(best.log_temperature)
        fits = [(objective, best)]
        if self.is_by_class:
            fits, best = [], plain
            for part in map(rows.take, rows.slices):
                run_starts = starts
                if self.has_awards:
                    alone = minimise(
                        Objective(rows=part, measure=self.measure, has_awards=False), starts[:1]
                    )
                    run_starts = [*starts, alone.log_temperature]
                objective = Objective(rows=part, measure=self.measure, has_awards=self.has_awards)
                fits.append((objective, minimise(objective, run_starts)))
        temperature = np.full(n_classes, float(np.exp(best.log_temperature)))
        award = np.zeros(n_classes)
        for objective, best in fits:
            class_ = classes_of(objective.rows, labelled)
            temperature[class_] = float(np.exp(best.log_temperature))
            award[class_] = best.award
        spread = None
        if options.n_draws > 0:
            spread = parameter_variances(fits, labelled, options, self.is_by_class)
        return TemperatureModel(
            temperature=temperature,
            award=award,
            resolution=labelled.predictions.resolution,
            spread=spread,
        )


@dataclass(frozen=True, kw_only=True)
class SharedTemperature(TemperatureMethod):
    """Settings of single temperature scaling (STS).

    One T; A = 0. The loss is that of the predicted class, Eq. 15-16 of Salamon et al., or
    the K-class likelihood of Guo et al.
    """

    loss: str = setting(
        "top_label",
        "What is likely: that the prediction is right, or the true class among all.",
        choices=("top_label", "vector"),
    )
    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)


@dataclass(frozen=True, kw_only=True)
class ClassTemperatures(TemperatureMethod):
    """Settings of class-wise temperature scaling (CSTS): T_k, A = 0."""

    is_by_class = True
    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)


@dataclass(frozen=True, kw_only=True)
class TemperatureWithAwards(TemperatureMethod):
    """Settings of temperature scaling with awards (TSwA): T, A_k."""

    has_awards = True
    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)


@dataclass(frozen=True, kw_only=True)
class ClassTemperaturesWithAwards(TemperatureMethod):
    """Settings of class-wise temperature scaling with awards (CSTSwA): T_k, A_k."""

    is_by_class = True
    has_awards = True
    measure: str = setting("nll", MEASURE_HELP, choices=MEASURES)


def member(name: str, summary: str, section: int, settings: type[Any], also: str = "") -> Method:
    """Return the registry's entry of a member of the family."""
    reference = f"{also}Salamon et al. 2023, section {section}, doi 10.3390/make5030043"
    rest: dict[str, Any] = {"laws": frozenset({Law.REPEAT_IS_WEIGHT}), "gives_vector": True}
    return vector_method(name, summary, reference, settings, TemperatureModel, **rest)


GUO_TEMPERATURE = "Guo et al. 2017, arXiv 1706.04599; "
ONE_TEMPERATURE = "One temperature for all classes (single temperature scaling)."
STS = member("sts", ONE_TEMPERATURE, 9, SharedTemperature, GUO_TEMPERATURE)
CSTS = member("csts", "A temperature for each predicted class.", 10, ClassTemperatures)
AWARDED = "One temperature, and an award for each predicted class."
TSWA = member("tswa", AWARDED, 11, TemperatureWithAwards)
BOTH = "A temperature and an award for each predicted class."
CSTSWA = member("cstswa", BOTH, 11, ClassTemperaturesWithAwards)
