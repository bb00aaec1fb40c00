"""Confidences of proteins whose whole cluster the fit did not see."""

import heapq
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credence.calibrators.intervals import open_interval
from credence.calibrators.protocol import (
    NO_PARAMETERS,
    Calibration,
    Calibrator,
    Need,
    components_asked,
)
from credence.calibrators.score_logs import LOG_DECIMALS, predicted_rank
from credence.confidence import Confidence, Note, unknown
from credence.draws import keys_of
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions, Strings
from credence.progress import each


def fill(
    cluster: Integers, stratum: Integers, n_bins: int, rank: NDArray[np.intp] | Integers
) -> Integers:
    """Return the bin of each cluster: that whose Σ_s (count_gs)²/N_s grows least by its c_s.

    It grows by Σ_s (2 count_gs c_s + c_s²)/N_s, of which only the first term depends on g.
    """
    n_clusters = len(rank)
    if n_clusters == 0:
        return np.empty(0, dtype=np.int64)
    n_strata = int(stratum.max()) + 1
    pairs, counts = np.unique(cluster * n_strata + stratum, return_counts=True)
    owner, kind = np.divmod(pairs, n_strata)
    starts = np.searchsorted(owner, np.arange(n_clusters + 1))
    size = np.bincount(cluster, minlength=n_clusters)
    weight = 1.0 / np.maximum(np.bincount(stratum, minlength=n_strata), 1)
    filled = np.zeros((n_bins, n_strata))
    chosen = np.zeros(n_clusters, dtype=np.int64)
    order = np.lexsort((rank, -size))
    is_family = size[order] > 1
    for family in order[is_family]:
        span = slice(starts[family], starts[family + 1])
        kinds, brought = kind[span], counts[span]
        crowding = filled[:, kinds] @ (brought * weight[kinds])
        # The least crowded; of equals the least full, then the first.
        bin_ = int(np.lexsort((filled.sum(axis=1), crowding))[0])
        filled[bin_, kinds] += brought
        chosen[family] = bin_
    # Each lone protein goes to the bin that has fewest of its stratum.
    of_kind: dict[int, list[int]] = defaultdict(list)
    for single in order[~is_family].tolist():
        of_kind[int(kind[starts[single]])].append(single)
    for stratum_, singles in sorted(of_kind.items()):
        total = filled.sum(axis=1)
        heap = [(filled[bin_, stratum_], total[bin_], bin_) for bin_ in range(n_bins)]
        heapq.heapify(heap)
        for single in singles:
            count, full, bin_ = heap[0]
            heapq.heapreplace(heap, (count + 1.0, full + 1.0, bin_))
            filled[bin_, stratum_] += 1.0
            chosen[single] = bin_
    return chosen


def fold_of(cluster: Strings, stratum: NDArray[Any], n_folds: int) -> Integers:
    """Return the fold of each protein: whole clusters, even strata, whatever the order of rows."""
    names, codes = np.unique(np.asarray(cluster, dtype=object).astype(str), return_inverse=True)
    _, strata = np.unique(stratum, return_inverse=True)
    # Hashes of names settle ties, so that no order of the table reaches the folds.
    order = np.argsort(keys_of(names.astype(object)), kind="stable")
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return fill(codes.astype(np.int64), strata.astype(np.int64), n_folds, rank)[codes]


DEFAULT_FOLDS = 5


def folds_by_class(labelled: Labelled, n_folds: int) -> Integers:
    """Return a fold of whole clusters per row, predicted classes spread evenly."""
    return fold_of(labelled.cluster, predicted_rank(labelled.predictions), n_folds)


def left_out(fold: Integers) -> Iterator[Booleans]:
    """Yield the rows of each fold; of one fold alone none, as nothing is left to learn from."""
    numbers = np.unique(fold)
    parts = (np.equal(fold, number) for number in numbers if len(numbers) > 1)
    return each(parts, len(numbers))


def out_of_fold(labelled: Labelled, calibrator: Calibrator, fold: Integers) -> Confidence:
    """Return confidences of fits without each row's fold; NaN for classes that these never saw."""
    answer = unknown(labelled.n_samples, Note.UNSEEN_CLASS)
    for is_out in left_out(fold):
        part = calibrator.fit(labelled.take(~is_out)).confidence(labelled.predictions.take(is_out))
        for name, column in vars(part).items():
            getattr(answer, name)[is_out] = column
    return answer


COMPOSED = "composition"  # Method of a composition's record
# First-stage value of a protein whose class, of one cluster then, the other folds never predict.
NOTHING_KNOWN = 0.5


@dataclass(frozen=True, kw_only=True, eq=False)
class ComposedCalibration:
    """A first calibration whose confidence is the second one's score."""

    method: str = field(default=COMPOSED, init=False)  # Tells what reads its record
    text: str  # The specification
    first: Calibration  # The stages
    second: Calibration

    @property
    def needs(self) -> Need:
        """What the first stage has to be given."""
        return self.first.needs

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer."""
        return not self.needs.is_vector

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the first stage counted of each class."""
        return self.first.counts

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return nothing: what the stages chose is on two scales."""
        return NO_PARAMETERS

    def probabilities(self, predictions: Predictions) -> None:
        """Return None: the second stage sees one class at a time."""

    @property
    def n_components(self) -> int:
        """Number of components of a protein's place that the first stage asks for."""
        return components_asked(self.first)

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the second stage's confidence at the first one's, as sure as either."""
        before = self.first.confidence(predictions)
        after = self.second.confidence(as_scores(predictions, before.value))
        support = np.minimum(before.support, after.support)
        lower, upper = open_interval(after.lower, after.upper, after.value, before.support)
        return Confidence(
            value=after.value,
            lower=lower,
            upper=upper,
            support=support,
            note=before.note | after.note,
        )


@dataclass(frozen=True, kw_only=True)
class ComposedCalibrator:
    """A composition, cross-fitted by cluster; the interval is the second stage's alone."""

    text: str  # The specification
    first: Calibrator  # Gives the second stage its score; fits no intervals
    second: Calibrator  # Of a method that needs no score vector
    n_folds: int = DEFAULT_FOLDS  # Folds of whole clusters

    def fit(self, labelled: Labelled) -> ComposedCalibration:
        """Return both stages."""
        unseen = out_of_fold(labelled, self.first, folds_by_class(labelled, self.n_folds)).value
        scored = replace(labelled, predictions=as_scores(labelled.predictions, unseen))
        return ComposedCalibration(
            text=self.text, first=self.first.fit(labelled), second=self.second.fit(scored)
        )


def as_scores(predictions: Predictions, value: Floats) -> Predictions:
    """Return the predictions with a confidence in the place of the top score."""
    known: Floats = np.where(np.isnan(value), NOTHING_KNOWN, value)
    return replace(
        predictions,
        # Rounded, so that rounding error cannot carry a value over a bin's edge.
        top_score=np.round(known, LOG_DECIMALS),
        scores=None,
        network_scores=None,
        scale=1.0,
        resolution=0.0,
        is_distribution=False,
        spans={},
    )
