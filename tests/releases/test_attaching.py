from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credence.predictions import UNKNOWN_CLASS
from credence.proteins import Proteins
from credence.relatives.kmers import ExactFinder
from credence.relatives.pairs import Pairs, Thresholds
from credence.releases.attaching import (
    OUTCOMES,
    Attachment,
    KnownSet,
    NewSet,
    SequenceSearch,
    TableSearch,
    TroveSearch,
    attach_trove,
)
from credence.simulate.sequences import codes, mutated, written
from small_families import objects, random_protein

CLASSES = ("HTJ", "Portal", "Other")
NOTHING = np.empty(0, dtype=object)
NO_TRAINING = Proteins(ids=NOTHING, sequences=NOTHING)
EXACT = SequenceSearch(finder=ExactFinder(), thresholds=Thresholds())


def relative(text: str, rng: np.random.Generator) -> str:
    return written(mutated(codes(text), 0.8, rng))


@dataclass(frozen=True)
class World:
    """Six old proteins of four groups, one of them the test group, and a training protein."""

    known: KnownSet
    training: Proteins
    rng: np.random.Generator


@pytest.fixture
def world() -> World:
    rng = np.random.default_rng(5)
    texts = [random_protein(rng) for _ in range(6)]
    known = KnownSet(
        ids=objects(["a", "b", "c", "d", "e", "f"]),
        sequences=objects(texts),
        class_=np.array([0, 1, 2, 0, 1, 2]),
        cluster=objects(["A", "B", "C", "D", "E", "F"]),
        group=objects(["1", "2", "1", "test", "", "2"]),
        role=objects(["calibration"] * 3 + ["test", "set_aside", "calibration"]),
    )
    training = Proteins(ids=objects(["t"]), sequences=objects([random_protein(rng)]))
    return World(known=known, training=training, rng=rng)


def attached(world: World, new: dict[str, tuple[str, int]]) -> dict[str, Any]:
    found = attach_trove(
        world.known,
        world.training,
        NewSet(
            ids=objects(list(new)),
            sequences=objects([text for text, _ in new.values()]),
            class_=np.array([class_ for _, class_ in new.values()]),
        ),
        EXACT,
        CLASSES,
    )
    return {name: row_of(found, row) for row, name in enumerate(new)}


def row_of(found: Attachment, row: int) -> tuple[str, str, str, str]:
    return tuple(
        str(getattr(found, name)[row]) for name in ("outcome", "cluster", "group", "reason")
    )


def test_each_protein_has_the_outcome_that_its_rule_says(world: World) -> None:
    old, rng = world.known.sequences, world.rng
    lone, twice, quarrel = (random_protein(rng) for _ in range(3))
    got = attached(
        world,
        {
            "unlabelled": (random_protein(rng), UNKNOWN_CLASS),
            "b": (random_protein(rng), 1),
            "t": (random_protein(rng), 0),
            "repeat": (old[0], 0),
            "conflict": (old[0], 2),
            "twice2": (twice, 1),
            "twice1": (twice, 1),
            "quarrel1": (quarrel, 0),
            "quarrel2": (quarrel, 1),
            "learnt": (relative(world.training.sequences[0], rng), 0),
            "judged": (relative(old[3], rng), 0),
            "bridge": (old[0] + old[1], 0),
            "member": (relative(old[2], rng), 2),
            "aside": (relative(old[4], rng), 1),
            "lone": (lone, 0),
        },
    )
    outcomes = {name: row[0] for name, row in got.items()}
    assert outcomes == {
        "unlabelled": "unlabelled",
        "b": "id_taken",
        "t": "id_taken",
        "repeat": "exact_repeat",
        "conflict": "label_conflict",
        "twice1": "added",
        "twice2": "repeat_within",
        "quarrel1": "conflict_within",
        "quarrel2": "conflict_within",
        "learnt": "training_relative",
        "judged": "test_relative",
        "bridge": "bridges_groups",
        "member": "added",
        "aside": "added",
        "lone": "added",
    }
    assert got["member"][1:] == ("C", "1", "joins cluster 'C'")
    assert got["lone"][1] == "lone"
    assert got["lone"][2] in ("1", "2")
    assert got["b"][3] == "the set has this id for another sequence"
    assert got["t"][3] == "training has this id for another sequence"
    assert got["conflict"][3] == "same sequence as 'a', which is 'HTJ' and stays so, not 'Other'"
    assert got["quarrel1"][3] == (
        "same sequence as 'quarrel2' of the same trove, which is 'Portal' there"
    )
    assert got["learnt"][3].startswith("relative of training protein 't' (identity 0.")
    assert got["judged"][3].startswith("relative of protein 'd' of the test group (identity 0.")
    assert got["bridge"][3] == "bridges groups 1, 2"


