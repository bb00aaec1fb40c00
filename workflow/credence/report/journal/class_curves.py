"""Sheets of curves: a panel per class."""

from __future__ import annotations

import math
from collections.abc import Callable

from credence.findings import ClassCount, Findings
from credence.report.journal.figure import ClassPanel, PanelGrid
from credence.report.plots import ConfidencePlot, LinesPlot
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.wording import of

SCORE = "score of the predicted class"
CONFIDENCE = "confidence"
MOST_OVERLAID = 6  # curves that six colours tell apart
LOSS = "nll"


def kind_of(method: str) -> str:
    """Return a method's name without its settings; of a composition, its last stage's.

    Examples
    --------
    >>> kind_of("kernel(bandwidth=mon4)"), kind_of("tswa -> kernel")
    ('kernel', 'kernel')
    """
    return method.split("->")[-1].split("(")[0].strip()


def seen_classes(findings: Findings) -> tuple[ClassCount, ...]:
    """Return the classes that were predicted, in the classifier's order."""
    return tuple(entry for entry in findings.results.classes if entry.n_predicted > 0)


def evidence(findings: Findings) -> str:
    """Return what numbers rest on, and whether it was simulated, as sentences."""
    results = findings.results
    families = (
        f" in {of(results.n_clusters, 'family', 'families')}"
        if results.n_clusters < results.n_samples
        else " (no relatives known)"
    )
    simulated = " Simulated data." if findings.provenance.is_simulated else ""
    return f" {of(results.n_samples, 'calibration protein')}{families}.{simulated}"


def level_words(findings: Findings) -> str:
    """Return the coverage of intervals: ``95 %``."""
    return f"{100 * findings.results.level:g} %"


def _confidence_grid(
    findings: Findings, methods: tuple[str, ...], caption: str
) -> PanelGrid | None:
    """Return confidence over the score in every class, of some methods."""
    lookup = Lookup(findings)
    panels = []
    for entry in seen_classes(findings):
        histogram = lookup.histograms.get(entry.class_name)
        found = tuple(
            lookup.curves[method, entry.class_name]
            for method in methods
            if (method, entry.class_name) in lookup.curves
        )
        if histogram is None or not found:
            continue
        plot = ConfidencePlot(
            found, histogram, entry.share, entry.score_min, entry.score_max,
            findings.results.scale,
        )  # fmt: skip
        panels.append(ClassPanel(entry.class_name, plot))
    if not panels:
        return None
    text = caption + (
        " Bars: share right in bins of the score. Below each panel: right (up) and wrong (down) "
        "predictions over the score, each scaled to its highest bar."
    )
    return PanelGrid(tuple(panels), SCORE, CONFIDENCE, text + evidence(findings), has_counts=True)


def chosen(findings: Findings) -> PanelGrid | None:
    """Return the confidence that is given out, with its interval, class by class."""
    return _confidence_grid(
        findings,
        (findings.chosen,),
        f"Confidence of {findings.chosen} over the score, class by class; band: pointwise "
        f"{level_words(findings)} interval over families. Dashed: share right whatever the "
        "score. Dotted: beyond the scores that calibration saw. Whiskers of bars: "
        f"{level_words(findings)} intervals.",
    )


def among(*kinds: str, also: str = "") -> Callable[[Findings], PanelGrid | None]:
    """Return how to lay the methods of some kinds over each other."""

    def build(findings: Findings) -> PanelGrid | None:
        methods = tuple(m.name for m in findings.methods if kind_of(m.name) in kinds)
        if not methods:
            return None
        stated = ", ".join(methods[:MOST_OVERLAID])
        caption = f"Confidence over the score, class by class, of {stated}.{also}"
        return _confidence_grid(findings, methods[:MOST_OVERLAID], caption)

    return build


def loo_against_mon(findings: Findings) -> PanelGrid | None:
    """Return kernels whose bandwidth minimises held-out loss, beside the others."""
    kernels = [m.name for m in findings.methods if kind_of(m.name) == "kernel"]
    if not any("bandwidth=loo" in name for name in kernels):
        return None
    ordered = sorted(kernels, key=lambda name: "bandwidth=loo" not in name)[:MOST_OVERLAID]
    return _confidence_grid(
        findings,
        tuple(ordered),
        f"Confidence over the score, class by class, of {', '.join(ordered)}. The bandwidth "
        "that minimises the loss when each family is left out (loo) is often so small that the "
        "curve follows noise.",
    )


