"""``credence check-page``: stop a workflow whose confidences are not to be relied on."""

from pathlib import Path

import click

from credence.app.options import default_option
from credence.findings import Verdict
from credence.problems import refuse
from credence.progress import echo
from credence.records import from_record, read_json


@click.command(epilog="Example: credence check-page reports/demo/report.json --require care")
@click.argument("record")
@default_option(
    "--require", "good", "The verdict that is good enough.", type=click.Choice(["good", "care"])
)
def command(record: str, require: str) -> int:
    """Say the verdict of a page, from the RECORD beside it, report.json.

    Ends with code 1 and the reasons where the verdict is worse than required.
    """
    from credence.report.verdict import reasons

    remedy = "Give report.json of a finished run, of this version of credence."
    found = read_json(Path(record), remedy)
    if "verdict" not in found:
        raise refuse(record, "it holds no verdict.", remedy)
    verdict = from_record(Verdict, found["verdict"], record, remedy)
    click.echo(f"{record}: {verdict.state}")
    worse = list(reasons(verdict, require))
    for one in worse:
        about = f"{one.use_set}: " if one.use_set else ""
        echo(f"{one.state}: {about}{one.headline}. {one.text}")
    return 1 if worse else 0
