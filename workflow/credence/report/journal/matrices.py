"""Figures that are no curves: matrices, losses of methods, what troves changed."""

from __future__ import annotations

import math

from credence.findings import Findings, ReleaseStep
from credence.report.journal.class_curves import LOSS, SCORE, evidence, level_words, seen_classes
from credence.report.journal.figure import ClassPanel, Heat, PanelGrid, RankPlot
from credence.report.plots import ChangePlot
from credence.report.sections.lookup import Lookup

ALL = "all classes"


def reverse_confusion(findings: Findings) -> Heat | None:
    """Return shares of each predicted class by true class."""
    caption = (
        "Reverse confusion matrix: what predictions of each class truly are, as shares of the "
        "column. Its diagonal is the class-only confidence. Blank: below 0.005."
    )
    return _shares(findings, findings.results.given_predicted, caption)


def confusion(findings: Findings) -> Heat | None:
    """Return shares of each true class by predicted class."""
    caption = (
        "Confusion matrix: what proteins of each class are predicted to be, by row. Blank: below "
        "0.005."
    )
    return _shares(findings, findings.results.given_true, caption)


def _shares(
    findings: Findings, values: tuple[tuple[float, ...], ...], caption: str
) -> Heat | None:
    if not values:
        return None
    key = "share"
    return Heat(findings.results.class_names, values, key, caption + evidence(findings))


def counts(findings: Findings) -> Heat | None:
    """Return proteins by true and predicted class."""
    if not findings.results.confusion:
        return None
    values = tuple(tuple(float(n) for n in row) for row in findings.results.confusion)
    caption = "Proteins by true (rows) and predicted class (columns)." + evidence(findings)
    return Heat(findings.results.class_names, values, "proteins", caption, is_count=True)


def losses(findings: Findings) -> PanelGrid | None:
    """Return the held-out loss of every method, class by class."""
    found = Lookup(findings).metrics
    methods = tuple(method.name for method in findings.methods)
    panels = []
    for name in (None, *(entry.class_name for entry in seen_classes(findings))):
        values = [found.get((method, name, "held_out", LOSS)) for method in methods]
        means = tuple(math.nan if one is None else one.value for one in values)
        known = [at for at, value in enumerate(means) if not math.isnan(value)]
        if not known:
            continue
        plot = RankPlot(
            methods, means,
            tuple(math.nan if one is None else one.lower for one in values),
            tuple(math.nan if one is None else one.upper for one in values),
            tuple(0 if one is None else one.n for one in values),
            min(known, key=lambda at: means[at]),
        )  # fmt: skip
        panels.append(ClassPanel(ALL if name is None else name, plot))
    if not panels:
        return None
    caption = (
        "Mean negative log-likelihood of every method on families that did not fit it, class by "
        f"class, with {level_words(findings)} intervals over families; filled: the least. Lines "
        "overlap where methods do not differ: read paired differences from the metrics. Each "
        "panel has its own scale; numbers beyond three times the least are "
        "arrows, and intervals are cut there."
    )
    return PanelGrid(tuple(panels), "held-out NLL", "", caption + evidence(findings))


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
    if not panels:
        return None
    return PanelGrid(panels, SCORE, "confidence", _change_caption(findings, step))


def _change_caption(findings: Findings, step: ReleaseStep) -> str:
    simulated = " Simulated data." if findings.provenance.is_simulated else ""
    return (
        f"Confidence of {step.method} before (dashed) and after (solid) {step.newer.name}, for "
        f"the classes it touched; bands: pointwise {100 * step.level:g} % intervals. Dotted: "
        "after, at the class frequencies of before, so that what lies between it and the dashed "
        "line is new evidence and the rest re-weighting. Below: predictions that were right and "
        "wrong, after (filled) and before (outline)." + simulated
    )
