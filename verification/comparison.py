"""What people would use otherwise, on real data: scikit-learn, MAPIE, netcal, venn-abers, PhANNs.

Every contestant learns from one half of PhANNs' first table and answers for the other, which
shares no block of neighbouring rows with it (neighbours are relatives). All see the same rows.
Peers are used as their own documentation shows for a classifier that is trained already. A list
at 5 % FDR is, of every contestant that gives probabilities, the longest of which their mean says
that 5 % are wrong; of credence it is the list that it writes; a fixed cut-off takes what scores
above it. Lists are of calls: predictions that are not *Other*. The second query set is the same
half with *Other* made 95 % of it, as in a metagenome.

PhANNs' confidence is its site's rule: the precision of the class at or above the score, from the
table of 101 thresholds; here from the half that all others learn from.

    PYTHONPATH=. python verification/comparison.py --page docs/comparison.md

Peers that are not installed are listed as absent. They are: pip install mapie venn-abers netcal.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pandas as pd
from benchmarks.data import halves, real_table
from benchmarks.peers import Fit, Fitted, mapie_fit, netcal_fit, sklearn_fit, venn_abers_fit
from verification.report import write_section

import credence
from credence.draws import encode_clusters
from credence.metrics.all_metrics import METRICS
from credence.metrics.metric import Judged
from credence.predictions import Floats, Labelled

ERROR = 0.05  # the error rate that lists are asked for
CUTOFF = 0.9  # the fixed cut-off, as a share of the scale
BACKGROUND = "Other"
BACKGROUND_SHARE = 0.95  # of the second query set
N_THRESHOLDS = 101  # of PhANNs' table of precisions
METRIC_TITLES = {"nll": "NLL", "brier": "Brier", "ece_debiased": "calibration error"}
LOSSES = (*METRIC_TITLES.values(), "gap of a class")
OF_MIXED = f", {BACKGROUND} 95 %"
TITLES = {"small": "Learnt from 600 proteins", "whole": "Learnt from half of the table"}
SMALL = 600  # rows of a small calibration set


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a contestant says of a query set: probabilities, and which calls it lists."""

    probability: Floats
    is_listed: np.ndarray


Contestant = Callable[[Labelled], Callable[[Labelled], Answer]]


def is_call(labelled: Labelled) -> np.ndarray:
    background = labelled.predictions.class_names.index(BACKGROUND)
    return labelled.predictions.predicted_class != background


def listed_by_mean(probability: Floats, calls: np.ndarray) -> np.ndarray:
    """Return the longest list of calls of which the mean says that `ERROR` are wrong.

    Examples
    --------
    >>> listed_by_mean(np.array([0.99, 0.92, 0.9, 1.0]), np.array([True, True, True, False]))
    array([ True,  True, False, False])
    """
    rank = np.flatnonzero(calls & np.isfinite(probability))
    rank = rank[np.argsort(-probability[rank], kind="stable")]
    expected = np.cumsum(1.0 - probability[rank]) / np.arange(1, len(rank) + 1)
    within = np.flatnonzero(expected <= ERROR)
    is_listed = np.zeros(len(probability), dtype=bool)
    is_listed[rank[: within[-1] + 1 if len(within) else 0]] = True
    return is_listed


def with_lists(fit: Fit) -> Contestant:
    """Return a contestant whose lists follow the mean of its probabilities."""

    def learn(labelled: Labelled) -> Callable[[Labelled], Answer]:
        fitted: Fitted = fit(labelled)

        def answer(query: Labelled) -> Answer:
            probability = np.asarray(fitted(query), dtype=float)
            is_listed = listed_by_mean(probability, is_call(query))
            return Answer(probability=probability, is_listed=is_listed)

        return answer

    return learn


def raw_score(_: Labelled) -> Fitted:
    return lambda query: query.predictions.top_score / query.predictions.scale


def fixed_cutoff(_: Labelled) -> Callable[[Labelled], Answer]:
    def answer(query: Labelled) -> Answer:
        probability = raw_score(query)(query)
        return Answer(probability=probability, is_listed=is_call(query) & (probability >= CUTOFF))

    return answer


