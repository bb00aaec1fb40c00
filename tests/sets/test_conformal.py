"""Prediction sets against their definition, and the promise that they make."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from credence.predictions import Labelled, Predictions, from_scores
from credence.problems import InputError
from credence.records import to_record
from credence.sets.conformal import (
    SET_KINDS,
    PredictionSets,
    SetOptions,
    families_needed,
    fit_sets,
    read_sets,
    strangeness,
)
from credence.tables.contract import set_texts
from set_worlds import NAMES, world


def strange_in(row: np.ndarray, class_: int, floor: float) -> float:
    """Return what strangeness is, one protein and class at a time."""
    shares = [max(value / 10.0, floor) for value in row]
    rival = max(share for other, share in enumerate(shares) if other != class_)
    return float(np.log(rival) - np.log(shares[class_]))


def pool_of(
    class_: int, known: dict[int, dict[str, list[float]]], options: SetOptions
) -> list[int]:
    """Return whose families count for a class: its own, or those of all that have too few."""
    needed = families_needed(options.level)
    if len(known[class_]) >= needed:
        return [class_]
    pool = [other for other in known if len(known[other]) < needed]
    for other in sorted(known, key=lambda other: len(known[other])):
        if other not in pool and sum(len(known[member]) for member in pool) < needed:
            pool.append(other)
    return pool


def slow_sets(
    labelled: Labelled, new: Predictions, options: SetOptions, unit: list[Fraction]
) -> np.ndarray:
    """Return the sets by their definition: a p-value per protein and class, in fractions."""
    assert labelled.predictions.scores is not None
    assert new.scores is not None
    floor = labelled.predictions.resolution / 20.0
    known: dict[int, dict[str, list[float]]] = {class_: {} for class_ in range(3)}
    for row, class_, cluster in zip(
        labelled.predictions.scores, labelled.true_class.tolist(), labelled.cluster, strict=True
    ):
        known[class_].setdefault(cluster, []).append(strange_in(row, class_, floor))
    found = np.zeros((new.n_samples, 3), dtype=bool)
    miss = 1 - Fraction(str(options.level))
    for place, row in enumerate(new.scores):
        for class_ in range(3):
            strange = strange_in(row, class_, floor)
            counted = [0, 1, 2] if options.kind == "overall" else pool_of(class_, known, options)
            above, whole = unit[class_], unit[class_]
            for other in counted:
                for members in known[other].values():
                    share = Fraction(sum(value >= strange for value in members), len(members))
                    above += unit[other] * share
                    whole += unit[other]
            found[place, class_] = above / whole > miss
    return found


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", SET_KINDS)
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_sets_are_what_their_definition_says(seed: int, kind: str, level: float) -> None:
    labelled, new = world(seed), world(seed + 100).predictions
    options = SetOptions(level=level, kind=kind)  # type: ignore[arg-type]
    sets = fit_sets(labelled, options)
    slow = slow_sets(labelled, new, options, [Fraction(1)] * 3)
    assert np.array_equal(sets.contains(new), slow)
    assert 0.1 < slow.mean() < 0.95  # the worlds can tell a wrong set from a right one


@pytest.mark.parametrize("seed", range(4))
def test_another_mix_weighs_the_families_of_each_class(seed: int) -> None:
    labelled, new = world(seed), world(seed + 100).predictions
    options = SetOptions(level=0.8, kind="overall")
    sets = fit_sets(labelled, options)
    query_proportion = np.array([0.7, 0.2, 0.1])
    unit = [
        Fraction(share) / ladder.n_clusters
        for share, ladder in zip((7, 2, 1), sets.ladders, strict=True)
    ]
    slow = slow_sets(labelled, new, options, unit)
    assert np.array_equal(sets.contains(new, query_proportion), slow)
    assert not np.array_equal(sets.contains(new), slow)
    same = np.array([ladder.n_clusters for ladder in sets.ladders], dtype=float)
    assert np.array_equal(sets.contains(new, same / same.sum()), sets.contains(new))


def test_sets_class_by_class_do_not_depend_on_the_mix() -> None:
    labelled = world(3)
    sets = fit_sets(labelled)
    assert np.array_equal(sets.limits(), sets.limits(np.array([0.98, 0.01, 0.01])))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("level", [0.6, 0.8])
def test_the_promise_holds_exactly_when_every_family_is_left_out_in_turn(
    seed: int, level: float
) -> None:
    """Each family is as likely to be the new one, so this mean is the proof of the promise."""
    labelled = world(2 * seed, n=60, n_families=25)
    covered = np.zeros(labelled.n_samples)
    for family in sorted(set(labelled.cluster)):
        out = np.asarray(labelled.cluster == family)
        sets = fit_sets(labelled.take(~out), SetOptions(level=level))
        own = labelled.true_class[out]
        covered[out] = sets.contains(labelled.predictions.take(out))[np.arange(out.sum()), own]
    for class_ in range(3):
        rows = labelled.true_class == class_
        families = sorted(set(labelled.cluster[rows]))
        shares = [covered[rows & (labelled.cluster == family)].mean() for family in families]
        assert level - 1e-9 <= np.mean(shares) <= level + 2.0 / len(families) + 1e-9


def test_order_and_scale_of_the_table_are_nothing() -> None:
    labelled, new = world(1), world(101).predictions
    expected = fit_sets(labelled).contains(new)
    turned = np.random.default_rng(5).permutation(labelled.n_samples)
    assert np.array_equal(fit_sets(labelled.take(turned)).contains(new), expected)

    def times_four(predictions: Predictions) -> Predictions:
        assert predictions.scores is not None
        return replace(predictions, scores=predictions.scores * 4.0, scale=40.0, resolution=0.04)

    scaled = replace(labelled, predictions=times_four(labelled.predictions))
    assert np.array_equal(fit_sets(scaled).contains(times_four(new)), expected)


def test_relatives_in_one_family_move_nothing() -> None:
    labelled = world(4)
    twice = labelled.take(np.repeat(np.arange(labelled.n_samples), 2))
    assert np.array_equal(fit_sets(twice).limits(), fit_sets(labelled).limits())


def with_few(*counts: int) -> Labelled:
    """Return a world with so many families of each class, each protein its own family."""
    labelled = world(2)
    labelled = replace(labelled, cluster=labelled.predictions.ids)
    rows = [np.flatnonzero(labelled.true_class == k)[:n] for k, n in enumerate(counts)]
    return labelled.take(np.concatenate(rows))


def strange_in_own(labelled: Labelled, *classes: int) -> np.ndarray:
    """Return how strange the proteins of some classes are in their own, ascending."""
    rows = np.flatnonzero(np.isin(labelled.true_class, classes))
    return np.sort(strangeness(labelled.predictions)[rows, labelled.true_class[rows]])


def test_small_classes_share_a_threshold() -> None:
    few = with_few(20, 3, 2)
    sets = fit_sets(few, SetOptions(level=0.8))  # which needs four families
    assert sets.names_in_pool() == ("Collar", "HTJ")
    assert sets.names_in_pool(lending=True) == ()
    # Of the five together, M + 1 > 0.2 · 6 holds where one or more are so strange: the strangest.
    assert sets.limits()[1:].tolist() == [strange_in_own(few, 1, 2)[-1]] * 2
    # Of the 20 of the large class, M + 1 > 0.2 · 21 = 4.2: M = 4, the fourth from the top.
    assert sets.limits()[0] == strange_in_own(few, 0)[-4]


def test_a_single_small_class_borrows_the_families_of_the_smallest_large_one() -> None:
    few = with_few(20, 8, 2)
    sets = fit_sets(few, SetOptions(level=0.8))
    assert sets.names_in_pool() == ("HTJ",)
    assert sets.names_in_pool(lending=True) == ("Collar",)
    # Of ten, M + 1 > 0.2 · 11 = 2.2: the second from the top; Collar keeps its own threshold.
    assert sets.limits()[2] == strange_in_own(few, 1, 2)[-2]
    assert sets.limits()[1] == strange_in_own(few, 1)[-1]


def test_a_class_without_a_known_protein_and_all_of_too_small_a_set_stand_in_every_set() -> None:
    assert np.isinf(fit_sets(with_few(20, 8, 0), SetOptions(level=0.8)).limits()).tolist() == [
        False,
        False,
        True,
    ]
    assert np.isinf(fit_sets(with_few(1, 1, 1), SetOptions(level=0.8)).limits()).all()


@pytest.mark.parametrize("level", [0.6, 0.8])
def test_the_promise_of_the_pool_holds_when_every_family_is_left_out_in_turn(level: float) -> None:
    labelled = with_few(20, 3, 3)
    small = np.flatnonzero(labelled.true_class > 0)
    covered = []
    for row in small.tolist():
        sets = fit_sets(
            labelled.take(np.arange(labelled.n_samples) != row), SetOptions(level=level)
        )
        own = labelled.predictions.take(np.array([row]))
        covered.append(sets.contains(own)[0, labelled.true_class[row]])
    assert np.mean(covered) >= level


def test_how_many_families_a_class_needs() -> None:
    assert [families_needed(level) for level in (0.5, 0.8, 0.9, 0.95, 0.99)] == [1, 4, 9, 19, 99]


@pytest.mark.parametrize("kind", SET_KINDS)
@pytest.mark.parametrize("level", [0.8, 0.99])
def test_a_record_gives_the_same_sets(kind: str, level: float) -> None:
    labelled, new = world(6), world(106).predictions
    sets = fit_sets(labelled, SetOptions(level=level, kind=kind))  # type: ignore[arg-type]
    record = json.loads(json.dumps(to_record(sets), allow_nan=False))
    again = read_sets(record, NAMES)
    assert isinstance(again, PredictionSets)
    assert to_record(again) == record
    assert np.array_equal(again.contains(new), sets.contains(new))
    small = fit_sets(with_few(20, 8, 2), SetOptions(level=level, kind=kind))  # type: ignore[arg-type]
    same = read_sets(json.loads(json.dumps(to_record(small), allow_nan=False)), NAMES)
    assert np.array_equal(same.limits(), small.limits())
    assert same.names_in_pool() == small.names_in_pool()
    query_proportion = np.array([0.2, 0.2, 0.6])
    assert np.array_equal(
        again.contains(new, query_proportion), sets.contains(new, query_proportion)
    )


def test_records_of_other_classes_are_refused() -> None:
    record = to_record(fit_sets(world(0)))
    with pytest.raises(ValueError, match="not of these classes"):
        read_sets(record, NAMES[:2])
    pooled = json.loads(json.dumps(to_record(fit_sets(with_few(20, 8, 2)))))
    pooled["pool"]["sharing"] = [3]
    with pytest.raises(ValueError, match="not of these classes"):
        read_sets(pooled, NAMES)
    with pytest.raises(InputError, match="column 'kind': \"other\" is no value for it"):
        read_sets(record | {"kind": "other"}, NAMES)


@pytest.mark.parametrize("level", [0, 1])
def test_a_level_that_no_sets_can_have_is_refused(level: int) -> None:
    record = to_record(fit_sets(world(0)))
    with pytest.raises(InputError, match=f"{level} is no level"):
        read_sets(record | {"level": level}, NAMES)


def test_a_family_counts_about_1_at_any_mix() -> None:
    """The tolerance of the limits is one of families."""
    sets = fit_sets(world(1), SetOptions(level=0.8, kind="overall"))
    n_clusters = np.array([ladder.n_clusters for ladder in sets.ladders])
    units = sets._units(np.array([1e-9, 2e-9, 3e-9]))
    assert (units * n_clusters).sum() == pytest.approx(n_clusters.sum(), rel=1e-12)
    assert units * n_clusters / (units * n_clusters).sum() == pytest.approx([1 / 6, 1 / 3, 1 / 2])


def test_strangeness_by_hand() -> None:
    """Shares .6 .3 .1: the best against the second, the others against the best."""
    ids = np.array(["a", "b"], dtype=object)
    scores = np.array([[6.0, 3.0, 1.0], [10.0, 0.0, 0.0]])
    found = strangeness(from_scores(ids, NAMES, scores, 10.0, 0.01))
    assert found[0] == pytest.approx(np.log([0.5, 2.0, 6.0]), abs=1e-12)
    # 0.00 is read as half of the step 0.01: 0.0005 of the scale.
    assert found[1] == pytest.approx(np.log([0.0005, 2000.0, 2000.0]), abs=1e-12)


def test_of_one_class_a_low_score_is_strange() -> None:
    one = from_scores(
        np.array(["a", "b"], dtype=object), ("Portal",), np.array([[10.0], [5.0]]), 10.0, 0.01
    )
    assert strangeness(one)[:, 0] == pytest.approx([0.0, np.log(2.0)])


def test_a_class_without_families_leaves_the_others_their_limits() -> None:
    labelled = world(1)
    two = labelled.take(labelled.true_class != 2)
    sets = fit_sets(two, SetOptions(level=0.8, kind="overall"))
    limits = sets.limits(np.array([0.5, 0.5, 0.0]))
    assert np.isfinite(limits).all()
    # What no protein of use is of counts nothing beside the others.
    units = sets._units(np.array([0.5, 0.5, 0.0]))
    assert units[2] == 0.0
    assert units[0] * sets.ladders[0].n_clusters == pytest.approx(
        units[1] * sets.ladders[1].n_clusters
    )


@pytest.mark.parametrize("part", ["strangeness", "families"])
def test_steps_in_another_order_are_refused(part: str) -> None:
    record = json.loads(
        json.dumps(to_record(fit_sets(world(0), SetOptions(level=0.9, kind="overall"))))
    )
    steps = record["classes"][1][part]
    steps[2], steps[3] = steps[3], steps[2]
    with pytest.raises(InputError, match="its steps do not go up one by one"):
        read_sets(record, NAMES)


def test_sets_in_words() -> None:
    contains = np.array([[True, False, True], [False, False, False], [True, False, True]])
    assert set_texts(contains, NAMES).tolist() == ["Portal|HTJ", "", "Portal|HTJ"]
    escaped = r"a\|b|c\\d"
    assert set_texts(contains, ("a|b", "x", r"c\d")).tolist() == [escaped, "", escaped]


@pytest.mark.parametrize("n_classes", [1, 63, 64, 65, 130])
def test_words_of_bits_hold_any_number_of_classes(n_classes: int) -> None:
    contains = np.random.default_rng(n_classes).random((50, n_classes)) < 0.1
    names = tuple(f"k{number}" for number in range(n_classes))
    expected = [
        "|".join(name for name, is_in in zip(names, row, strict=True) if is_in) for row in contains
    ]
    assert set_texts(contains, names).tolist() == expected
