"""A user's rule: a condition over columns, read by a parser that can do nothing else.

    rule      = all , { "or" , all }
    all       = negation , { "and" , negation }
    negation  = "not" , negation | "(" , rule , ")" | comparison
    comparison= operand , ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) , operand
    operand   = number | column in quotes

A column is the name of a class, for its share of the row's scores, or one of
`COLUMNS`. A rule is asked of each class of each protein: 'score' and 'rank' are
those of the class asked about.
"""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Self

import numpy as np

from credence.calibrators.score_logs import DECIMALS, others_of
from credence.metrics.metric import divide
from credence.predictions import Booleans, Floats, Integers, Predictions
from credence.problems import InputError, Problem, nearest, raise_any

COLUMNS = {
    "score": "share of the row's scores of the class asked about",
    "rank": "place of the class asked about, 1 the predicted one",
    "top_score": "share of the row's scores of the predicted class",
    "margin": "how far it leads the best of the others",
}
COMPARISONS: dict[str, Callable[[Floats, Floats], Booleans]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<column>'[^']*'|\"[^\"]*\")"
    r"|(?P<sign><=|>=|==|!=|<|>|\(|\))"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<other>\S))"
)
KEYWORDS = ("and", "or", "not")
WAY = "Compare columns in quotes and numbers: 'score' >= 0.1 and 'rank' <= 3."
MOST_DEPTH = 50  # brackets and nots within each other


@dataclass(frozen=True)
class Operand:
    """A number, or the name of a column."""

    column: str | None  # Its name; None for a number
    number: float = 0.0  # The number


@dataclass(frozen=True)
class Node:
    """A comparison, or others joined."""

    kind: str  # A sign of `COMPARISONS`, or ``and``, ``or``, ``not``
    operands: tuple[Operand, ...] = ()  # Of a comparison, two
    parts: tuple[Self, ...] = ()  # Of the others


@dataclass(frozen=True)
class Rule:
    """A condition that was read."""

    text: str  # As the user wrote it
    root: Node  # Its meaning
    # The columns that it names, and the character at which each stands.
    columns: tuple[tuple[str, int], ...]

    def require_columns(self, class_names: Sequence[str], where: str, name: str | None) -> None:
        """Refuse a rule that names a column that is not there."""
        known, problems = [*COLUMNS, *class_names], []
        for column, position in self.columns:
            if column not in known:
                what = f"character {position} of the rule: there is no column {column!r}."
                problems.append(Problem(where, what, nearest(column, known), None, name))
        raise_any(problems)

    def holds(self, predictions: Predictions, rank: Integers) -> Booleans:
        """Return whether it holds for each class of each protein; never for what is not known."""
        shape = (predictions.n_samples, predictions.n_classes)
        values = {name: _column(name, predictions, rank) for name, _ in self.columns}
        return np.broadcast_to(_evaluate(self.root, values), shape).copy()


def parse_rule(text: str, where: str, name: str | None = None) -> Rule:
    """Return the rule of a text."""
    return _Reader(text, where, name).read()


