"""Types of the public names; made by docs/stubs.py."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from numpy.typing import NDArray

if TYPE_CHECKING:  # so that mypy reads these modules before this one
    from credence.answers import AnnotatedTable as AnnotatedTable
    from credence.answers import ClassProportions as ClassProportions
    from credence.answers import EvaluatedMethods as EvaluatedMethods
    from credence.answers import FittedCalibration as FittedCalibration
    from credence.answers import ProteinGroups as ProteinGroups
    from credence.answers import ScoreTable as ScoreTable
    from credence.api import ColumnLike, GroupsLike, TableLike
    from credence.problems import InputError as InputError

__version__: str
__all__ = [
    "AnnotatedTable",
    "ClassProportions",
    "EvaluatedMethods",
    "FittedCalibration",
    "InputError",
    "ProteinGroups",
    "ScoreTable",
    "__version__",
    "annotate",
    "compare",
    "evaluate",
    "fit",
    "list",
    "load",
    "plan",
    "read",
    "save",
    "shift",
    "split",
    "thresholds",
]

def annotate(
    table: TableLike, calibration: FittedCalibration, *, shift: ClassProportions | str = ...
) -> AnnotatedTable: ...
def compare(
    older: FittedCalibration, newer: FittedCalibration, table: TableLike | None = ...
) -> pd.DataFrame: ...
def evaluate(
    table: TableLike,
    methods: str | FittedCalibration | Sequence[str | FittedCalibration] = ...,
    *,
    calibration: FittedCalibration | None = ...,
    groups: GroupsLike | None = ...,
    clusters: ColumnLike | None = ...,
    weights: str = ...,
    min_positives: float = ...,
    level: float = ...,
    resamples: int = ...,
    precision: Sequence[float] = ...,
    certainty: float = ...,
    folds: int = ...,
    bins: int = ...,
    bin_kind: str = ...,
    spiegelhalter: str = ...,
) -> EvaluatedMethods: ...
def fit(
    table: TableLike,
    *,
    groups: GroupsLike | None = ...,
    clusters: ColumnLike | None = ...,
    method: str = ...,
    weights: str = ...,
    min_positives: float = ...,
    level: float = ...,
    resamples: int = ...,
    sets: float | None = ...,
    sets_kind: str = ...,
) -> FittedCalibration: ...
def list(
    annotated: AnnotatedTable,
    calibration: FittedCalibration,
    *,
    error: float = ...,
    by_class: bool = ...,
    of_background: bool = ...,
    certain: bool = ...,
    clusters: str | Path | None = ...,
    level: float = ...,
    certainty: float = ...,
    background: Sequence[str] | None = ...,
    least_confidence: float = ...,
    family_share: float = ...,
) -> pd.DataFrame: ...
def load(path: str | Path) -> FittedCalibration: ...
def plan(
    annotated: AnnotatedTable,
    calibration: FittedCalibration,
    *,
    number: int = ...,
    clusters: str | Path | None = ...,
) -> pd.DataFrame: ...
def read(
    table: TableLike,
    *,
    classes: Sequence[str] | None = ...,
    ids: ColumnLike | None = ...,
    labels: ColumnLike | None = ...,
    groups: GroupsLike | None = ...,
    clusters: ColumnLike | None = ...,
    format: str | None = ...,
    scale: float | None = ...,
    columns: Mapping[str, str | Sequence[str]] | None = ...,
    sum_to_scale: bool | None = ...,
    synonyms: Mapping[str, str] | None = ...,
    pooling: str = ...,
    genome: str | None = ...,
    logits: bool = ...,
) -> ScoreTable: ...
def save(calibration: FittedCalibration, path: str | Path) -> None: ...
def shift(
    table: TableLike,
    calibration: FittedCalibration,
    *,
    name: str = ...,
    estimator: str = ...,
    stated: Mapping[str, float] | None = ...,
    level: float | None = ...,
    resamples: int | None = ...,
    precision: Sequence[float] = ...,
    certainty: float = ...,
) -> ClassProportions: ...
def split(
    table: TableLike | None = ...,
    *,
    labels: str | Path | pd.DataFrame | Mapping[str, str] | None = ...,
    fastas: Mapping[str, str | Path] | None = ...,
    proteins: str | Path | Sequence[str] | NDArray[Any] | None = ...,
    training: str | Path | None = ...,
    clusters: ColumnLike | None = ...,
    match: str = ...,
    threads: int = ...,
    engine: str = ...,
    identity: float = ...,
    coverage: float = ...,
    chance: float | None = ...,
    groups: int = ...,
    test_group: bool = ...,
    roles: Mapping[str, float] = ...,
    recipe: str = ...,
    weigh: str = ...,
    audit: str | Mapping[str, float] = ...,
    strict: str = ...,
    cut: str = ...,
    cut_limit: float = ...,
    both_sides: bool = ...,
) -> ProteinGroups: ...
def thresholds(
    table: TableLike,
    calibration: FittedCalibration | None = ...,
    *,
    shift: ClassProportions | None = ...,
    groups: GroupsLike | None = ...,
    clusters: ColumnLike | None = ...,
    weights: str = ...,
    level: float = ...,
    resamples: int = ...,
    precision: Sequence[float] = ...,
    certainty: float = ...,
) -> pd.DataFrame: ...
