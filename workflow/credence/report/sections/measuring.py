"""How far confidences lie from what turned out, and what to be careful with."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import replace

from credence.evaluation.verdict import by_gap
from credence.findings import CalibrationTest, Findings, Notice
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import comparison, interval_of
from credence.report.sections.lookup import Lookup
from credence.report.sections.splits import lead_of
from credence.report.wording import (
    DASH,
    KEPT,
    TEST_LEVEL,
    as_sentence,
    in_words,
    interval,
    points,
    rounded,
    share,
    three_decimals,
    two_decimals,
)

ERRORS = {
    "ece": "ECE",
    "ece_top_label_weighted": "top-label ECE",
    "ece_smooth": "smooth ECE",
    "ece_kernel": "kernel error",
    "ece_debiased": "debiased",
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
TESTS = {
    "kolmogorov_smirnov": "Kolmogorov–Smirnov",
    "kuiper": "Kuiper",
    "spiegelhalter": "Spiegelhalter",
    "spiegelhalter_one_sided": "Spiegelhalter, one-sided (too near 0 and 1)",
}
MAIN_TEST = next(iter(TESTS))  # the one that sentences and notices go by
MOST_BLIND = 0.5  # power below which a test that finds nothing says nothing


def section(findings: Findings) -> page.Section | None:
    """Return how far each class's confidences are off, tests, and calibration errors."""
    lookup = Lookup(findings)
    blocks: list[page.Block] = []
    gaps = [
        (entry.class_name, gap)
        for entry in findings.results.classes
        if (gap := lookup.metrics.get((findings.chosen, entry.class_name, "held_out", "gap")))
        and not math.isnan(gap.value)
    ]
    if gaps:
        zone = lookup.findings.limits.off_by
        classes = by_gap(dict(gaps), zone)
        words = {
            f"within {points(zone)}": classes.held,
            "off by more": classes.off,
            f"too few {lookup.families} to tell": classes.unsure,
        }
        parts = [f"{lead}: {in_words(names)}" for lead, names in words.items() if names]
        gaps_in_words = (
            "Do mean confidence and precision agree for proteins of each class, in "
            f"cross-validation over {lookup.families}? {as_sentence('; '.join(parts))}."
        )
        stated = "; ".join(f"{name} {rounded(100.0 * gap.value, 1, '+')}" for name, gap in gaps)
        gaps_figure = page.Figure(
            name="gaps",
            caption=f"Mean confidence of {lookup.findings.chosen} minus precision, "
            f"cross-validated; lines: {100 * lookup.findings.results.level:g} % intervals over "
            f"{lookup.families}. Right of 0 confidences are too high. Shaded: within "
            f"{points(zone)}.",
            alternative=f"Percentage points by which confidences are too high (+) or too low (−): "
            f"{stated}.",
            plot=comparison(
                "mean confidence − precision, percentage points",
                (name for name, _ in gaps),
                [(findings.chosen, [interval_of(gap, times=100.0) for _, gap in gaps])],
                zone=100.0 * zone,
            ),
        )
        blocks += page.flat(page.lead(gaps_in_words), gaps_figure)
    if findings.results.tests:
        often = " Were there relatives, it would reject too often."
        note = page.Paragraph(
            text="No test shows that confidences are right. One that finds nothing counts only "
            "where "
            "its power is high: the chance to see, at 5 %, confidences five percentage points off "
            f"throughout.{'' if lookup.knows_relatives else often}"
        )
        title = "Tests, with their power"
        blocks.append(page.Folded(summary=title, blocks=(note, _tests(lookup)), is_expert=True))
    if findings.results.floors:
        alike = " and were known relatives right or wrong together (the truth lies between)"
        note = page.Paragraph(
            text="In brackets what a perfect method would score by chance on as many independent "
            f"proteins{alike if lookup.knows_relatives else ''}. Differences below this "
            "noise floor do not rank methods: choose by NLL or Brier score."
        )
        title = "Calibration errors of every method"
        errors = page.table(
            "Calibration errors over all classes, held-out. In brackets: by chance alone. SCE, "
            "ACE and TACE only for methods that give a probability for every class.",
            lookup.findings.methods,
            page.word("method", "name"),
            *page.numbers(
                ERRORS.values(),
                lambda method, at: floor_words(lookup, method.name, None, list(ERRORS)[at]),
            ),
        )
        blocks.append(page.Folded(summary=title, blocks=(note, errors), is_expert=True))
    if findings.by_identity:
        heading = page.Heading(text="Far from known proteins", anchor="by-identity")
        blocks += [heading, page.lead(_identity_text(findings)), _by_identity(findings)]
    if not blocks:
        return None
    return page.Section(
        name="measuring", title="Are the confidences calibrated?", blocks=tuple(blocks)
    )


def _identity_text(findings: Findings) -> str:
    """Return whether confidences hold far from known proteins."""
    text = (
        "Do confidences hold far from known proteins? The table has calibration proteins, each "
        "with its family left out, by identity with the nearest known protein of another family. "
    )
    if off := [band.name for band in findings.by_identity if band.is_off]:
        return (
            f"{text}What was promised and what was right differ beyond noise ({', '.join(off)}). "
            "No confidence is changed for it: your proteins at such an identity are flagged, with "
            "a note."
        )
    tested = [band for band in findings.by_identity if not math.isnan(band.p)]
    if not tested:
        return f"{text}No identity has ten families, so this is not known."
    widest = max(tested, key=lambda band: band.upper - band.lower)
    return (
        f"{text}What was promised and what was right differ nowhere beyond noise. Smaller "
        f"differences are not seen: where the identity is {widest.name}, any precision from "
        f"{two_decimals(widest.lower)} to {two_decimals(widest.upper)} fits."
    )


