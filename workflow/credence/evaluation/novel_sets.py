"""A use-set beside the proteins that are known, summed up piece by piece."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from credence.calibrators.draws import keys_of
from credence.findings.novelty import NovelProtein, NoveltyFinding, Points
from credence.novelty.reference import Look, Reference
from credence.predictions import Floats, Integers, Strings

MOST_ROWS = 50  # flagged proteins that a page lists
MOST_POINTS = 400  # of one kind on a map; more hide each other
N_BINS = 30
FARTHEST = 0.995  # of all distances; the last bin holds what is beyond it


@dataclass
class Sample:
    """Points of proteins, drawn by the names of the proteins alone.

    Parameters
    ----------
    most : int
        How many are kept.
    """

    most: int
    n: int = 0
    _keys: Integers = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    _points: Floats = field(default_factory=lambda: np.empty((0, 2)))

    def add(self, ids: Strings, points: Floats) -> None:
        """Add proteins.

        Parameters
        ----------
        ids : array of str
            Their names.
        points : array of float, shape (n_proteins, 2)
            Where they lie.
        """
        self.n += len(ids)
        keys = np.concatenate([self._keys, keys_of(ids)])
        joined = np.concatenate([self._points, points])
        order = np.argsort(keys, kind="stable")[: self.most]
        self._keys, self._points = keys[order], joined[order]

    def points(self) -> Points:
        """Return what was kept, in the order of the keys."""
        x, y = (tuple(float(f"{number:.4g}") for number in axis) for axis in self._points.T)
        return Points(x, y, self.n)


@dataclass
class NovelSet:
    """What is told of a use-set while its pieces are read.

    Parameters
    ----------
    name : str
        The use-set.
    reference : Reference
        What is known.
    """

    name: str
    reference: Reference
    n: int = 0
    n_repeats: int = 0
    _others: Sample = field(default_factory=lambda: Sample(MOST_POINTS))
    _flagged: Sample = field(default_factory=lambda: Sample(MOST_POINTS))
    _distances: list[Floats] = field(default_factory=list)
    _sums: Floats = field(default_factory=lambda: np.zeros((2, 2)))
    _rows: list[NovelProtein] = field(default_factory=list)

    def add(
        self,
        ids: Strings,
        points: Floats,
        look: Look,
        predicted_class: Strings,
        confidence: Floats,
    ) -> None:
        """Add proteins of the use-set.

        Parameters
        ----------
        ids : array of str
            Their names.
        points : array of float
            Their places.
        look : Look
            How far they are from what is known.
        predicted_class : array of str
            What the classifier says.
        confidence : array of float
            The published ones.
        """
        placed = np.isfinite(look.distance)
        flagged = look.is_flagged
        self.n += len(ids)
        self.n_repeats += int(look.is_repeat.sum())
        self._distances.append(look.distance[placed])
        flat = _flat(points)
        self._flagged.add(ids[flagged], flat[flagged])
        self._others.add(ids[placed & ~flagged], flat[placed & ~flagged])
        for row, chosen in enumerate((flagged, placed & ~flagged)):
            known = confidence[chosen & np.isfinite(confidence)]
            self._sums[row] += (known.sum(), len(known))
        self._rows += [
            self._protein(row, ids, look, predicted_class, confidence)
            for row in np.flatnonzero(flagged).tolist()
        ]
        self._rows = sorted(self._rows, key=lambda found: (-found.distance, found.id))[:MOST_ROWS]

    def _protein(
        self,
        row: int,
        ids: Strings,
        look: Look,
        predicted_class: Strings,
        confidence: Floats,
    ) -> NovelProtein:
        nearest = int(look.nearest[row])
        return NovelProtein(
            str(ids[row]),
            str(predicted_class[row]),
            float(confidence[row]),
            float(look.novelty[row]),
            float(look.distance[row]),
            str(self.reference.ids[nearest]),
            str(self.reference.class_name[nearest]),
            float(look.training_distance[row]),
        )

    def finding(self) -> NoveltyFinding:
        """Return what was found of all proteins added."""
        reference = self.reference
        known = reference.calibration_rows
        calibration = Sample(MOST_POINTS)
        calibration.add(reference.ids[known], _flat(reference.points[known]))
        use = np.concatenate([np.empty(0), *self._distances])
        own = reference.sorted_distances
        edges = _edges(np.concatenate([use, own]))
        sums, counts = self._sums.T
        with np.errstate(invalid="ignore"):
            means = sums / counts
        return NoveltyFinding(
            name=self.name,
            features=reference.space.kind,
            n_components=reference.space.n_components,
            explained=tuple(float(share) for share in reference.space.explained[:2]),
            flag=reference.flag,
            n=self.n,
            n_placed=len(use),
            n_flagged=self._flagged.n,
            n_repeats=self.n_repeats,
            n_calibration=len(known),
            n_training=0 if reference.training is None else len(reference.training),
            confidence_flagged=float(means[0]),
            confidence_others=float(means[1]),
            edges=tuple(float(edge) for edge in edges),
            calibration_counts=_counts(own, edges),
            use_counts=_counts(use, edges),
            flag_distance=reference.flag_distance,
            calibration=calibration.points(),
            others=self._others.points(),
            flagged=self._flagged.points(),
            rows=tuple(self._rows),
        )


def _flat(points: Floats) -> Floats:
    """Return the first two coordinates; a second one of 0 where there is one axis."""
    if points.shape[1] >= 2:
        return points[:, :2]
    return np.column_stack([points[:, 0], np.zeros(len(points))])


def _edges(distances: Floats) -> Floats:
    if len(distances) == 0:
        return np.array([0.0, 1.0])
    end = float(np.quantile(distances, FARTHEST))
    return np.linspace(0.0, end if end > 0 else 1.0, N_BINS + 1)


def _counts(distances: Floats, edges: Floats) -> tuple[int, ...]:
    inside = np.minimum(distances, edges[-1])
    return tuple(int(number) for number in np.histogram(inside, edges)[0])
