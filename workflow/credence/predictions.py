"""What a classifier predicted, and what is known to be true, as checked arrays."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from credence.tree import LabelTree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Strings = NDArray[np.object_]

UNKNOWN_CLASS = -1  # code of a true class that is not known


def is_among(names: Strings, others: Strings) -> Booleans:
    """Return which names are among others; NumPy compares objects each with each."""
    known = set(others)
    return np.fromiter((name in known for name in names), np.bool_, len(names))


@dataclass(frozen=True, kw_only=True, eq=False)
class Predictions:
    """What a classifier predicted for some proteins, in the order of its table."""

    # Names of the proteins; unique, but where rows are calls, of which a protein has several.
    ids: Strings
    class_names: tuple[str, ...]  # In the classifier's own order
    # What a row of scores sums to: 10 for PhANNs, 1 for probabilities. For scores that sum to
    # nothing in particular, the greatest possible score.
    scale: float
    resolution: float  # The least step between two scores of the table; 0 where it is not known
    predicted_class: Integers  # Index into `class_names`, as the table has it or of the best score
    top_score: Floats | None = None  # Of the predicted class; None where the tool gives none
    scores: Floats | None = None  # By protein and class; None where the tool gives only the best
    # By protein, network and class: those of an ensemble's members, each on the scale 1.
    network_scores: Floats | None = None
    # Where each protein lies in a space of proteins (:mod:`credence.novelty`); NaN: not known.
    places: Floats | None = None
    # Whether every row of `scores` sums to `scale`, as methods need that take probabilities.
    is_distribution: bool = True
    # Of scores known by their intervals, by predicted class: where the intervals begin and end.
    spans: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    # Where rows are calls, protein and label: how labels hang together. None: one row a protein.
    tree: LabelTree | None = None

    @property
    def n_samples(self) -> int:
        """Number of proteins, or of calls."""
        return len(self.ids)

    @property
    def n_proteins(self) -> int:
        """Number of proteins, however many calls each has."""
        return self.n_samples if self.tree is None else len(set(self.ids.tolist()))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @cached_property
    def protein(self) -> Integers:
        """The protein of each row, numbered as they first appear."""
        names = self.ids.tolist()
        code_of = {name: code for code, name in enumerate(dict.fromkeys(names))}
        return np.fromiter(map(code_of.__getitem__, names), np.int64, len(names))

    def rows_by_class(self) -> list[Integers]:
        """Return the rows of each predicted class, looked up once for all of them."""
        order = np.argsort(self.predicted_class, kind="stable")
        bounds = np.searchsorted(self.predicted_class[order], np.arange(self.n_classes + 1))
        return [order[begin:end] for begin, end in pairwise(bounds.tolist())]

    @property
    def has_vectors(self) -> bool:
        """Whether rows are distributions over the classes."""
        return self.scores is not None and self.is_distribution

    @property
    def required_scores(self) -> Floats:
        """The scores of every class, asked for where a method needs them."""
        return _required(self.scores, "no scores of every class")

    @property
    def required_top_score(self) -> Floats:
        """The top scores, asked for where a method needs them."""
        return _required(self.top_score, "no top scores")

    @property
    def required_network_scores(self) -> Floats:
        """The scores of each network, asked for where a method needs them."""
        return _required(self.network_scores, "no scores of single networks")

    @property
    def required_places(self) -> Floats:
        """The places in a space of proteins, asked for where a method needs them."""
        return _required(self.places, "no places in a space of proteins")

    @cached_property
    def is_tied(self) -> Booleans:
        """Whether the best score of each row is shared by two classes or more."""
        if self.scores is None:
            return np.zeros(self.n_samples, dtype=np.bool_)
        best = self.scores.max(axis=1, keepdims=True)
        return np.asarray((self.scores == best).sum(axis=1) > 1)

    @property
    def n_ties(self) -> int:
        """Number of rows whose best score is shared by two classes or more."""
        return int(self.is_tied.sum())

    def take(self, rows: NDArray[np.intp] | Booleans) -> "Predictions":
        """Return the predictions of the rows chosen, in the order given."""
        names = ("ids", "predicted_class", "top_score", "scores", "network_scores", "places")
        columns = {name: getattr(self, name) for name in names}
        chosen = {name: values[rows] for name, values in columns.items() if values is not None}
        return replace(self, **chosen)

    def score_grid(self, n_points: int) -> Floats:
        """Return scores from 0 to the scale, or to the best top score where that is higher."""
        tops = np.empty(0) if self.top_score is None else self.top_score
        return np.linspace(0.0, float(tops.max(initial=self.scale)), n_points)

    def at_scores(self, class_: int | Integers, score: Floats) -> "Predictions":
        """Return predictions of a class, or of one each, at top scores and of nothing else."""
        return Predictions(
            ids=np.arange(len(score)).astype(str).astype(object),
            class_names=self.class_names,
            scale=self.scale,
            resolution=self.resolution,
            predicted_class=np.full(len(score), class_, dtype=np.int64),
            top_score=score,
            is_distribution=False,
        )


def _required(values: Floats | None, lacking: str) -> Floats:
    """Return values that the caller made sure of; where they are missing, it is a bug."""
    if values is None:
        raise ValueError(f"these predictions have {lacking}")
    return values


@dataclass(frozen=True, kw_only=True, eq=False)
class Labelled:
    """Predictions whose truth is known: what a calibrator learns from."""

    predictions: Predictions
    true_class: Integers  # Index into the class names; of a wrong call `UNKNOWN_CLASS`
    weight: Floats  # Positive; 1 where nothing else is stated
    cluster: Strings  # Name of each one's cluster of relatives; its own id where none is known

    @property
    def n_samples(self) -> int:
        """Number of proteins."""
        return self.predictions.n_samples

    @cached_property
    def is_correct(self) -> Booleans:
        """Whether each prediction is right: what calibration learns from."""
        return np.equal(self.predictions.predicted_class, self.true_class)

    def take(self, rows: NDArray[np.intp] | Booleans) -> "Labelled":
        """Return the rows chosen, in the order given."""
        return Labelled(
            predictions=self.predictions.take(rows),
            true_class=self.true_class[rows],
            weight=self.weight[rows],
            cluster=self.cluster[rows],
        )

    def reweighted(self, weight: Floats) -> "Labelled":
        """Return the same proteins with other weights."""
        return replace(self, weight=weight)


def from_scores(
    ids: Strings,
    class_names: tuple[str, ...],
    scores: Floats,
    scale: float,
    resolution: float,
    *,
    is_distribution: bool = True,
    network_scores: Floats | None = None,
) -> Predictions:
    """Return predictions of the best class of each row, the first of a tie."""
    predicted_class = scores.argmax(axis=1).astype(np.int64)
    return Predictions(
        ids=ids,
        class_names=class_names,
        scale=scale,
        resolution=resolution,
        predicted_class=predicted_class,
        top_score=scores[np.arange(len(ids)), predicted_class],
        scores=scores,
        network_scores=network_scores,
        is_distribution=is_distribution,
    )


def label(
    predictions: Predictions,
    true_class: Integers,
    weight: Floats | None = None,
    cluster: Strings | None = None,
) -> Labelled:
    """Return labelled predictions; weight 1 and a cluster each unless given."""
    mass = np.ones(predictions.n_samples) if weight is None else weight
    return Labelled(
        predictions=predictions,
        true_class=true_class,
        weight=mass,
        cluster=predictions.ids if cluster is None else cluster,
    )