def best_methods(findings: Findings) -> PanelGrid | None:
    """Return the chosen method and its best rivals, laid over each other."""
    names = [method.name for method in findings.methods]
    if len(names) < 2:
        return None
    metrics = Lookup(findings).metrics

    def held_out(method: str) -> float:
        value = metrics.get((method, None, "held_out", LOSS))
        return math.inf if value is None or math.isnan(value.value) else value.value

    rivals = sorted((name for name in names if name != findings.chosen), key=held_out)
    methods = (findings.chosen, *rivals)[:MOST_OVERLAID]
    which = (
        "every method"
        if len(names) <= MOST_OVERLAID
        else ("the chosen method and of those with the least held-out NLL")
    )
    return _confidence_grid(
        findings, methods,
        f"Confidence over the score, class by class, of {which}: {', '.join(methods)}.",
    )  # fmt: skip


def histograms(findings: Findings) -> PanelGrid | None:
    """Return the share right in bins of the score, class by class."""
    by_name = Lookup(findings).histograms
    panels = tuple(
        ClassPanel(
            entry.class_name,
            ConfidencePlot(
                (), by_name[entry.class_name], entry.share, entry.score_min, entry.score_max,
                findings.results.scale,
            ),
        )
        for entry in seen_classes(findings)
        if entry.class_name in by_name
    )  # fmt: skip
    if not panels:
        return None
    caption = (
        "Share of right predictions in bins of the score, class by class, with "
        f"{level_words(findings)} intervals over families. Dashed: share right whatever the "
        "score. Below each panel: right (up) and wrong (down) predictions."
    )
    return PanelGrid(panels, SCORE, "share right", caption + evidence(findings), has_counts=True)


def densities(findings: Findings) -> PanelGrid | None:
    """Return how right and wrong predictions are spread over the score."""
    by_name = Lookup(findings).histograms
    panels = []
    for entry in seen_classes(findings):
        found = by_name.get(entry.class_name)
        if found is None:
            continue
        middles = tuple(
            (low + high) / 2 for low, high in zip(found.edges[:-1], found.edges[1:], strict=True)
        )
        # One scale for both lines, so that they can be compared.
        most = max(*found.n_correct, *found.n_wrong, 1)
        both_parts = tuple(
            tuple(n / most for n in side) for side in (found.n_correct, found.n_wrong)
        )
        plot = LinesPlot(
            SCORE, "", ("right", "wrong"), middles, both_parts, found.edges[-1],
            has_points=False,
        )  # fmt: skip
        panels.append(ClassPanel(entry.class_name, plot))
    if not panels:
        return None
    caption = (
        "Right and wrong predictions over the score, class by class, in bins of equal width, as "
        "parts of the class's highest bar."
    )
    return PanelGrid(
        tuple(panels), SCORE, "predictions, of highest bar", caption + evidence(findings)
    )


def halves(findings: Findings) -> PanelGrid | None:
    """Return histograms of two halves without common families, class by class."""
    panels = []
    for entry in findings.results.halves:
        middles = tuple(
            (low + high) / 2 for low, high in zip(entry.edges[:-1], entry.edges[1:], strict=True)
        )
        plot = LinesPlot(
            SCORE, "", ("first half", "second half"), middles,
            (entry.share_first, entry.share_second), entry.edges[-1], has_points=True,
        )  # fmt: skip
        panels.append(ClassPanel(entry.class_name, plot))
    if not panels:
        return None
    caption = (
        "Share of right predictions in bins of the score, class by class, from two halves of the "
        "calibration set that share no family: how noisy a histogram of half this size is."
    )
    return PanelGrid(tuple(panels), SCORE, "share right", caption + evidence(findings))


def counting(findings: Findings) -> PanelGrid | None:
    """Return shares counted among the predicted and among all proteins."""
    panels = tuple(
        ClassPanel(
            entry.class_name,
            LinesPlot(
                "", "", ("predicted to be in it", "all proteins"), entry.score,
                (entry.top_label, entry.all_scores), entry.score[-1], has_points=False,
            ),
        )
        for entry in findings.results.counting
        if entry.score
    )  # fmt: skip
    if not panels:
        return None
    caption = (
        "Share truly of the class over its score, counted among proteins predicted to be in it "
        "(top-label) and among all proteins; where the two agree, one line is seen."
    )
    return PanelGrid(
        panels, "score of the class", "share truly of it", caption + evidence(findings)
    )


def reliabilities(findings: Findings) -> PanelGrid | None:
    """Return held-out reliability diagrams, class by class."""
    found = Lookup(findings).reliability
    panels = []
    for entry in seen_classes(findings):
        one = found.get((findings.chosen, entry.class_name, "held_out"))
        if one is not None and sum(one.bins.n) > 0:
            panels.append(ClassPanel(entry.class_name, reliability_plot(("held out",), (one,))))
    if not panels:
        return None
    caption = (
        f"Held-out confidence of {findings.chosen} against the share right, class by class, with "
        f"{level_words(findings)} intervals over families. Grey: where points would lie by "
        "chance were every confidence true."
    )
    axis = "confidence (mean of bin)"
    return PanelGrid(tuple(panels), axis, "share right", caption + evidence(findings))
