"""``credence report``: the page of what a run found, and its data beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import out_option

if TYPE_CHECKING:
    from credence.findings import Findings, InputFile, Notice, ShiftFinding, UseSet
    from credence.findings.releases import ReleasesFinding
    from credence.findings.run_record import SplitFinding
    from credence.findings.use_sets import EventsFinding, NoveltyFinding


@click.command(epilog="Example: credence report findings.json --out page/index.html")
@click.argument("found_in", metavar="FINDINGS")
@click.option(
    "--use-set",
    "use_sets",
    nargs=3,
    multiple=True,
    metavar="NAME CONFIDENCES CHECK",
    help="A use-set: its name, its confidences, and what credence check wrote of it.",
)
@click.option(
    "--shift",
    "shift_files",
    multiple=True,
    help="What credence shift wrote of a use-set with --record; repeat it.",
)
@click.option(
    "--changes",
    "change_files",
    multiple=True,
    help="What credence compare wrote of a release with --record; repeat it, in order.",
)
@click.option("--events", "events_file", help="What credence events wrote.")
@click.option(
    "--novelty",
    "novelty_files",
    multiple=True,
    help="What credence annotate wrote of a use-set with --novelty-record; repeat it.",
)
@click.option("--settings", "settings_json", default="{}", help="What to say of the run, as JSON.")
@click.option("--findings", "complete", help="Also write the findings, use-sets included.")
@click.option("--split", "split_file", help="What credence split wrote with --summary.")
@click.option("--metrics", help="Table of metrics, to put beside the page.")
@click.option("--calibration", help="Calibration file, to put beside the page.")
@click.option("--archive", help="Also write a zip file of all this, ready to deposit.")
@click.option(
    "--put",
    "further",
    multiple=True,
    help="A further file for the archive; repeat it.",
)
@click.option("--index", help="Also write a page over all runs whose folders lie beside it.")
@out_option("The page; report.json is written beside it.")
def command(
    found_in: str,
    use_sets: tuple[tuple[str, str, str], ...],
    shift_files: tuple[str, ...],
    change_files: tuple[str, ...],
    events_file: str | None,
    novelty_files: tuple[str, ...],
    settings_json: str,
    complete: str | None,
    split_file: str | None,
    metrics: str | None,
    calibration: str | None,
    archive: str | None,
    further: tuple[str, ...],
    index: str | None,
    out: str,
) -> None:
    """Make one self-contained page of FINDINGS, and report.json with its text.

    FINDINGS is what credence evaluate wrote, or --findings of this command.
    """
    from credence.findings import Findings
    from credence.records import read_record
    from credence.report import render, report_record
    from credence.stages.reading import json_settings, require_other
    from credence.stages.report import (
        copy_file,
        publish_archive,
        publish_index,
        publish_metrics,
        summarise_file,
    )
    from credence.tables.writing import write_json, write_text

    tables = [path for _, *paths in use_sets for path in paths]
    for written in filter(None, (out, archive, index, complete)):
        require_other(
            written,
            [found_in, *tables, *shift_files, *change_files, split_file, events_file, *further],
        )
    found = read_record(Findings, Path(found_in), "Evaluate again: credence evaluate.")
    found = _with_run(found, json_settings(settings_json, "--settings"))
    inputs: list[InputFile] = []
    summaries: list[UseSet] = []
    for name, confidences, check in use_sets:
        summaries.append(summarise_file(name, Path(confidences), found.results, found.chosen))
        inputs += _inputs_of(name, check)
    shifts = [_shift(path, found) for path in shift_files]
    found = replace(
        found,
        use_sets=(*found.use_sets, *summaries),
        shifts=(*found.shifts, *shifts),
        notices=(*found.notices, *_shift_notices(shifts)),
        split=found.split if split_file is None else _split(split_file),
        releases=_releases(change_files) if change_files else found.releases,
        events=found.events if events_file is None else _events(events_file, found),
        novelties=(*found.novelties, *map(_novelty, novelty_files)),
        provenance=replace(found.provenance, inputs=(*found.provenance.inputs, *inputs)),
    )
    page = Path(out)
    if complete is not None:
        write_json(Path(complete), found)
    write_json(page.parent / "report.json", report_record(found))
    publish_metrics(metrics, page.parent)
    copy_file(calibration, page.parent / "calibration.json")
    write_text(page, render(found))
    if archive is not None:
        put = (*(path for _, path, _ in use_sets), *further, *filter(None, (events_file,)))
        publish_archive(Path(archive), found, page, metrics, calibration, put)
    if index is not None:
        publish_index(Path(index))
    click.echo(f"Wrote {page}", err=True)


def _split(path: str) -> SplitFinding:
    from credence.findings.run_record import SplitFinding
    from credence.records import read_record

    return read_record(SplitFinding, Path(path), "Split again: credence split.")


def _novelty(path: str) -> NoveltyFinding:
    from credence.findings.use_sets import NoveltyFinding
    from credence.records import read_record

    again = "Annotate again: credence annotate --novelty-record."
    return read_record(NoveltyFinding, Path(path), again)


def _shift(path: str, findings: Findings) -> ShiftFinding:
    """Return what a shift file found; refuse one of other classes."""
    from credence.findings import ShiftFinding
    from credence.problems import refuse
    from credence.records import from_record
    from credence.tables.stage_files import SHIFT_AGAIN, read_shift

    file = read_shift(Path(path))
    if file.class_names != findings.results.class_names:
        raise refuse(path, "its classes are not those of the findings.", SHIFT_AGAIN)
    return from_record(ShiftFinding, file.finding)


def _events(path: str, findings: Findings) -> EventsFinding:
    """Return what was found of events; refuse those of other classes."""
    from credence.findings.use_sets import EventsFinding
    from credence.problems import refuse
    from credence.records import from_record
    from credence.tables.stage_files import EVENTS_AGAIN, read_events

    file = read_events(Path(path))
    if file.class_names != findings.results.class_names:
        raise refuse(path, "its classes are not those of the findings.", EVENTS_AGAIN)
    return from_record(EventsFinding, file.finding)


def _shift_notices(shifts: Iterable[ShiftFinding]) -> Iterator[Notice]:
    from credence.findings import Notice

    for found in shifts:
        for sentence in found.sentences:
            yield Notice(f"composition of {found.name}", sentence, is_warning=True)


def _releases(paths: tuple[str, ...]) -> ReleasesFinding:
    """Return the chain of releases; refuse steps that do not follow each other."""
    from credence.findings.releases import ReleasesFinding, ReleaseStep
    from credence.problems import refuse
    from credence.records import read_record

    steps: list[ReleaseStep] = []
    for path in paths:
        step = read_record(ReleaseStep, Path(path), "Compare again: credence compare.")
        if steps and step.older.digest != steps[-1].newer.digest:
            raise refuse(
                path,
                f"it begins at {step.older.name}, and the one before it ends at "
                f"{steps[-1].newer.name}.",
                "Give --changes in the order of the releases, without gaps.",
            )
        steps.append(step)
    releases = (steps[0].older, *(step.newer for step in steps))
    return ReleasesFinding(releases, tuple(steps))


def _with_run(findings: Findings, settings: Mapping[str, Any]) -> Findings:
    from credence.findings import Setting

    provenance = findings.provenance
    return replace(
        findings,
        provenance=replace(
            provenance,
            run=settings.get("run", provenance.run),
            title=settings.get("title", provenance.title) or "Calibrated confidence",
            is_simulated=settings.get("simulated", provenance.is_simulated),
            settings=tuple(Setting(*entry) for entry in settings["settings"].items())
            if "settings" in settings
            else provenance.settings,
        ),
    )


def _inputs_of(name: str, check: str) -> list[InputFile]:
    from credence.stages.check import read_summary

    return [
        replace(entry, role=f"{name}: {entry.role}") for entry in read_summary(Path(check)).inputs
    ]
