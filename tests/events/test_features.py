"""Features by hand, on rows that a reader can check."""

from __future__ import annotations

import numpy as np
import pytest

from credence.events.event import Event, membership
from credence.events.features import FEATURES, EventEvidence, OneEvent, table_of
from credence.predictions import Predictions, from_scores
from drawn_events import drawn

NAMES = ("A", "B", "C")
NETWORKS = np.array(
    [
        [[0.8, 0.1, 0.1], [0.4, 0.5, 0.1], [0.9, 0.0, 0.1]],
        [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.5, 0.3, 0.2]],
    ]
)


def stated() -> Predictions:
    ids = np.array(["p", "q"], dtype=object)
    return from_scores(ids, NAMES, NETWORKS.sum(axis=1), 3.0, 0.0, network_scores=NETWORKS)


def seen(event: Event, **more: object) -> OneEvent:
    evidence = EventEvidence(predictions=stated(), **more)  # type: ignore[arg-type]
    return OneEvent(
        evidence=evidence, held=membership(event, stated()), frequency=np.array([0.5, 0.2, 0.3])
    )


def column(name: str, event: Event, **more: object) -> list[float]:
    table = table_of(seen(event, **more), [name])
    assert set(table.feature) == {name}
    return table.values.squeeze().tolist()


BC = Event(name="bc", classes=("B", "C"))
BEST = Event(name="best", n_best=1)


def test_scores_of_the_event_by_hand() -> None:
    # Row sums are 3: 2.1, 0.6, 0.3 and 0.9, 0.9, 1.2.
    assert column("top_score", BC) == pytest.approx([0.7, 0.4])
    assert column("event_score", BC) == pytest.approx([np.log(0.3 / 0.7), np.log(0.7 / 0.3)])
    assert column("event_score", BEST) == pytest.approx([np.log(7 / 3), np.log(4 / 6)])
    assert column("event_rank", BC) == [2, 1]
    assert column("margin", BC) == [
        pytest.approx([0.5, np.log(7 / 2)]),
        pytest.approx([0.1, np.log(4 / 3)]),
    ]
    entropy = -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
    assert column("entropy", BC)[0] == pytest.approx(entropy)


def test_classes_by_hand() -> None:
    assert column("predicted_class", BC) == [[1, 0, 0], [0, 0, 1]]
    assert column("runner_up", BC) == [[0, 1, 0], [1, 0, 0]]  # a tie of A and B goes to A
    assert column("class_frequency", BC) == [0.5, 0.3]
    assert column("class_type", BC, types=(BC, Event(name="ab", classes=("A", "B")))) == [
        [0, 1],
        [1, 0],
    ]


def test_the_ensemble_by_hand() -> None:
    # The members give B and C together 0.2, 0.6, 0.1 and 0.8, 0.8, 0.5.
    assert column("spread", BC) == pytest.approx(
        [np.std([0.2, 0.6, 0.1]), np.std([0.8, 0.8, 0.5])]
    )
    # Votes A, B, A and C, C, A.
    assert column("vote_share", BC) == pytest.approx([1 / 3, 2 / 3])
    assert column("concordance", BC) == [1, 1]


def test_what_is_given_by_hand() -> None:
    found = column("distance", BC, distance=np.array([0.1, np.nan]))
    assert found[0] == 0.1 and np.isnan(found[1])


def test_what_is_not_given_is_missing_by_name() -> None:
    table = table_of(seen(BC), [entry.name for entry in FEATURES])
    assert table.missing == ("class_type", "distance")
    bare = Predictions(
        ids=np.array(["p"], dtype=object),
        class_names=NAMES,
        scale=1.0,
        resolution=0.0,
        predicted_class=np.array([1]),
    )
    held = membership(BEST, bare)
    one = table_of(
        OneEvent(evidence=EventEvidence(predictions=bare), held=held, frequency=np.ones(3) / 3),
        [f.name for f in FEATURES],
    )
    assert set(one.feature) == {"predicted_class", "class_frequency"}


def test_every_feature_has_a_name_of_its_own() -> None:
    assert len({entry.name for entry in FEATURES}) == len(FEATURES)


def test_neither_the_unit_nor_the_order_of_classes_reaches_a_feature() -> None:
    of = drawn().predictions
    assert of.scores is not None and of.network_scores is not None
    names = [entry.name for entry in FEATURES]
    order = [3, 0, 4, 2, 1]
    other = from_scores(
        of.ids,
        tuple(of.class_names[k] for k in order),
        of.scores[:, order] * 2.7,
        of.scale * 2.7,
        of.resolution * 2.7,
        network_scores=of.network_scores[:, :, order],
    )
    event = Event(name="two", n_best=2)
    share = np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    one = table_of(
        OneEvent(
            evidence=EventEvidence(predictions=of), held=membership(event, of), frequency=share
        ),
        names,
    )
    two = table_of(
        OneEvent(
            evidence=EventEvidence(predictions=other),
            held=membership(event, other),
            frequency=share[order],
        ),
        names,
    )
    assert one.feature == two.feature
    assert two.values == pytest.approx(one.values, abs=1e-8)
