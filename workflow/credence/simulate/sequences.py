"""Protein families evolved from random ancestors by substitutions, indels and lost ends."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from Bio.Align import substitution_matrices
from numpy.typing import NDArray

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.simulate.law import WorldSettings

SHARE_DUPLICATES = 0.05  # of a family's further members, exact copies of the one before


@dataclass(frozen=True, kw_only=True, eq=False)
class Families:
    """Families of relatives, the rows of one family next to each other."""

    class_: Integers  # Class of all members
    size: Integers  # Number of members
    is_duplicate: Booleans  # Whether a member is an exact copy of the member before it

    @property
    def n_families(self) -> int:
        """Number of families."""
        return len(self.size)

    @property
    def n_members(self) -> int:
        """Number of proteins."""
        return len(self.is_duplicate)

    @property
    def member_class(self) -> Integers:
        """Class of each member."""
        return np.repeat(self.class_, self.size)

    def names(self, prefix: str) -> Strings:
        """Return the name of each member's family."""
        names = np.array([f"{prefix}_{i:06d}" for i in range(self.n_families)], dtype=object)
        return np.repeat(names, self.size)

    def without_duplicates(self) -> "Families":
        """Return the same families, none of whose members is an exact copy."""
        return replace(self, is_duplicate=np.zeros(self.n_members, dtype=bool))


def draw_families(
    settings: WorldSettings, n_members: int, prevalence: Floats, rng: np.random.Generator
) -> Families:
    """Return families with so many members in all, in the order of their classes."""
    if settings.class_proportions == "fixed":
        wanted = whole_shares(prevalence, n_members)
        sizes = [_sizes_summing_to(settings, n, rng) for n in wanted]
        class_ = np.repeat(np.arange(len(sizes)), [len(size) for size in sizes])
        size = np.concatenate(sizes)
    else:
        size = _sizes_summing_to(settings, n_members, rng)
        class_ = np.searchsorted(np.cumsum(prevalence)[:-1], rng.random(len(size)), "right")
        order = np.argsort(class_, kind="stable")
        class_, size = class_[order], size[order]
    is_duplicate = rng.random(n_members) < SHARE_DUPLICATES
    is_duplicate[np.cumsum(size) - size] = False
    return Families(class_=class_.astype(np.int64), size=size, is_duplicate=is_duplicate)


def whole_shares(prevalence: Floats, n_members: int) -> Integers:
    """Return whole numbers near the shares, by largest remainders."""
    exact = prevalence * n_members
    counts = np.floor(exact).astype(np.int64)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: n_members - counts.sum()]] += 1
    return counts


def _sizes_summing_to(settings: WorldSettings, total: int, rng: np.random.Generator) -> Integers:
    if settings.family_size == "single" or total == 0:
        return np.ones(total, dtype=np.int64)
    steps = np.arange(1, settings.largest_family + 1, dtype=float) ** -settings.family_tail
    cumulative = np.cumsum(steps) / steps.sum()
    size = np.empty(0, dtype=np.int64)
    # A family has at least one member, so the total is reached; a few rounds do.
    while size.sum() < total:
        wanted = max(8, int(total - size.sum()) // 2)
        drawn = np.searchsorted(cumulative[:-1], rng.random(wanted), "right") + 1
        size = np.concatenate([size, drawn])
    end = np.cumsum(size)
    n_families = int(np.searchsorted(end, total)) + 1
    size = size[:n_families].copy()
    size[-1] -= end[n_families - 1] - total
    return size


Residues = NDArray[np.uint8]

ALPHABET = "ARNDCQEGHILKMFPSTWYV"  # BLOSUM62's order
# Background frequencies behind BLOSUM62, in that order, to three decimals:
# Henikoff & Henikoff 1992 (doi 10.1073/pnas.89.22.10915).
SHARES_OF_RESIDUES = (
    *(0.074, 0.052, 0.045, 0.054, 0.025, 0.034, 0.054, 0.074, 0.026, 0.068),
    *(0.099, 0.058, 0.025, 0.047, 0.039, 0.057, 0.051, 0.013, 0.032, 0.073),
)
BITS_PER_SCORE = 0.5  # BLOSUM62 is in half bits

LEAST_LENGTH, GREATEST_LENGTH = 60, 1_200
# Median lengths per class in the order of the classes, residues: chosen near
# what phage proteins of these kinds have.
MEDIAN_LENGTH = (330, 180, 290, 210, 260, 480, 520, 380, 260, 120, 240)
SPREAD_LENGTH = 0.35  # standard deviation of the logarithm

RELATIVE = (0.6, 0.95)  # of planted relatives: far above the usual 40 %, no doubtful cases
SHARE_NEAR_COPIES = 0.3  # of the descendants
NEAR_COPY = (0.95, 0.995)  # expected identity to the parent
DESCENDANT = (0.5, 0.95)
# Least expected identity to the ancestor, so that any two stay above its square.
FARTHEST_RELATIVE = 0.5
SHARE_FROM_ANCESTOR = 0.5  # of the descendants; the others have any earlier member as parent
INDELS_PER_SUBSTITUTION = 0.02
MEAN_INDEL = 2.0  # residues
SHARE_FRAGMENTS = 0.04  # of the descendants
FRAGMENT = (0.5, 0.9)  # part that is left


@cache
def substitution_rows() -> Floats:
    """Return cumulative P(new residue | old residue), given that it changes.

    From BLOSUM62 scores s, P(b | a) ∝ p(b) 2^(s/2), the old residue left out.
    """
    matrix = np.asarray(substitution_matrices.load("BLOSUM62").select(ALPHABET), dtype=float)
    odds = np.array(SHARES_OF_RESIDUES)[None, :] * 2.0 ** (BITS_PER_SCORE * matrix)
    np.fill_diagonal(odds, 0.0)
    return np.asarray(np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1))


