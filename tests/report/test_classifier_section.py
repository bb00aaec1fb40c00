"""What the page says of networks that a run trained."""

from __future__ import annotations

from dataclasses import replace

from credence.findings import ClassifierFinding, Findings, RetrainingFinding
from credence.report.blocks import Paragraph
from credence.report.sections.classifier import section

FOUND = ClassifierFinding(
    features="tetra_sc_p",
    n_features=2409,
    scores="every_group",
    n_groups=11,
    n_networks=55,
    n_published=10,
    n_learnt=1200,
    n_calibrating=1200,
    n_apart=3,
    n_test=0,
    n_families=400,
    accuracy=0.873,
)


def words(small: Findings, found: ClassifierFinding) -> list[str]:
    built = section(replace(small, classifier=found))
    assert built is not None
    return [block.text for block in built.blocks if isinstance(block, Paragraph)]


def test_nothing_is_written_where_a_tool_gave_the_scores(small: Findings) -> None:
    assert section(small) is None


def test_in_turn_published_scores_are_surer_and_nothing_measured_it(small: Findings) -> None:
    lead, whose, surer = words(small, FOUND)
    assert lead == (
        "55 networks were trained here on 2,409 numbers of each protein (tetra_sc_p). Of the "
        "1,200 proteins that calibrate (400 clusters of relatives), 0.87 are predicted right by "
        "networks that saw neither them nor a relative."
    )
    assert "a score is the sum of 10 networks, on a scale of 10; each of these left out" in whose
    assert "slightly surer than those that calibrated. 3 proteins were set aside" in whose
    assert "was not measured, as no group was kept from all networks" in surer


def test_a_group_that_no_network_saw_shows_how_much_surer(small: Findings) -> None:
    found = replace(FOUND, scores="both", n_test=100, surer=(0.123, 0.05, 0.2))
    assert words(small, found)[2] == (
        "On the 100 proteins of the group that no network saw, the best published score differs "
        "from the one in turn by +0.12 (+0.05 to +0.20) of 10 on average."
    )


def test_with_a_test_group_old_and_new_proteins_are_scored_alike(small: Findings) -> None:
    _, whose = words(small, replace(FOUND, scores="test_group", n_test=100, n_networks=10))
    assert whose.startswith("One group of whole clusters, 100 proteins, calibrates; no network ")
    assert "of these proteins as of new ones, is the sum of 10 networks" in whose


def test_whether_retraining_is_worth_it_is_what_the_interval_allows(small: Findings) -> None:
    worth = RetrainingFinding(900, 60, 0.8, (0.01, -0.01, 0.03), (-0.02, -0.03, -0.01))
    text = words(small, replace(FOUND, worth=worth))[-1]
    assert text.startswith("Retraining is worth it: with the 60 new proteins learnt from, ")
    assert "changes by \N{MINUS SIGN}0.020 (\N{MINUS SIGN}0.030 to \N{MINUS SIGN}0.010;" in text
    unsure = replace(worth, nll=(-0.02, -0.05, 0.01))
    text = words(small, replace(FOUND, worth=unsure))[-1]
    assert text.startswith("These proteins do not show whether retraining is worth it: ")
    worse = replace(worth, nll=(0.02, 0.01, 0.03))
    text = words(small, replace(FOUND, worth=worse))[-1]
    assert text.startswith("Retraining is not worth it: ")
