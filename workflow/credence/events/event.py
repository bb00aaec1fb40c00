"""Events: sets of classes that can depend on what was predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from credence.calibrators.score_logs import name_order
from credence.predictions import Booleans, Integers, Labelled, Predictions
from credence.problems import Problem, nearest, raise_any

EVENT_OF_PREDICTED = "predicted_class"
EACH_CLASS = "each_class"
BEST = {EVENT_OF_PREDICTED: 1, "two_best": 2, "three_best": 3}
STANDING = (*BEST, EACH_CLASS)  # events that need no definition


@dataclass(frozen=True, kw_only=True)
class Event:
    """Whether a protein's true class is one of a set, which one of the last two gives."""

    name: str  # Unique among the events of a run
    n_best: int = 0  # So many classes of the highest scores, the predicted one first
    classes: tuple[str, ...] = ()  # A fixed set

    @property
    def words(self) -> str:
        """What the event means, for a reader."""
        if self.n_best == 1:
            return "the true class is the predicted one"
        if self.n_best:
            return f"the true class is among the {self.n_best} best"
        if len(self.classes) == 1:
            return f"the true class is {self.classes[0]}"
        return f"the true class is one of {', '.join(self.classes)}"


def class_ranks(predictions: Predictions) -> Integers:
    """Return the place of every class in each row, the predicted one's 1, shape as the scores."""
    n_samples, n_classes = predictions.n_samples, predictions.n_classes
    rows = np.arange(n_samples)
    place = np.full((n_samples, n_classes), n_classes, dtype=np.int64)
    if predictions.scores is not None:
        order = name_order(predictions.class_names)
        scores = predictions.scores.astype(float)
        scores[rows, predictions.predicted_class] = np.inf
        best = order[np.argsort(-scores[:, order], axis=1, kind="stable")]
        np.put_along_axis(place, best, np.arange(1, n_classes + 1)[None, :], axis=1)
    place[rows, predictions.predicted_class] = 1
    return place


def membership(event: Event, predictions: Predictions) -> Booleans:
    """Return which classes the event holds for each protein, shape (n_samples, n_classes)."""
    if event.n_best:
        return np.asarray(class_ranks(predictions) <= event.n_best)
    chosen = np.isin(np.array(predictions.class_names, dtype=object), list(event.classes))
    return np.broadcast_to(chosen, (predictions.n_samples, predictions.n_classes)).copy()


def memberships(events: Sequence[Event], predictions: Predictions) -> Booleans:
    """Return :func:`membership` of all events, shape (n_events, n_samples, n_classes)."""
    return np.stack([membership(event, predictions) for event in events])


def outcomes(held: Booleans, true_class: Integers) -> Booleans:
    """Return whether each event came true, shape (…, n_samples)."""
    return np.asarray(held[..., np.arange(len(true_class)), true_class])


def as_question(labelled: Labelled, came_true: Booleans) -> Labelled:
    """Return proteins that are right where an event came true, to judge it as confidences are."""
    asked = labelled.predictions
    yes = np.ones(asked.n_samples, dtype=np.int64)
    predictions = Predictions(
        ids=asked.ids, class_names=("no", "yes"), scale=1.0, resolution=0.0, predicted_class=yes
    )
    return Labelled(
        predictions=predictions,
        true_class=came_true.astype(np.int64),
        weight=labelled.weight,
        cluster=labelled.cluster,
    )


def events_of(
    standing: Sequence[str], groups: Mapping[str, Sequence[str]], class_names: Sequence[str]
) -> tuple[Event, ...]:
    """Return the events asked for, each checked against the classes."""
    problems: list[Problem] = []
    events: list[Event] = []
    known = tuple(class_names)
    for name in standing:
        if name not in STANDING:
            problem = f"there is no event {name!r}."
            problems.append(Problem(where="--ask", what=problem, remedy=nearest(name, STANDING)))
        elif name in BEST:
            events.append(Event(name=name, n_best=BEST[name]))
        else:
            events += [Event(name=class_name, classes=(class_name,)) for class_name in class_names]
    for name, classes in groups.items():
        for class_ in classes:
            if class_ not in known:
                problem, remedy = f"there is no class {class_!r}.", nearest(class_, known)
                problems.append(
                    Problem(where="--named", what=problem, remedy=remedy, line=None, column=name)
                )
        events.append(Event(name=name, classes=tuple(dict.fromkeys(classes))))
    problems += [
        Problem(
            where="--named",
            what=f"{name!r} can be no event's name.",
            remedy="Give it another name.",
        )
        for name in groups
        if not name.strip() or name in STANDING
    ]
    names = [event.name for event in events]
    problems += [
        Problem(
            where="--named" if name in groups else "--ask",
            what=f"two events are called {name!r}.",
            remedy="Give one another name.",
        )
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    raise_any(problems)
    return tuple(events)
