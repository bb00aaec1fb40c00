"""Whether confidences can be relied on: checks with cut-offs, and the worst of them.

A check is good only where something like it is shown: that a test finds nothing is not
enough. What was not checked forbids the verdict `good`. What a check found is a `Reason` and
its numbers; the page says it in words.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from scipy.special import betaincinv

from credence.findings import (
    Difference,
    Findings,
    JoinedAudit,
    MetricValue,
    QuerySet,
    ShiftFinding,
    SplitFinding,
)

GOOD, CARE, BAD, OPEN = ("good", "care", "not to be used", "not checked")
ORDER = (BAD, CARE, OPEN, GOOD)
WORSE = {GOOD: (BAD, CARE, OPEN), CARE: (BAD,)}  # states that are worse than one required
CLASS_ALONE = "class_only"  # the method that takes no score into account
NEARLY_ALL = 0.9
SURELY = 0.05  # chance that fewer proteins have a relative elsewhere than are said to, at least


class Reason(Enum):
    """What a check found."""

    ROWS_MISPLACED = auto()

    GAPS_HOLD = auto()
    GAPS_OFF = auto()  # of the classes named
    GAPS_NOT_SHOWN = auto()  # to be small, of the classes named

    SCORES_HELP = auto()
    SCORES_MAY_NOT_HELP = auto()
    CLASS_ALONE_IS_BETTER = auto()
    CLASS_ALONE_NOT_COMPARED = auto()

    RELATIVES_NOT_KNOWN = auto()
    RELATIVES_NOT_LOOKED_FOR = auto()  # in two clusters of those that were given
    SPLIT_NOT_AUDITED = auto()
    RELATIVES_APART = auto()
    NO_RELATIVES_APART = auto()

    SCORES_NOT_COMPARED = auto()
    TOO_FEW_COMPARED = auto()
    SAME_CLASSIFIER = auto()
    OTHER_CLASSIFIER = auto()
    COLUMNS_MISNAMED = auto()
    ROWS_OF_NETWORK_MISPLACED = auto()
    LEARNT_NOT_COMPARED = auto()  # homologues of training proteins; of others there are too few

    HOMOLOGUES_KNOWN = auto()  # of training proteins, or of calibration proteins
    NO_HOMOLOGUES = auto()

    NO_SAMPLE = auto()
    EMPTY_SAMPLE = auto()
    EVIDENCE_IS_ENOUGH = auto()
    EVIDENCE_IS_LACKING = auto()  # for all predictions of the classes named, or for nearly all

    MIX_NOT_ESTIMATED = auto()
    NOTHING_TO_CORRECT = auto()  # no prediction has a confidence
    MIX_LIKE_CALIBRATION = auto()  # as far as chance can tell, so that nothing is corrected
    MIX_MOVES_FEW = auto()
    MIX_MOVES_MANY = auto()
    OTHER_KIND = auto()


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that has to hold for confidences to be relied on."""

    # `same_classifier`, `relatives`, `homologues`, `gap`, `evidence`, `mix` or `class_alone`
    name: str
    query_set: str | None = None  # The query set it is about; None: all
    state: str  # `good`, `care`, `not to be used`, `not checked`
    reason: Reason
    value: float  # What was measured, and its interval; NaN where there is none
    lower: float = math.nan
    upper: float = math.nan
    good: float  # Cut-offs: from which on it is good, and not to be used
    bad: float
    n_affected: int  # Predictions that it concerns
    n_classes: int = 0  # That were looked at
    classes: tuple[str, ...] = ()  # That the reason names
    classes_nearly: tuple[str, ...] = ()  # Of which it holds for nearly all predictions


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether the confidences of a run can be relied on: the worst of the checks."""

    state: str  # `good`, `care` or `not to be used`
    checks: tuple[Check, ...]  # Worst first, then by the predictions that they concern


@dataclass(frozen=True, kw_only=True)
class ClassesByGap:
    """Names of classes by what is known of the gap between mean confidence and precision."""

    held: list[str] = field(default_factory=list)  # Surely no greater than allowed
    off: list[str] = field(default_factory=list)  # Surely greater
    unsure: list[str] = field(default_factory=list)


def verdict_of(findings: Findings) -> Verdict:
    """Return every check of a run, and the verdict."""
    checks = [*_rows(findings), _gap(findings), _class_alone(findings), _relatives(findings)]
    shifts = {shift.name: shift for shift in findings.shifts}
    for query_set in findings.queries:
        shift = shifts.get(query_set.name)
        checks += [
            check(findings, query_set, shift) for check in (_same_classifier, _evidence, _mix)
        ]
        checks += _homologues(findings, query_set)
    if not findings.queries:
        no_sample = Check(
            name="evidence",
            state=OPEN,
            reason=Reason.NO_SAMPLE,
            value=math.nan,
            good=findings.limits.held,
            bad=findings.limits.evidence_at_least,
            n_affected=0,
        )
        checks.append(no_sample)
    checks.sort(key=lambda check: (ORDER.index(check.state), -check.n_affected))
    states = {check.state for check in checks}
    state = BAD if BAD in states else GOOD if states == {GOOD} else CARE
    return Verdict(state=state, checks=tuple(checks))


def predictions_of(findings: Findings) -> dict[str, int]:
    """Return how many predictions of each class there are: of query sets, or of calibration."""
    counts: dict[str, int] = {}
    for query_set in findings.queries:
        for entry in query_set.classes:
            counts[entry.class_name] = counts.get(entry.class_name, 0) + entry.n
    return counts or {entry.class_name: entry.n_predicted for entry in findings.results.classes}


def gaps_of(findings: Findings) -> dict[str | None, MetricValue]:
    """Return the held-out gap of each class under the chosen method; None: of all classes."""
    wanted = (findings.chosen, "held_out", "gap")
    return {
        entry.class_name: entry
        for entry in findings.results.metrics
        if (entry.method, entry.sample, entry.metric) == wanted
    }


def by_gap(gaps: Mapping[str, MetricValue | None], most: float) -> ClassesByGap:
    """Return the classes whose gap is surely no greater, surely greater, and neither."""
    classes = ClassesByGap()
    for name, gap in gaps.items():
        if gap is not None and max(abs(gap.lower), abs(gap.upper)) <= most:
            classes.held.append(name)
        elif gap is not None and (gap.lower > most or gap.upper < -most):
            classes.off.append(name)
        else:
            classes.unsure.append(name)
    return classes


def _gap(findings: Findings) -> Check:
    limits, gaps = findings.limits, gaps_of(findings)
    n_of = {name: n for name, n in predictions_of(findings).items() if n}
    total = sum(n_of.values())
    classes = by_gap({name: gaps.get(name) for name in n_of}, limits.off_by)
    n_held, n_off, n_unsure = (
        sum(n_of[name] for name in names) for names in (classes.held, classes.off, classes.unsure)
    )
    part = n_held / total if total else math.nan
    state = GOOD if part >= limits.held and not classes.off else CARE if total else OPEN
    state = BAD if n_off > limits.off_at_most * total else state
    reason, named = Reason.GAPS_HOLD, list[str]()
    if classes.off:
        reason, named = Reason.GAPS_OFF, classes.off
    elif classes.unsure and state != GOOD:
        reason, named = Reason.GAPS_NOT_SHOWN, classes.unsure
    return Check(
        name="gap",
        state=state,
        reason=reason,
        value=part,
        good=limits.held,
        bad=1.0 - limits.off_at_most,
        n_affected=n_off + n_unsure,
        n_classes=len(n_of),
        classes=tuple(named),
    )


def _rows(findings: Findings) -> Iterator[Check]:
    """Yield that rows stand under wrong ids, where that is known."""
    rows = findings.rows
    if rows is not None:
        yield Check(
            name="rows",
            state=BAD,
            reason=Reason.ROWS_MISPLACED,
            value=rows.with_others if rows.network else rows.agreement,
            good=math.nan,
            bad=math.nan,
            n_affected=sum(predictions_of(findings).values()),
        )


def _against_class_alone(findings: Findings) -> Iterator[Difference]:
    """Yield the held-out NLL over all classes of either method minus the other's."""
    methods = {findings.chosen, CLASS_ALONE}
    for pair in findings.results.pairs:
        is_held_out = (pair.metric, pair.sample, pair.class_name) == ("nll", "held_out", None)
        if is_held_out and {pair.method, pair.reference} == methods:
            yield pair


