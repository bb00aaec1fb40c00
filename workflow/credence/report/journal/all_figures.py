"""All figures for journals: what each is made of, and the list in the order of their numbers.

The numbers are those of Salamon et al. 2023 (doi 10.3390/make5030043), as far
as a figure shows the same thing; `docs/figures.md` says which do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from credence.findings import ClassCount, Findings, ScoreHistogram
from credence.report.plots import (
    ChangePlot,
    ConfidencePlot,
    Heat,
    LinesPlot,
    ReliabilityPlot,
    middles,
)
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.wording import of


@dataclass(frozen=True)
class RankPlot:
    """One number per method, with intervals."""

    methods: tuple[str, ...]  # From the top
    value: tuple[float, ...]  # NaN where there is none
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    n: tuple[int, ...]  # Proteins measured
    best: int | None = None  # Which is the least


PanelPlot = ConfidencePlot | ReliabilityPlot | LinesPlot | ChangePlot | RankPlot


@dataclass(frozen=True)
class ClassPanel:
    """One class of a figure."""

    title: str  # The class
    plot: PanelPlot  # The numbers


@dataclass(frozen=True)
class PanelGrid:
    """Small multiples: a panel per class, all on the same axes."""

    panels: tuple[ClassPanel, ...]  # At least one, all of one kind
    axis: str  # What the axes are
    upright: str
    caption: str  # What is shown, from how much
    has_counts: bool = False  # Whether right and wrong predictions are drawn under each panel


@dataclass(frozen=True)
class JournalFigure:
    """One figure of the registry."""

    number: str  # So that they sort: ``09`` and ``confidence``
    name: str
    shows: str  # A sentence
    needs: str  # What findings must hold, or there is none
    # Findings to what is drawn, or None where they lack it.
    build: Callable[[Findings], PanelGrid | Heat | None]

    @property
    def stem(self) -> str:
        """How its files' names begin."""
        return f"{self.number}-{self.name}"


SCORE = "score of the predicted class"
MOST_OVERLAID = 6  # curves that six colours tell apart
OWN_PAPER = "Salamon et al. 2023"


def kind_of(method: str) -> str:
    """Return a method's name without its settings; of a composition, its last stage's."""
    return method.split("->")[-1].split("(")[0].strip()


def seen_classes(findings: Findings) -> tuple[ClassCount, ...]:
    """Return the classes that were predicted, in the classifier's order."""
    return tuple(entry for entry in findings.results.classes if entry.n_predicted > 0)


def evidence(findings: Findings) -> str:
    """Return what numbers rest on, and whether it was simulated, as sentences."""
    results = findings.results
    families = (
        f" in {of(results.n_clusters, 'family', 'families')}"
        if Lookup(findings).knows_relatives
        else " (no relatives known)"
    )
    simulated = " Simulated data." if findings.provenance.is_simulated else ""
    return f" {of(results.n_samples, 'calibration protein')}{families}.{simulated}"


def level_words(findings: Findings) -> str:
    """Return the coverage of intervals: ``95 %``."""
    return f"{100 * findings.results.level:g} %"


def _grid(
    findings: Findings,
    plots: Mapping[str, PanelPlot | None],
    caption: str,
    upright: str,
    axis: str = SCORE,
    has_counts: bool = False,
) -> PanelGrid | None:
    """Return a panel for each plot, with what their numbers rest on; None without any."""
    panels = tuple(ClassPanel(name, plot) for name, plot in plots.items() if plot is not None)
    text = caption + evidence(findings)
    return PanelGrid(panels, axis, upright, text, has_counts) if panels else None


def _confidence_grid(
    findings: Findings, methods: tuple[str, ...], caption: str
) -> PanelGrid | None:
    plots = _confidence_plots(findings, methods)
    text = caption + (
        " Bars: share right in bins of the score. Below each panel: right (up) and wrong (down) "
        "predictions over the score, each scaled to its highest bar."
    )
    with_curves = {name: plot for name, plot in plots.items() if plot and plot.curves}
    return _grid(findings, with_curves, text, "confidence", has_counts=True)


def _confidence_plots(
    findings: Findings, methods: tuple[str, ...]
) -> dict[str, ConfidencePlot | None]:
    lookup = Lookup(findings)
    seen = seen_classes(findings)
    return {entry.class_name: lookup.confidence_plot(entry, methods) for entry in seen}


