"""check.json: what credence check found in a set that it did not refuse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from credence.findings import InputFile, from_record, to_record
from credence.predictions import UNKNOWN_CLASS, Integers
from credence.problems import refuse
from credence.tables.json_text import read_json as read_json
from credence.tables.writing import write_json

if TYPE_CHECKING:
    from credence.tables.samples import Samples

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


def summarise(samples: Samples, inputs: tuple[InputFile, ...]) -> Summary:
    """Return what a set holds.

    Parameters
    ----------
    samples : Samples
        The set.
    inputs : tuple of InputFile
        Files that were read.
    """
    predictions, true_class = samples.predictions, samples.true_class
    n_classes = predictions.n_classes
    networks = predictions.network_scores

    def counted(codes: Integers) -> tuple[int, ...]:
        return tuple(np.bincount(codes, minlength=n_classes).tolist())

    known = None if true_class is None else true_class[true_class != UNKNOWN_CLASS]
    return Summary(
        n_samples=predictions.n_samples,
        n_classes=n_classes,
        n_networks=0 if networks is None else networks.shape[1],
        n_ties=predictions.n_ties,
        scale=float(predictions.scale),
        resolution=float(predictions.resolution),
        is_distribution=bool(predictions.is_distribution),
        class_names=predictions.class_names,
        n_true=() if known is None else counted(known),
        n_predicted=counted(predictions.predicted_class),
        n_unlabelled=predictions.n_samples - (0 if known is None else len(known)),
        n_unscored=len(samples.unscored_ids),
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
