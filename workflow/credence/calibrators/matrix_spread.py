"""How well the map of matrix scaling is known: a jackknife over clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from credence.calibrators.leave_out import jackknifed, shifts
from credence.predictions import Floats, Integers

CHUNK = 4096  # rows at a time where a row needs a number per parameter


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fit of matrix scaling, row by row.

    Parameters
    ----------
    design : array of float, shape (n_samples, width)
        Log scores and ones.
    p : array of float, shape (n_samples, n_classes)
        Probabilities.
    excess : array of float, of the same shape
        Probabilities less the truth.
    weight : array of float, shape (n_samples,)
        Positive weights.
    cluster : array of int, shape (n_samples,)
        Code of each row's cluster, from 0; every code occurs.
    inverse : array of float, shape (n_entries, n_entries)
        Inverse of the penalised curvature, entries row by row.
    """

    design: Floats
    p: Floats
    excess: Floats
    weight: Floats
    cluster: Integers
    inverse: Floats

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.cluster.max()) + 1

    def summed(self, factor: Floats) -> Floats:
        """Return Σ factor ⊗ design over each cluster, shape (n_clusters, n_entries).

        Parameters
        ----------
        factor : array of float, shape (n_samples, n_classes)
            One number per row and class.
        """
        n_rows, n_classes = factor.shape
        answer = np.empty((self.n_clusters, n_classes, self.design.shape[1]))
        rows = np.arange(n_rows)
        for class_ in range(n_classes):
            adder = sparse.csr_array(
                (factor[:, class_] * self.weight, (self.cluster, rows)),
                shape=(self.n_clusters, n_rows),
            )
            answer[:, class_] = adder @ self.design
        return answer.reshape(self.n_clusters, -1)

    def curved(self, shift: Floats) -> Floats:
        """Return each cluster's curvature times its own shift.

        Parameters
        ----------
        shift : array of float, shape (n_clusters, n_entries)
            One direction per cluster.
        """
        apart = shift.reshape(len(shift), self.p.shape[1], -1)
        along = np.column_stack(
            [
                np.einsum("nw,nw->n", self.design, apart[self.cluster, class_])
                for class_ in range(self.p.shape[1])
            ]
        )
        pulled = self.p * along
        return self.summed(pulled - self.p * pulled.sum(axis=1, keepdims=True))

    def leverage(self) -> Floats:
        """Return how many parameters each cluster bears: tr(H⁻¹ H_g)."""
        n_classes, width = self.p.shape[1], self.design.shape[1]
        cells = self.inverse.reshape(n_classes, width, n_classes, width)
        own = np.empty(len(self.p))
        for start in range(0, len(own), CHUNK):
            part = slice(start, start + CHUNK)
            design, p = self.design[part], self.p[part]
            direction = (p[:, :, None] * design[:, None, :]).reshape(len(p), -1)
            both = np.einsum("ni,ni->n", direction @ self.inverse, direction)
            alone = sum(
                p[:, k] * np.einsum("nv,nv->n", design @ cells[k, :, k, :], design)
                for k in range(n_classes)
            )
            own[part] = alone - both
        return np.asarray(np.bincount(self.cluster, weights=self.weight * own), dtype=np.float64)

    def curvature_of(self, rows: Integers) -> Floats:
        """Return the curvature of some rows, without ridges.

        Parameters
        ----------
        rows : array of int
            Positions.
        """
        p, design = self.p[rows], self.design[rows]
        factor = -p[:, :, None] * p[:, None, :]
        classes = np.arange(p.shape[1])
        factor[:, classes, classes] += p
        factor *= self.weight[rows, None, None]
        square = design[:, :, None] * design[:, None, :]
        sums = factor.reshape(len(rows), -1).T @ square.reshape(len(rows), -1)
        cells = sums.reshape(*factor.shape[1:], *square.shape[1:])
        return np.asarray(cells.transpose(0, 2, 1, 3).reshape(self.inverse.shape))


def jackknife(fitted: Fitted) -> Floats:
    """Return the leave-one-cluster-out covariance of the matrix's entries.

    Parameters
    ----------
    fitted : Fitted
        The fit.
    """
    order = np.argsort(fitted.cluster, kind="stable")
    starts = np.searchsorted(fitted.cluster[order], np.arange(fitted.n_clusters + 1))

    def curvature_of(group: int) -> Floats:
        return fitted.curvature_of(order[starts[group] : starts[group + 1]])

    score = fitted.summed(fitted.excess)
    shift = shifts(score, fitted.inverse, fitted.leverage(), fitted.curved, curvature_of)
    return jackknifed(shift, fitted.n_clusters)
