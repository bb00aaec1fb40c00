"""Proteins with several labels: calibration by frequency and level, CAFA's measures, the tree."""

from credence.findings import CallsCurve, CallsFinding, CallsGroup, CallsLabel, Findings, Measured
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.wording import DASH, count, loss, share, three_decimals, with_interval

MOST_LABELS_IN_TABLE = 2000  # the upper levels of the tree first


def section(findings: Findings) -> page.Section | None:
    """Return what only several labels a protein have; None where each has one class."""
    calls = findings.calls
    if calls is None:
        return None
    lookup, chosen = Lookup(findings), findings.chosen
    rare = calls.by_frequency[0]
    lead = (
        f"{plural(findings.results.n_samples, 'call')} (protein and label) of "
        f"{plural(calls.n_proteins, 'protein')} were judged; {count(calls.n_missed)} true labels "
        "of these proteins were not called."
    )
    world = (
        "A call that is not among the known labels counts as wrong only where the protein has a "
        "known label in the same branch; other calls are left out (open world). So a confidence "
        "is how probably a call is right if the protein has any label in that branch."
        if calls.is_open
        else "A call that is not among the known labels counts as wrong (closed world)."
    )
    coherent = (
        " Confidences are coherent: none is above that of a label above it."
        if calls.has_tree
        else ""
    )
    best = min(rare.nll, key=lambda name: rare.nll[name].value)
    compared = (
        f" For {rare.name}, the least NLL is that of {best}."
        if rare.name.startswith("rare")
        else ""
    )
    further = page.Folded(
        summary="All labels"
        if len(calls.labels) <= MOST_LABELS_IN_TABLE
        else f"The {MOST_LABELS_IN_TABLE:,} labels of the upper levels, or most frequent",
        blocks=(_labels(calls),),
    )
    parts = (
        page.lead(lead),
        world + coherent + compared,
        _groups(calls.by_frequency, calls, chosen, f"By frequency, held-out {lookup.families}."),
        calls.by_level
        and _groups(calls.by_level, calls, chosen, "By level of the tree, roots at level 0."),
        _curves(calls),
        further,
    )
    return page.Section(name="calls", title="Several labels a protein", blocks=page.flat(*parts))


def _share(measured: Measured) -> str:
    return with_interval(measured.value, measured.lower, measured.upper)


def _loss(measured: Measured) -> str:
    return loss(measured.value, measured.lower, measured.upper)


def _groups(
    groups: tuple[CallsGroup, ...], calls: CallsFinding, chosen: str, caption: str
) -> page.TableBlock:
    def nll_of(method: str) -> page.Column:
        return page.number(f"NLL {method}", lambda group: _loss(group.nll[method]))

    return page.table(
        f"{caption} Published are the confidences of {chosen}.",
        groups,
        page.word("labels", "name"),
        page.number("how many", "n_labels", count),
        page.number("calls", "n", count),
        page.number("precision", "precision", _share),
        page.number("mean confidence", "confidence", share),
        *map(nll_of, calls.methods),
    )


def _curves(calls: CallsFinding) -> page.TableBlock:
    def best(curve: CallsCurve) -> str:
        return f"{three_decimals(curve.f_max.value)} at {three_decimals(curve.f_max_at)}"

    return page.table(
        "Measures of CAFA, protein by protein, each call with all labels above it: by the tool's "
        "score, and by the held-out confidence.",
        calls.curves,
        page.word("ranked by", "name"),
        page.number("Fmax", best),
        page.number("95 % interval", lambda curve: _share(curve.f_max)),
        page.number("Smin (bits)", lambda curve: _loss(curve.s_min)),
        page.number("AUPR", lambda curve: _loss(curve.area)),
    )


def _labels(calls: CallsFinding) -> page.TableBlock:
    order = sorted(calls.labels, key=lambda label: (label.level, -label.n_true))

    def part(n: int, total: int) -> str:
        return share(n / total) if total else DASH

    def named(label: CallsLabel) -> str:
        indent = "· " * label.level
        return f"{indent}{label.label}{f' ({label.name})' if label.name else ''}"

    return page.table(
        "Recall is the share of the proteins with the label that were called so.",
        order[:MOST_LABELS_IN_TABLE],
        page.word("label", named),
        page.number("proteins with it", "n_true", count),
        page.number("called", "n_called", count),
        page.number("precision", lambda label: part(label.n_right, label.n_called)),
        page.number("recall", lambda label: part(label.n_right, label.n_true)),
    )
