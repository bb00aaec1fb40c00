"""Findings by name, for sections that need one number of many."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import NormalDist
from typing import Any, NamedTuple, TypeVar

import numpy as np

from credence.findings import (
    ClassCount,
    CurveFinding,
    Findings,
    MethodFinding,
    Reliability,
    ShiftFinding,
    StackFinding,
    Threshold,
)
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import ConfidencePlot, ReliabilityPlot
from credence.report.wording import DASH, count, loss, slug

One = TypeVar("One")

MARKED = 0.9  # precision whose thresholds are marked
SHOWN_DIGITS = 2  # of a number that is only about right
NO_RELATIVES_KNOWN = (
    " Nothing says here which proteins are relatives: each counts as a family of its own."
)
NICE_SHARES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # scores shown, in scales


class Point(NamedTuple):
    """A curve at one score, as in :class:`credence.findings.CurveFinding`."""

    score: float
    value: float
    lower: float
    upper: float
    support: float


def _by(entries: Iterable[One], *names: str) -> dict[Any, One]:
    """Return records by some of their fields."""
    key = attrgetter(*names)
    return {key(entry): entry for entry in entries}


def more_needed(lower: float, upper: float, support: float, level: float) -> int:
    """Return about how many independent proteins more would halve an interval.

    No fewer than give half the width to a share in the middle: few narrow it slowly.
    """
    width, middle = (upper - lower) / 2, (upper + lower) / 2
    z = NormalDist().inv_cdf((1 + level) / 2)
    binomial = (2 * z / width) ** 2 * middle * (1 - middle)
    more = max(4 * support, binomial) - support
    digits = max(0, len(str(int(more))) - SHOWN_DIGITS)
    return max(1, round(round(more, -digits)))


class Lookup:
    """Ways into findings, whose records are found by some of their fields."""

    def __init__(self, findings: Findings) -> None:
        results = findings.results
        self.findings = findings
        key = ("method", "class_name")
        self.metrics = _by(results.metrics, *key, "sample", "metric")
        self.curves = _by(results.curves, *key)
        self.histograms = _by(results.histograms, "class_name")
        self.reliability = _by(results.reliability, *key, "sample")
        self.tests = _by(results.tests, *key, "test")
        self.parameters = _by(results.parameters, *key, "name")
        held_out = (floor for floor in results.floors if floor.sample == "held_out")
        self.floors = _by(held_out, *key, "metric", "relatives_alike")

    def marks(self, entry: ClassCount) -> tuple[float | None, float | None]:
        """Return the thresholds of a class for nine of ten right: as estimated, and guaranteed.

        The estimate is for the class proportions of a sample, where its lists are.
        """
        thresholds = self.findings.thresholds
        as_calibrated = () if thresholds is None else thresholds.rows
        estimated = as_calibrated if self.corrected is None else self.corrected.thresholds
        wanted = (entry.class_name, "score", MARKED)

        def of_class(rows: Sequence[Threshold], field: str) -> float | None:
            ends = (
                float(getattr(row, field))
                for row in rows
                if (row.class_name, row.on, row.precision) == wanted
            )
            return next((end for end in ends if not math.isnan(end)), None)

        return of_class(estimated, "threshold"), of_class(as_calibrated, "sure")

    @property
    def chosen(self) -> MethodFinding | None:
        """The method whose confidences are given out."""
        return _by(self.findings.methods, "name").get(self.findings.chosen)

    @property
    def others(self) -> list[str]:
        """The names of the other methods."""
        names = (method.name for method in self.findings.methods)
        return [name for name in names if name != self.findings.chosen]

    @property
    def is_by_score(self) -> bool:
        """Whether class and score give the confidence, so that it is a curve per class."""
        is_curve = all(curve.is_function for curve in self._own_curves)
        return is_curve and (self.stack is None or self.stack.sees_score_alone)

    @property
    def corrected(self) -> ShiftFinding | None:
        """The sample for whose mix the page's curves are corrected: the only one, if it is."""
        shifts = [shift for shift in self.findings.shifts if shift.curves]
        return shifts[0] if len(shifts) == len(self.findings.queries) == 1 else None

    def shown(self, class_name: str) -> CurveFinding | None:
        """Return a class's curve as published: corrected, where the sample is."""
        fitted = self.curves.get((self.findings.chosen, class_name))
        if self.corrected is None or fitted is None:
            return fitted
        for curve in self.corrected.curves:
            if curve.class_name == class_name:
                support = tuple(np.interp(curve.score, fitted.score, fitted.support).tolist())
                return replace(
                    fitted,
                    score=curve.score,
                    value=curve.after,
                    lower=curve.after_lower,
                    upper=curve.after_upper,
                    support=support,
                    note=(),
                )
        return fitted

    @property
    def stack(self) -> StackFinding | None:
        """What the chosen method rests on, where it is a mean of others."""
        return _by(self.findings.stacks, "method").get(self.findings.chosen)

    @property
    def of_score_alone(self) -> str:
        """What the curves of a method are that also sees the scores of the other classes."""
        if self.is_by_score or not all(curve.is_function for curve in self._own_curves):
            return ""
        return (
            f" {self.findings.chosen} also looks at the scores of the other classes: shown is "
            "the confidence from class and top score only; published ones lie around it."
        )

    @property
    def has_intervals(self) -> bool:
        """Whether confidences have intervals; where no curve says so, draws gave them."""
        lower = [v for curve in self._own_curves if curve.is_function for v in curve.lower]
        return not all(map(math.isnan, lower)) if lower else self.findings.results.n_draws > 0

    @property
    def _own_curves(self) -> list[CurveFinding]:
        chosen = self.findings.chosen
        return [curve for curve in self.findings.results.curves if curve.method == chosen]

    @property
    def knows_relatives(self) -> bool:
        """Whether anything says which proteins are relatives."""
        return self.findings.knows_relatives

    @property
    def families(self) -> str:
        """What is counted, drawn and left out: families, or proteins where none are known."""
        return "families" if self.knows_relatives else "proteins"

    @property
    def units(self) -> str:
        """What is judged, in the plural: proteins, or their calls."""
        return f"{self.findings.unit}s"

    def family_column(self) -> list[page.Column]:
        """Return a column of how many families there are; none where none are known."""
        return [page.number("families", "n_clusters")] if self.knows_relatives else []

    def evidence(self, entry: ClassCount) -> str:
        """Return how many proteins and families a class's numbers rest on."""
        counted = plural(entry.n_predicted, self.findings.unit)
        if not self.knows_relatives:
            return f"{counted} (no relatives known)"
        return f"{counted} in {plural(entry.n_clusters, 'family', 'families')}"

    def chance_in_words(self, reliability: Reliability) -> str:
        """Return what the grey band of a reliability diagram is, where it has one."""
        if not reliability.band_lower:
            return ""
        alike = " and known relatives right or wrong together" if self.knows_relatives else ""
        return (
            f" Grey: where points would lie by chance were every confidence true{alike}. Line: "
            "the precision, smoothed. Below: how many have which confidence."
        )

    def confidence_plot(self, entry: ClassCount, methods: Iterable[str]) -> ConfidencePlot | None:
        """Return the curves of methods over a class's histogram; None where it has none."""
        name, histogram = entry.class_name, self.histograms.get(entry.class_name)
        if histogram is None:
            return None
        curves = tuple(self.curves[m, name] for m in methods if (m, name) in self.curves)
        return ConfidencePlot(
            curves=curves,
            histogram=histogram,
            share=entry.share,
            score_min=entry.score_min,
            score_max=entry.score_max,
            scale=self.findings.results.scale,
        )

    def value(self, method: str, class_name: str | None, metric: str = "nll") -> float:
        """Return a held-out metric; NaN where it is not known."""
        entry = self.metrics.get((method, class_name, "held_out", metric))
        return math.nan if entry is None else entry.value

    def loss(
        self, method: str, class_name: str | None, sample: str = "held_out", metric: str = "nll"
    ) -> str:
        """Return a metric with its interval, as tables show it."""
        entry = self.metrics.get((method, class_name, sample, metric))
        return DASH if entry is None else loss(entry.value, entry.lower, entry.upper)

    @property
    def axis(self) -> tuple[float, float] | None:
        """The scores at both ends of a picture of all classes; None where there are none."""
        results = self.findings.results
        seen = [entry.score_min for entry in results.classes if not math.isnan(entry.score_min)]
        if not seen or not results.curves:
            return None
        ends = [entry.score_max for entry in results.classes if not math.isnan(entry.score_max)]
        edges = [histogram.shares.edges[-1] for histogram in results.histograms]
        most = max(*ends, *edges, ends[0])
        step = results.scale / 10.0
        return round(math.floor(min(seen) / step) * step, 10), most

    def nice_scores(self) -> tuple[float, ...]:
        """Return round scores of which tables give the confidence."""
        return tuple(round(share * self.findings.results.scale, 10) for share in NICE_SHARES)

    def example_score(self, entry: ClassCount) -> float:
        """Return the round score that is nearest to the class's median, if seen."""
        seen = [at for at in self.nice_scores() if entry.score_min <= at <= entry.score_max]
        if not seen:
            return entry.score_median
        return min(seen, key=lambda score: abs(score - entry.score_median))

    def at(self, curve: CurveFinding | None, score: float) -> Point | None:
        """Return a curve at a score, linear between its points; None without one."""
        if curve is None or not curve.is_function or math.isnan(score):
            return None
        value, lower, upper, support = (
            float(np.interp(score, curve.score, part))
            for part in (curve.value, curve.lower, curve.upper, curve.support)
        )
        return Point(score=score, value=value, lower=lower, upper=upper, support=support)


