"""Findings written out by hand, so that no computation stands behind the page's tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credence.findings import (
    AllThresholds,
    Bins,
    CalibrationTest,
    ClassCount,
    CurveFinding,
    Difference,
    ErrorCurve,
    Findings,
    InputFile,
    MethodFinding,
    MetricValue,
    NoiseFloor,
    Notice,
    ProteinList,
    Provenance,
    Reliability,
    Results,
    ScoreHistogram,
    ScoreNeeded,
    Setting,
    Threshold,
    UseClass,
    UseLists,
    UseSet,
)
from credence.report.html import render

NAN = float("NAN")
EDGES = tuple(k * 2.5 for k in range(5))
FINER = tuple(k * 1.25 for k in range(9))
SCORES = tuple(k * 0.5 for k in range(21))
N_RIGHT = (0, 0, 1, 3, 6, 8, 12, 15)
N_WRONG = (2, 2, 3, 3, 2, 1, 1, 1)
SHARES = (NAN, 0.4, 0.7, 0.9)
METHODS = ("class_only", "kernel")


def bins(edges: tuple[float, ...]) -> Bins:
    return Bins(
        edges=edges,
        n=(0, 10, 20, 30),
        n_correct=(0, 4, 14, 27),
        n_clusters=(0, 5, 8, 12),
        mean=(NAN, edges[1] * 1.5, edges[2] * 1.25, edges[3] * 1.1),
        share=(NAN, 0.4, 0.7, 0.9),
        lower=(NAN, 0.15, 0.45, 0.75),
        upper=(NAN, 0.7, 0.88, 0.97),
    )


def curve(method: str, class_name: str) -> CurveFinding:
    value = tuple(0.6 if method == "class_only" else 0.1 + 0.08 * s for s in SCORES)
    return CurveFinding(
        method=method,
        class_name=class_name,
        is_function=True,
        score=SCORES,
        value=value,
        lower=tuple(v - 0.08 for v in value),
        upper=tuple(v + 0.04 for v in value),
        support=tuple(12.0 for _ in SCORES),
        note=tuple(0 for _ in SCORES),
    )


def metrics(method: str, class_name: str | None) -> list[MetricValue]:
    rows = []
    for sample, extra in (("in_sample", 0.0), ("held_out", 0.05)):
        base = (0.6 if method == "class_only" else 0.4) + extra
        for metric, value in (
            ("nll", base),
            ("brier", base / 3),
            ("accuracy", 0.75),
            ("ece", 0.02),
            ("gap", 0.01),
        ):
            rows.append(
                MetricValue(
                    method, class_name, sample, metric, value, value - 0.05, value + 0.1, 60, 25
                )
            )
    return rows


def make(class_names: tuple[str, str, str]) -> Findings:
    first, second, third = class_names
    seen = (first, second)
    results = Results(
        class_names=class_names,
        scale=10.0,
        n_samples=120,
        n_clusters=50,
        n_correct=90,
        n_folds=5,
        n_draws=200,
        level=0.95,
        confusion=((45, 10, 0), (10, 45, 0), (5, 5, 0)),
        classes=(
            ClassCount(first, 55, 60, 45, 25, 0.75, 0.62, 0.86, 2.5, 6.8, 10.0),
            ClassCount(second, 55, 60, 45, 25, 0.75, 0.62, 0.86, 3.0, 8.7, 9.5),
            ClassCount(third, 10, 0, 0, 0, NAN, NAN, NAN, NAN, NAN, NAN),
        ),
        histograms=tuple(
            ScoreHistogram(name, bins(EDGES), FINER, N_RIGHT, N_WRONG) for name in seen
        ),
        curves=tuple(curve(method, name) for method in METHODS for name in seen),
        scores_needed=tuple(
            ScoreNeeded("kernel", name, asked, least)
            for name in seen
            for asked, least in ((0.5, 5.5), (0.8, 9.35), (0.9, NAN), (0.95, NAN))
        ),
        reliability=tuple(
            Reliability(
                method,
                name,
                sample,
                bins((0.0, 0.25, 0.5, 0.75, 1.0)),
                (NAN, 0.2, 0.5, 0.8),
                (NAN, 0.5, 0.75, 0.95),
                (NAN, 0.3, 0.6, 0.8),
                (0, 30, 30, 0),
            )
            for method in METHODS
            for name in (None, *seen)
            for sample in ("in_sample", "held_out")
        ),
        metrics=tuple(
            entry
            for method in METHODS
            for name in (None, *seen)
            for entry in metrics(method, name)
        ),
        differences=tuple(
            Difference("class_only", "kernel", name, "held_out", "nll", 0.2, 0.12, 0.29, 60)
            for name in (None, *seen)
        ),
        floors=tuple(
            NoiseFloor(method, None, "held_out", "ece", alike, value, value / 2, value * 2)
            for method in METHODS
            for alike, value in ((False, 0.011), (True, 0.023))
        ),
        tests=tuple(
            CalibrationTest("kernel", name, test, statistic, 0.004, 0.008, 0.0, 0.4, 60, 25)
            for test, statistic in (
                ("kolmogorov_smirnov", 2.9),
                ("kuiper", 3.1),
                ("spiegelhalter", -1.2),
            )
            for name in seen
        ),
        given_true=((0.82, 0.18, 0.0), (0.18, 0.82, 0.0), (0.5, 0.5, 0.0)),
        given_predicted=((0.75, 0.17, NAN), (0.17, 0.75, NAN), (0.08, 0.08, NAN)),
        notices=(
            Notice("ties", "1 protein has two best classes."),
            Notice("unseen class", f"Nothing is predicted {third}.", third, is_warning=True),
        ),
    )
    use_set = UseSet(
        name="sea water",
        method="kernel",
        n=5,
        n_unknown=1,
        levels=(0.5, 0.8, 0.9, 0.95),
        classes=(
            UseClass(first, 3, 0, (3, 2, 1, 0), (2, 1, 0, 0), 3, 2),
            UseClass(second, 1, 0, (1, 0, 0, 0), (0, 0, 0, 0), 1, 1),
            UseClass(third, 1, 1, (0, 0, 0, 0), (0, 0, 0, 0), 0, 0),
        ),
        edges=(0.0, 0.25, 0.5, 0.75, 1.0),
        counts=(0, 0, 1, 3),
        notes=(Setting("below the scores seen", "1"),),
    )
    return Findings(
        Provenance(
            run="small",
            title="A small run",
            credence_version="0.1.0",
            is_simulated=True,
            inputs=(InputFile("calibration scores", "scores.csv", "ab" * 32, 120),),
            settings=(Setting("clustering.identity", "0.4"),),
        ),
        (
            MethodFinding("class_only", "The share of right predictions.", "Salamon 2023, Eq. 1"),
            MethodFinding(
                "kernel", "A kernel ratio.", "Salamon 2023, Eq. 7", (Setting("b", "1"),), "b 1"
            ),
        ),
        "kernel",
        results,
        (use_set,),
        (Notice("set aside", "2 proteins have relatives in training."),),
        thresholds=thresholds_of(class_names),
        lists=(lists_of(use_set.name, class_names),),
    )


def thresholds_of(names: tuple[str, ...]) -> AllThresholds:
    """Return thresholds of which the last class has none that is guaranteed."""
    rows = []
    for name in (None, *names):
        nothing = name == names[-1]
        sure = (NAN, NAN, NAN, 0, 12) if nothing else (8.75, 0.5, 0.55, 30, 0)
        rows.append(Threshold(name, "score", 0.9, 50, 7.5, 0.8, 0.85, 40, 0.92, 0.85, 0.96, *sure))
    curve = ErrorCurve(
        names[0], (0.2, 0.6, 0.9), (1.0, 0.6, 0.3), (0.4, 0.2, 0.1), (0.6, 0.4, 0.3)
    )
    return AllThresholds(0.95, 0.95, tuple(rows), (curve,))


def lists_of(use_set: str, names: tuple[str, ...]) -> UseLists:
    """Return two lists of all classes, of which the certain one is empty, and one of a class."""
    empty = (NAN, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, NAN, NAN)
    numbers = (0.85, 3, 30, 2.9, 2.1, 3.0, 1.5, 3.0, 0.05, 0.12)
    every = (0.0, 5, 60, 4.1, 3.2, 4.9, 2.8, 5.0, 0.18, 0.26)
    return UseLists(
        use_set,
        5,
        0.95,
        0.95,
        is_adjusted=False,
        lists=(
            ProteinList(None, 0.05, False, *numbers),
            ProteinList(None, 0.05, True, *empty),
            ProteinList(names[0], 0.05, False, *numbers),
        ),
        every=tuple(ProteinList(name, 1.0, False, *every) for name in (None, names[0])),
        curve=ErrorCurve(None, (0.2, 0.85), (1.0, 0.6), (0.18, 0.05), (0.26, 0.12)),
    )


@pytest.fixture(scope="session")
def small() -> Findings:
    return make(("Portal", "Tail fiber", "Collar"))


@pytest.fixture(scope="session")
def hostile() -> Findings:
    """Return findings in which every text that an input can reach is an attack."""
    attack = "</style></svg><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x"
    found = make((attack, "<b>B</b> $\\frac{1}{0}$ " + "b" * 40, "javascript:alert(3)"))
    use_set = replace(found.use_sets[0], name=attack, method=attack, notes=(Setting(attack, "1"),))
    provenance = Provenance(
        attack,
        attack,
        "0.1.0",
        inputs=(InputFile(attack, attack, attack, 1),),
        settings=(Setting(attack, attack),),
    )
    notice = Notice(attack, attack, is_warning=True)
    return replace(found, provenance=provenance, use_sets=(use_set,), notices=(notice,))


@pytest.fixture(scope="session")
def small_page(small: Findings) -> str:
    return render(small)


@pytest.fixture(scope="session")
def hostile_page(hostile: Findings) -> str:
    return render(hostile)
