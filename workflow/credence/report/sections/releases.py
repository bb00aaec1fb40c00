"""What changed since last time: troves, what they moved, and whether they fit in."""

from __future__ import annotations

import math

from credence.findings import (
    Change,
    ClassChange,
    Drift,
    DriftClass,
    Findings,
    Outcome,
    ReleaseState,
    ReleaseStep,
)
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
from credence.report.plots import ChangePlot
from credence.report.wording import KEPT, NOTHING, count, loss, of, score, share, slug

ARROW = f"{KEPT}→{KEPT}"  # keeps both numbers on one line
TOO_FEW = "too few to tell."


def outcomes_of(step: ReleaseStep) -> list[Block]:
    """Return what became of the proteins of a trove."""
    outcomes = [entry for entry in step.newer.outcomes if entry.n]
    if not outcomes:
        return []
    columns = (*words("outcome"), *numbers("proteins"), *words("meaning"))
    rows = tuple((_words(entry), count(entry.n), entry.meaning) for entry in outcomes)
    caption = f"What became of the proteins of {step.newer.name}; each has one outcome."
    blocks: list[Block] = [TableBlock(caption, columns, rows)]
    tables = tuple(_examples(entry) for entry in outcomes if entry.examples)
    if tables:
        n_apart = sum(entry.n for entry in outcomes if entry.outcome != "added")
        blocks.append(Folded(f"Not added: {of(n_apart, 'protein')}, and why", tables))
    return blocks


def _words(entry: Outcome) -> str:
    """Return the name of an outcome, as it is in attach.tsv but for the underscore."""
    return entry.outcome.replace("_", " ")


