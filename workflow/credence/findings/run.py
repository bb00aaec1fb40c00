"""What a run is and all that it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from credence.findings.chosen import MethodChoices
from credence.findings.codec import from_record, to_record
from credence.findings.evaluated import Notice, Results
from credence.findings.events import EventsFinding
from credence.findings.measured import Counts, Numbers
from credence.findings.novelty import NoveltyFinding
from credence.findings.releases import ReleasesFinding
from credence.findings.sets import SetsFinding
from credence.findings.shift import ShiftFinding, WhatIf
from credence.findings.splits import SplitFinding
from credence.problems import refuse

SCHEMA = "credence/findings/2"


@dataclass(frozen=True)
class InputFile:
    """One file that the run read.

    Parameters
    ----------
    role : str
        What it was read as: ``calibration scores``, ``proteins``, …
    name : str
        Its name as the configuration gives it, never an absolute path.
    sha256 : str
        Digest of its bytes.
    n_records : int, optional
        Rows or sequences read from it.
    """

    role: str
    name: str
    sha256: str
    n_records: int | None = None


@dataclass(frozen=True)
class Setting:
    """One setting of the run, as text.

    Parameters
    ----------
    name : str
        Its key, with dots: ``clustering.identity``.
    value : str
        Its value.
    """

    name: str
    value: str


@dataclass(frozen=True)
class Provenance:
    """Where the numbers come from.

    Parameters
    ----------
    run : str
        Name of the run.
    title : str
        What the page is called.
    credence_version : str
        Version of the package.
    is_simulated : bool
        Whether the inputs were simulated; said wherever numbers are shown.
    inputs : tuple of InputFile
        What was read.
    settings : tuple of Setting
        Every setting that can change a number.
    versions : tuple of Setting
        Python and the libraries that computed the numbers.
    """

    run: str
    title: str
    credence_version: str
    is_simulated: bool = False
    inputs: tuple[InputFile, ...] = ()
    settings: tuple[Setting, ...] = ()
    versions: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class MethodFinding:
    """One method that was fitted.

    Parameters
    ----------
    name : str
        Its specification: ``kernel(bandwidth=mon4)``.
    summary, reference : str
        From the registry.
    settings : tuple of Setting
        All of its settings, defaults too.
    """

    name: str
    summary: str
    reference: str
    settings: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class UseRow:
    """One protein of a use-set, as the page shows it.

    Parameters
    ----------
    id, predicted_class : str
        The protein and its predicted class.
    score, confidence, lower, upper : float
        NaN where there is none.
    note : str
        What to know about it.
    """

    id: str
    predicted_class: str
    score: float
    confidence: float
    lower: float
    upper: float
    note: str = ""


@dataclass(frozen=True)
class UseClass:
    """The proteins of a use-set that are predicted to be in one class.

    Parameters
    ----------
    class_name : str
        The class.
    n : int
        Proteins predicted.
    n_unknown : int
        Of these, how many have no confidence.
    expected_correct : float
        Sum of the confidences: how many are expected to be right.
    n_at_least : tuple of int
        Proteins with at least each of the confidences of `UseSet.levels`.
    """

    class_name: str
    n: int
    n_unknown: int
    expected_correct: float
    n_at_least: Counts


@dataclass(frozen=True)
class UseSet:
    """Confidences of one set of proteins whose classes are not known.

    Parameters
    ----------
    name, method : str
        The set, and the method that gave its confidences.
    n, n_unknown : int
        Proteins, and those without a confidence.
    levels : tuple of float
        Confidences at which proteins are counted.
    classes : tuple of UseClass
        One per class.
    edges : tuple of float
        Of the histogram of confidences.
    counts : tuple of int
        Proteins per bin.
    highest, lowest : tuple of UseRow
        The proteins of most and of least confidence.
    notes : tuple of Setting
        What notes say and how many proteins each concerns.
    """

    name: str
    method: str
    n: int
    n_unknown: int
    levels: Numbers
    classes: tuple[UseClass, ...]
    edges: Numbers
    counts: Counts
    highest: tuple[UseRow, ...]
    lowest: tuple[UseRow, ...]
    notes: tuple[Setting, ...] = ()


@dataclass(frozen=True)
class Findings:
    """All that the page shows.

    Parameters
    ----------
    provenance : Provenance
        Where the numbers come from.
    methods : tuple of MethodFinding
        The methods fitted, in the order shown.
    chosen : str
        Name of the method whose confidences are given out.
    results : Results
        What the evaluation gave.
    use_sets : tuple of UseSet
        Sets that were annotated.
    notices : tuple of Notice
        What other stages have to say (proteins set aside, for example).
    choices : tuple of MethodChoices
        Of each `auto` that was fitted.
    split : SplitFinding, optional
        How proteins were split, and what its audit found.
    shifts : tuple of ShiftFinding
        The composition of each use-set, and what it changes.
    what_if : WhatIf, optional
        What every class's curve would be at any composition.
    releases : ReleasesFinding, optional
        The releases of the calibration set, and what each changed.
    sets : SetsFinding, optional
        What prediction sets are worth on families held out.
    events : EventsFinding, optional
        Events that were asked for, and how well they are forecast.
    novelties : tuple of NoveltyFinding
        How far each use-set is from the calibration proteins.
    """

    provenance: Provenance
    methods: tuple[MethodFinding, ...]
    chosen: str
    results: Results
    use_sets: tuple[UseSet, ...] = ()
    notices: tuple[Notice, ...] = ()
    choices: tuple[MethodChoices, ...] = ()
    split: SplitFinding | None = None
    shifts: tuple[ShiftFinding, ...] = ()
    what_if: WhatIf | None = None
    releases: ReleasesFinding | None = None
    sets: SetsFinding | None = None
    events: EventsFinding | None = None
    novelties: tuple[NoveltyFinding, ...] = ()
    schema: str = field(default=SCHEMA)

    def to_record(self) -> dict[str, Any]:
        """Return the findings as JSON data."""
        record = to_record(self)
        assert isinstance(record, dict)
        return record

    @classmethod
    def from_record(cls, record: Mapping[str, Any], where: str = "findings") -> Findings:
        """Return the findings of a record.

        Parameters
        ----------
        record : mapping
            From :meth:`to_record`.
        where : str
            The file it was read from, for the message that refuses it.
        """
        if record.get("schema") != SCHEMA:
            raise refuse(
                where,
                f"its schema is {record.get('schema')!r}, and this version reads {SCHEMA!r}.",
                "Evaluate again with this version of credence.",
            )
        try:
            return from_record(cls, record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise refuse(
                where,
                f"it is damaged: {error} is missing or of another kind.",
                "Evaluate again with this version of credence.",
            ) from error