def reliability_plot(names: tuple[str, ...], diagrams: tuple[Reliability, ...]) -> ReliabilityPlot:
    """Return diagrams laid over each other, with band and curve of the first."""
    first, bins = diagrams[0], tuple(entry.bins for entry in diagrams)
    return ReliabilityPlot(
        names=names,
        bins=bins,
        band_lower=first.band_lower,
        band_upper=first.band_upper,
        curve=first.curve,
        counts=first.counts,
    )


def reliability_figure(lookup: Lookup, entry: ClassCount, name: str) -> page.Figure | None:
    """Return the reliability diagram of a class; None where nothing was cross-validated."""
    reliability = lookup.reliability.get((lookup.findings.chosen, entry.class_name, "held_out"))
    if reliability is None or sum(reliability.bins.n) == 0:
        return None
    bins = reliability.bins
    filled = np.flatnonzero(bins.n)
    n_off = sum(not bins.lower[k] <= bins.mean[k] <= bins.upper[k] for k in filled)
    return page.Figure(
        name=f"reliability-{name}",
        caption=f"Reliability diagram, held-out, n = {count(sum(bins.n))}.",
        alternative=f"Reliability of {entry.class_name}: of {plural(len(filled), 'bin')} of "
        f"confidence, in {n_off} the mean confidence lies outside the interval of the precision.",
        plot=reliability_plot(("held-out",), (reliability,)),
    )


def class_anchors(findings: Findings) -> dict[str, str]:
    """Return the anchor of each class, empty where it was never predicted."""
    return {
        entry.class_name: f"class-{slug(entry.class_name, at)}" if entry.n_predicted > 0 else ""
        for at, entry in enumerate(findings.results.classes, start=1)
    }
