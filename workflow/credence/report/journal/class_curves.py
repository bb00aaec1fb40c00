"""Figures of curves: a panel per class."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from credence.findings import ClassCount, Findings
from credence.report.journal.figure import ClassPanel, PanelGrid
from credence.report.plots import LinesPlot, middles
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.sections.mistakes import counting_plot, halves_plot
from credence.report.wording import of

SCORE = "score of the predicted class"
CONFIDENCE = "confidence"
MOST_OVERLAID = 6  # curves that six colours tell apart
LOSS = "nll"
OWN_PAPER = "Salamon et al. 2023"


def kind_of(method: str) -> str:
    """Return a method's name without its settings; of a composition, its last stage's.

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


def _grid(
    findings: Findings,
    panels: Iterable[ClassPanel],
    caption: str,
    upright: str,
    axis: str = SCORE,
    has_counts: bool = False,
) -> PanelGrid | None:
    """Return panels with what their numbers rest on; None without any."""
    found = tuple(panels)
    text = caption + evidence(findings)
    return PanelGrid(found, axis, upright, text, has_counts) if found else None


def _confidence_grid(
    findings: Findings, methods: tuple[str, ...], caption: str
) -> PanelGrid | None:
    """Return confidence over the score in every class, of some methods."""
    lookup = Lookup(findings)
    plots = {e.class_name: lookup.confidence_plot(e, methods) for e in seen_classes(findings)}
    panels = [ClassPanel(name, plot) for name, plot in plots.items() if plot and plot.curves]
    text = caption + (
        " Bars: share right in bins of the score. Below each panel: right (up) and wrong (down) "
        "predictions over the score, each scaled to its highest bar."
    )
    return _grid(findings, panels, text, CONFIDENCE, has_counts=True)


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
        names = (m.name for m in findings.methods if kind_of(m.name) in kinds)
        return _overlaid(findings, tuple(names), also)

    return build


def of_others(findings: Findings) -> PanelGrid | None:
    """Return the methods of other authors, and the score as it is, laid over each other."""
    choosing = {entry.method for entry in findings.choices}
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
    lookup = Lookup(findings)
    plots = {e.class_name: lookup.confidence_plot(e, ()) for e in seen_classes(findings)}
    panels = (ClassPanel(name, plot) for name, plot in plots.items() if plot)
    caption = (
        "Share of right predictions in bins of the score, class by class, with "
        f"{level_words(findings)} intervals over families. Dashed: share right whatever the "
        "score. Below each panel: right (up) and wrong (down) predictions."
    )
    return _grid(findings, panels, caption, "share right", has_counts=True)


def densities(findings: Findings) -> PanelGrid | None:
    """Return how right and wrong predictions are spread over the score."""
    by_name = Lookup(findings).histograms
    panels = []
    for entry in seen_classes(findings):
        found = by_name.get(entry.class_name)
        if found is None:
            continue
        # One scale for both lines, so that they can be compared.
        most = max(*found.n_correct, *found.n_wrong, 1)
        both_parts = tuple(
            tuple(n / most for n in side) for side in (found.n_correct, found.n_wrong)
        )
        plot = LinesPlot(
            SCORE, "", ("right", "wrong"), middles(found.edges), both_parts, found.edges[-1],
            has_points=False,
        )  # fmt: skip
        panels.append(ClassPanel(entry.class_name, plot))
    caption = (
        "Right and wrong predictions over the score, class by class, in bins of equal width, as "
        "parts of the class's highest bar."
    )
    return _grid(findings, panels, caption, "predictions, of highest bar")


def halves(findings: Findings) -> PanelGrid | None:
    """Return histograms of two halves without common families, class by class."""
    panels = (ClassPanel(e.class_name, halves_plot(e)) for e in findings.results.halves)
    caption = (
        "Share of right predictions in bins of the score, class by class, from two halves of the "
        "calibration set that share no family: how noisy a histogram of half this size is."
    )
    return _grid(findings, panels, caption, "share right")


def counting(findings: Findings) -> PanelGrid | None:
    """Return shares counted among the predicted and among all proteins."""
    found = (entry for entry in findings.results.counting if entry.score)
    panels = (ClassPanel(entry.class_name, counting_plot(entry)) for entry in found)
    caption = (
        "Share truly of the class over its score, counted among proteins predicted to be in it "
        "(top-label) and among all proteins; where the two agree, one line is seen."
    )
    return _grid(findings, panels, caption, "share truly of it", "score of the class")


def reliabilities(findings: Findings) -> PanelGrid | None:
    """Return held-out reliability diagrams, class by class."""
    found = Lookup(findings).reliability
    panels = []
    for entry in seen_classes(findings):
        one = found.get((findings.chosen, entry.class_name, "held_out"))
        if one is not None and sum(one.bins.n) > 0:
            panels.append(ClassPanel(entry.class_name, reliability_plot(("held out",), (one,))))
    caption = (
        f"Held-out confidence of {findings.chosen} against the share right, class by class, with "
        f"{level_words(findings)} intervals over families. Grey: where points would lie by "
        "chance were every confidence true."
    )
    return _grid(findings, panels, caption, "share right", "confidence (mean of bin)")
