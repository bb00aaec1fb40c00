"""Curves as the page's scripts read them: to look up a score, to lay methods over."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

from credence.findings import ClassCount, CurveFinding
from credence.report.sections.lookup import Lookup
from credence.report.wording import score, slug

UNIT = 10_000  # confidences are told in whole parts of it
DECIMALS = 6


def curve_data(lookup: Lookup) -> dict[str, Any]:
    """Return every class's curves under every method, in round numbers.

    Parameters
    ----------
    lookup : Lookup
        The findings.
    """
    results = lookup.findings.results
    methods = [method.name for method in lookup.findings.methods]
    ends = [entry.shares.edges[-1] for entry in results.histograms]
    return {
        "chosen": lookup.findings.chosen,
        "methods": methods,
        "unit": UNIT,
        "scale": results.scale,
        "level": f"{100 * results.level:g}",
        "quantile": NormalDist().inv_cdf((1 + results.level) / 2),
        "start": lookup.typical_score(),
        "end": max(ends, default=results.scale),
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
