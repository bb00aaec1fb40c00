"""``credence unlock``: free a folder from a run that was killed in it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(epilog="Example: credence unlock")
@click.option(
    "--directory", default=".", show_default=True, help="Folder in which the run was started."
)
@click.option("--dead", "dead_host", help="Machine whose run is dead, as you have made sure.")
def command(directory: str, dead_host: str | None) -> None:
    """Free a folder from a run that was killed in it.

    It refuses while a run works there, and says who that is. `credence run`
    does the same by itself where it can tell that the run is dead: only of
    runs of other machines, on a shared disk, it cannot.
    """
    import os

    from credence.app.lock import unlock
    from credence.problems import refuse

    if not Path(directory).is_dir():
        raise refuse(directory, "there is no such folder.", "Name the one of the run.")
    before = Path.cwd()
    os.chdir(directory)
    try:
        click.echo(unlock(dead_host))
    finally:
        os.chdir(before)
