"""Methods compared on what the classifier knows and on what it cannot know."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import keys_of
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import InputFinding, StudyMethod, StudySet
from credence.novelty import macest, trust_score
from credence.novelty.macest import MacestSettings
from credence.novelty.trust_score import TrustSettings
from credence.predictions import Booleans, Floats, Labelled, Predictions, Strings

HELD_OUT = "held out"
CALIBRATION = "calibration"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CLIP = 1e-15  # METHODS section 3
N_BINS = 10
MACEST = "macest"

Points = Mapping[str, Floats]  # of each kind of input


@dataclass(frozen=True, eq=False)
class Material:
    """What is compared."""

    name: str  # What it is, in a word and in a sentence
    about: str
    n_training: int  # Samples that the classifier was trained on
    calibration: Labelled  # What methods learn from, and are judged on
    held_out: Labelled
    noise: Mapping[str, Predictions]  # What the classifier predicts for each kind of noise
    # What it predicts for those held out at each share of residues mutated.
    mutated: Mapping[float, Predictions]
    # Where MACEst looks for neighbours: the points of `CALIBRATION`, of `HELD_OUT`, of each kind
    # of noise and of each share mutated. The trust score looks in the first.
    spaces: Mapping[str, Points]
    is_simulated: bool = False  # Whether the samples are made

    @property
    def inputs(self) -> dict[str, Predictions]:
        """Every kind of input that confidences are asked of."""
        mutated = {mutation_kind(part): entry for part, entry in self.mutated.items()}
        return {HELD_OUT: self.held_out.predictions, **self.noise, **mutated}


def mutation_kind(part: float) -> str:
    """Return the name of the inputs of which that share of residues is mutated."""
    return f"mutated {part:g}"


def compare(
    material: Material, methods: Sequence[str], level: float = 0.95, n_draws: int = 200
) -> StudySet:
    """Return the confidences of each method for each kind of input."""
    stated = {name: _by_scores(material, name) for name in methods}
    for space, points in material.spaces.items():
        stated[f"{MACEST}, {space}"] = _by_neighbours(material, points)
    reference = stated[f"{MACEST}, {next(iter(material.spaces))}"]
    trusted = _trust(material)
    held_out = material.held_out
    found = []
    for name, confidence in stated.items():
        loss, one = losses(confidence[HELD_OUT], held_out.is_correct), np.ones(held_out.n_samples)
        ratio = mean_of(loss, one, one.astype(np.bool_))
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
    known, given = material.calibration, material.calibration.predictions
    fitted = macest.fit(
        points[CALIBRATION], known.true_class, given.predicted_class, given.n_classes,
        known.cluster, MacestSettings(),
    )  # fmt: skip
    return {
        kind: fitted.confidence(points[kind], entry.predicted_class)
        for kind, entry in material.inputs.items()
    }


def _trust(material: Material) -> dict[str, Floats]:
    points, known = next(iter(material.spaces.values())), material.calibration
    n_classes = known.predictions.n_classes
    fitted = trust_score.fit(points[CALIBRATION], known.true_class, n_classes, TrustSettings())
    return {
        kind: fitted.score(points[kind], entry.predicted_class)
        for kind, entry in material.inputs.items()
    }


def _input(kind: str, stated: Floats, trusted: Floats, reference: Floats) -> InputFinding:
    known = stated[~np.isnan(stated)] if not np.isnan(stated).all() else np.array([np.nan])
    return InputFinding(
        kind=kind,
        n=len(stated),
        mean=float(known.mean()),
        quantiles=tuple(np.quantile(known, QUANTILES).tolist()),
        trust_rank=rank_correlation(stated, trusted),
        ks=ks_distance(stated, reference),
    )


def losses(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the negative log-likelihood of each outcome."""
    clipped = np.clip(np.nan_to_num(confidence, nan=0.5), CLIP, 1.0 - CLIP)
    return np.asarray(-np.where(is_correct, np.log(clipped), np.log1p(-clipped)))


def calibration_gap(confidence: Floats, is_correct: Booleans, n_bins: int = N_BINS) -> float:
    """Return the mean gap between confidence and share right, in bins of equal count."""
    known = np.nan_to_num(confidence, nan=0.5)
    order = np.argsort(known, kind="stable")
    starts = np.unique(np.arange(n_bins) * len(order) // n_bins)
    gap = np.add.reduceat((known - is_correct)[order], starts)
    return float(np.abs(gap).sum() / len(order))


def ks_distance(one: Floats, other: Floats) -> float:
    """Return the greatest difference of two empirical distribution functions."""
    one, other = (values[~np.isnan(values)] for values in (one, other))
    if len(one) == 0 or len(other) == 0:
        return float("nan")
    return float(stats.ks_2samp(one, other, method="asymp").statistic)


def rank_correlation(one: Floats, other: Floats) -> float:
    """Return Spearman's rank correlation; NaN where one of both does not vary."""
    known = ~(np.isnan(one) | np.isnan(other))
    ranks = [stats.rankdata(values[known]) for values in (one, other)]
    if known.sum() < 2 or any(np.ptp(rank) == 0 for rank in ranks):
        return float("nan")
    return float(np.corrcoef(*ranks)[0, 1])


STANDARD = "ACDEFGHIKLMNPQRSTVWY"


def natural_shares(sequences: Strings) -> dict[str, float]:
    """Return how common each residue is; letters that are none of the twenty are left out."""
    text = "".join(sequences)
    counts = {residue: text.count(residue) for residue in STANDARD}
    total = max(sum(counts.values()), 1)
    return {residue: count / total for residue, count in counts.items()}


def reversed_(sequences: Strings) -> Strings:
    """Return each protein read from its end."""
    return np.array([sequence[::-1] for sequence in sequences], dtype=object)


def shuffled(sequences: Strings, ids: Strings) -> Strings:
    """Return each protein's own residues in an order fixed by its name."""

    def one(sequence: str, rng: np.random.Generator) -> str:
        return "".join(np.array(list(sequence))[rng.permutation(len(sequence))])

    return _each(sequences, ids, "shuffled", one)


def random_(sequences: Strings, ids: Strings, shares: dict[str, float]) -> Strings:
    """Return random residues as many as each protein has."""

    def one(sequence: str, rng: np.random.Generator) -> str:
        return _residues(len(sequence), shares, rng)

    return _each(sequences, ids, "random", one)


def mutated(sequences: Strings, ids: Strings, shares: dict[str, float], part: float) -> Strings:
    """Return proteins of which a part of the residues was drawn again, the same places first."""

    def one(sequence: str, rng: np.random.Generator) -> str:
        place = rng.random(len(sequence)) < part
        drawn = np.array(list(_residues(len(sequence), shares, rng)))
        return "".join(np.where(place, drawn, np.array(list(sequence))))

    return _each(sequences, ids, "mutated", one)


def _residues(n: int, shares: dict[str, float], rng: np.random.Generator) -> str:
    residues = np.array(list(shares))
    return "".join(residues[rng.choice(len(residues), n, p=np.array(list(shares.values())))])


def _each(
    sequences: Strings, ids: Strings, kind: str, one: Callable[[str, np.random.Generator], str]
) -> Strings:
    stream = int(keys_of([kind])[0])
    drawn = (
        one(sequence, np.random.default_rng([stream, int(key)]))
        for sequence, key in zip(sequences, keys_of(ids), strict=True)
    )
    return np.array(list(drawn), dtype=object)
