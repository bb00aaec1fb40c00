"""Whether a use-set's scores look like those of the classifier that was calibrated.

A calibration holds for one classifier. Another version, temperature or order of columns
keeps classes and scale and ruins it, without a change of the mix. So a calibration file
keeps a sketch: how often each top score, margin and so on was seen, by predicted and true
class. A use-set is counted in the same bins, piece by piece, in any order. Whether a mix
of the classes explains what is counted is tested by drawing (METHODS section 13).

Departs from METHODS: the mix is estimated from the predicted classes, as in BBSE, and
exchanged columns are looked for (docs/decisions/0708-same-classifier.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
from scipy import special

from credence.calibrators.score_logs import others_of
from credence.draws import encode_clusters
from credence.findings import Sameness
from credence.predictions import Floats, Integers, Labelled, Predictions
from credence.records import Stored

MOST_BINS = 20
FEWEST_IN_BIN = 25  # calibration proteins, on average
LEAST_RUNNER_UP = 0.01  # of the scale: a smaller second score is none, whatever the decimals
AS_ZERO = 0.0005  # of the scale: half of the last of two decimals on PhANNs' scale of 10
TOP_SCORE, RUNNER_UP = "top score", "runner-up by level"
LEVELS = (0.5, 0.9)  # of the scale: top scores that runner-ups are counted between
MOST_CELLS = 500_000  # of a number that is looked at: with many classes it is left out
FEWEST_SEEN = 50  # proteins that calibration predicts so, to compare others with them
FEWEST_FAMILIES = 5  # of a true class, and the part of a predicted class that may rest on fewer
MOST_SCARCE = 0.3
# Proteins of a use-set count as so many at most: in a mix that calibration never had, the
# families of a class are others, and a large set would show them.
MOST_COUNTED = 1000.0
FEWEST = 20  # proteins of a use-set from which on an answer is possible
N_DRAWS = 200
SEED = 1  # of the draws: the same counts give the same answer
DRAWS_AT_ONCE = 20_000_000  # numbers
EM_STEPS = 60
MOST_GROWN = 1.5  # families of a use-set are at most so many times as large as calibration's
NOTICED = 0.05  # of a confidence: power is the chance to notice a classifier so far off
STEEPEST, HALVINGS = 20.0, 20
POWER_DRAWS = 100
LEVEL = 0.05
QUESTIONS = 3  # that share it: all scores, those of each class, exchanged columns
LEAST_P = 1e-4  # so few draws cannot distinguish a smaller one
LEAST_EFFECT = 0.02  # mean |change of confidence| below which no warning is given
MOST_PAIRS = 1_000  # of columns that may be exchanged: those that are predicted most often
USUAL_FAMILIES = 5.0  # what proteins of a class are like before its own are seen counts so many
PAIR_STEPS = 10  # of EM, from the mix that explains the predicted classes
TINIEST = 1e-150  # keeps a division by nothing at nothing
ASSUMED_DESIGN = 10.0  # where nobody says which proteins are relatives
CAUTION = 5.0  # families: what so few show of a class counts half
USUAL_CLUSTERS = 5.0  # of a class, by which its likeness of relatives is held to that of all


@dataclass(frozen=True, eq=False)
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
        found = predicted_class * self.n_bins
        for class_ in np.unique(predicted_class):
            rows = predicted_class == class_
            found[rows] += np.searchsorted(self.edges[class_], value[rows])
        return found

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


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a calibration saw of scores."""

    features: tuple[FeatureSketch, ...]


def sketch_of(labelled: Labelled) -> Sketch | None:
    """Return the sketch of labelled predictions, each counting one; None without scores."""
    predictions = labelled.predictions
    code, _ = encode_clusters(labelled.cluster)
    found = []
    for name, value in sketched_values(predictions).items():
        edges = _edges(predictions, name, value)
        if predictions.n_classes**2 * (edges.shape[1] + 1) > MOST_CELLS:
            continue
        blank = np.zeros(0, dtype=np.int64)
        bare = FeatureSketch(name, edges, blank, blank, np.ones(predictions.n_classes))
        bin_ = bare.bins(predictions.predicted_class, value)
        cell = bin_ * predictions.n_classes + labelled.true_class
        place, count = np.unique(cell, return_counts=True)
        is_ordered = name != RUNNER_UP
        design = _design(labelled, bin_ % bare.n_bins if is_ordered else bin_, code, is_ordered)
        found.append(FeatureSketch(name, edges, place, count, design))
    return Sketch(tuple(found)) if found else None


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
    level = np.searchsorted(LEVELS, top / predictions.scale)
    return {
        TOP_SCORE: top,
        RUNNER_UP: (second * (len(LEVELS) + 1) + level).astype(np.float64),
        "margin": scores[rows, predictions.predicted_class] - best,
        "row sum": scores.sum(axis=1),
        "share of zeros": (scores < AS_ZERO * predictions.scale).mean(axis=1),
    }


