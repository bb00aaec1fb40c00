"""Kernel confidence: a ratio of densities of right and of all predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from credence.calibrators.bandwidth import GREATEST, MON, steady_bandwidth
from credence.calibrators.binning import Masses, Nodes, masses_of, nodes_of
from credence.calibrators.classwise import build_classwise, reader_of
from credence.calibrators.intervals import band_of, knots_of
from credence.calibrators.kernel_band import (
    RANK_POWER,
    debiased_values,
    draw_bandwidths,
    rank_lines,
    ranks_of,
    values_at,
)
from credence.calibrators.kernel_curve import KernelCurve, constant_curve, hermite
from credence.calibrators.kernel_loo import leave_one_out_bandwidth
from credence.calibrators.kernel_sums import local_sums
from credence.calibrators.mass_draws import (
    cluster_masses,
    draw_masses,
    gaussian_window,
    places_of,
)
from credence.calibrators.protocol import (
    Band,
    ClassSample,
    Curve,
    FitOptions,
    Law,
    Method,
    Need,
    setting,
)
from credence.predictions import Floats

CURVE_NODES_PER_BANDWIDTH = 128  # finer than for the slope: the curve holds in gaps too
FIRST_KNOTS_PER_BANDWIDTH = 4
TOLERANCE = 1e-7  # of the stored curve against the sums, at the points looked at
PROBES = (0.25, 0.5, 0.75)  # where between two knots the stored curve is checked
MOST_HALVINGS = 40
HALF = 0.5
OF_TWO = 1.5  # an interval that holds two sets of quantiles leaves out less than either;
# with this share of the nominal error in each it holds its level (decision 0220)
LEAVE_ONE_OUT = "loo"
LAW_BANDWIDTH = 0.5  # the trove law holds at any fixed bandwidth; this one is tested


@dataclass(frozen=True, eq=False)
class KernelRatio:
    """The ratio of kernel sums, by direct summation over nodes.

    Parameters
    ----------
    right, wrong : Nodes
        Where right and wrong predictions lie; either may be empty.
    bandwidth : float
        Of the Gaussian kernel.
    prior_weight : float
        Weight of the class's share.
    share : float
        The class's share of right predictions.
    """

    right: Nodes
    wrong: Nodes
    bandwidth: float
    prior_weight: float
    share: float

    def evaluate(self, point: Floats) -> tuple[Floats, Floats]:
        """Return the confidence and its derivative at each point.

        Parameters
        ----------
        point : array of float
            Scores.
        """
        log_right, slope_right = self._part(point, self.right, self.share)
        log_wrong, slope_wrong = self._part(point, self.wrong, 1.0 - self.share)
        if log_right is None or log_wrong is None:
            constant = 0.0 if log_right is None else 1.0
            return np.full(len(point), constant), np.zeros(len(point))
        log_odds = log_right - log_wrong
        value = expit(log_odds)
        return value, value * expit(-log_odds) * (slope_right - slope_wrong)

    def _part(self, point: Floats, nodes: Nodes, share: float) -> tuple[Floats | None, Floats]:
        """Return the log of one part of the ratio, and the log's derivative."""
        prior = self.prior_weight * share
        if len(nodes.score) == 0:
            log_prior = None if prior == 0 else np.full(len(point), np.log(prior))
            return log_prior, np.zeros(len(point))
        sums = local_sums(point, nodes, self.bandwidth)
        slope = sums.offset / self.bandwidth**2
        if prior == 0:
            return sums.log_mass, slope
        log_all = np.logaddexp(sums.log_mass, np.log(prior))
        return log_all, slope * np.exp(sums.log_mass - log_all)


