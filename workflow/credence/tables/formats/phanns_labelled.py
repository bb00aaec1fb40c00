"""PhANNs tables whose row name carries the true class: `baseplate_1`, `HTJ_7`."""

from __future__ import annotations

import re
from dataclasses import replace

from credence.tables.formats import phanns

NUMBER_AT_END = re.compile(r"[_\d]+$")


def label_of_id(name: str) -> str:
    """Return the label in front of the number, if there is a number.

    Examples
    --------
    >>> [label_of_id(name) for name in ("tail_shaft_3", "others_", "HTJ_7", "portal")]
    ['tail_shaft', 'others', 'HTJ', 'portal']
    """
    return NUMBER_AT_END.sub("", name)


FORMAT = replace(
    phanns.FORMAT,
    name="phanns-labelled",
    summary="PhANNs CSV whose row names carry the true class: baseplate_1, shaft_3, other_12",
    label_of_id=label_of_id,
)
