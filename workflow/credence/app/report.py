"""``credence report``: the page of what a run found, and its data beside it."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import out_option


@click.command(epilog="Example: credence report findings.json --out page/index.html")
@click.argument("found_in", metavar="FINDINGS")
@click.option(
    "--use-set",
    "use_sets",
    nargs=3,
    multiple=True,
    metavar="NAME CONFIDENCES CHECK",
    help="A use-set: its name, its confidences, and what credence check wrote of it.",
)
@click.option(
    "--shift",
    "shifts",
    multiple=True,
    help="What credence shift wrote of a use-set with --record; repeat it.",
)
@click.option(
    "--changes",
    "changes",
    multiple=True,
    help="What credence compare wrote of a release with --record; repeat it, in order.",
)
@click.option("--events", help="What credence events wrote.")
@click.option(
    "--novelty",
    "novelties",
    multiple=True,
    help="What credence annotate wrote of a use-set with --novelty-record; repeat it.",
)
@click.option("--settings", "run_json", default="{}", help="What to say of the run, as JSON.")
@click.option("--findings", "complete", help="Also write the findings, use-sets included.")
@click.option("--split", help="What credence split wrote with --summary.")
@click.option("--metrics", help="Table of metrics, to put beside the page.")
@click.option("--calibration", help="Calibration file, to put beside the page.")
@click.option("--archive", help="Also write a zip file of all this, ready to deposit.")
@click.option("--put", "further", multiple=True, help="A further file for the archive; repeat it.")
@click.option("--index", help="Also write a page over all runs whose folders lie beside it.")
@out_option("The page; report.json is written beside it.")
def command(**given: Any) -> None:
    """Make one self-contained page of FINDINGS, and report.json with its text.

    FINDINGS is what credence evaluate wrote, or --findings of this command.
    """
    from credence.stages.report import report_findings

    report_findings(**given)
