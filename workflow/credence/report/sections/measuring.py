"""How far confidences lie from what turned out, and what to be careful with."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from credence.evaluation.verdict import by_gap
from credence.findings import (
    CalibrationTest,
    Findings,
    MetricValue,
    Notice,
    ProteinList,
    ShiftFinding,
)
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import ReliabilityPlot, comparison, interval_of, without_interval
from credence.report.sections.lists import expected_right, whole_of
from credence.report.sections.lookup import Lookup, class_anchors, reliability_figure
from credence.report.sections.methods import verdict_on_methods
from credence.report.sections.splits import lead_of
from credence.report.wording import (
    DASH,
    KEPT,
    TEST_LEVEL,
    as_sentence,
    count,
    in_words,
    interval,
    points,
    rounded,
    share,
    slug,
    three_decimals,
    two_decimals,
    with_interval,
)
from credence.sentences import notices_of

TESTS = {
    "kolmogorov_smirnov": "Kolmogorov–Smirnov",
    "kuiper": "Kuiper",
    "spiegelhalter": "Spiegelhalter",
    "spiegelhalter_one_sided": "Spiegelhalter, one-sided (too near 0 and 1)",
}
MAIN_TEST = next(iter(TESTS))  # the one that sentences and notices go by
WIDEST_EVIDENCE = 0.4  # of an interval that is evidence
MOST_BLIND = 0.5  # power below which a test that finds nothing says nothing


RAW, CLASS_ALONE = "uncalibrated", "class_only"  # methods that calibration is compared with


def section(findings: Findings) -> page.Section | None:
    """Return whether confidences are calibrated: diagrams of all classes, and the numbers."""
    lookup = Lookup(findings)
    if all(entry.n_predicted == 0 for entry in findings.results.classes):
        return None
    blocks = page.flat(
        page.lead(_gaps_in_words(lookup)),
        truth_in_words(findings),
        _small_diagrams(lookup),
        f"Across: confidence; upwards: precision, {100 * findings.results.level:g} % intervals. "
        "Grey: chance. Orange: off.",
        _numbers(lookup),
        *map(_at_proportions, findings.shifts),
        verdict_on_methods(lookup),
        _seen_by_tests(lookup),
    )
    return page.Section(name="measuring", title="Is it calibrated?", blocks=blocks)


def _small_diagrams(lookup: Lookup) -> page.Tiles:
    """Return a small reliability diagram of every class that was predicted."""
    anchors = class_anchors(lookup.findings)
    tiles = []
    for at, entry in enumerate(lookup.findings.results.classes, start=1):
        if entry.n_predicted == 0:
            continue
        figure = reliability_figure(lookup, entry, slug(entry.class_name, at))
        nothing = f"{entry.class_name}: nothing was cross-validated."
        tile = page.Tile(
            name=anchors[entry.class_name],
            caption=f"n = {count(entry.n_predicted)}",
            alternative=figure.alternative if figure else nothing,
            plot=figure.plot if figure else ReliabilityPlot(names=(), bins=()),
            title=entry.class_name,
        )
        tiles.append(tile)
    return page.Tiles(tiles=tuple(tiles))


def truth_in_words(findings: Findings) -> str:
    """Return what was right, where the true classes of a query set are known."""
    parts = []
    for query_set in findings.queries:
        right = {
            entry.class_name: entry.n_right
            for entry in query_set.classes
            if entry.n_right is not None
        }
        whole = whole_of(findings, query_set.name)
        if not right or whole is None:
            continue
        listed = {name: whole_of(findings, query_set.name, name) for name in right}
        asked = {name: entry for name, entry in listed.items() if entry is not None and entry.n}
        parts.append(
            f"The true classes of {query_set.name} are known: {count(sum(right.values()))} of "
            f"{plural(whole.n, 'prediction')} are right, {expected_right(whole)} were expected."
        )
        if asked:
            parts.append(_intervals_held(asked, right))
    return " ".join(parts)


def _intervals_held(asked: Mapping[str, ProteinList], right: Mapping[str, int]) -> str:
    """Return in how many classes the interval held the true number, and if it could miss it."""
    ends = {
        name: (math.floor(entry.right_lower), math.ceil(entry.right_upper))
        for name, entry in asked.items()
    }
    missed = [name for name, (low, high) in ends.items() if not low <= right[name] <= high]
    n_wide = sum(
        high - low > WIDEST_EVIDENCE * asked[name].n
        for name, (low, high) in ends.items()
        if name not in missed
    )
    n_held = len(asked) - len(missed)
    of_them = plural(len(asked), "class", "classes")
    text = f"The intervals held the true number in {count(n_held)} of {of_them}"
    if n_wide:
        text += f" ({count(n_wide)} of them so wide that they could hardly miss)"
    return f"{text}, but not in {in_words(missed)}." if missed else f"{text}."


def _gaps(lookup: Lookup) -> list[tuple[str, MetricValue]]:
    chosen = lookup.findings.chosen
    return [
        (entry.class_name, gap)
        for entry in lookup.findings.results.classes
        if (gap := lookup.metrics.get((chosen, entry.class_name, "held_out", "gap")))
        and not math.isnan(gap.value)
    ]


def _gaps_in_words(lookup: Lookup) -> str:
    gaps, zone = _gaps(lookup), lookup.findings.limits.off_by
    if not gaps:
        return "Not known: nothing could be cross-validated."
    classes = by_gap(dict(gaps), zone)
    words = {
        f"calibrated within {points(zone)}": classes.held,
        "off by more": classes.off,
        f"too few {lookup.families} to say": classes.unsure,
    }
    parts = [f"{lead}: {in_words(names)}" for lead, names in words.items() if names]
    return f"{as_sentence('; '.join(parts))}."


def _numbers(lookup: Lookup) -> page.TableBlock:
    """Return the main numbers of the method beside raw scores and the class alone."""
    findings = lookup.findings
    words = {findings.chosen: findings.chosen, RAW: "raw scores", CLASS_ALONE: "class only"}
    fitted = {method.name for method in findings.methods}
    return page.table(
        f"Over all classes, cross-validated by {lookup.families}, at the class proportions of the "
        "calibration set: less is better. In brackets after the ECE what chance alone gives.",
        [name for name in words if name in fitted],
        page.word("confidence from", lambda name: words[name]),
        page.number("NLL", lambda name: lookup.loss(name, None)),
        page.number("ECE, debiased", lambda name: floor_words(lookup, name, None, "ece_debiased")),
        page.number(lookup.units, lambda name: _n_judged(lookup, name)),
        explained={
            "NLL": "Negative log-likelihood: how surprised the confidence was by what turned out",
            "ECE, debiased": "Expected calibration error: how far confidences lie from the "
            "precision, on average over bins, less what chance adds",
        },
    )


def _at_proportions(shift: ShiftFinding) -> page.Folded | None:
    """Return how good confidences are that are corrected for a query set's class proportions."""
    if not shift.judged:
        return None
    return page.Folded(
        summary=f"At the class proportions of {shift.name}",
        blocks=(
            page.table(
                "Confidences of calibration proteins, cross-validated by family and corrected as "
                f"those of {shift.name} are; a protein counts as often as these proportions say.",
                shift.judged,
                page.word("predicted class", lambda row: row.class_name or "all"),
                page.number("proteins", "n", count),
                page.number("families", "n_families", count),
                page.number("mean confidence", "confidence", share),
                page.number("precision", "precision lower upper", with_interval),
                page.number("NLL", "loss", three_decimals),
            ),
        ),
    )


