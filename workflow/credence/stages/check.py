"""Reading all files of a set, and telling everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from credence.findings import InputFile
from credence.problems import InputError, Problem
from credence.records import read_record
from credence.tables.writing import write_json

if TYPE_CHECKING:
    from credence.predictions import Integers, Strings
    from credence.tables.census import Census
    from credence.tables.fasta import Fasta
    from credence.tables.samples import Samples
    from credence.tables.table_spec import TableSpec


@contextmanager
def _gathered(problems: list[Problem]) -> Iterator[None]:
    """Add what is wrong to the problems, and go on."""
    try:
        yield
    except InputError as error:
        problems += error.problems


def read_checked(
    tables: Sequence[str],
    spec: TableSpec,
    labels: Mapping[str, Any] | None,
    proteins: str | None,
    match: str,
    labelled: bool,
) -> tuple[Samples, tuple[InputFile, ...]]:
    """Return the samples of a set and the files read, or raise all problems."""
    from credence.stages.reading import read_set, require_labels, with_labels

    problems: list[Problem] = []
    samples = None
    with _gathered(problems):
        samples = read_set(tables, spec)
    fasta = _fasta(proteins, match, problems)
    if samples is not None:
        ids = np.concatenate([samples.predictions.ids, samples.unscored_ids])
        lines = np.concatenate([samples.lines, samples.unscored_lines])
        _match(ids, lines, tables[0], fasta, proteins, match, problems)
        with _gathered(problems):
            if labels is not None:
                samples = with_labels(samples, tables[0], labels, proteins, match, spec)
            if labelled:
                require_labels(samples, tables[0])
    if problems:
        raise InputError(problems)
    assert samples is not None
    inputs = _inputs(tables, samples.n_samples, proteins, fasta)
    if labels is not None and labels.get("table") is not None:
        inputs.append(_input("labels", labels["table"]))
    return samples, tuple(inputs)


def count_checked(
    tables: Sequence[str], spec: TableSpec, proteins: str | None, match: str
) -> tuple[Census, tuple[InputFile, ...]]:
    """Return what a set of any size holds and the files read, or raise all problems.

    Tables are read piece by piece; where there are proteins, ids are kept.
    """
    from credence.tables.census import take_census

    problems: list[Problem] = []
    census = None
    ids: list[Strings] = []
    lines: list[Integers] = []

    def keep(names: Strings, at: Integers) -> None:
        ids.append(names)
        lines.append(at)

    with _gathered(problems):
        census = take_census(tables, spec, None if proteins is None else keep)
    fasta = _fasta(proteins, match, problems)
    if census is not None and ids:
        every = np.concatenate(ids), np.concatenate(lines)
        _match(*every, tables[0], fasta, proteins, match, problems)
    if problems:
        raise InputError(problems)
    assert census is not None
    return census, tuple(_inputs(tables, census.n_samples, proteins, fasta))


def _fasta(proteins: str | None, match: str, problems: list[Problem]) -> Fasta | None:
    from credence.stages.reading import read_proteins

    found: list[Fasta] = []
    with _gathered(problems):
        found += [] if proteins is None else [read_proteins(proteins, match)]
    return found[0] if found else None


def _match(
    ids: Strings,
    lines: Integers,
    table: str,
    fasta: Fasta | None,
    proteins: str | None,
    match: str,
    problems: list[Problem],
) -> None:
    """Add the ids that only one of table and proteins has to the problems."""
    from credence.tables.fasta import Match, match_ids

    if fasta is None or proteins is None:
        return
    by: Match = "full" if match == "full" else "first_word"
    with _gathered(problems):
        match_ids(ids, fasta, by, table=table, proteins=proteins, table_lines=lines)


def _inputs(
    tables: Sequence[str], n_samples: int, proteins: str | None, fasta: Fasta | None
) -> list[InputFile]:
    inputs = [_input("scores", path, n_samples if len(tables) == 1 else None) for path in tables]
    if proteins is not None and fasta is not None:
        inputs.append(_input("proteins", proteins, fasta.n_proteins))
    return inputs


def _input(role: str, path: str, n_rows: int | None = None) -> InputFile:
    from credence.tables.digests import sha256_of

    return InputFile(role, path, sha256_of(Path(path)), n_rows)


SCHEMA = "credence/check/1"


@dataclass(frozen=True)
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
    schema: str = field(default=SCHEMA, init=False)


def summarise(census: Census, inputs: tuple[InputFile, ...]) -> Summary:
    """Return what a set holds."""
    return Summary(
        n_samples=census.n_samples,
        n_classes=len(census.class_names),
        n_networks=census.n_networks,
        n_ties=census.n_ties,
        scale=census.scale,
        resolution=census.resolution,
        is_distribution=census.is_distribution,
        class_names=census.class_names,
        n_true=census.n_true,
        n_predicted=census.n_predicted,
        n_unlabelled=census.n_samples - sum(census.n_true),
        n_unscored=census.n_unscored,
        inputs=inputs,
    )


def write_summary(path: Path, summary: Summary) -> None:
    """Write a summary as JSON."""
    write_json(path, summary)


def read_summary(path: Path) -> Summary:
    """Return the summary of a file."""
    return read_record(Summary, path, "Check the tables again: credence check.")
