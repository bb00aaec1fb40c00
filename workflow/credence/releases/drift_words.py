"""What the tests of a trove say, in words."""

from __future__ import annotations

import math

from credence.findings.drift import Drift, DriftClass

NAMED = 3  # true classes that are named; more are counted
FEW = 10  # families: fewer cannot tell anything at 5 %
LEVEL = 0.05
NONE = float("nan")


def class_sentence(found: DriftClass) -> str:
    """Return what the tests of one class say.

    Parameters
    ----------
    found : DriftClass
        Without its sentence.
    """
    name = "All predictions" if found.class_name is None else found.class_name
    families = "1 family" if found.n_clusters == 1 else f"{found.n_clusters:,} families"
    counted = f"{found.n:,} of the trove in {families}"
    if found.n_clusters < FEW:
        return f"{name}: {counted}: too few to tell."
    raw, corrected = _least(found, False), _least(found, True)
    right = f"{found.n_correct:,} right where {found.expected:,.1f} were expected"
    if math.isnan(raw):
        return f"{name}: {counted}, {right}; every old confidence is 0 or 1: no test."
    alone = _least(found, False, counted=False)
    if alone <= LEVEL < raw:
        return (
            f"{name}: {counted}, {right}: the old confidences may not hold: p {_p(alone)} by "
            f"itself, {_p(raw)} as one of several classes."
        )
    if raw > LEVEL:
        power = max((entry.power for entry in found.tests if not entry.is_corrected), default=NONE)
        said = f"{name}: {counted}, {right}: no more than chance allows (p {_p(raw)})"
        if math.isnan(power):
            return f"{said}."
        return f"{said}; five points off throughout would be seen {100 * power:.0f} times in 100."
    if math.isnan(corrected):
        return (
            f"{name}: {counted}, {right}: the old confidences do not hold (p {_p(raw)}); whether "
            "that is only its other class frequencies cannot be told here."
        )
    if corrected > LEVEL:
        return (
            f"{name}: {counted}, {right}: the old confidences do not hold (p {_p(raw)}), and do "
            f"once corrected for the trove's class frequencies (p {_p(corrected)})."
        )
    return (
        f"{name}: {counted}, {right}: the old confidences do not hold (p {_p(raw)}), nor once "
        f"corrected for the trove's class frequencies (p {_p(corrected)}): its proteins differ "
        "from the old ones, or these were too few to learn from."
    )


def _least(found: DriftClass, is_corrected: bool, counted: bool = True) -> float:
    """Return the least p-value of the tests, twice: there are two of them."""
    own = [
        entry.p_adjusted if counted else entry.p_value
        for entry in found.tests
        if entry.is_corrected == is_corrected
    ]
    return min(1.0, len(own) * min(own)) if own else NONE


def _p(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def sentences(found: Drift, is_corrected: bool) -> tuple[str, ...]:
    """Return what is said of a trove as a whole.

    Parameters
    ----------
    found : Drift
        Without its sentences.
    is_corrected : bool
        Whether the old calibration could be corrected for the trove's class frequencies.
    """
    parts = []
    if found.n_joined:
        parts.append(
            f"{found.n_joined:,} of the trove have relatives in the old set and are left out here."
        )
    if not is_corrected:
        parts.append(
            "All of the trove are of one true class: its predictions are all right or all wrong, "
            "class by class, and that is its composition, not a fault of the old confidences."
        )
    different = [entry.class_name for entry in found.truths if entry.p_adjusted <= LEVEL]
    enough = [entry for entry in found.truths if not math.isnan(entry.p_adjusted)]
    if different:
        parts.append(
            f"Proteins of {', '.join(different)} score otherwise than the old ones did: look at "
            "them before you rely on the trove."
        )
    elif enough:
        names = [entry.class_name for entry in enough]
        words = ", ".join(names) if len(names) <= NAMED else f"each of {len(names)} classes"
        parts.append(f"Proteins of {words} score as the old ones did, as far as can be told.")
    else:
        parts.append(
            f"No true class has {FEW} families both in the trove and before: whether proteins "
            "score as they did cannot be told."
        )
    return tuple(parts)
