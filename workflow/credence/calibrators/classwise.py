"""Methods lifted to all classes: one curve per predicted class, or one model of all.

Only here is it known that classes can be scarce, or were never predicted.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Protocol

import numpy as np
import scipy

from credence.calibrators.intervals import JEFFREYS, open_interval, share_band
from credence.calibrators.masses import ClassMasses, Masses, Support, class_masses
from credence.calibrators.protocol import (
    PARAMETERS,
    Band,
    ClassSample,
    Curve,
    CurveMethod,
    FitOptions,
    Method,
    Need,
    chosen_numbers,
    components_asked,
    entry_of,
    range_note,
)
from credence.confidence import Confidence, Note, unknown
from credence.draws import encode_clusters, id_keys
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.progress import each
from credence.records import Stored, from_record

IF_GIVEN = Stored(is_left_out=True)
SCORE_ENDS = ("score_min", "score_max")  # Counts of a class: the least and the greatest score seen
OUTSIDE_NOTES = int(Note.BELOW_RANGE | Note.ABOVE_RANGE)


@dataclass(frozen=True, kw_only=True)
class ConstantCurve:
    """A confidence that does not depend on the score."""

    share: float  # The confidence
    code: Annotated[int, Stored(name="note")]  # A note that holds everywhere

    def value(self, score: Floats) -> Floats:
        """Return the share for every score."""
        return np.full(len(score), self.share)

    def note(self, score: Floats) -> Integers:
        """Return the curve's one note for every score."""
        return np.full(len(score), self.code, dtype=np.int64)


@dataclass(frozen=True, kw_only=True)
class LowEnd:
    """How far a curve can be believed below the scores that a few families reach."""

    score: float  # The lowest with `LOWEST_FAMILIES` at or below it
    most: float  # What no confidence below it exceeds


LOWEST_FAMILIES = 5.0  # an effective number of them, at or below that score (decision 0002)
ENOUGH_FAMILIES = 1.0 - 1e-9  # of them: sums of weights are rounded


def low_end(sample: ClassSample, at_scores: Masses) -> LowEnd:
    """Return the never-falling fit, or Jeffreys', at the lowest score that few families reach."""
    order = np.lexsort((sample.score, sample.cluster))  # by cluster, ascending in each
    weight, code = sample.weight[order], sample.cluster[order]
    reached = np.cumsum(weight)
    first_of = np.searchsorted(code, code)
    cluster_weight = reached - (reached - weight)[first_of]  # what the row's cluster weighs so far
    # A row that takes its cluster from W − w to W adds that much to Σ W².
    added = cluster_weight**2 - (cluster_weight - weight) ** 2
    place = np.searchsorted(at_scores.score, sample.score[order])
    squares, total = np.cumsum(np.bincount(place, weights=added)), np.cumsum(at_scores.total)
    lowest = int((total**2 >= LOWEST_FAMILIES * ENOUGH_FAMILIES * squares).argmax())
    fitted = scipy.optimize.isotonic_regression(
        at_scores.right / at_scores.total, weights=at_scores.total
    ).x
    block = at_scores.total[fitted == fitted[lowest]].sum()
    most = max(float(fitted[lowest]), JEFFREYS / (float(block) + 1.0))
    return LowEnd(score=float(at_scores.score[lowest]), most=most)


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassCurve:
    """All that is known of one predicted class."""

    counts: dict[str, int | float]  # What the class's positives amount to
    # Answers where the class is scarce: its share with Jeffreys' prior, (Σw TP + ½)/(Σw + 1).
    fallback: Annotated[ConstantCurve | None, IF_GIVEN] = None
    learnt: Annotated[Curve | None, Stored(name="curve", is_left_out=True)] = None
    band: Annotated[Band | None, IF_GIVEN] = None  # Its pointwise interval, if one was asked for
    support: Annotated[Support | None, IF_GIVEN] = None
    low_end: Annotated[LowEnd | None, IF_GIVEN] = None  # Where the curve holds the value of an end

    def answer(self, curve: Curve, score: Floats) -> tuple[Floats, Integers]:
        """Return the confidence at each score, and its note."""
        value, note = curve.value(score), curve.note(score)
        # Counts were seen over their whole intervals; the curve knows only places inside them.
        least, greatest = (self.counts.get(end, np.nan) for end in SCORE_ENDS)
        note = np.where((score >= least) & (score <= greatest), note & ~OUTSIDE_NOTES, note)
        if self.low_end is None:
            return value, note
        is_held = (score < self.low_end.score) & (value > self.low_end.most)
        value = np.where(is_held, self.low_end.most, value)
        return value, note | np.where(is_held, int(Note.LOW_END), 0)

    def pooled_note(self, score: Floats) -> Integers:
        """Return what to know of an answer that rests on all classes: scarce, out of range."""
        code = Note.NONE if self.fallback is None else self.fallback.code
        least, greatest = (self.counts.get(end, np.nan) for end in SCORE_ENDS)
        return np.asarray(range_note(score, least, greatest) | int(code))

    @property
    def curve(self) -> Curve | None:
        """What answers for the class."""
        return self.learnt if self.fallback is None else self.fallback

    def is_open(self, pools: bool) -> bool:
        """Whether a model of all classes answers; for scarce ones too where it `pools`."""
        return self.support is not None and (pools or self.curve is None)


