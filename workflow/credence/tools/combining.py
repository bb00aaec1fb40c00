"""Several tools combined: each calibrated to the run's classes, then a weighted product of them.

First a softmax for each tool turns its scores into a probability of each of the run's classes; it
does not matter what those scores are, nor which classes the tool can name. Then, for each pattern
of tools that answer, log p is the weighted sum of their log p, with an intercept for each class
and one more where a tool was asked and did not answer. Fitted where the tools of a pattern
answer, whatever others do (decision 1110).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from credence.calibrators.crossfit import DEFAULT_FOLDS, fold_of, left_out
from credence.findings import ToolsFinding
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.tools.signals import SAME_RIDGE, Vocabulary, facts_of, signals
from credence.tools.softmax import Features, Softmax, fit_softmax

MOST_TOOLS = 4  # of which every pattern is fitted; of more, those that are likely
LEAST_PROTEINS = 30  # that have a pattern of answers which is fitted, of many tools


@dataclass(frozen=True, eq=False)
class Answers:
    """What one tool answered of the proteins at hand."""

    predictions: Predictions  # Its own, of some of them and of others
    row: Integers  # Of each protein at hand among those; -1 where there is no answer

    @property
    def is_there(self) -> Booleans:
        """Which proteins it answered."""
        return np.asarray(self.row >= 0)

    @cached_property
    def given(self) -> Predictions:
        """Its answers alone, in the order of the proteins at hand."""
        return self.predictions.take(self.row[self.is_there])

    def take(self, rows: Integers | Booleans) -> Answers:
        """Return those of the proteins chosen."""
        return Answers(self.predictions, self.row[rows])


@dataclass(frozen=True, eq=False)
class Tool:
    """One tool, calibrated to the run's classes."""

    name: str
    classes: Mapping[str, str]  # Its classes, each with the run's; "" for none of them
    spec: Mapping[str, Any]  # How its tables are read
    facts: Mapping[str, Any]  # What all its answers have in common
    weights: Softmax

    def log_probabilities(self, run: tuple[str, ...], answers: Answers) -> Floats:
        """Return log p of each class, sorted by name; NaN where there is no answer."""
        found = np.full((len(answers.row), len(run)), np.nan)
        if answers.is_there.any():
            features = signals(Vocabulary.of(run, self.classes), answers.given)
            found[answers.is_there] = self.weights.log_probabilities(features)
        return found


