"""Ensembles of networks: each learns without some groups of whole clusters, and scores those."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from sklearn.neural_network import MLPClassifier

from credence.draws import blake2b_keys, encode_clusters, uniform
from credence.predictions import Booleans, Floats, Integers, Strings

Singles = NDArray[np.float32]
SCALE = 10.0  # what a protein's scores sum to, as PhANNs' of ten networks do
INNER = 200  # width of the second and the third layer, PhANNs' own
STOPPING_SHARE = 0.1  # of each class, by which a network stops and that it does not learn from
BATCH = 200
AT_ONCE = 256  # proteins that are scored together
FARTHEST = 5.0  # standard deviations; a rare word counts no more
EPOCHS_BLIND = 20  # where there are too few clusters to stop by some
VECTORS = "vectors"
TEST_GROUP, EVERY_GROUP, BOTH = "test_group", "every_group", "both"


@dataclass(frozen=True)
class Recipe:
    """How one network learns."""

    width: int  # Of the first layer, at most
    penalty: float  # Of squared weights, in place of PhANNs' dropout
    rate: float  # Of learning
    epochs: int  # At most
    patience: int  # Epochs without a better loss on the stopping part


@dataclass(frozen=True, eq=False)
class Network:
    """One trained network."""

    mean: Singles  # Of each feature
    scale: Singles  # What each feature is multiplied by
    weights: tuple[Singles, ...]  # Of each layer
    biases: tuple[Singles, ...]

    def scaled(self, features: Singles) -> Singles:
        """Return features as the first layer sees them."""
        return np.asarray(np.clip((features - self.mean) * self.scale, -FARTHEST, FARTHEST))

    def probabilities(self, features: Singles) -> Floats:
        """Return the softmax of proteins, the same bits for each whatever stands beside it.

        The last bits of a product depend on its shape, so that all have one shape.
        """
        found = np.empty((len(features), len(self.biases[-1])))
        block = np.zeros((AT_ONCE, features.shape[1]), dtype=np.float32)
        for start in range(0, len(features), AT_ONCE):
            rows = features[start : start + AT_ONCE]
            block[: len(rows)] = self.scaled(rows)
            chance = _softmax(block, self.weights, self.biases)
            found[start : start + AT_ONCE] = chance[: len(rows)]
        return found


def _softmax(values: Singles, weights: Sequence[Singles], biases: Sequence[Singles]) -> Floats:
    *inner, (last, bias) = zip(weights, biases, strict=True)
    for weight, shift in inner:
        values = np.maximum(values @ weight + shift, 0.0)
    logits = (values @ last + bias).astype(np.float64)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def left_out_by(n_groups: int, scores: str) -> list[tuple[int, ...]]:
    """Return the groups that each network leaves out.

    One each where a test group calibrates, which is none of these groups. Where every group does,
    each pair: what leaves out two groups scores both, so that 11 groups need 55 networks.
    """
    return list(combinations(range(n_groups), 1 if scores == TEST_GROUP else 2))


def published_of(left_out: Sequence[tuple[int, ...]]) -> list[int]:
    """Return which networks score new proteins: as many as score a protein held out.

    Of networks that leave out pairs these leave out a group and the next one.
    """
    if len(left_out[0]) == 1:
        return list(range(len(left_out)))
    return [at for at, (one, other) in enumerate(left_out) if other == one + 1]


def stopping_part(class_: Integers, cluster: Strings, name: str) -> Booleans:
    """Return which proteins a network stops by: whole clusters, a tenth of each class.

    Keyed to the names of clusters and network; clusters larger than that are learnt from.
    """
    codes, keys = encode_clusters(cluster)
    size = np.bincount(codes)
    of_class = np.zeros(len(keys), dtype=np.int64)
    of_class[codes] = class_
    most = STOPPING_SHARE * np.bincount(class_)[of_class]
    order = np.lexsort((uniform(keys, 0, name), of_class))
    order = order[(size <= most)[order]]
    before = np.cumsum(size[order])
    _, first = np.unique(of_class[order], return_index=True)
    start = np.concatenate([[0], before])[first]
    n_each = np.diff(np.append(first, len(order)))
    is_chosen = np.zeros(len(keys), dtype=np.bool_)
    is_chosen[order] = before - np.repeat(start, n_each) <= most[order]
    return is_chosen[codes]


def balanced(class_: Integers, n_classes: int) -> Floats:
    """Return weights of mean 1 by which each class that is there counts alike."""
    n = np.bincount(class_, minlength=n_classes)
    return np.asarray(len(class_) / ((n > 0).sum() * n[class_]))


def train_network(
    features: Singles,
    class_: Integers,
    cluster: Strings,
    n_classes: int,
    left_out: tuple[int, ...],
    recipe: Recipe,
) -> Network:
    """Return a network that learnt from some proteins, every class among them."""
    name = "network without " + " and ".join(str(group + 1) for group in left_out)
    is_stopping = stopping_part(class_, cluster, name)
    learnt, stopping = np.flatnonzero(~is_stopping), np.flatnonzero(is_stopping)
    values = features[learnt]
    mean = values.mean(axis=0, dtype=np.float64)
    spread = values.std(axis=0, dtype=np.float64)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    empty = Network(mean.astype(np.float32), scale.astype(np.float32), (), ())
    values, judged = empty.scaled(values), empty.scaled(features[stopping])
    truth, wanted = class_[learnt], class_[stopping]
    weight, wanted_weight = balanced(truth, n_classes), balanced(wanted, n_classes)
    seed = int(blake2b_keys([name.encode()])[0] >> np.uint64(32))
    model = MLPClassifier(
        hidden_layer_sizes=(min(features.shape[1], recipe.width), INNER, INNER),
        alpha=recipe.penalty,
        learning_rate_init=recipe.rate,
        batch_size=min(BATCH, len(learnt)),
        random_state=seed,
    )
    best, since = np.inf, 0
    kept: tuple[tuple[Singles, ...], tuple[Singles, ...]] = ((), ())
    for _ in range(recipe.epochs if len(stopping) else min(EPOCHS_BLIND, recipe.epochs)):
        model.partial_fit(values, truth, weight, classes=np.arange(n_classes))
        weights, biases = _layers(model, n_classes)
        loss, since = -np.inf, since + 1
        if len(stopping):
            chance = _softmax(judged, weights, biases)[np.arange(len(wanted)), wanted]
            loss = float(-(wanted_weight * np.log(np.maximum(chance, 1e-15))).mean())
        if loss < best or not len(stopping):
            best, since = loss, 0
            kept = tuple(map(np.copy, weights)), tuple(map(np.copy, biases))
        if since >= recipe.patience:
            break
    return Network(empty.mean, empty.scale, *kept)


def _layers(
    model: MLPClassifier, n_classes: int
) -> tuple[tuple[Singles, ...], tuple[Singles, ...]]:
    """Return weights and biases; of two classes scikit-learn has one output, the second's."""
    weights, biases = tuple(model.coefs_), tuple(model.intercepts_)
    if n_classes == 2:
        last, bias = weights[-1], biases[-1]
        weights = (*weights[:-1], np.hstack([np.zeros_like(last), last]))
        biases = (*biases[:-1], np.concatenate([np.zeros_like(bias), bias]))
    return weights, biases


