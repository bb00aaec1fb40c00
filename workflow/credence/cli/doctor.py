"""``credence doctor``: what is installed, missing or too old, and what mends it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from credence.cli.doctor_packages import Found

HEADS = {"ok": "ok  ", "note": "note", "mend": "MEND"}
MENDABLE = 2


@click.command(epilog="Example: credence doctor")
@click.option("--config", help="A configuration: what it asks for has to be there.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(config: str | None, as_json: bool) -> int:
    """Say what is installed, missing or too old, and the command that mends it.

    Ends with code 2 where something has to be mended. A note is of something
    that only some runs need.
    """
    from credence.cli.doctor_packages import look_at_packages_beside

    found = look_at_packages_beside()
    try:
        found += _rest(config)
    except ImportError as error:
        found.append(_unable(error))
    if as_json:
        click.echo(json.dumps([vars(one) for one in found], indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(_lines(found)))
    return MENDABLE if any(one.verdict == "mend" for one in found) else 0


def _rest(config: str | None) -> list[Found]:
    """Return what can only be looked at with packages."""
    from credence.cli.doctor_machine import look_at_machine
    from credence.cli.doctor_software import look_at_software

    engine, problem = _engine_of(config)
    found = [*look_at_software(engine), *look_at_machine()]
    return found if problem is None else [*found, problem]


def _unable(error: ImportError) -> Found:
    """Return that nothing more can be looked at while a package is missing or broken."""
    from credence.cli.doctor_packages import Found, install

    what = f"{error.name} cannot be imported, and without it nothing more can be looked at"
    return Found("the rest", "mend", what, install())


def _engine_of(config: str | None) -> tuple[str | None, Found | None]:
    """Return the engine that a configuration asks for, and what is wrong with it."""
    from credence import configuration
    from credence.cli.doctor_packages import Found
    from credence.problems import InputError

    if config is None:
        known = configuration.load_schema()["properties"]["clustering"]["properties"]
        return str(known["engine"]["default"]), None
    try:
        settings = configuration.load(config)
    except InputError as error:
        first = error.problems[0]
        rest = f" And {len(error.problems) - 1} more." if len(error.problems) > 1 else ""
        return None, Found("configuration", "mend", f"{first}{rest}", f"credence check {config}")
    has_proteins = settings.calibration_set.proteins is not None
    engine = settings.values["clustering"]["engine"] if has_proteins else None
    what = f"{config} can be read; it clusters with {engine}" if engine else (
        f"{config} can be read; it has no proteins to cluster"
    )  # fmt: skip
    return engine, Found("configuration", "ok", f"{what}")


def _lines(found: list[Found]) -> list[str]:
    width = max(len(one.name) for one in found)
    lines = []
    for one in found:
        lines.append(f"{HEADS[one.verdict]}  {one.name:<{width}}  {one.text}")
        if one.remedy:
            lines.append(f"{'':{len(HEADS['ok']) + width + 4}}→ {one.remedy}")
    n_bad = sum(one.verdict == "mend" for one in found)
    lines.append("Nothing has to be mended." if n_bad == 0 else f"To be mended: {n_bad}.")
    return lines