def test_the_same_id_with_the_same_sequence_is_a_repeat(world: World) -> None:
    old = world.known.sequences
    got = attached(world, {"a": (old[0], 0), "b": (old[1], 0)})
    assert got["a"][0] == "exact_repeat"
    assert got["b"][0] == "label_conflict"


def test_a_training_protein_under_its_own_or_another_name_is_a_relative_of_training(
    world: World,
) -> None:
    text = world.training.sequences[0]
    got = attached(world, {"t": (text, 0)})
    assert got["t"][0] == "training_relative"
    other = attached(world, {"new_name": (text, 0)})
    assert other["new_name"][3] == "relative of training protein 't' (identity 1.00)"


def test_an_old_twin_with_the_label_makes_a_repeat_though_another_twin_disagrees() -> None:
    text = random_protein(np.random.default_rng(1))
    known = KnownSet(
        ids=objects(["x", "y"]),
        sequences=objects([text, text]),
        class_=np.array([0, 1]),
        cluster=objects(["C", "C"]),
        group=objects(["1", "1"]),
        role=objects(["calibration"] * 2),
    )
    world = World(known=known, training=NO_TRAINING, rng=np.random.default_rng(0))
    got = attached(world, {"new": (text, 1)})
    assert got["new"][:1] == ("exact_repeat",)
    assert got["new"][3] == "same sequence as 'y'"


def test_a_cut_that_another_cut_makes_needless_is_taken_back() -> None:
    # p – q – r at groups 1, 2 and 3: p is cut to part 1 from 2, then q to part 2 from 3;
    # without q, p touches group 1 alone.
    known = KnownSet(
        ids=objects(["a", "b", "c"]),
        sequences=objects(["A", "B", "C"]),
        class_=np.array([0, 0, 0]),
        cluster=objects(["a", "b", "c"]),
        group=objects(["1", "2", "3"]),
        role=objects(["calibration"] * 3),
    )
    search = Listed(
        old_pairs={("p", "a"), ("q", "b"), ("r", "c")}, new_pairs={("p", "q"), ("q", "r")}
    )
    new = NewSet(
        ids=objects(["p", "q", "r"]),
        sequences=objects(["P", "Q", "R"]),
        class_=np.array([0, 0, 0]),
    )
    found = attach_trove(known, NO_TRAINING, new, search, CLASSES)
    assert found.outcome.tolist() == ["added", "bridges_groups", "added"]
    assert found.group.tolist() == ["1", "", "3"]
    assert found.reason[1] == "bridges groups 1, 2, 3"


@dataclass(frozen=True)
class Listed:
    """A search that knows its pairs by name; all are equally alike."""

    old_pairs: set[tuple[str, str]]
    new_pairs: set[tuple[str, str]]

    def among_old(self, new: Proteins, old: Proteins, label: np.ndarray) -> Pairs:
        return _pairs(
            (a, b)
            for a, one in enumerate(new.ids)
            for b, other in enumerate(old.ids)
            if (one, other) in self.old_pairs
        )

    def among_new(self, new: Proteins) -> Pairs:
        return _pairs(
            (a, b)
            for a, one in enumerate(new.ids)
            for b, other in enumerate(new.ids)
            if (one, other) in self.new_pairs
        )


def _pairs(found: Any) -> Pairs:
    bounds = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    ones = np.full(len(bounds), 0.5)
    return Pairs(
        first=bounds[:, 0], second=bounds[:, 1], identity=ones, coverage=ones, coverage_longer=ones
    )


