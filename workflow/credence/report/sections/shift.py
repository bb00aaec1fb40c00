"""Whether confidences hold for samples whose classes are mixed otherwise."""

from __future__ import annotations

import math
from typing import Any

from credence.findings import (
    ClassCount,
    Findings,
    Notice,
    ShiftClass,
    ShiftCurve,
    ShiftFinding,
    WhatIf,
)
from credence.report import blocks as page
from credence.report.plots import ComparisonPlot, LinesPlot
from credence.report.sections.lists import expected_right, whole_of
from credence.report.wording import NOTHING, of, score, share, slug, two_decimals, with_interval

DIGITS = 9  # of a density: moves no confidence by more than 1e-8


def what_if_blocks(findings: Findings) -> list[page.Block]:
    """Return what to know, and the sliders, folded; nothing without densities."""
    found = findings.what_if
    if found is None:
        return []
    title = "What if the mix were another?"
    blocks = (
        page.Paragraph(
            "Move a slider to make a class more or less common; the others keep their "
            "proportions. Every curve is computed anew from the calibration proteins, in your "
            "browser. The curves have no interval: they tell what a mix would do, not how sure "
            "that is. Each says how many independent proteins it rests on; where they are few, "
            "believe it little. In print, and where scripts do not run, there are no sliders."
        ),
        page.Paragraph(_whose(found, findings.chosen)),
        page.Widget("what-if", "what-if", title, data_of(findings, found)),
    )
    return [page.Folded(title, blocks, "what-if")]


def _whose(found: WhatIf, chosen: str) -> str:
    if found.method != chosen:
        return (
            f"These are curves of {found.method}: {chosen} looks at more than a class and a "
            "score, and has no one curve."
        )
    if found.is_exact:
        return (
            f"The curves are those of {found.method} fitted anew to re-weighted proteins, with "
            "its bandwidths, bins, cutoffs and lowest scores as they are. The corrected "
            "confidences above may choose these anew, and go only as far as chance does not "
            "explain: they differ a little."
        )
    return (
        f"{found.method} is no ratio of sums: its curves are moved by Bayes' rule, and fitting it "
        "anew may differ a little."
    )


def data_of(findings: Findings, found: WhatIf) -> dict[str, Any]:
    """Return what the script reads."""
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


LITTLE = 0.05  # p-value below which a difference is called more than chance
MOST_NAMED = 3  # classes named in the sentence on a use-set
MOST_FIGURES = 60  # of curves; beyond, the page would be slow
LOWEST = 0.01  # of the scale: the first score looked at
FEW = 10.0  # expected numbers below have a decimal
BEFORE, AFTER = "as calibrated", "corrected"
IN_TABLE = (
    "In confidences.tsv a confidence is the corrected one; the other is uncorrected_confidence."
)


def section(findings: Findings) -> page.Section | None:
    """Return the composition of every use-set and what it changes; None without any."""
    if not findings.shifts and findings.what_if is None:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            "How often a prediction is right depends on how common each class is among the "
            "proteins looked at: where a class is rare, more of what is predicted to be in it is "
            "something else. The scores of a set tell how common its classes are, and confidences "
            "can be corrected for that."
        ),
        page.Paragraph(
            "All of this rests on one assumption: that only the mix differs, so that proteins of "
            "a class score here as proteins of that class did in the calibration set. It can be "
            "refuted by a test, never proved." + (f" {IN_TABLE}" if findings.shifts else "")
        ),
    ]
    with_curves = sum(len(found.curves) for found in findings.shifts) <= MOST_FIGURES
    for number, found in enumerate(findings.shifts, start=1):
        name = slug(found.name, number)
        blocks += _blocks(findings, found, name, with_curves)
    blocks += what_if_blocks(findings)
    return page.Section("shift", "Does it hold for my samples?", tuple(blocks))


def _blocks(
    findings: Findings, found: ShiftFinding, name: str, with_curves: bool
) -> list[page.Block]:
    blocks: list[page.Block] = [
        page.Heading(found.name, f"shift-{name}"),
        page.Paragraph(lead(found), is_lead=True),
        page.Paragraph(f"{expected(findings, found)} {fit(found)}".strip()),
    ]
    kind = f"composition of {found.name}"
    notices = [Notice(kind, text, is_warning=True) for text in found.sentences]
    notices += [Notice(kind, text) for text in found.remarks]
    if notices:
        blocks.append(page.NoticeList(tuple(notices)))
    blocks += [
        page.FigureRow((_figure(found, name),)),
        _composition_table(found),
        _change_table(findings, found),
    ]
    if with_curves and found.curves:
        blocks.append(_curves(findings, found, name))
    blocks.append(_details(found))
    return blocks


