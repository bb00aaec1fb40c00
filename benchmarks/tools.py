"""Several tools combined, against the best of them, on families that none of the fits saw.

    python -m benchmarks.tools [--rows 3000]

Ten networks on 7,217 real proteins, each a tool of its own, halved by whole blocks of rows of a
class; and the simulated world. The combination is judged as fitted on one half and used on the
other, beside each tool alone, calibrated by the same fits. Last, a tool that is missing: a fit
for each pattern of tools that answer against one fit with tools masked at random.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
from benchmarks.data import ROOT, halves

from credence.draws import keys_of, uniform
from credence.predictions import Labelled, Predictions, from_scores, label
from credence.simulate.law import WorldSettings
from credence.simulate.world import make_world
from credence.tools.combining import (
    Answers,
    SoftmaxInputs,
    fit_combination,
    fit_softmax,
    in_table_order,
)
from credence.tools.judging import LEAST_LOG, judge_tools, paired_error

NETWORKS = ROOT.parent / "shared" / "data" / "phanns_ten_networks.npz"
BLOCK = 20  # rows of a class that stay together
MASKS = 4  # copies of each protein with other tools masked


def real_networks() -> tuple[Labelled, list[Predictions]] | None:
    """Return the labelled proteins and each network's scores; None where they are absent."""
    if not NETWORKS.is_file():
        return None
    arrays = np.load(NETWORKS)
    names = tuple(map(str, arrays["class_names"]))
    true = np.array([names.index(name) for name in arrays["true_class"]])
    ids = np.array([f"{row}_{id_}" for row, id_ in enumerate(arrays["id"])], dtype=object)
    cluster = np.empty(len(ids), dtype=object)
    for class_ in range(len(names)):
        rows = np.flatnonzero(true == class_)
        cluster[rows] = [f"block {class_}.{at // BLOCK}" for at in range(len(rows))]
    scores = arrays["softmax"].astype(float)
    tools = [from_scores(ids, names, scores[:, at], 1.0, 1e-4) for at in range(scores.shape[1])]
    return label(tools[0], true, cluster=cluster), tools


def simulated(n: int, seed: int) -> tuple[Labelled, list[Predictions]]:
    """Return calibration proteins of the demo's world and each network's scores."""
    labelled = make_world(WorldSettings(n_calibration=n, seed=seed)).calibration.labelled
    given = labelled.predictions
    scores = given.network_scores
    tools = [
        from_scores(given.ids, given.class_names, scores[:, at], 1.0, 0.0)
        for at in range(scores.shape[1])
    ]
    return labelled, tools


def merged(predictions: Predictions) -> Predictions:
    """Return a tool that tells the first half of the classes apart, and calls the rest rest."""
    n = predictions.n_classes // 2
    scores = predictions.scores
    few = np.column_stack([scores[:, :n], scores[:, n:].sum(axis=1)])
    return from_scores(
        predictions.ids, (*predictions.class_names[:n], "rest"), few, 1.0, predictions.resolution
    )


def noise(predictions: Predictions) -> Predictions:
    """Return scores that have nothing to do with the proteins."""
    rng = np.random.default_rng(0)
    scores = rng.dirichlet(np.ones(predictions.n_classes), predictions.n_samples)
    return from_scores(predictions.ids, predictions.class_names, scores, 1.0, 0.0)


def pooled(tools: list[Predictions]) -> Predictions:
    """Return the mean of several networks: a stronger tool."""
    first = tools[0]
    scores = np.mean([one.scores for one in tools], axis=0)
    return from_scores(first.ids, first.class_names, scores, 1.0, first.resolution)


def cases(tools: list[Predictions]) -> dict[str, dict[str, Predictions]]:
    """Return the combinations that are tried."""
    one, two = tools[0], tools[1]
    return {
        "two networks": {"one": one, "two": two},
        "all networks": {f"n{at}": tool for at, tool in enumerate(tools)},
        "one, and the mean of five others": {"one": one, "strong": pooled(tools[1:6])},
        "one, and another with half of its classes merged": {"one": one, "merged": merged(two)},
        "one, and noise": {"one": one, "noise": noise(one)},
        "one, two, merged, noise": {
            "one": one, "two": two, "merged": merged(tools[2]), "noise": noise(one),
        },
        "one, and another that answers half": {"one": one, "half": two},
        "one, and the same again": {"one": one, "again": replace(one)},
    }  # fmt: skip


def answers_of(labelled: Labelled, tools: dict[str, Predictions]) -> dict[str, Answers]:
    """Return the answers for some proteins; the tool `half` answers every other one."""
    place = {id_: row for row, id_ in enumerate(next(iter(tools.values())).ids)}
    row = np.array([place[id_] for id_ in labelled.predictions.ids])
    half = uniform(keys_of(labelled.predictions.ids), 0, "benchmark") < 0.5
    return {
        name: Answers(predictions=tool, row=np.where(half, -1, row) if name == "half" else row)
        for name, tool in tools.items()
    }


def classes_of(tools: dict[str, Predictions]) -> dict[str, dict[str, str]]:
    """Return the mapping of each tool's classes."""
    return {
        name: {own: "" if own == "rest" else own for own in tool.class_names}
        for name, tool in tools.items()
    }


