"""All metrics of all methods, with intervals, paired differences and noise floors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

import numpy as np
from scipy import special

from credence.calibrators.intervals import ends_of_draws, expanded_quantiles
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters, id_keys
from credence.evaluation import measures as measuring
from credence.evaluation.measures import Measures, PairedDraws, Scatter
from credence.evaluation.ratios import MIN_CLUSTERS
from credence.findings import Difference, MetricValue, NoiseFloor
from credence.metrics.all_metrics import METRICS, METRICS_BY_NAME
from credence.metrics.metric import ACCURACY, GAP, N_METRIC_BINS, Judged, Metric
from credence.predictions import Booleans, Floats, Integers, Labelled
from credence.progress import each

NO_INTERVAL = (float("nan"), float("nan"))
ALL_ALIKE = 1e-12  # a precision that is no farther from 0 or 1 than rounding


def metric_range(
    metric: Metric, measures: Measures, number: int, level: float, floor: float = 0.0
) -> tuple[float, float]:
    """Return a metric's interval (decision 0010); NaN where draws say nothing."""
    name = metric.name
    value = float(measures.value[name][number])
    drawn = measures.drawn.get(name)
    if drawn is None or np.isnan(value):
        return NO_INTERVAL
    right = float(measures.value[ACCURACY.name][number])
    if metric is GAP and min(right, 1.0 - right) < ALL_ALIKE:
        # Draws of outcomes that are all alike do not vary: as uncertain as the precision.
        ends = metric_range(ACCURACY, measures, number, level)
        return value + right - ends[1], value + right - ends[0]
    freedom = float(measures.scatter[name].freedom[number])
    stretch = float(measures.scatter[name].stretch[number])
    low, high = _bounds(drawn[number], freedom, level, is_share=metric.is_share)
    if np.isnan(low):
        return NO_INTERVAL
    if metric.is_share:
        middle = special.logit(float(measures.centre[name][number]))
        low, high = (
            float(special.expit(middle + stretch * (special.logit(end) - middle)))
            for end in (low, high)
        )
    elif name in measures.noise:
        median = float(np.nanmedian(drawn[number]))
        _, reach = _bounds(measures.noise[name][number], freedom, level)
        furthest = max(floor, 0.0 if np.isnan(reach) else stretch * reach)
        least = value - furthest
        if metric.is_square:
            least = float(max(np.sqrt(value) - np.sqrt(furthest), 0.0) ** 2)
        low = max(min(value - stretch * (high - value), least), 0.0)
        high = 2.0 * value - median + stretch * (high - median)
    elif metric.is_signed or value <= 0.0:
        low, high = (value + stretch * (end - value) for end in (low, high))
    else:
        low, high = (value * (max(end, 0.0) / value) ** stretch for end in (low, high))
    return max(min(low, value), -metric.most), min(max(high, value), metric.most)


def difference_scatter(metric: Metric, measures: Measures, reference: Measures) -> Scatter:
    """Return how draws of the difference are to be read, by class and over all."""
    name = metric.name
    if name in measures.losses:
        losses = measuring.twice(measures.losses[name] - reference.losses[name])
        return measuring.scatter_of(measures.relatives, losses)
    first, second = measures.scatter[name], reference.scatter[name]
    freedom = np.minimum(first.freedom, second.freedom)
    return Scatter(stretch=np.maximum(first.stretch, second.stretch), freedom=freedom)


def difference_interval(
    metric: Metric,
    measures: Measures,
    reference: Measures,
    number: int,
    level: float,
    scatter: Scatter,
    floors: tuple[float, float],
) -> tuple[float, float]:
    """Return the interval of one method's metric minus another's (decision 0010)."""
    name = metric.name
    value = float(measures.value[name][number] - reference.value[name][number])
    if name not in measures.drawn or name not in reference.drawn or np.isnan(value):
        return NO_INTERVAL
    drawn = measures.drawn[name][number] - reference.drawn[name][number]
    stretch = float(scatter.stretch[number])
    bounds = _bounds(drawn, float(scatter.freedom[number]), level)
    low, high = (value + stretch * (end - value) for end in bounds)
    if metric.is_error and not np.isnan(low):
        first = metric_range(metric, measures, number, level, floors[0])
        second = metric_range(metric, reference, number, level, floors[1])
        low, high = first[0] - second[1], first[1] - second[0]
    if np.isnan(low + high):
        return NO_INTERVAL
    return max(min(low, value), -metric.most), min(max(high, value), metric.most)


