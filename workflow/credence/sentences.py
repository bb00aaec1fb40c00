"""What a reader has to know of evaluations, class proportions, wrong names and known relatives.

The core returns numbers; whoever prints them, or puts them on the page, says it with these.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from credence.findings import (
    CLIP,
    Caution,
    KnownRelatives,
    Notice,
    ProteinList,
    Results,
    Sameness,
    ShiftedRows,
    ShiftFinding,
)
from credence.problems import plural

FAMILIES_UNKNOWN = (
    "families unknown: every protein counts as independent, so intervals may be too narrow"
)
LEAST_P = 1e-4  # so few draws cannot distinguish a smaller one
MOST_PART = 0.9  # part of a shift that is applied, below which it is reported


def warning_of(sameness: Sameness) -> str:
    """Return what a reader has to know of a set that is not like calibration's."""
    stated = f"p = {sameness.p_value:.2g}" if sameness.p_value >= LEAST_P else f"p < {LEAST_P:g}"
    if sameness.rows is not None:
        return ". ".join(sentences_of_rows(sameness.rows))
    names = f" {names_of(sameness)}" if sameness.is_misnamed else ""
    memory = (
        " Homologues of training proteins get surer scores and look like this too; nobody "
        "searched for them here: give credence novelty --training, and annotate with --novelty."
    )
    if sameness.n_learnt:
        memory = f" {plural(sameness.n_learnt, 'homologue')} of training proteins are left out."
    elif sameness.n_learnt == 0:
        memory = ""
    return (
        "its scores differ from those in calibration: another version of the tool, or other "
        f"proteins.{memory} No class proportions explain them ({stated}, power "
        f"{sameness.power:.2f}, {sameness.n:,} proteins). Were "
        "top scores matched to those in calibration, confidences would change by "
        f"{sameness.effect:.2f} on average.{names} Do not rely "
        "on these confidences: give scores of the version that was calibrated, or calibrate "
        "with proteins like these"
    )


def headline_of(relatives: KnownRelatives) -> str:
    """Return how many proteins are homologues of known ones."""
    n, kind = relatives.n_learnt, "training"
    if n == 0:
        n, kind = relatives.n_calibration, "calibration"
    if n == 0:
        return "No protein is a homologue of a training protein"
    verb = "is a homologue" if n == 1 else "are homologues"
    return f"{n:,} of {plural(relatives.n, 'protein')} {verb} of {kind} proteins"


def sentences_of_relatives(relatives: KnownRelatives) -> Iterator[str]:
    """Yield what follows from homologues of known proteins for the confidences of a set."""
    if relatives.n_learnt:
        means = relatives.confidence_learnt, relatives.confidence_others
        compared = ""
        if not any(map(math.isnan, means)):
            compared = f" (mean {means[0]:.2f}, of all others {means[1]:.2f})"
        yield (
            "The classifier learnt from relatives of these, so its scores are surer than on "
            f"calibration proteins, which it never saw. Their confidences{compared} may be too "
            "low, or too high where it repeats what it memorised. Compare the predicted class "
            "with that of the protein in the column closest_known"
        )
    if relatives.n_calibration:
        homologues = "them"
        if relatives.n_learnt:
            homologues = f"{plural(relatives.n_calibration, 'homologue')} of calibration proteins"
        yield (
            f"Confidences hold for new families; for {homologues} the class of a known relative "
            "says more: look at the column closest_known"
        )
    if not relatives.knows_training:
        yield (
            "Which proteins are homologues of what the classifier learnt from is not known: give "
            "its training proteins"
        )


def names_of(sameness: Sameness) -> str:
    """Return under which names columns may stand."""
    if sameness.exchanged:
        return (
            f"They fit better with the columns {sameness.exchanged[0]!r} and "
            f"{sameness.exchanged[1]!r} exchanged; {100 * sameness.moved:.1f} % of the proteins "
            "are predicted as one of the two."
        )
    return (
        "Which class comes second does not fit the class that comes first: columns may stand "
        "under wrong names. Compare the header with that of the calibrated table."
    )


