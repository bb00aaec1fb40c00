"""How often prediction sets hold the true class, on families that did not fit them."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import Counts


@dataclass(frozen=True)
class SetClass:
    """The sets of the proteins of one class.

    Parameters
    ----------
    class_name : str, optional
        The true class; None for all proteins.
    n, n_clusters : int
        Proteins and families of it.
    is_always_in : bool
        Whether too few families are known, so that the class stands in every set.
    coverage, lower, upper : float
        Share of held-out families' proteins whose set holds their class, every
        family counting once in its class, with its interval.
    coverage_proteins : float
        The same, every protein counting once.
    mean_size : float
        Mean number of classes in a set, every family counting once.
    """

    class_name: str | None
    n: int
    n_clusters: int
    is_always_in: bool
    coverage: float
    lower: float
    upper: float
    coverage_proteins: float
    mean_size: float


@dataclass(frozen=True)
class SetsFinding:
    """What the prediction sets are worth.

    Parameters
    ----------
    level : float
        What they promise.
    kind : str
        ``class_wise`` or ``overall``.
    n_folds : int
        Folds of whole families that were held out in turn.
    families_needed : int
        Families a class needs so as not to stand in every set.
    classes : tuple of SetClass
        One per class, in order.
    all_classes : SetClass
        All proteins together.
    sizes : tuple of int
        Held-out proteins whose set has 0, 1, 2, … classes.
    n_single_right : int
        Of the sets of one class, how many name the true one.
    """

    level: float
    kind: str
    n_folds: int
    families_needed: int
    classes: tuple[SetClass, ...]
    all_classes: SetClass
    sizes: Counts
    n_single_right: int