Descent = tuple[Residues, float]  # A member's residues, and its expected identity to the ancestor


def evolve(families: Families, rng: np.random.Generator, scale: float = 1.0) -> Strings:
    """Return the sequence of each member."""
    sequences = np.empty(families.n_members, dtype=object)
    row = 0
    for class_, size in zip(families.class_, families.size, strict=True):
        members: list[Descent] = []
        for position in range(int(size)):
            if position == 0:
                length = scale * MEDIAN_LENGTH[class_] * np.exp(rng.normal(0.0, SPREAD_LENGTH))
                length = int(np.clip(length, LEAST_LENGTH, GREATEST_LENGTH))
                member = _random_residues(length, rng), 1.0
            elif families.is_duplicate[row]:
                member = members[-1]
            else:
                member = _descendant(members, rng)
            members.append(member)
            sequences[row] = written(member[0])
            row += 1
    return sequences


def relative(sequence: str, rng: np.random.Generator) -> str:
    """Return a whole-length relative of a protein, 60 to 95 % identical in expectation."""
    return written(mutated(codes(sequence), rng.uniform(*RELATIVE), rng))


def written(residues: Residues) -> str:
    """Return the letters of residue codes."""
    return _LETTERS[residues].tobytes().decode("ascii")


def codes(sequence: str) -> Residues:
    """Return the residue codes of letters."""
    return _CODES[np.frombuffer(sequence.encode("ascii"), dtype=np.uint8)]


def mutated(residues: Residues, identity: float, rng: np.random.Generator) -> Residues:
    """Return a descendant with one substitution or more, and short indels."""
    changed = np.flatnonzero(rng.random(len(residues)) > identity)
    if len(changed) == 0:
        changed = rng.integers(len(residues), size=1)
    child = residues.copy()
    rows = substitution_rows()[residues[changed]]
    child[changed] = (rng.random(len(changed))[:, None] >= rows[:, :-1]).sum(axis=1)
    for _ in range(rng.poisson(len(changed) * INDELS_PER_SUBSTITUTION)):
        child = _with_indel(child, rng)
    return child


def _with_indel(residues: Residues, rng: np.random.Generator) -> Residues:
    place = int(rng.integers(len(residues)))
    length = int(rng.geometric(1.0 / MEAN_INDEL))
    if rng.random() < 0.5:
        if len(residues) + length > GREATEST_LENGTH:
            return residues
        return np.concatenate([residues[:place], _random_residues(length, rng), residues[place:]])
    if len(residues) - length < LEAST_LENGTH:
        return residues
    return np.concatenate([residues[:place], residues[place + length :]])


def _random_residues(length: int, rng: np.random.Generator) -> Residues:
    cumulative = np.cumsum(SHARES_OF_RESIDUES)
    places = np.searchsorted(cumulative[:-1] / cumulative[-1], rng.random(length), "right")
    return places.astype(np.uint8)


def _descendant(members: list[Descent], rng: np.random.Generator) -> Descent:
    from_ancestor = rng.random() < SHARE_FROM_ANCESTOR
    parent, of_parent = members[0] if from_ancestor else members[int(rng.integers(len(members)))]
    near = rng.random() < SHARE_NEAR_COPIES
    least, most = NEAR_COPY if near else DESCENDANT
    identity = max(rng.uniform(least, most), FARTHEST_RELATIVE / of_parent)
    child = mutated(parent, min(identity, 1.0), rng)
    if rng.random() < SHARE_FRAGMENTS:
        length = max(LEAST_LENGTH, int(len(child) * rng.uniform(*FRAGMENT)))
        start = int(rng.integers(max(1, len(child) - length + 1)))
        child = child[start : start + length]
    return child, of_parent * min(identity, 1.0)


_LETTERS = np.frombuffer(ALPHABET.encode("ascii"), dtype=np.uint8)
_CODES = np.zeros(256, dtype=np.uint8)
_CODES[_LETTERS] = np.arange(len(ALPHABET), dtype=np.uint8)
