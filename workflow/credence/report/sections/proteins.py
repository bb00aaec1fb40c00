"""The proteins: all predictions of every query set, to be searched, filtered and saved."""

import math
from typing import Any
from urllib.parse import quote

from credence.findings import DECISIONS, Findings, QuerySet
from credence.problems import plural
from credence.report import blocks as page
from credence.report.wording import count

SHOWN_DECIMALS = 6  # of confidences and identities, as in the tables


def section(findings: Findings) -> page.Section | None:
    """Return the table of each query set with the files that hold all of it; None without any."""
    blocks = page.flat(
        _of_set(findings, query_set, name)
        for query_set, name in page.with_slugs(findings.queries)
        if query_set.proteins is not None
    )
    return page.Section(name="proteins", title="The proteins", blocks=blocks) if blocks else None


def _of_set(findings: Findings, query_set: QuerySet, name: str) -> tuple[page.Block, ...]:
    rows = query_set.proteins
    assert rows is not None
    text = f"{plural(query_set.n, 'prediction')} of {query_set.name}."
    if not rows.is_whole:
        text = (
            f"{query_set.name} has {plural(query_set.n, 'prediction')}: the table has the "
            f"{count(len(rows.ids))} accepted with the highest confidence."
        )
    files = tuple(
        page.Link(text=address, target=quote(address))
        for address in findings.files
        if address.startswith(f"{query_set.name}/") and address.endswith(".tsv")
    )
    if files:
        text += " All predictions and the lists, as files:"
    table = page.Widget(
        name=f"proteins-{name}",
        script="proteins",
        label=f"Predictions of {query_set.name}",
        data=protein_data(findings, query_set),
    )
    return page.flat(page.Paragraph(text=text, links=files), table)


def protein_data(findings: Findings, query_set: QuerySet) -> dict[str, Any]:
    """Return the columns of a set's table as the script reads them."""
    rows = query_set.proteins
    assert rows is not None
    return {
        "set": query_set.name,
        "classes": findings.results.class_names,
        "decisions": DECISIONS,
        "texts": rows.texts,
        "id": rows.ids,
        "class": rows.classes,
        "confidence": _rounded(rows.confidence),
        "lower": _rounded(rows.lower),
        "upper": _rounded(rows.upper),
        "decision": rows.decisions,
        "note": rows.notes,
        "nearest": rows.nearest,
        "identity": _rounded(rows.identity),
        "genome": rows.genomes,
    }


def _rounded(values: tuple[float, ...]) -> list[float | None]:
    return [None if math.isnan(value) else round(value, SHOWN_DECIMALS) for value in values]