def _n_judged(lookup: Lookup, method: str) -> str:
    entry = lookup.metrics.get((method, None, "held_out", "nll"))
    return DASH if entry is None else count(entry.n)


def _seen_by_tests(lookup: Lookup) -> str:
    """Return what the tests of the classes could see, and what they could not."""
    asked = (lookup.findings.chosen, MAIN_TEST)
    tests = [
        test
        for test in lookup.findings.results.tests
        if (test.method, test.test) == asked
        and test.class_name is not None
        and not math.isnan(test.p_adjusted)
    ]
    if not tests:
        return ""
    off = [test.class_name or "" for test in tests if test.p_adjusted <= TEST_LEVEL]
    blind = [
        test for test in tests if test.p_adjusted > TEST_LEVEL and not test.power >= MOST_BLIND
    ]
    stated = f"Tests found {in_words(off)} off" if off else "No test found a class off"
    if not blind:
        return f"{stated}."
    return (
        f"{stated}. In {count(len(blind))} of {plural(len(tests), 'class', 'classes')} it would "
        "rarely see confidences five percentage points off: there it says nothing."
    )


def _gaps_figure(lookup: Lookup) -> page.Figure | None:
    gaps, zone = _gaps(lookup), lookup.findings.limits.off_by
    if not gaps:
        return None
    stated = "; ".join(f"{name} {rounded(100.0 * gap.value, 1, '+')}" for name, gap in gaps)
    return page.Figure(
        name="gaps",
        caption=f"Mean confidence of {lookup.findings.chosen} minus precision, held-out; "
        f"lines: {100 * lookup.findings.results.level:g} % intervals over {lookup.families}. "
        f"Right of 0 confidences are too high. Shaded: within {points(zone)}.",
        alternative=f"Percentage points by which confidences are too high (+) or too low (−): "
        f"{stated}.",
        plot=comparison(
            "mean confidence − precision, percentage points",
            (name for name, _ in gaps),
            [(lookup.findings.chosen, [interval_of(gap, times=100.0) for _, gap in gaps])],
            zone=100.0 * zone,
        ),
    )


