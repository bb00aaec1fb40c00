"""Sliders for the composition: data for a script that draws every curve at once."""

from __future__ import annotations

import math
from typing import Any

from credence.findings import Findings, WhatIf
from credence.report.blocks import Block, Heading, Paragraph, Widget

DIGITS = 9  # of a density: moves no confidence by more than 1e-8


def what_if_blocks(findings: Findings) -> list[Block]:
    """Return the heading, what to know, and the sliders; nothing without densities.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    found = findings.what_if
    if found is None:
        return []
    return [
        Heading("What if the mix were another?", "what-if"),
        Paragraph(
            "Move a slider to make a class more or less common; the others keep their "
            "proportions. Every curve is computed anew from the calibration proteins, in your "
            "browser. The curves have no interval: they tell what a mix would do, not how sure "
            "that is. Each says how many families of relatives it rests on; where they are few, "
            "believe it little. "
            "In print, and where scripts do not run, there are no sliders."
        ),
        Paragraph(_whose(found, findings.chosen)),
        Widget("what-if", "what-if", "What if the mix were another?", data_of(findings, found)),
    ]


def _whose(found: WhatIf, chosen: str) -> str:
    if found.method != chosen:
        return (
            f"These are curves of {found.method}: {chosen} looks at more than a class and a "
            "score, and has no one curve."
        )
    if found.is_exact:
        return (
            f"The curves are those of {found.method} fitted anew to re-weighted proteins, with "
            "its bandwidths, bins and cutoffs as they are. The corrected confidences above may "
            "choose these anew, and go only as far as chance does not explain: they differ a "
            "little."
        )
    return (
        f"{found.method} is no ratio of sums: its curves are moved by Bayes' rule, and fitting it "
        "anew may differ a little."
    )


def data_of(findings: Findings, found: WhatIf) -> dict[str, Any]:
    """Return what the script reads.

    Parameters
    ----------
    findings : Findings
        Gives names, ranges of scores, and compositions to start from.
    found : WhatIf
        The densities.
    """
    results = findings.results
    presets = [
        {
            "name": f"{entry.name} ({'stated' if entry.estimator == 'stated' else 'estimated'})",
            "share": [one.share for one in entry.classes],
        }
        for entry in findings.shifts
        if entry.estimator != "none"
    ]
    return {
        "classes": list(results.class_names),
        "scale": results.scale,
        "share": list(found.calibration_share),
        "score": list(found.score),
        "prior": found.prior_weight,
        "least": found.min_positives,
        "ranges": [
            [entry.score_min, entry.score_median, entry.score_max] for entry in results.classes
        ],
        "presets": presets,
        "parts": [
            [
                part.predicted,
                part.true,
                part.mass,
                part.mass_squared,
                part.family_squared,
                [_short(value) for value in part.density],
            ]
            for part in found.parts
        ],
    }


def _short(value: float) -> float:
    """Return a number with so many digits as the curves need."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if math.isfinite(short) and short == int(short) else short
