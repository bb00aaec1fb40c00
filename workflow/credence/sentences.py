"""What a reader has to know of wrong names, wrong ids and other classifiers, in words.

The core returns numbers; whoever prints them, or puts them on the page, says it with these.
"""

from collections.abc import Iterator

from credence.findings import Sameness, ShiftedRows

LEAST_P = 1e-4  # so few draws cannot distinguish a smaller one


def warning_of(found: Sameness) -> str:
    """Return what a reader has to know of a set that is not like calibration's."""
    stated = f"p = {found.p_value:.2g}" if found.p_value >= LEAST_P else f"p < {LEAST_P:g}"
    if found.rows is not None:
        return ". ".join(sentences_of_rows(found.rows))
    names = f" {names_of(found)}" if found.is_misnamed else ""
    return (
        "its scores are unlike those in calibration: another version of the tool, or other "
        f"proteins. No mix of the classes explains them ({stated}, power {found.power:.2f}, "
        f"{found.n:,} proteins). Were "
        "top scores matched to those in calibration, confidences would change by "
        f"{found.effect:.2f} on average.{names} Do not rely "
        "on these confidences: give scores of the version that was calibrated, or calibrate "
        "with proteins like these"
    )


def names_of(found: Sameness) -> str:
    """Return under which names columns may stand."""
    if found.exchanged:
        return (
            f"They fit better with the columns {found.exchanged[0]!r} and "
            f"{found.exchanged[1]!r} exchanged; {100 * found.moved:.1f} % of the proteins are "
            "predicted as one of the two."
        )
    return (
        "Which class comes second does not fit the class that comes first: columns may stand "
        "under wrong names. Compare the header with that of the calibrated table."
    )


def sentences_of_rows(found: ShiftedRows) -> Iterator[str]:
    """Yield what a reader has to know of rows that stand under wrong ids."""
    if found.is_like_chance:
        yield (
            f"the scores tell nothing about the classes: {100 * found.accuracy:.1f} % of "
            f"{found.n:,} proteins are predicted right, {100 * found.largest:.1f} % are of the "
            f"largest class, and predictions and labels agree no more than by chance (kappa "
            f"{found.agreement:.2f}). Labels or rows may stand under wrong ids; do not use these "
            "confidences before that is known"
        )
    if found.network:
        yield (
            f"network {found.network} of {found.n_networks} disagrees with the others far more "
            f"than they do among themselves: agreement beyond chance {found.with_others:.2f}, "
            f"among the others {found.among_others:.2f}. Its rows may be in another order; give "
            "its scores under the right ids, or leave it out"
        )
