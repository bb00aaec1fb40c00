"""Kernel confidence: a ratio of densities of right and of all predictions.

Its bandwidth is the least one that leaves the curve steady: the slope without prior has the sign
of m_TP − m_FP, the difference of the kernel-weighted mean scores of right and of wrong predictions
around a point. The number of sign changes is not monotone, so bandwidths are tried upward.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated

import numpy as np
import scipy

from credence.calibrators.classwise import curve_method
from credence.calibrators.intervals import curve_band, knots_of
from credence.calibrators.masses import (
    HALF,
    Masses,
    Nodes,
    Places,
    cluster_masses,
    draw_masses,
    gaussian_window,
    masses_of,
    nodes_of,
    places_of,
)
from credence.calibrators.protocol import Band, ClassSample, Curve, FitOptions, Law, range_note
from credence.confidence import Note
from credence.predictions import Floats, Integers
from credence.records import Stored
from credence.settings import setting

REACH = 42.0  # e⁻⁴² = 6e-19: with a million nodes still below rounding
KERNEL_VALUES_AT_ONCE = 65_536  # kernel values held at once: they stay in the processor's cache
MOST_WINDOW_POINTS = 128  # points whose windows share a width
LEAST_EXPONENT = -700.0  # far below e⁻⁴²; beyond it the exponential is slow


def local_sums(point: Floats, nodes: Nodes, bandwidth: float) -> tuple[Floats, Floats]:
    """Return the log of the kernel-weighted mass around each point, and its mean offset."""
    score = nodes.score
    steepness = -0.5 / (bandwidth * bandwidth)
    after = score.searchsorted(point)
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(score) - 1)
    nearest = np.minimum(np.abs(point - score[before]), np.abs(point - score[after])) ** 2
    radius = np.sqrt(nearest - REACH / steepness)
    far = LEAST_EXPONENT / steepness  # nodes this far off count for nothing
    start = score.searchsorted(point - radius, side="left")
    n_held = score.searchsorted(point + radius, side="right") - start
    total = np.empty(len(point))
    offset = np.empty_like(total)
    begin = 0
    while begin < len(point):
        # Windows of one width are copied row by row; a wider one only holds more nodes.
        width = int(n_held[begin : begin + MOST_WINDOW_POINTS].max())
        n_points = min(max(KERNEL_VALUES_AT_ONCE // width, 1), MOST_WINDOW_POINTS)
        block = slice(begin, begin + n_points)
        first = np.minimum(start[block], len(score) - width)
        gap = windows(score, width)[first]
        gap -= point[block, None]
        mass = windows(nodes.mass, width)[first]
        kernel = gap * gap
        kernel -= nearest[block, None]
        np.minimum(kernel, far, out=kernel)
        kernel *= steepness
        np.exp(kernel, out=kernel)
        np.vecdot(kernel, mass, out=total[block])
        gap *= mass
        np.vecdot(kernel, gap, out=offset[block])
        begin += n_points
    return np.log(total) + nearest * steepness, offset / total


def windows(values: Floats, width: int) -> Floats:
    """Return all stretches of neighbouring values, a view, without the slow checks of numpy's."""
    shape = (len(values) - width + 1, width)
    return np.ndarray(shape, values.dtype, values, strides=values.strides * 2)


LOWEST = 0.15  # of the scale: sign changes count from here; plots of [S23] start there
SMALLEST_BANDWIDTH = 0.0005  # of the scale: the least bandwidth tried, and the step of the scan
GREATEST_BANDWIDTH = 2.0  # of the scale: the greatest bandwidth tried
NO_SIGN = 1e-9  # of the scale: a smaller difference of means has no sign
POINTS_PER_BANDWIDTH = 8  # twice what is demanded: then Phynteny's nine come out exactly
NODES_PER_BANDWIDTH = 16  # bins of nodes: error of a kernel sum below (1/16)⁴ / 1440
COARSEST = 5  # the first look is at 2⁵ + 1 points
MON = {"mon": 0, "mon2": 2, "mon4": 4}  # sign changes allowed


