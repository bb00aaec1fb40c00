"""All forecasters of events. One line each."""

from __future__ import annotations

from credence.events.forecasters import boosting, isotonic, knn, logistic, tree
from credence.events.forecasters.protocol import Forecaster

FORECASTERS: tuple[Forecaster, ...] = (
    knn.FORECASTER,
    tree.FORECASTER,
    isotonic.FORECASTER,
    logistic.FORECASTER,
    boosting.FORECASTER,
)
BY_NAME: dict[str, Forecaster] = {entry.name: entry for entry in FORECASTERS}
