"""Conformal prediction sets that count families, for each class on its own.

A set holds every class in which a protein is no less usual than all but a
few of the class's calibration proteins. Families, not proteins, are exchangeable:
each one counts once in a class, its members sharing that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self

import numpy as np

from credence.calibrators.crossfit import fold_of, left_out
from credence.calibrators.masses import fixed
from credence.calibrators.score_logs import others_of, share_bounds
from credence.draws import encode_clusters
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import SetClass, SetsFinding
from credence.predictions import Booleans, Floats, Labelled, Predictions
from credence.records import Stored, from_record, to_record


def strangeness(predictions: Predictions) -> Floats:
    """Return how strange each protein would be in each class, one column a class.

    The log of the best score of another class less the log of the class's own, both as shares of
    the scale and floored at half a step: 1 − score cannot tell proteins apart whose score is 0.00
    (decision 0035). Below 0 the class is the predicted one.
    """
    scores = predictions.required_scores
    floor, _ = share_bounds(predictions.resolution, predictions.scale)
    logs = np.log(np.maximum(scores / predictions.scale, floor))
    if predictions.n_classes == 1:
        return np.asarray(-logs)
    best = logs.argmax(axis=1)
    rows = np.arange(len(logs))
    rival = np.repeat(logs[rows, best][:, None], predictions.n_classes, axis=1)
    rival[rows, best] = others_of(logs, best).max(axis=1)
    return np.asarray(rival - logs)


Kind = Literal["class_wise", "overall"]
SET_KINDS: tuple[Kind, ...] = ("class_wise", "overall")
FAMILY_TOLERANCE = 1e-9  # families; rounding of sums is far below, one family far above
SEPARATOR = "|"  # between the names of a set


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """What the sets promise."""

    level: float = 0.9  # Share of proteins whose set holds their class
    # ``class_wise``: of each class; then no mix of classes changes it. ``overall``: of all
    # proteins at the calibration set's class proportions, or at others that are given; sets are
    # smaller, some classes are missed more.
    kind: Kind = "class_wise"


@dataclass(frozen=True, kw_only=True, eq=False)
class Ladder:
    """How strange the calibration proteins of one class are."""

    n: int  # Proteins and families of the class
    n_clusters: int
    strangeness: Floats  # Ascending, each value once
    # How many families are at least so strange, a member of a family of m counting 1/m.
    families: Floats

    def at_limit(self, miss: float) -> Self:
        """Return the one step at the limit of a class by itself."""
        step = self.strangeness == _limit(self, 1.0, self.n_clusters, miss)
        return replace(self, strangeness=self.strangeness[step], families=self.families[step])

    def refuse_damage(self) -> None:
        """Refuse steps that are not as a fit leaves them."""
        steps = self.strangeness, -self.families
        if any(x.shape != (self.families.size,) or not (np.diff(x) >= 0).all() for x in steps):
            raise ValueError("its steps do not go up one by one")


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """Classes of too few families for a threshold of their own, which share one."""

    sharing: tuple[int, ...]  # These classes, by their place
    lending: tuple[int, ...]  # Larger ones counted with them, where all of these are too few
    ladder: Ladder  # Of all of them together


@dataclass(frozen=True, kw_only=True, eq=False)
class PredictionSets:
    """Fitted sets."""

    class_names: tuple[str, ...]  # Classes in order
    options: SetOptions  # What they promise
    ladders: tuple[Ladder, ...]  # One per class
    pool: Pool | None = None  # Of sets ``class_wise``, where classes are small

    def names_in_pool(self, *, lending: bool = False) -> tuple[str, ...]:
        """Return the classes that share a threshold, or those that lend their families to it."""
        if self.pool is None:
            return ()
        places = self.pool.lending if lending else self.pool.sharing
        return tuple(self.class_names[place] for place in places)

    def limits(self, query_proportion: Floats | None = None) -> Floats:
        """Return the greatest strangeness at which each class stands in a set.

        Infinite for a class of too few families that shares no threshold with others. With
        M_c(s) the families of class c at least as strange as s and K_c all of them, class y
        stands in the set of a protein of strangeness s where
        (Σ_c u_c M_c(s) + u_y) / (Σ_c u_c K_c + u_y) > 1 − level: its own family is counted
        among the others, as if it were of y (Dunn, Wasserman & Ramdas 2023, doi
        10.1080/01621459.2022.2060112; Lee, Barber & Willett, arXiv 2306.06342). Sets
        ``class_wise`` sum over y alone (Vovk 2013, doi 10.1007/s10994-013-5355-6), small classes
        over all that share the pool (Ding et al. 2023, arXiv 2306.09335); else u_c is 1, or,
        under label shift, the class's share in use over K_c (Podkopaev & Ramdas 2021, arXiv
        2103.03323).
        """
        if self.options.kind == "class_wise":
            ladders = list(self.ladders)
            if self.pool is not None:
                for place in self.pool.sharing:
                    ladders[place] = self.pool.ladder
            pairs = [(ladder, 1.0, ladder.n_clusters) for ladder in ladders]
        else:
            unit = self._units(query_proportion)
            weighed = list(zip(self.ladders, unit, strict=True))
            # All classes together, families of each counting their unit.
            strange = np.concatenate([ladder.strangeness for ladder in self.ladders])
            masses = [-np.diff(ladder.families, append=0.0) * u for ladder, u in weighed]
            pooled = _ladder(strange, np.concatenate(masses), 0)
            whole = sum(u * ladder.n_clusters for ladder, u in weighed)
            pairs = [(pooled, float(u), whole) for u in unit]
        return np.array([_limit(*pair, 1.0 - self.options.level) for pair in pairs])

    def _units(self, query_proportion: Floats | None) -> Floats:
        if query_proportion is None:
            return np.ones(len(self.ladders))
        n_clusters = np.array([ladder.n_clusters for ladder in self.ladders])
        units = query_proportion / np.maximum(n_clusters, 1)
        # So that a family counts about 1, on which the tolerance rests.
        return np.asarray(units * (n_clusters.sum() / max((units * n_clusters).sum(), 1e-300)))

    def contains(
        self, predictions: Predictions, query_proportion: Floats | None = None
    ) -> Booleans:
        """Return which classes stand in each protein's set, one column a class."""
        return np.asarray(strangeness(predictions) <= self.limits(query_proportion))

    def to_record(self) -> dict[str, Any]:
        """Return the sets as JSON data; :func:`read_sets` reads it back."""
        ladders, pool = self.ladders, self.pool
        if self.options.kind == "class_wise":
            # Of each ladder the step at the limit: all that sets class by class need.
            miss = 1.0 - self.options.level
            ladders = tuple(ladder.at_limit(miss) for ladder in ladders)
            pool = None if pool is None else replace(pool, ladder=pool.ladder.at_limit(miss))
        return {**to_record(self.options), "classes": ladders, "pool": pool}


