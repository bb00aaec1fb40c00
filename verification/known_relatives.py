"""Queries that are homologues of what the classifier learnt from, and what can be done for them.

Proteins are simulated in families (`verification/protein_world.py`). A random forest learns from
some families. New families calibrate. The queries are of families that nothing has seen, or
further members of the families learnt from: these get surer scores, and are right more often.
Labelled members of families learnt from are set aside, as a split does it; here they are what a
calibration could learn from.

    PYTHONPATH=. python verification/known_relatives.py --seeds 6 --out verification/out/known.tsv

For each way to calibrate, and each range of the identity with the nearest training protein:
mean confidence, precision, their difference in standard errors that count families, and the NLL.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from verification.protein_world import ProteinWorldSettings, StudyProteins, simulate_proteins
from verification.small_families import vectors_of

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import FitOptions
from credence.draws import encode_clusters
from credence.predictions import Booleans, Floats, Integers, Labelled, from_scores, label
from credence.relatives.closest import WORDS, KnownSequences

N_TREES = 100
SHARE_LEARNT = 0.6  # of the families; the others are cut in halves: they calibrate, or are new
# Of the world: of families unlike their folds nobody can know the class who has not seen them.
FOLDS, FAMILIES_ALIKE, AMBIGUOUS = 6, 100.0, 0.4
PARTS = LEARNT, SET_ASIDE, CALIBRATION, NEW, RELATIVES = range(5)
SHARE_OF_MEMBERS = (0.4, 0.3, 0.3)  # of a family learnt from: learnt, set aside, queries
BANDS = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))
CLIP = 1e-4  # of the loss
STRENGTH = 1.0  # of the ridge of the logistic curves


@dataclass(frozen=True, kw_only=True)
class MemoryWorld:
    """Proteins with scores of a forest that has learnt from some of their relatives."""

    proteins: StudyProteins
    labelled: Labelled  # All of them, in the order of the proteins
    part: Integers  # Of each, one of `PARTS`

    def of(self, *parts: int) -> Labelled:
        """Return the proteins of some parts."""
        return self.labelled.take(self.is_of(*parts))

    def is_of(self, *parts: int) -> Booleans:
        """Return which proteins are of some parts."""
        return np.isin(self.part, parts)

    def identity(self, *parts: int) -> Floats:
        """Return the identity of proteins with the nearest one learnt from; 0 without any."""
        learnt = self.proteins.sequences[self.part == LEARNT]
        known = KnownSequences(
            ids=self.proteins.ids[self.part == LEARNT],
            texts=learnt,
            family=np.full(len(learnt), -1),
            search=WORDS,
        )
        return np.nan_to_num(known.closest(self.proteins.sequences[self.is_of(*parts)]).identity)


def memory_world(seed: int, n_families: int = 2_600, n_classes: int = 6) -> MemoryWorld:
    """Return a world of so many families."""
    settings = ProteinWorldSettings(
        n_classes=n_classes,
        n_families=n_families,
        n_folds=FOLDS,
        family=FAMILIES_ALIKE,
        ambiguous=AMBIGUOUS,
        seed=seed,
    )
    proteins = simulate_proteins(settings)
    rng = np.random.default_rng([seed, n_families])
    _, family = np.unique(proteins.cluster, return_inverse=True)
    drawn = rng.random(n_families)
    fate = np.where(drawn < SHARE_LEARNT, LEARNT, CALIBRATION)
    fate[drawn > (1.0 + SHARE_LEARNT) / 2.0] = NEW
    part = fate[family]
    member = rng.choice((LEARNT, SET_ASIDE, RELATIVES), len(part), p=SHARE_OF_MEMBERS)
    _, first = np.unique(family, return_index=True)
    member[first] = LEARNT  # so that every family learnt from has been seen
    part = np.where(part == LEARNT, member, part)
    vectors, is_learnt = vectors_of(proteins.sequences), part == LEARNT
    forest = RandomForestClassifier(N_TREES, random_state=seed, n_jobs=1)
    forest.fit(vectors[is_learnt], proteins.true_class[is_learnt])
    scores = np.zeros((len(part), n_classes))
    scores[:, forest.classes_] = forest.predict_proba(vectors)
    predictions = from_scores(proteins.ids, proteins.class_names, scores, 1.0, 1.0 / N_TREES)
    labelled = label(predictions, proteins.true_class, cluster=proteins.cluster)
    return MemoryWorld(proteins=proteins, labelled=labelled, part=part)


Confident = Callable[[Labelled, Floats], Floats]  # Proteins and their identities: confidences


def fitted(method: str, *parts: int) -> Callable[[MemoryWorld], Confident]:
    """Return how a method is fitted on some parts of a world, without regard to identity."""

    def fit(world: MemoryWorld) -> Confident:
        calibrator = parse_method(method, "method").build(FitOptions(n_draws=0))
        calibration = calibrator.fit(world.of(*parts))
        return lambda labelled, _: calibration.confidence(labelled.predictions).value

    return fit


def apart(method: str) -> Callable[[MemoryWorld], Confident]:
    """Return how two calibrations are fitted: of new families, and of relatives of training."""

    def fit(world: MemoryWorld) -> Confident:
        new, relatives = (fitted(method, part)(world) for part in (CALIBRATION, SET_ASIDE))
        return lambda labelled, identity: np.where(
            identity >= BANDS[1][0], relatives(labelled, identity), new(labelled, identity)
        )

    return fit


def by_identity(*, is_feature: bool) -> Callable[[MemoryWorld], Confident]:
    """Return how one logistic curve is fitted on both parts, with identity as a feature or not."""

    def fit(world: MemoryWorld) -> Confident:
        parts = (CALIBRATION, SET_ASIDE)
        known = world.of(*parts)
        curve = LogisticRegression(C=STRENGTH, max_iter=2_000)
        identity = world.identity(*parts) * is_feature
        curve.fit(_features(known, identity), known.is_correct)

        def confident(labelled: Labelled, identity: Floats) -> Floats:
            features = _features(labelled, identity * is_feature)
            return np.asarray(curve.predict_proba(features)[:, 1])

        return confident

    return fit


def _features(labelled: Labelled, identity: Floats) -> Floats:
    """Return log odds of the best score, its distance to the second, both by identity; classes."""
    scores = np.sort(np.clip(np.asarray(labelled.predictions.scores), CLIP, 1.0 - CLIP), axis=1)
    best, second = scores[:, -1], scores[:, -2]
    x = np.stack([np.log(best) - np.log1p(-best), np.log(best) - np.log(second)], axis=1)
    classes = np.eye(labelled.predictions.n_classes)[labelled.predictions.predicted_class]
    near = identity[:, None]
    return np.concatenate([x, x * near, near, near**2, classes], axis=1)


WAYS: Mapping[str, Callable[[MemoryWorld], Confident]] = {
    "auto, new families (as published)": fitted("auto", CALIBRATION),
    "auto, new families and relatives": fitted("auto", CALIBRATION, SET_ASIDE),
    "auto, each by itself": apart("auto"),
    "hierarchical, each by itself": apart("hierarchical"),
    "logistic curve, both": by_identity(is_feature=False),
    "logistic curve, both, with identity": by_identity(is_feature=True),
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Confidences of queries in one way, and what came true."""

    confidence: Floats
    is_correct: Floats
    family: Integers
    identity: Floats


