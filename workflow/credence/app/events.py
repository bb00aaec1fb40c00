"""``credence events``: questions beyond the predicted class, learnt and judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import fit_options, out_option, set_options, table_options

if TYPE_CHECKING:
    from credence.calibrators.protocol import Calibrator
    from credence.events.features import EventEvidence
    from credence.predictions import Predictions

EXAMPLE = (
    "Example: credence events demo/calibration.csv --format phanns-labelled --ask two_best "
    '--named \'{"tail": ["Major tail", "Minor tail"]}\' --calibration c.json --out events.json'
)


@click.command(epilog=EXAMPLE)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@table_options
@click.option(
    "--ask",
    "standing",
    multiple=True,
    help="An event: predicted_class, two_best, three_best or each_class; repeat it.",
)
@click.option("--named", "named_json", default="{}", help='Groups: {"tail": ["Major tail", …]}.')
@click.option("--rules", "rules_json", default="{}", help='Rules: {"likely": "\'score\' >= 0.1"}.')
@click.option("--admissible", default="", help="A rule that is a feature, no event.")
@click.option("--calibration", help="What credence fit wrote: the confidence to agree with.")
@click.option(
    "--agree/--no-agree",
    default=True,
    show_default=True,
    help="Whether the predicted class keeps that confidence.",
)
@click.option("--forecaster", default="logistic", show_default=True, help="Whose are published.")
@click.option("--compare", multiple=True, help="A forecaster judged beside it; repeat it.")
@click.option("--without", multiple=True, help="A feature not to be used; repeat it.")
@click.option("--evidence", "evidence_file", help="Table: id, length, distance, before, after.")
@click.option("--novelty", help="What credence novelty wrote of this set: the feature distance.")
@set_options
@click.option(
    "--folds",
    type=click.IntRange(2),
    default=10,
    show_default=True,
    help="Parts of whole clusters that are left out in turn.",
)
@fit_options
@out_option("The events, a JSON file, for credence annotate and credence report.")
def command(
    tables: tuple[str, ...],
    format_: str | None,
    spec_json: str,
    standing: tuple[str, ...],
    named_json: str,
    rules_json: str,
    admissible: str,
    calibration: str | None,
    agree: bool,
    forecaster: str,
    compare: tuple[str, ...],
    without: tuple[str, ...],
    evidence_file: str | None,
    novelty: str | None,
    groups: str | None,
    clusters: str | None,
    weights: str,
    folds: int,
    min_positives: float,
    level: float,
    draws: int,
    out: str,
) -> None:
    """Learn how probable events are: the two best classes, a group of classes, a rule.

    Forecasters are tuned and judged on whole clusters left out. Probabilities are
    made to contradict neither each other nor the confidence of the calibration.
    """
    from credence.events.event import Event
    from credence.events.event_judging import study_events
    from credence.events.features import EventEvidence
    from credence.events.training import EventOptions
    from credence.findings import to_record
    from credence.stages.reading import (
        calibration_set,
        in_order_of_ids,
        read_set,
        require_other,
        with_places,
    )
    from credence.tables.stage_files import EventsFile, write_events

    require_other(out, [*tables, calibration, evidence_file, novelty, groups, clusters])
    options = EventOptions(forecaster, compare, without, agree, folds, min_positives, level, draws)
    require_known(options)
    spec = _spec(tables, format_, spec_json, calibration)
    samples = with_places(read_set(tables, spec), novelty)
    named, rules = _named(named_json), _texts(rules_json)
    events = _events(standing, named, rules, admissible, samples.predictions)
    chosen = calibration_set(samples, tables[0], groups, clusters, weights)
    labelled = in_order_of_ids(chosen.labelled)
    method, calibrators = _method(calibration, options, samples.predictions, tables[0])
    types = tuple(Event(name, classes=tuple(classes)) for name, classes in named.items())
    known = EventEvidence(labelled.predictions, {}, None, types, admissible)
    evidence, near = _evidence(known, evidence_file, novelty, tables[0], "distance" not in without)
    model, finding = study_events(labelled, evidence, events, options, calibrators)
    write_events(
        Path(out),
        EventsFile(
            method,
            labelled.predictions.class_names,
            labelled.predictions.scale,
            to_record(finding),
            model,
            near,
        ),
    )
    count = f"{len(events)} event{'' if len(events) == 1 else 's'}"
    click.echo(f"Wrote {out}: {count}, {labelled.n_samples} proteins, {folds} folds.", err=True)


def require_known(options: Any) -> None:
    """Refuse names of forecasters and features that nothing bears."""
    from credence.events.features import BY_NAME as FEATURES
    from credence.events.forecasters import BY_NAME as FORECASTERS
    from credence.problems import InputError, Problem, nearest

    problems = [
        Problem(where, f"there is no {kind} {name!r}.", nearest(name, list(known)))
        for where, kind, names, known in (
            ("--forecaster", "forecaster", (options.forecaster,), FORECASTERS),
            ("--compare", "forecaster", options.compare, FORECASTERS),
            ("--without", "feature", options.without, FEATURES),
        )
        for name in names
        if name not in known
    ]
    if problems:
        raise InputError(problems)


def _spec(
    tables: tuple[str, ...], format_: str | None, spec_json: str, calibration: str | None
) -> Any:
    """Return how the tables are read: with the calibration's scale where one is given."""
    from dataclasses import replace

    from credence.stages.reading import as_calibrated, json_settings, table_spec
    from credence.tables.calibration_file import read_calibration

    stated = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    if calibration is None:
        return stated
    file = read_calibration(Path(calibration))
    known = as_calibrated(stated, file.class_names, file.scale)
    return replace(known, class_names=stated.class_names)


