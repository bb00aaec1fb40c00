"""Whether confidences hold for samples whose classes are mixed otherwise."""

import math
from collections.abc import Callable
from functools import partial

from credence.findings import Findings, Notice, NoveltyFinding, ShiftClass, ShiftFinding
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import comparison, without_interval
from credence.report.sections.queries import expected_flagged
from credence.report.wording import (
    DASH,
    TEST_LEVEL,
    count,
    noticed_if_off,
    score,
    share,
    with_interval,
)
from credence.sentences import remarks_of_mix, warnings_of_mix

MOST_SHIFTED = 3  # classes named in the sentence on a query set
ASSUMED = (
    "Where a class is rare, fewer of its predictions are right. So confidences are corrected for "
    "the class proportions that the scores show. This assumes that proteins of a class score as "
    "they did in the calibration set: a test can refute that, never prove it. In confidences.tsv, "
    "uncorrected_confidence is the one before."
)
LEAST_WHOLE = 10.0  # expected numbers below have a decimal


def section(findings: Findings) -> page.Section | None:
    """Return the composition of every query set and what it changes; None without any."""
    if not findings.shifts:
        return None
    blocks = page.flat(_blocks(findings, *named) for named in page.with_slugs(findings.shifts))
    return page.Section(name="shift", title="Label shift", blocks=blocks)


def _blocks(findings: Findings, shift: ShiftFinding, name: str) -> tuple[page.Block, ...]:
    kind = f"class proportions of {shift.name}"
    notices = [Notice(kind=kind, text=text, is_warning=True) for text in warnings_of_mix(shift)]
    notices += [Notice(kind=kind, text=text) for text in remarks_of_mix(shift)]
    before = [without_interval(entry.calibration_proportion) for entry in shift.classes]
    here = [(entry.share, *_bounds(shift, entry)) for entry in shift.classes]
    parts = [
        f"{entry.class_name} {share(entry.share)} for {share(entry.calibration_proportion)}"
        for entry in shift.classes
    ]
    is_known = not all(math.isnan(low) for _, low, _ in here)
    level = f", {100 * shift.level:g} % interval" if is_known else ""
    figure = page.Figure(
        name=f"shift-{name}",
        caption=f"{shift.name}: share of each class, in the calibration set and here{level}.",
        alternative=f"Shares here and in calibration: {', '.join(parts)}.",
        plot=comparison(
            "share of the proteins",
            (entry.class_name for entry in shift.classes),
            [("calibration set", before), (shift.name, here)],
        ),
    )
    entries = [("Found by", shift.estimator), ("Corrected", shift.method)]
    if shift.estimator not in ("none", "stated"):
        condition = DASH if math.isnan(shift.condition) else f"{shift.condition:.3g}"
        entries.append(("Intervals", f"{100 * shift.level:g} %, both sets drawn anew"))
        grows = "how many times an error in how often classes are predicted can grow in their"
        entries.append(("Condition number", f"{condition}: {grows} shares"))
    tests = [
        (shift.p_no_shift, "classes are predicted as often as in calibration", math.nan),
        (shift.p_label_shift, "some class proportions explain the scores", math.nan),
    ]
    if shift.sameness is not None:
        same = "the scores are like those calibrated, whatever the class proportions"
        tests.append((shift.sameness.p_value, same, shift.sameness.power))
    for p, null, power in tests:
        if not math.isnan(p):
            known = "not known" if math.isnan(power) else share(power)
            entries.append(("Test", f"that {null}: p = {p:.2g} (power {known})"))
    if 0 < shift.n_cells < shift.n_query:
        gathered = (
            f"{plural(shift.n_cells, 'protein')} stand for {shift.n_query:,} with scores like "
            f"theirs; in the first part of the table that moved no share by more than "
            f"{shift.compression_error:.1e}"
        )
        entries.append(("Proteins gathered", gathered))
    numbers_of = f"{shift.name}: the numbers, and how they were found"
    return page.flat(
        page.Heading(text=shift.name, anchor=f"shift-{name}"),
        page.lead(mix_sentences(shift)),
        figure,
        page.Folded(
            summary=numbers_of,
            blocks=page.flat(
                mix_fit(shift, novelty_of(findings, shift.name)),
                ASSUMED,
                notices and page.NoticeList(notices=tuple(notices)),
                _table(findings, shift),
                page.Definitions(entries=tuple(entries)),
            ),
        ),
    )


def mix_sentences(shift: ShiftFinding) -> str:
    """Return how a query set is mixed, in a sentence or two."""
    if shift.estimator == "none":
        return (
            f"For {shift.name} no class proportions were asked for: its corrected confidences are "
            "the same as the others."
        )
    is_known = shift.estimator == "stated"
    text = f"For {shift.name} you stated the class proportions; they are taken as known."
    if not is_known:
        text = f"From the scores of {plural(shift.n_query, 'protein')} in {shift.name}"
        if shift.part_applied == 0.0:
            return (
                f"{text}, its class proportions are not known to differ from those in calibration."
            )
        text += ", its class proportions differ from those in calibration."
    stated = "; ".join(
        f"{entry.class_name} makes up {with_interval(entry.share, *_bounds(shift, entry))} of it, "
        f"{share(entry.calibration_proportion)} of the calibration set" + _applied(entry)
        for entry in _differing(shift, is_known)[:MOST_SHIFTED]
    )
    if not stated and not is_known:
        stated = "Which of them is more or less common is not known"
    return f"{text} {stated}." if stated else text