def errors_and_tests(findings: Findings) -> page.Section | None:
    """Return how far classes are off, and the tests with their power."""
    lookup = Lookup(findings)
    blocks = page.flat(_gaps_figure(lookup))
    if findings.results.tests:
        often = " Were there relatives, it would reject too often."
        note = (
            "A test that finds nothing counts only where its power is high: the chance to see, at "
            "5 %, confidences five percentage points off throughout."
            f"{'' if lookup.knows_relatives else often}"
        )
        blocks += page.flat(note, _tests(lookup))
    if findings.results.floors:
        blocks += page.flat("metrics.tsv has every calibration error of every method and class.")
    title = "Tests and calibration errors"
    return page.Section(name="tests", title=title, blocks=blocks) if blocks else None


def identity(findings: Findings) -> page.Section | None:
    """Return the quality by identity to the nearest known protein; None where not known."""
    bands = findings.by_identity
    if not bands:
        return None
    promised = [without_interval(band.promised) for band in bands]
    right = [(band.right, band.lower, band.upper) for band in bands]
    stated = "; ".join(f"{band.name}: {share(band.right)}" for band in bands)
    figure = page.Figure(
        name="by-identity",
        caption=f"Mean confidence and precision by identity to the nearest known protein of "
        f"another family; n = {', '.join(count(band.n) for band in bands)}, from the top.",
        alternative=f"Precision by identity: {stated}.",
        plot=comparison(
            "precision",
            (band.name for band in bands),
            [("mean confidence", promised), ("precision", right)],
        ),
    )
    table = page.Folded(summary="The numbers", blocks=(_by_identity(findings),))
    blocks = page.flat(page.lead(_identity_text(findings)), figure, table)
    title = "Quality by identity to the nearest known"
    return page.Section(name="by-identity", title=title, blocks=blocks)


def _identity_text(findings: Findings) -> str:
    """Return whether confidences hold far from known proteins."""
    if off := [band.name for band in findings.by_identity if band.is_off]:
        return (
            f"Confidence and precision differ beyond noise at an identity of {', '.join(off)}. "
            "No confidence is changed for it: your proteins at such an identity have a note."
        )
    tested = [band for band in findings.by_identity if not math.isnan(band.p)]
    if not tested:
        return "Not known: no range of identity has ten families."
    widest = max(tested, key=lambda band: band.upper - band.lower)
    return (
        "Confidence and precision differ nowhere beyond noise. Smaller differences are not seen: "
        f"where the identity is {widest.name}, any precision from {two_decimals(widest.lower)} to "
        f"{two_decimals(widest.upper)} fits."
    )


def _by_identity(findings: Findings) -> page.TableBlock:
    return page.table(
        "Mean confidence and precision, by identity with the nearest known protein of another "
        "family, each family left out",
        findings.by_identity,
        page.word("identity", "name"),
        page.number("proteins", "n"),
        page.number("families", "n_families"),
        page.number("mean confidence", "promised", two_decimals),
        page.number("precision", "right", two_decimals),
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
        page.number(lookup.units, "n"),
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
    evaluated = notices_of(findings.results, findings.unit)
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
