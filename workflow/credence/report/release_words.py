"""What a trove changed and whether it fits in, in words: for the page and the terminal."""

import math

from credence.findings import (
    EXACT_REPEAT,
    LEAST_MOVE,
    LEAST_TESTED,
    Change,
    ClassChange,
    Drift,
    DriftClass,
    DriftTest,
    ReleaseStep,
)
from credence.problems import plural
from credence.report.wording import TEST_LEVEL

MOST_LISTED = 3  # true classes that are named; more are counted
FINE = 0.03  # a change smaller than this is given in tenths of a percentage point
SHOWN = 0.0005  # what is smaller is 0 in the table, which has tenths of a percentage point
CHOSEN = ("bandwidth", "cutoff")
NOTABLE = 1.1  # times: a smaller change of bandwidth or cutoff is left out


def drift_sentence(entry: DriftClass) -> str:
    """Return what the tests of the old calibration say of one class."""
    name = "All predictions" if entry.class_name is None else entry.class_name
    families = ""
    if entry.n_clusters < entry.n:
        families = f" in {plural(entry.n_clusters, 'family', 'families')}"
    counted = f"{name}: {entry.n:,} of the trove{families}"
    if entry.n_clusters < LEAST_TESTED:
        return f"{counted}: too few to tell."
    right = f"{entry.n_correct:,} right where {entry.expected:,.1f} were expected"
    return f"{counted}, {right}{_tests_in_words(entry.tests)}"


def _tests_in_words(tests: tuple[DriftTest, ...]) -> str:
    plain = [test for test in tests if not test.is_corrected]
    at_its_mix = [test for test in tests if test.is_corrected]
    raw, corrected = (_least([test.p_adjusted for test in part]) for part in (plain, at_its_mix))
    if math.isnan(raw):
        return "; every old confidence is 0 or 1: no test."
    alone = _least([test.p_value for test in plain])
    known = _power(plain)
    if alone <= TEST_LEVEL < raw:
        return (
            f": the old confidences may not hold: p {_p(alone)} by itself, {_p(raw)} as one of "
            f"several classes ({known})."
        )
    if raw > TEST_LEVEL:
        return f": a difference that chance may explain (p {_p(raw)}, {known})."
    fails = f": the old confidences do not hold (p {_p(raw)}, {known})"
    shown = f"(p {_p(corrected)}, {_power(at_its_mix)})"
    at_its_own = f"once corrected for the trove's class frequencies {shown}"
    if math.isnan(corrected):
        return f"{fails}; whether that is only its other class frequencies cannot be seen here."
    if corrected > TEST_LEVEL:
        return f"{fails}, and may do so {at_its_own}."
    return (
        f"{fails}, nor {at_its_own}: its proteins differ from the old ones, or these were too "
        "few to learn from."
    )


def _power(tests: list[DriftTest]) -> str:
    """Return the chance of the better test to see confidences five percentage points off."""
    power = max((test.power for test in tests), default=math.nan)
    return "power not known" if math.isnan(power) else f"power {power:.2f}"


def _least(p_values: list[float]) -> float:
    """Return the least p-value of the tests, twice: there are two of them."""
    return min(1.0, len(p_values) * min(p_values)) if p_values else math.nan


def _p(value: float) -> str:
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def drift_sentences(drift: Drift) -> tuple[str, ...]:
    """Return what there is to say of a trove as a whole."""
    if drift.n == 0:
        return ("All of the trove are relatives of the old set: it cannot judge the old set.",)
    parts = []
    if drift.n_joined:
        left_out = "of the trove have relatives in the old set and are left out here."
        parts.append(f"{drift.n_joined:,} {left_out}")
    if not drift.is_corrected:
        parts.append(
            "All of the trove are of one true class: its predictions are all right or all wrong, "
            "class by class; that follows from its class proportions, not from the confidences."
        )
    different = [entry.class_name for entry in drift.truths if entry.p_adjusted <= TEST_LEVEL]
    enough = [entry for entry in drift.truths if not math.isnan(entry.p_adjusted)]
    if different:
        parts.append(
            f"Proteins of {', '.join(different)} score otherwise than the old ones did: look at "
            "them before you rely on the trove."
        )
    elif enough:
        names = [entry.class_name for entry in enough]
        words = ", ".join(names) if len(names) <= MOST_LISTED else f"each of {len(names)} classes"
        parts.append(f"Proteins of {words} score as the old ones did, as far as can be seen.")
    else:
        parts.append(
            f"No true class has {LEAST_TESTED} families both in the trove and before: whether "
            "proteins score as they did cannot be known."
        )
    return tuple(parts)