def precision_at_or_above(labelled: Labelled) -> Fitted:
    """Return PhANNs' rule: of those predicted the class with this score or a higher one."""
    predictions = labelled.predictions
    grid = np.linspace(0.0, predictions.scale, N_THRESHOLDS)
    precision = np.full((predictions.n_classes, N_THRESHOLDS), np.nan)
    for class_ in range(predictions.n_classes):
        of_class = predictions.predicted_class == class_
        for place, threshold in enumerate(grid):
            above = of_class & (predictions.top_score >= threshold)
            if above.any():
                precision[class_, place] = labelled.is_correct[above].mean()
        known = np.flatnonzero(np.isfinite(precision[class_]))
        if len(known):
            precision[class_, known[-1] + 1 :] = precision[class_, known[-1]]

    def confidence(query: Labelled) -> Floats:
        place = np.searchsorted(grid, query.predictions.top_score, side="right") - 1
        return precision[query.predictions.predicted_class, place]

    return confidence


def as_table(labelled: Labelled, *, with_labels: bool) -> credence.ScoreTable:
    """Return a table as a user has it: scores, classes, and labels where it calibrates."""
    predictions = labelled.predictions
    names = np.array(predictions.class_names, dtype=object)
    scores = pd.DataFrame(predictions.scores, columns=list(names))
    scores.insert(0, "id", [f"p{row}" for row in predictions.ids])
    given = {}
    if with_labels:
        given = {"labels": names[labelled.true_class], "clusters": labelled.cluster}
    return credence.read(scores, classes=list(names), scale=predictions.scale, **given)


def credence_lists(labelled: Labelled) -> Callable[[Labelled], Answer]:
    calibration = credence.fit(as_table(labelled, with_labels=True), sets=None)

    def answer(query: Labelled) -> Answer:
        found = credence.annotate(as_table(query, with_labels=False), calibration).to_pandas()
        is_listed = is_call(query) & (found["q_value"].to_numpy(dtype=float) <= ERROR)
        return Answer(probability=found["confidence"].to_numpy(dtype=float), is_listed=is_listed)

    return answer


CONTESTANTS: Mapping[str, Contestant] = {
    "credence, as it is by default": credence_lists,
    "raw score": with_lists(raw_score),
    f"fixed cut-off, {CUTOFF:g} of the scale": fixed_cutoff,
    "PhANNs' confidence": with_lists(precision_at_or_above),
    "scikit-learn, sigmoid": with_lists(sklearn_fit("sigmoid")),
    "scikit-learn, isotonic": with_lists(sklearn_fit("isotonic")),
    "MAPIE top-label, sigmoid": with_lists(mapie_fit("sigmoid")),
    "MAPIE top-label, isotonic": with_lists(mapie_fit("isotonic")),
    "netcal, temperature": with_lists(netcal_fit("TemperatureScaling")),
    "netcal, histogram": with_lists(netcal_fit("HistogramBinning")),
    "venn-abers": with_lists(venn_abers_fit),
}


def with_background(labelled: Labelled) -> Labelled:
    """Return rows of which `BACKGROUND_SHARE` are background: all of it, fewer of the rest."""
    background = labelled.predictions.class_names.index(BACKGROUND)
    is_background = labelled.true_class == background
    n_rest = round(is_background.sum() * (1 - BACKGROUND_SHARE) / BACKGROUND_SHARE)
    code, keys = encode_clusters(labelled.cluster)
    order = np.random.default_rng(1).permutation(len(keys))
    rank = np.argsort(order)[code]  # whole blocks, in an order that is not that of classes
    rest = np.flatnonzero(~is_background)
    rest = rest[np.argsort(rank[rest], kind="stable")][:n_rest]
    return labelled.take(np.sort(np.concatenate([np.flatnonzero(is_background), rest])))


def losses(answer: Answer, query: Labelled) -> dict[str, float]:
    """Return the errors of the probabilities of all rows that have one."""
    known = np.isfinite(answer.probability)
    judged = Judged(
        confidence=answer.probability[known],
        is_correct=query.is_correct[known],
        weight=np.ones(known.sum()),
    )
    row = {METRIC_TITLES[m.name]: m.compute(judged) for m in METRICS if m.name in METRIC_TITLES}
    class_ = query.predictions.predicted_class[known]
    gap = np.bincount(class_, weights=judged.confidence - judged.is_correct)
    number = np.bincount(class_)
    return row | {"gap of a class": float(np.abs(gap[number > 0] / number[number > 0]).mean())}


