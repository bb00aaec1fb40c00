"""What changed since last time: troves, what they moved, and whether they fit in."""

from __future__ import annotations

import math
from collections.abc import Callable

from credence.findings import (
    Change,
    ClassChange,
    Drift,
    DriftClass,
    Findings,
    MetricChange,
    Outcome,
    ReleaseState,
    ReleaseStep,
)
from credence.report import blocks as page
from credence.report.plots import ChangePlot
from credence.report.wording import (
    KEPT,
    NOTHING,
    count,
    loss,
    of,
    rounded,
    score,
    share,
    slug,
    three_decimals,
    two_decimals,
)

ARROW = f"{KEPT}→{KEPT}"  # keeps both numbers on one line
TOO_FEW = "too few to tell."


def outcomes_of(step: ReleaseStep) -> list[page.Block]:
    """Return what became of the proteins of a trove."""
    outcomes = [entry for entry in step.newer.outcomes if entry.n]
    if not outcomes:
        return []
    blocks: list[page.Block] = [
        page.table(
            f"What became of the proteins of {step.newer.name}; each has one outcome.",
            outcomes,
            page.word("outcome", _words),
            page.number("proteins", "n"),
            page.word("meaning", "meaning"),
        )
    ]
    tables = tuple(_examples(entry) for entry in outcomes if entry.examples)
    if tables:
        n_apart = sum(entry.n for entry in outcomes if entry.outcome != "added")
        blocks.append(page.Folded(f"Not added: {of(n_apart, 'protein')}, and why", tables))
    return blocks


def _words(entry: Outcome) -> str:
    """Return the name of an outcome, as it is in attach.tsv but for the underscore."""
    return entry.outcome.replace("_", " ")


def _examples(entry: Outcome) -> page.TableBlock:
    n_shown = len(entry.examples)
    rest = f", the first {n_shown}; all are in attach.tsv" if entry.n > n_shown else ""
    return page.table(
        f"{_words(entry)}: {of(entry.n, 'protein')}{rest}.",
        entry.examples,
        page.word("protein", "id"),
        page.word("label", "true_class"),
        page.word("decided by", "relative"),
        page.word("its label", "relative_class"),
        page.number("identity", "identity", two_decimals),
        page.number("coverage", "coverage", two_decimals),
        page.word("reason", "reason"),
    )


def drift_of(drift: Drift, step: ReleaseStep) -> list[page.Block]:
    """Return whether a trove agrees with the calibration before it."""
    stated = [*(entry.sentence for entry in drift.classes[:1]), *drift.sentences]
    blocks: list[page.Block] = [
        page.Paragraph("Does the trove agree with the calibration before it? " + " ".join(stated))
    ]
    if drift.classes:
        few = [entry for entry in drift.classes[1:] if entry.sentence.endswith(TOO_FEW)]
        parts: list[page.Block] = [
            page.Paragraph(entry.sentence) for entry in drift.classes[1:] if entry not in few
        ]
        if few:
            named = (
                f"{entry.class_name} ({count(entry.n)} in "
                f"{of(entry.n_clusters, 'family', 'families')})"
                for entry in few
            )
            parts.append(page.Paragraph(f"Too few to tell: {', '.join(named)}."))
        parts.append(_drift_table(drift, step))
        if drift.truths:
            parts.append(_truth_table(drift))
        blocks.append(
            page.Folded("The old calibration on the trove, class by class", tuple(parts))
        )
    return blocks


def _drift_table(drift: Drift, step: ReleaseStep) -> page.TableBlock:
    return page.table(
        f"The calibration of {step.older.name} on {of(drift.n, 'new protein')} before they were "
        "added. p-values count families and, by class, how many classes there are (Holm).",
        drift.classes,
        page.word("predicted class", _class_or_all),
        page.number("new proteins", "n"),
        page.number("families", "n_clusters"),
        page.number("right", lambda entry: f"{count(entry.n_correct)} of {entry.expected:,.1f}"),
        page.number(
            "NLL", lambda entry: f"{rounded(entry.nll_old, 3)}{ARROW}{rounded(entry.nll_trove, 3)}"
        ),
        page.number(
            "difference",
            lambda entry: loss(entry.nll_trove - entry.nll_old, entry.lower, entry.upper),
        ),
        page.number("p KS", _p_value("kolmogorov_smirnov", False)),
        page.number("p Sp.", _p_value("spiegelhalter", False)),
        page.number("corrected p KS", _p_value("kolmogorov_smirnov", True)),
        page.number("corrected p Sp.", _p_value("spiegelhalter", True)),
        explained={
            "right": "Right predictions, and those expected of the old confidences",
            "NLL": "On the old set, held out, and on the trove",
            "difference": f"With its {100 * step.level:g} % interval",
            "p KS": "Kolmogorov–Smirnov; families, counted over classes",
            "p Sp.": "Spiegelhalter",
            "corrected p KS": "At the trove's own shares of the classes",
            "corrected p Sp.": "Likewise",
        },
    )


def _class_or_all(entry: DriftClass | MetricChange) -> str:
    return entry.class_name or "all"


