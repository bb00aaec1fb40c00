"""How far confidences lie from what turned out, beside what chance alone would give."""

from __future__ import annotations

import math

from credence.findings import CalibrationTest, Findings
from credence.report.blocks import Block, Folded, Paragraph, Section, TableBlock, numbers, words
from credence.report.sections.lookup import Lookup
from credence.report.wording import KEPT, NOTHING, count, share

ERRORS = (
    ("ece", "ECE"),
    ("ece_top_label_weighted", "top-label ECE"),
    ("ece_smooth", "smooth ECE"),
    ("ece_kernel", "kernel error"),
    ("ece_debiased", "debiased"),
)
FURTHER = (
    ("ece2", "ECE2"),
    ("ece_count", "ECE, equal counts"),
    ("ece2_count", "ECE2, equal counts"),
    ("ece_top_label", "top-label ECE, mean of classes"),
    ("mce", "MCE"),
    ("area", "area"),
    ("sce", "SCE"),
    ("ace", "ACE"),
    ("tace", "TACE"),
)
PARTS = (
    ("brier", "Brier score"),
    ("outcome_variance", "variance of being right"),
    ("sharpness", "− sharpness"),
    ("calibration", "+ calibration"),
    ("remainder", "+ remainder"),
)
TESTS = (
    ("kolmogorov_smirnov", "Kolmogorov–Smirnov"),
    ("kuiper", "Kuiper"),
    ("spiegelhalter", "Spiegelhalter"),
)
LEVEL = 0.05
MOST_BLIND = 0.5  # power below which a test that finds nothing says nothing


def section(findings: Findings) -> Section | None:
    """Return calibration errors with their noise floors, and tests by class."""
    results = findings.results
    if not results.floors and not results.tests:
        return None
    lookup = Lookup(findings)
    blocks: list[Block] = []
    if results.floors:
        blocks.append(
            Paragraph(
                "Calibration errors of held-out confidences, with what a perfectly calibrated "
                "method would score on as many proteins by chance: first if proteins were "
                "independent, then if relatives were right or wrong together; the truth lies "
                "between. An error within that range is no evidence against a method. A small "
                "one is no evidence for it either: a confidence that is the same for all can "
                "score best. Choose by NLL or Brier score."
            )
        )
        blocks.append(_errors(lookup, ERRORS, "Calibration errors over all classes, held-out."))
        blocks.append(
            Folded(
                "Further calibration errors, and the Brier score in parts",
                (
                    _errors(
                        lookup,
                        FURTHER,
                        "Further errors over all classes, held-out. SCE, ACE and TACE only for "
                        "methods that give a probability for every class.",
                    ),
                    _parts(lookup),
                ),
            )
        )
    if results.tests:
        blocks.append(Paragraph(_tests_in_words(findings)))
        tables = [_tests(findings, name, title) for name, title in TESTS]
        blocks.append(tables[0])
        blocks.append(Folded("The tests of Kuiper and Spiegelhalter", tuple(tables[1:])))
    return Section("measuring", "Do confidences keep their word?", tuple(blocks))


def _errors(lookup: Lookup, metrics: tuple[tuple[str, str], ...], caption: str) -> TableBlock:
    rows = tuple(
        (method.name, *(floor_words(lookup, method.name, None, name) for name, _ in metrics))
        for method in lookup.findings.methods
    )
    columns = (*words("method"), *numbers(*(title for _, title in metrics)))
    return TableBlock(f"{caption} In brackets: by chance alone.", columns, rows)


def floor_words(lookup: Lookup, method: str, class_name: str | None, metric: str) -> str:
    """Return a held-out calibration error, with what chance alone would give."""
    value = lookup.metrics.get((method, class_name, "held_out", metric))
    if value is None or math.isnan(value.value):
        return NOTHING
    pair = [lookup.floors.get((method, class_name, metric, alike)) for alike in (False, True)]
    if pair[0] is None or pair[1] is None:
        return f"{value.value:.3f}"
    low, high = sorted((pair[0].value, pair[1].value))
    return f"{value.value:.3f} (chance{KEPT}{low:.3f} to {high:.3f})"


def _parts(lookup: Lookup) -> TableBlock:
    rows = []
    for method in lookup.findings.methods:
        cells = [method.name]
        for name, _ in PARTS:
            found = lookup.metrics.get((method.name, None, "held_out", name))
            cells.append(
                NOTHING
                if found is None or math.isnan(found.value)
                else f"{found.value:.4f}".replace("-", "−")
            )
        rows.append(tuple(cells))
    columns = (*words("method"), *numbers(*(title for _, title in PARTS)))
    return TableBlock(
        "The held-out Brier score is the variance of being right, less sharpness, plus "
        "calibration, plus a remainder that bins hide (variance of the confidence within bins "
        "less twice its covariance there with being right).",
        columns,
        tuple(rows),
    )


def _of_chosen(findings: Findings, test: str) -> list[CalibrationTest]:
    return [
        row for row in findings.results.tests if row.method == findings.chosen and row.test == test
    ]


def _tests_in_words(findings: Findings) -> str:
    rows = [row for row in _of_chosen(findings, TESTS[0][0]) if row.class_name is not None]
    off = [row.class_name or "" for row in rows if row.p_adjusted <= LEVEL]
    blind = [
        row.class_name or ""
        for row in rows
        if row.p_adjusted > LEVEL and not row.power >= MOST_BLIND
    ]
    words = (
        f"Tests of the held-out confidences of {findings.chosen}. Relatives are turned over "
        "together (random signs), since a test that takes them for independent rejects good "
        "methods about half the time. "
    )
    if off:
        words += f"Not calibrated by the first test, after Holm's correction: {', '.join(off)}. "
    else:
        words += "The first test finds no class that is not calibrated. "
    if blind:
        words += (
            "Too few families to see confidences that are five points off (power below one "
            f"half): {', '.join(blind)}; there the test says nothing."
        )
    return words.strip()


def _tests(findings: Findings, test: str, title: str) -> TableBlock:
    rows = tuple(
        (
            "all classes" if row.class_name is None else row.class_name,
            count(row.n),
            count(row.n_clusters),
            NOTHING if math.isnan(row.statistic) else f"{row.statistic:.2f}".replace("-", "−"),
            p_words(row.p_value),
            p_words(row.p_adjusted),
            p_words(row.p_independent),
            share(row.power),
        )
        for row in _of_chosen(findings, test)
    )
    columns = (
        *words("predicted class"),
        *numbers(
            "proteins",
            "families",
            "statistic",
            ("p", "By random signs over families"),
            ("p, Holm", "Corrected for the number of classes"),
            ("p if independent", "Asymptotic; too small where there are relatives"),
            ("power", "To see, at 5 %, confidences five points off throughout"),
        ),
    )
    return TableBlock(f"{title} test, {findings.chosen}, held-out", columns, rows)


def p_words(value: float) -> str:
    """Return a p-value with three decimals.

    >>> p_words(0.0004), p_words(0.25), p_words(float("nan"))
    ('<0.001', '0.250', '–')
    """
    if math.isnan(value):
        return NOTHING
    return "<0.001" if value < 0.001 else f"{value:.3f}"
