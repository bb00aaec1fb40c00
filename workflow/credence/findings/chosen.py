"""Which method `auto` chose for each class, and against what."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ChoiceTrial:
    """How one candidate did on families it had not seen.

    Parameters
    ----------
    method : str
        The candidate.
    held_out_nll : float
        Its mean negative log-likelihood.
    difference, standard_error : float
        The same less the best candidate's, pair by pair, and how sure that is.
    """

    method: str
    held_out_nll: float
    difference: float
    standard_error: float


@dataclass(frozen=True)
class ClassChoice:
    """What was chosen for one class.

    Parameters
    ----------
    class_name : str
        The predicted class.
    chosen, rivals : tuple of str
        The method (or all that are blended), and the candidates that the data
        cannot tell from the best.
    n, n_clusters : int
        Proteins and families that judged.
    trials : tuple of ChoiceTrial
        All candidates, from simple to complex.
    """

    class_name: str
    chosen: tuple[str, ...]
    rivals: tuple[str, ...]
    n: int
    n_clusters: int
    trials: tuple[ChoiceTrial, ...]


@dataclass(frozen=True)
class SkippedCandidate:
    """A candidate that the data do not allow.

    Parameters
    ----------
    method, reason : str
        Which, and why.
    """

    method: str
    reason: str


@dataclass(frozen=True)
class MethodChoices:
    """The choices of one fitted `auto`.

    Parameters
    ----------
    method : str
        Its specification.
    classes : tuple of ClassChoice
        One per class.
    skipped : tuple of SkippedCandidate
        Candidates that the data do not allow.
    """

    method: str
    classes: tuple[ClassChoice, ...]
    skipped: tuple[SkippedCandidate, ...] = ()