def _class_alone(findings: Findings) -> Check:
    value = lower = upper = math.nan
    for pair in _against_class_alone(findings):
        value, lower, upper = pair.value, pair.lower, pair.upper
        if pair.reference == findings.chosen:
            value, lower, upper = -pair.value, -pair.upper, -pair.lower
    if math.isnan(upper):
        state, reason = OPEN, Reason.CLASS_ALONE_NOT_COMPARED
    elif upper < 0:
        state, reason = GOOD, Reason.SCORES_HELP
    elif lower > 0:
        state, reason = BAD, Reason.CLASS_ALONE_IS_BETTER
    else:
        state, reason = CARE, Reason.SCORES_MAY_NOT_HELP
    return Check(
        name="class_alone",
        state=state,
        reason=reason,
        value=value,
        lower=lower,
        upper=upper,
        good=0.0,
        bad=0.0,
        n_affected=sum(predictions_of(findings).values()),
    )


def _relatives(findings: Findings) -> Check:
    split, limits = findings.split, findings.limits
    total = sum(predictions_of(findings).values())
    value, state, n_affected = math.nan, OPEN, total
    reason = Reason.RELATIVES_NOT_KNOWN
    if split is None and findings.knows_relatives:
        reason = Reason.RELATIVES_NOT_LOOKED_FOR
    elif split is not None and split.is_audited:
        joined = findings.joined or JoinedAudit(n=0, n_examined=0, n_crossing=0)
        n_examined = split.n_sampled + joined.n_examined
        n_crossing = split.n_crossing_sampled + joined.n_crossing
        value = n_crossing / n_examined if n_examined else 0.0
        least, most = _share_with_relatives(split, joined)
        state = BAD if least > limits.relatives_at_most else CARE
        state = GOOD if most <= limits.relatives else state
        is_leaking = n_crossing + split.n_met > 0
        reason = Reason.RELATIVES_APART if is_leaking else Reason.NO_RELATIVES_APART
        n_affected = total if state == BAD else round(most * total)
    elif split is not None and findings.knows_relatives:
        reason = Reason.SPLIT_NOT_AUDITED
    return Check(
        name="relatives",
        state=state,
        reason=reason,
        value=value,
        good=limits.relatives,
        bad=limits.relatives_at_most,
        n_affected=n_affected,
    )


