"""Are wrong labels found? Planted in simulated worlds and in a real table, ours beside cleanlab's.

A share of the labels is replaced by other ones, in single proteins, in whole families or
half and half; then labels are ranked by `credence.lists.labels` and by cleanlab, which is
given the same held-out probabilities. Judged is the area under precision-recall, and who
is among as many as were planted. What the table holds of wrong labels already counts as
right for all. cleanlab (AGPL) is no dependency; without it its columns are left out:

    pip install --no-deps --target peers cleanlab==2.9.0 termcolor tqdm
    PYTHONPATH=.:peers python verification/labels.py --page docs/verification-labels.md

The real table is read where it is (../shared/data), and left out where it is not.
"""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from benchmarks.data import real_table
from in_memory import draw_labelled
from sklearn.metrics import average_precision_score

from credence.lists.labels import class_chances, doubts_of, plant, with_wrong_labels
from credence.predictions import Booleans, Floats, Labelled
from credence.simulate.law import WorldSettings
from report import write_section

try:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores
except ImportError:
    find_label_issues = None

SEED = 20261123
RATES = (0.02, 0.05)
KINDS = {"single proteins": 0.0, "half in families": 0.5, "whole families": 1.0}
WORLD = WorldSettings(n_calibration=5_000)
SHORT = 10  # rows of a class that are a short family of the real table
MERGED = 0.2  # share of the families that are joined to another one by mistake
STATED_RATES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05)


def in_blocks(labelled: Labelled, size: int) -> Labelled:
    """Return the real table with shorter families: so many rows of a class in turn."""
    cluster = np.empty(labelled.n_samples, dtype=object)
    for code in range(labelled.predictions.n_classes):
        members = np.flatnonzero(labelled.true_class == code)
        cluster[members] = [f"{code}.{at // size}" for at in range(len(members))]
    return replace(labelled, cluster=cluster)


def some_families(labelled: Labelled, share: float, rng: np.random.Generator) -> Labelled:
    """Return the proteins of some families."""
    names, code = np.unique(labelled.cluster.astype(str), return_inverse=True)
    return labelled.take(rng.permutation(len(names))[code] < share * len(names))


def wrongly_merged(labelled: Labelled, rng: np.random.Generator) -> Labelled:
    """Return the same proteins, some families joined to others of any class."""
    names, code = np.unique(labelled.cluster.astype(str), return_inverse=True)
    to = np.arange(len(names))
    chosen = rng.permutation(len(names))[: round(MERGED * len(names))]
    to[chosen] = rng.integers(0, len(names), len(chosen))
    return replace(labelled, cluster=names[to[code]].astype(object))


def world(rng: np.random.Generator) -> Labelled:
    """Return a simulated world."""
    return draw_labelled(WORLD, rng)


def sets_of(n_worlds: int, n_draws: int) -> Iterator[tuple[str, int, Callable[..., Labelled]]]:
    """Yield what wrong labels are planted in: its name, how often, and what draws it."""
    yield "simulated", n_worlds, world
    yield "simulated, a fifth merged", n_worlds, lambda rng: wrongly_merged(world(rng), rng)
    real = real_table()
    if real is None:
        return
    short, alone = in_blocks(real, SHORT), replace(real, cluster=real.predictions.ids)
    yield "real, blocks of 100", n_draws, lambda rng: some_families(real, 0.5, rng)
    yield f"real, blocks of {SHORT}", n_draws, lambda rng: some_families(short, 0.2, rng)
    yield (
        f"real, blocks of {SHORT}, a fifth merged",
        n_draws,
        lambda rng: wrongly_merged(some_families(short, 0.2, rng), rng),
    )
    yield "real, no relatives", n_draws, lambda rng: some_families(alone, 0.2, rng)


def rankings(labelled: Labelled, chance: Floats) -> dict[str, Floats]:
    """Return what each method ranks labels by, the most doubtful highest."""
    found = {"credence": doubts_of(labelled, chance).doubt}
    if find_label_issues is None:
        return found
    label = labelled.true_class
    chance = chance / chance.sum(axis=1, keepdims=True)
    for method in ("self_confidence", "normalized_margin"):
        found[method] = -get_label_quality_scores(label, chance, method=method)
    issues = find_label_issues(label, chance, return_indices_ranked_by="self_confidence")
    last = found["self_confidence"].copy()  # those that it does not name follow in this order
    last[issues] = 2.0 + len(issues) - np.arange(len(issues))
    return found | {"find_label_issues": last}


def among_first(score: Floats, n: int) -> Booleans:
    """Return who is among so many of the highest."""
    chosen = np.zeros(len(score), dtype=np.bool_)
    chosen[np.argsort(-score, kind="stable")[:n]] = True
    return chosen


