"""Structured matrix scaling: one regularised linear map of the log scores."""

from dataclasses import dataclass

import numpy as np
import scipy

from credence.calibrators import newton, score_logs
from credence.calibrators.classwise import vector_method
from credence.calibrators.newton import adder_of, log_odds_interval
from credence.calibrators.protocol import FitOptions
from credence.calibrators.score_logs import sorted_log_scores
from credence.draws import effective_clusters
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.problems import refuse
from credence.settings import setting

CHUNK = 4096  # rows at a time where a row needs a number per parameter
MOST_CLASSES = 30  # where nobody asked for a matrix: its fit takes the cube of their square
MOST_ASKED = 100  # where somebody did: some ten minutes and 4 GB a fit


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixFit:
    """A fit of matrix scaling, row by row."""

    design: Floats  # Log scores and ones
    p: Floats  # Probabilities
    weight: Floats  # Positive weights
    cluster: Integers  # Code of each row's cluster, from 0; every code occurs
    inverse: Floats  # Inverse of the penalised curvature, entries row by row

    def summed(self, factor: Floats) -> Floats:
        """Return Σ factor ⊗ design over each cluster, shape (n_clusters, n_entries)."""
        sums = [adder_of(self.cluster, column * self.weight) @ self.design for column in factor.T]
        return np.stack(sums, axis=1).reshape(len(sums[0]), -1)

    def curved(self, shift: Floats) -> Floats:
        """Return each cluster's curvature times its own shift."""
        apart = shift.reshape(len(shift), self.p.shape[1], -1)
        along = np.column_stack(
            [
                np.einsum("nw,nw->n", self.design, class_shift[self.cluster])
                for class_shift in apart.swapaxes(0, 1)
            ]
        )
        pulled = self.p * along
        return self.summed(pulled - self.p * pulled.sum(axis=1, keepdims=True))

    def leverage(self) -> Floats:
        """Return how many parameters each cluster bears: tr(H⁻¹ H_g)."""
        n_classes, width = self.p.shape[1], self.design.shape[1]
        cells = self.inverse.reshape(n_classes, width, n_classes, width)
        borne = np.empty(len(self.p))
        for start in range(0, len(borne), CHUNK):
            part = slice(start, start + CHUNK)
            design, p = self.design[part], self.p[part]
            direction = (p[:, :, None] * design[:, None, :]).reshape(len(p), -1)
            both = np.einsum("ni,ni->n", direction @ self.inverse, direction)
            alone = sum(
                p[:, k] * np.einsum("nv,nv->n", design @ cells[k, :, k, :], design)
                for k in range(n_classes)
            )
            borne[part] = alone - both
        return np.asarray(np.bincount(self.cluster, weights=self.weight * borne), dtype=np.float64)

    def curvature_of(self, rows: Integers) -> Floats:
        """Return the curvature of some rows, without ridges."""
        p, design = self.p[rows], self.design[rows]
        factor = -p[:, :, None] * p[:, None, :]
        classes = np.arange(p.shape[1])
        factor[:, classes, classes] += p
        factor *= self.weight[rows, None, None]
        square = design[:, :, None] * design[:, None, :]
        sums = factor.reshape(len(rows), -1).T @ square.reshape(len(rows), -1)
        cells = sums.reshape(*factor.shape[1:], *square.shape[1:])
        return np.asarray(cells.transpose(0, 2, 1, 3).reshape(self.inverse.shape))


