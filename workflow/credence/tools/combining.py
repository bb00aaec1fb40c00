"""Several tools combined: each calibrated to the run's classes, then a weighted product of them.

First a softmax for each tool turns its scores into a probability of each of the run's classes; it
does not matter what those scores are, nor which classes the tool can name. Then, for each pattern
of tools that answer, log p is the weighted sum of their log p, with an intercept for each class
and one more where a tool was asked and did not answer. Fitted where the tools of a pattern
answer, whatever others do (decision 0039).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy import optimize, special
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from credence.calibrators import score_logs
from credence.calibrators.crossfit import DEFAULT_FOLDS, fold_of, left_out
from credence.findings import ToolsFinding
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions

MOST_TOOLS = 4  # of which every pattern is fitted; of more, those that are likely
LEAST_PROTEINS = 30  # that have a pattern of answers which is fitted, of many tools
# Ridges on a class's weight for the tool's score of the same class, and of another.
SAME_RIDGE, OTHER_RIDGE = 1.0, 100.0
SHARED_RIDGE, INTERCEPT_RIDGE = 1.0, 1.0
MOST_ROUNDS, SETTLED = 300, 1e-7  # of the search: rounds, and by what part the loss still falls


@dataclass(frozen=True, kw_only=True, eq=False)
class SoftmaxInputs:
    """What a softmax sees of some proteins."""

    shared: Floats  # By protein, class and feature
    of_protein: Floats  # By protein and feature


@dataclass(frozen=True, kw_only=True, eq=False)
class Softmax:
    """The weights of a regularised softmax.

    The logit of class k is Σ_a w_a S_ka + Σ_j D_kj X_j + b_k: features S with a value for each
    class share their weights, features X of the protein have one for each class.
    """

    shared: Floats  # w, one per shared feature
    of_protein: Floats  # D, a row per class, the intercepts in the last column

    def log_probabilities(self, features: SoftmaxInputs) -> Floats:
        """Return the log probability of each class."""
        # Row by row: a product of matrices depends on how many rows a piece has.
        logit = np.einsum("nka,a->nk", features.shared, self.shared)
        logit += (
            np.einsum("nj,kj->nk", features.of_protein, self.of_protein[:, :-1])
            + self.of_protein[:, -1]
        )
        return np.asarray(special.log_softmax(logit, axis=1))


def fit_softmax(features: SoftmaxInputs, truth: Floats, start: Floats, ridge: Floats) -> Softmax:
    """Return the weights that ridges pull towards `start`, the shared ones, and 0, the others.

    `truth` holds the weight of each protein in the column of its class, `ridge` a row per class.
    """
    n_rows, n_classes, n_shared = features.shared.shape
    design = np.column_stack([features.of_protein, np.ones(n_rows)])
    ridges = np.column_stack([ridge, np.full(n_classes, INTERCEPT_RIDGE)])
    total, weight = max(float(truth.sum()), 1.0), truth.sum(axis=1, keepdims=True)
    flat = np.ascontiguousarray(features.shared.reshape(n_rows * n_classes, n_shared))

    def loss(point: Floats) -> tuple[float, Floats]:
        shared, by_class = point[:n_shared], point[n_shared:].reshape(n_classes, -1)
        logit = (flat @ shared).reshape(n_rows, n_classes) + design @ by_class.T
        log_p = special.log_softmax(logit, axis=1)
        excess = weight * np.exp(log_p) - truth
        penalty = SHARED_RIDGE * ((shared - start) ** 2).sum() + (ridges * by_class**2).sum()
        of_shared = excess.ravel() @ flat + SHARED_RIDGE * (shared - start)
        slope = np.concatenate([of_shared, (excess.T @ design + ridges * by_class).ravel()])
        return (penalty / 2.0 - (truth * log_p).sum()) / total, slope / total

    begin = np.concatenate([start, np.zeros(n_classes * design.shape[1])])
    options = {"maxiter": MOST_ROUNDS, "ftol": SETTLED, "gtol": 1e-6, "maxfun": 2 * MOST_ROUNDS}
    best = optimize.minimize(loss, begin, jac=True, method="L-BFGS-B", options=options).x
    return Softmax(shared=best[:n_shared], of_protein=best[n_shared:].reshape(n_classes, -1))


def meant_classes(run: Sequence[str], classes: Mapping[str, str]) -> Integers:
    """Return which of the run's each class of a tool is, sorted by name; -1 for none of them."""
    place = {name: index for index, name in enumerate(run)}
    return np.array([place.get(classes[name], -1) for name in sorted(classes)], dtype=np.int64)


def meant_shares(run: Sequence[str], classes: Mapping[str, str]) -> Floats:
    """Return what share of each class of a tool each of the run's has, both sorted by name.

    A class that is none of the run's goes evenly to those that the tool cannot name.
    """
    meant = meant_classes(run, classes)
    is_same = np.equal(meant[:, None], np.arange(len(run)))
    is_lacking = ~is_same.any(axis=0)
    shares: Floats = is_same + np.outer(meant < 0, is_lacking) / max(int(is_lacking.sum()), 1)
    return shares


