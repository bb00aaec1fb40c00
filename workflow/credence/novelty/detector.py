"""Is a protein of a kind that is known? What a few foils teach, judged on families left out.

A foil is what no protein is: a known protein shuffled, reversed, or as many random residues.
A straight line through what is seen of a protein is learnt to tell foils from known proteins
whose own family was left out of all that they are compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from credence.draws import encode_clusters, keys_of, uniform
from credence.novelty.neighbours import singles
from credence.novelty.reference import p_values
from credence.novelty.space import RESIDUES, SIDE_CHAINS, WordFeatures, chemistry, one_array
from credence.predictions import Booleans, Floats, Strings
from credence.records import PackedFloats, PackedIntegers

SHUFFLED, REVERSED, RANDOM = "shuffled", "reversed", "random"
WITHOUT_CLASS, GIVEN = "with their class left out", "of no class of interest"
STREAM = "novelty foils"
# Of each letter, by its code, the group of side chains that it is in; the last: in none.
GROUP = WordFeatures(SIDE_CHAINS, 1).letters().clip(max=len(SIDE_CHAINS)).astype(np.int64)
LAGS = 8  # places between two residues whose order is looked at
LEAST_FAMILIES = 20  # below, nothing can be learnt
MOST_FAMILIES = 500  # that foils are made of, one member of each; more change little
FOLDS = 5
# Of the order of residues in the line, whose 392 numbers together should weigh as a few do.
SHARE_OF_ORDER = 0.1
MOST_ROUNDS, SINGLE = 1_000, 1e-6
FALSE_ALARM, LEVEL = 0.05, 0.95  # at which power is measured; of its interval
LEAST_POWER = 0.2  # of one kind of foils surely noticed: less, and no confidence is lowered
# Before a sample is looked at: as if of so many proteins one had been foreign. Decision 1022.
BEFORE = 20.0
ROUNDS_OF_SHARE = 200
MIXED = 0.2  # Share of a sample that foils are, for what is said of their confidences
TILT, DRAWS = 0.1, 999  # the share that the test of a sample is best at; its permutations
SHARES = (0.05, 0.2, 0.5)  # of a sample that are foils, at which its power is looked at
POWER_DRAWS, ONE_SIDED = 200, 1.645  # The second: a standard normal's 0.95 quantile
# Twice the logarithm of a ratio of likelihoods that chance exceeds in one sample of twenty, where
# only a larger share is tested for.
CHANCE = ONE_SIDED**2


def foils_of(sequences: Strings, ids: Strings) -> dict[str, Strings]:
    """Return foils of proteins, the same whenever they are made.

    A first methionine stays where it is: that would be no art to see.
    """
    text = "".join(sequences)
    shares = np.array([text.count(letter) for letter in RESIDUES], dtype=np.float64)
    background = shares / shares.sum()
    letters, stream = np.array(list(RESIDUES)), int(keys_of([STREAM])[0])
    made: dict[str, list[str]] = {SHUFFLED: [], REVERSED: [], RANDOM: []}
    for sequence, key in zip(sequences, keys_of(ids).tolist(), strict=True):
        rng = np.random.default_rng([stream, key])
        first = sequence[:1] if sequence.startswith("M") else ""
        rest = np.array(list(sequence[len(first) :]))
        drawn = rng.choice(letters, len(rest), p=background)
        for kind, part in zip(made, (rng.permutation(rest), rest[::-1], drawn), strict=True):
            made[kind].append(first + "".join(part))
    return {kind: np.array(texts, dtype=object) for kind, texts in made.items()}


def orders_of(sequences: Strings) -> Floats:
    """Return how much more often than by chance residues of two groups stand so far apart.

    In standard deviations of a shuffled protein: 49 pairs of groups of side chains at each lag,
    by counts of pairs, those expected taken off.
    """
    raw, protein = one_array(sequences)
    group, n, width = GROUP[raw], len(sequences), len(SIDE_CHAINS) + 1
    length = np.maximum(np.bincount(protein, minlength=n), 1)[:, None]
    own = np.bincount(protein * width + group, minlength=n * width).reshape(n, width)
    share = own[:, :-1] / length
    spread = np.sqrt(np.maximum(share * (1.0 - share), 1.0 / length))
    found = np.empty((n, LAGS, width - 1, width - 1))
    for lag in range(1, LAGS + 1):
        is_pair = protein[:-lag] == protein[lag:]
        pair = (protein[lag:] * width + group[:-lag]) * width + group[lag:]
        count = np.bincount(pair[is_pair], minlength=n * width**2).reshape(n, width, width)
        first, second = count.sum(axis=2)[:, :-1, None], count.sum(axis=1)[:, None, :-1]
        n_pairs = count.sum(axis=(1, 2))[:, None, None]
        one, two = share[:, :, None], share[:, None, :]
        beyond = count[:, :-1, :-1] - first * two - one * second
        found[:, lag - 1] = (beyond + n_pairs * one * two) / np.sqrt(np.maximum(n_pairs, 1))
    found /= spread[:, None, :, None] * spread[:, None, None, :]
    return found.reshape(n, LAGS * (width - 1) ** 2)


def evidence_of(
    sequences: Strings,
    scores: Floats,
    profiles: Floats,
    identity: Floats,
    coverage: Floats,
    distance: Floats,
) -> Floats:
    """Return what is seen of each protein, a row each.

    `scores` are those of its alignments with the closest families, best first, and `profiles`
    those with the profiles of families; `distance` those to known proteins by what they
    are made of, a row of them each, NaN where it has no place there.
    """
    length = np.array([*map(len, sequences)], dtype=np.float64)[:, None]
    identity, coverage = np.nan_to_num(identity), np.nan_to_num(coverage)
    parts = (
        scores[:, :1] / length ** np.array([1.0, 0.5]),
        np.log1p(scores),
        profiles[:, :1] / length ** np.array([1.0, 0.5]),
        np.log1p(profiles),
        np.column_stack([identity, coverage, identity * coverage]),
        np.nan_to_num(chemistry(sequences)),
        np.nan_to_num(distance),
    )
    return np.column_stack([orders_of(sequences), *parts])


@dataclass(frozen=True, eq=False)
class Power:
    """How many foils of one kind are noticed among families left out, at 5 % false alarms."""

    kind: str  # What they are
    n: int  # Foils, one of a family
    power: float  # Share that is flagged
    lower: float  # Its interval, with that of the false alarms, which few families show as well
    upper: float
    area: float  # Area under the curve: how often a foil looks more foreign than a family left out
    known_kind: float  # Their mean probability of a known kind where they are a fifth of a sample
    scores: PackedFloats  # How foreign each looks


@dataclass(frozen=True, eq=False)
class Detector:
    """What tells foils from known proteins, one line for each part of the families left out."""

    centre: PackedFloats  # Of what is seen, and what it is divided by
    spread: PackedFloats
    weight: PackedFloats  # Of each line
    intercept: PackedFloats
    # One protein of each family: which line saw nothing of it, and where that puts it.
    fold: PackedIntegers
    held: PackedFloats
    slope: float  # What turns a place into the logarithm of odds
    offset: float
    kept: float  # Mean probability of a known kind of families left out, a sample by themselves
    powers: tuple[Power, ...]  # On foils of families that the line had not seen

    def scores(self, evidence: Floats) -> Floats:
        """Return how foreign each line finds some proteins."""
        scaled = (evidence - self.centre) / self.spread
        return np.asarray(scaled @ self.weight.T + self.intercept)

    def p_values(self, evidence: Floats) -> Floats:
        """Return how often a protein of a new family is found as foreign, (1 + as many)/(1 + n).

        Each line compares with the families that it did not see (cross-conformal, Barber et al.
        2021, doi 10.1214/20-AOS1965).
        """
        score, as_far = self.scores(evidence), np.ones(len(evidence))
        for fold in range(len(self.weight)):
            held = np.sort(self.held[self.fold == fold])
            as_far += p_values(held, score[:, fold]) * (len(held) + 1.0) - 1.0
        return np.asarray(as_far / (1.0 + len(self.held)))

    def far(self, evidence: Floats) -> Floats:
        """Return how foreign the lines find some proteins on average."""
        return np.asarray(self.scores(evidence).mean(axis=1))


def odds_of(far: Floats, slope: float, offset: float, n_families: int) -> Floats:
    """Return how much more likely a foil looks so than a new family; n families show odds of n."""
    return np.exp(np.minimum(slope * far + offset, np.log(n_families)))


def share_foreign(odds: Floats, weight: Floats) -> float:
    """Return how much of a sample is foreign, by EM; one in twenty before it is looked at."""
    share = 1.0 / BEFORE
    for _ in range(ROUNDS_OF_SHARE):
        foreign = share * odds / (1.0 - share + share * odds)
        share = (1.0 + float(weight @ foreign)) / (BEFORE + float(weight.sum()))
    return share


def beyond_chance(share: float, odds: Floats, weight: Floats) -> float:
    """Return the share of foreign proteins drawn back to one in twenty, as far as chance goes.

    By the likelihood of both, as a composition is (decisions 0704 and 1026).
    """
    usual = 1.0 / BEFORE
    gain = weight @ (np.log1p(share * (odds - 1.0)) - np.log1p(usual * (odds - 1.0)))
    if share <= usual or 2.0 * gain <= CHANCE:
        return min(share, usual)
    return usual + (1.0 - CHANCE / (2.0 * float(gain))) * (share - usual)


def known_kind(
    odds: Floats, weight: Floats | None = None, standing: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the probability that each protein of a sample is of a known kind, and its lower end.

    The share of foreign ones is the sample's own: that of clusters as far as chance does not
    explain it (`standing` weighs those that stand for one, since a large cluster may look foreign
    by chance), or that of proteins where this is smaller. The lower end is at the share of
    clusters as it was estimated. Both are taken over what they are where nothing was seen, so
    that a detector that sees nothing changes nothing; at most 1.
    """
    weight = np.ones(len(odds)) if weight is None else weight
    standing = weight if standing is None else standing
    of_clusters = share_foreign(odds, standing)
    applied = min(beyond_chance(of_clusters, odds, standing), share_foreign(odds, weight))

    def kind_at(share: float) -> Floats:
        kind = (1.0 - share) / (1.0 - share + share * odds)
        return np.asarray(np.minimum(kind / (1.0 - 1.0 / BEFORE), 1.0))

    return kind_at(applied), kind_at(max(applied, of_clusters))