def families_needed(level: float) -> int:
    """Return how many families a class needs, or it stands in every set."""
    needed = 1
    while (1.0 - level) * (needed + 1) + FAMILY_TOLERANCE < 1.0:
        needed += 1
    return needed


def fit_sets(labelled: Labelled, options: SetOptions | None = None) -> PredictionSets:
    """Return sets that hold the true class of a protein of a new family at the level.

    For families that are exchangeable, a random protein of a new family of class y has y in its
    set with a probability of at least the level, on average over calibration sets, and at most
    2/(K_y + 1) more where no two are equally strange. Departs from common use: a protein is drawn
    from all families, not from all proteins.
    """
    options = options or SetOptions()
    strange = strangeness(labelled.predictions)
    codes, _ = encode_clusters(labelled.cluster)
    weight = family_weights(labelled)
    ladders = []
    names = labelled.predictions.class_names
    for class_ in range(len(names)):
        rows = np.flatnonzero(labelled.true_class == class_)
        n_clusters = len(np.unique(codes[rows]))
        ladders.append(_ladder(strange[rows, class_], weight[rows], n_clusters))
    sharing, lending = _in_pool([ladder.n_clusters for ladder in ladders], options)
    pool = None
    if sharing:
        places = [*sharing, *lending]
        rows = np.flatnonzero(np.isin(labelled.true_class, places))
        n_clusters = sum(ladders[place].n_clusters for place in places)
        pooled = _ladder(strange[rows, labelled.true_class[rows]], weight[rows], n_clusters)
        pool = Pool(sharing=sharing, lending=lending, ladder=pooled)
    return PredictionSets(class_names=names, options=options, ladders=tuple(ladders), pool=pool)


