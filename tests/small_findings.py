"""Findings written out by hand, so that no computation stands behind the page's tests."""

from __future__ import annotations

from dataclasses import replace

import pytest

from credence.findings import (
    AllThresholds,
    Bins,
    CalibrationTest,
    Caution,
    ClassCount,
    ClassShare,
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
    ProteinRows,
    Provenance,
    QuerySet,
    Reliability,
    Results,
    ScoreHistogram,
    Setting,
    Threshold,
    UseClass,
    UseLists,
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
                    method=method,
                    class_name=class_name,
                    sample=sample,
                    metric=metric,
                    value=value,
                    lower=value - 0.05,
                    upper=value + 0.1,
                    n=60,
                    n_clusters=25,
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
            ClassCount(
                class_name=first,
                n_true=55,
                n_predicted=60,
                n_correct=45,
                n_clusters=25,
                share=0.75,
                lower=0.62,
                upper=0.86,
                score_min=2.5,
                score_median=6.8,
                score_max=10.0,
            ),
            ClassCount(
                class_name=second,
                n_true=55,
                n_predicted=60,
                n_correct=45,
                n_clusters=25,
                share=0.75,
                lower=0.62,
                upper=0.86,
                score_min=3.0,
                score_median=8.7,
                score_max=9.5,
            ),
            ClassCount(
                class_name=third,
                n_true=10,
                n_predicted=0,
                n_correct=0,
                n_clusters=0,
                share=NAN,
                lower=NAN,
                upper=NAN,
                score_min=NAN,
                score_median=NAN,
                score_max=NAN,
            ),
        ),
        histograms=tuple(
            ScoreHistogram(
                class_name=name,
                shares=bins(EDGES),
                edges=FINER,
                n_correct=N_RIGHT,
                n_wrong=N_WRONG,
            )
            for name in seen
        ),
        curves=tuple(curve(method, name) for method in METHODS for name in seen),
        reliability=tuple(
            Reliability(
                method=method,
                class_name=name,
                sample=sample,
                bins=bins((0.0, 0.25, 0.5, 0.75, 1.0)),
                band_lower=(NAN, 0.2, 0.5, 0.8),
                band_upper=(NAN, 0.5, 0.75, 0.95),
                curve=(NAN, 0.3, 0.6, 0.8),
                counts=(0, 30, 30, 0),
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
            Difference(
                method="class_only",
                reference="kernel",
                class_name=name,
                sample="held_out",
                metric="nll",
                value=0.2,
                lower=0.12,
                upper=0.29,
                n=60,
            )
            for name in (None, *seen)
        ),
        floors=tuple(
            NoiseFloor(
                method=method,
                class_name=None,
                sample="held_out",
                metric="ece",
                relatives_alike=alike,
                value=value,
                lower=value / 2,
                upper=value * 2,
            )
            for method in METHODS
            for alike, value in ((False, 0.011), (True, 0.023))
        ),
        tests=tuple(
            CalibrationTest(
                method="kernel",
                class_name=name,
                test=test,
                statistic=statistic,
                p_value=0.004,
                p_adjusted=0.008,
                p_independent=0.0,
                power=0.4,
                n=60,
                n_clusters=25,
            )
            for test, statistic in (
                ("kolmogorov_smirnov", 2.9),
                ("kuiper", 3.1),
                ("spiegelhalter", -1.2),
            )
            for name in seen
        ),
        given_true=((0.82, 0.18, 0.0), (0.18, 0.82, 0.0), (0.5, 0.5, 0.0)),
        given_predicted=((0.75, 0.17, NAN), (0.17, 0.75, NAN), (0.08, 0.08, NAN)),
        cautions=(
            Caution(kind="ties", counts={"proteins": 1}),
            Caution(kind="unseen class", class_name=third, is_warning=True),
        ),
    )
    query_set = QuerySet(
        name="sea water",
        method="kernel",
        n=5,
        n_unknown=1,
        classes=(
            UseClass(class_name=first, n=3, n_unknown=0, n_accept=3, n_check=0, n_in_range=2),
            UseClass(class_name=second, n=1, n_unknown=0, n_accept=0, n_check=1, n_in_range=1),
            UseClass(class_name=third, n=1, n_unknown=1, n_accept=0, n_check=0, n_in_range=0),
        ),
        edges=(0.0, 0.25, 0.5, 0.75, 1.0),
        counts=(0, 0, 1, 3),
        notes=(Setting(name="below the scores seen", value="1"),),
    )
    return Findings(
        provenance=Provenance(
            run="small",
            title="A small run",
            credence_version="0.1.0",
            is_simulated=True,
            inputs=(
                InputFile(
                    role="calibration scores", name="scores.csv", sha256="ab" * 32, n_records=120
                ),
            ),
            settings=(Setting(name="clustering.identity", value="0.4"),),
        ),
        methods=(
            MethodFinding(
                name="class_only", summary="The precision.", reference="Salamon 2023, Eq. 1"
            ),
            MethodFinding(
                name="kernel",
                summary="A kernel ratio.",
                reference="Salamon 2023, Eq. 7",
                settings=(Setting(name="b", value="1"),),
                prose="b 1",
            ),
        ),
        chosen="kernel",
        results=results,
        queries=(query_set,),
        notices=(Notice(kind="set aside", text="2 proteins have relatives in training."),),
        thresholds=thresholds_of(class_names),
        lists=(lists_of(query_set.name, class_names),),
    )


