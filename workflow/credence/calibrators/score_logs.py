"""Logarithms of scores and of their shares of the scale, and what else methods see of a vector.

Classes are taken by name and numbers rounded to nine decimals, so that neither the order of a
table's columns nor rounding can turn a tree's threshold.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions

SMALLEST_SHARE = float(np.finfo(np.float64).tiny)
GREATEST_SHARE = 1.0 - float(np.finfo(np.float64).epsneg)  # the double before 1


def share_bounds(resolution: float, scale: float) -> tuple[float, float]:
    """Return the shares whose logarithms are taken: half a step, if known, from 0 and 1."""
    half_step = resolution / 2.0 / scale
    return max(half_step, SMALLEST_SHARE), min(1.0 - half_step, GREATEST_SHARE)


def log_parts(score: Floats, scale: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Return log s and log(1 - s) of each score's share s of the scale."""
    share = np.clip(score / scale, low, high)
    return np.asarray(np.log(share)), np.asarray(np.log1p(-share))


LOG_ROWS_AT_ONCE = 16_384  # rows handled at a time, so that a block stays in the cache


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreRows:
    """Labelled rows sorted by predicted class."""

    top: Floats  # Log of the predicted class's entry over the best of the others
    rest: Floats  # Logs of the other entries over the best of them: at most 0
    true: Floats  # Log of the true class's entry over the best of the others
    is_correct: Floats  # 1 where the prediction is right, else 0
    weight: Floats  # Weights, divided by their sum, so that losses are means
    starts: Integers  # Where the run of each class that occurs begins
    origin: Integers  # Position of each row in the set that it was taken from

    @property
    def n_runs(self) -> int:
        """Number of predicted classes that occur."""
        return len(self.starts)

    @cached_property
    def slices(self) -> list[slice]:
        """Rows of each run."""
        bounds = [*self.starts.tolist(), len(self.top)]
        return [slice(start, stop) for start, stop in itertools.pairwise(bounds)]

    @cached_property
    def run(self) -> Integers:
        """Number of the run that each row is in."""
        return np.repeat(np.arange(self.n_runs), [run.stop - run.start for run in self.slices])

    def per_run(self, values: Floats) -> Floats:
        """Return the sum of the values in each run."""
        return np.asarray(np.add.reduceat(values, self.starts))

    def take(self, rows: slice | NDArray[np.intp]) -> "ScoreRows":
        """Return the rows chosen, in the order of this set, weights rescaled."""
        weight = self.weight[rows]
        return ScoreRows(
            top=self.top[rows],
            rest=np.ascontiguousarray(self.rest[:, rows]),
            true=self.true[rows],
            is_correct=self.is_correct[rows],
            weight=weight / weight.sum(),
            starts=np.flatnonzero(np.diff(self.run[rows], prepend=-1)),
            origin=self.origin[rows],
        )


def log_scores(scores: Floats, resolution: float) -> Floats:
    """Return the logs of rows divided by their sums, floored at half a step."""
    sums = scores.sum(axis=1, keepdims=True)
    floor = np.maximum(resolution / 2.0 / sums, SMALLEST_SHARE)
    return np.asarray(np.log(np.maximum(scores / sums, floor)))


def split_top(logs: Floats, predicted_class: Integers) -> tuple[Floats, Floats, Floats]:
    """Return top, rest and the best of the others, as :class:`Rows` has them."""
    n_samples, n_classes = logs.shape
    others = np.arange(n_classes - 1)[:, None]
    columns = others + (others >= predicted_class)
    rest = logs[np.arange(n_samples), columns]
    best = rest.max(axis=0)
    return logs[np.arange(n_samples), predicted_class] - best, rest - best, best


def sorted_rows(labelled: Labelled) -> ScoreRows:
    """Return the rows of a labelled set, sorted by predicted class."""
    predictions = labelled.predictions
    scores = predictions.required_scores
    order = np.argsort(predictions.predicted_class, kind="stable")
    n_samples, n_classes = scores.shape
    top, true = np.empty(n_samples), np.empty(n_samples)
    rest = np.empty((n_classes - 1, n_samples))
    for start in range(0, n_samples, LOG_ROWS_AT_ONCE):
        block = slice(start, start + LOG_ROWS_AT_ONCE)
        rows = order[block]
        logs = log_scores(scores[rows], predictions.resolution)
        top[block], rest[:, block], best = split_top(logs, predictions.predicted_class[rows])
        true[block] = logs[np.arange(len(rows)), labelled.true_class[rows]] - best
    weight, is_correct = labelled.weight[order], labelled.is_correct[order].astype(np.float64)
    starts = np.flatnonzero(np.diff(predictions.predicted_class[order], prepend=-1))
    return ScoreRows(
        top=top,
        rest=rest,
        true=true,
        is_correct=is_correct,
        weight=weight / weight.sum(),
        starts=starts,
        origin=order,
    )


