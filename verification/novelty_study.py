"""What do confidences say of inputs that are none of the classes? A page about noise.

A small classifier is trained on a third of the families, methods learn on another
third, and both are judged on the last and on noise made of it: random residues,
proteins shuffled, reversed, of a class left out, and mutated more and more. MACEst
and the trust score look at neighbours. What `credence fit`, `credence novelty` and
`credence annotate --novelty` publish of the same proteins stands beside them, each kind
of input as a sample of its own and as a fifth of one. Hard samples are families far from
all that is known, of classes that are. Decision 1021 says how the study is made.

    PYTHONPATH=. python verification/novelty_study.py --out reports/novelty
    PYTHONPATH=. python verification/novelty_study.py --proteins p.fasta --labels labels.tsv \\
        --clusters clusters.tsv --left-out "Major capsid" --out reports/novelty

Labels and clusters are tables, of id and true_class and of id and cluster. The folder
gets a page, inputs.tsv, mutations.tsv, hard.tsv and study.json.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import stats
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from verification.report import write_section

from credence import __version__
from credence.app import run_command_line
from credence.calibrators.crossfit import fold_of
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import keys_of, uniform
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import NoveltyFinding, Numbers, Provenance
from credence.novelty import macest
from credence.novelty.macest import MacestSettings
from credence.novelty.neighbours import singles
from credence.novelty.space import fit_composition
from credence.novelty.trust import dense, trust_among
from credence.predictions import (
    Booleans,
    Floats,
    Integers,
    Labelled,
    Predictions,
    Strings,
    from_scores,
    label,
)
from credence.problems import InputError, Problem, nearest, raise_any, refuse
from credence.records import from_record, to_record
from credence.report import blocks as page
from credence.report.figures import draw
from credence.report.html import render_sections
from credence.report.plots import ComparisonPlot, LinesPlot
from credence.report.sections.use_sets import power_text
from credence.report.style import INK
from credence.report.wording import count, loss, of, share, slug, three_decimals, two_decimals
from credence.simulate.sequences import codes, written
from credence.simulate.sequences import mutated as kept_in_part
from credence.stages.reading import read_proteins
from credence.tables.contract import read_clusters
from credence.tables.labels import read_labels
from credence.tables.writing import write_json, write_table, write_text

LEAST_FAMILIES = 6  # of a class: two in each of three parts
LEVEL = 0.95  # coverage of the intervals
METHODS = ("uncalibrated", "class_only", "platt", "isotonic", "sts", "tswa", "matrix", "kernel")
SIMULATED = (
    "Simulated proteins: a class is three folds, a fold a composition and an order of residues, "
    "and 12 % of families are of another class than their fold's."
)
DIFFUSE = (
    "Simulated proteins whose classes are diffuse: one fold a class, and families as far from "
    "it as folds are from each other."
)
REMOTE = (
    "Simulated proteins whose families have remote relatives: a class is three superfamilies, a "
    "family keeps half to 65 % of its ancestor, a protein 55 to 95 % of that of its family."
)


@dataclass(frozen=True)
class InputFinding:
    """What one method says of one kind of input."""

    kind: str  # ``held out``, or a kind of noise
    n: int  # Inputs
    mean: float  # Mean confidence
    quantiles: Numbers  # 5 %, 25 %, 50 %, 75 % and 95 % of the confidences
    trust_rank: float  # Spearman's rank correlation with the trust score
    ks: float  # Kolmogorov–Smirnov distance to MACEst's confidences of the same inputs


@dataclass(frozen=True)
class StudyMethod:
    """One method."""

    name: str  # Of the registry, MACEst with the space it looks in, or what is published
    kind: str  # ``scores``, ``neighbours`` or ``published``
    nll: float  # On held-out families, with the interval over families
    nll_lower: float
    nll_upper: float
    ece: float  # Calibration error there, ten bins of equal count
    inputs: tuple[InputFinding, ...]  # Held-out proteins first, then each kind of noise
    at_mutations: Numbers  # Mean confidence at each share of residues mutated


@dataclass(frozen=True)
class HardSample:
    """What is published of a sample of known classes, and what is right."""

    name: str  # What its proteins are
    n: int  # Proteins, and their families
    n_families: int
    by_scores: float  # Mean confidence without --novelty
    published: float  # With it
    right: float  # Share right, with the interval over families
    right_lower: float
    right_upper: float
    flagged: float  # Share whose novelty is at or above 0.95
    in_set: float  # Share whose class is in the set that promises 0.90
    # Each family counting one, which is what both promises are of.
    published_by_family: float
    right_by_family: float
    flagged_by_family: float
    in_set_by_family: float
    sentence: str  # What the page says of the sample as a whole


@dataclass(frozen=True)
class StudySet:
    """One set on which all methods were tried."""

    name: str  # What it is, in a word and in a sentence
    about: str
    n_classes: int  # Classes that the classifier knows
    n_training: int  # Samples
    n_calibration: int
    n_held_out: int
    n_clusters: int  # Clusters among those held out
    accuracy: float  # Of the classifier, on those held out
    methods: tuple[StudyMethod, ...]  # All methods
    mutations: Numbers = ()  # Shares of residues mutated; empty for sets that are no proteins
    accuracy_at_mutations: Numbers = ()  # Share that still name the class before mutation
    is_simulated: bool = False  # Whether its samples are made, and say nothing about nature
    hard: tuple[HardSample, ...] = ()  # Samples of known classes, near and far


# Simulated proteins whose class is written in their residues: a class is a few folds, a fold
# a composition and an order of residues, a family a variation of its fold, relatives copies
# with mutations. Some families of a fold are of another class, so nobody can be right about all.

RESIDUES = np.array(list("ACDEFGHIKLMNPQRSTVWY"))
# How common they are in proteins, in per cent and in that order, as in
# UniProtKB/Swiss-Prot, rounded.
PER_CENT = (
    *(8.3, 1.4, 5.5, 6.7, 3.9, 7.1, 2.3, 5.9, 5.8, 9.7),
    *(2.4, 4.1, 4.7, 3.9, 5.5, 6.6, 5.4, 6.9, 1.1, 2.9),
)
NATURAL = np.array(PER_CENT) / sum(PER_CENT)
LENGTH, LENGTH_SPREAD = 280.0, 0.5  # of folds: median and standard deviation of logs
OWN_LENGTH_SPREAD = 0.15  # of families about their fold
SHORTEST, LONGEST = 60, 1200
MOST_RELATIVES = 10
SIZE_TAIL = 1.5  # of a Pareto law of family sizes
LEAST_CHANGED, MOST_CHANGED = 0.05, 0.4  # residues in which relatives differ


@dataclass(frozen=True, eq=False)
class StudyProteins:
    """Proteins of known class."""

    ids: Strings  # Name, residues and family of each
    sequences: Strings
    cluster: Strings
    true_class: Integers  # Index into `class_names`
    class_names: tuple[str, ...]  # The classes

    def take(self, rows: Booleans) -> StudyProteins:
        """Return the proteins of the rows chosen."""
        columns = {name: part for name, part in vars(self).items() if name != "class_names"}
        return replace(self, **{name: part[rows] for name, part in columns.items()})


@dataclass(frozen=True)
class ProteinWorldSettings:
    """How proteins are simulated."""

    n_classes: int = 12  # Classes, and families in all
    n_families: int = 2_600
    n_folds: int = 3  # Folds of each class
    # Concentrations: how similar compositions of folds are, the residues that follow each
    # residue of a fold, and those of a family and its fold.
    composition: float = 60.0
    order: float = 30.0
    family: float = 600.0
    ambiguous: float = 0.12  # Share of families that are of another class than their fold's
    seed: int = 1  # Of the draws


def simulate_proteins(settings: ProteinWorldSettings) -> StudyProteins:
    """Return simulated proteins in families."""
    rng = np.random.default_rng([settings.seed, settings.n_classes, settings.n_families])
    n_folds = settings.n_classes * settings.n_folds
    shares = _about(NATURAL[None].repeat(n_folds, 0), settings.composition, rng)
    follows = _about(shares[:, None, :].repeat(len(RESIDUES), 1), settings.order, rng)
    length = rng.lognormal(np.log(LENGTH), LENGTH_SPREAD, n_folds)
    own = np.arange(n_folds) % settings.n_classes
    other = (own + rng.integers(1, settings.n_classes, n_folds)) % settings.n_classes
    fold = rng.integers(0, n_folds, settings.n_families)
    is_other = rng.random(settings.n_families) < settings.ambiguous
    class_ = np.where(is_other, other[fold], own[fold])
    own_length = rng.lognormal(np.log(length[fold]), OWN_LENGTH_SPREAD)
    n_residues = np.clip(own_length, SHORTEST, LONGEST).astype(np.int64)
    ancestors = _chains(_about(follows[fold], settings.family, rng), n_residues, rng)
    sequences: list[str] = []
    family: list[int] = []
    for number, ancestor in enumerate(ancestors):
        for _ in range(min(1 + int(rng.pareto(SIZE_TAIL)), MOST_RELATIVES)):
            sequences.append(_mutated(ancestor, rng.uniform(LEAST_CHANGED, MOST_CHANGED), rng))
            family.append(number)
    codes = np.array(family)
    return StudyProteins(
        np.array([f"protein_{number}" for number in range(len(codes))], dtype=object),
        np.array(sequences, dtype=object),
        np.array([f"family_{number}" for number in family], dtype=object),
        class_[codes].astype(np.int64),
        tuple(f"class {number + 1}" for number in range(settings.n_classes)),
    )


def _about(centre: Floats, concentration: float, rng: np.random.Generator) -> Floats:
    """Return draws of Dirichlet laws around shares, along the last axis."""
    drawn = rng.standard_gamma(concentration * centre + 1e-3)
    return np.asarray(drawn / drawn.sum(axis=-1, keepdims=True))


def _chains(follows: Floats, n_residues: Integers, rng: np.random.Generator) -> list[Integers]:
    """Return a chain of residues for each family, all of them grown at once."""
    upto = follows.cumsum(axis=2)
    rows = np.arange(len(follows))
    chains = np.zeros((len(follows), int(n_residues.max())), dtype=np.int64)
    chains[:, 0] = rng.choice(len(RESIDUES), len(follows), p=NATURAL)
    for place in range(1, chains.shape[1]):
        reached = upto[rows, chains[:, place - 1]] < rng.random(len(rows))[:, None]
        chains[:, place] = np.minimum(reached.sum(axis=1), len(RESIDUES) - 1)
    return [chain[:n] for chain, n in zip(chains, n_residues, strict=True)]


def _mutated(chain: Integers, share: float, rng: np.random.Generator) -> str:
    changed = rng.random(len(chain)) < share
    copy = chain.copy()
    copy[changed] = rng.choice(len(RESIDUES), int(changed.sum()), p=NATURAL)
    return "".join(RESIDUES[copy])


# Of the world whose families have remote relatives: how much of its ancestor a family keeps, and
# a protein of that of its family. Distant families keep less.
N_CLASSES, PER_CLASS, FAMILIES, SIZES = 8, 3, 12, (2, 12)
OF_SUPERFAMILY, OF_FAMILY, LENGTHS = (0.50, 0.65), (0.55, 0.95), (120, 500)
N_DISTANT, OF_DISTANT = 6, (0.25, 0.40)


def remote_world(seed: int) -> tuple[StudyProteins, StudyProteins]:
    """Return proteins whose families have relatives in others, and families far from all."""
    rng, later = np.random.default_rng(seed), np.random.default_rng([seed, N_DISTANT])
    near: list[tuple[str, str, int]] = []
    far: list[tuple[str, str, int]] = []
    for number in range(N_CLASSES * PER_CLASS):
        letters = rng.choice(RESIDUES, rng.integers(*LENGTHS), p=NATURAL)
        ancestor = codes("".join(letters))
        for made, draws, kept, n in (
            (near, rng, OF_SUPERFAMILY, FAMILIES),
            (far, later, OF_DISTANT, N_DISTANT),
        ):
            for part in range(n):
                own = kept_in_part(ancestor, draws.uniform(*kept), draws)
                for _ in range(draws.integers(*SIZES)):
                    text = written(kept_in_part(own, draws.uniform(*OF_FAMILY), draws))
                    made.append((text, f"family {number} {part}", number % N_CLASSES))
    names = tuple(f"class {number}" for number in range(N_CLASSES))

    def proteins(rows: list[tuple[str, str, int]], kind: str) -> StudyProteins:
        texts, family, class_ = zip(*rows, strict=True)
        ids = [f"{kind}{row:05d}" for row in range(len(rows))]
        columns = (np.array(part, dtype=object) for part in (ids, texts, family))
        return StudyProteins(*columns, np.array(class_, dtype=np.int64), names)

    return proteins(near, "p"), proteins(far, "distant")


# A small classifier: a few networks that vote, so that noise can be scored.
N_NETWORKS = 5
N_HIDDEN = 64
RATE = 3e-3
PENALTY = 1e-3
RESOLUTION = 1e-6


@dataclass(frozen=True, eq=False)
class Classifier:
    """Networks that were trained, and how their inputs are scaled."""

    networks: tuple[Any, ...]  # Of scikit-learn
    centre: Floats  # Mean and standard deviation of the training points
    spread: Floats
    class_names: tuple[str, ...]  # In order

    def predict(self, points: Floats, ids: Strings) -> Predictions:
        """Return the networks' summed probabilities, as PhANNs sums its ten."""
        scaled = self._scaled(points)
        scores = np.zeros((len(points), len(self.class_names)))
        for network in self.networks:
            scores[:, network.classes_] += network.predict_proba(scaled)
        return from_scores(ids, self.class_names, scores, float(len(self.networks)), RESOLUTION)

    def hidden(self, points: Floats) -> Floats:
        """Return what the networks' hidden units say, side by side."""
        scaled = self._scaled(points)
        parts = [
            np.maximum(scaled @ network.coefs_[0] + network.intercepts_[0], 0.0)
            for network in self.networks
        ]
        return np.concatenate(parts, axis=1)

    def _scaled(self, points: Floats) -> Floats:
        return np.asarray((points - self.centre) / self.spread, dtype=np.float64)


