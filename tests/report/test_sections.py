"""Contract over the registry of sections, and their records word for word."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from credence.findings import Findings, Genomes, Provenance
from credence.report.blocks import (
    Figure,
    FigureRow,
    Folded,
    Heading,
    Panel,
    Paragraph,
    Section,
    TableBlock,
)
from credence.report.page_data import publication, report_record
from credence.report.sections import lists
from credence.report.sections.all_sections import PAGE_SECTIONS, sections_of
from credence.report.sections.by_class import sentence
from credence.report.sections.lists import precision_and_recall
from credence.report.sections.lookup import Lookup, more_needed
from credence.report.sections.methods import verdict_on_methods

GOLDEN = Path(__file__).parent / "golden"


def flat(block: Section | Folded | Panel) -> list[object]:
    """Return every block, those inside others too."""
    blocks: list[object] = []
    for inner in block.blocks:
        blocks.append(inner)
        if isinstance(inner, Folded | Panel):
            blocks.extend(flat(inner))
    return blocks


def test_the_records_of_all_sections_are_the_golden_ones(small: Findings, tmp_path: Path) -> None:
    text = json.dumps(report_record(small), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    (tmp_path / "sections.json").write_text(text, encoding="utf-8")
    golden = (GOLDEN / "sections.json").read_text(encoding="utf-8")
    assert text == golden, f"right? {tmp_path / 'sections.json'} → {GOLDEN}"


def test_every_module_of_the_room_is_in_the_registry() -> None:
    registered = {build.__module__.rpartition(".")[2] for build in PAGE_SECTIONS}
    here = Path(__import__("credence.report.sections", fromlist=["x"]).__file__).parent
    others = {"__init__", "all_sections", "lookup"}
    assert registered == {path.stem for path in here.glob("*.py")} - others


@pytest.mark.parametrize("build", PAGE_SECTIONS, ids=lambda build: build.__module__)
def test_a_section_is_the_same_for_the_same_findings(build: object, small: Findings) -> None:
    assert repr(build(small)) == repr(build(small))  # type: ignore[operator]


def test_names_and_anchors_are_unique_and_plain(small: Findings, hostile: Findings) -> None:
    for findings in (small, hostile):
        names = []
        for section in sections_of(findings):
            names.append(section.name)
            for block in flat(section):
                if isinstance(block, Heading | Panel | Folded) and block.anchor:
                    names.append(block.anchor)
                if isinstance(block, FigureRow):
                    names.extend(f"figure-{figure.name}" for figure in block.figures)
        assert len(names) == len(set(names))
        assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in names)


def test_every_table_is_rectangular_and_says_what_it_shows(small: Findings) -> None:
    tables = [b for s in sections_of(small) for b in flat(s) if isinstance(b, TableBlock)]
    assert len(tables) >= 8
    for table in tables:
        assert table.caption
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert len(table.anchors) in (0, len(table.rows))


def test_every_figure_has_words_for_those_who_do_not_see_it(small: Findings) -> None:
    rows = [b for s in sections_of(small) for b in flat(s) if isinstance(b, FigureRow)]
    figures: list[Figure] = [figure for row in rows for figure in row.figures]
    # two classes with two figures each and one a third, gaps, methods twice, lists, one query set
    assert len(figures) == 10
    assert all(figure.alternative.endswith(".") and figure.caption for figure in figures)


def test_a_class_has_its_sentence_with_interval_proteins_and_families(small: Findings) -> None:
    lookup = Lookup(small)
    # kernel at 7: 0.1 + 0.08 · 7 = 0.66, minus 0.08, plus 0.04
    assert sentence(lookup, small.results.classes[0]) == (
        "A prediction of Portal with score 7 is right with probability 0.66 (0.58–0.70), "
        "from 60 proteins in 25 families."
    )


def test_without_relatives_no_families_are_claimed(small: Findings) -> None:
    alone = replace(small, results=replace(small.results, n_clusters=120))
    words = sentence(Lookup(alone), alone.results.classes[0])
    assert words.endswith("from 60 proteins (no relatives known).")
    assert "families" not in words


def test_without_curves_the_sentence_holds_whatever_the_score(small: Findings) -> None:
    bare = replace(small, results=replace(small.results, curves=(), histograms=()))
    assert sentence(Lookup(bare), bare.results.classes[0]) == (
        "A prediction of Portal is right with probability 0.75 (0.62–0.86), whatever its score, "
        "from 60 proteins in 25 families."
    )
    assert len(sections_of(bare)) == len(sections_of(small))


def test_a_methods_text_says_simulated_where_the_run_does(small: Findings) -> None:
    real = Provenance(run="small", title="A small run", credence_version="0.1.0")
    for findings, is_said in ((small, True), (replace(small, provenance=real), False)):
        text = publication(findings)
        assert ("on simulated data" in text) is is_said
        assert ("are **simulated**" in text) is is_said


def verdict(findings: Findings) -> str:
    return verdict_on_methods(Lookup(findings))


def test_the_verdict_claims_no_more_than_the_paired_differences_show(small: Findings) -> None:
    least = "Of 2 methods, kernel has the least held-out NLL over all classes."
    assert verdict(small) == f"{least} Every other method is worse by more than chance."
    difference = small.results.differences[0]
    for changed, words in (
        (
            replace(difference, lower=-0.01),
            f"{least} Not distinguishable from it with these data: class_only.",
        ),
        (replace(difference, reference="another"), least),
    ):
        results = replace(small.results, differences=(changed,))
        assert verdict(replace(small, results=results)) == words


def test_the_verdict_says_when_another_method_does_better(small: Findings) -> None:
    better = replace(
        small.results.differences[0],
        method="kernel",
        reference="class_only",
        value=-0.2,
        lower=-0.29,
        upper=-0.12,
    )
    for upper, words in ((-0.12, "is more than chance."), (0.01, "may be chance.")):
        results = replace(small.results, differences=(replace(better, upper=upper),))
        text = verdict(replace(small, chosen="class_only", results=results))
        assert text.startswith("kernel has the least held-out NLL over all classes; this run uses")
        assert text.endswith(words)


def test_a_use_set_without_confidences_is_not_called_usable(small: Findings) -> None:
    text = str(lists.section(replace(small, lists=(replace(small.lists[0], n=0),))))
    assert "No prediction of sea water has a confidence." in text
    assert "you can use" not in text


def test_the_page_says_what_thresholds_are_and_where_they_are(small: Findings) -> None:
    found = lists.section(replace(small, files=("thresholds.tsv",)))
    assert found is not None
    (said,) = (
        block
        for block in found.blocks
        if isinstance(block, Paragraph) and block.text.startswith("thresholds.tsv has")
    )
    assert said.text == (
        "thresholds.tsv has the least score of each class from which on 90 % of its predictions "
        "are right: as estimated, and guaranteed for proteins of new families, each family "
        "counting once (at most 5 % of calibration sets give a threshold that lets through more "
        "wrong ones). They hold at calibration's class proportions; for others use the lists."
    )
    assert [link.target for link in said.links] == ["thresholds.tsv"]


def test_a_run_without_use_sets_has_no_section_of_them(small: Findings) -> None:
    without = replace(small, queries=(), lists=(), thresholds=None)
    names = [section.name for section in sections_of(without)]
    assert names == [
        *("first", "classes", "measuring", "mistakes", "publish"),
        *("checks", "notices", "tests", "methods", "what-it-means", "settings"),
    ]


def test_few_proteins_are_not_said_to_be_enough(small: Findings) -> None:
    # By hand, 95 %: half of 0.86 around 0.43 takes (2 · 1.96 / 0.43)² · 0.43 · 0.57 = 20.4
    # proteins, of which one is there. Four times one would give nothing like half the width.
    assert more_needed(0.0, 0.86, 1.0, 0.95) == 19
    # With many, four times as many: three times as many more.
    assert more_needed(0.4, 0.6, 400.0, 0.95) == 1200
    assert more_needed(0.999, 1.0, 5.0, 0.95) >= 15


def test_genomes_whose_every_call_may_be_right_stand_beside_the_lists(small: Findings) -> None:
    own = Genomes(
        name=small.lists[0].name,
        calls=("HTJ",),
        knows_relatives=False,
        n=12,
        n_calls=40,
        expected_wrong=5.25,
        expected_right=7.5,
        sure=0.9,
        n_sure=3,
    )
    text = str(lists.section(replace(small, genomes=(own,))))
    assert "Of the 12 genomes of" in text
    assert "about 7.5 have no wrong call; of 3 that is at least 90 % probable." in text
    assert "About 5.2 of 40 calls of HTJ are wrong." in text
    assert "relatives is not known, and with relatives more are all right." in text
    known = replace(own, knows_relatives=True, calls=())
    text = str(lists.section(replace(small, genomes=(known,))))
    assert "40 calls are wrong." in text
    assert "but for relatives, which are alike." in text
    other = replace(small, genomes=(replace(own, name="another set"),))
    assert "genomes.tsv" not in str(lists.section(other))


def test_where_a_list_ends_stands_with_all_digits(small: Findings) -> None:
    # Rounded to three decimals the end was below, or above, that by which the file was cut.
    (of_sample,) = small.lists
    ends = tuple(replace(entry, confidence=0.9995) for entry in of_sample.lists)
    found = lists.section(replace(small, lists=(replace(of_sample, lists=ends),)))
    assert found is not None
    (table,) = (
        block
        for block in flat(found)
        if isinstance(block, TableBlock) and block.caption.startswith("Lists of sea water")
    )
    place = [column.title for column in table.columns].index("confidence from")
    assert {row[place] for row in table.rows} == {"0.9995"}


def test_precision_and_recall_are_those_of_the_curve_of_errors(small: Findings) -> None:
    assert small.thresholds is not None
    # Kept 1, 0.6, 0.3 with 0.4, 0.2, 0.1 wrong: right are 0.6, 0.48, 0.27 of all.
    precision, bound, recall = precision_and_recall(small.thresholds.curves[0])
    assert precision == pytest.approx((0.6, 0.8, 0.9))
    assert bound == pytest.approx((0.4, 0.6, 0.7))
    assert recall == pytest.approx((1.0, 0.8, 0.45))


def test_the_appendix_comes_last_and_the_short_print_has_three_sections(small: Findings) -> None:
    shown = sections_of(small)
    places = [section.is_appendix for section in shown]
    assert places == sorted(places)
    assert shown[-1].name == "settings"
    assert [entry.name for entry in shown if entry.is_summary] == ["first", "classes", "measuring"]


def test_every_section_names_a_page_of_the_documentation_that_there_is(small: Findings) -> None:
    folder = Path(__file__).parents[2] / "docs"
    for section in sections_of(small):
        assert (folder / f"{section.documentation}.md").is_file(), section.name