@dataclass(frozen=True)
class SampleTest:
    """Whether a sample as a whole looks more foreign than families left out."""

    n: int  # Proteins, one of a cluster
    p: float  # By permutation, one-sided
    # For each kind of foils, how often it would be noticed at 5 % if so much of this sample were
    # replaced by them.
    power: tuple[tuple[float, ...], ...]


def sample_test(found: Detector, far: Floats) -> SampleTest:
    """Return whether a sample looks foreign, and what the answer is worth."""

    def tilted(scores: Floats) -> Floats:
        odds = odds_of(scores, found.slope, found.offset, len(found.held))
        return np.log1p(TILT * (odds - 1.0))

    own, held, rng = tilted(far), tilted(found.held), np.random.default_rng(len(far))
    n, every = len(far), np.concatenate([own, held])
    drawn = np.array([rng.permutation(every)[:n].mean() for _ in range(DRAWS)])
    p = (1.0 + (drawn >= own.mean() - SINGLE).sum()) / (1.0 + DRAWS)

    def noticed(foils: Floats, share: float) -> float:
        """Return how often a part of the sample is noticed that is replaced by foils."""
        is_foil = rng.random((POWER_DRAWS, n)) < share
        shape = is_foil.shape
        sample = np.where(is_foil, rng.choice(foils, shape), rng.choice(own, shape))
        error = np.sqrt(sample.var(axis=1) / n + held.var() / len(held)) + SINGLE
        return float(((sample.mean(axis=1) - held.mean()) / error > ONE_SIDED).mean())

    foils = [tilted(one.scores) for one in found.powers]
    return SampleTest(
        n, float(p), tuple(tuple(noticed(one, share) for share in SHARES) for one in foils)
    )


