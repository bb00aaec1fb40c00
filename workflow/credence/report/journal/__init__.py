"""Figures for journals: small multiples of all classes, as files."""

from credence.report.journal.all_figures import (
    JOURNAL_FIGURES,
    ClassPanel,
    Heat,
    JournalFigure,
    PanelGrid,
)
from credence.report.journal.writing_figures import (
    FORMATS,
    Drawing,
    columns_of,
    drawing,
    parts_of,
    rendered,
)

__all__ = [
    "FORMATS",
    "JOURNAL_FIGURES",
    "ClassPanel",
    "Drawing",
    "Heat",
    "JournalFigure",
    "PanelGrid",
    "columns_of",
    "drawing",
    "parts_of",
    "rendered",
]
