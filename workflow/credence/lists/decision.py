"""One decision for each prediction: `accept`, `check` or `insufficient data`.

Whatever lists, counts, colours or advises asks here which predictions may be on a list,
which classes are calls and which background, and what each list's error is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from credence.confidence import NOTE_TEXTS, Confidence, Note
from credence.lists.errors import ListErrors, errors_of
from credence.lists.held_out import HeldOut
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.problems import Problem, nearest, raise_any, refuse

DECISIONS = ACCEPT, CHECK, INSUFFICIENT = ("accept", "check", "insufficient data")
WIDEST = 0.4  # The widest interval that is evidence, as the text of its note says
FEWEST_FAMILIES = 10  # predicted to be of a class that is not scarce, as the text of its note says
# Calibration shows too little of the class, or has seen no such score.
LACKING = (
    *(Note.BELOW_RANGE, Note.ABOVE_RANGE, Note.EMPTY_BIN, Note.UNSEEN_CLASS),
    *(Note.SCARCE, Note.FEW_FAMILIES, Note.WIDE),
)
# Something is known of the protein, or of its set, that its score does not show.
DOUBTS = (Note.TIED, Note.DISAGREES, Note.NOVEL, Note.BAND_OFF, Note.CHANGED)
DOUBT_TEXTS = tuple(NOTE_TEXTS[note] for note in DOUBTS)
# How background classes are usually called, in small letters without anything between them.
BACKGROUND_NAMES = frozenset(
    (
        *("other", "others", "unknown", "unknowns", "negative", "negatives", "background"),
        *("none", "noclass", "rest", "decoy", "decoys", "unclassified", "unassigned"),
        *("hypothetical", "hypotheticalprotein", "hypotheticalproteins"),
        *("nonpvp", "notpvp", "nonphage", "notphage", "nonviral", "notviral", "nonvirus"),
    )
)
CALLS, BACKGROUND = 0, 1  # The groups of classes that have lists of their own


def scarce_classes(held_out: HeldOut | None, n_classes: int) -> Booleans:
    """Return which classes too few calibration families are predicted to be of."""
    if held_out is None:
        return np.zeros(n_classes, dtype=np.bool_)
    pairs = np.unique(np.stack([held_out.predicted, held_out.cluster]), axis=1)
    return np.bincount(pairs[0], minlength=n_classes)[:n_classes] < FEWEST_FAMILIES


def evidence_notes(confidence: Confidence, class_: Integers, is_scarce: Booleans) -> Integers:
    """Return notes on evidence that the method itself says nothing of."""
    few = is_scarce[class_] & (confidence.note & int(Note.SCARCE | Note.UNSEEN_CLASS) == 0)
    notes = np.where(few, int(Note.FEW_FAMILIES), 0)
    return np.asarray(notes | np.where(is_wide(confidence), int(Note.WIDE), 0), np.int64)


def is_wide(confidence: Confidence) -> Booleans:
    """Return which intervals are too wide to be evidence; one that was not fitted is not."""
    return np.asarray(confidence.upper - confidence.lower > WIDEST)


def before_lists(confidence: Confidence) -> Strings:
    """Return the decision on each prediction as long as no list is made."""
    lacks = np.isnan(confidence.value) | is_wide(confidence)
    lacks |= confidence.note & int(sum(LACKING)) != 0
    return np.where(lacks, INSUFFICIENT, CHECK).astype(object)


def decided(before: Strings, q_value: Floats, errors: Sequence[float]) -> Strings:
    """Return the decision on each prediction: `accept` is on the list of the first error rate."""
    is_listed = q_value <= errors[0] if errors else np.zeros(len(before), dtype=np.bool_)
    return np.where(is_listed, ACCEPT, before).astype(object)


def background_of(class_names: Sequence[str], named: Sequence[str] | None) -> Booleans:
    """Return which classes are background: those that are named, or by their usual names."""
    if named is None:
        plain = ["".join(filter(str.isalnum, name.casefold())) for name in class_names]
        is_background = np.array([name in BACKGROUND_NAMES for name in plain], dtype=np.bool_)
        return is_background & ~is_background.all()
    unknown = [name for name in named if name not in class_names]
    where, fault = "lists.background", "{!r} is no class that is known here."
    raise_any(
        Problem(where=where, what=fault.format(name), remedy=nearest(name, class_names))
        for name in unknown
    )
    if set(named) == set(class_names):
        remedy = "Leave out the classes whose predictions you want to use."
        raise refuse(where, "every class is named, so that no list is left.", remedy)
    return np.isin(np.array(class_names, dtype=object), list(named))


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupedErrors:
    """The errors of the lists of several groups of classes, each group by itself."""

    errors: tuple[ListErrors, ...]
    group: Integers  # Of each class

    def q_value(self, class_: Integers, step: Integers) -> Floats:
        """Return the q-value of predictions that may be on a list; NaN where there is none."""
        by_step = np.array([errors.q_value for errors in self.errors])
        is_known = (class_ >= 0) & (step >= 0)
        return np.where(is_known, by_step[self.group[class_], step], np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """Predictions of a query set by class and step of the confidence."""

    every: Integers
    listable: Integers  # With data enough, and no note that speaks against them


@dataclass(frozen=True, kw_only=True, eq=False)
class ListRules:
    """What lists are made of, and how far they may reach."""

    held_out: HeldOut
    is_scarce: Booleans  # Of each class; scarce ones are on no list
    is_background: Booleans
    is_background_found: bool  # Whether by their usual names
    certainty: float  # Of upper bounds
    least_confidence: float
    family_share: float  # Greatest part of one family before a list says so

    def errors_of(self, counts: Integers, group: Integers) -> GroupedErrors:
        """Return the errors of each group's lists; `counts` are of what may be on a list."""
        errors = []
        for number in range(int(group.max(initial=0)) + 1):
            is_member = group == number
            n_use = counts[is_member].sum(axis=0)
            is_known = is_member & ~self.is_scarce & n_use.any()  # nothing is asked of others
            known = self.held_out.of_classes(np.flatnonzero(is_known))
            errors.append(errors_of(known, n_use, self.certainty, self.least_confidence))
        return GroupedErrors(errors=tuple(errors), group=group)

    def calls_and_background(self, counts: Integers) -> GroupedErrors:
        """Return the errors of the lists of calls, and of background predictions if there are."""
        return self.errors_of(counts, np.where(self.is_background, BACKGROUND, CALLS))

    def by_class(self, counts: Integers) -> GroupedErrors:
        """Return the errors of the lists of each class by itself."""
        return self.errors_of(counts, np.arange(len(counts)))
