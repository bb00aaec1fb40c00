"""How proteins were split, and what the audit found."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.evaluated import Counts, Numbers


@dataclass(frozen=True)
class SplitClass:
    """One true class in the split."""

    class_name: str  # The class
    n: int  # Proteins in groups, and their clusters
    n_clusters: int
    # Part of the class that would have to move to be even, and how much of that whole clusters
    # force.
    deviation: float
    lower_bound: float
    n_examined: int  # Proteins audited, and those with a relative in another group
    n_crossing: int


@dataclass(frozen=True)
class CrossingPair:
    """Two relatives in two groups."""

    first: str  # The two, and where they are
    first_group: str
    second: str
    second_group: str
    identity: float  # Of their alignment
    coverage: float


@dataclass(frozen=True)
class SplitGroup:
    """One group."""

    name: str  # The group
    n: int  # Proteins
    # Audited proteins by identity of the nearest protein elsewhere, per bin of
    # `SplitFinding.edges`.
    nearest: Counts
    n_alone: int  # Audited proteins that nothing elsewhere resembles beyond chance


@dataclass(frozen=True)
class Apart:
    """Proteins set aside for one kind of reason."""

    reason: str  # Why
    n: int  # How many
    examples: tuple[str, ...]  # The first by id, each with its own reason


@dataclass(frozen=True)
class LargeCluster:
    """A cluster larger than a group that was left whole."""

    cluster: str  # Its name
    n: int  # Its proteins
    # Proteins that the cheapest cut would set aside, and those it would part off; 0 and 0 where
    # none would leave two parts, or none was looked for.
    price: int = 0
    parted: int = 0
    is_searched: bool = True  # Whether a cut was looked for


@dataclass(frozen=True)
class SplitFinding:
    """The split of a run."""

    identity: float  # Thresholds of relatives
    coverage: float
    both_sides: bool  # Whether both proteins have to be covered
    strict: str  # What is done about relatives in two groups
    is_audited: bool  # Whether it was audited, and whether every protein was
    is_exhaustive: bool
    n_sampled: int  # Proteins outside the test group that were examined, and all of them
    n_population: int
    n_crossing_sampled: int  # Of those examined outside the test group, how many cross
    bound: float  # Share of crossing proteins there that is not exceeded, at 95 %
    n_rounds: int  # Audits until the last, and clusters joined for what they found
    n_joined: int
    largest_share: float  # Share of the proteins in the largest cluster
    size_low: float  # Smallest and greatest group over the mean group
    size_high: float
    classes: tuple[SplitClass, ...]  # By class
    groups: tuple[SplitGroup, ...]  # By group
    edges: Numbers  # Of the histograms of nearest identity
    worst: tuple[CrossingPair, ...] = ()  # The closest pairs in two groups
    apart: tuple[Apart, ...] = ()  # What was set aside
    # Alignments as good as a relative's that chance gives two random proteins, at most; None:
    # chance was not asked.
    most_expected: float | None = 1e-6
    # Proteins audited for pairs that reach identity and coverage with a score that chance may
    # explain, and how many such pairs they have elsewhere.
    n_counted: int = 0
    n_by_chance: int = 0
    n_cut: int = 0  # Clusters larger than a group that were cut
    cut: str = "auto"  # Whether such clusters are cut: auto or never
    cut_limit: float = 0.02  # Share of the proteins that cutting may set aside
    # Those larger than a group that were not cut, or not far enough.
    whole: tuple[LargeCluster, ...] = ()
    weigh: str = "proteins"  # What is counted to balance the groups: proteins or clusters
    # Proteins set aside for relatives in two groups, and how many would have to be at least.
    n_apart: int = 0
    n_least: int = 0
