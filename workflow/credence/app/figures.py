"""``credence figures``: figures for journals, from what a run found."""

from __future__ import annotations

from typing import Any

import click


@click.command(
    epilog="Example: credence figures --findings findings.json --out figures --formats pdf"
)
@click.option("--findings", "found_in", required=True, help="findings.json of a run.")
@click.option("--out", required=True, help="Folder of the figures; made where it is missing.")
@click.option("--only", help="Numbers or names of figures, with commas: 09,17. All unless given.")
@click.option(
    "--formats",
    default="pdf,svg,png",
    show_default=True,
    help="What is made of each, with commas.",
)
@click.option(
    "--columns",
    type=click.Choice(["one", "two", "both"]),
    default="both",
    show_default=True,
    help="Columns of a journal that it fills: one (85 mm), two (174 mm).",
)
def command(**given: Any) -> None:
    """Draw the figures that a run's findings allow, each with its numbers as TSV.

    Nothing is computed anew. figures.tsv says what each shows, with a caption,
    and why one is missing.
    """
    from credence.stages.report import draw_figures

    draw_figures(**given)
