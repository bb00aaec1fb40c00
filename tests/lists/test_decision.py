"""One decision for each prediction: the rule, background classes, and which classes are scarce."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from credence.confidence import NOTE_TEXTS, Confidence, Note, unknown
from credence.findings import ACCEPT, CHECK, FEWEST_LISTED_FAMILIES, INSUFFICIENT
from credence.lists.decision import (
    DOUBTS,
    Counts,
    ListRules,
    background_of,
    before_lists,
    decided,
    scarce_classes,
    scarcity_notes,
)
from credence.lists.errors import errors_of
from credence.lists.held_out import CONFIDENCE_STEPS, HeldOut, MixDraws, step_of
from credence.lists.use_lists import use_lists
from credence.problems import InputError

OF_NO_USE = (Note.BELOW_RANGE, Note.ABOVE_RANGE, Note.EMPTY_BIN, Note.UNSEEN_CLASS)
OF_SCARCE = (Note.SCARCE, Note.FEW_FAMILIES)


def slow_decision(value: float, note: Note) -> str:
    """Return the decision before lists as docs/columns.md has the rule, one protein at a time."""
    if math.isnan(value) or any(flag in note for flag in (*OF_NO_USE, *OF_SCARCE)):
        return INSUFFICIENT
    return CHECK


def test_decisions_before_lists_are_what_the_slow_rule_gives() -> None:
    rng = np.random.default_rng(0)
    ends = np.sort(rng.choice([0.0, 0.2, 0.5, 0.6, 0.9, 0.95, 1.0, np.nan], (4000, 3)), axis=1)
    lower, value, upper = ends.T  # NaN is last: without an interval, or nothing at all
    flags = [*Note]
    chosen = rng.choice(len(flags), 4000)
    note = np.where(rng.random(4000) < 0.5, 0, [int(flags[at]) for at in chosen])
    stated = Confidence(value=value, lower=lower, upper=upper, support=np.ones(4000), note=note)
    decisions = before_lists(stated).tolist()
    rows = zip(value, note, strict=True)
    assert decisions == [
        slow_decision(stated_value, Note(int(code))) for stated_value, code in rows
    ]
    assert set(decisions) == {CHECK, INSUFFICIENT}
    assert before_lists(unknown(0, Note.NONE)).tolist() == []


def test_the_list_of_the_first_error_rate_decides_and_no_list_accepts_nothing() -> None:
    before = np.array([CHECK, CHECK, CHECK, INSUFFICIENT], dtype=object)
    q_value = np.array([0.01, 0.05, 0.06, np.nan])
    assert decided(before, q_value, (0.05, 0.1)).tolist() == [ACCEPT, ACCEPT, CHECK, INSUFFICIENT]
    assert decided(before, q_value, (0.1, 0.05)).tolist() == [ACCEPT] * 3 + [INSUFFICIENT]
    assert decided(before, q_value, ()).tolist() == before.tolist()


@pytest.mark.parametrize(
    "names, background",
    [
        (("Portal", "Other"), ["Other"]),
        (("PVP", "non-PVP"), ["non-PVP"]),
        (("phage", "Not_Phage"), ["Not_Phage"]),
        (("Tail", "hypothetical protein", "UNKNOWN"), ["hypothetical protein", "UNKNOWN"]),
        (("Portal", "Collar", "Motherhood"), []),
        (("other", "unknown"), []),  # then nothing would be left to list
    ],
)
def test_background_classes_are_found_by_their_usual_names(
    names: tuple[str, ...], background: list[str]
) -> None:
    is_background = background_of(names, None)
    assert [name for name, found in zip(names, is_background, strict=True) if found] == background


def test_background_classes_that_are_named_are_those_and_no_others() -> None:
    names = ("Portal", "Other", "Collar")
    assert background_of(names, ()).tolist() == [False] * 3
    assert background_of(names, ("Collar",)).tolist() == [False, False, True]
    with pytest.raises(InputError) as refusal:
        background_of(names, ("Colar",))
    assert str(refusal.value) == (
        "lists.background: 'Colar' is no class that is known here. Did you mean 'Collar'?"
    )
    with pytest.raises(InputError) as refusal:
        background_of(names, names)
    assert str(refusal.value) == (
        "lists.background: every class is named, so that no list is left. "
        "Leave out the classes whose predictions you want to use."
    )


def known(rows: list[tuple[float, int, int, str]]) -> HeldOut:
    """Return calibration proteins: confidence, predicted and true class, family."""
    confidence, predicted, true, family = zip(*rows, strict=True)
    names, cluster = np.unique(np.array(family), return_inverse=True)
    return HeldOut(
        step=step_of(np.array(confidence)),
        predicted=np.array(predicted),
        true=np.array(true),
        weight=np.ones(len(rows)),
        cluster=cluster,
        key=np.arange(len(names), dtype=np.uint64),
    )


def test_a_class_of_few_families_is_scarce_however_many_proteins_they_have() -> None:
    rows = [(0.9, 0, 0, f"a{n % 9}") for n in range(90)]
    rows += [(0.9, 1, 1, f"b{n}") for n in range(FEWEST_LISTED_FAMILIES)]
    is_scarce = scarce_classes(known(rows), 3)
    assert is_scarce.tolist() == [True, False, True]
    assert not scarce_classes(None, 3).any()
    class_, note = (
        np.array([0, 1, 2, 0]),
        np.array([0, 0, int(Note.UNSEEN_CLASS), int(Note.SCARCE)]),
    )
    upper = np.array([0.9, 0.95, np.nan, 0.9])
    stated = Confidence(
        value=np.full(4, 0.8), lower=np.full(4, 0.51), upper=upper, support=np.ones(4), note=note
    )
    notes = scarcity_notes(stated, class_, is_scarce).tolist()
    assert notes == [int(Note.FEW_FAMILIES), 0, 0, 0]
    assert NOTE_TEXTS[Note.FEW_FAMILIES].startswith(
        f"fewer than {FEWEST_LISTED_FAMILIES} calibration f"
    )


def rules(held_out: HeldOut, *background: bool, least: float = 0.5) -> ListRules:
    """Return the rules of lists at the usual certainty."""
    return ListRules(
        held_out=held_out,
        class_names=("Portal", "Collar", "Other")[: len(background)],
        is_scarce=scarce_classes(held_out, len(background)),
        is_background=np.array(background),
        is_background_found=True,
        certainty=0.95,
        least_confidence=least,
        family_share=0.2,
    )


def counted(*rows: tuple[int, float, int], n_classes: int) -> Counts:
    """Return counts of class, confidence, and how many."""
    counts = np.zeros((n_classes, len(CONFIDENCE_STEPS)), dtype=np.int64)
    for class_, confidence, n in rows:
        counts[class_, step_of(np.array([confidence]))] += n
    confidence = counts @ CONFIDENCE_STEPS
    return Counts(every=counts, listable=counts, confidence=confidence)


def world(rng: np.random.Generator, n: int) -> HeldOut:
    """Return calibrated proteins of two classes and a large, easy background."""
    predicted = rng.choice(3, n, p=[0.2, 0.2, 0.6])
    confidence = np.where(predicted == 2, rng.uniform(0.97, 1.0, n), rng.uniform(0.2, 1.0, n))
    true = np.where(rng.random(n) < confidence, predicted, (predicted + 1) % 3)
    rows = zip(confidence, predicted, true, (f"f{at}" for at in range(n)), strict=True)
    return known([(float(c), int(p), int(t), f) for c, p, t, f in rows])


def test_background_does_not_lengthen_the_list_of_calls_nor_they_its() -> None:
    held_out = world(np.random.default_rng(1), 3000)
    few = counted((0, 0.9, 40), (1, 0.6, 40), (2, 0.99, 10), n_classes=3)
    many = counted((0, 0.9, 40), (1, 0.6, 40), (2, 0.99, 100_000), n_classes=3)
    ends = []
    for counts in (few, many):
        grouped = rules(held_out, False, False, True).calls_and_background(counts.listable)
        ends.append([grouped.ends(0, 0.1), grouped.ends(0, 0.3), grouped.ends(1, 0.05)])
    np.testing.assert_array_equal(*ends)
    assert (ends[0][2] < len(CONFIDENCE_STEPS)).tolist() == [False, False, True]
    # Were it one list, the background would carry all the others.
    (pooled,) = rules(held_out, False, False, False).calls_and_background(many.listable).errors
    assert pooled.end_of(0.1) == step_of(np.array([0.5]))[0]


def test_all_that_should_be_right_is_the_sum_of_the_classes_and_holds_what_confidences_say() -> (
    None
):
    n_held = n_true = 0
    for number in range(30):
        rng = np.random.default_rng([9, number])
        query = world(rng, 400)
        every = np.zeros((3, len(CONFIDENCE_STEPS)), dtype=np.int64)
        np.add.at(every, (query.predicted, query.step), 1)
        counts = Counts(every=every, listable=every, confidence=every @ (CONFIDENCE_STEPS + 0.002))
        asked = rules(world(rng, 300), False, False, True)
        together, *classes = use_lists("use", asked, counts, (), 0.95, is_adjusted=False).every
        assert together.n == sum(part.n for part in classes) == 400
        for column in ("right", "sum_confidence"):
            of_classes = sum(getattr(part, column) for part in classes)
            assert getattr(together, column) == pytest.approx(of_classes, abs=1e-9)
        # What is not known of the classes is of other families: it adds as errors do.
        width, *widths = (part.right_upper - part.right_lower for part in (together, *classes))
        assert max(widths) * 0.8 < width < sum(widths)
        n_held += together.holds_sum
        n_true += together.right_lower <= 400 - query.is_wrong.sum() <= together.right_upper
    assert n_held >= 29 and n_true >= 27  # of intervals at 95 %


def test_no_list_reaches_below_the_least_confidence_and_nothing_there_has_a_q_value() -> None:
    held_out = known([(at, 0, 0, f"{at}{n}") for at in (0.3, 0.55) for n in range(200)])
    counts = counted((0, 0.3, 50), (0, 0.55, 50), n_classes=2)
    class_, step = np.array([0, 0, -1]), step_of(np.array([0.3, 0.55, 0.9]))
    for least, is_listed in ((0.5, False), (0.3, True)):
        grouped = rules(held_out, False, True, least=least).calls_and_background(counts.listable)
        end = grouped.errors[0].end_of(0.1)
        assert end is not None and CONFIDENCE_STEPS[end] >= least
        assert (~np.isnan(grouped.q_value(class_, step))).tolist() == [is_listed, True, False]


def test_scarce_classes_neither_stand_on_lists_nor_speak_for_them() -> None:
    rows = [(0.9, 0, 0, f"a{n}") for n in range(300)]
    rows += [(0.95, 1, 0, f"b{n}") for n in range(FEWEST_LISTED_FAMILIES - 1)]  # all of them wrong
    counts = counted((0, 0.9, 50), n_classes=2)
    with_scarce = rules(known(rows), False, False).calls_and_background(counts.listable)
    alone = rules(known(rows[:300]), False, False).calls_and_background(counts.listable)
    np.testing.assert_array_equal(with_scarce.errors[0].error, alone.errors[0].error)


def test_a_class_wrong_more_often_than_asked_is_kept_off_and_what_one_family_carries_is_said() -> (
    None
):
    rows = [(0.9, 0, 0, f"a{n}") for n in range(400)]
    rows += [(0.9, 1, int(n % 3 > 0), f"b{n}") for n in range(45)]  # one in three is wrong
    rows += [(0.9, 0, 0, "large")] * 200
    lists = use_lists(
        "sea",
        rules(known(rows), False, False),
        counted((0, 0.9, 90), (1, 0.9, 5), n_classes=2),
        (0.1,),
        0.95,
        is_adjusted=False,
    )
    accepted = lists.accepted
    assert accepted is not None and accepted.n == 90
    portal, collar = accepted.classes
    assert (portal.class_name, portal.n, portal.n_kept_off) == ("Portal", 90, 0)
    assert (collar.class_name, collar.n, collar.n_kept_off) == ("Collar", 0, 5)
    assert accepted.kept_off == [collar]
    assert accepted.largest_family == pytest.approx(200 / 600)


def test_a_class_of_few_families_is_drawn_to_the_list_by_ten_and_is_on_it() -> None:
    rows = [(0.9, 0, int(n < 8), f"a{n}") for n in range(388)]  # 8 wrong
    rows += [(0.9, 1, 1, f"b{n}") for n in range(12)]
    counts = counted((0, 0.9, 90), (1, 0.9, 5), n_classes=2)
    grouped = rules(known(rows), False, False).calls_and_background(counts.listable)
    step = int(step_of(np.array([0.9]))[0])
    # 8 of 400 wrong and one family added; none of 12 wrong, and ten families as the list.
    together = (8 + 1) / (400 + 1)
    np.testing.assert_allclose(grouped.errors[0].error[step], together)
    np.testing.assert_allclose(grouped.class_error[1, step], 10 * together / (12 + 10))
    np.testing.assert_allclose(grouped.class_error[0, step], (8 + 10 * together) / (388 + 10))
    # By itself, one family added, no class of fewer than 20 keeps to 5 %.
    assert grouped.by_class[1].end_of(0.05) is None
    assert (grouped.ends(0, 0.05) <= step).all()
    # Three of the 12 wrong are too many, though the list as a whole keeps to the rate.
    worse = rows[:388] + [(0.9, 1, int(n >= 3), f"b{n}") for n in range(12)]
    grouped = rules(known(worse), False, False).calls_and_background(counts.listable)
    ends = grouped.ends(0, 0.05)
    assert ends[0] <= step and ends[1] == len(CONFIDENCE_STEPS)
    np.testing.assert_allclose(
        grouped.class_error[1, step], (3 + 10 * (11 + 1) / (400 + 1)) / (12 + 10)
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_prediction_is_on_the_list_where_its_q_value_is_at_most_the_rate(seed: int) -> None:
    rng = np.random.default_rng([33, seed])
    query = world(rng, 300)
    counts = np.zeros((3, len(CONFIDENCE_STEPS)), dtype=np.int64)
    np.add.at(counts, (query.predicted, query.step), 1)
    grouped = rules(world(rng, 400), False, False, True).calls_and_background(counts)
    q_value = grouped.q_value(query.predicted, query.step)
    n_listed = 0
    for group in (0, 1):
        for error in (0.02, 0.05, 0.1, 0.2, 0.4):
            ends, of_group = grouped.ends(group, error), grouped.group[query.predicted] == group
            is_on = of_group & (query.step >= ends[query.predicted])
            np.testing.assert_array_equal(is_on, of_group & (q_value <= error))
            n_listed += int(is_on.sum())
    assert n_listed > 0


def test_under_other_proportions_a_list_is_at_least_as_wrong_as_its_confidences_say() -> None:
    rows = [(0.9, 0, 0, f"a{n}") for n in range(300)] + [(0.2, 0, 2, f"b{n}") for n in range(20)]
    counts = counted((0, 0.9, 50), n_classes=3)
    held_out = known(rows)
    step = int(step_of(np.array([0.9]))[0])
    mixed = replace(held_out, mix=MixDraws(n_classes=3, ratios=np.ones(6)))
    errors = []
    for each in (held_out, mixed):
        grouped = rules(each, False, False, True).calls_and_background(counts.listable)
        errors.append(grouped.errors[0])
    np.testing.assert_allclose(errors[0].error[step], 1 / 301)
    np.testing.assert_allclose(errors[1].error[step], 1.0 - 0.9005)  # the middle of the step
    assert errors[1].right(step, 0.95).expected == pytest.approx(50 * 0.9005)
    # Held-out outcomes alone say how many of all predictions are right: nothing was chosen.
    every = errors_of(mixed, counts.every.sum(axis=0), 0.95)
    np.testing.assert_allclose(every.error[step], 1 / 301)


def test_a_bound_counts_an_unseen_wrong_family_by_what_wrong_ones_weigh() -> None:
    rows = [(0.95, 0, 0, f"a{n}") for n in range(300)] + [(0.2, 0, 2, f"b{n}") for n in range(20)]
    weight = np.where(np.arange(320) < 300, 0.1, 2.0)  # background is 20 times as frequent
    held_out = replace(known(rows), weight=weight, mix=MixDraws(n_classes=3, ratios=np.ones(6)))
    counts = counted((0, 0.95, 50), n_classes=3)
    grouped = rules(held_out, False, False, True).calls_and_background(counts.listable)
    step = int(step_of(np.array([0.95]))[0])
    errors = grouped.errors[0]
    np.testing.assert_allclose(errors.above.as_wrong[step], 300 * 0.1 / 2.0)
    # None of 15 wrong: 1 − 0.05^(1/15).
    np.testing.assert_allclose(errors.bound[step], 1.0 - 0.05 ** (1.0 / 15.0))
    # Where all weigh the same, 300 families say more.
    alike = replace(held_out, weight=np.ones(320))
    grouped = rules(alike, False, False, True).calls_and_background(counts.listable)
    assert grouped.errors[0].bound[step] < 0.06


def test_every_note_that_speaks_against_a_protein_keeps_it_off_lists() -> None:
    import pyarrow as pa

    from credence.tables.contract import is_listable

    notes = ["", *(NOTE_TEXTS[note] for note in Note if note)]
    piece = pa.table(
        {"note": [f"odd; {text}" for text in notes], "decision": [CHECK] * len(notes)}
    )
    assert [text for text, may in zip(notes, is_listable(piece), strict=True) if not may] == [
        NOTE_TEXTS[note] for note in Note if note in DOUBTS
    ]
    none = pa.table({"note": [None, ""], "decision": [ACCEPT, INSUFFICIENT]})
    assert is_listable(none).tolist() == [True, False]
