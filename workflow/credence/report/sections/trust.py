"""How much a prediction of each class can be trusted: looked up, and a row per class."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from credence.findings import ClassCount, CurveFinding, Findings
from credence.report.blocks import (
    Block,
    Folded,
    Paragraph,
    Section,
    TableBlock,
    TableColumn,
    Widget,
    numbers,
    words,
)
from credence.report.sections.lookup import Lookup, Point, more_needed
from credence.report.sections.measuring import floor_words, p_words
from credence.report.wording import KEPT, NOTHING, count, of, score, share, slug, with_interval

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
    needed = lookup.needed.get((findings.chosen, name), {})
    return {
        "name": name,
        "slug": slug(name, number),
        "anchor": f"class-{slug(name, number)}",
        "least": _rounded(entry.score_min),
        "greatest": _rounded(entry.score_max),
        "needed": {
            f"{level:g}": float(score(least, findings.results.scale))
            for level, least in needed.items()
            if not math.isnan(least)
        },
        "score": [_rounded(value) for value in grid],
        "curves": [_curve_data(curve, grid) for curve in curves],
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
TEST = "kolmogorov_smirnov"


def section(findings: Findings) -> Section:
    """Return the tables that answer how sure a prediction is."""
    lookup = Lookup(findings)
    blocks: list[Block] = [
        Paragraph(
            "Each number is a probability of being right, with its interval in brackets. "
            "The interval counts families, not proteins: alike proteins tell little more than one."
        ),
        Widget("curves", "lookup", "Look up a class and a score", curve_data(lookup)),
    ]
    surer, by_score = _surer(lookup), _by_score(lookup)
    if surer is not None:
        blocks.append(surer)
    if by_score is not None:
        blocks.append(Folded("Confidence at every round score", (by_score,)))
    blocks.append(_summary(lookup))
    return Section("trust", "How much can I trust a prediction?", tuple(blocks))


def _summary(lookup: Lookup) -> TableBlock:
    findings = lookup.findings
    asked = tuple(sorted({entry.confidence for entry in findings.results.scores_needed}))
    columns = (
        *words("predicted class", "in a sentence"),
        *numbers(
            ("proteins", "Calibration proteins predicted to be in the class"),
            ("families", "Clusters of relatives among them"),
            ("share right", "Conf1: of all predictions of it, whatever the score"),
        ),
        *(
            TableColumn(
                f"score for {100 * level:g}{KEPT}%",
                explained="The least score from which on the interval's lower end stays above",
            )
            for level in asked
        ),
        *words("method"),
        *numbers(
            ("bandwidth", "Of the kernel method, in score units"),
            ("held-out NLL", "Negative log-likelihood per protein; less is better"),
            ("held-out ECE", "Calibration error; in brackets by chance alone"),
            ("test, Holm", "p of the Kolmogorov–Smirnov test, corrected"),
        ),
    )
    rows = tuple(_summary_row(lookup, entry, asked) for entry in findings.results.classes)
    return TableBlock(
        f"All classes, with the confidences of {findings.chosen}. “Score for 90 %” is the least "
        "score from which on the confidence is at least 0.90 even at the lower end of its "
        f"interval; {NOTHING} where no score seen in calibration is enough. NLL, ECE and test are "
        "of families that the fit did not see.",
        columns,
        rows,
        class_anchors(findings),
    )


def class_anchors(findings: Findings) -> tuple[str, ...]:
    """Return the anchor of each class, empty where it was never predicted."""
    return tuple(
        f"class-{slug(entry.class_name, number)}" if entry.n_predicted > 0 else ""
        for number, entry in enumerate(findings.results.classes, start=1)
    )


def _summary_row(lookup: Lookup, entry: ClassCount, asked: tuple[float, ...]) -> tuple[str, ...]:
    findings = lookup.findings
    needed = lookup.needed.get((findings.chosen, entry.class_name), {})
    test = lookup.tests.get((findings.chosen, entry.class_name, TEST))
    return (
        entry.class_name,
        plain_sentence(lookup, entry),
        count(entry.n_predicted),
        count(entry.n_clusters) if lookup.knows_relatives else NOTHING,
        with_interval(entry.share, entry.lower, entry.upper),
        *(score(needed.get(level, math.nan), findings.results.scale) for level in asked),
        _method_of(lookup, entry),
        score(
            lookup.parameter(findings.chosen, entry.class_name, "bandwidth"),
            findings.results.scale,
        ),
        lookup.loss(findings.chosen, entry.class_name),
        floor_words(lookup, findings.chosen, entry.class_name, "ece"),
        NOTHING if test is None else p_words(test.p_adjusted),
    )


def plain_sentence(lookup: Lookup, entry: ClassCount) -> str:
    """Return from which score on a prediction of a class is sure, in few words."""
    findings = lookup.findings
    if entry.n_predicted == 0:
        return "Never predicted: nothing can be said."
    needed = lookup.needed.get((findings.chosen, entry.class_name), {})
    enough = [(level, least) for level, least in sorted(needed.items()) if not math.isnan(least)]
    if not enough:
        return "At no score is the lower end above 0.50." if needed else "See the share."
    level, least = enough[-1]
    end = score(least, findings.results.scale)
    if least <= entry.score_min:
        return f"At any score {share(level)} or more, at the lower end too."
    return f"From score {end} on {share(level)} or more, at the lower end too."


def _method_of(lookup: Lookup, entry: ClassCount) -> str:
    for choices in lookup.findings.choices:
        if choices.method == lookup.findings.chosen:
            for choice in choices.classes:
                if choice.class_name == entry.class_name:
                    return " + ".join(choice.chosen) or NOTHING
    return lookup.findings.chosen if entry.n_predicted > 0 else NOTHING


def _by_score(lookup: Lookup) -> TableBlock | None:
    """Return confidences at round scores, where the method depends on the score."""
    findings = lookup.findings
    scores = lookup.nice_scores()
    rows, anchors = [], []
    for entry, anchor in zip(findings.results.classes, class_anchors(findings), strict=True):
        cells = [entry.class_name]
        for value in scores:
            point = lookup.at(findings.chosen, entry.class_name, value)
            if point is None or not entry.score_min <= value <= entry.score_max:
                cells.append(NOTHING)
            else:
                cells.append(with_interval(point.value, point.lower, point.upper))
        if set(cells[1:]) != {NOTHING}:
            rows.append(tuple(cells))
            anchors.append(anchor)
    if not rows:
        return None
    columns = (
        *words("predicted class"),
        *numbers(*(f"score {score(value, findings.results.scale)}" for value in scores)),
    )
    return TableBlock(
        f"Confidence at round scores ({findings.chosen}); {NOTHING} beyond the scores that "
        "calibration saw.",
        columns,
        tuple(rows),
        tuple(anchors),
    )


def _surer(lookup: Lookup) -> TableBlock | None:
    """Return how sure a typical score is, how sure that is, and what would make it surer."""
    findings = lookup.findings
    at = lookup.typical_score()
    rows, anchors = [], []
    for entry, anchor in zip(findings.results.classes, class_anchors(findings), strict=True):
        point = lookup.at(findings.chosen, entry.class_name, at)
        if point is None or math.isnan(point.value):
            continue
        near = max(1, round(point.support)) if not math.isnan(point.support) else None
        rows.append(
            (
                entry.class_name,
                with_interval(point.value, point.lower, point.upper),
                NOTHING if near is None else count(near),
                what_would_help(point, findings.results.level),
            )
        )
        anchors.append(anchor)
    if not rows:
        return None
    columns = (
        *words("predicted class"),
        *numbers(
            "confidence", ("independent proteins near", "A family of alike proteins counts as one")
        ),
        *words("what would make it surer"),
    )
    return TableBlock(
        f"A score of {score(at, findings.results.scale)}: how sure it is, how sure that is, and "
        "what would make it surer.",
        columns,
        tuple(rows),
        tuple(anchors),
    )


def what_would_help(point: Point, level: float) -> str:
    """Return what would narrow the interval at a score."""
    if math.isnan(point.lower) or math.isnan(point.support):
        return "No interval was fitted."
    if point.upper - point.lower <= WIDE:
        return "It is narrow; only many more families would narrow it further."
    more = more_needed(point.lower, point.upper, point.support, level)
    return (
        f"About {of(more, 'more protein')} of new families with such a score would halve the "
        "interval."
    )
