"""Few trees: laws, contracts and readers do not depend on their number."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from credence.calibrators import trees
from credence.calibrators.forest import Forest, Growth, average

N_TREES = 10


@contextmanager
def small_forests() -> Iterator[None]:
    """Grow few trees as long as this lasts."""

    def average_few(*rows: Any, **more: Any) -> Forest:
        *given, growth, cluster = rows
        return average(*given, replace(growth, n_trees=min(growth.n_trees, N_TREES)), cluster)

    few: Growth = replace(trees.BOOSTING, n_trees=N_TREES)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trees, "BOOSTING", few)
        patched.setattr(trees, "average", average_few)
        yield
