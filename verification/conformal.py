"""Do prediction sets hold the true class as often as they say, class by class?

Calibration sets are halved by whole families, again and again: sets are fitted to
one half, and it is counted how many proteins of the other half have their class in
their set, every family counting once in its class. The mean over the splits is
set against the level, for every class that has at least 40 families to fit to.
Beside it stand sets that take relatives for independent proteins.

Then some classes are made scarce: a few of their families stay in the half that is
fitted to, and these classes share a pooled threshold. Its promise is for the families
that it was made of, together; what each class gets is shown beside it, and how many of
the other classes' proteins have it in their set, which without a pool all of them have.

    python verification/conformal.py --splits 200 --page docs/verification-conformal.md

The real table is read where it is (../shared/data), and left out where it is not.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from in_memory import draw_labelled

from credence.draws import encode_clusters, uniform
from credence.predictions import Floats, Integers, Labelled, from_scores, label
from credence.sets.conformal import (
    SetOptions,
    families_needed,
    family_weights,
    fit_sets,
    strangeness,
)
from credence.simulate.law import WorldSettings
from report import write_section

SEED = 20261122
ENOUGH = 40  # families of a class in the half that is fitted to
ALLOWED = 0.02
REAL = Path("../shared/data/phanns_scores_2020.csv.gz")
PER_CLASS = 200  # proteins drawn of each class of the real table: about 100 to fit to


def simulated(seed: int, n_proteins: int) -> Labelled:
    """Return a set of the demo world, whose families are known and unlike in size."""
    return draw_labelled(
        WorldSettings(n_calibration=n_proteins), np.random.default_rng([SEED, seed])
    )


def lopsided(seed: int) -> Labelled:
    """Return families of one class whose large ones score better: proteins are no guide."""
    rng = np.random.default_rng([SEED, seed])
    size = rng.choice([1, 2, 30], 400, p=[0.7, 0.2, 0.1])
    family = np.repeat(np.arange(400), size)
    true = (family % 2).astype(np.int64)
    ease = rng.normal(np.where(size == 30, 2.5, 0.3), 1.0)[family]
    own = 1.0 / (1.0 + np.exp(-rng.normal(ease, 0.7)))
    scores = np.stack([np.where(true == 0, own, 1 - own), np.where(true == 1, own, 1 - own)], 1)
    ids = np.array([f"p{number}" for number in range(len(true))], dtype=object)
    cluster = np.array([f"f{number}" for number in family], dtype=object)
    names = ("large families are easy", "the same, other half")
    return label(from_scores(ids, names, scores, 1.0, 0.0), true, cluster=cluster)


def real() -> Labelled:
    """Return PhANNs' table of 2020, some proteins of each class, each its own family."""
    table = pd.read_csv(REAL)
    names = tuple(table.columns[1:12])
    words = table.iloc[:, 0].str.replace(r"_\d+$", "", regex=True).str.replace("_", " ")
    places = {name.lower(): place for place, name in enumerate(names)}
    true = words.str.lower().replace("shaft", "tail shaft").map(places).to_numpy(np.int64)
    ids = table.iloc[:, 0].astype(str).to_numpy(dtype=object)
    scores = table[list(names)].to_numpy(np.float64)
    rng = np.random.default_rng(SEED)
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(true == class_))[:PER_CLASS] for class_ in range(11)]
    )
    return label(from_scores(ids, names, scores, 10.0, 0.01), true).take(np.sort(rows))


def covered_in_splits(
    labelled: Labelled, options: SetOptions, n_splits: int
) -> tuple[Floats, Floats, Floats, Integers]:
    """Return by split and class: coverage by families, by proteins, mean size; and families.

    The families are those fitted to, in the least split.
    """
    codes, keys = encode_clusters(labelled.cluster)
    n_classes = labelled.predictions.n_classes
    families, proteins, sizes = (np.full((n_splits, n_classes), np.nan) for _ in range(3))
    n_fitted = np.full(n_classes, labelled.n_samples)
    for split in range(n_splits):
        fitted = (uniform(keys, split, "verification of sets") < 0.5)[codes]
        sets = fit_sets(labelled.take(fitted), options)
        n_fitted = np.minimum(n_fitted, [ladder.n_clusters for ladder in sets.ladders])
        judged = labelled.take(~fitted)
        found = sets.contains(judged.predictions)
        own = found[np.arange(judged.n_samples), judged.true_class]
        weight = family_weights(judged)
        for class_ in range(n_classes):
            rows = judged.true_class == class_
            if rows.any():
                families[split, class_] = np.average(own[rows], weights=weight[rows])
                proteins[split, class_] = own[rows].mean()
                sizes[split, class_] = np.average(found[rows].sum(axis=1), weights=weight[rows])
    return families, proteins, sizes, n_fitted.astype(np.int64)


