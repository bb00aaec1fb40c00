"""``credence run`` and ``credence demo``: Snakemake, started on a checked configuration."""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from credence.app import BUG, FIXABLE, FIXABLE_LINE
from credence.app.ending import PARENT, SHELL, end_group, interruptible, me
from credence.app.lock import HELD, one_run
from credence.app.options import config_option, default_option, flag_options
from credence.problems import nearest, refuse
from credence.progress import RunProgress, echo
from credence.stages.settings import workflow_folder
from credence.tables.document import read_document

LOCAL = "local"
OURS = (LOCAL, "slurm")  # profiles that ask Snakemake for nothing unusual
FILE = "config.yaml"
PLUGIN = "snakemake_executor_plugin_slurm"
SECONDS = 20  # a controller that is up answers in less than one


def profile_folder(name: str) -> Path:
    """Return the folder of a profile."""
    above = workflow_folder() / "profiles"
    known = sorted(path.name for path in above.iterdir() if (path / FILE).exists())
    if name in known:
        return above / name
    if (Path(name) / FILE).is_file():
        return Path(name).resolve()
    if Path(name).is_dir():
        raise refuse(name, f"there is no {FILE} in this folder.", "Name the folder of a profile.")
    what = f"{name!r} is neither a profile of the workflow nor a folder."
    raise refuse("--profile", what, nearest(name, known))


def require_scheduler(profile: Path) -> None:
    """Raise where SLURM is to take jobs and cannot: Snakemake would wait for it."""
    file = profile / FILE
    if read_document(file, str(file)).data.get("executor") != "slurm":
        return
    if find_spec(PLUGIN) is None:
        what = "Snakemake's plugin for that is not installed here."
        remedy = "Run credence from an environment that has it: docs/cluster.md."
    elif shutil.which("sbatch") is None:
        what = "there is no sbatch on this machine."
        remedy = "Run it where jobs are handed in, on a login node, or with --profile local."
    elif not _controller_answers():
        what = "SLURM's controller does not answer (scontrol ping)."
        remedy = (
            "Wait, or ask those who run the cluster; what was made is kept, and a run goes on."
        )
    else:
        return
    raise refuse(str(file), f"it hands jobs to SLURM, and {what}", remedy)