def protein_rows(n: int, n_genomes: int = 0) -> ProteinRows:
    """Return rows p0, p1, … whose class and decision go round, with confidences up to 1."""
    confidence = tuple(k / max(n - 1, 1) for k in range(n))
    return ProteinRows(
        ids=tuple(f"p{k}" for k in range(n)),
        classes=tuple(k % 3 for k in range(n)),
        confidence=confidence,
        lower=tuple(max(value - 0.1, 0.0) for value in confidence),
        upper=tuple(min(value + 0.1, 1.0) for value in confidence),
        decisions=tuple(k % 3 for k in range(n)),
        texts=("", "score below the calibrated scores of this class"),
        notes=tuple(int(k % 3 == 2) for k in range(n)),
        nearest=tuple(f"known_{k}" for k in range(n)),
        identity=tuple(0.25 + 0.5 * value for value in confidence),
        genomes=tuple(f"phage {k % n_genomes}" for k in range(n)) if n_genomes else (),
    )


def with_proteins(findings: Findings, n: int = 12, n_genomes: int = 0) -> Findings:
    """Return findings whose query set has a table of proteins, and a list beside the page."""
    (query_set,) = findings.queries
    return replace(
        findings,
        queries=(replace(query_set, proteins=protein_rows(n, n_genomes)),),
        files=(
            f"{query_set.name}/confidences.tsv",
            f"{query_set.name}/list_0.05.tsv",
            "metrics.tsv",
        ),
    )


def thresholds_of(names: tuple[str, ...]) -> AllThresholds:
    """Return thresholds of which the last class has none that is guaranteed."""
    rows = []
    for name in (None, *names):
        nothing = name == names[-1]
        rows.append(
            Threshold(
                class_name=name,
                on="score",
                precision=0.9,
                n=50,
                threshold=7.5,
                kept=0.8,
                kept_true=0.85,
                n_families=40,
                right=0.92,
                right_lower=0.85,
                right_upper=0.96,
                sure=NAN if nothing else 8.75,
                sure_kept=NAN if nothing else 0.5,
                sure_kept_true=NAN if nothing else 0.55,
                sure_families=0 if nothing else 30,
                n_more=12 if nothing else 0,
            )
        )
    curve = ErrorCurve(
        class_name=names[0],
        confidence=(0.2, 0.6, 0.9),
        kept=(1.0, 0.6, 0.3),
        error=(0.4, 0.2, 0.1),
        bound=(0.6, 0.4, 0.3),
    )
    return AllThresholds(certainty=0.95, level=0.95, rows=tuple(rows), curves=(curve,))


def lists_of(query_set: str, names: tuple[str, ...]) -> UseLists:
    """Return two lists of all classes, of which the certain one is empty, and one of a class."""
    listed = ProteinList(
        class_name=None,
        error=0.05,
        is_certain=False,
        confidence=0.85,
        n=3,
        n_families=30,
        right=2.9,
        right_lower=2.1,
        right_upper=3.0,
        alike_lower=1.5,
        alike_upper=3.0,
        estimate=0.05,
        bound=0.12,
    )
    empty = replace(
        listed,
        is_certain=True,
        confidence=NAN,
        n=0,
        n_families=0,
        right=0.0,
        right_lower=0.0,
        right_upper=0.0,
        alike_lower=0.0,
        alike_upper=0.0,
        estimate=NAN,
        bound=NAN,
    )
    every = replace(
        listed,
        error=1.0,
        confidence=0.0,
        n=5,
        n_families=60,
        right=4.1,
        right_lower=3.2,
        right_upper=4.9,
        alike_lower=2.8,
        alike_upper=5.0,
        estimate=0.18,
        bound=0.26,
    )
    shares = (ClassShare(class_name=names[0], n=3, estimate=0.12, n_kept_off=0),)
    return UseLists(
        name=query_set,
        n=5,
        n_calls=4,
        n_listable=3,
        background=(names[1],),
        is_background_found=True,
        least_confidence=0.5,
        family_share=0.2,
        certainty=0.95,
        level=0.95,
        is_adjusted=False,
        lists=(
            replace(listed, largest_family=0.3, classes=shares),
            empty,
            replace(listed, class_name=names[0]),
        ),
        every=tuple(replace(every, class_name=name) for name in (None, names[0])),
        curve=ErrorCurve(
            class_name=None,
            confidence=(0.2, 0.85),
            kept=(1.0, 0.6),
            error=(0.18, 0.05),
            bound=(0.26, 0.12),
        ),
    )


@pytest.fixture(scope="session")
def small() -> Findings:
    return make(("Portal", "Tail fiber", "Collar"))


@pytest.fixture(scope="session")
def hostile() -> Findings:
    """Return findings in which every text that an input can reach is an attack."""
    attack = "</style></svg><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload='x"
    found = make((attack, "<b>B</b> $\\frac{1}{0}$ " + "b" * 40, "javascript:alert(3)"))
    query_set = replace(
        found.queries[0], name=attack, method=attack, notes=(Setting(name=attack, value="1"),)
    )
    provenance = Provenance(
        run=attack,
        title=attack,
        credence_version="0.1.0",
        inputs=(InputFile(role=attack, name=attack, sha256=attack, n_records=1),),
        settings=(Setting(name=attack, value=attack),),
    )
    notice = Notice(kind=attack, text=attack, is_warning=True)
    return replace(found, provenance=provenance, queries=(query_set,), notices=(notice,))


@pytest.fixture(scope="session")
def small_page(small: Findings) -> str:
    return render(small)


@pytest.fixture(scope="session")
def hostile_page(hostile: Findings) -> str:
    return render(hostile)
