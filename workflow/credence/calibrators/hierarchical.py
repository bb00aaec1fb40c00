"""The hierarchical curve: one logistic curve of the score, with effects of classes around it.

A class with few proteins, or none, has what the others teach, as far as classes are alike; how
far that is, is learnt as well (Gelman & Hill 2007, doi 10.1017/CBO9780511790942; decision 0041).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Annotated, Any

import numpy as np
import scipy

from credence.calibrators import score_logs
from credence.calibrators.classwise import (
    ClassCurve,
    class_samples,
    confidence_by_class,
    fit_classes,
    top_scores,
)
from credence.calibrators.intervals import open_interval
from credence.calibrators.masses import Support, class_masses
from credence.calibrators.newton import log_loss, newton_minimum
from credence.calibrators.protocol import NO_PARAMETERS, FitOptions, Method, Need
from credence.calibrators.spread import misfit_of
from credence.confidence import Confidence
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import Stored, from_record
from credence.settings import setting
from credence.tree import LabelTree

# Standard deviations tried for what classes differ by: of the intercept, and of the slope.
INTERCEPT_SPREADS = (0.3, 0.6, 1.0, 2.0, 3.0)
SLOPE_SPREADS = (0.1, 0.3, 0.6)
# Standard deviations of the priors of what all classes share: features are standardised.
FIRST_SPREAD, SHARED_SPREADS = 10.0, {"score": 3.0, "margin": 1.0}
FLAT = 1e-9  # a feature that varies less than this (logs) tells nothing
SETTLED = 1e-12  # Newton's decrement, as a part of the weight, at which a fit is done
SHARED_IN_FAMILY = 0.2  # of what calls of two labels in a family have in common (decision 43)
LEAST_LABEL_FREEDOM = 4.0  # degrees of freedom of a label with fewer families, which borrows
N_NODES = 31  # of the Gauss–Hermite rule that averages a probability over a normal log odds


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassEffects:
    """The normal posterior of one class's coefficients: what all share, then its own effects."""

    coefficient: Floats
    covariance: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class PooledCurve:
    """Log odds linear in a few features, with an intercept and a slope of each class."""

    features: tuple[str, ...]  # Beside the intercept, the score first; without scores none
    scale: float  # What a row of scores sums to
    low: float  # Least and greatest share of the scale whose logit is taken
    high: float
    mean: Floats  # What standardises the features; spread 0 where one is flat
    spread: Floats
    ends: tuple[float, float]  # Of the logits seen; outside them the value at the end is held
    correlation: float  # Of relatives' outcomes
    misfit: float  # Standard deviation of what is no such curve, in log odds
    classes: Mapping[str, ClassEffects]  # By name
    other: ClassEffects  # Of a class that was never predicted

    def design(self, predictions: Predictions) -> Floats:
        """Return the columns that the coefficients of each row belong to."""
        columns = features_of(predictions, self.features, self.scale, self.low, self.high)
        columns[:, :1] = np.clip(columns[:, :1], *self.ends)
        return design_of(columns, self.mean, self.spread)

    def log_odds(self, predictions: Predictions) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the log odds of each prediction."""
        names = sorted(predictions.class_names)
        effects = [self.classes.get(name, self.other) for name in names]
        rank = score_logs.predicted_rank(predictions)
        coefficient = np.array([part.coefficient for part in effects])[rank]
        covariance = np.array([part.covariance for part in effects])[rank]
        design = self.design(predictions)
        # Row by row: a product of matrices depends on how many rows a piece has.
        variance = np.einsum("ij,ijk,ik->i", design, covariance, design)
        return np.einsum("ij,ij->i", design, coefficient), np.sqrt(np.maximum(variance, 0.0))


def features_of(
    predictions: Predictions, features: Sequence[str], scale: float, low: float, high: float
) -> Floats:
    """Return the logit of the top score and the log of its ratio to the second, as asked for."""
    columns = np.zeros((predictions.n_samples, len(features)))
    if "score" in features:
        top_score = predictions.required_top_score
        log_share, log_rest = score_logs.log_parts(top_score, scale, low, high)
        columns[:, 0] = log_share - log_rest
    if "margin" in features:
        logs = score_logs.sorted_log_scores(predictions)
        chosen = score_logs.predicted_rank(predictions)
        best_other = score_logs.others_of(logs, chosen).max(axis=1)
        columns[:, 1] = logs[np.arange(len(logs)), chosen] - best_other
    return columns


def design_of(columns: Floats, mean: Floats, spread: Floats) -> Floats:
    """Return 1 and the standardised features, and again those that classes differ in."""
    is_flat = np.equal(spread, 0)
    scaled = (columns - mean) / np.where(is_flat, 1.0, spread)
    scaled[:, is_flat] = 0.0
    ones = np.ones((len(columns), 1))
    return np.hstack([ones, scaled, ones, scaled[:, :1]])


def mean_probability(log_odds: Floats, deviation: Floats) -> Floats:
    """Return the mean of the probability under a normal posterior of the log odds."""
    nodes, weight = np.polynomial.hermite_e.hermegauss(N_NODES)
    values = scipy.special.expit(log_odds[:, None] + deviation[:, None] * nodes)
    return np.asarray(np.einsum("ij,j->i", values, weight / weight.sum()))


@dataclass(frozen=True, kw_only=True, eq=False)
class Arrow:
    """A curvature in which the effects of one class meet what all share, and no other class's."""

    shared: Floats  # Shape (p, p)
    across: Floats  # By class, shape (K, p, q)
    within: Floats  # By class, shape (K, q, q)

    def reduced(self) -> tuple[Floats, Floats, Floats]:
        """Return what is left of the shared part without the classes, and what takes them out."""
        inverted = np.linalg.inv(self.within)
        taken = self.across @ inverted
        left = self.shared - (taken @ self.across.transpose(0, 2, 1)).sum(axis=0)
        return left, np.asarray(inverted, dtype=np.float64), taken

    def solve(self, gradient: Floats) -> Floats:
        """Return the curvature's inverse times a gradient."""
        left, inverted, taken = self.reduced()
        n_shared = len(left)
        of_shared, of_own = gradient[:n_shared], gradient[n_shared:].reshape(len(taken), -1)
        shared = np.linalg.solve(left, of_shared - np.einsum("kpq,kq->p", taken, of_own))
        rest = of_own - np.einsum("kpq,p->kq", self.across, shared)
        return np.concatenate([shared, np.einsum("kqr,kr->kq", inverted, rest).ravel()])

    def log_determinant(self) -> float:
        """Return the logarithm of the determinant."""
        left = self.reduced()[0]
        return float(np.linalg.slogdet(left)[1] + np.linalg.slogdet(self.within)[1].sum())

    def covariances(self) -> Floats:
        """Return the blocks of the inverse that belong to the shared part and one class each."""
        left, inverted, taken = self.reduced()
        of_shared = np.linalg.inv(left)
        across = -of_shared @ taken
        within = inverted - taken.transpose(0, 2, 1) @ across
        n_classes, n_shared = len(taken), len(left)
        above = np.broadcast_to(of_shared, (n_classes, n_shared, n_shared))
        return np.block([[above, across], [across.transpose(0, 2, 1), within]])


