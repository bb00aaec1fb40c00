"""What changed: troves, what they moved, and whether they fit in."""

import math
from collections.abc import Callable
from operator import attrgetter

from credence.findings import (
    LEAST_MOVE,
    Change,
    ClassChange,
    Drift,
    DriftClass,
    Findings,
    Outcome,
    ReleaseState,
    ReleaseStep,
)
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import comparison, without_interval
from credence.report.release_words import drift_sentence, drift_sentences, step_sentences
from credence.report.sections.measuring import MAIN_TEST, words_of_test
from credence.report.wording import (
    DASH,
    KEPT,
    count,
    loss,
    score,
    share,
    slug,
    three_decimals,
    two_decimals,
)

CHANGED_TO = f"{KEPT}→{KEPT}"  # keeps both numbers on one line


def outcome_table(step: ReleaseStep) -> page.Folded | None:
    """Return what became of the proteins of a trove."""
    outcomes = [entry for entry in step.newer.outcomes if entry.n]
    if not outcomes:
        return None
    table = page.table(
        f"What became of the proteins of {step.newer.name}; attach.tsv has each.",
        outcomes,
        page.word("outcome", _words),
        page.number("proteins", "n"),
        page.word("meaning", "meaning"),
    )
    n_apart = sum(entry.n for entry in outcomes if entry.outcome != "added")
    summary = (
        f"Not added: {plural(n_apart, 'protein')}, and why" if n_apart else "What became of them"
    )
    return page.Folded(summary=summary, blocks=(table,))


def _words(entry: Outcome) -> str:
    """Return the name of an outcome, as it is in attach.tsv but for the underscore."""
    return entry.outcome.replace("_", " ")


def drift_in_words(drift: Drift) -> str:
    """Return whether a trove agrees with the calibration before it, over all classes."""
    return " ".join((*map(drift_sentence, drift.classes[:1]), *drift_sentences(drift)))


def drift_blocks(drift: Drift, step: ReleaseStep) -> tuple[page.Block, ...]:
    """Return whether a trove agrees with the calibration before it."""
    stated = drift_in_words(drift)
    truths = page.table(
        f"Do proteins of a class score in {step.newer.name} as they did before?",
        drift.truths,
        page.word("true class", "class_name"),
        page.number("old", "n_old"),
        page.number("new", "n_trove"),
        page.number("families, old", "n_clusters_old"),
        page.number("families, new", "n_clusters_trove"),
        page.number("recall, old", "right_old", share),
        page.number("recall, new", "right_trove", share),
        page.number("distance", "distance", two_decimals),
        page.word("test", lambda entry: words_of_test(entry.p_adjusted, math.nan)),
        explained={
            "recall, old": "Share predicted to be in their class",
            "distance": "Of the scores' distributions, 0 to 1",
            "test": "Families exchanged at random; counted over classes (Holm)",
        },
    )
    tables = page.flat(_drift_table(drift, step), drift.truths and truths)
    summary = f"Does {step.newer.name} agree with the calibration before it?"
    return (page.Folded(summary=summary, blocks=page.flat(stated, tables)),)


def _drift_table(drift: Drift, step: ReleaseStep) -> page.TableBlock:
    return page.table(
        f"The calibration of {step.older.name} on {plural(drift.n, 'new protein')} before they "
        "were added. Tests count families and, by class, how many classes there are (Holm).",
        drift.classes,
        page.word("predicted class", lambda entry: entry.class_name or "all"),
        page.number("new proteins", "n"),
        page.number("families", "n_clusters"),
        page.number("right", "n_correct expected", "{:,} of {:,.1f}".format),
        page.number("NLL minus that of old proteins", "nll_old nll_trove lower upper", _minus),
        page.word("test", _test(False)),
        page.word("test at the trove's mix", _test(True)),
        explained={
            "right": "Right predictions, and those expected of the old confidences",
            "NLL minus that of old proteins": f"With its {100 * step.level:g} % interval",
            "test": "Kolmogorov–Smirnov: do the old confidences hold for the new proteins?",
            "test at the trove's mix": "The same, corrected for the trove's own shares of classes",
        },
    )


def _minus(before: float, after: float, lower: float, upper: float) -> str:
    return loss(after - before, lower, upper)


def _test(is_corrected: bool) -> Callable[[DriftClass], str]:
    def of_class(entry: DriftClass) -> str:
        for test in entry.tests:
            if test.test == MAIN_TEST and test.is_corrected == is_corrected:
                return words_of_test(test.p_adjusted, test.power)
        return DASH

    return of_class


