"""Calls judged: by how frequent and how far down labels are, and protein by protein as CAFA does.

Fmax, Smin and the area under precision over recall are those of Radivojac et al. 2013
(doi 10.1038/nmeth.2340) and Jiang et al. 2016 (doi 10.1186/s13059-016-1037-6): labels count with
all above them, roots of namespaces do not, and every protein with a true label counts once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.calibrators.protocol import Calibrator
from credence.draws import encode_clusters, weight_blocks
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import CallsCurve, CallsFinding, CallsGroup, CallsLabel, Measured
from credence.metrics.metric import divide, negative_log_likelihood
from credence.predictions import UNKNOWN_CLASS, Booleans, Floats, Integers, Labelled, Strings
from credence.tree import LabelTree

RARE, FREQUENT = 20, 100  # calls of a label: below, and from here on
N_THRESHOLDS = 101
MOST_LABELS_LISTED = 2_000  # listed, the most frequent
ONE_CURVE = "one curve for all labels"
FAMILY_DRAWS_AT_ONCE = 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Missed:
    """True labels of judged proteins that were not called."""

    ids: Strings
    class_: Integers
    cluster: Strings


def one_curve(labelled: Labelled, calibrator: Calibrator, n_folds: int) -> Floats:
    """Return held-out confidences of a method that takes all labels for one."""
    predictions = labelled.predictions
    fold = folds_by_class(labelled, n_folds)
    together = replace(
        labelled,
        predictions=replace(
            predictions,
            predicted_class=np.zeros_like(predictions.predicted_class),
            tree=LabelTree(),
        ),
        true_class=np.where(labelled.is_correct, 0, UNKNOWN_CLASS),
    )
    return out_of_fold(together, calibrator, fold).value


def judge_calls(
    labelled: Labelled,
    missed: Missed,
    stated: Mapping[str, Floats],
    chosen: str,
    level: float,
    n_draws: int,
) -> CallsFinding:
    """Return what held-out confidences of several methods are worth for labels of each kind."""
    predictions = labelled.predictions
    tree = predictions.tree or LabelTree()
    n_calls = np.bincount(predictions.predicted_class, minlength=predictions.n_classes)
    depths = tree.depths
    levels = np.array([depths.get(name, 0) for name in predictions.class_names])
    frequency = (
        (f"rare: fewer than {RARE} calls", n_calls < RARE),
        (f"middle: {RARE} to {FREQUENT - 1} calls", (n_calls >= RARE) & (n_calls < FREQUENT)),
        (f"frequent: {FREQUENT} calls or more", n_calls >= FREQUENT),
    )
    by_level = [(f"level {depth}", levels == depth) for depth in np.unique(levels).tolist()]

    def groups(kinds: Sequence[tuple[str, Booleans]]) -> tuple[CallsGroup, ...]:
        known = ((name, is_of & (n_calls > 0)) for name, is_of in kinds)
        return tuple(
            _group(name, is_of, labelled, stated, chosen, level, n_draws)
            for name, is_of in known
            if is_of.any()
        )

    right = np.bincount(
        predictions.predicted_class[labelled.is_correct], minlength=predictions.n_classes
    )
    n_true = right + np.bincount(missed.class_, minlength=predictions.n_classes)
    order = np.argsort(-n_true, kind="stable")[:MOST_LABELS_LISTED]
    ranked = {"score": predictions.required_top_score, chosen: stated[chosen]}
    ranking = _Ranking(labelled, missed, tree)
    return CallsFinding(
        n_proteins=predictions.n_proteins,
        n_missed=len(missed.ids),
        has_tree=bool(tree.parents),
        is_open=tree.is_open,
        methods=tuple(stated),
        by_frequency=groups(frequency),
        by_level=groups(by_level) if tree.parents else (),
        curves=tuple(ranking.curve(name, value, level, n_draws) for name, value in ranked.items()),
        labels=tuple(
            CallsLabel(
                label=predictions.class_names[code],
                name=tree.names.get(predictions.class_names[code], ""),
                level=int(levels[code]),
                n_true=int(n_true[code]),
                n_called=int(n_calls[code]),
                n_right=int(right[code]),
            )
            for code in order.tolist()
            if n_true[code] or n_calls[code]
        ),
    )


def _group(
    name: str,
    is_of: Booleans,
    labelled: Labelled,
    stated: Mapping[str, Floats],
    chosen: str,
    level: float,
    n_draws: int,
) -> CallsGroup:
    """Return how well the calls of some labels are calibrated, method by method."""
    known = ~np.any([np.isnan(value) for value in stated.values()], axis=0)
    rows = known & is_of[labelled.predictions.predicted_class]
    right, weight = labelled.is_correct, labelled.weight
    ratios = [mean_of(right.astype(np.float64), weight, rows, is_share=True)]
    ratios += [
        mean_of(negative_log_likelihood(value, right), weight, rows) for value in stated.values()
    ]
    shares = estimate(labelled.cluster, ratios, level, n_draws)
    precision, *losses = (
        Measured(value=float(value), lower=float(lower), upper=float(upper))
        for value, lower, upper in zip(shares.value, shares.lower, shares.upper, strict=True)
    )
    return CallsGroup(
        name=name,
        n_labels=int(is_of.sum()),
        n=int(rows.sum()),
        precision=precision,
        confidence=float(divide((weight * stated[chosen])[rows].sum(), weight[rows].sum())),
        nll=dict(zip(stated, losses, strict=True)),
    )


class _Ranking:
    """Proteins with their true labels and calls, each label with all above it."""

    def __init__(self, labelled: Labelled, missed: Missed, tree: LabelTree) -> None:
        predictions = labelled.predictions
        names, n_classes = predictions.class_names, predictions.n_classes
        code_of, roots = {name: code for code, name in enumerate(names)}, tree.roots()
        every = [*predictions.ids.tolist(), *missed.ids.tolist()]
        place = {name: number for number, name in enumerate(dict.fromkeys(every))}
        protein = np.array([place[name] for name in every], dtype=np.int64)
        cluster = np.empty(len(place), dtype=object)
        cluster[protein] = np.concatenate([labelled.cluster, missed.cluster])
        self.cluster, self.n_proteins = cluster, len(place)
        # Of each call: the label and all above it.
        above = [
            [code, *sorted(code_of[part] for part in tree.ancestors(name) if part in code_of)]
            for code, name in enumerate(names)
        ]
        lengths = np.array([len(part) for part in above])[predictions.predicted_class]
        self.row = np.repeat(np.arange(predictions.n_samples), lengths)
        flat = np.concatenate(
            [np.array(above[code]) for code in predictions.predicted_class.tolist()]
        )
        is_root = np.array([name in roots for name in names])
        right = labelled.is_correct
        true_key = np.append(
            protein[: len(right)][right] * n_classes + predictions.predicted_class[right],
            protein[len(right) :] * n_classes + missed.class_,
        )
        true_key = true_key[~is_root[true_key % n_classes]]
        key = protein[self.row] * n_classes + flat
        self.row, key = self.row[~is_root[flat]], key[~is_root[flat]]
        self.key, self.pair = np.unique(key, return_inverse=True)
        self.protein = self.key // n_classes
        self.is_true = np.isin(self.key, true_key)
        self.information = _information(true_key % n_classes, names, tree, self.n_proteins)
        self.carried = self.information[self.key % n_classes]
        true_protein = true_key // n_classes
        self.n_true = np.bincount(true_protein, minlength=self.n_proteins)
        self.true_information = np.bincount(
            true_protein, self.information[true_key % n_classes], self.n_proteins
        )

    def curve(self, name: str, value: Floats, level: float, n_draws: int) -> CallsCurve:
        """Return what ranking by some number is worth, with intervals over families."""
        ranked = np.full(len(self.key), -np.inf)
        np.maximum.at(ranked, self.pair, np.nan_to_num(value)[self.row])
        shares = np.linspace(0.0, 1.0, N_THRESHOLDS)
        steps = np.unique(np.quantile(ranked, shares, method="lower"))
        step = np.searchsorted(steps, ranked, side="right") - 1
        cell, shape = self.protein * len(steps) + step, (self.n_proteins, len(steps))

        def at_least(weight: Floats) -> Floats:
            """Return the sums of each protein at or above each threshold."""
            sums = np.bincount(cell, weight, shape[0] * shape[1]).reshape(shape)
            return np.asarray(sums[:, ::-1].cumsum(axis=1)[:, ::-1])

        is_true = self.is_true.astype(np.float64)
        n_called, n_right = at_least(np.ones(len(step))), at_least(is_true)
        false_information = at_least(self.carried * (1.0 - is_true))
        gained = at_least(self.carried * is_true)
        has_truth = self.n_true > 0
        parts = (
            divide(n_right, n_called, 0.0) * has_truth[:, None],
            np.asarray((n_called > 0) & has_truth[:, None], np.float64),
            divide(n_right, self.n_true[:, None].astype(np.float64), 0.0),
            (self.true_information[:, None] - gained) * has_truth[:, None],
            false_information * has_truth[:, None],
        )
        numbers = [_worth(parts, has_truth, np.ones((1, self.n_proteins)))]
        codes, keys = encode_clusters(self.cluster)
        for _, weights in weight_blocks(keys, n_draws, FAMILY_DRAWS_AT_ONCE):
            numbers.append(_worth(parts, has_truth, weights.T[:, codes]))
        whole, drawn = (
            numbers[0],
            [np.concatenate(part) for part in zip(*numbers[1:], strict=True)],
        )
        tails = np.array([(1.0 - level) / 2.0, (1.0 + level) / 2.0])
        ends = [np.quantile(part, tails) for part in drawn] or [np.full(2, np.nan)] * len(whole)
        f_max, at, s_min, area = (
            Measured(value=float(part[0]), lower=float(low), upper=float(high))
            for part, (low, high) in zip(whole, ends, strict=True)
        )
        return CallsCurve(
            name=name, f_max=f_max, f_max_at=float(steps[int(at.value)]), s_min=s_min, area=area
        )


def _worth(
    parts: Sequence[Floats], has_truth: Booleans, weight: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return Fmax, its threshold's place, Smin and the area, for each row of weights."""
    precision, called, recall, unknown, false = (weight @ part for part in parts)
    total = (weight @ has_truth)[:, None]
    precision, recall = divide(precision, called, 1.0), recall / total
    f = divide(2.0 * precision * recall, precision + recall, 0.0)
    s = np.hypot(unknown / total, false / total)
    # From the highest threshold down, recall grows from 0.
    up = np.concatenate([np.zeros((len(weight), 1)), recall[:, ::-1]], axis=1)
    height = np.concatenate([precision[:, -1:], precision[:, ::-1]], axis=1)
    area = (np.diff(up, axis=1) * (height[:, 1:] + height[:, :-1]) / 2.0).sum(axis=1)
    return f.max(axis=1), f.argmax(axis=1).astype(np.float64), s.min(axis=1), area


def _information(
    true_class: Integers, names: Sequence[str], tree: LabelTree, n_proteins: int
) -> Floats:
    """Return the bits that each label tells of a protein that has all directly above it.

    −log₂ of how many of the proteins with its rarest parent have it, by true labels.
    """
    n = np.bincount(true_class, minlength=len(names)).astype(np.float64)
    code_of, roots = {name: code for code, name in enumerate(names)}, tree.roots()

    def above(name: str) -> Iterator[float]:
        direct = (parent for parent in tree.parents.get(name, ()) if parent not in roots)
        return (n[code_of[parent]] for parent in direct if parent in code_of)

    of_parents = np.array([min(above(name), default=float(n_proteins)) for name in names])
    share = np.clip(divide(n, of_parents, 1.0), 1.0 / (n_proteins + 1.0), 1.0)
    return np.asarray(-np.log2(np.where(n > 0, share, 1.0 / (n_proteins + 1.0))))
