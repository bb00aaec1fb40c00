"""The page of a run, built from its findings alone."""

from credence.report.html import render
from credence.report.page_data import bibliography, citation, readme, render_index, report_record

__all__ = ["bibliography", "citation", "readme", "render", "render_index", "report_record"]