def learn(
    known: Floats, family: Strings, foils: Mapping[str, tuple[Floats, Strings]]
) -> Detector | None:
    """Return what tells some foils from proteins whose own family was left out.

    One protein of each family, and of each kind of foils one of each that it was made of. None
    where families are few.
    """
    from sklearn.linear_model import LogisticRegression

    parts = {"": (known, family)} | {kind: made for kind, made in foils.items() if len(made[1])}
    code, keys = encode_clusters(np.concatenate([names for _, names in parts.values()]))
    evidence = np.concatenate([rows for rows, _ in parts.values()])
    kind = np.repeat(np.arange(len(parts)), [len(names) for _, names in parts.values()])
    n_families = len(family)
    if n_families < LEAST_FAMILIES or len(parts) < 2:
        return None
    # All kinds of foils count the same, and together as much as all families.
    weight = n_families / np.bincount(kind)[kind]
    weight[kind == 0] *= len(parts) - 1
    centre, spread = evidence.mean(axis=0), evidence.std(axis=0)
    # What is the same in all says nothing; it is kept in single precision.
    spread = np.where(spread > SINGLE * (1.0 + np.abs(centre)), spread, 1.0)
    spread[: LAGS * len(SIDE_CHAINS) ** 2] /= SHARE_OF_ORDER
    fold = (np.argsort(np.argsort(uniform(keys, 0, STREAM))) % FOLDS)[code]
    scaled, is_foil, score = (evidence - centre) / spread, kind > 0, np.empty(len(evidence))

    def line(rows: Booleans, values: Floats) -> tuple[Floats, float]:
        """Return weights and intercept of the line that is learnt from some rows."""
        model = LogisticRegression(max_iter=MOST_ROUNDS)
        model.fit(values[rows], is_foil[rows], sample_weight=weight[rows])
        return model.coef_[0], float(model.intercept_[0])

    lines = [line(fold != number, scaled) for number in range(FOLDS)]
    for number, (own, intercept) in enumerate(lines):
        score[fold == number] = scaled[fold == number] @ own + intercept
    own, offset = line(np.ones(len(fold), dtype=np.bool_), score[:, None])
    held, *mine = (np.flatnonzero(kind == number) for number in range(len(parts)))
    power = max(interval_of(*noticed(score[held], score[rows]))[0] for rows in mine)
    slope = max(float(own[0]), 0.0)
    if power < LEAST_POWER:
        slope, offset = 0.0, 0.0
    odds = odds_of(score, slope, offset, n_families)
    return Detector(
        centre=singles(centre[None])[0],
        spread=singles(spread[None])[0],
        weight=singles([own for own, _ in lines]),
        intercept=singles([[intercept for _, intercept in lines]])[0],
        fold=fold[held],
        held=singles(score[held][None])[0],
        slope=slope,
        offset=offset,
        kept=float(known_kind(odds[held])[0].mean()),
        powers=tuple(
            power_of(name, score[held], score[foil], odds[held], odds[foil])
            for name, foil in zip([*parts][1:], mine, strict=True)
        ),
    )


