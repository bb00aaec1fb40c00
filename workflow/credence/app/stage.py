"""``credence stage``: a command as a stage of a run, its files looked at before and after."""

from __future__ import annotations

from collections.abc import Sequence

import click

READS, WRITES, DOES = "--reads", "--writes", "--"


class WholeWords(click.Command):
    """A command that takes its words as they are, the ``--`` among them too."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep all words for the command."""
        if set(args) <= set(ctx.help_option_names):
            return super().parse_args(ctx, args)
        ctx.params["words"] = tuple(args)
        return []


@click.command(
    cls=WholeWords,
    epilog="Example: credence stage --reads demo/calibration.csv --writes c.json"
    " -- fit demo/calibration.csv --format phanns-labelled --method kernel --out c.json",
)
@click.argument("words", nargs=-1, metavar="--reads FILE... --writes FILE... -- COMMAND...")
def command(words: tuple[str, ...]) -> int:
    """Run a command as a stage of a run.

    Files that it reads and that another stage wrote have to be as that stage
    left them, and made from what lies there now. What it writes gets a seal:
    the digests of the file and of all that it was made from.
    """
    reads, writes, arguments = parse(words)
    return run_stage(reads, writes, arguments)


def parse(words: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return files read, files written, and the words of the command.

    >>> parse(["--reads", "a", "b", "--writes", "c", "--", "fit", "a", "--out", "c"])
    (['a', 'b'], ['c'], ['fit', 'a', '--out', 'c'])
    """
    words = list(words)
    places = [words.index(sign) if sign in words else -1 for sign in (READS, WRITES, DOES)]
    if places[0] != 0 or not places[0] < places[1] < places[2] < len(words) - 1:
        raise click.UsageError(
            "Say what the stage reads, writes and does: --reads FILE... --writes FILE... "
            "-- COMMAND..."
        )
    _, writes, does = places
    reads = [path for path in words[1:writes] if path]  # Snakemake quotes nothing as ''
    return reads, words[writes + 1 : does], words[does + 1 :]


def run_stage(reads: Sequence[str], writes: Sequence[str], arguments: Sequence[str]) -> int:
    """Return the exit code of a command that is run as a stage."""
    from credence.app import run_command_line
    from credence.app.ending import CONTROLLER, end_me, end_with
    from credence.tables.digests import (
        KnownDigests,
        break_seals,
        examine,
        require_unchanged,
        write_seals,
    )

    end_with(CONTROLLER, end_me)
    known = KnownDigests.remembered()
    inputs = examine(reads, known)
    break_seals(writes)
    code = run_command_line(arguments)
    if code == 0:
        require_unchanged(inputs, known)
        write_seals(writes, inputs)
    return code
