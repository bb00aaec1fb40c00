"""Methods side by side on what the classifier knows and on what it cannot know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from credence.calibrators.protocol import FitOptions
from credence.calibrators.spec import parse_method
from credence.evaluation.ratios import estimate, mean_of
from credence.findings.novelty_study import InputFinding, StudyMethod, StudySet
from credence.novelty import macest, trust
from credence.novelty.macest import MacestSettings
from credence.novelty.trust import TrustSettings
from credence.predictions import Booleans, Floats, Labelled, Predictions

HELD_OUT = "held out"
CALIBRATION = "calibration"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CLIP = 1e-15  # METHODS section 3
N_BINS = 10
MACEST = "macest"

Points = Mapping[str, Floats]  # of each kind of input


@dataclass(frozen=True, eq=False)
class Material:
    """What is compared.

    Parameters
    ----------
    name, about : str
        What it is, in a word and in a sentence.
    n_training : int
        Samples that the classifier was trained on.
    calibration, held_out : Labelled
        What methods learn from, and are judged on.
    noise : mapping of str to Predictions
        What the classifier says of each kind of noise.
    mutated : mapping of float to Predictions
        What it says of those held out at each share of residues mutated.
    spaces : mapping of str to mapping
        Where MACEst looks for neighbours: the points of `CALIBRATION`, of
        `HELD_OUT`, of each kind of noise and of each share mutated. The trust
        score looks in the first.
    is_simulated : bool
        Whether the samples are made.
    """

    name: str
    about: str
    n_training: int
    calibration: Labelled
    held_out: Labelled
    noise: Mapping[str, Predictions]
    mutated: Mapping[float, Predictions]
    spaces: Mapping[str, Points]
    is_simulated: bool = False

    @property
    def inputs(self) -> dict[str, Predictions]:
        """Every kind of input that confidences are asked of."""
        mutated = {mutation_kind(part): entry for part, entry in self.mutated.items()}
        return {HELD_OUT: self.held_out.predictions, **self.noise, **mutated}


def mutation_kind(part: float) -> str:
    """Return the name of the inputs of which that share of residues is mutated.

    Parameters
    ----------
    part : float
        From 0 to 1.
    """
    return f"mutated {part:g}"


def compare(
    material: Material, methods: Sequence[str], level: float = 0.95, n_draws: int = 200
) -> StudySet:
    """Return what each method says of each kind of input.

    Parameters
    ----------
    material : Material
        What is compared.
    methods : sequence of str
        Methods that learn from scores; MACEst is added, once for each space.
    level : float
        Coverage of the intervals of NLL.
    n_draws : int
        Draws of the bootstrap over clusters.
    """
    said = {name: _by_scores(material, name) for name in methods}
    for space, points in material.spaces.items():
        said[f"{MACEST}, {space}"] = _by_neighbours(material, points)
    reference = said[f"{MACEST}, {next(iter(material.spaces))}"]
    trusted = _trust(material)
    held_out = material.held_out
    found = []
    for name, confidence in said.items():
        loss = losses(confidence[HELD_OUT], held_out.is_correct)
        everyone = np.ones(len(loss), dtype=np.bool_)
        ratio = mean_of(loss, np.ones(len(loss)), everyone)
        nll = estimate(held_out.cluster, [ratio], level, n_draws)
        found.append(
            StudyMethod(
                name=name,
                is_macest=name.startswith(MACEST),
                nll=float(nll.value[0]),
                nll_lower=float(nll.lower[0]),
                nll_upper=float(nll.upper[0]),
                ece=calibration_gap(confidence[HELD_OUT], held_out.is_correct),
                inputs=tuple(
                    _input(kind, confidence[kind], trusted[kind], reference[kind])
                    for kind in (HELD_OUT, *material.noise)
                ),
                at_mutations=tuple(
                    float(np.nanmean(confidence[mutation_kind(part)])) for part in material.mutated
                ),
            )
        )
    return StudySet(
        name=material.name,
        about=material.about,
        n_classes=held_out.predictions.n_classes,
        n_training=material.n_training,
        n_calibration=material.calibration.n_samples,
        n_held_out=held_out.n_samples,
        n_clusters=len(set(held_out.cluster.tolist())),
        accuracy=float(held_out.is_correct.mean()),
        methods=tuple(found),
        mutations=tuple(material.mutated),
        accuracy_at_mutations=tuple(
            float((entry.predicted_class == held_out.true_class).mean())
            for entry in material.mutated.values()
        ),
        is_simulated=material.is_simulated,
    )


def _by_scores(material: Material, method: str) -> dict[str, Floats]:
    calibrator = parse_method(method, "--method").build(FitOptions(n_draws=0))
    calibration = calibrator.fit(material.calibration)
    return {kind: calibration.confidence(entry).value for kind, entry in material.inputs.items()}


def _by_neighbours(material: Material, points: Points) -> dict[str, Floats]:
    known = material.calibration
    fitted = macest.fit(
        points[CALIBRATION],
        known.true_class,
        known.predictions.predicted_class,
        known.predictions.n_classes,
        known.cluster,
        MacestSettings(),
    )
    return {
        kind: fitted.confidence(points[kind], entry.predicted_class)
        for kind, entry in material.inputs.items()
    }


def _trust(material: Material) -> dict[str, Floats]:
    points = next(iter(material.spaces.values()))
    known = material.calibration
    fitted = trust.fit(
        points[CALIBRATION], known.true_class, known.predictions.n_classes, TrustSettings()
    )
    return {
        kind: fitted.score(points[kind], entry.predicted_class)
        for kind, entry in material.inputs.items()
    }


def _input(kind: str, said: Floats, trusted: Floats, reference: Floats) -> InputFinding:
    known = said[~np.isnan(said)]
    return InputFinding(
        kind=kind,
        n=len(said),
        mean=float(known.mean()) if len(known) else float("nan"),
        quantiles=tuple(float(value) for value in np.quantile(known, QUANTILES))
        if len(known)
        else (float("nan"),) * len(QUANTILES),
        trust_rank=rank_correlation(said, trusted),
        ks=ks_distance(said, reference),
    )


def losses(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the negative log-likelihood of each outcome.

    Parameters
    ----------
    confidence : array of float
        Clipped at 1e-15; an unknown one counts as one half.
    is_correct : array of bool
        What turned out.

    Examples
    --------
    >>> losses(np.array([0.5, 1.0]), np.array([True, True])).round(6).tolist()
    [0.693147, 0.0]
    """
    clipped = np.clip(np.nan_to_num(confidence, nan=0.5), CLIP, 1.0 - CLIP)
    return np.asarray(-np.where(is_correct, np.log(clipped), np.log1p(-clipped)))


