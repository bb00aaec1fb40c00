"""What is installed: Python, packages, outside programs, Snakemake's plugins."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

from credence import __version__
from credence.engines import cdhit, diamond, mmseqs
from credence.engines.running import run_program, scratch_folder
from credence.problems import InputError

SECONDS = 2.0  # for a program to tell its version
FONT = "DejaVuSans.ttf"  # of report.style
LOCK = "envs/credence.lock.txt"
MOST_NAMED = 5  # packages
MOST_SHOWN = 40  # letters of a version that is not understood


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


def look_at_software(engine: str | None) -> list[Found]:
    """Return what is installed, missing or too old.

    Parameters
    ----------
    engine : str, optional
        The one that has to be there.
    """
    asked, needed = _requirements()
    return [
        Found("credence", "ok", f"{__version__} in {Path(__file__).resolve().parents[1]}"),
        look_at_python(sys.version_info[:3], asked, needed),
        look_at_packages(needed),
        *look_at_programs(engine),
        look_at_font(),
        look_at_slurm(),
    ]


def _requirements() -> tuple[str, list[str]]:
    """Return what the package asks of Python, and of other packages."""
    known = metadata.metadata("credence")
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
            f"{sys.executable} -m pip install --no-deps --editable .",
        )  # fmt: skip
    least = re.search(r">=\s*([\d.]+)", asked)
    if least is not None and Version(text) < Version(least[1]):
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
    named = "; ".join(wrong[:MOST_NAMED])
    more = f"; and {len(wrong) - MOST_NAMED} more" if len(wrong) > MOST_NAMED else ""
    return Found("packages", "mend", named + more, _install(wrong))


def _install(wrong: list[str]) -> str:
    pip = f"{sys.executable} -m pip install"
    if Path(LOCK).is_file():
        return f"{pip} --require-hashes --requirement {LOCK}"
    return f"{pip} --upgrade credence"


@dataclass(frozen=True)
class Program:
    """An outside program.

    Parameters
    ----------
    engine : str
        The engine that runs it.
    title : str
        Its name.
    find : callable
        Gives its path, or None.
    words : tuple of str
        That make it tell its version.
    version : callable
        Gives the version in what it said.
    is_old : callable
        Whether what it said is of a version that will not do.
    oldest : str
        The oldest that will do.
    remedy : str
        What installs it.
    """

    engine: str
    title: str
    find: Callable[[], str | None]
    words: tuple[str, ...]
    version: Callable[[str], str]
    is_old: Callable[[str], bool]
    oldest: str
    remedy: str


def look_at_programs(engine: str | None) -> list[Found]:
    """Return which of the programs that find relatives are there.

    Parameters
    ----------
    engine : str, optional
        The one that has to be there; the others may be.
    """
    return [look_at_program(program, program.engine == engine) for program in PROGRAMS]


def look_at_program(program: Program, is_needed: bool) -> Found:
    """Return whether a program is there, starts and is recent enough.

    Parameters
    ----------
    program : Program
        Which.
    is_needed : bool
        Whether it has to be there.
    """
    bad = "mend" if is_needed else "note"
    unneeded = "" if is_needed else f"; only the engine {program.engine} needs it"
    path = program.find()
    if path is None:
        return Found(program.title, bad, f"not installed{unneeded}", program.remedy)
    try:
        said = _said(path, program.words)
    except InputError as error:
        problem = error.problems[0]
        return Found(program.title, bad, f"{path}: {problem.what}{unneeded}", problem.remedy)
    shown = program.version(said)
    if program.is_old(said):
        what = f"{path} is {shown}, and {program.oldest} is the oldest that will do{unneeded}"
        return Found(program.title, bad, what, program.remedy)
    return Found(program.title, "ok", f"{shown} ({path})")


def _said(path: str, words: tuple[str, ...]) -> str:
    """Return what a program says of itself, whatever code it ends with."""
    with scratch_folder() as folder:
        try:
            return run_program([path, *words], folder, SECONDS, f"Install it anew: {path}.")
        except InputError:
            said = (folder / "said.txt").read_text("utf-8", "replace")
            if "version" in said.lower():  # cd-hit -h ends with code 1
                return said
            raise


def _mmseqs() -> str | None:
    try:
        return mmseqs.find_program()
    except InputError:
        return None


def _version(said: str) -> str:
    found = re.search(r"version (\S+)", said)
    return f"of unknown version ({said.strip()[:MOST_SHOWN]})" if found is None else found[1]


def _version_of_mmseqs(said: str) -> str:
    release = mmseqs.release_of(said)
    return f"{said.strip()[:MOST_SHOWN]}" if release is None else f"release {release}"


def _is_old_diamond(said: str) -> bool:
    release = re.search(r"version (\d+)\.", said)
    return release is not None and int(release[1]) < diamond.OLDEST


def _is_old_mmseqs(said: str) -> bool:
    release = mmseqs.release_of(said)
    return release is not None and release < mmseqs.OLDEST


PROGRAMS = (
    Program("mmseqs", "MMseqs2", _mmseqs, ("version",), _version_of_mmseqs, _is_old_mmseqs,
            str(mmseqs.OLDEST), mmseqs.REMEDY),
    Program("diamond", "DIAMOND", lambda: shutil.which("diamond"), ("version",),
            _version, _is_old_diamond, str(diamond.OLDEST), diamond.REMEDY),
    Program("cdhit", "CD-HIT", lambda: shutil.which("cd-hit"), ("-h",),
            _version, lambda said: False, "any", cdhit.REMEDY),
)  # fmt: skip


def look_at_font() -> Found:
    """Return whether the font of figures is there."""
    found = find_spec("matplotlib")
    folders = [] if found is None else list(found.submodule_search_locations or [])
    files = [Path(folder) / "mpl-data" / "fonts" / "ttf" / FONT for folder in folders]
    if any(file.is_file() for file in files):
        return Found("font of figures", "ok", "DejaVu Sans, with matplotlib")
    system = list(Path("/usr/share/fonts").rglob(FONT))
    if system:
        return Found("font of figures", "ok", f"DejaVu Sans ({system[0]})")
    return Found(
        "font of figures", "note", "DejaVu Sans is not there: letters of figures change place",
        f"{sys.executable} -m pip install --force-reinstall --no-deps matplotlib",
    )  # fmt: skip


def look_at_slurm() -> Found:
    """Return whether jobs can be handed to SLURM; nothing is imported or asked."""
    from credence.cli.profiles import PLUGIN

    has_plugin, sbatch = find_spec(PLUGIN) is not None, shutil.which("sbatch")
    if has_plugin and sbatch:
        return Found("SLURM", "ok", f"plugin installed; {sbatch}")
    if not has_plugin and not sbatch:
        return Found("SLURM", "note", "not here; only --profile slurm needs it")
    if has_plugin:
        return Found("SLURM", "note", "the plugin is installed, and there is no sbatch here")
    return Found(
        "SLURM", "note", f"{sbatch} is here, Snakemake's plugin is not",
        "docs/cluster.md says how to install it",
    )  # fmt: skip
