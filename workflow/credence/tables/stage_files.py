"""Files of credence's own that hold records: JSON that is data and runs nothing, with a digest."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from credence import __version__, records
from credence.calibrators.all_methods import BY_NAME
from credence.calibrators.all_methods import read_calibration as calibration_of
from credence.calibrators.coherent import COHERENT, CoherentCalibration
from credence.calibrators.crossfit import COMPOSED
from credence.calibrators.method_spec import Specification
from credence.calibrators.protocol import (
    Calibration,
    FitOptions,
    GivesConfidence,
    Need,
    components_asked,
)
from credence.composition.adjusted import ProportionCorrection
from credence.composition.both_samples import CalibrationSample
from credence.composition.estimate import ratio_of
from credence.composition.sameness import Sketch
from credence.confidence import NOTE_TEXTS, Confidence, Note
from credence.draws import keys_of as hashes_of
from credence.events.model import KINDS_OF_FORECAST, EventModel, Mix
from credence.findings import EventsFinding, ShiftFinding
from credence.lists.held_out import HeldOut
from credence.novelty.reference import Reference
from credence.predictions import Floats, Integers, Labelled, Predictions, Strings, from_scores
from credence.problems import Problem, ProblemList, nearest, raise_any, refuse
from credence.proteins import forms_of, forms_of_all, spellings_of
from credence.relatives.closest import Closest, KnownSequences
from credence.sets.conformal import PredictionSets, read_sets
from credence.tables.formats import ANY_OTHER_LABEL
from credence.tables.text import blocks_of, packing
from credence.tables.writing import write_json, write_text
from credence.tools.combining import Combination
from credence.tree import LabelTree

Hashes = Annotated[NDArray[np.uint64], records.Stored(packed="uint64")]
SCORES_PER_CLASS = 12  # top scores tried for each class, from even to certain
BOUND_TOLERANCE = 1e-9  # of an interval's bounds: a confidence may lie on one but for rounding


def defect_of(
    calibration: GivesConfidence, class_names: tuple[str, ...], scale: float, resolution: float
) -> str | None:
    """Return what is wrong with a calibration in use, None where it works."""
    if not class_names:
        return "it has no classes"
    if not (np.isfinite(scale) and scale > 0 and np.isfinite(resolution) and resolution >= 0):
        return f"scores have the scale {scale:g} and the resolution {resolution:g}"
    predictions = made_up(class_names, scale, resolution)
    try:
        # The middle of the space for every protein but the last, whose place is unknown.
        places = np.zeros((predictions.n_samples, components_asked(calibration)))
        places[-1] = np.nan
        predictions = replace(predictions, places=places)
        with np.errstate(all="ignore"):
            return defect_in(calibration.confidence(predictions), predictions.n_samples)
    except Exception as error:  # whatever a record of the wrong shape leads to
        first_line = (str(error).splitlines() or [""])[0]
        return f"it gives no confidences ({type(error).__name__}: {first_line})"


def made_up(
    class_names: tuple[str, ...], scale: float, resolution: float, n_steps: int = SCORES_PER_CLASS
) -> Predictions:
    """Return predictions of every class, with scores from even to certain."""
    n_classes = len(class_names)
    if ANY_OTHER_LABEL in class_names:  # several labels a protein, of which no row has all
        tops = np.tile(scale * np.arange(1, n_steps + 1) / n_steps, n_classes)
        return Predictions(
            ids=np.array([f"made up {row}" for row in range(len(tops))], dtype=object),
            class_names=class_names,
            scale=scale,
            resolution=resolution,
            predicted_class=np.repeat(np.arange(n_classes), n_steps),
            top_score=tops,
            is_distribution=False,
        )
    even = 1.0 / n_classes
    tops = even + (1.0 - even) * np.arange(1, n_steps + 1) / n_steps
    others = (1.0 - tops) / max(n_classes - 1, 1)
    is_top = np.eye(n_classes, dtype=np.bool_)[:, None]
    scores = np.where(is_top, tops[:, None], others[:, None]) * scale
    every = scores.reshape(-1, n_classes)
    ids = np.array([f"made up {row}" for row in range(len(every))], dtype=object)
    return from_scores(ids, class_names, every, scale, resolution)


def defect_in(confidence: Confidence, n_samples: int) -> str | None:
    """Return what is wrong with confidences, None where they are what they should be."""
    values = [
        np.asarray(part, dtype=np.float64)
        for part in (confidence.value, confidence.lower, confidence.upper)
    ]
    support, note = np.asarray(confidence.support, dtype=np.float64), np.asarray(confidence.note)
    if any(part.shape != (n_samples,) for part in (*values, support, note)):
        return "it gives confidences of another number than predictions"
    value, lower, upper = values
    for part in values:
        if (np.isinf(part) | (part < 0) | (part > 1)).any():
            return "it gives confidences that are no probabilities"
    if ((lower > value + BOUND_TOLERANCE) | (upper < value - BOUND_TOLERANCE)).any():
        return "it gives confidences outside their intervals"
    if (np.isnan(support) | np.isinf(support) | (support < 0)).any():
        return "it gives confidences whose support is no number of proteins"
    known = sum(int(flag) for flag in NOTE_TEXTS)
    if note.dtype.kind not in "iu" or (note & ~known).any():
        return "it gives notes that nobody knows"
    return None


CALIBRATION_SCHEMA = "credence/calibration/1"
OTHER = "Give a file that credence fit wrote."
REFIT = "Fit the calibration again with credence fit."

COUNTS_IN_WORDS = ("weights", "relatives")


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownProteins:
    """By what proteins are found again: a hash of 8 bytes of each id and of each sequence."""

    ids: Hashes  # Ascending; none of a mere number, which may be that of a row
    sequences: Hashes  # Ascending, of the sequences that were given
    # Ascending, of the normal forms of ids; without the version where one protein alone has it
    normal: Hashes

    def notes(self, ids: Strings, sequences: Mapping[str, str]) -> Integers:
        """Return for each protein, as a note, whether one of its id or its sequence is known."""
        hashes_of_ids = hashes_of(ids)
        note = np.where(np.isin(hashes_of_ids, self.ids), int(Note.SAME_ID), 0)
        rows = np.flatnonzero([id_ in sequences for id_ in ids] if sequences else [])
        if len(rows):
            hashes = hashes_of([sequences[id_] for id_ in ids[rows]])
            note[rows[np.isin(hashes, self.sequences)]] |= int(Note.SAME_SEQUENCE)
        for form in forms_of_all(ids):
            hashes, other = hashes_of_ids.copy(), np.flatnonzero(form != ids)
            hashes[other] = hashes_of(form[other])
            is_like = np.isin(hashes, self.normal) & (note & int(Note.SAME_ID) == 0)
            note[is_like] |= int(Note.LIKE_ID)
        return note.astype(np.int64)

    def spelling_there(self, id_: str) -> str:
        """Return how the calibration protein is written that has an id in another spelling.

        The file keeps no ids: tried are the steps to the normal form, which is the answer
        where none of them is it.
        """
        steps = spellings_of(id_)
        is_known = np.isin(hashes_of(steps), self.ids)
        return steps[int(is_known.argmax())] if is_known.any() else steps[-1]


def known_proteins(ids: Strings, sequences: Mapping[str, str]) -> KnownProteins:
    """Return by what some proteins are found again."""
    named = [id_ for id_ in ids if not id_.isdecimal()]
    known_sequences = [sequences[id_] for id_ in ids if id_ in sequences]
    names, residues = (np.unique(hashes_of(texts)) for texts in (named, known_sequences))
    forms = [forms_of(id_) for id_ in named]
    n_of = Counter(bare for _, bare in forms)
    normal = [form for form, _ in forms] + [bare for bare in n_of if n_of[bare] == 1]
    wanted = [form for form in normal if not form.isdecimal()]
    return KnownProteins(ids=names, sequences=residues, normal=np.unique(hashes_of(wanted)))


@dataclass(frozen=True, eq=False, kw_only=True)
class CalibrationFile:
    """A calibration with all that has to be known to use and to trust it."""

    credence_version: str = __version__  # Version that fitted it
    release: str | None = None  # Name of the release of the calibration set
    # The method with its settings, as a user writes it.
    method_spec: Annotated[str, records.Stored(name="method")]
    # Every setting of the fit with its value, also defaults: see :func:`settings_record`.
    settings: Mapping[str, Any] = field(default_factory=dict)
    class_names: tuple[str, ...]  # Classes in the classifier's order
    scale: float  # See :class:`credence.predictions.Predictions`
    resolution: float
    # How many proteins, clusters and so on it was fitted on.
    counts: Mapping[str, int | str] = field(default_factory=dict)
    # Name of each input file and its SHA-256.
    inputs: Mapping[str, str] = field(default_factory=dict)
    calibration: Calibration  # The fitted method
    # Prediction sets fitted to the same proteins.
    sets: Annotated[PredictionSets | None, records.Stored(is_left_out=True)] = None
    # By what these proteins are found again.
    known: Annotated[KnownProteins | None, records.Stored(is_left_out=True)] = None
    # How often each score was seen, by which a table is known to be of the same classifier.
    sketch: Annotated[Sketch | None, records.Stored(is_left_out=True)] = None
    # What lists rest on: confidences of these proteins by fits without their clusters.
    held_out: Annotated[HeldOut | None, records.Stored(is_left_out=True)] = None
    # What is kept of these proteins, so that confidences are corrected for other proportions of
    # the classes; not of counts, which do not say what the wrong ones are.
    sample: Annotated[CalibrationSample | None, records.Stored(is_left_out=True)] = None
    # Where its scores are of several tools: how those are combined.
    tools: Annotated[Combination | None, records.Stored(is_left_out=True)] = None
    # How its tables were read, so that others of this form need no word: keys of a set.
    read_as: Annotated[Mapping[str, Any] | None, records.Stored(is_left_out=True)] = None

    @property
    def needs(self) -> Need:
        """What the method has to be given of each prediction."""
        return self.calibration.needs

    @property
    def is_of_calls(self) -> bool:
        """Whether it is of labels of which a protein has several."""
        return ANY_OTHER_LABEL in self.class_names

    @property
    def tree(self) -> LabelTree:
        """How its labels hang together; flat where none is above another."""
        calibration = self.calibration
        return calibration.tree if isinstance(calibration, CoherentCalibration) else LabelTree()

    def refuse_damage(self) -> None:
        """Refuse counts that are none, but for those that are words, and another's sketch."""
        features = () if self.sketch is None else self.sketch.features
        if any(len(part.design) != len(self.class_names) for part in features):
            raise ValueError("its sketch is of another number of classes")
        if self.held_out is not None and self.held_out.n_classes > len(self.class_names):
            raise ValueError("its held-out proteins are of another number of classes")
        if self.sample is not None and self.sample.class_names != self.class_names:
            raise ValueError("its sample is of other classes")
        raise_any(
            Problem(
                where="", what=f"{value!r} is no value for it.", remedy="", column=f"counts.{name}"
            )
            for name, value in self.counts.items()
            if type(value) is not (str if name in COUNTS_IN_WORDS else int)
        )


