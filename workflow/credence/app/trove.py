"""``credence trove``: the list of troves in a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from credence.app.configuration import Configuration, Trove
    from credence.problems import Problem

TOPS = ("results", "reports")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Setting of a trove → what gives it on the command line.
OPTIONS = {"name": "NAME"} | {
    setting: f"--{setting}"
    for setting in ("scores", "fasta", "labels", "date", "clusters", "format")
}
config_option = click.option(
    "--config", "config", default="config.yaml", show_default=True, help="The configuration."
)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: credence trove list --config mylab.yaml",
)
def command() -> None:
    """Add a trove to a configuration, list the troves, withdraw one.

    A trove is new labelled proteins that join the calibration set. Troves join
    in the order of the list; credence run derives a release from each.
    """


@command.command(
    epilog="Example: credence trove add autumn --scores autumn.csv --fasta autumn.fasta "
    "--date 2026-11-21"
)
@click.argument("name")
@click.option("--scores", multiple=True, required=True, help="Score table; more than once.")
@click.option("--fasta", help="FASTA file of the same proteins.")
@click.option("--labels", help="Table of id and true_class, where the scores have none.")
@click.option("--date", help="When it arrived, like 2026-11-21; without it, none is told.")
@click.option("--clusters", help="Table of its clusters, where clusters are given.")
@click.option("--format", "format_", help="Format, where it is not that of the calibration set.")
@config_option
def add(
    name: str,
    scores: tuple[str, ...],
    fasta: str | None,
    labels: str | None,
    date: str | None,
    clusters: str | None,
    format_: str | None,
    config: str,
) -> None:
    """Check the files of trove NAME and write it at the end of the list.

    Nothing is written where anything is wrong. What stands in the configuration
    stays as it is, comments too; the files' digests are written with the entry,
    so that a file that changes later is noticed.
    """
    from credence.app import configuration
    from credence.app.configuration.editing import with_trove
    from credence.problems import InputError
    from credence.stages.reading import read_set, table_spec
    from credence.stages.troves import file_problems
    from credence.tables.writing import write_text

    path = Path(config)
    entry: dict[str, Any] = {"name": name, "date": date}
    entry["scores"] = scores[0] if len(scores) == 1 else list(scores)
    entry |= {"fasta": fasta, "labels": labels, "clusters": clusters, "format": format_}
    entry = {key: value for key, value in entry.items() if value is not None}
    old = configuration.load(config)  # what is wrong before is told by its own lines
    given = [file for file in (*scores, fasta, labels, clusters) if file is not None]
    digests, unreadable = _digests(given)
    if digests:
        entry["sha256"] = digests
    content = path.read_bytes()
    edited = with_trove(content.decode("utf-8-sig"), entry, config)
    problems = _entry_problems(edited, config, len(old.troves)) or unreadable
    if not unreadable:
        trove = configuration.trove_of(entry, old.values["calibration_set"])
        base = old.calibration_set
        known = read_set(base.scores, table_spec(base.scores, None, base.spec)).predictions
        problems += file_problems(trove, known)
    if problems:
        raise InputError(problems)
    write_text(path, ("\ufeff" if content.startswith(BYTE_ORDER_MARK) else "") + edited)
    release = configuration.load(config).releases[-1]
    click.echo(
        f"Added trove {name!r} to {config}, as release {release}. "
        f"Next: credence run{'' if config == 'config.yaml' else f' --config {config}'}",
        err=True,
    )


def _digests(paths: list[str]) -> tuple[dict[str, str], list[Problem]]:
    """Return the digest of each file, and what is wrong with those that have none."""
    from credence.problems import InputError
    from credence.tables.digests import sha256_of

    found: dict[str, str] = {}
    problems: list[Problem] = []
    for path in paths:
        try:
            found[path] = sha256_of(Path(path))
        except InputError as error:
            problems += error.problems
    return found, problems


def _entry_problems(edited: str, config: str, position: int) -> list[Problem]:
    """Return what is wrong with the new entry, by the option that gave it."""
    from credence.app import configuration
    from credence.problems import InputError

    try:
        configuration.loads(edited, config)
    except InputError as error:
        above = f"troves[{position}]."
        return [
            replace(
                problem,
                where=OPTIONS.get(column.removeprefix(above), config),
                line=None,
                column=None,
            )
            if (column := problem.column or "").startswith(above)
            else problem
            for problem in error.problems
        ]
    return []


@command.command("list", epilog="Example: credence trove list")
@config_option
def list_(config: str) -> None:
    """List the troves in the order in which they join, and what became of them."""
    from credence.app import configuration

    settings = configuration.load(config)
    for release, trove in zip(settings.releases[1:], settings.troves, strict=True):
        words = [release, trove.date or "no date", ", ".join(trove.files)]
        click.echo("\t".join([*words, _state(settings, release, trove)]))
    if not settings.troves:
        click.echo("There are no troves. Add one: credence trove add NAME --scores …", err=True)


def _state(settings: Configuration, release: str, trove: Trove) -> str:
    """Return what became of a trove, in words."""
    from credence.releases.trove_tables import read_attach_summary
    from credence.stages.troves import digest_problems

    changed = [problem.where for problem in digest_problems(trove.sha256)]
    if changed:
        return f"changed since it was added: {', '.join(changed)}"
    path = Path("results", settings.run, "releases", release, "attach.json")
    if not path.exists():
        return "not attached yet"
    counts: Mapping[str, int] = read_attach_summary(path).counts
    return ", ".join(f"{n} {outcome}" for outcome, n in counts.items() if n) or "no proteins"


@command.command(epilog="Example: credence trove remove autumn")
@click.argument("name")
@click.option(
    "--rederive",
    is_flag=True,
    help="Also one that others follow: their releases are derived anew.",
)
@config_option
def remove(name: str, rederive: bool, config: str) -> None:
    """Take trove NAME out of the list; its files stay.

    The last one can be withdrawn, and what was before it stands. Releases after
    another one were attached to what it added, and would be other ones.
    """
    from credence.app import configuration
    from credence.app.configuration.editing import without_trove
    from credence.problems import nearest, refuse
    from credence.tables.writing import write_text

    settings = configuration.load(config)
    names = [trove.name for trove in settings.troves]
    if name not in names:
        raise refuse(config, f"there is no trove {name!r}.", nearest(name, names), column="troves")
    position = names.index(name)
    after = names[position + 1 :]
    if after and not rederive:
        raise refuse(
            config,
            f"{', '.join(map(repr, after))} joined after {name!r}, beside what it added.",
            f"Remove {after[-1]!r} first; or give --rederive, and the releases of those that "
            "follow are derived anew, with other numbers and digests.",
            column="troves",
        )
    path = Path(config)
    content = path.read_bytes()
    edited = without_trove(content.decode("utf-8-sig"), position, config)
    write_text(path, ("\ufeff" if content.startswith(BYTE_ORDER_MARK) else "") + edited)
    gone = settings.releases[position + 1 :]
    folders = [f"{top}/{settings.run}/releases/{release}" for release in gone for top in TOPS]
    left = [folder for folder in folders if Path(folder).exists()]
    click.echo(
        f"Removed trove {name!r} from {config}."
        + (f" Derived anew by the next credence run: {', '.join(after)}." if after else "")
        + (f" No longer of use, delete them: {', '.join(left)}." if left else ""),
        err=True,
    )