def _in_pool(
    n_clusters: Sequence[int], options: SetOptions
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the classes that share a threshold, and larger ones that lend families to it.

    The smallest of the others lend, as many as it takes. A class without any family shares
    nothing, and no class does where all families are too few.
    """
    needed = families_needed(options.level)
    if options.kind != "class_wise" or sum(n_clusters) < needed:
        return (), ()
    by_size = sorted(range(len(n_clusters)), key=lambda place: (n_clusters[place], place))
    sharing = [place for place in by_size if 0 < n_clusters[place] < needed]
    lending: list[int] = []
    held = sum(n_clusters[place] for place in sharing)
    for place in by_size:
        if sharing and held < needed <= n_clusters[place]:
            lending.append(place)
            held += n_clusters[place]
    return tuple(sorted(sharing)), tuple(sorted(lending))


def family_weights(labelled: Labelled) -> Floats:
    """Return weights with which every family counts 1 in each class it is in."""
    codes, _ = encode_clusters(labelled.cluster)
    pair = codes * labelled.predictions.n_classes + labelled.true_class
    _, place, size = np.unique(pair, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / size[place])


def _ladder(strange: Floats, mass: Floats, n_clusters: int) -> Ladder:
    """Return the ladder of proteins that stand for parts of families."""
    values, place = np.unique(strange, return_inverse=True)
    masses = fixed(mass).placed(place, len(values)).floats()
    from_the_top = np.ascontiguousarray(masses[::-1].cumsum()[::-1])
    return Ladder(n=len(strange), n_clusters=n_clusters, strangeness=values, families=from_the_top)


def _limit(ladder: Ladder, unit: float, whole: float, miss: float) -> float:
    """Return the greatest strangeness that is not too rare; infinite where none can be."""
    needed = miss * (whole + unit) + FAMILY_TOLERANCE
    if unit > needed:
        return np.inf
    enough = np.flatnonzero(ladder.families + unit > needed)
    return float(ladder.strangeness[enough[-1]]) if len(enough) else -np.inf


def read_sets(record: Mapping[str, Any], class_names: tuple[str, ...]) -> PredictionSets:
    """Return the sets of a record."""
    parts = from_record(_Parts, record)
    if len(parts.classes) != len(class_names):
        raise ValueError("the sets are not of these classes")
    pool = parts.pool
    if pool and not {*pool.sharing, *pool.lending} <= set(range(len(class_names))):
        raise ValueError("the sets are not of these classes")
    return PredictionSets(
        class_names=class_names, options=parts.options, ladders=parts.classes, pool=pool
    )


@dataclass(frozen=True, kw_only=True)
class _Parts:
    options: Annotated[SetOptions, Stored(is_inline=True)]
    classes: tuple[Ladder, ...]
    pool: Pool | None = None

    def refuse_damage(self) -> None:
        """Refuse a level that no sets can have."""
        if not 0 < self.options.level < 1:
            raise ValueError(f"{self.options.level:g} is no level")


def judge_sets(
    labelled: Labelled, options: SetOptions, n_folds: int, level: float, n_draws: int
) -> SetsFinding:
    """Return how often sets hold the true class of held-out families, and how large they are."""
    names = labelled.predictions.class_names
    # By name, so that no order of the table's columns reaches the folds.
    fold = fold_of(labelled.cluster, np.array(names)[labelled.true_class], n_folds)
    is_in = np.ones((labelled.n_samples, labelled.predictions.n_classes), dtype=np.bool_)
    for judged in left_out(fold):  # without another fold every class may be
        sets = fit_sets(labelled.take(~judged), options)
        is_in[judged] = sets.contains(labelled.predictions.take(judged))
    return judge_finished_sets(
        labelled, fit_sets(labelled, options), level, n_draws, is_in, n_folds
    )


def judge_finished_sets(
    labelled: Labelled,
    whole: PredictionSets,
    level: float,
    n_draws: int,
    is_in: Booleans | None = None,
    n_folds: int = 0,
) -> SetsFinding:
    """Return how often sets hold the true class, and how large they are.

    Who has which class in the set is `is_in`, else what the sets say of proteins new to them.
    """
    names, options = whole.class_names, whole.options
    if is_in is None:
        is_in = whole.contains(labelled.predictions)
    limits, pooled = whole.limits(), whole.names_in_pool()
    covered = is_in[np.arange(labelled.n_samples), labelled.true_class]
    size = is_in.sum(axis=1)
    weight = family_weights(labelled)
    chosen = [labelled.true_class == class_ for class_ in range(len(names))]
    chosen.append(np.ones(labelled.n_samples, dtype=np.bool_))
    chosen.append(np.isin(np.array(names)[labelled.true_class], pooled))
    ratios = [
        mean_of(values.astype(np.float64), weight, rows, is_share=values is covered)
        for rows in chosen
        for values in (covered, size)
    ]
    estimates = estimate(labelled.cluster, ratios, level, n_draws)
    entries = tuple(
        SetClass(
            class_name=name,
            n=int(rows.sum()),
            n_clusters=int(estimates.n_clusters[2 * place]),
            is_always_in=name is not None and bool(limits[place] == np.inf),
            is_pooled=name in pooled,
            coverage=float(estimates.value[2 * place]),
            lower=float(estimates.lower[2 * place]),
            upper=float(estimates.upper[2 * place]),
            coverage_proteins=float(covered[rows].mean()) if rows.any() else float("nan"),
            mean_size=float(estimates.value[2 * place + 1]),
        )
        for place, (name, rows) in enumerate(zip((*names, None, None), chosen, strict=True))
    )
    single = size == 1
    return SetsFinding(
        level=options.level,
        kind=options.kind,
        n_folds=n_folds,
        families_needed=families_needed(options.level),
        classes=entries[: len(names)],
        all_classes=entries[-2],
        pooled=entries[-1] if pooled else None,
        lending=whole.names_in_pool(lending=True),
        sizes=tuple(np.bincount(size, minlength=len(names) + 1).tolist()),
        n_single_right=int((covered & single).sum()),
    )