def train_networks(
    features: Singles,
    class_: Integers,
    cluster: Strings,
    group: Integers,
    left_out: Iterable[tuple[int, ...]],
    recipe: Recipe,
    threads: int = 1,
    ready: Callable[[], None] = lambda: None,
) -> list[Network]:
    """Return a network for each choice of groups to leave out; group -1 is seen by none.

    A network is one job, whose bytes do not depend on how many work at a time.
    """
    n_classes = int(class_.max()) + 1

    def train(without: tuple[int, ...]) -> Network:
        rows = np.flatnonzero((group >= 0) & ~np.isin(group, without))
        learnt_from = (features[rows], class_[rows], cluster[rows])
        network = train_network(*learnt_from, n_classes, without, recipe)
        ready()
        return network

    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(train, left_out))


def summed(networks: Sequence[Network], features: Singles) -> Floats:
    """Return the scores of proteins: the sum of softmaxes, on the scale of ten networks."""
    total = sum(network.probabilities(features) for network in networks)
    return np.asarray(total * (SCALE / len(networks)))


@dataclass(frozen=True)
class About:
    """What a classifier is."""

    class_names: tuple[str, ...]  # In the order of the scores
    features: str  # The name of a set of features, or `VECTORS`
    n_features: int
    scores: str  # Whose scores calibrate: `TEST_GROUP`, `EVERY_GROUP` or `BOTH`
    n_groups: int  # Of whole clusters, the test group not counted
    left_out: tuple[tuple[int, ...], ...]  # Groups that each network did not see
    published: tuple[int, ...]  # Which networks score new proteins
    inputs: Mapping[str, str]  # Name of each file that it learnt from → its SHA-256


@dataclass(frozen=True, eq=False)
class Classifier:
    """An ensemble that gives scores to proteins."""

    about: About
    networks: tuple[Network, ...]

    def of_new(self, features: Singles) -> Floats:
        """Return the scores of proteins that are no relatives of those learnt from."""
        return summed([self.networks[at] for at in self.about.published], features)

    def without(self, group: int, features: Singles) -> Floats:
        """Return the scores by the networks that did not see a group."""
        pairs = zip(self.networks, self.about.left_out, strict=True)
        return summed([one for one, left_out in pairs if group in left_out], features)

    def held_out(self, features: Singles, group: Integers) -> Floats:
        """Return scores by networks that saw neither a protein nor its group; -1: none did."""
        found = np.empty((len(group), len(self.about.class_names)))
        for one in np.unique(group):
            rows = group == one
            values = features[rows]
            found[rows] = self.of_new(values) if one < 0 else self.without(int(one), values)
        return found
