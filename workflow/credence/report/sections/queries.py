"""What confidences say about proteins whose classes are not known, and which are unlike any."""

from __future__ import annotations

import math

from credence.findings import Findings, NoveltyFinding, ProteinList, QuerySet
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import DistancePlot, HistogramPlot
from credence.report.sections.lists import expected_right, whole_of
from credence.report.sections.lookup import NO_RELATIVES_KNOWN, Lookup
from credence.report.wording import count, in_words, share


def section(findings: Findings) -> page.Section | None:
    """Return distributions and extremes of every query set; None without any."""
    if not findings.queries:
        return None
    limits = "other class proportions can be corrected for, other kinds of proteins cannot."
    if findings.calls is not None:
        limits = "nothing corrects for labels that are more or less frequent in yours."
    blocks = page.flat(
        f"These confidences hold as far as your proteins resemble the calibration set: {limits}",
        (_blocks(findings, *named) for named in page.with_slugs(findings.queries)),
    )
    return page.Section(name="query-sets", title="Your samples", blocks=blocks)


def _sum_of(findings: Findings, whole: ProteinList, name: str) -> str:
    """Return what the confidences sum to, and why where that is not as expected."""
    if math.isnan(whole.sum_confidence) or math.isnan(whole.right):
        return ""
    sentence = f" Their confidences sum to {count(round(whole.sum_confidence))}"
    if whole.holds_sum:
        return f"{sentence}."
    lists = next(lists for lists in findings.lists if lists.name == name)
    off = [part.class_name for part in lists.every if part.class_name and not part.holds_sum]
    of_which = f" most of all for {in_words(off)}," if off else ""
    return (
        f"{sentence}, outside that interval:{of_which} held-out predictions of such confidences "
        "were not right as often as stated. Expected numbers rest on these, confidences on all."
    )


def _blocks(findings: Findings, query_set: QuerySet, name: str) -> tuple[page.Block, ...]:
    known = query_set.n - query_set.n_unknown
    lead = f"{query_set.name} holds {plural(query_set.n, findings.unit)}."
    if (whole := whole_of(findings, query_set.name)) is not None:
        right = f"about {expected_right(whole)} are expected to be right"
        lead += f" Of the {count(known)} with a confidence, {right}."
        lead += _sum_of(findings, whole, query_set.name)
    if query_set.n_unknown:
        why = "can be given no confidence; the note of each says why"
        lead += f" {plural(query_set.n_unknown, findings.unit)} {why}."
    counts = zip(query_set.edges, query_set.edges[1:], query_set.counts, strict=False)
    parts = (f"{count(n)} from {share(low)} to {share(high)}" for low, high, n in counts if n)
    figure = page.Figure(
        name=f"query-set-{name}",
        caption=(
            f"{query_set.name}: confidences of {query_set.method}, {plural(known, findings.unit)}."
        ),
        alternative=f"Histogram of confidences: {', '.join(parts)}.",
        plot=HistogramPlot(
            axis="confidence", edges=query_set.edges, counts=query_set.counts, unit=findings.unit
        ),
    )
    columns = (page.word("note", "name"), page.number(f"{findings.unit}s", "value"))
    notes = page.table("Notes on these confidences", query_set.notes, *columns)
    return page.flat(
        page.Heading(text=query_set.name, anchor=f"query-set-{name}"),
        page.lead(lead),
        known > 0 and figure,
        query_set.notes and notes,
    )


COMPARED_BY = {
    "composition": "their best alignments (identity times coverage)",
    "vectors": "the vectors that came with them",
}


def novelty_blocks(findings: Findings) -> page.Section | None:
    """Return how far every query set is from the calibration set; None without any."""
    if not findings.novelties:
        return None
    blocks = page.flat(
        "A high score of a protein that is like no known protein is a score that nobody has "
        f"checked. So proteins are compared by {COMPARED_BY[findings.novelties[0].features]}. No "
        "confidence is changed by it, and being new is not being wrong."
        + ("" if Lookup(findings).knows_relatives else NO_RELATIVES_KNOWN),
        (_novelty_blocks(*named) for named in page.with_slugs(findings.novelties)),
    )
    return page.Section(
        name="novelty", title="Proteins far from all known proteins", blocks=blocks
    )


