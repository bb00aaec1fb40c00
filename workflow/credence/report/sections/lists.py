"""Which predictions can be used: lists with few wrong ones, and thresholds of each class."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from credence.findings import AllThresholds, ErrorCurve, Findings, Genomes, ProteinList, UseLists
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import LinesPlot
from credence.report.sections.lookup import Lookup
from credence.report.wording import DASH, count, in_words

LEAST_TOP = 0.1  # of the axis of shares wrong
ON_SCORE = "score"


def section(findings: Findings) -> page.Section | None:
    """Return the lists of every query set and the thresholds; None without any."""
    blocks: list[page.Block] = []
    for lists, name in page.with_slugs(findings.lists):
        blocks += _of_query_set(lists, name, Lookup(findings))
        blocks += [_genomes(genomes) for genomes in findings.genomes if genomes.name == lists.name]
    if findings.thresholds is not None and findings.thresholds.rows:
        blocks.append(_thresholds(findings.thresholds, findings))
    return (
        page.Section(name="lists", title="Lists and thresholds", blocks=tuple(blocks))
        if blocks
        else None
    )


def whole_of(findings: Findings, name: str, class_name: str | None = None) -> ProteinList | None:
    """Return all predictions of a query set, or those of one class; None if nothing is known."""
    whole_lists = (
        entry for lists in findings.lists if lists.name == name for entry in lists.every
    )
    return next((entry for entry in whole_lists if entry.class_name == class_name), None)


def expected_right(whole: ProteinList | None) -> str:
    """Return how many of a list are expected to be right, with the interval."""
    if whole is None or whole.n == 0 or math.isnan(whole.right):
        return DASH
    return f"{_round(whole.right)} ({_round(whole.right_lower)}–{_round(whole.right_upper)})"


def percent(value: float) -> str:
    """Return a share in percent."""
    return DASH if math.isnan(value) else f"{100.0 * value:.3g} %"


def _count(number: int) -> str:
    return count(number) if number else "none"


def confidence_end(value: float) -> str:
    """Return from which confidence on predictions are in a list, to the last digit."""
    return DASH if math.isnan(value) else f"{value:g}"


def _round(number: float) -> str:
    return DASH if math.isnan(number) else count(round(number))


def _of_query_set(lists: UseLists, name: str, lookup: Lookup) -> list[page.Block]:
    together = lists.together()
    blocks: list[page.Block] = [page.Heading(text=lists.name, anchor=f"lists-{name}")]
    if lists.n == 0:
        return [*blocks, page.Paragraph(text=f"No prediction of {lists.name} has a confidence.")]
    if together:
        sure = {entry.error: entry.n for entry in together if entry.is_certain}
        parts = [
            f"{_count(entry.n)} at {percent(entry.error)} FDR ({_count(sure[entry.error])} where "
            f"the upper {percent(lists.certainty)} bound keeps to it)"
            for entry in together
            if not entry.is_certain
        ]
        lead = _lead(lists, ", or ".join(parts))
        longest = max(
            (entry for entry in together if entry.n), key=lambda entry: entry.n, default=None
        )
        text = (
            f"No list holds a confidence below {lists.least_confidence:g}. The FDR is that of the "
            f"whole list, from cross-validation over {lookup.families}"
        )
        if longest is not None:
            text += (
                f": of predictions just above the lowest confidence of the longest list "
                f"({longest.confidence:g}) about {percent(1.0 - longest.confidence)} are wrong"
            )
        text += "."
        if lists.is_adjusted:
            text += (
                " Bounds and intervals include how uncertain the class proportions of this set "
                "are; it is assumed that nothing else differs from calibration."
            )
        if not lookup.knows_relatives:
            text += (
                " No relatives are known here, so that each protein counts as independent: with "
                "relatives among them, the numbers are less certain than they look."
            )
        remarks = [
            remark for entry in together if entry.n for remark in _remarks(lists, entry, lookup)
        ]
        blocks += page.flat(
            page.lead(lead), text, " ".join(remarks), _table(lists, together, lookup)
        )
    if lists.curve.confidence:
        ends = [entry for entry in together if entry.n]
        ways = {True: "upper bound", False: "estimate"}
        known = [(entry, entry.bound if entry.is_certain else entry.estimate) for entry in ends]
        points = tuple(
            (f"{percent(entry.error)} {ways[entry.is_certain]}", entry.n / lists.n_listable, wrong)
            for entry, wrong in known
        )
        stated = (
            "; ".join(f"{label}: {percent(x)} accepted" for label, x, _ in points) or "no list"
        )
        figure = page.Figure(
            name=f"lists-{name}",
            caption=f"{lists.name}: how many of the calls that may be on a list are accepted, and "
            f"how many of these are wrong." + (" Points are the lists above." if ends else ""),
            alternative=f"Share wrong over the share of calls accepted. {stated}.",
            plot=_curve_plot(lists.curve, lists.certainty, points),
        )
        blocks += page.flat(figure)
    if lists.verify:
        parts = [
            f"{count(advice.n)} {advice.class_name} "
            f"(± {advice.width / 2:.2f}\N{NO-BREAK SPACE}→ ± {advice.width_after / 2:.2f})"
            for advice in sorted(lists.verify, key=lambda advice: -advice.n)
        ]
        verify = (
            f"If you can verify {plural(lists.n_verify, lookup.findings.unit)} "
            "(credence plan names them): "
            f"{', '.join(parts)}. In brackets, how well the precision at a confidence is then "
            "known: the half width of a 95 % interval, before → after."
        )
        blocks += page.flat(verify)
    return blocks


def _lead(lists: UseLists, usable: str) -> str:
    n_others = lists.n_calls - lists.n_listable
    text = (
        f"Of the {plural(lists.n_calls, 'call')} of {lists.name} that have a confidence, you can "
        f"use {usable}. {_count(n_others).capitalize()} of them can be on no list: their data are "
        "insufficient, or a note speaks against them."
    )
    if lists.background:
        text += (
            f" Calls are predictions of any class but {lists.background_in_words}, the "
            "background, whose predictions have lists of their own (list_background_….tsv)."
        )
    return text


def _genomes(genomes: Genomes) -> page.Paragraph:
    of_what = f"calls of {', '.join(genomes.calls)}" if genomes.calls else "calls"
    relatives = (
        ", but for relatives, which are alike."
        if genomes.knows_relatives
        else "; which of them are relatives is not known, and with relatives more are all right."
    )
    return page.Paragraph(
        text=f"Of the {plural(genomes.n, 'genome')} of {genomes.name}, about "
        f"{genomes.expected_right:.1f} have no wrong call; of {_count(genomes.n_sure)} that is at "
        f"least {percent(genomes.sure)} probable. About {genomes.expected_wrong:.1f} of "
        f"{count(genomes.n_calls)} {of_what} are wrong. genomes.tsv has each genome, with ranges. "
        f"Calls of a genome are taken to be right or wrong by themselves{relatives}"
    )


def _table(lists: UseLists, together: Sequence[ProteinList], lookup: Lookup) -> page.TableBlock:
    def alike(n: int, lower: float, upper: float) -> str:
        return f"{_round(lower)}–{_round(upper)}" if n else DASH

    name = "list_background" if together[0].is_background else "list"
    unit = "family" if lookup.knows_relatives else "protein"
    return page.table(
        f"Lists of {lists.name}. Those as estimated are files beside confidences.tsv, "
        f"{name}_<FDR>.tsv; credence list --certain writes the others.",
        together,
        page.word("FDR", lambda entry: percent(entry.error)),
        page.word("kept to by", lambda entry: "upper bound" if entry.is_certain else "estimate"),
        page.number("confidence from", "confidence", confidence_end),
        page.number("predictions", "n"),
        page.number("of these right", expected_right),
        page.number("worst case", "n alike_lower alike_upper", alike),
        page.number("estimate", "estimate", percent),
        page.number("upper bound", "bound", percent),
        *([page.number("largest family", "largest_family", percent)] * (unit == "family")),
        page.word("estimate by class", _by_class_in_words),
        explained={
            "of these right": f"With a {percent(lists.level)} interval for this very list",
            "worst case": "The interval if relatives are all right or all wrong together",
            "estimate": f"Share wrong; a wrong {unit} is added, so that no list is perfect",
            "upper bound": f"With {percent(lists.certainty)} certainty, for all lists together",
            "largest family": "Its part of the calibration proteins behind the list",
            "estimate by class": "Share wrong of each class's predictions on the list",
        },
    )


def _by_class_in_words(entry: ProteinList) -> str:
    return ", ".join(
        f"{part.class_name} {percent(part.estimate)} of {count(part.n)}"
        for part in entry.classes
        if part.n
    )


def _remarks(lists: UseLists, entry: ProteinList, lookup: Lookup) -> Iterator[str]:
    """Yield what a reader has to know of a list by its estimate: odd classes, large families."""
    if entry.is_certain:
        return
    name = f"the list at {percent(entry.error)} FDR"
    if entry.kept_off:
        names = in_words(f"{part.n_kept_off} of {part.class_name}" for part in entry.kept_off)
        rate = percent(entry.error)
        yield f"Kept off {name}, since more than {rate} of them are wrong as estimated: {names}."
    if lookup.knows_relatives and entry.largest_family > lists.family_share:
        yield (
            f"One family makes up {percent(entry.largest_family)} of the calibration proteins "
            f"behind {name}: in the worst case, each family wholly right or wrong, "
            f"{_round(entry.alike_lower)} to {_round(entry.alike_upper)} are right."
        )


def _curve_plot(
    curve: ErrorCurve, certainty: float, points: tuple[tuple[str, float, float], ...]
) -> LinesPlot:
    highest = max((value for value in curve.error if not math.isnan(value)), default=1.0)
    return LinesPlot(
        axis="share of the predictions kept",
        upright="share wrong",
        names=("estimate", f"at most ({percent(certainty)} certain)"),
        x=curve.kept[::-1],
        series=(curve.error[::-1], curve.bound[::-1]),
        top=min(max(2.0 * highest, LEAST_TOP), 1.0),
        points=points,
    )


def precision_figures(
    thresholds: AllThresholds, class_name: str, name: str
) -> tuple[page.Figure, ...]:
    """Return precision and recall of a class against the threshold on its confidence."""
    bound = f"precision, lower {percent(thresholds.certainty)} bound"
    return tuple(
        page.Figure(
            name=f"precision-{name}",
            caption="Precision and recall against the threshold, held-out.",
            alternative=f"Precision and recall of {class_name} against the threshold.",
            plot=LinesPlot(
                axis="threshold on the confidence",
                upright="precision, recall",
                names=("precision", bound, "recall"),
                x=curve.confidence,
                series=precision_and_recall(curve),
            ),
        )
        for curve in thresholds.curves
        if curve.class_name == class_name and curve.confidence
    )


def precision_and_recall(curve: ErrorCurve) -> tuple[tuple[float, ...], ...]:
    """Return precision, its lower bound and the recall of right predictions, by threshold."""
    precision = np.clip(1.0 - np.array(curve.error), 0.0, 1.0)
    right = np.array(curve.kept) * precision
    known = right[~np.isnan(right)]
    recall = right / known.max() if known.size and known.max() > 0 else np.full_like(right, np.nan)
    bound = np.clip(1.0 - np.array(curve.bound), 0.0, 1.0)
    return tuple(tuple(part.tolist()) for part in (precision, bound, recall))


def _thresholds(thresholds: AllThresholds, findings: Findings) -> page.Paragraph:
    """Return what the file of thresholds holds, and for whom they are guaranteed."""
    guaranteed = (
        "guaranteed for proteins of new families, each family counting once"
        if Lookup(findings).knows_relatives
        else "guaranteed if no two calibration proteins are related, which was not examined"
    )
    precisions = sorted({row.precision for row in thresholds.rows})
    return page.Paragraph(
        text=f"thresholds.tsv has the least score of each class from which on "
        f"{', '.join(percent(precision) for precision in precisions)} of its predictions are "
        f"right: as estimated, and {guaranteed} (at most {percent(1.0 - thresholds.certainty)} of "
        "calibration sets give a threshold that lets through more wrong ones). They hold at "
        "calibration's class proportions; for others use the lists.",
        links=tuple(
            page.Link(text=name, target=name)
            for name in ("thresholds.tsv",)
            if name in findings.files
        ),
    )
