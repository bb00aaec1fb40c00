"""All metrics of all methods, with intervals, paired differences and noise floors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.calibrators.draws import encode_clusters, keys_of
from credence.evaluation.ends import difference_interval, difference_scatter, interval_of
from credence.evaluation.measures import (
    IN_CELLS,
    Drawing,
    Measures,
    chances,
    floors,
    in_families,
    measure,
    placements,
)
from credence.evaluation.options import HELD_OUT, EvaluationOptions
from credence.evaluation.ratios import MIN_CLUSTERS
from credence.evaluation.scatter import both_relatives
from credence.findings import Difference, MetricValue, NoiseFloor
from credence.metrics import nll
from credence.metrics.judged import Judged
from credence.metrics.protocol import Metric
from credence.metrics.registry import BY_NAME, METRICS
from credence.predictions import Booleans, Floats, Integers, Labelled

Key = tuple[str, str]  # method, sample
Floor = tuple[str, str, str | None, str]  # method, sample, class, metric
PAIRED = ("nll", "brier", "ece")  # compared between every two methods


@dataclass(frozen=True, eq=False)
class Said:
    """What one method says of one sample.

    Parameters
    ----------
    confidence : array of float, shape (n_samples,)
        NaN where it says nothing.
    probabilities : array of float, shape (n_samples, n_classes), optional
        Where the method gives a vector; rows are NaN where it says nothing.
    """

    confidence: Floats
    probabilities: Floats | None = None


@dataclass(frozen=True, eq=False)
class Judgement:
    """What judging gives.

    Parameters
    ----------
    metrics, differences, pairs, floors : tuple
        Records of the findings.
    """

    metrics: tuple[MetricValue, ...]
    differences: tuple[Difference, ...]
    pairs: tuple[Difference, ...]
    floors: tuple[NoiseFloor, ...]


@dataclass(frozen=True, eq=False)
class _Outcome:
    """Measures of one method over one sample, with what they rest on."""

    said: Said
    known: Booleans
    measures: Measures
    n: Integers
    n_units: Integers


class Judge:
    """Measures methods on one set of proteins, all under the same draws.

    Parameters
    ----------
    labelled : Labelled
        The proteins.
    options : EvaluationOptions
        Level, draws, what is resampled.
    """

    def __init__(self, labelled: Labelled, options: EvaluationOptions) -> None:
        self.labelled = labelled
        self.options = options
        predictions = labelled.predictions
        classes, block = np.unique(predictions.predicted_class, return_inverse=True)
        self.block = block.astype(np.int64)
        self.class_names: tuple[str, ...] = tuple(predictions.class_names[k] for k in classes)
        names = labelled.cluster if options.resample == "cluster" else predictions.ids
        unit, key = encode_clusters(names)
        self.drawing = Drawing(unit, key, options.n_draws)
        self.parts = self.drawing.parts()
        self.in_cells = in_families(options.families)
        self.chance = {}
        if options.n_floor > 0:
            cluster, cluster_key = encode_clusters(labelled.cluster)
            self.chance = {
                False: chances(keys_of(predictions.ids), options.n_floor),
                True: chances(cluster_key, options.n_floor)[cluster],
            }

    @property
    def n_classes(self) -> int:
        """Number of classes that were predicted."""
        return len(self.class_names)

    def judged(self, said: Said, known: Booleans) -> Judged:
        """Return the proteins as one method sees them.

        Parameters
        ----------
        said : Said
            What the method says.
        known : array of bool
            Which proteins are judged.
        """
        labelled = self.labelled
        score = labelled.predictions.top_score
        return Judged(
            said.confidence[known],
            labelled.is_correct[known],
            labelled.weight[known],
            None if score is None else score[known] / labelled.predictions.scale,
            None if said.probabilities is None else said.probabilities[known],
            labelled.true_class[known],
        )

    def measure(self, said: Said, known: Booleans) -> Measures:
        """Return every metric of one method with its draws.

        Parameters
        ----------
        said : Said
            What the method says.
        known : array of bool
            Which proteins are judged.
        """
        if not known.any():
            nothing = np.full(self.n_classes + 1, np.nan)
            plain = [metric for metric in METRICS if not metric.needs_vector]
            nobody = both_relatives(
                self.block[known], self.n_classes, self.block[known], nothing[:0]
            )
            value = {metric.name: nothing for metric in plain}
            return Measures(value, {}, {}, {}, {}, {}, nobody)
        judged, block = self.judged(said, known), self.block[known]
        placed = placements(judged, block, self.n_classes, self.in_cells)
        drawing = Drawing(self.drawing.unit[known], self.drawing.key, self.drawing.n_draws)
        return measure(judged, block, self.n_classes, placed, drawing, self.parts)

    def floors(self, key: Key, said: Said, known: Booleans) -> list[NoiseFloor]:
        """Return the noise floors of one method over one sample.

        Parameters
        ----------
        key : (str, str)
            Method and sample.
        said : Said
            What the method says.
        known : array of bool
            Which proteins are judged.
        """
        if not known.any():
            return []
        judged, block = self.judged(said, known), self.block[known]
        placed = placements(judged, block, self.n_classes)
        found = []
        tail = (1.0 - self.options.level) / 2.0
        for alike, chance in self.chance.items():
            simulated = floors(judged, block, self.n_classes, placed, chance[known])
            for metric in IN_CELLS:
                values = simulated.get(metric.name)
                if values is None:
                    continue
                for number, class_name in self.blocks():
                    own = values[number]
                    if np.isnan(own).any():
                        continue
                    low, high = np.quantile(own, (tail, 1.0 - tail))
                    # Of a few proteins most draws are 0, and their mean beyond the quantile.
                    low, high = min(low, own.mean()), max(high, own.mean())
                    found.append(
                        NoiseFloor(
                            method=key[0],
                            class_name=class_name,
                            sample=key[1],
                            metric=metric.name,
                            relatives_alike=alike,
                            value=float(own.mean()),
                            lower=float(low),
                            upper=float(high),
                        )
                    )
        return found

    def blocks(self) -> list[tuple[int, str | None]]:
        """Return the number and name of each block: over all, then each class."""
        return [(-1, None), *enumerate(self.class_names)]

    def outcome(self, said: Said) -> _Outcome:
        """Return the measures of one method with the counts they rest on.

        Parameters
        ----------
        said : Said
            What the method says.
        """
        known = ~np.isnan(said.confidence)
        if said.probabilities is not None and np.isnan(said.probabilities[known]).any():
            said = Said(said.confidence)  # a vector that not all have is not judged
        n, n_units = self.counts(known)
        return _Outcome(said, known, self.measure(said, known), n, n_units)

    def rows_of(self, number: int) -> Booleans:
        """Return which proteins are of a block; −1 stands for all."""
        if number < 0:
            return np.ones(len(self.block), dtype=np.bool_)
        return np.equal(self.block, number)

    def counts(self, known: Booleans) -> tuple[Integers, Integers]:
        """Return proteins and clusters judged of each class, then of all.

        Parameters
        ----------
        known : array of bool
            Which proteins are judged.
        """
        block, unit = self.block[known], self.drawing.unit[known]
        n = np.bincount(block, minlength=self.n_classes)
        pairs = np.unique(np.stack([block, unit]), axis=1)
        n_units = np.bincount(pairs[0], minlength=self.n_classes)
        return (
            np.append(n, len(block)).astype(np.int64),
            np.append(n_units, len(np.unique(unit))).astype(np.int64),
        )


def judge(
    labelled: Labelled, said: Mapping[Key, Said], reference: str, options: EvaluationOptions
) -> Judgement:
    """Return metrics, differences and noise floors of all methods.

    Parameters
    ----------
    labelled : Labelled
        The proteins.
    said : mapping of (method, sample) to Said
        In the order to be shown.
    reference : str
        The method that the others are compared with.
    options : EvaluationOptions
        Level, draws, what is resampled.
    """
    of = Judge(labelled, options)
    outcomes = {key: of.outcome(entry) for key, entry in said.items()}
    metrics, differences, pairs = [], [], []
    floor = [row for key, one in outcomes.items() for row in of.floors(key, one.said, one.known)]
    chance = {
        (row.method, row.sample, row.class_name, row.metric): row.upper
        for row in floor
        if row.relatives_alike == (options.resample == "cluster")
    }
    for number, class_name in of.blocks():
        for key, outcome in outcomes.items():
            metrics += _values(of, key, outcome, number, class_name, chance)
    main = tuple(BY_NAME[name] for name in PAIRED)
    compared = tuple(metric for metric in METRICS if not metric.is_share)
    by_block: dict[str | None, list[Difference]] = {name: [] for _, name in of.blocks()}
    methods = list(dict.fromkeys(method for method, _ in said))
    for key, outcome in outcomes.items():
        method, sample = key
        if method != reference:
            base = outcomes[reference, sample]
            for entry in _differences(
                of, method, reference, sample, outcome, base, compared, chance
            ):
                by_block[entry.class_name].append(entry)
        if sample == HELD_OUT:
            for other in methods[: methods.index(method)]:
                base = outcomes[other, sample]
                pairs += _differences(of, method, other, sample, outcome, base, main, chance)
    differences = [entry for entries in by_block.values() for entry in entries]
    return Judgement(tuple(metrics), tuple(differences), tuple(pairs), tuple(floor))


def _is_defined(metric: Metric, class_name: str | None, outcome: _Outcome) -> bool:
    if metric.name not in outcome.measures.value:
        return False
    if class_name is None or metric.losses is not None:
        return True
    return metric.finish is not None and not metric.needs_vector


def _has_interval(metric: Metric, n_units: int) -> bool:
    return n_units > 0 if metric.is_share else n_units >= MIN_CLUSTERS


def _values(
    of: Judge,
    key: Key,
    outcome: _Outcome,
    number: int,
    class_name: str | None,
    chance: Mapping[Floor, float],
) -> list[MetricValue]:
    """Return the metrics of one method, sample and block."""
    rows = of.rows_of(number)
    clipped = nll.is_clipped(outcome.said.confidence[rows & outcome.known])
    n_units = int(outcome.n_units[number])
    found = []
    for metric in METRICS:
        if not _is_defined(metric, class_name, outcome):
            continue
        value = float(outcome.measures.value[metric.name][number])
        lower = upper = float("nan")
        if _has_interval(metric, n_units):
            floor = chance.get((*key, class_name, metric.name), 0.0)
            lower, upper = interval_of(metric, outcome.measures, number, of.options.level, floor)
        found.append(
            MetricValue(
                method=key[0],
                class_name=class_name,
                sample=key[1],
                metric=metric.name,
                value=value,
                lower=lower,
                upper=upper,
                n=int(outcome.n[number]),
                n_clusters=n_units,
                n_excluded=int((rows & ~outcome.known).sum()),
                n_clipped=int(clipped.sum()),
            )
        )
    return found


def _differences(
    of: Judge,
    method: str,
    reference: str,
    sample: str,
    outcome: _Outcome,
    base: _Outcome,
    metrics: Sequence[Metric],
    chance: Mapping[Floor, float],
) -> list[Difference]:
    """Return differences over the proteins to which both give a confidence."""
    if not np.array_equal(outcome.known, base.known):
        both = outcome.known & base.known
        n, n_units = of.counts(both)
        outcome, base = (
            _Outcome(one.said, both, of.measure(one.said, both), n, n_units)
            for one in (outcome, base)
        )
    found = []
    one, other = outcome.measures, base.measures
    scatter = {
        metric.name: difference_scatter(metric, one, other)
        for metric in metrics
        if metric.name in one.drawn and metric.name in other.drawn
    }
    for number, class_name in of.blocks():
        has_enough = bool(outcome.n_units[number] >= MIN_CLUSTERS)
        for metric in metrics:
            name = metric.name
            if not all(_is_defined(metric, class_name, known) for known in (outcome, base)):
                continue
            lower = upper = float("nan")
            if has_enough and name in scatter:
                by = scatter[name]
                floors = tuple(
                    chance.get((whose, sample, class_name, name), 0.0)
                    for whose in (method, reference)
                )
                lower, upper = difference_interval(
                    metric, one, other, number, of.options.level, by, (floors[0], floors[1])
                )
            found.append(
                Difference(
                    method=method,
                    reference=reference,
                    class_name=class_name,
                    sample=sample,
                    metric=name,
                    value=float(one.value[name][number] - other.value[name][number]),
                    lower=lower,
                    upper=upper,
                    n=int(outcome.n[number]),
                )
            )
    return found