def _share_with_relatives(split: SplitFinding, joined: JoinedAudit) -> tuple[float, float]:
    """Return which share of all proteins surely has a relative elsewhere, and at most has one."""
    n, n_crossing = split.n_sampled, split.n_crossing_sampled
    least = most = n_crossing / n if n else 0.0
    if not split.is_exhaustive:
        least = float(betaincinv(n_crossing, n - n_crossing + 1, SURELY)) if n_crossing else 0.0
        least = max(least, (n_crossing + split.n_met) / max(split.n_population, 1))
        most = split.bound
    total, n_unknown = max(split.n_population + joined.n, 1), joined.n - joined.n_examined
    return (
        (least * split.n_population + joined.n_crossing) / total,
        (most * split.n_population + joined.n_crossing + n_unknown) / total,
    )


def _same_classifier(findings: Findings, query_set: QuerySet, shift: ShiftFinding | None) -> Check:
    sameness = None if shift is None else shift.sameness
    state, reason, enough = OPEN, Reason.SCORES_NOT_COMPARED, findings.limits.power
    if sameness is not None and sameness.is_changed:
        state, reason = BAD, Reason.OTHER_CLASSIFIER
        if sameness.rows is not None:
            reason = Reason.ROWS_OF_NETWORK_MISPLACED
        elif sameness.is_misnamed:
            reason = Reason.COLUMNS_MISNAMED
    elif sameness is not None and sameness.power >= enough:
        state, reason = GOOD, Reason.SAME_CLASSIFIER
    elif sameness is not None:
        reason = Reason.LEARNT_NOT_COMPARED if sameness.n_learnt else Reason.TOO_FEW_COMPARED
    return Check(
        name="same_classifier",
        query_set=query_set.name,
        state=state,
        reason=reason,
        value=math.nan if sameness is None else sameness.power,
        good=enough,
        bad=math.nan,
        n_affected=query_set.n,
    )