@dataclass(frozen=True)
class Kernel:
    """Settings of the kernel confidence.

    Parameters
    ----------
    bandwidth : {'mon', 'mon2', 'mon4', 'loo'} or float
        Rule that chooses the bandwidth, or the bandwidth in score units.
    prior_weight : float
        Weight of the class's share in each ratio; 0 is the paper's formula.
    reflection : bool
        Whether mass that leaks over 0 and the scale is folded back.

    Notes
    -----
    Conf(S) = (Σ_TP w κ((S − S_i)/b) + a·Conf1) / (Σ w κ((S − S_i)/b) + a), Eq.
    (7)–(9) of [1]_ for a = `prior_weight` = 0, with κ(u) = exp(−u²/2). The
    bandwidth is chosen with a = 0 and without reflection. Outside the range of
    the positives' scores the value at its end is held, with a note. Where no
    bandwidth passes the rule, the class's share is given, with a note.

    *Departs from the paper:* the default a = 1 adds one pseudo-protein of the
    class's share at the centre of every window, so that two wrong predictions
    far from anything else cannot claim certainty.

    References
    ----------
    .. [1] Salamon et al. 2023, doi 10.3390/make5030043
    """

    bandwidth: str | float = setting(
        "mon2", "rule, or bandwidth in score units", ("mon", "mon2", "mon4", "loo"), low=1e-6
    )
    prior_weight: float = setting(1.0, "weight of the class's share; 0 for none", low=0.0)
    reflection: bool = setting(False, "fold mass beyond 0 and the scale back")

    def fit_curve(self, sample: ClassSample) -> KernelCurve:
        """Return the ratio of kernel sums, on knots.

        Parameters
        ----------
        sample : ClassSample
            The proteins predicted to be in the class.
        """
        masses = masses_of(sample)
        if self.is_additive:
            return self.fit_masses(masses, sample.scale, sample.resolution)
        return self.curve_at(masses, leave_one_out_bandwidth(sample), sample.scale)

    @property
    def is_additive(self) -> bool:
        """Whether the curve is a function of the masses; `loo` looks at clusters."""
        return self.bandwidth != LEAVE_ONE_OUT

    def fit_masses(self, masses: Masses, scale: float, resolution: float) -> KernelCurve:
        """Return the ratio of kernel sums, on knots, from masses alone.

        Parameters
        ----------
        masses : Masses
            Of the class's right and wrong predictions.
        scale, resolution : float
            See :class:`credence.predictions.Predictions`.
        """
        bandwidth: float | None
        if self.bandwidth in MON:
            bandwidth = None
            if masses.right.any() and masses.wrong.any():
                allowed = MON[str(self.bandwidth)]
                bandwidth = steady_bandwidth(masses, scale, resolution, allowed)
        else:
            bandwidth = float(self.bandwidth)
        return self.curve_at(masses, bandwidth, scale)

    def curve_at(self, masses: Masses, bandwidth: float | None, scale: float) -> KernelCurve:
        """Return the curve at a bandwidth; the class's share where there is none."""
        if bandwidth is None:
            return constant_curve(masses)
        return trace(self.ratio(masses, bandwidth, scale), masses)

    def ratio(self, masses: Masses, bandwidth: float, scale: float) -> KernelRatio:
        """Return the ratio of kernel sums at a bandwidth."""
        width = bandwidth / CURVE_NODES_PER_BANDWIDTH
        right, wrong = (nodes_of(masses, kind, width) for kind in ("right", "wrong"))
        if self.reflection:
            right, wrong = reflected(right, scale), reflected(wrong, scale)
        return KernelRatio(right, wrong, bandwidth, self.prior_weight, masses.share)

    def fit_band(self, sample: ClassSample, curve: Curve, options: FitOptions) -> Band:
        """Return the pointwise interval, from a bootstrap over clusters.

        A rule that counts sign changes chooses the bandwidth anew in every draw
        (a number stays, and so does that of `loo`), and each draw's own estimate
        of its bias is taken away, so that the interval is for the true
        confidence and not only for its smoothed image.
        """
        assert isinstance(curve, KernelCurve)
        places = places_of(sample)
        draws = draw_masses(sample, places.of_row, len(places.score), options.n_draws)
        bandwidth = np.full(options.n_draws, curve.bandwidth)
        if self.bandwidth in MON:
            bandwidth = draw_bandwidths(
                places.score, draws, sample.scale, sample.resolution, MON[str(self.bandwidth)]
            )
        clusters = cluster_masses(sample, places)
        options = replace(options, level=max(1.0 - OF_TWO * (1.0 - options.level), 0.0))
        knots = knots_of(sample)
        centre = curve.value(knots)
        values = debiased_values(knots, places.score, draws, bandwidth)
        width = curve.bandwidth if np.isfinite(curve.bandwidth) else GREATEST * sample.scale
        n_near = clusters.effective_number(gaussian_window(knots, places.score, width))
        smooth = band_of(knots, values, n_near, centre, options)
        rank, at = ranks_of(places.score, clusters.total, knots)
        n_clusters = float(clusters.effective_number(np.ones((1, len(rank))))[0])
        width = n_clusters**RANK_POWER
        values = rank_lines(at, rank, draws, width)
        n_near = clusters.effective_number(gaussian_window(at, rank, width))
        steep = band_of(knots, values, n_near, centre, options)
        lower = np.minimum(smooth.lower, steep.lower)
        return Band(knots, lower, np.maximum(smooth.upper, steep.upper))

    def draw_values(self, sample: ClassSample, score: float, n_draws: int) -> Floats:
        """Return the confidence at a score in every draw over clusters.

        A rule that counts sign changes chooses the bandwidth anew in every draw.
        Reflection is not drawn.

        Parameters
        ----------
        sample : ClassSample
            The positives of a class, right and wrong ones.
        score : float
            Where; it is held within the range of the positives' scores.
        n_draws : int
            Number of draws.
        """
        places = places_of(sample)
        draws = draw_masses(sample, places.of_row, len(places.score), n_draws)
        bandwidth = np.full(n_draws, self.fit_curve(sample).bandwidth)
        if self.bandwidth in MON:
            bandwidth = draw_bandwidths(
                places.score, draws, sample.scale, sample.resolution, MON[str(self.bandwidth)]
            )
        at = float(np.clip(score, places.score[0], places.score[-1]))
        width = np.where(np.isfinite(bandwidth), bandwidth, np.inf)
        return values_at(at, places.score, draws, width, self.prior_weight)


