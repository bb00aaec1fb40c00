"""``credence gather``: parts of a table as one."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import also_option, out_option


@click.command(epilog="Example: credence gather part_1.tsv part_2.tsv --out conf.tsv")
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@also_option
@out_option("All rows: .tsv or .parquet, as its parts are.")
def command(**given: Any) -> None:
    """Join what credence annotate wrote of the parts of a table, in their order.

    The bytes are those of a table that was annotated whole. With --also, parts
    that end as its name does are its own.
    """
    from credence.stages.annotate import gather_parts

    gather_parts(**given)
