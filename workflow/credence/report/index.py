"""A page over all runs of a folder: which there are, and where their pages lie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from credence.report.html import environment, policy
from credence.report.page_data import SCHEMA
from credence.report.wording import NOTHING, count

COLUMNS = ("run", "what it is", "method", "proteins", "classes", "warnings", "credence")


def render_index(records: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the page over runs; the same runs give the same text."""
    pages = environment()
    stylesheet = Markup(pages.get_template("page.css").render())
    return pages.get_template("index.html").render(
        policy=Markup(policy(stylesheet, scripts=())),
        stylesheet=stylesheet,
        columns=COLUMNS,
        rows=[_row(folder, records[folder]) for folder in sorted(records)],
    )


def _row(folder: str, record: Mapping[str, Any]) -> dict[str, Any]:
    summary = record.get("summary") if record.get("schema") == SCHEMA else None
    known = summary if isinstance(summary, Mapping) else {}

    def number(name: str) -> str:
        value = known.get(name)
        return count(value) if isinstance(value, int) else NOTHING

    simulated = " (simulated)" if record.get("is_simulated") is True else ""
    return {
        "link": f"{quote(folder, safe='')}/index.html",
        "run": folder,
        "cells": (
            f"{record.get('title', NOTHING)}{simulated}",
            str(known.get("chosen", NOTHING)),
            number("n_samples"),
            number("n_classes"),
            number("n_warnings"),
            str(record.get("credence_version", NOTHING)),
        ),
    }
