"""``credence methods``: the list of calibration methods."""

from __future__ import annotations

import json

import click


@click.command(epilog="Example: credence methods --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(as_json: bool) -> None:
    """List the calibration methods, from simple to complex.

    Each with its reference, what it needs of a table, its settings with
    defaults and ranges, and the laws that it promises or does not.
    """
    from credence.stages.methods import describe_methods, lines_of

    entries = describe_methods()
    if as_json:
        click.echo(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    for entry in entries:
        click.echo("\n".join(lines_of(entry)))
