"""Held-out coverage of prediction sets, and what the page says of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credence.calibrators.crossfit import fold_of
from credence.findings import Findings, SetClass, SetsFinding
from credence.records import from_record, to_record
from credence.report.blocks import Paragraph
from credence.report.sections import sets as sets_section
from credence.sets.conformal import SetOptions, family_weights, fit_sets, judge_sets
from set_worlds import NAMES, world

NAN = float("nan")


def test_each_family_counts_once_in_each_class() -> None:
    labelled = world(3)
    weight = family_weights(labelled)
    pairs = list(zip(labelled.cluster, labelled.true_class.tolist(), strict=True))
    assert weight.tolist() == [1.0 / pairs.count(pair) for pair in pairs]


@pytest.mark.parametrize("kind", ["class_wise", "overall"])
def test_coverage_is_counted_on_families_left_out(kind: str) -> None:
    labelled = world(2, n=150, n_families=70)
    options = SetOptions(level=0.8, kind=kind)  # type: ignore[arg-type]
    found = judge_sets(labelled, options, 4, 0.95, 50)
    true = np.array(labelled.predictions.class_names)[labelled.true_class]
    fold = fold_of(labelled.cluster, true, 4)
    covered, size = np.zeros(labelled.n_samples), np.zeros(labelled.n_samples)
    for row in range(labelled.n_samples):
        sets = fit_sets(labelled.take(fold != fold[row]), options)
        contains = sets.contains(labelled.predictions.take(np.array([row])))[0]
        covered[row], size[row] = contains[labelled.true_class[row]], contains.sum()
    for class_, entry in enumerate(found.classes):
        rows = labelled.true_class == class_
        families = sorted(set(labelled.cluster[rows]))
        of_family = [rows & (labelled.cluster == family) for family in families]
        assert entry.coverage == pytest.approx(
            np.mean([covered[some].mean() for some in of_family]), abs=1e-12
        )
        assert entry.mean_size == pytest.approx(
            np.mean([size[some].mean() for some in of_family]), abs=1e-12
        )
        assert entry.coverage_proteins == pytest.approx(covered[rows].mean(), abs=1e-12)
        assert (entry.n, entry.n_clusters) == (rows.sum(), len(families))
        assert entry.lower < entry.coverage < entry.upper
        assert not entry.is_always_in
    assert found.sizes == tuple(np.bincount(size.astype(int), minlength=4).tolist())
    assert found.n_single_right == int(((size == 1) & (covered == 1)).sum())
    assert from_record(SetsFinding, to_record(found)) == found


def test_a_single_family_has_nothing_to_be_judged_by() -> None:
    labelled = world(1).take(np.array([0]))
    found = judge_sets(labelled, SetOptions(level=0.9), 5, 0.95, 20)
    own = found.classes[int(labelled.true_class[0])]
    assert own.is_always_in
    assert own.coverage == 1.0  # every class may be
    assert found.sizes == (0, 0, 0, 1)


def finding(kind: str) -> SetsFinding:
    classes = (
        SetClass(
            class_name=NAMES[0],
            n=60,
            n_clusters=25,
            is_always_in=False,
            is_pooled=False,
            coverage=0.91,
            lower=0.8,
            upper=0.96,
            coverage_proteins=0.95,
            mean_size=1.4,
        ),
        SetClass(
            class_name=NAMES[1],
            n=5,
            n_clusters=3,
            is_always_in=False,
            is_pooled=True,
            coverage=1.0,
            lower=0.4,
            upper=1.0,
            coverage_proteins=1.0,
            mean_size=2.0,
        ),
        SetClass(
            class_name=NAMES[2],
            n=0,
            n_clusters=0,
            is_always_in=True,
            is_pooled=False,
            coverage=NAN,
            lower=NAN,
            upper=NAN,
            coverage_proteins=NAN,
            mean_size=NAN,
        ),
    )
    whole = SetClass(
        class_name=None,
        n=65,
        n_clusters=28,
        is_always_in=False,
        is_pooled=False,
        coverage=0.92,
        lower=0.82,
        upper=0.97,
        coverage_proteins=0.95,
        mean_size=1.5,
    )
    return SetsFinding(
        level=0.9,
        kind=kind,
        n_folds=5,
        families_needed=9,
        classes=classes,
        all_classes=whole,
        pooled=replace(classes[1], class_name=None, is_pooled=False),
        lending=("Portal",),
        sizes=(4, 31, 20, 10),
        n_single_right=28,
    )


def test_the_page_says_what_sets_promise_and_keep(small: Findings) -> None:
    assert sets_section.section(small) is None
    section = sets_section.section(replace(small, sets=finding("class_wise")))
    assert section is not None
    texts = [block.text for block in section.blocks if isinstance(block, Paragraph)]
    assert texts[0] == (
        "The column prediction_set names every class that a protein may well be of: of the "
        "proteins of each class 90 % have their class in their set. That holds whatever the class "
        "proportions are, so it needs no correction. Families count, not "
        "proteins: the promise is for a protein of a new family."
    )
    assert texts[1] == (
        "In cross-validation over families (5 parts), 0.92 (0.82–0.97) of the sets hold the true "
        "class, from "
        "65 proteins of 28 families, each family counting once; they name 1.50 classes on "
        "average. 31 proteins of 65 get a single class, and of these 0.90 are of it. 4 proteins "
        "fit no class. A threshold of a class's own takes 9 families; Collar has fewer, and has a "
        "pooled threshold, from its families, with those of Portal. The promise is for these "
        "families together, not for each class: in cross-validation, the sets of 5 proteins of "
        "this class "
        "hold the true class 1.00 (0.40–1.00). The column set_pooled names such classes where "
        "they are in a set. Too few families are known of HTJ (9 are needed): it stands in every "
        "set."
    )


def test_the_page_says_that_sets_over_all_depend_on_the_mix(small: Findings) -> None:
    section = sets_section.section(replace(small, sets=finding("overall")))
    assert section is not None
    first = section.blocks[0]
    assert isinstance(first, Paragraph)
    assert (
        "of all proteins 90 % have their class in their set, of some classes fewer" in first.text
    )
    assert "for others there is a column of its own" in first.text
