"""Which method does best on families that its fit did not see, and what `auto` rests on."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from credence.findings import Difference, Findings, MethodFinding, StackFinding, StackMember
from credence.report import blocks as page
from credence.report.plots import ComparisonPlot
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.wording import NOTHING, count, loss, of, three_decimals

OVER_ALL = "all classes"
SHOWN = 0.005  # a weight below is 0.00


def section(findings: Findings) -> page.Section:
    """Return the comparison of all methods, held-out and in-sample."""
    lookup = Lookup(findings)
    names = [method.name for method in findings.methods]
    blocks: list[page.Block] = [page.Paragraph(_verdict(lookup), is_lead=True)]
    blocks.append(_overall_table(lookup))
    figure = _comparison(lookup)
    if figure is not None:
        blocks.append(page.FigureRow((figure, *_overall_reliability(lookup))))
    by_class = page.table(
        "Held-out NLL by predicted class",
        findings.results.classes,
        page.word("predicted class", "class_name"),
        page.number("proteins", "n_predicted"),
        *page.numbers(names, lambda entry, at: lookup.loss(names[at], entry.class_name)),
    )
    blocks.append(page.Folded("Held-out NLL of every class and method", (by_class,)))
    if any(name.startswith("cumulative") for name in names):
        blocks.append(
            page.Paragraph(
                "A warning about the cumulative methods: their confidence at a score is the share "
                "right among predictions with that score or better (or, below their cut-off, of "
                "all those below). It is not the probability at that very score."
            )
        )
    return page.Section("methods", "Which method, and why", tuple(blocks))


def _verdict(lookup: Lookup) -> str:
    findings = lookup.findings
    losses = [(lookup.value(method.name, None), method.name) for method in findings.methods]
    known = [pair for pair in losses if not math.isnan(pair[0])]
    if not known:
        return "Nothing could be held out, so the methods cannot be compared."
    if len(known) == 1:
        return f"Only {known[0][1]} was fitted; its held-out NLL is {known[0][0]:.3f}."
    best = min(known)[1]
    differences = {
        entry.method: entry
        for entry in findings.results.differences
        if _is_headline(entry) and entry.reference == findings.chosen
    }
    if best == findings.chosen:
        equal = [name for name, entry in differences.items() if not entry.lower > 0]
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
    distance = differences.get(best)
    words = f"{best} has the least held-out NLL over {OVER_ALL}; this run uses {findings.chosen}"
    if distance is None or math.isnan(distance.upper):
        return f"{words}."
    less = loss(-distance.value, -distance.upper, -distance.lower)
    stated = "is more than chance" if distance.upper < 0 else "may be chance"
    return f"{words}. The difference, {less} less, {stated}."


def _is_headline(entry: Difference) -> bool:
    return entry.class_name is None and entry.sample == "held_out" and entry.metric == "nll"


def _comparison(lookup: Lookup) -> page.Figure | None:
    findings = lookup.findings
    classes = [entry.class_name for entry in findings.results.classes if entry.n_predicted > 0]
    names = tuple(method.name for method in findings.methods)
    metrics = [
        [lookup.metrics.get((name, row, "held_out", "nll")) for row in (None, *classes)]
        for name in names
    ]

    def pick(field: str) -> tuple[tuple[float, ...], ...]:
        return tuple(tuple(getattr(entry, field, math.nan) for entry in row) for row in metrics)

    value = pick("value")
    if np.isnan(value).all():
        return None
    return page.Figure(
        "methods-nll",
        "Held-out negative log-likelihood of every method, over all classes and per predicted "
        f"class; less is better. Lines: {100 * findings.results.level:g} % intervals over "
        f"{lookup.families}. Methods are judged on the same proteins, so compare them by the "
        "differences in the table, not by whether their lines overlap.",
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


def _overall_reliability(lookup: Lookup) -> tuple[page.Figure, ...]:
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
        page.Figure(
            "reliability-all",
            f"All classes together: confidence of {chosen} against the share right, held-out and "
            "in-sample. In-sample points lie nearer to the diagonal than new proteins will."
            + lookup.chance_in_words(pairs[0][1]),
            "Reliability over all classes, held-out and in-sample.",
            reliability_plot(*zip(*pairs, strict=True)),
        ),
    )


def _overall_table(lookup: Lookup) -> page.TableBlock:
    differences = lookup.findings.results.differences
    headlines = {
        entry.method: loss(entry.value, entry.lower, entry.upper)
        for entry in differences
        if _is_headline(entry)
    }

    def metric(sample: str, name: str) -> page.Column:
        title = f"{sample.replace('_', '-')} {name.upper() if name == 'nll' else name.title()}"
        return page.number(title, lambda method: lookup.loss(method.name, None, sample, name))

    def n_held_out(method: MethodFinding) -> str:
        found = lookup.metrics.get((method.name, None, "held_out", "nll"))
        return NOTHING if found is None else count(found.n)

    return page.table(
        "Methods over all classes. Held-out numbers are of proteins that the fit did not see; "
        "in-sample numbers flatter. Differences are of held-out NLL, pair by pair.",
        lookup.findings.methods,
        page.word("method", "name"),
        metric("held_out", "nll"),
        metric("held_out", "brier"),
        page.number(
            f"NLL minus {differences[0].reference}" if differences else "difference",
            lambda method: headlines.get(method.name, NOTHING),
        ),
        metric("in_sample", "nll"),
        metric("in_sample", "brier"),
        page.number("proteins", n_held_out),
        explained={"proteins": "Those with a held-out confidence"},
    )


def stacks(findings: Findings) -> page.Section | None:
    """Return what each `auto` rests on; None where it was not fitted."""
    blocks: list[page.Block] = []
    lookup = Lookup(findings)
    knows = lookup.knows_relatives
    for entry in findings.stacks:
        families = f" in {of(entry.n_clusters, 'family', 'families')}" if knows else ""
        blocks += [
            page.Paragraph(
                f"{entry.method} is a weighted mean of methods. Each was also fitted without each "
                "part of the calibration set in turn, and the weights are those under which what "
                "came true in these parts is likeliest, pulled a little towards even ones. "
                f"{of(entry.n, 'protein')}{families} judged; the mean itself has an NLL of "
                f"{three_decimals(entry.held_out_nll)} there, with weights found on the same "
                "proteins: a little too good. The weights of a class are pulled towards those of "
                f"all classes, the more the fewer its {lookup.families}."
            ),
            page.table(
                f"Members of {entry.method}",
                entry.members,
                page.word("member", "method"),
                page.number("held-out NLL", "held_out_nll", three_decimals),
                page.number("weight", "weight", _two_decimals),
            ),
            page.Folded("Weights by predicted class", (_weights_by_class(findings, entry),)),
        ]
        seen = [(name, weight) for name, weight in entry.score_only.items() if weight >= SHOWN]
        weighty = {member.method for member in entry.members if member.weight >= SHOWN}
        if seen and weighty != set(dict(seen)):
            stated = ", ".join(f"{name} {weight:.2f}" for name, weight in seen)
            blocks.append(
                page.Paragraph(
                    "Curves over the score and look-ups by class and score are those of a second "
                    f"mean, of the members that see nothing else: {stated}. A published "
                    "confidence also rests on the scores of the other classes, so it lies around "
                    "the curve, not on it."
                )
            )
        if entry.skipped:
            reasons = "; ".join(f"{skipped.method}: {skipped.reason}" for skipped in entry.skipped)
            blocks.append(page.Paragraph(f"Not tried: {reasons}."))
    return page.Section("stacks", "What auto rests on", tuple(blocks)) if blocks else None


def _weights_by_class(findings: Findings, entry: StackFinding) -> page.TableBlock:
    names = findings.results.class_names

    def weight(member: StackMember, class_name: str) -> str:
        return _two_decimals(member.by_class[names.index(class_name)])

    return page.table(
        "Weight of each member, by predicted class",
        names,
        page.word("predicted class", str),
        *(
            page.number(member.method, partial(weight, member))
            for member in entry.members
            if member.weight >= SHOWN
        ),
    )


def _two_decimals(value: float) -> str:
    return NOTHING if math.isnan(value) else f"{value:.2f}"
