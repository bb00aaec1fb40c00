"""The stage `events`: questions beyond the predicted class, learnt and judged."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from credence.calibrators.method_spec import parse_method
from credence.calibrators.protocol import Calibrator, FitOptions
from credence.events.event import Event, events_of
from credence.events.event_judging import EventOptions, study_events
from credence.events.features import EventEvidence
from credence.events.forecasters import FORECASTER_OF
from credence.predictions import Predictions
from credence.problems import Problem, nearest, plural, raise_any, refuse
from credence.progress import echo
from credence.stages.reading import LabelledFiles, in_order_of_ids, require_other
from credence.stages.settings import EventsSettings, Settings
from credence.tables import stage_files
from credence.tables.digests import sha256_of


def learn_events(
    given: LabelledFiles,
    out: str,
    settings: Settings,
    calibration: str | None,
    held_out: str | None,
) -> None:
    """Learn how probable events are, judge it, and write both."""
    require_other((out,), [*given.files, calibration, held_out])
    asked, counting = settings.events, settings.calibration
    options = EventOptions(
        forecaster=asked.forecaster,
        compare=asked.compare,
        agrees=asked.agree,
        n_folds=asked.folds,
        min_positives=counting.min_positives,
        level=counting.level,
        n_draws=counting.resamples,
    )
    require_forecasters(asked)
    if not asked.ask and not asked.groups:
        raise refuse("--ask", "no event is asked for.", "Give --ask or --named.")
    file = None if calibration is None else stage_files.read_calibration(Path(calibration))
    tables = given.open(file)
    predictions, where = tables.samples.predictions, tables.where
    events = _events(asked, predictions)
    labelled = in_order_of_ids(tables.calibrating(settings.calibration.weights).labelled)
    method, calibrators = _method(calibration, file, options, predictions, where)
    types = tuple(
        Event(name=name, classes=tuple(classes)) for name, classes in asked.groups.items()
    )
    known = EventEvidence(predictions=labelled.predictions, types=types)
    novelty, near = given.novelty, ""
    if novelty is not None and tables.where_known is not None:
        distance = tables.where_known.reference.known_distance(known.predictions.ids)
        if not np.isfinite(distance).any():
            fault = f"it has no distance for any protein of {where}."
            raise refuse(
                novelty, fault, "Give the file from credence novelty of the same proteins."
            )
        known, near = replace(known, distance=distance), sha256_of(Path(novelty))
    confidence = None
    if held_out is not None:
        facts = {"folds": options.n_folds, "min_positives": options.min_positives}
        known_answers = stage_files.read_held_out_file(
            Path(held_out), labelled, facts, calibrators
        )
        confidence = known_answers.confidence
    model, finding = study_events(labelled, known, events, options, calibrators, confidence)
    names, scale = labelled.predictions.class_names, labelled.predictions.scale
    stage_files.EVENTS_FILES.write(
        Path(out),
        stage_files.EventsFile(
            method_spec=method,
            class_names=names,
            scale=scale,
            finding=finding,
            model=model,
            novelty=near,
        ),
    )
    count = plural(len(events), "event")
    echo(f"Wrote {out}: {count}, {labelled.n_samples} proteins, {asked.folds} folds.")


def require_forecasters(asked: EventsSettings) -> None:
    """Refuse forecasters that are not there."""
    raise_any(
        Problem(
            where=where,
            what=f"there is no forecaster {name!r}.",
            remedy=nearest(name, list(FORECASTER_OF)),
        )
        for where, names in (("--forecaster", (asked.forecaster,)), ("--compare", asked.compare))
        for name in names
        if name not in FORECASTER_OF
    )


def _events(asked: EventsSettings, predictions: Predictions) -> tuple[Event, ...]:
    """Return the events asked for; refuse questions that the table cannot answer."""
    events = events_of(asked.ask, asked.groups, predictions.class_names)
    remedy = "Ask for predicted_class, each_class or named groups."
    fault = "{!r} needs the score of every class, and the table gives the best."
    raise_any(
        Problem(where="--ask", what=fault.format(event.name), remedy=remedy)
        for event in events
        if predictions.scores is None and event.n_best > 1
    )
    return events


def _method(
    calibration: str | None,
    file: stage_files.CalibrationFile | None,
    options: EventOptions,
    predictions: Predictions,
    where: str,
) -> tuple[str, dict[str, Calibrator]]:
    """Return the method that events agree with, and what fits it without intervals."""
    if file is None or not options.agrees:
        return "", {}
    stage_files.require_match(file, predictions, where)
    method = parse_method(file.method_spec, str(calibration))
    raise_any(stage_files.need_problems(method.text, method.needs, predictions, where))
    quick = FitOptions(min_positives=options.min_positives, level=options.level, n_draws=0)
    return file.method_spec, {file.method_spec: method.build(quick)}
