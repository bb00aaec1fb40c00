"""How functions and commands refuse what a user can put right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from credence.app import run_command_line
from credence.problems import InputError

END = "Fix this and run the command again.\n"  # the last line of every refusal
Stated = pytest.CaptureFixture[str]


def refusal(call: Callable[..., Any], *values: Any, **named: Any) -> str:
    """Return the message with which a function refuses what it is called with."""
    with pytest.raises(InputError) as caught:
        call(*values, **named)
    return caught.value.text()


def refused(capsys: Stated, *words: str) -> str:
    """Return the message with which a command is refused, without its last line."""
    capsys.readouterr()
    assert run_command_line(list(words)) == 2
    stated = capsys.readouterr()
    assert stated.out == "" and stated.err.endswith(END)
    return stated.err.removesuffix(END)
