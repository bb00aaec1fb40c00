"""The command line: commands are imported when one is called."""

import errno
import importlib
import sys
from collections.abc import Sequence

import click

from credence import __version__
from credence.problems import DISK_ERRORS, InputError, nearest
from credence.progress import echo

# Groups in the order of use, of each command the name and its line in `credence --help`: listed
# here so that help imports none of them.
GROUPS: dict[str, dict[str, str]] = {
    "Start": {
        "demo": "Make a finished page from simulated proteins.",
        "init": "Write a configuration for your own tables.",
        "check": "Check a configuration or table; report every problem at once.",
        "run": "Make everything that a configuration asks for; redo only what changed.",
    },
    "Use": {
        "annotate": "Give every prediction the probability that it is right.",
        "list": "List the predictions to work with, at an error rate that you choose.",
        "thresholds": "Find, for each class, the score above which enough are right.",
        "plan": "Choose which proteins to verify next at the bench.",
        "genomes": "Estimate how many predictions of each genome are right.",
        "gff": "Put confidences into the GFF3 file of a genome.",
    },
    "Build": {
        "fit": "Fit a calibration to labelled predictions.",
        "evaluate": "Judge calibrations on protein families that they have not seen.",
        "shift": "Estimate the class proportions of a sample.",
        "novelty": "Learn what known proteins look like, to flag those far from all.",
        "events": "Learn probabilities of groups of classes: any tail protein, say.",
        "cluster": "Find families of homologous proteins.",
        "split": "Split proteins into groups that share no family.",
    },
    "Maintain": {
        "trove": "Add newly labelled proteins (a trove) to the calibration set.",
        "compare": "Show what changed between two releases of a calibration set.",
        "labels": "Find calibration proteins whose label is doubtful.",
        "watch": "Log samples over time; say when to recalibrate.",
    },
    "Publish": {
        "report": "Make the page of a run from its findings.",
        "figures": "Draw figures for journals.",
        "show": "List calibrations, methods, formats, metrics and installed programs.",
    },
}
# What only workflows call: not in the list, though each has its help.
HIDDEN: dict[str, str] = {
    "combine": "Combine the answers of several tools into one table.",
    "attach": "Let the proteins of a trove join a set.",
    "release": "Write the record of a release of the calibration set.",
    "check-page": "Stop where the verdict of a page is not good enough.",
    "simulate": "Write the demo's simulated proteins: tables whose truth is known.",
}
COMMANDS = tuple(name for group in (*GROUPS.values(), HIDDEN) for name in group)

# Where commands are that do more than call a stage; the rest are in commands.py.
PLACE_OF_COMMAND = {"demo": "run.demo", "list": "commands.list_predictions"} | {
    name: f"{name}.command" for name in ("run", "init", "check", "trove")
}


class LazyGroup(click.Group):
    """A group that imports a command's module only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, in the order of their use."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        place = PLACE_OF_COMMAND.get(cmd_name, f"commands.{cmd_name.replace('-', '_')}")
        module, name = place.split(".")
        command = getattr(importlib.import_module(f"credence.app.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what credence is for and how to begin, then the commands."""
        formatter.write_text(HELP)
        formatter.write_paragraph()
        self.format_usage(ctx, formatter)
        self.format_options(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line per command, without importing any."""
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl(list(commands.items()), col_max=14)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command called; name the nearest where there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"There is no command {args[0]!r}. {nearest(args[0], list(COMMANDS))}")
        return super().resolve_command(ctx, args)


HELP = """Say how probable it is that each prediction of a protein classifier is right.

\b
credence demo            a finished page from a simulated world
credence init mylab      a configuration next to your own tables
credence run             everything that it asks for
"""  # \b keeps click from filling the lines into one paragraph


@click.group(cls=LazyGroup, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="credence")
def group() -> None:
    """Gather the commands."""


FIXABLE = 2  # exit codes: of what a user can put right, and of what only we can
BUG = 1

# The last line of whatever a user can fix; `credence run` looks for it in the
# log of a rule that failed, to tell the two exit codes apart.
FIXABLE_LINE = "Fix this and run the command again."

SYSTEM_ERRORS = DISK_ERRORS | {
    errno.EACCES: ("permission denied", "Give yourself the right to it, or choose another path."),
    errno.EPERM: ("permission denied", "Give yourself the right to it, or choose another path."),
    errno.ENOENT: ("there is no such file", "Fix the path."),
    errno.EISDIR: ("this is a folder", "Name a file."),
    errno.ENOTDIR: ("a file stands where a folder should", "Fix the path."),
    errno.EMFILE: ("too many files are open", "Raise the limit with: ulimit -n 4096."),
}


def explain(error: Exception) -> str | None:
    """Return what to tell the user, or None where the error is a bug."""
    if isinstance(error, InputError):
        text = error.text()
    elif isinstance(error, OSError) and error.errno in SYSTEM_ERRORS:
        problem, remedy = SYSTEM_ERRORS[error.errno]
        text = f"{error.filename or 'the system'}: {problem}. {remedy}"
    elif isinstance(error, ModuleNotFoundError):
        text = (
            f"The Python package {error.name!r} is not installed here. Install credence again: "
            "docs/installing.md."
        )
    elif isinstance(error, MemoryError):
        text = "The memory is used up. Close other programs or use a machine with more."
    else:
        return None
    return f"{text}\n{FIXABLE_LINE}"


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code of a command: 0 done, 2 the user can fix it, 130 stopped."""
    try:
        result = group.main(args=arguments, prog_name="credence", standalone_mode=False)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.Abort:
        from credence.app.ending import INTERRUPTED

        echo("Stopped.")
        return INTERRUPTED
    except click.ClickException as error:
        error.show(file=sys.stderr)
        return FIXABLE
    except Exception as error:
        text = explain(error)
        if text is None:
            raise
        echo(text)
        return FIXABLE
    return result if isinstance(result, int) else 0
