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
from credence.draws import effective_clusters, encode_clusters
from credence.predictions import Booleans, Floats, Integers, Labelled, Predictions
from credence.progress import each, plan
from credence.records import from_record
from credence.settings import setting

# Few and different in kind (decision 0006).
MEMBERS = (
    "class_only", "kernel", "beta", "tswa", "logistic", "matrix", "trees", "random_trees",
    "hierarchical",
)  # fmt: skip
HIERARCHICAL = "hierarchical"  # Has the intervals of scarce classes, and answers for unseen ones
# What members weigh before anything is known of them, in shares that are made to add up to one
# (decision 0041): classes that are fitted together need few proteins. Others have `OTHER_WEIGHT`.
PRIOR_WEIGHTS: Mapping[str, float] = {
    "hierarchical": 0.3, "matrix": 0.3, "tswa": 0.1, "trees": 0.1, "random_trees": 0.1,
}  # fmt: skip
OTHER_WEIGHT = 0.025
# The same in scarce classes, where other members do not answer.
SCARCE_WEIGHTS: Mapping[str, float] = {
    "hierarchical": 0.4, "matrix": 0.4, "trees": 0.1, "random_trees": 0.1,
}  # fmt: skip
# Of members, where not the method's own: many slow trees are steadier (decision 0006).
SETTINGS: Mapping[str, Mapping[str, Any]] = {"trees": {"trees": "all"}}
# Members whose time grows with the fourth power of the number of classes.
OF_FEW_CLASSES = ("logistic", "matrix")
MEMBER_CLIP = 1e-4  # no member may be surer when they are mixed
LEADING_FAMILIES = 5.0  # by which the weights of all classes are pulled towards those before
ALIKE_FAMILIES = 10.0  # that say, before others do, that relatives are wholly alike
PRIOR_FAMILIES = 50.0  # by which a class's weights are pulled towards those of all
LEAST_WEIGHT = 1e-3  # a member with less everywhere is left out
MOST_ROUNDS, SETTLED = 1000, 1e-7  # of the weights' rounds: when to stop
# What a member may say of a class or of a score that holds for the stack as well.
SHARED_NOTES = (
    Note.BELOW_RANGE | Note.ABOVE_RANGE | Note.SCARCE | Note.ONE_SIDED | Note.UNSEEN_CLASS
)
SCARCE_NOTES = int(Note.SCARCE | Note.ONE_SIDED)


@dataclass(frozen=True, kw_only=True, eq=False)
class MemberWeights:
    """Members and their weights."""

    members: tuple[str, ...]  # Names, from simple to complex
    pooled: Floats  # Their weights over all classes
    by_class: Mapping[str, Floats]  # The same by predicted class, pulled towards the pooled ones
    scarce: Floats  # In scarce classes, and in those never predicted
    spread: Spread | None  # The interval; None where none was asked for

    def answer(self, values: Floats, predictions: Predictions) -> Floats:
        """Return the weighted mean of what the members state, one column each."""
        names = sorted(predictions.class_names)
        weight = np.array([self.by_class.get(name, self.pooled) for name in names])
        is_scarce = np.isnan(values).any(axis=1, keepdims=True)
        weight = np.where(is_scarce, self.scarce, weight[predicted_rank(predictions)])
        return weighted_mean(values, weight)


@dataclass(frozen=True, kw_only=True)
class MeanLoss:
    """How one member did on clusters that it had not seen."""

    method: str  # Its name
    held_out_nll: float  # Mean negative log-likelihood, weighted


