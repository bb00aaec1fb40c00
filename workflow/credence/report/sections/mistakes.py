"""What is taken for what, how noisy histograms are, and why top labels are counted."""

from __future__ import annotations

import math

from credence.findings import Counting, Findings, Halves
from credence.report.blocks import (
    Block,
    Figure,
    FigureRow,
    Folded,
    Paragraph,
    Section,
    TableBlock,
    TableColumn,
    numbers,
    words,
)
from credence.report.plots import LinesPlot, middles
from credence.report.wording import NOTHING, count, of, share, slug

MOST_SHOWN = 0.005  # shares below are left blank, so that mistakes stand out
MOST_COLUMNS = 15  # classes up to which a whole matrix can be read
N_LISTED = 3  # true classes listed for each predicted one, beyond that
MOST_FIGURES = 12  # classes of which figures are shown, those with the most proteins


def section(findings: Findings) -> Section | None:
    """Return the confusion matrices, halves' histograms and both ways of counting."""
    results = findings.results
    if not results.given_predicted:
        return None
    blocks: list[Block] = []
    if len(results.class_names) > MOST_COLUMNS:
        blocks.append(_listed(findings))
    else:
        blocks += [
            Paragraph(
                "Read down a column: of the proteins predicted to be in that class, which share "
                "is truly in each. The diagonal is the class-only confidence."
            ),
            _shares(findings, results.given_predicted, "Reverse confusion matrix"),
            Folded(
                "Confusion matrix and counts",
                (
                    _shares(findings, results.given_true, "Confusion matrix: shares of each row"),
                    _counts(findings),
                ),
            ),
        ]
    if results.halves:
        blocks.append(_halves(findings))
    if results.counting:
        blocks.append(_counting(findings))
    return Section("mistakes", "What is taken for what", tuple(blocks))


def _columns(findings: Findings) -> tuple[TableColumn, ...]:
    return (*words("truly ↓, predicted →"), *numbers(*findings.results.class_names))


def _shares(findings: Findings, table: tuple[tuple[float, ...], ...], caption: str) -> TableBlock:
    def cell(value: float) -> str:
        if math.isnan(value):
            return NOTHING
        return "" if value < MOST_SHOWN else share(value)

    rows = tuple(
        (name, *(cell(value) for value in row))
        for name, row in zip(findings.results.class_names, table, strict=True)
    )
    blank = f"Blank: below {MOST_SHOWN:g}; {NOTHING}: no protein."
    return TableBlock(f"{caption}. {blank}", _columns(findings), rows)


def _counts(findings: Findings) -> TableBlock:
    rows = tuple(
        (name, *(count(value) if value else "" for value in row))
        for name, row in zip(findings.results.class_names, findings.results.confusion, strict=True)
    )
    return TableBlock("Proteins by true and predicted class", _columns(findings), rows)


def _listed(findings: Findings) -> TableBlock:
    """Return the likeliest true classes of each predicted one, where a matrix is too wide."""
    names = findings.results.class_names
    rows = []
    for number, name in enumerate(names):
        column = [(row[number], k) for k, row in enumerate(findings.results.given_predicted)]
        others = sorted(
            ((-value, k) for value, k in column if k != number and value >= MOST_SHOWN)
        )[:N_LISTED]
        own = column[number][0]
        stated = "; ".join(f"{names[k]} {share(-value)}" for value, k in others)
        rows.append((name, NOTHING if math.isnan(own) else share(own), stated or NOTHING))
    columns = (*words("predicted class"), *numbers("truly in it"), *words("else most often"))
    caption = (
        "What predictions of each class truly are, as shares of them. The whole matrix of "
        f"{count(len(names))} classes is in findings.json."
    )
    return TableBlock(caption, columns, tuple(rows))


def _figured(findings: Findings) -> set[str]:
    """Return the classes of which figures are shown."""
    ordered = sorted(findings.results.classes, key=lambda entry: -entry.n_predicted)
    return {entry.class_name for entry in ordered[:MOST_FIGURES]}


def _only_some(findings: Findings) -> str:
    if len(findings.results.classes) <= MOST_FIGURES:
        return ""
    return f" Figures are of the {count(MOST_FIGURES)} classes with the most proteins."


def _halves(findings: Findings) -> Folded:
    rows = tuple(
        (
            entry.class_name,
            count(sum(entry.n_first)),
            count(sum(entry.n_second)),
            share(entry.distance),
        )
        for entry in findings.results.halves
    )
    columns = (
        *words("predicted class"),
        *numbers("proteins, first half", "second half", "mean distance of their bars"),
    )
    caption = (
        "Histograms of the share right over the score, from two halves that share no family. How "
        "far they lie apart is how far a histogram of half this size can be trusted."
        + _only_some(findings)
    )
    figured = _figured(findings)
    figures = tuple(
        _halves_figure(entry, number)
        for number, entry in enumerate(findings.results.halves, start=1)
        if entry.class_name in figured
    )
    return Folded(
        "How noisy is a histogram of this size?",
        (TableBlock(caption, columns, rows), FigureRow(figures)),
    )


def _halves_figure(entry: Halves, number: int) -> Figure:
    return Figure(
        f"halves-{slug(entry.class_name, number)}",
        f"{entry.class_name}: share right in bins of the score, from two halves without common "
        f"families ({of(sum(entry.n_first), 'protein')} and {count(sum(entry.n_second))}).",
        f"Two histograms of {entry.class_name}; on average their bars are "
        f"{share(entry.distance)} apart.",
        halves_plot(entry),
    )


def halves_plot(entry: Halves) -> LinesPlot:
    """Return both histograms of a class."""
    return LinesPlot(
        "score of the predicted class", "share right", ("first half", "second half"),
        middles(entry.edges), (entry.share_first, entry.share_second), entry.edges[-1],
        has_points=True,
    )  # fmt: skip


def _counting(findings: Findings) -> Folded:
    figured = _figured(findings)
    figures = tuple(
        _counting_figure(entry, number)
        for number, entry in enumerate(findings.results.counting, start=1)
        if entry.class_name in figured
    )
    return Folded(
        "Why only proteins predicted to be in a class are counted for it",
        (
            Paragraph(
                "A score for a class means more where it is the best score of its protein. "
                "Counting all proteins with that score, whatever they are predicted to be, mixes "
                "in those that another class won." + _only_some(findings)
            ),
            FigureRow(figures),
        ),
    )


def _counting_figure(entry: Counting, number: int) -> Figure:
    apart = [
        abs(one - other)
        for one, other in zip(entry.top_label, entry.all_scores, strict=True)
        if not math.isnan(one) and not math.isnan(other)
    ]
    furthest = f" They differ by up to {share(max(apart))}." if apart else ""
    return Figure(
        f"counting-{slug(entry.class_name, number)}",
        f"{entry.class_name}: share truly of the class over its score, counted among proteins "
        "predicted to be in it and among all.",
        f"Two curves of {entry.class_name} over the score.{furthest}",
        counting_plot(entry),
    )


def counting_plot(entry: Counting) -> LinesPlot:
    """Return a class counted in both ways."""
    return LinesPlot(
        "score of the class", "share truly of the class",
        ("predicted to be in it", "all proteins"), entry.score,
        (entry.top_label, entry.all_scores), entry.score[-1], has_points=False,
    )  # fmt: skip
