"""Whether anything changed since a run ended well: else Snakemake need not be started to see it.

Decision 0905 says what is looked at; where there is any doubt, Snakemake is asked.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credence.problems import InputError
from credence.records import parse_json
from credence.stages.settings import workflow_folder
from credence.tables.digests import PACKAGE, TICK, package_digest, require_sealed, stamp_of
from credence.tables.shards import expanded, names_many
from credence.tables.writing import write_json

if TYPE_CHECKING:
    from credence.app.configuration import Configuration

DONE = Path(".snakemake", "credence.done.json")
INCOMPLETE = Path(".snakemake", "incomplete")  # what Snakemake had begun when it was killed
OWN_PROFILE = Path("profiles", "default")  # which Snakemake reads by itself
NOT_MADE_AGAIN = {"logs", "benchmarks"}
Stamps = dict[str, list[int]]


def _stamps(paths: Iterable[str]) -> Stamps:
    return {path: list(stamp_of(Path(path))) for path in paths}


def _program() -> list[str]:
    """Return what tells one version of the workflow from another."""
    above = workflow_folder()
    whole = above if PACKAGE.is_relative_to(above) else PACKAGE
    return [sys.version, str(whole), package_digest(whole)]


def has_own_ways() -> bool:
    """Return whether Snakemake gets more here than its command says."""
    return OWN_PROFILE.exists() or any(name.startswith("SNAKEMAKE_") for name in os.environ)


def run_that_ended(config: str) -> str | None:
    """Return the name of the run of a configuration where nothing has changed since it ended."""
    try:
        written = DONE.stat().st_mtime_ns
        found: Any = parse_json(DONE.read_text(encoding="utf-8"))[config]
        is_young = any(stamp[3] >= written - TICK for stamp in found["read"].values())
        if is_young or any(INCOMPLETE.glob("*")) or found["program"] != _program():
            return None
        if any(list(expanded([word])) != files for word, files in found["many"].items()):
            return None
        known: Stamps = found["read"] | found["made"]
        return str(found["run"]) if _stamps(known) == known else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError, InputError):
        return None


def read_by(config: str, settings: Configuration) -> dict[str, Any]:
    """Return what a run is about to read, as it is now."""
    from credence.app.configuration import environment_file

    words = settings.files
    many = {word: list(expanded([word])) for word in words if names_many(word)}
    read = _stamps([config, str(environment_file()), *expanded(words)])
    return {"program": _program(), "run": settings.run, "many": many, "read": read}


def write_down(config: str, settings: Configuration, before: Mapping[str, Any]) -> None:
    """Write down what a run read and made, unless something changed meanwhile."""
    from credence.app.meaning import DEMO_FOLDER

    folders = [f"results/{settings.run}", f"reports/{settings.run}"]
    folders += [DEMO_FOLDER] if settings.has_demo else []
    try:
        if read_by(config, settings) != before:
            return
        made = [path for folder in folders for path in sorted(Path(folder).rglob("*"))]
        made = [one for one in made if one.is_file() and not set(one.parts[2:3]) & NOT_MADE_AGAIN]
        for path in made:
            require_sealed(path)  # else it changed after its step had ended
        known: Any = parse_json(DONE.read_text(encoding="utf-8")) if DONE.is_file() else {}
        write_json(DONE, known | {config: {**before, "made": _stamps(map(str, made))}})
    except (OSError, ValueError, TypeError, InputError):
        DONE.unlink(missing_ok=True)