def _bounds(
    drawn: Floats, freedom: float, level: float, *, is_share: bool = False
) -> tuple[float, float]:
    """Return widened quantiles; NaN where the draws do not differ."""
    known = drawn[~np.isnan(drawn)]
    if len(known) == 0 or known.min() == known.max():
        return NO_INTERVAL  # as of a worst bin that holds one protein
    of_row = known[None], np.array([freedom + 1.0]), FitOptions(level=level)
    low, high = expanded_quantiles(*of_row, is_share=is_share)
    return float(low[0]), float(high[0])


IN_SAMPLE = "in_sample"
HELD_OUT_SAMPLE = "held_out"
TEST_SAMPLE = "test"  # proteins that a finished calibration never saw


@dataclass(frozen=True, kw_only=True)
class EvaluationOptions:
    """How methods are judged."""

    n_folds: int = 10  # Folds of whole clusters for the held-out numbers; at least 2
    level: float = 0.95  # Coverage of the pointwise intervals
    n_draws: int = 200  # Draws of the bootstrap; 0 gives no intervals
    # What is drawn: whole clusters, or proteins one by one (``row``), to show how wrong that is.
    resample: Literal["cluster", "row"] = "cluster"
    n_floor: int = 100  # Simulations of each noise floor; 0 gives none
    n_signs: int = 999  # Draws of random signs in the tests; 0 gives no p-values by clusters
    n_bins: int = N_METRIC_BINS  # In which calibration errors are counted
    equal_counts: bool = False  # Whether these hold as many proteins each, not one width
    one_sided: bool = False  # Spiegelhalter's test: whether confidences are too extreme, alone
    # Only metrics in cells of these families are measured; None: all.
    families: tuple[str, ...] | None = None


Key = tuple[str, str]  # method, sample
# Means of noise floors by method, sample, class and metric.
Chance = Mapping[tuple[str, str, str | None, str], float]
PAIRED = ("nll", "brier", "ece")  # compared between every two methods


