"""Proteins with several labels: their true ones, the tree these stand in, and which calls hold.

A call is a protein and a label with its score; it is right where the label is among the true ones
of the protein, to which all above these belong.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credence.predictions import UNKNOWN_CLASS, Booleans
from credence.problems import ProblemList, plural, raise_any, refuse
from credence.progress import echo
from credence.tables.formats import ANY_OTHER_LABEL, TableSpec
from credence.tables.text import lines_of, plain_suffix, require_file
from credence.tree import LabelTree, cycle_in, levels_in, tree_of_labels

if TYPE_CHECKING:
    from credence.tables.samples import Samples

OPEN, CLOSED = "open", "closed"
LABEL_MARKS = ";|"  # between labels of one cell
ABOVE_IN_OBO = ("is_a", "part_of")  # relations by which who has a term has that above it
GAF_START, GAF_COLUMNS = "!gaf-version", 15


@dataclass(frozen=True, kw_only=True, eq=False)
class Truth:
    """The true labels of proteins, as they are written, one after the other."""

    where: str  # The file
    ids: list[str]
    labels: list[str]
    lines: list[int]
    column: str | None = None
    # Whether it may name proteins without calls, as a file of a whole database does.
    is_of_more: bool = False


def marks_of(spec: TableSpec) -> str:
    """Return the characters that stand between labels: those that stand in none."""
    separator = (spec.several or {}).get("separator") or ""
    return "".join(mark for mark in LABEL_MARKS if mark != separator)


def split_cells(
    where: str, ids: Iterable[str], cells: Iterable[str], lines: Iterable[int], marks: str,
    column: str | None = None,
) -> Truth:  # fmt: skip
    """Return the true labels that cells hold."""
    parts = [
        (name, label.strip(), line)
        for name, cell, line in zip(ids, cells, lines, strict=True)
        for label in re.split(f"[{re.escape(marks)}]", cell)
        if label.strip()
    ]
    return Truth(
        where=where,
        ids=[name for name, _, _ in parts],
        labels=[label for _, label, _ in parts],
        lines=[line for _, _, line in parts],
        column=column,
    )


def truth_of_cells(samples: Samples) -> Truth:
    """Return the true labels that a table of calls itself has in a column."""
    assert samples.true_class is not None
    first: dict[str, int] = {}
    for row, name in enumerate(samples.predictions.ids.tolist()):
        first.setdefault(name, row)
    rows = list(first.values())
    cells = [*samples.truth_cells, ""]
    texts = [cells[code] for code in samples.true_class[rows].tolist()]
    return split_cells(
        "its column of true labels", first, texts, samples.lines[rows].tolist(), LABEL_MARKS
    )


def is_gaf(path: Path) -> bool:
    """Return whether a file is one of annotations of genes."""
    if plain_suffix(path) == ".gaf":
        return True
    return next(lines_of(path), "").startswith(GAF_START)


def read_gaf(path: Path) -> Truth:
    """Return the true labels of a file of annotations (GAF), without those that are denied."""
    require_file(path, "a GAF file")
    ids, labels, lines, problems = list[str](), list[str](), list[int](), ProblemList(str(path))
    for number, line in enumerate(lines_of(path), start=1):
        if line.startswith("!") or not line.strip():
            continue
        cells = line.rstrip("\n").split("\t")
        if len(cells) < GAF_COLUMNS:
            defect = f"the row has {len(cells)} cells, and one of GAF {GAF_COLUMNS} or more."
            problems.add(defect, "Give the file as it was downloaded.", number)
        elif "NOT" not in cells[3].split("|"):
            ids.append(cells[1])
            labels.append(cells[4])
            lines.append(number)
    problems.raise_any()
    return Truth(where=str(path), ids=ids, labels=labels, lines=lines, is_of_more=True)


def read_tree(spec: TableSpec, labels: Iterable[str]) -> LabelTree:
    """Return the tree that a specification states, of an OBO file, a table or labels."""
    stated = spec.several or {}
    is_open = stated.get("world", OPEN) == OPEN
    separator, path = stated.get("separator"), stated.get("table")
    if separator:
        return tree_of_labels(labels, separator, is_open=is_open)
    if path is None:
        return LabelTree(is_open=is_open)
    file = Path(path)
    require_file(file, "an OBO file or a table of child and parent")
    is_obo = plain_suffix(file) == ".obo"
    parents, names, line_of = (_read_obo if is_obo else _read_pairs)(file)
    if cycle := cycle_in(parents):
        defect = f"its labels lead in a circle: {' → '.join(map(repr, cycle))}."
        line = line_of.get((cycle[1], cycle[0])) or line_of.get((cycle[0], cycle[1]))
        raise refuse(path, defect, "Remove one of these lines.", line)
    return LabelTree(parents=parents, is_open=is_open, names=names, has_branches=is_obo)


Hierarchy = tuple[
    dict[str, tuple[str, ...]], dict[str, str], dict[tuple[str, str], int]
]  # parents, names, and the line that puts one label below another


def _read_obo(path: Path) -> Hierarchy:
    """Return what an OBO file says; further ids of a term are below it, so they count as it."""
    parents: defaultdict[str, list[str]] = defaultdict(list)
    names, line_of = dict[str, str](), dict[tuple[str, str], int]()
    term, is_term, obsolete = "", False, set[str]()
    for number, line in enumerate(lines_of(path), start=1):
        text = line.strip()
        if text.startswith("["):
            is_term, term = text == "[Term]", ""
        key, colon, value = text.partition(":")
        value = value.split(" ! ")[0].strip()
        if not is_term or not colon:
            continue
        if key == "id":
            term = value
            parents[term] += []
        elif key == "name":
            names[term] = value
        elif key == "is_obsolete" and value.startswith("true"):
            obsolete.add(term)
        elif key == "alt_id":
            parents[value].append(term)
            line_of[value, term] = number
        else:
            relation, above = (key, value) if key == "is_a" else (*value.split()[:2], "", "")[:2]
            if key in ("is_a", "relationship") and relation in ABOVE_IN_OBO and above:
                above = above.split()[0]
                parents[term].append(above)
                line_of[term, above] = number
    if not parents:
        raise refuse(str(path), "it has no [Term].", "Give a file of OBO format 1.2 or later.")
    known = {name: tuple(dict.fromkeys(above)) for name, above in parents.items()}
    return {name: above for name, above in known.items() if name not in obsolete}, names, line_of


def _read_pairs(path: Path) -> Hierarchy:
    """Return what a table of child and parent says."""
    delimiter = "," if plain_suffix(path) == ".csv" else "\t"
    rows = ((n, line.rstrip("\n")) for n, line in enumerate(lines_of(path), 1))
    cells = [(n, line.split(delimiter)) for n, line in rows if line.strip() and line[0] != "#"]
    problems = ProblemList(str(path))
    header = [cell.strip().casefold() for cell in cells[0][1]] if cells else []
    child, parent = 0, 1
    if {"child", "parent"} <= set(header):
        child, parent = header.index("child"), header.index("parent")
    else:
        defect = "its header does not name the columns child and parent."
        problems.add(defect, "Give a header: child, parent.", 1)
    problems.raise_any()
    parents: defaultdict[str, list[str]] = defaultdict(list)
    line_of = dict[tuple[str, str], int]()
    for number, row in cells[1:]:
        pair = [row[place].strip() if place < len(row) else "" for place in (child, parent)]
        if not pair[0]:
            problems.add("there is no child.", "Name it, or remove the row.", number, "child")
            continue
        parents[pair[0]] += [pair[1]] if pair[1] else []
        parents[pair[1]] += []
        line_of[pair[0], pair[1]] = number
    problems.raise_any()
    parents.pop("", None)
    return {name: tuple(dict.fromkeys(above)) for name, above in parents.items()}, {}, line_of


def judged(samples: Samples, truth: Truth, spec: TableSpec, where: str) -> Samples:
    """Return the calls that are known to be right or wrong, and true labels without one."""
    predictions, stated = samples.predictions, spec.several or {}
    separator = stated.get("separator")
    names = np.array(predictions.class_names, dtype=object)
    called, of_truth = list(names), list(truth.labels)
    if separator:  # 3.4.21.- is 3.4.21
        called = [levels_in(name, separator)[0] for name in called]
        of_truth = [levels_in(label, separator)[0] for label in of_truth]
    tree = read_tree(spec, {*called, *of_truth})
    _require_in_tree(samples, truth, tree, called, of_truth, where)
    true_labels: defaultdict[str, set[str]] = defaultdict(set)
    for name, label in zip(truth.ids, of_truth, strict=True):
        true_labels[name].add(label)
    closure = {name: tree.closed(labels) for name, labels in true_labels.items()}
    branches = {
        name: frozenset().union(*map(tree.branches, labels))
        for name, labels in true_labels.items()
    }
    code_of = {
        name: code for code, name in enumerate(sorted({*called, *set().union(*closure.values())}))
    }
    class_names = (*code_of, ANY_OTHER_LABEL)
    predicted = np.array([code_of[name] for name in called], dtype=np.int64)[
        predictions.predicted_class
    ]
    true, is_known = (
        np.full(len(predicted), UNKNOWN_CLASS),
        np.ones(len(predicted), dtype=np.bool_),
    )
    branch_of = [tree.branches(name) for name in class_names]
    nothing: frozenset[str] = frozenset()
    calls: defaultdict[str, set[str]] = defaultdict(set)
    for row, (name, code) in enumerate(
        zip(predictions.ids.tolist(), predicted.tolist(), strict=True)
    ):
        label = class_names[code]
        calls[name].add(label)
        if label in closure.get(name, nothing):
            true[row] = code
        elif tree.is_open and not branch_of[code] & branches.get(name, nothing):
            is_known[row] = False
    missed = [
        (name, code_of[label])
        for name in calls
        for label in sorted(closure.get(name, nothing) - calls[name])
    ]
    _require_some(is_known, where)
    never = _never_called(closure, {name for labels in calls.values() for name in labels}, tree)
    if never:
        echo(
            f"{where}: {plural(len(never), 'true label')} never called, nor any label below, "
            f"though labels above are (such as {never[0]!r}): nothing is learnt of these. Give "
            "scores of them too, where the tool has some."
        )
    if not is_known.all():
        n_out = int((~is_known).sum())
        echo(
            f"{where}: {plural(n_out, 'call')} left out: nothing true is known of the protein in "
            "that branch of the labels (world: closed counts them as wrong)."
        )
    kept = replace(
        predictions,
        class_names=class_names,
        predicted_class=predicted,
        tree=tree.among(class_names),
    ).take(is_known)
    labels = samples.labels
    return replace(
        samples,
        predictions=kept,
        true_class=true[is_known],
        lines=samples.lines[is_known],
        genome=None if samples.genome is None else samples.genome[is_known],
        labels=None if labels is None else labels[is_known],
        truth_cells=(),
        missed_ids=np.array([name for name, _ in missed], dtype=object),
        missed_class=np.array([code for _, code in missed], dtype=np.int64),
    )


def _never_called(
    closure: Mapping[str, Collection[str]], called: Collection[str], tree: LabelTree
) -> list[str]:
    """Return true labels that no protein was called, nor what is below, but what is above."""
    reached = set(called).union(*map(tree.ancestors, called))
    every = set().union(*closure.values()) - reached
    return sorted(name for name in every if tree.ancestors(name) & set(called))


def _require_some(is_known: Booleans, where: str) -> None:
    if not is_known.any():
        defect = "of no call it is known whether it is right."
        raise refuse(where, defect, "Give true labels of these proteins, in these spellings.")


def _require_in_tree(
    samples: Samples,
    truth: Truth,
    tree: LabelTree,
    called: list[str],
    of_truth: list[str],
    where: str,
) -> None:
    """Refuse labels that the tree lacks, and true labels of proteins without any call."""
    there = set(samples.predictions.ids.tolist())
    problems, of_calls = ProblemList(truth.where), ProblemList(where)
    if tree.parents:
        known = set(tree.parents).union(*tree.parents.values())
        first: dict[int, int] = {}
        for row, code in enumerate(samples.predictions.predicted_class.tolist()):
            first.setdefault(code, row)
        for code, row in first.items():
            if called[code] not in known:
                line = int(samples.lines[row])
                of_calls.add(f"{called[code]!r} is not in the tree of labels.", ADD_IT, line)
        rows = zip(of_truth, truth.lines, strict=True)
        for label, line in dict(reversed([*rows])).items():
            if label not in known:
                defect = f"{label!r} is not in the tree of labels."
                problems.add(defect, ADD_IT, line, truth.column)
    strangers = {
        name: line
        for name, line in reversed([*zip(truth.ids, truth.lines, strict=True)])
        if name not in there
    }
    if strangers and len(strangers) == len(set(truth.ids)):
        name = next(iter(strangers))
        defect = f"none of its proteins is in {where}: here is {name!r}, "
        defect += f"there {samples.predictions.ids[0]!r}."
        raise refuse(truth.where, defect, "Write ids alike, or name the column that holds them.")
    for name, line in () if truth.is_of_more else strangers.items():
        defect = f"protein {name!r} has no call in {where}."
        problems.add(defect, "Correct its name, remove it, or add its calls.", line)
    raise_any(sorted([*of_calls.problems, *problems.problems], key=lambda part: part.line or 0))


ADD_IT = "Correct it, add it to the tree, or give the release of the tree that the tool used."