def train(
    points: Floats,
    true_class: Integers,
    class_names: tuple[str, ...],
    n_rounds: int = 40,  # over the training proteins; more learn them by heart
) -> Classifier:
    """Return a classifier of points; the same points give the same bits."""
    values = np.asarray(points, dtype=np.float64)
    centre, spread = values.mean(axis=0), values.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    networks = []
    for number in range(N_NETWORKS):
        network = MLPClassifier(
            (N_HIDDEN,),
            alpha=PENALTY,
            learning_rate_init=RATE,
            max_iter=n_rounds,
            random_state=number,
        )
        with warnings.catch_warnings():  # few rounds are meant
            warnings.simplefilter("ignore", ConvergenceWarning)
            networks.append(network.fit((values - centre) / spread, true_class))
    return Classifier(tuple(networks), centre, spread, class_names)


# Noise that is made of proteins.


def natural_shares(sequences: Strings) -> dict[str, float]:
    """Return how common each residue is; letters that are none of the twenty are left out."""
    text = "".join(sequences)
    counts = {str(residue): text.count(residue) for residue in RESIDUES}
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


HELD_OUT = "held out"
CALIBRATION = "calibration"
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
CLIP = 1e-15  # METHODS section 3
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
    # Residues of the training proteins, of `CALIBRATION` and of each input; empty for no proteins.
    sequences: Mapping[str, Strings] = field(default_factory=dict)
    distant: Labelled | None = None  # Families of known classes that are far from all others

    @property
    def inputs(self) -> dict[str, Predictions]:
        """Every kind of input that confidences are asked of."""
        mutated = {mutation_kind(part): entry for part, entry in self.mutated.items()}
        return {HELD_OUT: self.held_out.predictions, **self.noise, **mutated}


