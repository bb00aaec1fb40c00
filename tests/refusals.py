"""How a command that is called in this process refuses what a user can put right."""

from __future__ import annotations

import pytest

from credence.app import run_command_line

END = "Fix this and run the command again.\n"  # the last line of every refusal
Stated = pytest.CaptureFixture[str]


def refused(capsys: Stated, *words: str) -> str:
    """Return the message with which a command is refused, without its last line."""
    capsys.readouterr()
    assert run_command_line(list(words)) == 2
    stated = capsys.readouterr()
    assert stated.out == "" and stated.err.endswith(END)
    return stated.err.removesuffix(END)
