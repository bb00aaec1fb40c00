"""What a table is: of which known formats it could be, with the reason; else what its columns are.

The choice is the user's. Columns are found from names, cells and sums.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from os.path import commonprefix
from pathlib import Path
from typing import Any

import numpy as np

from credence.predictions import Floats
from credence.problems import InputError, ProblemList, refuse
from credence.tables.formats import (
    CREDENCE_FORMAT,
    FORMATS,
    WIDE_FORMAT,
    Format,
    NameLookup,
    TableSpec,
    format_of,
)
from credence.tables.scan import ColumnLayout, TableRows, lay_out, read_rows, rewriting
from credence.tables.source import (
    PARQUET_ENDINGS,
    LongTable,
    TableSource,
    TextTable,
    delimiter_of,
    explain_delimiter,
    open_table,
)
from credence.tables.text import SEMICOLON, blocks_of, lines_of, plain_suffix

ROWS_LOOKED_AT = 5_000
FIRST = 50
MOST_COLUMNS = 200  # of numbers, that are looked through for those of the classes
ID_NAMES = (
    *("id", "protein id", "accession", "acc", "protein", "name", "header", "seq id"),
    *("sequence id", "query", "entry", "identifier", "cds id", "orf", "gene", "locus tag"),
)
TRUTH_NAMES = (
    *("true class", "truth", "true label", "true", "y true", "label", "class", "target"),
    *("annotation", "location", "localization", "localisation", "category", "function"),
)
VERDICT_NAMES = (
    *("predicted class", "prediction", "predicted", "pred", "call", "predicted label", "y pred"),
    *("best class", "top class", "predicted location", "predicted localization"),
)
SCORE_NAMES = (
    *("score", "probability", "prob", "confidence", "top score", "max probability", "posterior"),
)
TERM_NAMES = ("term", "class", "label", "go term", "category", "prediction", "predicted class")
NETWORK_NAMES = ("network", "model", "member")
SCALES = (1.0, 10.0, 100.0, 1000.0)
AS_MANY = 0.95  # of the rows: a few may be wrong, which the check then finds
AS_EQUAL = 0.02  # sums of rows; the check goes by the decimals that are there
NAME_COLUMNS = (
    "Name them: --columns id=…,true_class=… (for a column per class, classes=A;B;C; for the best "
    "class alone, predicted_class=…,score=…; for a row per protein and class, term=…,score=…)."
)


def plain(name: str) -> str:
    """Return a name in small letters and figures, words apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold()
    return " ".join(re.split(r"[\W_]+", apart)).strip()


def guess_columns(path: Path, stated: Mapping[str, Any], is_labelled: bool) -> dict[str, Any]:
    """Return how a table is read (format, columns, scale …), as far as that is not stated."""
    try:
        return _Guess(path, stated.get("columns") or {}, stated.get("scale"), is_labelled).answer()
    except InputError:
        _require_cells(path)
        raise


