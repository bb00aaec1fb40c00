"""Whether a prediction can be used as it is, in a word."""

from __future__ import annotations

import math

import numpy as np
import pytest

from credence.confidence import Confidence, Note, unknown, use_of

UNSEEN = (
    Note.BELOW_RANGE, Note.ABOVE_RANGE, Note.EMPTY_BIN, Note.UNSEEN_CLASS, Note.SCARCE,
)  # fmt: skip
DOUBTED = (Note.NOVEL, Note.BAND_OFF, Note.CHANGED, Note.TIED, Note.DISAGREES)


def slow_use(value: float, lower: float, upper: float, note: Note) -> str:
    """Return the word as docs/lists.md has the rule, one protein after the other."""
    if math.isnan(value) or any(flag in note for flag in UNSEEN):
        return "no evidence"
    if upper - lower > 0.4:
        return "no evidence"
    if lower >= 0.9 and not any(flag in note for flag in DOUBTED):
        return "yes"
    return "check"


def test_use_is_what_the_slow_rule_gives() -> None:
    rng = np.random.default_rng(0)
    ends = np.sort(rng.choice([0.0, 0.2, 0.5, 0.6, 0.9, 0.95, 1.0, np.nan], (4000, 3)), axis=1)
    lower, value, upper = ends.T  # NaN is last: without an interval, or nothing at all
    flags = [*Note]
    chosen = rng.choice(len(flags), 4000)
    note = np.where(rng.random(4000) < 0.5, 0, [int(flags[at]) for at in chosen])
    found = use_of(
        Confidence(value=value, lower=lower, upper=upper, support=np.ones(4000), note=note)
    ).tolist()
    rows = zip(value, lower, upper, note, strict=True)
    assert found == [slow_use(*row[:3], Note(int(row[3]))) for row in rows]
    assert set(found) == {"yes", "check", "no evidence"}


@pytest.mark.parametrize("flag", DOUBTED)
def test_a_protein_of_which_more_is_known_than_its_score_is_never_used_unseen(flag: Note) -> None:
    one = Confidence(*np.array([[1.0], [0.99], [1.0], [50.0]]), np.array([int(flag)]))
    assert use_of(one).tolist() == ["check"]


def test_a_confidence_without_an_interval_is_to_be_checked() -> None:
    one = Confidence(*np.array([[1.0], [np.nan], [np.nan], [50.0]]), np.array([0]))
    assert use_of(one).tolist() == ["check"]
    assert use_of(unknown(0, Note.NONE)).tolist() == []
