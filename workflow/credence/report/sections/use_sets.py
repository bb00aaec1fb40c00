"""What the confidences say about proteins whose classes are not known."""

from __future__ import annotations

from credence.findings import Findings, UseRow, UseSet
from credence.report import blocks as page
from credence.report.plots import HistogramPlot
from credence.report.wording import count, of, score, share, slug, with_interval


def section(findings: Findings) -> page.Section | None:
    """Return distributions and extremes of every use-set; None without any."""
    if not findings.use_sets:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            "These confidences hold as far as the sets resemble the calibration set. Where the "
            "classes are mixed in other shares, or the proteins are of another kind, they do not."
            + (" “Does it hold for my samples?” below asks that." if findings.shifts else "")
        )
    ]
    for number, use_set in enumerate(findings.use_sets, start=1):
        blocks += _blocks(findings, use_set, slug(use_set.name, number))
    return page.Section("use-sets", "Your samples", tuple(blocks))


def _blocks(findings: Findings, use_set: UseSet, name: str) -> list[page.Block]:
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
    blocks.append(
        page.table(
            f"{use_set.name} by predicted class",
            use_set.classes,
            page.word("predicted class", "class_name"),
            page.number("proteins", "n"),
            page.number("without confidence", "n_unknown"),
            page.number("expected right", lambda entry: f"{entry.expected_correct:,.1f}"),
            *page.numbers(
                (f"≥ {share(level)}" for level in use_set.levels),
                lambda entry, at: count(entry.n_at_least[at]),
            ),
            explained={"expected right": "The sum of the confidences"},
        )
    )
    tables = []
    if use_set.highest:
        scale = findings.results.scale
        tables.append(_extremes("Most sure", use_set.highest, scale))
        tables.append(_extremes("Least sure", use_set.lowest, scale))
    if use_set.notes:
        columns = (page.word("note", "name"), page.number("proteins", "value"))
        tables.append(page.table("Notes on these confidences", use_set.notes, *columns))
    if tables:
        blocks.append(page.Folded(f"{use_set.name}: extremes and notes", tuple(tables)))
    return blocks


def _extremes(caption: str, rows: tuple[UseRow, ...], scale: float) -> page.TableBlock:
    return page.table(
        f"{caption}: {of(len(rows), 'protein')}",
        rows,
        page.word("protein", "id"),
        page.word("predicted class", "predicted_class"),
        page.number("score", lambda row: score(row.score, scale)),
        page.number("confidence", "confidence lower upper", with_interval),
        page.word("note", lambda row: row.note),
    )
