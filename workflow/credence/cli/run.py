"""``credence run``: Snakemake, started on a checked configuration."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from credence.cli.failures import BUG, MENDABLE, MENDABLE_LINE
from credence.cli.profiles import LOCAL, profile_folder, require_scheduler

if TYPE_CHECKING:
    from credence.cli.steps import Scheduled

    Failures = Mapping[tuple[str, str], Scheduled | None]

CORES = 2  # of this machine, where nothing is stated
SCHEDULER_LINES_SHOWN = 20
LOG_LINES_SHOWN = 60  # a traceback and what led to it; the whole is in the file


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence run --config mylab.yaml --cores 2 -- --dry-run",
)
@click.option(
    "--config",
    "config",
    default="config.yaml",
    show_default=True,
    help="The configuration.",
)
@click.option(
    "--cores",
    type=click.IntRange(1),
    help="Cores of this machine; 2 unless stated. On a cluster: the most that one job may have.",
)
@click.option(
    "--profile",
    default=LOCAL,
    show_default=True,
    help="Where jobs go: local, slurm, or the folder of a profile of yours.",
)
@click.option(
    "--directory",
    default=".",
    show_default=True,
    help="Folder in which paths start and results are written.",
)
@click.option(
    "--report",
    "report",
    is_flag=True,
    help="Also write Snakemake's own report: steps, times, software, and the results.",
)
@click.option("--verbose", is_flag=True, help="Pass on all that Snakemake says.")
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def command(
    config: str,
    cores: int | None,
    profile: str,
    directory: str,
    report: bool,
    verbose: bool,
    snakemake: tuple[str, ...],
) -> int:
    """Run everything that a configuration asks for.

    Only what is missing or out of date is made. It prints the Snakemake
    command that it starts; what follows -- is passed on to Snakemake, and all
    that Snakemake says is shown then.
    """
    code = run_workflow(config, cores, Path(directory), snakemake, verbose, profile)
    if code != 0 or not report:
        return code
    return write_report(config, Path(directory), verbose)


def run_workflow(
    config: str,
    cores: int | None,
    directory: Path,
    extra: Sequence[str] = (),
    verbose: bool = False,
    profile: str = LOCAL,
) -> int:
    """Return the exit code of a run: 0, 2 where the user can mend it, or 1.

    Parameters
    ----------
    config : str
        Path of the configuration, as seen from `directory`.
    cores : int, optional
        Cores that Snakemake may use here; None: its own choice.
    directory : Path
        Where to work.
    extra : sequence of str
        Further words for Snakemake.
    verbose : bool
        Whether all that Snakemake says is shown, not only the steps.
    profile : str
        Where jobs go.
    """
    import os

    from credence import configuration
    from credence.problems import refuse

    if not directory.is_dir():
        raise refuse(str(directory), "there is no such folder.", "Make it, or name another.")
    folder = profile_folder(profile)
    require_scheduler(folder)
    before = Path.cwd()
    os.chdir(directory)
    try:
        settings = configuration.load(config)
        words = snakemake_command(config, cores, extra, folder)
        click.echo(f"Running: {shlex.join(words)}", err=True)
        code, failures = _stream(words, verbose or bool(extra))
        if code == 0:
            if not extra:
                click.echo(f"The page is {Path('reports', settings.run, 'index.html')}", err=True)
            return 0
        return _explain(failures)
    finally:
        os.chdir(before)


def write_report(config: str, directory: Path, verbose: bool = False) -> int:
    """Return the exit code of Snakemake where it writes its report of a run.

    Parameters
    ----------
    config : str
        Path of the configuration, as seen from `directory`.
    directory : Path
        Where the run was made.
    verbose : bool
        Whether all that Snakemake says is shown.
    """
    import os

    from credence import configuration

    before = Path.cwd()
    os.chdir(directory)
    try:
        target = Path("reports", configuration.load(config).run, "workflow.html")
        words = snakemake_command(config, 1, ("--report", str(target)))
        code, failures = _stream(words, verbose)
        if code != 0:
            return _explain(failures)
        click.echo(f"Snakemake's report is {target}", err=True)
        return 0
    finally:
        os.chdir(before)


def snakemake_command(
    config: str, cores: int | None, extra: Sequence[str], profile: Path | None = None
) -> list[str]:
    """Return the words of the Snakemake command that runs a configuration.

    Parameters
    ----------
    config : str
        Path of the configuration.
    cores : int, optional
        Cores that Snakemake may use; elsewhere than here it needs no number.
    extra : sequence of str
        Further words for Snakemake.
    profile : Path, optional
        Folder of the profile; that of this machine unless given.
    """
    from credence.configuration import workflow_folder

    local = workflow_folder() / "profiles" / LOCAL
    profile = profile or local
    if cores is None and profile == local:
        cores = CORES
    return [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        str(workflow_folder() / "Snakefile"),
        "--configfile",
        f"./{config}" if config.startswith("-") else config,  # else it is an option
        "--profile",
        str(profile),
        *([] if cores is None else ["--cores", str(cores)]),
        *extra,
    ]


def _stream(words: Sequence[str], verbose: bool) -> tuple[int, Failures]:
    """Run a command, tell its steps, and keep rule and log of failed jobs."""
    import os

    from credence.cli.ending import PARENT, end_group, interruptible, me
    from credence.cli.lock import HELD, one_run
    from credence.cli.steps import Steps
    from credence.problems import refuse

    steps = Steps(verbose)
    with one_run() as lock:
        with interruptible():
            process = subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                pass_fds=[lock.descriptor],
                process_group=0,
                env=os.environ | {PARENT: me(), HELD: "held"},
            )
        assert process.stderr is not None
        lock.hold(process.pid)
        try:
            for line in process.stderr:
                steps.see(line)
            process.wait()
        except BaseException:  # Ctrl-C, or a scheduler that needs the place
            end_group(process)
            raise
        finally:
            code = process.returncode
            if code is not None and code >= 0:  # else it was killed, and its own locks are left
                lock.clear()
    if code is not None and code < 0:
        raise refuse(
            "Snakemake",
            f"it was ended by {signal.Signals(-code).name}.",
            "If memory ran out, give fewer --cores; nothing that was finished is made anew.",
        )
    steps.finish(code)
    return code, steps.failures


def _explain(failures: Failures) -> int:
    """Show the logs of the rules that failed; say whether the user can mend it."""
    codes = []
    for (rule, path), scheduled in failures.items():
        lines = _lines_of(path)
        click.echo(f"\nRule {rule} failed. Its log, {path}, says:", err=True)
        click.echo("\n".join(lines[-LOG_LINES_SHOWN:]) or "nothing.", err=True)
        is_mendable = bool(lines) and lines[-1] == MENDABLE_LINE
        if scheduled is not None and not is_mendable:
            # Killed from outside, for memory or time, the rule itself says nothing of it.
            click.echo(f"{scheduled.words} Its log, {scheduled.log}, ends:", err=True)
            own = _lines_of(scheduled.log)
            click.echo("\n".join(own[-SCHEDULER_LINES_SHOWN:]) or "without a word.", err=True)
        codes.append(MENDABLE if is_mendable else BUG)
    # A bug in one rule is a bug, whatever else there is to mend.
    return MENDABLE if codes and all(code == MENDABLE for code in codes) else BUG


def _lines_of(path: str) -> list[str]:
    log = Path(path)
    return log.read_text(errors="replace").strip().splitlines() if log.exists() else []
