"""How prediction sets of a small world are judged, and their limits."""

from __future__ import annotations

import numpy as np
import pytest

from credence.sets.conformal import SET_KINDS, SetOptions, fit_sets, judge_sets
from known_numbers import Known
from set_worlds import world


@pytest.mark.parametrize("kind", SET_KINDS)
@pytest.mark.parametrize("level", [0.7, 0.9])
def test_what_is_judged_is_what_it_was(kind: str, level: float, known: Known) -> None:
    labelled, options = world(9), SetOptions(level=level, kind=kind)  # type: ignore[arg-type]
    found = judge_sets(labelled, options, n_folds=4, level=0.8, n_draws=50)
    limits = [fit_sets(labelled, options).limits(share) for share in (None, np.ones(3) / 3)]
    known.compare(f"{kind} {level}", [found, limits])
