"""``credence gather``: parts of a table as one."""

from __future__ import annotations

from pathlib import Path

import click

from credence.app.shared import also_option, out_option


@click.command(epilog="Example: credence gather part_1.tsv part_2.tsv --out conf.tsv")
@click.argument("parts", nargs=-1, required=True, metavar="PART...")
@also_option
@out_option("All rows: .tsv or .parquet, as its parts are.")
def command(parts: tuple[str, ...], also: str | None, out: str) -> None:
    """Join what credence annotate wrote of the parts of a table, in their order.

    The bytes are those of a table that was annotated whole. With --also, parts
    that end as its name does are its own.
    """
    from credence.problems import refuse
    from credence.stages.reading import require_other
    from credence.tables.gathering import gather_tables

    given = {path: Path(path).suffix for path in parts}
    wanted = {Path(path).suffix: path for path in (out, also) if path is not None}
    for written in wanted.values():
        require_other(written, parts)
    for path, suffix in given.items():
        if suffix not in wanted:
            raise refuse(
                path,
                "nothing that is to be written ends like this part.",
                "Give --out or --also a name with the same ending.",
            )
    own = {suffix: [Path(path) for path in parts if given[path] == suffix] for suffix in wanted}
    for suffix, written in wanted.items():
        if not own[suffix]:
            raise refuse(written, f"no part ends in {suffix}.", "Give the parts of this table.")
    for suffix, written in wanted.items():
        n_rows, n_parts = gather_tables(own[suffix], Path(written)), len(own[suffix])
        click.echo(f"Wrote {written}: {n_rows} rows of {n_parts} parts.", err=True)
