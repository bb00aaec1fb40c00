"""What each of several tools adds, where they disagree and who is right then."""

import math

from credence.findings import Findings, Measured, ToolFinding, ToolsFinding
from credence.problems import plural
from credence.report import blocks as page
from credence.report.sections.lookup import Lookup
from credence.report.wording import DASH, loss, rounded, three_decimals, with_interval


def section(findings: Findings) -> page.Section | None:
    """Return what each tool adds; None where there is one alone."""
    tools = findings.tools
    if tools is None:
        return None
    lookup = Lookup(findings)
    pairs = page.Folded(summary="Where tools disagree, and who is right", blocks=(_pairs(tools),))
    parts = page.lead(_in_short(tools, lookup)), _tools(tools, lookup), tools.pairs and pairs
    return page.Section(name="tools", title="What each tool adds", blocks=page.flat(*parts))


def _share(measured: Measured) -> str:
    return with_interval(measured.value, measured.lower, measured.upper)


def _loss(measured: Measured) -> str:
    return loss(measured.value, measured.lower, measured.upper)


def _in_short(tools: ToolsFinding, lookup: Lookup) -> str:
    best = next(tool for tool in tools.tools if tool.name == tools.best)
    by = f"{three_decimals(abs(tools.above_best))} ± {three_decimals(tools.error)}"
    text = (
        f"In cross-validation over {lookup.families} ({plural(tools.n, 'protein')}), the class "
        f"that all {len(tools.tools)} tools together find most probable is right for "
        f"{_share(tools.accuracy)}; that of {tools.best} alone, the best one, for "
        f"{_share(best.accuracy)}. "
    )
    if tools.alone:
        return text + (
            f"All together are worse than {tools.alone} (NLL higher by {by}), so that "
            f"{tools.alone} alone answers wherever it has an answer."
        )
    if tools.above_best < -tools.error:
        return text + f"Together they are better: their NLL is lower by {by}."
    return text + f"Their NLL differs by {by}: no more than chance explains."


def _tools(tools: ToolsFinding, lookup: Lookup) -> page.TableBlock:
    def unnamed(tool: ToolFinding) -> str:
        return ", ".join(tool.unnamed) or DASH

    nothing = Measured(value=math.nan, lower=math.nan, upper=math.nan)
    every = ToolFinding(
        name="all together",
        n_answered=tools.n,
        nll=tools.nll,
        accuracy=tools.accuracy,
        adds=nothing,
        unnamed=(),
    )
    rows = (*tools.tools, every)
    return page.table(
        f"What each tool is worth alone, and what is lost without it, in cross-validation over "
        f"{lookup.families}. Intervals ({rounded(100 * tools.level, 0)} %) count "
        f"{lookup.families}.",
        rows,
        page.word("tool", "name"),
        page.number("proteins answered", "n_answered"),
        page.number("right alone", "accuracy", _share),
        page.number("NLL alone", "nll", _loss),
        page.number("NLL more without it", "adds", _loss),
        *page.known(rows, page.word("classes it cannot name", unnamed)),
        explained={
            "right alone": "Share of all proteins whose most probable class is the true one; "
            "where the tool has no answer, the most frequent class is taken",
            "NLL alone": "Mean of −log of the probability of the true class: less is better",
            "NLL more without it": "By how much that of all together grows if it is left out; "
            "above 0 where the tool helps",
        },
    )


def _pairs(tools: ToolsFinding) -> page.TableBlock:
    return page.table(
        "Proteins for which two tools name different classes, and who is right then, "
        "cross-validated by family.",
        sorted(tools.pairs, key=lambda pair: -pair.n),
        page.word("one", "first"),
        page.word("the other", "second"),
        page.number("proteins", "n"),
        page.number("families", "n_clusters"),
        page.number("one is right", "first_right", _share),
        page.number("the other is right", "second_right", _share),
        page.number("all together are right", "combined_right", _share),
    )
