"""What a run is and all that it found."""

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
from credence.findings.split_record import SplitFinding
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
    # Whether the inputs were simulated; said wherever numbers are shown.
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
