"""Phynteny: a category and a score (the sum of ten networks) for some proteins.

Proteins whose category was known beforehand have `NA`: Phynteny says nothing
about them, and they are listed as unscored.
"""

from __future__ import annotations

from credence.tables.formats import phrogs
from credence.tables.formats.format import Columns, Format

N_NETWORKS = 10

FORMAT = Format(
    name="phynteny",
    summary="Phynteny TSV: ID, phynteny_category, phynteny_score (the best class only)",
    columns=Columns(id="ID", predicted_class="phynteny_category", score="phynteny_score"),
    delimiter="\t",
    scale=float(N_NETWORKS),
    vector=False,
    sum_to_scale=False,
    spell=phrogs.spell,
    blanks=frozenset({"", "NA"}),
    quoted=False,
)
