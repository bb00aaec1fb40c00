"""Outcomes of whole genomes (is every call right?), recalibrated from features of the genome.

Where the true classes of some genomes are known, forecasters learn from these how often such an
outcome came true, and are judged on genomes that taught them nothing, beside the probability
that was worked out from the confidences alone [KL15].
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from credence.calibrators.crossfit import folds_by_class
from credence.draws import encode_clusters
from credence.evaluation.judging import HELD_OUT_SAMPLE, Stated, judge
from credence.events.event_judging import EventOptions
from credence.events.forecasters import FORECASTER_OF, Examples
from credence.events.learning import learn_event
from credence.findings import Difference, MetricValue
from credence.metrics.binned import COUNT, WIDTH
from credence.predictions import Floats, Integers, Predictions, Strings, label

WORKED_OUT = "worked out"  # From confidences and families, without any genome's true classes
GENOME_METRICS = ("nll", "ece_debiased")
LEAST_CHANCE = 1e-6  # and most, of which log odds are taken


@dataclass(frozen=True, kw_only=True, eq=False)
class GenomeOutcome:
    """One outcome of genomes: what is known of each, and whether it came true."""

    genome: Strings  # Names, each once
    stated: Floats  # Its probability, worked out from confidences
    features: Floats  # A row for each genome
    came_true: Floats  # 1 or 0; NaN where the true classes are not known


@dataclass(frozen=True, kw_only=True, eq=False)
class LearntOutcome:
    """What was learnt of an outcome, and how good it is on genomes left out."""

    probability: Floats  # Of every genome, of one that taught by the others; NaN: too few
    n_known: int  # Genomes whose true classes are known, and for how many it came true
    n_true: int
    metrics: tuple[MetricValue, ...]
    differences: tuple[Difference, ...]  # From what was worked out


def genome_features(
    stated: Floats, genome: Integers, least_odds: Floats, predicted: Integers
) -> Floats:
    """Return what forecasters look at of each genome, from its calls.

    Log odds of what is worked out, log number of calls, log odds of the least confidence, and how
    many calls repeat a class (admissibility: a phage has most structural proteins once).
    """
    n_calls = np.bincount(genome, minlength=len(stated))
    least = np.full(len(stated), np.inf)
    np.minimum.at(least, genome, least_odds)
    kinds = np.unique(np.stack([genome, predicted]), axis=1)[0]
    repeated = n_calls - np.bincount(kinds, minlength=len(stated))
    odds = special.logit(np.clip(stated, LEAST_CHANCE, 1.0 - LEAST_CHANCE))
    return np.column_stack([odds, np.log(n_calls), least, repeated])


def learn_outcome(outcome: GenomeOutcome, options: EventOptions) -> LearntOutcome:
    """Return what genomes with known true classes teach of the others, judged by genomes."""
    known = np.flatnonzero(~np.isnan(outcome.came_true))
    code, _ = encode_clusters(outcome.genome[known])
    known = known[np.argsort(code)]  # so that the order of the table is nothing
    came_true = outcome.came_true[known]
    question = label(
        Predictions(
            ids=outcome.genome[known],
            class_names=("no", "yes"),
            scale=1.0,
            resolution=0.0,
            predicted_class=np.ones(len(known), dtype=np.int64),
        ),
        came_true.astype(np.int64),
    )
    examples = Examples(
        features=outcome.features[known],
        outcome=came_true,
        weight=question.weight,
        cluster=np.arange(len(known)),
    )
    counts = {"n_known": len(known), "n_true": int(came_true.sum())}
    if min(counts["n_true"], len(known) - counts["n_true"]) < options.min_positives:
        unknown = np.full(len(outcome.genome), np.nan)
        return LearntOutcome(probability=unknown, metrics=(), differences=(), **counts)
    fold = folds_by_class(question, options.n_folds)
    learnt = {
        name: learn_event(FORECASTER_OF[name], examples, fold, options.min_positives)
        for name in options.every
    }
    stated = {WORKED_OUT: outcome.stated[known]}
    stated |= {name: entry.held_out for name, entry in learnt.items()}
    entries = {
        (name, HELD_OUT_SAMPLE): Stated(
            confidence=np.clip(value, LEAST_CHANCE, 1.0 - LEAST_CHANCE)
        )
        for name, value in stated.items()
    }
    judging = replace(options.judging, families=(WIDTH.name, COUNT.name))
    judgement = judge(question, entries, WORKED_OUT, judging)
    published = learnt[options.forecaster]
    probability = published.forecast.probability(outcome.features)
    probability[known] = published.held_out
    return LearntOutcome(
        probability=probability,
        metrics=tuple(
            row
            for row in judgement.metrics
            if row.class_name is None and row.metric in GENOME_METRICS
        ),
        differences=tuple(
            row for row in judgement.differences if (row.class_name, row.metric) == (None, "nll")
        ),
        **counts,
    )
