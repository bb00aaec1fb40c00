"""The functional categories of PHROGs, as phold and Phynteny spell them."""

from __future__ import annotations

import re

CATEGORIES = (
    "head and packaging",
    "integration and excision",
    "tail",
    "moron, auxiliary metabolic gene and host takeover",
    "DNA, RNA and nucleotide metabolism",
    "connector",
    "transcription regulation",
    "lysis",
    "other",
    "unknown function",
)
UNKNOWN = "unknown function"
NOT_A_LETTER = re.compile(r"[^a-z]+")


def spell(text: str) -> str:
    """Return a category with underscores for blanks and commas.

    Examples
    --------
    >>> spell("DNA, RNA and nucleotide metabolism") == spell("DNA_RNA_and_nucleotide_metabolism")
    True
    """
    return NOT_A_LETTER.sub("_", text.strip().casefold())


IN_FULL = {spell(name): name for name in CATEGORIES}


def category(text: str) -> str:
    """Return the full name of a category; a stranger's name is left as it is.

    Examples
    --------
    >>> category("head_and_packaging")
    'head and packaging'
    """
    return IN_FULL.get(spell(text), text)