def _edges(predictions: Predictions, name: str, value: Floats) -> Floats:
    """Return bins of as many calibration proteins each, halfway between two scores."""
    n_classes = predictions.n_classes
    if name == RUNNER_UP:
        n_bins = (n_classes + 1) * (len(LEVELS) + 1)
        return np.tile(np.arange(n_bins - 1) + 0.5, (n_classes, 1))
    edges = np.full((n_classes, MOST_BINS - 1), np.inf)
    half = predictions.resolution / 2.0 if name in (TOP_SCORE, "margin") else 0.0
    for class_ in range(n_classes):
        own = value[predictions.predicted_class == class_]
        n_bins = min(MOST_BINS, len(own) // FEWEST_IN_BIN)
        if n_bins > 1:
            levels = np.arange(1, n_bins) / n_bins
            steps = np.unique(np.quantile(own, levels, method="inverted_cdf"))
            steps = steps[steps < own.max()] + half
            edges[class_, : len(steps)] = steps
    return edges


def _design(labelled: Labelled, bin_: Integers, cluster: Integers, is_ordered: bool) -> Floats:
    """Return by how much relatives increase the variance of shares, for each true class.

    A class of few clusters is held to the correlation within clusters of all classes. A use-set
    has other families: some of a class may be as large as calibration's largest are of another.
    """
    n_classes = labelled.predictions.n_classes
    alike, n_clusters, size = (np.zeros(n_classes) for _ in range(3))
    for class_ in range(n_classes):
        rows = labelled.true_class == class_
        _, own = np.unique(cluster[rows], return_inverse=True)
        kinds, kind = np.unique(bin_[rows], return_inverse=True)
        if len(kinds) == 0:
            continue
        total = np.zeros((own.max() + 1, len(kinds)))
        np.add.at(total, (own, kind), 1.0)
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
    """A use-set counted in the bins of a sketch, piece by piece, in any order."""

    def __init__(self, sketch: Sketch, class_names: Sequence[str]) -> None:
        self._sketch, self._class_names = sketch, class_names
        self._counts = [
            np.zeros(len(part.design) * part.n_bins, dtype=np.int64) for part in sketch.features
        ]

    def add(self, predictions: Predictions) -> None:
        """Count some proteins; nothing of a number that they lack."""
        value = sketched_values(predictions)
        for part, counts in zip(self._sketch.features, self._counts, strict=True):
            if part.name in value:
                bin_ = part.bins(predictions.predicted_class, value[part.name])
                counts += np.bincount(bin_, minlength=len(counts))

    def most_moved(self) -> str:
        """Return the class whose scores change confidences most, '' where none is known."""
        counts = [*self._counts, np.zeros(0, dtype=np.int64)][0]
        if (
            counts.sum() < FEWEST
            or not (part := _Part(self._sketch.features[0], counts)).n_class.any()
        ):
            return ""
        return self._class_names[int(part.effects(part.observed).argmax())]

    def found(self) -> Sameness | None:
        """Return whether a mix of the classes explains the set; None: no answer is possible.

        The level is shared by the top scores of all classes together, those of each class
        (Holm among these), and the question whether two columns are exchanged.
        """
        rng = np.random.default_rng(SEED)
        scores = exchange = 1.0  # Least p-values
        effect, moved, power, n = 0.0, 0.0, 0.0, 0
        exchanged: tuple[str, ...] = ()
        for feature, counts in zip(self._sketch.features, self._counts, strict=True):
            if counts.sum() < FEWEST:
                continue
            if feature.name == TOP_SCORE:
                part = _Part(feature, counts)
                if part.n_class.sum() < FEWEST:
                    continue
                misfit = part.misfits(part.given, part.observed)
                drawn = part.draws(rng)
                p_values = [_tail(misfit[at], drawn[:, at]) for at in range(len(misfit))]
                singles = [p_values[at] for at in np.flatnonzero(part.n_class >= FEWEST)]
                scores = min([p_values[-1], *(len(singles) * one for one in singles)])
                effect = float(part.effects(part.observed).sum())
                power, n = part.power(drawn[:, -1]), round(part.n_class.sum() / part.counted_as)
            elif feature.name == RUNNER_UP:
                exchange, pair, moved = exchanged_columns(feature, counts)
                exchanged = tuple(self._class_names[class_] for class_ in pair)
        is_exchanged = QUESTIONS * exchange <= LEVEL
        if n == 0 and not is_exchanged:
            return None
        of_scores = QUESTIONS * scores <= LEVEL and effect > LEAST_EFFECT
        if not is_exchanged:
            moved, exchanged = 0.0, ()
        n, p_value = n or round(self._counts[0].sum()), QUESTIONS * min(scores, exchange)
        is_other = of_scores or is_exchanged
        return Sameness(n, min(1.0, p_value), effect, moved, is_other, power, exchanged)


def warning_of(found: Sameness) -> str:
    """Return what a reader has to know of a set that is not like calibration's."""
    stated = f"p = {found.p_value:.2g}" if found.p_value >= LEAST_P else f"p < {LEAST_P:g}"
    exchanged = (
        f" They fit better with the columns {found.exchanged[0]!r} and {found.exchanged[1]!r} "
        f"exchanged; {100 * found.moved:.1f} % of the proteins are predicted as one of the two."
        if found.exchanged
        else ""
    )
    return (
        "its scores are unlike those in calibration: another version of the tool, or other "
        f"proteins. No mix of the classes explains them ({stated}, power {found.power:.2f}, "
        f"{found.n:,} proteins). Were "
        "top scores matched to those in calibration, confidences would change by "
        f"{found.effect:.2f} on average.{exchanged} Do not rely "
        "on these confidences: give scores of the version that was calibrated, or calibrate "
        "with proteins like these"
    )


def exchanged_columns(
    sketch: FeatureSketch, counts: Integers
) -> tuple[float, tuple[int, int], float]:
    """Return whether two columns are exchanged: a p-value, the likeliest, the share they touch.

    Counts become far likelier when the right columns are changed back, whatever the mix. The
    mean over pairs of these likelihood ratios is at most one on average where nothing is
    exchanged, so its inverse is a p-value. A protein counts the less the more relatives
    it has, and the fewer families show what its class is like.
    """
    n_classes = len(sketch.design)
    seen = np.zeros((n_classes, n_classes + 1, len(LEVELS) + 1, n_classes))
    seen.flat[sketch.place] = sketch.count
    n_true, of_bin = seen.sum(axis=(0, 1, 2)), seen.sum(axis=3)
    families = np.maximum(n_true / sketch.design, TINIEST)
    # What a protein is like before its class has been seen: half the time predicted right,
    # otherwise as any; its runner-up as any predicted so; its level as any so right, or wrong.
    predicted, second = of_bin.sum(axis=(1, 2)) + 1.0, of_bin.sum(axis=2) + 1.0
    chance = 0.5 * np.eye(n_classes) + 0.5 * (predicted / predicted.sum())[:, None]
    right = np.einsum("krlk->kl", seen)
    level = np.repeat((of_bin.sum(axis=1) - right)[..., None], n_classes, axis=2)
    np.einsum("klk->kl", level)[...] = right
    level += USUAL_FAMILIES * (of_bin.sum(axis=(0, 1)) / of_bin.sum())[:, None]

    def shares(usual: Floats, counted: Floats, axis: int) -> Floats:
        found = counted / sketch.design + USUAL_FAMILIES * usual / usual.sum(axis, keepdims=True)
        return np.asarray(found / found.sum(axis, keepdims=True))

    given = shares(chance, seen.sum(axis=(1, 2)), 0)[:, None, None] * (n_true > 0)
    given = given * shares(second[..., None], seen.sum(axis=2), 1)[:, :, None]
    given = (given * shares(level[:, None], seen, 2)).reshape(n_classes, -1, n_classes)
    observed = counts.reshape(n_classes, -1).astype(np.float64)
    n_class = observed.sum(axis=1)

    def likelihood(counted: Floats, steps: int) -> tuple[float, Floats]:
        share = mix_of(given.sum(axis=1), counted.sum(axis=1))
        flat, here = given.reshape(-1, n_classes), counted.ravel()
        flat, here = flat[here > 0], here[here > 0]
        for _ in range(steps):
            share = share * ((here / np.maximum(flat @ share, TINIEST)) @ flat) / here.sum()
        return float(here @ np.log(np.maximum(flat @ share, TINIEST))), share

    _, share = likelihood(observed, EM_STEPS)
    wanted = share * observed.sum()
    part = np.minimum(wanted / np.maximum(n_true, 1.0), MOST_GROWN)
    counted_as = 1.0 + (sketch.design - 1.0) * part + wanted / families
    mean, expected = given @ (share * counted_as), given @ share
    observed /= np.divide(mean, expected, out=np.ones_like(mean), where=expected > 0)
    order = np.argsort(-n_class, kind="stable")
    pairs = list(combinations(order[n_true[order] > 0].tolist(), 2))[:MOST_PAIRS]
    if not pairs:
        return 1.0, (0, 0), 0.0

    gain = np.empty(len(pairs))
    for at, (one, other) in enumerate(pairs):
        column = np.arange(n_classes + 1)
        column[[one, other]] = other, one
        back = observed.reshape(n_classes, n_classes + 1, -1)[column[:-1]][:, column]
        gain[at] = likelihood(back.reshape(n_classes, -1), PAIR_STEPS)[0]
    gain -= likelihood(observed, EM_STEPS)[0]
    mean = float(special.logsumexp(gain)) - np.log(len(pairs))
    p_value = float(np.exp(-max(mean, 0.0)))
    best = pairs[int(gain.argmax())]
    return p_value, best, float(n_class[list(best)].sum() / n_class.sum())


class _Part:
    """The counts of one feature, ready to be drawn."""

    def __init__(self, sketch: FeatureSketch, counts: Integers) -> None:
        n_classes = len(sketch.design)
        shape = (n_classes, sketch.n_bins, n_classes)
        seen = np.zeros(shape)
        seen.flat[sketch.place] = sketch.count
        by_class, of_bin = seen.sum(axis=1), seen.sum(axis=2)
        # A bin in which a pair of classes was not seen is not impossible: each pair has one
        # protein more, spread as all right, or all wrong, predictions of the class.
        right = np.einsum("kbk->kb", seen)
        wrong = of_bin - right
        spread = np.repeat((wrong + TINIEST * right)[:, :, None], n_classes, axis=2)
        np.einsum("kbk->kb", spread)[...] = right + TINIEST * wrong
        spread /= np.maximum(spread.sum(axis=1, keepdims=True), TINIEST**2)
        self.n_true = by_class.sum(axis=0)
        self.given = seen + spread * (by_class > 0)[:, None, :]
        self.design = sketch.design
        self.observed = counts.reshape(shape[:2]).astype(np.float64)
        self.given /= np.maximum(self.given.sum(axis=(0, 1)), TINIEST)
        self.observed[of_bin.sum(axis=1) == 0] = 0.0
        self.counted_as = min(1.0, MOST_COUNTED / max(float(self.observed.sum()), 1.0))
        self.observed *= self.counted_as
        self.n = float(self.observed.sum())
        # What calibration hardly ever predicted, or what rests on classes of few families,
        # helps to find the mix and is not compared: so few do not show what others are like.
        self.share = mix_of(self.given.sum(axis=1), self.observed.sum(axis=1))
        wanted = self.given.sum(axis=1) * self.share
        is_scarce = self.n_true / self.design < FEWEST_FAMILIES
        rests = wanted[:, is_scarce].sum(axis=1) <= MOST_SCARCE * wanted.sum(axis=1)
        self.is_compared = (of_bin.sum(axis=1) >= FEWEST_SEEN) & rests
        self.n_class = self.observed.sum(axis=1) * self.is_compared

    def misfits(self, given: Floats, observed: Floats) -> Floats:
        """Return misfits of each predicted class and of all together."""
        n_class = observed.sum(axis=-1)
        share = mix_of(given.sum(axis=-2), n_class)
        wanted = (given * share[..., None, None, :]).sum(axis=-1) * self.n
        expected = wanted * (n_class / np.maximum(wanted.sum(axis=-1), TINIEST))[..., None]
        off = ((observed - expected) * self.is_compared[:, None]).cumsum(axis=-1)
        within = (off**2 * expected).sum(axis=-1) / np.maximum(n_class, 1.0) ** 2
        every = (off.sum(axis=-2) ** 2 * expected.sum(axis=-2)).sum(axis=-1) / self.n**2
        return np.concatenate([within, every[..., None]], axis=-1)

    def draws(
        self, rng: np.random.Generator, ratio: Floats | float = 1.0, n_draws: int = N_DRAWS
    ) -> Floats:
        """Return the same of draws in which nothing but the mix has changed.

        With a ratio for each bin, so many times as many of the use-set's scores lie there.
        """
        wanted = self.share * self.n
        part = np.minimum(wanted / np.maximum(self.n_true, 1.0), MOST_GROWN)
        grown = 1.0 + (self.design - 1.0) * part
        mean = self.given * np.broadcast_to(ratio, self.observed.shape)[..., None]
        mean = mean * (wanted / grown)
        families = self.n_true / self.design
        shape = self.given * (families**2 / (families + CAUTION))
        at_once = max(1, DRAWS_AT_ONCE // self.given.size)
        found = []
        for start in range(0, n_draws, at_once):
            size = (min(at_once, n_draws - start), *self.given.shape)
            observed = (rng.poisson(np.broadcast_to(mean, size)) * grown).sum(axis=-1)
            given = rng.standard_gamma(np.broadcast_to(shape, size))
            given /= np.maximum(given.sum(axis=(1, 2), keepdims=True), TINIEST)
            found.append(self.misfits(given, observed))
        return np.concatenate(found)

    def power(self, by_chance: Floats) -> float:
        """Return the chance to notice scores moved up so far that confidences are `NOTICED` off.

        Bins gain or lose proteins by their rank within the predicted class, all of one slope.
        """
        expected = (self.given * self.share).sum(axis=2) * self.n
        n_class = np.maximum(expected.sum(axis=1, keepdims=True), TINIEST)
        rank = (expected.cumsum(axis=1) - expected / 2.0) / n_class - 0.5

        def moved(slope: float) -> Floats:
            tilted = expected * np.exp(slope * rank)
            return np.asarray(
                tilted * n_class / np.maximum(tilted.sum(axis=1, keepdims=True), TINIEST)
            )

        least, most = 0.0, STEEPEST
        if self.effects(moved(most)).sum() < NOTICED:
            return 0.0
        for _ in range(HALVINGS):
            middle = (least + most) / 2.0
            is_noticed = self.effects(moved(middle)).sum() >= NOTICED
            least, most = (least, middle) if is_noticed else (middle, most)
        ratio = moved(most) / np.maximum(expected, TINIEST)
        drawn = self.draws(np.random.default_rng(SEED), ratio, POWER_DRAWS)
        return float(np.mean([QUESTIONS * _tail(one, by_chance) <= LEVEL for one in drawn[:, -1]]))

    def effects(self, observed: Floats) -> Floats:
        """Return what each class adds to the mean |change of confidence| if scores matched."""
        total = (self.given * self.share).sum(axis=2)
        own = np.einsum("kbk->kb", self.given) * self.share[:, None]
        confidence = own / np.maximum(total, TINIEST)
        change = np.zeros(len(observed))
        for class_, here in enumerate(observed):
            if self.n_class[class_] > 0 and here.sum() > 0 and total[class_].sum() > 0:
                ours, theirs = (side.cumsum() / side.sum() for side in (here, total[class_]))
                ends = np.unique(np.concatenate([ours, theirs]).clip(0.0, 1.0))
                width = np.diff(ends, prepend=0.0)
                at = [np.searchsorted(side, ends - width / 2.0) for side in (ours, theirs)]
                value = [confidence[class_, np.minimum(bin_, len(here) - 1)] for bin_ in at]
                change[class_] = here.sum() * float(width @ np.abs(value[0] - value[1]))
        return np.asarray(change / self.n_class.sum())


def mix_of(given: Floats, observed: Floats) -> Floats:
    """Return the shares of true classes that explain best how often each is predicted, by EM."""
    part = observed / np.maximum(observed.sum(axis=-1, keepdims=True), TINIEST)
    is_known = (given.sum(axis=-2) > 0).astype(np.float64)
    share = is_known / np.maximum(is_known.sum(axis=-1, keepdims=True), 1.0)
    for _ in range(EM_STEPS):
        density = (given @ share[..., None])[..., 0]
        ratio = part / np.maximum(density, TINIEST)
        share = share * (ratio[..., None, :] @ given)[..., 0, :]
        share = share / np.maximum(share.sum(axis=-1, keepdims=True), TINIEST)
    return np.asarray(share)


def _tail(value: float, drawn: Floats) -> float:
    """Return the chance of so great a misfit: that of the gamma law with the draws' moments."""
    mean, variance = float(drawn.mean()), float(drawn.var())
    if variance == 0.0:
        return 1.0
    return float(special.gammaincc(mean**2 / variance, value * mean / variance))
