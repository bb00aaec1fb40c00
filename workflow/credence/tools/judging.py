"""What each of several tools adds, and whether all of them beat the best one."""

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import numpy as np

from credence.calibrators.score_logs import predicted_rank
from credence.evaluation.ratios import Ratio, estimate, mean_of
from credence.findings import Disagreement, Measured, ToolFinding, ToolsFinding
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.tools import combining
from credence.tools.combining import ByTool, Combination, Fitted

LEAST_LOG = float(np.log(1e-15))  # a true class is never less probable


def paired_error(difference: Floats, labelled: Labelled) -> float:
    """Return the standard error of a weighted mean difference, families taken together."""
    weight = labelled.weight / labelled.weight.sum()
    _, code = np.unique(labelled.cluster.astype(str), return_inverse=True)
    sums = np.bincount(code, weights=weight * (difference - weight @ difference))
    return float(np.sqrt((sums**2).sum() * len(sums) / max(len(sums) - 1, 1)))


class ToolJudge:
    """Proteins and what all tools, and some of them, state of each held out."""

    def __init__(self, labelled: Labelled, level: float, n_draws: int) -> None:
        self.labelled, self._level, self._n_draws = labelled, level, n_draws
        names = labelled.predictions.class_names
        self.true = np.argsort(np.argsort(np.array(names, dtype=object)))[labelled.true_class]

    def loss(self, log_p: Floats) -> Floats:
        """Return the negative log-likelihood of each true class."""
        return -np.maximum(log_p[np.arange(len(log_p)), self.true], LEAST_LOG)

    def is_right(self, log_p: Floats) -> Floats:
        """Return 1 where the most probable class is the true one."""
        return np.where(log_p.argmax(axis=1) == self.true, 1.0, 0.0)

    def ratio(self, values: Floats, rows: Booleans | None = None, *, share: bool = False) -> Ratio:
        """Return the mean of values as what :meth:`measured` takes."""
        chosen = np.ones(len(values), dtype=np.bool_) if rows is None else rows
        return mean_of(values, self.labelled.weight, chosen, is_share=share)

    def ratios(self, log_p: Floats) -> tuple[Ratio, Ratio]:
        """Return the loss and the precision as what :meth:`measured` takes."""
        return self.ratio(self.loss(log_p)), self.ratio(self.is_right(log_p), share=True)

    def measured(self, *ratios: Ratio) -> list[Measured]:
        """Return means with their intervals, drawn together."""
        means = estimate(self.labelled.cluster, ratios, self._level, self._n_draws)
        return [
            Measured(value=float(value), lower=float(lower), upper=float(upper))
            for value, lower, upper in zip(means.value, means.lower, means.upper, strict=True)
        ]


def judge_tools(
    fitted: Fitted, labelled: Labelled, answers: ByTool, level: float = 0.95, n_draws: int = 200
) -> ToolsFinding:
    """Return what each tool adds, on held-out families."""
    judge, names = ToolJudge(labelled, level, n_draws), fitted.combination.names
    every = fitted.each()
    alone = {name: fitted.each([name]) for name in names}
    loss, mean = judge.loss(every), labelled.weight / labelled.weight.sum()
    classes = {tool.name: tool.classes for tool in fitted.combination.tools}
    best = min(names, key=lambda name: mean @ judge.loss(alone[name]))
    above = loss - judge.loss(alone[best])
    error = paired_error(above, labelled)
    is_best = len(names) > 1 and float(mean @ above) > error
    if is_best:
        every = fitted.each(alone=best)
    tools = []
    for name in names:
        others = [other for other in names if other != name]
        without = judge.loss(fitted.each(others)) if others else loss
        adds = judge.ratio(without - loss)
        nll, accuracy, added = judge.measured(*judge.ratios(alone[name]), adds)
        n_answered, named = int(answers[name].is_there.sum()), set(classes[name].values())
        unnamed = tuple(name for name in fitted.combination.class_names if name not in named)
        tools.append(
            ToolFinding(
                name=name,
                n_answered=n_answered,
                nll=nll,
                accuracy=accuracy,
                adds=added,
                unnamed=unnamed,
            )
        )
    nll, accuracy = judge.measured(*judge.ratios(every))
    meant, right, pairs = classes_named(fitted.combination, answers), judge.is_right(every), []
    for first, second in combinations(fitted.combination.names, 2):
        by_first, by_second = meant[first], meant[second]
        rows = (by_first >= 0) & (by_second >= 0) & (by_first != by_second)
        if rows.any():
            outcomes = (by_first == judge.true, by_second == judge.true, right)
            first_right, second_right, combined_right = judge.measured(
                *(judge.ratio(values, rows, share=True) for values in outcomes)
            )
            pairs.append(
                Disagreement(
                    first=first,
                    second=second,
                    n=int(rows.sum()),
                    n_clusters=len(np.unique(labelled.cluster[rows].astype(str))),
                    first_right=first_right,
                    second_right=second_right,
                    combined_right=combined_right,
                )
            )
    return ToolsFinding(
        n=labelled.n_samples,
        n_clusters=len(np.unique(labelled.cluster.astype(str))),
        level=level,
        nll=nll,
        accuracy=accuracy,
        tools=tuple(tools),
        pairs=tuple(pairs),
        best=best,
        above_best=float(mean @ above),
        error=error,
        alone=best if is_best else "",
    )


def classes_named(combination: Combination, answers: ByTool) -> dict[str, Integers]:
    """Return the run's class, sorted by name, that each tool names; -1 for none of them."""
    classes = {}
    for tool in combination.tools:
        named = classes[tool.name] = np.full(len(next(iter(answers.values())).row), -1)
        if tool.name in answers:
            answer = answers[tool.name]
            meant = combining.meant_classes(combination.sorted_names, tool.classes)
            named[answer.is_there] = meant[predicted_rank(answer.given)]
    return classes


def combine(
    labelled: Labelled,
    answers: ByTool,
    classes: Mapping[str, Mapping[str, str]],
    specs: Mapping[str, Mapping[str, str]] | None = None,
    level: float = 0.95,
    n_draws: int = 200,
) -> tuple[Combination, Floats, dict[str, Floats]]:
    """Return tools combined, and held out what all of them state and what each does.

    Both are log p by class; the first in the run's order, the second sorted by name.
    """
    fitted = combining.fit_combination(labelled, answers, classes, specs)
    finding = judge_tools(fitted, labelled, answers, level, n_draws)
    whole = replace(fitted.combination, alone=finding.alone, finding=finding)
    held_out = fitted.each(alone=finding.alone)
    if np.isnan(held_out).any():  # all is one family
        held_out = whole.combined(whole.stated(answers))
    names = labelled.predictions.class_names
    return whole, combining.in_table_order(held_out, names), dict(fitted.stated)
