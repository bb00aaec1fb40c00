"""What the page says of a split."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from credence.findings import (
    Apart,
    CrossingPair,
    JoinedAudit,
    LargeCluster,
    SplitClass,
    SplitFinding,
    SplitGroup,
)
from credence.records import from_record, to_record
from credence.report.blocks import Figure, FigureRow, Paragraph
from credence.report.figures import draw
from credence.report.sections.splits import lead_of, section

EDGES = tuple(round(0.1 * step, 1) for step in range(11))
FOUND = SplitFinding(
    identity=0.4,
    coverage=0.8,
    both_sides=False,
    strict="join",
    is_audited=True,
    is_exhaustive=True,
    n_sampled=300,
    n_population=300,
    n_crossing_sampled=2,
    bound=2 / 300,
    n_joined=1,
    largest_share=0.4,
    size_low=0.97,
    size_high=1.03,
    classes=(
        SplitClass(
            class_name="HTJ",
            n=100,
            n_clusters=30,
            deviation=0.03,
            lower_bound=0.01,
            n_examined=100,
            n_crossing=2,
        ),
        SplitClass(
            class_name="Tail",
            n=200,
            n_clusters=80,
            deviation=0.05,
            lower_bound=0.03,
            n_examined=200,
            n_crossing=0,
        ),
    ),
    groups=(
        SplitGroup(name="1", n=150, nearest=(0, 0, 3, 20, 0, 1, 0, 0, 0, 0), n_alone=126),
        SplitGroup(name="2", n=150, nearest=(0, 0, 5, 12, 1, 0, 0, 0, 0, 0), n_alone=132),
    ),
    edges=EDGES,
    worst=(
        CrossingPair(
            first="a", first_group="1", second="b", second_group="2", identity=0.52, coverage=0.9
        ),
    ),
    apart=(Apart(reason="connects parts of a cluster larger than a group", n=1),),
    n_counted=40,
    n_by_chance=1,
    n_cut=1,
    whole=(LargeCluster(cluster="big/1", n=120, price=27, parted=60),),
)


def blocks_of(found: SplitFinding) -> tuple[Any, ...]:
    made = section(SimpleNamespace(joined=None, split=found, calls=None))  # type: ignore[arg-type]
    assert made is not None
    return made.blocks


def text_of(found: SplitFinding) -> str:
    return " ".join(block.text for block in blocks_of(found) if isinstance(block, Paragraph))


def figure_of(found: SplitFinding) -> Figure:
    (row,) = [block for block in blocks_of(found) if isinstance(block, FigureRow)]
    return row.figures[0]


def test_a_split_goes_to_json_and_back() -> None:
    assert from_record(SplitFinding, json.loads(json.dumps(to_record(FOUND)))) == FOUND
    literal = replace(FOUND, most_expected=None)
    assert from_record(SplitFinding, to_record(literal)) == literal


def test_the_page_states_the_definition_and_what_chance_excludes() -> None:
    text = text_of(FOUND)
    assert "at least 0.40 over at least 0.80 of the shorter of the two, with a score" in text
    assert "less than 1e-06 pairs of random proteins" in text
    assert "excludes 1 pair in two groups of 40 proteins looked at for it" in text
    literal = text_of(replace(FOUND, most_expected=None, n_counted=0, n_by_chance=0))
    assert "of the shorter of the two, whether chance explains the alignment or not." in literal
    assert "excludes" not in literal
    both = text_of(replace(FOUND, both_sides=True))
    assert "of both proteins" in both
    assert "many align with a part of one elsewhere" in both


def test_balance_stands_beside_what_cannot_be_helped() -> None:
    # (0.03 + 0.05)/2 and (0.01 + 0.03)/2
    assert "4.0 % would have to move to be even in the mean, of which 2.0 % cannot be helped." in (
        text_of(FOUND)
    )


def test_cuts_are_told_and_why_a_cluster_was_left_whole() -> None:
    text = text_of(FOUND)
    assert "1 cluster larger than a group was cut" in text
    assert (
        "The cluster big/1 holds 120 proteins, more than a group. It was left whole: the " in text
    )
    assert "would set 27 aside to part off 60; " in text
    dense = replace(FOUND, whole=(LargeCluster(cluster="big", n=120, price=0, parted=0),))
    assert "no cut would leave two parts" in text_of(dense)
    blind = replace(
        FOUND, whole=(LargeCluster(cluster="big", n=120, price=0, parted=0, is_searched=False),)
    )
    assert "It was not cut: that takes an audit" in text_of(blind)
    assert "It was left whole, as the settings say." in text_of(replace(FOUND, cut="never"))


def test_what_was_set_aside_for_relatives_is_told_with_its_least_number() -> None:
    assert "for relatives in another group that the audit found" not in text_of(FOUND)
    # 12 of 12 + 150 + 150
    few = text_of(replace(FOUND, strict="set_aside", n_apart=12, n_least=12))
    assert (
        "12 proteins were set aside (3.8 %) for relatives in another group that the audit found. "
        "Where their clusters fit in a group together they were joined instead, at no protein's "
        "cost; here they would be larger than a group, and make it uneven. No fewer would do: "
        "each other choice leaves relatives in two groups." in few
    )
    more = text_of(replace(FOUND, strict="set_aside", n_apart=12, n_least=9))
    assert "uneven. At least 9 have to go from these groups, by a bound on all choices." in more


def test_the_histogram_has_a_row_per_group_and_says_in_words_what_it_shows() -> None:
    figure = figure_of(FOUND)
    assert "300 audited proteins 42 have anything alike" in figure.alternative
    assert "and 2 a relative" in figure.alternative
    axes = draw(figure.plot).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2", "1"]
    # One bar for each bin with proteins, the relatives in another colour.
    assert len(axes.patches) == 6
    assert len({patch.get_facecolor() for patch in axes.patches}) == 2


def test_many_groups_are_one_row() -> None:
    groups = tuple(replace(FOUND.groups[0], name=str(number)) for number in range(40))
    plot: Any = figure_of(replace(FOUND, groups=groups)).plot
    assert plot.names == ("all",)
    assert plot.counts[0][3] == 40 * 20


def test_a_split_without_an_audit_has_no_histogram() -> None:
    blind = replace(FOUND, is_audited=False, worst=())
    assert not [block for block in blocks_of(blind) if isinstance(block, FigureRow)]
    text = text_of(blind)
    assert "whether relatives are in two groups is not known" in text
    assert "Clusters are taken for those of proteins that align with identity of at least" in text


def test_a_budget_that_ended_says_how_many_were_examined_and_what_is_left() -> None:
    some = replace(
        FOUND, is_exhaustive=False, n_sampled=300, n_population=20_000, bound=0.0123, n_met=4
    )
    text = text_of(some)
    assert (
        "Of 300 of the 20,000 proteins in groups, taken at random and compared with all of other "
        "groups, 2 have a relative there, and so have 4 others that were met; with 95 % "
        "confidence at most 1.23 % of all do."
    ) in text
    assert "Pairs of two groups that share most were aligned before all others." in text
    assert "others that were met" not in text_of(replace(some, n_met=0))
    assert "share most" not in text_of(FOUND)


def test_a_dense_family_is_said_to_be_judged_by_some_of_its_sequences() -> None:
    text = text_of(
        replace(
            FOUND, whole=(LargeCluster(cluster="big", n=2_000, price=0, parted=0, n_tried=149),)
        )
    )
    assert "no cut would leave two parts, by 149 of its sequences. The group that" in text


def test_proteins_that_joined_in_troves_are_counted_beside_those_of_the_split() -> None:
    # "All 1,417 proteins" stood where 1,649 calibrate.
    of_split = "Of all 300 proteins in groups, 2 have a relative in another group."
    joined = JoinedAudit(n=232, n_examined=232, n_crossing=0)
    assert lead_of(FOUND, joined) == (
        f"{of_split} 232 proteins joined later, in troves: each of these compared with all of "
        "other groups, 0 with a relative there."
    )
    assert lead_of(FOUND, replace(joined, n_examined=40, n_crossing=1)) == (
        f"{of_split} 232 proteins joined later, in troves: 40 of these compared with all of "
        "other groups, 1 with a relative there."
    )
    assert lead_of(FOUND, replace(joined, n_examined=0)) == (
        f"{of_split} 232 proteins joined later, in troves; whether these have a relative in "
        "another group was not examined."
    )
    assert lead_of(FOUND, JoinedAudit(n=0, n_examined=0, n_crossing=0)) == of_split