def mutation_kind(part: float) -> str:
    """Return the name of the inputs of which that share of residues is mutated."""
    return f"mutated {part:g}"


def compare(material: Material, methods: Sequence[str], n_draws: int = 200) -> StudySet:
    """Return the confidences of each method for each kind of input."""
    stated = {name: _by_scores(material, name) for name in methods}
    for space, points in material.spaces.items():
        stated[f"{MACEST}, {space}"] = _by_neighbours(material, points)
    reference = stated[f"{MACEST}, {next(iter(material.spaces))}"]
    hard: tuple[HardSample, ...] = ()
    if material.sequences:
        with tempfile.TemporaryDirectory() as folder:
            product = Product(material, Path(folder))
            stated |= product.stated()
            hard = product.hard(n_draws)
    trusted = _trust(material)
    held_out = material.held_out
    found = []
    for name, confidence in stated.items():
        loss, one = losses(confidence[HELD_OUT], held_out.is_correct), np.ones(held_out.n_samples)
        ratio = mean_of(loss, one, one.astype(np.bool_))
        nll = estimate(held_out.cluster, [ratio], LEVEL, n_draws)
        found.append(
            StudyMethod(
                name=name,
                kind=kind_of(name),
                nll=float(nll.value[0]),
                nll_lower=float(nll.lower[0]),
                nll_upper=float(nll.upper[0]),
                ece=calibration_gap(confidence[HELD_OUT], held_out.is_correct),
                inputs=tuple(
                    _input(kind, confidence[kind], trusted[kind], reference[kind])
                    for kind in (HELD_OUT, *material.noise)
                ),
                at_mutations=tuple(
                    _known_mean(confidence[mutation_kind(part)]) for part in material.mutated
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
        hard=hard,
    )


def _known_mean(confidence: Floats) -> float:
    known = confidence[~np.isnan(confidence)]
    return float(known.mean()) if len(known) else float("nan")


SCORES, NEIGHBOURS = "scores", "neighbours"
PUBLISHED = "published"
BY_SCORES, AS_FIFTH = f"{PUBLISHED}, no novelty", f"{PUBLISHED}, noise a fifth"
ASKED = 300  # inputs of each kind of noise of which it is asked what is published
FIFTH = 0.2  # of a sample that is noise
FAR = 0.3  # identity with the closest known protein below which one is far
SETS = 0.9
TRAINING, DISTANT = "training", "distant families"
HELD_OUT_FAMILIES, FAR_ONES = "families held out", "those without a relative of 30 %"
FLAG = 0.95


def kind_of(name: str) -> str:
    """Return what a method of this name looks at."""
    if name.startswith(PUBLISHED):
        return PUBLISHED
    return NEIGHBOURS if name.startswith(MACEST) else SCORES


class Product:
    """What the commands of credence publish, in a folder."""

    def __init__(self, material: Material, folder: Path) -> None:
        """Let the commands learn."""
        self.material, self.folder = material, folder
        known = material.calibration
        self._write(CALIBRATION, known.predictions, self._texts(CALIBRATION), known.true_class)
        ids = _ids(CALIBRATION, known.n_samples)
        rows = ["id\tcluster", *(f"{i}\t{c}" for i, c in zip(ids, known.cluster, strict=True))]
        (folder / "clusters.tsv").write_text("\n".join(rows) + "\n")
        self._write(TRAINING, None, self._texts(TRAINING))
        learnt = [f"{CALIBRATION}.csv", *self._read(), "--clusters", "clusters.tsv"]
        self._call("fit", *learnt, "--out", "c.json")
        self._call(
            *("novelty", *learnt, "--proteins", f"{CALIBRATION}.fasta", "--threads", "2"),
            *("--training", f"{TRAINING}.fasta", "--out", "n.json"),
        )

    def _texts(self, kind: str) -> Strings:
        return self.material.sequences[kind]

    def _read(self) -> tuple[str, ...]:
        scale = self.material.calibration.predictions.scale
        return ("--format", "credence", "--spec", json.dumps({"scale": scale}))

    def _call(self, *words: str) -> None:
        """Type a command in the folder."""
        with contextlib.chdir(self.folder), contextlib.redirect_stderr(io.StringIO()) as stated:
            code = run_command_line(list(words))
        if code:
            raise RuntimeError(f"credence {' '.join(words)}: {stated.getvalue()}")

    def _write(
        self,
        name: str,
        predictions: Predictions | None,
        texts: Strings,
        true_class: Integers | None = None,
        ids: Sequence[str] = (),
    ) -> None:
        ids = ids or _ids(name, len(texts))
        rows = zip(ids, texts, strict=True)
        (self.folder / f"{name}.fasta").write_text("".join(f">{i}\n{t}\n" for i, t in rows))
        if predictions is None:
            return
        assert predictions.scores is not None
        names = predictions.class_names
        with (self.folder / f"{name}.csv").open("w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["id", *names, *([] if true_class is None else ["true_class"])])
            for row, id_ in enumerate(ids):
                values = [f"{score:.6f}" for score in predictions.scores[row]]
                true = [] if true_class is None else [names[true_class[row]]]
                table.writerow([id_, *values, *true])

    def _published(
        self, name: str, given: Predictions, texts: Strings
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return what is published of a sample, without novelty and with it."""
        self._write(name, given, texts)
        words = ("annotate", f"{name}.csv", *self._read(), "--calibration", "c.json", "--out")
        look = ("--novelty", "n.json", "--proteins", f"{name}.fasta", "--threads", "2")
        self._call(*words, "plain.tsv")
        self._call(*words, f"{name}.tsv", *look, "--novelty-record", f"{name}.json")
        plain, table = (
            pd.read_csv(self.folder / file, sep="\t") for file in ("plain.tsv", f"{name}.tsv")
        )
        return plain, table

    def stated(self) -> dict[str, dict[str, Floats]]:
        """Return confidences without novelty, of each input alone, and as a fifth of a sample."""
        inputs = self.material.inputs
        judged = inputs[HELD_OUT]
        found: dict[str, dict[str, Floats]] = {BY_SCORES: {}, PUBLISHED: {}, AS_FIFTH: {}}
        for kind, predictions in inputs.items():
            n = len(predictions.ids)
            rows = np.arange(n) if kind == HELD_OUT else _chosen(kind, n, ASKED)
            both = self._published(kind, predictions.take(rows), self._texts(kind)[rows])
            for name, table in zip((BY_SCORES, PUBLISHED), both, strict=True):
                found[name][kind] = _at(rows, table.confidence, n)
            beside = _chosen(HELD_OUT, len(judged.ids), round(len(rows) * (1.0 / FIFTH - 1.0)))
            every = _joined(judged.take(beside), predictions.take(rows))
            texts = np.concatenate([self._texts(HELD_OUT)[beside], self._texts(kind)[rows]])
            if kind in self.material.noise:
                _, table = self._published("fifth", every, texts)
                found[AS_FIFTH][kind] = _at(rows, table.confidence[len(beside) :], n)
            else:  # Held-out proteins are a sample of their own; mutated ones are not asked so
                is_held = kind == HELD_OUT
                found[AS_FIFTH][kind] = found[PUBLISHED][kind] if is_held else np.full(n, np.nan)
        return found

    def hard(self, n_draws: int) -> tuple[HardSample, ...]:
        """Return what is published of samples of known classes, and what is right."""
        held, texts = self.material.held_out, self._texts(HELD_OUT)
        near = pd.read_csv(self.folder / f"{HELD_OUT}.tsv", sep="\t").closest_identity.to_numpy()
        samples, is_far = [(HELD_OUT_FAMILIES, held, texts)], ~(near >= FAR)
        if is_far.any():
            samples.append((FAR_ONES, held.take(is_far), texts[is_far]))
        if self.material.distant is not None:
            samples.append((DISTANT, self.material.distant, self._texts(DISTANT)))
        return tuple(self._sample(*sample, n_draws) for sample in samples)

    def _sample(self, name: str, given: Labelled, texts: Strings, n_draws: int) -> HardSample:
        plain, table = self._published("hard", given.predictions, texts)
        record = json.loads((self.folder / "hard.json").read_text())
        text = power_text(from_record(NoveltyFinding, record))
        right, one = given.is_correct, np.ones(given.n_samples)
        of_right = mean_of(right.astype(np.float64), one, one.astype(np.bool_))
        found = estimate(given.cluster, [of_right], LEVEL, n_draws)
        names = np.array(given.predictions.class_names, dtype=object)[given.true_class]
        sets = table.prediction_set.fillna("").str.split("|")
        holds = [own in of_one for own, of_one in zip(names, sets, strict=True)]
        flagged = table.novelty >= FLAG
        columns = {"published": table.confidence, "right": right, "flagged": flagged}
        every = pd.DataFrame({**columns, "in_set": holds})
        means, by_family = every.mean(), every.groupby(given.cluster).mean().mean()
        return HardSample(
            name=name,
            n=given.n_samples,
            n_families=len(set(given.cluster.tolist())),
            by_scores=float(plain.confidence.mean()),
            right_lower=float(found.lower[0]),
            right_upper=float(found.upper[0]),
            **{name: float(value) for name, value in means.items()},
            **{f"{name}_by_family": float(value) for name, value in by_family.items()},
            sentence=text[text.find(WHOLE) :] if WHOLE in text else "",
        )


def _chosen(kind: str, n: int, most: int) -> Integers:
    """Return the rows of at most so many inputs, chosen by name."""
    return np.sort(np.argsort(uniform(keys_of(_ids(kind, n)), 0, PUBLISHED))[:most])


def _at(rows: Integers, values: pd.Series, n: int) -> Floats:
    answer = np.full(n, np.nan)
    answer[rows] = values.to_numpy()
    return answer


WHOLE = "The sample as a whole"


def _ids(kind: str, n: int) -> list[str]:
    return [f"{kind.replace(' ', '_')}_{row}" for row in range(n)]


def _joined(one: Predictions, other: Predictions) -> Predictions:
    """Return the predictions of two samples, one after the other."""
    assert one.scores is not None and other.scores is not None
    scores = np.concatenate([one.scores, other.scores])
    return from_scores(_names(scores), one.class_names, scores, one.scale, one.resolution)


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
    own = singles(points[CALIBRATION])
    kept = dense(own, known.true_class)
    return {
        kind: trust_among(own[kept], known.true_class[kept], points[kind], entry.predicted_class)
        for kind, entry in material.inputs.items()
    }


def _input(kind: str, stated: Floats, trusted: Floats, reference: Floats) -> InputFinding:
    known = stated[~np.isnan(stated)] if not np.isnan(stated).all() else np.array([np.nan])
    return InputFinding(
        kind=kind,
        n=int((~np.isnan(stated)).sum()),
        mean=float(known.mean()),
        quantiles=tuple(np.quantile(known, QUANTILES).tolist()),
        trust_rank=rank_correlation(stated, trusted),
        ks=ks_distance(stated, reference),
    )


def losses(confidence: Floats, is_correct: Booleans) -> Floats:
    """Return the negative log-likelihood of each outcome."""
    clipped = np.clip(np.nan_to_num(confidence, nan=0.5), CLIP, 1.0 - CLIP)
    return np.asarray(-np.where(is_correct, np.log(clipped), np.log1p(-clipped)))


def calibration_gap(confidence: Floats, is_correct: Booleans, n_bins: int = 10) -> float:
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


N_MADE = 3_000
N_FOLDS = 10
PERMUTED, UNIFORM = "features permuted", "uniform, thrice as wide"
WIDER = 3.0

# Points and their classes; in words, and how they are had.
OPEN_SETS: dict[str, tuple[str, Callable[[], Any]]] = {
    "digits": (
        "handwritten digits of 8 × 8 pixels (UCI, shipped with scikit-learn)",
        partial(datasets.load_digits, return_X_y=True),
    ),
    "breast cancer": (
        "cell nuclei, benign or not (Wisconsin, shipped with it)",
        partial(datasets.load_breast_cancer, return_X_y=True),
    ),
    "moons": (
        "two interleaved half circles with noise, made by it",
        partial(datasets.make_moons, N_MADE, noise=0.25, random_state=1),
    ),
    "six classes": (
        "clusters of Gaussian points in 12 dimensions, made by it",
        partial(
            datasets.make_classification, N_MADE, n_features=12, n_informative=8, n_redundant=2,
            n_classes=6, n_clusters_per_class=2, class_sep=1.5, random_state=1,
        ),
    ),
}  # fmt: skip
MADE = ("moons", "six classes")  # of no measurement


def open_material(name: str, number: int = 0) -> Material:
    """Return what is compared on an open set: permuted features and a wide box are noise.

    One of ten folds is held out, the three after it calibrate, and the others train.
    """
    about, given = OPEN_SETS[name]
    points, true = given()
    ids = np.array([f"{name} {number}" for number in range(len(true))], dtype=object)
    fold = (fold_of(ids, true, N_FOLDS) - number) % N_FOLDS
    judged, known, learnt = fold == 0, (fold > 0) & (fold <= 3), fold > 3
    names = tuple(f"class {number}" for number in range(int(true.max()) + 1))
    classifier = train(points[learnt], true[learnt].astype(np.int64), names, n_rounds=200)
    scaled = (points - classifier.centre) / classifier.spread
    inputs = {
        CALIBRATION: scaled[known],
        HELD_OUT: scaled[judged],
        PERMUTED: _permuted(scaled[judged], ids[judged]),
        UNIFORM: _uniform(scaled[judged], ids[judged]),
    }
    stated = {
        kind: classifier.predict(at * classifier.spread + classifier.centre, _names(at))
        for kind, at in inputs.items()
    }
    return Material(
        name=name,
        about=about,
        n_training=int(learnt.sum()),
        calibration=label(stated[CALIBRATION], true[known].astype(np.int64)),
        held_out=label(stated[HELD_OUT], true[judged].astype(np.int64)),
        noise={kind: stated[kind] for kind in (PERMUTED, UNIFORM)},
        mutated={},
        spaces={"features": inputs},
        is_simulated=name in MADE,
    )


def _permuted(points: Floats, ids: Strings) -> Floats:
    keys = keys_of(ids)
    return np.stack(
        [
            column[np.argsort(uniform(keys, number, "permuted"), kind="stable")]
            for number, column in enumerate(points.T)
        ],
        axis=1,
    )


def _uniform(points: Floats, ids: Strings) -> Floats:
    keys = keys_of(ids)
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, (high - low) / 2.0
    drawn = np.stack([uniform(keys, k, "box") for k in range(points.shape[1])], axis=1)
    return np.asarray(middle + WIDER * half * (2.0 * drawn - 1.0))


def _names(points: Floats) -> Strings:
    return np.array([f"input_{number}" for number in range(len(points))], dtype=object)


N_PARTS = 3  # training, calibration, held out
N_AXES = 32
PARTS_MUTATED = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
COMPOSITION, CLASSES, UNITS = "composition", "class axes", "hidden units"
RANDOM, SHUFFLED, REVERSED, LEFT_OUT = "random residues", "shuffled", "reversed", "class left out"


def thirds(proteins: StudyProteins, left_out: int | None) -> list[StudyProteins]:
    """Return proteins to train, to calibrate and to judge on; they share no family."""
    fold = fold_of(proteins.cluster, proteins.true_class, N_PARTS)
    is_known = proteins.true_class != (-1 if left_out is None else left_out)
    return [
        proteins.take((fold == number) & (is_known | (number == N_PARTS - 1)))
        for number in range(N_PARTS)
    ]


def protein_material(
    proteins: StudyProteins,
    left_out: int | None,
    name: str,
    about: str,
    distant: StudyProteins | None = None,
) -> Material:
    """Return what is compared on proteins, in spaces of compositions, classes and hidden units."""
    learnt, known, judged = thirds(proteins, left_out)
    unknown = judged.true_class == (-1 if left_out is None else left_out)
    foreign, judged = judged.take(unknown), judged.take(~unknown)
    classes = [c for c in range(len(proteins.class_names)) if c != left_out]
    code = np.full(len(proteins.class_names), -1, dtype=np.int64)
    code[classes] = np.arange(len(classes))
    names = tuple(proteins.class_names[c] for c in classes)
    space = fit_composition(learnt.sequences, N_AXES)
    points = space.of_sequences(learnt.sequences)
    is_placed = np.isfinite(points).all(axis=1)
    points, true = points[is_placed], code[learnt.true_class[is_placed]]
    classifier = train(points, true, names)
    axes = LinearDiscriminantAnalysis().fit(points.astype(np.float64), true)
    shares = natural_shares(learnt.sequences)
    sequences: dict[str, Strings] = {
        CALIBRATION: known.sequences,
        HELD_OUT: judged.sequences,
        RANDOM: random_(judged.sequences, judged.ids, shares),
        SHUFFLED: shuffled(judged.sequences, judged.ids),
        REVERSED: reversed_(judged.sequences),
    }
    if len(foreign.ids):
        sequences[LEFT_OUT] = foreign.sequences
    noise = [kind for kind in sequences if kind not in (CALIBRATION, HELD_OUT)]
    if distant is not None:
        distant = distant.take(distant.true_class != (-1 if left_out is None else left_out))
        sequences[DISTANT] = distant.sequences
    for part in PARTS_MUTATED:
        sequences[mutation_kind(part)] = mutated(judged.sequences, judged.ids, shares, part)
    placed = {kind: space.of_sequences(entry) for kind, entry in sequences.items()}
    finite = {kind: np.nan_to_num(at).astype(np.float64) for kind, at in placed.items()}
    stated = {
        kind: classifier.predict(np.nan_to_num(at), _names(at)) for kind, at in placed.items()
    }
    return Material(
        name=name,
        about=about,
        n_training=len(learnt.ids),
        calibration=label(stated[CALIBRATION], code[known.true_class], cluster=known.cluster),
        held_out=label(stated[HELD_OUT], code[judged.true_class], cluster=judged.cluster),
        noise={kind: stated[kind] for kind in noise},
        mutated={part: stated[mutation_kind(part)] for part in PARTS_MUTATED},
        spaces={
            COMPOSITION: finite,
            CLASSES: {kind: np.asarray(axes.transform(at)) for kind, at in finite.items()},
            UNITS: {kind: classifier.hidden(at) for kind, at in finite.items()},
        },
        sequences={TRAINING: learnt.sequences, **sequences},
        distant=None
        if distant is None
        else label(stated[DISTANT], code[distant.true_class], cluster=distant.cluster),
    )


NEAR = 1.25  # of the best NLL: as good in distribution
LOW = 0.2  # mean confidence that says of noise that it is none of the classes
SHOWN = ("sts", "matrix")  # beside the best method of scores and MACEst, in figures
METHOD = page.word("method", "name")


def sections_of_study(
    proteins: Sequence[StudySet], open_sets: Sequence[Sequence[StudySet]] = ()
) -> tuple[page.Section, ...]:
    """Return the sections of the page; of open sets each has its folds."""
    sections = [_of_proteins(entry, number) for number, entry in enumerate(proteins, start=1)]
    if open_sets:
        sections.append(_of_open_sets(open_sets))
    return (*sections, _reading())


def best_by_scores(entry: StudySet) -> StudyMethod:
    """Return the method of least NLL among those that learn from scores."""
    return min((m for m in entry.methods if m.kind == SCORES), key=lambda method: method.nll)


def verdict(entry: StudySet, method: StudyMethod) -> str:
    """Return in a sentence how a method does on held-out families and on each noise."""
    best = best_by_scores(entry)
    ratio = method.nll / best.nll
    near = "within" if ratio <= NEAR else "not within"
    low = [one for one in method.inputs[1:] if one.mean < LOW]
    high = [one for one in method.inputs[1:] if not one.mean < LOW]
    stated = f"{method.name}: NLL {method.nll:.3f}, {ratio:.2f} times that of {best.name}, the "
    stated += f"best method of scores ({best.nll:.3f}): {near} 25 %. "
    if low:
        stated += f"Mean confidence below {LOW:g}: {_means(low)}. "
    if high:
        stated += f"Not below {LOW:g}: {_means(high)}."
    return stated.strip()


def _means(inputs: list[InputFinding]) -> str:
    return ", ".join(f"{entry.kind} {share(entry.mean)}" for entry in inputs)


def _of_proteins(entry: StudySet, at: int) -> page.Section:
    name = slug(entry.name, at)
    macest = [method for method in entry.methods if method.kind == NEIGHBOURS]
    published = [method for method in entry.methods if method.kind == PUBLISHED]
    counts = ", ".join(f"{one.kind} {count(one.n)}" for one in entry.methods[0].inputs)
    blocks: list[page.Block] = [
        page.Paragraph(_sizes(entry)),
        *(
            page.Paragraph(
                verdict(entry, method), is_lead=method.name in (PUBLISHED, macest[0].name)
            )
            for method in (*published, *macest)
        ),
        page.FigureRow((_inputs_figure(entry, name), _mutation_figure(entry, name))),
        page.table(
            f"NLL with its {100 * LEVEL:g} % interval over families, calibration error in ten "
            "bins of equal count, and the mean confidence of each kind of input. Inputs: "
            f"{counts}.",
            entry.methods,
            METHOD,
            page.number("NLL, held out", "nll nll_lower nll_upper", loss),
            page.number("calibration error", "ece", three_decimals),
            *_of_inputs(entry, "mean", share),
        ),
        page.table(
            "Kolmogorov–Smirnov distance between a method's confidences and those of "
            f"{macest[0].name}: 0 for the same distribution, 1 for two that do not meet.",
            [method for method in entry.methods if method.name != macest[0].name],
            METHOD,
            *_of_inputs(entry, "ks", two_decimals),
        ),
        page.table(
            "Rank correlation of confidences with the trust score (Spearman).",
            entry.methods,
            METHOD,
            *_of_inputs(entry, "trust_rank", two_decimals),
        ),
        *([_hard_table(entry)] if entry.hard else []),
        page.Folded(
            "Quantiles of the confidences, and the mutations in numbers",
            (_quantile_table(entry), _mutation_table(entry)),
        ),
    ]
    title = f"{entry.name[:1].upper()}{entry.name[1:]}"
    return page.Section(f"study-{name}", f"{title}{_made(entry)}", tuple(blocks))


def _hard_table(entry: StudySet) -> page.TableBlock:
    return page.table(
        "Samples of known classes, near and far: mean confidence without and with novelty, the "
        "share right with its interval over families, the share flagged, how often the set of "
        f"{SETS:g} holds the class, and what the page says of it; then each family counting one.",
        entry.hard,
        page.word("sample", "name"),
        page.number("proteins", "n"),
        page.number("families", "n_families"),
        page.number("by scores", "by_scores", share),
        page.number("published", PUBLISHED, share),
        page.number("right", "right right_lower right_upper", loss),
        page.number("flagged", "flagged", share),
        page.number("class in set", "in_set", share),
        page.number("published, families", "published_by_family", share),
        page.number("right, families", "right_by_family", share),
        page.number("flagged, families", "flagged_by_family", share),
        page.number("class in set, families", "in_set_by_family", share),
        page.word("the page says", "sentence"),
    )


def _of_inputs(entry: StudySet, field: str, show: Callable[[float], str]) -> list[page.Column]:
    """Return a column of a method's numbers for each kind of input."""
    kinds = (one.kind for one in entry.methods[0].inputs)
    return page.numbers(kinds, lambda method, at: show(getattr(method.inputs[at], field)))


def _made(entry: StudySet) -> str:
    return " (simulated)" if entry.is_simulated else ""


def _sizes(entry: StudySet) -> str:
    return (
        f"{entry.about} A classifier was trained on {of(entry.n_training, 'sample')}, methods "
        f"learnt on {count(entry.n_calibration)} others, and were judged on "
        f"{count(entry.n_held_out)} of {of(entry.n_clusters, 'family', 'families')} that neither "
        f"had seen. It knows {entry.n_classes} classes; {share(entry.accuracy)} of its "
        f"predictions there are right. A confidence that knew nothing would be "
        f"{1.0 / entry.n_classes:.2f}."
    )


def _drawn(entry: StudySet) -> list[StudyMethod]:
    first = next(method for method in entry.methods if method.kind == NEIGHBOURS)
    names = {best_by_scores(entry).name, *SHOWN, first.name, PUBLISHED, AS_FIFTH}
    return [method for method in entry.methods if method.name in names]


def _inputs_figure(entry: StudySet, name: str) -> page.Figure:
    methods = _drawn(entry)
    return page.Figure(
        f"study-inputs-{name}",
        "Mean confidence of each kind of input; lines from the 5 % to the 95 % quantile of the "
        "confidences.",
        "Mean confidence by method: "
        + "; ".join(f"{method.name}: {_means(list(method.inputs))}" for method in methods),
        ComparisonPlot(
            "confidence",
            tuple(one.kind for one in methods[0].inputs),
            tuple(method.name for method in methods),
            tuple(tuple(one.mean for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[0] for one in method.inputs) for method in methods),
            tuple(tuple(one.quantiles[-1] for one in method.inputs) for method in methods),
        ),
    )


def _mutation_figure(entry: StudySet, name: str) -> page.Figure:
    methods = [method for method in _drawn(entry) if not np.isnan(method.at_mutations).any()]
    return page.Figure(
        f"study-mutations-{name}",
        "Mean confidence as residues of held-out proteins are replaced by random ones, beside the "
        "share of predictions that still name the class of the protein. A confidence that keeps "
        "its word lies on that line.",
        "Share right: " + ", ".join(share(value) for value in entry.accuracy_at_mutations),
        LinesPlot(
            "share of residues replaced",
            "confidence, share right",
            # Last, so that a method has the colour that it has among the inputs.
            (*(method.name for method in methods), "share right"),
            entry.mutations,
            (*(method.at_mutations for method in methods), entry.accuracy_at_mutations),
            1.0,
        ),
    )


def _quantile_table(entry: StudySet) -> page.TableBlock:
    return page.table(
        "Quantiles of the confidences of each kind of input.",
        [(method, one) for method in entry.methods for one in method.inputs],
        page.word("method", lambda pair: pair[0].name),
        page.word("input", lambda pair: pair[1].kind),
        *page.numbers(
            (f"{part} %" for part in (5, 25, 50, 75, 95)),
            lambda pair, at: share(pair[1].quantiles[at]),
        ),
    )


def _mutation_table(entry: StudySet) -> page.TableBlock:
    return page.table(
        "Mean confidence as residues are replaced.",
        range(len(entry.mutations)),
        page.word("residues replaced", lambda place: share(entry.mutations[place])),
        page.number("share right", lambda place: share(entry.accuracy_at_mutations[place])),
        *page.numbers(
            (method.name for method in entry.methods),
            lambda place, at: share(entry.methods[at].at_mutations[place]),
        ),
    )


def write_page(entry: StudySet, path: Path, title: str) -> None:
    """Write what was found of a set into a page of the documentation."""
    kinds = [one.kind for one in entry.methods[0].inputs]
    rows: list[dict[str, object]] = [
        {
            "method": f"**{method.name}**" if method.kind == PUBLISHED else method.name,
            "NLL, held out": loss(method.nll, method.nll_lower, method.nll_upper),
            **{kind: share(one.mean) for kind, one in zip(kinds, method.inputs, strict=True)},
            "all residues replaced": share(method.at_mutations[-1]),
        }
        for method in entry.methods
    ]
    text = (
        f"{_sizes(entry)} Mean confidence of each kind of input, the published ones of at most "
        f"{ASKED} of each; of proteins all of whose residues are replaced "
        f"{share(entry.accuracy_at_mutations[-1])} still name the class."
    )
    write_section(path, title, text, rows)

    def both(of_proteins: float, of_families: float) -> str:
        return f"{share(of_proteins)}, {share(of_families)}"

    hard: list[dict[str, object]] = [
        {
            "sample": f"{one.name} ({one.n:,} of {one.n_families})",
            "by scores": share(one.by_scores),
            "published": both(one.published, one.published_by_family),
            "right": (
                f"{both(one.right, one.right_by_family)} "
                f"({share(one.right_lower)}–{share(one.right_upper)})"
            ),
            "flagged": both(one.flagged, one.flagged_by_family),
            "class in the set of 0.90": both(one.in_set, one.in_set_by_family),
            "the page says": one.sentence,
        }
        for one in entry.hard
    ]
    what = (
        "Proteins (and families) of classes that are known, by how far they are. Two numbers: of "
        "proteins, and with each family counting one, which is what a promise is of."
    )
    write_section(path, f"{title}: near and far", what, hard)


def draw_picture(entry: StudySet, path: Path) -> None:
    """Draw the two figures of a set side by side."""
    inputs, mutations = (
        draw(figure.plot) for figure in (_inputs_figure(entry, "a"), _mutation_figure(entry, "b"))
    )
    inputs.axes[0].set_xlim(0.0, 1.0)  # all of each line from quantile to quantile
    for line in (mutations.axes[0].lines[-1], mutations.legends[0].legend_handles[-1]):
        line.set_color(INK)  # no method's colour
    with tempfile.TemporaryDirectory() as folder:
        parts = []
        for number, drawn in enumerate((inputs, mutations)):
            file = Path(folder) / f"{number}.png"
            drawn.savefig(file, dpi=DPI)
            parts.append(plt.imread(file))
    height = max(len(part) for part in parts)
    parts = [
        np.pad(part, ((0, height - len(part)), (0, 0), (0, 0)), constant_values=1.0)
        for part in parts
    ]
    plt.imsave(path, np.concatenate(parts, axis=1))


DPI = 150


Folds = Sequence[StudyMethod]  # One method, fold by fold


def _spread(values: Sequence[float]) -> str:
    """Return the mean over folds and twice their standard deviation."""
    return f"{np.mean(values):.3f} ± {2.0 * np.std(values, ddof=1):.3f}"


def write_open_sets(sets: Sequence[Sequence[StudySet]], path: Path) -> None:
    """Write what was found of open sets into a page of the documentation."""
    kinds = [one.kind for one in sets[0][0].methods[0].inputs]
    rows = [
        {
            "method": method.name,
            "set": f"{folds[0].name}{_made(folds[0])}",
            "NLL, held out": _spread([entry.methods[at].nll for entry in folds]),
            **{
                kind: _spread([entry.methods[at].inputs[number].mean for entry in folds])
                for number, kind in enumerate(kinds)
            },
        }
        for folds in sets
        for at, method in enumerate(folds[0].methods)
    ]
    text = "Mean over ten folds ± two standard deviations: loss, and mean confidence of each kind."
    write_section(path, "Open sets", text, rows)


def _of_open_sets(sets: Sequence[Sequence[StudySet]]) -> page.Section:
    about = " ".join(
        f"{folds[0].name}{_made(folds[0])}: {folds[0].about}, {folds[0].n_classes} classes, "
        f"{of(sum(entry.n_held_out for entry in folds), 'sample')}, "
        f"{_spread([entry.accuracy for entry in folds])} right."
        for folds in sets
    )

    def of_input(field: str, at: int) -> Callable[[Folds], str]:
        return lambda folds: _spread([getattr(one.inputs[at], field) for one in folds])

    def across(caption: str, cell: Callable[[Folds], str]) -> page.TableBlock:
        names = (f"{folds[0].name}{_made(folds[0])}" for folds in sets)
        by_set = [list(zip(*(entry.methods for entry in folds), strict=True)) for folds in sets]
        return page.table(
            caption,
            list(zip(*by_set, strict=True)),
            page.word("method", lambda row: row[0][0].name),
            *page.numbers(names, lambda row, at: cell(row[at])),
        )

    kinds = [one.kind for one in sets[0][0].methods[0].inputs]
    tables = [
        across("NLL on held-out samples.", lambda folds: _spread([one.nll for one in folds])),
        across(
            "Calibration error on held-out samples, ten bins of equal count.",
            lambda folds: _spread([one.ece for one in folds]),
        ),
        *(
            across(f"Mean confidence: {kind}.", of_input("mean", at))
            for at, kind in enumerate(kinds)
        ),
        *(
            across(f"Rank correlation with the trust score: {kind}.", of_input("trust_rank", at))
            for at, kind in enumerate(kinds)
        ),
        *(
            across(f"Kolmogorov–Smirnov distance to MACEst: {kind}.", of_input("ks", at))
            for at, kind in enumerate(kinds)
        ),
    ]
    lead = page.Paragraph(
        f"The same on sets that anyone can have, as in tables 1 to 4 of Green, Rowe and Polleri "
        f"2021: each of {len(sets[0])} folds in turn is held out; mean over folds ± two standard "
        f"deviations of them. {about}"
    )
    return page.Section("study-open-sets", "Open sets", (lead, *tables))


def _reading() -> page.Section:
    return page.Section(
        "study-reading",
        "How to read this",
        (
            page.Paragraph(
                "NLL is the mean negative log-likelihood of what turned out, less is better; one "
                "of isotonic regression is driven by confidences of exactly 0 or 1 that were "
                "wrong (clipped at 1e-15). A method that learns from scores sees an input only "
                "through the classifier: where the classifier is sure of nonsense, so is the "
                "method. MACEst sees how far the nearest known samples of each class are. Where "
                "noise is no farther from one class than from its own kind (residues shuffled in "
                "a space of compositions), it cannot know either."
            ),
        ),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("proteins", "labels", "clusters", "left-out"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--method", dest="methods", action="append", default=[])
    parser.add_argument("--families", type=int, default=2600, help="families simulated")
    parser.add_argument("--seed", type=int, default=1, help="of those")
    parser.add_argument("--open-sets", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="of the documentation, to be written into")
    parser.add_argument("--picture", type=Path, help="of the last set of proteins")
    parser.add_argument("--name", default="your proteins")
    given = parser.parse_args()
    try:
        names = [parse_method(name, "--method").text for name in given.methods or METHODS]
        worlds = asked_worlds(given)
    except InputError as error:
        sys.exit(str(error))
    found = []
    for name, about, proteins, unknown, distant in worlds:
        material = protein_material(proteins, unknown, name, about, distant)
        found.append(compare(replace(material, is_simulated=given.proteins is None), names))
    folds = range(N_FOLDS) if given.open_sets else ()
    sets = [[compare(open_material(name, at), names, 0) for at in folds] for name in OPEN_SETS]
    write_study(found, sets if given.open_sets else (), given.out)
    if given.page is not None:
        for entry in found:
            write_page(entry, given.page, f"{entry.name[:1].upper()}{entry.name[1:]}")
        if given.open_sets:
            write_open_sets(sets, given.page)
    if given.picture is not None:
        draw_picture(found[-1], given.picture)


World = tuple[str, str, StudyProteins, int | None, StudyProteins | None]


def asked_worlds(given: argparse.Namespace) -> list[World]:
    """Return name, sentence, proteins, the class left out and distant families of each set."""
    files = (given.proteins, given.labels, given.clusters)
    if any(files):
        if not all(files):
            what = "one of them is missing."
            raise refuse("--proteins, --labels, --clusters", what, "Give the three together.")
        known = read_study_proteins(*files)
        names, unknown = known.class_names, None
        if given.left_out is not None:
            if given.left_out not in names:
                what = f"{given.left_out!r} is no class."
                raise refuse("--left-out", what, nearest(given.left_out, names))
            unknown = names.index(given.left_out)
        about = f"{given.name[:1].upper()}{given.name[1:]}."
        return [(given.name, about, known, unknown, None)]
    usual = ProteinWorldSettings(n_families=given.families, seed=given.seed)
    diffuse = replace(usual, n_folds=1, composition=1e6, order=60.0, family=60.0)
    last = usual.n_classes - 1
    near, distant = remote_world(given.seed)
    return [
        ("proteins of folds", SIMULATED, simulate_proteins(usual), last, None),
        ("diffuse classes", DIFFUSE, simulate_proteins(diffuse), last, None),
        ("remote relatives", REMOTE, near, N_CLASSES - 1, distant),
    ]


def read_study_proteins(proteins: str, labels: str, clusters: str) -> StudyProteins:
    """Return the user's proteins; refuse those without a class or a cluster."""
    fasta = read_proteins(proteins, "first_word")
    table, groups = read_labels(Path(labels)), read_clusters(Path(clusters))
    class_of = dict(zip(table.ids, table.texts, strict=True))
    cluster_of = dict(zip(groups.ids, groups.cluster, strict=True))
    problems = [
        Problem(proteins, f"{id_!r} is not in {where}.", "Add it there, or remove it.", int(line))
        for id_, line in zip(fasta.ids, fasta.lines, strict=True)
        for where, known in ((labels, class_of), (clusters, cluster_of))
        if id_ not in known
    ]
    raise_any(problems)
    names = tuple(sorted({str(class_of[id_]) for id_ in fasta.ids}))
    code = {name: number for number, name in enumerate(names)}
    order = np.argsort(fasta.ids.astype(str), kind="stable")  # networks learn in an order
    ids = fasta.ids[order]
    found = StudyProteins(
        ids,
        fasta.sequences[order],
        np.array([cluster_of[id_] for id_ in ids], dtype=object),
        np.array([code[str(class_of[id_])] for id_ in ids], dtype=np.int64),
        names,
    )
    families = pd.Series(found.cluster).groupby(found.true_class).nunique()
    few = [names[code] for code in families.index[families < LEAST_FAMILIES]]
    if few or len(names) < 2:
        counted = f"of these classes fewer than {LEAST_FAMILIES} families are there"
        what = f"{counted}: {', '.join(few)}." if few else "there is one class only."
        raise refuse(clusters, what, "Leave them out.")
    return found


def write_study(
    proteins: Sequence[StudySet], open_sets: Sequence[Sequence[StudySet]], folder: Path
) -> None:
    sets = [*proteins, *(entry for folds in open_sets for entry in folds)]
    fold_number = [
        *(0 for _ in proteins),
        *(at for folds in open_sets for at in range(1, len(folds) + 1)),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    provenance = Provenance(
        run="study of novelty",
        title="What confidences say of noise",
        credence_version=__version__,
        # Where some sets are measured, each title says whether its own is simulated.
        is_simulated=all(entry.is_simulated for entry in sets),
    )
    write_json(
        folder / "study.json", {"level": LEVEL, "sets": [to_record(entry) for entry in sets]}
    )
    inputs = [
        {
            "set": entry.name,
            "fold": at,
            "method": method.name,
            "input": one.kind,
            "n": one.n,
            "mean_confidence": one.mean,
            **{f"q{100 * cut:02.0f}": q for cut, q in zip(QUANTILES, one.quantiles, strict=True)},
            "trust_rank_correlation": one.trust_rank,
            "ks_to_macest": one.ks,
            "nll_held_out": method.nll,
            "nll_lower": method.nll_lower,
            "nll_upper": method.nll_upper,
            "ece_held_out": method.ece,
        }
        for entry, at in zip(sets, fold_number, strict=True)
        for method in entry.methods
        for one in method.inputs
    ]
    mutations = [
        {
            "set": entry.name,
            "method": method.name,
            "replaced": part,
            "share_right": entry.accuracy_at_mutations[at],
            "mean_confidence": method.at_mutations[at],
        }
        for entry in sets
        for method in entry.methods
        for at, part in enumerate(entry.mutations)
    ]
    hard = [{"set": entry.name, **to_record(one)} for entry in sets for one in entry.hard]
    for name, rows in (("inputs", inputs), ("mutations", mutations), ("hard", hard)):
        write_table(folder / f"{name}.tsv", {key: [row[key] for row in rows] for key in rows[0]})
    made = render_sections(provenance, sections_of_study(proteins, open_sets), "credence/study/1")
    write_text(folder / "index.html", made)


if __name__ == "__main__":
    main()
