"""``credence run`` and ``credence demo``: Snakemake, started on a checked configuration."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from credence.app import BUG, FIXABLE, FIXABLE_LINE
from credence.app.ending import PARENT, end_group, interruptible, me
from credence.app.lock import require_free
from credence.app.options import GroupedHelp, config_option, default_option, flag_options
from credence.app.steps import NOTES, VERBOSE, Failure, read_notes
from credence.problems import nearest, refuse
from credence.progress import echo
from credence.stages.settings import workflow_folder
from credence.tables.document import read_document

LOCAL = "local"
PROFILE_FILE = "config.yaml"
PLUGIN = "snakemake_executor_plugin_slurm"
SECONDS = 20  # a controller that is up answers in less than one


def profile_folder(name: str) -> Path:
    """Return the folder of a profile."""
    above = workflow_folder() / "profiles"
    known = sorted(path.name for path in above.iterdir() if (path / PROFILE_FILE).exists())
    if name in known:
        return above / name
    if (Path(name) / PROFILE_FILE).is_file():
        return Path(name).resolve()
    if Path(name).is_dir():
        raise refuse(
            name, f"there is no {PROFILE_FILE} in this folder.", "Name the folder of a profile."
        )
    problem = f"{name!r} is neither a profile of the workflow nor a folder."
    raise refuse("--profile", problem, nearest(name, known))


def require_scheduler(profile: Path) -> None:
    """Raise where SLURM is to take jobs and cannot: Snakemake would wait for it."""
    file = profile / PROFILE_FILE
    if read_document(file, str(file)).data.get("executor") != "slurm":
        return
    if find_spec(PLUGIN) is None:
        problem = "Snakemake's plugin for that is not installed here."
        remedy = "Run credence from an environment that has it: docs/cluster.md."
    elif shutil.which("sbatch") is None:
        problem = "there is no sbatch on this machine."
        remedy = "Run it where jobs are handed in, on a login node, or with --profile local."
    elif not _controller_answers():
        problem = "SLURM's controller does not answer (scontrol ping)."
        remedy = (
            "Wait, or ask those who run the cluster; what was made is kept, and a run goes on."
        )
    else:
        return
    raise refuse(str(file), f"it hands jobs to SLURM, and {problem}", remedy)


def _controller_answers() -> bool:
    try:
        done = subprocess.run(
            ["scontrol", "ping"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return " is UP" in done.stdout


CORES = 2  # of this machine, where nothing is stated
LOG_LINES_SHOWN = 60  # a traceback and what led to it; the whole is in the file


@click.command(
    cls=GroupedHelp,
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence run --config mylab.yaml --cores 2 -- --dry-run",
)
@config_option
@click.option(
    "--cores",
    type=click.IntRange(1),
    help="Cores of this machine; 2 unless given. On a cluster: the most that one job may have.",
)
@default_option(
    "--profile", LOCAL, "Where jobs go: local, slurm, or the folder of a profile of yours."
)
@default_option("--directory", ".", "Folder in which paths start and results are written.")
@flag_options(
    report="Also write Snakemake's own report: steps, times, software, and the results.",
    verbose="Pass on all that Snakemake writes.",
)
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
    """Do everything that a configuration asks for: from your tables to the finished page.

    Only the steps whose inputs changed are repeated. The Snakemake command is printed; what
    follows -- is passed on to Snakemake, and then all that Snakemake writes is shown.
    """
    code = run_workflow(config, cores, Path(directory), snakemake, verbose, profile)
    if code == 0 and report:
        return run_workflow(config, 1, Path(directory), verbose=verbose, is_report=True)
    return code


@click.command(
    cls=GroupedHelp,
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence demo --directory mydemo",
)
@default_option("--directory", ".", "Folder to work in; made if it is missing.")
@default_option("--cores", 2, "Cores to use.", type=click.IntRange(1))
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def demo(directory: str, cores: int, snakemake: tuple[str, ...]) -> int:
    """Make a finished page from simulated proteins, to see what credence does.

    Writes config.yaml into the folder. One that is there already must be a demo's, so that no
    data of yours are taken for simulated ones.
    """
    from credence.app import configuration
    from credence.tables.writing import write_text

    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / configuration.CONFIGURATION_FILE
    if not path.exists():
        write_text(path, configuration.demo_text())
        echo(f"Wrote {path}.")
    elif "demo" not in read_document(path).data:
        problem = "this is not the configuration of a demo."
        raise refuse(str(path), problem, "Choose another folder with --directory.")
    return run_workflow(configuration.CONFIGURATION_FILE, cores, folder, snakemake)


def run_workflow(
    config: str,
    cores: int | None,
    directory: Path,
    extra: Sequence[str] = (),
    verbose: bool = False,
    profile: str = LOCAL,
    is_report: bool = False,
) -> int:
    """Return the exit code of a run, or of its report: 0, 2 where the user can fix it, or 1."""
    if not directory.is_dir():
        raise refuse(str(directory), "there is no such folder.", "Make it, or name another.")
    folder = profile_folder(profile)
    from credence.app import configuration
    from credence.app.check import require_right
    from credence.relatives.programs import clear_scratch

    require_scheduler(folder)
    clear_scratch()
    with contextlib.chdir(directory):
        settings = configuration.load(config)
        if not is_report:
            require_right(settings)
        require_free()
        reports = Path("reports", settings.run)
        target = reports / "workflow.html"
        words = snakemake_command(
            config, cores, ("--report", str(target)) if is_report else extra, folder
        )
        if not is_report:
            echo(f"Running: {shlex.join(words)}")
        code = _run(words, verbose or bool(extra))
        if code != 0:
            return code
        if is_report:
            echo(f"Snakemake's report is {target}")
        elif not extra:
            _say_rescored(Path("results", settings.run), settings.releases[1:])
            echo(f"The page is {reports / 'index.html'}")
        return 0


def _say_rescored(results: Path, releases: Sequence[str]) -> None:
    """Say of which troves repeats have other scores, as the logs of their jobs do."""
    from credence.releases.files import read_attach_summary
    from credence.stages.troves import rescored_in_words

    for release in releases:
        path = results / "releases" / release / "attach.json"
        if path.exists() and (rescored := rescored_in_words(read_attach_summary(path))):
            echo(rescored)


def snakemake_command(
    config: str, cores: int | None, extra: Sequence[str], profile: Path
) -> list[str]:
    """Return the words of the Snakemake command that runs a configuration."""
    if cores is None and profile == profile_folder(LOCAL):
        cores = CORES
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(workflow_folder() / "Snakefile")),
        "--nolock",  # the folder has a lock of ours, which a run that was killed does not leave
        *("--logger", "credence"),
        "--configfile",
        f"./{config}" if config.startswith("-") else config,  # else it is an option
        *("--profile", str(profile)),
        *([] if cores is None else ["--cores", str(cores)]),
        *extra,
    ]


def _run(words: Sequence[str], verbose: bool) -> int:
    """Run Snakemake to its end, show the logs of jobs that failed, and return the exit code."""
    with TemporaryDirectory() as folder:
        notes = Path(folder, "notes")
        notes.touch()
        env = os.environ | {PARENT: me(), NOTES: str(notes)}
        env |= {VERBOSE: "yes"} if verbose else {}
        with interruptible():
            process = subprocess.Popen(
                words, text=True, stdin=subprocess.DEVNULL, process_group=0, env=env
            )
        try:
            code = process.wait()
        except BaseException:  # Ctrl-C, or a scheduler that needs the place
            end_group(process)
            raise
        failures, errors = read_notes(notes)
    if code < 0:
        problem = f"it was ended by {signal.Signals(-code).name}."
        remedy = "If memory ran out, give fewer --cores; nothing that was finished is made anew."
        raise refuse("Snakemake", problem, remedy)
    if code == 0:
        return 0
    if not failures:  # Snakemake itself failed
        if not verbose:
            echo("\n".join(errors))
        return BUG
    are_fixable = [_explain(failure) for failure in failures]
    # A bug in one rule is a bug, whatever else there is to fix.
    return FIXABLE if all(are_fixable) else BUG


ENDED = (
    "The log ends without an error: the job was ended from outside, as a rule because memory or "
    "disk ran out or a limit of time was reached. Make room, or give fewer --cores; on a cluster "
    "give it more in a copy of the profile (docs/cluster.md). Run the command again: what was "
    "finished is kept."
)


def _explain(failure: Failure) -> bool:
    """Show the logs of a job that failed; return whether the user can fix it."""
    text = ""
    for number, path in enumerate(failure.logs):
        lines = _lines_of(path)
        text += "\n".join(lines)
        whose = f"Rule {failure.rule} failed. Its log" if number == 0 else "The scheduler's log"
        echo(f"\n{whose}, {path}, says:")
        echo("\n".join(lines[-LOG_LINES_SHOWN:]) or "nothing.")
        if lines[-1:] == [FIXABLE_LINE]:
            return True
    if failure.words:
        echo(failure.words)
    if "Error" in text:  # of a traceback
        return False
    echo(f"{ENDED}\n{FIXABLE_LINE}")
    return True


def _lines_of(path: str) -> list[str]:
    log = Path(path)
    return log.read_text(errors="replace").strip().splitlines() if log.exists() else []
