"""What a user states about a table, checked against the registry of formats."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from credence.problems import ProblemList, nearest
from credence.tables.formats import BY_NAME, ROLES, Columns, Format, unknown_format

STATE_SCALE = (
    "State what a row sums to: scale: 1 in the configuration, scale=1 in Python, "
    "--spec '{\"scale\": 1}' elsewhere."
)
POOLINGS = ("sum", "log_sum")


@dataclass(frozen=True)
class TableSpec:
    """How to read one score table."""

    format: str  # A name of :mod:`credence.tables.formats.registry`
    scale: float | None = None  # What a row sums to; None: the format's own
    # Classes demanded, in the order to use; None: as the header says.
    class_names: tuple[str, ...] | None = None
    # Generic formats: role → name of its column; `classes` → a list of names.
    columns: Mapping[str, Any] = field(default_factory=dict)
    # Further spelling of a class → its name.
    synonyms: Mapping[str, str] = field(default_factory=dict)
    sum_to_scale: bool | None = None  # Whether rows sum to the scale; None: the format's own
    # Of an ensemble's networks: `sum` of their softmaxes, or `log_sum`, the softmax of their
    # summed logs (Salamon et al. 2023, A.3).
    pooling: str = "sum"
    # Column that names the genome, contig or sample of each protein; any format may have one.
    genome: str | None = None


def format_of(spec: TableSpec, where: str) -> Format:
    """Return the format that a specification names, with the columns that the user names."""
    problems = ProblemList(where)
    if spec.format not in BY_NAME:
        problems.problems.append(unknown_format(spec.format, where))
    if spec.scale is not None and not (math.isfinite(spec.scale) and spec.scale > 0):
        problems.add(f"the scale {spec.scale} is no positive number.", STATE_SCALE)
    if spec.pooling not in POOLINGS:
        problems.add(f"{spec.pooling!r} is no pooling.", nearest(spec.pooling, POOLINGS))
    if spec.class_names is not None and len(set(spec.class_names)) < max(2, len(spec.class_names)):
        problems.add("the classes stated are fewer than two or repeat.", "Name each class once.")
    if spec.class_names is not None:
        for text, name in spec.synonyms.items():
            if name not in spec.class_names:
                problems.add(
                    f"the synonym {text!r} stands for {name!r}, which is no class.",
                    nearest(name, spec.class_names),
                )
    problems.raise_any()
    format_ = BY_NAME[spec.format]
    return replace(format_, columns=_columns(spec, format_, where))


def _columns(spec: TableSpec, format_: Format, where: str) -> Columns:
    """Return the format's own columns, or those that the user names."""
    problems = ProblemList(where)
    if spec.columns and not format_.configurable:
        problems.add(
            f"the format {format_.name!r} knows its columns; none can be named.",
            "Leave `columns` out, or use the format 'wide' or 'top-score'.",
        )
    stated: dict[str, Any] = {}
    for role, name in spec.columns.items():
        if role not in ROLES:
            problems.add(f"{role!r} is no role of a column.", nearest(role, ROLES))
        elif role == "classes" and not isinstance(name, str):
            stated[role] = tuple(str(entry) for entry in name)
        elif not isinstance(name, str) or role == "classes":
            kind = "a list of names" if role == "classes" else "the name of a column"
            problems.add(f"`columns: {role}` is {name!r}.", f"Give {kind}.")
        else:
            stated[role] = name
    problems.raise_any()
    known = {entry.name for entry in fields(Columns)}
    return replace(
        format_.columns,
        genome=spec.genome,
        **{role: name for role, name in stated.items() if role in known},
        optional=format_.columns.optional - stated.keys(),
    )
