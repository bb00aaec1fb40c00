"""The stack: a weighted mean of methods, weighted by what clusters held out say of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from credence.calibrators.crossfit import DEFAULT_FOLDS, folds_by_class, left_out
from credence.calibrators.intervals import open_interval
from credence.calibrators.matrix import MOST_CLASSES
from credence.calibrators.protocol import (
    NO_PARAMETERS,
    Calibration,
    Calibrator,
    FitOptions,
    Method,
    Need,
)
from credence.calibrators.score_logs import predicted_rank
from credence.calibrators.spread import N_PAIRS, Spread, answers_of_halves, spread_of
from credence.confidence import Confidence, Note, unknown
from credence.draws import encode_clusters
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.progress import each, plan
from credence.records import from_record
from credence.settings import setting

# Few and different in kind (decision 0006).
MEMBERS = ("class_only", "kernel", "beta", "tswa", "logistic", "matrix", "trees", "random_trees")
# Of members, where not the method's own: many slow trees are steadier (decision 0006).
SETTINGS: Mapping[str, Mapping[str, Any]] = {"trees": {"trees": "all"}}
# Members whose time grows with the fourth power of the number of classes.
OF_FEW_CLASSES = ("logistic", "matrix")
CLIP = 1e-4  # no member may be surer when they are mixed
EVEN_FAMILIES = 5.0  # by which the weights of all classes are pulled towards even ones
PRIOR_FAMILIES = 50.0  # by which a class's weights are pulled towards those of all
LEAST_WEIGHT = 1e-3  # a member with less everywhere is left out
MOST_ROUNDS, SETTLED = 1000, 1e-7  # of the weights' rounds: when to stop
# What a member may say of a class or of a score that holds for the stack as well.
SHARED_NOTES = (
    Note.BELOW_RANGE | Note.ABOVE_RANGE | Note.SCARCE | Note.ONE_SIDED | Note.UNSEEN_CLASS
)


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberWeights:
    """Members and their weights."""

    members: tuple[str, ...]  # Names, from simple to complex
    pooled: Floats  # Their weights over all classes
    by_class: Mapping[str, Floats]  # The same by predicted class, pulled towards the pooled ones
    spread: Spread | None  # The interval; None where none was asked for

    def answer(self, values: Floats, predictions: Predictions) -> Floats:
        """Return the weighted mean of what the members state, one column each."""
        names = sorted(predictions.class_names)
        weight = np.array([self.by_class.get(name, self.pooled) for name in names])
        return weighted_mean(values, weight[predicted_rank(predictions)])


@dataclass(frozen=True, kw_only=True)
class MeanLoss:
    """How one member did on clusters that it had not seen."""

    method: str  # Its name
    held_out_nll: float  # Mean negative log-likelihood, weighted


@dataclass(frozen=True, eq=False)
class AutoCalibration:
    """The members and their weights."""

    method: str = field(default="auto", init=False)  # Tells the registry what reads its record
    class_names: tuple[str, ...]  # Classes in order
    skipped: Mapping[str, str]  # Members that the data do not allow, with the reason
    judged: tuple[MeanLoss, ...]  # All members, and last the stack itself
    n: int  # Proteins and clusters that judged
    n_clusters: int
    full: MemberWeights  # Of all members
    score_only: MemberWeights | None  # Of those that see the score; None where `full` is that
    members: Mapping[str, Calibration]  # By name, all that a mix needs

    @property
    def gives_curve(self) -> bool:
        """Whether class and top score alone give an answer: by the members that see the score."""
        return True

    @property
    def needs(self) -> Need:
        """What the member that needs most has to be given."""
        return max((member.needs for member in self.members.values()), key=list(Need).index)

    @property
    def counts(self) -> Mapping[str, Mapping[str, Any]]:
        """What the first member counted of each class."""
        return next(iter(self.members.values())).counts

    def parameters(self, class_names: Sequence[str]) -> Mapping[str, Mapping[str, float]]:
        """Return nothing: each member has its own."""
        return NO_PARAMETERS

    def probabilities(self, predictions: Predictions) -> None:
        """Return None: the members have no class but the predicted one in common."""

    def confidence(self, predictions: Predictions) -> Confidence:
        """Return the confidence of each prediction; without vectors that of the score alone."""
        mix = self.full if self.score_only is None or predictions.has_vectors else self.score_only
        stated = {name: self.members[name].confidence(predictions) for name in mix.members}
        first = next(iter(self.members.values())).confidence(predictions)  # the class's share
        answer = unknown(predictions.n_samples, Note.UNSEEN_CLASS)
        values = np.column_stack([one.value for one in stated.values()])
        answer.value[:] = mix.answer(values, predictions)
        answer.support[:] = first.support
        shared = np.bitwise_or.reduce([one.note for one in stated.values()])
        answer.note[:] = shared & int(SHARED_NOTES)
        if mix.spread is not None:
            names = tuple(sorted(predictions.class_names))
            lower, upper = mix.spread.interval(answer.value, predicted_rank(predictions), names)
            opened = open_interval(lower, upper, answer.value, answer.support)
            # A class that is too scarce to judge has the interval of its share.
            is_share = np.isnan(lower) | (answer.note & int(Note.SCARCE | Note.ONE_SIDED) > 0)
            answer.lower[:] = np.where(is_share, np.minimum(first.lower, answer.value), opened[0])
            answer.upper[:] = np.where(is_share, np.maximum(first.upper, answer.value), opened[1])
        return answer


def weighted_mean(values: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of each row; a member without an answer counts for nothing."""
    is_there = ~np.isnan(values)
    total = np.where(is_there, weight, 0.0).sum(axis=1)
    sums = np.where(is_there, np.clip(values, CLIP, 1.0 - CLIP) * weight, 0.0).sum(axis=1)
    return np.asarray(np.divide(sums, total, out=np.full(len(values), np.nan), where=total > 0))


