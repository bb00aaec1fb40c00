"""True classes from elsewhere than the score table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from credence.tables.samples import Samples
from credence.tables.spec import TableSpec


def with_labels(
    samples: Samples,
    table: str,
    labels: Mapping[str, Any],
    proteins: str | None,
    match: str,
    spec: TableSpec,
) -> Samples:
    """Return samples with the true classes of a second table or of FASTA headers.

    Parameters
    ----------
    samples : Samples
        Without true classes.
    table : str
        Their table, as the user named it.
    labels : mapping
        `labels` of the configuration: table and its columns, or a pattern.
    proteins : str, optional
        FASTA file whose headers the pattern is for.
    match : str
        How ids meet its headers.
    spec : TableSpec
        How the table was read; its synonyms hold for labels too.
    """
    raise NotImplementedError
