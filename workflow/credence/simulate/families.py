"""Which proteins are relatives: sizes, classes and exact duplicates of families."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from credence.predictions import Booleans, Floats, Integers, Strings
from credence.simulate.settings import WorldSettings

SHARE_DUPLICATES = 0.05  # of a family's further members, exact copies of the one before


@dataclass(frozen=True, eq=False)
class Families:
    """Families of relatives, the rows of one family next to each other.

    Parameters
    ----------
    class_ : array of int, shape (n_families,)
        Class of all members.
    size : array of int, shape (n_families,)
        Number of members.
    is_duplicate : array of bool, shape (n_members,)
        Whether a member is an exact copy of the member before it.
    """

    class_: Integers
    size: Integers
    is_duplicate: Booleans

    @property
    def n_families(self) -> int:
        """Number of families."""
        return len(self.size)

    @property
    def n_members(self) -> int:
        """Number of proteins."""
        return len(self.is_duplicate)

    @property
    def family(self) -> Integers:
        """Index of each member's family."""
        return np.repeat(np.arange(self.n_families), self.size)

    @property
    def member_class(self) -> Integers:
        """Class of each member."""
        return np.repeat(self.class_, self.size)

    def names(self, prefix: str) -> Strings:
        """Return the name of each member's family.

        Parameters
        ----------
        prefix : str
            What the names begin with.
        """
        names = np.array([f"{prefix}_{i:06d}" for i in range(self.n_families)], dtype=object)
        return np.repeat(names, self.size)


def draw_families(
    settings: WorldSettings, n_members: int, prevalence: Floats, rng: np.random.Generator
) -> Families:
    """Return families with so many members in all, in the order of their classes.

    Parameters
    ----------
    settings : WorldSettings
        Law of the sizes and of the composition.
    n_members : int
        Number of proteins; the last family of a class is cut to fit.
    prevalence : array, shape (n_classes,)
        Shares of the classes, summing to 1.
    rng : numpy.random.Generator
        Source of randomness.
    """
    if settings.composition == "fixed":
        class_sizes = [
            (class_, _sizes_summing_to(settings, n, rng))
            for class_, n in enumerate(whole_shares(prevalence, n_members))
        ]
        class_ = np.concatenate([np.full(len(size), k) for k, size in class_sizes])
        size = np.concatenate([size for _, size in class_sizes])
    else:
        size = _sizes_summing_to(settings, n_members, rng)
        class_ = np.searchsorted(np.cumsum(prevalence)[:-1], rng.random(len(size)), "right")
        order = np.argsort(class_, kind="stable")
        class_, size = class_[order], size[order]
    is_duplicate = rng.random(n_members) < SHARE_DUPLICATES
    is_duplicate[np.cumsum(size) - size] = False
    return Families(class_.astype(np.int64), size, is_duplicate)


def without_duplicates(families: Families) -> Families:
    """Return the same families, none of whose members is an exact copy.

    Parameters
    ----------
    families : Families
        Any.
    """
    return replace(families, is_duplicate=np.zeros(families.n_members, dtype=bool))


def whole_shares(prevalence: Floats, n_members: int) -> Integers:
    """Return whole numbers near the shares, by largest remainders.

    Parameters
    ----------
    prevalence : array
        Shares, summing to 1.
    n_members : int
        What the numbers sum to.

    Examples
    --------
    >>> whole_shares(np.array([0.5, 0.3, 0.2]), 9)
    array([4, 3, 2])
    """
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
