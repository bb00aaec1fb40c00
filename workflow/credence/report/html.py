"""The page: one file of HTML that loads nothing and runs only its own scripts."""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from credence.findings import Findings
from credence.report.figures import to_svg
from credence.report.frame import data_text, gather_styles, policy, scripts
from credence.report.hover import points_of
from credence.report.plots import Plot
from credence.report.sections.registry import sections_of
from credence.report.wording import printable

STYLESHEETS = ("page.css", "what_if.css")


def render(findings: Findings) -> str:
    """Return the page of a run; the same findings give the same text.

    Parameters
    ----------
    findings : Findings
        What the run found.
    """
    environment = _environment()
    body, rules = gather_styles(
        environment.get_template("body.html").render(
            provenance=findings.provenance,
            sections=sections_of(findings),
            schema=findings.schema,
        )
    )
    sheets = (environment.get_template(name).render() for name in STYLESHEETS)
    stylesheet = Markup("".join(sheets)) + rules + "\n"
    return environment.get_template("page.html").render(
        provenance=findings.provenance,
        policy=Markup(policy(stylesheet)),
        stylesheet=stylesheet,
        scripts=scripts(),
        body=body,
    )


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("credence.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        # Text that reaches the page passes here: control characters are made visible.
        finalize=_shown,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["svg"] = _svg
    environment.filters["points"] = points_of
    environment.filters["data"] = data_text
    return environment


def _shown(value: Any) -> Any:
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return printable(value)


def _svg(plot: Plot, name: str) -> Markup:
    # Safe: matplotlib escapes the text of a drawing, and nothing else comes from an input.
    return Markup(to_svg(plot, name))
