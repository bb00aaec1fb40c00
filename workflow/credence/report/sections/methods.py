"""Which method does best on families that its fit did not see, and what `auto` rests on."""

import math

from credence.findings import Difference, Findings, MethodFinding
from credence.problems import plural
from credence.report import blocks as page
from credence.report.plots import Interval, comparison, interval_of
from credence.report.sections.lookup import Lookup, reliability_plot
from credence.report.wording import DASH, count, loss, three_decimals, two_decimals

OVER_ALL = "all classes"
LEAST_WEIGHT_SHOWN = 0.005  # a weight below is 0.00


def section(findings: Findings) -> page.Section:
    """Return the comparison of all methods, held-out and in-sample."""
    lookup = Lookup(findings)
    figure = _comparison(lookup)
    is_cumulative = any(method.name.startswith("cumulative") for method in findings.methods)
    blocks = page.flat(
        figure and page.FigureRow(figures=(figure, *_overall_reliability(lookup))),
        _overall_table(lookup),
        "A cumulative confidence is the precision among predictions with that score or better "
        "(or, below the cut-off, of all those below), not at that very score." * is_cumulative,
    )
    return page.Section(name="methods", title="All methods", blocks=blocks)


def verdict_on_methods(lookup: Lookup) -> str:
    """Return which method was chosen, and what the others would do."""
    findings = lookup.findings
    losses = [(lookup.value(method.name, None), method.name) for method in findings.methods]
    known = [pair for pair in losses if not math.isnan(pair[0])]
    if not known:
        return "Nothing could be cross-validated, so the methods cannot be compared."
    if len(known) == 1:
        return f"Only {known[0][1]} was fitted; its held-out NLL is {known[0][0]:.3f}."
    best = min(known)[1]
    differences = {
        entry.method: entry
        for entry in findings.results.differences
        if _is_headline(entry) and entry.reference == findings.chosen
    }
    words = f"{best} has the least held-out NLL over {OVER_ALL}"
    if best == findings.chosen:
        words = f"Of {plural(len(known), 'method')}, {words}."
        if len(differences) < len(known) - 1:
            return words
        equal = ", ".join(name for name, entry in differences.items() if not entry.lower > 0)
        alike = f"Not distinguishable from it with these data: {equal}."
        return f"{words} {alike if equal else 'Every other method is worse by more than chance.'}"
    distance = differences.get(best)
    words = f"{words}; this run uses {findings.chosen}"
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

    def losses(method: str) -> list[Interval]:
        keys = ((method, name, "held_out", "nll") for name in (None, *classes))
        return [interval_of(lookup.metrics.get(key)) for key in keys]

    series = [(method.name, losses(method.name)) for method in findings.methods]
    if all(math.isnan(value) for _, numbers in series for value, *_ in numbers):
        return None
    return page.Figure(
        name="methods-nll",
        caption="Held-out negative log-likelihood of every method; less is better. Lines: "
        f"{100 * findings.results.level:g} % intervals over {lookup.families}. Compare methods by "
        "the differences in the table, not by whether their lines overlap.",
        alternative="Held-out negative log-likelihood per class and method; the table gives "
        "those of all classes, metrics.tsv each.",
        plot=comparison(f"held-out NLL per {lookup.findings.unit}", (OVER_ALL, *classes), series),
    )


def _overall_reliability(lookup: Lookup) -> tuple[page.Figure, ...]:
    chosen = lookup.findings.chosen
    pairs = [
        (words, reliability)
        for sample, words in (("held_out", "held-out"), ("in_sample", "in-sample"))
        if (reliability := lookup.reliability.get((chosen, None, sample))) is not None
        and sum(reliability.bins.n) > 0
    ]
    if not pairs:
        return ()
    figure = page.Figure(
        name="reliability-all",
        caption=f"All classes together: confidence of {chosen} against the precision, held-out "
        f"and "
        "in-sample. In-sample points lie nearer to the diagonal than new proteins will."
        + lookup.chance_in_words(pairs[0][1]),
        alternative="Reliability over all classes, held-out and in-sample.",
        plot=reliability_plot(*zip(*pairs, strict=True)),
    )
    return (figure,)


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
        entry = lookup.metrics.get((method.name, None, "held_out", "nll"))
        return DASH if entry is None else count(entry.n)

    return page.table(
        "Methods over all classes. Held-out numbers are of proteins that the fit did not see; "
        "in-sample numbers flatter.",
        lookup.findings.methods,
        page.word("method", "name"),
        metric("held_out", "nll"),
        metric("held_out", "brier"),
        page.number(
            f"NLL minus {differences[0].reference}" if differences else "difference",
            lambda method: headlines.get(method.name, DASH),
        ),
        metric("in_sample", "nll"),
        metric("in_sample", "brier"),
        page.number(lookup.units, n_held_out),
        explained={lookup.units: "Those with a held-out confidence"},
    )


def stacks(findings: Findings) -> page.Section | None:
    """Return what each `auto` rests on; None where it was not fitted."""
    blocks: list[page.Block] = []
    lookup = Lookup(findings)
    knows = lookup.knows_relatives
    for entry in findings.stacks:
        families = f" in {plural(entry.n_clusters, 'family', 'families')}" if knows else ""
        blocks += page.flat(
            f"{entry.method} is a weighted mean of methods: the weights are those under which "
            "what came true in parts left out in turn is likeliest, pulled in each class towards "
            f"those of all. {plural(entry.n, findings.unit)}{families} judged; its own NLL there, "
            f"{three_decimals(entry.held_out_nll)}, is a little too good.",
            page.table(
                f"Members of {entry.method}; weights by class are in report.json.",
                entry.members,
                page.word("member", "method"),
                page.number("held-out NLL", "held_out_nll", three_decimals),
                page.number("weight", "weight", two_decimals),
            ),
        )
        seen = [
            (name, weight)
            for name, weight in entry.score_only.items()
            if weight >= LEAST_WEIGHT_SHOWN
        ]
        weighty = {
            member.method for member in entry.members if member.weight >= LEAST_WEIGHT_SHOWN
        }
        if seen and weighty != set(dict(seen)):
            stated = ", ".join(f"{name} {weight:.2f}" for name, weight in seen)
            blocks += page.flat(
                "Curves over the score are those of a second mean, of the members that see "
                f"nothing but class and score: {stated}. Published confidences lie around them."
            )
        if entry.skipped:
            reasons = "; ".join(f"{skipped.method}: {skipped.reason}" for skipped in entry.skipped)
            blocks += page.flat(f"Not tried: {reasons}.")
    return (
        page.Section(name="stacks", title="What auto rests on", blocks=tuple(blocks))
        if blocks
        else None
    )
