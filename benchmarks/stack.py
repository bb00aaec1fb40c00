"""`auto`, every method and tree ensembles of others, judged on blocks that none has seen.

    python -m benchmarks.stack [--rows 4680 1200] [--subsets 3]

The real table is halved at random and by whole blocks of relatives; calibration is one half,
or rows drawn from it. Peers see the features of our trees. A peer that is not installed is
listed as absent. Differences to `auto` are paired, their errors counted over blocks.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from benchmarks.data import halves, real_table

from credence.calibrators.all_methods import METHODS
from credence.calibrators.protocol import FitOptions, Need
from credence.calibrators.trees import features_of
from credence.predictions import Labelled, from_scores, label

CLIP = 1e-15
QUICK = FitOptions(n_draws=0)
Answer = Callable[[Labelled, Labelled], np.ndarray]


def features(labelled: Labelled) -> np.ndarray:
    """Return what our pooled trees look at."""
    predictions = labelled.predictions
    return features_of(predictions, uses_networks=predictions.network_scores is not None)


def estimator(make: Callable[[], object]) -> Answer:
    """Return a classifier of right and wrong predictions as a contestant."""

    def answer(seen: Labelled, unseen: Labelled) -> np.ndarray:
        model = make().fit(features(seen), seen.is_correct)
        return model.predict_proba(features(unseen))[:, list(model.classes_).index(True)]

    return answer


def peers() -> dict[str, Answer | str]:
    """Return the peers, or why one is absent."""
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        HistGradientBoostingClassifier,
        RandomForestClassifier,
    )

    found: dict[str, Answer | str] = {
        "histogram boosting": estimator(lambda: HistGradientBoostingClassifier(random_state=0)),
        "random forest": estimator(
            lambda: RandomForestClassifier(300, min_samples_leaf=5, random_state=0)
        ),
        "randomised trees": estimator(
            lambda: ExtraTreesClassifier(300, min_samples_leaf=5, random_state=0)
        ),
    }
    try:
        from lightgbm import LGBMClassifier

        found["LightGBM"] = estimator(lambda: LGBMClassifier(random_state=0, verbose=-1, n_jobs=1))
    except (ImportError, OSError) as error:
        found["LightGBM"] = str(error)
    try:
        from catboost import CatBoostClassifier

        found["CatBoost"] = estimator(
            lambda: CatBoostClassifier(
                random_seed=0, verbose=False, thread_count=1, allow_writing_files=False
            )
        )
    except ImportError as error:
        found["CatBoost"] = str(error)
    return found


def method_answers() -> dict[str, Answer]:
    """Return our methods as contestants."""

    def fit(method: object) -> Answer:
        def answer(seen: Labelled, unseen: Labelled) -> np.ndarray:
            fitted = method.build(method.settings(), QUICK).fit(seen)
            return fitted.confidence(unseen.predictions).value

        return answer

    return {m.name: fit(m) for m in METHODS if m.needs is not Need.PLACE}


def losses(answer: np.ndarray, labelled: Labelled) -> np.ndarray:
    """Return the negative log-likelihood of each outcome; NaN without an answer."""
    p = np.clip(answer, CLIP, 1.0 - CLIP)
    return -np.where(labelled.is_correct, np.log(p), np.log1p(-p))


def paired_error(difference: np.ndarray, cluster: np.ndarray) -> float:
    """Return the standard error of a mean difference, blocks taken together."""
    _, code = np.unique(cluster.astype(str), return_inverse=True)
    sums = np.bincount(code, weights=difference - difference.mean())
    return float(np.sqrt((sums**2).sum() * len(sums) / (len(sums) - 1)) / len(difference))


def compare(title: str, seen: Labelled, unseen: Labelled) -> None:
    """Print the losses of all contestants, and how far each is from `auto`."""
    print(f"\n{title}: {seen.n_samples:,} rows calibrate, {unseen.n_samples:,} judge\n")
    print("| contestant | NLL | less that of auto | processor seconds |")
    print("|---|---|---|---|")
    answers: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    for name, contestant in (method_answers() | peers()).items():
        if isinstance(contestant, str):
            print(f"| {name} | absent: {contestant[:60]} | | |")
            continue
        start = time.process_time()
        answers[name] = contestant(seen, unseen)
        seconds[name] = time.process_time() - start
    ensembles = [name for name in peers() if name in answers]
    answers["mean of the tree ensembles"] = np.mean([answers[n] for n in ensembles], axis=0)
    known = ~np.isnan(answers["auto"])
    own = losses(answers["auto"], unseen)[known]
    for name, answer in sorted(
        answers.items(), key=lambda one: np.nanmean(losses(one[1], unseen))
    ):
        loss = losses(answer, unseen)[known]
        loss = np.where(np.isnan(loss), own, loss)
        difference = loss - own
        error = paired_error(difference, unseen.cluster[known])
        print(
            f"| {name} | {loss.mean():.4f} | {difference.mean():+.4f} ± {error:.4f} "
            f"| {seconds.get(name, float('nan')):.1f} |"
        )


def small_tables() -> dict[str, Labelled]:
    """Return scores of a weak classifier on tables that scikit-learn ships."""
    from sklearn import datasets
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    found = {}
    for name in ("digits", "wine", "breast_cancer", "iris"):
        x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        rng = np.random.default_rng(0)
        order = rng.permutation(len(y))
        x, y = x[order], y[order]
        n_train = len(y) // 4
        # Noise on the features, so that there are errors to learn from.
        noisy = x + rng.normal(size=x.shape) * x.std(axis=0)
        model = make_pipeline(StandardScaler(), LogisticRegression(C=10.0, max_iter=2000))
        scores = model.fit(noisy[:n_train], y[:n_train]).predict_proba(noisy[n_train:])
        ids = np.arange(len(y) - n_train).astype(str).astype(object)
        classes = tuple(f"class {code}" for code in range(scores.shape[1]))
        found[name] = label(from_scores(ids, classes, scores, 1.0, 0.0), y[n_train:])
    return found


def at_random(labelled: Labelled, seed: int) -> tuple[Labelled, Labelled]:
    """Return two halves of the rows."""
    order = np.random.default_rng(seed).permutation(labelled.n_samples)
    middle = labelled.n_samples // 2
    return labelled.take(order[:middle]), labelled.take(order[middle:])


def some_rows(labelled: Labelled, n_rows: int, seed: int) -> Labelled:
    """Return so many rows, drawn at random."""
    rows = np.random.default_rng(seed).choice(labelled.n_samples, n_rows, replace=False)
    return labelled.take(np.sort(rows))


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[4680, 1200])
    parser.add_argument("--subsets", type=int, default=3)
    parser.add_argument("--without-real", action="store_true")
    asked = parser.parse_args()
    for name, small in small_tables().items():
        first, second = at_random(small, 1)
        compare(name, first, second)
        compare(f"{name}, half as many", some_rows(first, first.n_samples // 2, 2), second)
    real = None if asked.without_real else real_table()
    if real is None:
        return
    alone = replace(real, cluster=real.predictions.ids)
    for title, (first, second) in {
        "Random halves": at_random(alone, 1),
        "Halves of whole blocks": halves(real),
    }.items():
        compare(title, first, second)
        for n_rows in asked.rows:
            for subset in range(asked.subsets):
                part = some_rows(first, n_rows, subset)
                compare(f"{title}, {n_rows:,} rows, subset {subset + 1}", part, second)


if __name__ == "__main__":
    main()
