"""How proteins were split, and what the audit found."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import Counts, Numbers


@dataclass(frozen=True)
class SplitClass:
    """One true class in the split.

    Parameters
    ----------
    class_name : str
        The class.
    n, n_clusters : int
        Proteins in groups, and their clusters.
    deviation, lower_bound : float
        Part of the class that would have to move to be even, and how much of
        that whole clusters force.
    n_examined, n_crossing : int
        Proteins audited, and those with a relative in another group.
    """

    class_name: str
    n: int
    n_clusters: int
    deviation: float
    lower_bound: float
    n_examined: int
    n_crossing: int


@dataclass(frozen=True)
class CrossingPair:
    """Two relatives in two groups.

    Parameters
    ----------
    first, first_group, second, second_group : str
        The two, and where they are.
    identity, coverage : float
        Of their alignment.
    """

    first: str
    first_group: str
    second: str
    second_group: str
    identity: float
    coverage: float


@dataclass(frozen=True)
class SplitGroup:
    """One group.

    Parameters
    ----------
    name : str
        The group.
    n : int
        Proteins.
    nearest : tuple of int
        Audited proteins by identity of the nearest protein elsewhere, per bin
        of `SplitFinding.edges`.
    n_alone : int
        Audited proteins that nothing elsewhere resembles beyond chance.
    """

    name: str
    n: int
    nearest: Counts
    n_alone: int


@dataclass(frozen=True)
class Apart:
    """Proteins set aside for one kind of reason.

    Parameters
    ----------
    reason : str
        Why.
    n : int
        How many.
    examples : tuple of str
        The first by id, each with its own reason.
    """

    reason: str
    n: int
    examples: tuple[str, ...]


@dataclass(frozen=True)
class LargeCluster:
    """A cluster larger than a group that was left whole.

    Parameters
    ----------
    cluster : str
        Its name.
    n : int
        Its proteins.
    price, parted : int
        Proteins that the cheapest cut would set aside, and those it would part
        off; 0 and 0 where none would leave two parts, or none was looked for.
    is_searched : bool
        Whether a cut was looked for.
    """

    cluster: str
    n: int
    price: int = 0
    parted: int = 0
    is_searched: bool = True


@dataclass(frozen=True)
class SplitFinding:
    """The split of a run.

    Parameters
    ----------
    identity, coverage : float
        Thresholds of relatives.
    both_sides : bool
        Whether both proteins have to be covered.
    strict : str
        What is done about relatives in two groups.
    is_audited, is_exhaustive : bool
        Whether it was audited, and whether every protein was.
    n_sampled, n_population : int
        Proteins outside the test group that were examined, and all of them.
    n_crossing_sampled : int
        Of those examined outside the test group, how many cross.
    bound : float
        Share of crossing proteins there that is not exceeded, at 95 %.
    n_rounds, n_joined : int
        Audits until the last, and clusters joined for what they found.
    largest_share : float
        Share of the proteins in the largest cluster.
    size_low, size_high : float
        Smallest and greatest group over the mean group.
    classes : tuple of SplitClass
        By class.
    groups : tuple of SplitGroup
        By group.
    edges : tuple of float
        Of the histograms of nearest identity.
    worst : tuple of CrossingPair
        The closest pairs in two groups.
    apart : tuple of Apart
        What was set aside.
    most_expected : float, optional
        Alignments as good as a relative's that chance gives two random proteins,
        at most; None: chance was not asked.
    n_counted, n_by_chance : int
        Proteins audited for pairs that reach identity and coverage with a score
        that chance may explain, and how many such pairs they have elsewhere.
    n_cut : int
        Clusters larger than a group that were cut.
    cut : str
        Whether such clusters are cut: auto or never.
    cut_limit : float
        Share of the proteins that cutting may set aside.
    whole : tuple of LargeCluster
        Those larger than a group that were not cut, or not far enough.
    weigh : str
        What is counted to balance the groups: proteins or clusters.
    n_apart, n_least : int
        Proteins set aside for relatives in two groups, and how many would have to
        be at least.
    """

    identity: float
    coverage: float
    both_sides: bool
    strict: str
    is_audited: bool
    is_exhaustive: bool
    n_sampled: int
    n_population: int
    n_crossing_sampled: int
    bound: float
    n_rounds: int
    n_joined: int
    largest_share: float
    size_low: float
    size_high: float
    classes: tuple[SplitClass, ...]
    groups: tuple[SplitGroup, ...]
    edges: Numbers
    worst: tuple[CrossingPair, ...] = ()
    apart: tuple[Apart, ...] = ()
    most_expected: float | None = 1e-6
    n_counted: int = 0
    n_by_chance: int = 0
    n_cut: int = 0
    cut: str = "auto"
    cut_limit: float = 0.02
    whole: tuple[LargeCluster, ...] = ()
    weigh: str = "proteins"
    n_apart: int = 0
    n_least: int = 0
