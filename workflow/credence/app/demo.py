"""``credence demo``: the whole pipeline on a simulated world, in any folder."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence demo --directory mydemo",
)
@click.option(
    "--directory",
    default=".",
    show_default=True,
    help="Folder to work in; made if it is not there.",
)
@click.option("--cores", default=2, show_default=True, type=click.IntRange(1), help="Cores.")
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def command(directory: str, cores: int, snakemake: tuple[str, ...]) -> int:
    """Run the whole pipeline on a simulated world, and make its page.

    Writes config.yaml into the folder unless there is one; what is there must
    simulate its inputs, so that no data of yours are taken for a demo.
    """
    from credence.app import configuration
    from credence.app.run import run_workflow
    from credence.problems import refuse
    from credence.tables.document import read_document
    from credence.tables.writing import write_text

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / configuration.CONFIGURATION_FILE
    if not path.exists():
        write_text(path, configuration.demo_text())
        click.echo(f"Wrote {path}.", err=True)
    elif "demo" not in read_document(path).data:
        raise refuse(
            str(path),
            "this is not the configuration of a demo.",
            "Choose another folder with --directory.",
        )
    return run_workflow(configuration.CONFIGURATION_FILE, cores, folder, snakemake)
