"""The novelty file: the proteins that are known, in their space, as one JSON file.

Numbers stand in it as bytes in base64, since digits would take three times the
room; it is data all the same, and reading it runs no code (decision 1006).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from credence import __version__
from credence.novelty import reference as references
from credence.novelty.reference import Reference
from credence.tables.signed import read_signed, write_signed

SCHEMA = "credence/novelty/1"
AGAIN = "Make it again: credence novelty."


@dataclass(frozen=True, eq=False)
class NoveltyFile:
    """What is known, and where it comes from.

    Parameters
    ----------
    reference : Reference
        The proteins in their space.
    inputs : mapping of str to str
        Name of each input file and its SHA-256.
    """

    reference: Reference
    inputs: Mapping[str, str]


def write_novelty(path: Path, file: NoveltyFile) -> None:
    """Write a novelty file.

    Parameters
    ----------
    path : Path
        Where it is to be.
    file : NoveltyFile
        What it holds.
    """
    body = {
        "credence_version": __version__,
        "inputs": dict(file.inputs),
        "reference": file.reference.to_record(),
    }
    write_signed(path, SCHEMA, body)


def read_novelty(path: Path) -> NoveltyFile:
    """Return a novelty file, checked.

    Parameters
    ----------
    path : Path
        From :func:`write_novelty`.
    """
    return read_signed(path, SCHEMA, AGAIN, _parsed)


def _parsed(body: Mapping[str, Any]) -> NoveltyFile:
    reference = references.read(body["reference"])
    _require_shapes(reference)
    return NoveltyFile(reference, dict(body["inputs"]))


def _require_shapes(reference: Reference) -> None:
    space, n_proteins = reference.space, len(reference.ids)
    wanted = {
        "scale": (space.scale, (space.n_features,)),
        "axes": (space.axes, (space.n_features, space.n_components)),
        "origin": (space.origin, (space.n_components,)),
        "class_name": (reference.class_name, (n_proteins,)),
        "points": (reference.points, (n_proteins, space.n_components)),
        "is_calibration": (reference.is_calibration, (n_proteins,)),
        "own_distance": (reference.own_distance, (n_proteins,)),
    }
    if reference.training is not None:
        wanted["training"] = (reference.training, (len(reference.training), space.n_components))
    for name, (values, shape) in wanted.items():
        if values.shape != shape:
            raise ValueError(f"{name} has the shape {values.shape}, not {shape}")
