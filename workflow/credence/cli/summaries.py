"""check.json: what credence check found in a set that it did not refuse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from credence.findings import InputFile, from_record, to_record
from credence.problems import refuse
from credence.tables.json_text import read_json as read_json
from credence.tables.writing import write_json

if TYPE_CHECKING:
    from credence.tables.census import Census

SCHEMA = "credence/check/1"


@dataclass(frozen=True)
class Summary:
    """What a set holds.

    Parameters
    ----------
    n_samples, n_classes, n_networks, n_ties : int
        Proteins, classes, networks (0 where unknown), rows with a shared best score.
    scale, resolution : float
        What a row sums to, and the step between two scores.
    is_distribution : bool
        Whether every row sums to the scale.
    class_names : tuple of str
        Classes in the table's order.
    n_true, n_predicted : tuple of int
        Proteins in each class and predicted to be in it; no `n_true` without labels.
    n_unlabelled : int
        Proteins without a true class.
    n_unscored : int
        Proteins of the tables that carry no scores; in none of the other counts.
    inputs : tuple of InputFile
        Files that were read.
    """

    n_samples: int
    n_classes: int
    n_networks: int
    n_ties: int
    scale: float
    resolution: float
    is_distribution: bool
    class_names: tuple[str, ...]
    n_true: tuple[int, ...]
    n_predicted: tuple[int, ...]
    n_unlabelled: int
    n_unscored: int
    inputs: tuple[InputFile, ...]
    schema: str = SCHEMA


def summarise(census: Census, inputs: tuple[InputFile, ...]) -> Summary:
    """Return what a set holds.

    Parameters
    ----------
    census : Census
        Of the set.
    inputs : tuple of InputFile
        Files that were read.
    """
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
    """Write a summary as JSON.

    Parameters
    ----------
    path : Path
        Where it is to be.
    summary : Summary
        What it holds.
    """
    write_json(path, to_record(summary))


def read_summary(path: Path) -> Summary:
    """Return the summary of a file.

    Parameters
    ----------
    path : Path
        From :func:`write_summary`.
    """
    record = read_json(path, "Check the tables again: credence check.")
    if record.get("schema") != SCHEMA:
        raise refuse(
            str(path),
            f"its schema is {record.get('schema')!r}, not {SCHEMA!r}.",
            "Check the tables again with this version: credence check.",
        )
    return from_record(Summary, record)
