"""``credence simulate``: the files of a world whose truth is known."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    epilog="""Example: credence simulate world --settings '{"n_calibration": 500, "seed": 7}'"""
)
@click.argument("folder")
@click.option(
    "--settings",
    "settings_json",
    default="{}",
    help="Settings of the world as JSON; the others keep their defaults.",
)
def command(folder: str, settings_json: str) -> None:
    """Write tables and sequences of a simulated world into FOLDER.

    The truth is known: FOLDER/truth holds every protein's family and class,
    and all that was planted for a stage to find.
    """
    from credence.simulate import make_world, render_files, world_settings
    from credence.stages.reading import json_settings
    from credence.tables.writing import open_output

    settings = world_settings(json_settings(settings_json, "--settings"), "--settings")
    for name, content in render_files(make_world(settings)).items():
        path = Path(folder) / name
        with open_output(path) as handle:
            handle.write(content if isinstance(content, bytes) else content.encode())
        click.echo(f"Wrote {path}", err=True)