def grid_level(
    bandwidth: float, scale: float, points_per_bandwidth: int = POINTS_PER_BANDWIDTH
) -> int:
    """Return j so that 2^j steps over the grid's range are fine enough."""
    steps = (1.0 - LOWEST) * scale / bandwidth * points_per_bandwidth
    return max(int(np.ceil(np.log2(steps))), COARSEST) if steps > 1 else COARSEST


def grid_points(position: Integers, level: int, scale: float) -> Floats:
    """Return the points at given positions of a level's grid."""
    low = LOWEST * scale
    return np.asarray(low + (scale - low) * position / (1 << level))


def passes(right: Nodes, wrong: Nodes, scale: float, bandwidth: float, allowed: int) -> bool:
    """Return whether the slope changes sign as seldom as allowed, on ever finer grids."""
    level = grid_level(bandwidth, scale)
    difference = np.empty(0)
    for finer in range(COARSEST, level + 1):
        # From the second look on, points between those that are known.
        first, stride = (1, 2) if len(difference) else (0, 1)
        point = grid_points(np.arange(first, (1 << finer) + 1, stride), finer, scale)
        new = local_sums(point, right, bandwidth)[1] - local_sums(point, wrong, bandwidth)[1]
        merged = np.empty(len(difference) + len(new))
        merged[::stride], merged[first::stride] = difference if first else new, new
        difference = merged
        sign = np.sign(difference)
        sign[np.abs(difference) <= NO_SIGN * scale] = 0
        if count_changes(sign[:, None])[0] > allowed:
            return False
    return True


def steady_bandwidth(masses: Masses, scale: float, resolution: float, most: int) -> float | None:
    """Return the least bandwidth with at most `most` sign changes of the slope."""
    made_for = 0.0
    for bandwidth in candidates(scale, resolution).tolist():
        if bandwidth >= 2.0 * made_for:  # nodes are as fine as the least bandwidth needs
            right, wrong = nodes_of(masses, bandwidth / NODES_PER_BANDWIDTH)
            made_for = bandwidth
        if passes(right, wrong, scale, bandwidth, most):
            return float(bandwidth)
    return None


def candidates(scale: float, resolution: float) -> Floats:
    """Return the bandwidths tried, ascending, in steps of 0.0005 of the scale."""
    first = max(resolution / scale, SMALLEST_BANDWIDTH)
    n_steps = int(np.floor((GREATEST_BANDWIDTH - first) / SMALLEST_BANDWIDTH + NO_SIGN))
    return np.asarray(scale * (first + SMALLEST_BANDWIDTH * np.arange(n_steps + 1)))


TOP, NEARLY_ALL = 0.9, 0.9  # of the scale, and of a class's weight: where it lies there
FEW_WRONG = 10  # families with a wrong prediction; fewer do not tell where a curve bends
COARSE_STEP = 0.05  # of the scale: where scores have steps as wide, the least bandwidth smooths


def saturated_bandwidth(
    sample: ClassSample, masses: Masses, bandwidth: float, allowed: int
) -> tuple[float | None, Note]:
    """Return the rule's bandwidth, or what replaces it for saturated scores (decision 0004)."""
    at_top = masses.score >= TOP * sample.scale * (1.0 - NO_SIGN)
    if masses.total[at_top].sum() < NEARLY_ALL * masses.total.sum():
        return bandwidth, Note.NONE
    least = float(candidates(sample.scale, sample.resolution)[0])
    too_small = least if least < COARSE_STEP * sample.scale else 0.0
    is_few = len(np.unique(sample.cluster[~sample.is_correct])) < FEW_WRONG
    if bandwidth > too_small and (not is_few or allowed == MON["mon"]):
        return bandwidth, Note.NONE
    steady = steady_bandwidth(masses, sample.scale, sample.resolution, MON["mon"])
    if steady is None or steady <= too_small:
        return None, Note.SATURATED_SHARE
    return steady, Note.SATURATED


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelCurve:
    """A smooth curve on knots, cubic between them, held at its ends."""

    bandwidth: float  # In score units; NaN where none was found
    score: Floats  # Knots, ascending, from the least to the greatest of the positives' scores
    share: Floats  # Confidence at the knots
    slope: Floats  # Its derivative there
    code: Annotated[int, Stored(name="note", is_left_out=True)] = 0  # A note that holds everywhere

    def value(self, score: Floats) -> Floats:
        """Return the confidence at each score."""
        return hermite(self.score, self.share, self.slope, score)

    def note(self, score: Floats) -> Integers:
        """Return whether each score is outside the range seen, as a note."""
        if not np.isfinite(self.bandwidth):
            return np.full(len(score), self.code or int(Note.NO_BANDWIDTH), dtype=np.int64)
        return range_note(score, float(self.score[0]), float(self.score[-1])) | self.code


