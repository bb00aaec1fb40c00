"""How far confidences lie from what turned out, and what to be careful with."""

from __future__ import annotations

import math
from collections.abc import Iterator

from credence.findings import CalibrationTest, Findings, Notice
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.wording import KEPT, count, of, rounded, share, three_decimals, two_decimals

ERRORS = {
    "ece": "ECE",
    "ece_top_label_weighted": "top-label ECE",
    "ece_smooth": "smooth ECE",
    "ece_kernel": "kernel error",
    "ece_debiased": "debiased",
}
FURTHER = {
    "ece2": "ECE2",
    "ece_count": "ECE, equal counts",
    "ece2_count": "ECE2, equal counts",
    "ece_top_label": "top-label ECE, mean of classes",
    "mce": "MCE",
    "area": "area",
    "sce": "SCE",
    "ace": "ACE",
    "tace": "TACE",
}
PARTS = {
    "brier": "Brier score",
    "outcome_variance": "variance of being right",
    "sharpness": "− sharpness",
    "calibration": "+ calibration",
    "remainder": "+ remainder",
}
TESTS = {
    "kolmogorov_smirnov": "Kolmogorov–Smirnov",
    "kuiper": "Kuiper",
    "spiegelhalter": "Spiegelhalter",
}
TEST = next(iter(TESTS))  # the one that sentences and notices go by
LEVEL = 0.05
MOST_BLIND = 0.5  # power below which a test that finds nothing says nothing


def section(findings: Findings) -> page.Section | None:
    """Return calibration errors with their noise floors, and tests by class."""
    results = findings.results
    lookup = Lookup(findings)
    blocks: list[page.Block] = []
    alike = ", and were known relatives right or wrong together (the truth lies between)"
    alike = alike if lookup.knows_relatives else ""
    if results.floors:
        further = _errors(
            lookup,
            FURTHER,
            "Further errors over all classes, held-out. SCE, ACE and TACE only for methods that "
            "give a probability for every class.",
        )
        blocks += [
            page.Paragraph(
                "Calibration errors of held-out confidences; in brackets what a perfectly "
                "calibrated method would score on as many proteins by chance, were they "
                f"independent{alike}. An error no greater is no evidence against a method. A "
                "small one is no evidence for it either: a confidence that is the same for all "
                "can score best. Choose by NLL or Brier score."
            ),
            _errors(lookup, ERRORS, "Calibration errors over all classes, held-out."),
            page.Folded(
                "Further calibration errors, and the Brier score in parts",
                (further, _parts(lookup)),
            ),
        ]
    if results.tests:
        first, *others = (_tests(lookup, name, title) for name, title in TESTS.items())
        folded = page.Folded("The tests of Kuiper and Spiegelhalter", tuple(others))
        blocks += [page.Paragraph(_tests_in_words(lookup)), first, folded]
    if not blocks:
        return None
    return page.Section("measuring", "Do confidences keep their word?", tuple(blocks))


def _errors(lookup: Lookup, metrics: dict[str, str], caption: str) -> page.TableBlock:
    return page.table(
        f"{caption} In brackets: by chance alone.",
        lookup.findings.methods,
        page.word("method", "name"),
        *page.numbers(
            metrics.values(),
            lambda method, at: floor_words(lookup, method.name, None, list(metrics)[at]),
        ),
    )


def floor_words(lookup: Lookup, method: str, class_name: str | None, metric: str) -> str:
    """Return a held-out calibration error, with what chance alone would give."""
    value = lookup.value(method, class_name, metric)
    pair = [lookup.floors.get((method, class_name, metric, alike)) for alike in (False, True)]
    if math.isnan(value) or pair[0] is None or pair[1] is None:
        return three_decimals(value)
    low, high = sorted((pair[0].value, pair[1].value))
    chance = f"{low:.3f} to {high:.3f}" if high > low else f"{low:.3f}"
    return f"{value:.3f} (chance{KEPT}{chance})"


def _parts(lookup: Lookup) -> page.TableBlock:
    return page.table(
        "The held-out Brier score is the variance of being right, less sharpness, plus "
        "calibration, plus a remainder that bins hide (variance of the confidence within bins "
        "less twice its covariance there with being right).",
        lookup.findings.methods,
        page.word("method", "name"),
        *page.numbers(
            PARTS.values(),
            lambda method, at: rounded(lookup.value(method.name, None, list(PARTS)[at]), 4),
        ),
    )