@dataclass(frozen=True, kw_only=True, eq=False)
class TreeArrow:
    """A curvature in which the effects of a class also meet those of the class above it.

    Classes are taken out from the lowest level up, which fills nothing: a tree stays a tree.
    """

    shared: Floats  # Shape (p, p)
    across: Floats  # By class, shape (K, p, q)
    within: Floats  # By class, shape (K, q, q)
    parent: Integers  # By class; -1 where none is above it
    precision: Floats  # Of a class's effects around those of the class above it, shape (q,)
    levels: tuple[Integers, ...]  # Classes by how far below they are, the roots first

    def _reduced(self, gradient: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return what is left of the shared part and of each class when those below are out."""
        n_shared = len(self.shared)
        left, across, within = self.shared.copy(), self.across.copy(), self.within.copy()
        slope, slopes = gradient[:n_shared].copy(), gradient[n_shared:].reshape(len(across), -1)
        slopes, tie = slopes.copy(), np.diag(self.precision)
        for level in reversed(self.levels):
            taken = across[level] @ np.linalg.inv(within[level])
            left -= (taken @ across[level].transpose(0, 2, 1)).sum(axis=0)
            slope -= np.einsum("kpq,kq->p", taken, slopes[level])
            has_parent = self.parent[level] >= 0
            below, above = level[has_parent], self.parent[level[has_parent]]
            passed = tie @ np.linalg.inv(within[below])
            np.add.at(across, above, across[below] @ passed.transpose(0, 2, 1))
            np.subtract.at(within, above, passed @ tie)
            np.add.at(slopes, above, np.einsum("kqr,kr->kq", passed, slopes[below]))
        return left, across, within, slope, slopes

    def solve(self, gradient: Floats) -> Floats:
        """Return the curvature's inverse times a gradient."""
        left, across, within, slope, slopes = self._reduced(gradient)
        shared, effects = np.linalg.solve(left, slope), np.zeros_like(slopes)
        for level in self.levels:
            rest = slopes[level] - np.einsum("kpq,p->kq", across[level], shared)
            rest += self.precision * self._above(effects, level)
            effects[level] = np.linalg.solve(within[level], rest[..., None])[..., 0]
        return np.concatenate([shared, effects.ravel()])

    def _above(self, values: Floats, level: Integers) -> Floats:
        """Return what the class above each of a level has; 0 where none is."""
        parent = self.parent[level]
        return np.where((parent >= 0)[:, None], values[parent], 0.0)

    def log_determinant(self) -> float:
        """Return the logarithm of the determinant."""
        left, _, within, _, _ = self._reduced(
            np.zeros(len(self.shared) + self.within[..., 0].size)
        )
        return float(np.linalg.slogdet(left)[1] + np.linalg.slogdet(within)[1].sum())

    def covariances(self) -> Floats:
        """Return the blocks of the inverse that belong to the shared part and one class each."""
        n, size = len(self.shared), self.within[..., 0].size
        left, across, within, _, _ = self._reduced(np.zeros(n + size))
        n_own = within.shape[1]
        blocks = np.zeros((len(within), n + n_own, n + n_own))
        of_shared, tie = np.linalg.inv(left), np.diag(self.precision)
        for level in self.levels:
            inverted = np.linalg.inv(within[level])
            before = blocks[self.parent[level]].copy()
            is_root = self.parent[level] < 0
            before[is_root] = 0.0
            before[is_root, :n, :n] = of_shared
            moves = np.concatenate(
                [-inverted @ across[level].transpose(0, 2, 1), inverted @ tie], axis=2
            )
            with_before = moves @ before
            blocks[level, :n, :n] = of_shared
            blocks[level, n:, :n] = with_before[..., :n]
            blocks[level, :n, n:] = with_before[..., :n].transpose(0, 2, 1)
            blocks[level, n:, n:] = inverted + with_before @ moves.transpose(0, 2, 1)
        return blocks


def levels_of(parent: Integers) -> tuple[Integers, ...]:
    """Return classes by how many are above them, the roots first."""
    depth, above = np.zeros(len(parent), dtype=np.int64), parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return tuple(np.flatnonzero(depth == level) for level in range(int(depth.max(initial=0)) + 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class CurveRows:
    """Rows sorted by predicted class, and the prior of the coefficients."""

    design: Floats  # What all classes share, then what each has of its own
    target: Floats
    weight: Floats
    starts: Integers  # Where each class that occurs begins
    n_shared: int
    precision: Floats  # Of the shared coefficients, around 0
    # Of labels in a tree: the class above each, around whose effects its own are; -1 for none.
    parent: Integers | None = None

    @cached_property
    def shared(self) -> Floats:
        """The columns that all classes share, as rows; those of classes repeat the first ones."""
        return np.ascontiguousarray(self.design[:, : self.n_shared].T)

    @cached_property
    def repeated(self) -> Integers:
        """Which of the shared columns each column is."""
        n_own = self.design.shape[1] - self.n_shared
        return np.append(np.arange(self.n_shared), np.arange(n_own))

    def sums(self, values: Floats) -> Floats:
        """Return the sums over the rows of each class, of rows of values."""
        return np.ascontiguousarray(np.add.reduceat(values, self.starts, axis=-1).T)

    def coefficients(self, point: Floats) -> Floats:
        """Return the coefficients of each class: those that are shared, then its own."""
        n_classes = len(self.starts)
        shared = np.tile(point[: self.n_shared], (n_classes, 1))
        return np.hstack([shared, point[self.n_shared :].reshape(n_classes, -1)])

    def linear(self, point: Floats) -> Floats:
        """Return the log odds of each row."""
        sizes = np.diff(self.starts, append=len(self.target))
        by_row = self.coefficients(point).repeat(sizes, axis=0)
        return np.asarray(np.einsum("ij,ij->i", self.design, by_row))

    def prior(self, spreads: Floats) -> Floats:
        """Return the precision of every coefficient."""
        return np.concatenate([self.precision, np.tile(spreads**-2.0, len(self.starts))])

    def away(self, point: Floats) -> Floats:
        """Return coefficients as they are penalised: those of a class less those above it."""
        if self.parent is None:
            return point
        effects = point[self.n_shared :].reshape(len(self.starts), -1)
        above = np.where((self.parent >= 0)[:, None], effects[self.parent], 0.0)
        return np.concatenate([point[: self.n_shared], (effects - above).ravel()])

    def curvature(self, point: Floats, spreads: Floats) -> Arrow | TreeArrow:
        """Return the curvature of the penalised loss."""
        p = scipy.special.expit(self.linear(point))
        scaled, n = self.shared * (self.weight * p * (1.0 - p)), self.n_shared
        # Each product once, of two columns that stand in the design twice.
        products = np.stack([self.sums(self.shared * row) for row in scaled], axis=1)
        blocks = products.take(self.repeated, axis=1).take(self.repeated, axis=2)
        if self.parent is not None:
            has_parent = self.parent >= 0
            ties = 1 + np.bincount(self.parent[has_parent], minlength=len(self.starts))
            return TreeArrow(
                shared=blocks[:, :n, :n].sum(axis=0) + np.diag(self.precision),
                across=blocks[:, :n, n:],
                within=blocks[:, n:, n:] + ties[:, None, None] * np.diag(spreads**-2.0),
                parent=self.parent,
                precision=spreads**-2.0,
                levels=levels_of(self.parent),
            )
        return Arrow(
            shared=blocks[:, :n, :n].sum(axis=0) + np.diag(self.precision),
            across=blocks[:, :n, n:],
            within=blocks[:, n:, n:] + np.diag(spreads**-2.0),
        )

    def gradient(self, point: Floats, spreads: Floats) -> Floats:
        """Return the slope of the penalised loss."""
        residual = self.weight * (scipy.special.expit(self.linear(point)) - self.target)
        sums = self.sums(self.shared * residual).take(self.repeated, axis=1)
        n = self.n_shared
        likelihood = np.concatenate([sums[:, :n].sum(axis=0), sums[:, n:].ravel()])
        pull = self.prior(spreads) * self.away(point)
        if self.parent is not None:
            effects = pull[n:].reshape(len(self.starts), -1)
            has_parent = self.parent >= 0
            # Into a copy: what a class passes up is its own pull, not what it was passed.
            np.subtract.at(effects, self.parent[has_parent], effects[has_parent].copy())
        return np.asarray(likelihood + pull)

    def loss(self, point: Floats, spreads: Floats) -> float:
        """Return the penalised loss."""
        penalty = 0.5 * float(self.prior(spreads) @ self.away(point) ** 2)
        return float(self.weight @ log_loss(self.linear(point), self.target)) + penalty

    def minimum(self, point: Floats, spreads: Floats) -> Floats:
        """Return the coefficients of least penalised loss."""
        least = SETTLED * float(self.weight.sum())

        def step_at(at: Floats) -> tuple[Floats, bool]:
            slope = self.gradient(at, spreads)
            step = self.curvature(at, spreads).solve(slope)
            return -step, bool(slope @ step <= least)

        return newton_minimum(point, lambda at: self.loss(at, spreads), step_at)

    def start(self) -> Floats:
        """Return coefficients of which all but the shared intercept are 0."""
        right, total = float(self.weight @ self.target), float(self.weight.sum())
        n_own = self.design.shape[1] - self.n_shared
        point = np.zeros(self.n_shared + n_own * len(self.starts))
        point[0] = scipy.special.logit((right + 0.5) / (total + 1.0))
        return point


def posterior(rows: CurveRows) -> tuple[Floats, Floats, Floats]:
    """Return means and covariances by class, and the mean squares of what classes differ by.

    Over a grid of standard deviations τ, each weighed by its marginal likelihood as Laplace's
    method has it: −loss(θ̂) + K/2 Σ log τ⁻² − ½ log |H|.
    """
    point, parts = rows.start(), []
    n_own = rows.design.shape[1] - rows.n_shared
    for pair in product(
        INTERCEPT_SPREADS, SLOPE_SPREADS[: len(SLOPE_SPREADS) if n_own > 1 else 1]
    ):
        spreads = np.array(pair[:n_own])
        point = rows.minimum(point, spreads)
        curvature = rows.curvature(point, spreads)
        evidence = -len(rows.starts) * float(np.log(spreads).sum()) - rows.loss(point, spreads)
        evidence -= 0.5 * curvature.log_determinant()
        coefficient, covariance = rows.coefficients(point), curvature.covariances()
        parts.append((evidence, coefficient, covariance, spreads**2))
    evidences, coefficients, covariances, squares = map(np.array, zip(*parts, strict=True))
    chance = scipy.special.softmax(evidences)
    mean = np.tensordot(chance, coefficients, 1)
    gap = coefficients - mean
    covariances = covariances + gap[..., :, None] * gap[..., None, :]
    return mean, np.tensordot(chance, covariances, 1), chance @ squares


def relatives_correlation(rows: CurveRows, cluster: Integers) -> float:
    """Return how alike the outcomes of relatives are beyond what the curve says, from 0 to 1.

    Σ r_i r_j / Σ √(v_i v_j) over pairs of one cluster, r the residual and v its variance.
    """
    return relatives_correlations(rows, cluster, cluster)[0]


def relatives_correlations(
    rows: CurveRows, unit: Integers, cluster: Integers
) -> tuple[float, float]:
    """Return the same of pairs of one unit, a part of a cluster, and of two units of one."""
    middle = np.array([np.median(INTERCEPT_SPREADS), np.median(SLOPE_SPREADS)])
    spreads = middle[: rows.design.shape[1] - rows.n_shared]
    p = scipy.special.expit(rows.linear(rows.minimum(rows.start(), spreads)))

    def pairs(values: Floats, group: Integers) -> float:
        """Return the sum over pairs of relatives of the product of their values."""
        weighted = rows.weight * values
        return float((np.bincount(group, weights=weighted) ** 2).sum() - (weighted**2).sum())

    residual, spread = rows.target - p, np.sqrt(p * (1.0 - p))
    within, possible = pairs(residual, unit), pairs(spread, unit)
    across, possible_across = pairs(residual, cluster) - within, pairs(spread, cluster) - possible

    def share(part: float, whole: float) -> float:
        return 0.0 if whole <= SETTLED else float(np.clip(part / whole, 0.0, 1.0))

    return share(within, possible), share(across, possible_across)


def independent_weight(weight: Floats, cluster: Integers, correlation: float) -> Floats:
    """Return what each protein tells beside its relatives: w / (1 + ρ (m − 1))."""
    mass = np.bincount(cluster, weights=weight)[cluster]
    return np.asarray(weight / (1.0 + correlation * np.maximum(mass - weight, 0.0)))


def of_calls(
    rows: CurveRows, cluster: Integers, label: Integers
) -> tuple[CurveRows, float, Floats]:
    """Return the rows of calls with what each tells, and how alike relatives are in one label.

    One design effect for all calls of a label, Σ w (1 + ρ (m − 1)) / Σ w, m of the family's calls
    with that label. Relatives share true labels, so right calls have more relatives with the same
    label than wrong ones; weights of each call by itself would make right ones count too little.
    And by how much variances grow since labels borrow from calls of the same families: by
    ρ' (M − m), M all calls of the family.
    """
    weight, n_labels = rows.weight, int(label.max()) + 1
    _, unit = np.unique(cluster * n_labels + label, return_inverse=True)
    same, other = relatives_correlations(rows, unit, cluster)
    of_label, of_family = (np.bincount(part, weights=weight)[part] for part in (unit, cluster))
    total = np.add.reduceat(weight, rows.starts)
    effect = 1.0 + same * rows.sums(weight * np.maximum(of_label - weight, 0.0)) / total
    further = other * rows.sums(weight * (of_family - of_label)) / total
    sizes = np.diff(rows.starts, append=len(weight))
    rows = replace(rows, weight=weight / effect.repeat(sizes))
    return rows, same, 1.0 + further / effect


def fit_pooled(labelled: Labelled, features: Sequence[str]) -> PooledCurve:
    """Return the curve of all classes, learnt from some features."""
    predictions = labelled.predictions
    floor = max(
        predictions.resolution, 2.0 * score_logs.UNKNOWN_RESOLUTION_FLOOR * predictions.scale
    )
    low, high = score_logs.share_bounds(floor, predictions.scale)
    columns = features_of(predictions, features, predictions.scale, low, high)
    rank = score_logs.predicted_rank(predictions)
    order = score_logs.canonical_order(np.column_stack([columns, rank]), labelled)
    order = order[np.argsort(rank[order], kind="stable")]
    columns, rank, ordered = columns[order], rank[order], labelled.take(order)
    # As many proteins as the weights are worth (Kish).
    weight = ordered.weight * (ordered.weight.sum() / (ordered.weight**2).sum())
    mean = np.average(columns, axis=0, weights=weight)
    spread = np.sqrt(np.average((columns - mean) ** 2, axis=0, weights=weight))
    spread[spread < FLAT] = 0.0
    priors = np.array([FIRST_SPREAD, *(SHARED_SPREADS[name] for name in features)])
    rows = CurveRows(
        design=design_of(columns, mean, spread),
        target=ordered.is_correct.astype(np.float64),
        weight=weight,
        starts=np.flatnonzero(np.diff(rank, prepend=-1)),
        n_shared=len(priors),
        precision=priors**-2.0,
    )
    names = sorted(predictions.class_names)
    if predictions.tree is not None and predictions.tree.parents:
        called = [names[code] for code in rank[rows.starts]]
        rows = replace(rows, parent=parents_among(called, predictions.tree))
    _, cluster = np.unique(ordered.cluster.astype(str), return_inverse=True)
    if ordered.predictions.n_proteins < ordered.n_samples:
        rows, correlation, further = of_calls(rows, cluster, rank)
    else:
        further = np.ones(len(rows.starts))
        correlation = relatives_correlation(rows, cluster)
        rows = replace(rows, weight=independent_weight(weight, cluster, correlation))
    coefficients, covariances, squares = posterior(rows)
    # As far as calls of the label spoke: what nothing is known of is no surer or less sure.
    place = rows.n_shared
    known = np.clip(1.0 - covariances[:, place, place] / squares[0], 0.0, 1.0)
    covariances = covariances * (1.0 + SHARED_IN_FAMILY * (further - 1.0) * known)[:, None, None]
    classes = {
        names[rank[start]]: ClassEffects(coefficient=coefficient, covariance=covariance)
        for start, coefficient, covariance in zip(
            rows.starts, coefficients, covariances, strict=True
        )
    }
    n_shared, n_own = rows.n_shared, len(squares)
    unknown = np.zeros((n_shared + n_own, n_shared + n_own))
    unknown[:n_shared, :n_shared] = covariances[0, :n_shared, :n_shared]
    unknown[n_shared:, n_shared:] = np.diag(squares)
    middle = np.concatenate([coefficients[0, :n_shared], np.zeros(n_own)])
    if rows.parent is not None and predictions.tree is not None:
        classes |= _below(classes, predictions.tree, names, squares)
        # Of a label anywhere in the tree: as far from the middle as those that were called.
        effects = coefficients[:, n_shared:]
        unknown[n_shared:, n_shared:] += np.diag((effects**2).mean(axis=0))
    seen = columns[:, 0] if len(features) else np.zeros(1)
    curve = PooledCurve(
        features=tuple(features),
        scale=predictions.scale,
        low=low,
        high=high,
        mean=mean,
        spread=spread,
        ends=(float(seen.min()), float(seen.max())),
        correlation=correlation,
        misfit=0.0,
        classes=classes,
        other=ClassEffects(coefficient=middle, covariance=unknown),
    )
    answer = mean_probability(*curve.log_odds(ordered.predictions))
    return replace(curve, misfit=misfit_of(ordered, answer))


def parents_among(called: Sequence[str], tree: LabelTree) -> Integers:
    """Return for each label the place of the nearest one above it; of several the lowest."""
    place = {name: at for at, name in enumerate(called)}
    among = tree.among(called)
    depth = among.depths
    nearest = [
        max(among.parents.get(name, ()), key=lambda above: (depth[above], above), default=None)
        for name in called
    ]
    return np.array([-1 if name is None else place[name] for name in nearest], dtype=np.int64)


def _below(
    classes: Mapping[str, ClassEffects], tree: LabelTree, names: Sequence[str], squares: Floats
) -> dict[str, ClassEffects]:
    """Return the effects of labels that were never called: those of the one above, less sure."""
    depth, further = tree.depths, dict[str, ClassEffects]()
    for name in names:
        above = [] if name in classes else [*(tree.ancestors(name) & classes.keys())]
        if above:
            parent = classes[max(above, key=lambda label: (depth[label], label))]
            covariance = parent.covariance.copy()
            effects = np.arange(len(covariance))[-len(squares) :]
            covariance[effects, effects] += squares
            further[name] = ClassEffects(coefficient=parent.coefficient, covariance=covariance)
    return further


@dataclass(frozen=True, kw_only=True, eq=False)
class HierarchicalCalibration:
    """The curve of class and score, and that which sees the margin as well."""

    method: str = field(default="hierarchical", init=False)  # Tells what reads its record
    level: float  # Coverage of the intervals
    has_interval: bool
    classes: dict[str, ClassCurve]  # By name, in order: counts and support
    support: Support  # Of all classes together, without which intervals open
    by_score: PooledCurve
    with_margin: PooledCurve | None
    # Whether proteins had several calls; of those of one label there are few families.
    is_of_calls: Annotated[bool, Stored(is_left_out=True)] = False

    @property
    def needs(self) -> Need:
        """What has to be given of each prediction."""
        return Need.TOP_SCORE if self.by_score.features else Need.CLASS

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer."""
        return True

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What was counted of each class."""
        return {name: entry.counts for name, entry in self.classes.items()}

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return nothing: what was chosen is of all classes together."""
        return NO_PARAMETERS

    def probabilities(self, predictions: Predictions) -> None:
        """Return None: it is about the predicted class alone."""

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction; without vectors that of the score alone."""
        answer = confidence_by_class(self.classes, predictions)
        score = top_scores(predictions)
        by_class = predictions.rows_by_class()
        for entry, rows in zip(self.classes.values(), by_class, strict=False):
            if entry.support is not None and len(rows):
                answer.note[rows] = entry.pooled_note(score[rows])
        curve = self.by_score
        if self.with_margin is not None and predictions.has_vectors:
            curve = self.with_margin
        log_odds, deviation = curve.log_odds(predictions)
        answer.value[:] = mean_probability(log_odds, deviation)
        near = np.interp(score, self.support.score, self.support.n)
        is_scored = predictions.top_score is not None
        answer.support[:] = near if is_scored else self.support.n.max(initial=0.0)
        if self.has_interval:
            reach = self._quantile(predictions) * np.hypot(deviation, curve.misfit)
            ends = scipy.special.expit(log_odds - reach), scipy.special.expit(log_odds + reach)
            answer.lower[:], answer.upper[:] = open_interval(*ends, answer.value, answer.support)
            # Where nothing was wrong, or nothing right, nothing speaks against that end.
            for entry, rows in zip(self.classes.values(), by_class, strict=False):
                n = entry.counts["n"]
                if n > 0 and entry.counts["n_correct"] == n:
                    answer.upper[rows] = 1.0
                if n > 0 and entry.counts["n_correct"] == 0:
                    answer.lower[rows] = 0.0
        return answer

    def _quantile(self, predictions: Predictions) -> float | Floats:
        """Return how many standard deviations an interval reaches.

        Of calls, that of Student's t with as many degrees of freedom as the label has families.
        """
        if not self.is_of_calls:
            return float(scipy.special.ndtri((1.0 + self.level) / 2.0))
        families = [float(entry.counts["n_clusters"]) for entry in self.classes.values()]
        freedom = np.maximum(np.array(families), LEAST_LABEL_FREEDOM)
        of_label = scipy.special.stdtrit(freedom, (1.0 + self.level) / 2.0)
        return np.asarray(of_label[predictions.predicted_class])


@dataclass(frozen=True, kw_only=True)
class Hierarchical:
    """Settings of the hierarchical curve.

    logit P(right) = a + b x₁ + c x₂ + u_k + v_k x₁ for predicted class k, x₁ the logit of the top
    score and x₂ the log of its ratio to the second, standardised; u_k ~ N(0, τ_u²) and
    v_k ~ N(0, τ_v²), in a tree around u and v of the label above, averaged over a grid of τ by
    Laplace's marginal likelihood. The confidence is
    the posterior mean, its interval adds the misfit that steps of the score show; relatives count
    by what they tell, from how alike their outcomes are.
    """

    sees: str = setting(
        "vector",
        "What it looks at: vector, the margin too where there is one, or score, the best alone.",
        ("vector", "score"),
    )


@dataclass(frozen=True, kw_only=True)
class HierarchicalCalibrator:
    """The hierarchical curve, ready to fit."""

    settings: Hierarchical
    options: FitOptions  # What all methods share

    def fit(self, labelled: Labelled) -> HierarchicalCalibration:
        """Return the curve of all classes."""
        predictions = labelled.predictions
        features = () if predictions.top_score is None else ("score",)
        together = replace(predictions, predicted_class=np.zeros_like(predictions.predicted_class))
        everything = next(filter(None, class_samples(replace(labelled, predictions=together))))
        sees_margin = self.settings.sees == "vector" and predictions.has_vectors
        return HierarchicalCalibration(
            level=self.options.level,
            has_interval=self.options.n_draws > 0,
            classes=fit_classes(labelled, replace(self.options, n_draws=0), None),
            support=class_masses(everything).support,
            by_score=fit_pooled(labelled, features),
            with_margin=fit_pooled(labelled, (*features, "margin")) if sees_margin else None,
            is_of_calls=predictions.n_proteins < predictions.n_samples,
        )


HIERARCHICAL_METHOD = Method(
    name="hierarchical",
    summary="A logistic curve of the score for all classes, with effects of each class.",
    reference="Gelman & Hill 2007, doi 10.1017/CBO9780511790942",
    settings=Hierarchical,
    needs=Need.CLASS,
    pools=True,
    build=lambda settings, options: HierarchicalCalibrator(settings=settings, options=options),
    read=partial(from_record, HierarchicalCalibration, kinds={}),
)
