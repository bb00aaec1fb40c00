"""Which method does best on families that its fit did not see."""

from __future__ import annotations

import math

from credence.findings import Difference, Findings
from credence.report.blocks import (
    Block,
    Figure,
    FigureRow,
    Folded,
    Paragraph,
    Section,
    TableBlock,
    numbers,
    words,
)
from credence.report.plots import ComparisonPlot
from credence.report.sections.lookup import Lookup, chance_in_words, reliability_plot
from credence.report.wording import NOTHING, count, loss, of

OVER_ALL = "all classes"


def section(findings: Findings) -> Section:
    """Return the comparison of all methods, held-out and in-sample."""
    lookup = Lookup(findings)
    blocks: list[Block] = [Paragraph(_verdict(lookup), is_lead=True)]
    figure = _comparison(lookup)
    if figure is not None:
        blocks.append(FigureRow((figure, *_overall_reliability(lookup))))
    blocks.append(_overall_table(lookup))
    blocks += [Folded("Held-out NLL of every class and method", (_class_table(lookup),))]
    if any(method.name.startswith("cumulative") for method in findings.methods):
        blocks.append(
            Paragraph(
                "A warning about the cumulative methods: their confidence at a score is the share "
                "right among predictions with that score or better (or, below their cut-off, of "
                "all those below). It is not the probability at that very score."
            )
        )
    return Section("methods", "Which method, and why", tuple(blocks))


def _verdict(lookup: Lookup) -> str:
    findings = lookup.findings
    known = [
        (metric.value, method.name)
        for method in findings.methods
        if (metric := lookup.metrics.get((method.name, None, "held_out", "nll"))) is not None
        and not math.isnan(metric.value)
    ]
    if not known:
        return "Nothing could be held out, so the methods cannot be compared."
    if len(known) == 1:
        return f"Only {known[0][1]} was fitted; its held-out NLL is {known[0][0]:.3f}."
    best = min(known)[1]
    differences = [
        entry
        for entry in findings.results.differences
        if _is_headline(entry) and entry.reference == findings.chosen
    ]
    if best == findings.chosen:
        equal = [entry.method for entry in differences if not entry.lower > 0]
        words = (
            f"Of {of(len(known), 'method')}, {findings.chosen} has the least held-out NLL over "
            f"{OVER_ALL}."
        )
        if len(differences) < len(known) - 1:
            return words
        rest = "Every other method is worse by more than chance."
        if equal:
            rest = f"Not distinguishable from it with these data: {', '.join(equal)}."
        return f"{words} {rest}"
    distance = next((entry for entry in differences if entry.method == best), None)
    words = f"{best} has the least held-out NLL over {OVER_ALL}; this run uses {findings.chosen}"
    if distance is None or math.isnan(distance.upper):
        return f"{words}."
    less = f"{-distance.value:.3f} ({-distance.upper:.3f} to {-distance.lower:.3f}) less"
    stated = "is more than chance" if distance.upper < 0 else "may be chance"
    return f"{words}. The difference, {less.replace('-', '−')}, {stated}."


def _is_headline(entry: Difference) -> bool:
    return entry.class_name is None and entry.sample == "held_out" and entry.metric == "nll"


def _comparison(lookup: Lookup) -> Figure | None:
    findings = lookup.findings
    classes = [entry.class_name for entry in findings.results.classes if entry.n_predicted > 0]
    names = tuple(method.name for method in findings.methods)
    rows: list[str | None] = [None, *classes]
    metrics = [
        [lookup.metrics.get((name, class_name, "held_out", "nll")) for class_name in rows]
        for name in names
    ]

    def pick(field: str) -> tuple[tuple[float, ...], ...]:
        return tuple(
            tuple(math.nan if entry is None else getattr(entry, field) for entry in row)
            for row in metrics
        )

    value = pick("value")
    if all(math.isnan(number) for row in value for number in row):
        return None
    return Figure(
        "methods-nll",
        "Held-out negative log-likelihood of every method, over all classes and per predicted "
        f"class; less is better. Lines: {100 * findings.results.level:g} % intervals over "
        "families. Methods are judged on the same proteins, so compare them by the differences in "
        "the table, not by whether their lines overlap.",
        "Held-out negative log-likelihood per class and method; the folded table gives the "
        "numbers.",
        ComparisonPlot(
            "held-out NLL per protein",
            (OVER_ALL, *classes),
            names,
            value,
            pick("lower"),
            pick("upper"),
        ),
    )


def _overall_reliability(lookup: Lookup) -> tuple[Figure, ...]:
    chosen = lookup.findings.chosen
    pairs = [
        (words, found)
        for sample, words in (("held_out", "held out"), ("in_sample", "in-sample"))
        if (found := lookup.reliability.get((chosen, None, sample))) is not None
        and sum(found.bins.n) > 0
    ]
    if not pairs:
        return ()
    return (
        Figure(
            "reliability-all",
            f"All classes together: confidence of {chosen} against the share right, held-out and "
            "in-sample. In-sample points lie nearer to the diagonal than new proteins will."
            + chance_in_words(pairs[0][1]),
            "Reliability over all classes, held-out and in-sample.",
            reliability_plot(tuple(name for name, _ in pairs), tuple(entry for _, entry in pairs)),
        ),
    )


def _overall_table(lookup: Lookup) -> TableBlock:
    findings = lookup.findings
    reference = findings.results.differences[0].reference if findings.results.differences else ""
    differences = {
        entry.method: entry for entry in findings.results.differences if _is_headline(entry)
    }
    rows = []
    for method in findings.methods:
        name, entry = method.name, differences.get(method.name)
        held_out = lookup.metrics.get((name, None, "held_out", "nll"))
        rows.append(
            (
                name,
                *(lookup.loss(name, None, "held_out", metric) for metric in ("nll", "brier")),
                NOTHING if entry is None else loss(entry.value, entry.lower, entry.upper),
                *(lookup.loss(name, None, "in_sample", metric) for metric in ("nll", "brier")),
                NOTHING if held_out is None else count(held_out.n),
            )
        )
    columns = (
        *words("method"),
        *numbers(
            "held-out NLL",
            "held-out Brier",
            f"NLL minus {reference}" if reference else "difference",
            "in-sample NLL",
            "in-sample Brier",
            ("proteins", "Those with a held-out confidence"),
        ),
    )
    return TableBlock(
        "Methods over all classes. Held-out numbers are of families that the fit did not see; "
        "in-sample numbers flatter. Differences are of held-out NLL, pair by pair.",
        columns,
        tuple(rows),
    )


def _class_table(lookup: Lookup) -> TableBlock:
    findings = lookup.findings
    names = [method.name for method in findings.methods]
    rows = tuple(
        (
            entry.class_name,
            count(entry.n_predicted),
            *(lookup.loss(name, entry.class_name) for name in names),
        )
        for entry in findings.results.classes
    )
    columns = (*words("predicted class"), *numbers("proteins", *names))
    return TableBlock("Held-out NLL by predicted class", columns, rows)