@dataclass(frozen=True, kw_only=True, eq=False)
class MatrixModel:
    """The linear map from log scores to log odds, classes sorted by name."""

    class_names: tuple[str, ...]  # Sorted
    matrix: Floats  # The intercepts in the last column
    # As the clusters show it and as the model implies it, row by row; None without intervals.
    covariance: Floats | None
    level: float  # Coverage of the intervals
    n_clusters: Floats  # Effective number of clusters of each predicted class

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""
        design = with_ones(sorted_log_scores(predictions))
        chosen = score_logs.predicted_rank(predictions)
        log_p = log_probabilities(design, self.matrix)
        rows = np.arange(len(design))
        value = np.exp(log_p[rows, chosen])
        if self.covariance is None:
            return value, np.full_like(value, np.nan), np.full_like(value, np.nan)
        # log(1 − p) as the log of the sum of the others, which does not cancel.
        others = score_logs.others_of(log_p, chosen)
        log_rest = scipy.special.logsumexp(others, axis=1)
        slope = -np.exp(others - log_rest[:, None])
        slope[rows, chosen] = 1.0
        error = np.empty(len(design))
        for start in range(0, len(design), CHUNK):
            part = slice(start, start + CHUNK)
            gradient = slope[part, :, None] * design[part, None, :]
            gradient = gradient.reshape(len(gradient), -1)
            error[part] = newton.standard_error(gradient, self.covariance)
        log_odds = log_p[rows, chosen] - log_rest
        return value, *log_odds_interval(log_odds, error, self.level, self.n_clusters[chosen])

    def probabilities(self, predictions: Predictions) -> Floats:
        """Return the probability of every class, in the table's order."""
        inside = np.exp(log_probabilities(with_ones(sorted_log_scores(predictions)), self.matrix))
        answer = np.empty_like(inside)
        answer[:, score_logs.name_order(predictions.class_names)] = inside
        return answer


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """Settings of structured matrix scaling.

    ŷ = softmax(W log y + c). The matrix is W = t·1 + D + O: one inverse temperature, free; a
    diagonal and off-diagonal entries, each with a ridge towards 0, the latter the stronger; the
    intercepts with one of their own. With few data that is temperature scaling, with many
    Dirichlet calibration (Kull et al.); the structure is that of Berta et al. Intervals are of the
    log odds of the stored predicted class, by the jackknife over clusters or the model's own
    curvature, whichever is wider, with Student's t for that class's effective number of clusters.
    """

    diagonal: float = setting(1.0, "Ridge on the diagonal's deviations.", low=0.001)
    off_diagonal: float = setting(100.0, "Ridge on the off-diagonal entries.", low=0.001)
    intercept: float = setting(1.0, "Ridge on the intercepts.", low=0.001)

    def ridge(self, n_classes: int) -> Floats:
        """Return the strength on each entry of the matrix."""
        strength = np.full((n_classes, n_classes + 1), self.off_diagonal)
        np.fill_diagonal(strength, self.diagonal)
        strength[:, -1] = self.intercept
        return strength

    def fit_model(self, labelled: Labelled, options: FitOptions) -> MatrixModel:
        """Return the map learnt from proteins of the active classes."""
        names = labelled.predictions.class_names
        if len(names) > MOST_ASKED:
            gigabytes = (len(names) * (len(names) + 1)) ** 2 * 8 / 1e9
            message = f"of {len(names)} classes it would hold tables of {gigabytes:.0f} GB each."
            raise refuse("matrix", message, "Choose another method, such as auto or tswa.")
        logs = sorted_log_scores(labelled.predictions)
        true_class = np.argsort(score_logs.name_order(names))[labelled.true_class]
        order = score_logs.canonical_order(np.column_stack([logs, true_class]), labelled)
        problem = ScalingProblem(
            design=with_ones(logs[order]),
            true_class=true_class[order],
            weight=labelled.weight[order],
            ridge=self.ridge(len(names)),
        )
        matrix, inverse = least_matrix(problem)
        _, cluster = np.unique(labelled.cluster[order].astype(str), return_inverse=True)
        covariance = scatter(problem, matrix, inverse, cluster) if options.n_draws > 0 else None
        chosen = score_logs.predicted_rank(labelled.predictions)[order]
        n_clusters = clusters_by_class(chosen, cluster, labelled.weight[order], len(names))
        return MatrixModel(
            class_names=tuple(sorted(names)),
            matrix=matrix,
            covariance=covariance,
            level=options.level,
            n_clusters=n_clusters,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ScalingProblem:
    """What is minimised."""

    design: Floats  # Log scores, ones in the last column
    true_class: Integers  # Among the sorted names
    weight: Floats  # Positive weights
    ridge: Floats  # The strength on each entry of the matrix

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.design.shape[1]) - 1

    def base(self) -> Floats:
        """Return the direction of the inverse temperature, which is free."""
        return np.eye(self.n_classes, self.n_classes + 1)

    def loss(self, matrix: Floats, deviation: Floats) -> float:
        """Return the penalised loss; `deviation` is what the ridges see."""
        log_p = log_probabilities(self.design, matrix)
        rows = np.arange(len(log_p))
        ridge = 0.5 * float((self.ridge * deviation**2).sum())
        return ridge - float(self.weight @ log_p[rows, self.true_class])

    def residual(self, matrix: Floats) -> tuple[Floats, Floats]:
        """Return probabilities and their excess over the truth."""
        p = np.exp(log_probabilities(self.design, matrix))
        excess = p.copy()
        excess[np.arange(len(p)), self.true_class] -= 1.0
        return p, excess

    def curvature(self, p: Floats) -> Floats:
        """Return the Hessian of the loss without ridges, entry by entry."""
        n, width = self.n_classes, self.design.shape[1]
        hessian = np.empty((n, width, n, width))
        for first in range(n):
            for second in range(first + 1):
                factor = -p[:, first] * p[:, second]
                if first == second:
                    factor = factor + p[:, first]
                block = self.design.T @ (self.design * (self.weight * factor)[:, None])
                hessian[first, :, second, :] = block
                hessian[second, :, first, :] = block
        return hessian.reshape(n * width, n * width)


