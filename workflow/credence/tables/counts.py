"""Counts of right and wrong predictions by class and interval of the score."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Integers, Labelled, Predictions, label
from credence.problems import ProblemList
from credence.tables.contract import Column, Kind, ReadTable, read_columns

FORMAT = "counts"
MEMBER_COLUMN = (
    "members"  # Column: proteins of the class in the calibration set, in each of its rows
)
COUNT_COLUMNS = (
    Column(name="class"),
    Column(name="score_above", kind=Kind.NUMBER),
    Column(name="score_to", kind=Kind.NUMBER),
    Column(name="right", kind=Kind.INTEGER, low=0),
    Column(name="wrong", kind=Kind.INTEGER, low=0),
    Column(name=MEMBER_COLUMN, kind=Kind.INTEGER, low=0, is_optional=True),
    Column(name="exact", may_be_empty=True, is_optional=True),
)
MOST_PREDICTIONS = 20_000_000  # predictions: each becomes a row


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedPredictions:
    """The predictions that a table counts."""

    labelled: Labelled  # The true class of a wrong one is not known
    members: Integers | None  # Proteins of each true class among them, where the table says it


def read_counts(path: Path, scale: float | None, design_effect: float) -> CountedPredictions:
    """Return as many labelled predictions as a table counts, or raise all its problems.

    Those of an interval are spread evenly over it, and all of it counts as seen. Of a wrong
    one the true class is not known. A design effect makes each so many neighbours one family.
    """
    table = read_columns(path, COUNT_COLUMNS)
    values, problems = table.values, ProblemList(table.where)
    above, to = values["score_above"], values["score_to"]
    names = tuple(dict.fromkeys(values["class"].tolist()))
    class_ = np.array([names.index(name) for name in values["class"]], dtype=np.int64)
    most = float(to.max(initial=0.0)) if scale is None else scale
    for bad in np.flatnonzero((above >= to) | (to > most) | (above < 0.0)):
        defect = (
            f"the interval from {above[bad]:g} to {to[bad]:g} is none of scores up to {most:g}."
        )
        remedy = "Give a lower and a higher score, or state the greatest one: --scale."
        problems.add(defect, remedy, int(table.lines[bad]), "score_to")
    order = np.lexsort((above, class_))
    for before, after in pairwise(order.tolist()):
        if class_[before] == class_[after] and above[after] < to[before]:
            line = int(table.lines[before])
            defect = f"the interval overlaps with that of line {line}."
            remedy = "Count each prediction once."
            problems.add(defect, remedy, int(table.lines[after]), "score_above")
    total = int(values["right"].sum() + values["wrong"].sum())
    if not 0 < total <= MOST_PREDICTIONS:
        problems.add(f"it counts {total:,} predictions.", f"Count 1 to {MOST_PREDICTIONS:,}.")
    members = None if MEMBER_COLUMN in table.absent else _members(table, class_, names, problems)
    problems.raise_any()
    count = np.column_stack([values["right"], values["wrong"]])[order].ravel()
    # The row and the outcome of each prediction, and its place among those of its cell.
    cell = np.repeat(np.arange(len(count)), count)
    row, is_wrong = order[cell // 2], cell % 2
    at = np.arange(total) - np.repeat(np.cumsum(count) - count, count)
    part = (at + 0.5) / np.repeat(count, count)
    score = above[row] + (to - above)[row] * part
    predicted = class_[row]
    alike = np.lexsort((score, is_wrong, predicted))
    family = np.empty(total, dtype=np.int64)
    family[alike] = np.arange(total) / design_effect
    of_class = {names[k]: row[predicted == k] for k in np.unique(predicted)}
    spans = {k: (float(above[rows].min()), float(to[rows].max())) for k, rows in of_class.items()}
    ids = np.arange(total).astype(str).astype(object)
    predictions = Predictions(
        ids=ids,
        class_names=names,
        scale=most,
        resolution=0.0,
        predicted_class=predicted,
        top_score=score,
        is_distribution=False,
        spans=spans,
    )
    true_class = np.where(is_wrong == 1, UNKNOWN_CLASS, predicted)
    labelled = label(predictions, true_class, cluster=family.astype(str).astype(object))
    return CountedPredictions(labelled=labelled, members=members)


def _members(
    table: ReadTable, class_: Integers, names: tuple[str, ...], problems: ProblemList
) -> Integers:
    """Return how many proteins each class has; keep what does not go with its counts."""
    n_classes, values = len(names), table.values
    first = np.unique(class_, return_index=True)[1]
    members: Integers = values[MEMBER_COLUMN][first]
    for row in np.flatnonzero(values[MEMBER_COLUMN] != members[class_]).tolist():
        start = first[class_[row]]
        defect = (
            f"{names[class_[row]]!r} has {values[MEMBER_COLUMN][row]} members here and "
            f"{values[MEMBER_COLUMN][start]} in line {table.lines[start]}."
        )
        remedy = "Give the same number in each row of a class."
        problems.add(defect, remedy, int(table.lines[row]), MEMBER_COLUMN)
    right, wrong = (
        np.bincount(class_, weights=values[name], minlength=n_classes).astype(np.int64)
        for name in ("right", "wrong")
    )
    missed, at_most = members - right, wrong.sum() - wrong
    total = int((right + wrong).sum())
    same = "Count the same proteins in all columns, each once under its true class."
    for number, name in enumerate(names):
        line = int(table.lines[first[number]])
        if missed[number] < 0:
            defect = f"{name!r} has {members[number]} members, and {right[number]} are counted "
            problems.add(f"{defect}as right.", same, line, MEMBER_COLUMN)
        elif missed[number] > at_most[number]:
            defect = (
                f"{missed[number]} of the {members[number]} members of {name!r} are not predicted "
                f"rightly, and only {at_most[number]} predictions of other classes are wrong."
            )
            problems.add(defect, same, line, MEMBER_COLUMN)
    if members.sum() != total:
        defect = f"the classes have {members.sum():,} members, and {total:,} predictions are "
        problems.add(f"{defect}counted.", same, column=MEMBER_COLUMN)
    return members
