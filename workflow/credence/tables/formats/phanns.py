"""PhANNs: the web server's, the batch program's and the single-file CSV.

Cantu et al. 2020, PLoS Comput Biol 16:e1007845: scores are sums of the
softmaxes of ten networks, two decimals with a `Confidence` column from the web
and batch programs, four decimals without one from the single-file program.
"""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

CLASSES = (
    "Major capsid",
    "Minor capsid",
    "Baseplate",
    "Major tail",
    "Minor tail",
    "Portal",
    "Tail fiber",
    "Tail shaft",
    "Collar",
    "HTJ",
    "Other",
)
OTHER_SPELLINGS = {"shaft": "tail shaft", "others": "other"}  # in PhANNs' own files
N_NETWORKS = 10


def spell(text: str) -> str:
    """Return a label in the form in which PhANNs' own spellings are equal.

    Examples
    --------
    >>> spell("shaft") == spell("tail_shaft") == spell("Tail shaft")
    True
    """
    form = " ".join(text.replace("_", " ").replace("-", " ").casefold().split())
    return OTHER_SPELLINGS.get(form, form)


FORMAT = Format(
    name="phanns",
    summary="PhANNs CSV (web, batch or single file): first header cell empty, a column per class",
    columns=Columns(id="", ignored=("Confidence",)),
    scale=float(N_NETWORKS),
    spell=spell,
    known_classes=CLASSES,
)