def refuse_calls(file: CalibrationFile, where: str, reason: str, remedy: str) -> None:
    """Refuse a calibration of several labels a protein where one label a protein is asked for."""
    if file.is_of_calls:
        raise refuse(where, f"its proteins have several labels, and {reason}.", remedy)


def settings_record(specification: Specification, options: FitOptions) -> dict[str, Any]:
    """Return every setting of a fit with its value, as later defaults may be others."""
    stages = [
        {"method": stage.method.name, **asdict(stage.settings)} for stage in specification.stages
    ]
    return {"stages": stages, "options": asdict(options)}


def checksum_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a record, whatever its line breaks."""
    entries = {key: value for key, value in body.items() if key != "checksum"}
    text = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def calibration_text(file: CalibrationFile) -> str:
    """Return a calibration as the text of a JSON file."""
    file = replace(file, scale=float(file.scale), resolution=float(file.resolution))
    body = {"schema": CALIBRATION_SCHEMA, **records.to_record(file)}
    return records.json_text(body | {"checksum": checksum_of(body)})


def write_calibration(path: Path, file: CalibrationFile) -> None:
    """Write a calibration as one JSON file."""
    write_text(path, calibration_text(file))


def read_calibration(path: Path) -> CalibrationFile:
    """Return the calibration that a file holds, or refuse it by name."""
    where = str(path)
    if packing(path):
        text = b"".join(blocks_of(path)).decode("utf-8", errors="replace")
    else:
        text = records.read_text(Path(path), OTHER)
    body = records.json_record(where, text, REFIT)
    records.require_schema(body, CALIBRATION_SCHEMA, where, OTHER)
    known = ["schema", *records.record_keys(CalibrationFile), "checksum"]
    problems = [
        Problem(where=where, what="it is missing.", remedy=REFIT, column=key)
        for key in known
        if key not in body and key not in records.optional_keys(CalibrationFile)
    ]
    problems += [
        Problem(where=where, what=f"{key!r} is nothing that a calibration has.", remedy=REFIT)
        for key in body
        if key not in known
    ]
    raise_any(problems)
    if checksum_of(body) != body["checksum"]:
        remedy = "Use the file as it was written, or fit again with credence fit."
        raise refuse(where, records.DIGEST_DIFFERS.replace("digest", "checksum"), remedy)
    record = body["calibration"]
    name = record.get("method") if isinstance(record, dict) else None
    if not isinstance(name, str) or (name not in BY_NAME and name not in (COHERENT, COMPOSED)):
        raise refuse(
            where,
            f"{name!r} is not a method of this version of credence ({__version__}).",
            f"{nearest(str(name), list(BY_NAME))} The file is from credence "
            f"{body['credence_version']}: use that, or fit again with a known method.",
            column="calibration.method",
        )
    names = body["class_names"]
    kinds = {
        Calibration: calibration_of,
        PredictionSets: lambda record: read_sets(record, tuple(names)),
    }
    file = records.from_record(CalibrationFile, body, where, REFIT, kinds)
    if len(set(names)) < len(names):
        raise refuse(where, "they are not different names.", REFIT, column="class_names")
    defect = defect_of(file.calibration, file.class_names, file.scale, file.resolution)
    if defect is not None:
        raise refuse(where, f"it cannot be used: {defect}.", REFIT, column="calibration")
    return file


def confidence_of(file: CalibrationFile, predictions: Predictions, where: str) -> Confidence:
    """Return confidences, or refuse the calibration that gives something else."""
    confidence = file.calibration.confidence(predictions)
    defect = defect_in(confidence, predictions.n_samples)
    if defect is not None:
        raise refuse(where, f"it cannot be used: {defect}.", REFIT, column="calibration")
    return confidence


def require_match(file: CalibrationFile, predictions: Predictions, where: str) -> None:
    """Refuse predictions that the calibration was not made for."""
    known, given_names = file.class_names, predictions.class_names
    unlike = {
        "missing": [name for name in known if name not in given_names],
        "not known": [name for name in given_names if name not in known],
    }
    parts = [f"{word} {_list(names)}" for word, names in unlike.items() if names]
    problems = ProblemList(where)
    if parts:
        defect = f"its classes are not the calibration's: {'; '.join(parts)}."
        problems.add(defect, f"Give a table with these classes, in this order: {_list(known)}.")
    elif known != given_names:
        defect = f"its classes are the calibration's in another order: {_list(given_names)}."
        problems.add(defect, f"Put them in this order: {_list(known)}.")
    if float(predictions.scale) != float(file.scale):
        defect = f"its scale is {predictions.scale:g}, the calibration's is {file.scale:g}."
        remedy = "Give scores of the classifier that was calibrated, on the same scale."
        problems.add(defect, remedy)
    problems.problems += need_problems(file.method_spec, file.needs, predictions, where)
    problems.raise_any()


def need_problems(text: str, needs: Need, predictions: Predictions, where: str) -> list[Problem]:
    """Return what a method needs of a score table and does not find there."""
    defect, remedy = None, "Give such a table, or fit with a method that needs less."
    if needs is not Need.CLASS and predictions.top_score is None:
        defect = "it has no scores"
    elif needs.is_vector and predictions.scores is None:
        defect = "it has the top score only"
    elif needs.is_vector and not predictions.is_distribution:
        defect = "its rows do not sum to the scale"
    elif needs is Need.PLACE and predictions.places is None:
        defect = "the distances of its proteins to known ones are not given"
        remedy = "Give --novelty: the file from credence novelty."
    if defect is None:
        return []
    return [
        Problem(
            where=where, what=f"{defect}, and {text!r} needs the {needs.value}.", remedy=remedy
        )
    ]


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in names)


HEAD_KEYS = ("schema", records.DIGEST)
File = TypeVar("File")


@dataclass(frozen=True, kw_only=True, eq=False)
class Signed(Generic[File]):
    """A kind of files that carry the digest of what they hold."""

    schema: str
    kind: type[File]  # What a file holds
    again: str  # The remedy where one is refused
    check: Callable[[File], None]  # Raises a ValueError where it cannot be used
    kinds: Mapping[Any, Any] = field(default_factory=dict)  # See :func:`from_record`

    def write(self, path: Path, file: File) -> None:
        """Write a file with its schema and the digest of the rest."""
        body = records.to_record(file)
        write_json(path, {"schema": self.schema, records.DIGEST: records.digest_of(body), **body})

    def read(self, path: Path) -> File:
        """Return what a file holds, or refuse it by name."""
        where, again = str(path), self.again
        record = records.read_json(Path(path), again)
        records.require_schema(record, self.schema, where, again)
        body = {key: value for key, value in record.items() if key not in HEAD_KEYS}
        if record.get(records.DIGEST) != records.digest_of(body):
            raise refuse(where, "its content was changed after it was written.", again)
        file = records.from_record(self.kind, body, where, again, self.kinds)
        try:
            self.check(file)
        except Exception as error:  # whatever values that do not belong together lead to
            message = f"it is damaged ({type(error).__name__}: {error})."
            raise refuse(where, message, again) from error
        return file


@dataclass(frozen=True, kw_only=True, eq=False)
class EventsFile:
    """Forecasts of events, and how good they are."""

    method_spec: str  # Method of the confidence that they agree with; empty: none
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: EventsFinding  # How good they are
    model: EventModel  # The forecasts
    novelty: str = ""  # SHA-256 of the novelty file whose distances they look at; empty: of none


def _try(file: EventsFile) -> None:
    """Let the forecasts answer for made-up predictions, before anything rests on them."""
    predictions = made_up(file.class_names, file.scale, 0.0)
    scores = np.asarray(predictions.scores)
    predictions = replace(predictions, network_scores=scores[:, None, :])
    evidence = file.model.evidence(predictions, np.ones(len(scores)))
    with np.errstate(all="ignore"):
        same = np.full(len(scores), 0.5)
        mix = Mix(weight=np.linspace(0.5, 2.0, len(file.class_names)), confidence=same)
        stated = np.concatenate(file.model.probabilities(evidence, same, mix))
    if not ((stated >= 0) & (stated <= 1)).all():
        raise ValueError("it gives chances that are no probabilities")


EVENTS_FILES = Signed(
    schema="credence/events/3",
    kind=EventsFile,
    again="Learn the events again: credence events.",
    check=_try,
    kinds=KINDS_OF_FORECAST,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShiftFile:
    """The composition of a query set, and what corrects confidences for it."""

    method_spec: str  # The method that is corrected
    class_names: tuple[str, ...]  # Classes in order
    scale: float  # Of the scores
    finding: ShiftFinding  # What the page shows of it
    correction: ProportionCorrection
    calibration: str  # Digest of the one that is corrected
    # As that of a calibration file: corrected confidences, with the weights that correct.
    held_out: Annotated[HeldOut | None, records.Stored(is_left_out=True)] = None
    tables: tuple[str, ...] = ()  # Names of the query set's tables; none: not known

    def corrected(
        self, file: CalibrationFile, plain: Confidence, predictions: Predictions
    ) -> Confidence:
        """Return the confidences that a calibration gives, corrected."""
        assert file.sample is not None  # else there were nothing that corrects it
        return self.correction.corrected(plain, predictions, file.sample)

    @property
    def applied_proportion(self) -> Floats:
        """Shares of the classes that confidences are corrected for."""
        return np.nan_to_num([entry.applied for entry in self.finding.classes])

    @property
    def applied_weight(self) -> Floats:
        """How many times as frequent each class is; 0 of one that calibration lacks."""
        known = np.nan_to_num([entry.calibration_proportion for entry in self.finding.classes])
        return np.nan_to_num(ratio_of(self.applied_proportion, known))


def _check_shift(file: ShiftFile) -> None:
    if not len(file.applied_weight) == len(file.correction.weight) == len(file.class_names):
        raise ValueError("it has shares of other classes")


SHIFT_FILES = Signed(
    schema="credence/shift/4",
    kind=ShiftFile,
    again="Estimate the class proportions again: credence shift.",
    check=_check_shift,
)


def shift_beside(table: Path) -> Path:
    """Return where the shift stands that a table of confidences was annotated with."""
    name = table.name
    for ending in (".gz", ".zst", ".tsv", ".parquet"):
        name = name.removesuffix(ending)
    return table.with_name(f"{name}.shift.json")


def fitted_digest(file: CalibrationFile) -> str:
    """Return the digest of what a calibration states, whatever file it stands in."""
    return records.digest_of(records.to_record(file.calibration))


def read_shift(path: str, file: CalibrationFile, calibration: str) -> ShiftFile:
    """Return what corrects a calibration, or refuse what was made with another."""
    shift = SHIFT_FILES.read(Path(path))
    require_corrects(shift, file, path, calibration)
    return shift


def require_corrects(
    shift: ShiftFile, file: CalibrationFile, where: str, calibration: str
) -> None:
    """Refuse what was made with another calibration of the same method."""
    if shift.method_spec != file.method_spec:
        return  # refused for its method
    if shift.calibration != fitted_digest(file):
        defect = f"it was made with another calibration than {calibration}."
        raise refuse(where, defect, "Give that one, or run credence shift again with this one.")


def require_same(
    file: EventsFile | ShiftFile, method_spec: str, predictions: Predictions, where: str
) -> None:
    """Refuse a file that was not made beside this calibration."""
    defect, again = "it corrects", SHIFT_FILES.again
    remedy = f"Estimate again with --method {method_spec!r}."
    if isinstance(file, EventsFile):
        defect, again = "its events agree with", EVENTS_FILES.again
        remedy = "Learn them again with this calibration."
    problems = ProblemList(where)
    if file.method_spec != method_spec and (file.method_spec or isinstance(file, ShiftFile)):
        defect = f"{defect} {file.method_spec!r}, the calibration is {method_spec!r}."
        problems.add(defect, remedy)
    if file.class_names != predictions.class_names or file.scale != predictions.scale:
        problems.add("its classes or its scale are not the table's.", again)
    problems.raise_any()


@dataclass(frozen=True, eq=False, kw_only=True)
class NoveltyFile:
    """What is known, and where it comes from."""

    credence_version: str = __version__  # Version that made it
    inputs: Mapping[str, str]  # Name of each input file and its SHA-256
    reference: Reference  # The proteins in their space
    # Where proteins are compared by sequences: those known, calibration first, with the row of
    # each calibration protein in the reference; its best relative of another family.
    known: KnownSequences | None = None
    closest: Annotated[Closest | None, records.Stored(name="own")] = None
    # Of each family of those that calibrate, by which it is found elsewhere.
    family_key: Annotated[NDArray[np.uint64] | None, records.Stored(packed="uint64")] = None
    # Of those that calibrate, whether the classifier was wrong.
    is_wrong: Annotated[NDArray[np.bool_] | None, records.Stored(packed="bool")] = None

    @property
    def n_calibrating(self) -> int:
        """Number of known proteins that calibrate, which stand before those of training."""
        return len(self.reference.calibration_rows)

    @property
    def knows_training(self) -> bool:
        """Whether there are sequences of what the classifier learnt from."""
        return self.known is not None and len(self.known.ids) > self.n_calibrating

    @property
    def held_out_far(self) -> Floats:
        """How far one protein of each known family is from all others, ascending."""
        reference = self.reference
        if self.closest is None:
            return reference.sorted_distances
        return np.sort(self.closest.far[reference.stands[reference.calibration_rows]])


def _require_shapes(file: NoveltyFile) -> None:
    reference = file.reference
    space, n_proteins = reference.space, len(reference.ids)
    wanted = {
        "scale": (space.scale, (space.n_features,)),
        "axes": (space.axes, (space.n_features, space.n_components)),
        "origin": (space.origin, (space.n_components,)),
        "class_name": (reference.class_name, (n_proteins,)),
        "points": (reference.points, (n_proteins, space.n_components)),
        "is_calibration": (reference.is_calibration, (n_proteins,)),
        "own_distance": (reference.own_distance, (n_proteins,)),
        "stands": (reference.stands, (n_proteins,)),
    }
    if file.is_wrong is not None:
        wanted["is_wrong"] = (file.is_wrong, (int(reference.is_calibration.sum()),))
    if reference.training is not None:
        wanted["training"] = (reference.training, (len(reference.training), space.n_components))
    for name, (values, shape) in wanted.items():
        if values.shape != shape:
            raise ValueError(f"{name} has the shape {values.shape}, not {shape}")


NOVELTY_FILES = Signed(
    schema="credence/novelty/7",
    kind=NoveltyFile,
    again="Make it again: credence novelty.",
    check=_require_shapes,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldOutFile:
    """What a method says of held-out proteins."""

    method: str
    set: str  # Digest of the proteins: see :func:`labelled_digest`
    facts: Mapping[str, float]  # Settings on which confidences depend
    confidence: Annotated[Floats, records.Stored(packed="float64")]


HELD_OUT_FILES = Signed(
    schema="credence/held-out/3",
    kind=HeldOutFile,
    again="Fit the method again: credence fit --held-out.",
    check=lambda file: None,  # it is looked at beside the proteins: see :func:`read_held_out_file`
)


def read_held_out_file(
    path: Path,
    labelled: Labelled,
    facts: dict[str, float],
    methods: Collection[str] | None = None,
    *,
    are_options: bool = True,
) -> HeldOutFile:
    """Return what a method says of these proteins; refuse others, and other facts or methods."""
    file, where = HELD_OUT_FILES.read(path), str(path)
    if methods is not None and file.method not in methods:
        defect = f"it is of the method {file.method}, and here of {', '.join(sorted(methods))}."
        raise refuse(where, defect, "Leave it out, or give a calibration of that method.")
    if file.set != labelled_digest(labelled):
        defect = "it is of other proteins, classes, weights or clusters than those given here."
        raise refuse(where, defect, HELD_OUT_FILES.again)
    for name, value in facts.items():
        if (stated := file.facts.get(name, np.nan)) != value:
            defect = f"{name} is {stated:g} in it, and {value:g} here."
            option = f"--{name.replace('_', '-')}"
            remedy = f"{HELD_OUT_FILES.again[:-1]} {option} {value:g}."
            if are_options:
                remedy = f"Give {option} {stated:g}. Or {remedy[0].lower()}{remedy[1:]}"
            raise refuse(where, defect, remedy)
    if file.confidence.shape != (labelled.n_samples,):
        raise refuse(
            where, "it is damaged: it has numbers of other proteins.", HELD_OUT_FILES.again
        )
    return file


def labelled_digest(labelled: Labelled) -> str:
    """Return a digest of all that a fit to these proteins depends on."""
    predictions = labelled.predictions
    total = hashlib.sha256()
    texts = [predictions.ids.tolist(), labelled.cluster.tolist(), list(predictions.class_names)]
    facts = [texts, float(predictions.scale), float(predictions.resolution)]
    total.update(json.dumps(facts, ensure_ascii=False).encode())
    truth, scores = (labelled.true_class, labelled.weight), predictions.scores
    for array in (predictions.predicted_class, *truth, predictions.top_score, scores):
        total.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return total.hexdigest()
