"""The calibration file: one JSON file that is data and nothing else.

It holds what is needed to give confidences (DESIGN section 4) and a checksum of
its own body. Reading one runs no code: the method's name is looked up in the
registry, which turns the record into a calibration.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from credence import __version__
from credence.calibrators import two_steps
from credence.calibrators.all_methods import BY_NAME, needs_of
from credence.calibrators.all_methods import read_calibration as calibration_of
from credence.calibrators.method_spec import Specification, TwoSteps
from credence.calibrators.protocol import Calibration, FitOptions, Need, components_asked
from credence.confidence import NOTE_TEXTS, Confidence
from credence.predictions import Floats, Predictions, from_scores
from credence.problems import Problem, nearest, raise_any, refuse
from credence.records import Stored, from_record, keys_of, read_text, to_record
from credence.sets.conformal import PredictionSets, read_sets
from credence.tables.writing import write_json

N_STEPS = 12  # top scores tried for each class, from even to certain
TOLERANCE = 1e-9  # of an interval's bounds: a confidence may lie on one but for rounding


def defect_of(
    calibration: Calibration, class_names: tuple[str, ...], scale: float, resolution: float
) -> str | None:
    """Return what is wrong with a calibration in use, None where it works."""
    if not class_names:
        return "it has no classes"
    if not (np.isfinite(scale) and scale > 0 and np.isfinite(resolution) and resolution >= 0):
        return f"scores have the scale {scale:g} and the resolution {resolution:g}"
    predictions = made_up(class_names, scale, resolution)
    try:
        places = _places(predictions.n_samples, components_asked(calibration))
        predictions = replace(predictions, places=places)
        with np.errstate(all="ignore"):
            found = calibration.confidence(predictions)
            return defect_in(found, predictions.n_samples)
    except Exception as error:  # whatever a record of the wrong shape leads to
        return f"it gives no confidences ({type(error).__name__}: {_first_line(error)})"


def made_up(
    class_names: tuple[str, ...], scale: float, resolution: float, n_steps: int = N_STEPS
) -> Predictions:
    """Return predictions of every class, with scores from even to certain.

    >>> made_up(("a", "b"), 10.0, 0.01).n_samples
    24
    """
    n_classes = len(class_names)
    even = 1.0 / n_classes
    tops = even + (1.0 - even) * np.arange(1, n_steps + 1) / n_steps
    rows: list[Floats] = []
    for place in range(n_classes):
        others = (1.0 - tops) / max(n_classes - 1, 1)
        scores = np.repeat(others[:, None], n_classes, axis=1)
        scores[:, place] = tops
        rows.append(scores * scale)
    every = np.concatenate(rows)
    ids = np.array([f"made up {row}" for row in range(len(every))], dtype=object)
    return from_scores(ids, class_names, every, scale, resolution)


def _places(n_samples: int, n_components: int) -> Floats:
    """Return the middle of the space for every protein but the last, whose place is unknown."""
    places = np.zeros((n_samples, n_components))
    places[-1] = np.nan
    return places


def defect_in(found: Confidence, n_samples: int) -> str | None:
    """Return what is wrong with confidences, None where they are what they should be."""
    values = [
        np.asarray(part, dtype=np.float64) for part in (found.value, found.lower, found.upper)
    ]
    support, note = np.asarray(found.support, dtype=np.float64), np.asarray(found.note)
    if any(part.shape != (n_samples,) for part in (*values, support, note)):
        return "it gives confidences of another number than predictions"
    value, lower, upper = values
    for part in values:
        if (np.isinf(part) | (part < 0) | (part > 1)).any():
            return "it gives confidences that are no probabilities"
    if ((lower > value + TOLERANCE) | (upper < value - TOLERANCE)).any():
        return "it gives confidences outside their intervals"
    if (np.isnan(support) | np.isinf(support) | (support < 0)).any():
        return "it gives confidences whose support is no number of proteins"
    known = sum(int(flag) for flag in NOTE_TEXTS)
    if note.dtype.kind not in "iu" or (note & ~known).any():
        return "it gives notes that nobody knows"
    return None


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]


SCHEMA_NAME = "credence/calibration"
SCHEMA_VERSION = 1
SCHEMA = f"{SCHEMA_NAME}/{SCHEMA_VERSION}"
REFIT = "Fit the calibration again with credence fit."

NOT_ALWAYS = ("sets",)  # keys that a file may do without


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationFile:
    """A calibration with all that has to be known to use and to trust it."""

    credence_version: str = __version__  # Version that fitted it
    release: str | None = None  # Name of the release of the calibration set
    # The method with its settings, as a user writes it.
    method_spec: Annotated[str, Stored("method")]
    # Every setting of the method and of the fit with its value, those left at their default too:
    # see :func:`settings_record`.
    settings: Mapping[str, Any] = field(default_factory=dict)
    class_names: tuple[str, ...]  # Classes in the classifier's order
    scale: float  # See :class:`credence.predictions.Predictions`
    resolution: float
    # How many proteins, clusters and so on it was fitted on.
    counts: Mapping[str, Any] = field(default_factory=dict)
    # Name of each input file and its SHA-256.
    inputs: Mapping[str, str] = field(default_factory=dict)
    calibration: Calibration  # The fitted method
    # Prediction sets fitted to the same proteins.
    sets: Annotated[PredictionSets | None, Stored(is_left_out=True)] = None

    @property
    def needs(self) -> Need:
        """What the method has to be given of each prediction."""
        return needs_of(to_record(self.calibration))


def settings_record(specification: Specification, options: FitOptions) -> dict[str, Any]:
    """Return every setting of a fit with its value.

    A specification names only what differs from the defaults, and a later
    version may have other defaults.

    >>> from credence.calibrators.method_spec import parse_method
    >>> settings_record(parse_method("class_only", "example"), FitOptions(n_draws=50))["stages"]
    [{'method': 'class_only'}]
    """
    stages = specification.stages if isinstance(specification, TwoSteps) else (specification,)
    return {
        "stages": [{"method": stage.method.name, **asdict(stage.settings)} for stage in stages],
        "options": asdict(options),
    }


def checksum_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever its line breaks."""
    entries = {key: value for key, value in body.items() if key != "checksum"}
    text = json.dumps(entries, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def write_calibration(path: Path, file: CalibrationFile) -> None:
    """Write a calibration as one JSON file."""
    file = replace(file, scale=float(file.scale), resolution=float(file.resolution))
    body = {"schema": SCHEMA, **to_record(file)}
    write_json(path, body | {"checksum": checksum_of(body)})


def read_calibration(path: Path) -> CalibrationFile:
    """Return the calibration that a file holds, or refuse it by name."""
    where = str(path)
    body = _parse(where, read_text(Path(path), "Give a file that credence fit wrote."))
    _check_schema(where, body)
    _check_keys(where, body)
    if checksum_of(body) != body["checksum"]:
        raise refuse(
            where,
            "its checksum does not fit its content: the file was changed after it was written.",
            "Use the file as it was written, or fit again with credence fit.",
        )
    _check_method(where, body)
    names = body["class_names"]
    kinds = {
        Calibration: calibration_of,
        PredictionSets: lambda record: read_sets(record, tuple(names)),
    }
    file = from_record(CalibrationFile, body, where, REFIT, kinds)
    if len(set(names)) < len(names):
        raise refuse(where, "they are not names that differ.", REFIT, column="class_names")
    defect = defect_of(file.calibration, file.class_names, file.scale, file.resolution)
    if defect is not None:
        raise refuse(where, f"it cannot be used: {defect}.", REFIT, column="calibration")
    return file


def confidence_of(file: CalibrationFile, predictions: Predictions, where: str) -> Confidence:
    """Return confidences, or refuse the calibration that gives something else."""
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
    known = ["schema", *keys_of(CalibrationFile), "checksum"]
    problems = [
        Problem(where, "it is missing.", REFIT, column=key)
        for key in known
        if key not in body and key not in NOT_ALWAYS
    ]
    problems += [
        Problem(where, f"{key!r} is nothing that a calibration has.", REFIT)
        for key in body
        if key not in known
    ]
    raise_any(problems)


def _check_method(where: str, body: Mapping[str, Any]) -> None:
    record = body["calibration"]
    name = record.get("method") if isinstance(record, dict) else None
    if not isinstance(name, str) or (name not in BY_NAME and name != two_steps.NAME):
        raise refuse(
            where,
            f"{name!r} is not a method of this version of credence ({__version__}).",
            f"{nearest(str(name), list(BY_NAME))} The file is from credence "
            f"{body['credence_version']}: use that, or fit again with a known method.",
            column="calibration.method",
        )


def require_match(file: CalibrationFile, predictions: Predictions, where: str) -> None:
    """Refuse predictions that the calibration was not made for."""
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
    raise_any(problems)


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
    """Return what a method needs of a score table and does not find there."""
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
    return [Problem(where, f"{what}, and {text!r} needs the {needs.value}.", remedy)]


def _list(names: tuple[str, ...] | list[str]) -> str:
    return ", ".join(repr(name) for name in names)
