"""Networks beside other learners on the same features and splits; speed and memory of training.

    .venv/bin/python -m benchmarks.classifier real [FOLDER] | simulated | speed

Prints a line for each learner as it is done. One group of whole clusters (or of proteins at
random) is kept; all learners see the others, the networks each but one. The loss is that of class
probabilities calibrated by one temperature, cross-fitted over whole families of the kept group;
differences from the networks have intervals with families as units.
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from verification.novelty_study import ProteinWorldSettings, simulate_proteins

from credence.classifier.features import FeatureSet
from credence.classifier.networks import FARTHEST, Recipe, left_out_by, summed, train_networks
from credence.draws import keys_of, uniform
from credence.relatives.all_engines import build_engine
from credence.relatives.pack import pack
from credence.stages.settings import ClassifierSettings, Settings
from credence.stages.split import relatives_from
from credence.stages.train import paired, read_given

DATA = Path("../shared/data")
CLASSES = {
    "HTJ": "phanns_htj_1277.fasta.gz",
    "Major capsid": "phanns_major_capsid_7301.fasta.gz",
    "Minor capsid": "phanns_minor_capsid_656.fasta.gz",
}
GROUPS, FOLDS, FLOOR = 10, 5, 1e-6
KEPT = 6  # groups of the real set that are kept in turn
MOST = 10  # proteins of a cluster, which may be thousands of near copies
S = ClassifierSettings()
RECIPE = Recipe(S.width, S.penalty, S.rate, S.epochs, S.patience)
BALANCED = {"class_weight": "balanced", "random_state": 0}
RIVALS: dict[str, Any] = {
    "logistic regression": LogisticRegression(C=0.001, max_iter=300, class_weight="balanced"),
    "random forest": RandomForestClassifier(300, min_samples_leaf=2, **BALANCED),
    "histogram boosting": HistGradientBoostingClassifier(
        max_iter=60, early_stopping=False, max_features=0.1, **BALANCED
    ),
}


def calibrated(scores: Any, truth: Any, cluster: Any) -> Any:
    """Return the loss of each protein after a temperature learnt on other families."""
    fold = (uniform(keys_of(cluster), 0, "fold") * FOLDS).astype(int)
    logs = np.log(np.maximum(scores / scores.sum(axis=1, keepdims=True), FLOOR))
    rows = np.arange(len(truth))

    def losses(temperature: float) -> Any:
        scaled = logs / temperature
        scaled = scaled - scaled.max(axis=1, keepdims=True)
        return np.log(np.exp(scaled).sum(axis=1)) - scaled[rows, truth]

    found = np.empty(len(truth))
    for one in range(FOLDS):
        learnt = fold != one
        if learnt.all() or not learnt.any():
            continue
        best = minimize_scalar(
            lambda temperature: losses(temperature)[learnt].mean(),  # noqa: B023
            bounds=(0.05, 10.0),
            method="bounded",
        )
        found[~learnt] = losses(best.x)[~learnt]
    return found


def line(
    name: str, what: str, scores: Any, known: tuple[Any, Any], ours: Any, spent: float
) -> Any:
    """Print how a learner did; return its losses."""
    truth, cluster = known
    loss = calibrated(scores, truth, cluster)
    right = (scores.argmax(axis=1) == truth).mean()
    text = ""
    if ours is not None:
        mean, lower, _ = paired(loss - ours, cluster)
        text = f" networks' loss lower by {mean:+.3f} (95 %: ± {mean - lower:.3f})"
    print(f"{name} | {what} | {right:.3f} | {loss.mean():.3f} | {spent:.0f} s |{text}", flush=True)
    return loss


def judge(name: str, values: Any, class_: Any, cluster: Any, group: Any, rivals: bool) -> None:
    """Train all learners without the group -1 and judge them on it."""
    kept, seen = group < 0, group >= 0
    known = class_[kept], cluster[kept]
    began = time.process_time()
    left_out = left_out_by(GROUPS, "test_group")
    networks = train_networks(values, class_, cluster, group, left_out, RECIPE)
    scores = summed(networks, values[kept])
    ours = line(name, "ten networks", scores, known, None, time.process_time() - began)
    if not rivals:
        return
    mean, spread = values[seen].mean(axis=0), values[seen].std(axis=0) + 1e-9
    scaled = np.clip((values - mean) / spread, -FARTHEST, FARTHEST)
    for what, model in RIVALS.items():
        began = time.process_time()
        model.fit(scaled[seen], class_[seen])
        chances = model.predict_proba(scaled[kept])
        line(name, what, chances, known, ours, time.process_time() - began)


def grouped(ids: Any, cluster: Any, class_: Any, place: int = 0) -> Any:
    """Return groups of whole clusters: -1 for the one that is kept, by its number of clusters."""
    packed = pack(ids, cluster, class_, GROUPS + 1).group.astype(int)
    by_size = sorted(range(1, GROUPS + 2), key=lambda one: -len(set(cluster[packed == one])))
    kept = by_size[place]
    numbers = np.delete(np.arange(GROUPS + 2), [0, kept])
    return np.where(packed == kept, -1, np.searchsorted(numbers, packed))


def thinned(cluster: Any, ids: Any) -> Any:
    """Return the rows of at most `MOST` proteins of each cluster, by hash of their names."""
    order = np.lexsort((uniform(keys_of(ids), 0, "thin"), cluster.astype(str)))
    names = cluster[order].astype(str)
    _, first, n_each = np.unique(names, return_index=True, return_counts=True)
    rank = np.arange(len(order)) - np.repeat(first, n_each)
    return np.sort(order[rank < MOST])


def real(folder: Path) -> None:
    """Judge on the three real sets, split by clusters and at random."""
    paths = [str(folder / file) for file in CLASSES.values()]
    given = read_given(paths, "first_word", None, {})
    ids = given.proteins.ids
    engine = build_engine("mmseqs", relatives_from(Settings()), 1, None)
    cluster = engine.cluster(given.proteins).cluster
    print(f"{len(ids)} proteins, {len(set(cluster))} clusters", flush=True)
    rows = thinned(cluster, ids)
    ids, cluster, class_ = ids[rows], cluster[rows], given.true_class[rows]
    print(f"{len(ids)} of them, at most {MOST} of each cluster", flush=True)
    for features in ("di_sc_p", "tetra_sc_p"):
        values = FeatureSet(features).of(given.proteins.sequences[rows])
        for place in range(KEPT):
            for what, units in (("clusters", cluster), ("at random", ids)):
                group = grouped(ids, units, class_, place)
                judge(f"real, {features}, {what}", values, class_, cluster, group, True)


def simulated() -> None:
    """Judge on simulated proteins, from narrow features and from wide ones."""
    for features, n_families, seed in (("di_sc_p", 1500, 21), ("tetra_sc_p", 1500, 21)):
        settings = ProteinWorldSettings(n_classes=8, n_families=n_families, seed=seed)
        known = simulate_proteins(settings)
        values = FeatureSet(features).of(known.sequences)
        ids, class_, cluster = known.ids, known.true_class, known.cluster
        name = f"simulated, {features}"
        judge(name, values, class_, cluster, grouped(ids, cluster, class_), True)
        judge(f"{name}, at random", values, class_, cluster, grouped(ids, ids, class_), False)


def speed() -> None:
    """Time ten networks on 20,000 proteins and 2,409 features, and scores of new ones."""
    settings = ProteinWorldSettings(n_classes=11, n_families=9_700, seed=5)
    known = simulate_proteins(settings)
    sequences = known.sequences[:20_000]
    began = time.process_time()
    values = FeatureSet("tetra_sc_p").of(sequences)
    print(f"features: {len(sequences)} in {time.process_time() - began:.0f} s", flush=True)
    class_, cluster = known.true_class[: len(values)], known.cluster[: len(values)]
    group = grouped(known.ids[: len(values)], cluster, class_)
    began, wall = time.process_time(), time.perf_counter()
    networks = train_networks(
        values, class_, cluster, group, left_out_by(GROUPS, "test_group"), RECIPE, 2,
        lambda: print(f"{time.process_time() - began:.0f} s", flush=True),
    )  # fmt: skip
    spent, passed = time.process_time() - began, time.perf_counter() - wall
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"ten networks: {spent:.0f} s of processors, {passed:.0f} s, {memory:.1f} GB", flush=True
    )
    began = time.process_time()
    part = FeatureSet("tetra_sc_p").of(sequences[:4_096])
    summed(networks, part)
    rate = len(part) / (time.process_time() - began)
    print(f"scores: {rate:.0f} proteins a second of one processor", flush=True)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "real"
    if what == "real":
        real(Path(sys.argv[2]) if len(sys.argv) > 2 else DATA)
    else:
        {"simulated": simulated, "speed": speed}[what]()