def judged(world: MemoryWorld, ways: Mapping[str, Callable[[MemoryWorld], Confident]]) -> dict:
    """Return the outcomes of new families and of homologues of training, by the way."""
    queries, identity = world.of(NEW, RELATIVES), world.identity(NEW, RELATIVES)
    family, _ = encode_clusters(queries.cluster)
    return {
        name: Outcome(
            confidence=fit(world)(queries, identity),
            is_correct=queries.is_correct.astype(float),
            family=family,
            identity=identity,
        )
        for name, fit in ways.items()
    }


def rows_of(name: str, outcomes: list[Outcome]) -> Iterator[dict[str, object]]:
    """Yield what was stated and what was right in each range of identity."""
    offset = np.cumsum([0, *(int(part.family.max()) + 1 for part in outcomes)])
    family = np.concatenate([part.family + at for part, at in zip(outcomes, offset, strict=False)])
    p, t, identity = (
        np.concatenate([getattr(part, field) for part in outcomes])
        for field in ("confidence", "is_correct", "identity")
    )
    clipped = np.clip(p, CLIP, 1.0 - CLIP)
    loss = -np.where(t > 0, np.log(clipped), np.log1p(-clipped))
    for low, high in BANDS:
        inside = (identity >= low) & (identity < high)
        if not inside.any():
            continue
        residual = (p - t)[inside]
        _, code = np.unique(family[inside], return_inverse=True)
        error = np.sqrt((np.bincount(code, weights=residual) ** 2).sum()) / inside.sum()
        yield {
            "way": name,
            "identity": f"{low:g}–{min(high, 1.0):g}",
            "proteins": int(inside.sum()),
            "families": int(code.max() + 1),
            "stated": p[inside].mean(),
            "right": t[inside].mean(),
            "too_high": residual.mean(),
            "standard_errors": residual.mean() / max(error, 1e-12),
            "ece": _ece(p[inside], t[inside]),
            "nll": loss[inside].mean(),
        }


def _ece(p: Floats, t: Floats) -> float:
    steps = np.quantile(p, np.linspace(0.0, 1.0, 11))
    bins = np.clip(np.searchsorted(steps, p, side="right") - 1, 0, 9)
    parts = [(p[bins == at] - t[bins == at]).sum() for at in range(10)]
    return float(np.abs(parts).sum() / len(p))


def main() -> None:
    """Judge ways to calibrate, and print what was stated and what was right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="simulated worlds")
    parser.add_argument("--families", type=int, default=2_600)
    parser.add_argument("--out", type=Path, help="also write the table there")
    options = parser.parse_args()
    outcomes: dict[str, list[Outcome]] = {name: [] for name in WAYS}
    for seed in range(options.seeds):
        world = memory_world(seed, options.families)
        counts = np.bincount(world.part, minlength=len(PARTS)).tolist()
        right = [f"{world.of(part).is_correct.mean():.3f}" for part in PARTS]
        print(f"world {seed}: proteins {counts}, right {right}", file=sys.stderr, flush=True)
        for name, outcome in judged(world, WAYS).items():
            outcomes[name].append(outcome)
    rows = [row for name, parts in outcomes.items() for row in rows_of(name, parts)]
    table = pd.DataFrame(rows)
    with pd.option_context("display.width", 200, "display.max_rows", None):
        print(table.round(3).to_string(index=False))
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.out, sep="\t", index=False)


if __name__ == "__main__":
    main()