def _applied(entry: ShiftClass) -> str:
    """Return the share that confidences are corrected for, where it is not the estimate."""
    applied = share(entry.applied)
    return "" if applied == share(entry.share) else f" (confidences are corrected for {applied})"


def _bounds(shift: ShiftFinding, entry: ShiftClass) -> tuple[float, float]:
    """Return the interval; none where the composition was stated."""
    if shift.estimator in ("none", "stated"):
        return math.nan, math.nan
    return entry.lower, entry.upper


def _differing(shift: ShiftFinding, is_known: bool) -> list[ShiftClass]:
    """Return the classes that are surely more or less common, the greatest change first."""

    def is_sure(entry: ShiftClass) -> bool:
        # Without intervals nothing is sure: NaN is neither above nor below.
        before = entry.calibration_proportion
        return is_known or entry.lower > before or entry.upper < before

    known = [entry for entry in shift.classes if not math.isnan(entry.weight) and is_sure(entry)]
    differing = [entry for entry in known if entry.share != entry.calibration_proportion]
    return sorted(differing, key=lambda entry: -abs(entry.share - entry.calibration_proportion))


def novelty_of(findings: Findings, name: str) -> NoveltyFinding | None:
    """Return how far the proteins of a set are from those known; None where it is not known."""
    placed = (entry for entry in findings.novelties if entry.n_placed and entry.n_calibration)
    return next((entry for entry in placed if entry.name == name), None)


def mix_fit(shift: ShiftFinding, novelty: NoveltyFinding | None = None) -> str:
    """Return whether class proportions explain the scores, and how many proteins are unknown."""
    if math.isnan(shift.p_label_shift):
        return ""
    far = "" if novelty is None else _far_from_known(novelty)
    return " ".join(filter(None, (_scores_fit(shift), far)))


def _far_from_known(novelty: NoveltyFinding) -> str:
    flagged, usual = count(novelty.n_flagged), expected_flagged(novelty)
    kind = "By sequence" if novelty.features == "composition" else "By their vectors"
    return (
        f"{kind}, {flagged} of {plural(novelty.n_placed, 'protein')} are flagged as far from all "
        f"known ones; {usual} would be, were all of new families like those of the calibration "
        "set."
    )


def _scores_fit(shift: ShiftFinding) -> str:
    if shift.p_label_shift < TEST_LEVEL:
        text = (
            "The class proportions do not fully explain the scores of this set: at the worst "
            f"place they differ by {share(shift.gap)} of the set"
        )
        if shift.sameness is not None and not math.isnan(shift.sameness.effect):
            effect = f"{100 * shift.sameness.effect:.1f} percentage points"
            text += f", which would move confidences by {effect} on average"
        return f"{text}."
    noticed = "how often a test would notice some is not known"
    if shift.sameness is not None:
        noticed = noticed_if_off(shift.sameness.power)
    return f"Class proportions explain the scores of this set; {noticed}."


def _number(value: float, lower: float = math.nan, upper: float = math.nan) -> str:
    if math.isnan(value):
        return DASH
    text, low, high = (f"{n:,.{1 if value < LEAST_WHOLE else 0}f}" for n in (value, lower, upper))
    return text if math.isnan(lower + upper) else f"{text} ({low}–{high})"


def _table(findings: Findings, shift: ShiftFinding) -> page.TableBlock:
    scale = findings.results.scale
    before_after = "confidence_before confidence_after"
    there = page.number("confidence there", before_after, partial(_change, show=share))
    return page.table(
        f"{shift.name}: how common each class is, and what that changes (before → corrected, "
        f"{shift.method}).",
        shift.classes,
        page.word("class", "class_name"),
        page.number("share in calibration", "calibration_proportion", share),
        page.number(
            "share here", lambda entry: with_interval(entry.share, *_bounds(shift, entry))
        ),
        page.number("corrected for", "applied", share),
        page.number("median score", lambda entry: score(entry.score_median, scale)),
        *page.known(shift.classes, there),
        page.number("proteins behind it", "effective_before effective_after", _change),
        page.number("missed", "elsewhere elsewhere_lower elsewhere_upper", _number),
        explained={
            "corrected for": "The share that confidences are corrected for",
            "median score": "Of the calibration proteins predicted to be of it",
            "proteins behind it": "Effective number: it falls where few have to count for many",
            "missed": "Proteins of the class expected among predictions of other classes",
        },
    )


def _change(before: float, after: float, show: Callable[[float], str] = "{:,.0f}".format) -> str:
    return show(before) if show(before) == show(after) else f"{show(before)} → {show(after)}"