def calibration_gap(confidence: Floats, is_correct: Booleans, n_bins: int = N_BINS) -> float:
    """Return the mean gap between confidence and share right, in bins of equal count.

    Parameters
    ----------
    confidence : array of float
        NaN counts as one half.
    is_correct : array of bool
        What turned out.
    n_bins : int
        Number of bins.

    Examples
    --------
    >>> outcomes = np.array([False, True, True, True])
    >>> round(calibration_gap(np.array([0.2, 0.4, 0.8, 1.0]), outcomes, 2), 6)
    0.15
    """
    known = np.nan_to_num(confidence, nan=0.5)
    order = np.argsort(known, kind="stable")
    starts = np.unique(np.arange(n_bins) * len(order) // n_bins)
    gap = np.add.reduceat((known - is_correct)[order], starts)
    return float(np.abs(gap).sum() / len(order))


def ks_distance(one: Floats, other: Floats) -> float:
    """Return the greatest difference of two empirical distribution functions.

    Parameters
    ----------
    one, other : array of float
        NaN are left out; NaN where nothing is left.

    Examples
    --------
    >>> ks_distance(np.array([0.1, 0.2]), np.array([0.2, 0.3, 0.4]))
    0.6666666666666667
    """
    one, other = np.sort(one[~np.isnan(one)]), np.sort(other[~np.isnan(other)])
    if len(one) == 0 or len(other) == 0:
        return float("nan")
    both = np.concatenate([one, other])
    shares = [np.searchsorted(part, both, side="right") / len(part) for part in (one, other)]
    return float(np.abs(shares[0] - shares[1]).max())


def rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; NaN where one of both does not vary.

    Parameters
    ----------
    one, other : array of float
        Pairs with a NaN are left out.

    Examples
    --------
    >>> round(rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([2.0, 9.0, 4.0])), 6)
    0.5
    """
    known = ~(np.isnan(one) | np.isnan(other))
    ranks = [stats.rankdata(values[known]) for values in (one, other)]
    if known.sum() < 2 or any(rank.min() == rank.max() for rank in ranks):
        return float("nan")
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])
