"""The page as data: what `report.json` holds."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from credence.findings import Findings
from credence.records import to_record
from credence.report.blocks import Figure, Widget, kind_of
from credence.report.sections.all_sections import sections_of
from credence.report.sections.notices import all_notices

SCHEMA = "credence/report/1"
LEFT_OUT = ("plot", "data")  # numbers drawn, which the findings hold


def report_record(findings: Findings) -> dict[str, Any]:
    """Return the page's sections as JSON data, figures by what they say.

    The numbers that figures draw are in the findings.
    """
    return {
        "schema": SCHEMA,
        "run": findings.provenance.run,
        "title": findings.provenance.title,
        "is_simulated": findings.provenance.is_simulated,
        "credence_version": findings.provenance.credence_version,
        "summary": {  # what an index of runs shows of this one
            "chosen": findings.chosen,
            "n_samples": findings.results.n_samples,
            "n_classes": len(findings.results.class_names),
            "n_warnings": sum(notice.is_warning for notice in all_notices(findings)),
        },
        "sections": [block_record(section) for section in sections_of(findings)],
    }


def block_record(block: Any) -> Any:
    """Return a block, or a part of one, as JSON data that names its kind."""
    if isinstance(block, tuple):
        return [block_record(part) for part in block]
    if not is_dataclass(block):
        return to_record(block)
    names = [entry.name for entry in fields(block)]
    if isinstance(block, Figure | Widget):
        names = [name for name in names if name not in LEFT_OUT]
    return {"kind": kind_of(block), **{name: block_record(getattr(block, name)) for name in names}}
