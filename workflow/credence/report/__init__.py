"""The page of a run, built from its findings alone."""

from credence.report.html import render
from credence.report.index import render_index
from credence.report.page_data import report_record
from credence.report.sections.publish import citation, readme

__all__ = ["citation", "readme", "render", "render_index", "report_record"]
