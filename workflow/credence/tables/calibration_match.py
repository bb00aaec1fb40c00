"""Whether a table is one that a calibration can be used on: its classes, scale and scores."""

from __future__ import annotations

from credence.calibrators.protocol import Need
from credence.predictions import Predictions
from credence.problems import InputError, Problem
from credence.tables.calibration_file import CalibrationFile


def require_match(file: CalibrationFile, predictions: Predictions, where: str) -> None:
    """Refuse predictions that the calibration was not made for.

    Parameters
    ----------
    file : CalibrationFile
        What is to give the confidences.
    predictions : Predictions
        What is to get them.
    where : str
        The score table, as the user named it.
    """
    problems = _class_problems(file.class_names, predictions.class_names, where)
    if float(predictions.scale) != float(file.scale):
        problems.append(
            Problem(
                where,
                f"its scale is {predictions.scale:g}, the calibration's is {file.scale:g}.",
                "Give scores of the classifier that was calibrated, on the same scale.",
            )
        )
    problems += need_problems(file.method_spec, file.needs, predictions, where)
    if problems:
        raise InputError(problems)


def _class_problems(known: tuple[str, ...], found: tuple[str, ...], where: str) -> list[Problem]:
    if known == found:
        return []
    missing = [name for name in known if name not in found]
    extra = [name for name in found if name not in known]
    if not missing and not extra:
        return [
            Problem(
                where,
                f"its classes are the calibration's in another order: {_list(found)}.",
                f"Put them in this order: {_list(known)}.",
            )
        ]
    parts = []
    if missing:
        parts.append(f"missing {_list(missing)}")
    if extra:
        parts.append(f"not known {_list(extra)}")
    return [
        Problem(
            where,
            f"its classes are not the calibration's: {'; '.join(parts)}.",
            f"Give a table with these classes, in this order: {_list(known)}.",
        )
    ]


def need_problems(text: str, needs: Need, predictions: Predictions, where: str) -> list[Problem]:
    """Return what a method needs of a score table and does not find there.

    Parameters
    ----------
    text : str
        The method, as it is written.
    needs : Need
        What it needs.
    predictions : Predictions
        The table.
    where : str
        Its name.
    """
    what, remedy = None, "Give such a table, or fit with a method that needs less."
    if needs is not Need.CLASS and predictions.top_score is None:
        what = "it has no scores"
    elif needs.is_vector and predictions.scores is None:
        what = "it has the top score only"
    elif needs.is_vector and not predictions.is_distribution:
        what = "its rows do not sum to the scale"
    elif needs is Need.PLACE and predictions.places is None:
        what = "nothing says where its proteins lie"
        remedy = "Give what credence novelty wrote: --novelty."
    if what is None:
        return []
    return [
        Problem(
            where,
            f"{what}, and {text!r} needs the {needs.value}.",
            remedy,
        )
    ]


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(repr(name) for name in names)