def lead(found: ShiftFinding) -> str:
    """Return how a use-set is mixed, in a sentence or two."""
    if found.estimator == "none":
        return (
            f"For {found.name} no composition was asked for: its corrected confidences are the "
            "same as the others."
        )
    if found.estimator == "stated":
        text = f"For {found.name} you stated the composition; it is taken as known."
        differing = _differing(found, is_known=True)
    else:
        text = f"From the scores of {of(found.n_use, 'protein')} in {found.name}"
        differing = _differing(found, is_known=False)
        if found.part_applied == 0.0:
            return f"{text}, its classes are not known to be mixed otherwise than in calibration."
        text += ", its classes are mixed otherwise than in calibration."
    stated = "; ".join(
        f"{entry.class_name} makes up {with_interval(entry.share, *_bounds(found, entry))} of it, "
        f"{share(entry.calibration_share)} there"
        for entry in differing[:MOST_NAMED]
    )
    if not stated and found.estimator != "stated":
        stated = "Which of them is more or less common is not known"
    return f"{text} {stated}." if stated else text


def _bounds(found: ShiftFinding, entry: ShiftClass) -> tuple[float, float]:
    """Return the interval; none where the composition was stated."""
    if found.estimator in ("none", "stated"):
        return math.nan, math.nan
    return entry.lower, entry.upper


def _differing(found: ShiftFinding, is_known: bool) -> list[ShiftClass]:
    """Return the classes that are surely more or less common, the greatest change first."""
    differing = [
        entry
        for entry in found.classes
        if not math.isnan(entry.weight)
        and entry.share != entry.calibration_share
        # Without intervals nothing is sure: NaN is neither above nor below.
        and (
            is_known
            or entry.lower > entry.calibration_share
            or entry.upper < entry.calibration_share
        )
    ]
    return sorted(differing, key=lambda entry: -abs(entry.share - entry.calibration_share))


def expected(findings: Findings, found: ShiftFinding) -> str:
    """Return how many predictions are expected to be right, in a sentence."""
    whole = whole_of(findings, found.name)
    if whole is None:
        return ""
    return (
        f"Of its {of(found.n_use, 'prediction')}, about {expected_right(whole)} are expected to "
        "be right."
    )


def fit(found: ShiftFinding) -> str:
    """Return what the two tests say, in sentences."""
    stated = []
    if not math.isnan(found.p_no_shift):
        verdict = "is more than chance" if found.p_no_shift < LITTLE else "may be chance"
        stated.append(
            "That classes are predicted more or less often than in calibration "
            f"{verdict} (p = {found.p_no_shift:.2g})."
        )
    p = found.p_label_shift
    if p < LITTLE:
        stated.append(
            f"The mix does not explain the scores of this set to the last (p = {p:.2g}): at the "
            f"worst place they differ by {share(found.gap)} of the set."
        )
    elif not math.isnan(p):
        stated.append(
            "The scores fit this mix: the test for proteins of another kind finds none "
            f"(p = {p:.2g}), which is no proof."
        )
    return " ".join(stated)


def _number(value: float, lower: float = math.nan, upper: float = math.nan) -> str:
    """Return an expected number with its interval."""
    if math.isnan(value):
        return NOTHING
    decimals = 1 if value < FEW else 0
    text = f"{value:,.{decimals}f}"
    if math.isnan(lower) or math.isnan(upper):
        return text
    return f"{text} ({lower:,.{decimals}f}–{upper:,.{decimals}f})"


def _figure(found: ShiftFinding, name: str) -> page.Figure:
    bounds = [_bounds(found, entry) for entry in found.classes]
    nothing = (math.nan,) * len(bounds)
    parts = [
        f"{entry.class_name} {share(entry.share)} for {share(entry.calibration_share)}"
        for entry in found.classes
    ]
    level = (
        "" if all(math.isnan(low) for low, _ in bounds) else f", {100 * found.level:g} % interval"
    )
    return page.Figure(
        f"shift-{name}",
        f"{found.name}: share of each class, in the calibration set and here{level}.",
        f"Shares here and in calibration: {', '.join(parts)}.",
        ComparisonPlot(
            "share of the proteins",
            tuple(entry.class_name for entry in found.classes),
            ("calibration set", found.name),
            (
                tuple(entry.calibration_share for entry in found.classes),
                tuple(entry.share for entry in found.classes),
            ),
            (nothing, tuple(low for low, _ in bounds)),
            (nothing, tuple(high for _, high in bounds)),
        ),
    )


def _composition_table(found: ShiftFinding) -> page.TableBlock:
    return page.table(
        f"{found.name}: how common each class is",
        found.classes,
        page.word("class", "class_name"),
        page.number("share in calibration", "calibration_share", share),
        page.number(
            "share here", lambda entry: with_interval(entry.share, *_bounds(found, entry))
        ),
        page.number("corrected for", "applied", share),
        page.number("times as common", "weight", two_decimals),
        page.number("predicted here", "n_predicted"),
        page.number("predicted, if so mixed", "expected_predicted", _number),
        explained={
            "corrected for": "The share that confidences are corrected for",
            "times as common": "Share here over share in calibration",
            "predicted here": "Proteins of this set predicted to be of the class",
            "predicted, if so mixed": "As many as the composition makes one expect",
        },
    )