def chosen(findings: Findings) -> PanelGrid | None:
    """Return the confidence that is given out, with its interval, class by class."""
    return _confidence_grid(
        findings,
        (findings.chosen,),
        f"Confidence of {findings.chosen} over the score, class by class; band: pointwise "
        f"{level_words(findings)} interval. Dashed: share right whatever the "
        "score. Dotted: beyond the scores that calibration saw. Whiskers of bars: "
        f"{level_words(findings)} intervals.",
    )


def among(*kinds: str, also: str = "") -> Callable[[Findings], PanelGrid | None]:
    """Return how to lay the methods of some kinds over each other."""

    def build(findings: Findings) -> PanelGrid | None:
        names = (m.name for m in findings.methods if kind_of(m.name) in kinds)
        return _overlaid(findings, tuple(names), also)

    return build


def of_others(findings: Findings) -> PanelGrid | None:
    """Return the methods of other authors, and the score as it is, laid over each other."""
    choosing = {entry.method for entry in findings.stacks}
    names = (
        method.name
        for method in findings.methods
        if kind_of(method.name) == "uncalibrated"
        or (OWN_PAPER not in method.reference and method.name not in choosing)
    )
    return _overlaid(findings, tuple(names))


def _overlaid(findings: Findings, methods: tuple[str, ...], also: str = "") -> PanelGrid | None:
    if not methods:
        return None
    stated = ", ".join(methods[:MOST_OVERLAID])
    caption = f"Confidence over the score, class by class, of {stated}.{also}"
    return _confidence_grid(findings, methods[:MOST_OVERLAID], caption)


def loo_against_mon(findings: Findings) -> PanelGrid | None:
    """Return kernels whose bandwidth minimises held-out loss, beside the others."""
    kernels = [m.name for m in findings.methods if kind_of(m.name) == "kernel"]
    if not any("bandwidth=loo" in name for name in kernels):
        return None
    ordered = sorted(kernels, key=lambda name: "bandwidth=loo" not in name)[:MOST_OVERLAID]
    caption = (
        f"Confidence over the score, class by class, of {', '.join(ordered)}. The bandwidth "
        "that minimises the held-out loss (loo) is often so small that the curve follows noise."
    )
    return _confidence_grid(findings, tuple(ordered), caption)


def best_methods(findings: Findings) -> PanelGrid | None:
    """Return the chosen method and its best rivals, laid over each other."""
    lookup = Lookup(findings)
    if not lookup.others:
        return None

    def held_out(method: str) -> float:
        value = lookup.value(method, None)
        return math.inf if math.isnan(value) else value

    rivals = sorted(lookup.others, key=held_out)
    methods = (findings.chosen, *rivals)[:MOST_OVERLAID]
    which = "every method"
    if len(rivals) >= MOST_OVERLAID:
        which = "the chosen method and of those with the least held-out NLL"
    caption = f"Confidence over the score, class by class, of {which}: {', '.join(methods)}."
    return _confidence_grid(findings, methods, caption)


def histograms(findings: Findings) -> PanelGrid | None:
    """Return the share right in bins of the score, class by class."""
    caption = (
        "Share of right predictions in bins of the score, class by class, with "
        f"{level_words(findings)} intervals. Dashed: share right whatever the "
        "score. Below each panel: right (up) and wrong (down) predictions."
    )
    plots = _confidence_plots(findings, ())
    return _grid(findings, plots, caption, "share right", has_counts=True)


def densities(findings: Findings) -> PanelGrid | None:
    """Return how right and wrong predictions are spread over the score."""

    def plot(found: ScoreHistogram) -> LinesPlot:
        # One scale for both lines, so that they can be compared.
        most = max(*found.n_correct, *found.n_wrong, 1)
        both = tuple(tuple(n / most for n in part) for part in (found.n_correct, found.n_wrong))
        names, x = ("right", "wrong"), middles(found.edges)
        return LinesPlot(SCORE, "", names, x, both, found.edges[-1], has_points=False)

    caption = (
        "Right and wrong predictions over the score, class by class, in bins of equal width, as "
        "parts of the class's highest bar."
    )
    by_name, seen = Lookup(findings).histograms, seen_classes(findings)
    names = (entry.class_name for entry in seen if entry.class_name in by_name)
    plots = {name: plot(by_name[name]) for name in names}
    return _grid(findings, plots, caption, "predictions, of highest bar")