def of_list(answer: Answer, query: Labelled) -> dict[str, float]:
    is_listed = answer.is_listed
    wrong = float((~query.is_correct[is_listed]).mean()) if is_listed.any() else float("nan")
    return {"listed": int(is_listed.sum()), "wrong": wrong}


def judged(name: str, fit: Labelled, query: Labelled, mixed: Labelled) -> dict[str, object]:
    """Return the row of one contestant; why it is absent, where it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answer = CONTESTANTS[name](fit)
            first, second = answer(query), answer(mixed)
    except Exception as problem:  # a peer may fail in any way; the table says how
        return {"method": name, "absent": f"{type(problem).__name__}: {problem}".splitlines()[0]}
    row: dict[str, object] = {"method": name, **losses(first, query), **of_list(first, query)}
    row |= {f"{key}{OF_MIXED}": value for key, value in of_list(second, mixed).items()}
    return row


def rows_of(fit: Labelled, query: Labelled, mixed: Labelled) -> list[dict[str, object]]:
    rows = []
    for name in CONTESTANTS:
        rows.append(judged(name, fit, query, mixed))
        print(rows[-1], flush=True)
    return rows


def means(draws: list[list[dict[str, object]]]) -> list[dict[str, object]]:
    """Return one row a contestant: means over draws; of lists the share of all that is listed."""
    rows = []
    for attempts in zip(*draws, strict=True):
        done = [row for row in attempts if "absent" not in row]
        name = str(attempts[0]["method"])
        if not done:
            rows.append({"method": name, "absent": attempts[0]["absent"]})
            continue
        if len(done) < len(attempts):
            name += f" (fails in {len(attempts) - len(done)} of {len(attempts)})"
        row: dict[str, object] = {"method": name}
        row |= {
            column: np.mean([float(str(drawn[column])) for drawn in done]) for column in LOSSES
        }
        for kind in ("", OF_MIXED):
            listed = np.array([drawn[f"listed{kind}"] for drawn in done], dtype=float)
            wrong = np.array([drawn[f"wrong{kind}"] for drawn in done], dtype=float)
            row[f"listed{kind}"] = f"{listed.mean():,.0f}"
            row[f"wrong{kind}"] = "–"
            if listed.any():
                row[f"wrong{kind}"] = f"{100 * np.nansum(listed * wrong) / listed.sum():.1f} %"
        rows.append(row)
    return rows


def section_text(fit: Labelled, n_draws: int, second: Labelled, mixed: Labelled) -> str:
    drawn = f", means of {n_draws} draws" if n_draws > 1 else ""
    n_calls = [int(is_call(query).sum()) for query in (second, mixed)]
    return (
        f"Calibration: {fit.n_samples:,} proteins{drawn}. Query sets: {second.n_samples:,} "
        f"proteins of other blocks, {n_calls[0]:,} of them calls; and {mixed.n_samples:,} "
        f"proteins of which 95 % are {BACKGROUND}, {n_calls[1]:,} calls."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, required=True)
    parser.add_argument("--draws", type=int, default=3, help="calibration sets of 600 proteins")
    given = parser.parse_args()
    table = real_table()
    if table is None:
        raise SystemExit("PhANNs' first table is not at hand (benchmarks/data.py says where).")
    first, second = halves(table)
    mixed = with_background(second)
    drawn = [
        np.random.default_rng(draw).permutation(first.n_samples) for draw in range(given.draws)
    ]
    small = [first.take(np.sort(rows[:SMALL])) for rows in drawn]
    for title, sets in ((TITLES["small"], small), (TITLES["whole"], [first])):
        rows = means([rows_of(fit, second, mixed) for fit in sets])
        text = section_text(sets[0], len(sets), second, mixed)
        absent = [f"{row['method']} ({row['absent']})" for row in rows if "absent" in row]
        text += f" Absent: {'; '.join(absent)}." if absent else ""
        write_section(given.page, title, text, [row for row in rows if "absent" not in row])


if __name__ == "__main__":
    main()
