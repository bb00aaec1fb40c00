"""Tests of calibration on held-out proteins, class by class."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from credence.draws import encode_clusters
from credence.findings import CalibrationTest
from credence.metrics import walk as walks
from credence.predictions import Floats, Integers, Labelled

SIGNS_AT_ONCE = 250  # bounds memory
N_SIGNS = 999  # p-values down to 0.001; enough for eleven classes after Holm's correction
NOTABLE_SHIFT = 0.05  # five percentage points: what a reader would want to see
TEST_LEVEL = 0.05
WALK_SLACK = 1e-9  # relative: the walk itself, with all signs alike, is one of its draws

ONE_SIDED = "spiegelhalter_one_sided"  # as the test is named in tables
TAILS: dict[str, Callable[[float], float]] = {
    walks.KOLMOGOROV_SMIRNOV: walks.distance_tail,
    walks.RANGE: walks.range_tail,
    walks.SPIEGELHALTER: walks.normal_tails,
}


def calibration_tests(
    method: str,
    labelled: Labelled,
    confidence: Floats,
    n_signs: int = N_SIGNS,
    *,
    one_sided: bool = False,
) -> tuple[CalibrationTest, ...]:
    """Return every test of one method; its fits must not have seen the proteins.

    Spiegelhalter's can be one-sided, as MAPIE's is: it then looks only for a statistic above 0,
    which comes of confidences that are too near 0 and 1.
    """
    known = ~np.isnan(confidence)
    codes, keys = encode_clusters(labelled.cluster)
    signs = walks.random_signs(keys, n_signs)
    predicted = labelled.predictions.predicted_class
    by_test: dict[str, list[CalibrationTest]] = {}
    for class_ in (*np.unique(predicted).tolist(), None):
        rows = np.flatnonzero(known if class_ is None else known & (predicted == class_))
        name = None if class_ is None else labelled.predictions.class_names[class_]
        members = labelled.take(rows)
        for entry in _tests_of_block(
            method, name, members, confidence[rows], codes[rows], signs, one_sided
        ):
            by_test.setdefault(entry.test, []).append(entry)
    tests: list[CalibrationTest] = []
    for entries in by_test.values():
        of_classes = [entry for entry in entries if entry.class_name is not None]
        adjusted = walks.holm(np.array([entry.p_value for entry in of_classes])).tolist()
        pairs = zip(of_classes, adjusted, strict=True)
        tests += [replace(entry, p_adjusted=value) for entry, value in pairs]
        tests += [entry for entry in entries if entry.class_name is None]
    return tuple(tests)


def _tests_of_block(
    method: str,
    class_name: str | None,
    labelled: Labelled,
    confidence: Floats,
    codes: Integers,
    signs: NDArray[np.int8],
    one_sided: bool,
) -> list[CalibrationTest]:
    if len(confidence) == 0:
        return []
    walk = walks.walk_of(confidence, labelled.is_correct, labelled.weight)
    value = walks.observed(walk)
    present, cluster = np.unique(codes, return_inverse=True)
    p_values, power = _by_signs(walk, cluster.astype(np.int64), signs[present], value, one_sided)
    alone = {
        test: float("nan") if np.isnan(value[test]) else tail(abs(value[test]))
        for test, tail in TAILS.items()
    }
    if one_sided:
        alone[walks.SPIEGELHALTER] = walks.normal_tail(value[walks.SPIEGELHALTER])
    if len(set(labelled.is_correct.tolist())) == 1:
        # Differences of one sign show signs no scatter: that of independent proteins counts too.
        p_values = {test: max(p, alone[test]) for test, p in p_values.items()}
        power = dict.fromkeys(power, float("nan"))
    return [
        CalibrationTest(
            method=method,
            class_name=class_name,
            test=ONE_SIDED if _is_signed(test, one_sided) else test,
            statistic=value[test],
            p_value=p_values[test],
            p_adjusted=float("nan"),
            p_independent=alone[test],
            power=power[test],
            n=len(confidence),
            n_clusters=len(present),
        )
        for test in TAILS
    ]


def _is_signed(test: str, one_sided: bool) -> bool:
    return one_sided and test == walks.SPIEGELHALTER


def _by_signs(
    walk: walks.Walk,
    cluster: Integers,
    signs: NDArray[np.int8],
    value: dict[str, float],
    one_sided: bool,
) -> tuple[dict[str, float], dict[str, float]]:
    """Return p-values, and the power to see a shift of five percentage points."""
    n_draws = signs.shape[1]
    if n_draws == 0:
        blank = dict.fromkeys(value, float("nan"))
        return blank, blank
    notable = -NOTABLE_SHIFT if one_sided else NOTABLE_SHIFT  # Confidences too high: one side
    as_it_is = walks.signed_walks(walk, cluster, np.ones((len(signs), 1), dtype=np.int8))

    def distances(signed: walks.SignedWalks) -> dict[str, Floats]:
        return {
            test: values if _is_signed(test, one_sided) else np.abs(values)
            for test, values in signed.compared(walk).items()
        }

    observed = {test: float(distance[0]) for test, distance in distances(as_it_is).items()}
    null: dict[str, list[Floats]] = {test: [] for test in value}
    shifted: dict[str, list[Floats]] = {test: [] for test in value}
    for start in range(0, n_draws, SIGNS_AT_ONCE):
        drawn = walks.signed_walks(walk, cluster, signs[:, start : start + SIGNS_AT_ONCE])
        for kept, signed in ((null, drawn), (shifted, drawn.shifted(walk, notable))):
            for test, values in distances(signed).items():
                kept[test].append(values)
    p_values, power = {}, {}
    for test, distance in observed.items():
        if np.isnan(value[test]):
            p_values[test] = power[test] = float("nan")
            continue
        under_null, under_shift = np.concatenate(null[test]), np.concatenate(shifted[test])
        n_beyond = int((under_null >= distance - abs(distance) * WALK_SLACK).sum())
        p_values[test] = (1 + n_beyond) / (n_draws + 1)
        bound = float(np.quantile(under_null, 1.0 - TEST_LEVEL, method="higher"))
        power[test] = float((under_shift > bound + abs(bound) * WALK_SLACK).mean())
    return p_values, power
