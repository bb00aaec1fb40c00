"""The verdict in words: what each check found, as the page and `report.json` say it."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from credence.evaluation.verdict import CLASS_ALONE, WORSE, Check, Reason, gaps_of, verdict_of
from credence.findings import Findings, ShiftedRows, ShiftFinding
from credence.problems import plural
from credence.report.sections.lookup import Lookup
from credence.report.sections.splits import lead_of
from credence.report.wording import (
    as_sentence,
    count,
    in_words,
    noticed_if_off,
    points,
    rounded,
    three_decimals,
)
from credence.sentences import headline_of, names_of, sentences_of_relatives, sentences_of_rows

NOT_LOOKED_AT = "Whether relatives are in two groups was not checked"
MIX = (
    "{moved_most}Confidences are corrected for that, assuming that proteins of a class score "
    "alike in both: for {n_in_range} of {n_known} predictions the correction stays within the "
    "uncorrected 95 % interval."
)
# Of each reason a headline, and a text of a sentence or two.
REASONS_IN_WORDS = {
    Reason.ROWS_MISPLACED: ("Rows or labels may stand under wrong ids", "{rows}"),
    Reason.GAPS_HOLD: (
        "Confidences hold in cross-validation over {families}",
        "Shown for the classes of {percent} % of the predictions. {over_all}",
    ),
    Reason.GAPS_OFF: (
        "Confidences of {classes} are off",
        "Too high (+) or too low (−), in percentage points, on average: {gaps}. {over_all}",
    ),
    Reason.GAPS_NOT_SHOWN: (
        "{n_named} of {classes_counted} could not be checked",
        "They have too few {families} to show that their confidences are within {most} on "
        "average. They hold {affected}. {over_all}",
    ),
    Reason.SCORES_HELP: (
        "Scores say more than the class alone",
        "With them, confidences forecast better in cross-validation over {families} "
        "({difference}).",
    ),
    Reason.SCORES_MAY_NOT_HELP: (
        "Scores may say no more than the class alone",
        "The difference is within chance in cross-validation over {families} ({difference}).",
    ),
    Reason.CLASS_ALONE_IS_BETTER: (
        "The class alone forecasts better than these confidences",
        "They are worse than the precision of each class in cross-validation over {families} "
        "({difference}).",
    ),
    Reason.CLASS_ALONE_NOT_COMPARED: (
        "Whether scores help was not checked",
        f"Add {CLASS_ALONE} to the methods of the run to compare with the class alone.",
    ),
    Reason.RELATIVES_NOT_KNOWN: (
        NOT_LOOKED_AT,
        "Nothing says which proteins are relatives: held-out numbers may flatter, ranges may be "
        "too narrow.",
    ),
    Reason.RELATIVES_NOT_LOOKED_FOR: (
        NOT_LOOKED_AT,
        "Clusters were given and kept whole; nobody looked for relatives in two of them.",
    ),
    Reason.SPLIT_NOT_AUDITED: (NOT_LOOKED_AT, "{split}"),
    Reason.RELATIVES_APART: ("Relatives are in two groups", "{split}"),
    Reason.NO_RELATIVES_APART: ("No leak found", "{split}"),
    Reason.SCORES_NOT_COMPARED: (
        "Whether scores come from the same classifier was not checked",
        "The sample has too few scores to compare, or its class proportions were not estimated.",
    ),
    Reason.TOO_FEW_COMPARED: (
        "Whether scores come from the same classifier was not checked",
        "No difference was detected, but too few proteins were compared. {noticed}.",
    ),
    Reason.SAME_CLASSIFIER: ("Scores look like those calibrated", "{noticed}."),
    Reason.OTHER_CLASSIFIER: (
        "Scores of another classifier, or of other proteins",
        "No class proportions explain them. Give scores of the version that was calibrated, or "
        "calibrate with proteins like these.",
    ),
    Reason.LEARNT_NOT_COMPARED: (
        "Whether scores come from the same classifier was not checked",
        "{learnt} of training proteins get surer scores, so they are not compared, and the others "
        "are too few. {noticed}.",
    ),
    Reason.HOMOLOGUES_KNOWN: ("{homologues}", "{what_follows}"),
    Reason.NO_HOMOLOGUES: (
        "{homologues}",
        "The classifier has not seen their families, nor those of the calibration set.",
    ),
    Reason.COLUMNS_MISNAMED: ("Columns may stand under wrong names", "{names}"),
    Reason.ROWS_OF_NETWORK_MISPLACED: ("Rows of a network may stand under wrong ids", "{rows}"),
    Reason.NO_SAMPLE: (
        "No sample was given",
        "Whether these confidences fit your proteins is open.",
    ),
    Reason.EMPTY_SAMPLE: ("The sample is empty", "There is nothing to check."),
    Reason.EVIDENCE_IS_ENOUGH: (
        "{percent} % of the predictions have sufficient data",
        "Of the others, {n_affected}, too little is known.",
    ),
    Reason.EVIDENCE_IS_LACKING: (
        "{affected} {lack} sufficient data",
        "Calibration knows too few families of their class, or saw no such score.{lacking}",
    ),
    Reason.MIX_NOT_ESTIMATED: (
        "Class proportions were not estimated",
        "Confidences are those for the class proportions of the calibration set.",
    ),
    Reason.NOTHING_TO_CORRECT: (
        "No prediction has a confidence",
        "So there is nothing to correct for class proportions.",
    ),
    Reason.MIX_LIKE_CALIBRATION: (
        "No difference of class proportions detected",
        "How often the classes are predicted differs from the calibration set by no more than "
        "chance gives. Confidences are not corrected; their intervals hold what is not known of "
        "the proportions.",
    ),
    Reason.MIX_MOVES_FEW: ("Class proportions change few confidences", MIX),
    Reason.MIX_MOVES_MANY: ("Class proportions differ from the calibration set", MIX),
    Reason.OTHER_KIND: (
        "Its proteins are out of distribution",
        "No class proportions explain their scores, and nothing can correct that.",
    ),
}


@dataclass(frozen=True, kw_only=True)
class StatedCheck:
    """A check as `report.json` holds it; see :class:`credence.evaluation.verdict.Check`."""

    name: str
    query_set: str | None
    state: str
    value: float
    good: float
    bad: float
    n_affected: int
    headline: str  # What it found, in a few words, and in a sentence or two
    text: str


@dataclass(frozen=True, kw_only=True)
class StatedVerdict:
    """A verdict as `report.json` holds it."""

    state: str
    checks: tuple[StatedCheck, ...]

    def worse_than(self, required: str) -> Iterator[StatedCheck]:
        """Yield the checks because of which the verdict is worse than required."""
        return (check for check in self.checks if check.state in WORSE[required])


def stated_verdict(findings: Findings) -> StatedVerdict:
    """Return the verdict on a run, in words."""
    verdict, lookup = verdict_of(findings), Lookup(findings)
    return StatedVerdict(
        state=verdict.state, checks=tuple(stated_check(check, lookup) for check in verdict.checks)
    )


def stated_check(check: Check, lookup: Lookup) -> StatedCheck:
    """Return a check with what it found in words."""
    headline, text = REASONS_IN_WORDS[check.reason]
    facts = _facts(check, lookup)
    return StatedCheck(
        name=check.name,
        query_set=check.query_set,
        state=check.state,
        value=check.value,
        good=check.good,
        bad=check.bad,
        n_affected=check.n_affected,
        headline=headline.format_map(facts),
        text=text.format_map(facts).strip(),
    )


def _facts(check: Check, lookup: Lookup) -> dict[str, str]:
    """Return what stands in the words of a check, by the names that `WORDS` gives it."""
    findings = lookup.findings
    facts = {
        "families": lookup.families,
        "percent": f"{100.0 * check.value:.0f}",
        "affected": plural(check.n_affected, "prediction"),
        "n_affected": count(check.n_affected),
        "lack": "lacks" if check.n_affected == 1 else "lack",
        "classes": in_words(check.classes),
    }
    shift = next((shift for shift in findings.shifts if shift.name == check.query_set), None)
    if check.name == "gap":
        facts |= _gap_facts(check, lookup)
    elif check.name == "class_alone":
        value, lower, upper = map(three_decimals, (check.value, check.lower, check.upper))
        facts["difference"] = f"NLL {value}, {lower} to {upper}"
    elif check.name == "relatives" and findings.split is not None:
        facts["split"] = lead_of(findings.split, findings.joined)
    elif check.name == "rows" and findings.rows is not None:
        facts["rows"] = _rows(findings.rows)
    elif check.name == "same_classifier" and shift is not None and shift.sameness is not None:
        sameness = shift.sameness
        facts["noticed"] = as_sentence(noticed_if_off(sameness.power))
        facts["learnt"] = plural(sameness.n_learnt or 0, "homologue")
        facts["names"] = names_of(sameness)
        facts["rows"] = "" if sameness.rows is None else _rows(sameness.rows)
    elif check.name == "homologues":
        (relatives,) = (
            novelty.relatives
            for novelty in findings.novelties
            if novelty.name == check.query_set and novelty.relatives is not None
        )
        facts["homologues"] = headline_of(relatives)
        facts["what_follows"] = " ".join(f"{text}." for text in sentences_of_relatives(relatives))
    elif check.name == "evidence":
        lacking = {"all": check.classes, "nearly all": check.classes_nearly}
        stated = ", ".join(f"{part} {in_words(names)}" for part, names in lacking.items() if names)
        facts["lacking"] = f" {as_sentence(stated)}." if stated else ""
    elif check.name == "mix" and shift is not None:
        (query_set,) = (entry for entry in findings.queries if entry.name == check.query_set)
        n_known = query_set.n - query_set.n_unknown
        facts["moved_most"] = _moved_most(shift)
        facts["n_known"] = count(n_known)
        facts["n_in_range"] = count(n_known - check.n_affected)
    return facts


def _gap_facts(check: Check, lookup: Lookup) -> dict[str, str]:
    gaps, over_all = gaps_of(lookup.findings), ""
    every = gaps.get(None)
    if every is not None and not math.isnan(every.lower):
        way = "high" if every.value >= 0 else "low"
        over_all = (
            f"Over all classes, confidences are {points(every.value)} too {way} in "
            f"cross-validation over {lookup.families} ({_signed(every.lower)} to "
            f"{_signed(every.upper)})."
        )
    return {
        "over_all": over_all,
        "gaps": in_words(
            f"{name} ({_signed(gap.value)})" for name in check.classes if (gap := gaps.get(name))
        ),
        "most": points(lookup.findings.limits.off_by),
        "n_named": str(len(check.classes)),
        "classes_counted": plural(check.n_classes, "class", "classes"),
    }


def _rows(rows: ShiftedRows) -> str:
    return " ".join(f"{as_sentence(sentence)}." for sentence in sentences_of_rows(rows))


def _signed(value: float) -> str:
    sign = "−" if value < 0 else "+"
    return f"{sign}{rounded(abs(100.0 * value), 1)}"


def _moved_most(shift: ShiftFinding) -> str:
    moved = {
        entry: abs(entry.applied - entry.calibration_proportion)
        for entry in shift.classes
        if not math.isnan(entry.applied - entry.calibration_proportion)
    }
    if not moved:
        return ""
    most = max(moved, key=lambda entry: moved[entry])
    share, lower, upper, applied, before = (
        f"{100 * value:.0f}"
        for value in (
            most.share,
            most.lower,
            most.upper,
            most.applied,
            most.calibration_proportion,
        )
    )
    is_stated = shift.estimator == "stated"
    interval = f" ({lower}–{upper})" if most.upper > most.lower else ""
    taken = f", corrected for {applied} %" if applied != share else ""
    return (
        f"{'Stated' if is_stated else 'Estimated'} {share} %{interval} of your proteins are "
        f"{most.class_name}; {before} % in the calibration set{taken}. "
    )
