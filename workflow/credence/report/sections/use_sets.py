"""What confidences say about proteins whose classes are not known, and which are unlike any."""

from __future__ import annotations

import math

from credence.findings import Findings, NoveltyFinding, UseSet
from credence.report import blocks as page
from credence.report.plots import DistancePlot, HistogramPlot, MapPlot
from credence.report.sections.lists import expected_right, whole_of
from credence.report.sections.lookup import ALONE, Lookup
from credence.report.wording import NOTHING, count, of, share, slug, three_decimals


def section(findings: Findings) -> page.Section | None:
    """Return distributions and extremes of every use-set; None without any."""
    if not findings.use_sets:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            "These confidences hold as far as your proteins resemble the calibration set: the "
            "mix of classes can be corrected for, other kinds of proteins cannot."
        )
    ]
    for number, use_set in enumerate(findings.use_sets, start=1):
        blocks += _blocks(findings, use_set, slug(use_set.name, number))
    return page.Section("use-sets", "Your samples", tuple(blocks))


def _blocks(findings: Findings, use_set: UseSet, name: str) -> list[page.Block]:
    known = use_set.n - use_set.n_unknown
    lead = f"{use_set.name} holds {of(use_set.n, 'protein')}."
    if (whole := whole_of(findings, use_set.name)) is not None:
        right = f"about {expected_right(whole)} are expected to be right"
        lead += f" Of the {count(known)} with a confidence, {right}."
    if use_set.n_unknown:
        why = "can be given no confidence; the note of each says why"
        lead += f" {of(use_set.n_unknown, 'protein')} {why}."
    blocks: list[page.Block] = [
        page.Heading(use_set.name, f"use-set-{name}"),
        page.Paragraph(lead, is_lead=True),
    ]
    if known:
        parts = (
            f"{count(sum(entry.n_at_least[at] for entry in use_set.classes))} of at least "
            f"{share(level)}"
            for at, level in enumerate(use_set.levels)
        )
        figure = page.Figure(
            f"use-set-{name}",
            f"{use_set.name}: confidences of {use_set.method}, {of(known, 'protein')}.",
            f"Histogram of confidences: {', '.join(parts)}.",
            HistogramPlot("confidence", use_set.edges, use_set.counts),
        )
        blocks.append(page.FigureRow((figure,)))
    by_class = page.table(
        f"{use_set.name} by predicted class",
        use_set.classes,
        page.word("predicted class", "class_name"),
        page.number("proteins", "n"),
        page.number("without confidence", "n_unknown"),
        *page.numbers(
            (f"≥ {share(level)}" for level in use_set.levels),
            lambda entry, at: count(entry.n_at_least[at]),
        ),
    )
    columns = (page.word("note", "name"), page.number("proteins", "value"))
    notes = page.table("Notes on these confidences", use_set.notes, *columns)
    tables = (by_class, notes) if use_set.notes else (by_class,)
    return [*blocks, page.Folded(f"{use_set.name}: classes and notes", tables)]


FEATURES = {
    "composition": "what they are made of: words of residues, length and chemistry",
    "vectors": "the vectors that came with them",
}


def novelty(findings: Findings) -> page.Section | None:
    """Return how far every use-set is from the calibration set; None without any."""
    if not findings.novelties:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            "A high score of a protein that is like no calibration protein is a score that nobody "
            "has checked. So proteins are compared by "
            f"{FEATURES[findings.novelties[0].features]}. Novelty is the part of the calibration "
            "proteins that are nearer to other families of their set. It does not find every "
            "wrong prediction, and being new is not being wrong."
            + ("" if Lookup(findings).knows_relatives else ALONE)
        )
    ]
    for number, found in enumerate(findings.novelties, start=1):
        blocks += _novelty_blocks(found, slug(found.name, number))
    return page.Section("novelty", "Proteins unlike any known", tuple(blocks))


def _novelty_blocks(found: NoveltyFinding, name: str) -> list[page.Block]:
    blocks: list[page.Block] = [
        page.Heading(found.name, f"novelty-{name}"),
        page.Paragraph(_novelty_lead(found), is_lead=True),
        page.Paragraph(_advice(found)),
    ]
    if found.n_placed:
        blocks.append(page.FigureRow((_map(found, name), _distances(found, name))))
    if found.rows:
        summary = f"{found.name}: flagged proteins ({count(found.n_flagged)})"
        blocks.append(page.Folded(summary, (_flagged(found),)))
    return blocks