def grown(known: KnownSet, new: NewSet, found: Attachment) -> KnownSet:
    """Return the set with what was added, by id."""
    ids = new.ids.astype(str)
    rows = [row for row in np.argsort(ids, kind="stable") if found.is_added[row]]
    return KnownSet(
        ids=np.concatenate([known.ids, new.ids[rows]]),
        sequences=np.concatenate([known.sequences, new.sequences[rows]]),
        class_=np.concatenate([known.class_, new.class_[rows]]),
        cluster=np.concatenate([known.cluster, found.cluster[rows]]),
        group=np.concatenate([known.group, found.group[rows]]),
        role=np.concatenate([known.role, objects(["calibration"] * len(rows))]),
    )


def assert_same(one: KnownSet, other: KnownSet) -> None:
    for name, values in vars(one).items():
        assert vars(other)[name].tolist() == values.tolist(), name


# Proteins are letters; a trove takes some of them, each with a label, and relatives are
# drawn once for all, so that the same protein has the same relatives in every trove.
LETTERS = [f"p{number}" for number in range(9)]
RELATIVES = st.sets(
    st.tuples(st.sampled_from([*LETTERS, "o1", "o2", "o3"]), st.sampled_from(LETTERS)), max_size=14
)
TROVES = st.lists(
    st.dictionaries(st.sampled_from(LETTERS), st.integers(-1, 2), max_size=6),
    min_size=1,
    max_size=4,
)


class Fixed(Listed):
    """The same, both ways round; with relatives among old and new by their sequence."""

    def __init__(self, pairs: set[tuple[str, str]]) -> None:
        both = pairs | {(b, a) for a, b in pairs}
        super().__init__(both, both)

    def among_old(self, new: Proteins, old: Proteins, label: np.ndarray) -> Pairs:
        return super().among_old(_by_text(new), _by_text(old), label)

    def among_new(self, new: Proteins) -> Pairs:
        return super().among_new(_by_text(new))


def _by_text(proteins: Proteins) -> Proteins:
    return Proteins(ids=proteins.sequences, sequences=proteins.sequences)


def base() -> KnownSet:
    return KnownSet(
        ids=objects(["old1", "old2", "old3"]),
        sequences=objects(["o1", "o2", "o3"]),
        class_=np.array([0, 1, 2]),
        cluster=objects(["old1", "old2", "old3"]),
        group=objects(["1", "2", "3"]),
        role=objects(["calibration"] * 3),
    )


@settings(max_examples=50, deadline=None)
@given(RELATIVES, TROVES, st.randoms(use_true_random=False))
def test_releases_keep_what_is_old_and_a_trove_again_adds_nothing(
    relatives: set[tuple[str, str]], troves: list[dict[str, int]], random: Any
) -> None:
    known, search = base(), Fixed(relatives)
    for number, trove in enumerate(troves):
        names = list(trove)
        # The same sequence may bear another name in another trove.
        new = NewSet(
            ids=objects([f"{name}.{number}" for name in names]),
            sequences=objects(names),
            class_=np.array([trove[name] for name in names], dtype=np.int64),
        )
        found = attach_trove(known, NO_TRAINING, new, search, CLASSES)
        after = grown(known, new, found)
        assert_same(
            KnownSet(**{name: values[: known.n_proteins] for name, values in vars(after).items()}),
            known,
        )
        assert sum(found.counts().values()) == len(names)
        _assert_sound(after, relatives)
        shuffled = list(range(len(names)))
        random.shuffle(shuffled)
        turned = NewSet(**{name: values[shuffled] for name, values in vars(new).items()})
        other = attach_trove(known, NO_TRAINING, turned, search, CLASSES)
        assert_same(grown(known, turned, other), after)
        again = attach_trove(after, NO_TRAINING, new, search, CLASSES)
        assert not again.is_added.any()
        renamed = NewSet(
            ids=objects([f"{id_}.again" for id_ in new.ids]),
            sequences=new.sequences,
            class_=new.class_,
        )
        assert not attach_trove(after, NO_TRAINING, renamed, search, CLASSES).is_added.any()
        known = after