def _novelty_blocks(novelty: NoveltyFinding, name: str) -> tuple[page.Block, ...]:
    counts = (novelty.calibration_counts, novelty.use_counts)
    families = plural(novelty.n_families, "known family", "known families")
    distances = page.Figure(
        name=f"novelty-distances-{name}",
        caption="How far proteins are from all known ones; of each known family one protein, with "
        "its family left out. Right of the dashed line proteins are flagged.",
        alternative=f"Histograms of how far proteins are from those known: {families} and "
        f"{plural(novelty.n_placed, 'protein')} of {novelty.name}.",
        plot=DistancePlot(
            names=("known families", novelty.name),
            edges=novelty.edges,
            counts=counts,
            flag=novelty.flag_distance,
        ),
    )
    return page.flat(
        page.Heading(text=novelty.name, anchor=f"novelty-{name}"),
        page.lead(_novelty_lead(novelty)),
        _advice(novelty),
        novelty.n_placed > 0 and distances,
    )


def expected_flagged(novelty: NoveltyFinding) -> str:
    """Return how many would be flagged, were all proteins of new families of the same kind."""
    expected = round((1.0 - novelty.flag) * novelty.n_placed)
    return f"about {count(expected)}" if expected else "fewer than one"


def _novelty_lead(novelty: NoveltyFinding) -> str:
    if novelty.n_calibration == 0 or novelty.n_placed == 0:
        return (
            f"{novelty.name}: nothing is known, since {plural(novelty.n_placed, 'protein')} of it "
            f"and {plural(novelty.n_calibration, 'calibration protein')} could be compared."
        )
    lead = (
        f"{novelty.name}: {count(novelty.n_flagged)} of {plural(novelty.n_placed, 'protein')} "
        f"({share(novelty.n_flagged / novelty.n_placed)}) are farther from all known proteins "
        f"than {share(novelty.flag)} of new families would be, as "
        f"{plural(novelty.n_families, 'known family', 'known families')} left out one by one "
        f"show. Were all of them of new families like those in calibration, "
        f"{expected_flagged(novelty)} would be."
    )
    if math.isnan(novelty.flag_distance):
        lead += " So few families can flag none: this says nothing of the proteins."
    if novelty.n > novelty.n_placed:
        lead += (
            f" {plural(novelty.n - novelty.n_placed, 'protein')} could not be compared: no "
            "sequence, or too short a one."
        )
    if novelty.n_repeats:
        lead += (
            f" {plural(novelty.n_repeats, 'protein')} cannot be distinguished from a calibration "
            "protein: its label says more than any confidence."
        )
    if novelty.n_off:
        lead += (
            f" The notes of {plural(novelty.n_off, 'protein')} say that confidences of "
            "calibration proteins were off at such an identity with the nearest known one."
        )
    return lead


def _advice(novelty: NoveltyFinding) -> str:
    if novelty.n_flagged == 0:
        if math.isnan(novelty.flag_distance):
            return "More labelled families are needed before any protein can be flagged."
        return (
            "No protein is flagged. It is not known how many far from all known proteins would be."
        )
    advice = (
        "Do not count on the confidences of the flagged. Look first whether the sequence is whole "
        "and a protein at all (a frame shift, a fragment, low complexity), then search it against "
        "a large database. Search the proteins for “far from all known”."
    )
    if not math.isnan(novelty.confidence_flagged) and not math.isnan(novelty.confidence_others):
        advice += (
            f" Their mean confidence is {share(novelty.confidence_flagged)}, that of the others "
            f"{share(novelty.confidence_others)}."
        )
    return advice