def _p_value(test: str, is_corrected: bool) -> Callable[[DriftClass], str]:
    def of_class(entry: DriftClass) -> str:
        for one in entry.tests:
            if one.test == test and one.is_corrected == is_corrected:
                return rounded(one.p_adjusted, 3)
        return NOTHING

    return of_class


def _truth_table(drift: Drift) -> page.TableBlock:
    return page.table(
        "Do proteins of a class score as they did before?",
        drift.truths,
        page.word("true class", "class_name"),
        page.number("old", "n_old"),
        page.number("new", "n_trove"),
        page.number("families, old", "n_clusters_old"),
        page.number("families, new", "n_clusters_trove"),
        page.number("recognised, old", "right_old", share),
        page.number("recognised, new", "right_trove", share),
        page.number("distance", "distance", two_decimals),
        page.number("p", lambda entry: rounded(entry.p_adjusted, 3).replace(NOTHING, "too few")),
        explained={
            "recognised, old": "Share predicted to be in their class",
            "distance": "Of the scores' distributions, 0 to 1",
            "p": "Families exchanged at random; counted over classes (Holm)",
        },
    )


def metrics_of(step: ReleaseStep) -> list[page.Block]:
    """Return how both releases do on the same proteins."""
    if not step.metrics:
        return []
    samples = {"old": f"proteins of {step.older.name}", "test": "test group"}
    metrics = page.table(
        "The same proteins judged by both releases, held out. Smaller is better; intervals "
        "count families.",
        step.metrics,
        page.word("judged on", lambda entry: samples[entry.sample]),
        page.word("predicted class", _class_or_all),
        page.word(
            "metric", lambda entry: {"nll": "NLL"}.get(entry.metric, entry.metric.capitalize())
        ),
        page.number("proteins", "n"),
        page.number("before", "before", three_decimals),
        page.number("now", "after", three_decimals),
        page.number(
            "difference", lambda entry: loss(entry.after - entry.before, entry.lower, entry.upper)
        ),
        explained={"difference": "Negative: better now"},
    )
    return [page.Folded("Is the new release better on the old proteins?", (metrics,))]


def moved_of(step: ReleaseStep) -> list[page.Block]:
    """Return the proteins whose confidence moved most."""
    if not step.moved:
        return []
    moved = page.table(
        f"The {len(step.moved)} proteins whose confidence moved most, of {count(step.n_moved)}.",
        step.moved,
        page.word("protein", "id"),
        page.word("predicted class", "predicted_class"),
        page.number("score", lambda entry: score(entry.score, step.scale)),
        page.number("before", "before", share),
        page.number("now", "after", share),
        page.number("change", lambda entry: _points(entry.after - entry.before)),
        page.word("new", lambda entry: "yes" if entry.is_new else ""),
        explained={"change": "In points"},
    )
    return [page.Folded("Proteins that moved most", (moved,))]


def _points(value: float, lower: float = math.nan, upper: float = math.nan) -> str:
    """Return a difference of confidences in points, with its interval."""
    return loss(100 * value, 100 * lower, 100 * upper, 1, "+")


TITLE = "What changed since last time?"
STILL = 0.005  # a change of less than half a point is not drawn in the open
MOST_OPEN = 6  # figures shown without being asked for
EXPLAINED = (
    "Re-weighting: the same classes, mixed in other shares; new evidence: all else. The dotted "
    "line is the new curve at the old shares of the classes, so that what lies between it and "
    "the old curve is evidence, and what lies between it and the new one is re-weighting."
)


def section(findings: Findings) -> page.Section | None:
    """Return the releases of the run and what each changed; None without troves."""
    found = findings.releases
    if found is None or not found.steps:
        return None
    blocks: list[page.Block] = [
        page.Paragraph(
            f"The calibration set has grown by {of(len(found.steps), 'trove')}. Every confidence "
            f"on this page is of the last release. {EXPLAINED}{_alone(found.releases[-1])}"
        ),
        _timeline(found.releases),
    ]
    blocks += step_blocks(found.steps[-1], is_last=True)
    for step in reversed(found.steps[:-1]):
        heading, *inside = step_blocks(step, is_last=False)
        assert isinstance(heading, page.Heading)
        blocks.append(page.Folded(heading.text, tuple(inside), heading.anchor))
    return page.Section("releases", TITLE, tuple(blocks))


def sections_of_step(step: ReleaseStep) -> tuple[page.Section, ...]:
    """Return the sections of a page about one step alone."""
    blocks = (page.Paragraph(EXPLAINED + _alone(step.newer)), _timeline((step.older, step.newer)))
    return (page.Section("releases", TITLE, (*blocks, *step_blocks(step, is_last=True))),)


def _alone(release: ReleaseState) -> str:
    """Return what a family is where no two proteins are known to be relatives."""
    if release.n_clusters < release.n_calibration:
        return ""
    return " No two proteins are known to be relatives: each counts as a family of its own."


