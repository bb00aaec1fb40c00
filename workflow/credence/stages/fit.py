"""Prediction sets for the commands that fit and judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from credence.findings.evaluated import SetsFinding
    from credence.predictions import Labelled
    from credence.sets.conformal import Kind, PredictionSets
    from credence.tables.calibration_file import CalibrationFile


def sets_of(
    labelled: Labelled, level: float | None, kind: Kind, where: str
) -> PredictionSets | None:
    """Return prediction sets where they are asked for; report classes that are always in."""
    import numpy as np

    from credence.sets.conformal import SetOptions, families_needed, fit_sets

    if level is None:
        return None
    if labelled.predictions.scores is None:
        click.echo(f"{where}: only the top score is known, so no prediction sets.", err=True)
        return None
    sets = fit_sets(labelled, SetOptions(level, kind))
    always = [
        f"{name} ({ladder.n_clusters})"
        for name, limit, ladder in zip(sets.class_names, sets.limits(), sets.ladders, strict=True)
        if np.isinf(limit) and limit > 0
    ]
    if always:
        click.echo(
            f"{where}: in every prediction set, since {families_needed(level)} families are "
            f"needed: {', '.join(always)}.",
            err=True,
        )
    return sets


def sets_finding(
    labelled: Labelled, file: CalibrationFile, folds: int, level: float, draws: int
) -> SetsFinding | None:
    """Return how good the sets of a calibration are on families held out, where it has some."""
    from credence.sets.coverage import judge_sets

    if file.sets is None or labelled.predictions.scores is None:
        return None
    return judge_sets(labelled, file.sets.options, folds, level, draws)


def require_no_sets(level: float | None) -> None:
    """Refuse to fit sets where proteins are added to a calibration."""
    from credence.problems import refuse

    if level is not None:
        raise refuse("--sets", "proteins cannot be added to sets.", "Leave it out, or fit to all.")