def compared(n_worlds: int, n_draws: int) -> list[dict[str, object]]:
    """Return mean areas under precision-recall, and what ours finds that cleanlab misses."""
    table = []
    for name, n_times, draw in sets_of(n_worlds, n_draws):
        for rate in RATES:
            for kind, in_families in KINDS.items():
                if in_families and name.endswith("no relatives"):
                    continue
                values = defaultdict(list)
                for number in range(n_times):
                    rng = np.random.default_rng([SEED, number])
                    labelled, is_wrong = with_wrong_labels(draw(rng), rate, rng, in_families)
                    scores = rankings(labelled, class_chances(labelled))
                    for method, score in scores.items():
                        values[method].append(average_precision_score(is_wrong, score))
                    first = {
                        method: among_first(score, int(is_wrong.sum()))[is_wrong]
                        for method, score in scores.items()
                    }
                    for method, own in first.items():
                        values["found by " + method].append(own.mean())
                    if "normalized_margin" in first:
                        ours, peers = first["credence"], first["normalized_margin"]
                        values["only credence"].append((ours & ~peers).mean())
                        values["only normalized_margin"].append((peers & ~ours).mean())
                row = {"set": name, "wrong": f"{rate:.0%}", "planted in": kind, "tables": n_times}
                table.append(row | {key: float(np.mean(own)) for key, own in values.items()})
                print(table[-1], flush=True)
    return table


def errors_stated(n_worlds: int) -> list[dict[str, object]]:
    """Return what is stated of lists at half right labels, and what is true."""
    table = []
    for rate in STATED_RATES:
        values: Mapping[str, list[float]] = defaultdict(list)
        for number in range(n_worlds):
            rng = np.random.default_rng([SEED + 1, number])
            labelled = draw_labelled(WORLD, rng)
            is_wrong = np.zeros(labelled.n_samples, dtype=np.bool_)
            if rate:
                labelled, is_wrong = with_wrong_labels(labelled, rate, rng)
            doubts = doubts_of(labelled, class_chances(labelled))
            planted = plant(labelled, doubts)
            found, false = planted.at(doubts.doubt)
            is_listed = (doubts.doubt > 0.0) & (false <= 0.5)
            values["wrong, at least"].append(planted.share)
            values["listed"].append(is_listed.sum())
            values["wrong ones listed"].append((is_wrong & is_listed).sum())
            if is_listed.any():
                values["right labels, stated"].append(false[is_listed].max())
                values["right labels, truth"].append(1.0 - is_wrong[is_listed].mean())
                values["lists above it"].append(
                    values["right labels, truth"][-1] > values["right labels, stated"][-1]
                )
                values["found, stated"].append(found[is_listed].max())
                if rate:
                    values["found, truth"].append(is_listed[is_wrong].mean())
        values["lists"] = [float(len(values["found, stated"]))]
        names = (
            *("lists", "wrong, at least", "listed", "wrong ones listed", "right labels, stated"),
            *("right labels, truth", "lists above it", "found, stated", "found, truth"),
        )
        means = {key: float(np.mean(values[key])) if values[key] else "" for key in names}
        table.append({"labels wrong": f"{rate:.1%}", "worlds": n_worlds, **means})
        print(table[-1], flush=True)
    return table


def main() -> None:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--draws", type=int, default=4, help="of the real table")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    areas = compared(options.worlds, options.draws)
    if options.page:
        area = [{key: own for key, own in row.items() if "found" not in key and "only" not in key}
                for row in areas]  # fmt: skip
        write_section(options.page, "Who finds wrong labels", AREAS, area)
        first = [{key: own for key, own in row.items() if key not in METHODS and key != "tables"}
                 for row in areas]  # fmt: skip
        write_section(options.page, "Who is among the first", FIRST, first)
    stated = errors_stated(options.worlds)
    if options.page:
        write_section(options.page, "What the list states of itself", STATED, stated)


METHODS = ("credence", "self_confidence", "normalized_margin", "find_label_issues")
AREAS = (
    "Mean area under precision-recall of the doubt beside cleanlab's label quality scores and its "
    "`find_label_issues` (the others after those that it names), all given the same held-out "
    "probabilities."
)
FIRST = (
    "Share of the planted that are among as many as were planted, by each ranking; and the share "
    "that is there by the doubt and not by cleanlab's best ranking, and the other way round."
)
STATED = (
    "Simulated worlds of 5,000 proteins with labels wrong half in families, and the list of "
    "`credence labels` as it is by default: at most half of it right "
    "labels. Means; of the lists that are not empty where it is of lists."
)


if __name__ == "__main__":
    main()