def metrics_of(step: ReleaseStep) -> page.Folded | None:
    """Return how both releases do on the same proteins."""
    if not step.metrics:
        return None
    samples = {"old": f"proteins of {step.older.name}", "test": "test group"}
    metrics = page.table(
        "The same proteins judged by both releases, cross-validated by family. Smaller is better; "
        "intervals count families.",
        step.metrics,
        page.word("judged on", lambda entry: samples[entry.sample]),
        page.word("predicted class", lambda entry: entry.class_name or "all"),
        page.word("metric", "metric", lambda name: {"nll": "NLL"}.get(name, name.capitalize())),
        page.number("proteins", "n"),
        page.number("before", "before", three_decimals),
        page.number("now", "after", three_decimals),
        page.number("difference", "before after lower upper", _minus),
        explained={"difference": "Negative: better now"},
    )
    return page.Folded(summary="Is the new release better on the old proteins?", blocks=(metrics,))


def _points(ends: tuple[float, float, float]) -> str:
    value, lower, upper = (100 * end for end in ends)
    return loss(value, lower, upper, 1, "+")


EVIDENCE_FIELDS = "evidence evidence_lower evidence_upper"
COMPOSITION_FIELDS = "composition composition_lower composition_upper"

TITLE = "What changed"
EXPLAINED = "Class proportions: the same classes, in other proportions; new evidence: all else."


def section(findings: Findings) -> page.Section | None:
    """Return the releases of the run and what each changed; None without troves."""
    chain = findings.releases
    if chain is None or not chain.steps:
        return None
    before = []
    for step in reversed(chain.steps[:-1]):
        heading, *inside = shown_of_step(step)
        assert isinstance(heading, page.Heading)
        before.append(
            page.Folded(summary=heading.text, blocks=tuple(inside), anchor=heading.anchor)
        )
    blocks = page.flat(
        f"The calibration set has grown by {plural(len(chain.steps), 'trove')}. Every confidence "
        f"on this page is of the last release.{_alone(chain.releases[-1])}",
        step_in_run(chain.steps[-1]),
        before,
        page.Folded(
            summary="All releases", blocks=(_timeline(chain.releases),), anchor="all-releases"
        ),
    )
    return page.Section(name="releases", title=TITLE, blocks=blocks)


def sections_of_step(step: ReleaseStep) -> tuple[page.Section, ...]:
    """Return the sections of a page about one step alone."""
    timeline = _timeline((step.older, step.newer))
    blocks = page.flat(_alone(step.newer).strip(), timeline, whole_of_step(step))
    return (page.Section(name="releases", title=TITLE, blocks=blocks),)


def _alone(release: ReleaseState) -> str:
    """Return what a family is where no two proteins are known to be relatives."""
    if release.n_clusters < release.n_calibration:
        return ""
    return " No two proteins are known to be relatives: each counts as a family of its own."


def _timeline(releases: tuple[ReleaseState, ...]) -> page.TableBlock:
    def in_trove(entry: ReleaseState, *kinds: bool) -> str:
        n = sum(part.n for part in entry.outcomes if (part.outcome == "added") in kinds)
        return count(n) if entry.outcomes else DASH

    return page.table(
        "All releases of the calibration set.",
        releases,
        page.word("release", "name"),
        page.word("date", "date"),
        page.number("proteins in trove", lambda entry: in_trove(entry, True, False)),
        page.number("added", lambda entry: in_trove(entry, True)),
        page.number("not added", lambda entry: in_trove(entry, False)),
        page.number("calibrate", "n_calibration"),
        page.number("families", "n_clusters"),
        page.number(
            "right", "n_correct n_calibration", lambda k, n: share(k / n if n else math.nan)
        ),
        page.word("digest", lambda entry: entry.digest[:8] or DASH),
        explained={"digest": "The first figures of the release's digest"},
    )


def whole_of_step(step: ReleaseStep) -> tuple[page.Block, ...]:
    """Return what one trove changed and, folded, whether it fits in, class by class."""
    return page.flat(
        shown_of_step(step),
        outcome_table(step),
        drift_blocks(step.drift, step) if step.drift else None,
        metrics_of(step),
    )


def step_in_run(step: ReleaseStep) -> tuple[page.Block, ...]:
    """Return what one trove changed, and in sentences whether it fits in."""
    fits = () if step.drift is None else (drift_in_words(step.drift), _better(step))
    return page.flat(shown_of_step(step), " ".join(filter(None, fits)), outcome_table(step))


