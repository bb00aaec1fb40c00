"""How much a prediction of each class can be trusted: a row per class."""

from __future__ import annotations

import math

from credence.findings import ClassCount, Findings
from credence.report.blocks import Block, Column, Paragraph, Section, Table
from credence.report.sections.lookup import Lookup
from credence.report.wording import KEPT, NOTHING, count, loss, score, slug, with_interval


def section(findings: Findings) -> Section:
    """Return the tables that answer how sure a prediction is.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    lookup = Lookup(findings)
    blocks: list[Block] = [
        Paragraph(
            "Each number is a probability of being right, with its interval in brackets. "
            "The interval counts families, not proteins: alike proteins tell little more than one."
        ),
        _summary(lookup),
    ]
    by_score = _by_score(lookup)
    if by_score is not None:
        blocks.append(by_score)
    return Section("trust", "How much can I trust a prediction?", tuple(blocks))


def _summary(lookup: Lookup) -> Table:
    findings = lookup.findings
    asked = sorted({entry.confidence for entry in findings.results.scores_needed})
    columns = (
        Column("predicted class", is_number=False),
        Column("proteins", explained="Calibration proteins predicted to be in the class"),
        Column("families", explained="Clusters of relatives among them"),
        Column("share right", explained="Of all predictions of the class, whatever the score"),
        *(
            Column(
                f"score for {100 * level:g}{KEPT}%",
                explained="The least score from which on the interval's lower end stays above",
            )
            for level in asked
        ),
        Column("held-out NLL", explained="Negative log-likelihood per protein; less is better"),
    )
    rows = tuple(_summary_row(lookup, entry, tuple(asked)) for entry in findings.results.classes)
    return Table(
        f"Classes, with the confidences of {findings.chosen}. “Score for 90 %” is the least score "
        f"from which on the confidence is at least 0.90 even at the lower end of its interval; "
        f"{NOTHING} where no score seen in calibration is enough.",
        columns,
        rows,
        class_anchors(findings),
    )


def class_anchors(findings: Findings) -> tuple[str, ...]:
    """Return the anchor of each class, empty where it was never predicted.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    return tuple(
        f"class-{slug(entry.class_name, number)}" if entry.n_predicted > 0 else ""
        for number, entry in enumerate(findings.results.classes, start=1)
    )


def _summary_row(lookup: Lookup, entry: ClassCount, asked: tuple[float, ...]) -> tuple[str, ...]:
    findings = lookup.findings
    needed = lookup.needed.get((findings.chosen, entry.class_name), {})
    nll = lookup.metrics.get((findings.chosen, entry.class_name, "held_out", "nll"))
    return (
        entry.class_name,
        count(entry.n_predicted),
        count(entry.n_clusters) if lookup.knows_relatives else NOTHING,
        with_interval(entry.share, entry.lower, entry.upper),
        *(score(needed.get(level, math.nan), findings.results.scale) for level in asked),
        NOTHING if nll is None else loss(nll.value, nll.lower, nll.upper),
    )


def _by_score(lookup: Lookup) -> Table | None:
    """Return confidences at round scores, where the method depends on the score."""
    findings = lookup.findings
    scores = lookup.nice_scores()
    rows, anchors = [], []
    for entry, anchor in zip(findings.results.classes, class_anchors(findings), strict=True):
        cells = [entry.class_name]
        for value in scores:
            point = lookup.at(findings.chosen, entry.class_name, value)
            if point is None or not entry.score_min <= value <= entry.score_max:
                cells.append(NOTHING)
            else:
                cells.append(with_interval(point.value, point.lower, point.upper))
        if set(cells[1:]) != {NOTHING}:
            rows.append(tuple(cells))
            anchors.append(anchor)
    if not rows:
        return None
    columns = (
        Column("predicted class", is_number=False),
        *(Column(f"score {score(value, findings.results.scale)}") for value in scores),
    )
    return Table(
        f"Confidence at round scores ({findings.chosen}); {NOTHING} beyond the scores that "
        "calibration saw.",
        columns,
        tuple(rows),
        tuple(anchors),
    )
