"""The audit of a split by itself, for several tests."""

from __future__ import annotations

from credence.predictions import Integers, Strings
from credence.proteins import Proteins
from credence.relatives.audit import Audit, compare, judged
from credence.relatives.pairs import Thresholds


def audit(
    proteins: Proteins,
    group: Strings,
    thresholds: Thresholds,
    rows: Integers | None = None,
    threads: int = 1,
) -> Audit:
    """Return who of some proteins has a relative in another group."""
    return judged(compare(proteins, group, thresholds, rows, threads), group, thresholds)
