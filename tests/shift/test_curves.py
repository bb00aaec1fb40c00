"""Curves of a query set, before and after, as the calibrations themselves give them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.composition.adjusted import correction_for
from credence.composition.both_samples import calibration_sample, use_sample
from credence.composition.diagnostics import diagnose
from credence.composition.estimate import fixed_composition
from credence.composition.summary import N_SHIFT_GRID, Corrected, shift_curves, summarise_shift
from credence.sentences import remarks_of_mix
from shift_findings import labelled_proteins, warnings_about

OPTIONS = FitOptions(n_draws=0)
SHARE = np.array([0.2, 0.7, 0.1])


def corrected() -> Corrected:
    labelled = labelled_proteins()
    sample = calibration_sample(labelled, with_vectors=False)
    use = use_sample(labelled.predictions, None)
    composition = fixed_composition(sample, SHARE)
    calibrator = parse_method("kernel", "test").build(OPTIONS)
    return Corrected(
        sample=sample,
        use=use,
        composition=composition,
        diagnostics=diagnose(sample, use, composition, OPTIONS),
        plain=calibrator.fit(labelled),
        correction=correction_for(sample, composition, OPTIONS.level),
        by_score=True,
    )


def test_each_predicted_class_has_its_corrected_curve() -> None:
    found = corrected()
    grid = np.linspace(0.0, 10.0, N_SHIFT_GRID)
    assert (grid[0], grid[-1], len(grid)) == (0.0, 10.0, 101)
    curves = shift_curves(found)
    assert [curve.class_name for curve in curves] == ["Portal", "Tail fiber"]  # no Collar
    for class_, curve in enumerate(curves):
        asked = found.sample.at_scores(class_, grid)
        assert curve.score == tuple(grid)
        plain = found.plain.confidence(asked)
        after = found.correction.corrected(plain, asked, found.sample)
        np.testing.assert_array_equal(curve.after, after.value)
    # Portal is a third as common, Tail fiber more than twice: one falls, the other rises.
    before = [
        np.mean(found.plain.confidence(found.sample.at_scores(k, grid)).value) for k in (0, 1)
    ]
    assert np.mean(curves[0].after) < before[0]
    assert np.mean(curves[1].after) > before[1]


def test_where_class_and_score_do_not_give_the_confidence_there_are_no_curves() -> None:
    assert shift_curves(replace(corrected(), by_score=False)) == ()


def test_a_stated_composition_is_applied_whole() -> None:
    found = summarise_shift("soil", "stated", "kernel", corrected(), OPTIONS, 0.0)
    assert found.part_applied == 1.0
    np.testing.assert_allclose([entry.applied for entry in found.classes], SHARE)
    assert list(remarks_of_mix(found)) == []


def test_a_stated_composition_that_does_not_fit_is_not_taken_for_other_proteins() -> None:
    before = corrected()
    wrong = fixed_composition(before.sample, np.array([0.05, 0.94, 0.01]))
    options = FitOptions(n_draws=120)
    message = warnings_about(diagnose(before.sample, before.use, wrong, options))
    assert (
        "The stated class proportions do not explain the scores of this set: either they are "
        "wrong, or its proteins differ from those of the calibration set (out of distribution). "
        "Do not rely on its confidences until you know which."
    ) in message
    assert not any(text.startswith("Label shift alone") for text in message)