def halves(findings: Findings) -> PanelGrid | None:
    """Return histograms of two halves, class by class."""
    caption = (
        "Share of right predictions in bins of the score, class by class, from two halves of the "
        "calibration set: how noisy a histogram of half this size is."
    )
    plots = {
        one.class_name: LinesPlot(
            SCORE, "share right", ("first half", "second half"), middles(one.edges),
            (one.share_first, one.share_second), one.edges[-1], has_points=True,
        )
        for one in findings.results.halves
    }  # fmt: skip
    return _grid(findings, plots, caption, "share right")


def counting(findings: Findings) -> PanelGrid | None:
    """Return shares counted among the predicted and among all proteins."""
    caption = (
        "Share truly of the class over its score, counted among proteins predicted to be in it "
        "(top-label) and among all proteins; where the two agree, one line is seen."
    )
    plots = {
        one.class_name: LinesPlot(
            "score of the class", "share truly of the class",
            ("predicted to be in it", "all proteins"), one.score,
            (one.top_label, one.all_scores), one.score[-1], has_points=False,
        )
        for one in findings.results.counting
        if one.score
    }  # fmt: skip
    return _grid(findings, plots, caption, "share truly of it", "score of the class")


def reliabilities(findings: Findings) -> PanelGrid | None:
    """Return held-out reliability diagrams, class by class."""
    found = Lookup(findings).reliability
    plots = {}
    for entry in seen_classes(findings):
        one = found.get((findings.chosen, entry.class_name, "held_out"))
        if one is not None and sum(one.bins.n) > 0:
            plots[entry.class_name] = reliability_plot(("held out",), (one,))
    caption = (
        f"Held-out confidence of {findings.chosen} against the share right, class by class, with "
        f"{level_words(findings)} intervals. Grey: where points would lie by "
        "chance were every confidence true."
    )
    return _grid(findings, plots, caption, "share right", "confidence (mean of bin)")


ALL = "all classes"


def reverse_confusion(findings: Findings) -> Heat | None:
    """Return shares of each predicted class by true class."""
    caption = (
        "Reverse confusion matrix: what predictions of each class truly are, as shares of the "
        "column. Its diagonal is the class-only confidence. Blank: below 0.005."
    )
    return _heat(findings, findings.results.given_predicted, caption)


def confusion(findings: Findings) -> Heat | None:
    """Return shares of each true class by predicted class."""
    caption = (
        "Confusion matrix: what proteins of each class are predicted to be, by row. Blank: below "
        "0.005."
    )
    return _heat(findings, findings.results.given_true, caption)


def counts(findings: Findings) -> Heat | None:
    """Return proteins by true and predicted class."""
    caption = "Proteins by true (rows) and predicted class (columns)."
    return _heat(findings, findings.results.confusion, caption, is_count=True)


def _heat(
    findings: Findings, values: tuple[tuple[float, ...], ...], caption: str, is_count: bool = False
) -> Heat | None:
    if not values:
        return None
    numbers = tuple(tuple(map(float, row)) for row in values)
    key = "proteins" if is_count else "share"
    names = findings.results.class_names
    return Heat(names, numbers, key, caption + evidence(findings), is_count)


def losses(findings: Findings) -> PanelGrid | None:
    """Return the held-out loss of every method, class by class."""
    found = Lookup(findings).metrics
    methods = tuple(method.name for method in findings.methods)
    plots: dict[str, PanelPlot | None] = {}
    for name in (None, *(entry.class_name for entry in seen_classes(findings))):
        values = [found.get((method, name, "held_out", "nll")) for method in methods]
        means, lower, upper = (
            tuple(getattr(one, field, math.nan) for one in values)
            for field in ("value", "lower", "upper")
        )
        known = [at for at, value in enumerate(means) if not math.isnan(value)]
        if known:
            n = tuple(0 if one is None else one.n for one in values)
            best = min(known, key=means.__getitem__)
            plots[name or ALL] = RankPlot(methods, means, lower, upper, n, best)
    caption = (
        "Mean negative log-likelihood of every method on proteins that did not fit it, class by "
        f"class, with {level_words(findings)} intervals; filled: the least. Lines "
        "overlap where methods do not differ: read paired differences from the metrics. Each "
        "panel has its own scale; numbers beyond three times the least are "
        "arrows, and intervals are cut there."
    )
    return _grid(findings, plots, caption, "", "held-out NLL")


