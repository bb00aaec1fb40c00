"""``credence completion``: the script that completes commands in a shell."""

from __future__ import annotations

import click


@click.command(
    epilog="Example: credence completion bash >> ~/.bash_completion",
    help="Print the script of shell completion, for SHELL: bash, zsh or fish.",
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell."""
    from click.shell_completion import BashComplete, get_completion_class

    from credence.app import group

    kind = get_completion_class(shell)
    assert kind is not None
    if issubclass(kind, BashComplete):
        # click asks bash for its version, which a login shell need not be.
        kind._check_version = staticmethod(lambda: None)  # type: ignore[method-assign]
    click.echo(kind(group, {}, "credence", "_CREDENCE_COMPLETE").source())
