"""Functions on a few numbers that a reader can check."""

from __future__ import annotations

import numpy as np

from credence.releases import attaching


def test_pack_beside_gives_a_group_for_each_new_protein() -> None:
    names = np.array(["1", "1", "2"], dtype=object)
    new = np.array(["x", "x", "y"], dtype=object)
    assert attaching.pack_beside(
        names, np.array([0, 0, 0]), new, np.array([0, 0, 0])
    ).tolist() == ["2", "2", "1"]