def hermite(knots: Floats, value: Floats, slope: Floats, point: Floats) -> Floats:
    """Return the cubic Hermite interpolation, held outside, within [0, 1]."""
    if len(knots) == 1:
        return np.full(len(point), value[0])
    point = np.clip(point, knots[0], knots[-1])
    left = np.clip(np.searchsorted(knots, point, side="right") - 1, 0, len(knots) - 2)
    step = knots[left + 1] - knots[left]
    x = (point - knots[left]) / step
    rise = value[left + 1] - value[left]
    bend = step * slope[left] - rise
    counter_bend = rise - step * slope[left + 1]
    cubic = value[left] + x * rise + x * (1.0 - x) * (bend * (1.0 - x) + counter_bend * x)
    return np.clip(cubic, 0.0, 1.0)


STEP = 1.1  # ratio of the bandwidths tried first
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0
REFINEMENTS = 14  # narrows the last step of 10 % to 0.02 %
CANCELLED = 1e-8  # of a cluster's own part: a smaller rest is summed anew
MOST_STEPS, OFF = 5000, 1e-6  # of a grid of scores, and how far off it one may be, in steps
TIE = 1e-12  # relative: losses this near are equal but for rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnParts:
    """Clusters' weights at each score, and pairs within; alike lone ones once, with a number."""

    score: Floats  # Distinct scores (or places), ascending
    resolution: float  # Of the scores; they may lie on a grid of it
    cluster: Integers  # Cluster and score of each entry
    at: Integers
    right: Floats  # Weight of each entry
    wrong: Floats
    count: Integers  # How many clusters it stands for
    first: Integers  # All ordered pairs of entries of one cluster
    second: Integers

    def loss(self, bandwidth: float) -> float:
        """Return the NLL of each cluster given the curve of all others."""
        gap, pair = self._gaps
        near = np.exp(-HALF * (gap / bandwidth) ** 2)[pair]
        logs = []
        for mass in (self.right, self.wrong):
            total = self._smoothed(mass * self.count, bandwidth)
            cluster_mass = np.bincount(self.first, weights=near * mass[self.second])
            rest = total[self.at] - cluster_mass
            is_sure = rest > CANCELLED * total[self.at]
            log_rest = np.log(np.where(is_sure, rest, 1.0))
            for entry in np.flatnonzero(~is_sure):
                log_rest[entry] = self._log_rest(int(entry), mass, bandwidth)
            logs.append(log_rest)
        log_right, log_wrong = logs
        with np.errstate(invalid="ignore"):
            log_all = np.logaddexp(log_right, log_wrong)
        loss = 0.0
        for mass, log_rest in ((self.right, log_right), (self.wrong, log_wrong)):
            held = mass > 0
            each = mass[held] * (log_all[held] - log_rest[held])
            loss += float((each * self.count[held]).sum())
        return loss

    def _smoothed(self, mass: Floats, bandwidth: float) -> Floats:
        at_place = np.bincount(self.at, weights=mass, minlength=len(self.score))
        if self._grid is None:
            kernel = np.exp(-HALF * ((self.score[:, None] - self.score) / bandwidth) ** 2)
            return np.asarray(kernel @ at_place)
        on_grid = np.bincount(self._grid, weights=at_place)
        gap = np.arange(1 - len(on_grid), len(on_grid)) * self.resolution
        kernel = np.exp(-HALF * (gap / bandwidth) ** 2)
        return np.convolve(kernel, on_grid, "valid")[self._grid]

    @cached_property
    def _gaps(self) -> tuple[Floats, Integers]:
        """Return the gaps between the entries of a pair, each once, and that of each pair."""
        gap = np.abs(self.score[self.at[self.first]] - self.score[self.at[self.second]])
        if self._grid is None:
            return gap, np.arange(len(gap))
        steps = self._grid[self.at[self.first]] - self._grid[self.at[self.second]]
        return np.arange(self._grid[-1] + 1) * self.resolution, np.abs(steps)

    @cached_property
    def _grid(self) -> Integers | None:
        """Where the places lie on the scores' grid; None where they lie on none."""
        steps = (self.score - self.score[0]) / self.resolution if self.resolution else self.score
        place = np.rint(steps).astype(np.int64)
        is_on = self.resolution > 0 and place[-1] < MOST_STEPS and (abs(steps - place) < OFF).all()
        return place if is_on else None

    def _log_rest(self, entry: int, mass: Floats, bandwidth: float) -> float:
        shared = self.cluster == self.cluster[entry]
        rest = mass * (self.count - shared)
        others = rest > 0
        if not others.any():
            return -np.inf
        order = np.argsort(self.at[others], kind="stable")
        nodes = Nodes(score=self.score[self.at[others]][order], mass=rest[others][order])
        return float(local_sums(self.score[self.at[entry]][None], nodes, bandwidth)[0][0])


