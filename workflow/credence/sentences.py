"""What a reader has to know of wrong names, wrong ids and other classifiers, in words.

The core returns numbers; whoever prints them, or puts them on the page, says it with these.
"""

from collections.abc import Iterator

from credence.findings import Sameness, ShiftedRows

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
    return (
        "its scores differ from those in calibration: another version of the tool, or other "
        f"proteins. No class proportions explain them ({stated}, power {sameness.power:.2f}, "
        f"{sameness.n:,} proteins). Were "
        "top scores matched to those in calibration, confidences would change by "
        f"{sameness.effect:.2f} on average.{names} Do not rely "
        "on these confidences: give scores of the version that was calibrated, or calibrate "
        "with proteins like these"
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