def _homologues(findings: Findings, query_set: QuerySet) -> Iterator[Check]:
    """Yield how many proteins are homologues of known ones, where that was looked for."""
    every = (novelty for novelty in findings.novelties if novelty.name == query_set.name)
    for relatives in (novelty.relatives for novelty in every):
        if relatives is None or not (relatives.knows_training or relatives.n_known):
            continue
        part = 1.0 - relatives.n_known / relatives.n if relatives.n else math.nan
        yield Check(
            name="homologues",
            query_set=query_set.name,
            state=CARE if part < findings.limits.held else GOOD,
            reason=Reason.HOMOLOGUES_KNOWN if relatives.n_known else Reason.NO_HOMOLOGUES,
            value=part,
            good=findings.limits.held,
            bad=math.nan,
            n_affected=relatives.n_known,
        )


def _evidence(findings: Findings, query_set: QuerySet, _: ShiftFinding | None) -> Check:
    limits = findings.limits
    predicted = [entry for entry in query_set.classes if entry.n]
    n_evident = sum(entry.n_evident for entry in query_set.classes)
    part = n_evident / query_set.n if query_set.n else math.nan
    lacking = [entry.class_name for entry in predicted if entry.n_evident == 0]
    nearly = [
        entry.class_name
        for entry in predicted
        if 0 < entry.n_evident < (1.0 - NEARLY_ALL) * entry.n
    ]
    state = GOOD if part >= limits.held else BAD if part < limits.evidence_at_least else CARE
    reason = Reason.EVIDENCE_IS_ENOUGH if state == GOOD else Reason.EVIDENCE_IS_LACKING
    if query_set.n == 0:
        state, reason = OPEN, Reason.EMPTY_SAMPLE
    return Check(
        name="evidence",
        query_set=query_set.name,
        state=state,
        reason=reason,
        value=part,
        good=limits.held,
        bad=limits.evidence_at_least,
        n_affected=query_set.n - n_evident,
        classes=tuple(lacking),
        classes_nearly=tuple(nearly),
    )


def _mix(findings: Findings, query_set: QuerySet, shift: ShiftFinding | None) -> Check:
    state, reason = OPEN, Reason.MIX_NOT_ESTIMATED
    part, n_affected = math.nan, query_set.n
    n_known = query_set.n - query_set.n_unknown
    if shift is not None:
        n_in_range = sum(entry.n_in_range for entry in query_set.classes)
        part = n_in_range / n_known if n_known else math.nan
        if shift.is_other_kind:
            state, reason = BAD, Reason.OTHER_KIND
        elif n_known == 0:
            reason = Reason.NOTHING_TO_CORRECT
        else:
            state = GOOD if part >= findings.limits.held else CARE
            reason = Reason.MIX_MOVES_FEW if state == GOOD else Reason.MIX_MOVES_MANY
            if shift.part_applied == 0.0:
                reason = Reason.MIX_LIKE_CALIBRATION
            n_affected = n_known - n_in_range
    return Check(
        name="mix",
        query_set=query_set.name,
        state=state,
        reason=reason,
        value=part,
        good=findings.limits.held,
        bad=math.nan,
        n_affected=n_affected,
    )