@dataclass(frozen=True, kw_only=True, eq=False)
class Stated:
    """What one method says of one sample."""

    confidence: Floats  # NaN where it says nothing
    # Where the method gives a vector; rows are NaN where it says nothing.
    probabilities: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Judgement:
    """What judging gives."""

    metrics: tuple[MetricValue, ...]  # Records of the findings
    differences: tuple[Difference, ...]
    pairs: tuple[Difference, ...]
    floors: tuple[NoiseFloor, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Outcome:
    """Measures of one method over one sample, with what they rest on."""

    key: Key
    stated: Stated
    known: Booleans
    measures: Measures
    n: Integers  # Proteins and clusters judged of each class, then of all
    n_units: Integers


class Judge:
    """Measures methods on one set of proteins, all under the same draws."""

    def __init__(self, labelled: Labelled, options: EvaluationOptions) -> None:
        self.labelled = labelled
        self.options = options
        predictions = labelled.predictions
        classes, block = np.unique(predictions.predicted_class, return_inverse=True)
        self.block = block.astype(np.int64)
        self.n_classes = len(classes)
        # Number and name of each block: over all, then each class.
        names = [predictions.class_names[class_] for class_ in classes]
        self.blocks: list[tuple[int, str | None]] = [(-1, None), *enumerate(names)]
        drawn = labelled.cluster if options.resample == "cluster" else predictions.ids
        unit, key = encode_clusters(drawn)
        self.drawing = PairedDraws(unit=unit, key=key, n_draws=options.n_draws)
        self.parts = self.drawing.parts(self.n_classes)
        self.in_cells = measuring.in_families(options.families)
        self.chance = {}
        if options.n_floor > 0:
            cluster, cluster_key = encode_clusters(labelled.cluster)
            self.chance = {
                False: measuring.chances(id_keys(predictions), options.n_floor),
                True: measuring.chances(cluster_key, options.n_floor)[cluster],
            }

    def judged(self, stated: Stated, known: Booleans) -> Judged:
        """Return the proteins as one method sees them."""
        labelled, score = self.labelled, self.labelled.predictions.top_score
        return Judged(
            confidence=stated.confidence,
            is_correct=labelled.is_correct,
            weight=labelled.weight,
            score=None if score is None else score / labelled.predictions.scale,
            probabilities=stated.probabilities,
            true_class=labelled.true_class,
            n_bins=self.options.n_bins,
            equal_counts=self.options.equal_counts,
        ).take(known)

    def outcome(self, key: Key, stated: Stated, known: Booleans) -> _Outcome:
        """Return the measures of one method with the counts they rest on."""
        if stated.probabilities is not None and np.isnan(stated.probabilities[known]).any():
            stated = Stated(
                confidence=stated.confidence
            )  # a vector that not all have is not judged
        block, unit = self.block[known], self.drawing.unit[known]
        pairs = np.unique(np.stack([block, unit]), axis=1)
        n, n_units = (np.bincount(code, minlength=self.n_classes) for code in (block, pairs[0]))
        n, n_units = np.append(n, len(block)), np.append(n_units, len(np.unique(unit)))
        return _Outcome(
            key=key,
            stated=stated,
            known=known,
            measures=self._measure(stated, known),
            n=n,
            n_units=n_units,
        )

    def _measure(self, stated: Stated, known: Booleans) -> Measures:
        judged, block, unit = self.judged(stated, known), self.block[known], self.drawing.unit
        if not known.any():
            nothing = np.full(self.n_classes + 1, np.nan)
            value = {metric.name: nothing for metric in METRICS if not metric.needs_vector}
            nobody = measuring.both_relatives(block, self.n_classes, block, judged.weight)
            return Measures(
                value=value, drawn={}, noise={}, scatter={}, losses={}, centre={}, relatives=nobody
            )
        placed = measuring.placements(judged, block, self.n_classes, self.in_cells)
        drawing = replace(self.drawing, unit=unit[known])
        return measuring.measure(judged, block, self.n_classes, placed, drawing, self.parts)

    def floors(self, outcome: _Outcome) -> list[NoiseFloor]:
        """Return the noise floors of one method over one sample."""
        if not outcome.known.any():
            return []
        judged, block = self.judged(outcome.stated, outcome.known), self.block[outcome.known]
        placed = measuring.placements(judged, block, self.n_classes)
        rows = []
        for alike, chance in self.chance.items():
            simulated = measuring.floors(
                judged, block, self.n_classes, placed, chance[outcome.known]
            )
            names = [metric.name for metric in measuring.IN_CELLS if metric.name in simulated]
            for name, (number, class_name) in product(names, self.blocks):
                drawn = simulated[name][number]
                if np.isnan(drawn).any():
                    continue
                low, high = ends_of_draws(drawn, self.options.level)
                # Of a few proteins most draws are 0, and their mean beyond the quantile.
                mean = float(drawn.mean())
                floor = NoiseFloor(
                    method=outcome.key[0],
                    class_name=class_name,
                    sample=outcome.key[1],
                    metric=name,
                    relatives_alike=alike,
                    value=mean,
                    lower=min(max(float(low), 0.0), mean),
                    upper=max(float(high), mean),
                )
                rows.append(floor)
        return rows

    def values(
        self, outcome: _Outcome, number: int, class_name: str | None, chance: Chance
    ) -> list[MetricValue]:
        """Return the metrics of one method, sample and block."""
        n, n_units, rows = int(outcome.n[number]), int(outcome.n_units[number]), []
        for metric in METRICS:
            if not _is_defined(metric, class_name, outcome):
                continue
            lower, upper = NO_INTERVAL
            if n_units >= (1 if metric.is_share else MIN_CLUSTERS):
                floor = chance.get((*outcome.key, class_name, metric.name), 0.0)
                lower, upper = metric_range(
                    metric, outcome.measures, number, self.options.level, floor
                )
            value = float(outcome.measures.value[metric.name][number])
            row = MetricValue(
                method=outcome.key[0],
                class_name=class_name,
                sample=outcome.key[1],
                metric=metric.name,
                value=value,
                lower=min(lower, value),  # where an end is the value but for the last digit
                upper=max(upper, value),
                n=n,
                n_clusters=n_units,
            )
            rows.append(row)
        return rows

    def differences(
        self, first: _Outcome, second: _Outcome, metrics: Sequence[Metric], chance: Chance
    ) -> list[Difference]:
        """Return differences over the proteins to which both give a confidence."""
        if not np.array_equal(first.known, second.known):
            known = first.known & second.known
            first = self.outcome(first.key, first.stated, known)
            second = self.outcome(second.key, second.stated, known)
        measures, reference = first.measures, second.measures
        scatter = {
            metric.name: difference_scatter(metric, measures, reference)
            for metric in metrics
            if metric.name in measures.drawn and metric.name in reference.drawn
        }
        rows = []
        for (number, class_name), metric in product(self.blocks, metrics):
            name = metric.name
            if not all(_is_defined(metric, class_name, outcome) for outcome in (first, second)):
                continue
            lower, upper = NO_INTERVAL
            if name in scatter and first.n_units[number] >= MIN_CLUSTERS:
                lower, upper = difference_interval(
                    metric,
                    measures,
                    reference,
                    number,
                    self.options.level,
                    scatter[name],
                    (
                        chance.get((*first.key, class_name, name), 0.0),
                        chance.get((*second.key, class_name, name), 0.0),
                    ),
                )
            difference = Difference(
                method=first.key[0],
                reference=second.key[0],
                class_name=class_name,
                sample=first.key[1],
                metric=name,
                value=float(measures.value[name][number] - reference.value[name][number]),
                lower=lower,
                upper=upper,
                n=int(first.n[number]),
            )
            rows.append(difference)
        return rows


def judge(
    labelled: Labelled, stated: Mapping[Key, Stated], reference: str, options: EvaluationOptions
) -> Judgement:
    """Return metrics, differences and noise floors of all methods."""
    judging = Judge(labelled, options)
    entries = each(stated.items(), len(stated))
    outcomes = {
        key: judging.outcome(key, entry, ~np.isnan(entry.confidence)) for key, entry in entries
    }
    floor = [row for outcome in outcomes.values() for row in judging.floors(outcome)]
    chance = {
        (row.method, row.sample, row.class_name, row.metric): row.upper
        for row in floor
        if row.relatives_alike == (options.resample == "cluster")
    }
    every = product(judging.blocks, outcomes.values())
    metrics = [row for block, outcome in every for row in judging.values(outcome, *block, chance)]
    main = tuple(METRICS_BY_NAME[name] for name in PAIRED)
    compared = tuple(metric for metric in METRICS if not metric.is_share)
    differences, pairs = [], []
    methods = list(dict.fromkeys(method for method, _ in stated))
    for (method, sample), outcome in outcomes.items():
        if method != reference:
            differences += judging.differences(
                outcome, outcomes[reference, sample], compared, chance
            )
        if sample != IN_SAMPLE:
            for other in methods[: methods.index(method)]:
                pairs += judging.differences(outcome, outcomes[other, sample], main, chance)
    order = {class_name: number for number, class_name in judging.blocks}
    differences.sort(key=lambda entry: order[entry.class_name])
    return Judgement(
        metrics=tuple(metrics),
        differences=tuple(differences),
        pairs=tuple(pairs),
        floors=tuple(floor),
    )


def _is_defined(metric: Metric, class_name: str | None, outcome: _Outcome) -> bool:
    if metric.name not in outcome.measures.value:
        return False
    if class_name is None or metric.losses is not None:
        return True
    return metric.finish is not None and not metric.needs_vector
