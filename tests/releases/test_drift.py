from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from credence.calibrators.crossfit import fold_of
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.evaluation.evaluate import cross_fit
from credence.findings import Drift
from credence.predictions import Labelled
from credence.releases.drift import OldSet, drift_of, exchange_test, signed_scores
from credence.report.release_words import drift_sentence, drift_sentences


def watch(old: Labelled, trove: Labelled, n_signs: int = 199) -> Drift | None:
    calibrator = parse_method("kernel", "test").build(FitOptions(n_draws=0))
    fold = fold_of(old.cluster, old.predictions.predicted_class, 5)
    held_out = cross_fit(old, {"": calibrator}, fold)[0][""]
    known = OldSet(
        labelled=old, calibration=calibrator.fit(old), held_out=held_out, calibrator=calibrator
    )
    return drift_of(known, trove, level=0.95, n_draws=60, n_signs=n_signs)


def test_a_trove_of_the_same_kind_shows_no_drift(sets: SimpleNamespace) -> None:
    found = watch(sets.draw(1, 900, "old"), sets.draw(2, 300, "new"))
    assert found is not None and found.n == 300 and found.n_joined == 0
    assert "a difference that chance may explain (p " in drift_sentence(found.classes[0])
    assert found.classes[0].lower < 0 < found.classes[0].upper
    assert drift_sentences(found) == (
        "Proteins of each of 4 classes score as the old ones did, as far as can be seen.",
    )


def test_a_classifier_that_does_worse_on_the_trove_is_found_out(sets: SimpleNamespace) -> None:
    found = watch(sets.draw(1, 900, "old"), sets.draw(2, 300, "new", skill=0.3))
    assert found is not None
    everything = found.classes[0]
    assert "the old confidences do not hold" in drift_sentence(everything)
    assert "nor once corrected" in drift_sentence(everything)
    assert everything.lower > 0  # the loss on the trove is greater
    assert any(entry.p_adjusted <= 0.05 for entry in found.truths)
    assert "score otherwise than the old ones did" in drift_sentences(found)[-1]


def test_other_shares_alone_are_told_from_drift(sets: SimpleNamespace) -> None:
    trove = sets.draw(2, 500, "new", prevalence=(0.02, 0.38, 0.02, 0.58))
    found = watch(sets.draw(1, 1500, "old"), trove)
    assert found is not None
    sentences = [drift_sentence(entry) for entry in found.classes[1:]]
    assert any(
        "do not hold" in stated
        and "may do so once corrected for the trove's class frequencies" in stated
        for stated in sentences
    )
    assert not any("nor once" in stated for stated in sentences)
    assert drift_sentences(found)[-1].endswith("score as the old ones did, as far as can be seen.")


def test_a_trove_of_one_class_says_what_it_cannot_tell(sets: SimpleNamespace) -> None:
    found = watch(
        sets.draw(1, 900, "old"), sets.draw(2, 120, "new", prevalence=(0.0, 0.0, 1.0, 0.0))
    )
    assert found is not None
    assert not any(entry.is_corrected for one in found.classes for entry in one.tests)
    assert drift_sentences(found) == (
        "All of the trove are of one true class: its predictions are all right or all wrong, "
        "class by class; that follows from its class proportions, not from the confidences.",
        "Proteins of HTJ score as the old ones did, as far as can be seen.",
    )


def test_few_families_are_said_to_be_too_few(sets: SimpleNamespace) -> None:
    found = watch(sets.draw(1, 300, "old"), sets.draw(2, 9, "new"))
    assert found is not None
    assert drift_sentence(found.classes[0]).endswith("too few to tell.")
    assert all(np.isnan(entry.p_adjusted) for entry in found.truths)
    assert drift_sentences(found)[-1] == (
        "No true class has 10 families both in the trove and before: whether proteins score as "
        "they did cannot be known."
    )


def test_relatives_of_the_old_set_do_not_judge_it(sets: SimpleNamespace) -> None:
    old = sets.draw(1, 300, "old")
    trove = sets.joined(sets.draw(2, 60, "new"), sets.draw(3, 20, "more"))
    cluster = trove.cluster.copy()
    cluster[60:] = old.cluster[:20]
    trove = Labelled(
        predictions=trove.predictions,
        true_class=trove.true_class,
        weight=trove.weight,
        cluster=cluster,
    )
    found = watch(old, trove, n_signs=19)
    assert found is not None and (found.n, found.n_joined) == (60, 20)
    assert drift_sentences(found)[0] == (
        "20 of the trove have relatives in the old set and are left out here."
    )
    alone = watch(old, trove.take(np.arange(80) >= 60), n_signs=19)
    assert alone is not None and alone.n == 0 and alone.classes == ()
    assert drift_sentences(alone) == (
        "All of the trove are relatives of the old set: it cannot judge the old set.",
    )


def test_no_trove_has_no_drift(sets: SimpleNamespace) -> None:
    old = sets.draw(1, 60, "old")
    assert watch(old, old.take(np.zeros(60, dtype=bool)), n_signs=0) is None


def test_the_distance_is_that_of_kolmogorov_and_smirnov(sets: SimpleNamespace) -> None:
    first = sets.draw(4, 120, "old", prevalence=(1.0, 0.0, 0.0, 0.0))
    second = sets.draw(5, 70, "new", prevalence=(1.0, 0.0, 0.0, 0.0), skill=1.0)
    distance, _ = exchange_test(first, second, 0)
    expected = stats.ks_2samp(signed_scores(first), signed_scores(second)).statistic
    assert distance == pytest.approx(expected, abs=1e-12)


def test_exchanging_families_keeps_its_level_where_single_proteins_would_not(
    sets: SimpleNamespace,
) -> None:
    n_beyond = n_independent = 0
    for seed in range(60):
        # Families of three that score almost alike: single proteins are not independent.
        parts = []
        for name, at in (("old", 2 * seed), ("new", 2 * seed + 1)):
            drawn = sets.draw(at, 90, name, prevalence=(1.0, 0.0, 0.0, 0.0))
            _, first = np.unique(drawn.cluster.astype(str), return_index=True)
            rows = np.repeat(first, 3)
            ids = np.array([f"{name}{row}" for row in range(len(rows))], dtype=object)
            taken = drawn.take(rows)
            assert len(ids) == taken.n_samples
            parts.append(taken)
        _, p_value = exchange_test(parts[0], parts[1], 99)
        n_beyond += p_value <= 0.1
        independent = stats.ks_2samp(*(signed_scores(part) for part in parts)).pvalue
        n_independent += independent <= 0.1
    # Of 60 at 10 % six are expected; 13 or more would come once in 250 times.
    assert n_beyond <= 12
    assert n_independent > 12
