"""Simulated proteins for the benchmark of splits: families, fragments, fusions.

Half of the families have one protein. The others' members descend from family ancestors that
are lost, by substitutions with BLOSUM62's odds and by indels: each keeps 25 to
99 % of its ancestor, directly or through an earlier member. All sites change
alike; without conserved motifs, searches that start from words have it hard.
A few members are fragments, a few proteins are fusions of two families, a few
bear a label that is not their family's. The same seed gives the same proteins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.proteins import Proteins
from credence.simulate.sequences import ALPHABET, SHARES_OF_RESIDUES, substitution_rows

SIZES = (2_000, 20_000, 100_000)
SHARE_ALONE = 0.5  # of the families
# Of PhANNs' first test set, rounded: from 57 % ("other") down to half a percent.
CLASS_SHARES = (0.565, 0.18, 0.08, 0.05, 0.045, 0.02, 0.02, 0.017, 0.015, 0.005, 0.003)
CLASS_NAMES = tuple("class " + letter for letter in "ABCDEFGHIJK")
SHORTEST, LONGEST = 60, 1_200
MEDIAN_LENGTH, SPREAD_LENGTH = 260.0, 0.6  # log-normal
FAMILY_TAIL = 1.7  # P(size) falls with this power of it
LARGEST_FAMILY = 60  # part of all proteins that a family may hold at most: one in 60
IDENTITY_TO_ANCESTOR = (0.25, 0.99)
IDENTITY_TO_PARENT = (0.45, 0.99)
SHARE_FROM_ANCESTOR = 0.5
INDELS_PER_SUBSTITUTION, MEAN_INDEL = 0.03, 3.0
SHARE_FRAGMENTS, FRAGMENT = 0.05, (0.3, 0.8)
SHARE_FUSIONS = 0.001
SHARE_OTHER_LABEL = 0.01  # of family members
AT_ONCE = 2_000_000  # residues that change, per step

Residues = np.ndarray


@dataclass(frozen=True, eq=False)
class SplitWorld:
    """Proteins, the class and the family of each; '' is the family of those alone."""

    proteins: Proteins
    class_: np.ndarray
    family: np.ndarray


def make_split_world(n_proteins: int, seed: int = 5) -> SplitWorld:
    """Return simulated proteins in an order that says nothing."""
    rng = np.random.default_rng([seed, n_proteins])
    family, parent, depth = _pedigree(n_proteins, rng)
    residues = _evolved(family, parent, depth, rng)
    _cut_fragments(residues, depth, rng)
    class_ = _classes(family, rng)
    _fuse(residues, family, rng)
    _tell_apart(residues, rng)
    letters = np.frombuffer(ALPHABET.encode(), dtype=np.uint8)
    order = rng.permutation(n_proteins)
    width = len(str(n_proteins - 1))
    ids, texts = (np.empty(n_proteins, dtype=object) for _ in range(2))
    ids[:] = [f"p{row:0{width}d}" for row in range(n_proteins)]
    texts[:] = [letters[residues[row]].tobytes().decode("ascii") for row in order]
    names = np.empty(n_proteins, dtype=object)
    is_alone = np.bincount(family)[family] == 1
    names[:] = ["" if is_alone[row] else f"f{family[row]}" for row in order]
    return SplitWorld(
        proteins=Proteins(ids=ids, sequences=texts), class_=class_[order], family=names
    )


def _pedigree(n_proteins: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Return the family of each protein, its parent (-1: the ancestor) and its generation."""
    sizes = np.arange(2, max(n_proteins // LARGEST_FAMILY, 20) + 1)
    odds = sizes**-FAMILY_TAIL
    drawn = rng.choice(sizes, n_proteins, p=odds / odds.sum())
    is_alone = rng.random(n_proteins) < SHARE_ALONE
    drawn[is_alone] = 1
    size = drawn[: int(np.searchsorted(np.cumsum(drawn), n_proteins)) + 1]
    size[-1] -= size.sum() - n_proteins
    family = np.repeat(np.arange(len(size)), size)
    start = np.repeat(np.cumsum(size) - size, size)
    place = np.arange(n_proteins) - start
    earlier = start + (rng.random(n_proteins) * place).astype(np.int64)
    from_ancestor = (rng.random(n_proteins) < SHARE_FROM_ANCESTOR) | (place == 0)
    parent = np.where(from_ancestor, -1, earlier)
    depth = np.zeros(n_proteins, dtype=np.int64)
    while True:  # a parent stands before its children, so this ends
        now = np.where(parent < 0, 0, depth[parent] + 1)
        if (now == depth).all():
            return family, parent, depth
        depth = now


def _evolved(
    family: np.ndarray, parent: np.ndarray, depth: np.ndarray, rng: np.random.Generator
) -> list[Residues]:
    """Return the residues of each protein, one generation after the other."""
    n_families = int(family.max()) + 1
    lengths = MEDIAN_LENGTH * np.exp(rng.normal(0.0, SPREAD_LENGTH, n_families))
    lengths = np.clip(lengths, SHORTEST, LONGEST).astype(np.int64)
    ancestor = np.split(_random(int(lengths.sum()), rng), np.cumsum(lengths)[:-1])
    kept = np.ones(len(family))  # expected identity to the ancestor
    residues: list[Residues] = [ancestor[0]] * len(family)
    is_alone = np.bincount(family)[family] == 1
    for generation in range(int(depth.max()) + 1):
        rows = np.flatnonzero((depth == generation) & ~is_alone)
        before = np.where(parent[rows] < 0, 1.0, kept[parent[rows]])
        least = IDENTITY_TO_ANCESTOR[0] / before
        low, high = np.maximum(least, IDENTITY_TO_PARENT[0]), IDENTITY_TO_PARENT[1]
        if generation == 0:
            low = np.full(len(rows), IDENTITY_TO_ANCESTOR[0])
        identity = np.minimum(low, high) + rng.random(len(rows)) * np.maximum(high - low, 0.0)
        kept[rows] = before * identity
        parents = [
            ancestor[family[row]] if parent[row] < 0 else residues[parent[row]] for row in rows
        ]
        for row, child in zip(rows.tolist(), _mutated(parents, identity, rng), strict=True):
            residues[row] = child
    for row in np.flatnonzero(is_alone).tolist():
        residues[row] = ancestor[family[row]]
    return residues


def _random(n_residues: int, rng: np.random.Generator) -> Residues:
    cumulative = np.cumsum(SHARES_OF_RESIDUES) / np.sum(SHARES_OF_RESIDUES)
    return np.searchsorted(cumulative[:-1], rng.random(n_residues), "right").astype(np.uint8)


def _mutated(
    parents: list[Residues], identity: np.ndarray, rng: np.random.Generator
) -> list[Residues]:
    """Return a child of each parent, all of them at once."""
    lengths = np.fromiter(map(len, parents), dtype=np.int64, count=len(parents))
    if len(parents) == 0:
        return []
    text = np.concatenate(parents)
    starts = np.cumsum(lengths) - lengths
    change = np.repeat(1.0 - identity, lengths)
    changed = np.flatnonzero(rng.random(len(text)) < change)
    rows = substitution_rows()[:, :-1]
    for start in range(0, len(changed), AT_ONCE):
        part = changed[start : start + AT_ONCE]
        text[part] = (rng.random(len(part))[:, None] >= rows[text[part]]).sum(axis=1)
    rate = change * (INDELS_PER_SUBSTITUTION / 2.0)
    counts = np.ones(len(text), dtype=np.int64)
    bounds = np.repeat(starts + lengths, lengths)
    cut = np.flatnonzero(rng.random(len(text)) < rate)
    stop = np.minimum(cut + rng.geometric(1.0 / MEAN_INDEL, len(cut)), bounds[cut])
    depth = np.zeros(len(text) + 1, dtype=np.int64)
    np.add.at(depth, cut, 1)
    np.add.at(depth, stop, -1)
    counts[np.cumsum(depth)[:-1] > 0] = 0
    grown = np.flatnonzero(rng.random(len(text)) < rate)
    counts[grown] += rng.geometric(1.0 / MEAN_INDEL, len(grown))
    after = np.add.reduceat(counts, starts)
    is_spoilt = np.repeat((after < SHORTEST) | (after > LONGEST), lengths)
    counts[is_spoilt] = 1
    child = np.repeat(text, counts)
    is_new = np.ones(len(child), dtype=np.bool_)
    is_new[(np.cumsum(counts) - counts)[counts > 0]] = False
    child[is_new] = _random(int(is_new.sum()), rng)
    return np.split(child, np.cumsum(np.add.reduceat(counts, starts))[:-1])


def _cut_fragments(residues: list[Residues], depth: np.ndarray, rng: np.random.Generator) -> None:
    for row in np.flatnonzero(rng.random(len(residues)) < SHARE_FRAGMENTS).tolist():
        whole = residues[row]
        length = max(int(len(whole) * rng.uniform(*FRAGMENT)), SHORTEST)
        start = int(rng.integers(len(whole) - length + 1))
        residues[row] = whole[start : start + length]


def _fuse(residues: list[Residues], family: np.ndarray, rng: np.random.Generator) -> None:
    n_left = round(SHARE_FUSIONS * len(residues))
    while n_left:
        one, other = rng.integers(len(residues), size=2).tolist()
        length = len(residues[one]) + len(residues[other])
        if family[one] != family[other] and length <= LONGEST:
            residues[one] = np.concatenate([residues[one], residues[other]])
            n_left -= 1


def _tell_apart(residues: list[Residues], rng: np.random.Generator) -> None:
    """Change a residue of what stands there already, until all differ."""
    seen: set[bytes] = set()
    for row, text in enumerate(residues):
        while (key := residues[row].tobytes()) in seen:
            changed = text.copy()
            changed[int(rng.integers(len(text)))] = int(rng.integers(len(ALPHABET)))
            residues[row] = changed
        seen.add(key)


def _classes(family: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the class of each protein: that of its family, but for a few."""
    shares = np.array(CLASS_SHARES) / np.sum(CLASS_SHARES)
    class_ = rng.choice(len(shares), int(family.max()) + 1, p=shares)[family]
    is_alone = np.bincount(family)[family] == 1
    is_other = (rng.random(len(family)) < SHARE_OTHER_LABEL) & ~is_alone
    class_[is_other] = rng.choice(len(shares), int(is_other.sum()), p=shares)
    return class_


# Residues of each place of a repeat, by their odds: of collagens, of coiled coils (a to g), of
# tails.
COLLAGEN = ("G" * 30 + "A", "PPPPPAEKSRDQTVLI", "PPPPAKKRRQEVTSN")
COILED_COIL = ("LLIVMAK", "EKQRAS", "EKQRANS", "LLLLIMA", "EKQRA", "EKQRS", "EKQRD")
TAIL = ("SSSSGGGTPN", "SSGGGGTTAQ")
KINDS = (COLLAGEN, COILED_COIL, TAIL)
LOW_FAMILY, LOW_LENGTH = 8, (80, 500)  # proteins of a family; residues
CORE = (0.2, 0.5)  # of a protein with a tail
KEPT = (0.3, 0.98)  # of its parent's residues
LOW_INDELS = 3  # whole repeats, at most, that a child gains or loses


def make_low_complexity(n_proteins: int, seed: int = 5) -> SplitWorld:
    """Return families of collagens, coiled coils and proteins with tails of S, G and T.

    Members are mutated along trees, each place of a repeat with residues of its own odds.
    """
    rng = np.random.default_rng([seed, n_proteins, len(KINDS)])
    home: dict[str, int] = {}
    number = 0
    while len(home) < n_proteins:
        kind = KINDS[number % len(KINDS)]
        n_units = int(rng.integers(*LOW_LENGTH)) // len(kind)
        core = _random(int(rng.uniform(*CORE) * n_units * len(kind)) if kind is TAIL else 0, rng)
        members = [(core, _repeats(kind, n_units, rng))]
        for _ in range(LOW_FAMILY - 1):
            parent = members[int(rng.integers(len(members)))]
            members.append(_low_child(kind, *parent, rng))
        for core, units in members:
            text = "".join(ALPHABET[code] for code in core) + "".join(units.ravel())
            home.setdefault(text, number)
        number += 1
    texts = np.array(list(home)[:n_proteins], dtype=object)
    family = np.array(list(home.values())[:n_proteins])
    ids = np.array([f"low{row}" for row in range(n_proteins)], dtype=object)
    names = np.array([f"f{code}" for code in family], dtype=object)
    return SplitWorld(
        proteins=Proteins(ids=ids, sequences=texts), class_=family % len(KINDS), family=names
    )


def _repeats(kind: tuple[str, ...], n_units: int, rng: np.random.Generator) -> np.ndarray:
    return np.stack([rng.choice(list(letters), n_units) for letters in kind], axis=1)


def _low_child(
    kind: tuple[str, ...], core: Residues, units: np.ndarray, rng: np.random.Generator
) -> tuple[Residues, np.ndarray]:
    kept = rng.uniform(*KEPT)
    core = _mutated([core], np.array([kept]), rng)[0] if len(core) else core
    drawn = _repeats(kind, len(units), rng)
    child = np.where(rng.random(units.shape) < kept, units, drawn)
    n_new, at = int(rng.integers(-LOW_INDELS, LOW_INDELS + 1)), int(rng.integers(len(units) // 2))
    if n_new < 0:
        return core, np.delete(child, np.arange(at, at - n_new), axis=0)
    return core, np.insert(child, [at] * n_new, _repeats(kind, n_new, rng), axis=0)


CROWD_LENGTH, CROWD_CHANGED = 300, (0.01, 0.02)  # residues; share of them that a copy changes
CROWD_KEPT = (0.63, 0.78)  # of the ancestor: 40 to 60 % between two of the family


def make_crowds(n_copies: int = 2_000, n_family: int = 1_500, seed: int = 5) -> SplitWorld:
    """Return near copies of one protein, and a large family."""
    rng = np.random.default_rng([seed, n_copies, n_family])
    one, other = _random(CROWD_LENGTH, rng), _random(CROWD_LENGTH, rng)
    copies = _mutated([one] * n_copies, 1.0 - rng.uniform(*CROWD_CHANGED, n_copies), rng)
    family = _mutated([other] * n_family, rng.uniform(*CROWD_KEPT, n_family), rng)
    residues = copies + family
    _tell_apart(residues, rng)
    texts, ids, names = (np.empty(len(residues), dtype=object) for _ in range(3))
    texts[:] = ["".join(ALPHABET[code] for code in found) for found in residues]
    ids[:] = [f"p{row}" for row in range(len(residues))]
    names[:] = ["copies"] * n_copies + ["family"] * n_family
    return SplitWorld(
        proteins=Proteins(ids=ids, sequences=texts),
        class_=np.arange(len(residues)) % 3,
        family=names,
    )
