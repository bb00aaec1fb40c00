"""Texts for a publication and the first screen are true, whatever a run did and did not."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import product

import pytest
from tests.small_events import finding as events_finding

from credence.findings import (
    Apart,
    Caution,
    Findings,
    InputFile,
    NoveltyFinding,
    ReleasesFinding,
    ReleaseState,
    SetClass,
    SetsFinding,
    ShiftFinding,
    SplitClass,
    SplitFinding,
)
from credence.report import blocks as page
from credence.report.page_data import readme, report_record
from credence.report.sections import first, lists, overview, publish
from credence.report.sections.lookup import Lookup
from credence.report.sections.measuring import all_notices, floor_words
from credence.sentences import notices_of
from credence.stages.evaluate import _method_finding

WHAT_RAN = (
    *("proteins", "clusters", "training", "troves", "shift", "sets", "events", "novelty", "lists"),
)
# What is in the texts where it was done, and in none of them where it was not.
SAID_IF: dict[str, tuple[str, ...]] = {
    "proteins": ("align with identity of at least 0.40", "By exact alignment of 60 proteins"),
    "clusters": ("taken from clusters that were given",),
    "training": ("of the classifier's 70 training proteins were set aside: 3 proteins",),
    "troves": ("joined the calibration set 1 time (july), from 90 to 120 proteins",),
    "shift": ("How common each class is in sea water was estimated", "Lipton 2018", "score alike"),
    "sets": (
        "Prediction sets are conformal",
        "Vovk 2013",
        "in cross-validation, 0.91 (0.88–0.94) of them",
    ),
    "events": ("Probabilities of further events (two_best)", "Kuleshov & Liang 2015", "Platt"),
    "lists": ("3 predictions of sea water at 5 %", "Angelopoulos et al. 2021"),
    "novelty": ("How far proteins are from all known ones", "7 of 50 proteins of sea water"),
}
SAID_IF_NOT = {"training": ("its training set was not compared",)}
RELATIVES = (
    "kept whole",
    "whole families",
    "whole clusters",
    "clusters of relatives, not",
    "saw none",
)
ALONE = (
    "every protein counts as independent of all others",
    "folds of proteins",
    "count proteins",
)


def run(small: Findings, **ran: bool) -> Findings:
    """Return findings of a run that did some kinds of work and not the others."""
    made_by = "table" if ran["clusters"] else "aligned" if ran["proteins"] else "none"
    n_clusters = small.results.n_samples if made_by == "none" else 50
    kind = "relative of training protein"
    split = SplitFinding(
        identity=0.4, coverage=0.8, both_sides=False, strict="join", is_audited=ran["proteins"],
        is_exhaustive=False, n_sampled=60, n_population=120, n_crossing_sampled=1, bound=0.1,
        n_joined=0, largest_share=0.1, size_low=0.9, size_high=1.1,
        classes=(SplitClass(class_name="Portal", n=120, n_clusters=50, deviation=0.0,
        lower_bound=0.0, n_examined=60, n_crossing=1),), groups=(), edges=(),
        apart=(Apart(reason=kind, n=3),) if ran["training"] else (),
        clusters=made_by, n_training=70 if ran["training"] else 0,
    )  # fmt: skip
    first = ReleaseState(
        name="base", number=0, date=None, digest="a", n_calibration=90, n_correct=70, n_clusters=40
    )
    state = replace(first, name="july", number=1, n_calibration=120, digest="b")
    asked = events_finding()
    event = replace(asked.events[0], n_clusters=asked.events[0].n if made_by == "none" else 30)
    asked = replace(asked, events=(event,), reference="Platt 1999")
    found = SetClass(
        class_name=None,
        n=120,
        n_clusters=n_clusters,
        is_always_in=False,
        is_pooled=False,
        coverage=0.91,
        lower=0.88,
        upper=0.94,
        coverage_proteins=0.9,
        mean_size=1.5,
    )
    sets = SetsFinding(
        level=0.9,
        kind="class_wise",
        n_folds=5,
        families_needed=9,
        pooled=None,
        lending=(),
        classes=(),
        all_classes=found,
        sizes=(0, 120),
        n_single_right=100,
    )
    return replace(
        small,
        results=replace(
            small.results, n_clusters=n_clusters, curves=(), metrics=(), reliability=(), floors=()
        ),
        split=split,
        releases=ReleasesFinding(releases=(first, state), steps=()) if ran["troves"] else None,
        shifts=(
            ShiftFinding(
                name="sea water", estimator="bbse_hard" if ran["shift"] else "none",
                method="kernel", level=0.95, n_query=5, n_cells=0, compression_error=0.0,
                condition=1.0, part_applied=1.0, p_no_shift=0.5, gap=0.0, p_label_shift=0.5,
                classes=(),
                reference="Lipton 2018" if ran["shift"] else "",
            ),
        ),
        sets=sets if ran["sets"] else None,
        thresholds=small.thresholds if ran["lists"] else None,
        lists=small.lists if ran["lists"] else (),
        events=asked if ran["events"] else None,
        novelties=(
            NoveltyFinding(
                name="sea water", features="vectors", flag=0.95, n=50, n_placed=50, n_flagged=7,
                n_repeats=0, n_off=0, n_calibration=120, n_families=90, n_training=0,
                confidence_flagged=0.5, confidence_others=0.5, edges=(), calibration_counts=(),
                use_counts=(), flag_distance=0.5,
            ),
        ) if ran["novelty"] else (),
    )  # fmt: skip


def texts(findings: Findings) -> list[str]:
    """Return the methods text with its references, the checklist and the first screen."""
    methods = (*publish.methods_text(findings), *publish.references(findings))
    shown = [
        str(block)
        for block in (*first.section(findings).blocks, *overview.section(findings).blocks)
    ]
    points = (*publish.checklist(findings), *publish.journal_checks(findings))
    answers = " ".join(answer for *_, answer in points)
    return [" ".join(methods), answers, " ".join(shown)]


@pytest.mark.parametrize("relatives", list(product((False, True), repeat=2)))
def test_every_text_is_true_of_all_combinations_of_what_ran(
    small: Findings, relatives: tuple[bool, bool]
) -> None:
    for others in product((False, True), repeat=len(WHAT_RAN) - 2):
        ran = dict(zip(WHAT_RAN, (*relatives, *others), strict=True))
        found = run(small, **ran)
        methods, answers, first = texts(found)
        archived = readme(found) if len(set(others)) == 1 else ""  # templates take their time
        for what, is_done in ran.items():
            for said in SAID_IF[what]:
                assert (said in methods) is is_done, (said, ran)
            for said in SAID_IF_NOT.get(what, ()):
                assert (said in methods) is not is_done, (said, ran)
        knows = any(relatives)
        everything = "\n".join((methods, archived, answers, first))
        for said in RELATIVES:
            assert (said in everything) is knows, (said, ran)
        for said in ALONE:
            assert (said in everything) is not knows, (said, ran)
        assert knows or ("famil" not in everything and "clusters" not in methods + answers)


def test_thresholds_are_guaranteed_only_where_families_are_known(small: Findings) -> None:
    guaranteed = "Thresholds are guaranteed for new families by learn then test"
    for clusters in (False, True):
        found = run(small, **{what: what == "lists" for what in WHAT_RAN} | {"clusters": clusters})
        methods = " ".join(publish.methods_text(found))
        assert (guaranteed in methods) is clusters
        assert ("so nothing is guaranteed for new proteins." in methods) is not clusters
        shown = str(lists.section(found))
        assert ("guaranteed for proteins of new families" in shown) is clusters
        if_apart = "guaranteed if no two calibration proteins are related, which was not examined"
        assert (if_apart in shown) is not clusters


def test_what_is_cited_is_listed_and_what_is_listed_is_cited(small: Findings) -> None:
    for done in product((False, True), repeat=len(WHAT_RAN)):
        found = run(small, **dict(zip(WHAT_RAN, done, strict=True)))
        cited = re.findall(r"\[([\d, ]+)\]", " ".join(publish.methods_text(found)))
        numbers = {int(part) for group in cited for part in group.split(",")}
        listed = [int(text[1 : text.index("]")]) for text in publish.references(found)]
        assert sorted(numbers) == listed == list(range(1, len(listed) + 1))


# What may be said of families where nobody knows any.
ALLOWED = ("a family of its own", "not of new families", "a new family is not wrong")


def test_the_page_of_a_run_without_relatives_says_nothing_of_families(small: Findings) -> None:
    ran = {what: what not in ("proteins", "clusters", "training") for what in WHAT_RAN}
    found = run(small, **ran)
    found = replace(found, results=replace(small.results, n_clusters=small.results.n_samples))
    sections = report_record(replace(found, novelties=()))["sections"]
    text = json.dumps(sections, ensure_ascii=False)
    sentences = re.split(r'[.:;!?]\s|"', text)
    claims = [one for one in sentences if "famil" in one.lower() and one != "family"]
    assert [one for one in claims if not any(said in one for said in ALLOWED)] == []
    for said in (
        "known relatives",
        "cluster holds",
        '"audited"',
        '"nothing alike"',
        "audited pro",
    ):
        assert said not in text


def test_a_number_that_chance_gives_is_written_once_where_no_relatives_are_known(
    small: Findings,
) -> None:
    floor = next(one for one in small.results.floors if one.sample == "held_out")
    both = tuple(replace(floor, relatives_alike=alike) for alike in (False, True))
    lookup = Lookup(replace(small, results=replace(small.results, floors=both)))
    words = floor_words(lookup, floor.method, floor.class_name, floor.metric)
    assert words.endswith(f"(chance\u00a0{floor.value:.3f})")


def test_a_column_without_a_number_is_not_shown(small: Findings) -> None:
    assert page.known(small.results.classes, page.number("bandwidth", lambda _: "–")) == []


def test_sequences_without_two_relatives_are_not_asked_for_again(small: Findings) -> None:
    found = run(small, **{what: what == "proteins" for what in WHAT_RAN})
    cautions = (Caution(kind="no relatives", is_warning=True),)
    results = replace(small.results, n_clusters=small.results.n_samples, cautions=cautions)
    (alone,) = notices_of(results)
    assert alone.text.endswith("Give the sequences, or a table of clusters.")
    assert alone not in all_notices(replace(found, results=results))
    unknown = run(small, **dict.fromkeys(WHAT_RAN, False))
    assert alone in all_notices(replace(unknown, results=results))


def test_labelled_proteins_are_not_said_to_be_read_from_a_table_of_others(small: Findings) -> None:
    inputs = tuple(
        InputFile(role=role, name=f"{at}.csv", sha256="ab", n_records=1)
        for at, role in enumerate(("scores", "trove july: scores", "query set july: scores"))
    )
    found = replace(small, provenance=replace(small.provenance, inputs=inputs))
    answer = publish.checklist(found)[0][2]
    assert "read from 0.csv (SHA-256 ab), 1.csv (SHA-256 ab)." in answer


def test_settings_are_sentences_and_not_code() -> None:
    assert _method_finding("auto").prose.startswith("sees vector (what it looks at: vector, ")
    assert _method_finding("kernel").prose.endswith(
        "prior weight 1 (weight of the class's share; 0 for none), "
        "no reflection (fold mass beyond 0 and the scale back), "
        "safeguards (below the scores of a few families no more than they support, and where "
        "nearly all scores lie at the top mon or the class's share; false: the published formula "
        "alone)"
    )


def test_what_journals_ask_is_answered_by_what_the_run_knows(small: Findings) -> None:
    answers = dict(publish.journal_checks(small))
    assert list(answers) == [
        "Data availability",
        "Code availability",
        "Versions",
        "Random seeds",
        "Licences",
        "Sample size and statistics",
        "Figure legends",
    ]
    assert answers["Data availability"].startswith("The data are simulated; say so. The archive")
    assert answers["Sample size and statistics"] == (
        "120 proteins in 50 families. Intervals are 95 %, from 200 bootstrap resamples of "
        "families; p-values are two-sided, corrected by Holm's rule."
    )
    alone = replace(small.results, n_clusters=120, n_draws=0, tests=())
    real = replace(small.provenance, is_simulated=False)
    answers = dict(publish.journal_checks(replace(small, results=alone, provenance=real)))
    assert answers["Data availability"].startswith("The archive lists")
    assert answers["Sample size and statistics"] == "120 proteins. The run has no intervals."
