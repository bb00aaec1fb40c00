"""phold: the shares of bit score of each PHROG category in `_per_cds_predictions.tsv`.

phold divides by the bit score of the hits whose function is known, and gives
`unknown function` no share: a protein all of whose hits are unknown has a row
of zeros and the verdict `unknown function`. Such a row gets the whole scale in
that column, which is what its verdict says. A protein without a structural hit
has empty cells: phold's verdict on it comes from elsewhere and carries no
score; such proteins are listed as unscored.
"""

from __future__ import annotations

from credence.tables.formats import phrogs
from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="phold",
    summary="phold per-CDS TSV: cds_id and ten columns <category>_bitscore_proportion",
    columns=Columns(
        id="cds_id",
        predicted_class="function_with_highest_bitscore_proportion",
        class_suffix="_bitscore_proportion",
    ),
    delimiter="\t",
    spell=phrogs.spell,
    class_name=phrogs.category,
    blanks=frozenset({""}),
    zero_row_class=phrogs.UNKNOWN,
)
