"""Noise made of proteins: what it keeps, and that it depends on names alone."""

from __future__ import annotations

import numpy as np
import pytest

from credence.study.comparing import mutated, natural_shares, random_, reversed_, shuffled
from credence.study.worlds import RESIDUES, ProteinWorldSettings, simulate_proteins

SEQUENCES = np.array(["MKVLAAGIT" * 9, "WWYFPGGC" * 20], dtype=object)
IDS = np.array(["one", "two"], dtype=object)


def differing(one: str, other: str) -> float:
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


def test_a_reversed_protein_is_read_from_its_end() -> None:
    assert reversed_(np.array(["MKV"], dtype=object)).tolist() == ["VKM"]


def test_shuffling_keeps_the_residues_and_changes_their_order() -> None:
    found = shuffled(SEQUENCES, IDS)
    for before, after in zip(SEQUENCES, found, strict=True):
        assert sorted(before) == sorted(after)
        assert differing(before, after) > 0.5


def test_noise_depends_on_names_and_not_on_the_order_of_proteins() -> None:
    shares = natural_shares(SEQUENCES)
    for make in (
        lambda s, i: shuffled(s, i),
        lambda s, i: random_(s, i, shares),
        lambda s, i: mutated(s, i, shares, 0.3),
    ):
        assert make(SEQUENCES[::-1], IDS[::-1]).tolist() == make(SEQUENCES, IDS)[::-1].tolist()


def test_random_residues_are_as_common_as_stated() -> None:
    shares = {"A": 0.7, "C": 0.3}
    long = np.array(["M" * 20_000], dtype=object)
    text = random_(long, IDS[:1], shares)[0]
    assert len(text) == 20_000
    assert set(text) == {"A", "C"}
    # Four standard deviations of a share of 20,000 draws are 0.013.
    assert text.count("A") / len(text) == pytest.approx(0.7, abs=0.013)


def test_shares_are_those_of_the_twenty_residues() -> None:
    shares = natural_shares(np.array(["AACX", "AB"], dtype=object))
    assert shares["A"] == 0.75
    assert shares["C"] == 0.25
    assert sum(shares.values()) == 1.0


def test_mutations_add_up_on_the_same_way() -> None:
    shares = {"A": 1.0}
    protein = np.array(["W" * 5_000], dtype=object)
    texts = [mutated(protein, IDS[:1], shares, part)[0] for part in (0.0, 0.2, 0.6, 1.0)]
    assert texts[0] == protein[0]
    assert texts[-1] == "A" * 5_000
    places = [{at for at, letter in enumerate(text) if letter == "A"} for text in texts]
    assert places[0] < places[1] < places[2] < places[3]
    assert len(places[1]) / 5_000 == pytest.approx(0.2, abs=0.025)


def test_a_world_is_the_same_each_time_and_another_with_another_seed() -> None:
    settings = ProteinWorldSettings(n_classes=3, n_families=40)
    one, two = simulate_proteins(settings), simulate_proteins(settings)
    assert one.sequences.tolist() == two.sequences.tolist()
    other = simulate_proteins(ProteinWorldSettings(n_classes=3, n_families=40, seed=2))
    assert one.sequences[:5].tolist() != other.sequences[:5].tolist()


def test_relatives_are_alike_and_strangers_are_not() -> None:
    world = simulate_proteins(ProteinWorldSettings(n_classes=3, n_families=60))
    assert set("".join(world.sequences)) == set(RESIDUES)
    assert len(set(world.cluster)) == 60
    alike, strange = [], []
    for first in range(len(world.ids) - 1):
        one, other = world.sequences[first], world.sequences[first + 1]
        n = min(len(one), len(other))
        gap = differing(one[:n], other[:n])
        (alike if world.cluster[first] == world.cluster[first + 1] else strange).append(gap)
    # Two copies differ in at most 1 − 0.6² of the places that mutations drew anew.
    assert max(alike) < 0.8 < min(strange)
