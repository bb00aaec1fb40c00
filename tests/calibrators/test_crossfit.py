"""No value is said of a protein by a fit that saw its cluster."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from credence.calibrators.crossfit import folds_by_class, out_of_fold
from credence.confidence import Confidence, Note
from credence.predictions import Labelled, Predictions


@dataclass(frozen=True)
class Remembered:
    """Answers 1 for every cluster it saw, told from the id; 0 for the others."""

    clusters: frozenset[str]

    def confidence(self, predictions: Predictions) -> Confidence:
        value = np.array([float(name.split("/")[0] in self.clusters) for name in predictions.ids])
        note = np.zeros(len(value), dtype=np.int64)
        return Confidence(value=value, lower=value, upper=value, support=value, note=note)

    def to_record(self) -> dict:
        return {}


class Memory:
    def fit(self, labelled: Labelled) -> Remembered:
        return Remembered(clusters=frozenset(labelled.cluster))


def named_by_cluster(labelled: Labelled) -> Labelled:
    from dataclasses import replace

    ids = np.array(
        [f"{cluster}/{row}" for row, cluster in enumerate(labelled.cluster)], dtype=object
    )
    return replace(labelled, predictions=replace(labelled.predictions, ids=ids))


def test_no_fit_saw_the_cluster_it_speaks_of(worlds) -> None:
    world = named_by_cluster(worlds.draw(seed=1))
    fold = folds_by_class(world, 5)
    assert set(fold) == {0, 1, 2, 3, 4}
    np.testing.assert_array_equal(out_of_fold(world, Memory(), fold).value, 0.0)
    # The toy can fail: rows dealt one by one leave relatives behind.
    assigned = np.arange(world.n_samples) % 5
    assert out_of_fold(world, Memory(), assigned).value.mean() > 0.9


def test_folds_do_not_depend_on_rows_or_on_the_order_of_classes(worlds) -> None:
    world = worlds.draw(seed=3)
    fold = folds_by_class(world, 4)
    order = np.random.default_rng(0).permutation(world.n_samples)
    np.testing.assert_array_equal(folds_by_class(world.take(order), 4), fold[order])
    turned = worlds.with_classes_in_order(world, [2, 0, 3, 1])
    np.testing.assert_array_equal(folds_by_class(turned, 4), fold)


def test_one_cluster_alone_says_nothing(worlds) -> None:
    world = worlds.draw(seed=3, n_samples=30, n_clusters=1)
    answer = out_of_fold(world, Memory(), folds_by_class(world, 5))
    assert np.isnan(answer.value).all() and (answer.note == Note.UNSEEN_CLASS).all()