def fit_classes(
    labelled: Labelled, options: FitOptions, settings: CurveMethod | None
) -> dict[str, ClassCurve]:
    """Return what is known of each class; those that can be learnt stay open without settings."""
    entries = {}
    samples = class_samples(labelled)
    named = zip(labelled.predictions.class_names, samples, strict=True)
    for name, sample in each(named, len(samples)):
        if sample is None:
            entries[name] = ClassCurve(
                counts={"n": 0, "n_correct": 0, "n_clusters": 0, "weight": 0.0}
            )
            continue
        masses = class_masses(sample)
        fallback, curve, band, lowest = scarce_fallback(masses, options), None, None, None
        if fallback is not None and options.n_draws > 0:
            band = share_band(sample, options)
        if fallback is None and settings is not None:
            curve = settings.fit_curve(sample)
            # Held where the published method is not asked for alone.
            is_held = getattr(settings, "safeguards", True)
            if is_held and curve.note(np.array([-np.inf]))[0] & Note.BELOW_RANGE:
                lowest = low_end(sample, masses.at_scores)
            if options.n_draws > 0:
                band = settings.fit_band(sample, curve, options)
        ends = labelled.predictions.spans.get(name, ())
        counts = count(sample, masses) | dict(zip(SCORE_ENDS, ends, strict=False))
        entries[name] = ClassCurve(
            counts=counts,
            fallback=fallback,
            learnt=curve,
            band=band,
            support=masses.support,
            low_end=lowest,
        )
    return entries


def confidence_by_class(classes: Mapping[str, ClassCurve], predictions: Predictions) -> Confidence:
    """Return the confidence of each prediction whose class has a curve, else none."""
    answer = unknown(predictions.n_samples, Note.UNSEEN_CLASS)
    top_score, is_scored = top_scores(predictions), predictions.top_score is not None
    for entry, rows in zip(classes.values(), predictions.rows_by_class(), strict=False):
        if not len(rows):
            continue
        score = top_score[rows]
        if entry.support is not None:
            near = np.interp(score, entry.support.score, entry.support.n)
            # Without scores no protein is nearer than another: all of the class are near.
            answer.support[rows] = near if is_scored else entry.support.n.max(initial=0.0)
        if entry.curve is None:
            continue
        value, note = entry.answer(entry.curve, score)
        answer.value[rows], answer.note[rows] = value, note
        if (band := entry.band) is not None:
            ends = (band.lower, band.upper)
            lower, upper = (np.interp(score, band.score, end) for end in ends)
            opened = open_interval(lower, upper, value, answer.support[rows])
            answer.lower[rows], answer.upper[rows] = opened
    return answer


def top_scores(predictions: Predictions) -> Floats:
    """Return the top scores, all 0 where the table gives none."""
    given = predictions.top_score
    return np.zeros(predictions.n_samples) if given is None else given