def best_weights(chance: Floats, mass: Floats, prior: Floats, families: float) -> Floats:
    """Return the weights with the largest likelihood, by expectation–maximisation.

    `chance` has what each member (a column) gave to what came true, `mass` how much each
    sample counts. w ← (f w⁰ + Σ ω r) / (f + Σ ω), with f families that pull towards the
    prior w⁰ and r the members' responsibilities (decision 0006); the problem is concave.
    """
    weight: Floats = prior
    for _ in range(MOST_ROUNDS):
        sums = weight * (mass / (chance @ weight) @ chance)
        new: Floats = (families * prior + sums) / (families + mass.sum())
        moved, weight = np.abs(new - weight).max(), new
        if moved < SETTLED:
            break
    return weight


def not_repeated(values: Floats) -> Booleans:
    """Return which members are not the same as an earlier one."""
    columns = [column.tobytes() for column in values.T + 0.0]
    return np.array([columns.index(one) == place for place, one in enumerate(columns)])


def member_weights(
    names: Sequence[str], values: Floats, labelled: Labelled, *, every: bool = False
) -> MemberWeights:
    """Return the weights that held-out answers (a column a member) give; `every` drops none."""
    rows = np.flatnonzero(~np.isnan(values).any(axis=1))
    kept = not_repeated(values[rows]) if len(rows) else np.ones(len(names), dtype=np.bool_)
    even = np.where(kept, 1.0 / kept.sum(), 0.0)
    p = np.clip(values[rows], CLIP, 1.0 - CLIP)
    chance = np.where(labelled.is_correct[rows, None], p, 1.0 - p)
    weight = labelled.weight[rows]
    pooled = best_weights(chance, weight, even, EVEN_FAMILIES) if len(rows) else even
    by_class = {}
    rank = predicted_rank(labelled.predictions)[rows]
    code, key = encode_clusters(labelled.cluster[rows])
    for place, name in enumerate(sorted(labelled.predictions.class_names)):
        own = np.flatnonzero(rank == place)
        if len(own):
            mass = weight[own]  # a family counts once, its proteins by their weights
            family = np.bincount(code[own], weights=mass, minlength=len(key))
            mass = mass / family[code[own]]
            by_class[name] = best_weights(chance[own], mass, pooled, PRIOR_FAMILIES)
    used = np.array([pooled, *by_class.values()]).max(axis=0) >= (0.0 if every else LEAST_WEIGHT)

    def thinned(weights: Floats) -> Floats:
        return np.asarray(weights[used] / weights[used].sum())

    by_class = {name: thinned(weights) for name, weights in by_class.items()}
    kept_names = tuple(np.array(names, dtype=object)[used].tolist())
    return MemberWeights(
        members=kept_names, pooled=thinned(pooled), by_class=by_class, spread=None
    )


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Settings of the stack.

    The weighted mean of the members' probabilities, with the weights that make held-out outcomes
    likeliest over all classes; those of a class are pulled towards them with the strength of fifty
    families. A second stack, of the members that see predicted class and top score alone, answers
    where there is no score vector. The interval adds to the error that halves of the clusters
    show the misfit of the class (:mod:`credence.calibrators.spread`).
    """

    sees: str = setting(
        "vector",
        "What it looks at: vector, the scores of all classes, or score, the best one.",
        ("vector", "score"),
    )


@dataclass(frozen=True, kw_only=True)
class AutoCalibrator:
    """The stack, ready to fit."""

    settings: Auto
    options: FitOptions  # What all methods share
    methods: tuple[Method, ...]  # All that may be members, from simple to complex

    def fit(self, labelled: Labelled) -> AutoCalibration:
        """Return the members and their weights."""
        found: tuple[AutoCalibration, Floats] = self.fit_and_hold_out(labelled)
        return found[0]

    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def fit_and_hold_out(self, labelled: Labelled) -> tuple[AutoCalibration, Floats]:
        """Return the members and their weights, and answers of fits without each fold.

        On one thread: the order of a sum must not depend on how many cores there are.
        """
        reasons = {m.name: lacking(m, labelled.predictions, self.settings) for m in self.methods}
        usable, settings, ready = self._ready(labelled)
        names = tuple(method.name for method in usable)
        quick = replace(self.options, n_draws=0)
        fold = folds_by_class(labelled, DEFAULT_FOLDS)
        plan(DEFAULT_FOLDS + (N_PAIRS if self.options.n_draws > 0 else 0))
        held_out = out_of_folds(labelled, ready, fold)
        full = member_weights(names, held_out, labelled)
        score_only = None
        by_vector = {method.name for method in usable if method.needs.is_vector}
        if by_vector.intersection(full.members):  # else all that is seen is the score
            sees_score = tuple(m.name for m in usable if not m.needs.is_vector)
            score_only = member_weights(sees_score, columns(names, sees_score, held_out), labelled)
        own = full.answer(columns(names, full.members, held_out), labelled.predictions)
        judged = (
            *(
                MeanLoss(method=n, held_out_nll=mean_loss(p, labelled))
                for n, p in zip(names, held_out.T, strict=True)
            ),
            MeanLoss(method="auto", held_out_nll=mean_loss(own, labelled)),
        )
        if self.options.n_draws > 0:
            of_halves = answers_of_halves(labelled, partial(answers, ready))

            def with_spread(mix: MemberWeights) -> MemberWeights:
                """Return a mix with its interval, the weights found anew for each pair."""
                refitted = []
                for values in of_halves:
                    part = columns(names, mix.members, values)
                    anew = member_weights(mix.members, part, labelled, every=True)
                    refitted.append(anew.answer(part, labelled.predictions))
                answer = mix.answer(columns(names, mix.members, held_out), labelled.predictions)
                spread = spread_of(
                    labelled, answer, refitted, self.options.level,
                    is_curve=not by_vector.intersection(mix.members),
                )  # fmt: skip
                return replace(mix, spread=spread)

            full = with_spread(full)
            score_only = None if score_only is None else with_spread(score_only)
        used = {names[0], *full.members, *(() if score_only is None else score_only.members)}
        members = {}
        for name, method, chosen in each(zip(names, usable, settings, strict=True), len(names)):
            # The class's share, which comes first, has the interval of scarce classes.
            options = self.options if name == names[0] else quick
            if name in used:
                members[name] = method.build(chosen, options).fit(labelled)
        skipped = {name: reason for name, reason in reasons.items() if reason}
        counts = (labelled.n_samples, len(np.unique(labelled.cluster.astype(str))))
        of = (labelled.predictions.class_names, skipped, judged, *counts)
        calibration = AutoCalibration(*of, full, score_only, members)
        return calibration, answers_without(names, held_out, labelled, fold)

    def _ready(self, labelled: Labelled) -> tuple[list[Method], list[Any], list[Calibrator]]:
        usable = [m for m in self.methods if not lacking(m, labelled.predictions, self.settings)]
        settings = [method.settings(**SETTINGS.get(method.name, {})) for method in usable]
        quick = replace(self.options, n_draws=0)
        ready = [method.build(own, quick) for method, own in zip(usable, settings, strict=True)]
        return usable, settings, ready

    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def held_out(self, labelled: Labelled, fold: Integers) -> Floats:
        """Return the answer for each fold; weights rest on the other folds' held-out answers."""
        usable, _, ready = self._ready(labelled)
        names = tuple(method.name for method in usable)
        return answers_without(names, out_of_folds(labelled, ready, fold), labelled, fold)


