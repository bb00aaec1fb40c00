"""SignalP 6: `prediction_results.txt`, two lines of comment, then tab-separated.

The verdict is the short name of a class: `SP` means the column `SP(Sec/SPI)`,
and `NO_SP` means `OTHER`. Probabilities can exceed 1 slightly.
"""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

NO_SIGNAL = "NO_SP"
NO_SIGNAL_COLUMN = "OTHER"
EXCESS = 1e-3  # seen: a few units of the fourth decimal above 1


def spell(text: str) -> str:
    """Return the short name of a class.

    Examples
    --------
    >>> spell("SP(Sec/SPI)"), spell("NO_SP")
    ('SP', 'OTHER')
    """
    short = text.partition("(")[0].strip()
    return NO_SIGNAL_COLUMN if short == NO_SIGNAL else short


FORMAT = Format(
    name="signalp6",
    summary="SignalP 6 prediction_results.txt: # ID, Prediction, a column per class, CS Position",
    columns=Columns(id="# ID", predicted_class="Prediction", ignored=("CS Position",)),
    delimiter="\t",
    spell=spell,
    slack=EXCESS,
    header_start="# ID",
    quoted=False,
)
