"""``credence trove``: the list of troves in a configuration."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import click

from credence.app.options import CommandsBelow, config_option, flag_options, json_option
from credence.problems import Problem, gathering, nearest, raise_any, refuse
from credence.progress import echo
from credence.records import json_text
from credence.tables.document import Document

TOPS = ("results", "reports")
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Setting of a trove → what gives it on the command line; written in this order.
SETTINGS_OF_TROVE = ("date", "scores", "fasta", "labels", "clusters", "format")
OPTION_OF_SETTING = {"name": "NAME"} | {setting: f"--{setting}" for setting in SETTINGS_OF_TROVE}


@click.group(
    cls=CommandsBelow,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: credence trove list --config mylab.yaml",
)
def command() -> None:
    """Add newly labelled proteins (a trove) to the calibration set, list or withdraw them.

    A trove is new labelled proteins that join the calibration set. Troves join
    in the order of the list; credence run derives a release from each.
    """


@command.command(
    epilog="Example: credence trove add htj --scores demo/trove_htj.csv "
    "--fasta demo/trove_htj.fasta --date 2026-11-21 --config mylab.yaml"
)
@click.argument("name")
@click.option(
    "--scores", multiple=True, required=True, help="Score table of the trove; repeat it."
)
@click.option("--fasta", help="FASTA file of the proteins of --scores.")
@click.option("--labels", help="Table of true classes (id, true_class), if --scores has none.")
@click.option("--date", help="Day when it arrived, like 2026-11-21; shown, never used.")
@click.option(
    "--clusters", help="Table of its clusters, if the configuration names one for the set."
)
@click.option("--format", help="Format of --scores, if not that of the calibration set.")
@config_option
def add(name: str, config: str, **given: Any) -> None:
    """Add newly labelled proteins to the calibration set, under the name NAME.

    Nothing is written where anything is wrong. What stands in the configuration
    stays as it is, comments too; the files' digests are written with the entry,
    so that a file that changes later is noticed.
    """
    from credence.app import configuration
    from credence.app.editing import with_trove
    from credence.predictions import UNKNOWN_CLASS
    from credence.stages.reading import read_set, table_spec
    from credence.stages.troves import read_trove
    from credence.tables.digests import sha256_of

    scores = given["scores"]
    given |= {"name": name, "scores": scores[0] if len(scores) == 1 else list(scores)}
    entry = {key: given[key] for key in OPTION_OF_SETTING if given[key] is not None}
    old = configuration.load(config)  # what is wrong before is named by its own lines
    problems: list[Problem] = []
    unreadable: list[Problem] = []
    digests: dict[str, str] = {}
    for file in (*scores, *filter(None, (given[key] for key in ("fasta", "labels", "clusters")))):
        with gathering(unreadable):
            digests[file] = sha256_of(Path(file))
    if digests:
        entry["sha256"] = digests
    edited = with_trove(_text(config), entry, config)
    with gathering(problems):
        configuration.loads(edited, config)
    above = f"troves[{len(old.troves)}]."
    for at, problem in enumerate(problems):  # What is wrong with the entry is of its option.
        if (column := problem.column or "").startswith(above):
            option = OPTION_OF_SETTING.get(column.removeprefix(above), config)
            problems[at] = replace(problem, where=option, line=None, column=None)
    problems = problems or unreadable
    samples = None
    if not unreadable:
        base = old.calibration_set
        known = read_set(base.scores, table_spec(base.scores, None, base.spec)).predictions
        with gathering(problems):
            trove = configuration.trove_of(entry, old.values["calibration_set"])
            samples = read_trove(trove, known).samples
    raise_any(problems)
    true_class = None if samples is None else samples.true_class
    if true_class is not None and (n_without := int((true_class == UNKNOWN_CLASS).sum())):
        n = f"{n_without:,} of {len(true_class):,}"
        echo(f"{n} proteins of the trove have no true class: these do not join.")
    _write(config, edited)
    written = configuration.load(config)
    _say_date(written.document, f"{above}date")
    release = written.releases[-1]
    echo(
        f"Added trove {name!r} to {config}, as release {release}. "
        f"Next: credence run{'' if config == 'config.yaml' else f' --config {config}'}"
    )


def _say_date(document: Document, setting: str) -> None:
    """Say what is likely wrong with a date that was given."""
    from credence.app.meaning import date_notices

    for notice in date_notices(document, date.today().isoformat()):
        if notice.column == setting:
            echo(str(replace(notice, where=OPTION_OF_SETTING["date"], line=None, column=None)))


def _text(config: str) -> str:
    return Path(config).read_bytes().decode("utf-8-sig")


def _write(config: str, text: str) -> None:
    """Write a configuration, with the byte-order mark that it had."""
    from credence.tables.writing import write_text

    has_mark = Path(config).read_bytes().startswith(BYTE_ORDER_MARK)
    write_text(Path(config), ("\ufeff" if has_mark else "") + text)


@command.command("list", epilog="Example: credence trove list --config mylab.yaml")
@config_option
@json_option
def list_(config: str, as_json: bool) -> None:
    """List the troves in the order in which they join, and what became of them."""
    from credence.app import configuration
    from credence.releases.files import read_attach_summary
    from credence.stages.troves import digest_problems, rescored_in_words

    settings, rows = configuration.load(config), []
    for release, trove in zip(settings.releases[1:], settings.troves, strict=True):
        changed = [problem.where for problem in digest_problems(trove.sha256)]
        path = Path("results", settings.run, "releases", release, "attach.json")
        if changed:
            state = f"changed since it was added: {', '.join(changed)}"
        elif not path.exists():
            state = "not attached yet"
        else:
            summary = read_attach_summary(path)
            counts: Mapping[str, int] = summary.counts
            state = ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "no proteins"
            if rescored := rescored_in_words(summary):
                state = f"{state}. {rescored}"
        names = ("release", "date", "files", "state")
        entry = (release, trove.date, list(trove.files), state)
        rows.append(dict(zip(names, entry, strict=True)))
        if not as_json:
            files = ", ".join(trove.files)
            click.echo("\t".join([release, trove.date or "no date", files, state]))
    if as_json:
        click.echo(json_text(rows), nl=False)
    elif not settings.troves:
        echo("There are no troves. Add one: credence trove add NAME --scores …")


@command.command(epilog="Example: credence trove remove htj --config mylab.yaml")
@click.argument("name")
@flag_options(rederive="Also if later troves follow it: their releases are then derived anew.")
@config_option
def remove(name: str, rederive: bool, config: str) -> None:
    """Withdraw the proteins of trove NAME from the calibration set; its files stay.

    The last one can be withdrawn, and what was before it stands. Releases after
    another one were attached to what it added, and would be other ones.
    """
    from credence.app import configuration
    from credence.app.editing import without_trove

    settings = configuration.load(config)
    names = [trove.name for trove in settings.troves]
    if name not in names:
        remedy = (
            nearest(name, names) if names else "Name the configuration that lists it: --config."
        )
        raise refuse(config, f"there is no trove {name!r}.", remedy, column="troves")
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
    _write(config, without_trove(_text(config), position, config))
    gone = settings.releases[position + 1 :]
    folders = [f"{top}/{settings.run}/releases/{release}" for release in gone for top in TOPS]
    left = [folder for folder in folders if Path(folder).exists()]
    echo(
        f"Removed trove {name!r} from {config}."
        + (f" Derived anew by the next credence run: {', '.join(after)}." if after else "")
        + (f" No longer of use, delete them: {', '.join(left)}." if left else "")
    )
