"""When a reader is warned of a composition, and in which words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from credence.composition.diagnostics import NEAR_SINGULAR, Diagnostics, _doubts
from credence.composition.estimate import Composition, NoShift
from shift_findings import remarks_about, warnings_about

NAMES = ("Portal", "Collar", "HTJ")
ZERO = np.zeros(3)
KNOWN = Composition(
    calibration_proportion=np.array([0.5, 0.3, 0.2]),
    share=np.array([0.2, 0.3, 0.5]),
    lower=np.array([0.1, 0.2, 0.4]),
    upper=np.array([0.3, 0.4, 0.6]),
    draws=np.zeros((3, 0)),
    calibration_draws=np.zeros((3, 0)),
    deviation=ZERO,
    is_known=np.array([True, True, True]),
    least=0.01,
    is_free=np.array([False, False, False]),
)


def seen_of(composition: Composition, condition: float, gap: float, p: float) -> Diagnostics:
    return Diagnostics(
        condition=condition,
        effective_before=ZERO,
        effective_after=ZERO,
        p_no_shift=1.0,
        gap=gap,
        p_label_shift=p,
        doubts=_doubts(NAMES, composition, condition > NEAR_SINGULAR),
    )


def sentences(composition: Composition, condition: float, gap: float, p: float) -> list[str]:
    return warnings_about(seen_of(composition, condition, gap, p))


def remarks(composition: Composition) -> list[str]:
    return remarks_about(seen_of(composition, 2.0, 0.0, 1.0), composition.part_applied)


def first_words(composition: Composition, condition: float, gap: float, p: float) -> list[str]:
    found = sentences(composition, condition, gap, p)
    return [" ".join(sentence.split()[:5]) for sentence in found]


UNLIKE = ["Label shift alone does not"]


@pytest.mark.parametrize(
    ("gap", "p", "expected"),
    [
        (0.021, 0.0099, UNLIKE),
        (0.021, 0.01, []),  # chance alone
        (0.02, 0.0099, []),  # sure, and too small to matter
    ],
)
def test_another_kind_of_protein_is_named_where_it_is_sure_and_matters(
    gap: float, p: float, expected: list[str]
) -> None:
    assert first_words(KNOWN, 2.0, gap, p) == expected
    stated = ["The stated class proportions do"] if expected else []
    assert first_words(replace(KNOWN, least=0.0), 2.0, gap, p) == stated


def test_shares_that_are_wide_open_are_named() -> None:
    wide = np.array([0.3, 0.46, 0.6])
    one = replace(KNOWN, deviation=np.array([0.0, 0.26, 0.0]))
    (found,) = sentences(one, 2.0, 0.0, 1.0)
    assert found == (
        "The classifier cannot tell Collar from other classes: "
        "its share in this set is all but unknown."
    )
    # Open by the estimator, and wide: of two such classes only one is wide.
    free = replace(KNOWN, is_free=np.array([True, True, False]), upper=wide)
    assert sentences(free, 2.0, 0.0, 1.0) == [found]
    assert sentences(replace(KNOWN, upper=wide), 2.0, 0.0, 1.0) == []
    both = replace(KNOWN, deviation=np.array([0.3, 0.26, 0.25]))
    (found,) = sentences(both, 2.0, 0.0, 1.0)
    assert "Portal and Collar from other classes: their shares in this set are" in found


def test_shares_whose_intervals_are_nearly_whole_are_named_and_all_of_them_in_one_word() -> None:
    whole = replace(KNOWN, lower=np.zeros(3), upper=np.array([0.95, 0.1, 0.85]))
    assert sentences(whole, 2.0, 0.0, 1.0) == [
        "The classifier cannot tell Portal from other classes: "
        "its share in this set is all but unknown."
    ]
    every = replace(KNOWN, deviation=np.full(3, 0.3), n_seen=1.0)
    assert sentences(every, 2.0, 0.0, 1.0) == [
        "Too few proteins of any class were seen, here or in calibration: "
        "their shares in this set are all but unknown."
    ]


def test_of_few_proteins_it_is_not_the_classifier_that_leaves_a_share_unknown() -> None:
    unsure = replace(KNOWN, deviation=np.full(3, 0.3), n_seen=np.array([15.9, 16.0, 3.0]))
    assert sentences(unsure, 2.0, 0.0, 1.0) == [
        "The classifier cannot tell Collar from other classes: "
        "its share in this set is all but unknown.",
        "Too few proteins of Portal and HTJ were seen, here or in calibration: "
        "their shares in this set are all but unknown.",
    ]


def test_classes_that_calibration_does_not_hold_are_named() -> None:
    one = replace(KNOWN, is_known=np.array([True, False, True]), deviation=np.full(3, 0.3))
    found = sentences(one, 2.0, 0.0, 1.0)
    assert found[0] == (
        "The calibration set holds no Collar: its share is not known, "
        "and confidences cannot be corrected for it."
    )
    assert "Portal and HTJ" in found[1]  # what is not there is not said to be taken for others
    two = replace(KNOWN, is_known=np.array([False, False, True]))
    assert "no Portal or Collar: their shares are not known" in (sentences(two, 2.0, 0.0, 1.0)[0])


def test_classes_that_are_taken_for_each_other_are_a_warning_of_estimates_alone() -> None:
    assert first_words(KNOWN, 100.0, 0.0, 1.0) == []
    assert first_words(KNOWN, 100.1, 0.0, 1.0) == ["Some classes are confused so"]
    assert first_words(replace(KNOWN, least=0.0), 100.1, 0.0, 1.0) == []


def test_what_is_applied_of_an_estimate_is_said_where_it_is_not_all() -> None:
    assert remarks(KNOWN) == []
    chance = np.arange(1.0, 401.0)
    same = replace(KNOWN, no_shift=NoShift(distance=300.0, chance=chance))
    (found,) = remarks(same)
    assert "by no more than chance: confidences are not corrected" in found
    # 381 is the first of the greatest 20: half of a distance of 762 is more than chance.
    half = replace(KNOWN, no_shift=NoShift(distance=762.0, chance=chance))
    (found,) = remarks(half)
    assert found.startswith("50 % of the estimated difference from the calibration set")
    assert (
        remarks(replace(KNOWN, no_shift=NoShift(distance=3810.0, chance=chance))) == []
    )  # nine tenths


def test_a_class_of_few_families_is_said_to_count_less_than_asked_for() -> None:
    far = replace(
        KNOWN,
        share=np.array([0.2, 0.1, 0.7]),
        no_shift=NoShift(distance=381e6, chance=np.arange(1.0, 401.0)),
        class_number=np.array([90.0, 90.0, 1.0]),
    )
    (found,) = remarks(far)
    # HTJ is asked for 0.7/0.2 = 3.5 times; of one family a fifth of what is above 1: 1.5.
    assert found.endswith(": HTJ (only 1.0 effective proteins, weight 1.5 in place of 3.5).")
    # A share of 0.5 asks for 2.5 times and gets 1.3: more than half.
    assert remarks(replace(far, share=KNOWN.share)) == []
