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
    return MetricValue(
        method=method,
        class_name=None,
        sample="held_out",
        metric=name,
        value=value,
        lower=value - 0.01,
        upper=value + 0.01,
        n=90,
        n_clusters=30,
    )


def difference(method: str, name: str, value: float, reach: float = 0.002) -> Difference:
    return Difference(
        method=method,
        reference="x",
        class_name=None,
        sample="held_out",
        metric=name,
        value=value,
        lower=value - reach,
        upper=value + reach,
        n=90,
    )


def event(name: str = "two_best", **more: object) -> EventFinding:
    bins = Bins(
        edges=(0.0, 0.5, 1.0),
        n=(40, 50),
        n_correct=(10, 45),
        n_clusters=(15, 20),
        mean=(0.3, 0.9),
        share=(0.25, 0.9),
        lower=(0.1, 0.8),
        upper=(0.4, 1),
    )
    methods = ("published", "logistic", "tree")
    made = EventFinding(
        name=name,
        words="the true class is among the 2 best",
        n=90,
        n_clusters=30,
        n_true=55,
        share=0.61,
        metrics=tuple(
            metric(method, one, 0.1 + at / 100)
            for at, method in enumerate(methods)
            for one in ("nll", "brier", "calibration", "sharpness")
        ),
        differences=(difference("logistic", "nll", 0.01), difference("tree", "nll", -0.01)),
        reliability=(
            Reliability(
                method="published",
                class_name=None,
                sample="held_out",
                bins=bins,
                band_lower=(NAN, NAN),
                band_upper=(NAN, NAN),
                curve=(),
                counts=(4, 6),
            ),
        ),
        tuned=(TunedFinding(forecaster="logistic", setting="strength of the ridge", value=10.0),),
        learning=tuple(
            LearningPoint(
                share=share, n_learnt=n, metrics=(metric(f"{share:g}", "nll", 0.3 - share / 10),)
            )
            for share, n in ((0.5, 36), (1.0, 72))
        ),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def finding(**more: object) -> EventsFinding:
    made = EventsFinding(
        forecaster="logistic",
        compared=("logistic", "tree"),
        n_folds=5,
        level=0.95,
        agrees=True,
        method="kernel",
        features=(
            FeatureFinding(name="entropy", group="score", summary="entropy of the scores"),
            FeatureFinding(
                name="distance",
                group="sequence",
                summary="its distance",
                missing="needs what novelty wrote",
            ),
        ),
        events=(event(), event("rare", note="too few", reliability=(), learning=())),
        n_moved=7,
        nll_before=0.1234,
        nll_after=0.1229,
        pooled=Pooled(pooled=0.0001, apart=0.0005, n=180),
    )
    return replace(made, **more)  # type: ignore[arg-type]