def _change_table(findings: Findings, found: ShiftFinding) -> page.TableBlock:
    scale = findings.results.scale

    def needed(value: float) -> str:
        return "any" if value < LOWEST * scale else score(value, scale)

    by_score = page.known(
        found.classes,
        page.number(
            "confidence there",
            lambda entry: _change(share(entry.confidence_before), share(entry.confidence_after)),
        ),
        page.number(
            "score for 90 %",
            lambda entry: _change(needed(entry.score_before), needed(entry.score_after)),
        ),
    )
    right = page.known(
        found.classes,
        page.number(
            "expected right",
            lambda entry: expected_right(whole_of(findings, found.name, entry.class_name)),
        ),
    )
    enough = (
        "“Score for 90 %” is that of the confidence itself, not of its interval's lower end; "
        f"{NOTHING} where no score is enough. "
    )
    return page.table(
        f"{found.name}: what the composition changes, as calibrated → corrected "
        f"({found.method}). {enough if by_score else ''}“Proteins behind it” falls "
        "where proteins that are rare in calibration have to count for many. “Missed”: how many "
        "proteins of the class are expected among those predicted to be of another.",
        found.classes,
        page.word("predicted class", "class_name"),
        page.number("median score", lambda entry: score(entry.score_median, scale)),
        *by_score,
        page.number(
            "proteins behind it",
            lambda entry: _change(
                f"{entry.effective_before:,.0f}", f"{entry.effective_after:,.0f}"
            ),
        ),
        *right,
        page.number("missed", "elsewhere elsewhere_lower elsewhere_upper", _number),
        explained={
            "median score": "Of the calibration proteins predicted to be of it",
            "confidence there": "As calibrated → corrected",
            "score for 90 %": "Least score of confidence 0.9",
            "proteins behind it": "Effective number: alike weights count fully",
            "expected right": "Among the proteins predicted here to be of the class",
            "missed": "Proteins of the class predicted here to be of another",
        },
    )


def _change(before: str, after: str) -> str:
    return before if before == after else f"{before} → {after}"


def _curves(findings: Findings, found: ShiftFinding, name: str) -> page.Folded:
    counts = {entry.class_name: entry for entry in findings.results.classes}
    scale = findings.results.scale
    figures = tuple(
        _curve_figure(found, curve, counts[curve.class_name], f"shift-{name}-{number}", scale)
        for number, curve in enumerate(found.curves, start=1)
    )
    summary = f"{found.name}: every class's curve, before and after, where calibration saw scores"
    return page.Folded(summary, (page.FigureRow(figures),))


def _curve_figure(
    found: ShiftFinding, curve: ShiftCurve, seen: ClassCount, name: str, scale: float
) -> page.Figure:
    entry = next(one for one in found.classes if one.class_name == curve.class_name)

    def within(values: tuple[float, ...]) -> tuple[float, ...]:
        pairs = zip(curve.score, values, strict=True)
        return tuple(
            value if seen.score_min <= at <= seen.score_max else math.nan for at, value in pairs
        )

    return page.Figure(
        name,
        f"{curve.class_name} in {found.name}: confidence over the score, with the interval of the "
        "corrected one.",
        f"At score {score(entry.score_median, scale)}: {share(entry.confidence_before)} as "
        f"calibrated, {share(entry.confidence_after)} corrected.",
        LinesPlot(
            "score of the predicted class",
            "confidence",
            (BEFORE, AFTER),
            curve.score,
            (within(curve.before), within(curve.after)),
            scale,
            has_points=False,
            lower=((), within(curve.after_lower)),
            upper=((), within(curve.after_upper)),
        ),
    )


def _details(found: ShiftFinding) -> page.Folded:
    entries = [("Found by", found.estimator), ("Corrected", found.method)]
    if found.estimator not in ("none", "stated"):
        condition = NOTHING if math.isnan(found.condition) else f"{found.condition:.3g}"
        entries += [
            ("Intervals", f"{100 * found.level:g} %, both sets drawn anew"),
            (
                "Condition number",
                f"{condition}: how many times an error in how often classes are predicted can "
                "grow in their shares",
            ),
        ]
    if found.n_cells:
        gathered = "none: each counted by itself"
        if found.n_cells < found.n_use:
            gathered = (
                f"{of(found.n_cells, 'protein')} stand for {found.n_use:,} with scores like "
                f"theirs; in the first part of the table that moved no share by more than "
                f"{found.compression_error:.1e}"
            )
        entries.append(("Proteins gathered", gathered))
    return page.Folded(f"{found.name}: how this was found", (page.Definitions(tuple(entries)),))
