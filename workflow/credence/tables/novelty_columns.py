"""The columns of `confidences` that say how far a protein is from those known."""

from __future__ import annotations

from credence.tables.columns import Column, Kind

NOVELTY_COLUMNS = (
    Column("novelty", Kind.NUMBER, True, low=0.0, high=1.0, is_optional=True),
    Column("calibration_distance", Kind.NUMBER, True, low=0.0, is_optional=True),
    Column("nearest_calibration", may_be_empty=True, is_optional=True),
    Column("training_distance", Kind.NUMBER, True, low=0.0, is_optional=True),
)
NOVELTY_NAMES = tuple(column.name for column in NOVELTY_COLUMNS)
