"""What is installed beside packages: outside programs, a font, Snakemake's plugins."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from credence.cli.doctor_packages import Found, root
from credence.engines import cdhit, diamond, mmseqs_program
from credence.engines.running import run_program, scratch_folder
from credence.problems import InputError

SECONDS = 2.0  # for a program to tell its version
FONT = "DejaVuSans.ttf"  # of report.style
MOST_SHOWN = 40  # letters of a version that is not understood


def look_at_software(engine: str | None) -> list[Found]:
    """Return what is installed, missing or too old.

    Parameters
    ----------
    engine : str, optional
        The one that has to be there.
    """
    return [*look_at_programs(engine), look_at_font(), look_at_slurm()]


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
        return mmseqs_program.find_program()
    except InputError:
        return None


def _version(said: str) -> str:
    found = re.search(r"version (\S+)", said)
    return f"of unknown version ({said.strip()[:MOST_SHOWN]})" if found is None else found[1]


def _version_of_mmseqs(said: str) -> str:
    release = mmseqs_program.release_of(said)
    return f"{said.strip()[:MOST_SHOWN]}" if release is None else f"release {release}"


def _is_old_diamond(said: str) -> bool:
    release = re.search(r"version (\d+)\.", said)
    return release is not None and int(release[1]) < diamond.OLDEST


def _is_old_mmseqs(said: str) -> bool:
    release = mmseqs_program.release_of(said)
    return release is not None and release < mmseqs_program.OLDEST


PROGRAMS = (
    Program("mmseqs", "MMseqs2", _mmseqs, ("version",), _version_of_mmseqs, _is_old_mmseqs,
            str(mmseqs_program.OLDEST), mmseqs_program.REMEDY),
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
        return Found(
            "SLURM", "note", "the plugin is installed, and there is no sbatch here",
            "log in where jobs are handed in, or credence run --profile local",
        )  # fmt: skip
    above = root()
    return Found(
        "SLURM", "note", f"{sbatch} is here, Snakemake's plugin is not",
        f"{sys.executable} -m pip install snakemake-executor-plugin-slurm"
        if above is None
        else f"cd {above} && VENV=.venv-slurm envs/set_up.sh envs/slurm.lock.txt",
    )  # fmt: skip
