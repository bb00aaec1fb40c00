"""Figures for journals: small multiples of all classes, as files."""

from credence.report.sheets.files import (
    FORMATS,
    Part,
    columns_of,
    drawing,
    parts_of,
    rendered,
)
from credence.report.sheets.record import Grid, Heat, Panel, Sheet
from credence.report.sheets.registry import SHEETS

__all__ = [
    "FORMATS",
    "SHEETS",
    "Grid",
    "Heat",
    "Panel",
    "Part",
    "Sheet",
    "columns_of",
    "drawing",
    "parts_of",
    "rendered",
]
