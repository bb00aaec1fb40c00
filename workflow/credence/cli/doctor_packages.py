"""Python and the packages beside credence: needed to look at anything else.

Imports nothing but the standard library, so that it can say what is missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from credence import __version__

PACKAGE = Path(__file__).resolve().parents[1]
LOCK = "envs/credence.lock.txt"
PINNED = re.compile(r"^([A-Za-z0-9._-]+==.+?) \\$", re.M)
MOST_NAMED = 5  # packages


@dataclass(frozen=True)
class Found:
    """One thing that was looked at.

    Parameters
    ----------
    name : str
        What.
    verdict : {'ok', 'note', 'mend'}
        Whether it is as it has to be; a note is of what only some runs need.
    text : str
        What was found.
    remedy : str
        What mends it, as a command or an order.
    """

    name: str
    verdict: str
    text: str
    remedy: str = ""


def look_at_packages_beside() -> list[Found]:
    """Return whether credence, Python and the packages that it needs are as they have to be."""
    asked, needed = _requirements()
    return [
        Found("credence", "ok", f"{__version__} in {PACKAGE}"),
        look_at_python(sys.version_info[:3], asked, needed),
        look_at_packages(needed),
        look_at_lock(lock_file()),
    ]


def root() -> Path | None:
    """Return the folder of the checkout, None where the package was installed without one."""
    above = PACKAGE.parents[1]
    return above if (above / LOCK).is_file() else None


def lock_file() -> Path:
    """Return the lock that this version was released with."""
    return (root() or PACKAGE / "_workflow") / LOCK


def _requirements() -> tuple[str, list[str]]:
    """Return what the package asks of Python, and of other packages."""
    try:
        known = metadata.metadata("credence")
    except metadata.PackageNotFoundError:
        return "", []
    return known["Requires-Python"] or "", metadata.requires("credence") or []


def look_at_python(version: tuple[int, int, int], asked: str, needed: list[str]) -> Found:
    """Return whether Python is recent enough.

    Parameters
    ----------
    version : tuple of int
        That of this process.
    asked : str
        What the package asks for, as ``>=3.11``.
    needed : list of str
        Requirements; none are known where the package is not installed.
    """
    text = ".".join(map(str, version))
    if not needed:
        return Found(
            "Python", "mend", f"{text}; the package is not installed, only found on the path",
            f"{sys.executable} -m pip install --no-deps --no-build-isolation --editable "
            f"{root() or '/path/to/credence'}",
        )  # fmt: skip
    least = re.search(r">=\s*([\d.]+)", asked)
    if least is not None and version < tuple(map(int, least[1].split("."))):
        return Found(
            "Python", "mend", f"{text}, and {least[1]} is the oldest that will do",
            "make demo PYTHON=/path/to/a/newer/python3",
        )  # fmt: skip
    return Found("Python", "ok", f"{text} ({sys.executable})")


def look_at_packages(
    needed: list[str], version_of: Callable[[str], str] = metadata.version
) -> Found:
    """Return which packages are missing, too old or too new.

    Parameters
    ----------
    needed : list of str
        Requirements, as ``numpy>=2.1``; those of extras are left out.
    version_of : callable
        Gives the version of a package, or raises `PackageNotFoundError`.
    """
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return Found("packages", "mend", "packaging is missing, and perhaps others", install())
    wrong: list[str] = []
    n_good = 0
    for requirement in map(Requirement, needed):
        marker = requirement.marker
        if marker is not None and not marker.evaluate({"extra": ""}):
            continue
        try:
            version = version_of(requirement.name)
        except metadata.PackageNotFoundError:
            wrong.append(f"{requirement.name} is missing")
            continue
        if version in requirement.specifier:
            n_good += 1
        else:
            wrong.append(f"{requirement.name} is {version}, not {requirement.specifier}")
    if not wrong:
        return Found("packages", "ok", f"all {n_good} are there and as recent as they have to be")
    return Found("packages", "mend", _named(wrong), install())


def look_at_lock(lock: Path, version_of: Callable[[str], str] = metadata.version) -> Found:
    """Return whether the packages are of the versions that the lock has.

    Other versions that fit may give other last digits, so that it is noted.

    Parameters
    ----------
    lock : Path
        See :func:`lock_file`.
    version_of : callable
        As for :func:`look_at_packages`.
    """
    if not lock.is_file():
        return Found("lock", "note", f"{lock} is not there: no versions to compare with")
    try:
        pins = list(_pins(lock.read_text("utf-8")))
    except ImportError:
        return Found("lock", "note", "not looked at, since packaging is missing")
    other = []
    for name, pin in pins:
        try:
            version = version_of(name)
        except metadata.PackageNotFoundError:
            continue  # what has to be there is told above
        if version != pin:
            other.append(f"{name} is {version}, there {pin}")
    if not other:
        return Found("lock", "ok", f"the versions of {lock}")
    what = f"not the versions of {lock}: {_named(other)}; last digits may differ"
    return Found("lock", "note", what, install())


def _pins(text: str) -> Iterator[tuple[str, str]]:
    """Yield name and version of what a lock has for this machine."""
    from packaging.requirements import Requirement

    for line in PINNED.findall(text):
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement.name, str(requirement.specifier).removeprefix("==")


def _named(entries: list[str]) -> str:
    more = f"; and {len(entries) - MOST_NAMED} more" if len(entries) > MOST_NAMED else ""
    return "; ".join(entries[:MOST_NAMED]) + more


def install() -> str:
    """Return the command that installs what this version needs, as it was locked."""
    return f"{sys.executable} -m pip install --require-hashes --requirement {lock_file()}"
