"""Networks: what each sees, what it stops by, and that neither order nor cores matter."""

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from credence.classifier.networks import (
    About,
    Classifier,
    Network,
    Recipe,
    _layers,
    balanced,
    left_out_by,
    published_of,
    stopping_part,
    summed,
    train_networks,
)

RECIPE = Recipe(8, 0.1, 1e-2, 4, 2)


def few_proteins(n_classes=3, n=240, seed=1):
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(n // 4), 4)
    class_ = family % n_classes
    features = rng.normal(size=(n, 6)) + np.eye(6)[class_] * 3.0
    cluster = np.array([f"family {one}" for one in family], dtype=object)
    group = family // n_classes % 5
    return features.astype(np.float32), class_, cluster, group


@pytest.fixture(scope="module")
def trained():
    features, class_, cluster, group = few_proteins()
    left_out = left_out_by(5, "every_group")
    networks = train_networks(features, class_, cluster, group, left_out, RECIPE)
    names = ("a", "b", "c")
    published = tuple(published_of(left_out))
    about = About(names, "p", 6, "every_group", 5, tuple(left_out), published, {})
    return Classifier(about, tuple(networks))


def test_eleven_groups_in_turn_need_55_networks_and_publish_ten():
    left_out = left_out_by(11, "every_group")
    assert len(left_out) == 55
    published = [left_out[at] for at in published_of(left_out)]
    assert published == [(group, group + 1) for group in range(10)]
    for group in range(11):
        assert sum(group in pair for pair in left_out) == len(published)


def test_with_a_test_group_each_network_leaves_one_group_out_and_all_are_published():
    left_out = left_out_by(10, "test_group")
    assert left_out == [(group,) for group in range(10)]
    assert published_of(left_out) == list(range(10))


def test_a_held_out_score_does_not_depend_on_the_protein_or_its_group(trained):
    features, class_, cluster, group = few_proteins()
    changed = features.copy()
    changed[group == 2] += 100.0
    networks = train_networks(
        changed, class_, cluster, group, list(trained.about.left_out), RECIPE
    )
    again = Classifier(trained.about, tuple(networks))
    asked = features[:8]
    np.testing.assert_array_equal(again.without(2, asked), trained.without(2, asked))
    assert (again.without(1, asked) != trained.without(1, asked)).any()


def test_held_out_scores_are_sums_on_the_scale_of_ten(trained):
    features, class_, _, group = few_proteins()
    scores = trained.held_out(features, group)
    np.testing.assert_allclose(scores.sum(axis=1), 10.0)
    assert (scores.argmax(axis=1) == class_).mean() > 0.9
    rows = group == 3
    np.testing.assert_array_equal(scores[rows], trained.without(3, features[rows]))


def test_a_group_that_nobody_saw_has_the_published_scores(trained):
    features, _, _, _ = few_proteins()
    scores = trained.held_out(features[:6], np.full(6, -1))
    np.testing.assert_array_equal(scores, trained.of_new(features[:6]))


def test_networks_are_the_same_bytes_with_several_threads(trained):
    features, class_, cluster, group = few_proteins()
    networks = train_networks(
        features, class_, cluster, group, trained.about.left_out, RECIPE, threads=3
    )
    for one, other in zip(networks, trained.networks, strict=True):
        for first, second in zip(one.weights, other.weights, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_our_products_give_the_probabilities_of_scikit_learn(n_classes):
    features, class_, _, _ = few_proteins(n_classes)
    model = MLPClassifier((5, 4, 4), random_state=0, max_iter=20, n_iter_no_change=50)
    with pytest.warns(UserWarning):
        model.fit(features, class_)
    weights, biases = _layers(model, n_classes)
    plain = Network(np.zeros(6, np.float32), np.ones(6, np.float32), weights, biases)
    inside = np.abs(features).max(axis=1) < 5.0  # farther ones are clipped
    np.testing.assert_allclose(
        plain.probabilities(features[inside]), model.predict_proba(features[inside]), atol=1e-5
    )


def test_a_network_stops_by_whole_clusters_of_each_class():
    _, class_, cluster, _ = few_proteins()
    chosen = stopping_part(class_, cluster, "a name")
    assert all(len(set(chosen[cluster == one])) == 1 for one in set(cluster))
    shares = [chosen[class_ == one].mean() for one in range(3)]
    assert all(0.04 <= share <= 0.1 for share in shares)
    assert (stopping_part(class_, cluster, "another") != chosen).any()
    order = np.random.default_rng(3).permutation(len(class_))
    np.testing.assert_array_equal(
        stopping_part(class_[order], cluster[order], "a name"), chosen[order]
    )


def test_a_cluster_larger_than_the_stopping_part_is_learnt_from():
    cluster = np.array(["large"] * 60 + [f"small {n}" for n in range(40)], dtype=object)
    chosen = stopping_part(np.zeros(100, dtype=int), cluster, "a name")
    assert not chosen[:60].any()
    assert chosen.sum() == 10


def test_a_class_with_one_cluster_is_learnt_from():
    class_ = np.array([0] * 20 + [1] * 20)
    cluster = np.array(["one"] * 20 + [f"{n}" for n in range(20)], dtype=object)
    chosen = stopping_part(class_, cluster, "a name")
    assert not chosen[:20].any()
    assert chosen[20:].sum() == 2


def test_balanced_weights_let_each_class_count_alike():
    class_ = np.array([0, 0, 0, 2])
    # Two classes are there: 4 / (2 * 3) and 4 / (2 * 1).
    np.testing.assert_allclose(balanced(class_, 3), [2 / 3, 2 / 3, 2 / 3, 2.0])


def test_a_constant_feature_is_no_division_by_zero(trained):
    features, class_, cluster, group = few_proteins()
    features[:, 1] = 7.0
    networks = train_networks(features, class_, cluster, group, [(0, 1)], RECIPE)
    assert np.isfinite(summed(networks, features)).all()