def own_parts(sample: ClassSample) -> OwnParts:
    """Return the weight of every cluster at each score."""
    places = places_of(sample)
    code = sample.cluster * len(places.score) + places.of_row
    entries, entry = np.unique(code, return_inverse=True)
    cluster, at = np.divmod(entries, len(places.score))
    right = np.bincount(entry, weights=sample.weight_correct).astype(np.float64)
    wrong = np.bincount(entry, weights=sample.weight - sample.weight_correct).astype(np.float64)
    many = np.bincount(cluster)[cluster] > 1
    content = np.column_stack([at, right, wrong])
    alike, count = np.unique(content[~many], axis=0, return_counts=True)
    content = np.concatenate([content[many], alike])
    count = np.concatenate([np.ones(many.sum(), dtype=np.int64), count])
    single = cluster.max() + 1 + np.arange(len(alike))
    cluster = np.concatenate([cluster[many], single])
    at = content[:, 0].astype(np.int64)
    right, wrong = content[:, 1], content[:, 2]
    start = np.searchsorted(cluster, cluster, side="left")
    size = np.searchsorted(cluster, cluster, side="right") - start
    first = np.repeat(np.arange(len(cluster)), size)
    within = np.arange(len(first)) - np.repeat(np.cumsum(size) - size, size)
    second = np.repeat(start, size) + within
    return OwnParts(
        score=places.score,
        resolution=sample.resolution,
        cluster=cluster,
        at=at,
        right=right,
        wrong=wrong,
        count=count,
        first=first,
        second=second,
    )


def leave_one_out_bandwidth(sample: ClassSample) -> float | None:
    """Return the bandwidth of least leave-one-cluster-out NLL; None if none is finite.

    The loss can have several minima: all in steps of 10 % are tried, then golden sections.
    """
    parts = own_parts(sample)
    least = max(sample.resolution, SMALLEST_BANDWIDTH * sample.scale)
    n_steps = int(np.floor(np.log(GREATEST_BANDWIDTH * sample.scale / least) / np.log(STEP)))
    tried = least * STEP ** np.arange(n_steps + 1)
    losses = np.array([parts.loss(float(bandwidth)) for bandwidth in tried])
    if not np.isfinite(losses).any():
        return None
    best = float(tried[np.argmax(losses <= losses.min() * (1.0 + TIE))])
    low, high = np.log(best / STEP), np.log(best * STEP)
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    loss_left, loss_right = parts.loss(np.exp(left)), parts.loss(np.exp(right))
    for _ in range(REFINEMENTS):
        if loss_left <= loss_right:
            high, right, loss_right = right, left, loss_left
            left = high - GOLDEN * (high - low)
            loss_left = parts.loss(np.exp(left))
        else:
            low, left, loss_left = left, right, loss_right
            right = low + GOLDEN * (high - low)
            loss_right = parts.loss(np.exp(right))
    refined = max(float(np.exp(HALF * (low + high))), least)
    return refined if parts.loss(refined) <= parts.loss(best) else best


