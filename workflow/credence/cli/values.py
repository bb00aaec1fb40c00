"""Values of options that are more than a word."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from credence.problems import InputError, Problem, refuse


def json_settings(text: str, option: str) -> Mapping[str, Any]:
    """Return the settings that an option gives as JSON.

    Parameters
    ----------
    text : str
        For example ``{"format": "phanns"}``; ``null`` is no settings.
    option : str
        Its name, for the message.
    """
    try:
        settings = json.loads(text)
    except json.JSONDecodeError as error:
        raise refuse(
            option, f"{text!r} is not JSON.", 'Write settings like {"format": "phanns"}.'
        ) from error
    if settings is None:
        return {}
    if not isinstance(settings, dict):
        raise refuse(option, f"{text!r} is no settings.", 'Write them like {"format": "phanns"}.')
    return settings


def require_other(out: str, inputs: Iterable[str | None]) -> None:
    """Refuse an output that would overwrite an input, and an input given twice.

    Parameters
    ----------
    out : str
        What is to be written.
    inputs : iterable of str
        What is read; None where an option was not given.
    """
    given = [path for path in inputs if path is not None]
    problems = [
        Problem(path, "this file is given twice.", "Name it once.")
        for path in dict.fromkeys(given)
        if given.count(path) > 1
    ]
    if any(Path(path).resolve() == Path(out).resolve() for path in given):
        problems.append(Problem(out, "this file is an input too.", "Choose another --out."))
    if problems:
        raise InputError(problems)