@dataclass(frozen=True, kw_only=True, eq=False)
class ClasswiseCalibration:
    """Fitted curves of all classes."""

    method: str  # Name of the method in the registry
    classes: dict[str, ClassCurve]  # By name, in order

    @property
    def needs(self) -> Need:
        """What has to be given of each prediction."""
        return entry_of(self.method).needs

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer."""
        return not self.needs.is_vector

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What was counted of each class."""
        return {name: entry.counts for name, entry in self.classes.items()}

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction."""
        return confidence_by_class(self.classes, predictions)

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return what each curve chose."""
        curves = {name: self.classes[name].learnt for name in class_names if name in self.classes}
        return {name: chosen_numbers(curve) for name, curve in curves.items()}

    def probabilities(self, predictions: Predictions) -> Floats | None:
        """Return the shares of the scores where nothing is learnt; else None."""
        scores = predictions.scores
        if entry_of(self.method).is_learnt or scores is None or not predictions.is_distribution:
            return None
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class ClasswiseCalibrator:
    """A curve method, fitted on each class's positives."""

    method: str  # Name of the method in the registry
    settings: CurveMethod  # What fits one class
    options: FitOptions  # What all methods share

    def fit(self, labelled: Labelled) -> ClasswiseCalibration:
        """Return one curve per class."""
        classes = fit_classes(labelled, self.options, self.settings)
        return ClasswiseCalibration(method=self.method, classes=classes)


def build_of(method: str) -> Callable[[CurveMethod, FitOptions], ClasswiseCalibrator]:
    """Return what makes the calibrator of a curve method, by its name in the registry."""

    def build(settings: CurveMethod, options: FitOptions) -> ClasswiseCalibrator:
        return ClasswiseCalibrator(method=method, settings=settings, options=options)

    return build


def curve_method(
    name: str, summary: str, reference: str, settings: type[Any], kinds: Any, **more: Any
) -> Method:
    """Return the registry's entry of a curve method; `kinds` says what reads its curves."""
    read = partial(from_record, ClasswiseCalibration, kinds=kinds)
    rest: dict[str, Any] = {"needs": Need.TOP_SCORE, "read": read, "build": build_of(name)} | more
    return Method(name=name, summary=summary, reference=reference, settings=settings, **rest)


class VectorModel(Protocol):
    """A fitted function of the score vector and the predicted class."""

    def evaluate(self, predictions: Predictions) -> tuple[Floats, Floats, Floats]:
        """Return value, lower and upper end; the ends NaN without intervals."""


class VectorMethod(Protocol):
    """Settings of a method that sees the whole score vector."""

    def fit_model(self, labelled: Labelled, options: FitOptions) -> VectorModel:
        """Return the model learnt from proteins predicted in active classes, in its own order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class JointCalibration:
    """A fitted vector method, with the classes it could not learn."""

    method: str  # Name of the method in the registry
    # By name, in order: the counts and support, and the fallback where scarce.
    classes: dict[str, ClassCurve]
    # What answers for all other classes, and for scarce ones where it pools; None where there
    # are none.
    model: VectorModel | None
    pools: Annotated[bool, IF_GIVEN] = False  # Whether a scarce class borrows from the others

    @property
    def needs(self) -> Need:
        """What has to be given of each prediction."""
        return entry_of(self.method).needs

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer."""
        return not self.needs.is_vector

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What was counted of each class."""
        return {name: entry.counts for name, entry in self.classes.items()}

    @property
    def n_components(self) -> int:
        """Number of components of a protein's place that the model asks for, mostly 0."""
        return components_asked(self.model)

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction."""
        answer = confidence_by_class(self.classes, predictions)
        is_open = np.array([entry.is_open(self.pools) for entry in self.classes.values()])
        rows = np.flatnonzero(is_open[predictions.predicted_class])
        if self.model is not None and len(rows):
            part = predictions.take(rows)
            value, lower, upper = self.model.evaluate(part)
            answer.value[rows] = value
            opened = open_interval(lower, upper, value, answer.support[rows])
            answer.lower[rows], answer.upper[rows] = opened
            notes = getattr(self.model, "notes", None)
            answer.note[rows] &= int(Note.SCARCE | Note.ONE_SIDED)
            if notes is not None:
                answer.note[rows] |= notes(part)
        return answer

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return what the model chose for each class, in their order."""
        columns = {name: getattr(self.model, name, None) for name in PARAMETERS}
        return {
            class_name: {
                name: float(values[number])
                for name, values in columns.items()
                if isinstance(values, np.ndarray) and np.isfinite(values[number])
            }
            for number, class_name in enumerate(class_names)
        }

    def probabilities(self, predictions: Predictions) -> Floats | None:
        """Return probabilities of all classes, where they are given; NaN where none was learnt."""
        if not entry_of(self.method).gives_vector:
            return None
        if self.model is None:
            return np.full((predictions.n_samples, predictions.n_classes), np.nan)
        return np.asarray(self.model.probabilities(predictions))  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class JointCalibrator:
    """A vector method, fitted on all classes at once."""

    method: str  # Name of the method in the registry
    settings: VectorMethod  # What fits the model
    options: FitOptions  # What all methods share
    pools: bool = False  # Whether a scarce class borrows from the others

    def fit(self, labelled: Labelled) -> JointCalibration:
        """Return the model of the classes that are not scarce, or of all where it pools."""
        classes = fit_classes(labelled, self.options, None)
        is_active = np.array([entry.is_open(self.pools) for entry in classes.values()])
        model, predictions = None, labelled.predictions
        rows = np.flatnonzero(is_active[predictions.predicted_class])
        if len(rows):
            # An order that is not the table's; ids come last, and never change.
            facts = (labelled.weight, labelled.is_correct, predictions.predicted_class)
            columns = (*facts, top_scores(predictions))
            keys = (id_keys(predictions)[rows], *(column[rows] for column in columns))
            order = np.lexsort(keys)
            model = self.settings.fit_model(labelled.take(rows[order]), self.options)
        return JointCalibration(method=self.method, classes=classes, model=model, pools=self.pools)


