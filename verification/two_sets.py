"""How much a number flatters that is measured where the fit was made ([S23] Appendix A).

    PYTHONPATH=. python verification/two_sets.py demo/calibration.csv --format phanns-labelled \\
        --method kernel --method isotonic --draws 20 --out two_sets.tsv

Halves share no cluster; each draw halves the set anew. With --second the tables are two sets as
they are (one draw), further draws weigh their clusters anew. The table has the median of each
metric on what was fitted and on the other, and the median and the 5 % and 95 % quantiles of their
difference.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibrator, FitOptions
from credence.draws import cluster_weights, encode_clusters, uniform
from credence.metrics.all_metrics import METRICS_BY_NAME
from credence.metrics.metric import Judged
from credence.predictions import Booleans, Floats, Labelled
from credence.problems import plural, raise_any, refuse
from credence.stages.reading import LabelledFiles, LabelledTables, in_order_of_ids
from credence.tables.stage_files import need_problems
from credence.tables.writing import check_table_ending, write_table

METHODS = ("class_only", "histogram", "kernel", "cumulative_optimal", "isotonic")
LEAST_CLUSTERS = 2  # one for each half
MEASURED = ("nll", "brier", "ece")
QUANTILES = (0.05, 0.5, 0.95)

Values = dict[tuple[str, str | None, str], tuple[float, float]]


@dataclass(frozen=True)
class TwoSets:
    """One method and class, measured on the fitted half and on the other."""

    method: str  # The method
    class_name: str | None  # The predicted class; None: all
    metric: str  # Name in the registry
    in_sample: float  # Medians over the draws
    held_out: float
    flattery: float  # Median, 5 % and 95 % quantile of held-out minus in-sample, draw by draw
    lower: float
    upper: float
    n_draws: int  # Draws in which both halves could be measured


def first_half(labelled: Labelled, draw: int) -> Booleans:
    """Return which proteins are in the first half: whole clusters, each class halved by name."""
    codes, keys = encode_clusters(labelled.cluster)
    n_classes = labelled.predictions.n_classes
    place = codes * n_classes + labelled.predictions.predicted_class
    counts = np.bincount(place, minlength=len(keys) * n_classes).reshape(len(keys), n_classes)
    order = np.lexsort((uniform(keys, draw, "two sets"), counts.argmax(axis=1)))
    is_first = np.empty(len(keys), dtype=np.bool_)
    is_first[order] = (np.arange(len(keys)) + draw) % 2 == 0
    return is_first[codes]


def measure_halves(labelled: Labelled, calibrators: Mapping[str, Calibrator], draw: int) -> Values:
    """Return each metric on the half that was fitted and on the other."""
    inside = first_half(labelled, draw)
    return _measure_both((labelled.take(inside), labelled.take(~inside)), calibrators)


def measure_sets(
    sets: tuple[Labelled, Labelled], calibrators: Mapping[str, Calibrator], draw: int
) -> Values:
    """Return the same of two sets as they are (draw 0), or with their clusters drawn again."""
    drawn = []
    for labelled in sets:
        codes, keys = encode_clusters(labelled.cluster)
        weight = cluster_weights(keys, draw)[codes] if draw else 1.0
        drawn.append(labelled.reweighted(labelled.weight * weight))
    return _measure_both((drawn[0], drawn[1]), calibrators)


def _measure_both(
    halves: tuple[Labelled, Labelled], calibrators: Mapping[str, Calibrator]
) -> Values:
    found: Values = {}
    for name, calibrator in calibrators.items():
        calibration = calibrator.fit(halves[0])
        confidences = [calibration.confidence(half.predictions).value for half in halves]
        for number, class_name in enumerate((None, *halves[0].predictions.class_names)):
            for metric in MEASURED:
                pairs = zip(halves, confidences, strict=True)
                first, second = (_measure(*pair, number - 1, metric) for pair in pairs)
                found[name, class_name, metric] = first, second
    return found


def summarise_draws(draws: Sequence[Values]) -> tuple[TwoSets, ...]:
    """Return medians over the draws, leaving out draws that could not be measured."""
    found = []
    for key in draws[0]:
        pairs = np.array([draw[key] for draw in draws])
        pairs = pairs[~np.isnan(pairs).any(axis=1)]
        if len(pairs) == 0:
            continue
        low, middle, high = np.quantile(pairs[:, 1] - pairs[:, 0], QUANTILES).tolist()
        first, other = np.median(pairs, axis=0).tolist()
        found.append(TwoSets(*key, first, other, middle, low, high, len(pairs)))
    return tuple(found)


def _measure(half: Labelled, confidence: Floats, class_: int, metric: str) -> float:
    rows = ~np.isnan(confidence)
    if class_ >= 0:
        rows &= half.predictions.predicted_class == class_
    judged = Judged(
        confidence=confidence[rows], is_correct=half.is_correct[rows], weight=half.weight[rows]
    )
    return METRICS_BY_NAME[metric].compute(judged)


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what labelled tables hold, as commands have them."""
    parser.add_argument("tables", nargs="+")
    for name in ("format", "groups", "clusters", "labels"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--spec", default="{}")
    parser.add_argument("--scale", type=float)
    parser.add_argument("--weights", default="none", choices=("none", "cluster"))


def tables_of(asked: argparse.Namespace) -> LabelledFiles:
    """Return the labelled tables that are asked about."""
    return LabelledFiles(
        tables=asked.tables,
        format_=asked.format,
        spec_json=asked.spec,
        groups=asked.groups,
        clusters=asked.clusters,
        labels=asked.labels,
        scale=asked.scale,
    )


def calibrating(known: LabelledTables, weights: str) -> Labelled:
    """Return the proteins that calibrate, in the order of their ids."""
    return in_order_of_ids(known.calibrating(weights).labelled)


def main(words: Sequence[str] | None = None) -> None:
    """Fit methods on one half, or set, and measure them on both, many times; write the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    add_tables(parser)
    parser.add_argument("--method", action="append", dest="methods", help="once for each")
    parser.add_argument("--min-positives", type=float, default=10.0)
    parser.add_argument("--draws", type=int, default=50, help="how often the set is halved anew")
    parser.add_argument("--second", help="a second table: it judges, in place of a half")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args(words)
    check_table_ending(asked.out)
    given = tables_of(asked)
    known = given.open()
    samples, table = known.samples, known.where
    methods = [parse_method(text, "--method") for text in asked.methods or METHODS]
    raise_any(
        problem
        for one in methods
        for problem in need_problems(one.text, one.needs, samples.predictions, table)
    )
    labelled = calibrating(known, asked.weights)
    if len(set(labelled.cluster.tolist())) < LEAST_CLUSTERS:
        what = "all proteins are of one cluster, and no cluster is divided."
        where = given.clusters or given.groups or table
        raise refuse(where, what, "Give proteins of at least two.")
    options = FitOptions(min_positives=asked.min_positives, n_draws=0)
    calibrators = {one.text: one.build(options) for one in methods}
    measure = partial(measure_halves, labelled)
    if asked.second is not None:
        other = replace(given, tables=[asked.second], groups=None).open()
        if other.samples.predictions.class_names != samples.predictions.class_names:
            what = f"its classes are not those of {table}."
            raise refuse(asked.second, what, "Give two tables of one classifier.")
        measure = partial(measure_sets, (labelled, calibrating(other, asked.weights)))
    rows = summarise_draws([measure(calibrators, draw) for draw in range(asked.draws)])
    columns: dict[str, list[Any]] = {
        "method": [row.method for row in rows],
        "class": ["all" if row.class_name is None else row.class_name for row in rows],
    }
    for name in ("metric", "in_sample", "held_out", "flattery", "lower", "upper", "n_draws"):
        word = "difference" if name == "flattery" else name
        columns[word] = [getattr(row, name) for row in rows]
    write_table(asked.out, columns)
    counts = f"{plural(len(calibrators), 'method')}, {plural(asked.draws, 'draw')}"
    print(f"Wrote {asked.out}: {counts}.")


if __name__ == "__main__":
    main()
