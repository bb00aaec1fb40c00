"""Findings on events, made up, for the tests of their section."""

from __future__ import annotations

from dataclasses import replace

from credence.findings import (
    Bins,
    Difference,
    EventFinding,
    EventsFinding,
    FeatureFinding,
    LearningPoint,
    MetricValue,
    Pooled,
    Reliability,
    TunedFinding,
)

NAN = float("nan")


def metric(method: str, name: str, value: float) -> MetricValue:
    return MetricValue(method, None, "held_out", name, value, value - 0.01, value + 0.01, 90, 30)


def difference(method: str, name: str, value: float, reach: float = 0.002) -> Difference:
    return Difference(method, "x", None, "held_out", name, value, value - reach, value + reach, 90)


def event(name: str = "two_best", **more: object) -> EventFinding:
    bins = Bins(
        (0.0, 0.5, 1.0),
        (40, 50),
        (10, 45),
        (15, 20),
        (0.3, 0.9),
        (0.25, 0.9),
        (0.1, 0.8),
        (0.4, 1),
    )
    methods = ("published", "logistic", "tree")
    made = EventFinding(
        name,
        "the true class is among the 2 best",
        90,
        30,
        55,
        0.61,
        metrics=tuple(
            metric(method, one, 0.1 + at / 100)
            for at, method in enumerate(methods)
            for one in ("nll", "brier", "calibration", "sharpness")
        ),
        differences=(difference("logistic", "nll", 0.01), difference("tree", "nll", -0.01)),
        reliability=(
            Reliability("published", None, "held_out", bins, (NAN, NAN), (NAN, NAN), (), (4, 6)),
        ),
        tuned=(TunedFinding("logistic", "strength of the ridge", 10.0),),
        learning=tuple(
            LearningPoint(share, n, (metric(f"{share:g}", "nll", 0.3 - share / 10),))
            for share, n in ((0.5, 36), (1.0, 72))
        ),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def finding(**more: object) -> EventsFinding:
    made = EventsFinding(
        "logistic",
        ("logistic", "tree"),
        5,
        0.95,
        True,
        "kernel",
        (
            FeatureFinding("entropy", "score", "entropy of the scores"),
            FeatureFinding("distance", "sequence", "its distance", "needs what novelty wrote"),
        ),
        (event(), event("rare", note="too few", reliability=(), learning=())),
        7,
        0.1234,
        0.1229,
        Pooled(0.0001, 0.0005, 180),
    )
    return replace(made, **more)  # type: ignore[arg-type]
