"""The calibration file: one JSON file that is data and nothing else.

It holds what is needed to give confidences (DESIGN section 4) and a checksum of
its own body. Reading one runs no code: the method's name is looked up in the
registry, which turns the record into a calibration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from credence import __version__
from credence.calibrators import composition
from credence.calibrators.protocol import Calibration, FitOptions, Need
from credence.calibrators.registry import BY_NAME, needs_of
from credence.calibrators.registry import read_calibration as read_record
from credence.calibrators.spec import Composition, Specification
from credence.confidence import Confidence
from credence.predictions import Predictions
from credence.problems import InputError, Problem, nearest, refuse
from credence.sets.conformal import PredictionSets, read_sets
from credence.tables.json_text import nulls_to_nan, plain, utf8_text
from credence.tables.probing import defect_in, defect_of
from credence.tables.writing import write_json

SCHEMA_NAME = "credence/calibration"
SCHEMA_VERSION = 1
SCHEMA = f"{SCHEMA_NAME}/{SCHEMA_VERSION}"
MOST_CHARACTERS = 40  # of a value quoted in a message
REFIT = "Fit the calibration again with credence fit."

# Key → what its value has to be, in the order in which they are written.
KEYS: dict[str, tuple[type, ...]] = {
    "schema": (str,),
    "credence_version": (str,),
    "release": (str, type(None)),
    "method": (str,),
    "settings": (dict,),
    "class_names": (list,),
    "scale": (int, float),
    "resolution": (int, float),
    "counts": (dict,),
    "inputs": (dict,),
    "calibration": (dict,),
    "checksum": (str,),
}
OPTIONAL_KEYS: dict[str, tuple[type, ...]] = {"sets": (dict,)}


@dataclass(frozen=True, eq=False)
class CalibrationFile:
    """A calibration with all that has to be known to use and to trust it.

    Parameters
    ----------
    calibration : Calibration
        The fitted method.
    method_spec : str
        The method with its settings, as a user writes it.
    class_names : tuple of str
        Classes in the classifier's order.
    scale, resolution : float
        See :class:`credence.predictions.Predictions`.
    counts : mapping
        How many proteins, clusters and so on it was fitted on.
    inputs : mapping of str to str
        Name of each input file and its SHA-256.
    settings : mapping
        Every setting of the method and of the fit with its value, those left
        at their default too: see :func:`settings_record`.
    release : str, optional
        Name of the release of the calibration set.
    credence_version : str
        Version that fitted it.
    sets : PredictionSets, optional
        Prediction sets fitted to the same proteins.
    """

    calibration: Calibration
    method_spec: str
    class_names: tuple[str, ...]
    scale: float
    resolution: float
    counts: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    release: str | None = None
    credence_version: str = __version__
    sets: PredictionSets | None = None

    @property
    def needs(self) -> Need:
        """What the method has to be given of each prediction."""
        return needs_of(self.calibration.to_record())


def settings_record(specification: Specification, options: FitOptions) -> dict[str, Any]:
    """Return every setting of a fit with its value.

    A specification names only what differs from the defaults, and a later
    version may have other defaults.

    Parameters
    ----------
    specification : Stage or Composition
        The method, or the methods in a row.
    options : FitOptions
        What all methods share.

    Examples
    --------
    >>> from credence.calibrators.spec import parse_method
    >>> settings_record(parse_method("class_only", "example"), FitOptions(n_draws=50))["stages"]
    [{'method': 'class_only'}]
    """
    stages = specification.stages if isinstance(specification, Composition) else (specification,)
    return {
        "stages": [{"method": stage.method.name, **asdict(stage.settings)} for stage in stages],
        "options": asdict(options),
    }


def checksum_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever its line breaks.

    Parameters
    ----------
    body : mapping
        JSON data; the order of its keys counts, as it is the order of classes.
    """
    entries = {key: value for key, value in body.items() if key != "checksum"}
    text = json.dumps(entries, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_calibration(path: Path, file: CalibrationFile) -> None:
    """Write a calibration as one JSON file.

    Parameters
    ----------
    path : Path
        Where the file is to be.
    file : CalibrationFile
        What it is to hold.
    """
    body = plain(
        {
            "schema": SCHEMA,
            "credence_version": file.credence_version,
            "release": file.release,
            "method": file.method_spec,
            "settings": file.settings,
            "class_names": file.class_names,
            "scale": float(file.scale),
            "resolution": float(file.resolution),
            "counts": file.counts,
            "inputs": file.inputs,
            "calibration": file.calibration.to_record(),
            **({} if file.sets is None else {"sets": file.sets.to_record()}),
        }
    )
    write_json(path, body | {"checksum": checksum_of(body)})


def read_calibration(path: Path) -> CalibrationFile:
    """Return the calibration that a file holds, or refuse it by name.

    Parameters
    ----------
    path : Path
        Written by :func:`write_calibration`.
    """
    where = str(path)
    body = _parse(where, utf8_text(Path(path), "Give a file that credence fit wrote."))
    _check_schema(where, body)
    _check_keys(where, body)
    if checksum_of(body) != body["checksum"]:
        raise refuse(
            where,
            "its checksum does not fit its content: the file was changed after it was written.",
            "Use the file as it was written, or fit again with credence fit.",
        )
    record = nulls_to_nan(body["calibration"])
    name = record.get("method")
    if not isinstance(name, str) or (name not in BY_NAME and name != composition.NAME):
        raise refuse(
            where,
            f"{name!r} is not a method of this version of credence ({__version__}).",
            f"{nearest(str(name), list(BY_NAME))} The file is from credence "
            f"{body['credence_version']}: use that, or fit again with a known method.",
            column="calibration.method",
        )
    try:
        calibration = read_record(record)
        names = tuple(body["class_names"])
        sets = read_sets(body["sets"], names) if "sets" in body else None
        scale, resolution = float(body["scale"]), float(body["resolution"])
    except Exception as error:  # whatever a record of the wrong shape leads to
        raise refuse(
            where,
            f"its record cannot be read as {name!r} ({type(error).__name__}: {error}).",
            REFIT,
            column="calibration",
        ) from error
    defect = defect_of(calibration, names, scale, resolution)
    if defect is not None:
        raise refuse(where, f"it cannot be used: {defect}.", REFIT, column="calibration")
    return CalibrationFile(
        calibration=calibration,
        method_spec=body["method"],
        class_names=names,
        scale=scale,
        resolution=resolution,
        counts=body["counts"],
        inputs=body["inputs"],
        settings=body["settings"],
        release=body["release"],
        credence_version=body["credence_version"],
        sets=sets,
    )


def confidence_of(file: CalibrationFile, predictions: Predictions, where: str) -> Confidence:
    """Return confidences, or refuse the calibration that gives something else.

    Parameters
    ----------
    file : CalibrationFile
        What is to give them.
    predictions : Predictions
        What is to get them.
    where : str
        The calibration file, as the user named it.
    """
    found = file.calibration.confidence(predictions)
    defect = defect_in(found, predictions.n_samples)
    if defect is not None:
        raise refuse(where, f"it cannot be used: {defect}.", REFIT, column="calibration")
    return found


def _parse(where: str, text: str) -> dict[str, Any]:
    try:
        body = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        is_cut = text.lstrip()[:1] in ("", "{") and not text.rstrip().endswith("}")
        raise refuse(
            where,
            "the file ends too early." if is_cut else f"this is not JSON ({error.msg}).",
            "Copy it again, complete, or fit again with credence fit." if is_cut else REFIT,
            line=error.lineno,
        ) from None
    except (ValueError, RecursionError) as error:
        raise refuse(where, f"this is not a calibration ({error}).", REFIT) from None
    if not isinstance(body, dict):
        raise refuse(
            where, "this JSON is not a calibration.", "Give a file that credence fit wrote."
        )
    return body


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not JSON")


def _check_schema(where: str, body: Mapping[str, Any]) -> None:
    schema = body.get("schema")
    name, _, version = str(schema).rpartition("/")
    if name != SCHEMA_NAME or not version.isdecimal():
        found = "there is no schema" if schema is None else f"the schema is {schema!r}"
        raise refuse(
            where,
            f"{found}, not {SCHEMA!r}.",
            "Give a file that credence fit wrote.",
            column="schema",
        )
    if int(version) > SCHEMA_VERSION:
        raise refuse(
            where,
            f"{schema!r} is newer than {SCHEMA!r}, the newest that credence {__version__} reads.",
            "Install a newer credence.",
            column="schema",
        )
    if int(version) < SCHEMA_VERSION:
        raise refuse(where, f"{schema!r} never existed.", REFIT, column="schema")


def _check_keys(where: str, body: Mapping[str, Any]) -> None:
    problems = []
    for key, kinds in (KEYS | OPTIONAL_KEYS).items():
        if key not in body:
            if key in KEYS:
                problems.append(Problem(where, "it is missing.", REFIT, column=key))
        elif not isinstance(body[key], kinds) or isinstance(body[key], bool):
            problems.append(
                Problem(where, f"{_short(body[key])} is no value for it.", REFIT, column=key)
            )
    names = body.get("class_names")
    if isinstance(names, list) and (
        not all(isinstance(name, str) for name in names) or len(set(names)) < len(names)
    ):
        problems.append(
            Problem(where, "they are not names that differ.", REFIT, column="class_names")
        )
    problems += [
        Problem(where, f"{key!r} is nothing that a calibration has.", REFIT)
        for key in body
        if key not in KEYS and key not in OPTIONAL_KEYS
    ]
    if problems:
        raise InputError(problems)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MOST_CHARACTERS else text[: MOST_CHARACTERS - 1] + "…"