def _better(step: ReleaseStep) -> str:
    """Return whether both releases do alike on the old proteins."""
    asked = ("old", None, "nll")
    row = next(
        (row for row in step.metrics if (row.sample, row.class_name, row.metric) == asked), None
    )
    if row is None or math.isnan(row.after):
        return ""
    changed = _minus(row.before, row.after, row.lower, row.upper)
    return (
        f"On the proteins of {step.older.name} the NLL changed by {changed}; credence compare "
        "writes a page with all tests, class by class."
    )


def shown_of_step(step: ReleaseStep) -> tuple[page.Block, ...]:
    """Return what one trove changed: sentences, a figure and a table."""
    name = slug(step.newer.name, step.newer.number)
    date = f", {step.newer.date}" if step.newer.date else ""
    touched = [entry for entry in step.classes if entry.is_touched]
    changed = [
        (entry.class_name, entry.change)
        for entry in touched
        if entry.change is not None
        and max(abs(entry.change.total), abs(entry.change.evidence)) >= LEAST_MOVE
    ]
    return page.flat(
        page.Heading(
            text=f"{step.older.name} → {step.newer.name}{date}", anchor=f"release-{name}"
        ),
        (
            page.Paragraph(text=text, is_lead=at == 0)
            for at, text in enumerate(step_sentences(step))
        ),
        _arrows(step, changed, name) if changed else None,
        touched and (_changes(step, touched), EXPLAINED),
    )


def _changes(step: ReleaseStep, touched: list[ClassChange]) -> page.TableBlock:
    def of_change(show: Callable[..., str], fields: str) -> Callable[[ClassChange], str]:
        part = attrgetter(*fields.split())
        return lambda entry: DASH if entry.change is None else show(part(entry.change))

    return page.table(
        f"Classes that {step.newer.name} touched: confidence of {step.method} before and now. "
        f"Differences in percentage points{_with_intervals(step, touched)}.",
        touched,
        page.word("predicted class", "class_name"),
        page.number("before", of_change(share, "before")),
        page.number("now", of_change(share, "after")),
        page.number("new evidence", of_change(_points, EVIDENCE_FIELDS)),
        page.number("class proportions", of_change(_points, COMPOSITION_FIELDS)),
        page.number("score", lambda entry: score(entry.score, step.scale)),
        page.number("predictions", "n_predicted", _pair),
        page.number("right", "n_correct", _pair),
        page.number("families", "n_clusters", _pair),
        explained={"score": "The median score before; the confidences are there"},
    )


def _with_intervals(step: ReleaseStep, touched: list[ClassChange]) -> str:
    """Return whether differences have intervals, as the caption says it."""
    changes = [entry.change for entry in touched if entry.change is not None]
    if all(math.isnan(change.evidence_lower) for change in changes):
        why = f"{step.method} would have to be fitted again hundreds of times"
        return f"; without intervals, for which {why}"
    return f", with {100 * step.level:g} % intervals over families"


def _pair(pair: tuple[int, ...]) -> str:
    first, second = pair
    return count(first) if first == second else f"{count(first)}{CHANGED_TO}{count(second)}"


def _arrows(step: ReleaseStep, changed: list[tuple[str, Change]], name: str) -> page.Figure:
    ordered = sorted(changed, key=lambda pair: -abs(pair[1].total))
    changes = [change for _, change in ordered]
    before = [without_interval(change.before) for change in changes]
    fixed = [without_interval(change.fixed) for change in changes]
    after = [
        (change.after, change.before + change.total_lower, change.before + change.total_upper)
        for change in changes
    ]
    interval = f" Light: {100 * step.level:g} % interval of the change."
    if all(math.isnan(change.total_lower) for change in changes):
        interval = ""
    stated = "; ".join(
        f"{class_name} {share(change.before)} to {share(change.after)}"
        for class_name, change in ordered
    )
    return page.Figure(
        name=f"changes-{name}",
        caption=f"Confidence of a typical prediction by {step.method}: {step.older.name} "
        f"(hollow), {step.newer.name} (filled; tick: at the old class proportions).{interval} "
        "Classes that moved by half a percentage point or more.",
        alternative=f"Confidence before and now: {stated}.",
        plot=comparison(
            "confidence",
            (class_name for class_name, _ in ordered),
            [("before", before), ("now, at the old mix", fixed), ("now", after)],
            has_arrows=True,
        ),
    )