def as_independent(labelled: Labelled) -> Labelled:
    """Return the set as if every protein were a family of its own."""
    return replace(labelled, cluster=labelled.predictions.ids)


def naive_coverage(labelled: Labelled, options: SetOptions, n_splits: int) -> Floats:
    """Return coverage by families of sets that take relatives for independent."""
    codes, keys = encode_clusters(labelled.cluster)
    found = np.full((n_splits, labelled.predictions.n_classes), np.nan)
    for split in range(n_splits):
        fitted = (uniform(keys, split, "verification of sets") < 0.5)[codes]
        sets = fit_sets(as_independent(labelled.take(fitted)), options)
        judged = labelled.take(~fitted)
        contains = sets.contains(judged.predictions)
        own = contains[np.arange(judged.n_samples), judged.true_class]
        weight = family_weights(judged)
        for class_ in range(found.shape[1]):
            rows = judged.true_class == class_
            if rows.any():
                found[split, class_] = np.average(own[rows], weights=weight[rows])
    return found.mean(axis=0)


def rows_of(labelled: Labelled, options: SetOptions, n_splits: int) -> list[dict[str, object]]:
    """Return a row for each class with enough families."""
    families, proteins, sizes, n_fitted = covered_in_splits(labelled, options, n_splits)
    naive = naive_coverage(labelled, options, n_splits)
    return [
        {
            "class": name,
            "level": options.level,
            "families fitted to, at least": int(n_fitted[class_]),
            "coverage, by families": float(families[:, class_].mean()),
            "less the level, percentage points": float(
                100 * (families[:, class_].mean() - options.level)
            ),
            "5 % to 95 % of splits": "{:.3f} to {:.3f}".format(
                *np.quantile(families[:, class_], [0.05, 0.95])
            ),
            "coverage, by proteins": float(proteins[:, class_].mean()),
            "classes in a set": float(sizes[:, class_].mean()),
            "relatives taken for independent": float(naive[class_]),
        }
        for class_, name in enumerate(labelled.predictions.class_names)
        if n_fitted[class_] >= ENOUGH
    ]


# Families that stay of each scarce class, as shares of those that a threshold of its own
# takes; the first classes by name, but for the background.
SCARCE = {"three scarce classes": (0.25, 0.5, 0.95), "a single one": (0.5,)}


