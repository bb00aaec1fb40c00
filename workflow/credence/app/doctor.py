"""``credence doctor``: what is installed, missing or too old, and what fixes it."""

import json
import locale
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import click

from credence import __version__
from credence.app import FIXABLE
from credence.problems import InputError

HEADS = {"ok": "ok  ", "note": "note", "fix": "FIX "}


@click.command(epilog="Example: credence doctor")
@click.option("--config", help="A configuration: what it asks for has to be there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")  # options need numpy
def command(config: str | None, as_json: bool) -> int:
    """Say what is installed, missing or too old, and the command that fixes it.

    Ends with code 2 where something has to be fixed. A note is of something
    that only some runs need.
    """
    try:
        asked = metadata.metadata("credence")["Requires-Python"] or ""
        needed = metadata.requires("credence") or []
    except metadata.PackageNotFoundError:
        asked, needed = "", []
    found = [
        Found("credence", "ok", f"{__version__} in {PACKAGE}"),
        look_at_python(sys.version_info[:3], asked, needed),
        look_at_packages(needed),
        look_at_lock(lock_file()),
    ]
    try:
        from credence.relatives.mmseqs import has_what_the_wheel_needs

        (engine, configuration), scratch = _engine_of(config), Path(tempfile.gettempdir())
        found += [
            look_at_mmseqs(engine == "mmseqs"),
            look_at_slurm(),
            look_at_processors(len(os.sched_getaffinity(0)), has_what_the_wheel_needs()),
            look_at_memory(memory_of()),
            look_at_folder("this folder", Path.cwd(), "cd to a folder of your own"),
            look_at_folder("scratch folder", scratch, "export TMPDIR=/path/to/folder"),
            look_at_text(sys.getfilesystemencoding(), locale.getpreferredencoding(False)),
            *configuration,
        ]
    except ImportError as error:
        what = f"{error.name} cannot be imported, and without it nothing more can be looked at"
        found.append(Found("the rest", "fix", what, install()))
    if as_json:
        click.echo(json.dumps([vars(one) for one in found], indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(found)))
    return FIXABLE if any(one.verdict == "fix" for one in found) else 0


def _engine_of(config: str | None) -> "tuple[str | None, list[Found]]":
    from credence.app import configuration
    from credence.stages.settings import load_schema

    if config is None:
        known = load_schema()["properties"]["clustering"]["properties"]
        return str(known["engine"]["default"]), []
    try:
        settings = configuration.load(config)
    except InputError as error:
        rest = f" And {len(error.problems) - 1} more." if len(error.problems) > 1 else ""
        what = f"{error.problems[0]}{rest}"
        return None, [Found("configuration", "fix", what, f"credence check {config}")]
    has_proteins = settings.calibration_set.proteins is not None
    engine = settings.values["clustering"]["engine"] if has_proteins else None
    use = f"clusters with {engine}" if engine else "has no proteins to cluster"
    return engine, [Found("configuration", "ok", f"{config} can be read; it {use}")]


def _lines(found: "list[Found]") -> list[str]:
    width = max(len(one.name) for one in found)
    lines = []
    for one in found:
        lines.append(f"{HEADS[one.verdict]}  {one.name:<{width}}  {one.text}")
        if one.remedy:
            lines.append(f"{'':{len(HEADS['ok']) + width + 4}}→ {one.remedy}")
    n_bad = sum(one.verdict == "fix" for one in found)
    lines.append("Nothing has to be fixed." if n_bad == 0 else f"To be fixed: {n_bad}.")
    return lines


PACKAGE = Path(__file__).resolve().parents[1]
LOCK = "envs/credence.lock.txt"
PINNED = re.compile(r"^([A-Za-z0-9._-]+==.+?) \\$", re.M)
MOST_NAMED = 5  # packages


@dataclass(frozen=True)
class Found:
    """One thing that was looked at."""

    name: str  # What
    verdict: str  # Whether it is as it has to be; a note is of what only some runs need
    text: str  # What was found
    remedy: str = ""  # What fixes it, as a command or an order


