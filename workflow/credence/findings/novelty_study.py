"""What confidences say of inputs that are of none of the classes."""

from __future__ import annotations

from dataclasses import dataclass

from credence.findings.measured import Numbers


@dataclass(frozen=True)
class InputFinding:
    """What one method says of one kind of input.

    Parameters
    ----------
    kind : str
        ``held out``, or a kind of noise.
    n : int
        Inputs.
    mean : float
        Mean confidence.
    quantiles : tuple of float
        5 %, 25 %, 50 %, 75 % and 95 % of the confidences.
    trust_rank : float
        Spearman's rank correlation with the trust score.
    ks : float
        Kolmogorov–Smirnov distance to MACEst's confidences of the same inputs.
    """

    kind: str
    n: int
    mean: float
    quantiles: Numbers
    trust_rank: float
    ks: float


@dataclass(frozen=True)
class StudyMethod:
    """One method.

    Parameters
    ----------
    name : str
        Of the registry, or MACEst with the space it looks in.
    is_macest : bool
        Whether it is MACEst.
    nll, nll_lower, nll_upper : float
        On held-out families, with the interval over families.
    ece : float
        Calibration error there, ten bins of equal count.
    inputs : tuple of InputFinding
        Held-out proteins first, then each kind of noise.
    at_mutations : tuple of float
        Mean confidence at each share of residues mutated.
    """

    name: str
    is_macest: bool
    nll: float
    nll_lower: float
    nll_upper: float
    ece: float
    inputs: tuple[InputFinding, ...]
    at_mutations: Numbers


@dataclass(frozen=True)
class StudySet:
    """One set on which all methods were tried.

    Parameters
    ----------
    name, about : str
        What it is, in a word and in a sentence.
    n_classes : int
        Classes that the classifier knows.
    n_training, n_calibration, n_held_out : int
        Samples.
    n_clusters : int
        Clusters among those held out.
    accuracy : float
        Of the classifier, on those held out.
    methods : tuple of StudyMethod
        All methods.
    mutations : tuple of float
        Shares of residues mutated; empty for sets that are no proteins.
    accuracy_at_mutations : tuple of float
        Share of predictions that still name the class before mutation.
    is_simulated : bool
        Whether its samples are made, and say nothing about nature.
    """

    name: str
    about: str
    n_classes: int
    n_training: int
    n_calibration: int
    n_held_out: int
    n_clusters: int
    accuracy: float
    methods: tuple[StudyMethod, ...]
    mutations: Numbers = ()
    accuracy_at_mutations: Numbers = ()
    is_simulated: bool = False


@dataclass(frozen=True)
class NoveltyStudy:
    """The whole study.

    Parameters
    ----------
    level : float
        Coverage of the intervals.
    sets : tuple of StudySet
        Proteins first, then the open sets.
    """

    level: float
    sets: tuple[StudySet, ...]
