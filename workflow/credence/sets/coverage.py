"""Prediction sets judged on families that did not fit them."""

from __future__ import annotations

import numpy as np

from credence.calibrators.crossfit import fold_of
from credence.evaluation.ratios import estimate, mean_of
from credence.findings import SetClass, SetsFinding
from credence.predictions import Booleans, Integers, Labelled
from credence.sets.conformal import SetOptions, families_needed, family_weights, fit_sets


def held_out_sets(labelled: Labelled, options: SetOptions, fold: Integers) -> Booleans:
    """Return the set of each protein from a fit without its fold, one column a class."""
    found = np.ones((labelled.n_samples, labelled.predictions.n_classes), dtype=np.bool_)
    for number in np.unique(fold):
        judged = fold == number
        if not judged.all():  # else there is nothing to fit to: every class may be
            sets = fit_sets(labelled.take(~judged), options)
            found[judged] = sets.contains(labelled.predictions.take(judged))
    return found


def judge_sets(
    labelled: Labelled, options: SetOptions, n_folds: int, level: float, n_draws: int
) -> SetsFinding:
    """Return how often sets hold the true class, and how large they are."""
    names = labelled.predictions.class_names
    fold = fold_of(labelled.cluster, labelled.true_class, n_folds)
    found = held_out_sets(labelled, options, fold)
    limits = fit_sets(labelled, options).limits()
    covered = found[np.arange(labelled.n_samples), labelled.true_class]
    size = found.sum(axis=1)
    weight = family_weights(labelled)
    chosen = [labelled.true_class == class_ for class_ in range(len(names))]
    chosen.append(np.ones(labelled.n_samples, dtype=np.bool_))
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
            is_always_in=bool(np.isinf(limits).all() if name is None else limits[place] == np.inf),
            coverage=float(estimates.value[2 * place]),
            lower=float(estimates.lower[2 * place]),
            upper=float(estimates.upper[2 * place]),
            coverage_proteins=float(covered[rows].mean()) if rows.any() else float("nan"),
            mean_size=float(estimates.value[2 * place + 1]),
        )
        for place, (name, rows) in enumerate(zip((*names, None), chosen, strict=True))
    )
    single = size == 1
    return SetsFinding(
        level=options.level,
        kind=options.kind,
        n_folds=n_folds,
        families_needed=families_needed(options.level),
        classes=entries[:-1],
        all_classes=entries[-1],
        sizes=tuple(np.bincount(size, minlength=len(names) + 1).tolist()),
        n_single_right=int((covered & single).sum()),
    )