def answers_without(
    names: Sequence[str], values: Floats, labelled: Labelled, fold: Integers
) -> Floats:
    """Return the stack's answer for each fold, the weights found without it."""
    answer = np.full(labelled.n_samples, np.nan)
    for is_out in left_out(fold):
        mix = member_weights(names, values[~is_out], labelled.take(~is_out))
        part = columns(names, mix.members, values[is_out])
        answer[is_out] = mix.answer(part, labelled.predictions.take(is_out))
    return answer


def for_curves(calibrator: Calibrator) -> Calibrator:
    """Return what has the same curves, without the members of a stack that curves leave out."""
    if not isinstance(calibrator, AutoCalibrator):
        return calibrator
    return replace(calibrator, settings=Auto(sees="score"))


def columns(names: Sequence[str], wanted: Sequence[str], values: Floats) -> Floats:
    """Return the columns of some members."""
    return values[:, [names.index(name) for name in wanted]]


def answers(ready: Sequence[Calibrator], seen: Labelled, unseen: Labelled) -> Floats:
    """Return what each member, fitted on some proteins, answers for others."""
    return np.column_stack([one.fit(seen).confidence(unseen.predictions).value for one in ready])


def out_of_folds(labelled: Labelled, ready: Sequence[Calibrator], fold: Integers) -> Floats:
    """Return each member's answers for proteins whose fold it has not seen."""
    found = np.full((labelled.n_samples, len(ready)), np.nan)
    for is_out in left_out(fold):
        found[is_out] = answers(ready, labelled.take(~is_out), labelled.take(is_out))
    return found


