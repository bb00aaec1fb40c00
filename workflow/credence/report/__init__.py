"""The page of a run, built from its findings alone."""

from credence.report.html import render
from credence.report.record import report_record

__all__ = ["render", "report_record"]
