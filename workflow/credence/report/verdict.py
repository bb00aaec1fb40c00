"""Whether confidences can be relied on: checks with cut-offs, and the worst of them.

A check is good only where something like it is shown: that a test finds nothing is not
enough. What was not checked forbids the verdict `good`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping

from scipy.special import betaincinv

from credence.findings import Check, Findings, MetricValue, ShiftFinding, UseSet, Verdict
from credence.report.sections.lookup import Lookup
from credence.report.sections.splits import lead_of
from credence.report.wording import as_sentence, count, noticed_if_off, of, rounded
from credence.sentences import names_of, sentences_of_rows

GOOD, CARE, BAD, OPEN = ("good", "care", "not to be used", "not checked")
ORDER = (BAD, CARE, OPEN, GOOD)
ALONE = "class_only"  # the method that takes no score into account
NEARLY_ALL = 0.9
MOST_NAMES = 4  # of classes in a sentence


def verdict_of(findings: Findings) -> Verdict:
    """Return every check of a run, and the verdict."""
    own, lookup = findings.limits, Lookup(findings)
    checks = [*_rows(findings), _gap(lookup), _class_alone(lookup), _relatives(lookup)]
    shifts = {found.name: found for found in findings.shifts}
    for use_set in findings.use_sets:
        given = (findings, use_set, shifts.get(use_set.name))
        checks += [check(*given) for check in (_same_classifier, _evidence, _mix)]
    if not findings.use_sets:
        numbers = (OPEN, math.nan, own.held, own.evidence_at_least, 0)
        text = "Whether these confidences fit your proteins is open."
        checks.append(Check("evidence", None, *numbers, "No sample was given", text))
    checks.sort(key=lambda one: (ORDER.index(one.state), -one.n_affected))
    states = {one.state for one in checks}
    state = BAD if BAD in states else GOOD if states == {GOOD} else CARE
    return Verdict(state=state, checks=tuple(checks))


def in_words(names: Iterable[str]) -> str:
    """Return class names for a sentence."""
    shown = list(names)
    if len(shown) > MOST_NAMES + 1:
        shown = [*shown[:MOST_NAMES], f"{len(shown) - MOST_NAMES} more"]
    *first, last = shown or [""]
    return f"{', '.join(first)} and {last}" if first else last


def points(value: float) -> str:
    """Return a difference of two shares in percentage points, without its sign."""
    return f"{abs(100.0 * value):.2g} percentage points"


def predictions_of(findings: Findings) -> dict[str, int]:
    """Return how many predictions of each class there are: of use-sets, or of calibration."""
    found: dict[str, int] = {}
    for use_set in findings.use_sets:
        for entry in use_set.classes:
            found[entry.class_name] = found.get(entry.class_name, 0) + entry.n
    return found or {entry.class_name: entry.n_predicted for entry in findings.results.classes}


def by_gap(gaps: Mapping[str, MetricValue | None], most: float) -> tuple[list[str], ...]:
    """Return the classes whose gap is surely no greater, surely greater, and neither."""
    found: tuple[list[str], ...] = ([], [], [])
    for name, gap in gaps.items():
        is_held = gap is not None and max(abs(gap.lower), abs(gap.upper)) <= most
        is_off = gap is not None and (gap.lower > most or gap.upper < -most)
        found[0 if is_held else 1 if is_off else 2].append(name)
    return found


def _gap(lookup: Lookup) -> Check:
    findings, limits = lookup.findings, lookup.findings.limits
    n_of = {name: n for name, n in predictions_of(findings).items() if n}
    total = sum(n_of.values())
    key = ("held_out", "gap")
    gaps = {name: lookup.metrics.get((findings.chosen, name, *key)) for name in (*n_of, None)}
    held, off, unsure = by_gap({name: gaps[name] for name in n_of}, limits.off_by)
    n_held, n_off, n_unsure = (sum(n_of[name] for name in own) for own in (held, off, unsure))
    part = n_held / total if total else math.nan
    state = GOOD if part >= limits.held and not off else CARE if total else OPEN
    state = BAD if n_off > limits.off_at_most * total else state
    every = gaps[None]
    text = ""
    if every is not None and not math.isnan(every.lower):
        way = "high" if every.value >= 0 else "low"
        text = (
            f"Over all classes, confidences are {points(every.value)} too {way} on "
            f"{lookup.families} held out ({_signed(every.lower)} to {_signed(every.upper)})."
        )
    if off:
        stated = in_words(f"{name} ({_signed(gap.value)})" for name in off if (gap := gaps[name]))
        headline = f"Confidences of {in_words(off)} are off"
        text = f"Too high (+) or too low (−), in percentage points, on average: {stated}. {text}"
    elif unsure and state != GOOD:
        headline = f"{len(unsure)} of {of(len(n_of), 'class', 'classes')} could not be checked"
        text = (
            f"They have too few {lookup.families} to show that their confidences are within "
            f"{points(limits.off_by)} on average. They hold {of(n_unsure, 'prediction')}. {text}"
        )
    else:
        headline = f"Confidences hold on {lookup.families} held out"
        text = f"Shown for the classes of {100.0 * part:.0f} % of the predictions. {text}"
    numbers = (state, part, limits.held, 1.0 - limits.off_at_most, n_off + n_unsure)
    return Check("gap", None, *numbers, headline, text.strip())


def _rows(findings: Findings) -> Iterator[Check]:
    """Yield that rows stand under wrong ids, where that is known."""
    found = findings.rows
    if found is not None:
        total = sum(predictions_of(findings).values())
        value = found.with_others if found.network else found.agreement
        headline = "Rows or labels may stand under wrong ids"
        text = " ".join(f"{as_sentence(sentence)}." for sentence in sentences_of_rows(found))
        yield Check(
            name="rows",
            use_set=None,
            state=BAD,
            value=value,
            good=math.nan,
            bad=math.nan,
            n_affected=total,
            headline=headline,
            text=text,
        )


def _signed(value: float) -> str:
    sign = "−" if value < 0 else "+"
    return f"{sign}{rounded(abs(100.0 * value), 1)}"


def _class_alone(lookup: Lookup) -> Check:
    findings = lookup.findings
    total = sum(predictions_of(findings).values())
    value = lower = upper = math.nan
    for pair in findings.results.pairs:
        if (pair.metric, pair.sample, pair.class_name) != ("nll", "held_out", None):
            continue
        if (pair.method, pair.reference) == (findings.chosen, ALONE):
            value, lower, upper = pair.value, pair.lower, pair.upper
        elif (pair.method, pair.reference) == (ALONE, findings.chosen):
            value, lower, upper = -pair.value, -pair.upper, -pair.lower
    stated = f"(NLL {rounded(value, 3)}, {rounded(lower, 3)} to {rounded(upper, 3)})"
    on = f"on {lookup.families} held out {stated}."
    if math.isnan(upper):
        state, headline = OPEN, "Whether scores help was not checked"
        text = f"Add {ALONE} to the methods of the run to compare with the class alone."
    elif upper < 0:
        state, headline = GOOD, "Scores say more than the class alone"
        text = f"With them, confidences forecast better {on}"
    elif lower > 0:
        state, headline = BAD, "The class alone forecasts better than these confidences"
        text = f"They are worse than the share right of each class {on}"
    else:
        state, headline = CARE, "Scores may say no more than the class alone"
        text = f"The difference is within chance {on}"
    return Check(
        name="class_alone",
        use_set=None,
        state=state,
        value=value,
        good=0.0,
        bad=0.0,
        n_affected=total,
        headline=headline,
        text=text,
    )


def _relatives(lookup: Lookup) -> Check:
    split, limits = lookup.findings.split, lookup.findings.limits
    total = sum(predictions_of(lookup.findings).values())
    value, state, n_affected = math.nan, OPEN, total
    headline = "Whether relatives are in two groups was not checked"
    text = (
        "Nothing says which proteins are relatives: held-out numbers may flatter, ranges may be "
        "too narrow."
    )
    if split is None and lookup.knows_relatives:
        text = "Clusters were given and kept whole; nobody looked for relatives in two of them."
    elif split is not None and (split.is_audited or lookup.knows_relatives):
        text = lead_of(split)
    if split is not None and split.is_audited:
        n, n_crossing = split.n_sampled, split.n_crossing_sampled
        value = n_crossing / n if n else 0.0
        least, most = value, value
        if not split.is_exhaustive:
            most = split.bound
            least = float(betaincinv(n_crossing, n - n_crossing + 1, 0.05)) if n_crossing else 0.0
            least = max(least, (n_crossing + split.n_met) / max(split.n_population, 1))
        state = BAD if least > limits.relatives_at_most else CARE
        state = GOOD if most <= limits.relatives else state
        is_leaking = n_crossing + split.n_met > 0
        headline = "Relatives are in two groups" if is_leaking else "No leak found"
        n_affected = total if state == BAD else round(most * total)
    numbers = (state, value, limits.relatives, limits.relatives_at_most, n_affected)
    return Check("relatives", None, *numbers, headline, text)


def _same_classifier(findings: Findings, use_set: UseSet, shift: ShiftFinding | None) -> Check:
    found, enough = None if shift is None else shift.sameness, findings.limits.power
    state, value = OPEN, math.nan
    headline = "Whether scores come from the same classifier was not checked"
    text = "The sample has too few scores to compare, or no mix of its classes was estimated."
    if found is not None:
        value = found.power
        noticed = f"{as_sentence(noticed_if_off(value))}."
        if found.is_changed:
            state, headline = BAD, "Scores of another classifier, or of other proteins"
            text = (
                "No mix of the classes explains them. Give scores of the version that was "
                "calibrated, or calibrate with proteins like these."
            )
            if found.is_misnamed:
                headline, text = "Columns may stand under wrong names", names_of(found)
            if found.rows is not None:
                headline = "Rows of a network may stand under wrong ids"
                text = f"{as_sentence('. '.join(sentences_of_rows(found.rows)))}."
        elif value >= enough:
            state, headline, text = GOOD, "Scores look like those calibrated", noticed
        else:
            text = f"Nothing speaks against it, but too few proteins were compared. {noticed}"
    numbers = (state, value, enough, math.nan, use_set.n)
    return Check("same_classifier", use_set.name, *numbers, headline, text)


def _evidence(findings: Findings, use_set: UseSet, _: ShiftFinding | None) -> Check:
    limits = findings.limits
    n_of = {entry.class_name: entry.n for entry in use_set.classes if entry.n}
    evident = {entry.class_name: entry.n_evident for entry in use_set.classes}
    part = sum(evident.values()) / use_set.n if use_set.n else math.nan
    state = GOOD if part >= limits.held else BAD if part < limits.evidence_at_least else CARE
    n_lacking = use_set.n - sum(evident.values())
    none = [name for name in n_of if evident[name] == 0]
    least = {name: (1.0 - NEARLY_ALL) * n for name, n in n_of.items()}
    few = [name for name in n_of if name not in none and evident[name] < least[name]]
    text = "Their range is wider than 40 percentage points, or calibration saw no such score."
    if none or few:
        named = {"all": none, "nearly all": few}
        stated = ", ".join(f"{how} {in_words(own)}" for how, own in named.items() if own)
        text += f" {as_sentence(stated)}."
    headline = f"{of(n_lacking, 'prediction')} {'lacks' if n_lacking == 1 else 'lack'} evidence"
    if state == GOOD:
        headline = f"{100.0 * part:.0f} % of the predictions have evidence"
        text = f"Of the others, {count(n_lacking)}, too little is known."
    if use_set.n == 0:
        state, headline, text = OPEN, "The sample is empty", "There is nothing to check."
    numbers = (state, part, limits.held, limits.evidence_at_least, n_lacking)
    return Check("evidence", use_set.name, *numbers, headline, text)


def _mix(findings: Findings, use_set: UseSet, shift: ShiftFinding | None) -> Check:
    state, part, n_affected = OPEN, math.nan, use_set.n
    headline = "Whether classes are mixed as in calibration was not checked"
    text = "Confidences are those for the mix of the calibration set."
    known = use_set.n - use_set.n_unknown
    if shift is not None and known:
        n_in = sum(entry.n_in_range for entry in use_set.classes)
        part, n_affected = n_in / known, known - n_in
        if shift.is_other_kind:
            state, n_affected = BAD, use_set.n
            headline = "Its proteins are of another kind"
            text = "No mix of the classes explains their scores, and nothing can correct that."
        else:
            state = GOOD if part >= findings.limits.held else CARE
            headline = "Your sample is mixed differently"
            if state == GOOD:
                headline = "The mix of classes moves few confidences"
            text = (
                f"{_moved_most(shift)}Confidences are corrected for the mix, assuming that "
                f"proteins of a class score alike in both: {count(n_in)} of {count(known)} have "
                "evidence and stay in the range that they had."
            )
    numbers = (state, part, findings.limits.held, math.nan, n_affected)
    return Check("mix", use_set.name, *numbers, headline, text)


def _moved_most(shift: ShiftFinding) -> str:
    moved = [one for one in shift.classes if not math.isnan(one.share - one.calibration_share)]
    if not moved:
        return ""
    most = max(moved, key=lambda one: abs(one.share - one.calibration_share))
    return (
        f"{most.class_name} makes up about {100 * most.share:.0f} % of it, "
        f"{100 * most.calibration_share:.0f} % of the known proteins. "
    )


def reasons(verdict: Verdict, required: str) -> Iterator[Check]:
    """Yield the checks because of which a verdict is worse than required."""
    worse = {GOOD: (BAD, CARE, OPEN), CARE: (BAD,)}[required]
    return (one for one in verdict.checks if one.state in worse)