BAND_STEP = 1.05  # ratio of the bandwidths tried in the draws
LATTICE_PER_BANDWIDTH = 8  # the draws' masses are binned to an eighth of a bandwidth
DRAW_POINTS_PER_BANDWIDTH = 4  # of the grid on which the draws' sign changes are counted
SCREEN = 6  # a first look at 2⁶ + 1 points refutes most small bandwidths
RANK_POWER = -1.0 / 3.0  # the window of ranks narrows with this power of the clusters
LEAST_SPREAD = 1e-9  # of a window's second moment: below it no line can be laid
MOST_EXPONENT = 600.0  # e⁶⁰⁰ outweighs all data and is still a number
REUSE = 1.6  # a lattice serves bandwidths up to this much wider than its own


def lattice_for(draws: Masses, bandwidth: float) -> Masses:
    """Return drawn masses, linearly binned to an eighth of a bandwidth; empty points go."""
    score, right, wrong = draws.score, draws.right, draws.wrong
    reach = score[-1] - score[0]
    n_steps = int(np.ceil(reach / bandwidth * LATTICE_PER_BANDWIDTH))
    if 0 < n_steps < len(score) - 1:
        step = reach / n_steps
        at = (score - score[0]) / step
        left = np.minimum(at.astype(np.int64), n_steps - 1)
        fraction = at - left
        columns = np.arange(len(score))
        place = (np.concatenate([left, left + 1]), np.concatenate([columns, columns]))
        entries = (np.concatenate([1.0 - fraction, fraction]), place)
        bins = scipy.sparse.csr_array(entries, shape=(n_steps + 1, len(score)))
        score = score[0] + step * np.arange(n_steps + 1)
        right, wrong = bins @ right, bins @ wrong
    held = (right.max(axis=1) > 0) | (wrong.max(axis=1) > 0)
    return Masses(score=score[held], right=right[held], wrong=wrong[held])


def local_means(point: Floats, score: Floats, mass: Floats, bandwidth: float) -> Floats:
    """Return the kernel-weighted mean score around points, for every draw."""
    window = gaussian_window(point, score, bandwidth)
    return np.asarray(((window * score) @ mass) / (window @ mass))


def count_changes(sign: Floats) -> Integers:
    """Return the number of sign changes down each column; zeros have no sign."""
    row = np.where(sign != 0, np.arange(len(sign))[:, None], 0)
    last = np.take_along_axis(sign, np.maximum.accumulate(row, axis=0), axis=0)
    return np.asarray((last[1:] * last[:-1] < 0).sum(axis=0))


def draw_bandwidths(draws: Masses, scale: float, resolution: float, allowed: int) -> Floats:
    """Return the bandwidth that the rule chooses in each draw, by a coarse scan; NaN: none."""
    chosen = np.full(draws.right.shape[1], np.nan)
    first = max(resolution, SMALLEST_BANDWIDTH * scale)
    n_steps = int(np.floor(np.log(GREATEST_BANDWIDTH * scale / first) / np.log(BAND_STEP)))
    made_for = 0.0
    for bandwidth in first * BAND_STEP ** np.arange(n_steps + 1):
        if bandwidth > REUSE * made_for:
            lattice, made_for = lattice_for(draws, bandwidth), bandwidth
            is_right, is_wrong = lattice.right.max(axis=1) > 0, lattice.wrong.max(axis=1) > 0
            right, wrong = lattice.right[is_right], lattice.wrong[is_wrong]
        level = grid_level(bandwidth, scale, DRAW_POINTS_PER_BANDWIDTH)
        passing = np.flatnonzero(np.isnan(chosen))
        for look in sorted({min(SCREEN, level), level}):
            point = grid_points(np.arange((1 << look) + 1), look, scale)
            difference = local_means(point, lattice.score[is_right], right[:, passing], bandwidth)
            difference -= local_means(point, lattice.score[is_wrong], wrong[:, passing], bandwidth)
            sign = np.where(np.abs(difference) <= NO_SIGN * scale, 0.0, np.sign(difference))
            passing = passing[count_changes(sign) <= allowed]
            if len(passing) == 0:
                break
        chosen[passing] = bandwidth
        if not np.isnan(chosen).any():
            break
    return chosen