def noticed(held: Floats, foils: Floats, alarms: float = FALSE_ALARM) -> tuple[int, int]:
    """Return how many foils are flagged at 5 % false alarms, and how many there are."""
    return int((p_values(np.sort(held), foils) <= alarms).sum()), len(foils)


def range_of_power(held: Floats, foils: Floats) -> tuple[float, float]:
    """Return the least and the most that may be noticed of other foils, by other families.

    Which score has 5 % false alarms is known from the families held out alone: what was taken
    for 5 % may be less or more.
    """
    few, many = interval_of(int(FALSE_ALARM * (len(held) + 1)), len(held))
    lower, upper = (interval_of(*noticed(held, foils, alarms)) for alarms in (few, many))
    return lower[0], upper[1]


def interval_of(k: float, n: float, tail: float = (1.0 - LEVEL) / 2.0) -> tuple[float, float]:
    """Return the interval of a share (Clopper and Pearson)."""
    lower = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    return lower, float(betaincinv(k + 1, n - k, 1.0 - tail)) if k < n else 1.0


def power_of(
    kind: str, held: Floats, foils: Floats, odds_held: Floats, odds_foils: Floats
) -> Power:
    """Return how many foils are flagged at 5 % false alarms among what was held out."""
    (k, n), ranked = noticed(held, foils), np.sort(held)
    lower, upper = range_of_power(held, foils)
    odds = np.concatenate([odds_held, odds_foils])
    weight = np.repeat([1.0, MIXED / (1.0 - MIXED) * len(held) / n], [len(held), n])
    nearer, as_near = (np.searchsorted(ranked, foils, side=side) for side in ("left", "right"))
    return Power(
        kind=kind,
        n=n,
        power=k / n,
        lower=lower,
        upper=upper,
        area=float((nearer + as_near).mean() / 2.0 / len(held)),
        known_kind=float(known_kind(odds, weight)[0][len(held) :].mean()),
        scores=singles(foils[None])[0],
    )