def _controller_answers() -> bool:
    try:
        done = subprocess.run(
            ["scontrol", "ping"], capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return " is UP" in done.stdout


CORES = 2  # of this machine, where nothing is stated
SCHEDULER_LINES_SHOWN = 20
LOG_LINES_SHOWN = 60  # a traceback and what led to it; the whole is in the file


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence run --config mylab.yaml --cores 2 -- --dry-run",
)
@config_option
@click.option(
    "--cores",
    type=click.IntRange(1),
    help="Cores of this machine; 2 unless stated. On a cluster: the most that one job may have.",
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
    """Run everything that a configuration asks for.

    Only what is missing or out of date is made. It prints the Snakemake
    command that it starts; what follows -- is passed on to Snakemake, and all
    that Snakemake writes is shown then.
    """
    code = run_workflow(config, cores, Path(directory), snakemake, verbose, profile)
    if code == 0 and report:
        return run_workflow(config, 1, Path(directory), verbose=verbose, is_report=True)
    return code


@click.command(
    context_settings={"ignore_unknown_options": True},
    epilog="Example: credence demo --directory mydemo",
)
@default_option("--directory", ".", "Folder to work in; made if it is not there.")
@default_option("--cores", 2, "Cores.", type=click.IntRange(1))
@click.argument("snakemake", nargs=-1, type=click.UNPROCESSED)
def demo(directory: str, cores: int, snakemake: tuple[str, ...]) -> int:
    """Run the whole pipeline on a simulated world, and make its page.

    Writes config.yaml into the folder unless there is one; what is there must
    simulate its inputs, so that no data of yours are taken for a demo.
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
        what = "this is not the configuration of a demo."
        raise refuse(str(path), what, "Choose another folder with --directory.")
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
    from credence.app.unchanged import DONE, has_own_ways, read_by, run_that_ended, write_down

    if not directory.is_dir():
        raise refuse(str(directory), "there is no such folder.", "Make it, or name another.")
    folder = profile_folder(profile)
    with contextlib.chdir(directory):
        # Whoever passes words on to Snakemake, or wants to see what it writes, gets it started.
        is_usual = not (extra or verbose or is_report or has_own_ways()) and profile in OURS
        if is_usual and DONE.is_file():
            with one_run() as lock:
                run = run_that_ended(config)
                lock.clear()
            if run is not None:
                echo(f"{NOTHING} (nothing changed since the run ended).")
                echo(f"The page is {Path('reports', run, 'index.html')}")
                return 0
    from credence.app import configuration
    from credence.app.causes import killed_for_memory
    from credence.app.check import require_right
    from credence.relatives.programs import clear_scratch

    require_scheduler(folder)
    clear_scratch()
    with contextlib.chdir(directory):
        settings = configuration.load(config)
        if not is_report:
            require_right(settings)
        reports = Path("reports", settings.run)
        target = reports / "workflow.html"
        words = snakemake_command(
            config, cores, ("--report", str(target)) if is_report else extra, folder
        )
        if not is_report:
            echo(f"Running: {shlex.join(words)}")
        n_killed = killed_for_memory()
        before = read_by(config, settings) if is_usual else None
        code, steps = _stream(words, verbose or bool(extra))
        if code != 0:
            return _explain(steps, killed_for_memory() - n_killed)
        if before is not None:
            write_down(config, settings, before)
        if is_report:
            echo(f"Snakemake's report is {target}")
        elif not extra:
            echo(f"The page is {reports / 'index.html'}")
        return 0


def snakemake_command(
    config: str, cores: int | None, extra: Sequence[str], profile: Path
) -> list[str]:
    """Return the words of the Snakemake command that runs a configuration."""
    if cores is None and profile == profile_folder(LOCAL):
        cores = CORES
    return [
        *(sys.executable, "-m", "snakemake"),
        *("--snakefile", str(workflow_folder() / "Snakefile")),
        "--configfile",
        f"./{config}" if config.startswith("-") else config,  # else it is an option
        *("--profile", str(profile)),
        *([] if cores is None else ["--cores", str(cores)]),
        *extra,
    ]


def _stream(words: Sequence[str], verbose: bool) -> "tuple[int, StepPrinter]":
    """Run a command, show its steps, and keep rule and log of failed jobs."""
    steps = StepPrinter(verbose)
    with one_run() as lock:
        with interruptible():
            pipes: Any = {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
            env = os.environ | {PARENT: me(), HELD: "held"}
            own: Any = {"pass_fds": [lock.handle.fileno()], "process_group": 0, "env": env}
            process = subprocess.Popen(words, text=True, errors="replace", **pipes, **own)
        assert process.stderr is not None
        lock.hold(process.pid)
        try:
            with steps.shown:
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
        what = f"it was ended by {signal.Signals(-code).name}."
        remedy = "If memory ran out, give fewer --cores; nothing that was finished is made anew."
        raise refuse("Snakemake", what, remedy)
    return code, steps


def _explain(steps: "StepPrinter", n_killed: int = 0) -> int:
    """Show the logs of the rules that failed; return whether the user can fix it."""
    from credence.app.causes import likely_causes

    codes = []
    for (rule, path), scheduled in steps.failures.items():
        lines = _lines_of(path)
        echo(f"\nRule {rule} failed. Its log, {path}, says:")
        echo("\n".join(lines[-LOG_LINES_SHOWN:]) or "nothing.")
        is_fixable = bool(lines) and lines[-1] == FIXABLE_LINE
        if scheduled is not None and not is_fixable:
            # Killed from outside, for memory or time, the rule itself says nothing of it.
            echo(f"{scheduled.words} Its log, {scheduled.log}, ends:")
            own = _lines_of(scheduled.log)
            echo("\n".join(own[-SCHEDULER_LINES_SHOWN:]) or "without a word.")
            for line in (*own, scheduled.words):
                steps.see_end(line, path)
        if not is_fixable:
            how = steps.ends.get(path, "")
            causes = likely_causes(lines, how, n_killed) or likely_causes(steps.lines)
            is_fixable = _show_causes(causes)
        codes.append(FIXABLE if is_fixable else BUG)
    if not codes:  # Snakemake itself failed
        causes = likely_causes(steps.lines)
        if not causes and not steps.verbose:
            click.echo("".join(steps.lines), err=True, nl=False)
        codes.append(FIXABLE if _show_causes(causes) else BUG)
    # A bug in one rule is a bug, whatever else there is to fix.
    return FIXABLE if all(code == FIXABLE for code in codes) else BUG


def _show_causes(causes: Sequence[str]) -> bool:
    if causes:
        echo("\n".join(["Likely cause:", *causes, FIXABLE_LINE]))
    return bool(causes)


def _lines_of(path: str) -> list[str]:
    log = Path(path)
    return log.read_text(errors="replace").strip().splitlines() if log.exists() else []


JOB_BEGINS = re.compile(r"^(?:local)?rule (?P<rule>\w+):")
JOB_DETAIL = re.compile(r"^    (?P<key>log|jobid|wildcards): (?P<value>.+)")
JOB_END = re.compile(r"^Finished jobid: (?P<id>\d+) \(Rule: (?P<rule>\w+)\)")
TOTAL = re.compile(r"^total +(?P<total>\d+)$")
STEPS = re.compile(r"^(?P<done>\d+) of (?P<total>\d+) steps")
FAILED_RULE = re.compile(r"^Error in rule (?P<rule>\w+)")
# On a cluster the scheduler's own log follows that of the rule.
FAILED_LOG = re.compile(r"^\s+log: (?P<path>.+?)(?:, (?P<other>.+?))? \(check log file")
FAILED_MESSAGE = re.compile(r"^\s+message: (?P<text>SLURM.+)")
# How a command ended that writes into the log of its rule, and how SLURM says that.
ENDED = re.compile(
    r".* 2> '?(?P<log>.+?)'*' (?:returned non-zero exit status (?P<code>\d+)"
    r"|died with <Signals\.\w+: (?P<signal>\d+)>)"
)
STATE = re.compile(r"SLURM status is: '(?P<state>\w+)")
NOTHING = "Nothing to be done"
GATHERS = ("all", "credence")  # rules that make nothing themselves


@dataclass(frozen=True)
class Scheduled:
    """What a scheduler reports of a job that failed."""

    words: str  # How it ended
    log: str  # Path of its own log


class StepPrinter:
    """Reads what Snakemake writes, shows each step that is done, keeps what failed."""

    def __init__(self, verbose: bool) -> None:
        self.lines: list[str] = []
        # (rule, log), each once, in order; and what a scheduler reported of the last attempt.
        self.failures: dict[tuple[str, str], Scheduled | None] = {}
        self.ends: dict[str, str] = {}  # Log of a rule → signal that ended it, or SLURM's word
        self._failed: dict[str, tuple[str, str]] = {}
        self.verbose = verbose
        self.shown = RunProgress()
        self._rule = self._job = self._log = self._ended = self._stated = ""
        self._has_failed = False  # whether what is read of a job says how it failed

    def see(self, line: str) -> None:
        """Take one line of Snakemake's."""
        self.lines.append(line)
        if self.verbose or line.startswith(NOTHING):
            click.echo(line, err=True, nl=False)
        if (match := JOB_BEGINS.match(line)) or (match := FAILED_RULE.match(line)):
            self._rule, self._stated, self._log = match["rule"], "", ""
            self._has_failed = match.re is FAILED_RULE
        elif match := FAILED_MESSAGE.match(line):
            self._stated = match["text"]
        elif match := FAILED_LOG.match(line):
            stated = Scheduled(self._stated, match["other"]) if match["other"] else None
            self._failed[self._job] = (self._rule, match["path"])
            self.failures[self._rule, match["path"]] = stated
        elif match := JOB_DETAIL.match(line):
            self._see_detail(match["key"], match["value"].strip())
        elif match := JOB_END.match(line):
            self._ended = match["id"]
            # A job that was tried again and went well did not fail.
            self.failures.pop(self._failed.pop(match["id"], ("", "")), None)
        elif match := TOTAL.match(line):
            self.shown.total = int(match["total"]) - 1  # less the rule that gathers everything
        elif match := STEPS.match(line):
            self.shown.done, self.shown.total = int(match["done"]), int(match["total"]) - 1
            self.shown.end(self._ended)
        else:
            self.see_end(line)

    def _see_detail(self, key: str, value: str) -> None:
        """Take what a job is called and where its log is, which stands before its number."""
        if key == "log":
            self._log = value
            return
        if key == "jobid":
            self._job = value
        else:
            words = [pair.split("=", 1)[-1] for pair in value.split(", ")]
            self._rule = " ".join([self._rule, *words])
        if self._has_failed:
            self.shown.end(self._job, is_done=False)
        elif self._rule not in GATHERS and not self.verbose:
            self.shown.begin(self._job, self._rule, self._log)

    def see_end(self, line: str, log: str = "") -> None:
        """Take a line that may say what ended a job from outside; a scheduler names no log."""
        if match := ENDED.match(line):
            number = int(match["signal"] or int(match["code"]) - SHELL)
            if number in set(signal.Signals):
                self.ends[match["log"]] = signal.Signals(number).name
        elif match := STATE.search(line):
            self.ends[log] = match["state"]
