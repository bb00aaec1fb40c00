"""The page: one file of HTML that loads nothing and runs only its own scripts."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from credence.findings import Findings, Provenance
from credence.report.blocks import Section
from credence.report.frame import data_text, gather_styles, policy, scripts
from credence.report.hover import points_of
from credence.report.plots import Plot
from credence.report.sections.registry import sections_of
from credence.report.svg import to_svg
from credence.report.wording import printable

STYLESHEETS = ("page.css", "what_if.css")


def render(findings: Findings) -> str:
    """Return the page of a run; the same findings give the same text.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    return render_sections(findings.provenance, sections_of(findings), findings.schema)


def render_sections(provenance: Provenance, sections: tuple[Section, ...], schema: str) -> str:
    """Return a page of sections; the same sections give the same text.

    Parameters
    ----------
    provenance : Provenance
        Title, run and version.
    sections : tuple of Section
        In reading order.
    schema : str
        Of what they were made of.
    """
    pages = environment()
    body, rules = gather_styles(
        pages.get_template("body.html").render(
            provenance=provenance, sections=sections, schema=schema
        )
    )
    sheets = (pages.get_template(name).render() for name in STYLESHEETS)
    stylesheet = Markup("".join(sheets)) + rules + "\n"
    return pages.get_template("page.html").render(
        provenance=provenance,
        policy=Markup(policy(stylesheet, scripts())),
        stylesheet=stylesheet,
        scripts=scripts(),
        body=body,
    )


@cache
def environment() -> jinja2.Environment:
    """Return what fills the templates: it escapes every text, and shows what is invisible."""
    pages = jinja2.Environment(
        loader=jinja2.PackageLoader("credence.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Text that reaches the page passes here: control characters are made visible.
        finalize=_shown,
    )
    pages.filters["kind"] = lambda block: type(block).__name__
    pages.filters["svg"] = _svg
    pages.filters["points"] = points_of
    pages.filters["data"] = data_text
    return pages


def _shown(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


def _svg(plot: Plot, name: str) -> Markup:
    # Safe: matplotlib escapes the text of a drawing, and nothing else comes from an input.
    return Markup(to_svg(plot, name))
