"""The scores of every network of an ensemble, as arrays in one npz file."""

from __future__ import annotations

from credence.tables.formats.format import Columns, Format

FORMAT = Format(
    name="networks-npz",
    summary="npz: an array (proteins, networks, classes) or a matrix per network, "
    "id, class_names (, true_class)",
    columns=Columns(
        id="id",
        true_class="true_class",
        network="network",
        optional=frozenset({"true_class"}),
    ),
    scale=None,
    arrays=True,
)
