"""The Python functions: read, fit, annotate, evaluate, split, shift, load and save.

They do in memory what the commands of the same names do with files: the same stages,
settings, defaults and checks. What they return shows itself (:mod:`credence.answers`).
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar

import numpy as np

from credence.answers import (
    AnnotatedTable,
    ClassProportions,
    EvaluatedMethods,
    FittedCalibration,
    ProteinGroups,
    ScoreTable,
)
from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Need
from credence.predictions import Strings
from credence.problems import InputError, Problem, raise_any, refuse
from credence.proteins import Proteins, join
from credence.relatives.pack import CALIBRATION, NO_GROUP, SET_ASIDE, TEST, TRAINING
from credence.settings import schema_of, setting_rules, setting_type, type_text
from credence.stages import reading
from credence.stages.fit import fit_chosen, fit_tables
from credence.stages.settings import SECTIONS, TABLE_KEYS, USES, Settings
from credence.tables import stage_files
from credence.tables.contract import Clusters, Groups, read_clusters, read_groups
from credence.tables.document import Document, schema_problems
from credence.tables.formats import COLUMN_ROLES, FORMAT_OF, TableSpec
from credence.tables.labels import attach_labels, read_labels
from credence.tables.samples import read_samples
from credence.tables.source import MemoryTable, text_of

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from credence.stages.split import LabelledProteins

    # What functions take where they take a table, a column of one, and groups of proteins.
    TableLike: TypeAlias = (
        ScoreTable
        | str
        | Path
        | Sequence[str | Path]
        | pd.DataFrame
        | NDArray[Any]
        | Sequence[Sequence[float]]
    )
    ColumnLike: TypeAlias = (
        str | Path | pd.DataFrame | pd.Series | NDArray[Any] | Sequence[str] | Sequence[int]
    )
    GroupsLike: TypeAlias = ProteinGroups | ColumnLike

# How a row of a table in memory is written in Python, where rows count from 0.
PLACE_IN_PYTHON = {name: f"{name}[{{}}]" for name in ("scores", "labels", "clusters", "groups")}
PLACE_IN_PYTHON["table"] = "table.iloc[{}]"
OTHER_ROLES = tuple(role for role in COLUMN_ROLES if role not in ("id", "classes"))
Returned = TypeVar("Returned")


def with_settings(
    stage: str, **further: tuple[str, ...]
) -> Callable[[Callable[..., Returned]], Callable[..., Returned]]:
    """Give a function each setting of a stage as a keyword: its default, help and checks.

    The function gets all of them as one argument, `settings`, and as `asked` the names
    of those that were given; keywords are named as the command's options.
    """
    entries: dict[str, tuple[str, str]] = {}  # Keyword → section and name
    texts, added = [], []
    for section, names in (USES[stage] | further).items():
        for name in names:
            default, rule = setting_rules(SECTIONS[section])[name]
            keyword = (rule.option or name).lstrip("-").replace("-", "_")
            entries[keyword] = section, name
            by_name = inspect.Parameter.KEYWORD_ONLY
            hint = type_text(SECTIONS[section], name)
            added.append(inspect.Parameter(keyword, by_name, default=default, annotation=hint))
            kind = setting_type(SECTIONS[section], name)[0].__name__.lower()
            text = f"{rule.text[0].upper()}{rule.text[1:]}."
            texts.append(f"{keyword} : {kind}, default {default!r}\n    {text}")

    def decorate(function: Callable[..., Returned]) -> Callable[..., Returned]:
        signature = inspect.signature(function)
        hidden = {"settings", "asked"} & signature.parameters.keys()

        @wraps(function)
        def call(*args: Any, **given: Any) -> Returned:
            asked = {keyword: given.pop(keyword) for keyword in entries if keyword in given}
            with as_in_python():
                settings = _settings_of(function.__name__, asked, entries)
                names = [entries[keyword][1] for keyword in asked]
                made = {"settings": settings, "asked": names}
                return function(*args, **given, **{name: made[name] for name in hidden})

        shown = [entry for name, entry in signature.parameters.items() if name not in hidden]
        described: Any = call
        described.__signature__ = signature.replace(parameters=[*shown, *added])
        # Before Python 3.13 it is indented as in the source.
        text = inspect.cleandoc(function.__doc__ or "")
        described.__doc__ = text.replace("SETTINGS", "\n".join(texts))
        return call

    return decorate


def _settings_of(
    function: str, asked: Mapping[str, Any], entries: Mapping[str, tuple[str, str]]
) -> Settings:
    """Return the settings that keywords ask for; refuse what the configuration would refuse."""
    sections: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for keyword, value in asked.items():
        section, name = entries[keyword]
        plain = value.item() if hasattr(value, "item") else value
        sections.setdefault(section, {})[name] = plain
        document = Document(where=function, data={name: plain}, lines={})
        refused = schema_problems(document, schema_of(SECTIONS[section]))
        problems += [replace(problem, column=keyword) for problem in refused]
    raise_any(problems)
    return Settings().with_values(sections)


def read(  # noqa: PLR0913
    table: TableLike,
    *,
    classes: Sequence[str] | None = None,
    ids: ColumnLike | None = None,
    labels: ColumnLike | None = None,
    groups: GroupsLike | None = None,
    clusters: ColumnLike | None = None,
    format: str | None = None,
    scale: float | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    sum_to_scale: bool | None = None,
    synonyms: Mapping[str, str] | None = None,
    pooling: str = "sum",
    genome: str | None = None,
    logits: bool = False,
) -> ScoreTable:
    """Return what a classifier predicted for some proteins, checked.

    Parameters
    ----------
    table : path, list of paths, DataFrame or array
        A score table, or several of one set; a DataFrame with a column for each
        class; or an array with a row for each protein and a column for each class.
    classes : sequence of str, optional
        Classes in the order to use. An array needs them; of a table they are the
        columns' names unless given.
    ids : array or str, optional
        Names of the proteins, or the column that holds them. Unless given the column
        `id`, else the index of a DataFrame or the row's number.
    labels : array, str, path or DataFrame, optional
        True classes: one for each row, '' where it is not known; the column of a
        DataFrame; or a table of id and true_class.
    groups : ProteinGroups, array, str, path or DataFrame, optional
        What each protein is used for: what :func:`split` gave; one group for
        each row, where ``test`` only judges and '' is not used; the column of a
        DataFrame that holds them; or a table of id, cluster, group, role and reason.
    clusters : array, str, path or DataFrame, optional
        Which proteins are relatives: a name for each row, the column of a DataFrame, or
        a table of id and cluster. Unless given, the clusters of the groups.
    format : str, optional
        Format of a file, see ``credence show methods`` and the README; the one that fits
        unless given.
    scale : float, optional
        What a row sums to; the format's own, and 1 of a table in memory.
    columns : mapping of str to str, optional
        Names of columns by their role: id, true_class, predicted_class, score, network,
        classes.
    sum_to_scale : bool, optional
        False for scores that sum to nothing in particular; `scale` is then the greatest.
    synonyms : mapping of str to str, optional
        Further spellings of labels: spelling → class.
    pooling : str
        Of an ensemble's networks: ``sum`` or ``log_sum``.
    genome : str, optional
        Column that names each protein's genome, for :func:`shift`.
    logits : bool
        Whether scores are logits: the softmax of each row is read.

    Raises
    ------
    InputError
        With every problem at once, each with its row, column, value and remedy. Rows
        of a file are named by their line, rows in memory as Python names them.

    Examples
    --------
    >>> scores = [[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]]
    >>> read(scores, classes=["Portal", "Collar"], labels=["Portal", "Collar", "Collar"])
    ScoreTable: 3 proteins, 2 classes, from scores
    66.7 % of the predictions are right.
    Families unknown: every protein counts as independent, so intervals may be too narrow.
    class   predicted  of the class  right  precision
    Portal          2             1      1       0.50
    Collar          1             2      1       1.00
    >>> read([[0.9, 0.1], [0.95, 0.15]], classes=["Portal", "Collar"])
    Traceback (most recent call last):
        ...
    credence.problems.InputError: scores[1]: the scores sum to 1.1, not to 1 (give or take \
0.01 for the decimals). Correct the scores or remove the row.
    """
    spec = TableSpec(
        format=format or "", scale=scale,
        class_names=None if classes is None else tuple(map(str, classes)),
        columns=dict(columns or {}), synonyms=dict(synonyms or {}), sum_to_scale=sum_to_scale,
        pooling=pooling, genome=genome, logits=logits,
    )  # fmt: skip
    with as_in_python():
        further = {"ids": ids, "labels": labels, "groups": groups, "clusters": clusters}
        if _is_files(table):
            paths = [str(path) for path in ([table] if isinstance(table, str | Path) else table)]
            if not paths:
                raise refuse("table", "there is no path.", "Give the path of a table.")
            if not spec.format:
                spec = replace(spec, format=_format_of(paths[0]))
            samples = reading.read_set(paths, spec)
        else:
            paths = ["table" if hasattr(table, "columns") else "scores"]
            spec, columns = _columns_of(table, spec, further)
            held = MemoryTable(list(columns), list(columns.values()), paths[0])
            samples = read_samples(held, spec)
        if further["labels"] is not None:
            known = samples.predictions.ids
            labelled = read_labels(_second_table(further["labels"], "labels", known, "true_class"))
            samples = attach_labels(samples, labelled, spec, paths[0])
        read_as = reading.to_remember(spec) if _is_files(table) else None
        scored = ScoreTable(where=", ".join(paths), samples=samples, read_as=read_as)
        return with_relatives(scored, further["groups"], further["clusters"])


def _is_files(table: Any) -> TypeGuard[str | Path | Sequence[str | Path]]:
    """Return whether a table is one path or several."""
    paths = table if isinstance(table, list | tuple) else [table]
    return all(isinstance(path, str | Path) for path in paths)


def _format_of(path: str) -> str:
    """Return the one format that fits a file; refuse where it is not one."""
    from credence.tables.guess import the_format

    def state(settings: dict[str, Any]) -> str:
        return ", ".join(f"{key}={value!r}" for key, value in settings.items())

    return the_format(Path(path), "format={!r}", state).format


def _columns_of(
    table: Any, spec: TableSpec, further: dict[str, Any]
) -> tuple[TableSpec, dict[str, Any]]:
    """Return the columns of a DataFrame or an array by their names, and how they are read.

    Ids and labels of `further` become columns; groups and clusters that are named as
    columns are taken out of these.
    """
    problems: list[Problem] = []
    is_frame = hasattr(table, "columns")
    columns = (_of_frame if is_frame else _of_array)(table, spec.class_names, problems)
    index = table.index if is_frame else range(len(table))
    stated = dict(spec.columns)
    for word, value in further.items():
        role = {"ids": "id", "labels": "true_class"}.get(word)
        if isinstance(value, str) and value in columns:
            if role is None:
                further[word] = columns.pop(value)
            else:
                stated[role], further[word] = value, None
        elif value is not None and (word == "ids" or not _is_table(value)):
            problems += _length_problems(value, len(index), word)
            if role is not None:
                columns[role], stated[role], further[word] = value, role, None
    raise_any(problems)
    known = FORMAT_OF.get(spec.format)
    name = stated.get("id", "id" if known is None else known.columns.id)
    if name is not None and name not in columns:
        columns[name] = [str(label) for label in index]
    if not spec.format:
        stated |= {role: role for role in OTHER_ROLES if role in columns and role not in stated}
        stated["id"] = name
        spec = replace(spec, format="top-score" if "score" in columns else "wide", columns=stated)
    if spec.scale is None and (known is None or known.scale is None):
        spec = replace(spec, scale=1.0)
    return spec, columns


def _of_frame(table: Any, classes: object, problems: list[Problem]) -> dict[str, Any]:
    names = [str(name) for name in table.columns]
    for name, count in Counter(names).items():
        if count > 1:
            problems.append(
                Problem(
                    where="table",
                    what=f"{count} columns have the name {name!r}.",
                    remedy="Give each column its own name.",
                )
            )
    return {name: table.iloc[:, place] for place, name in enumerate(names)}


def _of_array(
    table: Any, classes: Sequence[str] | None, problems: list[Problem]
) -> dict[str, Any]:
    each = "Give a row for each protein and a column for each class."
    try:
        values = np.asarray(table)
    except ValueError as error:
        raise refuse(
            "scores", f"they cannot be read as an array of numbers ({error}).", each
        ) from None
    if values.ndim != 2:
        raise refuse("scores", f"they have the shape {values.shape}.", each)
    n_columns = values.shape[1]
    if classes is None:
        problems.append(
            Problem(where="scores", what="their classes are not named.", remedy="Give classes.")
        )
    elif len(classes) != n_columns:
        fault = f"there are {n_columns} columns for {len(classes)} classes."
        problems.append(Problem(where="scores", what=fault, remedy=each))
    names = map(str, range(n_columns)) if classes is None else classes
    return dict(zip(names, values.T, strict=False))


def _length_problems(values: Any, n_rows: int, word: str) -> list[Problem]:
    """Return what is wrong with a column that has not one entry for each row."""
    shape = np.shape(values)
    if shape == (n_rows,):
        return []
    fault = "this is one value, not a column" if shape == () else f"its shape is {shape}"
    return [
        Problem(
            where=word,
            what=f"{fault}; there are {n_rows} rows.",
            remedy="Give one entry for each row.",
        )
    ]


def _is_table(value: Any) -> bool:
    """Return whether a value is a table of its own, in a file or in memory."""
    return isinstance(value, str | Path | ProteinGroups) or (
        hasattr(value, "iloc") and hasattr(value, "columns")
    )


def _second_table(value: Any, where: str, ids: Strings, name: str = "") -> Any:
    """Return a table of ids and something, from a path, a DataFrame or one entry a row."""
    if isinstance(value, str | Path):
        return Path(value)
    if hasattr(value, "columns"):
        return MemoryTable(list(map(str, value.columns)), [value[key] for key in value], where)
    raise_any(_length_problems(value, len(ids), where))
    return MemoryTable(["id", name], [ids, [text_of(entry) for entry in value]], where)


def with_relatives(table: ScoreTable, groups: Any, clusters: Any) -> ScoreTable:
    """Return a table with its groups and clusters, as they are given in Python."""
    if isinstance(groups, ProteinGroups):
        table = replace(table, groups=groups.groups)
    elif _is_table(groups):
        table = replace(table, groups=read_groups(_second_table(groups, "groups", table.ids)))
    elif groups is not None:
        ids = table.ids
        raise_any(_length_problems(groups, len(ids), "groups"))
        group = np.array([text_of(name) for name in groups], dtype=object)
        role_of = {TEST: TEST, TRAINING: TRAINING, NO_GROUP: SET_ASIDE}
        role = np.array([role_of.get(name, CALIBRATION) for name in group], dtype=object)
        reason = np.where(role == SET_ASIDE, "no group was given for it", "").astype(object)
        blank = np.full(len(ids), "", dtype=object)
        stated = Groups(
            ids=ids, cluster=ids, group=group, role=role, reason=reason, class_name=blank
        )
        table = replace(table, groups=stated)
    if clusters is not None:
        stated_clusters = _second_table(clusters, "clusters", table.ids, "cluster")
        table = replace(table, clusters=read_clusters(stated_clusters))
    return table


@contextmanager
def as_in_python() -> Iterator[None]:
    """Refuse with rows of tables in memory and options named as in Python."""
    try:
        yield
    except InputError as error:
        raise InputError([_in_python(problem) for problem in error.problems]) from None


def _in_python(problem: Problem) -> Problem:
    where, fault, remedy = (
        re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda word: word[1].replace("-", "_"), text)
        for text in (problem.where, problem.what, problem.remedy)
    )
    remedy = remedy.replace("sum_to_scale: false", "sum_to_scale=False")
    place = PLACE_IN_PYTHON.get(where)
    if place is None:
        return replace(problem, where=where, what=fault, remedy=remedy)
    fault = re.sub(r"in line (\d+)", lambda at: f"in {place.format(int(at[1]) - 1)}", fault)
    where = where if problem.line is None else place.format(problem.line - 1)
    return Problem(where=where, what=fault, remedy=remedy, line=None, column=problem.column)


@with_settings("fit")
def fit(
    table: TableLike,
    *,
    groups: GroupsLike | None = None,
    clusters: ColumnLike | None = None,
    settings: Settings,
) -> FittedCalibration:
    """Return a calibration, learnt from labelled predictions.

    The proteins must be ones that the classifier never saw in training.

    Parameters
    ----------
    table : ScoreTable, path or DataFrame
        Labelled predictions, from :func:`read` or what that reads.
    groups, clusters : optional
        As in :func:`read`; of groups only the role ``calibration`` fits. Without either
        every protein counts as a family of its own, and the record says so.
    SETTINGS

    Examples
    --------
    >>> scores = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12
    >>> labels = ["Portal"] * 9 + ["Collar"] * 15
    >>> known = read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> calibration = fit(known, method="class_only", resamples=0, sets=None)
    >>> annotate([[0.7, 0.3]], calibration)["confidence"].tolist()  # 9 of 12 were right
    [0.75]
    """
    _require_method(settings.calibration.method)
    known = with_relatives(in_table(table), groups, clusters)
    return FittedCalibration(file=fit_tables(known, settings).file)


def annotate(
    table: TableLike, calibration: FittedCalibration, *, shift: ClassProportions | str = "auto"
) -> AnnotatedTable:
    """Return every prediction with its confidence, in the table's order.

    Parameters
    ----------
    table : ScoreTable, path, DataFrame or array
        Predictions; what is not yet read is read with the calibration's classes and scale.
    calibration : FittedCalibration
        From :func:`fit` or :func:`load`.
    shift : ClassProportions or str
        ``auto``: the class proportions of the table are estimated and confidences are
        corrected for them; those that are not corrected stand behind as
        `uncorrected_confidence`. ``none``: they are not. Or what :func:`shift` gave, as
        of proportions that you state.

    Examples
    --------
    >>> scores = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12
    >>> labels = ["Portal"] * 9 + ["Collar"] * 15
    >>> known = read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> found = annotate(known, fit(known, method="class_only", resamples=50))
    >>> found.to_pandas()[["predicted_class", "confidence"]].iloc[0].to_dict()
    {'predicted_class': 'Portal', 'confidence': 0.75}
    >>> bool(0 < found["lower"][0] < 0.75 < found["upper"][0] < 1)
    True
    """
    from credence.stages import annotate as stage
    from credence.stages.lists import with_lists
    from credence.stages.shift import find_shift, why_uncorrectable

    file = calibration.file
    with as_in_python():
        if isinstance(shift, str) and shift not in ("auto", stage.NO_CORRECTION):
            fault = f"{shift!r} is neither the result of credence.shift nor 'auto' or 'none'."
            raise refuse(
                "shift", fault, "Give the result of credence.shift, or one of the two words."
            )
        if file.tools is not None:
            fault = "this calibration is of several tools, whose tables it combines."
            raise refuse("calibration", fault, "Use the command: credence annotate --tool.")
        use = in_table(table, file)
        stage_files.require_match(file, use.predictions, use.where)
        correction = None
        if isinstance(shift, ClassProportions):
            correction = shift.file
            stage_files.require_corrects(correction, file, "shift", "the one given")
        elif (
            shift == "auto"
            and use.predictions.n_samples
            and not why_uncorrectable(file, Settings().shift)
        ):
            parts = [(use.where, use.samples)]
            name = Path(use.where).stem
            correction = find_shift(file, parts, Settings(), name, use.where)
        annotation = stage.annotation_of(file, shift=correction).of_set(lambda: [use.predictions])
        (columns,) = annotation.rows([(use.where, use.samples)])
        columns, lists = with_lists(columns, file, correction, Path(use.where).stem)
    return AnnotatedTable(
        columns=columns,
        class_names=file.class_names,
        method=file.method_spec,
        lists=lists,
        correction=correction,
    )


@with_settings("evaluate")
def evaluate(
    table: TableLike,
    methods: str | FittedCalibration | Sequence[str | FittedCalibration] = "auto",
    *,
    calibration: FittedCalibration | None = None,
    groups: GroupsLike | None = None,
    clusters: ColumnLike | None = None,
    settings: Settings,
) -> EvaluatedMethods:
    """Return how good methods are on proteins that did not fit them.

    Each method is fitted again without one fold of whole clusters after the other. A finished
    `calibration` is judged as it is, on proteins that it never saw.

    Parameters
    ----------
    table : ScoreTable, path or DataFrame
        Labelled predictions, from :func:`read` or what that reads.
    methods : str, FittedCalibration, or sequence of both
        What is judged; the first is what the others are compared with.
    calibration : FittedCalibration, optional
        In their place: a finished calibration. Proteins that it was fitted on are left out, and
        counted; of groups with the role ``test`` that role judges.
    groups, clusters : optional
        As in :func:`fit`.
    SETTINGS

    Examples
    --------
    >>> scores = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12
    >>> labels = ["Portal"] * 9 + ["Collar"] * 15
    >>> known = read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> found = evaluate(known, ["class_only", "uncalibrated"], folds=4, resamples=0).to_pandas()
    >>> rows = (found["sample"] == "held_out") & (found["metric"] == "accuracy")
    >>> found[rows & (found["class"] == "all")]["value"].tolist()
    [0.875, 0.875]
    >>> new = read([[0.8, 0.2]] * 4, classes=["Portal", "Collar"], ids=list("wxyz"),
    ...            labels=["Portal"] * 3 + ["Collar"])
    >>> found = evaluate(new, calibration=fit(known, method="class_only"), resamples=0).to_pandas()
    >>> rows = (found["metric"] == "accuracy") & (found["class"] == "all")
    >>> found[rows][["sample", "value", "n"]].values.tolist()
    [['test', 0.75, 4]]
    """
    from credence.stages.evaluate import findings_of_test_set, judge_calibrations, judge_new

    if calibration is not None:
        if methods != "auto":
            fault = "methods and a finished calibration are judged in different ways."
            raise refuse("calibration", fault, "Give one of the two.")
        new = with_relatives(in_table(table, calibration.file), groups, clusters)
        files = {calibration.method: calibration.file}
        test_set = judge_new(new, files, settings, calibration.method)
        return EvaluatedMethods(findings=findings_of_test_set(test_set, files, calibration.method))
    given = [methods] if isinstance(methods, str | FittedCalibration) else list(methods)
    known = with_relatives(in_table(table), groups, clusters)
    chosen = known.calibrating(settings.calibration.weights)
    files = {}
    for entry in given:
        if not isinstance(entry, FittedCalibration):
            _require_method(entry)
        # Only its confidences of the set itself are looked at: no intervals.
        file = _fitted(entry, chosen, known.where, settings, clusters=False, resamples=0)
        if file.method_spec in files:
            fault = f"{file.method_spec!r} was given already."
            raise refuse("methods", fault, "Give each method once.")
        files[file.method_spec] = file
    if not files:
        raise refuse("methods", "there is none.", "Name a method, as 'kernel'.")
    labelled = reading.in_order_of_ids(chosen.labelled)
    return EvaluatedMethods(
        findings=judge_calibrations(labelled, files, settings, next(iter(files)))
    )


@with_settings("split", clustering=("engine", "identity", "coverage", "chance"))
def split(  # noqa: PLR0913
    table: TableLike | None = None,
    *,
    labels: str | Path | pd.DataFrame | Mapping[str, str] | None = None,
    fastas: Mapping[str, str | Path] | None = None,
    proteins: str | Path | Sequence[str] | NDArray[Any] | None = None,
    training: str | Path | None = None,
    clusters: ColumnLike | None = None,
    match: str = "first_word",
    threads: int = 1,
    settings: Settings,
    asked: Collection[str],
) -> ProteinGroups:
    """Return groups of whole clusters with every class's share alike, each protein with a role.

    Relatives are found, and looked for in other groups, where sequences are given. One of
    `table`, `labels` and `fastas` names the labelled proteins; the latter two need no scores.

    Parameters
    ----------
    table : ScoreTable, path or DataFrame, optional
        Labelled predictions, from :func:`read` or what that reads.
    labels : path, DataFrame or mapping of str to str, optional
        True classes by id: a table of id and true_class.
    fastas : mapping of str to path, optional
        For each class the FASTA file of its proteins.
    proteins : path or array of str, optional
        Their FASTA file, or a sequence for each row.
    training : path, optional
        FASTA file of the classifier's training set; its relatives are set aside.
    clusters : optional
        As in :func:`read`; found among the sequences unless given.
    match : str
        How table ids are matched to FASTA headers: ``full`` or ``first_word``.
    threads : int
        Alignments at a time.
    SETTINGS

    Examples
    --------
    >>> scores, labels = [[0.9, 0.1], [0.3, 0.7]] * 4, ["Portal", "Collar"] * 4
    >>> known = read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> found = split(known, clusters=["a", "a", "b", "b"] * 2, groups=2).to_pandas()
    >>> found.groupby("cluster")["group"].nunique().tolist()  # clusters stay whole
    [1, 1]
    >>> labels = {"p1": "Portal", "p2": "Collar", "p3": "Portal", "p4": "Collar"}
    >>> found = split(labels=labels, roles={"training": 1, "test": 1}).to_pandas()
    >>> found.groupby("role")["class"].agg(sorted).to_dict()
    {'test': ['Collar', 'Portal'], 'training': ['Collar', 'Portal']}
    """
    from credence.relatives.all_engines import build_engine
    from credence.stages import split as stage

    if training is not None and proteins is None and fastas is None:
        raise refuse("training", "there are no sequences to compare.", "Give proteins.")
    if (table is not None) + (labels is not None) + (fastas is not None) != 1:
        fault = "the labelled proteins are to be given in exactly one way."
        raise refuse("table", fault, "Give one of table, labels and fastas.")
    chosen = stage.in_effect(settings.split, clusters, fastas or proteins, asked)
    settings = replace(settings, split=chosen)
    known, relatives = _labelled_proteins(table, labels, fastas, clusters, proteins, match)
    ours = known.proteins
    engine = build_engine(settings.clustering.engine, stage.relatives_from(settings), threads)
    learnt = stage.read_training(None if training is None else str(training), match, ours)
    everyone = join([ours, learnt])
    cluster, made_by = everyone.ids.copy(), "none"
    if relatives is not None:
        made_by = "table"
        rows = reading.rows_by_id(ours.ids, known.where, relatives.ids, "clusters")
        cluster[: ours.n_proteins] = relatives.cluster[rows]
    elif (fastas or proteins is not None) and chosen.recipe != stage.PHANNS_RECIPE:
        cluster, made_by = engine.cluster(everyone).cluster, "aligned"
    related = None
    if training is not None:
        related = stage.training_relatives(ours, learnt, engine, settings, threads)
    groups, finding = stage.split_proteins(
        ours, learnt, cluster, known.true_class, known.class_names,
        settings, made_by, related, threads,
    )  # fmt: skip
    return ProteinGroups(groups=groups, finding=finding, settings=chosen)


def _labelled_proteins(
    table: Any, labels: Any, fastas: Any, clusters: Any, proteins: Any, match: str
) -> tuple[LabelledProteins, Clusters | None]:
    """Return the labelled proteins that one of three names, and their clusters, where given."""
    from credence.stages import split as stage

    if table is not None:
        scored = with_relatives(in_table(table), None, clusters)
        known = stage.LabelledProteins(
            where=scored.where,
            proteins=_proteins(scored.ids, proteins, match, scored.where),
            true_class=reading.require_labels(scored.samples, scored.where),
            class_names=scored.class_names,
        )
        return known, scored.clusters
    if fastas is not None:
        if proteins is not None:
            raise refuse(
                "proteins",
                "the files of fastas hold the sequences already.",
                "Leave proteins out.",
            )
        files = [(str(name), str(path)) for name, path in fastas.items()]
        known = stage.read_classes(files, match)
    else:
        if isinstance(labels, Mapping):
            columns = [list(map(str, part)) for part in (labels.keys(), labels.values())]
            source: Any = MemoryTable(["id", "true_class"], columns, "labels")
        else:
            source = _second_table(labels, "labels", np.empty(0, dtype=object))
        stated = read_labels(source)
        sequences = _proteins(stated.ids, proteins, match, stated.where)
        known = stage.labelled_proteins(stated, sequences)
    if clusters is None:
        return known, None
    return known, read_clusters(_second_table(clusters, "clusters", known.proteins.ids, "cluster"))


def _proteins(ids: Strings, proteins: Any, match: str, where: str) -> Proteins:
    if proteins is None or isinstance(proteins, str | Path):
        path = None if proteins is None else str(proteins)
        return reading.proteins_of(ids, path, match, where)
    raise_any(_length_problems(proteins, len(ids), "proteins"))
    return Proteins(ids=ids, sequences=np.array([str(text) for text in proteins], dtype=object))


@with_settings("shift")
def shift(
    table: TableLike, calibration: FittedCalibration, *, name: str = "", settings: Settings
) -> ClassProportions:
    """Return how frequent the classes are in a table whose classes are not known.

    Only the class proportions may differ from the calibration set's; whether that is
    so is tested and reported.

    Parameters
    ----------
    table : ScoreTable, path, DataFrame or array
        Predictions of the query set.
    calibration : FittedCalibration
        From :func:`fit` or :func:`load`.
    name : str
        What to call the table.
    SETTINGS

    Examples
    --------
    >>> scores = [[0.9, 0.1]] * 12 + [[0.2, 0.8]] * 12
    >>> labels = ["Portal"] * 9 + ["Collar"] * 15
    >>> known = read(scores, classes=["Portal", "Collar"], labels=labels)
    >>> calibration = fit(known, method="class_only", resamples=0)
    >>> found = shift(known, calibration, stated={"Portal": 0.5, "Collar": 0.5})
    >>> found.to_pandas()[["calibration_proportion", "query_proportion"]].values.tolist()
    [[0.375, 0.5], [0.625, 0.5]]
    """
    from credence.stages import shift as shifting

    settings = replace(settings, shift=shifting.with_stated(settings.shift))
    file = calibration.file
    shifting.require_correctable(file, "the calibration", settings.shift)
    use = in_table(table, file)
    stage_files.require_match(file, use.predictions, use.where)
    parts = [(use.where, use.samples)] if use.predictions.n_samples else []
    shift = shifting.find_shift(file, parts, settings, name or Path(use.where).stem, use.where)
    return ClassProportions(file=shift)


def load(path: str | Path) -> FittedCalibration:
    """Return the calibration that a file holds, checked; no code of the file is run.

    Parameters
    ----------
    path : path
        What :func:`save`, ``credence fit`` or a run wrote.

    Examples
    --------
    >>> load("missing.json")
    Traceback (most recent call last):
        ...
    credence.problems.InputError: missing.json: there is no such file. Give a file that \