def debiased_values(knots: Floats, draws: Masses, bandwidth: Floats) -> Floats:
    """Return the curve of every draw at knots, less the bias of smoothing."""
    values = np.empty((len(knots), len(bandwidth)))
    is_none = np.isnan(bandwidth)
    right, wrong = draws.right.sum(axis=0), draws.wrong.sum(axis=0)
    values[:, is_none] = (right / (right + wrong))[is_none]
    for width in np.unique(bandwidth[~is_none]):
        members = np.flatnonzero(bandwidth == width)
        picked = Masses(
            score=draws.score, right=draws.right[:, members], wrong=draws.wrong[:, members]
        )
        lattice = lattice_for(picked, float(width))
        inner = gaussian_window(lattice.score, lattice.score, float(width))
        outer = gaussian_window(knots, lattice.score, float(width))
        fitted = (inner @ lattice.right) / (inner @ lattice.total)
        once = outer @ lattice.right
        twice = outer @ (lattice.total * fitted)
        values[:, members] = np.clip((2.0 * once - twice) / (outer @ lattice.total), 0.0, 1.0)
    return values


def rank_lines(point: Floats, rank: Floats, draws: Masses, width: float) -> Floats:
    """Return the curve of every draw by local lines in ranks."""
    window = gaussian_window(point, rank, width)
    away = (rank - point[:, None]) / width
    tilted = window * away
    total = draws.total
    mass, first, second = window @ total, tilted @ total, (tilted * away) @ total
    right, right_first = window @ draws.right, tilted @ draws.right
    spread = mass * second - first**2
    is_line = spread > LEAST_SPREAD * mass**2
    line = (second * right - first * right_first) / np.where(is_line, spread, 1.0)
    return np.clip(np.where(is_line, line, right / mass), 0.0, 1.0)


CURVE_NODES_PER_BANDWIDTH = 128  # finer than for the slope: the curve holds in gaps too
FIRST_KNOTS_PER_BANDWIDTH = 4
CURVE_TOLERANCE = 1e-7  # of the stored curve against the sums, at the points looked at
PROBES = (0.25, 0.5, 0.75)  # where between two knots the stored curve is checked
MOST_HALVINGS = 40
OF_TWO = 1.5  # an interval that holds two sets of quantiles leaves out less than either;
# with this share of the nominal error in each it holds its level (decision 0005)
LEAVE_ONE_OUT = "loo"
LAW_BANDWIDTH = 0.5  # the trove law holds at any fixed bandwidth; this one is tested


