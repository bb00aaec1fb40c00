"""What held-out proteins show of the confidences of a calibration, in steps.

A calibration file keeps it, so that a list needs no other file: of each calibration
protein the step of the confidence that a fit without its cluster gave, its classes
and its cluster.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credence.composition.adjusted import corrected_unseen
from credence.composition.both_samples import CalibrationSample, as_stored
from credence.composition.estimate import Composition
from credence.draws import encode_clusters, keys_of
from credence.predictions import UNKNOWN_CLASS, Booleans, Floats, Integers, Labelled
from credence.records import PackedFloats, PackedIntegers, Stored

# The least confidence of each step: finer where lists with few wrong ones end.
RUNS = [np.arange(180) / 200.0, 0.9 + np.arange(90) / 1e3, 0.99 + np.arange(101) / 1e4]
CONFIDENCE_STEPS: Floats = np.concatenate(RUNS).round(4)


def step_of(confidence: Floats) -> Integers:
    """Return the step of each confidence; -1 where there is none."""
    step = np.searchsorted(CONFIDENCE_STEPS, confidence, side="right") - 1
    return np.where(np.isnan(confidence), -1, step).astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class MixDraws:
    """How far the weights of classes, by which outcomes count, may be from the true ones."""

    n_classes: int
    ratios: PackedFloats  # Of each class, one draw after the other, to the weight that is used

    def of(self, draws: slice) -> Floats:
        """Return the ratios of some draws, one column each; they are gone round again."""
        ratios = self.ratios.reshape(self.n_classes, -1)
        return ratios[:, np.arange(draws.start, draws.stop) % ratios.shape[1]]

    def refuse_damage(self) -> None:
        """Refuse ratios that do not fit the classes, or are none."""
        if self.n_classes < 1 or not len(self.ratios) or len(self.ratios) % self.n_classes:
            raise ValueError("its draws of weights are not as many for each class")
        if not ((self.ratios >= 0) & np.isfinite(self.ratios)).all():
            raise ValueError("it has a draw of a weight that is no number")


def mix_draws(weight: Floats, draws: Floats) -> MixDraws | None:
    """Return draws of the weights of classes beside those used; None without any."""
    if draws.shape[1] == 0:
        return None
    used = np.nan_to_num(weight)[:, None]
    ratios = np.divide(np.nan_to_num(draws), used, out=np.ones_like(draws), where=used > 0)
    return MixDraws(n_classes=len(weight), ratios=as_stored(ratios.ravel()))


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOut:
    """Calibration proteins, each with what a fit without its cluster stated."""

    step: PackedIntegers  # Of the confidence
    predicted: PackedIntegers  # Index of the predicted class
    true: PackedIntegers  # Index of the true one; `UNKNOWN_CLASS` of counts that do not say
    weight: PackedFloats
    cluster: PackedIntegers  # Index into the keys
    key: Annotated[NDArray[np.uint64], Stored(packed="uint64")]  # Of each cluster's name
    # Where the weights correct for an estimated mix of classes.
    mix: Annotated[MixDraws | None, Stored(is_left_out=True)] = None
    # Of some classes by themselves, where weights correct for a mix: what a member of them weighs,
    # whatever it was predicted to be. One that is predicted right weighs that.
    member: Annotated[float | None, Stored(is_left_out=True)] = None
    # And what one weighs that is wrongly predicted to be of them.
    wrong_member: Annotated[float | None, Stored(is_left_out=True)] = None

    @property
    def is_wrong(self) -> Booleans:
        """Whether each prediction is wrong."""
        return np.asarray(self.predicted != self.true)

    @property
    def n_classes(self) -> int:
        """The least number of classes that there are."""
        return 1 + int(np.max([*self.predicted, *self.true], initial=-1))

    def of_classes(self, classes: ArrayLike) -> Self:
        """Return the proteins that were predicted to be of one or several classes."""
        single = np.ravel(classes)[0] if np.size(classes) == 1 else None
        # Of thousands of labels one after the other; looking up one is much quicker.
        is_of = np.isin(self.predicted, classes) if single is None else self.predicted == single
        known = self.take(is_of)
        if self.mix is None or not len(known.step):
            return known
        members = self.weight[np.isin(self.true, classes)]
        wrong = known.weight[known.is_wrong] if known.is_wrong.any() else self.weight
        return replace(
            known,
            member=float(members.mean()) if len(members) else None,
            wrong_member=float(wrong.mean()),
        )

    def take(self, chosen: Booleans) -> Self:
        """Return some of the proteins."""
        rows = np.flatnonzero(chosen)
        cluster, place = np.unique(self.cluster[rows], return_inverse=True)
        return replace(
            self,
            step=self.step[rows],
            predicted=self.predicted[rows],
            true=self.true[rows],
            weight=self.weight[rows],
            cluster=place,
            key=self.key[cluster],
        )

    def refuse_damage(self) -> None:
        """Refuse rows that are not as a fit leaves them."""
        parts = (
            (self.step, 0, len(CONFIDENCE_STEPS)),
            (self.predicted, 0, np.inf),
            (self.true, UNKNOWN_CLASS, np.inf),
            (self.weight, 0, np.inf),
            (self.cluster, 0, len(self.key)),
        )
        if len({len(part) for part, _, _ in parts}) > 1:
            raise ValueError("its columns differ in length")
        if not all(((part >= low) & (part < limit)).all() for part, low, limit in parts):
            raise ValueError("it has a value out of range")
        if self.mix is not None and self.mix.n_classes < self.n_classes:
            raise ValueError("its draws of weights are of fewer classes")


def held_out_of(labelled: Labelled, confidence: Floats, mix: MixDraws | None = None) -> HeldOut:
    """Return what is known of held-out confidences, in the order of a hash of ids; no NaN."""
    rows = np.flatnonzero(~np.isnan(confidence))
    rows = rows[np.argsort(keys_of(labelled.predictions.ids[rows]), kind="stable")]
    known = labelled.take(rows)
    cluster, key = encode_clusters(known.cluster)
    return HeldOut(
        step=step_of(confidence[rows]),
        predicted=known.predictions.predicted_class,
        true=known.true_class,
        weight=known.weight,
        cluster=cluster,
        key=key,
        mix=mix,
    )


def corrected_held_out(sample: CalibrationSample, composition: Composition) -> HeldOut:
    """Return what held-out proteins show of corrected confidences.

    They count as often as the estimated proportions say, even where less is applied.
    """
    confidence = corrected_unseen(sample, np.nan_to_num(composition.fit_weight, nan=1.0))
    weight = np.nan_to_num(composition.estimated_weight)
    counted = sample.weight * weight[sample.true_class]
    rows = np.flatnonzero(~np.isnan(confidence) & (counted > 0))
    cluster, held = np.unique(sample.unit[rows], return_inverse=True)
    return HeldOut(
        step=step_of(confidence[rows]),
        predicted=sample.predicted_class[rows],
        true=sample.true_class[rows],
        weight=as_stored(counted[rows]),
        cluster=held,
        key=sample.unit_key[cluster],
        mix=mix_draws(weight, composition.weight_draws),
    )
