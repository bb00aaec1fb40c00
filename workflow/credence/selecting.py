"""The Python functions that choose and compare: list, thresholds, plan, compare.

They call what the commands call. Each returns a DataFrame with the columns of the command's
table; its ``attrs["sentences"]`` are what the command prints.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credence.answers import AnnotatedTable, ClassProportions, FittedCalibration
from credence.api import as_in_python, in_table, with_relatives, with_settings
from credence.stages import lists as listing
from credence.stages.settings import Settings
from credence.tables import stage_files

if TYPE_CHECKING:
    import pandas as pd

    from credence.api import ColumnLike, GroupsLike, TableLike


def _frame(columns: Mapping[str, Any], sentences: Iterable[str]) -> pd.DataFrame:
    """Return a table as a DataFrame, and beside it what a command prints of it."""
    import pandas as pd

    frame = pd.DataFrame(dict(columns))
    frame.attrs["sentences"] = tuple(sentences)
    return frame


def _maker(annotated: AnnotatedTable, calibration: FittedCalibration) -> listing.Maker:
    return listing.Maker(
        name="calibration",
        file=calibration.file,
        shift_name="annotated.correction",
        shift=annotated.correction,
    )


@with_settings("list")
def list(
    annotated: AnnotatedTable,
    calibration: FittedCalibration,
    *,
    error: float = 0.05,
    by_class: bool = False,
    of_background: bool = False,
    certain: bool = False,
    clusters: str | Path | None = None,
    settings: Settings,
) -> pd.DataFrame:
    """Return the predictions that can be used at an error rate (FDR), the longest such list.

    Parameters
    ----------
    annotated : AnnotatedTable
        From :func:`annotate`.
    calibration : FittedCalibration
        What it was annotated with.
    error : float
        Error rate that the list may have, 0.05 for 5 %.
    by_class : bool
        A list for each class, each by itself.
    of_background : bool
        The list of background predictions, in place of the calls.
    certain : bool
        The upper bound of the error rate, not its estimate, is at most `error`.
    clusters : path, optional
        Table of clusters of the listed proteins, for the interval.
    SETTINGS

    Returns
    -------
    DataFrame
        With id, predicted_class, confidence, its interval, q_value, decision and note;
        ``attrs["sentences"]`` say how many of them are expected to be right.

    Examples
    --------
    >>> import credence
    >>> scores = [[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 40
    >>> labels = ["Portal"] * 39 + ["Collar"] * 41
    >>> known = credence.read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> calibration = credence.fit(known, method="class_only", resamples=20)
    >>> found = credence.annotate(known, calibration)
    >>> chosen = credence.list(found, calibration, error=0.1)
    >>> len(chosen), sorted(chosen["predicted_class"].unique())
    (80, ['Collar', 'Portal'])
    """
    pieces: deque[Mapping[str, Any]] = deque()
    with as_in_python():
        asked = listing.ListAsked(
            error=error, by_class=by_class, of_background=of_background, is_certain=certain
        )
        maker = _maker(annotated, calibration)
        table, counts = listing.table_in_memory(annotated.columns, "annotated", maker, settings)
        path = None if clusters is None else str(clusters)
        chosen = listing.choose_lists(table, counts, settings, asked, path, pieces.append)
    columns = {
        name: np.concatenate([piece[name] for piece in pieces] or [np.empty(0)])
        for name in listing.LIST_NAMES
    }
    return _frame(columns, (*maker.sentences(), *chosen.sentences))


def plan(
    annotated: AnnotatedTable,
    calibration: FittedCalibration,
    *,
    number: int = 20,
    clusters: str | Path | None = None,
) -> pd.DataFrame:
    """Return the proteins whose verification would narrow the intervals most.

    Parameters
    ----------
    annotated : AnnotatedTable
        From :func:`annotate`.
    calibration : FittedCalibration
        What it was annotated with.
    number : int
        How many can be verified.
    clusters : path, optional
        Table of clusters of these proteins: then one of each is chosen.

    Returns
    -------
    DataFrame
        With an empty column true_class to fill in; ``attrs["sentences"]`` say what is gained.

    Examples
    --------
    >>> import credence
    >>> scores = [[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 40
    >>> labels = ["Portal"] * 30 + ["Collar"] * 50
    >>> known = credence.read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> calibration = credence.fit(known, method="class_only", resamples=20)
    >>> found = credence.annotate(known, calibration)
    >>> len(credence.plan(found, calibration, number=5))
    5
    """
    from credence.stages.plan import plan_of_table

    with as_in_python():
        maker, settings = _maker(annotated, calibration), Settings()
        table, counts = listing.table_in_memory(annotated.columns, "annotated", maker, settings)
        path = None if clusters is None else str(clusters)
        planned = plan_of_table(table, counts, number, path, "the plan")
    return _frame(planned.columns, (*maker.sentences(), *planned.sentences))


@with_settings("thresholds")
def thresholds(
    table: TableLike,
    calibration: FittedCalibration | None = None,
    *,
    shift: ClassProportions | None = None,
    groups: GroupsLike | None = None,
    clusters: ColumnLike | None = None,
    settings: Settings,
) -> pd.DataFrame:
    """Return from which score, and confidence, on predictions have the precisions wanted.

    Parameters
    ----------
    table : ScoreTable, path, DataFrame or array
        Labelled predictions, from :func:`read` or what that reads.
    calibration : FittedCalibration, optional
        What was fitted to them: for thresholds on its confidences as well.
    shift : ClassProportions, optional
        From :func:`shift`: estimates are for these class proportions.
    groups, clusters : optional
        As in :func:`fit`.
    SETTINGS

    Returns
    -------
    DataFrame
        A row for each class and precision.

    Examples
    --------
    >>> import credence
    >>> scores = [[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 40
    >>> labels = ["Portal"] * 39 + ["Collar"] * 41
    >>> known = credence.read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> found = credence.thresholds(known, precision=[0.9], resamples=0)
    >>> found[["class", "threshold"]].values.tolist()
    [['all', 0.0], ['Portal', 0.0], ['Collar', 0.0]]
    """
    import pandas as pd

    known = with_relatives(in_table(table), groups, clusters)
    measured = listing.thresholds_of(
        known,
        None if calibration is None else calibration.file,
        None if shift is None else shift.file,
        settings,
        "calibration",
    )
    return pd.DataFrame(listing.threshold_columns(measured))


def compare(
    older: FittedCalibration, newer: FittedCalibration, table: TableLike | None = None
) -> pd.DataFrame:
    """Return what changed from one calibration to another, as by a trove that joined.

    Parameters
    ----------
    older, newer : FittedCalibration
        Calibrations by one method, for the same classes.
    table : ScoreTable, path, DataFrame or array, optional
        Predictions: their confidences before and after, a row each. Unless given, a row for
        each class.

    Returns
    -------
    DataFrame
        ``attrs["sentences"]`` say what changed.

    Examples
    --------
    >>> import credence
    >>> scores = [[0.9, 0.1]] * 40 + [[0.2, 0.8]] * 40
    >>> labels = ["Portal"] * 30 + ["Collar"] * 50
    >>> known = credence.read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> older = credence.fit(known, method="class_only", resamples=20)
    >>> more = credence.read(scores * 2, classes=["Portal", "Collar"], labels=labels * 2)
    >>> newer = credence.fit(more, method="class_only", resamples=20)
    >>> credence.compare(older, newer)["n_predicted_after"].tolist()
    [80, 80]
    """
    from credence.report.release_words import step_sentences
    from credence.stages import releases

    with as_in_python():
        first, second = (
            releases.Source(path=Path(name), file=calibration.file, release=None)
            for name, calibration in (("older", older), ("newer", newer))
        )
        files = ({source.file.method_spec: source.file} for source in (first, second))
        releases.common_method(first.path, next(files), second.path, next(files), None)
        releases.require_alike(first, second)
        asked, unscored = None, np.empty(0, dtype=object)
        if table is not None:
            samples = in_table(table, newer.file).samples
            asked, unscored = samples.predictions, samples.unscored_ids
            stage_files.require_match(newer.file, asked, "the table")
        step, proteins = releases.compare_sources(first, second, asked, unscored, "newer")
    columns = releases.class_columns(step) if proteins is None else proteins
    return _frame(columns, step_sentences(step))
