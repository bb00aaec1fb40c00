"""Whether a query set's scores look like those of the classifier that was calibrated.

A calibration holds for one classifier. Another version, temperature or order of columns
keeps classes and scale and ruins it, without a change of the mix. So a calibration file
keeps a sketch: how often each top score, margin and so on was seen, by predicted and true
class. A query set is counted in the same bins, piece by piece, in any order. Whether a mix
of the classes explains what is counted is tested by drawing.

The mix is estimated from the predicted classes, as in BBSE, and exchanged columns are
looked for (docs/decisions/0022-same-classifier.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
import scipy
from scipy import special

from credence.calibrators.score_logs import others_of
from credence.composition.shifted_rows import RowCounts, row_counts, shifted_rows
from credence.draws import encode_clusters
from credence.findings import Sameness
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import Stored

MOST_BINS = 20
FEWEST_IN_BIN = 25  # calibration proteins, on average
LEAST_RUNNER_UP = 0.01  # of the scale: a smaller second score is none, whatever the decimals
AS_ZERO = 0.0005  # of the scale: half of the last of two decimals on PhANNs' scale of 10
TOP_SCORE, RUNNER_UP, MARGIN = "top score", "runner-up by level", "margin"
SCORE_LEVELS = (0.5, 0.9)  # of the scale: top scores that runner-ups are counted between
MOST_SKETCH_CELLS = 500_000  # of a number that is looked at: with many classes it is left out
FEWEST_SEEN = 50  # proteins that calibration predicts so, to compare others with them
FEWEST_FAMILIES = 5  # of a true class, and the part of a predicted class that may rest on fewer
MOST_SCARCE = 0.3
# Proteins of a query set count as so many at most: in a mix that calibration never had, the
# families of a class are others, and a large set would show them.
MOST_USE_COUNTED = 1000.0
FEWEST = 20  # proteins of a query set from which on an answer is possible
N_MISFIT_DRAWS = 200
SAMENESS_SEED = 1  # of the draws: the same counts give the same answer
NUMBERS_AT_ONCE = 20_000_000  # numbers
EM_STEPS = 60
SURELY_SOME = 5.0  # proteins that are expected where there is none: then a table was filtered
MOST_GROWN = 1.5  # families of a query set are at most so many times as large as calibration's
NOTICED = 0.05  # of a confidence: power is the chance to notice a classifier so far off
STEEPEST = 20.0  # of the slopes tried
POWER_DRAWS = 100
TEST_LEVEL = 0.05
QUESTIONS = 3  # that share it: all scores, those of each class, exchanged columns
LEAST_EFFECT = 0.02  # mean |change of confidence| below which no warning is given
LEAST_PREDICTED = 3  # proteins with a runner-up, to ask whether a column is another's
MOST_COLUMN_PAIRS = 1_000  # of columns that may be exchanged: those that are predicted most often
USUAL_FAMILIES = 5.0  # what proteins of a class are like before its own are seen counts so many
PAIR_STEPS = 20  # of EM, from the mix that explains the predicted classes
LEAST_DIVISOR = 1e-150  # keeps a division by nothing at nothing
ASSUMED_DESIGN = 10.0  # where nobody says which proteins are relatives
CAUTION = 5.0  # families: what so few show of a class counts half
USUAL_CLUSTERS = 5.0  # of a class, by which its likeness of relatives is held to that of all


@dataclass(frozen=True, kw_only=True, eq=False)
class FeatureSketch:
    """How often each value of a number was seen, by predicted and true class."""

    name: str
    edges: Annotated[Floats, Stored(null=np.inf)]  # Between bins, for each predicted class
    # (predicted class · bins + bin) · classes + true class, and the number of proteins there
    place: Annotated[Integers, Stored(packed="int32")]
    count: Annotated[Integers, Stored(packed="int32")]
    # For each true class: by how much relatives increase the variance of shares
    design: Floats

    @property
    def n_bins(self) -> int:
        """Number of bins of a predicted class."""
        return int(self.edges.shape[1]) + 1

    def bins(self, predicted_class: Integers, value: Floats) -> Integers:
        """Return the bin of each value, counted over all predicted classes."""
        place = predicted_class * self.n_bins
        for class_ in np.unique(predicted_class):
            rows = predicted_class == class_
            place[rows] += np.searchsorted(self.edges[class_], value[rows])
        return place

    def refuse_damage(self) -> None:
        """Raise a ValueError where parts do not belong together."""
        n_classes = len(self.design)
        size = n_classes * self.n_bins * n_classes
        if self.edges.ndim != 2 or len(self.edges) != n_classes or self.place.ndim != 1:
            raise ValueError("it is of another number of classes")
        if np.isnan(self.edges).any() or (self.edges[:, 1:] < self.edges[:, :-1]).any():
            raise ValueError("its bins do not follow each other")
        if self.count.shape != self.place.shape or (self.count < 1).any():
            raise ValueError("its counts are no counts")
        if ((self.place < 0) | (self.place >= size)).any() or not (self.design >= 1.0).all():
            raise ValueError("it counts what there is not")


@dataclass(frozen=True, kw_only=True, eq=False)
class Sketch:
    """What a calibration saw of scores."""

    features: tuple[FeatureSketch, ...]

    @property
    def lacks_names(self) -> bool:
        """Whether it has seen the scores of all classes and does not say which comes second."""
        names = {part.name for part in self.features}
        return MARGIN in names and RUNNER_UP not in names


def sketch_of(labelled: Labelled) -> Sketch | None:
    """Return the sketch of labelled predictions, each counting one; None without scores."""
    predictions = labelled.predictions
    code, _ = encode_clusters(labelled.cluster)
    features = []
    for name, value in sketched_values(predictions).items():
        edges = _edges(predictions, name, value)
        if predictions.n_classes**2 * (edges.shape[1] + 1) > MOST_SKETCH_CELLS:
            continue
        blank = np.zeros(0, dtype=np.int64)
        bare = FeatureSketch(
            name=name, edges=edges, place=blank, count=blank, design=np.ones(predictions.n_classes)
        )
        bin_ = bare.bins(predictions.predicted_class, value)
        cell = bin_ * predictions.n_classes + labelled.true_class
        place, count = np.unique(cell, return_counts=True)
        is_ordered = name != RUNNER_UP
        design = _design(labelled, bin_ % bare.n_bins if is_ordered else bin_, code, is_ordered)
        features.append(
            FeatureSketch(name=name, edges=edges, place=place, count=count, design=design)
        )
    return Sketch(features=tuple(features)) if features else None


def sketched_values(predictions: Predictions) -> dict[str, Floats]:
    """Return what is looked at: the top score, and of vectors what goes with it."""
    top, scores = predictions.top_score, predictions.scores
    if top is None:
        return {}
    if scores is None or predictions.n_classes < 2:
        return {TOP_SCORE: top}
    rows = np.arange(len(scores))
    others = others_of(scores, predictions.predicted_class)
    second = others.argmax(axis=1)
    best = others[rows, second]
    second[best < LEAST_RUNNER_UP * predictions.scale] = predictions.n_classes
    level = np.searchsorted(SCORE_LEVELS, top / predictions.scale)
    return {
        TOP_SCORE: top,
        RUNNER_UP: (second * (len(SCORE_LEVELS) + 1) + level).astype(np.float64),
        MARGIN: scores[rows, predictions.predicted_class] - best,
        "row sum": scores.sum(axis=1),
        "share of zeros": (scores < AS_ZERO * predictions.scale).mean(axis=1),
    }


def _edges(predictions: Predictions, name: str, value: Floats) -> Floats:
    """Return bins of as many calibration proteins each, halfway between two scores."""
    n_classes = predictions.n_classes
    if name == RUNNER_UP:
        n_bins = (n_classes + 1) * (len(SCORE_LEVELS) + 1)
        return np.tile(np.arange(n_bins - 1) + 0.5, (n_classes, 1))
    edges = np.full((n_classes, MOST_BINS - 1), np.inf)
    half = predictions.resolution / 2.0 if name in (TOP_SCORE, MARGIN) else 0.0
    for class_ in range(n_classes):
        scores = value[predictions.predicted_class == class_]
        n_bins = min(MOST_BINS, len(scores) // FEWEST_IN_BIN)
        if n_bins > 1:
            levels = np.arange(1, n_bins) / n_bins
            steps = np.unique(np.quantile(scores, levels, method="inverted_cdf"))
            steps = steps[steps < scores.max()] + half
            edges[class_, : len(steps)] = steps
    return edges


def _design(labelled: Labelled, bin_: Integers, cluster: Integers, is_ordered: bool) -> Floats:
    """Return by how much relatives increase the variance of shares, for each true class.

    A class of few clusters is held to the correlation within clusters of all classes. A query set
    has other families: some of a class may be as large as calibration's largest are of another.
    """
    n_classes = labelled.predictions.n_classes
    alike, n_clusters, size = (np.zeros(n_classes) for _ in range(3))
    for class_ in range(n_classes):
        rows = labelled.true_class == class_
        _, code = np.unique(cluster[rows], return_inverse=True)
        kinds, kind = np.unique(bin_[rows], return_inverse=True)
        if len(kinds) == 0:
            continue
        total = np.zeros((code.max() + 1, len(kinds)))
        np.add.at(total, (code, kind), 1.0)
        sizes = total.sum(axis=1)
        size[class_] = (sizes**2).sum() / sizes.sum()
        share = total.sum(axis=0) / sizes.sum()
        if is_ordered:
            total, share = total.cumsum(axis=1), share.cumsum()
        alone = len(bin_[rows]) * (share * (1.0 - share)).sum() * (1.0 - 1.0 / len(sizes))
        if alone > 0.0 and size[class_] > 1.0:
            excess = ((total - sizes[:, None] * share) ** 2).sum() / alone - 1.0
            alike[class_] = excess / (size[class_] - 1.0)
            n_clusters[class_] = len(sizes) - 1.0
    if n_clusters.sum() == 0.0:
        return np.full(n_classes, ASSUMED_DESIGN)
    size = np.where(size > 1.0, np.sqrt(size * size.max()), size)
    part = n_clusters / (n_clusters + USUAL_CLUSTERS)
    held = part * alike + (1.0 - part) * (part @ alike) / part.sum()
    return np.asarray(1.0 + np.maximum(size - 1.0, 0.0) * np.clip(held, 0.0, 1.0))


class SketchCounts:
    """A query set counted in the bins of a sketch, piece by piece, in any order."""

    def __init__(self, sketch: Sketch, class_names: Sequence[str]) -> None:
        self._sketch, self._class_names = sketch, class_names
        self._counts = [
            np.zeros(len(part.design) * part.n_bins, dtype=np.int64) for part in sketch.features
        ]
        self._lowest, self._highest = np.inf, -np.inf  # Top scores
        self._rows = RowCounts(confusion=())

    def add(self, predictions: Predictions) -> None:
        """Count some proteins; nothing of a number that they lack."""
        if predictions.network_scores is not None:
            self._rows = self._rows.plus(row_counts(predictions, None))
        value = sketched_values(predictions)
        if len(top := value.get(TOP_SCORE, np.zeros(0))):
            self._lowest = min(self._lowest, float(top.min()))
            self._highest = max(self._highest, float(top.max()))
        for part, counts in zip(self._sketch.features, self._counts, strict=True):
            if part.name in value:
                bin_ = part.bins(predictions.predicted_class, value[part.name])
                counts += np.bincount(bin_, minlength=len(counts))

    def most_moved(self) -> str:
        """Return the class whose scores change confidences most, '' where none is known."""
        counts = [*self._counts, np.zeros(0, dtype=np.int64)][0]
        if (
            counts.sum() < FEWEST
            or not (part := self._part(self._sketch.features[0], counts)).n_class.any()
        ):
            return ""
        return self._class_names[int(part.effects(part.observed).argmax())]

    def _part(self, feature: FeatureSketch, counts: Integers) -> "_Part":
        return _Part(feature, counts, self._lowest, self._highest)

    def found(self) -> Sameness | None:
        """Return whether a mix of the classes explains the set; None: no answer is possible.

        The level is shared by the top scores of all classes together, those of each class
        (Holm among these), and the question whether two columns are exchanged.
        """
        rng = np.random.default_rng(SAMENESS_SEED)
        scores = 1.0  # Least p-value
        effect, power, n = 0.0, 0.0, 0
        names, is_filtered = NamesFound(p_value=1.0), False
        for feature, counts in zip(self._sketch.features, self._counts, strict=True):
            if counts.sum() < FEWEST:
                continue
            if feature.name == TOP_SCORE:
                part = self._part(feature, counts)
                is_filtered = part.is_filtered
                if part.n_class.sum() < FEWEST:
                    continue
                misfit = part.misfits(part.given, part.observed)
                drawn = part.draws(rng)
                p_values = [_tail(misfit[at], drawn[:, at]) for at in range(len(misfit))]
                singles = [p_values[at] for at in np.flatnonzero(part.n_class >= FEWEST)]
                scores = min([p_values[-1], *(len(singles) * least for least in singles)])
                effect = float(part.effects(part.observed).sum())
                power, n = part.power(drawn[:, -1]), round(part.n_class.sum() / part.counted_as)
            elif feature.name == RUNNER_UP:
                ways = [True] if is_filtered else [True, False]
                looks = [
                    misnamed_columns(feature, counts, is_filtered=way, n_looks=len(ways))
                    for way in ways
                ]
                # Which two are exchanged is said where sharper scores cannot look like it.
                best, first = min(looks, key=lambda look: look.p_value), looks[0]
                names = replace(best, exchanged=first.exchanged, moved=first.moved)
        is_misnamed, rows = QUESTIONS * names.p_value <= TEST_LEVEL, shifted_rows(self._rows)
        if n == 0 and not is_misnamed and rows is None:
            return None
        of_scores = QUESTIONS * scores <= TEST_LEVEL and effect > LEAST_EFFECT
        return Sameness(
            n=n or round(self._counts[0].sum()),
            p_value=min(1.0, QUESTIONS * min(scores, names.p_value)),
            effect=effect,
            moved=names.moved,
            is_changed=of_scores or is_misnamed or rows is not None,
            power=power,
            exchanged=tuple(self._class_names[class_] for class_ in names.exchanged),
            is_misnamed=is_misnamed,
            rows=rows,
        )


def without_learnt(every: Sameness, rest: Sameness | None, n_learnt: int) -> Sameness:
    """Return what is known of a set of which some are homologues of training proteins.

    Their scores are surer whatever the classifier, so those of the `rest` are compared. Names of
    columns and rows of networks are asked of all. Too few others show nothing, without power.
    """
    if every.is_misnamed or every.rows is not None:
        return replace(every, n_learnt=0)
    nothing = Sameness(n=0, p_value=1.0, effect=0.0, moved=0.0, is_changed=False)
    return replace(rest or nothing, n_learnt=n_learnt)


@dataclass(frozen=True, kw_only=True)
class NamesFound:
    """Whether columns stand under wrong names."""

    p_value: float
    exchanged: tuple[int, ...] = ()  # Two classes: with their columns exchanged nothing is wrong
    moved: float = 0.0  # Share predicted as one of the two


def misnamed_columns(
    sketch: FeatureSketch, counts: Integers, *, is_filtered: bool, n_looks: int
) -> NamesFound:
    """Return whether columns stand under wrong names.

    Of each protein it is asked which class comes second, given the first and how high it is. The
    counts become far likelier when the right columns are changed back, whatever the mix. The
    mean over pairs of these likelihood ratios is at most one on average where names are right,
    so its inverse is a p-value. A protein counts the less the more relatives it has, and the
    fewer families show what its class is like. Two columns are named where the table is
    explained once they are changed back.

    Of a filtered table only proteins with a runner-up are asked, whatever their score, and only
    of columns that are predicted. One of `n_looks`, which share the level.
    """
    n_classes = len(sketch.design)
    seen = np.zeros((n_classes, n_classes + 1, len(SCORE_LEVELS) + 1, n_classes))
    seen.flat[sketch.place] = sketch.count
    given, n_true = _cells_given(seen, sketch.design), seen.sum(axis=(0, 1, 2))
    observed = counts.reshape(given.shape[:3]).astype(np.float64)
    if is_filtered:
        given, observed = (part.sum(axis=2, keepdims=True) for part in (given, observed))
        given[:, n_classes] = observed[:, n_classes] = 0.0
    usual = np.where(n_true > 0, n_true if is_filtered else 1.0, 0.0)
    n_known, n_first = float(observed.sum()), observed.sum(axis=(1, 2))
    if n_known < FEWEST:
        return NamesFound(p_value=1.0)
    of_first = given.sum(axis=(1, 2))

    def likelihood(counted: Floats, steps: int) -> tuple[float, Floats]:
        n_class = counted.sum(axis=(1, 2))
        here_first = of_first * ((n_class > 0) | (not is_filtered))[:, None]
        kept = np.maximum(here_first.sum(axis=0), LEAST_DIVISOR)
        is_there = counted > 0
        here, cells = counted[is_there], given[is_there] / kept
        share = mix_of(here_first / kept, n_class, usual * kept)
        for _ in range(steps):
            share = (
                share * ((here / np.maximum(cells @ share, LEAST_DIVISOR)) @ cells) / here.sum()
            )
        return float(here @ np.log(np.maximum(cells @ share, LEAST_DIVISOR))), share

    _, share = likelihood(observed, EM_STEPS)
    wanted = share * n_known
    part = np.minimum(wanted / np.maximum(n_true, 1.0), MOST_GROWN)
    families = np.maximum(n_true / sketch.design, LEAST_DIVISOR)
    counted_as = 1.0 + (sketch.design - 1.0) * part + wanted / families
    mean, expected = given @ (share * counted_as), given @ share
    observed /= np.divide(mean, expected, out=np.ones_like(mean), where=expected > 0)
    n_class = observed.sum(axis=(1, 2))
    order = np.argsort(-n_class, kind="stable")
    is_tried = (n_true > 0) & (n_first >= LEAST_PREDICTED * is_filtered)
    pairs = list(combinations(order[is_tried[order]].tolist(), 2))[:MOST_COLUMN_PAIRS]
    if not pairs:
        return NamesFound(p_value=1.0)

    def changed_back(counted: Floats, pair: tuple[int, int]) -> Floats:
        column = np.arange(n_classes + 1)
        column[list(pair)] = pair[::-1]
        return counted[column[:-1]][:, column]

    def best_exchange(counted: Floats) -> tuple[float, tuple[int, int]]:
        gain = np.array([likelihood(changed_back(counted, pair), PAIR_STEPS)[0] for pair in pairs])
        gain -= likelihood(counted, EM_STEPS)[0]
        mean = float(special.logsumexp(gain)) - np.log(len(pairs))
        return n_looks * float(np.exp(-max(mean, 0.0))), pairs[int(gain.argmax())]

    p_value, pair = best_exchange(observed)
    if QUESTIONS * p_value > TEST_LEVEL:
        return NamesFound(p_value=p_value)
    p_after, _ = best_exchange(changed_back(observed, pair))
    if QUESTIONS * p_after <= TEST_LEVEL:
        return NamesFound(p_value=p_value)
    return NamesFound(
        p_value=p_value, exchanged=pair, moved=float(n_class[list(pair)].sum() / n_class.sum())
    )


def _cells_given(seen: Floats, design: Floats) -> Floats:
    """Return P(first, second, level | true class), held to what is usual.

    What a protein is like before its class has been seen: half the time predicted right,
    otherwise as any; its runner-up as any predicted so; its level as any so right, or wrong.
    """
    n_classes = len(design)
    n_true, of_bin = seen.sum(axis=(0, 1, 2)), seen.sum(axis=3)
    predicted, second = of_bin.sum(axis=(1, 2)) + 1.0, of_bin.sum(axis=2) + 1.0
    chance = 0.5 * np.eye(n_classes) + 0.5 * (predicted / predicted.sum())[:, None]
    right = np.einsum("krlk->kl", seen)
    level = np.repeat((of_bin.sum(axis=1) - right)[..., None], n_classes, axis=2)
    np.einsum("klk->kl", level)[...] = right
    level += USUAL_FAMILIES * (of_bin.sum(axis=(0, 1)) / of_bin.sum())[:, None]

    def shares(usual: Floats, counted: Floats, axis: int) -> Floats:
        share = counted / design + USUAL_FAMILIES * usual / usual.sum(axis, keepdims=True)
        return np.asarray(share / share.sum(axis, keepdims=True))

    given = shares(chance, seen.sum(axis=(1, 2)), 0)[:, None, None] * (n_true > 0)
    given = given * shares(second[..., None], seen.sum(axis=2), 1)[:, :, None]
    return np.asarray(given * shares(level[:, None], seen, 2))


class _Part:
    """The counts of one feature, ready to be drawn."""

    def __init__(
        self, sketch: FeatureSketch, counts: Integers, lowest: float, highest: float
    ) -> None:
        n_classes = len(sketch.design)
        shape = (n_classes, sketch.n_bins, n_classes)
        seen = np.zeros(shape)
        seen.flat[sketch.place] = sketch.count
        by_class, of_bin = seen.sum(axis=1), seen.sum(axis=2)
        # A bin in which a pair of classes was not seen is not impossible: each pair has one
        # protein more, spread as all right, or all wrong, predictions of the class.
        right = np.einsum("kbk->kb", seen)
        wrong = of_bin - right
        spread = np.repeat((wrong + LEAST_DIVISOR * right)[:, :, None], n_classes, axis=2)
        np.einsum("kbk->kb", spread)[...] = right + LEAST_DIVISOR * wrong
        spread /= np.maximum(spread.sum(axis=1, keepdims=True), LEAST_DIVISOR**2)
        n_true = by_class.sum(axis=0)
        self.given = seen + spread * (by_class > 0)[:, None, :]
        self.design = sketch.design
        self.observed = counts.reshape(shape[:2]).astype(np.float64)
        self.given /= np.maximum(self.given.sum(axis=(0, 1)), LEAST_DIVISOR)
        self.observed[of_bin.sum(axis=1) == 0] = 0.0
        self.n_true = n_true
        self.usual = (n_true > 0).astype(np.float64)  # The mix, as long as nothing is known of it
        self.is_filtered = False
        self._leave_out(sketch.edges, lowest, highest)
        self.counted_as = min(1.0, MOST_USE_COUNTED / max(float(self.observed.sum()), 1.0))
        self.observed *= self.counted_as
        self.n = float(self.observed.sum())
        # What calibration hardly ever predicted, or what rests on classes of few families,
        # helps to find the mix and is not compared: so few do not show what others are like.
        self.share = mix_of(self.given.sum(axis=1), self.observed.sum(axis=1), self.usual)
        wanted = self.given.sum(axis=1) * self.share
        is_scarce = n_true / self.design < FEWEST_FAMILIES
        rests = wanted[:, is_scarce].sum(axis=1) <= MOST_SCARCE * wanted.sum(axis=1)
        self.is_compared = (of_bin.sum(axis=1) >= FEWEST_SEEN) & rests
        self.n_class = self.observed.sum(axis=1) * self.is_compared

    def _leave_out(self, edges: Floats, lowest: float, highest: float) -> None:
        """Leave out what a filtered table cannot hold: predicted classes, low or high scores."""
        ends = np.pad(edges, ((0, 0), (1, 1)), constant_values=(-np.inf, np.inf))
        is_there = np.repeat(self.observed.sum(axis=1, keepdims=True) > 0, ends.shape[1] - 1, 1)
        below, above = ends[:, 1:] < lowest, ends[:, :-1] >= highest
        for cannot_be, is_kept in (
            (~is_there, is_there),
            (below, ends[:, :-1] >= lowest),
            (above, ends[:, 1:] <= highest),
        ):
            share = mix_of(self.given.sum(axis=1), self.observed.sum(axis=1), self.usual)
            expected = (self.given * share).sum(axis=2) * self.observed.sum()
            if expected[cannot_be].sum() < SURELY_SOME:
                continue
            self.is_filtered = True
            self.given *= is_kept[..., None]
            self.observed *= is_kept
            kept = self.given.sum(axis=(0, 1))
            self.given /= np.maximum(kept, LEAST_DIVISOR)
            # What is left hardly shows the mix.
            self.usual = self.n_true = self.n_true * kept

    def misfits(self, given: Floats, observed: Floats) -> Floats:
        """Return misfits of each predicted class and of all together."""
        n_class = observed.sum(axis=-1)
        share = mix_of(given.sum(axis=-2), n_class, self.usual)
        wanted = (given * share[..., None, None, :]).sum(axis=-1) * self.n
        expected = wanted * (n_class / np.maximum(wanted.sum(axis=-1), LEAST_DIVISOR))[..., None]
        off = ((observed - expected) * self.is_compared[:, None]).cumsum(axis=-1)
        within = (off**2 * expected).sum(axis=-1) / np.maximum(n_class, 1.0) ** 2
        every = (off.sum(axis=-2) ** 2 * expected.sum(axis=-2)).sum(axis=-1) / self.n**2
        return np.concatenate([within, every[..., None]], axis=-1)

    def draws(
        self, rng: np.random.Generator, ratio: Floats | float = 1.0, n_draws: int = N_MISFIT_DRAWS
    ) -> Floats:
        """Return the same of draws in which nothing but the mix has changed.

        With a ratio for each bin, so many times as many of the query set's scores lie there.
        """
        wanted = self.share * self.n
        part = np.minimum(wanted / np.maximum(self.n_true, 1.0), MOST_GROWN)
        grown = 1.0 + (self.design - 1.0) * part
        mean = self.given * np.broadcast_to(ratio, self.observed.shape)[..., None]
        mean = mean * (wanted / grown)
        families = self.n_true / self.design
        shape = self.given * (families**2 / (families + CAUTION))
        at_once = max(1, NUMBERS_AT_ONCE // self.given.size)
        misfits = []
        for start in range(0, n_draws, at_once):
            size = (min(at_once, n_draws - start), *self.given.shape)
            observed = (rng.poisson(np.broadcast_to(mean, size)) * grown).sum(axis=-1)
            given = rng.standard_gamma(np.broadcast_to(shape, size))
            given /= np.maximum(given.sum(axis=(1, 2), keepdims=True), LEAST_DIVISOR)
            misfits.append(self.misfits(given, observed))
        return np.concatenate(misfits)

    def power(self, by_chance: Floats) -> float:
        """Return the chance to notice scores moved up so far that confidences are `NOTICED` off.

        Bins gain or lose proteins by their rank within the predicted class, all of one slope.
        """
        expected = (self.given * self.share).sum(axis=2) * self.n
        n_class = np.maximum(expected.sum(axis=1, keepdims=True), LEAST_DIVISOR)
        rank = (expected.cumsum(axis=1) - expected / 2.0) / n_class - 0.5

        def moved(slope: float) -> Floats:
            tilted = expected * np.exp(slope * rank)
            return np.asarray(
                tilted * n_class / np.maximum(tilted.sum(axis=1, keepdims=True), LEAST_DIVISOR)
            )

        def beyond(slope: float) -> float:
            return float(self.effects(moved(slope)).sum()) - NOTICED

        if beyond(STEEPEST) < 0.0:
            return 0.0
        slope = scipy.optimize.brentq(beyond, 0.0, STEEPEST)
        ratio = moved(slope) / np.maximum(expected, LEAST_DIVISOR)
        drawn = self.draws(np.random.default_rng(SAMENESS_SEED), ratio, POWER_DRAWS)
        return float(
            np.mean(
                [QUESTIONS * _tail(misfit, by_chance) <= TEST_LEVEL for misfit in drawn[:, -1]]
            )
        )

    def effects(self, observed: Floats) -> Floats:
        """Return what each class adds to the mean |change of confidence| if scores matched."""
        total = (self.given * self.share).sum(axis=2)
        correct = np.einsum("kbk->kb", self.given) * self.share[:, None]
        confidence = correct / np.maximum(total, LEAST_DIVISOR)
        change = np.zeros(len(observed))
        for class_, here in enumerate(observed):
            if self.n_class[class_] > 0 and here.sum() > 0 and total[class_].sum() > 0:
                ours, usual = (side.cumsum() / side.sum() for side in (here, total[class_]))
                ends = np.unique(np.concatenate([ours, usual]).clip(0.0, 1.0))
                width = np.diff(ends, prepend=0.0)
                at = [np.searchsorted(side, ends - width / 2.0) for side in (ours, usual)]
                value = [confidence[class_, np.minimum(bin_, len(here) - 1)] for bin_ in at]
                change[class_] = here.sum() * float(width @ np.abs(value[0] - value[1]))
        return np.asarray(change / self.n_class.sum())


def mix_of(given: Floats, observed: Floats, usual: Floats) -> Floats:
    """Return the shares of true classes that explain best how often each is predicted, by EM.

    It starts from what is usual, so that what the predicted classes leave open is as usual.
    """
    part = observed / np.maximum(observed.sum(axis=-1, keepdims=True), LEAST_DIVISOR)
    share = np.where(given.sum(axis=-2) > 0, usual, 0.0)
    share = share / np.maximum(share.sum(axis=-1, keepdims=True), LEAST_DIVISOR)
    for _ in range(EM_STEPS):
        density = (given @ share[..., None])[..., 0]
        ratio = part / np.maximum(density, LEAST_DIVISOR)
        share = share * (ratio[..., None, :] @ given)[..., 0, :]
        share = share / np.maximum(share.sum(axis=-1, keepdims=True), LEAST_DIVISOR)
    return np.asarray(share)


def _tail(value: float, drawn: Floats) -> float:
    """Return the chance of so great a misfit: that of the gamma law with the draws' moments."""
    mean, variance = float(drawn.mean()), float(drawn.var())
    if variance == 0.0:
        return 1.0
    return float(special.gammaincc(mean**2 / variance, value * mean / variance))
