"""The section on several tools, from findings written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credence.findings import Disagreement, Findings, Measured, ToolFinding, ToolsFinding
from credence.report.blocks import Folded, Paragraph, TableBlock
from credence.report.sections.tools import section
from small_findings import make

NAN = float("nan")


def tools(above_best: float = -0.03, alone: str = "", is_twofold: bool = True) -> ToolsFinding:
    def nll(value: float) -> Measured:
        return Measured(value=value, lower=value - 0.02, upper=value + 0.02)

    first = ToolFinding(
        name="main",
        n_answered=400,
        nll=nll(0.4),
        accuracy=Measured(value=0.8, lower=0.75, upper=0.85),
        adds=nll(0.5),
        unnamed=(),
    )
    second = ToolFinding(
        name="second",
        n_answered=300,
        nll=nll(0.6),
        accuracy=Measured(value=0.7, lower=0.6, upper=0.8),
        adds=nll(0.03),
        unnamed=("Collar", "Tail"),
    )
    pair = Disagreement(
        first="main", second="second", n=1200, n_clusters=9,
        first_right=Measured(value=0.5, lower=0.4, upper=0.6), second_right=Measured(value=0.3,
        lower=0.2, upper=0.4), combined_right=Measured(value=0.75, lower=0.6, upper=0.9),
    )  # fmt: skip
    return ToolsFinding(
        n=400, n_clusters=90, level=0.95, nll=nll(0.37), accuracy=Measured(value=0.84,
        lower=0.8, upper=0.88),
        tools=(first, second), pairs=(pair,) if is_twofold else (), best="main",
        above_best=above_best, error=0.01, alone=alone,
    )  # fmt: skip


def with_tools(found: ToolsFinding) -> Findings:
    return replace(make(("a", "b", "c")), tools=found)


def lead(found: ToolsFinding) -> str:
    built = section(with_tools(found))
    assert built is not None
    assert isinstance(built.blocks[0], Paragraph)
    return built.blocks[0].text


def test_one_tool_alone_has_no_section() -> None:
    assert section(make(("a", "b", "c"))) is None


@pytest.mark.parametrize(
    ("found", "end"),
    [
        (tools(), "Together they are better: their NLL is lower by 0.030 ± 0.010."),
        (tools(0.005), "Their NLL differs by 0.005 ± 0.010: no more than chance explains."),
        (
            tools(0.02, "main"),
            "All together are worse than main (NLL higher by 0.020 ± 0.010), so that main alone "
            "answers wherever it has an answer.",
        ),
    ],
)
def test_the_first_words_say_whether_all_beat_the_best(found: ToolsFinding, end: str) -> None:
    assert lead(found) == (
        "In cross-validation over families (400 proteins), the class that all 2 tools together "
        "find most probable is right for 0.84 (0.80–0.88); that of main alone, the best one, for "
        f"0.80 (0.75–0.85). {end}"
    )


def test_tables_say_what_each_adds_and_who_is_right() -> None:
    built = section(with_tools(tools()))
    assert built is not None
    _, each, folded = built.blocks
    assert isinstance(each, TableBlock)
    assert each.rows == (
        ("main", "400", "0.80 (0.75–0.85)", "0.400 (0.380 to 0.420)", "0.500 (0.480 to 0.520)",
         "–"),
        ("second", "300", "0.70 (0.60–0.80)", "0.600 (0.580 to 0.620)", "0.030 (0.010 to 0.050)",
         "Collar, Tail"),
        ("all together", "400", "0.84 (0.80–0.88)", "0.370 (0.350 to 0.390)", "–", "–"),
    )  # fmt: skip
    assert isinstance(folded, Folded)
    (pairs,) = folded.blocks
    assert isinstance(pairs, TableBlock)
    assert pairs.rows == (
        ("main", "second", "1,200", "9", "0.50 (0.40–0.60)", "0.30 (0.20–0.40)",
         "0.75 (0.60–0.90)"),
    )  # fmt: skip


def test_tools_that_never_disagree_have_no_such_part() -> None:
    built = section(with_tools(tools(is_twofold=False)))
    assert built is not None
    assert len(built.blocks) == 2