def mean_loss(answer: Floats, labelled: Labelled) -> float:
    """Return the mean negative log-likelihood of answers, NaN where there are none."""
    is_there = ~np.isnan(answer)
    if not is_there.any():
        return float("nan")
    p = np.clip(answer[is_there], CLIP, 1.0 - CLIP)
    loss = -np.where(labelled.is_correct[is_there], np.log(p), np.log1p(-p))
    return float(np.average(loss, weights=labelled.weight[is_there]))


def lacking(method: Method, predictions: Predictions, settings: Auto) -> str:
    """Return why a method cannot be a member, or nothing."""
    if method.needs is Need.VECTOR and settings.sees == "score":
        return "sees more than the top score"
    has_none = method.needs is Need.TOP_SCORE and predictions.top_score is None
    if has_none or (method.needs is Need.VECTOR and not predictions.has_vectors):
        return f"needs the {method.needs.value}"
    if method.name in OF_FEW_CLASSES and predictions.n_classes > MOST_CLASSES:
        return f"takes too long with more than {MOST_CLASSES} classes"
    return ""


def method_over(methods: tuple[Method, ...]) -> Method:
    """Return the registry's entry of the stack of those of these methods that are its members."""
    by_name = {method.name: method for method in methods}

    def build(settings: Auto, options: FitOptions) -> Calibrator:
        members = tuple(method for method in methods if method.name in MEMBERS)
        return AutoCalibrator(settings=settings, options=options, methods=members)

    def member(record: Mapping[str, Any]) -> Calibration:
        return by_name[record["method"]].read(record)

    return Method(
        name="auto",
        summary="A weighted mean of methods, the weights found on proteins held out.",
        reference="Wolpert 1992, Stacked generalization, doi 10.1016/S0893-6080(05)80023-1",
        settings=Auto,
        needs=Need.CLASS,
        build=build,
        read=partial(from_record, AutoCalibration, kinds={Calibration: member}),
    )