def _by_identity(findings: Findings) -> page.TableBlock:
    return page.table(
        "What was promised and what was right, by identity with the nearest known protein of "
        "another family",
        findings.by_identity,
        page.word("identity", "name"),
        page.number("proteins", "n"),
        page.number("families", "n_families"),
        page.number("promised", "promised", two_decimals),
        page.number("right", "right", two_decimals),
        page.number("interval", "lower upper", lambda *ends: interval(*ends).strip("()") or DASH),
        page.number("p", "p", two_decimals),
        explained={
            "identity": "Of the best alignment: its share of identical columns",
            "interval": "Of the precision; relatives count as one",
            "p": "That promised and right are the same, Holm over the bands; not asked of fewer "
            "than ten families",
        },
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


def _tests(lookup: Lookup) -> page.TableBlock:
    findings = lookup.findings
    made = [name for name in TESTS if any(row.test == name for row in findings.results.tests)]

    def result(row: CalibrationTest, at: int) -> str:
        test = lookup.tests.get((findings.chosen, row.class_name, made[at]))
        if test is None:
            return DASH
        p = test.p_value if row.class_name is None else test.p_adjusted
        return words_of_test(p, test.power)

    asked = (findings.chosen, MAIN_TEST)
    return page.table(
        f"Are the confidences of {findings.chosen} off in cross-validation? By random signs over "
        f"{lookup.families}; p corrected for the number of classes (Holm).",
        [row for row in findings.results.tests if (row.method, row.test) == asked],
        page.word("predicted class", lambda row: row.class_name or "all classes"),
        page.number("proteins", "n"),
        *lookup.family_column(),
        *page.numbers(map(TESTS.__getitem__, made), result),
    )


def words_of_test(p: float, power: float) -> str:
    """Return what a test shows; where it finds nothing, never more than its power allows."""
    if math.isnan(p):
        return DASH
    if p > TEST_LEVEL and not power >= MOST_BLIND:
        return f"no answer: {_known(power)}"
    return f"{'off' if p <= TEST_LEVEL else 'not seen off'}: p {p_words(p)}, {_known(power)}"


def _known(power: float) -> str:
    return "power not known" if math.isnan(power) else f"power {share(power)}"


def p_words(value: float) -> str:
    """Return a p-value with three decimals."""
    return "<0.001" if value < 0.001 else three_decimals(value)


def notices(findings: Findings) -> page.Section:
    """Return every notice of the run, warnings first, like ones as one."""
    # The sort is stable: among equals the order in which they were found stays.
    grouped_notices = sorted(
        grouped(all_notices(findings)), key=lambda notice: not notice.is_warning
    )
    block = (
        page.NoticeList(notices=tuple(grouped_notices))
        if grouped_notices
        else page.Paragraph(text="Nothing was found.")
    )
    return page.Section(name="notices", title="What to be careful with", blocks=(block,))


def grouped(notices: Iterable[Notice]) -> Iterator[Notice]:
    """Yield notices, those of a kind as one: it names their classes, or has all their texts."""
    groups: dict[tuple[str, bool, bool], list[Notice]] = {}
    for notice in notices:
        key = (notice.kind, notice.is_warning, notice.class_name is None)
        groups.setdefault(key, []).append(notice)
    for alike in groups.values():
        text = " ".join(dict.fromkeys(notice.text for notice in alike))
        names = list(dict.fromkeys(notice.class_name for notice in alike if notice.class_name))
        if len(names) > 1:
            classes = plural(len(names), "class", "classes")
            text = f"{classes}, {', '.join(names)}. So: {alike[0].text}"
        yield replace(alike[0], text=text, class_name=names[0] if len(names) == 1 else None)


def all_notices(findings: Findings) -> tuple[Notice, ...]:
    """Return what any stage has to say, what tests rejected, and what the audit found."""
    # The evaluation does not know whether relatives were looked for.
    evaluated = findings.results.notices
    if Lookup(findings).knows_relatives:
        evaluated = tuple(notice for notice in evaluated if notice.kind != "no relatives")
    return (*findings.notices, *evaluated, *_failed_tests(findings), *_audit(findings))


def _failed_tests(findings: Findings) -> Iterator[Notice]:
    for entry in findings.results.tests:
        is_asked = (entry.method, entry.test) == (findings.chosen, MAIN_TEST)
        if is_asked and entry.class_name is not None and entry.p_adjusted <= TEST_LEVEL:
            yield Notice(
                kind="failed test",
                text=f"Held-out confidences of {entry.class_name} are off by more than chance "
                f"(p {p_words(entry.p_adjusted)} after Holm's correction, {_known(entry.power)}).",
                class_name=entry.class_name,
                is_warning=True,
            )


def _audit(findings: Findings) -> Iterator[Notice]:
    split = findings.split
    if split is not None and (split.is_audited or Lookup(findings).knows_relatives):
        joined = findings.joined
        n_found = split.n_crossing_sampled + split.n_met + (joined.n_crossing if joined else 0)
        yield Notice(
            kind="audit", text=lead_of(split, joined), is_warning=split.is_audited and n_found > 0
        )
