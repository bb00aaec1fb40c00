"""The stage `check`: reading all files of a set, and reporting every problem at once."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from credence.confidence import counted, sentences_of
from credence.findings import InputFile
from credence.predictions import Integers, Strings
from credence.problems import InputError, Problem, gathering, in_one_line, raise_any
from credence.progress import echo
from credence.records import json_text, read_record
from credence.stages import reading
from credence.tables.digests import sha256_of
from credence.tables.fasta import match_ids
from credence.tables.formats import TableSpec
from credence.tables.guess import propose_formats
from credence.tables.joining import Census, census_of, take_census
from credence.tables.labels import attach_labels
from credence.tables.samples import Samples, write_samples
from credence.tables.stage_files import KnownProteins, read_calibration
from credence.tables.writing import write_record


def check_tables(
    tables: Sequence[str],
    format_: str | None,
    spec_json: str,
    labelled: bool,
    labels_json: str,
    proteins: str | None,
    match: str,
    samples: str | None,
    out: str | None,
    calibration: str | None,
    as_json: bool,
) -> None:
    """Return what tables hold, and print or write it; raise all that is wrong with them."""
    if samples is None and out is None and format_ is None and spec_json == "{}":
        proposals = propose_formats(Path(tables[0]))
        for proposal in proposals if len(proposals) > 1 else ():
            echo(f"{tables[0]} may be {proposal.format}: {proposal.reason}")
    if samples is not None or out is not None:
        reading.require_other((samples, out), [*tables, proteins, calibration])
    file = None if calibration is None else read_calibration(Path(calibration))
    spec = reading.stated_spec(tables, format_, spec_json, file=file)
    if file is not None:
        spec = reading.as_calibrated(spec, file.class_names, file.scale)
    labels = reading.json_settings(labels_json, "--labels") or None
    same = Overlap(None if file is None else file.known, proteins, match)
    if samples is None and labels is None and not labelled:
        census, inputs = count_checked(tables, spec, proteins, match, same.see)
    else:
        read, inputs = read_checked(tables, spec, labels, proteins, match, labelled)
        census = census_of(read)
        same.see(read.predictions.ids)
        if samples is not None:
            write_samples(Path(samples), read)
    summary = replace(summarise(census, inputs), read_as=repr(spec))
    write_record(out, summary)
    if out is None or as_json:
        unit = "call" if spec.several is not None else "protein"
        text = (
            json_text({"problems": [], "set": summary}) if as_json else description(summary, unit)
        )
        click.echo(text, nl=not as_json)
    for notice in (*census.notices(), *same.sentences()):
        echo(f"{tables[0]}: {notice}.")


class Overlap:
    """How many proteins of a set calibrate, by id and by sequence, counted as they are read."""

    def __init__(self, known: KnownProteins | None, proteins: str | None, match: str) -> None:
        self._known, self._n_seen = known, 0
        self._numbers: Counter[str] = Counter()
        self._sequences: dict[str, str] = {}
        if known is not None and proteins is not None:
            with suppress(InputError):  # it is raised where the file itself is checked
                self._sequences = reading.read_sequences((proteins,), match)

    def see(self, ids: Strings) -> None:
        """Count the proteins of a piece of the set."""
        if self._known is not None:
            self._numbers.update(counted(self._known.notes(ids, self._sequences)))
            self._n_seen += len(ids)

    def sentences(self) -> list[str]:
        """Return what was found; nothing without proteins that calibrate."""
        return sentences_of(self._numbers, self._n_seen)


def read_checked(
    tables: Sequence[str],
    spec: TableSpec,
    labels: Mapping[str, Any] | None,
    proteins: str | None,
    match: str,
    labelled: bool,
    *,
    may_lack: bool = False,
) -> tuple[Samples, tuple[InputFile, ...]]:
    """Return the samples of a set and the files read, or raise all; labels `may_lack` some."""
    problems: list[Problem] = []
    samples = None
    with gathering(problems):
        samples = reading.read_set(tables, spec)
    ids_at = None if samples is None else samples.lines_and_ids[::-1]
    n_proteins = _match(
        proteins, match, tables[0], ids_at, problems, may_hold_more=spec.several is not None
    )
    if samples is not None:
        with gathering(problems):
            if labels is not None:
                several = spec.several is not None
                read = reading.labels_as_stated(labels, proteins, match, are_several=several)
                samples = attach_labels(samples, read, spec, tables[0], may_lack=may_lack)
            if labelled:
                reading.require_labels(samples, tables[0])
    raise_any(problems)
    assert samples is not None
    inputs = _inputs(tables, samples.n_samples, proteins, n_proteins)
    if labels is not None and labels.get("table") is not None:
        inputs.append(_input("labels", labels["table"]))
    return samples, tuple(inputs)


def count_checked(
    tables: Sequence[str],
    spec: TableSpec,
    proteins: str | None,
    match: str,
    seen: Callable[[Strings], object],
) -> tuple[Census, tuple[InputFile, ...]]:
    """Return what a set of any size holds, each piece `seen`, and the files read, or raise all."""
    problems: list[Problem] = []
    census = None
    pieces: list[tuple[Strings, Integers]] = []

    def keep(ids: Strings, lines: Integers) -> None:
        seen(ids)
        if proteins is not None:
            pieces.append((ids, lines))

    with gathering(problems):
        census = take_census(tables, spec, keep)
    ids_at = None
    if census is not None and pieces:
        ids, lines = zip(*pieces, strict=True)
        ids_at = np.concatenate(ids), np.concatenate(lines)
    n_proteins = _match(
        proteins, match, tables[0], ids_at, problems, may_hold_more=spec.several is not None
    )
    raise_any(problems)
    assert census is not None
    return census, tuple(_inputs(tables, census.n_samples, proteins, n_proteins))


def _match(
    proteins: str | None,
    match: str,
    table: str,
    ids_at: tuple[Strings, Integers] | None,
    problems: list[Problem],
    *,
    may_hold_more: bool,
) -> int:
    """Return the number of proteins; add what is wrong with them and with ids to the problems."""
    n_proteins = 0
    if proteins is not None:
        with gathering(problems):
            fasta = reading.read_proteins(proteins, match)
            n_proteins = fasta.n_proteins
            if ids_at is not None:
                ids, lines = ids_at
                by: Any = match
                # Of calls, a protein may have none.
                match_ids(
                    ids, fasta, by, table=table, proteins=proteins, table_lines=lines,
                    may_hold_more=may_hold_more,
                )  # fmt: skip
    return n_proteins


def _inputs(
    tables: Sequence[str], n_samples: int, proteins: str | None, n_proteins: int
) -> list[InputFile]:
    inputs = [_input("scores", path, n_samples if len(tables) == 1 else None) for path in tables]
    return inputs + ([] if proteins is None else [_input("proteins", proteins, n_proteins)])


def _input(role: str, path: str, n_rows: int | None = None) -> InputFile:
    return InputFile(role=role, name=path, sha256=sha256_of(Path(path)), n_records=n_rows)


CHECK_SCHEMA = "credence/check/1"


@dataclass(frozen=True, kw_only=True)
class Summary:
    """What a set holds."""

    n_samples: int  # Proteins, classes, networks (0 where unknown), rows with a shared best score
    n_classes: int
    n_networks: int
    n_ties: int
    scale: float  # What a row sums to, and the step between two scores
    resolution: float
    is_distribution: bool  # Whether every row sums to the scale
    class_names: tuple[str, ...]  # Classes in the table's order
    # Proteins in each class and predicted to be in it; no `n_true` without labels.
    n_true: tuple[int, ...]
    n_predicted: tuple[int, ...]
    n_unlabelled: int  # Proteins without a true class
    n_unscored: int  # Proteins of the tables that carry no scores; in none of the other counts
    inputs: tuple[InputFile, ...]  # Files that were read
    read_as: str = ""  # How the tables are read: what was stated, or the one format that fits
    schema: str = field(default=CHECK_SCHEMA, init=False)


def summarise(census: Census, inputs: tuple[InputFile, ...]) -> Summary:
    """Return what a set holds."""
    same = {entry.name for entry in fields(Census)} & {entry.name for entry in fields(Summary)}
    return Summary(
        n_classes=len(census.class_names),
        n_unlabelled=census.n_samples - sum(census.n_true),
        inputs=inputs,
        **{name: getattr(census, name) for name in same},
    )


def description(summary: Summary, unit: str) -> str:
    """Return what a set holds, in one line, of proteins or calls."""
    words = [
        f"{summary.n_samples} {unit}s",
        *([f"{summary.n_unscored} more without scores"] if summary.n_unscored else []),
        f"{summary.n_classes} classes ({in_one_line(summary.class_names)})",
        f"scale {summary.scale:g}",
    ]
    if summary.n_networks:
        words.append(f"{summary.n_networks} networks")
    n_labelled = summary.n_samples - summary.n_unlabelled
    words.append(f"{n_labelled} labelled" if n_labelled else "no labels")
    if summary.n_ties:
        words.append(f"{summary.n_ties} tied")
    return ", ".join(words)


def read_summary(path: Path) -> Summary:
    """Return the summary of a file."""
    return read_record(Summary, path, "Check the tables again: credence check.")