credence fit wrote.
    """
    return FittedCalibration(file=stage_files.read_calibration(Path(path)))


def save(calibration: FittedCalibration, path: str | Path) -> None:
    """Write a calibration as one JSON file, which ``credence annotate`` reads too.

    Parameters
    ----------
    calibration : FittedCalibration
        From :func:`fit`.
    path : path
        The file to write.

    Examples
    --------
    >>> import tempfile
    >>> known = read([[0.9, 0.1], [0.2, 0.8]], classes=["a", "b"], labels=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(fit(known, method="class_only"), Path(folder) / "calibration.json")
    ...     load(Path(folder) / "calibration.json").method
    'class_only'
    """
    stage_files.write_calibration(Path(path), calibration.file)


def in_table(table: Any, known: Any = None) -> ScoreTable:
    """Return a table that is read; else read it, with the classes and scale of what is known."""
    if isinstance(table, ScoreTable):
        return table
    if known is None:
        return read(table)
    if not _is_files(table):
        return read(table, classes=known.class_names, scale=known.scale)
    paths = [table] if isinstance(table, str | Path) else table
    values = reading.as_remembered(Path(paths[0]), known, {})
    spec = TableSpec(**(values or {"format": _format_of(str(paths[0]))}))
    spec = reading.as_calibrated(spec, known.class_names, known.scale)
    if spec.several is not None:
        fault = (
            "this calibration is of several labels a protein, whose tables Python does not read."
        )
        raise refuse(str(paths[0]), fault, "Use the command: credence annotate.")
    stated = {name: getattr(spec, name) for name in TABLE_KEYS if name != "several"}
    return read(table, classes=spec.class_names, **stated)


def _fitted(
    entry: FittedCalibration | str,
    chosen: reading.CalibrationSet,
    where: str,
    settings: Settings,
    clusters: bool = True,
    **further: Any,
) -> stage_files.CalibrationFile:
    """Return a calibration of some proteins; a method is fitted, without prediction sets."""
    if isinstance(entry, FittedCalibration):
        reading.require_fitted_on(
            entry.file, chosen.labelled, where, "the calibration", clusters=clusters
        )
        return entry.file
    asked: Any = {"calibration": {"method": entry, **further}, "sets": {"level": None}}
    return fit_chosen(chosen, settings.with_values(asked), where).file


def _require_method(text: str) -> None:
    if (needs := parse_method(text, "--method").needs) is Need.PLACE:
        remedy = "Choose another method, or fit this one with the command credence fit --novelty."
        raise refuse("--method", f"{text!r} needs the {needs.value}.", remedy)
