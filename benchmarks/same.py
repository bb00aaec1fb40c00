"""How often `annotate` warns of another classifier, on halves of the real tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from benchmarks.data import BLOCK, REAL_TABLE, real_table
from benchmarks.run import table

from credence.composition.sameness import Sketch, SketchCounts, sketch_of
from credence.draws import encode_clusters
from credence.predictions import Floats, Integers, Labelled, Predictions, from_scores, label

SEED = 13
N_TIMES = 14
SIZES = (500, 2_000)
DECIMALS = 2
LEAST = 1e-4  # a probability below is as good as none in a file of four decimals
NETWORKS = "phanns_ten_networks.npz"
RIGHT = "unchanged", "mix drawn from all (Dirichlet of ones)", "one class removed"


def random_halves(labelled: Labelled, rng: np.random.Generator) -> tuple[Labelled, Labelled]:
    """Return two halves of whole blocks, each class's blocks shuffled."""
    code, keys = encode_clusters(labelled.cluster)
    class_of = np.zeros(len(keys), dtype=np.int64)
    class_of[code] = labelled.true_class
    in_first = np.zeros(len(keys), dtype=np.bool_)
    for class_ in range(labelled.predictions.n_classes):
        in_first[rng.permutation(np.flatnonzero(class_of == class_))[::2]] = True
    return labelled.take(in_first[code]), labelled.take(~in_first[code])


def power(scores: Floats, exponent: float, scale: float) -> Floats:
    """Return every row to a power, summing to the scale again, as a table would show it."""
    raised = (scores / scores.sum(axis=1, keepdims=True)) ** exponent
    return np.round(scale * raised / raised.sum(axis=1, keepdims=True), DECIMALS)


def of_mix(labelled: Labelled, share: Floats, n: int, rng: np.random.Generator) -> Integers:
    """Return rows of a mix, each at most once: a class gives no more than it has."""
    wanted = rng.multinomial(n, share)
    rows = [
        rng.permutation(np.flatnonzero(labelled.true_class == class_))[:count]
        for class_, count in enumerate(wanted)
    ]
    return np.concatenate(rows)


def changed(labelled: Labelled, n: int, rng: np.random.Generator) -> Iterator[tuple[str, Floats]]:
    """Yield query sets of a half: those that are right, then those that are not."""
    scores, n_classes = labelled.predictions.scores, labelled.predictions.n_classes
    assert scores is not None
    held = np.bincount(labelled.true_class, minlength=n_classes) > 0
    share = np.zeros(n_classes)
    share[held] = rng.dirichlet(np.ones(held.sum()))
    plain = scores[rng.choice(labelled.n_samples, n, replace=False)]
    without = np.flatnonzero(labelled.true_class != rng.choice(np.flatnonzero(held)))
    yield RIGHT[0], plain
    yield RIGHT[1], scores[of_mix(labelled, share, n, rng)]
    yield RIGHT[2], scores[rng.choice(without, n, replace=len(without) < n)]
    yield "softened: power ½", power(plain, 0.5, labelled.predictions.scale)
    yield "sharpened: power 2", power(plain, 2.0, labelled.predictions.scale)
    yield "all columns shuffled", plain[:, rng.permutation(n_classes)]
    predicted = np.bincount(plain.argmax(axis=1), minlength=n_classes)
    order = np.argsort(-predicted, kind="stable")
    most, next_ = order[:2]
    yield "the two most frequent columns exchanged", _exchanged(plain, most, next_)
    one = rng.choice(order[1:])
    yield "the most frequent column exchanged with another", _exchanged(plain, most, one)
    first, second = rng.choice(order[1:], 2, replace=False)
    yield "two other columns exchanged", _exchanged(plain, first, second)


def _exchanged(scores: Floats, one: int, other: int) -> Floats:
    found = scores.copy()
    found[:, [one, other]] = scores[:, [other, one]]
    return found


def networks() -> tuple[Labelled, Floats] | None:
    """Return ten networks' summed scores with blocks as clusters, and those pooled by logs."""
    path = REAL_TABLE.parent / NETWORKS
    if not path.is_file():
        return None
    held = np.load(path, allow_pickle=False)
    names = tuple(held["class_names"].tolist())
    soft = held["softmax"].astype(np.float64)
    truth = np.array([names.index(name) for name in held["true_class"]])
    place = np.zeros(len(truth), dtype=np.int64)
    for class_ in range(len(names)):
        place[truth == class_] = np.arange((truth == class_).sum())
    cluster = np.array(
        [f"{c}.{p // BLOCK}" for c, p in zip(truth, place, strict=True)], dtype=object
    )
    logs = np.log(np.maximum(soft, LEAST)).sum(axis=1)
    pooled = np.exp(logs - logs.max(axis=1, keepdims=True))
    pooled = np.round(10.0 * pooled / pooled.sum(axis=1, keepdims=True), DECIMALS)
    summed = np.round(soft.sum(axis=1), DECIMALS)
    predictions = from_scores(held["id"].astype(object), names, summed, 10.0, 0.01)
    return label(predictions, truth, cluster=cluster), pooled