def signals(shares: Floats, predictions: Predictions) -> SoftmaxInputs:
    """Return what a softmax over the run's classes sees of answers of one tool."""
    is_named = np.equal(score_logs.predicted_rank(predictions)[:, None], np.arange(len(shares)))
    if predictions.scores is not None and predictions.is_distribution:
        facts = score_logs.sorted_log_scores(predictions)
        share = special.softmax(facts, axis=1)
    else:
        n_others = max(len(shares) - 1, 1)
        top = np.full(predictions.n_samples, 0.5)
        columns = [is_named.astype(np.float64)]
        if predictions.top_score is not None:
            bounds = score_logs.share_bounds(predictions.resolution, predictions.scale)
            top = np.clip(predictions.top_score / predictions.scale, *bounds)
            columns.append(is_named * special.logit(top)[:, None])
        if predictions.scores is not None:
            order = score_logs.name_order(predictions.class_names)
            columns[-1] = predictions.scores[:, order] / predictions.scale
        facts = np.hstack(columns)
        share = np.where(is_named, top[:, None], (1 - top[:, None]) / n_others)
    spread = np.einsum("nj,jk->nk", share, shares)
    logs: Floats = np.log(np.maximum(spread, score_logs.UNKNOWN_RESOLUTION_FLOOR))
    return SoftmaxInputs(
        shared=np.round(logs, score_logs.LOG_DECIMALS)[:, :, None],
        of_protein=np.round(facts, score_logs.LOG_DECIMALS),
    )


def facts_of(predictions: Predictions) -> dict[str, Any]:
    """Return what answers of one tool have in common, later ones too."""
    return {
        "scale": float(predictions.scale),
        "has_scores": predictions.scores is not None,
        "has_top_score": predictions.top_score is not None,
        "is_distribution": predictions.is_distribution,
    }


@dataclass(frozen=True, kw_only=True, eq=False)
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

    def take(self, rows: Integers | Booleans) -> "Answers":
        """Return those of the proteins chosen."""
        return Answers(predictions=self.predictions, row=self.row[rows])


ByTool = Mapping[str, Answers]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tool:
    """One tool, calibrated to the run's classes."""

    name: str
    classes: Mapping[str, str]  # Its classes, each with the run's; "" for none of them
    spec: Mapping[str, Any]  # How its tables are read
    facts: Mapping[str, Any]  # What all its answers have in common
    weights: Softmax

    def log_probabilities(self, run: tuple[str, ...], answers: Answers) -> Floats:
        """Return log p of each class, sorted by name; NaN where there is no answer."""
        answer = np.full((len(answers.row), len(run)), np.nan)
        if answers.is_there.any():
            features = signals(meant_shares(run, self.classes), answers.given)
            answer[answers.is_there] = self.weights.log_probabilities(features)
        return answer


