"""Tables of the section on releases: outcomes, drift, metrics, proteins that moved."""

from __future__ import annotations

import math

from credence.findings.drift import Drift, DriftClass
from credence.findings.releases import Outcome, Step
from credence.report.blocks import Block, Column, Folded, Paragraph, Table
from credence.report.wording import KEPT, NOTHING, count, loss, of, score, share

ARROW = f"{KEPT}→{KEPT}"  # keeps both numbers on one line
TOO_FEW = "too few to tell."


def outcomes_of(step: Step) -> list[Block]:
    """Return what became of the proteins of a trove.

    Parameters
    ----------
    step : Step
        That added it.
    """
    outcomes = [entry for entry in step.newer.outcomes if entry.n]
    if not outcomes:
        return []
    columns = (Column("outcome", is_number=False), Column("proteins"), Column("meaning", False))
    rows = tuple((_words(entry), count(entry.n), entry.meaning) for entry in outcomes)
    caption = f"What became of the proteins of {step.newer.name}; each has one outcome."
    blocks: list[Block] = [Table(caption, columns, rows)]
    tables = tuple(_examples(entry) for entry in outcomes if entry.examples)
    if tables:
        n_apart = sum(entry.n for entry in outcomes if entry.outcome != "added")
        blocks.append(Folded(f"Not added: {of(n_apart, 'protein')}, and why", tables))
    return blocks


def _words(entry: Outcome) -> str:
    """Return the name of an outcome, as it is in attach.tsv but for the underscore."""
    return entry.outcome.replace("_", " ")


def _examples(entry: Outcome) -> Table:
    columns = (
        Column("protein", is_number=False),
        Column("label", is_number=False),
        Column("decided by", is_number=False),
        Column("its label", is_number=False),
        Column("identity"),
        Column("coverage"),
        Column("reason", is_number=False),
    )
    rows = tuple(
        (
            one.id,
            one.true_class or NOTHING,
            one.relative or NOTHING,
            one.relative_class or NOTHING,
            NOTHING if math.isnan(one.identity) else f"{one.identity:.2f}",
            NOTHING if math.isnan(one.coverage) else f"{one.coverage:.2f}",
            one.reason,
        )
        for one in entry.examples
    )
    more = entry.n - len(rows)
    rest = f", the first {len(rows)}; all are in attach.tsv" if more > 0 else ""
    return Table(f"{_words(entry)}: {of(entry.n, 'protein')}{rest}.", columns, rows)


def drift_of(drift: Drift, step: Step) -> list[Block]:
    """Return whether a trove agrees with the calibration before it.

    Parameters
    ----------
    drift : Drift
        What was found.
    step : Step
        That added it.
    """
    said = [entry.sentence for entry in drift.classes[:1]]
    blocks: list[Block] = [
        Paragraph(
            "Does the trove agree with the calibration before it? "
            + " ".join([*said, *drift.sentences])
        )
    ]
    if drift.classes:
        parts: list[Paragraph | Table] = [
            Paragraph(entry.sentence)
            for entry in drift.classes[1:]
            if not entry.sentence.endswith(TOO_FEW)
        ]
        few = [
            f"{entry.class_name} ({count(entry.n)} in "
            f"{of(entry.n_clusters, 'family', 'families')})"
            for entry in drift.classes[1:]
            if entry.sentence.endswith(TOO_FEW)
        ]
        if few:
            parts.append(Paragraph(f"Too few to tell: {', '.join(few)}."))
        parts.append(_drift_table(drift, step))
        if drift.truths:
            parts.append(_truth_table(drift))
        blocks.append(Folded("The old calibration on the trove, class by class", tuple(parts)))
    return blocks


def _drift_table(drift: Drift, step: Step) -> Table:
    columns = (
        Column("predicted class", is_number=False),
        Column("new proteins"),
        Column("families"),
        Column("right", explained="Right predictions, and those expected of the old confidences"),
        Column("NLL", explained="On the old set, held out, and on the trove"),
        Column("difference", explained=f"With its {100 * step.level:g} % interval"),
        Column("p KS", explained="Kolmogorov–Smirnov; families, counted over classes"),
        Column("p Sp.", explained="Spiegelhalter"),
        Column("corrected p KS", explained="At the trove's own shares of the classes"),
        Column("corrected p Sp.", explained="Likewise"),
    )
    rows = tuple(
        (
            entry.class_name or "all",
            count(entry.n),
            count(entry.n_clusters),
            f"{count(entry.n_correct)} of {entry.expected:,.1f}",
            f"{_number(entry.nll_old)}{ARROW}{_number(entry.nll_trove)}",
            loss(entry.nll_trove - entry.nll_old, entry.lower, entry.upper),
            _p_value(entry, "kolmogorov_smirnov", False),
            _p_value(entry, "spiegelhalter", False),
            _p_value(entry, "kolmogorov_smirnov", True),
            _p_value(entry, "spiegelhalter", True),
        )
        for entry in drift.classes
    )
    caption = (
        f"The calibration of {step.older.name} on {of(drift.n, 'new protein')} before they were "
        "added. p-values count families and, by class, how many classes there are (Holm)."
    )
    return Table(caption, columns, rows)


