"""``credence annotate``: a confidence for every prediction of a table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app.shared import also_option, match_option, out_option, table_options

if TYPE_CHECKING:
    from credence.predictions import Predictions
    from credence.stages.annotate import Newcomers
    from credence.tables.calibration_file import CalibrationFile
    from credence.tables.contract import EvidenceTable
    from credence.tables.samples import Samples
    from credence.tables.stage_files import EventsFile, ShiftFile


@click.command(
    epilog="Example: credence annotate demo/use.csv --calibration c.json --out conf.tsv"
)
@click.argument("tables", nargs=-1, required=True, metavar="TABLE...")
@click.option("--calibration", help="What credence fit wrote.")
@click.option("--release", help="In its place: name or folder of a release of the run.")
@click.option(
    "--config",
    default="config.yaml",
    show_default=True,
    help="The configuration of that run; read with the name of a release only.",
)
@table_options
@click.option("--shift", "shift_file", help="What credence shift wrote with --record.")
@click.option("--events", "events_file", help="What credence events wrote of the same set.")
@click.option(
    "--evidence",
    "evidence_file",
    help="What those events need of these proteins beside scores, as in credence events.",
)
@click.option("--novelty", help="What credence novelty wrote: how far each protein is from those.")
@click.option("--proteins", help="With it: FASTA file of the proteins of TABLE.")
@click.option("--vectors", help="In place of --proteins: their vectors, npz or Parquet.")
@match_option
@click.option("--novelty-record", help="Also write what was found of novelty, as JSON.")
@click.option("--name", default="use", help="What to call TABLE there.")
@click.option(
    "--part",
    metavar="K/N",
    help="Only the rows of one part of N, for several machines; credence gather joins them.",
)
@click.option("--check", "summary", help="What credence check wrote of TABLE; read with --part.")
@click.option(
    "--spreadsheet-safe",
    is_flag=True,
    help="Put ' before ids that a spreadsheet would take for a formula.",
)
@also_option
@out_option("The confidences: .tsv, .tsv.gz, .tsv.zst or .parquet.")
def command(
    tables: tuple[str, ...],
    calibration: str | None,
    release: str | None,
    config: str,
    format_: str | None,
    spec_json: str,
    shift_file: str | None,
    events_file: str | None,
    evidence_file: str | None,
    part: str | None,
    summary: str | None,
    novelty: str | None,
    proteins: str | None,
    vectors: str | None,
    match: str,
    novelty_record: str | None,
    name: str,
    spreadsheet_safe: bool,
    also: str | None,
    out: str,
) -> None:
    """Give every prediction of TABLE its confidence, in the table's order.

    Needs nothing but the table and a calibration file. Tables of any size:
    they are read piece by piece.
    """
    from contextlib import ExitStack

    import numpy as np

    from credence.progress import Progress
    from credence.stages.annotate import calibration_or_release, newcomers_of, row_range
    from credence.stages.reading import (
        RELATIVES_UNKNOWN,
        as_calibrated,
        json_settings,
        require_other,
        table_spec,
    )
    from credence.tables.calibration_file import read_calibration, require_match
    from credence.tables.joining import stream_tables
    from credence.tables.stage_files import read_shift, require_same
    from credence.tables.writing import TableWriter, write_json

    calibration = calibration_or_release(calibration, release, config)
    read_too = [shift_file, events_file, evidence_file, novelty, proteins, vectors, summary]
    for written in filter(None, (out, also, novelty_record)):
        require_other(written, [*tables, calibration, *read_too])
    rows = None if part is None else row_range(part, tables, summary)
    file = read_calibration(Path(calibration))
    shift = None if shift_file is None else read_shift(Path(shift_file))
    newcomers = newcomers_of(novelty, proteins, vectors, match, name)
    further = _further(events_file, evidence_file)
    further.require_novelty(novelty)
    names = _names(file, shift, newcomers, further)
    stated = table_spec(tables, format_, json_settings(spec_json, "--spec"))
    spec = as_calibrated(stated, file.class_names, file.scale)
    n_unknown = n_unscored = 0
    with ExitStack() as stack:
        progress = stack.enter_context(Progress("annotate", "proteins"))
        writers = [
            stack.enter_context(TableWriter(Path(path), names, spreadsheet_safe=spreadsheet_safe))
            for path in filter(None, (out, also))
        ]
        for where, samples in stream_tables(tables, spec, progress.expect, rows):
            samples = samples if newcomers is None else newcomers.located(samples)
            require_match(file, samples.predictions, where)
            if shift is not None:
                require_same(shift, file.method_spec, samples.predictions, str(shift_file))
            further.require_same(file.method_spec, samples.predictions)
            columns = _columns(file, shift, newcomers, further, samples, calibration)
            n_unknown += int(np.isnan(columns["confidence"]).sum())
            n_unscored += len(samples.unscored_ids)
            for writer in writers:
                writer.write(columns)
            progress.add(len(columns["id"]))
        n_samples = progress.done
    if novelty_record is not None:
        write_json(Path(novelty_record), {} if newcomers is None else newcomers.record())
    message = f", {n_unscored} of them without scores" if n_unscored else ""
    click.echo(
        f"Wrote {out}: {n_samples} proteins, {n_unknown} without a confidence{message}.", err=True
    )
    if file.counts.get("relatives") == RELATIVES_UNKNOWN:
        click.echo(f"{calibration}: {RELATIVES_UNKNOWN}.", err=True)


@dataclass(frozen=True, eq=False)
class _Events:
    """The events whose probabilities are asked for, and what they need; or none."""

    where: str
    file: EventsFile | None
    evidence: EvidenceTable | None

    def names(self, is_shifted: bool) -> tuple[str, ...]:
        """Return the columns that they have, where a composition is known or not."""
        from credence.tables.contract import event_names

        return event_names(None if self.file is None else self.file.model, is_shifted)

    def require_same(self, method_spec: str, predictions: Predictions) -> None:
        """Refuse events of another calibration."""
        from credence.tables.stage_files import require_same_events

        if self.file is not None:
            require_same_events(self.file, method_spec, predictions, self.where)

    def require_novelty(self, novelty: str | None) -> None:
        """Refuse distances in another space than those that events were learnt with."""
        from credence.problems import refuse
        from credence.tables.digests import sha256_of

        if self.file is None or not self.file.novelty:
            return
        if novelty is None:
            raise refuse(
                self.where,
                "its events look at the distance to the nearest calibration protein.",
                "Give --novelty and --proteins, or learn them without it: --without distance.",
            )
        if sha256_of(Path(novelty)) != self.file.novelty:
            raise refuse(
                novelty, f"the events of {self.where} were learnt with another novelty file.",
                "Learn them again with this one.",
            )  # fmt: skip

    def columns(
        self, predictions: Predictions, known: dict[str, Any], shift: ShiftFile | None
    ) -> dict[str, Any]:
        """Return the columns of some rows, of which others are known."""
        from credence.events.model import Mix
        from credence.tables.contract import event_columns

        model = None if self.file is None else self.file.model
        seen = None
        if self.file is not None and self.file.novelty:  # else learnt without distances
            seen = known.get("calibration_distance")
        mix = None
        if shift is not None:
            mix = Mix(shift.applied_weight, known["adjusted_confidence"])
        return event_columns(model, predictions, known["confidence"], self.evidence, seen, mix)


def _further(events: str | None, evidence: str | None) -> _Events:
    """Return the events of two options."""
    from credence.problems import refuse
    from credence.tables.contract import read_evidence
    from credence.tables.stage_files import read_events

    if events is None:
        if evidence is not None:
            raise refuse("--evidence", "no events ask for it.", "Give --events too.")
        return _Events("", None, None)
    file = read_events(Path(events))
    known = None if evidence is None else read_evidence(Path(evidence), file.class_names)
    return _Events(events, file, known)


def _names(
    file: CalibrationFile, shift: ShiftFile | None, newcomers: Newcomers | None, further: _Events
) -> tuple[str, ...]:
    """Return the columns that there are, in order."""
    from credence.tables.contract import ADJUSTED_NAMES, CONFIDENCE_NAMES, set_names

    is_shifted = shift is not None
    adjusted = ADJUSTED_NAMES if is_shifted else ()
    sets = set_names(file.sets, is_shifted)
    novel = newcomers.names if newcomers else ()
    return (*CONFIDENCE_NAMES, *adjusted, *sets, *novel, *further.names(is_shifted))


def _columns(
    file: CalibrationFile,
    shift: ShiftFile | None,
    newcomers: Newcomers | None,
    further: _Events,
    samples: Samples,
    where: str,
) -> dict[str, Any]:
    """Return the rows of some proteins, in the table's order; also those without scores."""
    from credence.confidence import Note, unknown
    from credence.tables.calibration_file import confidence_of
    from credence.tables.census import with_unscored
    from credence.tables.contract import confidence_columns, set_columns

    predictions = samples.predictions
    confidence = (
        confidence_of(file, predictions, where) if predictions.n_samples else unknown(0, Note.NONE)
    )
    novel: dict[str, Any] = {}
    if newcomers is not None:
        confidence, novel = newcomers.message(predictions, confidence)
    columns = confidence_columns(predictions, confidence, file.method_spec)
    columns |= _adjusted(shift, samples)
    share = None if shift is None else shift.applied_share
    columns |= set_columns(file.sets, predictions, share) | novel
    columns |= further.columns(predictions, columns, shift)
    return with_unscored(columns, samples, file.method_spec)


def _adjusted(shift: ShiftFile | None, samples: Samples) -> dict[str, Any]:
    """Return the columns corrected for the composition, where one was estimated."""
    from credence.confidence import Note, unknown
    from credence.tables.contract import ADJUSTED_NAMES

    if shift is None:
        return {}
    predictions = samples.predictions
    found = unknown(0, Note.NONE)
    if predictions.n_samples:
        found = shift.adjusted.confidence(predictions)
    return dict(zip(ADJUSTED_NAMES, (found.value, found.lower, found.upper), strict=True))