@dataclass(frozen=True, kw_only=True, eq=False)
class KernelRatio:
    """The ratio of kernel sums, by direct summation over nodes."""

    right: Nodes  # Where right and wrong predictions lie; either may be empty
    wrong: Nodes
    bandwidth: float  # Of the Gaussian kernel
    prior_weight: float  # Weight of the class's share
    share: float  # The class's share of right predictions

    def evaluate(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the confidence and its derivative at each point."""
        log_right, slope_right = self._part(point, self.right, self.share)
        log_wrong, slope_wrong = self._part(point, self.wrong, 1.0 - self.share)
        if log_right is None or log_wrong is None:
            constant = 0.0 if log_right is None else 1.0
            return np.full(len(point), constant), np.zeros(len(point))
        log_odds = log_right - log_wrong
        value = scipy.special.expit(log_odds)
        return value, value * scipy.special.expit(-log_odds) * (slope_right - slope_wrong)

    def _part(self, point: Floats, nodes: Nodes, share: float) -> tuple[Floats | None, Floats]:
        """Return the log of one part of the ratio, and the log's derivative."""
        prior = self.prior_weight * share
        if len(nodes.score) == 0:
            log_prior = None if prior == 0 else np.full(len(point), np.log(prior))
            return log_prior, np.zeros(len(point))
        log_mass, offset = local_sums(point, nodes, self.bandwidth)
        slope = offset / self.bandwidth**2
        if prior == 0:
            return log_mass, slope
        log_all = np.logaddexp(log_mass, np.log(prior))
        return log_all, slope * np.exp(log_mass - log_all)


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Settings of the kernel confidence.

    Conf(S) = (Σ_TP w κ((S − S_i)/b) + a·Conf1) / (Σ w κ((S − S_i)/b) + a), Eq.
    (7)–(9) of Salamon et al. for a = `prior_weight` = 0, with κ(u) = exp(−u²/2). The bandwidth is
    chosen with a = 0 and without reflection. Outside the positives' scores the value at the end is
    held; where no bandwidth passes the rule, the class's share is given, and where nearly all
    scores lie at the top `mon` or the share, with notes
    (docs/decisions/0004-curves-over-the-score.md).

    *Departs from the paper:* the default a = 1 adds one pseudo-protein of the class's share at the
    centre of every window, so that two wrong ones far from anything else are no certainty; at the
    lowest scores and for saturated scores `safeguards` hold. The paper's confidence is that of
    ``kernel(prior_weight=0, safeguards=false)``.
    """

    bandwidth: str | float = setting(
        "mon2",
        "mon, mon2, mon4: the least whose curve turns at most 0, 2 or 4 times; loo: the best for "
        "clusters left out; or a number, in score units",
        ("mon", "mon2", "mon4", "loo"),
        low=1e-6,
    )
    prior_weight: float = setting(1.0, "weight of the class's share; 0 for none", low=0.0)
    reflection: bool = setting(False, "fold mass beyond 0 and the scale back")
    safeguards: bool = setting(
        True,
        "below the scores of a few families no more than they support, and where nearly all "
        "scores lie at the top mon or the class's share; false: the published formula alone",
    )

    def fit_curve(self, sample: ClassSample) -> KernelCurve:
        """Return the ratio of kernel sums, on knots."""
        masses = masses_of(sample)
        bandwidth: float | None = None
        code = Note.NONE
        if self.bandwidth == LEAVE_ONE_OUT:
            bandwidth = leave_one_out_bandwidth(sample)
        elif self.bandwidth not in MON:
            bandwidth = float(self.bandwidth)
        elif masses.right.any() and masses.wrong.any():
            allowed = MON[str(self.bandwidth)]
            bandwidth = steady_bandwidth(masses, sample.scale, sample.resolution, allowed)
            if bandwidth is not None and self.safeguards:
                bandwidth, code = saturated_bandwidth(sample, masses, bandwidth, allowed)
        if bandwidth is None:
            share = np.array([masses.share])
            return KernelCurve(
                bandwidth=np.nan,
                score=masses.score[:1],
                share=share,
                slope=np.zeros(1),
                code=int(code),
            )
        return replace(trace(self.ratio(masses, bandwidth, sample.scale), masses), code=int(code))

    def ratio(self, masses: Masses, bandwidth: float, scale: float) -> KernelRatio:
        """Return the ratio of kernel sums at a bandwidth."""
        right, wrong = nodes_of(masses, bandwidth / CURVE_NODES_PER_BANDWIDTH)
        if self.reflection:
            right, wrong = reflected(right, scale), reflected(wrong, scale)
        return KernelRatio(
            right=right,
            wrong=wrong,
            bandwidth=bandwidth,
            prior_weight=self.prior_weight,
            share=masses.share,
        )

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the pointwise interval, each draw with its own bandwidth and less its bias."""
        assert isinstance(curve, KernelCurve)
        places, draws, bandwidth = self._draws(sample, curve, options.n_draws)
        clusters = cluster_masses(sample, places)
        options = replace(options, level=max(1.0 - OF_TWO * (1.0 - options.level), 0.0))
        knots = knots_of(sample)
        centre = curve.value(knots)
        values = debiased_values(knots, draws, bandwidth)
        width = (
            curve.bandwidth if np.isfinite(curve.bandwidth) else GREATEST_BANDWIDTH * sample.scale
        )
        n_near = clusters.effective_number(gaussian_window(knots, places.score, width))
        smooth = curve_band(knots, values, n_near, centre, options)
        total = clusters.total
        rank = (np.cumsum(total) - HALF * total) / total.sum()  # mid-ranks, from 0 to 1
        at = np.interp(knots, places.score, rank)
        n_clusters = float(clusters.effective_number(np.ones((1, len(rank))))[0])
        width = n_clusters**RANK_POWER
        values = rank_lines(at, rank, draws, width)
        n_near = clusters.effective_number(gaussian_window(at, rank, width))
        steep = curve_band(knots, values, n_near, centre, options)
        lower = np.minimum(smooth.lower, steep.lower)
        return Band(score=knots, lower=lower, upper=np.maximum(smooth.upper, steep.upper))

    def draw_values(self, sample: ClassSample, score: float, n_draws: int) -> Floats:
        """Return the confidence at a score in every draw over clusters; no reflection."""
        places, draws, bandwidth = self._draws(sample, self.fit_curve(sample), n_draws)
        at = float(np.clip(score, places.score[0], places.score[-1]))
        width = np.where(np.isfinite(bandwidth), bandwidth, np.inf)
        share = draws.right.sum(axis=0) / draws.total.sum(axis=0)
        square = HALF * ((draws.score - at)[:, None] / width) ** 2
        # Relative to the nearest place, so that nothing underflows in a gap.
        nearest = square.min(axis=0)
        kernel = np.exp(nearest - square)
        right = (kernel * draws.right).sum(axis=0)
        total = (kernel * draws.total).sum(axis=0)
        prior = self.prior_weight * np.exp(np.minimum(nearest, MOST_EXPONENT))
        return np.asarray((right + prior * share) / (total + prior))

    def _draws(
        self, sample: ClassSample, curve: KernelCurve, n_draws: int
    ) -> tuple[Places, Masses, Floats]:
        """Return places, drawn masses there, and the bandwidth in every draw."""
        places = places_of(sample)
        draws, bandwidth = draw_masses(sample, places, n_draws), np.full(n_draws, curve.bandwidth)
        if self.bandwidth in MON and curve.code != Note.SATURATED_SHARE:
            allowed = MON["mon" if curve.code == Note.SATURATED else str(self.bandwidth)]
            bandwidth = draw_bandwidths(draws, sample.scale, sample.resolution, allowed)
        return places, draws, bandwidth


def reflected(nodes: Nodes, scale: float) -> Nodes:
    """Return the nodes with their mirror images at 0 and at the scale."""
    return Nodes(
        score=np.concatenate([-nodes.score[::-1], nodes.score, 2.0 * scale - nodes.score[::-1]]),
        mass=np.concatenate([nodes.mass[::-1], nodes.mass, nodes.mass[::-1]]),
    )


def trace(ratio: KernelRatio, masses: Masses) -> KernelCurve:
    """Return the ratio on knots, a stretch halved where the stored cubic is off in between."""
    low, high = float(masses.score[0]), float(masses.score[-1])
    n_steps = int(np.ceil((high - low) / (ratio.bandwidth / FIRST_KNOTS_PER_BANDWIDTH)))
    knots = np.linspace(low, high, n_steps + 1) if n_steps else np.array([low])
    share, slope = ratio.evaluate(knots)
    open_ = np.arange(n_steps)
    for _ in range(MOST_HALVINGS):
        if len(open_) == 0:
            break
        left, right = knots[open_], knots[open_ + 1]
        is_off = np.zeros(len(open_), dtype=np.bool_)
        for fraction in PROBES:
            point = left + fraction * (right - left)
            exact, _ = ratio.evaluate(point)
            is_off |= np.abs(hermite(knots, share, slope, point) - exact) > CURVE_TOLERANCE
        middle = HALF * (left[is_off] + right[is_off])
        middle = middle[(middle > left[is_off]) & (middle < right[is_off])]
        new_share, new_slope = ratio.evaluate(middle)
        position = np.searchsorted(knots, middle)
        knots = np.insert(knots, position, middle)
        share = np.insert(share, position, new_share)
        slope = np.insert(slope, position, new_slope)
        at = np.searchsorted(knots, middle)
        open_ = np.sort(np.concatenate([at - 1, at]))
    return KernelCurve(bandwidth=ratio.bandwidth, score=knots, share=share, slope=slope)


KERNEL_METHOD = curve_method(
    "kernel",
    "Smooth ratio of right to all predictions around the score.",
    "Salamon et al. 2023, Eq. 7-9 and section 12, doi 10.3390/make5030043",
    Kernel,
    {Curve: KernelCurve},
    conditional_laws={
        Law.REPEAT_IS_WEIGHT: Kernel(prior_weight=0.0),
        Law.TROVE: Kernel(bandwidth=LAW_BANDWIDTH, prior_weight=0.0),
    },
    additive=True,
    stored_within=CURVE_TOLERANCE,
)
