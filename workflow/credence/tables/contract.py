"""The tables between the stages (DESIGN section 4): read, checked, written.

Samples have a module of their own. Each table is a frozen dataclass of arrays,
with a list of its columns that says what may stand in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from credence.confidence import Confidence, note_text
from credence.predictions import Floats, Integers, Predictions, Strings
from credence.problems import InputError, Problem
from credence.tables.columns import Column, Kind, ReadTable, read_columns
from credence.tables.event_columns import PREFIXES
from credence.tables.novelty_columns import NOVELTY_COLUMNS
from credence.tables.set_columns import SET_COLUMNS
from credence.tables.writing import write_table

ROLES = ("training", "validation", "calibration", "test", "set_aside")
SAMPLES = ("in_sample", "held_out")


def _share(name: str, is_optional: bool = False) -> Column:
    return Column(name, Kind.NUMBER, True, low=0.0, high=1.0, is_optional=is_optional)


CLUSTER_COLUMNS = (
    Column("id", unique=True),
    Column("cluster"),
    Column("representative", is_optional=True),
    _share("identity", is_optional=True),
    _share("coverage", is_optional=True),
)
GROUP_COLUMNS = (
    Column("id", unique=True),
    Column("cluster"),
    Column("group", may_be_empty=True),
    Column("role", choices=ROLES),
    Column("reason", may_be_empty=True),
)
CONFIDENCE_COLUMNS = (
    Column("id", unique=True),
    Column("predicted_class", may_be_empty=True),
    Column("score", Kind.NUMBER, may_be_empty=True),
    _share("confidence"),
    _share("lower"),
    _share("upper"),
    Column("support", Kind.NUMBER, low=0.0),
    Column("method"),
    Column("note", may_be_empty=True),
)
ADJUSTED_COLUMNS = (
    _share("adjusted_confidence", is_optional=True),
    _share("adjusted_lower", is_optional=True),
    _share("adjusted_upper", is_optional=True),
)
METRIC_COLUMNS = (
    Column("method"),
    Column("class"),
    Column("sample", choices=SAMPLES),
    Column("metric"),
    Column("value", Kind.NUMBER, may_be_empty=True),
    Column("lower", Kind.NUMBER, may_be_empty=True),
    Column("upper", Kind.NUMBER, may_be_empty=True),
    Column("n", Kind.INTEGER, low=0.0),
)
COMPOSITION_COLUMNS = (
    Column("class", unique=True),
    _share("calibration_share"),
    _share("use_share"),
    _share("lower"),
    _share("upper"),
    Column("weight", Kind.NUMBER, may_be_empty=True, low=0.0),
    _share("applied_share", is_optional=True),
)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which proteins are relatives.

    Parameters
    ----------
    ids, cluster, representative : array of str
        Protein, its cluster, and the protein that stands for the cluster.
    identity, coverage : array of float
        Likeness to the representative, in [0, 1]; NaN where not known.
    """

    ids: Strings
    cluster: Strings
    representative: Strings
    identity: Floats
    coverage: Floats


@dataclass(frozen=True, eq=False)
class Groups:
    """What each protein is used for.

    Parameters
    ----------
    ids, cluster, group : array of str
        Protein, its cluster, its group; '' where it is in none.
    role, reason : array of str
        One of `ROLES`; why it was set aside.
    """

    ids: Strings
    cluster: Strings
    group: Strings
    role: Strings
    reason: Strings


@dataclass(frozen=True, eq=False)
class Confidences:
    """The answer as a table.

    Parameters
    ----------
    ids, predicted_class, method, note : array of str
        Protein, class predicted ('' where the classifier gave no scores), method
        in words, what to know.
    score, confidence, lower, upper, support : array of float
        See :class:`credence.confidence.Confidence`; NaN where not known.
    """

    ids: Strings
    predicted_class: Strings
    score: Floats
    confidence: Floats
    lower: Floats
    upper: Floats
    support: Floats
    method: Strings
    note: Strings