def _timeline(releases: tuple[ReleaseState, ...]) -> page.TableBlock:
    def in_trove(of_kind: Callable[[Outcome], bool]) -> Callable[[ReleaseState], str]:
        def counted(entry: ReleaseState) -> str:
            n = sum(part.n for part in entry.outcomes if of_kind(part))
            return count(n) if entry.outcomes else NOTHING

        return counted

    return page.table(
        "All releases of the calibration set.",
        releases,
        page.word("release", "name"),
        page.word("date", "date"),
        page.number("proteins in trove", in_trove(lambda part: True)),
        page.number("added", in_trove(lambda part: part.outcome == "added")),
        page.number("not added", in_trove(lambda part: part.outcome != "added")),
        page.number("calibrate", "n_calibration"),
        page.number("families", "n_clusters"),
        page.number(
            "right",
            lambda entry: share(
                entry.n_correct / entry.n_calibration if entry.n_calibration else math.nan
            ),
        ),
        page.word("digest", lambda entry: entry.digest[:8] or NOTHING),
        explained={"digest": "The first figures of the release's digest"},
    )


def step_blocks(step: ReleaseStep, *, is_last: bool) -> tuple[page.Block, ...]:
    """Return what one trove brought and changed."""
    name = slug(step.newer.name, step.newer.number)
    date = f", {step.newer.date}" if step.newer.date else ""
    blocks: list[page.Block] = [
        page.Heading(f"{step.older.name} → {step.newer.name}{date}", f"release-{name}"),
        *(page.Paragraph(text, is_lead=at == 0) for at, text in enumerate(step.sentences)),
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


def _changes(step: ReleaseStep, touched: list[ClassChange]) -> page.TableBlock:
    def of_change(text: Callable[[Change], str]) -> Callable[[ClassChange], str]:
        return lambda entry: NOTHING if entry.change is None else text(entry.change)

    names = list(dict.fromkeys(part.name for entry in touched for part in entry.parameters))
    return page.table(
        f"Classes that {step.newer.name} touched: confidence of {step.method} before and now. "
        f"Points with their {100 * step.level:g} % intervals over families.",
        touched,
        page.word("predicted class", "class_name"),
        page.number("before", of_change(lambda change: share(change.before))),
        page.number("now", of_change(lambda change: share(change.after))),
        page.number(
            "new evidence",
            of_change(lambda c: _points(c.evidence, c.evidence_lower, c.evidence_upper)),
        ),
        page.number(
            "re-weighting",
            of_change(lambda c: _points(c.composition, c.composition_lower, c.composition_upper)),
        ),
        page.number("score", lambda entry: score(entry.score, step.scale)),
        page.number("predictions", "n_predicted", _pair),
        page.number("right", "n_correct", _pair),
        page.number("families", "n_clusters", _pair),
        *page.numbers(names, lambda entry, at: _parameter(entry, names[at], step.scale)),
        explained={
            "new evidence": "In points",
            "re-weighting": "In points",
            "score": "The median score before; the confidences are there",
        },
    )


def _pair(pair: tuple[int, ...]) -> str:
    first, second = pair
    return count(first) if first == second else f"{count(first)}{ARROW}{count(second)}"


def _parameter(entry: ClassChange, name: str, scale: float) -> str:
    for part in entry.parameters:
        if part.name == name:
            first, second = score(part.before, scale), score(part.after, scale)
            return first if first == second else f"{first}{ARROW}{second}"
    return NOTHING


def _figures(
    step: ReleaseStep, touched: list[ClassChange], name: str, is_last: bool
) -> list[page.Block]:
    """Return each class before and after, those that moved most in the open."""

    def size(entry: ClassChange) -> float:
        if entry.change is None:
            return 0.0
        change = entry.change
        return max(abs(change.total), abs(change.evidence), abs(change.composition))

    def rows(entries: list[ClassChange]) -> list[page.FigureRow]:
        return [
            page.FigureRow(tuple(_figure(step, entry, name) for entry in entries[at : at + 2]))
            for at in range(0, len(entries), 2)
        ]

    ordered = sorted(touched, key=size, reverse=True)
    shown = [entry for entry in ordered if is_last and size(entry) >= STILL][:MOST_OPEN]
    blocks: list[page.Block] = [*rows(shown)]
    rest = [entry for entry in ordered if entry not in shown]
    if rest:
        words = "The other classes it touched" if shown else "Every class it touched"
        summary = f"{words}, before and after: {of(len(rest), 'class', 'classes')}"
        blocks.append(page.Folded(summary, tuple(rows(rest))))
    return blocks


def _figure(step: ReleaseStep, entry: ClassChange, name: str) -> page.Figure:
    words = f" {entry.sentence}" if entry.sentence else ""
    return page.Figure(
        f"change-{name}-{slug(entry.class_name, step.classes.index(entry) + 1)}",
        f"{entry.class_name}, {step.older.name} (dashed, outlines) and {step.newer.name} (solid, "
        f"filled).{words} Bands: {100 * step.level:g} % intervals, pointwise.",
        f"{entry.class_name} before and after: {_pair(entry.n_correct)} right of "
        f"{_pair(entry.n_predicted)} predictions.{words}",
        ChangePlot((step.older.name, step.newer.name), entry, step.scale),
    )