def scarce_rows(
    labelled: Labelled, options: SetOptions, n_splits: int, case: str
) -> list[dict[str, object]]:
    """Return a row for each scarce class, and one for those that share a threshold together."""
    codes, keys = encode_clusters(labelled.cluster)
    names, needed = labelled.predictions.class_names, families_needed(options.level)
    kept = [int(share * needed) for share in SCARCE[case]]
    order = sorted(
        set(labelled.true_class.tolist()) - {names.index("Other")}, key=names.__getitem__
    )
    scarce = order[: len(kept)]
    covered = np.full((n_splits, len(names)), np.nan)
    others, together = np.full((n_splits, len(names)), np.nan), np.full(n_splits, np.nan)
    for split in range(n_splits):
        draw = uniform(keys, split, "verification of sets")
        fitted = (draw < 0.5)[codes]
        for class_, number in zip(scarce, kept, strict=True):
            rows = labelled.true_class == class_
            families = np.unique(codes[rows & fitted])
            stay = families[np.argsort(draw[families], kind="stable")][:number]
            fitted[rows & ~np.isin(codes, stay)] = False
        sets = fit_sets(labelled.take(fitted), options)
        judged = labelled.take(~fitted & ~np.isin(codes, codes[fitted]))
        found, weight = sets.contains(judged.predictions), family_weights(judged)
        for class_ in range(len(names)):
            rows = judged.true_class == class_
            covered[split, class_] = np.average(found[rows, class_], weights=weight[rows])
            others[split, class_] = found[~rows, class_].mean()
        assert sets.pool is not None
        members = [*sets.pool.sharing, *sets.pool.lending]
        # A family of the pool is of a class as often as those that it was made of; the lenders
        # are judged by the pooled threshold as well.
        limit = sets.limits()[sets.pool.sharing[0]]
        strange = strangeness(judged.predictions)
        shares = [
            np.average(
                strange[judged.true_class == class_, class_] <= limit,
                weights=weight[judged.true_class == class_],
            )
            for class_ in members
        ]
        n_families = [sets.ladders[class_].n_clusters for class_ in members]
        together[split] = np.average(shares, weights=n_families)
    rows_out: list[dict[str, object]] = [
        {
            "case": case,
            "class": names[class_],
            "level": options.level,
            "families fitted to": str(number),
            "coverage, by families": float(covered[:, class_].mean()),
            "5 % to 95 % of splits": "{:.3f} to {:.3f}".format(
                *np.quantile(covered[:, class_], [0.05, 0.95])
            ),
            "of other proteins, so many have it in their set": float(others[:, class_].mean()),
        }
        for class_, number in zip(scarce, kept, strict=True)
    ]
    pooled = {
        "case": case,
        "class": "pooled",
        "level": options.level,
        "families fitted to": f"{needed} or more",
        "coverage, by families": float(together.mean()),
        "5 % to 95 % of splits": "{:.3f} to {:.3f}".format(*np.quantile(together, [0.05, 0.95])),
        "of other proteins, so many have it in their set": float("nan"),
    }
    return [*rows_out, pooled]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=200)
    parser.add_argument("--proteins", type=int, default=4_680)
    parser.add_argument("--levels", type=float, nargs="+", default=[0.8, 0.9, 0.95])
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    worlds = {
        "The demo world": simulated(1, given.proteins),
        "Families that are easy where they are large": lopsided(1),
    }
    if REAL.exists():
        worlds["PhANNs' table of 2020"] = real()
    for title, labelled in worlds.items():
        rows = [
            row
            for level in given.levels
            for row in rows_of(labelled, SetOptions(level=level), given.splits)
        ]
        gaps = [abs(float(str(row["less the level, percentage points"]))) for row in rows]
        text = (
            f"{labelled.n_samples:,} proteins of {len(set(labelled.cluster)):,} families, halved "
            f"{given.splits} times by whole families. Of {len(rows)} classes and levels with at "
            f"least {ENOUGH} families to fit to, {sum(gap <= 100 * ALLOWED for gap in gaps)} are "
            f"within {100 * ALLOWED:g} percentage points of the level; the furthest is "
            f"{max(gaps):.2f} off."
        )
        print(title, text, sep="\n")
        print(pd.DataFrame(rows).to_string())
        if given.page is not None:
            write_section(given.page, title, text, rows)
    for title in [name for name in worlds if "Other" in worlds[name].predictions.class_names]:
        rows = [
            row
            for case in SCARCE
            for level in given.levels
            for row in scarce_rows(worlds[title], SetOptions(level=level), given.splits, case)
        ]
        pooled = [
            float(str(x["coverage, by families"])) - float(str(x["level"]))
            for x in rows
            if x["class"] == "pooled"
        ]
        single = [
            float(str(x["coverage, by families"])) - float(str(x["level"]))
            for x in rows
            if x["class"] != "pooled"
        ]
        text = (
            f"Of some classes {given.splits} times so few families are kept that they share a "
            "threshold. The promise is for the families of the pool together: there the coverage "
            f"is {100 * min(pooled):+.1f} to {100 * max(pooled):+.1f} percentage points from the "
            f"level. Of a class by itself nothing is promised: {100 * min(single):+.1f} to "
            f"{100 * max(single):+.1f}. Without a pool all of these classes stand in every set."
        )
        title = f"{title}, with scarce classes"
        print(title, text, sep="\n")
        print(pd.DataFrame(rows).to_string())
        if given.page is not None:
            write_section(given.page, title, text, rows)


if __name__ == "__main__":
    main()