def changes(findings: Findings) -> PanelGrid | None:
    """Return every class before and after the last trove that touched any."""
    if findings.releases is None or not findings.releases.steps:
        return None
    step = findings.releases.steps[-1]
    names = (step.older.name, step.newer.name)
    panels = tuple(
        ClassPanel(entry.class_name, ChangePlot(names, entry, step.scale))
        for entry in step.classes
        if entry.is_touched and entry.grid
    )
    simulated = " Simulated data." if findings.provenance.is_simulated else ""
    caption = (
        f"Confidence of {step.method} before (dashed) and after (solid) {step.newer.name}, for "
        f"the classes it touched; bands: pointwise {100 * step.level:g} % intervals. Dotted: "
        "after, at the class frequencies of before, so that what lies between it and the dashed "
        "line is new evidence and the rest re-weighting. Below: predictions that were right and "
        "wrong, after (filled) and before (outline)." + simulated
    )
    return PanelGrid(panels, SCORE, "confidence", caption) if panels else None


CUMULATIVE = (
    " A cumulative confidence is that of a score or better, so it lies above that of the score."
)
FITTED = "a fitted method of these kinds: "
TEMPERATURES = ("sts", "csts", "tswa", "cstswa")
CUTOFFS = ("cumulative_plus", "cumulative_optimal")
HISTOGRAMS = "histograms of the score"
TROVE = "a trove that touched a class, and a chosen method that looks at the score alone"


def _curves(
    number: str, name: str, shows: str, kinds: tuple[str, ...], also: str = ""
) -> JournalFigure:
    needs = FITTED + ", ".join(kinds)
    return JournalFigure(number, name, shows, needs, among(*kinds, also=also))


JOURNAL_FIGURES: tuple[JournalFigure, ...] = (
    JournalFigure(
        "01a",
        "reverse-confusion",
        "What predictions of each class truly are.",
        "a reverse confusion matrix",
        reverse_confusion,
    ),
    JournalFigure(
        "01b",
        "confusion",
        "What proteins of each class are predicted to be.",
        "a confusion matrix",
        confusion,
    ),
    JournalFigure(
        "01c", "counts", "Proteins by true and predicted class.", "counts of proteins", counts
    ),
    JournalFigure("03", "histograms", "Share right in bins of the score.", HISTOGRAMS, histograms),
    JournalFigure(
        "04",
        "halves",
        "Histograms of two halves of the calibration set.",
        "histograms of halves",
        halves,
    ),
    JournalFigure(
        "05", "densities", "Right and wrong predictions over the score.", HISTOGRAMS, densities
    ),
    JournalFigure(
        "06",
        "counting",
        "Top-label counting against counting all proteins.",
        "both countings",
        counting,
    ),
    _curves("07", "cumulative", "Cumulative confidence.", ("cumulative",), CUMULATIVE),
    _curves("08", "cutoffs", "Cumulative confidence with a cutoff.", CUTOFFS, CUMULATIVE),
    JournalFigure(
        "09",
        "confidence",
        "The confidence given out, with its interval.",
        "curves of the chosen method",
        chosen,
    ),
    _curves("10", "kernel", "The ratio of kernel densities.", ("kernel",)),
    _curves(
        "11",
        "temperature",
        "The temperature family.",
        TEMPERATURES,
        " Methods that look at all scores are means over bins.",
    ),
    JournalFigure(
        "12",
        "baselines",
        "Baselines of other authors.",
        "a fitted method of other authors, or uncalibrated",
        of_others,
    ),
    JournalFigure(
        "13",
        "bandwidth",
        "What the bandwidth of least held-out loss does.",
        "kernel(bandwidth=loo) among the methods",
        loo_against_mon,
    ),
    JournalFigure(
        "14",
        "methods",
        "Methods laid over each other.",
        "curves of two or more methods",
        best_methods,
    ),
    JournalFigure("15", "troves", "Classes before and after the last trove.", TROVE, changes),
    JournalFigure(
        "17", "nll", "Held-out NLL of every method in every class.", "held-out NLL", losses
    ),
    JournalFigure(
        "18",
        "reliability",
        "Held-out reliability diagrams.",
        "held-out confidences in bins",
        reliabilities,
    ),
)
