"""One decision for each prediction: `accept`, `check` or `insufficient data`.

Whatever lists, counts, colours or advises asks here which predictions may be on a list,
which classes are calls and which background, and what each list's error is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from credence.confidence import NOTE_TEXTS, Confidence, Note
from credence.findings import ACCEPT, CHECK, FEWEST_LISTED_FAMILIES, INSUFFICIENT
from credence.lists.errors import N_CONFIDENCE_STEPS, ListErrors, errors_of, q_values
from credence.lists.held_out import HeldOut
from credence.predictions import Booleans, Floats, Integers, Strings
from credence.problems import Problem, nearest, raise_any, refuse

# A class's error rate on a list is drawn to that of the whole list as if so many more families
# of it were wrong as often as that.
FAMILIES_OF_LIST = 10.0
# Calibration shows too little of the class, or has seen no such score.
LACKING = (
    *(Note.BELOW_RANGE, Note.ABOVE_RANGE, Note.EMPTY_BIN, Note.UNSEEN_CLASS),
    *(Note.SCARCE, Note.FEW_FAMILIES),
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
    return np.bincount(pairs[0], minlength=n_classes)[:n_classes] < FEWEST_LISTED_FAMILIES


def scarcity_notes(confidence: Confidence, class_: Integers, is_scarce: Booleans) -> Integers:
    """Return notes on scarce classes where the method itself says nothing of it."""
    few = is_scarce[class_] & (confidence.note & int(Note.SCARCE | Note.UNSEEN_CLASS) == 0)
    return np.where(few, int(Note.FEW_FAMILIES), 0).astype(np.int64)


def before_lists(confidence: Confidence) -> Strings:
    """Return the decision on each prediction as long as no list is made."""
    lacks = np.isnan(confidence.value) | (confidence.note & int(sum(LACKING)) != 0)
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
    """The errors of the lists of groups of classes, and how far down each class is on them.

    A prediction is on a list of its group where the list as a whole keeps to the error rate, and
    so do the predictions of its own class down to it, by an estimate drawn to the whole list's.
    """

    errors: tuple[ListErrors, ...]  # Of each group
    group: Integers  # Of each class
    by_class: tuple[ListErrors, ...]  # Of each class by itself
    counts: Integers  # Of predictions that may be on a list, by class and step

    @cached_property
    def class_error(self) -> Floats:
        """The error rate of each class's share of a list down to each step."""
        shown = np.array([alone.shown for alone in self.by_class])
        families = np.array([alone.above.n_families for alone in self.by_class])
        together = np.array([errors.error for errors in self.errors])[self.group]
        drawn = shown * families + together * FAMILIES_OF_LIST
        return np.asarray(drawn / (families + FAMILIES_OF_LIST))

    @cached_property
    def class_q_value(self) -> Floats:
        """The least error rate of each class's share of a list that holds each step."""
        pairs = zip(self.class_error, self.by_class, strict=True)
        return np.array([q_values(error, alone.first) for error, alone in pairs])

    def q_value(self, class_: Integers, step: Integers) -> Floats:
        """Return the q-value of predictions that may be on a list; NaN where there is none."""
        together = np.array([errors.q_value for errors in self.errors])
        q_value = np.maximum(together[self.group[class_], step], self.class_q_value[class_, step])
        return np.where((class_ >= 0) & (step >= 0), q_value, np.nan)

    def ends(self, group: int, error: float, *, is_certain: bool = False) -> Integers:
        """Return the lowest step of each class on the list of a group; none: beyond the last."""
        ends = np.full(len(self.group), N_CONFIDENCE_STEPS)
        together = self.errors[group].end_of(error, is_certain=is_certain)
        if together is None:
            return ends
        for class_ in np.flatnonzero(self.group == group).tolist():
            steps = np.flatnonzero(self.class_q_value[class_] <= error)  # NaN is not
            if len(steps):
                ends[class_] = max(together, int(steps[0]))
        return ends


@dataclass(frozen=True, kw_only=True, eq=False)
class Counts:
    """Predictions of a query set by class and step of the confidence."""

    every: Integers
    listable: Integers  # With data enough, and no note that speaks against them
    confidence: Floats  # The sum of the confidences of each class


@dataclass(frozen=True, kw_only=True, eq=False)
class ListRules:
    """What lists are made of, and how far they may reach."""

    held_out: HeldOut
    class_names: tuple[str, ...]
    is_scarce: Booleans  # Of each class; scarce ones are on no list
    is_background: Booleans
    is_background_found: bool  # Whether by their usual names
    certainty: float  # Of upper bounds
    least_confidence: float
    family_share: float  # Greatest part of one family before a list says so

    def errors_of(self, counts: Integers, group: Integers) -> tuple[ListErrors, ...]:
        """Return the errors of each group's lists; `counts` are of what may be on a list."""
        errors = []
        nothing: ListErrors | None = None  # of all classes of which nothing is asked
        for number in range(int(group.max(initial=0)) + 1):
            is_member = group == number
            n_query = counts[is_member].sum(axis=0)
            is_known = is_member & ~self.is_scarce & n_query.any()  # nothing is asked of others
            if not n_query.any():
                if nothing is None:
                    known = self.held_out.of_classes(np.empty(0, dtype=np.int64))
                    nothing = errors_of(known, n_query, self.certainty, self.least_confidence)
                errors.append(nothing)
                continue
            known = self.held_out.of_classes(np.flatnonzero(is_known))
            errors.append(errors_of(known, n_query, self.certainty, self.least_confidence))
        return tuple(errors)

    def calls_and_background(self, counts: Integers) -> GroupedErrors:
        """Return the errors of the lists of calls, and of background predictions if there are."""
        group = np.where(self.is_background, BACKGROUND, CALLS)
        by_class = self.errors_of(counts, np.arange(len(counts)))
        return GroupedErrors(
            errors=self.errors_of(counts, group), group=group, by_class=by_class, counts=counts
        )

    def listed(self, counts: Integers, ends: Integers) -> ListErrors:
        """Return the errors of what is on a list that ends at a step in each class."""
        steps = np.arange(N_CONFIDENCE_STEPS)
        known = self.held_out.of_classes(np.flatnonzero(ends < N_CONFIDENCE_STEPS))
        known = known.take(known.step >= ends[known.predicted])
        n_query = np.where(steps >= ends[:, None], counts, 0).sum(axis=0)
        return errors_of(known, n_query, self.certainty, self.least_confidence)
