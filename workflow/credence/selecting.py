"""The Python functions that choose and compare: list, thresholds, plan, compare.

They hand what is in memory to the commands' own functions, as files of a folder that goes again,
so that both give the same rows. Each returns a DataFrame with the columns of the command's table;
its ``attrs["sentences"]`` are what the command prints.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from credence.answers import AnnotatedTable, ClassProportions, FittedCalibration
from credence.api import as_in_python, in_table, save, with_relatives, with_settings
from credence.problems import InputError
from credence.stages import lists as listing
from credence.stages.settings import Settings
from credence.tables import stage_files
from credence.tables.samples import write_samples
from credence.tables.writing import write_table

if TYPE_CHECKING:
    import pandas as pd

    from credence.api import ColumnLike, GroupsLike, TableLike

CONFIDENCES, CALIBRATION, CHOSEN = "confidences.parquet", "calibration.json", "chosen.tsv"


@contextmanager
def _folder() -> Iterator[Path]:
    """Return a folder for files that nobody needs later; messages do not name it."""
    with TemporaryDirectory(prefix="credence-") as name, as_in_python():
        try:
            yield Path(name)
        except InputError as error:
            problems = [
                replace(
                    problem,
                    where=problem.where.replace(f"{name}/", ""),
                    what=problem.what.replace(f"{name}/", ""),
                )
                for problem in error.problems
            ]
            raise InputError(problems) from None


def _frame(folder: Path, name: str, printed: str) -> pd.DataFrame:
    """Return a table as a DataFrame, and beside it what was printed, without the files' names."""
    import pandas as pd

    frame = pd.read_csv(folder / name, sep="\t", keep_default_na=False, na_values=[""])
    for text in ("note", "true_class"):
        if text in frame:
            frame[text] = ["" if cell != cell else cell for cell in frame[text]]  # NaN
    sentences = (line.replace(f"{folder}/", "") for line in printed.splitlines())
    frame.attrs["sentences"] = tuple(line for line in sentences if not line.startswith("Wrote "))
    return frame


def _write(folder: Path, annotated: AnnotatedTable, calibration: FittedCalibration) -> Any:
    """Write a table of confidences and what made it; return them as options of a command."""
    save(calibration, folder / CALIBRATION)
    write_table(folder / CONFIDENCES, annotated.columns)
    shift = None
    if annotated.correction is not None:
        shift = str(folder / "shift.json")
        stage_files.SHIFT_FILES.write(Path(shift), annotated.correction)
    return {
        "confidences": str(folder / CONFIDENCES),
        "calibration": str(folder / CALIBRATION),
        "shift": shift,
        "out": str(folder / CHOSEN),
        "spreadsheet_safe": False,
    }


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
    with _folder() as folder, redirect_stderr(io.StringIO()) as printed:
        listing.list_confidences(
            **_write(folder, annotated, calibration), settings=settings, error=error,
            by_class=by_class, of_background=of_background, certain=certain,
            clusters=None if clusters is None else str(clusters), as_json=False,
        )  # fmt: skip
        return _frame(folder, CHOSEN, printed.getvalue())


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
    from credence.stages.plan import plan_verification

    with _folder() as folder, redirect_stderr(io.StringIO()) as printed:
        given = None if clusters is None else str(clusters)
        made = _write(folder, annotated, calibration)
        plan_verification(**made, number=number, clusters=given)
        return _frame(folder, CHOSEN, printed.getvalue())


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
    from credence.stages.releases import compare_releases

    with _folder() as folder, redirect_stderr(io.StringIO()) as printed:
        paths = [str(folder / f"{name}.json") for name in ("older", "newer")]
        for calibration, path in zip((older, newer), paths, strict=True):
            save(calibration, path)
        scores = None
        if table is not None:
            scores = str(folder / "table.parquet")
            write_samples(Path(scores), in_table(table, newer.file).samples)
        written = str(folder / CHOSEN)
        compare_releases(
            older=paths[0], newer=paths[1], table=scores,
            format_=None if scores is None else "credence", spec_json="{}",
            method=None, classes=None if scores else written, page=None, record=None,
            as_json=False, spreadsheet_safe=False, held_out=None,
            out=written if scores else None,
        )  # fmt: skip
        return _frame(folder, CHOSEN, printed.getvalue())