def losses(log_p: np.ndarray, labelled: Labelled) -> np.ndarray:
    """Return the negative log-likelihood of each true class."""
    rows = np.arange(len(log_p))
    return -np.maximum(log_p[rows, labelled.true_class], LEAST_LOG)


def compare(title: str, labelled: Labelled, networks: list[Predictions]) -> None:
    """Print how all tools do, and the best one, on the half that no fit saw."""
    seen, unseen = halves(labelled)
    print(f"\n{title}: {seen.n_samples:,} rows calibrate, {unseen.n_samples:,} judge\n")
    print("| tools | best alone: NLL, right | together: NLL, right | NLL less that of the best "
          "| follows | processor seconds |")  # fmt: skip
    print("|---|---|---|---|---|---|")
    names = labelled.predictions.class_names
    for case, tools in cases(networks).items():
        start = time.process_time()
        answers = answers_of(seen, tools)
        fitted = fit_combination(seen, answers, classes_of(tools))
        finding = judge_tools(fitted, seen, answers, n_draws=0)
        seconds = time.process_time() - start
        whole = replace(fitted.combination, alone=finding.alone)
        stated = whole.stated(answers_of(unseen, tools))
        every = in_table_order(whole.combined(stated), names)
        alone = {
            name: in_table_order(whole.pooled({name: values}), names)
            for name, values in stated.items()
        }
        best = min(alone, key=lambda name: losses(alone[name], unseen).mean())
        above = losses(every, unseen) - losses(alone[best], unseen)

        def shown(log_p: np.ndarray) -> str:
            right = (log_p.argmax(axis=1) == unseen.true_class).mean()
            return f"{losses(log_p, unseen).mean():.4f}, {right:.4f}"

        error = paired_error(above, unseen)
        print(f"| {case} | {shown(alone[best])} | {shown(every)} | {above.mean():+.4f} ± "
              f"{error:.4f} | {finding.alone or 'all'} | {seconds:.1f} |", flush=True)  # fmt: skip


def masked_fit(stated: dict[str, np.ndarray], true: np.ndarray, ids: np.ndarray) -> object:
    """Return one softmax for all patterns, fitted to proteins with tools masked at random."""
    columns = []
    for copy in range(MASKS):
        is_kept = np.column_stack(
            [uniform(keys_of(ids), copy, f"mask {name}") < 0.5 for name in stated]
        )
        columns.append(masked_features(stated, is_kept if copy else np.ones_like(is_kept)))
    shared = np.concatenate([one.shared for one in columns])
    own = np.concatenate([one.own for one in columns])
    n_classes = shared.shape[1]
    start = np.full(shared.shape[2], 1.0 / shared.shape[2])
    ridge = np.ones((n_classes, own.shape[1]))
    truth = np.tile(np.eye(n_classes)[true] / MASKS, (MASKS, 1))
    return fit_softmax(SoftmaxInputs(shared=shared, own=own), truth, start, ridge)


def masked_features(stated: dict[str, np.ndarray], is_kept: np.ndarray) -> SoftmaxInputs:
    """Return what tools stated, nothing where one is masked, and which are."""
    product = np.stack(list(stated.values()), axis=2) * is_kept[:, None, :]
    return SoftmaxInputs(shared=product, own=1.0 - is_kept)


def missing(title: str, labelled: Labelled, networks: list[Predictions]) -> None:
    """Print what a fit for each pattern and one with masks lose where tools are missing."""
    seen, unseen = halves(labelled)
    tools = {"one": networks[0], "two": networks[1], "strong": pooled(networks[2:7])}
    fitted = fit_combination(seen, answers_of(seen, tools), classes_of(tools))
    whole, names = fitted.combination, labelled.predictions.class_names
    rank = np.argsort(np.argsort(np.array(names, dtype=object)))
    by_masks = masked_fit(dict(fitted.stated), rank[seen.true_class], seen.predictions.ids)
    stated = whole.stated(answers_of(unseen, tools))
    print(
        f"\n{title}\n\n| tools that answer | a fit for each pattern | one fit with masks | less |"
    )
    print("|---|---|---|---|")
    for kept in (("one",), ("strong",), ("one", "two"), ("one", "strong"), tuple(stated)):
        part = {name: stated[name] for name in kept}
        own = losses(in_table_order(whole.pooled(part), names), unseen)
        is_kept = np.tile([name in kept for name in stated], (unseen.n_samples, 1))
        masked = by_masks.log_probabilities(masked_features(stated, is_kept))
        other = losses(in_table_order(masked, names), unseen)
        error = paired_error(own - other, unseen)
        print(f"| {', '.join(kept)} | {own.mean():.4f} | {other.mean():.4f} | "
              f"{(own - other).mean():+.4f} ± {error:.4f} |", flush=True)  # fmt: skip


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=3000, help="Proteins of the simulated world.")
    given = parser.parse_args()
    worlds = {"Ten networks, real proteins": real_networks()}
    for seed in (1, 2):
        worlds[f"The simulated world, seed {seed}"] = simulated(given.rows, seed)
    for title, world in worlds.items():
        if world is not None:
            compare(title, *world)
            missing(f"{title}: a tool that is missing", *world)


if __name__ == "__main__":
    main()
