"""What a reader has to know of wrong names and ids, other classifiers and known relatives.

The core returns numbers; whoever prints them, or puts them on the page, says it with these.
"""

import math
from collections.abc import Iterator

from credence.findings import KnownRelatives, Sameness, ShiftedRows
from credence.problems import plural

FAMILIES_UNKNOWN = (
    "families unknown: every protein counts as independent, so intervals may be too narrow"
)
LEAST_P = 1e-4  # so few draws cannot distinguish a smaller one


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