class _Guess:
    """The cells of a table, and what they are taken as."""

    def __init__(
        self, path: Path, columns: Mapping[str, Any], scale: float | None, is_labelled: bool
    ) -> None:
        self.path, self.scale, self.is_labelled = path, scale, is_labelled
        self.table, problems = open_table(path, WIDE_FORMAT), ProblemList(str(path))
        table = self.table
        chunk = next(iter(table.chunks(ROWS_LOOKED_AT, problems)), None)
        problems.raise_any()
        # A first column without a name may be the index of pandas.
        header = [name for place, name in enumerate(table.header) if name or not place]
        if chunk is None or not any(header):
            defect = "the table has no rows." if any(header) else "no column has a name."
            raise refuse(str(path), defect, "Give a table with predictions.")
        self.place = {name: table.header.index(name) for name in header}
        self.texts = {
            name: [text.strip() for text in chunk.texts(self.place[name])] for name in header
        }
        numbers = chunk.numbers([self.place[name] for name in header])
        self.numbers = dict(zip(header, numbers.T, strict=True))
        self.columns = dict(columns)
        named = ([entry] if isinstance(entry, str) else entry for entry in self.columns.values())
        if absent := [name for name in chain(*named) if name not in self.place]:
            defect = f"there is no column {', '.join(map(repr, absent))}."
            raise refuse(str(path), defect, f"Its columns are: {', '.join(header)}.")

    def answer(self) -> dict[str, Any]:
        self._find_id()
        if "term" in self.columns:
            if "score" not in self.columns:
                self._find_term(self.columns["id"])
            id_, terms = self.columns["id"], set(self.texts[self.columns["term"]])
            labels = [
                name
                for name in self._left(are_numbers=False)
                if set(self.texts[name]) <= terms | {""}
                and len(set(zip(self.texts[id_], self.texts[name], strict=True)))
                == len(set(self.texts[id_]))
            ]
            if self.is_labelled and "true_class" not in self.columns and labels:
                self.columns["true_class"] = self._named(labels, TRUTH_NAMES) or labels[0]
            spec = TableSpec(
                format="long", columns={k: v for k, v in self.columns.items() if v is not None}
            )
            columns = format_of(spec, str(self.path)).columns
            wide = LongTable(self.table, columns, NameLookup(()))
            chunk = next(wide.chunks(ROWS_LOOKED_AT, ProblemList(str(self.path))))
            n_before = len(wide.header) - len(terms)
            numbers = chunk.numbers(range(n_before, len(wide.header)))
            answer = scale_of(np.nan_to_num(numbers), wide)
            answer |= {"scale": self.scale or answer.get("scale"), "format": "long"}
            return answer | {"columns": self.columns}
        classes = self.columns.get("classes")
        if classes is None and not {"predicted_class", "score"} & self.columns.keys():
            classes = self._classes()
        return self._best_only() if classes is None else self._vector(list(classes))

    def _left(self, are_numbers: bool) -> list[str]:
        """Return the columns without a role that hold numbers alone, an index apart, or words."""
        taken = {name for name in self.columns.values() if isinstance(name, str)}
        return [
            name
            for name, numbers in self.numbers.items()
            if name not in taken
            and bool(np.isfinite(numbers).all()) == are_numbers
            and (name or not are_numbers)
        ]

    def _named(self, names: Sequence[str], words: Sequence[str]) -> str | None:
        """Return the column whose name is the first of some words that is there."""
        by_name = {plain(name): name for name in reversed(names)}
        return next((by_name[word] for word in words if word in by_name), None)

    def _find_id(self) -> None:
        if "id" in self.columns:
            return
        # Scores are no ids, whatever their class is called: "acc" is a name of both.
        whole = [
            name
            for name, numbers in self.numbers.items()
            if not np.any(numbers != np.round(numbers), where=np.isfinite(numbers))
        ]
        once = [name for name in whole if len(set(self.texts[name])) == len(self.texts[name])]
        words = [name for name in once if name in self._left(are_numbers=False)]
        column = self._named(once, ID_NAMES)
        if column is None and (words or "" in once):
            column = next(iter(words), "")  # without words, rows are named by their index
        if column is None:  # rows of several networks, or a row for each class
            column = self._named(whole, ID_NAMES)
            network = self._named(list(self.texts), NETWORK_NAMES)
            if network is None or column is None:
                column = column or next(iter(self._left(are_numbers=False)), None)
                self._find_term(column)
            else:
                self.columns["network"] = network
        self.columns["id"] = column

    def _find_term(self, id_: str | None) -> None:
        """Note the columns of class and score where a protein has a row for each class."""
        score = self.columns.get("score") or self._named(self._left(are_numbers=True), SCORE_NAMES)
        score = score or next(iter(self._left(are_numbers=True)), None)
        words = [name for name in self._left(are_numbers=False) if name not in ("", id_)]
        n_rows = len(next(iter(self.texts.values())))
        once = [
            name
            for name in words
            if id_ and len(set(zip(self.texts[id_], self.texts[name], strict=True))) == n_rows
        ]
        term = self.columns.get("term") or self._named(once, TERM_NAMES) or next(iter(once), None)
        if term is None or score is None:
            raise refuse(str(self.path), "no column names each protein once.", NAME_COLUMNS)
        self.columns |= {"term": term, "score": score}

    def _sets(self, numeric: list[str]) -> Iterator[list[str]]:
        """Yield what may be the columns of classes: neighbours, the most first; those alike."""
        for n_columns in range(len(numeric), 1, -1):
            for start in range(len(numeric) - n_columns + 1):
                yield numeric[start : start + n_columns]
        for kind in (r"^.*[\W_](?=\w+\W*$)", r"(?<=\w)[\W_]+\w+\W*$"):  # beginnings, then ends
            parts: dict[str, list[str]] = {}
            for name in numeric:
                part = re.search(kind, name)
                parts.setdefault(part[0] if part else "", []).append(name)
            yield from parts.values()

    def _classes(self) -> list[str] | None:
        """Return the columns of the classes: the most whose rows sum to one number."""
        numeric = self._left(are_numbers=True)
        for names in self._sets(numeric[:MOST_COLUMNS]):
            if _is_even(sum(self.numbers[name][:FIRST] for name in names)) and _is_even(
                sum(self.numbers[name] for name in names)
            ):
                return names
        # Scores that sum to nothing in particular: the columns that labels name.
        numeric = self._logits() or numeric
        for name in self._left(are_numbers=False):
            values = {plain(text) for text in self.texts[name]}
            for names in self._sets(numeric):
                if len(names) > 1 and values <= {plain(bare) for bare in _bare(names)}:
                    return names
        return None

    def _logits(self) -> list[str]:
        """Return the columns of numbers with decimals if some of these are negative."""
        numeric = self._left(are_numbers=True)
        names = [name for name in numeric if np.any(self.numbers[name] % 1)]
        is_negative = any((self.numbers[name] < 0).any() for name in names)
        return names if is_negative and len(names) > 1 else []

    def _vector(self, classes: list[str]) -> dict[str, Any]:
        scores = np.stack([self.numbers[name] for name in classes], axis=1)
        answer: dict[str, Any] = {"format": WIDE_FORMAT.name, **scale_of(scores, self.table)}
        if self.scale is not None:
            answer["scale"] = self.scale
        if "network" in self.columns:  # of an ensemble the scale follows from their number
            answer.pop("scale", None)
        meant = {plain(name): name for name in classes}
        meant |= {plain(bare): name for bare, name in zip(_bare(classes), classes, strict=True)}
        if self.is_labelled and "true_class" not in self.columns:
            # The column of true classes: its words are classes, not always the best one.
            best = np.array(classes)[scores.argmax(axis=1)].tolist()
            meaning = {
                name: [meant.get(plain(text)) for text in self.texts[name]]
                for name in self._left(are_numbers=False)
                if all(plain(text) in meant for text in self.texts[name] if text)
                and plain(name) not in VERDICT_NAMES
                and any(self.texts[name])
            }
            others = [name for name, words in meaning.items() if words != best]
            named = self._named([*meaning], TRUTH_NAMES[:6]) or self._named(others, TRUTH_NAMES)
            if named := named or next(iter(others), None):
                self.columns["true_class"] = named
        truth = self.columns.get("true_class")
        labels = set(self.texts[truth]) - {"", *classes} if self.is_labelled and truth else set()
        synonyms = {text: meant[plain(text)] for text in sorted(labels) if plain(text) in meant}
        if synonyms:
            answer["synonyms"] = synonyms
        return {**answer, "columns": {**self.columns, "classes": classes}}

    def _best_only(self) -> dict[str, Any]:
        words = [
            name
            for name in self._left(are_numbers=False)
            if len(set(self.texts[name])) <= max(2, len(self.texts[name]) // 2)
        ]
        roles = {
            "predicted_class": self._named(words, VERDICT_NAMES),
            "score": self._named(self._left(are_numbers=True), SCORE_NAMES),
            "true_class": self._named(words, TRUTH_NAMES) if self.is_labelled else None,
        }
        for role, name in roles.items():
            if name is not None:
                self.columns.setdefault(role, name)
        missing = [role for role in ("predicted_class", "score") if role not in self.columns]
        if missing and (logits := self._logits()):
            return self._vector(logits)
        if missing:
            defect = (
                "no columns of class scores were found, whose rows sum to one number, nor a "
                f"column of the {' or the '.join(role.replace('_', ' ') for role in missing)}."
            )
            raise refuse(str(self.path), defect, NAME_COLUMNS)
        scale = self.scale or _least_scale(self.numbers[self.columns["score"]])
        return {"format": "top-score", "scale": scale, "columns": self.columns}


def scale_of(scores: Floats, table: TableSource) -> dict[str, Any]:
    """Return the scale of scores, that they are logits, or that rows do not sum to the scale."""
    sums = scores.sum(axis=1)
    if scores.shape[1] > 1 and scores.min() < 0:
        return {"logits": True}
    if scores.shape[1] < 2 or not _is_even(sums):
        return {"scale": _least_scale(scores), "sum_to_scale": False}
    total = float(np.median(sums))
    usual = (round_ for round_ in SCALES if abs(total - round_) <= AS_EQUAL * round_)
    scale = next(usual, round(total, 6))
    allowed = table.step(scale).tolerance(scores.shape[1], scale)
    if (np.abs(sums - scale) <= allowed).mean() >= AS_MANY:
        return {"scale": scale}
    return {"scale": max(scale, _least_scale(scores)), "sum_to_scale": False}


def _is_even(sums: Floats) -> bool:
    """Return whether nearly all sums are alike, and above 0."""
    total = np.median(sums)
    return bool(total > 0 and (np.abs(sums - total) <= AS_EQUAL * total).mean() >= AS_MANY)


def _bare(names: Sequence[str]) -> list[str]:
    """Return names without what all begin and end with: P(a), P(b) are a, b."""
    first = commonprefix(names)  # noqa: RUF071 -- character by character is what is meant
    last = commonprefix([name[::-1] for name in names])[::-1]  # noqa: RUF071
    start, stop = len(re.sub(r"[^\W_]+$", "", first)), len(re.sub(r"^[^\W_]+", "", last))
    return [name[start : len(name) - stop] or name for name in names]


def _least_scale(scores: Floats) -> float:
    most = float(np.nanmax(scores, initial=0.0))
    return next((scale for scale in SCALES if most <= scale), most)


FEW_ROWS = 100  # that show a known format
LEAST_COLUMNS = 3  # of a score table: the id, and two classes or the best one and its score
LEAST_SHARE = 0.5  # of cells that are numbers, of classes or labels that are known
ARRAY_ENDING = ".npz"


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """A format that a table could be of."""

    format: str  # Its name
    reason: str  # What in the table speaks for it


def propose_formats(path: Path) -> list[Proposal]:
    """Return the formats that a table could be of, the likeliest first."""
    if plain_suffix(path) not in (*PARQUET_ENDINGS, ARRAY_ENDING):
        next(lines_of(path, or_windows=delimiter_of(path, WIDE_FORMAT) == SEMICOLON), None)
    else:
        next(blocks_of(path), None)
    proposals = []
    for format_ in FORMATS:
        if format_.configurable or format_.arrays != (path.suffix == ARRAY_ENDING):
            continue
        rows, layout, _ = _first_rows(path, format_)
        reason = None if rows is None else _argument(rows, layout, format_)
        if reason is not None:
            proposals.append(Proposal(format=format_.name, reason=reason))
    names = {proposal.format for proposal in proposals}
    # A name that carries a label makes it the table of a labelled set.
    labelled = [entry.columns for entry in FORMATS if entry.name in names and entry.label_of_id]
    plains = (entry for entry in FORMATS if entry.label_of_id is None)
    hidden = {entry.name for entry in plains if entry.columns in labelled}
    return [proposal for proposal in proposals if proposal.format not in hidden]


def _require_cells(path: Path) -> None:
    """Refuse a table whose rows are one cell, or whose numbers are none for their marks."""
    if path.suffix == ARRAY_ENDING:
        return
    table, problems = open_table(path, WIDE_FORMAT), ProblemList(str(path))
    if isinstance(table, TextTable) and len(table.header) == 1:
        explain_delimiter(table, _has_columns)
    for chunk in islice(table.chunks(FEW_ROWS, ProblemList(str(path))), 1):
        for place, name in enumerate(table.header):
            cells = zip(chunk.lines.tolist(), chunk.texts(place), strict=True)
            none = np.isnan(chunk.numbers([place])[:, 0])
            bad = [cell for cell, is_none in zip(cells, none, strict=True) if is_none and cell[1]]
            if bad and all(rewriting(text) for _, text in bad):
                line, text = bad[0]
                problems.add(f"{text!r} is not a number.", rewriting(text), line, name)
    problems.raise_any()


def _has_columns(table: TextTable) -> bool:
    problems = ProblemList(table.where)
    next(table.chunks(FEW_ROWS, problems), None)
    return len(table.header) >= LEAST_COLUMNS and not problems.problems


def fitting(path: Path, name_it: str) -> Proposal | None:
    """Return the one format that fits a table, None where none does; refuse where several do."""
    proposals = propose_formats(path)
    if len(proposals) > 1:
        names = [proposal.format for proposal in proposals]
        defect = f"several formats fit this table: {', '.join(names)}."
        raise refuse(str(path), defect, f"Name one: {name_it.format(names[0])}.")
    return next(iter(proposals), None)


def the_format(path: Path, name_it: str, state: Callable[[dict[str, Any]], str]) -> Proposal:
    """Return the same; where none fits, refuse with how to `state` what the table seems to be."""
    proposal = fitting(path, name_it)
    if proposal is None:
        seems: dict[str, Any] = {"format": WIDE_FORMAT.name, "columns": {"id": "…"}, "scale": 1}
        try:
            seems = guess_columns(path, {}, is_labelled=True)
        except (InputError, ValueError):
            _require_cells(path)
        remedy = f"Name its columns: {state(seems)}."
        raise refuse(str(path), "no format fits this table.", remedy)
    return proposal


def scale_of_rows(path: Path, name: str) -> dict[str, Any]:
    """Return the scale of a table in a format that states none, and whether rows sum to it."""
    rows, layout, table = _first_rows(path, format_of(TableSpec(format=name), str(path)))
    if layout.network is not None:  # of an ensemble it follows from their number
        return {"scale": None}
    if rows is None or table is None:
        return {}
    return scale_of(rows.numbers[~rows.is_unscored], table)


def _first_rows(
    path: Path, format_: Format
) -> tuple[TableRows | None, ColumnLayout, TableSource | None]:
    """Return the first rows of a table, read as a format; None where they are not of it."""
    problems, layout = ProblemList(str(path)), ColumnLayout(header=())
    try:
        table = open_table(path, format_)
        layout = lay_out(table, format_, None, problems)
        chunk = next(iter(table.chunks(FEW_ROWS, problems)), None)
        if problems.problems or chunk is None:
            return None, layout, table
        return read_rows(chunk, 1, layout, format_, format_.scale or 1.0), layout, table
    except InputError:
        return None, layout, None


def _are_scores(numbers: Floats, format_: Format) -> bool:
    """Return whether cells hold numbers; credence's own, no column of words and no logits."""
    is_number = np.isfinite(numbers)
    if numbers.size and is_number.mean() < LEAST_SHARE:
        return False
    return format_.name != CREDENCE_FORMAT or bool(
        is_number.any(axis=0).all() and not (numbers < 0).any()
    )


def _argument(rows: TableRows, layout: ColumnLayout, format_: Format) -> str | None:
    """Return what in the first rows speaks for a format; None where they do not."""
    numbers = rows.numbers[~rows.is_unscored]
    if not _are_scores(numbers, format_):
        return None
    columns = format_.columns
    if format_.names:  # of a file without a header the cells have to speak
        verdicts = rows.predicted or []
        n_like = sum(text.startswith(format_.verdict_like) for text in verdicts)
        is_far = (numbers < 1 / 2 if format_.is_distance else numbers > 1).any()  # farther than 1
        if n_like < LEAST_SHARE * rows.n_rows or format_.is_distance != is_far:
            return None
        kind = "distances" if format_.is_distance else "numbers up to 1"
        return f"no header, and {kind} after {format_.verdict_like!r}"
    named = (columns.id, columns.true_class, columns.predicted_class, columns.score)
    words = [f"a column {name!r}" for name in named if name and name in layout.header]
    if columns.id == "":
        words.append("an empty first name in the header")
    if columns.class_suffix:
        words.append(f"{len(layout.classes)} columns that end in {columns.class_suffix!r}")
    if format_.known_classes:
        known = NameLookup(format_.known_classes, format_.spell)
        n_known = sum(known[name] >= 0 for name in layout.class_names)
        if n_known < LEAST_SHARE * len(layout.class_names):
            return None
        words.append(f"{n_known} of its {len(format_.known_classes)} classes")
    if format_.label_of_id is not None and rows.truth is not None:
        lookup = NameLookup(layout.class_names, format_.spell)
        n_labels = sum(lookup[text] >= 0 for text in rows.truth)
        if n_labels < LEAST_SHARE * rows.n_rows:
            return None
        words.append(f"names that carry a class, such as {rows.ids[0]!r}")
    return ", ".join(words) if words else None