def _examples(entry: Outcome) -> TableBlock:
    columns = (
        *words("protein", "label", "decided by", "its label"),
        *numbers("identity", "coverage"),
        *words("reason"),
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
    return TableBlock(f"{_words(entry)}: {of(entry.n, 'protein')}{rest}.", columns, rows)


def drift_of(drift: Drift, step: ReleaseStep) -> list[Block]:
    """Return whether a trove agrees with the calibration before it."""
    stated = [entry.sentence for entry in drift.classes[:1]]
    blocks: list[Block] = [
        Paragraph(
            "Does the trove agree with the calibration before it? "
            + " ".join([*stated, *drift.sentences])
        )
    ]
    if drift.classes:
        parts: list[Paragraph | TableBlock] = [
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


def _drift_table(drift: Drift, step: ReleaseStep) -> TableBlock:
    columns = (
        *words("predicted class"),
        *numbers(
            "new proteins",
            "families",
            ("right", "Right predictions, and those expected of the old confidences"),
            ("NLL", "On the old set, held out, and on the trove"),
            ("difference", f"With its {100 * step.level:g} % interval"),
            ("p KS", "Kolmogorov–Smirnov; families, counted over classes"),
            ("p Sp.", "Spiegelhalter"),
            ("corrected p KS", "At the trove's own shares of the classes"),
            ("corrected p Sp.", "Likewise"),
        ),
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
    return TableBlock(caption, columns, rows)


def _p_value(entry: DriftClass, test: str, is_corrected: bool) -> str:
    for one in entry.tests:
        if one.test == test and one.is_corrected == is_corrected:
            return _number(one.p_adjusted)
    return NOTHING


def _number(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.3f}"


def _truth_table(drift: Drift) -> TableBlock:
    columns = (
        *words("true class"),
        *numbers(
            "old",
            "new",
            "families, old",
            "families, new",
            ("recognised, old", "Share predicted to be in their class"),
            "recognised, new",
            ("distance", "Of the scores' distributions, 0 to 1"),
            ("p", "Families exchanged at random; counted over classes (Holm)"),
        ),
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
    return TableBlock("Do proteins of a class score as they did before?", columns, rows)


def metrics_of(step: ReleaseStep) -> list[Block]:
    """Return how both releases do on the same proteins."""
    if not step.metrics:
        return []
    samples = {"old": f"proteins of {step.older.name}", "test": "test group"}
    columns = (
        *words("judged on", "predicted class", "metric"),
        *numbers("proteins", "before", "now", ("difference", "Negative: better now")),
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
        TableBlock(caption, columns, rows),
    ))]  # fmt: skip


def moved_of(step: ReleaseStep) -> list[Block]:
    """Return the proteins whose confidence moved most."""
    if not step.moved:
        return []
    columns = (
        *words("protein", "predicted class"),
        *numbers("score", "before", "now", ("change", "In points")),
        *words("new"),
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
    return [Folded("Proteins that moved most", (TableBlock(caption, columns, rows),))]


def signed_points(value: float, lower: float, upper: float) -> str:
    """Return a difference of confidences in points, with its interval.

    >>> signed_points(0.071, 0.02, 0.12), signed_points(-0.004, math.nan, math.nan)
    ('+7.1 (+2.0 to +12.0)', '−0.4')
    """

    def signed(number: float) -> str:
        text = f"{100 * number:+.1f}"
        return "0.0" if float(text) == 0 else text.replace("-", "−")

    if math.isnan(lower):
        return signed(value)
    return f"{signed(value)} ({signed(lower)} to {signed(upper)})"


TITLE = "What changed since last time?"
STILL = 0.005  # a change of less than half a point is not drawn in the open
MOST_OPEN = 6  # figures shown without being asked for
EXPLAINED = (
    "Re-weighting: the same classes, mixed in other shares; new evidence: all else. The dotted "
    "line is the new curve at the old shares of the classes, so that what lies between it and "
    "the old curve is evidence, and what lies between it and the new one is re-weighting."
)


def section(findings: Findings) -> Section | None:
    """Return the releases of the run and what each changed; None without troves."""
    found = findings.releases
    if found is None or not found.steps:
        return None
    blocks: list[Block] = [
        Paragraph(
            f"The calibration set has grown by {of(len(found.steps), 'trove')}. Every confidence "
            "on this page is of the last release. " + EXPLAINED
        ),
        _timeline(found.releases),
    ]
    for step in reversed(found.steps):
        blocks += step_blocks(step, is_last=step is found.steps[-1])
    return Section("releases", TITLE, tuple(blocks))


def sections_of_step(step: ReleaseStep) -> tuple[Section, ...]:
    """Return the sections of a page about one step alone."""
    blocks = (Paragraph(EXPLAINED), _timeline((step.older, step.newer)))
    return (Section("releases", TITLE, (*blocks, *step_blocks(step, is_last=True))),)


def _timeline(releases: tuple[ReleaseState, ...]) -> TableBlock:
    columns = (
        *words("release", "date"),
        *numbers("proteins in trove", "added", "not added", "calibrate", "families", "right"),
        *words(("digest", "The first figures of the release's digest")),
    )
    rows = []
    for entry in releases:
        n_added = sum(part.n for part in entry.outcomes if part.outcome == "added")
        n_all = sum(part.n for part in entry.outcomes)
        has_trove = bool(entry.outcomes)
        rows.append(
            (
                entry.name,
                entry.date or NOTHING,
                count(n_all) if has_trove else NOTHING,
                count(n_added) if has_trove else NOTHING,
                count(n_all - n_added) if has_trove else NOTHING,
                count(entry.n_calibration),
                count(entry.n_clusters),
                share(entry.n_correct / entry.n_calibration) if entry.n_calibration else NOTHING,
                entry.digest[:8] or NOTHING,
            )
        )
    return TableBlock("All releases of the calibration set.", columns, tuple(rows))


def step_blocks(step: ReleaseStep, *, is_last: bool) -> tuple[Block, ...]:
    """Return what one trove brought and changed."""
    name = slug(step.newer.name, step.newer.number)
    date = f", {step.newer.date}" if step.newer.date else ""
    blocks: list[Block] = [
        Heading(f"{step.older.name} → {step.newer.name}{date}", f"release-{name}"),
        *(Paragraph(text, is_lead=at == 0) for at, text in enumerate(step.sentences)),
    ]
    blocks += outcomes_of(step)
    if step.drift is not None:
        blocks += drift_of(step.drift, step)
    touched = [entry for entry in step.classes if entry.is_touched]
    if touched:
        blocks.append(_changes(step, touched))
        blocks += _figures(step, touched, name, is_last)
    blocks += metrics_of(step)
    blocks += moved_of(step)
    return tuple(blocks)


def _changes(step: ReleaseStep, touched: list[ClassChange]) -> TableBlock:
    names = list(dict.fromkeys(part.name for entry in touched for part in entry.parameters))
    columns = (
        *words("predicted class"),
        *numbers(
            "before",
            "now",
            ("new evidence", "In points"),
            ("re-weighting", "In points"),
            ("score", "The median score before; the confidences are there"),
            "predictions",
            "right",
            "families",
            *names,
        ),
    )
    rows = tuple(
        (
            entry.class_name,
            NOTHING if entry.change is None else share(entry.change.before),
            NOTHING if entry.change is None else share(entry.change.after),
            *_points_of(entry.change),
            score(entry.score, step.scale),
            _pair(entry.n_predicted),
            _pair(entry.n_correct),
            _pair(entry.n_clusters),
            *(_parameter(entry, name, step.scale) for name in names),
        )
        for entry in touched
    )
    caption = (
        f"Classes that {step.newer.name} touched: confidence of {step.method} before and now. "
        f"Points with their {100 * step.level:g} % intervals over families."
    )
    return TableBlock(caption, columns, rows)


def _pair(pair: tuple[int, ...]) -> str:
    first, second = pair
    return count(first) if first == second else f"{count(first)}{ARROW}{count(second)}"


def _parameter(entry: ClassChange, name: str, scale: float) -> str:
    for part in entry.parameters:
        if part.name == name:
            first, second = score(part.before, scale), score(part.after, scale)
            return first if first == second else f"{first}{ARROW}{second}"
    return NOTHING


def _points_of(change: Change | None) -> tuple[str, str]:
    if change is None:
        return NOTHING, NOTHING
    return (
        signed_points(change.evidence, change.evidence_lower, change.evidence_upper),
        signed_points(change.composition, change.composition_lower, change.composition_upper),
    )


def _figures(
    step: ReleaseStep, touched: list[ClassChange], name: str, is_last: bool
) -> list[Block]:
    """Return each class before and after, those that moved most in the open."""

    def size(entry: ClassChange) -> float:
        if entry.change is None:
            return 0.0
        change = entry.change
        return max(abs(change.total), abs(change.evidence), abs(change.composition))

    ordered = sorted(touched, key=size, reverse=True)
    shown = [entry for entry in ordered if is_last and size(entry) >= STILL][:MOST_OPEN]
    blocks: list[Block] = []
    for row in _rows([_figure(step, entry, name) for entry in shown]):
        blocks.append(row)
    rest = [entry for entry in ordered if entry not in shown]
    if rest:
        words = "The other classes it touched" if shown else "Every class it touched"
        blocks.append(
            Folded(
                f"{words}, before and after: {of(len(rest), 'class', 'classes')}",
                tuple(_rows([_figure(step, entry, name) for entry in rest])),
            )
        )
    return blocks


def _rows(figures: list[Figure]) -> list[FigureRow]:
    return [FigureRow(tuple(figures[at : at + 2])) for at in range(0, len(figures), 2)]


def _figure(step: ReleaseStep, entry: ClassChange, name: str) -> Figure:
    words = f" {entry.sentence}" if entry.sentence else ""
    return Figure(
        f"change-{name}-{slug(entry.class_name, step.classes.index(entry) + 1)}",
        f"{entry.class_name}, {step.older.name} (dashed, outlines) and {step.newer.name} (solid, "
        f"filled).{words} Bands: {100 * step.level:g} % intervals, pointwise.",
        f"{entry.class_name} before and after: {_pair(entry.n_correct)} right of "
        f"{_pair(entry.n_predicted)} predictions.{words}",
        change_plot(step, entry),
    )


def change_plot(step: ReleaseStep, entry: ClassChange) -> ChangePlot:
    """Return a class before and after, as it is drawn."""
    return ChangePlot(
        names=(step.older.name, step.newer.name),
        score=entry.grid,
        before=entry.before,
        before_lower=entry.before_lower,
        before_upper=entry.before_upper,
        after=entry.after,
        after_lower=entry.after_lower,
        after_upper=entry.after_upper,
        fixed=entry.fixed,
        edges=entry.edges,
        right_before=entry.right_before,
        right_after=entry.right_after,
        wrong_before=entry.wrong_before,
        wrong_after=entry.wrong_after,
        range_before=_seen(entry.edges, entry.right_before, entry.wrong_before, step.scale),
        range_after=_seen(entry.edges, entry.right_after, entry.wrong_after, step.scale),
        scale=step.scale,
    )


def _seen(
    edges: tuple[float, ...], right: tuple[int, ...], wrong: tuple[int, ...], scale: float
) -> tuple[float, float]:
    """Return the range of the bins that hold a prediction; all of it without counts."""
    if not edges:
        return 0.0, scale
    held = [at for at, pair in enumerate(zip(right, wrong, strict=True)) if any(pair)]
    if not held:
        return math.nan, math.nan
    return edges[held[0]], edges[held[-1] + 1]
