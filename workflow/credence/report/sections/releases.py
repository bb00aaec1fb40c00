"""What changed since last time: troves, what they moved, and whether they fit in."""

from __future__ import annotations

import math

from credence.findings import Findings
from credence.findings.releases import Change, ClassChange, ReleaseState, Step
from credence.report.blocks import (
    Block,
    Column,
    Figure,
    FigureRow,
    Folded,
    Heading,
    Paragraph,
    Section,
    Table,
)
from credence.report.plots import ChangePlot
from credence.report.release_tables import (
    ARROW,
    drift_of,
    metrics_of,
    moved_of,
    outcomes_of,
    signed_points,
)
from credence.report.wording import NOTHING, count, of, score, share, slug

TITLE = "What changed since last time?"
STILL = 0.005  # a change of less than half a point is not drawn in the open
MOST_OPEN = 6  # figures shown without being asked for
EXPLAINED = (
    "Re-weighting: the same classes, mixed in other shares; new evidence: all else. The dotted "
    "line is the new curve at the old shares of the classes, so that what lies between it and "
    "the old curve is evidence, and what lies between it and the new one is re-weighting."
)


def section(findings: Findings) -> Section | None:
    """Return the releases of the run and what each changed; None without troves.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
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


def sections_of_step(step: Step) -> tuple[Section, ...]:
    """Return the sections of a page about one step alone.

    Parameters
    ----------
    step : Step
        From an older release to a newer one.
    """
    blocks = (Paragraph(EXPLAINED), _timeline((step.older, step.newer)))
    return (Section("releases", TITLE, (*blocks, *step_blocks(step, is_last=True))),)


def _timeline(releases: tuple[ReleaseState, ...]) -> Table:
    columns = (
        Column("release", is_number=False),
        Column("date", is_number=False),
        Column("proteins in trove"),
        Column("added"),
        Column("not added"),
        Column("calibrate"),
        Column("families"),
        Column("right"),
        Column("digest", is_number=False, explained="The first figures of the release's digest"),
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
    return Table("All releases of the calibration set.", columns, tuple(rows))


def step_blocks(step: Step, *, is_last: bool) -> tuple[Block, ...]:
    """Return what one trove brought and changed.

    Parameters
    ----------
    step : Step
        From the release before it.
    is_last : bool
        Whether its figures stand in the open.
    """
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


def _changes(step: Step, touched: list[ClassChange]) -> Table:
    names = list(dict.fromkeys(part.name for entry in touched for part in entry.parameters))
    columns = (
        Column("predicted class", is_number=False),
        Column("before"),
        Column("now"),
        Column("new evidence", explained="In points"),
        Column("re-weighting", explained="In points"),
        Column("score", explained="The median score before; the confidences are there"),
        Column("predictions"),
        Column("right"),
        Column("families"),
        *(Column(name) for name in names),
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
    return Table(caption, columns, rows)


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


def _figures(step: Step, touched: list[ClassChange], name: str, is_last: bool) -> list[Block]:
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


def _figure(step: Step, entry: ClassChange, name: str) -> Figure:
    words = f" {entry.sentence}" if entry.sentence else ""
    return Figure(
        f"change-{name}-{slug(entry.class_name, step.classes.index(entry) + 1)}",
        f"{entry.class_name}, {step.older.name} (dashed, outlines) and {step.newer.name} (solid, "
        f"filled).{words} Bands: {100 * step.level:g} % intervals, pointwise.",
        f"{entry.class_name} before and after: {_pair(entry.n_correct)} right of "
        f"{_pair(entry.n_predicted)} predictions.{words}",
        change_plot(step, entry),
    )


def change_plot(step: Step, entry: ClassChange) -> ChangePlot:
    """Return a class before and after, as it is drawn.

    Parameters
    ----------
    step : Step
        From an older release to a newer one.
    entry : ClassChange
        What it changed for the class.
    """
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