@dataclass
class _Reader:
    text: str
    where: str
    name: str | None
    tokens: list[tuple[str, str, int]] = field(default_factory=list)
    columns: list[tuple[str, int]] = field(default_factory=list)
    place: int = 0

    def read(self) -> Rule:
        stripped = self.text.rstrip()
        position = 0
        while position < len(stripped):
            match = TOKEN.match(stripped, position)
            assert match is not None and match.lastgroup is not None
            kind, value = match.lastgroup, match.group(match.lastgroup)
            start = match.start(kind) + 1
            if kind == "other":
                quote = value in "'\""
                what = "a quotation mark that is not closed" if quote else f"{value!r}"
                self.refuse(start, f"{what} has no meaning here.")
            if kind == "word" and value not in KEYWORDS:
                self.refuse(
                    start, f"{value!r} is no word of rules.", f"Write '{value}', in quotes."
                )
            self.tokens.append((value if kind in ("sign", "word") else kind, value, start))
            position = match.end()
        self.tokens.append(("end", "", len(stripped) + 1))
        root = self.either(0)
        kind, value, start = self.tokens[self.place]
        if kind != "end":
            self.refuse(start, f"{value} follows a complete rule.", "Join the two by and, or.")
        return Rule(self.text, root, tuple(dict(reversed(self.columns)).items()))

    def refuse(self, start: int, what: str, remedy: str | None = None) -> None:
        what = f"character {start} of the rule: {what}"
        raise InputError([Problem(self.where, what, remedy or WAY, None, self.name)])

    def take(self, kind: str) -> bool:
        if self.tokens[self.place][0] != kind:
            return False
        self.place += 1
        return True

    def joined(self, word: str, part: Callable[[int], Node], depth: int) -> Node:
        parts = [part(depth)]
        while self.take(word):
            parts.append(part(depth))
        return parts[0] if len(parts) == 1 else Node(word, parts=tuple(parts))

    def either(self, depth: int) -> Node:
        return self.joined("or", partial(self.joined, "and", self.negation), depth)

    def negation(self, depth: int) -> Node:
        if depth > MOST_DEPTH:
            self.refuse(self.tokens[self.place][2], "brackets lie too deep.", "Write it flatter.")
        if self.take("not"):
            return Node("not", parts=(self.negation(depth + 1),))
        if self.take("("):
            inner = self.either(depth + 1)
            if not self.take(")"):
                self.refuse(self.tokens[self.place][2], "a bracket is not closed.", "Add ).")
            return inner
        return self.comparison()

    def comparison(self) -> Node:
        left = self.operand()
        sign, value, start = self.tokens[self.place]
        if sign not in COMPARISONS:
            found = "the rule ends" if sign == "end" else f"there is {value}"
            known = ", ".join(COMPARISONS)
            self.refuse(start, f"{found} where a comparison is expected.", f"Use one of {known}.")
        self.place += 1
        return Node(sign, operands=(left, self.operand()))

    def operand(self) -> Operand:
        kind, value, start = self.tokens[self.place]
        self.place += 1
        if kind == "number":
            return Operand(None, float(value))
        if kind != "column":
            found = "the rule ends" if kind == "end" else f"there is {value}"
            self.refuse(start, f"{found} where a number or a column in quotes is expected.")
        self.columns.append((value[1:-1], start))
        return Operand(value[1:-1])


def _evaluate(node: Node, values: dict[str, Floats]) -> Booleans:
    if node.kind in COMPARISONS:
        left, right = (
            np.array(operand.number) if operand.column is None else values[operand.column]
            for operand in node.operands
        )
        known = ~(np.isnan(left) | np.isnan(right))
        return np.asarray(COMPARISONS[node.kind](left, right) & known)
    parts = [_evaluate(part, values) for part in node.parts]
    if node.kind == "not":
        return np.asarray(~parts[0])
    return np.asarray(reduce(np.logical_and if node.kind == "and" else np.logical_or, parts))


def _column(name: str, predictions: Predictions, rank: Integers) -> Floats:
    """Return a column, broadcastable to (n_samples, n_classes); NaN where not known."""
    if name == "rank":
        return rank.astype(float)
    if predictions.scores is None:
        return np.full((predictions.n_samples, 1), np.nan)
    share = row_shares(predictions)
    if name == "score":
        return share
    if name == "top_score":
        return share[np.arange(len(share)), predictions.predicted_class][:, None]
    if name == "margin":
        return np.round(lead_of(share, predictions.predicted_class), DECIMALS)[:, None]
    return share[:, [predictions.class_names.index(name)]]


def lead_of(values: Floats, chosen: Integers) -> Floats:
    """Return by how much the chosen value of each row leads the best of the others."""
    best = others_of(values, chosen).max(axis=1)
    return np.asarray(values[np.arange(len(values)), chosen] - best)


def row_shares(predictions: Predictions) -> Floats:
    """Return each row of scores divided by its sum, to nine decimals."""
    assert predictions.scores is not None
    share = divide(predictions.scores, predictions.scores.sum(axis=1, keepdims=True), 0.0)
    return np.round(share, DECIMALS)