def row_blocks(predictions: Predictions) -> Iterator[tuple[slice, Floats]]:
    """Yield slices of rows with their scores, a cache full at a time."""
    scores = predictions.required_scores
    for start in range(0, predictions.n_samples, LOG_ROWS_AT_ONCE):
        block = slice(start, start + LOG_ROWS_AT_ONCE)
        yield block, scores[block]


def rest_moments(rest: Floats, beta: float | Floats) -> tuple[Floats, Floats, Floats]:
    """Return log Σ exp(β d), and mean and variance of d under those weights."""
    n_samples = rest.shape[1]
    beta = np.broadcast_to(beta, n_samples)
    log_sum, mean, variance = (np.empty(n_samples) for _ in range(3))
    for start in range(0, n_samples, LOG_ROWS_AT_ONCE):
        block = slice(start, start + LOG_ROWS_AT_ONCE)
        part = rest[:, block]
        power = np.exp(part * beta[block])
        total = power.sum(axis=0)  # at least 1: the best of the others
        log_sum[block] = np.log(total)
        power *= part
        first = power.sum(axis=0) / total
        power *= part
        mean[block] = first
        variance[block] = np.maximum(power.sum(axis=0) / total - first**2, 0.0)
    return log_sum, mean, variance


LOG_DECIMALS = 9  # far below any score's resolution, far above rounding error
# Half the relative step of single precision: the floor of scores of unknown resolution.
UNKNOWN_RESOLUTION_FLOOR = 2.0**-24


def name_order(class_names: tuple[str, ...]) -> Integers:
    """Return the positions of the classes, sorted by name."""
    return np.array(sorted(range(len(class_names)), key=class_names.__getitem__), dtype=np.int64)


def predicted_rank(predictions: Predictions) -> Integers:
    """Return the position of each predicted class among the sorted names."""
    return np.argsort(name_order(predictions.class_names))[predictions.predicted_class]


def sorted_log_scores(predictions: Predictions) -> Floats:
    """Return the logs of rows over their sums, by class name, floored at half a step or 2⁻²⁴."""
    scores = predictions.required_scores[:, name_order(predictions.class_names)]
    total = scores.sum(axis=1, keepdims=True)
    floor = predictions.resolution / 2.0 / total
    if predictions.resolution == 0:
        floor = np.full_like(total, UNKNOWN_RESOLUTION_FLOOR)
    logs: Floats = np.log(np.maximum(scores / total, floor))
    return np.round(logs, LOG_DECIMALS)


def others_of(values: Floats, chosen: Integers) -> Floats:
    """Return the values of each row, −∞ in the place of the chosen one."""
    others = values.copy()
    others[np.arange(len(values)), chosen] = -np.inf
    return others


def tree_features(predictions: Predictions, *, uses_networks: bool) -> Floats:
    """Return logs, the predicted class's and its margin, entropy; the networks' spread, vote."""
    logs = sorted_log_scores(predictions)
    rows = np.arange(len(logs))
    chosen = predicted_rank(predictions)
    top = logs[rows, chosen]
    margin = top - others_of(logs, chosen).max(axis=1)
    entropy = -(np.exp(logs) * logs).sum(axis=1)
    columns = [logs, top[:, None], margin[:, None], entropy[:, None]]
    networks = predictions.network_scores
    if uses_networks and networks is None:
        columns.append(np.full((len(logs), 2), np.nan))
    elif uses_networks and networks is not None:
        member = networks[rows, :, predictions.predicted_class]
        votes = networks.argmax(axis=2) == predictions.predicted_class[:, None]
        columns.append(np.column_stack([member.std(axis=1), votes.mean(axis=1)]))
    return np.round(np.hstack(columns), LOG_DECIMALS)


def canonical_order(features: Floats, labelled: Labelled) -> Integers:
    """Return an order of the rows by what is in them, not by that of the table."""
    _, cluster = np.unique(labelled.cluster.astype(str), return_inverse=True)
    keys = (cluster, labelled.weight, labelled.is_correct, *features.T)
    return np.lexsort(keys).astype(np.int64)


def rows_of(labelled: Labelled, class_: int) -> Labelled:
    """Return the proteins predicted to be in one class."""
    is_here: Booleans = np.equal(labelled.predictions.predicted_class, class_)
    return labelled.take(is_here)
