"""Adding a trove to the masses that a release was fitted on.

Only what a trove touches is looked at: the proteins so far are there as masses
(:mod:`credence.calibrators.masses`). The result is that of a fit to all proteins
from scratch, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace

from credence.calibrators.classwise import (
    ClassCurve,
    ClasswiseCalibration,
    ClasswiseCalibrator,
    class_samples,
    count,
    never_predicted,
)
from credence.calibrators.masses import MassTable, class_masses, support_of
from credence.predictions import Labelled


def mass_table(labelled: Labelled) -> MassTable:
    """Return the masses of all classes."""
    predictions = labelled.predictions
    return MassTable(
        predictions.class_names,
        predictions.scale,
        predictions.resolution,
        tuple(
            None if sample is None else class_masses(sample) for sample in class_samples(labelled)
        ),
    )


def add_trove(
    table: MassTable,
    trove: Labelled,
    before: Labelled | None = None,
    after: Labelled | None = None,
) -> MassTable:
    """Return the masses with those of a trove added, exactly."""
    for there, now in ((table, trove), (table, after)):
        if now is not None and (
            now.predictions.class_names != there.class_names
            or now.predictions.scale != there.scale
        ):
            raise ValueError("the trove has other classes or another scale")
    if before is not None and before.n_samples:
        table = table - mass_table(before)
    for part in (trove, after):
        if part is not None and part.n_samples:
            table = table + mass_table(part)
    return table


def with_masses(calibration: ClasswiseCalibration, labelled: Labelled) -> ClasswiseCalibration:
    """Return a calibration that keeps the masses of what it was fitted on."""
    return replace(
        calibration,
        entries=tuple(
            replace(entry, masses=masses)
            for entry, masses in zip(
                calibration.entries, mass_table(labelled).entries, strict=True
            )
        ),
    )


def fit_masses(calibrator: ClasswiseCalibrator, table: MassTable) -> ClasswiseCalibration:
    """Return the curves that masses alone give, without intervals, masses kept.

    They are those of a fit to the proteins without draws, bit for bit.
    """
    entries = []
    for masses in table.entries:
        if masses is None:
            entries.append(never_predicted())
            continue
        curve = calibrator.curve_of(masses, table.scale, table.resolution)
        if curve is None:
            raise ValueError(f"{calibrator.method} with these settings is no sum over proteins")
        support = support_of(masses, table.scale)
        entries.append(ClassCurve(curve, None, support, count(masses), masses))
    return ClasswiseCalibration(calibrator.method, table.class_names, tuple(entries))
