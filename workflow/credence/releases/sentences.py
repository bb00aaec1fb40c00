"""What a change means, in words."""

from __future__ import annotations

import math
from dataclasses import replace

from credence.findings.releases import Change, ClassChange, Step

STILL = 0.005  # a confidence that moves by less than half a point stays
FINE = 0.03  # a change smaller than this is told in tenths of a point
CHOSEN = ("bandwidth", "cutoff")
NOTABLE = 1.1  # times: a smaller change of bandwidth or cutoff is not told


def with_sentence(entry: ClassChange, scale: float) -> ClassChange:
    """Return a class with its sentence.

    Parameters
    ----------
    entry : ClassChange
        Its numbers.
    scale : float
        Of the scores.
    """
    return replace(entry, sentence=_sentence(entry, scale))


def _sentence(entry: ClassChange, scale: float) -> str:
    name = entry.class_name
    n_before, n_after = entry.n_predicted
    if n_before == 0 and n_after == 0:
        return f"{name} was never predicted."
    if n_before == 0:
        return (
            f"{name} was never predicted before; now {entry.n_correct[1]:,} of {n_after:,} "
            "predictions are right."
        )
    if not entry.is_touched:
        return f"{name}: nothing was added, nothing changed."
    if entry.change is None:
        return (
            f"{name}: {n_before:,} predictions before, {n_after:,} now; right were "
            f"{entry.n_correct[0]:,}, now {entry.n_correct[1]:,}."
        )
    at = f"{name}, mean of its predictions"
    if not math.isnan(entry.score):
        decimals = max(0, 2 - math.floor(math.log10(scale)))
        at = f"{name} at score {entry.score:.{decimals}f}"
    change = entry.change
    if abs(change.total) < STILL:
        return f"{at}: confidence stayed at {_share(change.after)}{_hidden(change)}."
    decimals = _decimals(change)
    verb = "rose" if change.total > 0 else "fell"
    return (
        f"{at}: confidence {verb} from {change.before:.{decimals}f} to "
        f"{change.after:.{decimals}f}. {_parts(change, decimals)}{_chosen_anew(entry)}"
    )


def _chosen_anew(entry: ClassChange) -> str:
    """Return that the curve is smoothed otherwise now, where it is."""
    for parameter in entry.parameters:
        first, second = parameter.before, parameter.after
        is_known = parameter.name in CHOSEN and min(first, second) > 0
        if is_known and max(first, second) > NOTABLE * min(first, second):
            return (
                f" The {parameter.name} went from {first:.3g} to {second:.3g}; what that does "
                "counts as evidence."
            )
    return ""


def _decimals(change: Change) -> int:
    """Return 2, or 3 where two do not show the change or an end is near 0 or 1."""
    ends = (change.before, change.after)
    is_fine = abs(change.total) < FINE or max(ends) > 0.985 or min(ends) < 0.015
    return 3 if is_fine else 2


def _parts(change: Change, decimals: int) -> str:
    """Return what a change is made of; the points are those of the rounded numbers."""
    total = round(change.after, decimals) - round(change.before, decimals)
    composition = round(change.composition, decimals)
    evidence = total - composition

    def points(value: float) -> str:
        return _points(abs(value), decimals)

    on_evidence = _range(
        change.evidence_lower, change.evidence_upper, change.evidence < 0, decimals
    )
    on_composition = _range(
        change.composition_lower, change.composition_upper, change.composition < 0, decimals
    )
    end = _chance(change)
    if abs(composition) < STILL <= abs(evidence):
        return f"All {points(total)} are new evidence{on_evidence}{end}"
    if abs(evidence) < STILL <= abs(composition):
        return (
            f"All {points(total)} are re-weighting: the classes are mixed in other shares, and "
            f"at the old shares it would be {change.fixed:.{decimals}f}."
        )
    if evidence * composition >= 0:
        return (
            f"Of the {points(total)}, {_number(abs(composition), decimals)}{on_composition} are "
            f"re-weighting and {_number(abs(evidence), decimals)}{on_evidence} new evidence{end}"
        )
    first, second = _verb(evidence), _verb(composition)
    return (
        f"New evidence {first} it by {points(evidence)}{on_evidence}, re-weighting {second} it "
        f"by {points(composition)}{on_composition}{end}"
    )


def _verb(value: float) -> str:
    return "raised" if value > 0 else "lowered"


def _hidden(change: Change) -> str:
    """Return that two parts cancel, where they do."""
    if min(abs(change.evidence), abs(change.composition)) < STILL:
        return ""
    return (
        f": new evidence {_verb(change.evidence)} it by {_points(abs(change.evidence), 3)}, "
        f"re-weighting {_verb(change.composition)} it by {_points(abs(change.composition), 3)}"
    )


def _chance(change: Change) -> str:
    if change.evidence_lower <= 0.0 <= change.evidence_upper:
        return ". What is new evidence may be chance: its interval holds 0."
    return "."


def _range(lower: float, upper: float, is_down: bool, decimals: int) -> str:
    """Return an interval in points, signed as the part is told."""
    if math.isnan(lower):
        return ""
    if is_down:
        lower, upper = -upper, -lower
    ends = (_number(end, decimals).replace("-", "−") for end in (lower, upper))
    return f" ({' to '.join(ends)})"


def _points(value: float, decimals: int) -> str:
    number = _number(value, decimals)
    return f"{number} point" if number == "1" else f"{number} points"


def _number(value: float, decimals: int) -> str:
    text = f"{100 * value:.{decimals - 2}f}"
    return "0" if float(text) == 0 else text


def _share(value: float) -> str:
    return f"{value:.3f}" if value > 0.985 or value < 0.0095 else f"{value:.2f}"


def step_sentences(step: Step) -> tuple[str, ...]:
    """Return what a reader has to know of a step.

    Parameters
    ----------
    step : Step
        Its numbers.
    """
    touched = [entry for entry in step.classes if entry.is_touched]
    n_added = step.newer.n_calibration - step.older.n_calibration
    parts = []
    if n_added:
        parts.append(
            f"{step.newer.name} {'adds' if n_added > 0 else 'takes away'} {abs(n_added):,} "
            f"proteins to calibrate with: {step.older.n_calibration:,} before, "
            f"{step.newer.n_calibration:,} now."
        )
    elif not touched:
        parts.append(f"{step.newer.name} changes nothing: no protein was added.")
    if step.n_lightened:
        parts.append(
            f"{step.n_lightened:,} old proteins weigh less than before: each family counts one, "
            "and relatives joined theirs."
        )
    if step.n_compared:
        parts.append(
            f"Of {step.n_compared:,} proteins, {step.n_moved:,} have a confidence that moved by "
            "half a point or more."
        )
    moved = [entry for entry in touched if entry.change is not None]
    if moved:
        biggest = max(moved, key=lambda entry: abs(entry.change.total) if entry.change else 0.0)
        if biggest.change is not None and abs(biggest.change.total) >= STILL:
            parts.append(f"Most changed: {biggest.sentence}")
    return tuple(parts)