def vector_method(
    name: str, summary: str, reference: str, settings: type[Any], model: type[Any], **more: Any
) -> Method:
    """Return the registry's entry of a vector method whose models are of a class."""
    read = partial(from_record, JointCalibration, kinds={VectorModel: model})
    rest: dict[str, Any] = {"needs": Need.VECTOR, "read": read} | more
    pools = rest.get("pools", False)

    def build(settings: VectorMethod, options: FitOptions) -> JointCalibrator:
        return JointCalibrator(method=name, settings=settings, options=options, pools=pools)

    return Method(
        name=name, summary=summary, reference=reference, settings=settings, build=build, **rest
    )


def class_samples(labelled: Labelled) -> list[ClassSample | None]:
    """Return the positives of every class, None where there are none."""
    predictions, score = labelled.predictions, top_scores(labelled.predictions)
    samples: list[ClassSample | None] = []
    for class_ in range(predictions.n_classes):
        rows = np.flatnonzero(predictions.predicted_class == class_)
        if len(rows) == 0:
            samples.append(None)
            continue
        codes, keys = encode_clusters(labelled.cluster[rows])
        # One order for all time: sums must not depend on the order of rows.
        order = np.lexsort((codes, labelled.weight[rows], labelled.is_correct[rows], score[rows]))
        rows, codes = rows[order], codes[order]
        sample = ClassSample(
            score=score[rows],
            is_correct=labelled.is_correct[rows],
            weight=labelled.weight[rows],
            cluster=codes,
            cluster_key=keys,
            scale=predictions.scale,
            resolution=predictions.resolution,
        )
        samples.append(sample)
    return samples


def scarce_fallback(masses: ClassMasses, options: FitOptions) -> ConstantCurve | None:
    """Return the rule for scarce classes where it applies, else None."""
    code = Note.NONE
    if masses.effective_number < options.min_positives:
        code |= Note.SCARCE
    if not masses.at_scores.right.any() or not masses.at_scores.wrong.any():
        code |= Note.ONE_SIDED
    if code is Note.NONE:
        return None
    return ConstantCurve(share=(masses.weight_right + 0.5) / (masses.weight + 1.0), code=int(code))


def count(sample: ClassSample, masses: ClassMasses) -> dict[str, Any]:
    """Return how many proteins and clusters a class's positives are."""
    return {
        "n": len(sample.score),
        "n_correct": int(sample.is_correct.sum()),
        "n_clusters": len(sample.cluster_key),
        "weight": masses.weight,
        "share_correct": masses.weight_right / masses.weight,
        "score_min": float(sample.score.min()),
        "score_median": float(np.median(sample.score)),
        "score_max": float(sample.score.max()),
    }