def _of_chosen(findings: Findings, test: str) -> list[CalibrationTest]:
    return [
        row for row in findings.results.tests if row.method == findings.chosen and row.test == test
    ]


def _tests_in_words(lookup: Lookup) -> str:
    findings = lookup.findings
    rows = [row for row in _of_chosen(findings, TEST) if row.class_name is not None]
    off = [row.class_name or "" for row in rows if row.p_adjusted <= LEVEL]
    blind = [
        row.class_name or ""
        for row in rows
        if row.p_adjusted > LEVEL and not row.power >= MOST_BLIND
    ]
    words = (
        f"Tests of the held-out confidences of {findings.chosen}, by random signs: one for each "
    )
    words += (
        "family, since a test that takes relatives for independent rejects good methods about "
        "half the time. "
        if lookup.knows_relatives
        else "protein. Were some relatives, good methods would be rejected too often. "
    )
    if off:
        words += f"Not calibrated by the first test, after Holm's correction: {', '.join(off)}. "
    else:
        words += "The first test finds no class whose confidences are off. "
    if blind:
        words += (
            f"Too few {lookup.families} to see confidences that are five points off (power below "
            f"one half, or not known): {', '.join(blind)}; there the test says nothing."
        )
    return words.strip()


def _tests(lookup: Lookup, test: str, title: str) -> page.TableBlock:
    findings = lookup.findings
    return page.table(
        f"{title} test, {findings.chosen}, held-out",
        _of_chosen(findings, test),
        page.word("predicted class", lambda row: row.class_name or "all classes"),
        page.number("proteins", "n"),
        *lookup.family_column(),
        page.number("statistic", "statistic", two_decimals),
        page.number("p", "p_value", p_words),
        page.number("p, Holm", "p_adjusted", p_words),
        page.number("p if independent", "p_independent", p_words),
        page.number("power", "power", share),
        explained={
            "p": f"By random signs over {lookup.families}",
            "p, Holm": "Corrected for the number of classes",
            "p if independent": "Asymptotic; too small where there are relatives",
            "power": "To see, at 5 %, confidences five points off throughout",
        },
    )


def p_words(value: float) -> str:
    """Return a p-value with three decimals.

    >>> p_words(0.0004), p_words(0.25), p_words(float("nan"))
    ('<0.001', '0.250', '–')
    """
    return "<0.001" if value < 0.001 else three_decimals(value)


def notices(findings: Findings) -> page.Section:
    """Return every notice of the run, warnings first."""
    # The sort is stable: among equals the order in which they were found stays.
    found = tuple(sorted(all_notices(findings), key=lambda notice: not notice.is_warning))
    block = page.NoticeList(found) if found else page.Paragraph("Nothing was found.")
    return page.Section("notices", "What to be careful with", (block,))


def all_notices(findings: Findings) -> tuple[Notice, ...]:
    """Return what any stage has to say, what tests rejected, and what the audit found."""
    # The evaluation does not know whether relatives were looked for.
    own = findings.results.notices
    if Lookup(findings).knows_relatives:
        own = tuple(notice for notice in own if notice.kind != "no relatives")
    return (*findings.notices, *own, *_failed_tests(findings), *_audit(findings))


def _failed_tests(findings: Findings) -> Iterator[Notice]:
    for entry in findings.results.tests:
        is_asked = (entry.method, entry.test) == (findings.chosen, TEST)
        if is_asked and entry.class_name is not None and entry.p_adjusted <= LEVEL:
            yield Notice(
                "failed test",
                f"Held-out confidences of {entry.class_name} are off by more than chance "
                f"(p {p_words(entry.p_adjusted)} after Holm's correction).",
                entry.class_name,
                is_warning=True,
            )


def _audit(findings: Findings) -> Iterator[Notice]:
    split = findings.split
    if split is None or not (split.is_audited or Lookup(findings).knows_relatives):
        return
    if not split.is_audited:
        yield Notice("audit", "Whether relatives are in two groups was not audited.")
        return
    n_examined = sum(entry.n_examined for entry in split.classes)
    n_crossing = sum(entry.n_crossing for entry in split.classes)
    yield Notice(
        "audit",
        f"Of {of(n_examined, 'audited protein')}, {count(n_crossing)} "
        f"{'has' if n_crossing == 1 else 'have'} a relative in another group.",
        is_warning=n_crossing > 0,
    )
