"""What a run is, how its proteins were split, and all that it found."""

from __future__ import annotations

from dataclasses import dataclass, field

from credence.findings.evaluated import (
    Counts,
    MethodChoices,
    Notice,
    Numbers,
    Results,
    SetsFinding,
)
from credence.findings.releases import ReleasesFinding
from credence.findings.use_sets import EventsFinding, NoveltyFinding, ShiftFinding, WhatIf

SCHEMA = "credence/findings/2"


@dataclass(frozen=True)
class InputFile:
    """One file that the run read."""

    role: str  # What it was read as: ``calibration scores``, ``proteins``, …
    name: str  # Its name as the configuration gives it, never an absolute path
    sha256: str  # Digest of its bytes
    n_records: int | None = None  # Rows or sequences read from it


@dataclass(frozen=True)
class Setting:
    """One setting of the run, as text."""

    name: str  # Its key, with dots: ``clustering.identity``
    value: str  # Its value


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from."""

    run: str  # Name of the run
    title: str  # What the page is called
    credence_version: str  # Version of the package
    # Whether the inputs were simulated; stated wherever numbers are shown.
    is_simulated: bool = False
    inputs: tuple[InputFile, ...] = ()  # What was read
    settings: tuple[Setting, ...] = ()  # Every setting that can change a number
    versions: tuple[Setting, ...] = ()  # Python and the libraries that computed the numbers


@dataclass(frozen=True)
class MethodFinding:
    """One method that was fitted."""

    name: str  # Its specification: ``kernel(bandwidth=mon4)``
    summary: str  # From the registry
    reference: str
    settings: tuple[Setting, ...] = ()  # All of its settings, defaults too


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


@dataclass(frozen=True)
class UseRow:
    """One protein of a use-set, as the page shows it."""

    id: str  # The protein and its predicted class
    predicted_class: str
    score: float  # NaN where there is none
    confidence: float
    lower: float
    upper: float
    note: str = ""  # What to know about it


@dataclass(frozen=True)
class UseClass:
    """The proteins of a use-set that are predicted to be in one class."""

    class_name: str  # The class
    n: int  # Proteins predicted
    n_unknown: int  # Of these, how many have no confidence
    expected_correct: float  # Sum of the confidences: how many are expected to be right
    n_at_least: Counts  # Proteins with at least each of the confidences of `UseSet.levels`


@dataclass(frozen=True)
class UseSet:
    """Confidences of one set of proteins whose classes are not known."""

    name: str  # The set, and the method that gave its confidences
    method: str
    n: int  # Proteins, and those without a confidence
    n_unknown: int
    levels: Numbers  # Confidences at which proteins are counted
    classes: tuple[UseClass, ...]  # One per class
    edges: Numbers  # Of the histogram of confidences
    counts: Counts  # Proteins per bin
    highest: tuple[UseRow, ...]  # The proteins of most and of least confidence
    lowest: tuple[UseRow, ...]
    notes: tuple[Setting, ...] = ()  # What notes say and how many proteins each concerns


@dataclass(frozen=True)
class Findings:
    """All that the page shows."""

    provenance: Provenance  # Where the numbers come from
    methods: tuple[MethodFinding, ...]  # The methods fitted, in the order shown
    chosen: str  # Name of the method whose confidences are given out
    results: Results  # What the evaluation gave
    use_sets: tuple[UseSet, ...] = ()  # Sets that were annotated
    # What other stages have to say (proteins set aside, for example).
    notices: tuple[Notice, ...] = ()
    choices: tuple[MethodChoices, ...] = ()  # Of each `auto` that was fitted
    split: SplitFinding | None = None  # How proteins were split, and what its audit found
    shifts: tuple[ShiftFinding, ...] = ()  # The composition of each use-set, and what it changes
    what_if: WhatIf | None = None  # What every class's curve would be at any composition
    # The releases of the calibration set, and what each changed.
    releases: ReleasesFinding | None = None
    sets: SetsFinding | None = None  # What prediction sets are worth on families held out
    # Events that were asked for, and how well they are forecast.
    events: EventsFinding | None = None
    # How far each use-set is from the calibration proteins.
    novelties: tuple[NoveltyFinding, ...] = ()
    schema: str = field(default=SCHEMA, init=False)
