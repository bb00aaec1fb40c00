"""DeePVP's classification: `Header`, ten columns that end in `_score`, `Possible_class`."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format


def spell(text: str) -> str:
    """Return a class with underscores; DeePVP writes `Major tail` in its verdicts.

    Examples
    --------
    >>> spell("Major tail") == spell("Major_tail")
    True
    """
    return "_".join(text.replace("_", " ").split())


FORMAT = Format(
    name="deepvp",
    summary="DeePVP CSV: Header, ten columns <class>_score, Possible_class",
    columns=Columns(id="Header", predicted_class="Possible_class", class_suffix="_score"),
    spell=spell,
)