def same_classifier() -> str:
    """Return how often each kind of query set gets the warning."""
    labelled = real_table()
    if labelled is None:
        return "Not run: the real table is absent.\n"
    counts: dict[tuple[str, int, bool], list[bool]] = {}
    for time in range(N_TIMES):
        rng = np.random.default_rng([SEED, time])
        own, rest = random_halves(labelled, rng)
        for only_top in (False, True):
            sketch = sketch_of(replace(own, predictions=_seen(own.predictions, only_top)))
            assert sketch is not None
            for n in SIZES:
                for name, scores in changed(rest, n, np.random.default_rng([SEED, time, n])):
                    found = _looked(sketch, _use(own, scores, only_top))
                    counts.setdefault((name, n, only_top), []).append(found)
    rows = [
        [name, *(f"{np.mean(counts[name, n, top]):.2f}" for top in (False, True) for n in SIZES)]
        for name in dict.fromkeys(name for name, _, _ in counts)
    ]
    what = [f"{n:,}{only}" for only in ("", ", top score alone") for n in SIZES]
    text = (
        f"Share of {N_TIMES} times in which the warning is given: each time PhANNs' first table "
        f"is halved by whole blocks of {BLOCK} rows, one half calibrates, and from the other so "
        "many proteins are drawn, none twice. The first three rows are false alarms. The limits "
        "of the test were chosen on this same table, so the rates flatter it; with so few times a "
        "rate is known to about a tenth.\n\n"
    )
    return text + table(["query set", *what], rows) + _other_versions()


def _looked(sketch: Sketch, predictions: Predictions) -> bool:
    look = SketchCounts(sketch, predictions.class_names)
    look.add(predictions)
    found = look.found()
    return found is not None and found.is_changed


def _seen(predictions: Predictions, only_top: bool) -> Predictions:
    return replace(predictions, scores=None) if only_top else predictions


def _use(labelled: Labelled, scores: Floats, only_top: bool) -> Predictions:
    base = labelled.predictions
    ids = np.arange(len(scores)).astype(str).astype(object)
    return _seen(from_scores(ids, base.class_names, scores, base.scale, 0.01), only_top)


def _other_versions() -> str:
    """Return the same of another pooling of ten networks, and of half of them."""
    held = networks()
    if held is None:
        return "\nTen networks: not run, the file is absent.\n"
    labelled, pooled = held
    row_of = {id_: row for row, id_ in enumerate(labelled.predictions.ids)}
    hits: dict[str, list[bool]] = {}
    for time in range(N_TIMES):
        rng = np.random.default_rng([SEED, time, 1])
        own, rest = random_halves(labelled, rng)
        sketch = sketch_of(own)
        assert sketch is not None
        rows = rng.choice(rest.n_samples, SIZES[0], replace=False)
        chosen = rest.predictions.take(rows)
        at = [row_of[id_] for id_ in chosen.ids]
        for name, scores in (
            ("pooled as in calibration", chosen.scores),
            ("pooled by summed logs", pooled[at]),
        ):
            found = _looked(sketch, _use(own, scores, False))
            hits.setdefault(name, []).append(found)
    old = real_table()
    if old is not None:
        names, now = old.predictions.class_names, labelled.predictions
        assert now.scores is not None
        columns = [now.class_names.index(name) for name in names]
        sketch = sketch_of(old)
        assert sketch is not None
        rng = np.random.default_rng([SEED, 2])
        for _ in range(N_TIMES):
            scores = now.scores[rng.choice(len(now.scores), SIZES[0], replace=False)][:, columns]
            found = _looked(sketch, _use(old, scores, False))
            hits.setdefault("a later version on the sketch of the first", []).append(found)
    lines = [[name, f"{np.mean(found):.2f}"] for name, found in hits.items()]
    return (
        "\nThe same of 7,217 structural proteins with the scores of ten networks, halved in the "
        f"same way, {SIZES[0]} proteins:\n\n" + table(["query set", "warned"], lines)
    )
