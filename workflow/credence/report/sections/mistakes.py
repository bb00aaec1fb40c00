"""What is taken for what, how noisy histograms are, and why top labels are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

import numpy as np

from credence.findings import Counting, Findings, Halves, Results
from credence.report import blocks as page
from credence.report.plots import LinesPlot, middles
from credence.report.sections.lookup import Lookup
from credence.report.wording import NOTHING, count, of, share, slug

MOST_SHOWN = 0.005  # shares below are left blank, so that mistakes stand out
BLANK = f"Blank: below {MOST_SHOWN:g}; {NOTHING}: no protein."
MOST_COLUMNS = 15  # classes up to which a whole matrix can be read
N_LISTED = 3  # true classes listed for each predicted one, beyond that
MOST_FIGURES = 12  # classes of which figures are shown, those with the most proteins


def section(findings: Findings) -> page.Section | None:
    """Return the confusion matrices, halves' histograms and both ways of counting."""
    results = findings.results
    if not results.given_predicted:
        return None
    blocks: list[page.Block] = []
    if len(results.class_names) > MOST_COLUMNS:
        blocks.append(_listed(findings))
    else:
        true = _matrix(
            results, results.given_true, _cell, f"Confusion matrix: shares of each row. {BLANK}"
        )
        counts = _matrix(
            results, results.confusion, lambda value: count(value) if value else "",
            "Proteins by true and predicted class",
        )  # fmt: skip
        blocks += [
            page.Paragraph(
                "Read down a column: of the proteins predicted to be in that class, which share "
                "is truly in each. The diagonal is the class-only confidence."
            ),
            _matrix(results, results.given_predicted, _cell, f"Reverse confusion matrix. {BLANK}"),
            page.Folded("Confusion matrix and counts", (true, counts)),
        ]
    if results.halves:
        blocks.append(_halves(findings))
    if results.counting:
        blocks.append(_counting(findings))
    return page.Section("mistakes", "What is taken for what", tuple(blocks))


def _matrix(
    results: Results, values: Iterable[tuple[Any, ...]], cell: Callable[[Any], str], caption: str
) -> page.TableBlock:
    return page.table(
        caption,
        zip(results.class_names, values, strict=True),
        page.word("truly ↓, predicted →", itemgetter(0)),
        *page.numbers(results.class_names, lambda row, at: cell(row[1][at])),
    )


def _cell(value: float) -> str:
    return "" if value < MOST_SHOWN else share(value)


def _listed(findings: Findings) -> page.TableBlock:
    """Return the likeliest true classes of each predicted one, where a matrix is too wide."""
    names = findings.results.class_names
    shares = np.array(findings.results.given_predicted)

    def others(at: int) -> str:
        likeliest = np.argsort(-shares[:, at], kind="stable")
        shown = [k for k in likeliest if k != at and shares[k, at] >= MOST_SHOWN][:N_LISTED]
        return "; ".join(f"{names[k]} {share(shares[k, at])}" for k in shown) or NOTHING

    return page.table(
        "What predictions of each class truly are, as shares of them. The whole matrix of "
        f"{count(len(names))} classes is in findings.json.",
        range(len(names)),
        page.word("predicted class", lambda at: names[at]),
        page.number("truly in it", lambda at: share(shares[at, at])),
        page.word("else most often", others),
    )


def _figures(
    findings: Findings, entries: tuple[Any, ...], figure: Callable[[Any, int], page.Figure]
) -> page.FigureRow:
    """Return the figures of the classes with the most proteins."""
    ordered = sorted(findings.results.classes, key=lambda entry: -entry.n_predicted)
    shown = {entry.class_name for entry in ordered[:MOST_FIGURES]}
    numbered = enumerate(entries, start=1)
    return page.FigureRow(
        tuple(figure(one, at) for at, one in numbered if one.class_name in shown)
    )


def _only_some(findings: Findings) -> str:
    if len(findings.results.classes) <= MOST_FIGURES:
        return ""
    return f" Figures are of the {count(MOST_FIGURES)} classes with the most proteins."


def _halves(findings: Findings) -> page.Folded:
    halves = findings.results.halves
    alike = "family" if Lookup(findings).knows_relatives else "protein"
    distances = page.table(
        "Histograms of the share right over the score, from two halves that share no "
        f"{alike}. How far they lie apart is how far a histogram of half this size can be trusted."
        + _only_some(findings),
        halves,
        page.word("predicted class", "class_name"),
        page.number("proteins, first half", lambda entry: count(sum(entry.n_first))),
        page.number("second half", lambda entry: count(sum(entry.n_second))),
        page.number("mean distance of their bars", "distance", share),
    )
    figures = _figures(findings, halves, _halves_figure)
    return page.Folded("How noisy is a histogram of this size?", (distances, figures))


def _halves_figure(entry: Halves, number: int) -> page.Figure:
    return page.Figure(
        f"halves-{slug(entry.class_name, number)}",
        f"{entry.class_name}: share right in bins of the score, from two halves of its proteins "
        f"({of(sum(entry.n_first), 'protein')} and {count(sum(entry.n_second))}).",
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


def _counting(findings: Findings) -> page.Folded:
    return page.Folded(
        "Why only proteins predicted to be in a class are counted for it",
        (
            page.Paragraph(
                "A score for a class means more where it is the best score of its protein. "
                "Counting all proteins with that score, whatever they are predicted to be, mixes "
                "in those that another class won." + _only_some(findings)
            ),
            _figures(findings, findings.results.counting, _counting_figure),
        ),
    )


def _counting_figure(entry: Counting, at: int) -> page.Figure:
    apart = np.abs(np.subtract(entry.top_label, entry.all_scores))
    known = apart[~np.isnan(apart)]
    furthest = f" They differ by up to {share(known.max())}." if len(known) else ""
    return page.Figure(
        f"counting-{slug(entry.class_name, at)}",
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