def _novelty_lead(found: NoveltyFinding) -> str:
    if found.n_calibration == 0 or found.n_placed == 0:
        return (
            f"{found.name}: nothing is known, since {of(found.n_placed, 'protein')} of it and "
            f"{of(found.n_calibration, 'calibration protein')} could be compared."
        )
    expected = round((1.0 - found.flag) * found.n_placed)
    usual = f"about {count(expected)}" if expected else "fewer than one"
    lead = (
        f"{found.name}: {count(found.n_flagged)} of {of(found.n_placed, 'protein')} "
        f"({share(found.n_flagged / found.n_placed)}) are farther from every calibration protein "
        f"than {share(found.flag)} of the {count(found.n_calibration)} calibration proteins are "
        f"from other families. Were all of them of new families like those in calibration, "
        f"{usual} would be."
    )
    if found.n > found.n_placed:
        lead += (
            f" {of(found.n - found.n_placed, 'protein')} could not be compared: no sequence, or "
            "too short a one."
        )
    if found.n_repeats:
        lead += (
            f" {of(found.n_repeats, 'protein')} cannot be distinguished from a calibration "
            "protein: its label says more than any confidence."
        )
    return lead


def _advice(found: NoveltyFinding) -> str:
    if found.n_flagged == 0:
        return "No protein is flagged."
    advice = (
        "What to do with the flagged: do not count on their confidences. Look first whether the "
        "sequence is whole and a protein at all (a frame shift, a fragment, low complexity), then "
        "search it against a large database. If you learn the classes of some, add them as a "
        "trove, and this page will know them."
    )
    if not math.isnan(found.confidence_flagged) and not math.isnan(found.confidence_others):
        advice += (
            f" Their mean confidence is {share(found.confidence_flagged)}, that of the others "
            f"{share(found.confidence_others)}; nothing was learnt about the first."
        )
    return advice


def _map(found: NoveltyFinding, name: str) -> page.Figure:
    kinds = (found.calibration, found.others, found.flagged)
    words = ("calibration", f"{found.name}", "flagged")
    x, y = tuple(kind.x for kind in kinds), tuple(kind.y for kind in kinds)
    first, second = (*found.explained, 0.0, 0.0)[:2]
    shown = ", ".join(
        f"{count(len(kind.x))} of {count(kind.n)} {word}"
        for kind, word in zip(kinds, words, strict=True)
    )
    return page.Figure(
        f"novelty-map-{name}",
        f"{found.name} among the calibration proteins, along the two axes on which calibration "
        f"proteins differ most ({100 * first:.0f} % and {100 * second:.0f} % of all differences; "
        f"distances count {found.n_components} axes, so a flagged protein can lie amid the others "
        "here). "
        f"Shown: {shown}.",
        f"Map of {found.name} and the calibration proteins: {shown}.",
        MapPlot(words, x, y, ("first axis", "second axis")),
    )


def _distances(found: NoveltyFinding, name: str) -> page.Figure:
    counts = (found.calibration_counts, found.use_counts)
    return page.Figure(
        f"novelty-distances-{name}",
        "Distance to the nearest calibration protein; of calibration proteins, to the nearest "
        "of another family. Right of the dashed line proteins are flagged. The last bin holds "
        "what is farther still.",
        f"Histograms of the distance to the nearest calibration protein: "
        f"{of(found.n_calibration, 'calibration protein')} and {of(found.n_placed, 'protein')} "
        f"of {found.name}.",
        DistancePlot(("calibration", found.name), found.edges, counts, found.flag_distance),
    )


def _flagged(found: NoveltyFinding) -> page.TableBlock:
    def distance(value: float) -> str:
        return NOTHING if math.isnan(value) else f"{value:.3g}"

    caption = f"{found.name}: the flagged proteins, farthest first"
    if len(found.rows) < found.n_flagged:
        caption += f" ({count(len(found.rows))} of {count(found.n_flagged)})"
    return page.table(
        caption,
        found.rows,
        page.word("protein", "id"),
        page.word("predicted class", "predicted_class"),
        page.number("confidence", "confidence", share),
        page.number("novelty", "novelty", three_decimals),
        page.number("distance", "distance", distance),
        page.word("nearest calibration protein", "nearest"),
        page.word("its class", "nearest_class"),
        page.number("distance to training", "training_distance", distance),
        explained={
            "novelty": "Part of the calibration proteins that are nearer to others",
            "distance": "To the nearest calibration protein",
            "distance to training": "To the nearest training protein",
        },
    )
