"""What becomes of the proteins of a trove: the sets that meet, and the outcomes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.predictions import Booleans, Floats, Integers, Strings

UNSCORED = "unscored"
UNLABELLED = "unlabelled"
ID_TAKEN = "id_taken"
EXACT_REPEAT = "exact_repeat"
LABEL_CONFLICT = "label_conflict"
REPEAT_WITHIN = "repeat_within"
CONFLICT_WITHIN = "conflict_within"
TRAINING_RELATIVE = "training_relative"
TEST_RELATIVE = "test_relative"
BRIDGES_GROUPS = "bridges_groups"
ADDED = "added"

# In the order in which they are asked: the first that holds is the outcome.
OUTCOMES: dict[str, str] = {
    UNSCORED: "the tool gave no scores",
    UNLABELLED: "it has no true class",
    ID_TAKEN: "another protein has this id",
    EXACT_REPEAT: "the set has this sequence already, with the same label",
    LABEL_CONFLICT: "the set has this sequence with another label, which stays",
    REPEAT_WITHIN: "the trove has this sequence twice; the first by id stands for it",
    CONFLICT_WITHIN: "the trove has this sequence with two labels; none is taken",
    TRAINING_RELATIVE: "the classifier may have learnt from a relative",
    TEST_RELATIVE: "a relative is in the test group, which stays as it is",
    BRIDGES_GROUPS: "it connects groups that must stay apart",
    ADDED: "it calibrates from now on",
}


@dataclass(frozen=True, eq=False)
class KnownSet:
    """The set so far: proteins that stay as they are.

    Parameters
    ----------
    ids, sequences : array of str
        Names; residues, '' for all where sequences are not known.
    class_ : array of int
        True classes.
    cluster, group, role : array of str
        As in the table of groups.
    """

    ids: Strings
    sequences: Strings
    class_: Integers
    cluster: Strings
    group: Strings
    role: Strings

    @property
    def n_proteins(self) -> int:
        """Number of proteins."""
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """What the classifier learnt from.

    Parameters
    ----------
    ids, sequences : array of str
        Names and residues; '' likewise.
    """

    ids: Strings
    sequences: Strings


@dataclass(frozen=True, eq=False)
class NewSet:
    """The scored proteins of a trove.

    Parameters
    ----------
    ids, sequences : array of str
        Names, unique, and residues; '' likewise.
    class_ : array of int
        True classes; `credence.predictions.UNKNOWN_CLASS` where there is none.
    """

    ids: Strings
    sequences: Strings
    class_: Integers

    @property
    def n_proteins(self) -> int:
        """Number of proteins."""
        return len(self.ids)


@dataclass(frozen=True, eq=False)
class Attachment:
    """What became of each protein of a trove, in its order.

    Parameters
    ----------
    outcome : array of str
        One of `OUTCOMES`.
    cluster, group : array of str
        Of those that are added; '' for the others.
    relative : array of str
        The protein that decided it; '' where there is none.
    relative_class : array of int
        The true class of that one; `UNKNOWN_CLASS` where it is not known.
    identity, coverage : array of float
        Likeness to that one; NaN where not known.
    reason : array of str
        The outcome in words.
    """

    outcome: Strings
    cluster: Strings
    group: Strings
    relative: Strings
    relative_class: Integers
    identity: Floats
    coverage: Floats
    reason: Strings

    @property
    def is_added(self) -> Booleans:
        """Whether each protein joins the set."""
        return np.asarray(self.outcome == ADDED, dtype=np.bool_)

    def counts(self) -> dict[str, int]:
        """Return the number of proteins of each outcome, zeros too."""
        found = self.outcome.tolist()
        return {name: found.count(name) for name in OUTCOMES}