def root() -> Path | None:
    """Return the folder of the checkout, None where the package was installed without one."""
    above = PACKAGE.parents[1]
    return above if (above / LOCK).is_file() else None


def lock_file() -> Path:
    """Return the lock that this version was released with."""
    return (root() or PACKAGE / "_workflow") / LOCK


def look_at_python(version: tuple[int, int, int], asked: str, needed: list[str]) -> Found:
    """Return whether Python is recent enough."""
    text = ".".join(map(str, version))
    if not needed:
        what = f"{text}; the package is not installed, only found on the path"
        words = "-m pip install --no-deps --no-build-isolation --editable"
        remedy = f"{sys.executable} {words} {root() or '/path/to/credence'}"
        return Found("Python", "fix", what, remedy)
    least = re.search(r">=\s*([\d.]+)", asked)
    if least is not None and version < tuple(map(int, least[1].split("."))):
        what = f"{text}, and {least[1]} is the oldest that will do"
        return Found("Python", "fix", what, "make demo PYTHON=/path/to/a/newer/python3")
    return Found("Python", "ok", f"{text} ({sys.executable})")


def look_at_packages(
    needed: list[str], version_of: Callable[[str], str] = metadata.version
) -> Found:
    """Return which packages are missing, too old or too new."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return Found("packages", "fix", "packaging is missing, and perhaps others", install())
    asked = [
        one
        for one in map(Requirement, needed)
        if one.marker is None or one.marker.evaluate({"extra": ""})
    ]
    wrong: list[str] = []
    for one in asked:
        try:
            if (version := version_of(one.name)) not in one.specifier:
                wrong.append(f"{one.name} is {version}, not {one.specifier}")
        except metadata.PackageNotFoundError:
            wrong.append(f"{one.name} is missing")
    if wrong:
        return Found("packages", "fix", _named(wrong), install())
    return Found("packages", "ok", f"all {len(asked)} are there and as recent as they have to be")


def look_at_lock(lock: Path, version_of: Callable[[str], str] = metadata.version) -> Found:
    """Return whether packages are as the lock has them: others may give other last digits."""
    if not lock.is_file():
        return Found("lock", "note", f"{lock} is not there: no versions to compare with")
    try:
        from packaging.requirements import Requirement
    except ImportError:
        return Found("lock", "note", "not looked at, since packaging is missing")
    pins = map(Requirement, PINNED.findall(lock.read_text("utf-8")))
    other = []
    for one in (one for one in pins if one.marker is None or one.marker.evaluate()):
        pin = str(one.specifier).removeprefix("==")
        with suppress(metadata.PackageNotFoundError):  # reported above, if it has to be there
            if (version := version_of(one.name)) != pin:
                other.append(f"{one.name} is {version}, there {pin}")
    if not other:
        return Found("lock", "ok", f"the versions of {lock}")
    what = f"not the versions of {lock}: {_named(other)}; last digits may differ"
    return Found("lock", "note", what, install())


def _named(entries: list[str]) -> str:
    more = f"; and {len(entries) - MOST_NAMED} more" if len(entries) > MOST_NAMED else ""
    return "; ".join(entries[:MOST_NAMED]) + more


def install() -> str:
    """Return the command that installs what this version needs, as it was locked."""
    return f"{sys.executable} -m pip install --require-hashes --requirement {lock_file()}"


GIBIBYTE = 1024**3
TRIAL_BYTES = 1 << 20
LEAST_DISK = 1 * GIBIBYTE  # the demo and its results take a tenth of it
LEAST_MEMORY = 2 * GIBIBYTE  # what annotating ten million rows may take
NO_LIMIT = "max"


def look_at_processors(n_cores: int, has_avx2: bool) -> Found:
    """Return how many processors there are, and whether MMseqs2's wheel runs on them."""
    text = f"{n_cores} {'core' if n_cores == 1 else 'cores'}"
    if has_avx2:
        return Found("processor", "ok", text)
    what = f"{text}, without AVX2: MMseqs2's wheel does not run here"
    remedy = "conda env create --file envs/mmseqs2.yaml, or engine: exact"
    return Found("processor", "note", what, remedy)