@dataclass(frozen=True, kw_only=True, eq=False)
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
        values = np.column_stack([stated_by(name, part) for name, part in stated.items()])
        answer.value[:] = mix.answer(values, predictions)
        answer.support[:] = first.support
        shared = np.bitwise_or.reduce([part.note for part in (first, *stated.values())])
        answer.note[:] = shared & int(SHARED_NOTES)
        if mix.spread is not None:
            names = tuple(sorted(predictions.class_names))
            lower, upper = mix.spread.interval(answer.value, predicted_rank(predictions), names)
            opened = open_interval(lower, upper, answer.value, answer.support)
            # A class that is too scarce to judge has the interval of the curve of all classes.
            pooled = stated.get(HIERARCHICAL, first)
            is_pooled = np.isnan(lower) | (answer.note & SCARCE_NOTES > 0)
            low, high = np.fmin(pooled.lower, answer.value), np.fmax(pooled.upper, answer.value)
            answer.lower[:] = np.where(is_pooled, low, opened[0])
            answer.upper[:] = np.where(is_pooled, high, opened[1])
        return answer


def stated_by(member: str, confidence: Confidence) -> Floats:
    """Return a member's answers, none in scarce classes if it does not borrow from others."""
    if member in SCARCE_WEIGHTS:
        return confidence.value
    return np.where(confidence.note & int(Note.SCARCE) > 0, np.nan, confidence.value)


def weighted_mean(values: Floats, weight: Floats) -> Floats:
    """Return the weighted mean of each row; a member without an answer counts for nothing."""
    is_there = ~np.isnan(values)
    total = np.where(is_there, weight, 0.0).sum(axis=1)
    sums = np.where(is_there, np.clip(values, MEMBER_CLIP, 1.0 - MEMBER_CLIP) * weight, 0.0).sum(
        axis=1
    )
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


def mean_family(cluster: Integers, weight: Floats) -> float:
    """Return what a protein's family weighs, in the mean over proteins: Σ m² / Σ m."""
    return float(weight.sum()) / effective_clusters(cluster, weight)


def family_effect(slope: Floats, weight: Floats, cluster: Integers) -> float:
    """Return what proteins that tell as much as one independent one weigh together.

    That is D = Σ_families (Σ w g)² / Σ w² g² times Σ w² / Σ w, with g a protein's slope of the
    log-likelihood of the members' weights (a column a member). Few families say little of D, so
    it is pulled by some towards the mean family: relatives wholly alike.
    """
    alike = mean_family(cluster, weight)
    by_family = [np.bincount(cluster, weights=weight * column) for column in slope.T]
    squares = float((weight[:, None] ** 2 * slope**2).sum())
    alone = float((weight**2).sum() / weight.sum())
    of_families = float((np.array(by_family) ** 2).sum())
    seen = of_families / squares * alone if squares > 0.0 else alike
    n_families = effective_clusters(cluster, weight)
    pulled = (ALIKE_FAMILIES * alike + n_families * seen) / (ALIKE_FAMILIES + n_families)
    return float(np.clip(pulled, alone, alike))


def not_repeated(values: Floats) -> Booleans:
    """Return which members are not the same as an earlier one."""
    columns = [column.tobytes() for column in values.T + 0.0]
    return np.array([columns.index(column) == place for place, column in enumerate(columns)])


