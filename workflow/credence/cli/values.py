"""Values of options that are more than a word."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from credence.problems import refuse


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
