"""What changed for the proteins predicted to be in each class."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credence.calibrators.protocol import Calibration, ClassSample
from credence.evaluation.curves import N_GRID, at_scores, depends_on_score_alone
from credence.evaluation.parameters import parameters_of
from credence.findings.releases import Change, ClassChange, ParameterChange
from credence.predictions import Floats, Predictions
from credence.releases.reweighting import ThreeSets, change_of, draws_at, share_change
from credence.releases.sentences import with_sentence
from credence.releases.sides import Comparison, Side

N_BINS = 50  # of the scores' histograms
ROUNDING = 1e-12  # confidences nearer than this are the same
NONE = float("nan")


def class_changes(
    older: Side, newer: Side, how: Comparison, sets: ThreeSets | None
) -> tuple[ClassChange, ...]:
    """Return what changed for each predicted class.

    Parameters
    ----------
    older, newer : Side
        The two releases.
    how : Comparison
        What they have in common.
    sets : ThreeSets, optional
        Their proteins; None where calibrations alone are at hand.
    """
    samples: list[tuple[ClassSample | None, ...]] = [(None, None, None)] * len(how.class_names)
    fixed: Calibration | None = None
    if sets is not None:
        samples = sets.samples()
        if sets.fixed.n_samples:
            fixed = how.calibrator.fit(sets.fixed)
    found = []
    for class_, name in enumerate(how.class_names):
        entry = _drawn(class_, name, older, newer, how, fixed)
        entry = _counted(entry, class_, older, newer, samples[class_])
        entry = replace(entry, is_moved=_is_moved(class_, entry, older, newer))
        if sets is not None and entry.is_touched:
            entry = _explained(class_, entry, samples[class_], older, newer, how, fixed)
        found.append(with_sentence(entry, float(how.scale)))
    return tuple(found)


def _drawn(
    class_: int, name: str, older: Side, newer: Side, how: Comparison, fixed: Calibration | None
) -> ClassChange:
    """Return a class with its parameters and curves."""
    chosen = [
        {
            entry.name: entry.value
            for entry in parameters_of({"": side.calibration}, how.class_names)
            if entry.class_name == name
        }
        for side in (older, newer)
    ]
    parameters = tuple(
        ParameterChange(key, chosen[0].get(key, NONE), chosen[1].get(key, NONE))
        for key in dict.fromkeys([*chosen[0], *chosen[1]])
    )
    grid: Floats = np.zeros(0)
    if all(_is_curve(side.calibration, name) for side in (older, newer)):
        grid = np.linspace(0.0, how.scale, N_GRID)
    asked = at_scores(_blank(how), class_, grid)
    first, second = (side.calibration.confidence(asked) for side in (older, newer))
    flat = fixed.confidence(asked).value if fixed is not None and len(grid) else np.zeros(0)
    return ClassChange(
        class_name=name,
        n_true=(0, 0), n_predicted=(0, 0), n_correct=(0, 0), n_clusters=(0, 0),
        parameters=parameters, score=NONE, change=None, share=None,
        edges=(), right_before=(), wrong_before=(), right_after=(), wrong_after=(),
        grid=_tuple(grid),
        before=_tuple(first.value),
        before_lower=_tuple(first.lower),
        before_upper=_tuple(first.upper),
        after=_tuple(second.value),
        after_lower=_tuple(second.lower),
        after_upper=_tuple(second.upper),
        fixed=_tuple(flat),
    )  # fmt: skip


def _is_moved(class_: int, entry: ClassChange, older: Side, newer: Side) -> bool:
    """Return whether the two calibrations say different things of a class."""
    first, second = np.array(entry.before), np.array(entry.after)
    if not entry.grid:
        if newer.labelled is None:
            return False
        predictions = newer.labelled.predictions
        asked = predictions.take(predictions.predicted_class == class_)
        first, second = (side.calibration.confidence(asked).value for side in (older, newer))
    return not np.allclose(first, second, rtol=0.0, atol=ROUNDING, equal_nan=True)


def _is_curve(calibration: Calibration, name: str) -> bool:
    return depends_on_score_alone(calibration.to_record(), name)


def _blank(how: Comparison) -> Predictions:
    nobody = np.zeros(0, dtype=np.int64)
    return Predictions(
        nobody.astype(object), how.class_names, how.scale, how.resolution, nobody,
        nobody.astype(np.float64),
    )  # fmt: skip


def _tuple(values: Floats) -> tuple[float, ...]:
    return tuple(values.tolist())


def _counted(
    entry: ClassChange,
    class_: int,
    older: Side,
    newer: Side,
    samples: tuple[ClassSample | None, ...],
) -> ClassChange:
    """Return a class with its counts in both releases, and its histograms."""
    sides = (older, newer)
    n_true = tuple(
        0 if side.labelled is None else int((side.labelled.true_class == class_).sum())
        for side in sides
    )

    def counted(key: str) -> tuple[int, ...]:
        return tuple(int(side.counts.get(entry.class_name, {}).get(key, 0)) for side in sides)

    entry = replace(
        entry,
        n_true=n_true,
        n_predicted=counted("n"),
        n_correct=counted("n_correct"),
        n_clusters=counted("n_clusters"),
    )
    given = [sample for sample in samples if sample is not None]
    if not given:
        return entry
    edges = np.linspace(0.0, given[-1].scale, N_BINS + 1)
    return replace(
        entry,
        edges=_tuple(edges),
        right_before=_histogram(samples[0], True, edges),
        wrong_before=_histogram(samples[0], False, edges),
        right_after=_histogram(samples[2], True, edges),
        wrong_after=_histogram(samples[2], False, edges),
    )


def _histogram(sample: ClassSample | None, is_right: bool, edges: Floats) -> tuple[int, ...]:
    if sample is None:
        return (0,) * (len(edges) - 1)
    score = sample.score[sample.is_correct == is_right]
    return tuple(np.histogram(np.clip(score, 0.0, edges[-1]), edges)[0].tolist())


def _explained(
    class_: int,
    entry: ClassChange,
    samples: tuple[ClassSample | None, ...],
    older: Side,
    newer: Side,
    how: Comparison,
    fixed: Calibration | None,
) -> ClassChange:
    """Return a class with what moved its confidence and its share right."""
    share = share_change(samples, how.options)
    first, _, last = samples
    if first is None or last is None or fixed is None:
        return replace(entry, share=share)
    three = (older.calibration, fixed, newer.calibration)
    change: Change
    if entry.grid:
        score = float(np.median(first.score))
        asked = at_scores(_blank(how), class_, np.array([score]))
        points = [float(one.confidence(asked).value[0]) for one in three]
        change = change_of(points, draws_at(how.calibrator, samples, score, how.options),
                           how.options)  # fmt: skip
    else:
        assert newer.labelled is not None
        score = NONE
        positives = newer.labelled.take(newer.labelled.predictions.predicted_class == class_)
        points = [
            float(np.average(one.confidence(positives.predictions).value,
                             weights=positives.weight))
            for one in three
        ]  # fmt: skip
        change = change_of(points, [None] * len(three), how.options)
    if any(np.isnan(point) for point in points):
        return replace(entry, share=share)
    return replace(entry, share=share, score=score, change=change)
