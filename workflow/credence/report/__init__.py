"""The page of a run, built from its findings alone."""

from credence.report.deposit import citation, readme
from credence.report.html import render
from credence.report.index import render_index
from credence.report.record import report_record

__all__ = ["citation", "readme", "render", "render_index", "report_record"]