def change_sentence(entry: ClassChange, scale: float) -> str:
    """Return what changed for a class, and why."""
    name, change = entry.class_name, entry.change
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
    if change is None:
        return (
            f"{name}: {n_before:,} predictions before, {n_after:,} now; right were "
            f"{entry.n_correct[0]:,}, now {entry.n_correct[1]:,}."
        )
    at = f"{name}, mean of its predictions"
    if not math.isnan(entry.score):
        at = f"{name} at score {entry.score:.{max(0, 2 - math.floor(math.log10(scale)))}f}"
    if abs(change.total) < LEAST_MOVE:
        hidden = ""
        if min(abs(change.evidence), abs(change.composition)) >= LEAST_MOVE:  # the two cancel
            hidden = (
                f": new evidence {_moved_it(change.evidence, 3)}, "
                f"re-weighting {_moved_it(change.composition, 3)}"
            )
        digits = 3 if change.after > 0.985 or change.after < 0.0095 else 2
        return f"{at}: confidence stayed at {change.after:.{digits}f}{hidden}."
    # Three digits where two do not show the change, or near 0 or 1.
    bounds = (change.before, change.after)
    is_fine = abs(change.total) < FINE or max(bounds) > 0.985 or min(bounds) < 0.015
    # A part that whole points would hide stands in the table beside the sentence.
    is_fine |= any(
        SHOWN <= abs(part) < LEAST_MOVE for part in (change.evidence, change.composition)
    )
    decimals = 3 if is_fine else 2
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


def _parts(change: Change, decimals: int) -> str:
    """Return what a change is made of; the points are those of the rounded numbers."""
    total = round(change.after, decimals) - round(change.before, decimals)
    composition = round(change.composition, decimals)
    evidence = total - composition
    on_evidence, on_composition = (
        _range(change, part, decimals) for part in ("evidence", "composition")
    )
    end = "."
    if change.evidence_lower <= 0.0 <= change.evidence_upper:
        end = ". What is new evidence may be chance: its interval holds 0."
    if abs(composition) < SHOWN:
        return f"All {_points(total, decimals)} are new evidence{on_evidence}{end}"
    if abs(evidence) < SHOWN:
        return (
            f"All {_points(total, decimals)} are re-weighting: the classes are mixed in other "
            f"shares, and at the old shares it would be {change.fixed:.{decimals}f}."
        )
    if evidence * composition >= 0:
        return (
            f"Of the {_points(total, decimals)}, {_number(abs(composition), decimals)}"
            f"{on_composition} are re-weighting and {_number(abs(evidence), decimals)}"
            f"{on_evidence} new evidence{end}"
        )
    return (
        f"New evidence {_moved_it(evidence, decimals)}{on_evidence}, re-weighting "
        f"{_moved_it(composition, decimals)}{on_composition}{end}"
    )


def _moved_it(value: float, decimals: int) -> str:
    return f"{'raised' if value > 0 else 'lowered'} it by {_points(value, decimals)}"


def _range(change: Change, part: str, decimals: int) -> str:
    """Return the interval of a part in percentage points, signed as the part is."""
    lower, upper = (getattr(change, f"{part}_{end}") for end in ("lower", "upper"))
    if math.isnan(lower):
        return ""
    if getattr(change, part) < 0:
        lower, upper = -upper, -lower
    bounds = (_number(end, decimals).replace("-", "−") for end in (lower, upper))
    return f" ({' to '.join(bounds)})"


def _points(value: float, decimals: int) -> str:
    number = _number(abs(value), decimals)
    return f"{number} percentage point{'' if number == '1' else 's'}"


def _number(value: float, decimals: int) -> str:
    text = f"{100 * value:.{decimals - 2}f}"
    return "0" if float(text) == 0 else text


def rescored_sentence(name: str, n_rescored: int, n_repeats: int) -> str:
    """Return that repeats of a trove have other scores; '' where none has."""
    if not n_rescored:
        return ""
    return (
        f"{name}: {n_rescored:,} of {plural(n_repeats, 'exact repeat')} "
        f"{'has' if n_rescored == 1 else 'have'} other scores than before. One classifier gives "
        "one protein one score: see whether the table is of the version that is calibrated."
    )


def step_sentences(step: ReleaseStep) -> tuple[str, ...]:
    """Return what a reader has to know of a step."""
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
    n_repeats = sum(x.n for x in step.newer.outcomes if x.outcome == EXACT_REPEAT)
    if rescored := rescored_sentence(step.newer.name, step.newer.n_rescored, n_repeats):
        parts.append(rescored)
    if step.n_lightened:
        parts.append(
            f"{step.n_lightened:,} old proteins weigh less than before: each family counts one, "
            "and relatives joined theirs."
        )
    if step.n_compared:
        parts.append(
            f"Of {step.n_compared:,} proteins, {step.n_moved:,} have a confidence that moved by "
            "half a percentage point or more."
        )
    sizes = [abs(entry.change.total) if entry.change else -1.0 for entry in touched]
    if max(sizes, default=0.0) >= LEAST_MOVE:
        most = change_sentence(touched[sizes.index(max(sizes))], step.scale)
        parts.append(f"The class whose typical prediction changed most: {most}")
    return tuple(parts)