def _p_value(entry: DriftClass, test: str, is_corrected: bool) -> str:
    for one in entry.tests:
        if one.test == test and one.is_corrected == is_corrected:
            return _number(one.p_adjusted)
    return NOTHING


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.3f}"


def _truth_table(drift: Drift) -> Table:
    columns = (
        Column("true class", is_number=False),
        Column("old"),
        Column("new"),
        Column("families, old"),
        Column("families, new"),
        Column("recognised, old", explained="Share predicted to be in their class"),
        Column("recognised, new"),
        Column("distance", explained="Of the scores' distributions, 0 to 1"),
        Column("p", explained="Families exchanged at random; counted over classes (Holm)"),
    )
    rows = tuple(
        (
            entry.class_name,
            count(entry.n_old),
            count(entry.n_trove),
            count(entry.n_clusters_old),
            count(entry.n_clusters_trove),
            share(entry.right_old),
            share(entry.right_trove),
            f"{entry.distance:.2f}",
            "too few" if math.isnan(entry.p_adjusted) else _number(entry.p_adjusted),
        )
        for entry in drift.truths
    )
    return Table("Do proteins of a class score as they did before?", columns, rows)


def metrics_of(step: Step) -> list[Block]:
    """Return how both releases do on the same proteins.

    Parameters
    ----------
    step : Step
        From the older to the newer.
    """
    if not step.metrics:
        return []
    samples = {"old": f"proteins of {step.older.name}", "test": "test group"}
    columns = (
        Column("judged on", is_number=False),
        Column("predicted class", is_number=False),
        Column("metric", is_number=False),
        Column("proteins"),
        Column("before"),
        Column("now"),
        Column("difference", explained="Negative: better now"),
    )
    rows = tuple(
        (
            samples[entry.sample],
            entry.class_name or "all",
            entry.metric.upper() if entry.metric == "nll" else entry.metric.capitalize(),
            count(entry.n),
            _number(entry.before),
            _number(entry.after),
            loss(entry.after - entry.before, entry.lower, entry.upper),
        )
        for entry in step.metrics
    )
    caption = (
        "The same proteins judged by both releases, held out. Smaller is better; intervals "
        "count families."
    )
    return [Folded("Is the new release better on the old proteins?", (
        Table(caption, columns, rows),
    ))]  # fmt: skip


def moved_of(step: Step) -> list[Block]:
    """Return the proteins whose confidence moved most.

    Parameters
    ----------
    step : Step
        From the older release to the newer.
    """
    if not step.moved:
        return []
    columns = (
        Column("protein", is_number=False),
        Column("predicted class", is_number=False),
        Column("score"),
        Column("before"),
        Column("now"),
        Column("change", explained="In points"),
        Column("new", is_number=False),
    )
    rows = tuple(
        (
            entry.id,
            entry.predicted_class,
            score(entry.score, step.scale),
            share(entry.before),
            share(entry.after),
            signed_points(entry.after - entry.before, math.nan, math.nan),
            "yes" if entry.is_new else "",
        )
        for entry in step.moved
    )
    caption = f"The {len(rows)} proteins whose confidence moved most, of {count(step.n_moved)}."
    return [Folded("Proteins that moved most", (Table(caption, columns, rows),))]


def signed_points(value: float, lower: float, upper: float) -> str:
    """Return a difference of confidences in points, with its interval.

    Examples
    --------
    >>> signed_points(0.071, 0.02, 0.12), signed_points(-0.004, math.nan, math.nan)
    ('+7.1 (+2.0 to +12.0)', '−0.4')
    """

    def signed(number: float) -> str:
        text = f"{100 * number:+.1f}"
        return "0.0" if float(text) == 0 else text.replace("-", "−")

    if math.isnan(lower):
        return signed(value)
    return f"{signed(value)} ({signed(lower)} to {signed(upper)})"
