"""Labels in a tree, or in a graph in which a label has several parents; flat without parents."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise


@dataclass(frozen=True, kw_only=True)
class LabelTree:
    """The labels that a protein may have several of, and which is part of which.

    Labels are named, so that the order of classes is nothing to it.
    """

    # Label → those directly above it; what has none is a root or stands alone.
    parents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_open: bool = True  # Whether labels that are not listed as true may still be true
    names: Mapping[str, str] = field(default_factory=dict)  # Label → its name in words
    # Whether each root is a namespace by itself, as in GO: who has any label there has it.
    has_branches: bool = False

    @cached_property
    def _above(self) -> dict[str, frozenset[str]]:
        """Every label with all that is above it; parents come first."""
        above: dict[str, frozenset[str]] = {}
        for label in TopologicalSorter(self.parents).static_order():
            direct = self.parents.get(label, ())
            above[label] = frozenset(direct).union(*(above[parent] for parent in direct))
        return above

    def ancestors(self, label: str) -> frozenset[str]:
        """Return all labels above one."""
        return self._above.get(label, frozenset())

    def closed(self, labels: Iterable[str]) -> frozenset[str]:
        """Return labels with all that are above them."""
        known = frozenset(labels)
        return known.union(*map(self.ancestors, known))

    def branches(self, label: str) -> frozenset[str]:
        """Return the roots that a label hangs from; without namespaces all are one branch."""
        if not self.has_branches:
            return frozenset(("",))
        above = self.ancestors(label)
        return frozenset(root for root in above if not self.parents.get(root)) or frozenset(
            (label,)
        )

    @cached_property
    def depths(self) -> dict[str, int]:
        """How many steps each label is below its farthest root, of all that stand in the tree."""
        depths: dict[str, int] = {}
        for label in TopologicalSorter(self.parents).static_order():
            direct = self.parents.get(label, ())
            depths[label] = 1 + max((depths[parent] for parent in direct), default=-1)
        return depths

    def among(self, labels: Iterable[str]) -> "LabelTree":
        """Return the tree of some labels: each below the nearest of them that are above it."""
        known = frozenset(labels)
        parents = {}
        for label in sorted(known):
            above = self.ancestors(label) & known
            nearest = above.difference(*(self.ancestors(other) for other in above))
            if nearest:
                parents[label] = tuple(sorted(nearest))
        names = {label: self.names[label] for label in sorted(known) if label in self.names}
        return replace(self, parents=parents, names=names)

    def roots(self) -> frozenset[str]:
        """Return the labels that name a whole branch, where roots do; they say nothing."""
        if not self.has_branches:
            return frozenset()
        return frozenset(above for part in self.parents.values() for above in part).difference(
            label for label, above in self.parents.items() if above
        )

    def most_specific(self, labels: Iterable[str]) -> list[str]:
        """Return the labels of which none is above another, in order."""
        known = frozenset(labels)
        return sorted(known.difference(*map(self.ancestors, known)))


def cycle_in(parents: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return labels of which each is above the next and the last is the first; () without any."""
    try:
        TopologicalSorter(parents).prepare()
    except CycleError as error:
        return tuple(error.args[1])
    return ()


def levels_in(label: str, separator: str) -> list[str]:
    """Return a label and those above it, as its own text says: 1.2.3.4 is in 1.2.3.

    Levels that are not known, as in 3.4.21.-, are no level.
    """
    parts = [part.strip() for part in label.split(separator)]
    while len(parts) > 1 and parts[-1] in ("", "-"):
        parts.pop()
    return [separator.join(parts[:end]) for end in range(len(parts), 0, -1)]


def tree_of_labels(labels: Iterable[str], separator: str, *, is_open: bool = True) -> LabelTree:
    """Return the tree that labels state by themselves."""
    parents: dict[str, tuple[str, ...]] = {}
    for label in labels:
        levels = levels_in(label, separator)
        if label != levels[0]:
            parents[label] = (levels[0],)
        for below, above in pairwise(levels):
            parents[below] = (above,)
        parents.setdefault(levels[-1], ())
    return LabelTree(parents=parents, is_open=is_open)
