"""What is looked up of each class, and its numbers in a row."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from credence.findings import ClassCount, CurveFinding, Findings
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup, Point, more_needed
from credence.report.sections.measuring import TEST, floor_words, words_of_test
from credence.report.wording import KEPT, NOTHING, least_score, of, score, slug, with_interval

UNIT = 10_000  # confidences are whole parts of it
DECIMALS = 6


def curve_data(lookup: Lookup) -> dict[str, Any]:
    """Return every class's curves under every method, in round numbers."""
    results = lookup.findings.results
    methods = [method.name for method in lookup.findings.methods]
    bounds = [entry.shares.edges[-1] for entry in results.histograms]
    return {
        "chosen": lookup.findings.chosen,
        "methods": methods,
        "unit": UNIT,
        "scale": results.scale,
        "level": f"{100 * results.level:g}",
        "quantile": NormalDist().inv_cdf((1 + results.level) / 2),
        "start": lookup.typical_score(),
        "end": max(bounds, default=results.scale),
        "axis": lookup.axis,
        "ofNew": " of new families" if lookup.knows_relatives else "",
        "classes": [
            _class_data(lookup, entry, number, methods)
            for number, entry in enumerate(results.classes, start=1)
            if entry.n_predicted > 0
        ],
    }


def _class_data(
    lookup: Lookup, entry: ClassCount, number: int, methods: list[str]
) -> dict[str, Any]:
    name, findings = entry.class_name, lookup.findings
    curves = [lookup.curves.get((method, name)) for method in methods]
    own = lookup.curves.get((findings.chosen, name))
    grid = () if own is None else own.score
    published = None if lookup.corrected is None else lookup.shown(name)
    return {
        "name": name,
        "slug": slug(name, number),
        "anchor": f"class-{slug(name, number)}",
        "least": _rounded(entry.score_min),
        "greatest": _rounded(entry.score_max),
        "score": [_rounded(value) for value in grid],
        "curves": [_curve_data(curve, grid) for curve in curves],
        # What is published, where that is another curve: corrected for a sample's mix.
        "shown": _curve_data(published, ()),
    }


def _curve_data(curve: CurveFinding | None, grid: tuple[float, ...]) -> dict[str, Any] | None:
    if curve is None or not curve.score:
        return None
    data: dict[str, Any] = {"value": _whole(curve.value), "isFunction": curve.is_function}
    if curve.is_function:
        data |= {"lower": _whole(curve.lower), "upper": _whole(curve.upper)}
        data["support"] = [None if math.isnan(v) else round(v, 3) for v in curve.support]
    if curve.score != grid:
        data["score"] = [_rounded(value) for value in curve.score]
    return data


def _whole(values: tuple[float, ...]) -> list[int | None]:
    return [None if math.isnan(value) else round(value * UNIT) for value in values]


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, DECIMALS)


WIDE = 0.1  # an interval wider than this is called wide


def section(findings: Findings) -> page.Section:
    """Return a row of numbers for each class."""
    lookup = Lookup(findings)
    counted = "proteins, since nothing says which of them are relatives"
    if lookup.knows_relatives:
        counted = "families: relatives show little more than one of them does"
    text = f"Intervals, in brackets, count {counted}.{lookup.of_score_alone}"
    return page.Section("trust", "Each class in numbers", (page.Paragraph(text), _summary(lookup)))


def _summary(lookup: Lookup) -> page.TableBlock:
    findings = lookup.findings
    chosen, scale = findings.chosen, findings.results.scale

    def needed(entry: ClassCount, at: int) -> str:
        found = lookup.needed.get((chosen, entry.class_name), {})
        return least_score(found.get(asked[at], math.nan), scale)

    def bandwidth(entry: ClassCount) -> str:
        found = lookup.parameters.get((chosen, entry.class_name, "bandwidth"))
        return NOTHING if found is None else score(found.value, scale)

    def p_of_test(entry: ClassCount) -> str:
        found = lookup.tests.get((chosen, entry.class_name, TEST))
        return NOTHING if found is None else words_of_test(found.p_adjusted, found.power)

    asked = sorted({entry.confidence for entry in findings.results.scores_needed})
    levels = [f"score for {100 * level:g}{KEPT}%" for level in asked]
    return page.table(
        f"All classes, with the confidences of {chosen}. “Score for 90 %” is the least "
        "score from which on the confidence is at least 0.90 even at the lower end of its "
        f"interval; {NOTHING} where no score seen in calibration is enough. NLL, ECE and test are "
        f"of {lookup.families} that the fit did not see.",
        findings.results.classes,
        page.word("predicted class", "class_name"),
        page.number("proteins", "n_predicted"),
        *lookup.family_column(),
        page.number("share right", "share lower upper", with_interval),
        *page.numbers(levels, needed),
        *page.known(findings.results.classes, page.number("bandwidth", bandwidth)),
        page.number("held-out NLL", lambda entry: lookup.loss(chosen, entry.class_name)),
        page.number(
            "held-out ECE", lambda entry: floor_words(lookup, chosen, entry.class_name, "ece")
        ),
        page.word("test", p_of_test),
        anchors=tuple(class_anchors(findings).values()),
        explained={
            "proteins": "Calibration proteins predicted to be in the class",
            "families": "Clusters of relatives among them",
            "share right": "Conf1: of all predictions of it, whatever the score",
            **dict.fromkeys(
                levels, "The least score from which on the interval's lower end stays above"
            ),
            "bandwidth": "Of the kernel method, in score units",
            "held-out NLL": "Negative log-likelihood per protein; less is better",
            "held-out ECE": "Calibration error; in brackets by chance alone",
            "test": "Kolmogorov–Smirnov, p corrected (Holm); power to see 5 percentage points",
        },
    )


def class_anchors(findings: Findings) -> dict[str, str]:
    """Return the anchor of each class, empty where it was never predicted."""
    return {
        entry.class_name: f"class-{slug(entry.class_name, at)}" if entry.n_predicted > 0 else ""
        for at, entry in enumerate(findings.results.classes, start=1)
    }


def what_would_help(lookup: Lookup, point: Point) -> str:
    """Return what would narrow the interval at a score."""
    if math.isnan(point.lower) or math.isnan(point.support):
        return "No interval was fitted."
    if point.upper - point.lower <= WIDE:
        return "It is narrow; only many more such proteins would narrow it further."
    level = lookup.findings.results.level
    more = more_needed(point.lower, point.upper, point.support, level)
    new = " of new families" if lookup.knows_relatives else ""
    return f"About {of(more, 'more protein')}{new} with such a score would halve the interval."