def sentences_of_rows(rows: ShiftedRows) -> Iterator[str]:
    """Yield what a reader has to know of rows that stand under wrong ids."""
    if rows.is_like_chance:
        yield (
            f"the scores tell nothing about the classes: {100 * rows.accuracy:.1f} % of "
            f"{rows.n:,} proteins are predicted right, {100 * rows.largest:.1f} % are of the "
            f"largest class, and predictions and labels agree no more than by chance (kappa "
            f"{rows.agreement:.2f}). Labels or rows may stand under wrong ids; do not use these "
            "confidences before that is known"
        )
    if rows.network:
        yield (
            f"network {rows.network} of {rows.n_networks} disagrees with the others far more "
            f"than they do among themselves: agreement beyond chance {rows.with_others:.2f}, "
            f"among the others {rows.among_others:.2f}. Its rows may be in another order; give "
            "its scores under the right ids, or leave it out"
        )


def sentences_of_mix(shift: ShiftFinding) -> Iterator[str]:
    """Yield all that a reader has to know of the class proportions of a query set."""
    yield from remarks_of_mix(shift)
    yield from warnings_of_mix(shift)


TOO_FEW_FOR_MIX = (
    "Fewer than {needed} proteins ({n}) do not tell their class proportions: "
    "confidences are those for the proportions of the calibration set."
)
ASSUMED_MIX = (
    "Which classes the wrong predictions of the calibration set truly belong to is assumed, since "
    "they were only counted: the proteins of each class that were predicted wrongly are spread "
    "evenly over the wrong predictions of all other classes, whatever the score. Intervals are "
    "wider for it."
)
MIX_BY_CHANCE = (
    "How often the classes are predicted differs from the calibration set by no more "
    "than chance: confidences are not corrected, and their intervals include what is "
    "uncertain about the class proportions."
)
INSEPARABLE = (
    "Some classes are confused so often, or so few of their proteins were seen, that "
    "their proportions cannot be estimated apart: the 95 % intervals are wide."
)
STATED_FAILS = (
    "The stated class proportions do not explain the scores of this set: either they are "
    "wrong, or its proteins differ from those of the calibration set (out of "
    "distribution). Do not rely on its confidences until you know which."
)
SHIFT_FAILS = (
    "Label shift alone does not explain the scores of this set: its proteins differ from "
    "those of the calibration set (out of distribution). No correction helps here; do not "
    "rely on its confidences, corrected or not."
)


def remarks_of_mix(shift: ShiftFinding) -> Iterator[str]:
    """Yield how much of the class proportions of a query set confidences are corrected for."""
    doubts = shift.doubts
    if doubts.n_too_few < doubts.n_needed:
        yield TOO_FEW_FOR_MIX.format(needed=doubts.n_needed, n=doubts.n_too_few)
    if doubts.is_assumed:
        yield ASSUMED_MIX
    if shift.part_applied == 0.0:
        yield MIX_BY_CHANCE
    elif shift.part_applied < MOST_PART:
        yield (
            f"{100 * shift.part_applied:.0f} % of the estimated difference from the "
            "calibration set is applied (the rest may be chance)."
        )
    if doubts.capped:
        counted = [
            f"{entry.class_name} (only {entry.n:.1f} effective proteins, "
            f"weight {entry.applied:.3g} in place of {entry.asked:.3g})"
            for entry in doubts.capped
        ]
        yield (
            "Weight capped, since the calibration set has few independent proteins: "
            f"{listed(counted)}."
        )


