"""A space in which proteins that are alike lie near each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from credence.novelty.composition import WIDTHS, Composition, composition
from credence.novelty.neighbours import singles
from credence.novelty.packing import packed, unpacked
from credence.predictions import Floats, Strings

MOST_FITTED = 20_000  # proteins that the axes are learnt from; more turn them by little
# Of the randomised search for the axes: Halko, Martinsson & Tropp 2011, section 4.5
# (doi 10.1137/090771806).
OVERSAMPLING = 10
POWER_STEPS = 4
SEED = 0

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Space:
    """Axes along which proteins differ most, and where their origin is.

    Parameters
    ----------
    kind : str
        ``composition``, or ``vectors`` that a user brings.
    scale : array of float, shape (n_features,)
        What each feature is multiplied by.
    axes : array of float, shape (n_features, n_components)
        Of scaled features.
    origin : array of float, shape (n_components,)
        Where the proteins that were fitted are on average.
    explained : array of float, shape (n_components,)
        Share of the variance along each axis.
    """

    kind: str
    scale: Floats
    axes: Floats
    origin: Floats
    explained: Floats

    @property
    def n_components(self) -> int:
        """Number of axes."""
        return int(self.axes.shape[1])

    @property
    def n_features(self) -> int:
        """Number of features that a protein is told by."""
        return len(self.scale)

    def place(self, features: Any) -> Floats:
        """Return the points of features, in single precision.

        Parameters
        ----------
        features : array or sparse array of float, shape (n_proteins, n_features)
            Before scaling.
        """
        return singles(features @ (self.axes * self.scale[:, None]) - self.origin)

    def of_sequences(self, sequences: Strings) -> Floats:
        """Return the points of proteins; NaN where one is too short to be told.

        Parameters
        ----------
        sequences : array of str
            Residues in one-letter code, capitals.
        """
        found = composition(sequences)
        points = np.full((len(sequences), self.n_components), np.nan)
        points[found.is_told] = self.place(features_of(found)[np.flatnonzero(found.is_told)])
        return points

    def to_record(self) -> dict[str, Any]:
        """Return the space as JSON data."""
        return {
            "kind": self.kind,
            "scale": packed(self.scale, "float32"),
            "axes": packed(self.axes, "float32"),
            "origin": packed(self.origin, "float32"),
            "explained": packed(self.explained, "float32"),
        }


def read(record: Mapping[str, Any]) -> Space:
    """Return the space of a record that :meth:`Space.to_record` wrote.

    Parameters
    ----------
    record : mapping
        JSON data.
    """
    names = ("scale", "axes", "origin", "explained")
    return Space(record["kind"], *(unpacked(record[name]).astype(np.float64) for name in names))


def features_of(found: Composition) -> sparse.csr_array:
    """Return words and chemistry side by side.

    Parameters
    ----------
    found : Composition
        What proteins are made of.
    """
    chemistry = sparse.csr_array(np.nan_to_num(found.chemistry).astype(np.float32))
    return sparse.csr_array(sparse.hstack([*found.words, chemistry], format="csr"))


def fit_composition(sequences: Strings, n_components: int) -> Space:
    """Return the space of proteins, from what they are made of.

    Parameters
    ----------
    sequences : array of str
        Where fewer than two are told there is no axis.
    n_components : int
        Greatest number of axes.

    Notes
    -----
    Each kind of words, and chemistry, is scaled to a total variance of 1, so that
    eight thousand words of three do not drown four hundred of two. The axes are
    those of greatest variance, found by a randomised search from a fixed start;
    proteins come in an order of their own, so neither the table's order nor the
    number of cores changes a bit. An axis points to where its largest entry is
    positive.
    """
    order = np.array(sorted(range(len(sequences)), key=sequences.__getitem__), dtype=np.int64)
    found = composition(sequences[spread(order, MOST_FITTED)])
    features = features_of(found)[np.flatnonzero(found.is_told)]
    if features.shape[0] < 2:
        width = sum(WIDTHS)
        return Space(
            "composition", np.zeros(width), np.empty((width, 0)), np.empty(0), np.empty(0)
        )
    return _fit("composition", features, block_scale(features, WIDTHS), n_components)


def fit_vectors(vectors: Floats, n_components: int) -> Space:
    """Return the space of vectors that a user brings.

    Parameters
    ----------
    vectors : array of float, shape (n_proteins, n_features)
        Finite.
    n_components : int
        Greatest number of axes.

    Notes
    -----
    Vectors are taken as they are: their features are not scaled, since those of a
    language model are comparable.
    """
    order = np.lexsort(vectors.T[::-1])
    values = vectors[spread(order, MOST_FITTED)]
    return _fit("vectors", values, np.ones(values.shape[1]), n_components)


def spread(order: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return at most so many of some rows, evenly spread over them.

    Parameters
    ----------
    order : array of int
        Rows.
    most : int
        How many are kept.

    Examples
    --------
    >>> spread(np.arange(5), 2).tolist()
    [0, 2]
    """
    if len(order) <= most:
        return order
    return order[np.arange(most) * len(order) // most]


def block_scale(features: sparse.csr_array, widths: tuple[int, ...]) -> Floats:
    """Return what makes the total variance of every block of features 1.

    Within chemistry, the last block, every column has the same variance.

    Parameters
    ----------
    features : sparse array, shape (n_proteins, n_features)
        Blocks side by side.
    widths : tuple of int
        Features of each block.
    """
    mean = np.asarray(features.mean(axis=0)).ravel()
    square = np.asarray(features.multiply(features).mean(axis=0)).ravel()
    variance = np.maximum(square - mean**2, 0.0).astype(np.float64)
    scale = np.zeros(len(variance))
    start = 0
    for width in widths[:-1]:
        block = slice(start, start + width)
        total = variance[block].sum()
        scale[block] = 1.0 / np.sqrt(total) if total > 0 else 0.0
        start += width
    last = variance[start:]
    is_varied = last > 0
    scale[start:][is_varied] = 1.0 / np.sqrt(last[is_varied] * len(last))
    return scale


def _fit(kind: str, features: Any, scale: Floats, n_components: int) -> Space:
    # Held in single precision, so that the space that was read back is this one.
    scale = singles(scale[None, :])[0]
    scaled = features * scale[None, :].astype(np.float32)
    if sparse.issparse(scaled):
        # A product with a row is a list of coordinates, and slow to multiply.
        scaled = sparse.csr_array(scaled)
    axes, variance, total = principal_axes(scaled, n_components)
    axes = singles(axes)
    mean = np.asarray(scaled.mean(axis=0), dtype=np.float64).ravel()
    explained = variance / total if total > 0 else np.zeros_like(variance)
    return Space(
        kind, scale, axes, singles((mean @ axes)[None, :])[0], singles(explained[None])[0]
    )


def principal_axes(features: Any, n_components: int) -> tuple[Floats, Floats, float]:
    """Return the axes of greatest variance, that variance, and the total.

    Parameters
    ----------
    features : array or sparse array, shape (n_proteins, n_features)
        Not centred.
    n_components : int
        Greatest number of axes.
    """
    n, width = features.shape
    mean = np.asarray(features.mean(axis=0), dtype=np.float64).ravel()
    n_kept = min(n_components, n - 1, width)
    n_tried = min(n_kept + OVERSAMPLING, n, width)
    rng = np.random.default_rng(SEED)
    basis = rng.standard_normal((width, n_tried))
    for _ in range(POWER_STEPS):
        image, _ = np.linalg.qr(features @ basis - (mean @ basis)[None, :])
        basis, _ = np.linalg.qr(features.T @ image - np.outer(mean, image.sum(axis=0)))
    image = features @ basis - (mean @ basis)[None, :]
    _, singular, right = np.linalg.svd(np.asarray(image, dtype=np.float64), full_matrices=False)
    axes = (basis @ right.T)[:, :n_kept]
    axes = axes * np.where(_largest(axes) < 0, -1.0, 1.0)
    square = features.multiply(features) if sparse.issparse(features) else features**2
    total = float(square.sum(dtype=np.float64)) / n - float(mean @ mean)
    return axes, (singular[:n_kept] ** 2) / n, total


def _largest(axes: Floats) -> Floats:
    return np.asarray(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