def fit_tool(
    run: tuple[str, ...], classes: Mapping[str, str], answers: Answers, truth: Floats
) -> Softmax:
    """Return a tool's weights, from the proteins that it answered; if none, each class alike."""
    shares = meant_shares(run, classes)
    features = signals(shares, answers.given)
    ridge = np.where(shares.T > 0, SAME_RIDGE, OTHER_RIDGE)
    ridges = np.tile(ridge, (1, features.of_protein.shape[1] // len(shares)))
    start = np.full(1, float(answers.is_there.any()))
    return fit_softmax(features, truth[answers.is_there], start, ridges)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pattern:
    """How the answers of some tools are combined where others gave none."""

    tools: tuple[str, ...]  # Those that answered
    weights: Softmax
    silence: Floats  # Mean, where it was fitted, of whether each other tool was asked in vain


@dataclass(frozen=True, kw_only=True, eq=False)
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

    def stated(self, answers: ByTool) -> dict[str, Floats]:
        """Return log p of each class by each tool that was asked."""
        return {
            tool.name: tool.log_probabilities(self.sorted_names, answers[tool.name])
            for tool in self.tools
            if tool.name in answers
        }

    def combined(self, stated: Mapping[str, Floats]) -> Floats:
        """Return log p of each class, sorted by name, of what the tools stated."""
        pooled = self.pooled(stated)
        if self.alone in stated:
            alone = self.pooled({self.alone: stated[self.alone]})
            is_there = ~np.isnan(stated[self.alone][:, 0])
            pooled[is_there] = alone[is_there]
        return pooled

    def pooled(self, stated: Mapping[str, Floats]) -> Floats:
        """Return the same of all tools that were asked, none of which is followed alone."""
        is_there = answered(stated)
        pooled = np.empty((len(is_there), len(self.class_names)))
        for rows, names in patterns_of(is_there, tuple(stated)):
            inside = [pattern for pattern in self.patterns if set(pattern.tools) <= set(names)]
            pattern = max(inside, key=lambda pattern: len(pattern.tools))  # the first of equals
            part = {name: values[rows] for name, values in stated.items()}
            others = [name for name in self.names if name not in pattern.tools]
            silence = dict(zip(others, pattern.silence, strict=True))
            features = product(pattern.tools, silence, part)
            pooled[rows] = pattern.weights.log_probabilities(features)
        return pooled


def product(
    names: Sequence[str], silence: Mapping[str, float], stated: Mapping[str, Floats]
) -> SoftmaxInputs:
    """Return what some tools stated, and of which others there is no answer.

    Of a tool that was not asked `silence` is taken.
    """
    n_rows, n_classes = next(iter(stated.values())).shape
    shared, silent = np.empty((n_rows, n_classes, len(names))), np.empty((n_rows, len(silence)))
    for place, name in enumerate(names):
        shared[:, :, place] = stated[name]
    for place, (name, mean) in enumerate(silence.items()):
        silent[:, place] = np.isnan(stated[name][:, 0]) if name in stated else mean
    return SoftmaxInputs(shared=shared, of_protein=silent)


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
    sizes = range(len(names) + 1) if len(names) <= MOST_TOOLS else (0, 1, len(names))
    wanted = {inside for size in sizes for inside in combinations(names, size)}
    seen = [inside for rows, inside in patterns_of(is_there, names) if len(rows) >= LEAST_PROTEINS]
    for inside in (names, *seen):
        wanted |= {inside, *combinations(inside, max(len(inside) - 1, 0))}
    return sorted(wanted, key=lambda pattern: (len(pattern), pattern))


def fit_patterns(
    names: tuple[str, ...], stated: Mapping[str, Floats], truth: Floats
) -> tuple[Pattern, ...]:
    """Return how each pattern is combined, from what the tools stated held out."""
    is_there, n_classes = answered(stated), truth.shape[1]
    patterns = []
    for inside in wanted_patterns(is_there, names):
        rows = np.flatnonzero(is_there[:, [name in inside for name in names]].all(axis=1))
        part = {name: values[rows] for name, values in stated.items()}
        silence = {name: 0.5 for name in names if name not in inside}
        features = product(inside, silence, part)
        ridge = np.full((n_classes, len(silence)), SAME_RIDGE)
        start = np.full(len(inside), 1.0 / max(len(inside), 1))
        weights = fit_softmax(features, truth[rows], start, ridge)
        mean = features.of_protein.mean(axis=0) if len(rows) else np.array([*silence.values()])
        patterns.append(Pattern(tools=inside, weights=weights, silence=mean))
    return tuple(patterns)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """A combination and what it states of proteins that its fits did not see."""

    combination: Combination
    stated: Mapping[str, Floats]  # Log p by each tool, of fits without the protein's fold
    held_out: Sequence[tuple[Booleans, Combination]]  # For each fold its rows and the fit without

    def each(self, names: Sequence[str] | None = None, alone: str = "") -> Floats:
        """Return log p held out of some tools, of all unless named; NaN of a lone family."""
        stated = {name: self.stated[name] for name in names or self.combination.names}
        stated_alone = np.full_like(next(iter(self.stated.values())), np.nan)
        for is_out, combination in self.held_out:
            part = {name: values[is_out] for name, values in stated.items()}
            stated_alone[is_out] = replace(combination, alone=alone).combined(part)
        return stated_alone


@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
def fit_combination(
    labelled: Labelled,
    answers: ByTool,
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
    true_class = rank[labelled.true_class][order]
    truth = np.zeros((len(order), len(run)))
    truth[np.arange(len(order)), true_class] = labelled.weight[order]
    answers = {name: answers[name].take(order) for name in names}
    fold = fold_of(labelled.cluster[order], true_class, DEFAULT_FOLDS)

    def calibrated(rows: Integers | Booleans) -> tuple[Tool, ...]:
        return tuple(
            Tool(
                name=name,
                classes=dict(classes[name]),
                spec=dict((specs or {}).get(name, {})),
                facts=facts_of(answers[name].predictions),
                weights=fit_tool(run, classes[name], answers[name].take(rows), truth[rows]),
            )
            for name in names
        )

    def combined(rows: Integers | Booleans, tools: tuple[Tool, ...]) -> Combination:
        part = {name: values[rows] for name, values in stated.items()}
        return Combination(
            class_names=class_names, tools=tools, patterns=fit_patterns(names, part, truth[rows])
        )

    every = np.arange(len(order))
    stated = {name: np.full((len(order), len(run)), np.nan) for name in names}
    of_fold = []
    for is_out in left_out(fold):
        without = Combination(class_names=class_names, tools=calibrated(~is_out), patterns=())
        part = {name: answer.take(is_out) for name, answer in answers.items()}
        for name, values in without.stated(part).items():
            stated[name][is_out] = values
        of_fold.append((is_out, without))
    held_out = [(is_out, combined(~is_out, without.tools)) for is_out, without in of_fold]
    whole = combined(every, calibrated(every))
    back = np.argsort(order, kind="stable")
    return Fitted(
        combination=whole,
        stated={name: values[back] for name, values in stated.items()},
        held_out=[(is_out[back], combination) for is_out, combination in held_out],
    )


def in_table_order(values: Floats, class_names: Sequence[str]) -> Floats:
    """Return columns of classes sorted by name in the order of the run."""
    return np.asarray(values[:, np.argsort(np.argsort(np.array(class_names, dtype=object)))])