def warnings_of_mix(shift: ShiftFinding) -> Iterator[str]:
    """Yield why the class proportions of a query set, or what follows, may be wrong."""
    doubts = shift.doubts
    if doubts.missing:
        shares, missing_classes = "its share is", "it"
        if len(doubts.missing) > 1:
            shares, missing_classes = "their shares are", "them"
        yield (
            f"The calibration set holds no {listed(doubts.missing, 'or')}: {shares} not known, "
            f"and confidences cannot be corrected for {missing_classes}."
        )
    for unsure, reason in (
        (doubts.confused, "The classifier cannot tell {} from other classes"),
        (doubts.scarce, "Too few proteins of {} were seen, here or in calibration"),
    ):
        if unsure:
            shares = "its share" if len(unsure) == 1 else "their shares"
            verb = "is" if len(unsure) == 1 else "are"
            named = listed(unsure) if len(unsure) < doubts.n_classes else "any class"
            yield f"{reason.format(named)}: {shares} in this set {verb} all but unknown."
    if doubts.is_inseparable:
        yield INSEPARABLE
    if shift.is_other_kind:
        yield SHIFT_FAILS if doubts.is_estimated else STATED_FAILS


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return names as one enumeration."""
    return f" {word} ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def notices_of(results: Results, unit: str = "protein") -> tuple[Notice, ...]:
    """Return what makes numbers of an evaluation less sure than they look, in plain sentences.

    A `unit` is what is judged: a protein, or each call of one.
    """
    return tuple(
        Notice(
            kind=caution.kind,
            text=_CAUTIONS[caution.kind](caution, results).replace("protein", unit),
            class_name=caution.class_name,
            is_warning=caution.is_warning,
        )
        for caution in results.cautions
        # Labels that calibration does not know have the answer of those above, and a note.
        if unit == "protein" or caution.kind != "unseen class"
    )


def _set_name(results: Results) -> str:
    return "calibration set" if results.n_folds else "test set"


def _ties(caution: Caution, results: Results) -> str:
    n = caution.counts["proteins"]
    return (
        f"{plural(n, 'protein')} of the {_set_name(results)} "
        f"{'has' if n == 1 else 'have'} two or more classes with the same best score. "
        "The class that comes first in the table counts as predicted."
    )


def _no_relatives(_: Caution, results: Results) -> str:
    return (
        f"Every protein of the {_set_name(results)} counts as independent of all others. If some "
        f"are relatives, the intervals are too narrow"
        f"{' and the held-out numbers too good' if results.n_folds else ''}. "
        "Give the sequences, or a table of clusters."
    )


def _weights(_: Caution, results: Results) -> str:
    return (
        f"Proteins of the {_set_name(results)} carry different weights. Shares and metrics are "
        "weighted; counts of proteins are not."
    )


def _unseen_class(caution: Caution, _: Results) -> str:
    raw = f", but of {caution.methods[0]} the raw score" if caution.methods else ""
    return (
        f"No calibration protein is predicted to be {caution.class_name}. "
        f"Predictions of this class get no confidence{raw}."
    )


def _few_clusters(caution: Caution, results: Results) -> str:
    n, name = caution.counts["proteins"], caution.class_name
    if n == 1:
        return (
            f"Only one calibration protein is predicted to be {name}, so no fit without it can "
            "judge it. There are no held-out numbers of this class."
        )
    return (
        f"The {plural(n, 'protein')} predicted to be {name} count as only "
        f"{plural(caution.counts['independent'], 'independent case')}, fewer than the "
        f"{results.n_folds} folds. Held-out numbers of this class are uncertain."
    )


def _no_true_member(caution: Caution, _: Results) -> str:
    name = caution.class_name
    return f"No calibration protein is truly {name}, so every prediction of it was wrong."


def _fallback(caution: Caution, _: Results) -> str:
    methods = f" ({', '.join(caution.methods)})" if caution.methods else ""
    return f"{caution.class_name}{methods}: {caution.note}."


def _left_out(caution: Caution, results: Results) -> str:
    subject = f"{caution.methods[0]} gives {plural(caution.counts['proteins'], 'protein')}"
    if results.n_folds:
        return (
            f"{subject} no held-out confidence, because the class predicted occurs in no other "
            "fold. They are left out of the held-out numbers."
        )
    return (
        f"{subject} no confidence, because calibration never saw the class predicted. They are "
        "left out of the numbers."
    )


def _clipped(caution: Caution, results: Results) -> str:
    n_mistaken = caution.counts["mistaken"]
    return (
        f"{caution.methods[0]} gives {plural(caution.counts['proteins'], 'protein')} a "
        f"{'held-out ' if results.n_folds else ''}confidence of 0 or 1, and "
        f"{n_mistaken:,} of these {'was' if n_mistaken == 1 else 'were'} mistaken. For the "
        f"negative log-likelihood they count as {CLIP:g} away from 0 or 1."
    )


def _reliability(caution: Caution, results: Results) -> str:
    return (
        f"Confidences of {caution.methods[0]} for {caution.class_name} are not calibrated on "
        f"proteins that the fit did not see: in {caution.counts['off']} of "
        f"{caution.counts['bins']} bins the mean confidence lies outside the "
        f"{100 * results.level:g} % interval of the precision."
    )


def _few_draws(caution: Caution, results: Results) -> str:
    return (
        f"The intervals rest on {plural(results.n_draws, 'bootstrap resample')}, and quantiles at "
        f"{100 * results.level:g} % need {caution.counts['needed']:,}: they reach as far as the "
        "spread of the resamples and Student's t say."
    )


_CAUTIONS: Mapping[str, Callable[[Caution, Results], str]] = {
    "ties": _ties,
    "no relatives": _no_relatives,
    "weights": _weights,
    "unseen class": _unseen_class,
    "few clusters": _few_clusters,
    "no true member": _no_true_member,
    "fallback": _fallback,
    "left out": _left_out,
    "clipped": _clipped,
    "reliability": _reliability,
    "few draws": _few_draws,
}


BACKGROUND_FOUND = (
    "Background, by its name: {}. Lists, q-values and decisions are of the other classes, and "
    "background predictions have a list of their own. Name others with --background."
)
LIST_MEANING = (
    "These shares are of the list, not of a protein in it: the confidence of each says how "
    "probably it is right itself.",
    "These shares are of each class's list by itself, not of a protein in it, and not of all "
    "lists together.",
)
FOR_WHOM = (
    "They hold for proteins like those of the calibration set, in the same class proportions.",
    "They hold for proteins that are, class by class, like those of the calibration set, at the "
    "class proportions that they are corrected for, whose uncertainty is in the bounds.",
)


@dataclass(frozen=True, kw_only=True)
class ListPromise:
    """By which settings lists are made."""

    level: float  # Coverage of the interval of how many are right
    certainty: float  # Of the bound of the error
    least_confidence: float  # Of a prediction that may be listed
    family_share: float  # Part of a list that one family may be before that is said


def sentences_of_list(
    list_: ProteinList, promise: ListPromise, least_error: float, largest_listed: float
) -> Iterator[str]:
    """Yield what a list holds, how many of it are right, and what makes that less sure.

    `least_error` is the least that any list of these predictions has; NaN where nothing is known.
    `largest_listed` is the part of the list that is of one family.
    """
    together = "Background" if list_.is_background else "Calls"
    name = together if list_.class_name is None else list_.class_name
    bound = f"upper {promise.certainty:.0%} bound"
    if list_.n > 0:
        yield (
            f"{name}: {list_.n:,} predictions with confidence ≥ {list_.confidence:g}, of which "
            f"about {list_.right:,.0f} are right ({promise.level:.0%} interval "
            f"{list_.right_lower:,.0f} to {list_.right_upper:,.0f}). Error: estimate "
            f"{list_.estimate:.1%}, {bound} {list_.bound:.1%}."
        )
    elif math.isnan(least_error):
        yield (
            f"{name}: no list, since no prediction with a confidence of at least "
            f"{promise.least_confidence:g} has calibration proteins beside it."
        )
    elif list_.is_certain:
        yield (
            f"{name}: no list. The least {bound} of its error that a list has is "
            f"{least_error:.1%}."
        )
    else:
        yield f"{name}: no list. As estimated, at least {least_error:.1%} of each are wrong."
    listed_name = "the list" if list_.class_name is None else f"the list of {list_.class_name}"
    if list_.kept_off:
        shares = ", ".join(f"{part.n_kept_off} of {part.class_name}" for part in list_.kept_off)
        reason = f"since more than {list_.error:.0%} of them are wrong as estimated"
        yield f"Kept off {listed_name}, {reason}: {shares}."
    worst = f"{list_.alike_lower:,.0f} to {list_.alike_upper:,.0f}"
    for part, kind in (
        (list_.largest_family, f"the calibration proteins behind {listed_name}"),
        (largest_listed, listed_name),
    ):
        if part > promise.family_share:
            yield (
                f"One family makes up {part:.0%} of {kind}. In the worst case, each family wholly "
                f"right or wrong, {worst} are right."
            )
