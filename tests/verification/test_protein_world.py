"""Simulated proteins: the same each time, relatives alike, strangers not."""

from __future__ import annotations

from verification.protein_world import RESIDUES, ProteinWorldSettings, simulate_proteins


def differing(one: str, other: str) -> float:
    return sum(a != b for a, b in zip(one, other, strict=True)) / len(one)


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