@dataclass(frozen=True, eq=False)
class Metrics:
    """How good the confidences are.

    Parameters
    ----------
    method, class_, sample, metric : array of str
        Method, class or 'all', one of `SAMPLES`, name of the metric.
    value, lower, upper : array of float
        The number and its interval; NaN where not known.
    n : array of int
        Number of proteins.
    """

    method: Strings
    class_: Strings
    sample: Strings
    metric: Strings
    value: Floats
    lower: Floats
    upper: Floats
    n: Integers


@dataclass(frozen=True, eq=False)
class Composition:
    """How frequent the classes are, here and there.

    Parameters
    ----------
    class_ : array of str
        Classes.
    calibration_share, use_share, lower, upper : array of float
        Shares of the classes, and the interval of the use-set's.
    weight : array of float
        Ratio of the shares.
    applied_share : array of float
        Shares that confidences are corrected for: so far towards the use-set's
        as chance does not explain. NaN in a table that does not have them.
    """

    class_: Strings
    calibration_share: Floats
    use_share: Floats
    lower: Floats
    upper: Floats
    weight: Floats
    applied_share: Floats


TABLES: dict[type[Any], tuple[Column, ...]] = {
    Clusters: CLUSTER_COLUMNS,
    Groups: GROUP_COLUMNS,
    Confidences: CONFIDENCE_COLUMNS,
    Metrics: METRIC_COLUMNS,
    Composition: COMPOSITION_COLUMNS,
}


def write_contract(
    path: Path,
    table: Clusters | Groups | Confidences | Metrics | Composition,
    *,
    spreadsheet_safe: bool = False,
) -> None:
    """Write one of the tables of this module.

    Parameters
    ----------
    path : Path
        TSV or Parquet, by its ending.
    table : Clusters, Groups, Confidences, Metrics or Composition
        What to write.
    spreadsheet_safe : bool
        See :class:`credence.tables.writing.TableWriter`.
    """
    arrays = vars(table).values()
    names = [column.name for column in TABLES[type(table)]]
    columns = dict(zip(names, arrays, strict=True))
    write_table(path, columns, spreadsheet_safe=spreadsheet_safe)


def read_clusters(path: Path) -> Clusters:
    """Return the clusters of a table, checked.

    A table of one's own may do without the last three columns: then the first
    id of each cluster stands for it.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    read = read_columns(path, CLUSTER_COLUMNS)
    values = read.values
    if "representative" in read.absent:
        names, codes = np.unique(values["cluster"].astype(str), return_inverse=True)
        first = np.empty(len(names), dtype=object)
        for code in range(len(codes) - 1, -1, -1):
            first[codes[code]] = values["id"][code]
        values = values | {"representative": first[codes]}
    else:
        _check_representatives(read)
    return Clusters(*(values[column.name] for column in CLUSTER_COLUMNS))


def _check_representatives(read: ReadTable) -> None:
    values = read.values
    cluster_of = dict(zip(values["id"], values["cluster"], strict=True))
    problems = []
    for row, (cluster, representative) in enumerate(
        zip(values["cluster"], values["representative"], strict=True)
    ):
        if cluster_of.get(representative) == cluster:
            continue
        home = (
            f"is in cluster {cluster_of[representative]!r}"
            if representative in cluster_of
            else "is no id of this table"
        )
        problems.append(
            Problem(
                read.where,
                f"{representative!r} {home}, not one of cluster {cluster!r}.",
                f"Give a protein of cluster {cluster!r}.",
                int(read.lines[row]),
                "representative",
            )
        )
    if problems:
        raise InputError(problems)


def read_groups(path: Path) -> Groups:
    """Return the groups of a table, checked: no cluster is in two of them.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    read = read_columns(path, GROUP_COLUMNS)
    values = read.values
    problems = []
    home: dict[str, tuple[str, str]] = {}
    for row in range(len(values["id"])):
        id_, cluster, group = (values[name][row] for name in ("id", "cluster", "group"))
        line = int(read.lines[row])
        if values["role"][row] == "set_aside":
            if not values["reason"][row]:
                what = f"{id_!r} is set aside without a reason."
                problems.append(Problem(read.where, what, "Write the reason.", line, "reason"))
            continue
        if not group:
            what = f"{id_!r} has no group."
            problems.append(Problem(read.where, what, "Give it the group.", line, "group"))
            continue
        first, known = home.setdefault(cluster, (id_, group))
        if known != group:
            what = (
                f"cluster {cluster!r} is divided: {first!r} is in {known!r}, {id_!r} in {group!r}."
            )
            remedy = "Put all proteins of a cluster into one group."
            problems.append(Problem(read.where, what, remedy, line, "group"))
    if problems:
        raise InputError(problems)
    return Groups(*(values[column.name] for column in GROUP_COLUMNS))


