"""Names that Windows keeps for devices: no file or folder can bear them there."""

from __future__ import annotations

import re

DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def device_of(name: str) -> str | None:
    """Return the device that Windows takes a name for, None where it takes it for none.

    An ending makes no difference: ``aux.tsv`` is the device ``aux`` too.

    Parameters
    ----------
    name : str
        Of a file or folder, without the folders above it.

    Examples
    --------
    >>> device_of("aux.tsv"), device_of("Com1"), device_of("auxiliary.tsv")
    ('aux', 'Com1', None)
    """
    match = DEVICE.fullmatch(name)
    return None if match is None else match[1]