def _assert_sound(known: KnownSet, relatives: set[tuple[str, str]]) -> None:
    """No relatives in two groups, no sequence twice, no cluster in two groups."""
    group = dict(zip(known.sequences, known.group, strict=True))
    assert len(group) == known.n_proteins
    for one, other in relatives:
        if one in group and other in group:
            is_old = one.startswith("o") and other.startswith("o")
            assert is_old or group[one] == group[other]
    homes = dict(zip(known.cluster, known.group, strict=True))
    for name, home in zip(known.cluster, known.group, strict=True):
        assert homes[name] == home
    assert set(known.group) <= {"1", "2", "3"}


def test_new_families_go_where_their_class_is_scarce() -> None:
    known = KnownSet(
        ids=objects(["a", "b"]),
        sequences=objects(["o1", "o2"]),
        class_=np.array([0, 1]),
        cluster=objects(["a", "b"]),
        group=objects(["1", "2"]),
        role=objects(["calibration"] * 2),
    )
    new = NewSet(ids=objects(["x", "y"]), sequences=objects(["p1", "p2"]), class_=np.array([0, 1]))
    found = attach_trove(known, NO_TRAINING, new, Fixed(set()), CLASSES)
    assert found.group.tolist() == ["2", "1"]


def test_a_new_cluster_never_bears_the_name_of_an_old_one() -> None:
    known = KnownSet(
        ids=objects(["a"]),
        sequences=objects(["o1"]),
        class_=np.array([0]),
        cluster=objects(["x"]),
        group=objects(["1"]),
        role=objects(["calibration"]),
    )
    new = NewSet(ids=objects(["x"]), sequences=objects(["p1"]), class_=np.array([0]))
    found = attach_trove(known, NO_TRAINING, new, Fixed(set()), CLASSES)
    assert found.cluster.tolist() == ["x+"]


def test_given_clusters_say_who_is_related() -> None:
    known = KnownSet(
        ids=objects(["a", "b", "c"]),
        sequences=objects([""] * 3),
        class_=np.array([0, 1, 2]),
        cluster=objects(["K1", "K2", "K3/1"]),
        group=objects(["1", "2", "1"]),
        role=objects(["calibration"] * 3),
    )
    training = Proteins(ids=objects(["t"]), sequences=objects([""]))
    search = TableSearch(
        old={"a": "K1", "b": "K2", "c": "K3", "t": "K4"},
        new={"x": "K2", "y": "K4", "z": "K9", "w": "K9"},
    )
    new = NewSet(
        ids=objects(["x", "y", "z", "w"]),
        sequences=objects([""] * 4),
        class_=np.array([1, 1, 0, 0]),
    )
    found = attach_trove(known, training, new, search, CLASSES)
    assert found.outcome.tolist() == ["added", "training_relative", "added", "added"]
    assert found.cluster.tolist() == ["K2", "", "w", "w"]
    assert np.isnan(found.identity).all()
    assert found.reason[1] == "relative of training protein 't'"


def test_without_sequences_a_protein_is_its_id() -> None:
    known = KnownSet(
        ids=objects(["a", "b"]),
        sequences=objects(["", ""]),
        class_=np.array([0, 1]),
        cluster=objects(["a", "b"]),
        group=objects(["1", "2"]),
        role=objects(["calibration"] * 2),
    )
    new = NewSet(
        ids=objects(["a", "b", "c"]), sequences=objects([""] * 3), class_=np.array([0, 0, 0])
    )
    found = attach_trove(known, NO_TRAINING, new, TroveSearch(), CLASSES)
    assert found.outcome.tolist() == ["exact_repeat", "label_conflict", "added"]
    assert found.cluster.tolist() == ["", "", "c"]


def test_an_empty_trove_adds_nothing(world: World) -> None:
    new = NewSet(ids=NOTHING, sequences=NOTHING, class_=np.empty(0, dtype=np.int64))
    found = attach_trove(world.known, world.training, new, EXACT, CLASSES)
    assert found.counts() == dict.fromkeys(OUTCOMES, 0)