def reflected(nodes: Nodes, scale: float) -> Nodes:
    """Return the nodes with their mirror images at 0 and at the scale."""
    return Nodes(
        np.concatenate([-nodes.score[::-1], nodes.score, 2.0 * scale - nodes.score[::-1]]),
        np.concatenate([nodes.mass[::-1], nodes.mass, nodes.mass[::-1]]),
    )


def trace(ratio: KernelRatio, masses: Masses) -> KernelCurve:
    """Return the ratio on knots that are as close as its shape demands.

    Between two knots the stored cubic is compared with the sums at three
    points; where it is off, the stretch is halved and looked at again.

    Parameters
    ----------
    ratio : KernelRatio
        What to store.
    masses : Masses
        Its range is that of the knots.
    """
    low, high = float(masses.score[0]), float(masses.score[-1])
    step = ratio.bandwidth / FIRST_KNOTS_PER_BANDWIDTH
    n_steps = int(np.ceil((high - low) / step))
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
            is_off |= np.abs(hermite(knots, share, slope, point) - exact) > TOLERANCE
        middle = HALF * (left[is_off] + right[is_off])
        middle = middle[(middle > left[is_off]) & (middle < right[is_off])]
        new_share, new_slope = ratio.evaluate(middle)
        position = np.searchsorted(knots, middle)
        knots = np.insert(knots, position, middle)
        share = np.insert(share, position, new_share)
        slope = np.insert(slope, position, new_slope)
        at = np.searchsorted(knots, middle)
        open_ = np.sort(np.concatenate([at - 1, at]))
    return KernelCurve(knots, share, slope, ratio.bandwidth)


METHOD = Method(
    name="kernel",
    summary="Smooth ratio of right to all predictions around the score.",
    reference="Salamon et al. 2023, Eq. 7-9 and section 12, doi 10.3390/make5030043",
    settings=Kernel,
    needs=Need.TOP_SCORE,
    build=build_classwise("kernel"),
    read=reader_of("kernel", KernelCurve.from_record),
    conditional_laws={
        Law.REPEAT_IS_WEIGHT: Kernel(prior_weight=0.0),
        Law.TROVE: Kernel(bandwidth=LAW_BANDWIDTH, prior_weight=0.0),
    },
    additive=True,
    stored_within=TOLERANCE,
)