def member_weights(
    names: Sequence[str], values: Floats, labelled: Labelled, *, every: bool = False
) -> MemberWeights:
    """Return the weights that held-out answers (a column a member) give; `every` drops none."""
    is_there = ~np.isnan(values)
    rows = np.flatnonzero(is_there.all(axis=1))
    kept = not_repeated(values[rows]) if len(rows) else np.ones(len(names), dtype=np.bool_)
    prior = np.array([PRIOR_WEIGHTS.get(name, OTHER_WEIGHT) for name in names]) * kept
    prior = prior / prior.sum()
    p = np.clip(values, MEMBER_CLIP, 1.0 - MEMBER_CLIP)
    chance = np.where(labelled.is_correct[:, None], p, 1.0 - p)
    code, key = encode_clusters(labelled.cluster)
    weight = labelled.weight / mean_family(code, labelled.weight)
    pooled = prior
    if len(rows):
        proteins = labelled.weight * (labelled.weight.sum() / (labelled.weight**2).sum())
        counted = best_weights(chance[rows], proteins[rows], prior, LEADING_FAMILIES)
        slope = chance[np.ix_(rows, kept)] / (chance[rows] @ counted)[:, None] - 1.0
        weight = labelled.weight / family_effect(slope, labelled.weight[rows], code[rows])
        pooled = best_weights(chance[rows], weight[rows], prior, LEADING_FAMILIES)
    by_class = {}
    rank = predicted_rank(labelled.predictions)
    for place, name in enumerate(sorted(labelled.predictions.class_names)):
        of_class = rows[rank[rows] == place]
        if len(of_class):
            mass = weight[of_class]  # a family counts once, its proteins by their weights
            family = np.bincount(code[of_class], weights=mass, minlength=len(key))
            mass = mass / family[code[of_class]]
            by_class[name] = best_weights(chance[of_class], mass, pooled, PRIOR_FAMILIES)
    borrows = np.array([SCARCE_WEIGHTS.get(name, 0.0) for name in names]) * kept
    scarce = pooled
    if borrows.any():
        scarce = borrows / borrows.sum()
        able = np.flatnonzero(borrows)
        few = np.flatnonzero(is_there[:, able].all(axis=1) & ~is_there.all(axis=1))
        if len(few):
            among_able = best_weights(
                chance[np.ix_(few, able)], weight[few], scarce[able], LEADING_FAMILIES
            )
            scarce = np.zeros(len(names))
            scarce[able] = among_able
    highest = np.array([pooled, scarce, *by_class.values()]).max(axis=0)
    used = highest >= (0.0 if every else LEAST_WEIGHT)

    def thinned(weights: Floats) -> Floats:
        return np.asarray(weights[used] / weights[used].sum())

    by_class = {name: thinned(weights) for name, weights in by_class.items()}
    kept_names = tuple(np.array(names, dtype=object)[used].tolist())
    return MemberWeights(
        members=kept_names,
        pooled=thinned(pooled),
        by_class=by_class,
        scarce=thinned(scarce),
        spread=None,
    )


