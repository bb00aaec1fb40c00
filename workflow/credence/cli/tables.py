"""What several commands do with tables: reading a set, and whom it calibrates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Floats, Labelled, Strings, label
from credence.problems import InputError, Problem, refuse
from credence.splits.pack import kind_of
from credence.tables.contract import read_clusters, read_groups
from credence.tables.formats.registry import BY_NAME
from credence.tables.joining import concatenate, require_different
from credence.tables.matching import match_rows
from credence.tables.samples import Samples, read_samples
from credence.tables.spec import TableSpec

# What a calibration file says of its counts, and so whoever uses it.
RELATIVES_KNOWN = "relatives are counted by cluster"
RELATIVES_UNKNOWN = (
    "every protein counts as a family of its own; if relatives are among those it was "
    "fitted on, its intervals are too narrow"
)
SPEC_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "format": (str, "the name of a format"),
    "scale": ((int, float), "a number"),
    "columns": (dict, 'names like {"id": "name"}'),
    "synonyms": (dict, 'names like {"spelling": "class"}'),
    "sum_to_scale": (bool, "true or false"),
    "pooling": (str, "sum or log_sum"),
    "genome": (str, "the name of a column"),
}
SPEC_NAMES = tuple(SPEC_KINDS)


@dataclass(frozen=True, eq=False)
class CalibrationSet:
    """The proteins that fit and judge, and why others do not.

    Parameters
    ----------
    labelled : Labelled
        Those of the role `calibration`, weighted.
    set_aside : mapping of str to int
        Reason → number of proteins that are not used because of it.
    """

    labelled: Labelled
    set_aside: Mapping[str, int]


def table_spec(
    paths: Sequence[str], format_: str | None, settings: Mapping[str, Any]
) -> TableSpec:
    """Return how tables are read: as stated, or as the one format that fits.

    Parameters
    ----------
    paths : sequence of str
        The tables.
    format_ : str, optional
        Name of the format, where it is stated.
    settings : mapping
        Settings of a set of the configuration.
    """
    unknown = [name for name in settings if name not in SPEC_NAMES]
    if unknown:
        raise InputError(
            Problem(
                "--spec", "unknown setting.", f"Known are: {', '.join(SPEC_NAMES)}.", None, name
            )
            for name in unknown
        )
    wrong = [
        Problem("--spec", f"{value!r} is no value for it.", f"Give {word}.", None, name)
        for name, value in settings.items()
        for kinds, word in [SPEC_KINDS[name]]
        if value is not None
        and (not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool))
    ]
    if wrong:
        raise InputError(wrong)
    values = dict(settings)
    stated = values.pop("format", None)
    name = format_ or stated or proposed_format(Path(paths[0]))
    return TableSpec(format=name, **values)


def as_calibrated(spec: TableSpec, class_names: tuple[str, ...], scale: float) -> TableSpec:
    """Return how a table is read that a calibration is to annotate.

    The classes are those of the calibration, in its order; and the scale, where
    neither the user nor the format states one.

    Parameters
    ----------
    spec : TableSpec
        As the user states it.
    class_names, scale
        Of the calibration.
    """
    stated = spec.scale
    if stated is None and spec.format in BY_NAME and BY_NAME[spec.format].scale is None:
        stated = scale
    return replace(spec, class_names=class_names, scale=stated)


def proposed_format(path: Path) -> str:
    """Return the one format that fits a table; refuse where it is not one.

    Parameters
    ----------
    path : Path
        A score table.
    """
    import click

    from credence.tables.formats.registry import propose_formats

    proposals = propose_formats(path)
    names = [proposal.format for proposal in proposals]
    if len(names) == 1:
        click.echo(f"{path}: read as {names[0]} ({proposals[0].reason}).", err=True)
        return names[0]
    if not names:
        raise refuse(
            str(path),
            "no format fits this table.",
            'Name its columns: --format wide --spec \'{"columns": {"id": …}}\'.',
        )
    raise refuse(
        str(path),
        f"several formats fit this table: {', '.join(names)}.",
        f"Name one: --format {names[0]}.",
    )


def read_set(paths: Sequence[str], spec: TableSpec) -> Samples:
    """Return the samples of one table or several, with all their problems.

    Parameters
    ----------
    paths : sequence of str
        Tables of the same classes.
    spec : TableSpec
        How they are read.
    """
    parts: list[tuple[Path, Samples]] = []
    problems: list[Problem] = []
    require_different(paths)
    for path in map(Path, paths):
        try:
            parts.append((path, read_samples(path, spec)))
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
    return parts[0][1] if len(parts) == 1 else concatenate(parts)


def require_labels(samples: Samples, where: str) -> None:
    """Refuse samples of which one has no true class.

    Parameters
    ----------
    samples : Samples
        What is to calibrate.
    where : str
        The table, as the user named it.
    """
    if samples.true_class is None:
        raise refuse(
            where,
            "the table has no true classes.",
            "Give labels: a table of id and label, or a pattern for FASTA headers.",
        )
    unknown = np.flatnonzero(samples.true_class == UNKNOWN_CLASS)
    if len(unknown):
        raise InputError(
            Problem(
                where,
                f"{samples.predictions.ids[row]!r} has no true class.",
                "Give it one, or remove its row.",
                int(samples.lines[row]),
            )
            for row in unknown
        )


def calibration_set(
    samples: Samples, where: str, groups: str | None, clusters: str | None, weights: str
) -> CalibrationSet:
    """Return the proteins that calibrate, with their clusters and weights.

    Parameters
    ----------
    samples : Samples
        Labelled samples.
    where : str
        Their table, as the user named it.
    groups : str, optional
        Table of groups; without it every protein calibrates.
    clusters : str, optional
        Table of clusters; without it those of `groups`, or each its own.
    weights : str
        ``none`` or ``cluster``.
    """
    require_labels(samples, where)
    predictions, true_class = samples.predictions, samples.true_class
    assert true_class is not None
    cluster = predictions.ids
    is_used = np.ones(predictions.n_samples, dtype=np.bool_)
    set_aside: dict[str, int] = {}
    if groups is not None:
        table = read_groups(Path(groups))
        rows = rows_of(predictions.ids, where, table.ids, groups)
        cluster, role, reason = table.cluster[rows], table.role[rows], table.reason[rows]
        is_used = role == "calibration"
        kinds = [kind_of(text) for text in reason[role == "set_aside"]]
        set_aside = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        if not is_used.any():
            raise refuse(
                groups,
                f"no protein of {where} has the role calibration.",
                "Give that role to the proteins that the classifier never saw.",
                column="role",
            )
    if clusters is not None:
        known = read_clusters(Path(clusters))
        cluster = known.cluster[rows_of(predictions.ids, where, known.ids, clusters)]
    labelled = label(predictions, true_class, cluster=cluster).take(is_used)
    if weights == "cluster":
        labelled = labelled.reweighted(one_per_cluster(labelled.cluster))
    return CalibrationSet(labelled, set_aside)


def in_order_of_ids(labelled: Labelled) -> Labelled:
    """Return the same proteins by the order of their ids, so that sums round alike.

    Parameters
    ----------
    labelled : Labelled
        Of different ids.
    """
    return labelled.take(np.argsort(labelled.predictions.ids.astype(str), kind="stable"))


def one_per_cluster(cluster: Strings) -> Floats:
    """Return the weight of each protein where every cluster counts one.

    Examples
    --------
    >>> one_per_cluster(np.array(["a", "a", "b"], dtype=object)).tolist()
    [0.5, 0.5, 1.0]
    """
    _, codes, sizes = np.unique(cluster.astype(str), return_inverse=True, return_counts=True)
    return np.asarray(1.0 / sizes[codes], dtype=np.float64)


def rows_of(ids: Strings, where: str, known: Strings, table: str) -> Any:
    """Return the row of a table that holds each id; refuse where one is missing.

    Parameters
    ----------
    ids : array of str
        Proteins.
    where : str
        Their table, as the user named it.
    known : array of str
        Ids of the other table.
    table : str
        That table, as the user named it.
    """
    return match_rows(ids, known, wanted_in=where, table_in=table)