def memory_of(root: Path = Path("/")) -> int | None:
    """Return the bytes that this process may take, None where it cannot be known."""
    found = []
    meminfo, limit = root / "proc/meminfo", root / "sys/fs/cgroup/memory.max"
    if meminfo.is_file():
        free = re.findall(r"^MemAvailable:\s+(\d+) kB", meminfo.read_text("ascii"), re.M)
        found += [int(kilobytes) * 1024 for kilobytes in free]
    if limit.is_file() and (text := limit.read_text("ascii").strip()) != NO_LIMIT:
        found.append(int(text))
    return min(found, default=None)


def look_at_memory(n_bytes: int | None) -> Found:
    """Return whether there is enough memory."""
    if n_bytes is None:
        return Found("memory", "note", "this system does not say how much there is")
    text = f"{n_bytes / GIBIBYTE:.1f} GiB free"
    if n_bytes >= LEAST_MEMORY:
        return Found("memory", "ok", text)
    what = f"{text}; sets of millions of proteins take up to 2 GiB"
    remedy = "credence run --cores 1, so that one job runs at a time"
    return Found("memory", "note", what, remedy)


def look_at_folder(name: str, folder: Path, remedy: str) -> Found:
    """Return whether a folder may be written to, and has space."""
    try:
        with tempfile.TemporaryFile(dir=folder) as handle:
            handle.write(bytes(TRIAL_BYTES))
        free = shutil.disk_usage(folder).free
    except OSError as error:
        what = f"{folder} cannot be written to ({os.strerror(error.errno or 0)})"
        return Found(name, "fix", what, remedy)
    text = f"{folder}, {free / GIBIBYTE:.1f} GiB free"
    if free < LEAST_DISK:
        return Found(name, "note", text, f"make room, or {remedy}")
    return Found(name, "ok", text)


def look_at_text(files: str, preferred: str) -> Found:
    """Return whether names and texts are UTF-8."""
    names = {re.sub(r"[-_]", "", encoding).lower() for encoding in (files, preferred)}
    if names == {"utf8"}:
        return Found("text", "ok", "UTF-8")
    what = f"names of files are {files}, texts {preferred}, not UTF-8"
    return Found("text", "note", what, "export LC_ALL=C.UTF-8")


SECONDS = 2.0  # for a program to print its version
MOST_SHOWN = 40  # letters of a version that is not understood


def look_at_mmseqs(is_needed: bool) -> Found:
    """Return whether MMseqs2 is there, starts and is recent enough."""
    from credence.relatives import mmseqs
    from credence.relatives.programs import run_program, scratch_folder

    try:
        with scratch_folder() as folder:
            path = mmseqs.Mmseqs.found(folder, 1, SECONDS).path
            stated = run_program([path, "version"], folder, SECONDS, mmseqs.REMEDY)
    except InputError as error:
        problem = error.problems[0]
        what = problem.what if is_needed else f"{problem.what} Only the engine mmseqs needs it."
        return Found("MMseqs2", "fix" if is_needed else "note", what, problem.remedy)
    release = mmseqs.release_of(stated)
    version = stated.strip()[:MOST_SHOWN] if release is None else f"release {release}"
    return Found("MMseqs2", "ok", f"{version} ({path})")


def look_at_slurm() -> Found:
    """Return whether jobs can be handed to SLURM; nothing is imported or asked."""
    from credence.app.run import PLUGIN

    has_plugin, sbatch = find_spec(PLUGIN) is not None, shutil.which("sbatch")
    if has_plugin and sbatch:
        return Found("SLURM", "ok", f"plugin installed; {sbatch}")
    what, remedy = "not here; only --profile slurm needs it", ""
    if has_plugin:
        what = "the plugin is installed, and there is no sbatch here"
        remedy = "log in where jobs are handed in, or credence run --profile local"
    elif sbatch:
        what = f"{sbatch} is here, Snakemake's plugin is not"
        remedy = f"{sys.executable} -m pip install snakemake-executor-plugin-slurm"
        if (above := root()) is not None:
            remedy = f"cd {above} && VENV=.venv-slurm envs/set_up.sh envs/slurm.lock.txt"
    return Found("SLURM", "note", what, remedy)