def fit_tool(
    run: tuple[str, ...], classes: Mapping[str, str], answers: Answers, truth: Truth
) -> Softmax:
    """Return a tool's weights, from the proteins that it answered."""
    vocabulary = Vocabulary.of(run, classes)
    seen = truth.take(answers.is_there)
    if not len(seen.true_class):  # nothing is known of it: each class alike
        n_own = signals(vocabulary, answers.predictions.take(np.arange(1))).own.shape[1]
        return Softmax(np.zeros(1), np.zeros((len(run), n_own + 1)))
    features = signals(vocabulary, answers.given)
    ridge = vocabulary.ridge(features.own.shape[1] // len(vocabulary.own))
    return fit_softmax(features, seen.true_class, seen.weight, np.ones(1), ridge)


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of the proteins at hand."""

    true_class: Integers  # Among the run's classes, sorted by name
    weight: Floats

    def take(self, rows: Integers | Booleans) -> Truth:
        """Return that of the rows chosen."""
        return Truth(self.true_class[rows], self.weight[rows])


@dataclass(frozen=True, eq=False)
class Pattern:
    """How the answers of some tools are combined where others gave none."""

    tools: tuple[str, ...]  # Those that answered
    weights: Softmax
    silence: Floats  # Mean, where it was fitted, of whether each other tool was asked in vain


@dataclass(frozen=True, eq=False)
class Combination:
    """Tools and how they are combined."""

    class_names: tuple[str, ...]  # The run's classes, in its order
    tools: tuple[Tool, ...]  # By name
    patterns: tuple[Pattern, ...]  # From few tools to many
    alone: str = ""  # The tool that is followed wherever it answers; empty: none
    finding: ToolsFinding | None = None  # What each tool adds

    @property
    def names(self) -> tuple[str, ...]:
        """The tools."""
        return tuple(tool.name for tool in self.tools)

    @cached_property
    def sorted_names(self) -> tuple[str, ...]:
        """The run's classes, sorted by name."""
        return tuple(sorted(self.class_names))

    def stated(self, answers: Mapping[str, Answers]) -> dict[str, Floats]:
        """Return log p of each class by each tool that was asked."""
        return {
            tool.name: tool.log_probabilities(self.sorted_names, answers[tool.name])
            for tool in self.tools
            if tool.name in answers
        }

    def combined(self, stated: Mapping[str, Floats]) -> Floats:
        """Return log p of each class, sorted by name, of what the tools stated."""
        found = self.pooled(stated)
        if self.alone in stated:
            own = self.pooled({self.alone: stated[self.alone]})
            is_there = ~np.isnan(stated[self.alone][:, 0])
            found[is_there] = own[is_there]
        return found

    def pooled(self, stated: Mapping[str, Floats]) -> Floats:
        """Return the same of all tools that were asked, none of which is followed alone."""
        is_there = answered(stated)
        found = np.empty((len(is_there), len(self.class_names)))
        for rows, names in patterns_of(is_there, tuple(stated)):
            pattern = self._nearest(names)
            part = {name: values[rows] for name, values in stated.items()}
            features = self._features(pattern, part)
            found[rows] = pattern.weights.log_probabilities(features)
        return found

    def _nearest(self, names: tuple[str, ...]) -> Pattern:
        """Return the pattern of most of the tools that answered; the first of equals."""
        inside = [one for one in self.patterns if set(one.tools) <= set(names)]
        return max(inside, key=lambda one: len(one.tools))

    def _features(self, pattern: Pattern, stated: Mapping[str, Floats]) -> Features:
        others = [name for name in self.names if name not in pattern.tools]
        is_there = answered(stated)
        silence = np.tile(pattern.silence, (len(is_there), 1))
        for place, name in enumerate(others):
            if name in stated:
                silence[:, place] = np.isnan(stated[name][:, 0])
        return Features(product(pattern.tools, stated, len(self.class_names)), silence)


def product(names: Sequence[str], stated: Mapping[str, Floats], n_classes: int) -> Floats:
    """Return what some tools stated, by protein, class and tool."""
    n_rows = len(next(iter(stated.values())))
    columns = [stated[name] for name in names]
    return np.stack(columns, axis=2) if columns else np.empty((n_rows, n_classes, 0))


def answered(stated: Mapping[str, Floats]) -> Booleans:
    """Return which tools answered which proteins, one column a tool."""
    return np.column_stack([~np.isnan(values[:, 0]) for values in stated.values()])


def patterns_of(
    is_there: Booleans, names: tuple[str, ...]
) -> Iterable[tuple[Integers, tuple[str, ...]]]:
    """Yield the rows of each pattern of answers, and the tools that answered."""
    kinds, kind = np.unique(is_there, axis=0, return_inverse=True)
    for number, chosen in enumerate(kinds):
        inside = tuple(name for name, is_in in zip(names, chosen, strict=True) if is_in)
        yield np.flatnonzero(kind.ravel() == number), inside


def wanted_patterns(is_there: Booleans, names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the patterns that are fitted: all of few tools; of many all, one, none.

    Of many also those that enough of these proteins have, and each without one of its tools.
    """
    sizes: Collection[int] = range(len(names) + 1)
    if len(names) > MOST_TOOLS:
        sizes = (0, 1, len(names))
    found = {inside for size in sizes for inside in combinations(names, size)}
    seen = [inside for rows, inside in patterns_of(is_there, names) if len(rows) >= LEAST_PROTEINS]
    for inside in (names, *seen):
        found |= {inside, *combinations(inside, max(len(inside) - 1, 0))}
    return sorted(found, key=lambda one: (len(one), one))


def fit_patterns(
    names: tuple[str, ...], stated: Mapping[str, Floats], truth: Truth, n_classes: int
) -> tuple[Pattern, ...]:
    """Return how each pattern is combined, from what the tools stated held out."""
    is_there = answered(stated)
    found = []
    for inside in wanted_patterns(is_there, names):
        is_in = np.array([name in inside for name in names])
        rows = np.flatnonzero(is_there[:, is_in].all(axis=1))
        silence = (~is_there[rows][:, ~is_in]).astype(np.float64)
        part = {name: values[rows] for name, values in stated.items()}
        features = Features(product(inside, part, n_classes), silence)
        ridge = np.full((n_classes, silence.shape[1]), SAME_RIDGE)
        start = np.full(len(inside), 1.0 / max(len(inside), 1))
        own = truth.take(rows)
        weights = fit_softmax(features, own.true_class, own.weight, start, ridge)
        mean = np.full(silence.shape[1], 0.5) if not len(rows) else silence.mean(axis=0)
        found.append(Pattern(inside, weights, mean))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A combination and what it states of proteins that its fits did not see."""

    combination: Combination
    stated: Mapping[str, Floats]  # Log p by each tool, of fits without the protein's fold
    held_out: Sequence[tuple[Booleans, Combination]]  # For each fold its rows and the fit without

    def each(self, names: Sequence[str] | None = None, alone: str = "") -> Floats:
        """Return log p held out of some tools, of all unless named; NaN of a lone family."""
        stated = {name: self.stated[name] for name in names or self.combination.names}
        found = np.full_like(next(iter(self.stated.values())), np.nan)
        for is_out, combination in self.held_out:
            part = {name: values[is_out] for name, values in stated.items()}
            found[is_out] = replace(combination, alone=alone).combined(part)
        return found


@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
def fit_combination(
    labelled: Labelled,
    answers: Mapping[str, Answers],
    classes: Mapping[str, Mapping[str, str]],
    specs: Mapping[str, Mapping[str, Any]] | None = None,
) -> Fitted:
    """Return tools combined, from proteins of known class; folds are whole clusters.

    Rows and tools are taken by their names, so that no order matters.
    """
    class_names = labelled.predictions.class_names
    run, names = tuple(sorted(class_names)), tuple(sorted(answers))
    rank = np.argsort(np.array(class_names, dtype=object)).argsort()
    order = np.argsort(labelled.predictions.ids.astype(str), kind="stable")
    truth = Truth(rank[labelled.true_class][order], labelled.weight[order])
    answers = {name: answers[name].take(order) for name in names}
    fold = fold_of(labelled.cluster[order], truth.true_class, DEFAULT_FOLDS)

    def calibrated(rows: Integers | Booleans) -> tuple[Tool, ...]:
        seen = truth.take(rows)
        return tuple(
            Tool(
                name,
                dict(classes[name]),
                dict((specs or {}).get(name, {})),
                facts_of(answers[name].predictions),
                fit_tool(run, classes[name], answers[name].take(rows), seen),
            )
            for name in names
        )

    def combined(rows: Integers | Booleans, tools: tuple[Tool, ...]) -> Combination:
        part = {name: values[rows] for name, values in stated.items()}
        patterns = fit_patterns(names, part, truth.take(rows), len(run))
        return Combination(class_names, tools, patterns)

    every = np.arange(len(order))
    stated = {name: np.full((len(order), len(run)), np.nan) for name in names}
    of_fold = []
    for is_out in left_out(fold):
        without = Combination(class_names, calibrated(~is_out), ())
        for name, values in without.stated(
            {n: a.take(is_out) for n, a in answers.items()}
        ).items():
            stated[name][is_out] = values
        of_fold.append((is_out, without))
    held_out = [(is_out, combined(~is_out, without.tools)) for is_out, without in of_fold]
    whole = combined(every, calibrated(every))
    back = np.argsort(order, kind="stable")
    return Fitted(
        whole,
        {name: values[back] for name, values in stated.items()},
        [(is_out[back], combination) for is_out, combination in held_out],
    )


def in_table_order(values: Floats, class_names: Sequence[str]) -> Floats:
    """Return columns of classes sorted by name in the order of the run."""
    return np.asarray(values[:, np.argsort(np.argsort(np.array(class_names, dtype=object)))])
