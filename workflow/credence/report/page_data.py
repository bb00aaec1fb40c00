"""What lies beside the page: its text as data, and README and citation, and an index of runs."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from credence.findings import Findings
from credence.problems import plural
from credence.records import to_record
from credence.report.blocks import Figure, Widget, kind_of
from credence.report.html import environment, policy
from credence.report.sections.all_sections import sections_of
from credence.report.sections.measuring import all_notices
from credence.report.sections.publish import (
    archive_files,
    checklist,
    figures_digest,
    journal_checks,
    methods_text,
    references,
)
from credence.report.verdict import stated_verdict
from credence.report.wording import DASH, count, printable

REPORT_SCHEMA = "credence/report/1"
DRAWN = ("plot", "data")  # numbers drawn, which the findings hold


def report_record(findings: Findings) -> dict[str, Any]:
    """Return the page's sections as JSON data, figures by what they say."""
    names = ("run", "title", "is_simulated", "credence_version")
    return {
        "schema": REPORT_SCHEMA,
        **{name: getattr(findings.provenance, name) for name in names},
        "summary": {  # what an index of runs shows of this one
            "chosen": findings.chosen,
            "n_samples": findings.results.n_samples,
            "n_classes": len(findings.results.class_names),
            "n_warnings": sum(notice.is_warning for notice in all_notices(findings)),
        },
        "figures": figures_digest(findings),
        "verdict": to_record(stated_verdict(findings)),
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
        names = [name for name in names if name not in DRAWN]
    return {"kind": kind_of(block), **{name: block_record(getattr(block, name)) for name in names}}


def _text(template: str, findings: Findings) -> str:
    pages = environment().overlay(autoescape=False)
    pages.filters = {**pages.filters, "cell": _cell, "of": plural}
    return pages.get_template(template).render(
        findings=findings,
        provenance=findings.provenance,
        title=json.dumps(f"{printable(findings.provenance.title)}: calibrated confidences"),
        version=json.dumps(findings.provenance.credence_version),
        methods=methods_text(findings),
        references=references(findings),
        checklist=checklist(findings),
        asked=journal_checks(findings),
        files=archive_files(findings),
    )


# In Markdown: README of an archive, texts for a paper; who made it, for the depositor to name;
# what to cite.
readme = partial(_text, "README.md")
publication = partial(_text, "publication.md")
citation = partial(_text, "CITATION.cff")
bibliography = partial(_text, "references.bib")


def _cell(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    shown = printable(text).replace("\n", " ").replace("\t", " ")
    for sign in "\\`*_<>|#":
        shown = shown.replace(sign, f"\\{sign}")
    return shown


INDEX_COLUMNS = ("run", "what it is", "method", "proteins", "classes", "warnings", "credence")


def render_index(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page over runs; the same runs give the same text."""
    pages = environment()
    stylesheet = Markup(pages.get_template("page.css").render())
    return pages.get_template("index.html").render(
        policy=Markup(policy(stylesheet, scripts=())),
        stylesheet=stylesheet,
        columns=INDEX_COLUMNS,
        rows=[_row(folder, records[folder]) for folder in sorted(records)],
    )


def _row(folder: str, record: Mapping[str, Any]) -> dict[str, Any]:
    summary = record.get("summary") if record.get("schema") == REPORT_SCHEMA else None
    known = summary if isinstance(summary, Mapping) else {}
    values = (known.get(name) for name in ("n_samples", "n_classes", "n_warnings"))
    numbers = (count(value) if isinstance(value, int) else DASH for value in values)
    simulated = " (simulated)" if record.get("is_simulated") is True else ""
    title, version = (record.get(name, DASH) for name in ("title", "credence_version"))
    cells = (f"{title}{simulated}", str(known.get("chosen", DASH)), *numbers, str(version))
    return {"link": f"{quote(folder, safe='')}/index.html", "run": folder, "cells": cells}
