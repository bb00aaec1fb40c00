"""True classes from elsewhere than the score table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from credence.cli.proteins import read_proteins
from credence.problems import refuse
from credence.tables.labels import attach_labels, labels_from_headers, read_labels
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
    if labels.get("pattern") is not None:
        if proteins is None:
            raise refuse(
                "--labels", "a pattern is for FASTA headers.", "Give the file with --proteins."
            )
        fasta = read_proteins(proteins, match)
        found = labels_from_headers(
            proteins, fasta.ids, fasta.headers, fasta.lines, labels["pattern"]
        )
    elif not isinstance(labels.get("table"), str):
        raise refuse("--labels", "there is no table.", 'Write it like {"table": "labels.tsv"}.')
    else:
        found = read_labels(
            Path(labels["table"]),
            labels.get("id_column", "id"),
            labels.get("label_column", "true_class"),
        )
    return attach_labels(samples, found, spec, table)