def _named(text: str) -> dict[str, list[str]]:
    """Return groups of classes; refuse what is none."""
    from credence.problems import InputError, Problem
    from credence.stages.reading import json_settings

    found = dict(json_settings(text, "--named"))
    problems = [
        Problem("--named", f"{value!r} is no list of classes.", "Give names.", None, name)
        for name, value in found.items()
        if not isinstance(value, list) or not value or not all(isinstance(x, str) for x in value)
    ]
    if problems:
        raise InputError(problems)
    return found


def _texts(text: str) -> dict[str, str]:
    """Return rules by name; refuse what is none."""
    from credence.problems import InputError, Problem
    from credence.stages.reading import json_settings

    found = dict(json_settings(text, "--rules"))
    problems = [
        Problem("--rules", f"{value!r} is no rule.", "Write it as text.", None, name)
        for name, value in found.items()
        if not isinstance(value, str)
    ]
    if problems:
        raise InputError(problems)
    return found


def _events(
    standing: tuple[str, ...],
    named: dict[str, list[str]],
    rules: dict[str, str],
    admissible: str,
    predictions: Predictions,
) -> Any:
    """Return the events asked for; refuse questions that the table cannot answer."""
    from credence.events.event import events_of
    from credence.events.rules import parse_rule
    from credence.problems import InputError, Problem, refuse

    if not standing and not named and not rules:
        raise refuse("--ask", "no event is asked for.", "Give --ask, --named or --rules.")
    events = events_of(standing, named, rules, predictions.class_names, "events")
    if admissible:
        rule = parse_rule(admissible, "--admissible")
        rule.require_columns(predictions.class_names, "--admissible", None)
    if predictions.scores is None:
        problems = [
            Problem(
                "--ask",
                f"{event.name!r} needs the score of every class, and the table gives the best.",
                "Ask for predicted_class, each_class or named groups.",
            )
            for event in events
            if event.n_best > 1 or event.rule
        ]
        if problems:
            raise InputError(problems)
    return events


def _method(
    calibration: str | None, options: Any, predictions: Predictions, where: str
) -> tuple[str, dict[str, Calibrator]]:
    """Return the method that events agree with, and what fits it without intervals."""
    from credence.calibrators.method_spec import parse_method
    from credence.calibrators.protocol import FitOptions
    from credence.problems import InputError
    from credence.tables.calibration_file import need_problems, read_calibration, require_match

    if calibration is None or not options.agrees:
        return "", {}
    file = read_calibration(Path(calibration))
    require_match(file, predictions, where)
    quick = FitOptions(options.min_positives, options.level, 0)
    method = parse_method(file.method_spec, calibration)
    if lacking := need_problems(method.text, method.needs, predictions, where):
        raise InputError(lacking)
    return file.method_spec, {file.method_spec: method.build(quick)}


def _evidence(
    known: EventEvidence, path: str | None, novelty: str | None, where: str, is_wanted: bool
) -> tuple[EventEvidence, str]:
    """Return what is known of the proteins, and the digest of what told distances."""
    import numpy as np

    from credence.problems import refuse
    from credence.tables.contract import read_evidence
    from credence.tables.digests import sha256_of
    from credence.tables.stage_files import read_novelty

    given = None if path is None else read_evidence(Path(path), known.predictions.class_names)
    near = ""
    # What the user says is nearest counts, and is asked for again by annotate.
    is_given = given is not None and "distance" in given.columns
    if novelty is not None and is_wanted and not is_given:
        distance = read_novelty(Path(novelty)).reference.known_distance(known.predictions.ids)
        if not np.isfinite(distance).any():
            raise refuse(
                novelty, f"it knows no distance of a protein of {where}.",
                "Give what credence novelty wrote of the same set.",
            )  # fmt: skip
        known, near = replace(known, columns={"distance": distance}), sha256_of(Path(novelty))
    return (known if given is None else given.added_to(known)), near