@dataclass(frozen=True, kw_only=True)
class Auto:
    """Settings of the stack.

    The weighted mean of the members' probabilities, with the weights that make held-out outcomes
    likeliest over all classes, pulled towards members that need few proteins with the strength of
    five families; those of a class are pulled towards them with the strength of fifty. In scarce
    classes the members answer that borrow from all others, and the interval is that of the
    hierarchical curve. A second stack, of the members that see predicted class and top score
    alone, answers where there is no score vector. The interval adds to the error that halves of
    the clusters show the misfit of the class (:mod:`credence.calibrators.spread`).
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
        fitted: tuple[AutoCalibration, Floats] = self.fit_and_hold_out(labelled)
        return fitted[0]

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
        both = out_of_folds(labelled, ready, fold)
        held_out, of_score = both[..., 0], both[..., 1]
        full = member_weights(names, held_out, labelled)
        score_only = None
        by_vector = {m.name for m in usable if self._sees_vector(m, labelled.predictions)}
        if by_vector.intersection(full.members):  # else all that is seen is the score
            sees_score = tuple(m.name for m in usable if not m.needs.is_vector)
            part = columns(names, sees_score, of_score)
            score_only = member_weights(sees_score, part, labelled)
        stacked = full.answer(columns(names, full.members, held_out), labelled.predictions)
        judged = (
            *(
                MeanLoss(method=n, held_out_nll=mean_loss(p, labelled))
                for n, p in zip(names, held_out.T, strict=True)
            ),
            MeanLoss(method="auto", held_out_nll=mean_loss(stacked, labelled)),
        )
        if self.options.n_draws > 0:
            of_halves = answers_of_halves(labelled, partial(answers, ready))

            def with_spread(mix: MemberWeights, view: int) -> MemberWeights:
                """Return a mix with its interval, the weights found anew for each pair."""
                refitted = []
                for values in of_halves:
                    part = columns(names, mix.members, values[..., view])
                    anew = member_weights(mix.members, part, labelled, every=True)
                    refitted.append(anew.answer(part, labelled.predictions))
                part = columns(names, mix.members, both[..., view])
                answer = mix.answer(part, labelled.predictions)
                level = self.options.level
                spread = spread_of(labelled, answer, refitted, level)
                return replace(mix, spread=spread)

            full = with_spread(full, 0)
            score_only = None if score_only is None else with_spread(score_only, 1)
        used = {names[0], *full.members, *(() if score_only is None else score_only.members)}
        members = {}
        for name, method, chosen in each(zip(names, usable, settings, strict=True), len(names)):
            options = self.options if name == HIERARCHICAL else quick
            if name in used:
                members[name] = method.build(chosen, options).fit(labelled)
        skipped = {name: reason for name, reason in reasons.items() if reason}
        calibration = AutoCalibration(
            class_names=labelled.predictions.class_names,
            skipped=skipped,
            judged=judged,
            n=labelled.n_samples,
            n_clusters=len(np.unique(labelled.cluster.astype(str))),
            full=full,
            score_only=score_only,
            members=members,
        )
        return calibration, answers_without(names, held_out, labelled, fold)

    def _ready(self, labelled: Labelled) -> tuple[list[Method], list[Any], list[Calibrator]]:
        usable = [m for m in self.methods if not lacking(m, labelled.predictions, self.settings)]
        settings = [method.settings(**self._settings_of(method)) for method in usable]
        quick = replace(self.options, n_draws=0)
        ready = [
            method.build(chosen, quick) for method, chosen in zip(usable, settings, strict=True)
        ]
        return usable, settings, ready

    def _settings_of(self, method: Method) -> Mapping[str, Any]:
        """Return the settings of a member, where not the method's own."""
        if method.name == HIERARCHICAL:
            return {"sees": self.settings.sees}
        return SETTINGS.get(method.name, {})

    def _sees_vector(self, method: Method, predictions: Predictions) -> bool:
        """Return whether a member answers otherwise where there is a vector."""
        if method.name == HIERARCHICAL:
            return self.settings.sees == "vector" and predictions.has_vectors
        return method.needs.is_vector

    @threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
    def held_out(self, labelled: Labelled, fold: Integers) -> Floats:
        """Return the answer for each fold; weights rest on the other folds' held-out answers."""
        usable, _, ready = self._ready(labelled)
        names = tuple(method.name for method in usable)
        values = out_of_folds(labelled, ready, fold)[..., 0]
        return answers_without(names, values, labelled, fold)


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
    """Return what each member, fitted on some proteins, answers for others.

    The last axis has two views: from all that is given, and from class and top score alone, NaN
    where a member needs more.
    """
    values = np.full((unseen.n_samples, len(ready), 2), np.nan)
    bare = replace(unseen.predictions, scores=None, network_scores=None)
    for place, calibrator in enumerate(ready):
        fitted = calibrator.fit(seen)
        name = fitted.method
        values[:, place, 0] = stated_by(name, fitted.confidence(unseen.predictions))
        if fitted.gives_curve:
            values[:, place, 1] = stated_by(name, fitted.confidence(bare))
    return values


def out_of_folds(labelled: Labelled, ready: Sequence[Calibrator], fold: Integers) -> Floats:
    """Return each member's answers for proteins whose fold it has not seen, in both views."""
    values = np.full((labelled.n_samples, len(ready), 2), np.nan)
    for is_out in left_out(fold):
        values[is_out] = answers(ready, labelled.take(~is_out), labelled.take(is_out))
    return values


def mean_loss(answer: Floats, labelled: Labelled) -> float:
    """Return the mean negative log-likelihood of answers, NaN where there are none."""
    is_there = ~np.isnan(answer)
    if not is_there.any():
        return float("nan")
    p = np.clip(answer[is_there], MEMBER_CLIP, 1.0 - MEMBER_CLIP)
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
        summary="A weighted mean of methods, the weights values on held-out proteins.",
        reference="Wolpert 1992, Stacked generalization, doi 10.1016/S0893-6080(05)80023-1",
        settings=Auto,
        needs=Need.CLASS,
        pools=True,
        build=build,
        read=partial(from_record, AutoCalibration, kinds={Calibration: member}),
    )
