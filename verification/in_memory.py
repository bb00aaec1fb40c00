"""What the package does from file to file, done in memory: for tests, studies and benchmarks."""

from __future__ import annotations

import numpy as np

from credence.confidence import NOTE_TEXTS, Confidence, counted
from credence.evaluation.queries import UseColumns, query_set_counts, query_set_of
from credence.findings import CHECK, QuerySet
from credence.lists.decision import before_lists
from credence.predictions import Floats, Labelled, Predictions
from credence.simulate.law import WorldSettings, score_law
from credence.simulate.scores import as_labelled, draw_scores
from credence.simulate.sequences import draw_families


def summarise_query_set(
    name: str, method: str, predictions: Predictions, confidence: Confidence
) -> QuerySet:
    """Return what a page shows of a query set."""
    is_known = ~np.isnan(confidence.value)
    columns = UseColumns(  # before lists are made nothing is accepted
        class_=predictions.predicted_class,
        value=confidence.value,
        is_accepted=np.zeros(len(is_known), dtype=np.bool_),
        is_to_check=before_lists(confidence) == CHECK,
        is_in_range=is_known,
    )
    counts = query_set_counts(predictions.n_classes, columns)
    notes = counted(confidence.note, tuple(NOTE_TEXTS))
    return query_set_of(name, method, predictions.class_names, counts, notes)


def draw_labelled(
    settings: WorldSettings, rng: np.random.Generator, prevalence: Floats | None = None
) -> Labelled:
    """Return labelled predictions as those of a simulated world, without sequences."""
    shares = score_law().prevalence if prevalence is None else prevalence
    families = draw_families(settings, settings.n_calibration, shares, rng)
    ids = np.array([f"simulated_{i:06d}" for i in range(families.n_members)], dtype=object)
    names = families.names("simulated_family")
    return as_labelled(ids, families.member_class, names, draw_scores(families, rng)[0], None)
