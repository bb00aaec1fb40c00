"""What the confidences say about proteins whose classes are not known."""

from __future__ import annotations

from credence.findings import Findings, UseRow, UseSet
from credence.report.blocks import (
    Block,
    Figure,
    FigureRow,
    Folded,
    Heading,
    Paragraph,
    Section,
    TableBlock,
    numbers,
    words,
)
from credence.report.plots import HistogramPlot
from credence.report.wording import count, of, score, share, slug, with_interval


def section(findings: Findings) -> Section | None:
    """Return distributions and extremes of every use-set; None without any."""
    if not findings.use_sets:
        return None
    blocks: list[Block] = [
        Paragraph(
            "These confidences hold as far as the sets resemble the calibration set. Where the "
            "classes are mixed in other shares, or the proteins are of another kind, they do not."
            + (" “Does it hold for my samples?” below asks that." if findings.shifts else "")
        )
    ]
    for number, use_set in enumerate(findings.use_sets, start=1):
        blocks += _blocks(findings, use_set, slug(use_set.name, number))
    return Section("use-sets", "Your samples", tuple(blocks))


def _blocks(findings: Findings, use_set: UseSet, name: str) -> list[Block]:
    expected = sum(entry.expected_correct for entry in use_set.classes)
    known = use_set.n - use_set.n_unknown
    lead = f"{use_set.name} holds {of(use_set.n, 'protein')}."
    if known:
        lead += (
            f" Of the {count(known)} with a confidence, about {count(round(expected))} "
            f"({share(expected / known)}) are expected to be right."
        )
    if use_set.n_unknown:
        lead += (
            f" {of(use_set.n_unknown, 'protein')} can be given no confidence: no calibration "
            "protein was predicted to be of that class."
        )
    blocks: list[Block] = [Heading(use_set.name, f"use-set-{name}"), Paragraph(lead, is_lead=True)]
    if known:
        figure = Figure(
            f"use-set-{name}",
            f"{use_set.name}: confidences of {use_set.method}, {of(known, 'protein')}.",
            _alternative(use_set),
            HistogramPlot("confidence", use_set.edges, use_set.counts),
        )
        blocks.append(FigureRow((figure,)))
    blocks.append(_class_table(use_set))
    scale = findings.results.scale
    tables = []
    if use_set.highest:
        tables.append(_extremes("Most sure", use_set.highest, scale))
        tables.append(_extremes("Least sure", use_set.lowest, scale))
    if use_set.notes:
        columns = (*words("note"), *numbers("proteins"))
        rows = tuple((entry.name, entry.value) for entry in use_set.notes)
        tables.append(TableBlock("Notes on these confidences", columns, rows))
    if tables:
        blocks.append(Folded(f"{use_set.name}: extremes and notes", tuple(tables)))
    return blocks


def _alternative(use_set: UseSet) -> str:
    parts = [
        f"{count(sum(entry.n_at_least[index] for entry in use_set.classes))} of at least "
        f"{share(level)}"
        for index, level in enumerate(use_set.levels)
    ]
    return f"Histogram of confidences: {', '.join(parts)}."


def _class_table(use_set: UseSet) -> TableBlock:
    columns = (
        *words("predicted class"),
        *numbers(
            "proteins",
            "without confidence",
            ("expected right", "The sum of the confidences"),
            *(f"≥ {share(level)}" for level in use_set.levels),
        ),
    )
    rows = tuple(
        (
            entry.class_name,
            count(entry.n),
            count(entry.n_unknown),
            f"{entry.expected_correct:,.1f}",
            *(count(number) for number in entry.n_at_least),
        )
        for entry in use_set.classes
    )
    return TableBlock(f"{use_set.name} by predicted class", columns, rows)


def _extremes(caption: str, rows: tuple[UseRow, ...], scale: float) -> TableBlock:
    columns = (
        *words("protein", "predicted class"),
        *numbers("score", "confidence"),
        *words("note"),
    )
    cells = tuple(
        (
            row.id,
            row.predicted_class,
            score(row.score, scale),
            with_interval(row.confidence, row.lower, row.upper),
            row.note,
        )
        for row in rows
    )
    return TableBlock(f"{caption}: {of(len(rows), 'protein')}", columns, cells)