CONFIDENCE_NAMES = tuple(column.name for column in CONFIDENCE_COLUMNS)
ADJUSTED_NAMES = tuple(column.name for column in ADJUSTED_COLUMNS)


def confidence_columns(
    predictions: Predictions, confidence: Confidence, method: str
) -> dict[str, Any]:
    """Return some rows of the table `confidences`, for a TableWriter.

    Parameters
    ----------
    predictions : Predictions
        What the classifier said.
    confidence : Confidence
        The answer, row by row.
    method : str
        The method's specification.
    """
    n_samples = predictions.n_samples
    names = np.array(predictions.class_names, dtype=object)
    codes, places = np.unique(confidence.note, return_inverse=True)
    notes = np.array([note_text(int(code)) for code in codes], dtype=object)
    score = predictions.top_score
    return {
        "id": predictions.ids,
        "predicted_class": names[predictions.predicted_class],
        "score": np.full(n_samples, np.nan) if score is None else score,
        "confidence": confidence.value,
        "lower": confidence.lower,
        "upper": confidence.upper,
        "support": confidence.support,
        "method": np.full(n_samples, method, dtype=object),
        "note": notes[places],
    }


def read_confidences(path: Path) -> Confidences:
    """Return the confidences of a table, checked: each lies within its interval.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    known = (*CONFIDENCE_COLUMNS, *ADJUSTED_COLUMNS, *SET_COLUMNS, *NOVELTY_COLUMNS)
    read = read_columns(path, known, tuple(_share(prefix) for prefix in PREFIXES))
    _check_interval(read, "confidence")
    _check_interval(read, *ADJUSTED_NAMES)
    return Confidences(*(read.values[column.name] for column in CONFIDENCE_COLUMNS))


def read_metrics(path: Path) -> Metrics:
    """Return the metrics of a table, checked: each lies within its interval.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    read = read_columns(path, METRIC_COLUMNS)
    _check_interval(read, "value")
    return Metrics(*(read.values[column.name] for column in METRIC_COLUMNS))


def read_composition(path: Path) -> Composition:
    """Return the composition of a table, checked.

    Parameters
    ----------
    path : Path
        TSV, CSV or Parquet.
    """
    read = read_columns(path, COMPOSITION_COLUMNS)
    _check_interval(read, "use_share")
    return Composition(*(read.values[column.name] for column in COMPOSITION_COLUMNS))


def _check_interval(
    read: ReadTable, name: str, lower_name: str = "lower", upper_name: str = "upper"
) -> None:
    """Refuse rows whose number is outside its interval; NaN is outside nothing."""
    values, lower, upper = (read.values[column] for column in (name, lower_name, upper_name))
    bad = (values < lower) | (values > upper) | (lower > upper)
    problems = [
        Problem(
            read.where,
            f"{values[row]} is not within the interval {lower[row]} to {upper[row]}.",
            "Give an interval that holds the number.",
            int(read.lines[row]),
            name,
        )
        for row in np.flatnonzero(bad)
    ]
    if problems:
        raise InputError(problems)
