"""What an ensemble's members say that their sum does not."""

from __future__ import annotations

import numpy as np

from credence.events.features.protocol import Computed, Feature, Seen

GROUP = "ensemble"
NEED = "the scores of an ensemble's members"


def _spread(seen: Seen) -> Computed:
    """Return how far the members' scores of the event lie apart (standard deviation)."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    inside = np.where(seen.held[:, None, :], networks, 0.0).sum(axis=2)
    return np.asarray(inside.std(axis=1))


def _vote_share(seen: Seen) -> Computed:
    """Return the share of the members whose best class is in the event."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    return np.asarray(np.take_along_axis(seen.held, votes, axis=1).mean(axis=1))


def _concordance(seen: Seen) -> Computed:
    """Return 1 where the predicted class is also that of most members' votes."""
    networks = seen.predictions.network_scores
    if networks is None:
        return None
    votes = networks.argmax(axis=2)
    n_classes = networks.shape[2]
    counts = np.stack([(votes == class_).sum(axis=1) for class_ in range(n_classes)], axis=1)
    own = counts[np.arange(len(counts)), seen.predictions.predicted_class]
    return np.asarray((own == counts.max(axis=1)).astype(float))


FEATURES = (
    Feature("spread", GROUP, "how far the members' scores of the event differ", NEED, _spread),
    Feature("vote_share", GROUP, "share of the members that vote for it", NEED, _vote_share),
    Feature("concordance", GROUP, "whether most vote as predicted", NEED, _concordance),
)
