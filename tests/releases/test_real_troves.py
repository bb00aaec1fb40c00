"""7,301 and 656 real capsid proteins attached, every count explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from credence.relatives.alignment import Library
from credence.relatives.pairs import Thresholds, distinct

ROOT = Path(__file__).resolve().parents[2]
N_EXAMINED = 20  # proteins aligned with everything outside their group


@pytest.mark.long
def test_real_capsid_proteins_are_attached_and_every_count_explained(
    real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.attach import steps

    found = steps(real_data)
    assert [step.new.n_proteins for step in found] == [7301, 656]
    for step in found:
        counts = step.found.counts()
        assert sum(counts.values()) == step.new.n_proteins
        texts = list(dict.fromkeys(step.new.sequences))
        old = set(step.before.sequences)
        # Repeats are counted here from the sequences alone.
        known = sum(text in old for text in step.new.sequences)
        fresh = [text for text in texts if text not in old]
        assert counts["exact_repeat"] + counts["label_conflict"] == known
        assert counts["repeat_within"] == step.new.n_proteins - known - len(fresh)
        assert counts["added"] + counts["bridges_groups"] == len(fresh)
        assert all(step.found.reason)
    last = found[-1]
    assert sum(step.cpu_seconds for step in found) < 120.0  # two cores, sixty seconds
    _assert_no_relative_crosses(last)


def _assert_no_relative_crosses(step: object) -> None:
    before, new, found = step.before, step.new, step.found  # type: ignore[attr-defined]
    added = np.flatnonzero(found.is_added)
    rows = np.random.default_rng(1).choice(added, N_EXAMINED, replace=False)
    every = distinct(np.concatenate([before.sequences, new.sequences[rows]]))
    library = Library(texts=every.texts, threads=2)
    queries = np.unique(every.code[len(before.ids) :])
    pairs = library.relatives(queries)
    pairs = pairs.take(pairs.at(Thresholds()))
    group = dict(zip(every.code, [*before.group, *found.group[rows]], strict=True))
    crossing = [
        (one, other)
        for one, other in zip(pairs.first.tolist(), pairs.second.tolist(), strict=True)
        if group[one] != group[other]
    ]
    assert crossing == []
