"""``credence release``: the record of a release, and what is published of it."""

from __future__ import annotations

from typing import Any

import click

from credence.app.options import out_option


@click.command(
    epilog="Example: credence release base --samples demo/calibration.csv --groups groups.tsv "
    "--calibration c.json --out releases/00-base/release.json"
)
@click.argument("name")
@click.option("--number", type=click.IntRange(0), default=0, show_default=True)
@click.option("--date", help="When its trove arrived; never the date of today.")
@click.option("--parent", help="release.json of the release before.")
@click.option("--samples", required=True, help="Labelled table of the release.")
@click.option("--samples-format", help="Its format.")
@click.option("--groups", required=True, help="Table of its groups.")
@click.option("--calibration", required=True, help="Its calibration.")
@click.option("--check", "summary", help="What credence check wrote of the base.")
@click.option("--attached", help="attach.json of its trove.")
@click.option("--publish", help="Folder for people: calibration, groups, record, attach.tsv.")
@out_option("The record, release.json.")
def command(**given: Any) -> None:
    """Write the record of release NAME: what it rests on, and its parent.

    Digests make a chain of releases: that of each covers its inputs, its set
    and its parent's.
    """
    from credence.stages.releases import record_release

    record_release(**given)
