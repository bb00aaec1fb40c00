"""``credence check``: every problem of a configuration or tables at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from credence.app import FIXABLE
from credence.app.options import (
    GroupedHelp,
    file_options,
    json_option,
    match_option,
    table_options,
)
from credence.problems import InputError, Problem, gathering, raise_any, refuse
from credence.progress import echo
from credence.records import json_text

if TYPE_CHECKING:
    from credence.app.configuration import Configuration
    from credence.predictions import Predictions
    from credence.stages.tools import ReadTool

CHECKED = Path(".snakemake", "credence.checked.txt")  # Digests of what passed the last check
CONFIGURATION_ENDINGS = (".yaml", ".yml")
REPORT_RECORD = "report.json"
NO_REPORT = "there is no such file."
A_REPORT = "Name the folder of a report that this version made: reports/NAME."


@click.command(
    cls=GroupedHelp, epilog="Example: credence check demo/calibration.csv --format phanns-labelled"
)
@click.argument("targets", nargs=-1, metavar="CONFIG|TABLE...")
@table_options
@click.option("--labelled", is_flag=True, help="Require a true class for every protein.")
@click.option("--labels", "labels_json", default="null", help="Where the labels are, as JSON.")
@file_options(proteins="FASTA file of the same proteins; every mismatch is listed.")
@match_option
@file_options(
    calibration="A calibration: name the proteins of TABLE that it was fitted on.",
    samples="Also write the checked table, in one form for all.",
    out="Also write what was found, as JSON.",
)
@click.option(
    "--looked",
    metavar="REPORT",
    help="Record that somebody looked by eye at the figure of each class in this report "
    "(the folder reports/NAME). Written into CONFIG, or printed if none is given.",
)
@click.option("--by", help="With --looked: who looked.")
@click.option("--date", "day", help="With --looked: the day, as 2026-11-28.")
@json_option
def command(
    targets: tuple[str, ...], looked: str | None, by: str | None, day: str | None, **given: Any
) -> int:
    """Check your tables or configuration, and report every problem at once.

    For a configuration, every file that it names is read: tables, labels, proteins. For a table
    without --format, the formats that fit are proposed.
    """
    try:
        if looked is not None:
            record_look(targets, looked, by, day)
        elif not targets:
            raise refuse("CONFIG|TABLE", "nothing to check is named.", "Name a file.")
        elif len(targets) == 1 and targets[0].endswith(CONFIGURATION_ENDINGS):
            from credence.app import configuration
            from credence.app.meaning import date_notices

            (path,) = targets
            settings = configuration.load(path)
            lines = check_files(settings) if is_there(settings) else []
            lines += map(str, date_notices(settings.document, date.today().isoformat()))
            if given["as_json"]:
                click.echo(json_text({"problems": [], "found": lines}), nl=False)
            else:
                made = "" if is_there(settings) else "; its inputs will be simulated"
                click.echo("\n".join([*lines, f"{path}: no problems{made}."]))
        else:
            from credence.stages.check import check_tables
            from credence.tables.shards import expanded

            check_tables(expanded(targets), **given)
    except InputError as error:
        if not given["as_json"]:
            raise
        click.echo(json_text({"problems": error.problems}), nl=False)
        return FIXABLE
    return 0


def record_look(targets: Sequence[str], report: str, by: str | None, day: str | None) -> None:
    """Record in a configuration, or print, that somebody looked at the figures of a report."""
    from credence.app import configuration
    from credence.app.editing import look_lines, with_look
    from credence.records import parse_json
    from credence.tables.text import is_date
    from credence.tables.writing import write_text

    path = Path(report) / REPORT_RECORD if Path(report).is_dir() else Path(report)
    problems = (
        [] if path.is_file() else [Problem(where=str(path), what=NO_REPORT, remedy=A_REPORT)]
    )
    if not (by or "").strip():
        problems.append(Problem(where="--by", what="nobody is named.", remedy="Give --by NAME."))
    if day is None or not is_date(day):
        reason = f"{day!r} is no date." if day else "no day is given."
        problems.append(Problem(where="--date", what=reason, remedy="Write it as 2026-11-28."))
    if len(targets) > 1 or not all(name.endswith(CONFIGURATION_ENDINGS) for name in targets):
        remedy = "Name one configuration, or none."
        reason = f"{' '.join(targets)!r} is no configuration."
        problems.append(Problem(where="--looked", what=reason, remedy=remedy))
    raise_any(problems)
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
        figures, run = str(record["figures"]), record["run"]
    except (OSError, ValueError, KeyError, TypeError):
        raise refuse(str(path), "it is not the record of a report.", A_REPORT) from None
    look = {"by": str(by).strip(), "date": str(day), "figures": figures}
    if not targets:
        click.echo(look_lines(look), nl=False)
        return
    (name,) = targets
    settings = configuration.load(name)
    if settings.run != run:
        reason = f"it is of the run {settings.run!r}, and {path} of {run!r}."
        raise refuse(name, reason, "Name the configuration of that run.")
    text = Path(name).read_bytes().decode("utf-8")
    write_text(Path(name), with_look(text, look, name))
    echo(f"Wrote {name}: {look['by']} looked at the figures on {day}. Run again: credence run.")


def is_there(settings: Configuration) -> bool:
    """Return whether there are files to look at: rules may be about to make some, or anew."""
    return not settings.made_around and all(Path(name).exists() for name in settings.made)


def require_right(settings: Configuration) -> None:
    """Refuse what `credence check` refuses; what passed is read again when anything changed."""
    from credence.tables.digests import KnownDigests, package_digest
    from credence.tables.shards import expanded
    from credence.tables.writing import write_text

    if not is_there(settings):
        return
    known = KnownDigests.remembered()
    names = sorted(expanded(settings.files))
    digests = [f"{name} {known.digest(name)}\n" for name in names]
    asked = json.dumps(settings.document.data, sort_keys=True, default=str)
    state = "".join([f"{package_digest()}\n{asked}\n", *digests])
    with suppress(OSError, ValueError):
        if CHECKED.read_text(encoding="utf-8") == state:
            return
    echo(f"Checking {settings.document.where} and the files that it names.")
    check_files(settings)
    with suppress(OSError, InputError):  # else it is checked again the next time
        CHECKED.parent.mkdir(exist_ok=True)
        known.remember()
        write_text(CHECKED, state)


def require_right_of_snakemake(settings: Configuration) -> None:
    """Refuse likewise where Snakemake was started by itself; it shows errors of its own only."""
    from snakemake.exceptions import WorkflowError

    try:
        require_right(settings)
    except InputError as error:
        raise WorkflowError(error.text()) from None


def check_files(settings: Configuration) -> list[str]:
    """Return what the files of a configuration hold, or raise all that is wrong with them."""
    from credence.app.meaning import class_problems
    from credence.stages.check import Overlap, count_checked, description, read_checked, summarise
    from credence.stages.reading import as_calibrated, read_sequences, table_spec
    from credence.stages.tools import read_tools
    from credence.stages.troves import read_trove
    from credence.tables.joining import census_of
    from credence.tables.stage_files import KnownProteins, known_proteins

    problems: list[Problem] = []
    lines = []
    known: Predictions | None = None
    calibrating: KnownProteins | None = None
    tools: dict[str, ReadTool] = {}
    for entry in (settings.calibration_set, *settings.queries):
        spec = table_spec(entry.scores, None, entry.spec)
        if known is not None:  # a query set has to have the classes of the calibration set
            spec = as_calibrated(spec, known.class_names, known.scale)
        same = Overlap(calibrating, entry.proteins, entry.match)
        with gathering(problems):
            is_known = entry is settings.calibration_set
            if is_known or entry.labels is not None:
                samples, inputs = read_checked(
                    entry.scores, spec, entry.labels, entry.proteins, entry.match, is_known
                )
                census = census_of(samples)
                same.see(samples.predictions.ids)
            else:
                # A protein that its FASTA file lacks has no novelty, and a note says so.
                census, inputs = count_checked(entry.scores, spec, None, entry.match, same.see)
            unit = "call" if spec.several is not None else "protein"
            lines.append(f"{entry.name}: {description(summarise(census, inputs), unit)}")
            notices = (*census.notices(), *same.sentences())
            lines += [f"{entry.scores[0]}: {notice}." for notice in notices]
            if is_known:
                known = samples.predictions
                files = () if entry.proteins is None else (entry.proteins,)
                calibrating = known_proteins(known.ids, read_sequences(files, entry.match))
                problems += class_problems(settings.document, known.class_names)
                with gathering(problems):
                    tools = read_tools(settings.tools, samples)
                    lines += [f"{tool.description()}." for tool in tools.values()]
        for name in entry.tools.keys() & tools.keys():
            with gathering(problems):
                tools[name].again(entry.tools[name])
    if known is not None:
        for trove in settings.troves:
            with gathering(problems):
                read_trove(trove, known)
    problems += _further_problems(settings)
    raise_any(list(dict.fromkeys(problems)))  # a file that is read twice has each once
    return lines


def _further_problems(settings: Configuration) -> list[Problem]:
    from credence.stages.reading import read_proteins
    from credence.tables.contract import read_clusters
    from credence.tables.labels import read_labels
    from credence.tables.npz import read_vectors

    proteins = partial(read_proteins, match=settings.calibration_set.match)
    readers: list[tuple[Any, str | None]] = [
        (proteins, settings.training_proteins),
        (lambda name: read_clusters(Path(name)), settings.cluster_table),
        (lambda name: read_vectors(Path(name)), settings.novelty_vectors),
    ]
    for trove in settings.troves:
        readers.append((lambda name: read_clusters(Path(name)), trove.clusters))
    for entry in settings.queries:
        readers.append((partial(read_proteins, match=entry.match), entry.proteins))
        readers.append((lambda name: read_labels(Path(name)), entry.truth))
    problems: list[Problem] = []
    for reader, file in readers:
        with gathering(problems):
            if file is not None:
                reader(file)
    return problems