def with_ones(logs: Floats) -> Floats:
    """Return the log scores with a last column of ones."""
    return np.column_stack([logs, np.ones(len(logs))])


def log_probabilities(design: Floats, matrix: Floats) -> Floats:
    """Return log softmax of the rows mapped by the matrix."""
    # Row by row: a product of matrices depends on how many rows a piece has.
    return np.asarray(scipy.special.log_softmax(np.einsum("ij,kj->ik", design, matrix), axis=1))


def least_matrix(problem: ScalingProblem, near: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the matrix at the minimum, sought near another if one is given.

    And its inverse curvature, the temperature free.
    """
    base = problem.base().ravel()
    ridge = problem.ridge.ravel()

    def matrix_of(point: Floats) -> Floats:
        return np.asarray((point[:-1] + point[-1] * base).reshape(problem.base().shape))

    def loss(point: Floats) -> float:
        matrix = matrix_of(point)
        return problem.loss(matrix, point[:-1].reshape(matrix.shape))

    def derivatives(point: Floats) -> tuple[Floats, Floats]:
        p, excess = problem.residual(matrix_of(point))
        likelihood = ((excess * problem.weight[:, None]).T @ problem.design).ravel()
        curvature = problem.curvature(p)
        along = curvature @ base
        hessian = np.block(
            [[curvature + np.diag(ridge), along[:, None]], [along, np.array([base @ along])]]
        )
        return np.append(likelihood + ridge * point[:-1], base @ likelihood), hessian

    def step_at(point: Floats) -> tuple[Floats, bool]:
        gradient, hessian = derivatives(point)
        step = np.asarray(np.linalg.solve(hessian, -gradient), dtype=np.float64)
        least = newton.DECREMENT_TOLERANCE * problem.weight.sum()
        return step, bool(-gradient @ step <= least)

    start = np.append(np.zeros(base.size) if near is None else near.ravel() - base, 1.0)
    point = newton.newton_minimum(start, loss, step_at)
    full = np.linalg.inv(derivatives(point)[1])
    # Entry = deviation + temperature · base: carry the inverse over.
    lift = np.hstack([np.eye(base.size), base[:, None]])
    return matrix_of(point), lift @ full @ lift.T


def scatter(problem: ScalingProblem, matrix: Floats, inverse: Floats, cluster: Integers) -> Floats:
    """Return the covariances of the matrix's entries: the clusters' jackknife's, the model's."""
    p, excess = problem.residual(matrix)
    fitted = MatrixFit(
        design=problem.design, p=p, weight=problem.weight, cluster=cluster, inverse=inverse
    )
    n_clusters = int(cluster.max()) + 1
    order = np.argsort(cluster, kind="stable")
    members = np.split(order, np.searchsorted(cluster[order], np.arange(1, n_clusters)))
    shift = newton.shifts(
        fitted.summed(excess),
        inverse,
        fitted.leverage(),
        fitted.curved,
        lambda group: fitted.curvature_of(members[group]),
    )
    return np.stack([newton.jackknifed(shift, n_clusters), inverse])


def clusters_by_class(
    class_: Integers, cluster: Integers, weight: Floats, n: int, none: float = 1.0
) -> Floats:
    """Return the effective number of clusters of each class."""
    rows = [class_ == number for number in range(n)]
    return np.array([effective_clusters(cluster[r], weight[r]) if r.any() else none for r in rows])


MATRIX_METHOD = vector_method(
    "matrix",
    "Structured matrix scaling: a regularised linear map of all log scores.",
    "Berta et al. 2025, arXiv 2511.03685; Kull et al. 2019, arXiv 1910.12656",
    Matrix,
    MatrixModel,
    gives_vector=True,
    pools=True,
)
